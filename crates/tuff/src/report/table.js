// Tables: workloads, frames, runs, draws of render passes; sorted by any column, filtered by words.
const tables = {
  workloads: {
    rows: (c) => c.workloads.map((_, i) => i),
    columns: (c) => c.workloadCounters,
    own: (c) => {
      const elapsed = sum(c.workloads.map((w) => w.time));
      return [
        { key: 'name', head: 'Workload', text: true, value: (i) => titleOf(c.workloads[i]) },
        { key: 'times', head: 'Times', value: (i) => c.workloads[i].times, sums: true },
        { key: 'elapsed', head: 'Time', title: GPU_TIME, value: (i) => c.workloads[i].time, show: time, sums: true },
        { key: 'share', head: '% of all', value: (i) => share(c.workloads[i].time, elapsed), show: (v) => v.toFixed(1), bar: true, sums: true },
        { key: 'mean', head: 'Each', value: (i) => c.workloads[i].time / c.workloads[i].times, show: time },
        { key: 'bound', head: 'Bound by', text: true, narrow: true, value: (i) => boundOf(c.workloads[i]), colour: (i) => { const j = longest(c.workloads[i]); return j ? takeColour(j[5]) : null; } },
      ];
    },
    words: (c, i) => titleOf(c.workloads[i]) + ' ' + boundOf(c.workloads[i]),
    detail: (c, i) => workloadDetail(c, i),
  },
  frames: {
    rows: (c) => c.frames.map((_, i) => i),
    columns: (c) => c.frameCounters,
    own: (c) => [
      { key: 'name', head: 'Frame', text: true, narrow: true, value: (i) => c.frames[i][2], show: String },
      { key: 'queue', head: 'Queue', text: true, narrow: true, value: (i) => c.frames[i][0] + '.' + c.frames[i][1] },
      { key: 'elapsed', head: 'Time', title: GPU_TIME, value: (i) => cyclesToNs(named(c.frameCounters, 'MaliGPUActiveCy', i)), show: time, bar: true, sums: true },
    ],
    words: (c, i) => 'frame:' + c.frames[i][2] + ' ',
    detail: (c, i) => [el('h3', {}, 'Frame ' + c.frames[i][2]), el('p', {}, pressed('What ran in it', false, () => go('table', { table: 'runs', filter: 'frame:' + c.frames[i][2] })))],
  },
  runs: {
    rows: (c) => c.runs.map((_, i) => i),
    columns: (c) => c.runCounters,
    own: (c) => {
      const spans = runSpans(c);
      return [
        { key: 'order', head: '#', value: (i) => i, show: String },
        { key: 'frame', head: 'Frame', value: (i) => (c.runs[i][1] === null ? -1 : c.runs[i][1]), show: (v) => (v < 0 ? '' : String(v)) },
        { key: 'name', head: 'Workload', text: true, value: (i) => titleOf(c.workloads[c.runs[i][0]]) },
        { key: 'begin', head: 'Begin', value: (i) => spans[i][0], show: time },
        { key: 'elapsed', head: 'Time', title: GPU_TIME, value: (i) => c.runs[i][3], show: time, bar: true, sums: true },
        { key: 'span', head: 'Begin to end', title: 'Of several that overlap, this is no sum', value: (i) => spans[i][1] - spans[i][0], show: time },
      ];
    },
    words: (c, i) => titleOf(c.workloads[c.runs[i][0]]) + ' frame:' + c.runs[i][1] + ' ',
    detail: (c, i) => [el('h3', {}, `Run ${i} of ${titleOf(c.workloads[c.runs[i][0]])}`),
      el('p', {}, pressed('Show in the time line', false, () => go('timeline', { run: i })), ' ', pressed('Its workload', false, () => go('table', { table: 'workloads', select: c.runs[i][0] })))],
  },
  draws: {
    rows: (c) => c.draws.map((_, i) => i),
    columns: (c) => c.drawCounters,
    own: (c) => {
      const cores = (i) => named(c.drawCounters, 'MaliAnyActiveCy', i);
      return [
        { key: 'order', head: '#', value: (i) => drawOrder(c, i), show: String },
        { key: 'name', head: 'Draw', text: true, value: (i) => drawTitle(c, i) },
        { key: 'pass', head: 'Render pass', text: true, value: (i) => passTitle(c, c.draws[i][0]) },
        { key: 'elapsed', head: 'Cores’ cycles', value: cores, bar: true, sums: true },
        { key: 'share', head: '% of pass', value: (i) => share(cores(i), c.passes[c.draws[i][0]].cores), show: (v) => v.toFixed(1) },
      ];
    },
    words: (c, i) => drawTitle(c, i) + ' ' + passTitle(c, c.draws[i][0]) + ' pass:' + c.draws[i][0] + ' ',
    detail: (c, i) => [el('h3', {}, `Draw ${drawOrder(c, i)} of ${passTitle(c, c.draws[i][0])}: ${drawTitle(c, i)}`),
      el('p', {}, pressed('All draws of its pass', false, () => go('table', { table: 'draws', filter: 'pass:' + c.draws[i][0] })), ' ',
        pressed('Its pass', false, () => go('table', { table: 'workloads', select: c.passes[c.draws[i][0]].workload })), ' ',
        pressed('Regions of its pass', false, () => go('regions', { pass: c.draws[i][0] })))],
  },
};

