// Meshes as tables and wire frames: what a draw reads, and what its last stage before rasterisation makes of it.
const ROWS = 200, EDGES = 60000;

async function words(place) {
  const b = await bytesAt("m", place);
  if (!b) return null;
  return new Uint32Array(b.slice().buffer);
}

function names(draw, which) {
  const out = new Map();
  for (const s of draw.bindings.shaders) {
    const shader = s.module === null ? null : frame.shaders[s.module];
    if (!shader) continue;
    if (which === "inputs" && s.stage === "vertex") shader.inputs.forEach(([l, n]) => out.set(l, n));
    if (which === "varyings" && s.stage === "fragment") shader.inputs.forEach(([l, n]) => out.set(l, n));
  }
  return out;
}

// Vertices in: columns by attribute.
async function meshIn(draw) {
  const m = draw.mesh_in;
  if (!m) return null;
  const [indices, vertices] = await Promise.all([words(m.indices), words(m.vertices)]);
  if (!indices || !vertices) return null;
  const known = names(draw, "inputs");
  const attributes = await Promise.all(m.attributes.map(async a => ({ ...a, name: known.get(a.location) || "location " + a.location, bytes: await bytesAt("m", a.data) })));
  return { m, indices, vertices, attributes };
}

const attributeValue = (a, n) => a.bytes ? channels(a.format, a.bytes, n * a.format.bytes).filter(v => v !== undefined) : [];

async function meshOut(draw, k) {
  const m = draw.mesh_out[k];
  if (!m) return null;
  const [positions, indices, ids, ...rest] = await Promise.all([words(m.positions), words(m.indices), words(m.ids), ...m.varyings.map(v => words(v[1]))]);
  if (!positions || !indices) return null;
  return { m, positions: new Float32Array(positions.buffer), indices, ids, varyings: m.varyings.map(([slot], i) => ({ slot, words: rest[i] })) };
}

// Edges of primitives, two vertices each.
function edges(indices, topology, corners) {
  const out = [], add = (a, b) => { if (a !== 0xFFFFFFFF && b !== 0xFFFFFFFF && out.length < EDGES * 2) out.push(a, b); };
  const n = indices.length;
  if (corners) {
    for (let i = 0; i + corners <= n; i += corners) {
      if (corners === 1) add(indices[i], indices[i]);
      if (corners >= 2) add(indices[i], indices[i + 1]);
      if (corners === 3) { add(indices[i + 1], indices[i + 2]); add(indices[i + 2], indices[i]); }
    }
    return out;
  }
  const triangle = (a, b, c) => { add(a, b); add(b, c); add(c, a); };
  switch (topology) {
    case "POINT_LIST": for (let i = 0; i < n; i++) add(indices[i], indices[i]); break;
    case "LINE_LIST": for (let i = 0; i + 1 < n; i += 2) add(indices[i], indices[i + 1]); break;
    case "LINE_STRIP": for (let i = 0; i + 1 < n; i++) add(indices[i], indices[i + 1]); break;
    case "TRIANGLE_STRIP": for (let i = 0; i + 2 < n; i++) if (indices[i] !== 0xFFFFFFFF) { add(indices[i], indices[i + 1]); add(indices[i], indices[i + 2]); add(indices[i + 1], indices[i + 2]); } break;
    case "TRIANGLE_FAN": for (let i = 1; i + 1 < n; i++) triangle(indices[0], indices[i], indices[i + 1]); break;
    default: for (let i = 0; i + 2 < n; i += 3) triangle(indices[i], indices[i + 1], indices[i + 2]);
  }
  return out;
}

// A canvas with lines between points of three coordinates; it turns by dragging and arrow keys, unless it is flat.
function wire(points, lines, flat) {
  const canvas = el("canvas", { class: "wire", width: 520, height: 340, tabindex: 0, role: "img", "aria-label": flat ? "The mesh in clip space, as the viewport shows it" : "The mesh; arrow keys turn it" });
  let turn = [0.5, 0.35];
  const box = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
  const finite = p => p && p.every(Number.isFinite);
  for (const p of points) if (finite(p)) for (let k = 0; k < 3; k++) { box[0][k] = Math.min(box[0][k], p[k]); box[1][k] = Math.max(box[1][k], p[k]); }
  const size = Math.max(1e-9, ...[0, 1, 2].map(k => box[1][k] - box[0][k]));
  const middle = [0, 1, 2].map(k => (box[0][k] + box[1][k]) / 2);
  const at = p => {
    if (flat) return [260 + p[0] * 200, 170 + p[1] * 130];
    let [x, y, z] = p.map((v, k) => (v - middle[k]) / size * 260);
    const [a, b] = turn, c = Math.cos(a), s = Math.sin(a), d = Math.cos(b), t = Math.sin(b);
    [x, z] = [x * c + z * s, z * c - x * s];
    [y, z] = [y * d - z * t, z * d + y * t];
    return [260 + x, 170 - y];
  };
  const paint = () => {
    const g = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    g.clearRect(0, 0, 520, 340);
    if (flat) { g.strokeStyle = style.getPropertyValue("--line"); g.strokeRect(60, 40, 400, 260); }
    g.strokeStyle = style.getPropertyValue("--accent");
    g.lineWidth = lines.length > 20000 ? .35 : .8;
    g.beginPath();
    for (let i = 0; i + 1 < lines.length; i += 2) {
      const p = points[lines[i]], q = points[lines[i + 1]];
      if (!finite(p) || !finite(q)) continue;
      const [x, y] = at(p), [u, v] = at(q);
      if (lines[i] === lines[i + 1]) g.rect(x - 1, y - 1, 2, 2);
      else { g.moveTo(x, y); g.lineTo(u, v); }
    }
    g.stroke();
  };
  if (!flat) {
    canvas.onpointerdown = e => { canvas.setPointerCapture(e.pointerId); };
    canvas.onpointermove = e => { if (e.buttons) { turn[0] += e.movementX / 120; turn[1] += e.movementY / 120; paint(); } };
    canvas.onkeydown = e => {
      const by = { ArrowLeft: [-.15, 0], ArrowRight: [.15, 0], ArrowUp: [0, -.15], ArrowDown: [0, .15] }[e.key];
      if (by) { turn[0] += by[0]; turn[1] += by[1]; paint(); e.preventDefault(); e.stopPropagation(); }
    };
  }
  paint();
  return canvas;
}

