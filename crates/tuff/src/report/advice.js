// Advice: what to change, what that gains, and why (`tuff advise`).
views.push({
  key: 'advice', title: 'Advice', when: (c) => c.advice,
  render(root) {
    const a = shown().advice;
    if (a.error) { fill(root, el('section', { class: 'panel' }, el('p', {}, 'There is no advice: ' + a.error))); return; }
    const note = `${plural(a.items.length, 'item')}, what gains most first. Gains are of the modelled GPU: counts are changed as the cure would change them, and the schedule is run again.`;
    fill(root, el('p', { class: 'note' }, a.items.length ? note : 'No rule has anything to say.'),
      a.items.map((i, n) => this.item(a, i, n, a.items.slice(0, n).findIndex((e) => e.rule === i.rule && e.do === i.do))),
      a.small ? el('p', { class: 'note' }, `${plural(a.small, 'item')} of little gain ${a.small === 1 ? 'is' : 'are'} left out: “tuff advise --all” has them.`) : null);
  },

  // `earlier`: an item that said the same of what to do and why.
  item(a, i, n, earlier) {
    const link = () => el('a', { href: '#advice-' + (earlier + 1), onclick: (e) => {
      e.preventDefault();
      const to = document.getElementById('advice-' + (earlier + 1));
      to.scrollIntoView();
      to.focus({ preventScroll: true });
    } }, 'item ' + (earlier + 1));
    const cure = earlier >= 0 ? el('p', {}, 'What to do, and why: as for ', link(), '.') : [el('h3', {}, 'What to do'), el('p', {}, i.do)];
    return el('section', { class: 'panel advice', id: 'advice-' + (n + 1), tabindex: -1 },
      el('h2', {}, `${n + 1}. ${i.title} `, el('span', { class: 'rule' }, i.rule)),
      this.gains(a, i.gain), el('p', {}, i.says), cure,
      el('h3', {}, 'Where'), el('ul', {}, i.about.map((x) => el('li', {}, this.about(x))), i.more ? el('li', {}, `and ${number(i.more)} more`) : null,
        i.lines.map((l) => el('li', {}, el('code', {}, l.file ? `${l.file}:${l.line}` : l.shader), ` ${l.file ? l.shader + ', ' : ''}${l.function}: ${percent(100 * l.share)} of the shader’s cost`))),
      el('details', {}, el('summary', {}, 'Why, and how the gain was estimated'), earlier >= 0 ? null : el('p', {}, i.why),
        el('p', { class: 'note' }, `Estimate: ${i.gain.how}.`), el('p', { class: 'note' }, `The rule speaks when ${i.threshold}.`),
        el('p', { class: 'note' }, `Arm GPU Best Practices Developer Guide: ${i.source}.`)));
  },

  gains(a, g) {
    const parts = [
      [g.ns, a.whole_ns, time, 'of the time'], [g.bytes, a.bytes, bytes, 'of external traffic'], [g.memory, 0, bytes, 'of memory'],
    ].filter(([n]) => n >= 1);
    return el('div', { class: 'bars gain' }, parts.map(([n, whole, words, of]) => [
      el('span', {}, `${words(n)} ${of}`),
      el('div', { class: whole ? 'bar' : '' }, whole ? el('i', { style: { width: Math.min(100, share(n, whole)) + '%', background: COLOURS.arithmetic } }) : null),
      el('span', { class: 'v' }, whole ? percent(share(n, whole)) : '')]));
  },

  // A draw or workload opens the table where it stands.
  about(x) {
    const label = x.label && x.kind !== 'image' && x.kind !== 'barrier' && x.kind !== 'submission' ? el('b', {}, x.label + ' ') : null;
    const words = [label, x.name, x.detail ? ': ' + x.detail : ''];
    if (x.workload === null) return words;
    const open = (e) => { e.preventDefault(); go('table', { table: 'workloads', select: x.workload }); };
    return [label, el('a', { href: '#table', onclick: open }, x.name), x.detail ? ': ' + x.detail : ''];
  },
});
