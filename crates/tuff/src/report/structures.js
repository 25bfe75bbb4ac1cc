// Acceleration structures: what each is like, what was done to it, and whose rays begin in it.
// A structure's columns: head, how a row tells it, what it sorts by.
const structureName = (s, i) => (s.name ? `${s.name} ` : '') + `#${i}`;
const STRUCTURE_KINDS = { triangles: 'bottom, triangles', boxes: 'bottom, boxes', instances: 'top' };
const structureCost = (s) => s.node_cost + s.leaf_cost;
const STRUCTURE_COLUMNS = [
  ['Structure', (s, i) => structureName(s, i), (s, i) => -i, 'Its name, if the application gave it one, and its place in the order of first builds'],
  ['Kind', (s) => STRUCTURE_KINDS[s.kind] || s.kind, null, 'What its leaves have'],
  ['Primitives', (s) => number(s.primitives), (s) => s.primitives, 'Triangles, boxes or instances that it was built from'],
  ['Nodes', (s) => number(s.nodes), (s) => s.nodes, 'Inner nodes of up to eight boxes'],
  ['Depth', (s) => number(s.depth), (s) => s.depth, 'Levels of nodes'],
  ['Cost', (s) => number(round(structureCost(s))), structureCost, 'Surface-area cost: nodes and leaves that a ray which meets the bounds is expected to visit'],
  ['Overlap', (s) => number(round(s.overlap)), (s) => s.overlap, 'Surface that pairs of siblings have in common, of the siblings’ surface; on average over nodes'],
  ['Bytes', (s) => bytes(s.bytes), (s) => s.bytes, 'Bytes in use'],
  ['Builds', (s) => number(s.builds), (s) => s.builds],
  ['Updates', (s) => number(s.updates), (s) => s.updates],
  ['Copies', (s) => number(s.clones + s.compactions + s.deserializations), (s) => s.clones + s.compactions + s.deserializations, 'Times that it was made by a copy: a clone, a compaction, or from serialised bytes'],
  ['Runs', (s) => number(s.runs), (s) => s.runs, 'Runs of workloads whose rays met it: rays begin in top structures, and meet bottom ones through instances'],
  ['Rays', (s) => number(s.rays), (s) => s.rays, 'Rays that begin in it; of a bottom structure, in top structures that have it'],
];
const round = (v) => Math.round(v * 1000) / 1000;

