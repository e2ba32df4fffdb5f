// Replays a demo on a page without Python. Every frame was computed in advance (see
// judgelab/explore/demo.py); this script only finds the one that the controls ask for.
(function () {
  "use strict";

  async function unpack(base64) {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const { templates, frames } = JSON.parse(await new Response(stream).text());
    return { templates, frames: frames.split("\n") };
  }

  // A frame is a line "template figure figure …"; the template's holes are numbered.
  function frame({ templates, frames }, index) {
    const [template, ...figures] = frames[index].split(" ");
    return templates[template].replace(/\0(\d+)\0/g, (_, hole) => figures[hole]).split("\x1e");
  }

  function start(box) {
    const find = (selector) => box.querySelector(selector);
    const spec = JSON.parse(find(".jl-spec").textContent);
    const fields = spec.controls.map(([name]) => document.getElementById(`demo-${spec.name}-${name}`));
    const first = fields.map((field) => field.value);
    const linkLabel = find(".jl-link").textContent;
    let data, speech;

    // A slider says its own value; the figure beside it need not say it again.
    box.querySelectorAll(".jl-slider output").forEach((output) => output.setAttribute("aria-hidden", "true"));

    const text = (i) => spec.controls[i][2][fields[i].value];

    async function show() {
      data ??= unpack(find(".jl-frames").textContent);
      fields.forEach((field, i) => {
        if (field.type !== "range") return;
        field.setAttribute("aria-valuetext", text(i));
        field.nextElementSibling.value = text(i);
      });
      const index = fields.reduce((sum, field, i) => sum * spec.controls[i][2].length + Number(field.value), 0);
      const [picture, table] = frame(await data, index);
      find(".jl-picture").innerHTML = picture;
      find(".jl-table").innerHTML = table;
      find(".jl-caption").textContent = spec.controls.map(([, label], i) => `${label}: ${text(i)}`).join(", ");
      box.dataset.frame = index;
    }

    // Speak once the reader has stopped moving.
    function say(words) {
      clearTimeout(speech);
      speech = setTimeout(() => { find(".jl-said").textContent = words; }, 400);
    }

    async function move() {
      await show();
      find(".jl-link").textContent = linkLabel;
      say(find("[role=img]").getAttribute("aria-label"));
    }

    // A link to settings: #demo=<name>&<control>=<text>…
    function follow() {
      const wanted = new URLSearchParams(location.hash.slice(1));
      if (wanted.get("demo") !== spec.name) return;
      spec.controls.forEach(([name, , texts], i) => {
        const position = texts.indexOf(wanted.get(name));
        if (position >= 0) fields[i].value = position;
      });
      move();
      box.scrollIntoView();
    }

    function link() {
      const settings = new URLSearchParams([["demo", spec.name], ...spec.controls.map(([name], i) => [name, text(i)])]);
      history.replaceState(null, "", `#${settings}`);
      const answer = (words) => { find(".jl-link").textContent = words; say(words); };
      const written = navigator.clipboard?.writeText(location.href) ?? Promise.reject();
      written.then(() => answer("Link copied"), () => answer("The link is in the address bar"));
    }

    fields.forEach((field) => field.addEventListener("input", move));
    find(".jl-reset").addEventListener("click", () => {
      fields.forEach((field, i) => { field.value = first[i]; });
      move();
    });
    find(".jl-link").addEventListener("click", link);
    addEventListener("hashchange", follow);
    box.classList.add("jl-ready");
    follow();
  }

  document.querySelectorAll(".jl-demo").forEach(start);
})();