// A draw's place in its pass, from 1; its label and name; its pass, the last time that it ran.
function drawOrder(c, i) {
  if (!c.firsts) { c.firsts = {}; c.draws.forEach((d, k) => { if (!(d[0] in c.firsts)) c.firsts[d[0]] = k; }); }
  return i - c.firsts[c.draws[i][0]] + 1;
}
function drawTitle(c, i) {
  const [label, name] = c.drawTitles[c.draws[i][1]];
  // Labels that are around the whole pass stand in its title.
  const around = c.workloads[c.passes[c.draws[i][0]].workload].label;
  const own = label === around ? '' : around && label.startsWith(around + '/') ? label.slice(around.length + 1) : label;
  return (own ? own.replace(/[\x00-\x1f]/g, ' ') + ': ' : '') + name;
}
const passTitle = (c, pass) => { const w = c.workloads[c.passes[pass].workload]; return (w.label ? w.label.replace(/[\x00-\x1f]/g, ' ') + ': ' : '') + w.name; };

// First begin and last end of each run's jobs.
function runSpans(c) {
  if (!c.spans) {
    c.spans = c.runs.map(() => [Infinity, 0]);
    c.jobs.forEach((j) => { const s = c.spans[j[0]]; s[0] = Math.min(s[0], j[2]); s[1] = Math.max(s[1], j[2] + j[3]); });
    c.spans.forEach((s) => { if (s[0] === Infinity) s[0] = 0; });
  }
  return c.spans;
}

function workloadDetail(c, i) {
  const w = c.workloads[i];
  const pass = c.passes.findIndex((p) => p.workload === i);
  const run = c.runs.findIndex((r) => r[0] === i);
  const draws = pass < 0 ? 0 : c.draws.filter((d) => d[0] === pass).length;
  return [el('h3', {}, titleOf(w)),
    el('p', {}, draws ? [pressed(`Its ${plural(draws, 'draw')}`, false, () => go('table', { table: 'draws', filter: 'pass:' + pass })), ' '] : '',
      pass >= 0 ? [pressed('Its regions', false, () => go('regions', { pass })), ' '] : '', run >= 0 ? pressed('In the time line', false, () => go('timeline', { run })) : ''),
    w.jobs.map((j) => el('div', {}, el('h3', {}, QUEUES[j[0]] + ' queue: ' + time(cyclesToNs(j[1])) + ' active, bound by ' + takeWords(j[5])), takesBars(j[6], j[1]), partsBars(j[8]),
      el('p', { class: 'note' }, `Waited ${time(cyclesToNs(j[4]))} for what it depends on; kept out ${time(cyclesToNs(j[2]))} by others${j[3] ? `, ${time(cyclesToNs(j[3]))} of it while these drained` : ''}.`))),
    w.operators.length ? operatorTable(w) : ''];
}

