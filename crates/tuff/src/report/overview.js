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
    fill(root, cards, this.first(c, elapsed),
      el('section', { class: 'panel', id: 'in-words' }, el('h2', {}, 'In words'), el('ul', { class: 'words' }, this.words(c, elapsed).map((t) => el('li', {}, t))), c.command ? el('p', { class: 'dim', id: 'command' }, 'Program: ', el('code', {}, c.command)) : null),
      data.figures.map((f) => this.figure(f)),
      el('div', { class: 'grid' }, this.queues(c), this.dearest(w, elapsed)),
      all.length > 1 ? this.frameChart(all) : null,
      el('details', { class: 'panel', id: 'what-time-is' }, el('summary', {}, 'What “time” is'), el('dl', { class: 'times' }, TIMES.flatMap(([t, what]) => [el('dt', {}, t), el('dd', {}, what)]))));
    if (this.canvas) this.draw();
  },

  // Where to look first: the dearest workload, and in it the dearest draw, region and line.
  first(c, elapsed) {
    const w = c.workloads.reduce((a, x, i) => (a < 0 || x.time > c.workloads[a].time ? i : a), -1);
    this.canvas = null;
    if (w < 0 || !c.captured) return null;
    const work = c.workloads[w];
    const pass = c.passes.findIndex((p) => p.workload === w);
    const run = c.runs.reduce((a, r, i) => (r[0] === w && (a < 0 || r[3] > c.runs[a][3]) ? i : a), -1);
    const item = (name, text, open, said) => el('li', {}, el('span', { class: 'dim' }, name + ': '), open ? el('button', { type: 'button', class: 'link', onclick: open }, text) : text, said ? ' ' + said : '');
    const items = [];
    const j = longest(work);
    if (j) items.push(item('Bound by', takeWords(j[5]), run >= 0 ? () => go('timeline', { run }) : null, `on the ${QUEUES[j[0]]} queue`));
    if (pass >= 0) {
      const p = c.passes[pass];
      const cores = (i) => named(c.drawCounters, 'MaliAnyActiveCy', i);
      const draws = c.draws.map((d, i) => i).filter((i) => c.draws[i][0] === pass);
      const top = draws.reduce((a, i) => (a < 0 || cores(i) > cores(a) ? i : a), -1);
      if (top >= 0) items.push(item('Dearest draw', `${drawOrder(c, top)}, ${drawTitle(c, top)}`, () => { go('table', { table: 'draws', filter: 'pass:' + pass }); }, `${percent(share(cores(top), p.cores))} of the pass’s cores’ cycles, of ${plural(draws.length, 'draw')}`));
      // What is hardly hotter than the rest is no place to look at.
      const found = hottestRegion(c, pass), hot = found && found.times >= 1.5 ? found : null;
      if (hot) items.push(item('Hottest region', `pixels from ${hot.corner.join(', ')}`, () => go('regions', { pass, cursor: hot.cursor }), `${number(hot.times)} times the mean of ${plural(hot.count, 'region')}`));
      this.pictured = p.picture ? { p, hot } : null;
    }
    const line = dearestLine(c, w);
    if (line) items.push(item('Dearest line', line.where, () => go('shaders', { shader: line.shader, block: line.block }), `${percent(line.share)} of its shaders’ cycles, ${line.bound}`));
    const all = () => { go('table', { table: 'workloads' }); };
    let picture = null;
    if (pass >= 0 && this.pictured) {
      this.canvas = el('canvas', { class: 'first-picture', role: 'img', 'aria-label': 'What the dearest pass drew; its hottest region is marked' });
      this.image = new Image();
      this.image.onload = () => this.draw();
      this.image.src = this.pictured.p.picture;
      picture = el('button', { type: 'button', class: 'picture', title: 'Its regions', onclick: () => go('regions', { pass, cursor: this.pictured.hot ? this.pictured.hot.cursor : undefined }) }, this.canvas);
    }
    return el('section', { class: 'panel first', id: 'first' }, picture, el('div', {},
      el('h2', {}, 'Look here first: ', titleOf(work)),
      el('p', { class: 'lead' }, el('b', {}, time(work.time)), ` of GPU time, ${percent(share(work.time, elapsed))} of all${work.times > 1 ? `, in ${number(work.times)} runs` : ''}`),
      el('ul', {}, items),
      el('p', {}, pressed('This workload', false, () => go('table', { table: 'workloads', select: w })), ' ', el('button', { type: 'button', id: 'the-whole', onclick: all }, 'The whole: all workloads'))));
  },

  // The picture, and its hottest region.
  draw() {
    if (!this.canvas || !this.canvas.isConnected || !this.image.naturalWidth) return;
    const { p, hot } = this.pictured;
    const [w, h] = p.of || [this.image.naturalWidth, this.image.naturalHeight];
    const width = Math.min(380, (this.canvas.closest('.first').clientWidth || 380) - 4);
    const height = Math.min(280, (width * h) / w);
    const wide = (height * w) / h;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.style.width = wide + 'px';
    this.canvas.style.height = height + 'px';
    this.canvas.width = Math.round(wide * ratio);
    this.canvas.height = Math.round(height * ratio);
    const g = this.canvas.getContext('2d');
    const scale = (ratio * wide) / w;
    g.scale(scale, scale);
    g.drawImage(this.image, 0, 0, w, h);
    if (!hot) return;
    const [x, y] = hot.corner;
    for (const [colour, line] of [['#fff', 5], ['#e0301e', 2.5]]) {
      g.strokeStyle = colour;
      g.lineWidth = (line * ratio) / scale;
      g.strokeRect(Math.max(0, x), Math.max(0, y), Math.min(hot.side, w - x), Math.min(hot.side, h - y));
    }
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

// The region of a pass with most cycles of cores, or null.
function hottestRegion(c, pass) {
  const r = c.passes[pass].regions;
  const key = r && [place.MaliMainActiveCy, place.MaliFragWarp].find((i) => i !== undefined && r.counters[i]);
  if (key === undefined || key === null || !r) return null;
  const values = r.counters[key];
  const at = values.reduce((a, v, i) => (v > values[a] ? i : a), 0);
  const mean = sum(values) / values.length;
  if (!(mean > 0)) return null;
  return { corner: [r.origin[0] + (at % r.across) * r.side, r.origin[1] + Math.floor(at / r.across) * r.side], cursor: [at % r.across, Math.floor(at / r.across)], side: r.side, count: values.length, times: Math.round((values[at] / mean) * 10) / 10 };
}

// The line (or block) that costs a workload most, by its shaders' blocks.
function dearestLine(c, w) {
  let [best, all] = [null, 0];
  c.shaders.forEach((s, k) => {
    const mine = s.works.find((x) => x[0] === w);
    if (!mine) return;
    pairs(mine[1]).forEach(([block, cycles]) => {
      all += cycles;
      if (!best || cycles > best.cycles) best = { shader: k, block, cycles };
    });
  });
  if (!best || !all) return null;
  const s = c.shaders[best.shader];
  const b = s.blocks[best.block];
  if (!b) return null;
  const bound = stallOf(UNITS.map((u) => valueOf(b, metricOf(s, u))).concat(b.waits));
  return { ...best, where: b.line ? `${fileOf(b) || shaderName(s)}:${b.line}` : `block ${best.block} of ${shaderName(s)}`, share: share(best.cycles, all), bound: 'bound by ' + STALLS[bound][0] };
}

// Active cycles of a queue's jobs by what binds them, the most first.
function boundsOf(c, q) {
  const by = new Map();
  c.workloads.forEach((w) => w.jobs.filter((j) => j[0] === q).forEach((j) => pairs(j[7]).forEach(([i, n]) => by.set(i, (by.get(i) || 0) + n))));
  return [...by].filter((b) => b[1] > 0).sort((a, b) => b[1] - a[1]);
}
