// Pictures of attachments, and of what fragments did.
const KINDS = [
  ["after", "after"], ["before", "before"], ["change", "difference"],
  ["overdraw", "overdraw: this command"], ["overdrawAll", "overdraw: the pass up to here"],
  ["quads", "helper lanes of quads: this command"], ["quadsAll", "helper lanes of quads: the pass up to here"],
  ["tests", "tests: this command"],
];

// A palette from blue through green and yellow to red.
function heat(t) {
  const stops = [[24, 30, 84], [30, 100, 170], [40, 170, 120], [240, 210, 60], [225, 60, 40], [255, 240, 240]];
  const x = Math.max(0, Math.min(1, t)) * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(x)), f = x - i;
  return stops[i].map((a, k) => Math.round(a + (stops[i + 1][k] - a) * f));
}
const heatBar = `linear-gradient(90deg, ${[0, .2, .4, .6, .8, 1].map(t => `rgb(${heat(t)})`).join(",")})`;

// A plane as four bytes a pixel; what its legend says.
function picture(pass, plane, layer, sample, buffer) {
  const p = pass.data.planes[plane], b = buffer || pass.buffer(plane, layer, sample), n = pass.w * pass.h;
  const out = new Uint8ClampedArray(4 * n);
  if (p.aspect === "depth") {
    const z = new Float32Array(b.buffer, b.byteOffset, n);
    let least = Infinity, most = -Infinity;
    for (let i = 0; i < n; i++) { const v = z[i]; if (v < least) least = v; if (v > most) most = v; }
    const by = most > least ? 255 / (most - least) : 0;
    for (let i = 0; i < n; i++) { const v = by ? (z[i] - least) * by : 128; out[4 * i] = out[4 * i + 1] = out[4 * i + 2] = v; out[4 * i + 3] = 255; }
    const of = v => shown(p.scale ? v / p.scale : v);
    return [out, `depth from ${of(least)} (black) to ${of(most)} (white)`];
  }
  if (p.aspect === "stencil") {
    const seen = new Set();
    for (let i = 0; i < n; i++) { seen.add(b[i]); out.set([...tint(b[i]), 255], 4 * i); }
    return [out, `stencil values: ${[...seen].sort((a, b) => a - b).slice(0, 12).join(", ")}`];
  }
  const format = pass.data.attachments[p.attachment].format;
  if (!format) return [out, ""];
  const bytes = p.bytes, plain = /^(R8G8B8A8|B8G8R8A8|A8B8G8R8)_(UNORM|SRGB)/.test(format.name);
  if (plain) {
    const at = [0, 1, 2].map(k => format.components.find(c => c[0] === "rgb"[k])[1] >> 3);
    for (let i = 0; i < n; i++) { for (let k = 0; k < 3; k++) out[4 * i + k] = b[4 * i + at[k]]; out[4 * i + 3] = 255; }
    return [out, format.name];
  }
  const whole = format.class === "uint" || format.class === "sint", code = format.class === "srgb" || format.class === "sfloat" || format.class === "ufloat";
  let least = 0, most = 1;
  if (whole) {
    least = Infinity; most = -Infinity;
    for (let i = 0; i < n; i++) { const v = channels(format, b, i * bytes)[0]; if (v < least) least = v; if (v > most) most = v; }
    if (most <= least) most = least + 1;
  }
  for (let i = 0; i < n; i++) {
    const c = channels(format, b, i * bytes), grey = c[1] === undefined;
    for (let k = 0; k < 3; k++) {
      let v = grey ? c[0] : c[k] ?? 0;
      v = whole ? (v - least) / (most - least) : code ? encoded(Math.max(0, Math.min(1, v))) : v;
      out[4 * i + k] = v * 255 + .5;
    }
    out[4 * i + 3] = 255;
  }
  return [out, whole ? `${format.name}: ${shown(least)} (black) to ${shown(most)} (white)` : format.name];
}

const tint = v => v === 0 ? [24, 24, 28] : [80 + (v * 67) % 176, 80 + (v * 151) % 176, 80 + (v * 29) % 176];

