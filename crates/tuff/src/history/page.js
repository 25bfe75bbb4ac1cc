// Costs over commits: a chart for all, one for each workload, and every step.
const commits = data.commits;
const view = { counter: 0, filter: '', at: commits.length - 1, frames: false };
const page = document.getElementById('views');
const short = (c) => (/^[0-9a-f]{12,}$/.test(c) ? c.slice(0, 8) : c);
const linkOf = (i) => (data.link ? data.link.replaceAll('{commit}', encodeURIComponent(commits[i][0])) : null);
const commitName = (i) => (linkOf(i) ? el('a', { href: linkOf(i), rel: 'noopener' }, short(commits[i][0])) : short(commits[i][0]));
const unit = () => data.counters[view.counter][2];
const show = (v) => (v === null ? 'none' : inUnit(v, unit()));
const signed = (a, b) => (a === 0 ? 'from 0' : (b > a ? '+' : '−') + percent(Math.abs(share(b - a, a))));

// Values are the same in every run: whatever differs is a step.
function stepsOf(s) {
  const v = s.values[view.counter];
  const out = [];
  for (let i = 1; i < v.length; i++) if (v[i] !== null && v[i - 1] !== null && v[i] !== v[i - 1]) out.push([i, v[i - 1], v[i]]);
  return out;
}

function chart(s, big) {
  const v = s.values[view.counter];
  const budget = s.budgets[view.counter];
  const n = Math.max(1, v.length);
  const known = v.filter((x) => x !== null);
  const top = Math.max(1e-9, most(known), budget || 0) * 1.08;
  const y = (x) => 100 - (100 * x) / top;
  // A value holds from its commit to the next.
  let [path, under, begun] = ['', '', -1];
  v.forEach((x, i) => {
    if (x === null) { if (begun >= 0) under += `L${i} 100Z`; begun = -1; return; }
    path += begun < 0 ? `M${i} ${y(x)}H${i + 1}` : `V${y(x)}H${i + 1}`;
    under += begun < 0 ? `M${i} 100V${y(x)}H${i + 1}` : `V${y(x)}H${i + 1}`;
    if (begun < 0) begun = i;
  });
  if (begun >= 0) under += `V100Z`;
  const steps = stepsOf(s);
  const cursor = el('line', { class: 'cursor', x1: 0, x2: 0, y1: 0, y2: 100 });
  const said = el('p', { class: 'now', 'aria-live': 'polite' });
  const value = el('span', { class: 'value' });
  const last = v.length - 1;
  const svg = el('svg', { viewBox: `0 0 ${n} 100`, preserveAspectRatio: 'none', tabindex: 0, role: 'application', 'aria-label': `${s.name}: ${data.counters[view.counter][1]} of ${plural(n, 'commit')}, ${plural(steps.length, 'step')}. Left and right move, Enter opens the commit, n and p go to the next and previous step.` },
    el('path', { class: 'under', d: under }), el('path', { class: 'path', d: path }),
    budget ? el('line', { class: 'budget', x1: 0, x2: n, y1: y(budget), y2: y(budget) }, el('title', {}, 'budget ' + show(budget))) : null,
    steps.map(([i, a, b]) => el('line', { class: 'step ' + (b > a ? 'up' : 'down'), x1: i, x2: i, y1: y(b), y2: y(b) })), cursor);
  const tell = (i) => {
    view.at = Math.max(0, Math.min(last, i));
    const at = view.at;
    cursor.setAttribute('x1', at + 0.5);
    cursor.setAttribute('x2', at + 0.5);
    const step = steps.find((x) => x[0] === at);
    const over = budget && v[at] > budget;
    fill(value, show(v[at]), over ? el('span', { class: 'over' }, ` over the budget of ${show(budget)}`) : '');
    fill(said, commitName(at), commits[at][1] ? ' ' + commits[at][1] : '', step ? el('b', {}, `: ${signed(step[1], step[2])} from ${show(step[1])}`) : '');
  };
  svg.addEventListener('pointermove', (e) => { const r = svg.getBoundingClientRect(); tell(Math.floor(((e.clientX - r.left) / r.width) * n)); });
  svg.addEventListener('click', (e) => { if (linkOf(view.at) && e.detail === 2) window.open(linkOf(view.at), '_blank', 'noopener'); });
  svg.addEventListener('focus', () => tell(view.at));
  svg.addEventListener('keydown', (e) => {
    const near = (d) => { const all = steps.map((x) => x[0]); return d > 0 ? all.find((i) => i > view.at) : [...all].reverse().find((i) => i < view.at); };
    const to = { ArrowLeft: view.at - 1, ArrowRight: view.at + 1, Home: 0, End: last, n: near(1), p: near(-1) }[e.key];
    if (e.key === 'Enter' && linkOf(view.at)) window.open(linkOf(view.at), '_blank', 'noopener');
    if (to === undefined) return;
    e.preventDefault();
    tell(to);
  });
  tell(last);
  return el('section', { class: 'chart' + (big ? ' big' : ''), 'data-name': s.name }, el('h2', {}, s.name), value, svg,
    el('div', { class: 'edges' }, el('span', {}, short(commits[0][0])), el('span', {}, n > 1 ? short(commits[n - 1][0]) : '')), said);
}

