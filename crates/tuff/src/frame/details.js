// Everything about the command that is shown, beside its picture.
function pairs(title, rows) {
  if (!rows.length) return "";
  return el("div", {}, el("h3", {}, title), el("table", {}, ...rows.filter(r => r[1] !== undefined && r[1] !== null && r[1] !== "").map(([k, v]) => el("tr", {}, el("th", {}, k), el("td", { class: "v" }, v instanceof Node ? v : String(v))))));
}
const yes = v => v ? "yes" : "no";

function showState(pass, command, to) {
  const d = command.draw, s = pass.data.states[d.state], c = d.call, columns = el("div", { class: "columns" });
  to.append(columns);
  const call = c.groups ? [["workgroups", c.groups.join(" × ")]] : [[c.indexed ? "indices" : "vertices", many(c.count)], ["instances", many(c.instances)], ["first", c.first], ["vertex offset", c.vertex_offset || ""], ["first instance", c.first_instance || ""]];
  columns.append(pairs("Call", [["pipeline", d.bindings.pipeline], ["draws", c.draws > 1 ? c.draws : ""], ...call]));
  columns.append(pairs("Primitives", [["topology", s.topology], ["restart", s.restart ? "yes" : ""], ["patch vertices", s.patch || ""], ["polygons", s.raster.polygon], ["cull", s.raster.cull], ["front", s.raster.front], ["line width", s.topology.startsWith("LINE") ? s.raster.line_width : ""], ["depth bias", s.raster.bias ? s.raster.bias.join(", ") : ""], ["depth clamp", yes(s.raster.depth_clamp)], ["conservative", s.raster.conservative], ["rasterisation", s.raster.discard ? "discarded" : ""]]));
  columns.append(pairs("Depth and stencil", [["depth test", s.depth.test ? s.depth.compare : "off"], ["depth write", yes(s.depth.write)], ["depth bounds", s.depth.bounds ? s.depth.bounds.join(" … ") : ""], ...(s.stencil || []).flatMap((f, i) => [[`stencil, ${["front", "back"][i]}`, `${f.compare} ${f.reference} (mask ${f.compare_mask.toString(16)}); fail ${f.fail}, depth fail ${f.depth_fail}, pass ${f.pass} (mask ${f.write_mask.toString(16)})`]])]));
  columns.append(pairs("Samples", [["samples", s.samples.count], ["mask", (s.samples.mask >>> 0).toString(16)], ["sample shading", s.samples.min_shading ?? ""], ["alpha to coverage", s.samples.alpha_to_coverage ? "yes" : ""], ["alpha to one", s.samples.alpha_to_one ? "yes" : ""]]));
  columns.append(pairs("Viewports and scissors", [...s.viewports.slice(0, 8).map((v, i) => [`viewport ${i}`, `${v.slice(0, 4).map(shown).join(", ")}; depth ${shown(v[4])} … ${shown(v[5])}`]), ...s.scissors.slice(0, 8).map((v, i) => [`scissor ${i}`, v.join(", ")])]));
  columns.append(pairs("Blending", [["logic", s.blend.logic], ...s.blend.attachments.map((b, i) => [`colour ${i}`, b.enable ? `${b.colour[0]} ${b.colour[1]} ${b.colour[2]}; alpha ${b.alpha[0]} ${b.alpha[1]} ${b.alpha[2]}; writes ${b.write || "nothing"}` : `off; writes ${b.write || "nothing"}`]), ["constants", s.blend.attachments.some(b => JSON.stringify(b).includes("CONSTANT")) ? s.blend.constants.map(shown).join(", ") : ""]]));
  const known = names(d, "inputs");
  columns.append(pairs("Vertex layout", [...s.bindings.map(b => [`binding ${b.binding}`, `${b.stride} bytes, ${b.divisor === null ? "by vertex" : "by instance, " + b.divisor}`]), ...s.attributes.map(a => [known.get(a.location) || `location ${a.location}`, `location ${a.location}, binding ${a.binding} + ${a.offset}, ${a.format.name}`])]));
  if (command.sums) columns.append(sums(command.sums));
}

function sums(s) {
  const share = s.quads ? ` (${(100 * s.helpers / (4 * s.quads)).toFixed(1)} % of lanes)` : "";
  return pairs("Fragments", [["covered", many(s.covered)], ["shaded", many(s.shaded)], ["discarded", s.discarded ? many(s.discarded) : ""], ["samples passed", many(s.passed)], ["failed depth", s.failed_depth ? many(s.failed_depth) : ""], ["failed stencil", s.failed_stencil ? many(s.failed_stencil) : ""], ["failed depth bounds", s.failed_bounds ? many(s.failed_bounds) : ""], ["quads", many(s.quads)], ["helper lanes", many(s.helpers) + share]]);
}

