// Heat maps: what each region of a render pass counted, over what the pass drew.
views.push({
  key: 'regions', title: 'Regions', when: (c) => c.passes.length > 0, pass: 0, counter: null, opacity: 55, log: false, grid: true, cursor: [0, 0],
  arrive(to) { if (to.pass !== undefined) { this.pass = to.pass; this.seen = shown(); this.cursor = to.cursor || this.hottest(to.pass); } },
  hottest(pass) { const hot = hottestRegion(shown(), pass); return hot ? hot.cursor : [0, 0]; },

  // Black, violet, red, orange, yellow to white, as the demo's maps.
  ramp(t) {
    const stops = [[5, 5, 26], [89, 15, 140], [204, 38, 89], [247, 115, 31], [252, 209, 64], [255, 255, 235]];
    const at = Math.min(Math.max(t, 0), 1) * (stops.length - 1);
    const i = Math.min(Math.floor(at), stops.length - 2);
    return stops[i].map((v, k) => Math.round(v + (stops[i + 1][k] - v) * (at - i)));
  },

  render(root) {
    const c = shown();
    if (this.pass >= c.passes.length) this.pass = 0;
    const order = c.passes.map((_, i) => i).sort((a, b) => c.workloads[c.passes[b].workload].time - c.workloads[c.passes[a].workload].time);
    if (this.seen !== c) { this.seen = c; this.pass = order[0]; this.cursor = this.hottest(this.pass); }
    const p = c.passes[this.pass];
    const r = p.regions;
    const places = r ? Object.keys(r.counters).map(Number) : [];
    const wanted = [this.counter, place.MaliMainActiveCy, place.MaliFragWarp].find((i) => places.includes(i));
    const counter = wanted === undefined ? places[0] : wanted;
    this.shownCounter = counter;
    const passes = el('select', { id: 'pass', 'aria-label': 'Render pass', onchange: (e) => { this.arrive({ pass: Number(e.target.value) }); this.render(root); root.querySelector('#pass').focus(); } },
      order.map((i) => option(i, titleOf(c.workloads[c.passes[i].workload]), i === this.pass)));
    this.canvas = el('canvas', { id: 'map', tabindex: 0, role: 'application', 'aria-label': 'Heat map. Arrows move from region to region.' });
    this.told = live();
    this.told.id = 'region';
    const tools = el('div', { class: 'tools' }, el('label', {}, 'Pass', passes));
    const title = el('h2', {}, titleOf(c.workloads[p.workload]));
    if (!places.length) {
      fill(root, el('section', { class: 'panel' }, tools, title, p.picture ? el('img', { src: p.picture, alt: 'What the pass drew', style: { 'max-width': '100%' } }) : null, el('p', { class: 'note' }, 'It has no counts by region.')));
      return;
    }
    const select = counterSelect(places, counter, (e) => { this.counter = Number(e.target.value); this.render(root); root.querySelector('#counter').focus(); }, 'Counter');
    select.id = 'counter';
    tools.append(el('label', {}, 'Counter', select),
      el('label', {}, 'Heat', el('input', { type: 'range', id: 'heat', min: 0, max: 100, value: this.opacity, oninput: (e) => { this.opacity = Number(e.target.value); this.draw(); } })),
      pressed('Logarithmic', this.log, () => { this.log = !this.log; this.render(root); }), pressed('Grid', this.grid, () => { this.grid = !this.grid; this.render(root); }));
    this.values = r.counters[counter];
    const k = data.counters[counter];
    const [low, high, all] = [this.values.reduce((a, b) => Math.min(a, b), Infinity), most(this.values), sum(this.values)];
    const ramp = el('canvas', { class: 'ramp', width: 128, height: 1, style: { width: '12rem', display: 'inline-block' } });
    const g = ramp.getContext('2d');
    for (let i = 0; i < 128; i++) { g.fillStyle = `rgb(${this.ramp(i / 127)})`; g.fillRect(i, 0, 1, 1); }
    const hottest = this.values.map((v, i) => [v, i]).sort((a, b) => b[0] - a[0]).slice(0, 8);
    const list = el('table', { id: 'hottest' }, el('thead', {}, el('tr', {}, el('th', { class: 't' }, 'Pixels from'), el('th', {}, 'Value'), k[5] ? el('th', {}, '% of all') : null)),
      el('tbody', {}, hottest.map(([v, i]) => {
        const move = () => { this.cursor = [i % r.across, Math.floor(i / r.across)]; this.draw(); };
        return el('tr', { class: 'pick', tabindex: 0, onclick: move, onkeydown: (e) => e.key === 'Enter' && move() }, el('td', { class: 't n' }, this.corner(r, i).join(', ')), el('td', {}, inUnit(v, k[2])), k[5] ? el('td', {}, share(v, all).toFixed(1)) : null);
      })));
    fill(root, el('section', { class: 'panel' }, tools, title, el('div', { class: 'stage' }, this.canvas),
      el('div', { class: 'legend' }, el('span', {}, inUnit(0, k[2])), ramp, el('span', { id: 'most' }, inUnit(high, k[2])),
        el('span', {}, `least ${inUnit(low, k[2])}, mean ${inUnit(all / this.values.length, k[2])}` + (k[5] ? `, all ${inUnit(all, k[2])}` : ''))),
      this.told, el('p', { class: 'note' }, k[4])),
    el('section', { class: 'panel' }, el('h2', {}, 'Hottest regions'), el('div', { class: 'scroll' }, list)));
    if (p.picture && this.source !== p.picture) {
      this.source = p.picture;
      this.image = new Image();
      this.image.onload = () => this.draw();
      this.image.src = p.picture;
    } else if (!p.picture) { this.source = this.image = null; }
    this.listen(r);
    this.draw();
  },

  corner: (r, i) => [r.origin[0] + (i % r.across) * r.side, r.origin[1] + Math.floor(i / r.across) * r.side],

  listen(r) {
    const move = (x, y) => { this.cursor = [Math.min(Math.max(x, 0), r.across - 1), Math.min(Math.max(y, 0), r.down - 1)]; this.draw(); };
    this.canvas.addEventListener('keydown', (e) => {
      const d = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
      if (d) { e.preventDefault(); move(this.cursor[0] + d[0], this.cursor[1] + d[1]); }
    });
    this.canvas.addEventListener('pointermove', (e) => {
      const b = this.canvas.getBoundingClientRect();
      const [x, y] = [(e.clientX - b.left) / this.scale, (e.clientY - b.top) / this.scale];
      const [cx, cy] = [Math.floor((x - r.origin[0]) / r.side), Math.floor((y - r.origin[1]) / r.side)];
      if (cx >= 0 && cy >= 0 && cx < r.across && cy < r.down && (cx !== this.cursor[0] || cy !== this.cursor[1])) move(cx, cy);
    });
  },

  draw() {
    const c = shown();
    const p = c.passes[this.pass];
    const r = p.regions;
    const k = data.counters[this.shownCounter];
    const [w, h] = p.of || [r.origin[0] + r.across * r.side, r.origin[1] + r.down * r.side];
    const width = Math.min(this.canvas.parentElement.clientWidth || 900, Math.max(320, (window.innerHeight * 0.72 * w) / h));
    this.scale = width / w;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.style.width = width + 'px';
    this.canvas.style.height = h * this.scale + 'px';
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(h * this.scale * ratio);
    const g = this.canvas.getContext('2d');
    g.scale(ratio * this.scale, ratio * this.scale);
    g.fillStyle = '#000';
    g.fillRect(0, 0, w, h);
    if (this.image && this.image.complete && this.image.naturalWidth) {
      // Under heat, colours would lie: the more heat the greyer.
      g.filter = `grayscale(${Math.min(100, this.opacity * 1.3)}%)`;
      g.drawImage(this.image, 0, 0, w, h);
      g.filter = 'none';
    }
    const top = most(this.values) || 1;
    const of = (v) => (this.log ? Math.log1p(v) / Math.log1p(top) : v / top);
    g.save();
    g.beginPath();
    g.rect(0, 0, w, h);
    g.clip();
    this.values.forEach((v, i) => {
      const [x, y] = this.corner(r, i);
      g.fillStyle = `rgba(${this.ramp(of(v))}, ${this.opacity / 100})`;
      g.fillRect(x, y, r.side, r.side);
      if (this.grid) { g.strokeStyle = 'rgba(0, 0, 0, .35)'; g.lineWidth = 1 / this.scale; g.strokeRect(x, y, r.side, r.side); }
      // Where there is room for numbers.
      if (this.opacity > 20 && this.grid && r.side * this.scale >= 44) {
        g.font = `${10 / this.scale}px system-ui, sans-serif`;
        g.textAlign = 'center';
        g.fillStyle = of(v) > 0.62 ? '#000' : '#fff';
        const s = v >= 1e6 ? (v / 1e6).toFixed(1) + 'M' : v >= 1e4 ? Math.round(v / 1e3) + 'k' : number(v);
        g.fillText(s, Math.min(x + r.side / 2, (x + w) / 2), Math.min(y + r.side / 2, (y + h) / 2) + 4 / this.scale);
      }
    });
    const at = this.cursor[1] * r.across + this.cursor[0];
    const [x, y] = this.corner(r, at);
    g.strokeStyle = '#fff';
    g.lineWidth = 3 / this.scale;
    g.strokeRect(x, y, r.side, r.side);
    g.strokeStyle = '#1a62c4';
    g.lineWidth = 1.5 / this.scale;
    g.strokeRect(x, y, r.side, r.side);
    g.restore();
    fill(this.told, `Region ${this.cursor[0]}, ${this.cursor[1]} (pixels from ${x}, ${y}): ${inUnit(this.values[at], k[2])} ${['bytes', 'percent', 'nanoseconds'].includes(k[2]) ? '' : k[2]}`);
  },
});
