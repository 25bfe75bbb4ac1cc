// Two captures beside each other: what grew is red, what shrank green.
views.push({
  key: 'compare', title: 'Compare', when: () => captures.length > 1, filter: '', same: false, sort: 'change',
  render(root) {
    const [after, before] = captures;
    const note = el('p', { class: 'note' }, `“${after.name}” against “${before.name}”: change is from the second to the first. `,
      JSON.stringify(after.model) === JSON.stringify(before.model) ? '' : el('b', {}, 'They are of different models: times do not compare.'));
    this.parts = el('div', {});
    fill(root, el('section', { class: 'panel' }, el('h2', {}, 'What changed'), note,
      el('div', { class: 'tools' },
        el('input', { type: 'search', id: 'compare-filter', placeholder: 'Filter', 'aria-label': 'Filter rows (key /)', value: this.filter, oninput: (e) => { this.filter = e.target.value; this.draw(); } }),
        el('label', {}, 'Order', el('select', { id: 'compare-order', onchange: (e) => { this.sort = e.target.value; this.draw(); } }, option('change', 'by change, largest first', this.sort === 'change'), option('absolute', 'by what it is now', this.sort === 'absolute'))),
        pressed('What is the same too', this.same, () => { this.same = !this.same; this.render(root); }))), this.parts);
    this.draw();
  },

  draw() {
    const [after, before] = captures;
    const mean = (c) => { const f = frames(c); return f.length ? sum(f.map((x) => x.ns)) / f.length : 0; };
    const head = [
      { name: 'GPU time', a: cyclesToNs(total('MaliGPUActiveCy', before), before), b: cyclesToNs(total('MaliGPUActiveCy', after), after), show: time },
      { name: 'A frame, on average', a: mean(before), b: mean(after), show: time },
      { name: 'Frames', a: before.frames.length, b: after.frames.length, show: number, neutral: true },
    ];
    const keyed = (c, key) => { const m = new Map(); c.forEach((x) => { let k = key(x); while (m.has(k)) k += ' '; m.set(k, x); }); return m; };
    const match = (a, b, key, value, show) => {
      const [x, y] = [keyed(a, key), keyed(b, key)];
      return [...new Set([...y.keys(), ...x.keys()])].map((k) => ({ name: k.trim(), a: x.has(k) ? value(x.get(k)) : null, b: y.has(k) ? value(y.get(k)) : null, show }));
    };
    // Whichever device they ran on.
    const once = (c) => { const m = new Map(); c.workloads.forEach((w) => { const k = titleOf(w); m.set(k, { key: k, time: (m.has(k) ? m.get(k).time : 0) + w.time }); }); return [...m.values()]; };
    const workloads = match(once(before), once(after), (w) => w.key, (w) => w.time, time);
    // Which is which was found by contents, likeness and names (docs/diff.md).
    const used = [new Set(), new Set()];
    const shaders = data.comparedShaders.map(([i, j, edited, texts]) => {
      used[0].add(i); used[1].add(j);
      const [a, b] = [before.shaders[i], after.shaders[j]];
      return { name: shaderName(b) + (edited ? ' (edited)' : ''), a: a.heat, b: b.heat, show: number, texts };
    });
    before.shaders.forEach((s, i) => { if (!used[0].has(i)) shaders.push({ name: shaderName(s), a: s.heat, b: null, show: number }); });
    after.shaders.forEach((s, j) => { if (!used[1].has(j)) shaders.push({ name: shaderName(s), a: null, b: s.heat, show: number }); });
    const counters = data.counters.map((k, i) => ({ name: k[1], title: k[4], a: countIn(before.total, i, 0), b: countIn(after.total, i, 0), show: (v) => inUnit(v, k[2]), neutral: k[2] === 'percent' }));
    fill(this.parts, this.table('totals', 'Time', head, true), this.table('compare-workloads', 'Workloads, by time', workloads), shaders.length ? this.table('compare-shaders', 'Shaders, by cycles', shaders) : null, this.texts(shaders), this.table('compare-counters', 'Counters of all', counters));
  },

  // Lines of edited shaders, with what each cost before and now.
  texts(shaders) {
    const some = shaders.filter((s) => s.texts && s.texts.length && s.name.toLowerCase().includes(this.filter.toLowerCase()));
    if (!some.length) return null;
    const cell = (v) => (v ? number(Math.round(v)) : '');
    const rows = (t) => t.rows.map((r) => {
      if (!r) return el('tr', { class: 'gap' }, el('td', { colspan: 5 }, '⋯'));
      const [n, m, a, b, text] = r;
      const mark = n && m ? ' ' : m ? '+' : '−';
      const d = b - a;
      return el('tr', { class: mark === '+' ? 'added' : mark === '−' ? 'removed' : null }, el('td', { class: 'l' }, mark + ' ' + (m || n)), el('td', {}, cell(a)), el('td', {}, cell(b)),
        el('td', { class: Math.abs(d) < 0.5 ? null : d > 0 ? 'up' : 'down' }, Math.abs(d) < 0.5 ? '' : (d > 0 ? '+' : '−') + number(Math.round(Math.abs(d)))), el('td', { class: 's' }, text));
    });
    return el('section', { class: 'panel', id: 'compare-lines' }, el('h2', {}, 'Lines of shaders that differ, by cycles'),
      some.map((s, k) => el('details', { open: k === 0 || null }, el('summary', {}, s.name + ': ' + number(s.a) + ' → ' + number(s.b) + ' cycles'),
        s.texts.map((t) => [el('h3', {}, t.file), el('div', { class: 'scroll code', tabindex: 0, 'aria-label': 'Lines of ' + s.name }, el('table', {},
          el('thead', {}, el('tr', {}, ['Line', captures[1].name, captures[0].name, 'Difference', ''].map((h) => el('th', {}, h)))), el('tbody', {}, rows(t))))]))));
  },

  table(id, title, rows, all) {
    const words = this.filter.toLowerCase();
    const change = (r) => (r.a === null ? Infinity : r.b === null ? -Infinity : r.a === 0 ? (r.b ? Infinity : 0) : (100 * (r.b - r.a)) / Math.abs(r.a));
    let kept = all ? rows : rows.filter((r) => r.name.toLowerCase().includes(words) && (this.same || r.a !== r.b));
    const size = (r) => (this.sort === 'change' ? Math.abs(change(r)) : r.b || 0);
    if (!all) kept = kept.map((r, i) => [r, i]).sort((x, y) => (size(y[0]) > size(x[0]) ? 1 : size(y[0]) < size(x[0]) ? -1 : x[1] - y[1])).map((r) => r[0]);
    const words2 = (r) => {
      const d = change(r);
      if (r.a === null) return 'new';
      if (r.b === null) return 'gone';
      if (d === 0) return '=';
      return (d > 0 ? '▲ +' : '▼ −') + (Number.isFinite(d) ? (Math.abs(d) < 10 ? Math.abs(d).toFixed(2) : Math.abs(d).toFixed(0)) + ' %' : 'from 0');
    };
    return el('section', { class: 'panel' }, el('h2', {}, title), el('div', { class: 'scroll', style: { 'max-height': '26rem' } }, el('table', { id },
      el('thead', {}, el('tr', {}, el('th', { class: 't' }, ''), el('th', {}, 'Change'), el('th', {}, captures[1].name), el('th', {}, captures[0].name), el('th', {}, 'Difference'))),
      el('tbody', {}, kept.length ? kept.slice(0, 500).map((r) => {
        const d = (r.b || 0) - (r.a || 0);
        return el('tr', { title: r.title }, el('td', { class: 't' }, r.name), el('td', { class: r.neutral || d === 0 ? null : d > 0 ? 'up' : 'down' }, words2(r)), el('td', {}, r.a === null ? '' : r.show(r.a)), el('td', {}, r.b === null ? '' : r.show(r.b)),
          el('td', {}, d === 0 ? '' : (d > 0 ? '+' : '−') + r.show(Math.abs(d))));
      }) : el('tr', {}, el('td', { class: 't', colspan: 5 }, 'Nothing that differs.'))))));
  },
});