// Bytes as the fields of a block.
function fields(list, b) {
  const v = view(b), rows = [];
  const one = (kind, at) => {
    const bits = +kind.slice(1), n = bits / 8;
    if (at + n > b.length) return undefined;
    switch (kind) {
      case "f32": return v.getFloat32(at, true); case "f64": return v.getFloat64(at, true); case "f16": return half(v.getUint16(at, true));
      case "i32": return v.getInt32(at, true); case "u32": return v.getUint32(at, true); case "i16": return v.getInt16(at, true); case "u16": return v.getUint16(at, true);
      case "i8": return v.getInt8(at); case "u8": return b[at]; default: return n === 8 ? "0x" + v.getBigUint64(at, true).toString(16) : undefined;
    }
  };
  const text = x => x === undefined ? "…" : typeof x === "string" ? x : shown(x);
  const value = (f, by) => {
    const n = +f.kind.slice(1) / 8, lines = [];
    for (let c = 0; c < f.columns; c++) lines.push(Array.from({ length: f.rows }, (_, r) => text(one(f.kind, by + f.offset + (f.row_major ? r * f.stride + c * n : c * f.stride + r * n)))).join(", "));
    return lines;
  };
  for (const f of list) {
    const times = f.repeats ? Math.min(16, Math.ceil((b.length - f.offset) / f.repeats)) : 1;
    for (let i = 0; i < times; i++) {
      const path = f.repeats ? f.path.replace("[]", `[${i}]`) : f.path;
      if (f.offset + i * (f.repeats || 0) < b.length) rows.push([f.offset + i * (f.repeats || 0), path, value(f, i * (f.repeats || 0))]);
    }
  }
  rows.sort((a, b) => a[0] - b[0]);
  return el("table", {}, ...rows.slice(0, 400).map(([at, path, lines]) => el("tr", {}, el("td", { class: "num soft" }, String(at)), el("th", {}, path), el("td", { class: "v" }, ...lines.flatMap((l, i) => i ? [el("br"), l] : [l])))));
}

function hex(b) {
  const lines = [];
  for (let at = 0; at < Math.min(b.length, 512); at += 16) {
    const row = [...b.subarray(at, at + 16)].map(x => x.toString(16).padStart(2, "0")).join(" ");
    lines.push(at.toString(16).padStart(4, "0") + "  " + row);
  }
  return el("pre", {}, lines.join("\n") + (b.length > 512 ? `\n… ${b.length} bytes` : ""));
}

function resource(bindings, b) {
  for (const s of bindings.shaders) {
    const r = s.module === null || s.module === undefined ? null : frame.shaders[s.module]?.resources.find(r => r.set === b.set && r.binding === b.binding);
    if (r) return r;
  }
  return null;
}

async function showBindings(bindings, to) {
  const push = bindings.push || [];
  if (!bindings.bound.length && !push.length) to.append(el("p", { class: "soft" }, "Nothing is bound that the shaders name."));
  for (const b of bindings.bound) {
    const r = resource(bindings, b), box = el("div", {});
    const element = b.element ? `[${b.element}]` : "";
    box.append(el("h3", {}, `set ${b.set}, binding ${b.binding}${element}: ${r?.name || b.what}`, el("span", { class: "soft" }, ` ${r ? r.ty + ", " : ""}${b.what} of the ${b.stages.join(", ")} shader`)));
    if (b.view) box.append(viewTable(b));
    if (b.sampler) box.append(samplerTable(b.sampler));
    if (b.bytes !== undefined) {
      const data = await bytesAt("b", b.data);
      const note = data && data.length < b.bytes ? `the first ${many(data.length)} of ${many(b.bytes)} bytes` : `${many(b.bytes)} bytes`;
      box.append(el("p", { class: "soft" }, note));
      if (data) box.append(r?.fields?.length ? fields(r.fields, data) : hex(data));
    }
    to.append(box);
  }
  if (push.length) {
    const list = bindings.shaders.map(s => frame.shaders[s.module]?.push).find(p => p && p.length);
    const data = Uint8Array.from(push);
    to.append(el("h3", {}, "Push constants"), list ? fields(list, data) : hex(data));
  }
}

