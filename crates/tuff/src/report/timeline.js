// The three queues as a time line: zoomed by wheel, keys and buttons; coloured by what binds each job.
views.push({
  key: 'timeline', title: 'Time line', when: (c) => c.jobs.length > 0, from: 0, to: 1, picked: -1, colour: 'bound', device: 0, range: null, selecting: false,
  arrive(to) {
    if (to.run === undefined) return;
    const c = shown();
    this.device = c.workloads[c.runs[to.run][0]].device;
    this.prepare();
    const [a, b] = runSpans(c)[to.run];
    this.picked = this.jobs.findIndex((j) => j[0] === to.run);
    const room = Math.max(b - a, 50) * 2;
    this.window(a - room, b + room);
  },

  // Jobs of the device by lane, in order of begin.
  prepare() {
    const c = shown();
    if (this.of === c && this.ofDevice === this.device) return;
    this.of = c;
    this.ofDevice = this.device;
    if (c.occupancy) c.jobs.forEach((j, i) => { j.held = c.occupancy.jobs[i]; });
    this.range = null;
    this.jobs = c.jobs.filter((j) => c.workloads[c.runs[j[0]][0]].device === this.device).sort((a, b) => a[2] - b[2]);
    this.lanes = QUEUES.map((_, q) => this.jobs.map((j, i) => [j, i]).filter(([j]) => j[1] === q));
    this.begin = this.jobs.length ? this.jobs[0][2] : 0;
    this.end = Math.max(this.begin + 1, most(this.jobs.map((j) => j[2] + j[3])));
    this.frameSpans = new Map();
    this.jobs.forEach((j) => {
      const f = c.runs[j[0]][1];
      if (f === null) return;
      const s = this.frameSpans.get(f) || [Infinity, 0];
      this.frameSpans.set(f, [Math.min(s[0], j[2]), Math.max(s[1], j[2] + j[3])]);
    });
    this.picked = -1;
    [this.from, this.to] = [this.begin, this.end];
  },

  window(from, to) {
    const least = 20;
    let length = Math.min(Math.max(to - from, least), (this.end - this.begin) * 1.02);
    let a = (from + to) / 2 - length / 2;
    a = Math.max(this.begin - length * 0.01, Math.min(a, this.end + length * 0.01 - length));
    [this.from, this.to] = [a, a + length];
    if (this.canvas && this.canvas.isConnected) this.draw();
  },
  zoom(by, at) {
    const t = at === undefined ? (this.from + this.to) / 2 : at;
    this.window(t - (t - this.from) * by, t + (this.to - t) * by);
  },
  // A range from here to there, in whichever order.
  setRange(a, b) { this.range = [Math.max(this.begin, Math.min(a, b)), Math.min(this.end, Math.max(a, b))]; this.draw(); },
  dropRange() { this.range = null; this.draw(); this.tell(); this.canvas.focus(); },
  // One end by a key: at the chosen job, or in the middle.
  mark(last) {
    const j = this.jobs[this.picked];
    const at = j ? (last ? j[2] + j[3] : j[2]) : (this.from + this.to) / 2;
    const [a, b] = this.range || [this.from, this.to];
    this.setRange(...(last ? [Math.min(a, at), at] : [at, Math.max(b, at)]));
    this.tell();
  },
  pan(part) { const d = (this.to - this.from) * part; this.window(this.from + d, this.to + d); },

  render(root) {
    const c = shown();
    const devices = [...new Set(c.workloads.map((w) => w.device))];
    if (!devices.includes(this.device)) this.device = devices[0] || 0;
    this.prepare();
    this.canvas = el('canvas', { id: 'lanes', tabindex: 0, role: 'application', 'aria-label': 'Time line of compute, binning and main. Arrows pan, + and − zoom, n and p choose the next and previous job, [ and ] begin and end a range, Escape drops it, Home shows all.' });
    this.map = el('canvas', { 'aria-hidden': 'true', id: 'whole' });
    this.warps = c.occupancy ? el('canvas', { id: 'warps', role: 'img' }) : null;
    this.tip = el('div', { class: 'tip', hidden: true });
    this.detail = el('section', { class: 'panel detail', id: 'job-detail', 'aria-live': 'polite' });
    this.scale = el('span', { class: 'note', id: 'window' });
    const button = (text, title, f) => el('button', { type: 'button', title, onclick: f }, text);
    const colours = el('select', { 'aria-label': 'Colour of jobs', onchange: (e) => { this.colour = e.target.value; this.draw(); } },
      option('bound', 'what binds them', this.colour === 'bound'), option('workload', 'workload', this.colour === 'workload'));
    const used = [...new Set(c.jobs.map((j) => j[8]))].filter((i) => i >= 0).sort((a, b) => a - b);
    fill(root, el('section', { class: 'panel' },
      el('div', { class: 'tools' },
        button('−', 'Zoom out (key −)', () => this.zoom(2)), button('+', 'Zoom in (key +)', () => this.zoom(0.5)),
        button('◀', 'Left (key ←)', () => this.pan(-0.3)), button('▶', 'Right (key →)', () => this.pan(0.3)), button('All', 'Everything (key Home)', () => this.window(this.begin, this.end)),
        this.select = pressed('Range', this.selecting, () => { this.selecting = !this.selecting; this.select.setAttribute('aria-pressed', String(this.selecting)); }, 'Drag a range and see what it adds up to; also Shift and drag, or the keys [ and ]'),
        el('label', {}, 'Colour', colours),
        devices.length > 1 ? el('label', {}, 'Device', el('select', { onchange: (e) => { this.device = Number(e.target.value); this.prepare(); this.draw(); } }, devices.map((d) => option(d, String(d), d === this.device)))) : null,
        this.scale),
      el('div', { class: 'stage' }, this.canvas, this.tip), this.warps, this.map,
      legend(used, [el('span', {}, el('i', { class: 'hatch-wait' }), 'waits for what it depends on'), el('span', {}, el('i', { class: 'hatch-blocked' }), 'kept out by others')]),
      el('p', { class: 'note' }, 'Modelled time: gaps in which the program submits nothing have no length. What keeps a job out while it runs is drawn at its end: where in it that lies is not told.'),
      this.warps ? el('p', { class: 'note' }, 'Warps: how many of those that all cores hold (the number) wait for memory, textures or arithmetic, by the model: what its schedule shares among jobs that run at once. It is no measurement of hardware.') : null,
      timeNote(),
      c.runsLost ? el('p', { class: 'note' }, `${number(c.runsLost)} later runs are not on it.`) : null), this.detail);
    this.listen();
    this.draw();
    this.tell();
  },

  listen() {
    const canvas = this.canvas;
    const at = (e) => { const r = canvas.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top, r.width]; };
    const timeAt = (x, w) => this.from + ((x - this.left) / (w - this.left)) * (this.to - this.from);
    canvas.addEventListener('wheel', (e) => {
      e.preventDefault();
      const [x, , w] = at(e);
      if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.pan((e.deltaX || e.deltaY) / 800);
      else this.zoom(Math.exp(e.deltaY / 400), timeAt(x, w));
    }, { passive: false });
    let drag = null;
    const fingers = new Map();
    canvas.addEventListener('pointerdown', (e) => { const [x] = at(e); fingers.set(e.pointerId, x); drag = { x, from: this.from, to: this.to, moved: false, range: this.selecting || e.shiftKey ? timeAt(x, at(e)[2]) : null }; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener('pointermove', (e) => {
      const [x, y, w] = at(e);
      if (fingers.size === 2 && fingers.has(e.pointerId)) {
        const [a, b] = [...fingers.values()];
        fingers.set(e.pointerId, x);
        const [c, d] = [...fingers.values()];
        if (Math.abs(c - d) > 8) this.zoom(Math.abs(a - b) / Math.abs(c - d), timeAt((c + d) / 2, w));
        drag = null;
      } else if (drag && e.buttons) {
        const d = ((drag.x - x) / (w - this.left)) * (drag.to - drag.from);
        drag.moved = drag.moved || Math.abs(drag.x - x) > 3;
        if (drag.moved && drag.range !== null) this.setRange(drag.range, timeAt(x, w));
        else if (drag.moved) this.window(drag.from + d, drag.to + d);
      }
      const i = this.hit(x, y, w);
      this.tip.hidden = i < 0 || !!(drag && drag.moved);
      if (i >= 0) {
        fill(this.tip, this.words(this.jobs[i]));
        this.tip.style.left = Math.max(0, Math.min(x + 12, w - 240)) + 'px';
        this.tip.style.top = y + 16 + 'px';
      }
    });
    const up = (e) => {
      const [x, y, w] = at(e);
      fingers.delete(e.pointerId);
      if (drag && drag.moved && drag.range !== null) this.tell();
      else if (drag && !drag.moved) this.choose(this.hit(x, y, w));
      drag = null;
    };
    canvas.addEventListener('pointerup', up);
    canvas.addEventListener('pointercancel', () => { drag = null; fingers.clear(); });
    canvas.addEventListener('pointerleave', () => { this.tip.hidden = true; });
    canvas.addEventListener('dblclick', (e) => { const [x, , w] = at(e); this.zoom(0.3, timeAt(x, w)); });
    canvas.addEventListener('keydown', (e) => {
      const step = { n: 1, p: -1, '.': 1, ',': -1 }[e.key];
      const act = { ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2), '+': () => this.zoom(0.5), '=': () => this.zoom(0.5), '-': () => this.zoom(2), Home: () => this.window(this.begin, this.end) }[e.key];
      if (step) { this.choose(Math.max(0, Math.min(this.jobs.length - 1, this.picked + step)), true); e.preventDefault(); }
      if (e.key === '[' || e.key === ']') { this.mark(e.key === ']'); e.preventDefault(); }
      if (e.key === 'Escape' && this.range) this.dropRange();
      if (act) { act(); e.preventDefault(); }
    });
    this.map.addEventListener('pointerdown', (e) => {
      const r = this.map.getBoundingClientRect();
      const t = this.begin + ((e.clientX - r.left - this.left) / (r.width - this.left)) * (this.end - this.begin);
      const half = (this.to - this.from) / 2;
      this.window(t - half, t + half);
    });
  },

  words(j) {
    const c = shown();
    const r = c.runs[j[0]];
    return `${titleOf(c.workloads[r[0]])}\n${QUEUES[j[1]]}${r[1] === null ? '' : ', frame ' + r[1]}: ${time(j[3])} from ${time(j[2] - this.begin)}\nbound by ${takeWords(j[8])}` +
      (j[7] ? `\nwaited ${time(cyclesToNs(j[7]))} for what it depends on` : '') + (j[5] ? `\nkept out ${time(cyclesToNs(j[5]))} by others` : '');
  },

  choose(i, show) {
    this.picked = i;
    if (i >= 0 && show) {
      const j = this.jobs[i];
      const length = this.to - this.from;
      if (j[2] < this.from || j[2] + j[3] > this.to) this.window(j[2] + j[3] / 2 - Math.max(length, j[3] * 1.4) / 2, j[2] + j[3] / 2 + Math.max(length, j[3] * 1.4) / 2);
    }
    this.draw();
    this.tell();
  },

  tell() {
    const c = shown();
    const j = this.jobs[this.picked];
    if (this.range && this.range[1] > this.range[0]) { this.detail.replaceChildren(rangeTable(this, ...this.range)); return; }
    if (!j) { this.stalls(); return; }
    const w = c.workloads[c.runs[j[0]][0]];
    const mine = w.jobs.find((x) => x[0] === j[1]);
    const takes = j[9] || (mine && mine[6]) || [];
    fill(this.detail, el('h2', {}, `${titleOf(w)}, ${QUEUES[j[1]]} queue`),
      el('dl', {}, ...[['Begin, end', `${time(j[2] - this.begin)}, ${time(j[2] + j[3] - this.begin)}`], ['Took', time(j[3])], ['Active', `${number(j[4])} cycles`],
        ['Waited', `${number(j[7])} cycles for what it depends on`], ['Kept out', `${number(j[5])} cycles by others` + (j[6] ? `, ${number(j[6])} of them while these drained` : '')],
        ['Bound by', takeWords(j[8])], ['Frame', c.runs[j[0]][1] === null ? 'none' : String(c.runs[j[0]][1])]].flatMap(([a, b]) => [el('dt', {}, a), el('dd', {}, b)])),
      el('h3', {}, j[9] ? 'What each thing would take alone' : 'What each thing would take alone, all runs of the workload'), takesBars(takes, j[9] ? j[4] : mine ? mine[1] : j[4]), partsBars(j[10] || (mine && mine[8]), !j[10]),
      el('p', {}, pressed('Its counters', false, () => go('table', { table: 'runs', select: j[0] })), ' ', pressed('Its workload', false, () => go('table', { table: 'workloads', select: c.runs[j[0]][0] }))));
  },

  // Nothing is chosen: what the queues did and waited for.
  stalls() {
    const c = shown();
    const mine = c.workloads.filter((w) => w.device === this.device);
    const of = (q, k) => sum(mine.flatMap((w) => w.jobs.filter((j) => j[0] === q).map((j) => j[k])));
    const cell = (cycles, key) => el('td', {}, key && cycles ? el('span', { class: 'key ' + key }) : null, cycles ? time(cyclesToNs(cycles)) : '·');
    fill(this.detail, el('h2', {}, 'Queues and stalls'), el('div', { class: 'scroll' }, el('table', { id: 'stalls' },
      el('thead', {}, el('tr', {}, ['Queue', 'Jobs', 'Active', 'Waits for what it depends on', 'Kept out by others', 'of it while these drained', 'Most bound by'].map((h, i) => el('th', { class: i === 0 || i === 6 ? 't' : null, scope: 'col' }, h)))),
      el('tbody', {}, QUEUES.map((name, q) => {
        const by = boundsOf(c, q)[0];
        return el('tr', {}, el('td', { class: 't n' }, name), el('td', {}, number(this.lanes[q].length)), cell(of(q, 1)), cell(of(q, 4), 'hatch-wait'), cell(of(q, 2), 'hatch-blocked'), cell(of(q, 3)),
          el('td', { class: 't n' }, by ? [el('span', { class: 'key', style: { background: takeColour(by[0]) } }), takeWords(by[0])] : ''));
      })))), el('p', { class: 'note' }, 'Choose a job for more: click it, or press n in the time line.'));
  },

  hit(x, y, w) {
    const q = Math.floor((y - this.top) / this.pitch);
    if (q < 0 || q > 2 || x < this.left) return -1;
    const scale = (w - this.left) / (this.to - this.from);
    let best = -1;
    let near = 4;
    for (const [j, i] of this.lanes[q]) {
      const a = this.left + (j[2] - this.from) * scale;
      const b = Math.max(a + 1, a + j[3] * scale);
      const d = x < a ? a - x : x > b ? x - b : 0;
      if (d < near) { near = d; best = i; }
      if (a > x + 4) break;
    }
    return best;
  },

  // A canvas for the pixels that there are.
  context(canvas, height) {
    const width = canvas.parentElement.clientWidth || 900;
    const ratio = window.devicePixelRatio || 1;
    canvas.style.height = height + 'px';
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.round(height * ratio);
    const g = canvas.getContext('2d');
    g.scale(ratio, ratio);
    return [g, width];
  },
  hatch(g, colour, back) {
    const p = document.createElement('canvas');
    p.width = p.height = 6;
    const h = p.getContext('2d');
    h.strokeStyle = colour;
    h.lineWidth = 1.6;
    h.beginPath();
    for (const d of [-6, 0, 6]) { if (back) { h.moveTo(d, 0); h.lineTo(d + 6, 6); } else { h.moveTo(d + 6, 0); h.lineTo(d, 6); } }
    h.stroke();
    return g.createPattern(p, 'repeat');
  },

  draw() {
    const c = shown();
    [this.left, this.top, this.pitch] = [this.canvas.parentElement.clientWidth < 600 ? 64 : 72, 42, 58];
    const height = this.top + 3 * this.pitch + 4;
    const [g, width] = this.context(this.canvas, height);
    const ink = token('--ink');
    const dim = token('--dim');
    const scale = (width - this.left) / (this.to - this.from);
    const x = (t) => this.left + (t - this.from) * scale;
    g.font = '12px system-ui, sans-serif';
    g.textBaseline = 'middle';
    // Ticks at round times.
    const raw = (this.to - this.from) / Math.max(2, (width - this.left) / 110);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw);
    g.textAlign = 'center';
    for (let t = Math.ceil((this.from - this.begin) / step) * step; t + this.begin <= this.to; t += step) {
      const at = x(t + this.begin);
      if (at < this.left) continue;
      g.fillStyle = token('--grid');
      g.fillRect(at, 16, 1, height - 16);
      g.fillStyle = dim;
      g.fillText(time(Math.max(0, t)), Math.min(at, width - 26), 8);
    }
    // Frames.
    let even = false;
    for (const [f, [a, b]] of this.frameSpans) {
      even = !even;
      const [p, q] = [Math.max(this.left, x(a)), Math.min(width, x(b))];
      if (q < this.left || p > width) continue;
      g.fillStyle = even ? token('--soft') : token('--line');
      g.fillRect(p, 20, Math.max(0.5, q - p - 0.5), 15);
      if (q - p > 34) { g.fillStyle = dim; g.fillText(q - p > 70 ? 'frame ' + f : String(f), (p + q) / 2, 28); }
    }
    if (this.frameSpans.size) { g.textAlign = 'left'; g.fillStyle = dim; g.fillText('frames', 2, 28); }
    const [waits, blocks] = [this.hatch(g, token('--wait')), this.hatch(g, token('--blocked'), true)];
    const hues = (i) => `hsl(${(i * 137) % 360} 45% 52%)`;
    let drawn = 0;
    this.lanes.forEach((lane, q) => {
      const y = this.top + q * this.pitch;
      g.fillStyle = token('--soft');
      g.fillRect(this.left, y, width - this.left, this.pitch - 8);
      g.textAlign = 'left';
      g.fillStyle = ink;
      g.font = '600 12px system-ui, sans-serif';
      g.fillText(QUEUES[q], 2, y + 18);
      g.font = '12px system-ui, sans-serif';
      g.fillStyle = dim;
      const visible = lane.filter(([j]) => j[2] < this.to && j[2] + j[3] > this.from);
      const busy = sum(visible.map(([j]) => Math.min(j[2] + j[3], this.to) - Math.max(j[2], this.from)));
      g.fillText(percent(share(busy, this.to - this.from)), 2, y + 34);
      g.save();
      g.beginPath();
      g.rect(this.left, y, width - this.left, this.pitch);
      g.clip();
      let lastEnd = -1;
      let laneDone = this.from;
      for (const [j, i] of lane) {
        const waited = cyclesToNs(j[7]);
        const end = j[2] + j[3];
        if (end < this.from) { laneDone = Math.max(laneDone, end); continue; }
        if (j[2] - waited - cyclesToNs(j[5]) > this.to) break;
        const [a, b] = [x(j[2]), x(end)];
        const w = Math.max(b - a, 0.6);
        // Before it lies what it waited for, then what was kept out of it that its own length does not explain.
        const inside = Math.min(cyclesToNs(j[5]), Math.max(0, j[3] - cyclesToNs(j[4])));
        const ready = j[2] - (cyclesToNs(j[5]) - inside);
        const strip = (t0, t1, pattern) => {
          const [p, r] = [Math.max(x(t0), x(laneDone), this.left), x(t1)];
          if (t1 > t0 && r - p > 1) { g.fillStyle = pattern; g.fillRect(p, y + 14, r - p, this.pitch - 34); }
        };
        strip(ready - waited, ready, waits);
        strip(ready, j[2], blocks);
        laneDone = Math.max(laneDone, end);
        if (w < 1 && a - lastEnd < 0.3 && i !== this.picked) continue;
        lastEnd = a + w;
        drawn++;
        g.fillStyle = this.colour === 'bound' ? takeColour(j[8]) : hues(c.runs[j[0]][0]);
        g.fillRect(a, y + 3, w, this.pitch - 14);
        const kept = inside * scale;
        if (kept > 1) { g.fillStyle = token('--panel'); g.fillRect(b - kept, y + this.pitch - 21, kept, 10); g.fillStyle = blocks; g.fillRect(b - kept, y + this.pitch - 21, kept, 10); }
        if (w > 3) { g.strokeStyle = token('--panel'); g.lineWidth = 1; g.strokeRect(a + 0.5, y + 3.5, w - 1, this.pitch - 15); }
        if (w > 46) {
          g.save();
          g.beginPath();
          g.rect(a + 3, y, w - 6, this.pitch);
          g.clip();
          g.fillStyle = '#fff';
          g.shadowColor = '#000a';
          g.shadowBlur = 3;
          g.fillText(shortOf(c.workloads[c.runs[j[0]][0]]), Math.max(a, this.left) + 5, y + 17);
          g.fillText(time(j[3]), Math.max(a, this.left) + 5, y + 32);
          g.restore();
        }
        if (i === this.picked) { g.strokeStyle = ink; g.lineWidth = 2.5; g.strokeRect(a - 1, y + 2, w + 2, this.pitch - 12); }
      }
      g.restore();
    });
    if (this.range) {
      const [a, b] = this.range.map((t) => Math.min(width, Math.max(this.left, x(t))));
      g.fillStyle = token('--shade');
      g.fillRect(this.left, 16, a - this.left, height - 16);
      g.fillRect(b, 16, width - b, height - 16);
      g.fillStyle = token('--focus');
      g.fillRect(a - 1, 16, 2, height - 16);
      g.fillRect(b - 1, 16, 2, height - 16);
    }
    this.canvas.dataset.drawn = drawn;
    fill(this.scale, `${time(this.from - this.begin < 0 ? 0 : this.from - this.begin)} to ${time(Math.min(this.to, this.end) - this.begin)} of ${time(this.end - this.begin)}, ${number(this.jobs.length)} jobs`);
    if (this.warps && this.warps.isConnected) occupancyChart(this, this.warps);
    this.overview();
  },

  // All of it, small, and which part is shown.
  overview() {
    const [g, width] = this.context(this.map, 26);
    const scale = (width - this.left) / (this.end - this.begin);
    g.fillStyle = token('--soft');
    g.fillRect(this.left, 2, width - this.left, 22);
    this.lanes.forEach((lane, q) => {
      let last = -1;
      for (const [j] of lane) {
        const a = this.left + (j[2] - this.begin) * scale;
        const w = Math.max(j[3] * scale, 0.5);
        if (a + w - last < 0.5) continue;
        last = a + w;
        g.fillStyle = takeColour(j[8]);
        g.fillRect(a, 3 + q * 7, w, 6);
      }
    });
    const a = this.left + (this.from - this.begin) * scale;
    const w = Math.max(2, (this.to - this.from) * scale);
    g.strokeStyle = token('--ink');
    g.lineWidth = 1.5;
    g.strokeRect(Math.max(this.left, a) + 0.5, 1.5, Math.min(w, width - this.left) - 1, 23);
  },
});
