'use strict';
// What all views share: the data, elements, numbers in words, colours.
const data = JSON.parse(document.getElementById('data').textContent);
const captures = data.captures;
const QUEUES = ['compute', 'binning', 'main'];
const state = { capture: 0, view: 'overview' };
const views = [];
const shown = () => captures[state.capture];

// Element: attributes by name, `on…` are listeners, children are nodes or texts.
function el(tag, attributes, ...children) {
  const ns = ['svg', 'rect', 'text', 'g', 'line', 'path', 'title'].includes(tag) && (attributes || {}).svg !== false;
  const e = ns ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [k, v] of Object.entries(attributes || {})) {
    if (v === undefined || v === null || v === false || k === 'svg') continue;
    if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else if (k === 'style' && typeof v === 'object') for (const [p, x] of Object.entries(v)) e.style.setProperty(p, x);
    else e.setAttribute(k, v === true ? '' : v);
  }
  e.append(...children.flat(9).filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}
const fill = (e, ...children) => { e.replaceChildren(...children.flat(9).filter((c) => c)); return e; };

// Numbers.
const group = (s) => s.replace(/\B(?=(\d{3})+(?!\d))/g, ' ');
const digits = (s) => (/^\d+$/.test(s) ? group(s) : s);
function number(v) {
  if (v === null || v === undefined || Number.isNaN(v)) return '';
  if (Number.isInteger(v)) return group(String(v));
  const a = Math.abs(v);
  const s = a >= 1000 ? v.toFixed(0) : a >= 100 ? v.toFixed(1) : a >= 1 ? v.toFixed(2) : v.toPrecision(3);
  const [whole, rest] = s.split('.');
  return rest ? group(whole) + '.' + rest : group(whole);
}
function time(ns) {
  if (ns >= 1e9) return (ns / 1e9).toFixed(2) + ' s';
  if (ns >= 1e6) return (ns / 1e6).toFixed(2) + ' ms';
  if (ns >= 1e3) return (ns / 1e3).toFixed(1) + ' µs';
  return Math.round(ns) + ' ns';
}
function bytes(n) {
  if (n >= 1e9) return (n / 1e9).toFixed(2) + ' GB';
  if (n >= 1e6) return (n / 1e6).toFixed(2) + ' MB';
  if (n >= 1e3) return (n / 1e3).toFixed(1) + ' kB';
  return Math.round(n) + ' B';
}
const percent = (v) => (v >= 99.95 || v === 0 ? v.toFixed(0) : v.toFixed(1)) + ' %';
const share = (part, whole) => (whole > 0 ? (100 * part) / whole : 0);
const cyclesToNs = (c, capture) => (c * 1000) / ((capture || shown()).model.clock_mhz || 1000);
const plural = (n, what) => `${number(n)} ${what}${n === 1 ? '' : 's'}`;
const sum = (list) => list.reduce((a, b) => a + b, 0);
const most = (list) => list.reduce((a, b) => (b > a ? b : a), 0);

// Counters: [machine, human, unit, block, text, sums].
const place = Object.fromEntries(data.counters.map((c, i) => [c[0], i]));
const inUnit = (v, unit) => (unit === 'bytes' ? bytes(v) : unit === 'nanoseconds' ? time(v) : unit === 'percent' ? percent(v) : number(v));
const countIn = (columns, i, row) => (columns[i] ? columns[i][row] : 0);
const named = (columns, machine, row) => (machine in place ? countIn(columns, place[machine], row) : 0);
const total = (machine, capture) => named((capture || shown()).total, machine, 0);

// What takes time: colours that differ in lightness too.
const COLOURS = {
  arithmetic: '#3f7fc1', load_store: '#4d9a4f', varying: '#93c47d', texture: '#9a63b4', l2_link: '#2f9c95', raster: '#d8b12e',
  latency: '#d9534f', task_overhead: '#a39a91', tiler: '#d1708f', l2: '#74b9b0', memory: '#ef8a2c', front_end: '#8d6a55', idle_cores: '#c9b8ad',
};
const takeColour = (i) => (i < 0 ? '#999' : COLOURS[data.takes[i][0]] || '#999');
const takeWords = (i) => (i < 0 ? 'nothing' : data.takes[i][1]);
const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// The one time that the page tells: what overlaps is counted once, so workloads, runs and frames add up to the whole.
const GPU_TIME = 'Cycles in which the GPU did this; what overlaps is counted once, so that these add up';
// Where it is said what times are: once, in the overview; other views lead there.
const timeNote = () => el('p', { class: 'note' }, el('a', { href: '#overview', class: 'time-note', onclick: (e) => { e.preventDefault(); go('overview', {}); const t = document.getElementById('what-time-is'); if (t) { t.open = true; t.scrollIntoView(); t.querySelector('summary').focus(); } } }, 'What “time” is'), '.');
const TIMES = [['GPU time', 'Nanoseconds of the modelled GPU in which it did something, by its clock. What several workloads do at once counts once, shared by them, so that workloads, runs and frames add up to the whole. “Time” alone is this, in every view.'],
  ['Begin, end', 'Positions on the modelled time line. Jobs overlap, so that lengths from begin to end do not add up.'],
  ['Cores’ cycles', 'Cycles of shader cores, added up over all cores: what draws, regions and lines of shaders have, which have no time of their own.'],
  ['Waited, kept out', 'Time before and between a job’s own: for what it depends on, and for other jobs that had the resources. It is no GPU time of the job.']];