const viewTable = b => pairs("", [["image", b.view.name || "(no name)"], ["format", b.view.format], ["size", b.view.size.join(" × ")], ["levels, layers", `${b.view.levels}, ${b.view.layers}`], ["samples", b.view.samples > 1 ? b.view.samples : ""]]);
const samplerTable = s => pairs("", [["filter", `${s.mag} (magnified), ${s.min} (minified), ${s.mip} between levels`], ["addressing", s.wrap.join(", ")], ["anisotropy", s.anisotropy > 1 ? s.anisotropy : ""], ["levels of detail", `${shown(s.lod[0])} … ${s.lod[1] > 900 ? "all" : shown(s.lod[1])}`], ["compares", s.compare]]);

async function showShaders(bindings, to) {
  if (!bindings.shaders.length) to.append(el("p", { class: "soft" }, "The record has no shaders of this pipeline."));
  for (const s of bindings.shaders) {
    const shader = frame.shaders[s.module];
    const box = el("div", {}, el("h3", {}, `${s.stage} shader, `, el("code", {}, s.entry)));
    if (s.spec.length) {
      const name = id => shader?.constants.find(c => c[0] === id)?.[1] || "constant " + id;
      box.append(pairs("Specialisation", s.spec.map(([id, bits]) => [name(id), `${bits} (0x${bits.toString(16)}, as a float ${shown(float32(bits >>> 0))})`])));
    }
    if (!shader || !shader.texts.length) { box.append(el("p", { class: "soft" }, "No text.")); to.append(box); continue; }
    const out = el("pre", {});
    const show = async n => {
      const b = await bytesAt("t", shader.texts[n].text);
      const lines = new TextDecoder().decode(b).split("\n");
      out.replaceChildren(...lines.flatMap((l, i) => [el("span", { class: "ln", "aria-hidden": "true" }, String(i + 1)), l + "\n"]));
    };
    if (shader.texts.length > 1) {
      const choose = el("select", { "aria-label": "Which text", onchange: e => show(+e.target.value) }, ...shader.texts.map((t, i) => el("option", { value: i }, t.title)));
      box.append(choose);
    } else box.append(el("span", { class: "soft" }, shader.texts[0].title));
    box.append(out);
    to.append(box);
    await show(0);
  }
}

async function showTextures(bindings, to) {
  const box = el("div", { class: "textures" });
  let any = false;
  for (const b of bindings.bound) {
    if (!b.view) continue;
    any = true;
    const r = resource(bindings, b), all = b.view.pictures;
    const canvas = el("canvas", { width: 1, height: 1, role: "img", "aria-label": r?.name || "texture" });
    const note = el("span", {});
    const show = async n => {
      const p = all[n], bytes = p && await bytesAt("p", p.data);
      if (!bytes) { note.textContent = all.length ? "left out of this page" : "no picture"; return; }
      const map = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
      canvas.width = map.width; canvas.height = map.height;
      canvas.getContext("2d").drawImage(map, 0, 0);
      note.textContent = `${p.of.join(" × ")}${p.range ? `, ${shown(p.range[0])} … ${shown(p.range[1])}` : ""}`;
    };
    const label = p => `level ${p.level}` + (b.view.layers > 1 ? `, layer ${p.layer}` : "");
    const choose = all.length > 1 ? el("select", { "aria-label": "Level", onchange: e => show(+e.target.value) }, ...all.map((p, i) => el("option", { value: i }, label(p)))) : null;
    box.append(el("figure", {}, canvas, el("figcaption", {}, el("b", {}, r?.name || b.view.name || `set ${b.set}, binding ${b.binding}`), " ", b.view.format, " ", note, el("br"), choose)));
    await show(0);
  }
  to.append(any ? box : el("p", { class: "soft" }, "The shaders sample no images."));
}

function showPass(pass, line, to) {
  const d = pass.data, columns = el("div", { class: "columns" });
  const word = (a, i) => `load ${a.load[i]}, store ${a.store[i]}`;
  columns.append(pairs("Render pass", [["area", `${d.area[2]} × ${d.area[3]} from ${d.area[0]}, ${d.area[1]}`], ["layers", d.layers], ["commands", many(d.commands.length)], ["frame", line.frame ?? "–"], ["submission", line.submission], ["queue", line.queue]]));
  columns.append(pairs("Attachments", d.attachments.map((a, i) => [`${i}: ${a.name || "(no name)"}`, a.format ? `${a.format.name}, ${a.size.slice(0, 2).join(" × ")}${a.samples > 1 ? `, ${a.samples} samples` : ""}; ${word(a, 0)}` : "unused"])));
  d.subpasses.forEach((s, i) => columns.append(pairs(d.subpasses.length > 1 ? `Subpass ${i}` : "Uses", [["colours", s.colors.map(c => c ?? "–").join(", ")], ["resolves to", s.resolves.filter(r => r !== null).join(", ")], ["depth", s.depth], ["stencil", s.stencil], ["inputs", s.inputs.filter(r => r !== null).join(", ")], ["views", s.views ? s.views.toString(2) : ""]])));
  const all = {};
  for (const c of d.commands) if (c.sums) for (const [k, v] of Object.entries(c.sums)) all[k] = (all[k] || 0) + v;
  if (all.covered) columns.append(sums(all));
  to.append(columns);
}

