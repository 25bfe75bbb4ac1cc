// Flame graphs: what calls what, by cycles; choose a bar to see it alone.
const FLAME_ROW = 22;

// The nodes of a shader's blocks: function in its only caller, block, line. `cycles` of a block, by its place.
function flameOf(s, cycles) {
  const root = { name: shaderName(s), cycles: 0, kids: new Map(), kind: 'shader' };
  const at = new Map();
  const functionNode = (f, seen) => {
    if (at.has(f)) return at.get(f);
    const caller = s.callers[f];
    const parent = caller >= 0 && caller !== f && !seen.has(caller) ? functionNode(caller, new Set([...seen, f])) : root;
    const node = { name: s.functions[f] || 'function', cycles: 0, kids: new Map(), kind: 'function', up: parent };
    parent.kids.set('f' + f, node);
    at.set(f, node);
    return node;
  };
  s.blocks.forEach((b, i) => {
    const c = cycles(b, i);
    if (!(c > 0)) return;
    const parent = functionNode(b.function, new Set());
    const where = b.line ? `${fileOf(b)}:${b.line}` : `block ${i}`;
    const key = 'b' + i;
    const node = { name: b.line ? `${where}${b.loop ? ' ↻' : ''}` : where, cycles: 0, kids: new Map(), kind: 'block', up: parent, block: i };
    parent.kids.set(key, node);
    for (let n = node; n; n = n.up) n.cycles += c;
  });
  return root;
}
const fileOf = (b) => (b.file ? b.file.split(/[/\\]/).pop() : '');

// A node for each level in a box; `open(node)` is told what was chosen.
function flameGraph(root, open) {
  const box = el('div', { class: 'flame', role: 'tree', 'aria-label': 'Flame graph' });
  const told = live();
  const draw = (node) => {
    const rows = [];
    let depth = 0;
    const place = (n, from, width, level) => {
      if (width < 0.15) return;
      depth = Math.max(depth, level);
      const text = `${n.name}: ${number(Math.round(n.cycles))} cycles, ${percent(share(n.cycles, root.cycles))} of ${root.name}`;
      const choose = () => { draw(n === node && n.up ? n.up : n); fill(told, text); if (open) open(n); };
      rows.push(el('button', { type: 'button', role: 'treeitem', title: text, 'aria-label': text, class: n.kind, 'data-level': level,
        style: { left: from + '%', width: `calc(${width}% - 1px)`, top: level * FLAME_ROW + 'px' }, onclick: choose }, width > 3 ? n.name : ''));
      let x = from;
      [...n.kids.values()].sort((a, b) => b.cycles - a.cycles).forEach((k) => { const w = (width * k.cycles) / (n.cycles || 1); place(k, x, w, level + 1); x += w; });
    };
    const above = [];
    for (let n = node.up; n; n = n.up) above.unshift(n);
    above.forEach((n, i) => { rows.push(el('button', { type: 'button', class: n.kind + ' above', title: 'Back to ' + n.name, style: { left: 0, width: '100%', top: i * FLAME_ROW + 'px' }, onclick: () => { draw(n); fill(told, n.name); } }, n.name)); });
    place(node, 0, 100, above.length);
    box.style.height = (depth + 1) * FLAME_ROW + 'px';
    fill(box, rows);
  };
  draw(root);
  box.addEventListener('keydown', (e) => {
    const all = [...box.children];
    const here = all.indexOf(document.activeElement);
    const level = (x) => Number(x.dataset.level);
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, ArrowDown: all.findIndex((x, i) => i > here && level(x) > level(all[here])), ArrowUp: all.slice(0, Math.max(0, here)).reduce((a, x, i) => (level(x) < level(all[here]) ? i : a), -1) }[e.key];
    if (to === undefined || here < 0 || !all[to]) return;
    e.preventDefault();
    e.stopPropagation();
    all[to].focus();
  });
  return el('div', {}, box, told);
}

// All shaders of a workload, by what it had of each.
function flameOfWorkload(c, w) {
  const root = { name: titleOf(c.workloads[w]), cycles: 0, kids: new Map(), kind: 'pass' };
  c.shaders.forEach((s, k) => {
    const mine = s.works.find((x) => x[0] === w);
    if (!mine) return;
    const by = new Map(pairs(mine[1]));
    const node = flameOf(s, (b, i) => by.get(i) || 0);
    if (!node.cycles) return;
    node.up = root;
    node.shader = k;
    root.kids.set('s' + k, node);
    root.cycles += node.cycles;
  });
  return root.cycles ? root : null;
}