// Workloads and their jobs: [queue, active, blocked, drained, waited, bound, takes, active by what bound the runs, parts of the time].
const titleOf = (w) => (w.label ? w.label.replace(/[\x00-\x1f]/g, ' ') + ': ' : '') + w.kind + ' ' + w.name;
// Where there is little room: the innermost label, or the name; the lane tells the kind.
const shortOf = (w) => (w.label ? w.label.split('/').pop().replace(/[\x00-\x1f]/g, ' ') : w.name);
const longest = (w) => w.jobs.reduce((a, j) => (!a || j[1] > a[1] ? j : a), null);
const boundOf = (w) => { const j = longest(w); return j ? QUEUES[j[0]] + ': ' + takeWords(j[5]) : ''; };
const pairs = (flat) => { const out = []; for (let i = 0; i < (flat || []).length; i += 2) out.push([flat[i], flat[i + 1]]); return out; };

// Bars of what a job's things would take alone, the longest first.
function takesBars(takes, active) {
  const all = pairs(takes).sort((a, b) => b[1] - a[1]);
  const whole = Math.max(active, most(all.map((t) => t[1])));
  return el('div', { class: 'bars' }, all.map(([i, cycles]) => [
    el('span', { title: data.takes[i][2] }, takeWords(i)),
    el('div', { class: 'bar' }, el('i', { style: { width: share(cycles, whole) + '%', background: takeColour(i) } })),
    el('span', { class: 'v' }, number(cycles) + ' cycles, ' + percent(share(cycles, active)))]));
}
// Bars of what a job's time is the sum of, the longest first.
function partsBars(parts, ofAll) {
  const all = pairs(parts).sort((a, b) => b[1] - a[1]);
  const whole = all.reduce((sum, p) => sum + p[1], 0);
  if (!all.length) return '';
  return [el('h3', {}, `What its ${time(whole)} went to` + (ofAll ? ', all runs of the workload' : '')), el('div', { class: 'bars' }, all.map(([i, ns]) => [
    el('span', { title: data.parts[i][1] }, (data.parts[i][2] ? 'ran: ' : 'waited: ') + data.parts[i][0]),
    el('div', { class: 'bar' }, el('i', { style: { width: share(ns, whole) + '%', background: data.parts[i][2] ? COLOURS.arithmetic : token('--wait') } })),
    el('span', { class: 'v' }, time(ns) + ', ' + percent(share(ns, whole)))]))];
}
function legend(places, extra) {
  return el('div', { class: 'legend' }, places.map((i) => el('span', {}, el('i', { style: { background: takeColour(i) } }), takeWords(i))), extra || []);
}
// Frames of a capture with their GPU time in nanoseconds.
function frames(capture) {
  const c = capture || shown();
  return c.frames.map((f, i) => ({ device: f[0], queue: f[1], frame: f[2], ns: cyclesToNs(named(c.frameCounters, 'MaliGPUActiveCy', i), c), place: i }));
}
const option = (value, text, selected) => el('option', { value, selected: selected || null }, text);
// A select over counters, by block.
function counterSelect(places, selected, onchange, label) {
  const blocks = new Map();
  places.forEach((i) => { const b = data.counters[i][3]; if (!blocks.has(b)) blocks.set(b, []); blocks.get(b).push(i); });
  return el('select', { 'aria-label': label, onchange }, [...blocks].map(([b, list]) =>
    el('optgroup', { label: b }, list.map((i) => option(i, data.counters[i][1], i === selected)))));
}
const pressed = (text, on, onclick, title) => el('button', { type: 'button', 'aria-pressed': String(!!on), onclick, title }, text);
// Text for those who see no canvas, and for what was chosen.
const live = () => el('p', { class: 'note', 'aria-live': 'polite' });
const heat = (t) => `rgba(${token('--heat')}, ${(0.06 + 0.5 * t).toFixed(3)})`;
