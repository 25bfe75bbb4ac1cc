// A pass's attachments after each of its steps. What steps change is kept as exclusive or, so that a step forth and a step back are the
// same. Fragments are unpacked tile by tile.
// Bytes of a change before its pixels: step, tile, plane, sample, a bit for each block.
const HEAD = 42;

class Pass {
  constructor(data) {
    this.data = data;
    [this.x, this.y, this.w, this.h] = data.area;
    this.steps = data.commands.length + 2;
    this.step = -1;
    this.buffers = new Map();
    this.loaded = null;
    this.byTile = null;
  }

  load() {
    this.loaded ??= this.read();
    return this.loaded;
  }

  // Records of all chunks, sorted by step.
  async read() {
    const [from, to] = this.data.changes;
    this.chunks = await Promise.all(Array.from({ length: to - from }, (_, i) => chunk("c" + (from + i))));
    const steps = [], places = [];
    this.chunks.forEach((c, n) => {
      if (!c) return;
      const v = view(c);
      let at = 0;
      while (at + HEAD <= c.length) {
        steps.push(v.getUint32(at, true));
        places.push([n, at]);
        at += HEAD + this.size(c, at);
      }
    });
    this.first = new Uint32Array(this.steps + 1);
    for (const s of steps) this.first[Math.min(s, this.steps - 1) + 1]++;
    for (let s = 0; s < this.steps; s++) this.first[s + 1] += this.first[s];
    const next = this.first.slice();
    this.records = new Array(steps.length);
    steps.forEach((s, i) => { this.records[next[Math.min(s, this.steps - 1)]++] = places[i]; });
  }

  size(c, at) {
    let blocks = 0;
    for (let i = 0; i < 32; i++) for (let b = c[at + 10 + i]; b; b &= b - 1) blocks++;
    return blocks * 16 * this.data.planes[c[at + 8]].bytes;
  }

  buffer(plane, layer, sample) {
    const key = plane + "," + layer + "," + sample;
    let b = this.buffers.get(key);
    if (!b) this.buffers.set(key, b = new Uint8Array(this.w * this.h * this.data.planes[plane].bytes));
    return b;
  }

  // Each block that a step changes: plane, layer, sample, its first pixel in the area, and where its bytes are.
  each(step, f) {
    for (let i = this.first[step]; i < this.first[step + 1]; i++) {
      const [n, at] = this.records[i], c = this.chunks[n];
      const tile = (c[at + 4] | c[at + 5] << 8 | c[at + 6] << 16 | c[at + 7] << 24) >>> 0;
      const [layer, tx, ty] = this.data.tiles[tile], plane = c[at + 8], sample = c[at + 9];
      const bytes = 16 * this.data.planes[plane].bytes;
      let from = at + HEAD;
      for (let b = 0; b < 256; b++) {
        if (!(c[at + 10 + (b >> 3)] >> (b & 7) & 1)) continue;
        f(plane, layer, sample, tx - this.x + (b & 15) * 4, ty - this.y + (b >> 4) * 4, c, from);
        from += bytes;
      }
    }
  }

  apply(step) {
    let last = -1, key = null, to = null;
    this.each(step, (plane, layer, sample, x, y, c, from) => {
      const own = plane * 65536 + layer * 16 + sample;
      if (own !== last) { to = this.buffer(plane, layer, sample); last = own; }
      const n = this.data.planes[plane].bytes;
      for (let r = 0; r < 4; r++) {
        const py = y + r;
        if (py < 0 || py >= this.h) continue;
        for (let k = 0; k < 4; k++) {
          const px = x + k;
          if (px < 0 || px >= this.w) continue;
          const at = (py * this.w + px) * n, of = from + (r * 4 + k) * n;
          for (let i = 0; i < n; i++) to[at + i] ^= c[of + i];
        }
      }
    });
  }

  // Attachments become what they are after this step.
  go(step) {
    while (this.step < step) this.apply(++this.step);
    while (this.step > step) this.apply(this.step--);
  }