// The operators of a data graph by what they cost: those of one kind together, and each node.
const OPERATOR_COLUMNS = [
  ['Time alone', (o) => o.cycles, (v) => time(cyclesToNs(v)), 'What it would take by itself, without the overhead of a job. Operators that use different units overlap, so this adds up to more than the graph takes.'],
  ['Multiply-adds', (o) => o.products, number],
  ['Other operations', (o) => o.others, number, 'Operations on elements, besides the multiply-adds'],
  ['FMA', (o) => o.fma, number, 'Warp-instructions of the FMA pipe'],
  ['CVT', (o) => o.cvt, number, 'Warp-instructions of the CVT pipe'],
  ['SFU', (o) => o.sfu, number, 'Warp-instructions of the SFU pipe'],
  ['Read', (o) => o.read_bytes, bytes, 'Bytes of its operands'],
  ['Written', (o) => o.written_bytes, bytes, 'Bytes of its results'],
];
function operatorTable(w) {
  const kinds = new Map();
  for (const o of w.operators) {
    const all = kinds.get(o.operator) || kinds.set(o.operator, { nodes: 0, cycles: 0, products: 0, others: 0, fma: 0, cvt: 0, sfu: 0, read_bytes: 0, written_bytes: 0 }).get(o.operator);
    all.nodes += 1;
    for (const k of Object.keys(all)) if (k !== 'nodes') all[k] += o[k];
  }
  const byCost = (a, b) => b[1].cycles - a[1].cycles;
  const table = (id, heads, rows) => el('div', { class: 'scroll', style: { 'max-height': '24rem' } }, el('table', { id },
    el('thead', {}, el('tr', {}, heads.map((h) => el('th', { class: 't', scope: 'col' }, h)), OPERATOR_COLUMNS.map(([head, , , title]) => el('th', { scope: 'col', title }, head)))),
    el('tbody', {}, rows.map(([cells, o]) => el('tr', {}, cells.map((t) => el('td', { class: 't' }, t)), OPERATOR_COLUMNS.map(([, value, show]) => el('td', {}, show(value(o)))))))));
  return [el('h3', {}, 'Its operators'),
    table('operators', ['Operator', 'Nodes'], [...kinds].sort(byCost).map(([name, o]) => [[name, number(o.nodes)], o])),
    el('h3', {}, 'Its nodes'),
    table('nodes', ['Node', 'Result'], w.operators.map((o, i) => [[`${i} ${o.operator}`, o.result], o]).sort(byCost)),
    w.operatorsLost ? el('p', { class: 'note' }, `${plural(w.operatorsLost, 'more node')} left out.`) : ''];
}

const DEFAULT_COLUMNS = ['MaliGPUActiveCy', 'MaliFragWarp', 'MaliFragRastQd', 'TuffFmaInstr', 'TuffTexFilterOps', 'MaliExtBusRdBy', 'MaliExtBusWrBy'];
const MOST_ROWS = 400;

