// A range of the time line: what ran in it, what that counted, and with a capture to compare with, what the same runs cost there.

// Runs with the part of their time that lies in the range, 0 to 1.
function runsIn(c, jobs, from, to) {
  const parts = new Map();
  jobs.forEach((j) => {
    const end = j[2] + j[3];
    const both = Math.min(end, to) - Math.max(j[2], from);
    const p = parts.get(j[0]) || [0, 0];
    p[1] += Math.max(j[3], 1);
    if (both > 0 || (j[3] === 0 && j[2] >= from && j[2] < to)) p[0] += j[3] === 0 ? 1 : both;
    parts.set(j[0], p);
  });
  return [...parts].map(([run, [a, all]]) => [run, a / all]).filter((p) => p[1] > 0);
}

// Of each run its twin: the run of the other capture's workload of the same title, as many times after its first.
function twins(c, o) {
  if (c.twinsOf === o) return c.twins;
  const nth = (x) => {
    const seen = new Map();
    return x.runs.map((r) => { const k = titleOf(x.workloads[r[0]]); const n = seen.get(k) || 0; seen.set(k, n + 1); return k + '\n' + n; });
  };
  const there = new Map(nth(o).map((k, i) => [k, i]));
  [c.twinsOf, c.twins] = [o, nth(c).map((k) => (there.has(k) ? there.get(k) : -1))];
  return c.twins;
}

function rangeTable(view, from, to) {
  const c = shown();
  const o = captures.length > 1 ? captures[1 - state.capture] : null;
  const inside = runsIn(c, view.jobs, from, to);
  const other = o ? twins(c, o) : null;
  const rows = new Map();
  let lost = 0;
  inside.forEach(([run, part]) => {
    const w = c.runs[run][0];
    const row = rows.get(w) || { w, runs: 0, ns: 0, before: 0, matched: 0 };
    row.runs += 1;
    row.ns += part * c.runs[run][3];
    if (other) {
      const twin = other[run];
      if (twin >= 0) { row.before += part * o.runs[twin][3]; row.matched += 1; } else lost += 1;
    }
    rows.set(w, row);
  });
  const all = [...rows.values()].sort((a, b) => b.ns - a.ns);
  const whole = sum(all.map((r) => r.ns));
  const delta = (a, b) => { const d = b - a; return el('td', { class: Math.abs(d) < 0.5 ? null : d > 0 ? 'up' : 'down' }, Math.abs(d) < 0.5 ? '=' : (d > 0 ? '+' : '−') + time(Math.abs(d))); };
  const busy = QUEUES.map((_, q) => sum(view.jobs.filter((j) => j[1] === q).map((j) => Math.max(0, Math.min(j[2] + j[3], to) - Math.max(j[2], from)))));
  const counts = data.counters.map((k, i) => [k, i]).filter(([k, i]) => k[5] && c.runCounters[i]).map(([k, i]) => {
    const value = sum(inside.map(([run, part]) => part * c.runCounters[i][run]));
    const before = other ? sum(inside.map(([run, part]) => (other[run] >= 0 ? part * countIn(o.runCounters, i, other[run]) : 0))) : null;
    return { k, value, before };
  }).filter((r) => r.value > 0 || r.before > 0);
  const show = (v, unit) => inUnit(unit === 'bytes' ? v : Math.round(v * 10) / 10, unit);
  return el('div', { id: 'range-detail' },
    el('h2', {}, `Range: ${time(from - view.begin)} to ${time(to - view.begin)}, ${time(to - from)} long`),
    el('p', {}, `${plural(inside.length, 'run')} of ${plural(all.length, 'workload')}, `, el('b', { id: 'range-time' }, time(whole)), ' of GPU time; ',
      QUEUES.map((q, i) => `${q} ${percent(share(busy[i], to - from))}`).join(', '), ' busy.',
      o ? [` The same runs in “${o.name}”: `, el('b', {}, time(sum(all.map((r) => r.before)))), lost ? `; ${plural(lost, 'run')} have none there.` : '.'] : ''),
    el('p', {}, pressed('Zoom to it', false, () => view.window(from, to)), ' ', pressed('Drop it', false, () => view.dropRange())),
    el('div', { class: 'scroll', style: { 'max-height': '20rem' } }, el('table', { id: 'range-rows' },
      el('thead', {}, el('tr', {}, ['Workload', 'Runs', 'GPU time', '%', ...(o ? [o.name, 'Difference'] : [])].map((h, i) => el('th', { class: i ? null : 't', scope: 'col' }, h)))),
      el('tbody', {}, all.slice(0, 200).map((r) => el('tr', {}, el('td', { class: 't' }, titleOf(c.workloads[r.w])), el('td', {}, number(r.runs)), el('td', {}, time(r.ns)), el('td', {}, share(r.ns, whole).toFixed(1)),
        o ? [el('td', {}, r.matched ? time(r.before) : 'new'), r.matched ? delta(r.before, r.ns) : el('td', {}, '')] : null))))),
    el('details', {}, el('summary', {}, `${counts.length} counters in the range`), el('div', { class: 'scroll', style: { 'max-height': '20rem' } }, el('table', { id: 'range-counters' },
      el('thead', {}, el('tr', {}, ['Counter', 'In the range', ...(o ? [o.name, 'Change'] : [])].map((h, i) => el('th', { class: i ? null : 't' }, h)))),
      el('tbody', {}, counts.map(({ k, value, before }) => el('tr', { title: k[4] }, el('td', { class: 't' }, k[1]), el('td', {}, show(value, k[2])),
        o ? [el('td', {}, show(before, k[2])), el('td', { class: value === before ? null : value > before ? 'up' : 'down' }, before ? (value === before ? '=' : (value > before ? '+' : '−') + percent(Math.abs(share(value - before, before)))) : 'new')] : null)))))),
    el('p', { class: 'note' }, 'A run that lies partly in the range counts with the part of its jobs’ length that does.'));
}
