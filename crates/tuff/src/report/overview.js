// Overview: where the time goes, in a look.
views.push({
  key: 'overview', title: 'Overview',
  render(root) {
    const c = shown();
    const w = c.workloads;
    const elapsed = sum(w.map((x) => x.time));
    const all = frames();
    const gpu = cyclesToNs(total('MaliGPUActiveCy'));
    const card = (value, text, title) => el('div', { class: 'card', title }, el('b', {}, value), el('span', {}, text));
    const mean = all.length ? sum(all.map((f) => f.ns)) / all.length : 0;
    const worst = all.reduce((a, f) => (!a || f.ns > a.ns ? f : a), null);
    const cards = el('div', { class: 'cards' },
      card(time(gpu), 'modelled GPU time', GPU_TIME),
      all.length ? card(number(all.length), 'frames') : card('none', 'frames: nothing was presented'),
      all.length ? card(time(mean), 'a frame, on average') : null,
      worst ? card(time(worst.ns), 'the longest, frame ' + worst.frame) : null,
      card(number(sum(w.map((x) => x.times))), 'runs of ' + plural(w.length, 'workload')),
      card(bytes(total('MaliExtBusRdBy')), 'read from memory'),
      card(bytes(total('MaliExtBusWrBy')), 'written to memory'));
    cards.id = 'cards';
    fill(root, cards,
      el('section', { class: 'panel', id: 'in-words' }, el('h2', {}, 'In words'), el('ul', { class: 'words' }, this.words(c, elapsed).map((t) => el('li', {}, t)))),
      data.figures.map((f) => this.figure(f)),
      el('div', { class: 'grid' }, this.queues(c), this.dearest(w, elapsed)),
      all.length > 1 ? this.frameChart(all) : null);
  },

  // A picture that the program has made, with a table about it.
  figure(f) {
    const cells = (list, tag) => list.map((t, i) => el(tag, { class: i ? null : 't' }, i ? digits(t) : t));
    return el('section', { class: 'panel figure' }, el('h2', {}, f.title), el('img', { src: f.picture, alt: f.title }),
      el('div', { class: 'scroll' }, el('table', {}, el('thead', {}, el('tr', {}, cells(f.head, 'th'))), el('tbody', {}, f.rows.map((r) => el('tr', {}, cells(r, 'td')))))),
      el('p', { class: 'note' }, f.note));
  },

  // What a reader would say of it.
  words(c, elapsed) {
    const out = [];
    const top = [...c.workloads].sort((a, b) => b.time - a.time);
    const active = QUEUES.map((_, q) => sum(c.workloads.flatMap((w) => w.jobs.filter((j) => j[0] === q).map((j) => j[1]))));
    const busiest = active.indexOf(most(active));
    if (top.length) {
      const few = top.filter((w, i) => i === 0 || share(sum(top.slice(0, i).map((x) => x.time)), elapsed) < 80).length;
      out.push(few === 1
        ? `One workload takes ${percent(share(top[0].time, elapsed))} of the time: ${titleOf(top[0])}.`
        : `${few} of ${top.length} workloads take ${percent(share(sum(top.slice(0, few).map((w) => w.time)), elapsed))} of the time; the dearest is ${titleOf(top[0])}, ${percent(share(top[0].time, elapsed))}.`);
    }
    const by = boundsOf(c, busiest);
    if (by.length) {
      out.push(`The ${QUEUES[busiest]} queue is busiest. ${by.slice(0, 2).map(([i, n], k) => `${percent(share(n, active[busiest]))} of its time ${k ? 'by' : 'is bound by'} ${takeWords(i)}`).join(', ')}.`);
    }
    const stalls = sum(c.workloads.flatMap((w) => w.jobs.map((j) => j[2])));
    const waits = sum(c.workloads.flatMap((w) => w.jobs.filter((j) => j[0] !== 2).map((j) => j[4])));
    const whole = sum(active);
    if (share(stalls, whole) >= 1) out.push(`Jobs are kept out by others for ${time(cyclesToNs(stalls))}, ${percent(share(stalls, whole))} of the time that jobs run.`);
    if (share(waits, whole) >= 1) out.push(`Compute and binning wait ${time(cyclesToNs(waits))} for barriers, semaphores and the like: ${percent(share(waits, whole))} of the time that jobs run.`);
    const killed = total('MaliFragFPKKillQd') + total('MaliFragEZSKillQd');
    const quads = total('MaliFragRastQd');
    if (quads > 0 && share(killed, quads) >= 5) out.push(`${percent(share(killed, quads))} of rasterised quads are killed before they are shaded.`);
    const shader = c.shaders[0];
    if (shader && shader.heat > 0) out.push(`The hottest shader is ${shaderName(shader)}, ${percent(share(shader.heat, sum(c.shaders.map((s) => s.heat))))} of all shaders' cycles.`);
    const first = c.advice && c.advice.items && c.advice.items[0];
    if (first) out.push(`First advice of ${c.advice.items.length}: ${first.title.toLowerCase()}${first.gain.ns >= 1 ? `, ${percent(share(first.gain.ns, c.advice.whole_ns))} of the time` : ''}.`);
    if (!c.captured) out.push('This is a file of “run --counters”: a capture (“run --report”) has a time line, regions and shaders besides.');
    return out;
  },

  queues(c) {
    const active = QUEUES.map((_, q) => sum(c.workloads.flatMap((w) => w.jobs.filter((j) => j[0] === q).map((j) => j[1]))));
    const whole = most(active);
    const used = new Set();
    const rows = QUEUES.flatMap((name, q) => {
      const by = boundsOf(c, q);
      by.forEach(([i]) => used.add(i));
      return [el('span', {}, name),
        el('div', { class: 'bar', role: 'img', 'aria-label': `${name}: ` + by.map(([i, n]) => `${takeWords(i)} ${percent(share(n, active[q]))}`).join(', ') },
          by.map(([i, n]) => el('i', { title: `${takeWords(i)}: ${time(cyclesToNs(n))}, ${percent(share(n, active[q]))} of the queue's`, style: { width: share(n, whole) + '%', background: takeColour(i) } }))),
        el('span', { class: 'v' }, time(cyclesToNs(active[q])))];
    });
    return el('section', { class: 'panel', id: 'queues' }, el('h2', {}, 'Queues, by what binds their jobs'),
      el('div', { class: 'bars' }, rows), legend([...used].sort((a, b) => a - b)),
      el('p', { class: 'note' }, 'Each run of a job counts whole for what would have taken it longest alone. Queues work side by side: together they may be more than the GPU’s time.'));
  },

  dearest(w, elapsed) {
    const top = w.map((x, i) => [x, i]).sort((a, b) => b[0].time - a[0].time).slice(0, 10);
    return el('section', { class: 'panel', id: 'dearest' }, el('h2', {}, 'Dearest workloads'),
      el('div', { class: 'scroll' }, el('table', {},
        el('thead', {}, el('tr', {}, el('th', { class: 't' }, 'Workload'), el('th', {}, 'Time'), el('th', {}, '%'), el('th', { class: 't' }, 'Bound by'))),
        el('tbody', {}, top.map(([x, i]) => {
          const j = longest(x);
          const open = () => go('table', { table: 'workloads', select: i });
          return el('tr', { class: 'pick', tabindex: 0, onclick: open, onkeydown: (e) => e.key === 'Enter' && open() },
            el('td', { class: 't' }, titleOf(x) + (x.times > 1 ? ` × ${number(x.times)}` : '')), el('td', {}, time(x.time)),
            el('td', { class: 'cell' }, el('i', { style: { width: share(x.time, elapsed) + '%' } }), el('b', {}, share(x.time, elapsed).toFixed(1))),
            el('td', { class: 't n' }, j ? [el('span', { class: 'key', style: { background: takeColour(j[5]) } }), boundOf(x)] : ''));
        })))));
  },

  frameChart(all) {
    const [width, height] = [1000, 150];
    const kept = all.length > 1000 ? all.filter((_, i) => i % Math.ceil(all.length / 1000) === 0) : all;
    const top = most(kept.map((f) => f.ns)) || 1;
    const step = (width - 60) / kept.length;
    const bars = kept.map((f, i) => {
      const h = Math.max(1, (f.ns / top) * (height - 30));
      const open = () => go('table', { table: 'runs', filter: 'frame:' + f.frame });
      return el('rect', {
        class: 'col', x: 60 + i * step, y: height - 18 - h, width: Math.max(0.5, step - Math.min(1.5, step / 5)), height: h, tabindex: kept.length <= 60 ? 0 : null,
        role: 'button', 'aria-label': `frame ${f.frame}: ${time(f.ns)}`, onclick: open, onkeydown: (e) => e.key === 'Enter' && open(),
      }, el('title', {}, `frame ${f.frame}: ${time(f.ns)}`));
    });
    const line = (part) => [el('line', { x1: 56, x2: width, y1: height - 18 - part * (height - 30), y2: height - 18 - part * (height - 30), stroke: 'var(--grid)' }),
      el('text', { x: 52, y: height - 14 - part * (height - 30), 'text-anchor': 'end' }, time(top * part))];
    return el('section', { class: 'panel', id: 'frame-chart' }, el('h2', {}, 'Frames'),
      el('svg', { viewBox: `0 0 ${width} ${height}`, width: '100%', role: 'group', 'aria-label': 'GPU time by frame' }, line(0), line(0.5), line(1), bars,
        el('text', { x: 60, y: height - 4 }, String(kept[0].frame)), el('text', { x: width, y: height - 4, 'text-anchor': 'end' }, String(kept[kept.length - 1].frame))),
      el('p', { class: 'note' }, 'GPU time of each frame. Choose one to see what ran in it.'));
  },
});

// Active cycles of a queue's jobs by what binds them, the most first.
function boundsOf(c, q) {
  const by = new Map();
  c.workloads.forEach((w) => w.jobs.filter((j) => j[0] === q).forEach((j) => pairs(j[7]).forEach(([i, n]) => by.set(i, (by.get(i) || 0) + n))));
  return [...by].filter((b) => b[1] > 0).sort((a, b) => b[1] - a[1]);
}