views.push({
  key: 'table', title: 'Table', table: 'workloads', filter: '', sort: { key: 'elapsed', down: true }, select: null, columns: null, all: false,
  arrive(to) {
    if (to.table && to.table !== this.table) { this.table = to.table; const inOrder = to.table === 'runs'; this.sort = { key: inOrder ? 'order' : 'elapsed', down: !inOrder }; this.select = null; }
    if (to.filter !== undefined) this.filter = to.filter;
    if (to.select !== undefined) { this.select = to.select; this.filter = ''; }
  },
  render(root) {
    const c = shown();
    if (!this.columns) this.columns = DEFAULT_COLUMNS.filter((m) => m in place).map((m) => place[m]);
    if (this.table !== 'workloads' && !tables[this.table].rows(c).length) this.table = 'workloads';
    // The other capture may have fewer.
    if (this.select !== null && this.select >= tables[this.table].rows(c).length) this.select = null;
    const counts = { workloads: c.workloads.length, frames: c.frames.length, runs: c.runs.length, draws: c.draws.length };
    this.body = el('div', { class: 'scroll', tabindex: -1 });
    this.note = live();
    this.detail = el('section', { class: 'panel detail', id: 'row-detail', hidden: true });
    const input = el('search' in HTMLElement.prototype ? 'input' : 'input', {
      type: 'search', id: 'filter', placeholder: 'Words, frame:12, pass:0, -not', 'aria-label': 'Filter rows (key /)', value: this.filter,
      oninput: (e) => { this.filter = e.target.value; this.draw(); },
    });
    fill(root, el('section', { class: 'panel' },
      el('div', { class: 'tools' },
        el('div', { role: 'group', 'aria-label': 'What rows are' }, Object.keys(tables).filter((t) => t === 'workloads' || counts[t]).map((t) => [
          pressed(`${t} (${number(counts[t])})`, this.table === t, () => { this.arrive({ table: t }); this.all = false; this.render(root); }), ' '])),
        input, this.chooser()),
      this.body, this.note, timeNote()), this.detail);
    this.draw();
  },

  // Counters as columns.
  chooser() {
    const search = el('input', { type: 'search', placeholder: 'Find a counter', 'aria-label': 'Find a counter', oninput: (e) => {
      const words = e.target.value.toLowerCase();
      list.querySelectorAll('label').forEach((l) => { l.hidden = !l.textContent.toLowerCase().includes(words); });
    } });
    const list = el('div', { class: 'columns' });
    const d = el('details', { id: 'columns' }, el('summary', {}, 'Columns'), search, list);
    // Three hundred boxes are made when somebody looks.
    d.addEventListener('toggle', () => {
      if (!d.open || list.children.length) return;
      list.append(...data.counters.map((k, i) => el('label', { title: k[4] },
        el('input', { type: 'checkbox', checked: this.columns.includes(i), onchange: (e) => {
          this.columns = e.target.checked ? [...this.columns, i] : this.columns.filter((x) => x !== i);
          this.draw();
        } }), ' ' + k[1])));
    });
    return d;
  },

  draw() {
    const c = shown();
    const t = tables[this.table];
    const values = t.columns(c);
    const own = t.own(c);
    const columns = [...own, ...this.columns.filter((i) => values[i]).map((i) => ({
      key: 'c' + i, head: data.counters[i][1], title: data.counters[i][4], value: (r) => values[i][r], show: (v) => inUnit(v, data.counters[i][2]), sums: !!data.counters[i][5],
    }))];
    const words = this.filter.toLowerCase().split(/\s+/).filter((x) => x);
    const has = (text, word) => (/^(frame|pass):/.test(word) ? text.includes(word + ' ') : text.includes(word));
    const match = (i) => { const text = t.words(c, i).toLowerCase(); return words.every((x) => (x.length > 1 && x[0] === '-' ? !has(text, x.slice(1)) : has(text, x))); };
    let rows = t.rows(c).filter(match);
    const by = columns.find((x) => x.key === this.sort.key) || columns[0];
    const keyed = rows.map((i) => [by.value(i), i]);
    keyed.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] - b[1]) * (this.sort.down ? -1 : 1));
    rows = keyed.map((k) => k[1]);
    const visible = this.all ? rows : rows.slice(0, MOST_ROWS);
    const head = el('tr', {}, columns.map((x) => el('th', {
      class: x.text ? 't' : x.head.length > 16 ? 'long' : null, scope: 'col', title: x.title, 'aria-sort': x.key === by.key ? (this.sort.down ? 'descending' : 'ascending') : null,
    }, el('button', { type: 'button', 'data-key': x.key, onclick: () => {
      this.sort = { key: x.key, down: this.sort.key === x.key ? !this.sort.down : !x.text };
      this.draw();
      this.body.querySelector(`[data-key="${x.key}"]`).focus();
    } }, x.head))));
    const tops = columns.map((x) => (x.bar ? most(rows.map(x.value)) : 0));
    const body = visible.map((i) => {
      const choose = () => this.choose(i);
      return el('tr', { class: 'pick', tabindex: 0, 'data-row': i, 'aria-selected': String(this.select === i), onclick: choose, onkeydown: (e) => {
        if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); choose(); }
        const next = e.key === 'ArrowDown' ? e.currentTarget.nextElementSibling : e.key === 'ArrowUp' ? e.currentTarget.previousElementSibling : null;
        if (next) { e.preventDefault(); next.focus(); }
      } }, columns.map((x, k) => {
        const v = x.value(i);
        const text = x.show ? x.show(v) : typeof v === 'number' ? number(v) : v;
        if (x.bar) return el('td', { class: 'cell' }, el('i', { style: { width: share(v, tops[k]) + '%' } }), el('b', {}, text));
        return el('td', { class: x.text ? (x.narrow ? 't n' : 't') : null }, x.colour && x.colour(i) ? el('span', { class: 'key', style: { background: x.colour(i) } }) : null, text);
      }));
    });
    const foot = el('tr', {}, columns.map((x, k) => el('td', { class: x.text ? 't' : null },
      k === 0 ? plural(rows.length, 'row') : x.sums && rows.length ? (x.show || number)(sum(rows.map(x.value))) : '')));
    fill(this.body, el('table', { id: 'rows' }, el('thead', {}, head), el('tbody', {}, body), el('tfoot', {}, foot)));
    const more = rows.length - visible.length;
    fill(this.note, `${number(rows.length)} of ${number(t.rows(c).length)} rows, by ${by.head}. `,
      more > 0 ? pressed(`Show ${number(more)} more`, false, () => { this.all = true; this.draw(); }) : '',
      this.table === 'runs' && c.runsLost ? `${number(c.runsLost)} later runs are in the workloads alone. ` : '',
      this.table === 'draws' ? 'Of each pass the last time that it ran. ' : '',
      this.table === 'draws' && c.drawsLost ? `${number(c.drawsLost)} more draws are in their passes alone. ` : '',
      this.table === 'draws' && c.drawCountersLeftOut ? `${number(c.drawCountersLeftOut)} counters have no values by draw here: the page would be too large. ` : '',
      this.table === 'runs' && c.runCountersLeftOut ? `${number(c.runCountersLeftOut)} counters have no values by run here: the page would be too large. ` : '');
    this.tell();
  },

  choose(i) {
    this.select = this.select === i ? null : i;
    this.body.querySelectorAll('tbody tr').forEach((r) => r.setAttribute('aria-selected', String(Number(r.dataset.row) === this.select)));
    this.tell();
  },

  // What is chosen: its jobs, and all its counters.
  tell() {
    const c = shown();
    const t = tables[this.table];
    this.detail.hidden = this.select === null;
    if (this.select === null) return;
    const values = t.columns(c);
    const places = data.counters.map((_, i) => i).filter((i) => countIn(values, i, this.select) !== 0);
    fill(this.detail, t.detail(c, this.select),
      el('details', { open: true }, el('summary', {}, `All ${places.length} counters that are not 0`),
        el('div', { class: 'columns' }, places.map((i) => el('div', { title: data.counters[i][4] + ' (' + data.counters[i][0] + ')' },
          data.counters[i][1] + ': ', el('b', {}, inUnit(values[i][this.select], data.counters[i][2])))))));
  },
});