// By pixel, how many fragments were shaded (or tested, where none is shaded), or how many lanes only helped.
async function counted(pass, layer, wanted, what) {
  const out = new Uint32Array(pass.w * pass.h);
  let total = 0;
  const jobs = pass.data.tiles.map(async ([l, tx, ty], tile) => {
    if (l !== layer) return;
    await pass.pieces(tile, wanted, (step, p) => {
      const x0 = tx - pass.x + (p.block & 15) * 4, y0 = ty - pass.y + (p.block >> 4) * 4;
      // Of a draw that shades nothing (depth alone), what it covers counts.
      const shades = pass.data.commands[step - 1]?.sums?.shaded > 0;
      for (let q = 0; q < 4; q++) {
        const own = (shades ? p.shaded : p.any) >> (4 * q) & 15;
        if (!own) continue;
        const helpers = shades ? 4 - ones(own) : 0;
        for (let k = 0; k < 4; k++) {
          const [lx, ly] = LANES[4 * q + k], x = x0 + lx, y = y0 + ly;
          if (x < 0 || y < 0 || x >= pass.w || y >= pass.h) continue;
          const n = what === "quads" ? helpers : own >> k & 1;
          out[y * pass.w + x] += n;
        }
        total += what === "quads" ? helpers : ones(own);
      }
    });
  });
  await Promise.all(jobs);
  return [out, total];
}

// What became of the last fragment at each pixel: 1 passed, 2 failed depth, 3 stencil, 4 discarded, 5 bounds or masked.
const TESTS = [["passed", [60, 180, 90]], ["depth test failed", [214, 70, 50]], ["stencil test failed", [220, 150, 40]], ["discarded", [150, 90, 200]], ["masked, or depth bounds failed", [120, 120, 130]]];
async function tested(pass, layer, wanted) {
  const out = new Uint8Array(pass.w * pass.h), sums = [0, 0, 0, 0, 0];
  await Promise.all(pass.data.tiles.map(async ([l, tx, ty], tile) => {
    if (l !== layer) return;
    await pass.pieces(tile, wanted, (_, p) => {
      for (let k = 0; k < 16; k++) {
        if (!(p.any >> k & 1)) continue;
        const r = result(p, k), [lx, ly] = LANES[k];
        const x = tx - pass.x + (p.block & 15) * 4 + lx, y = ty - pass.y + (p.block >> 4) * 4 + ly;
        sums[r - 1]++;
        if (x >= 0 && y >= 0 && x < pass.w && y < pass.h) out[y * pass.w + x] = r;
      }
    });
  }));
  return [out, sums];
}

function result(p, l) {
  const has = masks => masks.some(m => m >> l & 1);
  if (has(p.passed)) return 1;
  if (p.discarded >> l & 1) return 4;
  if (has(p.depth)) return 2;
  if (has(p.stencil)) return 3;
  return 5;
}

// Everything that happened to a pixel in a pass.
async function pixelHistory(pass, layer, x, y) {
  const tile = pass.data.tiles.findIndex(([l, tx, ty]) => l === layer && x + pass.x >= tx && x + pass.x < tx + 64 && y + pass.y >= ty && y + pass.y < ty + 64);
  if (tile < 0) return [];
  const [, tx, ty] = pass.data.tiles[tile];
  const px = x + pass.x - tx, py = y + pass.y - ty, block = (py >> 2) * 16 + (px >> 2);
  const l = LANES.findIndex(([a, b]) => a === (px & 3) && b === (py & 3));
  const found = [];
  await pass.pieces(tile, () => true, (step, p) => {
    if (p.block !== block || !(p.any >> l & 1)) return;
    found.push({
      step, primitive: p.id, result: TESTS[result(p, l) - 1][0], z: p.z?.[l],
      covered: p.covered.map(m => m >> l & 1), passed: p.passed.map(m => m >> l & 1),
      colors: p.colors.map(([attachment], i) => ({ attachment, output: p.outputs[i][l], after: p.after[i][l] })),
    });
  });
  return found;
}