  // A byte for each pixel of a plane that a step changes.
  changed(step, plane, layer) {
    const out = new Uint8Array(this.w * this.h), n = this.data.planes[plane].bytes;
    let any = 0;
    this.each(step, (p, l, s, x, y, c, from) => {
      if (p !== plane || l !== layer) return;
      for (let i = 0; i < 16; i++) {
        const px = x + (i & 3), py = y + (i >> 2);
        if (px < 0 || py < 0 || px >= this.w || py >= this.h) continue;
        for (let k = 0; k < n; k++) if (c[from + i * n + k]) { any += 1 - out[py * this.w + px]; out[py * this.w + px] = 1; break; }
      }
    });
    return [out, any];
  }

  // A plane's pixel as bytes.
  pixel(plane, layer, sample, x, y) {
    const n = this.data.planes[plane].bytes, at = (y * this.w + x) * n;
    return this.buffer(plane, layer, sample).subarray(at, at + n);
  }

  // What a plane holds at a pixel, in words.
  value(plane, layer, sample, x, y, bytes) {
    const p = this.data.planes[plane], b = bytes || this.pixel(plane, layer, sample, x, y);
    if (p.aspect === "stencil") return [b[0]];
    if (p.aspect === "depth") { const z = view(b).getFloat32(0, true); return [p.scale ? z / p.scale : z]; }
    const format = this.data.attachments[p.attachment].format;
    return format ? channels(format, b, 0).filter(v => v !== undefined) : [];
  }

  // Fragments by tile: [step, chunk, first byte, bytes] each.
  tiles() {
    if (!this.byTile) {
      this.byTile = new Map();
      for (const [tile, ...rest] of this.data.fragments) {
        if (!this.byTile.has(tile)) this.byTile.set(tile, []);
        this.byTile.get(tile).push(rest);
      }
    }
    return this.byTile;
  }

  // Pieces of a step's fragments in a tile, one after the other.
  async pieces(tile, wanted, f) {
    for (const [step, n, at, bytes] of this.tiles().get(tile) || []) {
      if (!wanted(step)) continue;
      const c = await chunk("f" + n);
      if (c) fragments(c.subarray(at, at + bytes), piece => f(step, piece));
    }
  }
}

const lane = l => [((l >> 2) & 1) * 2 + (l & 1), (l >> 3) * 2 + ((l >> 1) & 1)];
const LANES = Array.from({ length: 16 }, (_, l) => lane(l));
const ones = m => { let n = 0; for (; m; m &= m - 1) n++; return n; };

// Reads fragments of a draw in a tile (docs/frame.md).
function fragments(b, f) {
  const v = view(b), samples = b[0], n = b[1], tested = b[2];
  const colors = [];
  let at = 4;
  for (let i = 0; i < n; i++, at += 2) colors.push([b[at], b[at + 1]]);
  while (at < b.length) {
    const p = { id: v.getUint32(at, true), block: v.getUint16(at + 4, true), quads: b[at + 6], shaded: v.getUint16(at + 8, true), discarded: v.getUint16(at + 10, true), samples, colors, z: null, outputs: [], after: [] };
    at += 12;
    for (const name of ["covered", "bounds", "stencil", "depth", "passed"]) {
      p[name] = [];
      for (let s = 0; s < samples; s++, at += 2) p[name].push(v.getUint16(at, true));
    }
    p.any = p.covered.reduce((a, m) => a | m, 0);
    p.written = p.passed.reduce((a, m) => a | m, 0);
    if (tested) {
      p.z = new Array(16);
      for (let l = 0; l < 16; l++) if (p.any >> l & 1) { p.z[l] = v.getFloat32(at, true); at += 4; }
    }
    for (const [, bytes] of colors) {
      const outputs = new Array(16), after = new Array(16);
      for (let l = 0; l < 16; l++) if (p.shaded >> l & 1) { outputs[l] = [0, 4, 8, 12].map(k => v.getUint32(at + k, true)); at += 16; }
      for (let l = 0; l < 16; l++) if (p.written >> l & 1) { after[l] = b.subarray(at, at + bytes); at += bytes; }
      p.outputs.push(outputs);
      p.after.push(after);
    }
    f(p);
  }
}