function render() {
  document.getElementById('gpu').textContent = [...new Set(data.gpus)].join(', ');
  const words = view.filter.toLowerCase();
  const [whole, ...rest] = data.series;
  const some = rest.filter((s) => s.values[view.counter].some((x) => x) && s.name.toLowerCase().includes(words));
  const used = data.counters.map((_, i) => i).filter((i) => data.series.some((s) => s.values[i].some((x) => x)));
  const select = el('select', { id: 'counter', onchange: (e) => { view.counter = Number(e.target.value); render(); document.getElementById('counter').focus(); } }, used.map((i) => option(i, data.counters[i][1], i === view.counter)));
  const charts = el('div', { class: 'charts', id: 'charts' });
  const draw = () => fill(charts, some.filter((s) => s.name.toLowerCase().includes(view.filter.toLowerCase())).slice(0, 60).map((s) => chart(s, false)));
  const steps = data.series.flatMap((s) => stepsOf(s).map(([i, a, b]) => [i, s, a, b])).sort((x, y) => y[0] - x[0] || Math.abs(y[3] - y[2]) - Math.abs(x[3] - x[2]));
  fill(page,
    el('div', { class: 'tools' }, el('label', {}, 'Counter', select),
      el('input', { type: 'search', id: 'filter', placeholder: 'Find a workload', 'aria-label': 'Find a workload (key /)', value: view.filter, oninput: (e) => { view.filter = e.target.value; draw(); } }),
      el('span', { class: 'note' }, `${plural(commits.length, 'commit')}, ${plural(rest.length, 'workload')}` + (data.lost ? `; ${number(data.lost)} earlier commits are left out` : '') + (data.more ? `; ${number(data.more)} more workloads are left out` : ''))),
    chart(whole, true),
    el('section', { class: 'panel', id: 'steps' }, el('h2', {}, 'Steps, the latest first'), steps.length ? el('div', { class: 'scroll', style: { 'max-height': '18rem' } }, el('table', { id: 'steps-table' },
      el('thead', {}, el('tr', {}, ['Commit', 'Workload', 'Before', 'After', 'Change'].map((h, i) => el('th', { class: i < 2 ? 't' : null, scope: 'col' }, h)))),
      el('tbody', {}, steps.slice(0, 300).map(([i, s, a, b]) => el('tr', {}, el('td', { class: 't' }, commitName(i), commits[i][1] ? ' ' + commits[i][1] : ''), el('td', { class: 't' }, s.name), el('td', {}, show(a)), el('td', {}, show(b)), el('td', { class: b > a ? 'up' : 'down' }, signed(a, b))))))) : el('p', { class: 'note' }, 'None: every commit costs the same.'),
      el('p', { class: 'note' }, 'Counters are the same in every run and on every machine, so each difference comes from a commit. Workloads are followed through edits of their shaders.')),
    charts);
  draw();
}
document.addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT)$/.test(e.target.tagName)) return;
  if (e.key === 'd') nextTheme();
  else if (e.key === '/') { e.preventDefault(); document.getElementById('filter').focus(); }
});
startTheme();
render();
