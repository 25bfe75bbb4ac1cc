// Shaders: source or SPIR-V with what each line and block cost, the hottest first.
const shaderName = (s) => s.name;
const UNITS = ['Arithmetic cycles', 'Load/store cycles', 'Texture cycles', 'Varying cycles'];
const metricOf = (s, name) => s.metrics.indexOf(name);
const valueOf = (b, k) => (k >= 0 && b.values.length > k ? b.values[k] : 0);
// What may bind a line: words, and a colour.
const STALLS = [['arithmetic', COLOURS.arithmetic], ['load/store', COLOURS.load_store], ['texture', COLOURS.texture], ['varying', COLOURS.varying], ['latency', COLOURS.latency]];
// The place of the greatest of cycles by what takes them.
const stallOf = (values) => values.reduce((a, v, i) => (v > values[a] ? i : a), 0);
// A block costs what its busiest unit takes.
const costOf = (s, b) => most(UNITS.map((u) => valueOf(b, metricOf(s, u))));
// One warp, once: arithmetic by the pipes' issue rule, load/store instructions, texture messages, varying slots.
function onceOf(s, b) {
  const [fma, cvt, sfu, ls, tex, varying] = [...b.once, 0, 0, 0, 0, 0, 0];
  const core = (shown().model || {}).core || {};
  const lanes = (n, rate) => (n * 16) / (rate || 16);
  return { fma, cvt, sfu, ls, tex, varying, cycles: Math.max(lanes(fma + cvt + sfu, core.fma_lanes), lanes(cvt + sfu, core.cvt_lanes), lanes(sfu, core.sfu_lanes)) };
}

