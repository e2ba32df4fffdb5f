/* Tips, symbols, exercise boxes and progress. Every text, number and hint was made by
   judgelab.teach when the book was built; this script only shows it. */
(() => {
  'use strict';
  const each = (selector, act, root = document) => root.querySelectorAll(selector).forEach(act);

  /* --- Tips: hover, focus or tap opens; leaving, Esc or a tap elsewhere closes -------- */
  const asks = '[aria-describedby^="tip-"]';
  let tip = null;

  function hide() {
    if (tip?.isConnected) tip.hidePopover();
    tip = null;
  }
  function show(word) {
    const wanted = document.getElementById(word.getAttribute('aria-describedby'));
    if (wanted !== tip) { hide(); tip = wanted; tip.showPopover(); }
    // A word may be broken over two lines: stand under its first part.
    const box = word.getClientRects()[0] || word.getBoundingClientRect();
    const left = Math.min(box.left, innerWidth - tip.offsetWidth - 8);
    const under = box.bottom + 6;
    const fits = under + tip.offsetHeight < innerHeight || box.top < tip.offsetHeight + 6;
    tip.style.left = Math.max(8, left) + scrollX + 'px';
    tip.style.top = (fits ? under : box.top - tip.offsetHeight - 6) + scrollY + 'px';
  }
  function tips() {
    const word = e => e.target.closest?.(asks);
    const leave = () => setTimeout(() => {
      if (!document.querySelector(`${asks}:is(:hover, :focus), .jl-tip:hover`)) hide();
    }, 150);
    for (const event of ['mouseover', 'focusin']) document.addEventListener(event, e => { if (word(e)) show(word(e)); });
    for (const event of ['mouseout', 'focusout']) document.addEventListener(event, leave);
    document.addEventListener('keydown', e => { if (e.key === 'Escape') hide(); });
    document.addEventListener('click', e => {
      // A mouse follows a term's link; a finger, and every symbol, gets the explanation.
      if (!word(e)) { if (!e.target.closest('.jl-tip')) hide(); return; }
      if (word(e).tagName === 'A' && e.pointerType !== 'touch') return;
      e.preventDefault();
      show(word(e));
    });
  }

  /* --- Symbols: the marked parts of MathJax's pictures become buttons with a tip ------ */
  function symbols() {
    each('.jl-symbol', part => {
      // The copy for listeners is read as a whole; only the picture's parts are buttons.
      if (!part.closest('svg')) { part.removeAttribute('class'); return; }
      const tip = 'tip-' + [...part.classList].find(c => c.startsWith('jl-symbol-')).slice(10)
        .replace(/-(\d+)$/, '-symbol-$1');
      if (!document.getElementById(tip)) return;
      const svg = part.closest('svg');
      svg.removeAttribute('aria-hidden');
      svg.setAttribute('role', 'group');
      svg.setAttribute('aria-label', 'Symbols of the equation');
      // A listener gets the equation first, then its symbols.
      const spoken = svg.parentNode.querySelector('mjx-assistive-mml');
      if (spoken) svg.before(spoken);
      // A letter is mostly holes: a clear box behind it takes pointer and finger.
      const box = part.getBBox(), hit = document.createElementNS(svg.namespaceURI, 'rect');
      const [dx, dy] = [80, 250];
      for (const [name, value] of Object.entries({
        x: box.x - dx, y: box.y - dy, width: box.width + 2 * dx, height: box.height + 2 * dy,
        fill: 'transparent', stroke: 'none',
      })) hit.setAttribute(name, value);
      part.prepend(hit);
      part.setAttribute('tabindex', '0');
      part.setAttribute('role', 'button');
      part.setAttribute('aria-label', document.getElementById(tip).dataset.say);
      part.setAttribute('aria-describedby', tip);
    });
  }

  /* --- Exercises: the answer that is typed unlocks what is said to it ------------------ */
  const sha = async text =>
    new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode('judgelab|' + text)));
  const hex = bytes => Array.from(bytes, b => b.toString(16).padStart(2, '0')).join('');

  async function unlock(number, known, answer) {
    const locked = known[hex(await sha(`${number}|${answer}`)).slice(0, 16)];
    if (!locked) return null;
    const bytes = Uint8Array.from(atob(locked), c => c.charCodeAt(0));
    for (let start = 0; start < bytes.length; start += 32) {
      const stream = await sha(`${number}|${answer}|${start}`);
      for (let i = start; i < Math.min(start + 32, bytes.length); i++) bytes[i] ^= stream[i - start];
    }
    return new TextDecoder().decode(bytes);
  }
  function typed(text, decimals) {
    let plain = text.trim().replace('−', '-').replace(/^κ\s*=|\s/g, '');
    const percent = plain.endsWith('%');
    plain = plain.replace(/%$/, '');
    plain = /^-?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(plain) ? plain.replaceAll(',', '') : plain.replace(',', '.');
    const value = plain === '' ? NaN : Number(plain) / (percent ? 100 : 1);
    return Number.isFinite(value) ? (Number(value.toFixed(decimals)) + 0).toFixed(decimals) : null;
  }
  function exercise(form) {
    const known = JSON.parse(form.dataset.known), said = form.querySelector('output');
    const box = form.querySelector('input[type=text]');
    form.hidden = false;
    form.addEventListener('submit', async e => {
      e.preventDefault();
      const answer = box ? typed(box.value, Number(box.dataset.decimals))
        : form.querySelector('input:checked')?.value;
      if (answer == null) { said.textContent = box ? 'Type a number.' : 'Choose an answer.'; return; }
      const reply = await unlock(form.dataset.number, known, answer);
      said.innerHTML = reply ?? form.querySelector('template').innerHTML;
      window.MathJax?.typesetPromise?.([said]);
      if (said.textContent.startsWith('✓')) done('exercise ' + form.dataset.number);
    });
  }

  /* --- Progress: in this browser only, shown and reset under the title ----------------- */
  const store = 'judgelab-progress';
  const read = () => { try { return JSON.parse(localStorage.getItem(store)) || []; } catch { return []; } };
  const write = list => { try { localStorage.setItem(store, JSON.stringify(list)); } catch { /* no storage */ } };
  const tasks = () => [
    ...Array.from(document.querySelectorAll('.jl-check'), f => 'exercise ' + f.dataset.number),
    ...Array.from(document.querySelectorAll('.jl-question'), q => 'question ' + q.dataset.question),
  ];
  function done(task) { write([...new Set([...read(), task])]); progress(); }
  function progress() {
    each('.jl-progress', line => {
      const all = tasks(), have = all.filter(t => read().includes(t));
      line.hidden = all.length === 0;
      line.querySelector('span').textContent = `Done so far: ${have.length} of ${all.length} exercises and questions.`;
    });
  }

  /* --- What the theme leaves unsaid: its colours, and where the keyboard was ----------- */
  function theme() {
    const page = document.documentElement;
    const say = () => each('.theme-switch-button', button =>
      button.setAttribute('aria-label', `Colours: ${{ auto: 'as on this device' }[page.dataset.mode] ?? page.dataset.mode}`));
    new MutationObserver(say).observe(page, { attributeFilter: ['data-mode'] });
    say();
    for (const side of ['primary', 'secondary'])
      document.getElementById(`pst-${side}-sidebar-modal`)?.addEventListener('close', () =>
        [...document.querySelectorAll(`.${side}-toggle`)].find(b => b.checkVisibility())?.focus());
  }

  document.addEventListener('DOMContentLoaded', () => {
    theme();
    tips();
    each('.jl-check', exercise);
    each('.jl-question details[data-right="1"]', option => option.addEventListener('toggle', () => {
      if (option.open) done('question ' + option.closest('.jl-question').dataset.question);
    }));
    each('.jl-progress button', button => button.addEventListener('click', () => {
      write(read().filter(task => !tasks().includes(task)));
      each('.jl-check', form => { form.reset(); form.querySelector('output').textContent = ''; });
      each('.jl-question details', option => { option.open = false; });
      progress();
    }));
    progress();
  });
  addEventListener('load', () => window.MathJax?.startup?.promise?.then(symbols));
  let colours;
  addEventListener('beforeprint', () => {
    colours = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = 'light';
    each('details.jl-symbols', d => { d.open = true; });
  });
  addEventListener('afterprint', () => { document.documentElement.dataset.theme = colours; });
})();