views.push({
  key: 'structures', title: 'Structures', when: (c) => c.structures.length > 0, selected: 0, by: 12,
  arrive(to) { if (to.structure !== undefined) this.selected = to.structure; },

  render(root) {
    const c = shown();
    if (this.selected >= c.structures.length) this.selected = 0;
    const [, , key] = STRUCTURE_COLUMNS[this.by];
    const order = c.structures.map((s, i) => i).sort((a, b) => key(c.structures[b], b) - key(c.structures[a], a) || a - b);
    const pick = (i) => { this.selected = i; this.render(root); root.querySelector(`[data-structure="${i}"]`).focus(); };
    const head = STRUCTURE_COLUMNS.map(([name, , sorts, title], k) => el('th', { class: k < 2 ? 't' : null, scope: 'col', title, 'aria-sort': k === this.by ? 'descending' : null },
      sorts ? el('button', { type: 'button', onclick: () => { this.by = k; this.render(root); root.querySelectorAll('#structures thead th')[k].firstChild.focus(); } }, name) : name));
    const rows = order.map((i) => el('tr', {
      class: 'pick', tabindex: 0, 'data-structure': i, 'aria-selected': String(i === this.selected), onclick: () => pick(i), onkeydown: (e) => this.move(e, order, i, pick),
    }, STRUCTURE_COLUMNS.map(([, tell], k) => el('td', { class: k < 2 ? 't n' : null }, tell(c.structures[i], i)))));
    fill(root,
      el('section', { class: 'panel' }, el('h2', {}, 'Acceleration structures'),
        c.structuresLost ? el('p', { class: 'note' }, `${plural(c.structuresLost, 'more structure')} left out.`) : null,
        el('div', { class: 'scroll', style: { 'max-height': '24rem' } }, el('table', { id: 'structures' }, el('thead', {}, el('tr', {}, head)), el('tbody', {}, rows))),
        el('p', { class: 'note' }, 'Figures are of the tree as it was last built, updated or copied. Cost: the surfaces of the boxes of all nodes and leaves over the surface of the structure’s bounds, which is how many of them a random ray that meets the bounds visits. Overlap: in each node, the surface that two children’s boxes have in common, summed over all pairs of children, over the sum of the children’s surfaces; then the average over nodes. It is 0 for boxes that are apart and 0.5 for two equal ones.')),
      el('section', { class: 'panel detail', id: 'structure-detail' }, this.detail(c, this.selected)));
  },

  move(e, order, i, pick) {
    const at = order.indexOf(i);
    if (e.key === 'Enter' || e.key === ' ') pick(i);
    else if (e.key === 'ArrowDown' && at + 1 < order.length) pick(order[at + 1]);
    else if (e.key === 'ArrowUp' && at > 0) pick(order[at - 1]);
    else return;
    e.preventDefault();
  },

  detail(c, i) {
    const s = c.structures[i];
    const link = (k) => el('button', { type: 'button', onclick: () => go('structures', { structure: k }) }, structureName(c.structures[k], k));
    const links = (list) => list.flatMap(([k, n]) => [link(k), n > 1 ? ` × ${number(n)} ` : ' ']);
    const above = c.structures.flatMap((t, k) => t.instances.filter(([b]) => b === i).map(([, n]) => [k, n]));
    const facts = [
      ['Kind', STRUCTURE_KINDS[s.kind] || s.kind],
      ['Primitives', number(s.primitives) + (s.active < s.primitives ? `, ${number(s.active)} of them active` : '') + (s.geometries ? `, in ${number(s.geometries)} geometr${s.geometries === 1 ? 'y' : 'ies'}` : '')],
      ['Tree', `${plural(s.nodes, 'node')}, ${number(s.leaves)} ${s.leaves === 1 ? 'leaf' : 'leaves'}, ${plural(s.depth, 'level')}`],
      ['Cost', `${number(round(structureCost(s)))}: nodes ${number(round(s.node_cost))}, leaves ${number(round(s.leaf_cost))}`],
      ['Overlap', number(round(s.overlap))],
      ['Memory', `${bytes(s.bytes)} in use, of ${bytes(s.room)}`],
      ['Built with', s.flags.length ? s.flags.join(', ') : 'no flags'],
      ['Written by', [['build', s.builds], ['update', s.updates], ['clone', s.clones], ['compaction', s.compactions], ['deserialisation', s.deserializations]].filter((d) => d[1]).map(([what, n]) => plural(n, what)).join(', ')],
      s.from === null ? null : ['Copied or updated from', link(s.from)],
      s.instances.length ? ['Instances of', links(s.instances)] : null,
      above.length ? ['Instances in', links(above)] : null,
    ];
    return [el('h2', {}, structureName(s, i)), el('dl', {}, facts.filter((f) => f).map(([k, v]) => [el('dt', {}, k), el('dd', {}, v)])), this.traces(c, s)];
  },

  // Workloads whose rays met it, with the unit's counters.
  traces(c, s) {
    if (!s.rays) return el('p', { class: 'note' }, 'No ray was traced in it.');
    const counters = data.counters.map((k, i) => i).filter((i) => /^MaliRTU/.test(data.counters[i][0]) && s.workloads.some(([w]) => countIn(c.workloadCounters, i, w)));
    // All of them are the unit's: its name says nothing here.
    const brief = (i) => data.counters[i][1].replace(/^Ray tracing (unit )?/, '');
    const head = [['Workload'], ['Runs'], ['Rays here'], ...counters.map((i) => [brief(i)[0].toUpperCase() + brief(i).slice(1), data.counters[i][4]])];
    return [el('h3', {}, s.kind === 'instances' ? 'Workloads whose rays begin here' : 'Workloads whose rays begin in a top structure that has it'),
      el('div', { class: 'scroll', style: { 'max-height': '24rem' } }, el('table', { id: 'structure-traces' },
        el('thead', {}, el('tr', {}, head.map(([h, title], k) => el('th', { class: k ? null : 't', scope: 'col', title }, h)))),
        el('tbody', {}, s.workloads.map(([w, runs, rays]) => {
          const open = () => go('table', { table: 'workloads', select: w });
          return el('tr', { class: 'pick', tabindex: 0, onclick: open, onkeydown: (e) => e.key === 'Enter' && open() },
            el('td', { class: 't' }, titleOf(c.workloads[w])), el('td', {}, number(runs)), el('td', {}, number(rays)),
            counters.map((i) => el('td', {}, inUnit(countIn(c.workloadCounters, i, w), data.counters[i][2]))));
        })))),
      el('p', { class: 'note' }, 'Counters of the ray tracing unit are those of all runs of the workload, in whichever structures its rays begin.')];
  },
});