views.push({
  key: 'shaders', title: 'Shaders', when: (c) => c.shaders.length > 0, shader: 0, metric: 'cost', text: null, block: null, flame: 'shader',
  arrive(to) { if (to.shader !== undefined) { this.shader = to.shader; this.block = to.block === undefined ? null : to.block; this.flame = 'shader'; } },

  render(root) {
    const c = shown();
    this.root = root;
    if (this.shader >= c.shaders.length) this.shader = 0;
    const s = c.shaders[this.shader];
    const heatAll = sum(c.shaders.map((x) => x.heat));
    const list = el('ul', { class: 'list', id: 'shader-list' }, c.shaders.map((x, i) => el('li', {}, el('button', {
      type: 'button', 'aria-current': String(i === this.shader), onclick: () => { this.arrive({ shader: i }); this.text = null; this.render(root); root.querySelectorAll('#shader-list button')[i].focus(); },
    }, shaderName(x), el('small', {}, `${number(x.heat)} cycles, ${percent(share(x.heat, heatAll))}`), el('div', { class: 'bar' }, el('i', { style: { width: share(x.heat, c.shaders[0].heat) + '%' } }))))));
    const modes = [...s.sources.map((f, i) => ['source' + i, f.file.split('/').pop() || 'Source']), ...(s.text ? [['spirv', 'SPIR-V']] : [])];
    if (!modes.some((m) => m[0] === this.text)) this.text = modes.length ? modes[0][0] : null;
    const metrics = [['cost', 'Cost: cycles of the busiest unit'], ...s.metrics.map((m) => [m, m])].filter(([m]) => m === 'cost' || s.blocks.some((b) => valueOf(b, metricOf(s, m)) > 0));
    if (!metrics.some((m) => m[0] === this.metric)) this.metric = 'cost';
    const value = (b) => (this.metric === 'cost' ? costOf(s, b) : valueOf(b, metricOf(s, this.metric)));
    const measured = this.metric === 'cost' ? 'Cycles' : this.metric;
    const select = el('select', { id: 'metric', onchange: (e) => { this.metric = e.target.value; this.render(root); root.querySelector('#metric').focus(); } }, metrics.map(([v, t]) => option(v, t, v === this.metric)));
    fill(root, el('div', { class: 'two' },
      el('section', { class: 'panel' }, el('h2', {}, 'Hottest first'), list),
      el('div', {}, el('section', { class: 'panel' },
        el('h2', {}, shaderName(s)),
        el('p', { class: 'note' }, `${number(s.blocks.length)} blocks, ${number(s.registers)} registers, ${number(most(s.blocks.map((b) => valueOf(b, metricOf(s, 'Executed warps')))))} warps at most in one. Measured numbers are sums over all runs; “once” is what one warp pays, by the compiler.`),
        el('div', { class: 'tools' }, el('label', {}, 'Heat', select), el('div', { role: 'group', 'aria-label': 'Text' }, modes.map(([m, t]) => [pressed(t, m === this.text, () => { this.text = m; this.render(root); }), ' ']))),
        this.blocks(root, s, value)),
      this.flames(root, c, s, value), this.stalls(s),
      el('section', { class: 'panel' }, this.code = this.text === 'spirv' ? this.spirv(s, value, measured) : this.text ? this.source(s, s.sources[Number(this.text.slice(6))], value, measured) : el('p', { class: 'note' }, 'Its text is left out: the page would be too large.')))));
    // The dearest block first.
    if (this.block === null) { const top = s.blocks.reduce((a, b, i) => (a < 0 || value(b) > value(s.blocks[a]) ? i : a), -1); this.block = top < 0 ? null : top; }
    if (this.line) this.showLine();
    else if (this.block !== null) this.show();
  },

  // A line that was chosen: once.
  showLine() {
    const row = this.code.querySelectorAll('tbody tr')[this.line - 1];
    this.line = null;
    if (!row) return;
    this.code.querySelectorAll('.here').forEach((r) => r.classList.remove('here'));
    row.classList.add('here');
    this.code.scrollTop = row.offsetTop - this.code.clientHeight / 3;
  },

  // Blocks that cost something, static beside measured.
  blocks(root, s, value) {
    const all = sum(s.blocks.map((b) => costOf(s, b))) || 1;
    const k = (m) => metricOf(s, m);
    const rows = s.blocks.map((b, i) => [b, i]).sort((a, b) => value(b[0]) - value(a[0]) || a[1] - b[1]);
    const top = most(s.blocks.map(value)) || 1;
    const head = ['Block', 'Where', 'Share', 'Cycles', 'Arithm.', 'Ld/st', 'Texture', 'Varying', 'Warps', 'Diverged', 'Once: cycles', 'FMA', 'CVT', 'SFU', 'Ld/st', 'Tex', 'Slots'];
    const table = el('table', { id: 'blocks' }, el('thead', {}, el('tr', {}, head.map((h, i) => el('th', { class: i === 1 ? 't' : null, scope: 'col' }, h)))),
      el('tbody', {}, rows.slice(0, 60).map(([b, i]) => {
        const once = onceOf(s, b);
        const warps = valueOf(b, k('Executed warps'));
        const pick = () => { this.block = i; this.show(); };
        const where = `${s.functions[b.function]}${b.line ? ` ${fileOf(b)}:${b.line}` : ''}${b.loop ? ' ↻' : ''}`;
        return el('tr', { class: 'pick', tabindex: 0, 'data-block': i, onclick: pick, onkeydown: (e) => e.key === 'Enter' && pick() },
          el('td', {}, String(i)), el('td', { class: 't n' }, where),
          el('td', { class: 'cell' }, el('i', { style: { width: share(value(b), top) + '%' } }), el('b', {}, percent(share(costOf(s, b), all)))),
          [costOf(s, b), ...UNITS.map((u) => valueOf(b, k(u))), warps].map((v) => el('td', {}, v ? number(v) : '·')),
          el('td', {}, warps ? percent(share(valueOf(b, k('Diverged warps')), warps)) : '·'),
          el('td', {}, number(Math.round(once.cycles * 100) / 100)), [once.fma, once.cvt, once.sfu, once.ls, once.tex, once.varying].map((v) => el('td', {}, v ? number(v) : '·')));
      })));
    return el('div', { class: 'scroll', style: { 'max-height': '17rem' } }, table);
  },

  // Function, block and line by cycles, of this shader or of a pass that ran it.
  flames(root, c, s, value) {
    const mine = s.works.map((w) => w[0]);
    if (this.flame !== 'shader' && !mine.includes(Number(this.flame))) this.flame = 'shader';
    const node = this.flame === 'shader' ? flameOf(s, value) : flameOfWorkload(c, Number(this.flame));
    const select = el('select', { id: 'flame-of', onchange: (e) => { this.flame = e.target.value; this.render(root); root.querySelector('#flame-of').focus(); } },
      option('shader', 'this shader, all workloads', this.flame === 'shader'), mine.map((w) => option(w, 'all shaders of ' + titleOf(c.workloads[w]), this.flame === String(w))));
    const open = (n) => {
      let up = n;
      while (up && up.shader === undefined) up = up.up;
      const at = up ? up.shader : this.shader;
      if (at !== this.shader && n.block !== undefined) { this.arrive({ shader: at, block: n.block }); this.render(root); return; }
      if (n.block !== undefined) { this.block = n.block; this.show(); }
    };
    return el('section', { class: 'panel', id: 'flame' }, el('h2', {}, 'Flame graph'), el('div', { class: 'tools' }, el('label', {}, 'Of', select)), node && node.cycles ? flameGraph(node, open) : el('p', { class: 'note' }, 'Nothing of it ran.'),
      el('p', { class: 'note' }, 'Functions in their callers (in the shader itself if there are several), then blocks by their first line. Widths are cycles of the busiest unit, without caches’ misses. Arrows move, Enter zooms.'));
  },

  // The dearest lines, and what binds each.
  stalls(s) {
    const all = s.sources.flatMap((f, k) => f.costs.map((l) => ({ f, k, l })));
    if (!all.length) return null;
    const cost = ({ l }) => most(l.slice(1, 6));
    const rows = all.sort((a, b) => cost(b) - cost(a)).slice(0, 40);
    const top = cost(rows[0]) || 1;
    const text = rows.map(({ f, l }) => (f.text.split('\n')[l[0] - 1] || '').trim());
    return el('section', { class: 'panel', id: 'line-stalls' }, el('h2', {}, 'Stalls by line'), el('div', { class: 'scroll', style: { 'max-height': '19rem' } }, el('table', {},
      el('thead', {}, el('tr', {}, ['Line', 'Bound by', 'Cycles', 'Arithm.', 'Ld/st', 'Texture', 'Varying', 'Waits', 'Bytes', ''].map((h, i) => el('th', { class: i < 2 || i === 9 ? 't' : null, scope: 'col' }, h)))),
      el('tbody', {}, rows.map((r, i) => {
        const [row, ...v] = r.l;
        const by = stallOf(v.slice(0, 5));
        const pick = () => { this.text = 'source' + r.k; this.line = row; this.render(this.root); };
        return el('tr', { class: 'pick', tabindex: 0, 'data-line': row, onclick: pick, onkeydown: (e) => e.key === 'Enter' && pick() },
          el('td', { class: 't n' }, `${r.f.file.split(/[/\\]/).pop() || 'source'}:${r.f.numbers[row - 1] || row}`), el('td', { class: 't n' }, el('span', { class: 'key', style: { background: STALLS[by][1] } }), STALLS[by][0]),
          el('td', { class: 'cell' }, el('i', { style: { width: share(cost(r), top) + '%' } }), el('b', {}, number(Math.round(cost(r))))),
          v.slice(0, 5).map((x) => el('td', {}, x ? number(Math.round(x)) : '·')), el('td', {}, v[5] ? bytes(v[5]) : '·'), el('td', { class: 't n code' }, text[i]));
      })))), el('p', { class: 'note' }, 'A block’s measured cycles are shared by its lines as the compiler’s costs of one warp are. “Waits” are the model’s latencies of its warps, shared by the warps that a core holds, if caches miss nothing: where they are the most, more warps or fewer dependent accesses help, not fewer instructions.'));
  },

  show() {
    const row = this.code.querySelector(`[data-block="${this.block}"]`);
    this.code.querySelectorAll('.here').forEach((r) => r.classList.remove('here'));
    if (!row) return;
    row.classList.add('here');
    const box = this.code.closest('.scroll') || this.code;
    box.scrollTop = row.offsetTop - box.clientHeight / 3;
  },

  head: (measured) => el('thead', {}, el('tr', {}, el('th', {}, measured), el('th', {}, 'Warps'), el('th', {}, 'Once'), el('th', {}, ''), el('th', { class: 't' }, ''))),

  spirv(s, value, measured) {
    const top = most(s.blocks.map(value)) || 1;
    const begins = new Map(s.blocks.map((b, i) => [b.at, i]).filter((b) => b[0] !== null && b[0] !== undefined));
    let at = null;
    const rows = s.text.split('\n').map((line, n) => {
      const begin = begins.get(n);
      if (begin !== undefined) at = begin;
      if (/^Op(Function|FunctionEnd)\b/.test(line) || / = OpFunction /.test(line)) at = null;
      const b = at === null ? null : s.blocks[at];
      const first = begin !== undefined && b;
      return el('tr', { class: first ? 'block' : null, 'data-block': first ? begin : null, style: b && value(b) ? { background: heat(value(b) / top) } : null },
        el('td', {}, first && value(b) ? number(value(b)) : ''), el('td', {}, first ? number(valueOf(b, metricOf(s, 'Executed warps'))) : ''),
        el('td', {}, first ? number(Math.round(onceOf(s, b).cycles * 100) / 100) : ''), el('td', { class: 'l' }, first ? 'block ' + begin : ''), el('td', { class: 's' }, line));
    });
    return el('div', { class: 'scroll code', tabindex: 0, id: 'code', 'aria-label': 'SPIR-V' }, el('table', {}, this.head(measured), el('tbody', {}, rows)));
  },

  // A line has the heat of the dearest block with instructions of it; numbers stand where blocks begin.
  source(s, file, value, measured) {
    const mine = s.blocks.map((b, i) => [b, i]).filter(([, i]) => file.blocks[i][1].length);
    const top = most(mine.map(([b]) => value(b))) || 1;
    const [hot, begin] = [new Map(), new Map()];
    mine.forEach(([b, i]) => {
      const [first, rows] = file.blocks[i];
      rows.forEach((l) => hot.set(l, Math.max(hot.get(l) || 0, value(b))));
      if (first) begin.set(first, [...(begin.get(first) || []), i]);
    });
    const costs = new Map(file.costs.map((l) => [l[0], l]));
    const rows = file.text.split('\n').map((line, n) => {
      const blocks = begin.get(n + 1) || [];
      const v = hot.get(n + 1) || 0;
      const own = costs.get(n + 1);
      const by = own ? stallOf(own.slice(1, 6)) : -1;
      const mark = own && most(own.slice(1, 6)) > 0 ? el('span', { class: 'key', title: `bound by ${STALLS[by][0]}: ` + STALLS.map((x, i) => `${x[0]} ${number(Math.round(own[i + 1]))}`).join(', ') + ' cycles', style: { background: STALLS[by][1] } }) : null;
      const of = (f) => sum(blocks.map((i) => f(s.blocks[i])));
      return el('tr', { 'data-block': blocks.length ? blocks[0] : null, style: v ? { background: heat(v / top) } : null },
        el('td', {}, blocks.length && of(value) ? number(of(value)) : ''), el('td', {}, blocks.length ? number(most(blocks.map((i) => valueOf(s.blocks[i], metricOf(s, 'Executed warps'))))) : ''),
        el('td', {}, blocks.length ? number(Math.round(of((b) => onceOf(s, b).cycles) * 100) / 100) : ''), el('td', { class: 'l' }, mark, String(file.numbers[n] || n + 1)), el('td', { class: 's' }, line));
    });
    return el('div', { class: 'scroll code', tabindex: 0, id: 'code', 'aria-label': 'Source' }, el('table', {}, this.head(measured), el('tbody', {}, rows)));
  },
});
