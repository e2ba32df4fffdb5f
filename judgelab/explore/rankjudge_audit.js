/* The audit on a page without Python: every answer is kept in the browser at once, and the
   labels are looked up in a table that judgelab made. Inserted by explore/rankjudge.py. */
(() => {
  'use strict';
  const root = document.currentScript?.closest('.jl-audit');
  if (!root) return;
  const { annotator, answers, labels, table } = JSON.parse(root.querySelector('.jl-spec').textContent);
  const store = `judgelab-audit-${annotator}`;
  const forms = [...root.querySelectorAll('form')];
  const fields = form => [...form.querySelectorAll('select')];

  // One line per answer, as judgelab's Audit writes them; undo takes the last one away.
  let lines = [];
  try { lines = JSON.parse(localStorage.getItem(store)) || []; } catch { /* no storage */ }
  const keep = kept => {
    try { localStorage.setItem(store, JSON.stringify(kept)); } catch { return false; }
    lines = kept;
    return true;
  };

  function show(form, before = '') {
    const last = lines.filter(line => line.pair === form.dataset.pair).at(-1);
    form.elements.note.value = last?.note ?? '';
    const said = fields(form).map(field => {
      const answer = last?.checks[field.name];
      const place = answer === undefined ? -1 : answers.findIndex(each => each[1] === answer);
      field.selectedIndex = place + 1;
      return place;
    });
    const open = said.filter(place => place < 0).length;
    const label = labels[table[said.reduce((sum, place) => answers.length * sum + place, 0)]];
    form.querySelector('output').textContent = before + (open
      ? `No label yet: ${open} of ${said.length} checks are open.` : `So it is: ${label}.`);
  }
  function changed(form) {
    const given = fields(form).filter(field => field.selectedIndex > 0)
      .map(field => [field.name, answers[field.selectedIndex - 1][1]]);
    const line = {
      do: 'save', pair: form.dataset.pair, annotator,
      checks: Object.fromEntries(given), note: form.elements.note.value,
    };
    show(form, keep([...lines, line]) ? 'Saved. ' : 'Not saved, for this browser keeps nothing. ');
  }
  function undo() {
    const last = lines.at(-1);
    if (last) keep(lines.slice(0, -1));
    forms.forEach(form => show(form));
    root.querySelector('.jl-said').textContent =
      last ? `Taken back: the last answer on ${last.pair}.` : 'There is nothing to undo.';
  }
  function download() {
    const text = lines.map(line => JSON.stringify(line) + '\n').join('');
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'application/jsonl' }));
    link.download = 'labels.jsonl';
    link.click();
    URL.revokeObjectURL(link.href);
  }

  for (const form of forms) {
    form.addEventListener('change', () => changed(form));
    form.addEventListener('submit', event => event.preventDefault());
    form.hidden = false;
    show(form);
  }
  root.querySelector('.jl-undo').addEventListener('click', undo);
  root.querySelector('.jl-download').addEventListener('click', download);
  root.querySelector('.jl-buttons').hidden = false;
})();