async function showMesh(draw, state, to) {
  const columns = el("div", { class: "columns" });
  to.append(columns);
  const a = await meshIn(draw);
  if (a) columns.append(await inPanel(a, state));
  else columns.append(el("div", {}, el("h3", {}, "Vertices in"), el("p", { class: "soft" }, draw.mesh_in ? "Left out of this page." : "The draw reads no vertices.")));
  for (let k = 0; k < draw.mesh_out.length && k < 4; k++) {
    const o = await meshOut(draw, k);
    if (o) columns.append(outPanel(o, draw));
  }
  const all = Math.max(draw.mesh_out.length, draw.call.draws);
  if (all > 4) to.append(el("p", { class: "soft" }, `Of ${many(all)} draws and views, the first four that made vertices.`));
  if (!draw.mesh_out.length) columns.append(el("div", {}, el("h3", {}, "Vertices out"), el("p", { class: "soft" }, "None.")));
}

async function inPanel({ m, indices, vertices, attributes }, state) {
  const box = el("div", {}, el("h3", {}, `Vertices in: ${many(m.references)} references of ${many(vertices.length)} vertices`));
  const per = attributes.filter(a => !a.per_instance);
  const position = per.find(a => /pos/i.test(a.name)) || per.find(a => a.format.components.length >= 2 && a.format.class.endsWith("float"));
  if (position) {
    const points = Array.from(vertices, (_, n) => { const v = attributeValue(position, n); return [v[0] ?? 0, v[1] ?? 0, v[2] ?? 0]; });
    box.append(wire(points, edges(indices, state.topology, 0), false));
  }
  const head = ["#", "vertex", ...attributes.map(a => a.name + (a.per_instance ? " (instance)" : ""))];
  const rows = Array.from(indices.slice(0, ROWS), (n, i) => {
    const restart = n === 0xFFFFFFFF;
    return [i, restart ? "restart" : vertices[n], ...attributes.map(a => restart ? "" : attributeValue(a, a.per_instance ? 0 : n).map(shown).join(", "))];
  });
  box.append(table(head, rows));
  if (m.references > indices.length || indices.length > ROWS) box.append(el("p", { class: "soft" }, `The first ${many(Math.min(ROWS, indices.length))} of ${many(m.references)}.`));
  return box;
}

function outPanel({ m, positions, indices, ids, varyings }, draw) {
  const title = `Vertices out: ${many(m.vertices)} in clip space, ${many(m.primitives)} primitives` + (m.view !== undefined ? `, view ${m.view}` : "") + (m.draw ? `, draw ${m.draw}` : "");
  const box = el("div", {}, el("h3", {}, title));
  const points = Array.from({ length: m.vertices }, (_, i) => { const [x, y, z, w] = positions.subarray(4 * i, 4 * i + 4); return w > 0 ? [x / w, y / w, z / w] : null; });
  box.append(wire(points, edges(indices, null, m.corners), true));
  const known = names(draw, "varyings");
  const label = slot => { const l = slot >> 2; return slot < 256 ? (known.get(l) || "location " + l) + "." + "xyzw"[slot & 3] : "built in " + slot; };
  const head = ["#", "gl_Position", ...varyings.map(v => label(v.slot))];
  const number = w => { const f = float32(w); return w && (Math.abs(f) < 1e-30 || !Number.isFinite(f)) ? String(w) : shown(f); };
  const rows = Array.from({ length: Math.min(ROWS, m.vertices) }, (_, i) => [i, [...positions.subarray(4 * i, 4 * i + 4)].map(shown).join(", "), ...varyings.map(v => v.words ? number(v.words[i]) : "")]);
  box.append(table(head, rows));
  if (m.vertices > ROWS) box.append(el("p", { class: "soft" }, `The first ${ROWS} of ${many(m.vertices)}.`));
  if (m.lost) box.append(el("p", { class: "soft" }, `${many(m.lost)} more primitives were not recorded.`));
  return box;
}

function table(head, rows) {
  return el("table", {}, el("tr", {}, ...head.map(h => el("th", {}, h))), ...rows.map(r => el("tr", {}, ...r.map(c => el("td", { class: "v" }, String(c))))));
}