async function showPixel(pass, at, go, to) {
  if (!at.pixel) { to.append(el("p", { class: "soft" }, "Choose a pixel: click into the picture, or press p and move with the arrow keys.")); return; }
  const [x, y] = at.pixel, found = await pixelHistory(pass, at.layer, x, y);
  to.append(el("h3", {}, `History of pixel ${x + pass.x}, ${y + pass.y}` + (pass.data.layers > 1 ? `, layer ${at.layer}` : "")));
  if (!pass.data.fragments.length) to.append(el("p", { class: "soft" }, "Fragments were left out of this page; `tuff frame CAPTURE --pixel` has them."));
  // Steps that change the pixel otherwise: clears, loads, resolves.
  const planes = pass.data.planes.map((p, i) => [p, i]).filter(([p]) => !p.stands_in);
  const now = pass.step, rows = [], here = new Set(found.map(f => f.step));
  const before = planes.map(() => "");
  for (let s = 0; s < pass.steps; s++) {
    let touched = here.has(s);
    if (!touched) pass.each(s, (p, l, sample, bx, by, c, from) => {
      if (l !== at.layer || x < bx || y < by || x >= bx + 4 || y >= by + 4) return;
      const n = pass.data.planes[p].bytes, o = from + ((y - by) * 4 + (x - bx)) * n;
      for (let k = 0; k < n; k++) if (c[o + k]) touched = true;
    });
    if (!touched) continue;
    pass.go(s);
    const values = planes.map(([p, i]) => pass.value(i, at.layer, 0, x, y).map(shown).join(", "));
    const own = found.filter(f => f.step === s);
    rows.push([s, own, values.map((v, i) => v === before[i] ? null : v)]);
    values.forEach((v, i) => { before[i] = v; });
  }
  pass.go(now);
  const name = s => s === 0 ? "begin of the pass" : s === pass.steps - 1 ? "end of the pass" : pass.data.commands[s - 1].name;
  const plane = ([p]) => p.aspect === "colour" ? `colour (attachment ${p.attachment})` : p.aspect;
  const t = el("table", {}, el("tr", {}, ...["", "command", "primitive", "result", "depth of the fragment", "from the shader", ...planes.map(plane)].map(h => el("th", {}, h))));
  for (const [s, own, values] of rows) {
    const list = own.length ? own : [null];
    list.forEach((f, i) => {
      const last = i === list.length - 1, p = pass.data.planes.find(p => p.aspect === "depth");
      const good = f && f.result === "passed";
      const samples = f && f.covered.length > 1 ? ` (${f.passed.filter(Boolean).length} of ${f.covered.filter(Boolean).length} samples)` : "";
      const cells = planes.map(([q, n], k) => {
        const c = f?.colors.find(c => c.attachment === q.attachment && q.aspect === "colour");
        if (c?.after && !last) return "→ " + pass.value(n, at.layer, 0, x, y, c.after).map(shown).join(", ");
        return last && values[k] !== null ? "→ " + values[k] : "";
      });
      const shader = f ? f.colors.filter(c => c.output).map(c => colour(pass, c)).join("; ") : "";
      t.append(el("tr", { class: "pick" + (s === pass.step ? " now" : ""), onclick: () => go(s) },
        el("td", { class: "num soft" }, String(s)), el("td", {}, i ? "" : name(s)), el("td", { class: "num" }, f ? String(f.primitive) : ""),
        el("td", { class: f ? (good ? "good" : "bad") : "soft" }, f ? f.result + samples : "changed"),
        el("td", { class: "v" }, f && f.z !== undefined ? shown(p && p.scale ? f.z / p.scale : f.z) : ""), el("td", { class: "v" }, shader),
        ...cells.map(c => el("td", { class: "v" }, c))));
    });
  }
  to.append(t);
}

function colour(pass, c) {
  const kind = pass.data.attachments[c.attachment]?.format?.class;
  return c.output.map(w => kind === "uint" ? w : kind === "sint" ? w | 0 : shown(float32(w))).join(", ");
}
