// The list of commands, the picture of the one that is chosen, and the keys.
let frame, rows = [], passes = [];
const at = { row: 0, plane: 0, layer: 0, sample: 0, kind: "after", pixel: null, tab: "state", zoom: 0 };
const $ = id => document.getElementById(id);

// The colours that were chosen last, where a page may keep something.
function stored(theme) {
  try {
    if (theme !== undefined) localStorage.setItem("tuff-theme", theme);
    return localStorage.getItem("tuff-theme") || "";
  } catch { return ""; }
}

async function begin() {
  const theme = stored();
  if (theme) document.documentElement.dataset.theme = theme;
  $("theme").textContent = { dark: "☾", light: "☀" }[theme] || "◐";
  frame = JSON.parse(new TextDecoder().decode(await unpack("main")));
  $("title").textContent = frame.title;
  $("command").textContent = $("command").title = frame.command || "";
  if (frame.left_out.length) { $("left_out").hidden = false; $("left_out").textContent = "Left out of this page: " + frame.left_out.join("; ") + "."; }
  passes = frame.passes.map(p => new Pass(p));
  listAll();
  keys();
  // The first draw that has fragments, or else the first.
  const draw = r => r.kind === "draw", some = rows.findIndex(r => draw(r) && r.sums);
  const first = some < 0 ? rows.findIndex(draw) : some;
  // #row/tab/x,y: a place that somebody has kept.
  const wanted = /^#(\d+)(?:\/(\w+))?(?:\/(\d+),(\d+))?/.exec(location.hash);
  if (wanted?.[2]) at.tab = wanted[2];
  await choose(wanted && rows[+wanted[1]] ? +wanted[1] : Math.max(0, first));
  if (wanted?.[3]) await pick(+wanted[3], +wanted[4]);
}

// Rows: commands under their labels, a pass's under the pass.
function listAll() {
  const add = r => rows.push(r);
  // Opens the labels of a command that are not open; how deep it is in them.
  const opener = base => {
    let open = [];
    return label => {
      const own = label ? label.split("/") : [];
      let same = 0;
      while (same < own.length && own[same] === open[same]) same++;
      for (let i = same; i < own.length; i++) add({ label: true, text: own[i], deep: base + i });
      open = own;
      return base + own.length;
    };
  };
  const outer = opener(0);
  frame.lines.forEach((line, n) => {
    const deep = outer(line.label);
    if (line.pass === undefined) { add({ line: n, text: line.name || line.kind, kind: line.kind, deep }); return; }
    const pass = passes[line.pass], inner = opener(deep + 1), prefix = line.label ? line.label + "/" : "";
    add({ line: n, pass: line.pass, step: 0, text: `Render pass ${line.name}`, group: true, deep });
    pass.data.commands.forEach((c, k) => {
      const label = c.label.startsWith(prefix) ? c.label.slice(prefix.length) : c.label === line.label ? "" : c.label;
      add({ line: n, pass: line.pass, step: k + 1, text: c.name, shown: c.name.replace(/^vkCmd(?=Draw)/, ""), kind: c.kind, deep: inner(label), sums: c.sums });
    });
    add({ line: n, pass: line.pass, step: pass.steps - 1, text: "end of the pass", kind: "end", deep: deep + 1 });
  });
  rows.forEach((r, i) => {
    const note = r.sums ? many(r.sums.shaded || r.sums.covered) : r.kind === "draw" ? "0" : "";
    r.element = el("div", { class: "row" + (r.group ? " group" : "") + (r.label ? " label" : ""), role: "treeitem", "aria-level": r.deep + 1, title: r.text, onclick: () => choose(i) },
      el("span", { class: "n" }, r.label ? "" : String(i)), el("span", { class: "t" }, r.shown || r.text), el("span", { class: "f", title: "fragments" }, note));
    r.element.style.paddingLeft = 4 + r.deep * 14 + "px";
  });
  $("list").replaceChildren(...rows.map(r => r.element));
  $("find").oninput = e => {
    const words = e.target.value.toLowerCase();
    for (const r of rows) r.element.hidden = words !== "" && !r.text.toLowerCase().includes(words);
  };
}

let turn = 0;
async function choose(i) {
  const before = rows[at.row];
  before?.element.classList.remove("on");
  before?.element.removeAttribute("aria-selected");
  at.row = Math.max(0, Math.min(rows.length - 1, i));
  const r = rows[at.row], mine = ++turn;
  r.element.classList.add("on");
  r.element.setAttribute("aria-selected", "true");
  r.element.scrollIntoView({ block: "nearest" });
  try { history.replaceState(null, "", `#${at.row}/${at.tab}`); } catch { /* Not from every place. */ }
  $("where").textContent = r.text;
  if (r.pass !== undefined) {
    const pass = passes[r.pass];
    await pass.load();
    if (mine !== turn) return;
    if (before?.pass !== r.pass) { at.plane = firstPlane(pass, r); at.layer = 0; at.sample = 0; at.pixel = null; at.zoom = 0; }
    if (pass.w * pass.h <= MOST_PIXELS) pass.go(r.step);
    $("picture").hidden = false;
    tools(pass);
    await paint(mine);
  } else $("picture").hidden = true;
  if (mine === turn) await details(mine);
}

// What a pass shows first: what the last subpass's first colour is resolved to, or that colour, or the first plane.
function firstPlane(pass) {
  const all = pass.data.planes, colour = all.findIndex(p => p.aspect === "colour");
  return Math.max(0, colour);
}

function tools(pass) {
  const d = pass.data;
  const planeName = p => { const a = d.attachments[p.attachment]; return `${p.aspect}: ${a.name || (a.format ? a.format.name : "")}${p.samples > 1 ? ` (${p.samples} samples)` : ""}${p.stands_in ? ", samples" : ""}`; };
  const select = (label, options, value, change) => el("select", { "aria-label": label, onchange: e => { change(e.target.value); paint(++turn); } }, ...options.map(([v, t]) => el("option", { value: v, selected: String(v) === String(value) }, t)));
  const parts = [];
  if (d.planes.length) parts.push(select("Attachment (key a)", d.planes.map((p, i) => [i, planeName(p)]), at.plane, v => { at.plane = +v; at.sample = 0; }));
  parts.push(select("What is shown (key v)", KINDS, at.kind, v => { at.kind = v; }));
  if (d.layers > 1) parts.push(select("Layer", Array.from({ length: d.layers }, (_, i) => [i, "layer " + i]), at.layer, v => { at.layer = +v; }));
  const samples = d.planes[at.plane]?.samples || 1;
  if (samples > 1) parts.push(select("Sample", Array.from({ length: samples }, (_, i) => [i, "sample " + i]), at.sample, v => { at.sample = +v; }));
  parts.push(select("Size (keys + and −)", [[0, "fit"], [.5, "50 %"], [1, "100 %"], [2, "200 %"], [4, "400 %"], [8, "800 %"]], at.zoom, v => { at.zoom = +v; }));
  $("tools").replaceChildren(...parts);
}

// More pixels than a page draws: 8192 × 8192.
const MOST_PIXELS = 1 << 26;

// Why a pass's attachments cannot be shown after a step; "": they can.
function unseen(pass, step) {
  if (pass.w * pass.h > MOST_PIXELS) return `${many(pass.w)} × ${many(pass.h)} pixels are more than this page draws; \`tuff frame --pixel X,Y\` tells what happens to one of them.`;
  if (!["after", "before", "change"].includes(at.kind) || frame.attachments === "steps") return "";
  if (frame.attachments === "none") return "Pictures of attachments are left out of this page.";
  return at.kind === "after" && step === pass.steps - 1 ? "" : "This page has attachments as passes end, not after each command.";
}

async function paint(mine) {
  const r = rows[at.row];
  if (r.pass === undefined) return;
  const pass = passes[r.pass], canvas = $("canvas");
  if (!pass.data.planes.length || !pass.w || !pass.h) { $("legend").textContent = "The pass has no attachments."; canvas.width = canvas.height = 1; return; }
  at.plane = Math.min(at.plane, pass.data.planes.length - 1);
  const why = unseen(pass, r.step);
  if (why) { $("legend").textContent = at.legend = why; canvas.width = canvas.height = 1; $("cross").hidden = true; return; }
  let [pixels, legend] = [null, ""];
  const only = s => s === r.step, upTo = s => s <= r.step;
  if (at.kind === "before" && r.step > 0) {
    pass.go(r.step - 1);
    [pixels, legend] = picture(pass, at.plane, at.layer, at.sample);
    pass.go(r.step);
  } else if (at.kind === "after" || at.kind === "before" || at.kind === "change") {
    [pixels, legend] = picture(pass, at.plane, at.layer, at.sample);
    if (at.kind === "change") {
      const [mask, n] = pass.changed(r.step, at.plane, at.layer);
      for (let i = 0; i < mask.length; i++) {
        if (mask[i]) { pixels[4 * i] = (pixels[4 * i] + 255) >> 1; pixels[4 * i + 1] = (pixels[4 * i + 1] + 47) >> 1; pixels[4 * i + 2] = (pixels[4 * i + 2] + 208) >> 1; }
        else for (let k = 0; k < 3; k++) pixels[4 * i + k] = pixels[4 * i + k] * .35;
      }
      legend = `${many(n)} pixels changed (pink)`;
    }
  } else if (at.kind === "tests") {
    const [kinds, sums] = await tested(pass, at.layer, only);
    pixels = new Uint8ClampedArray(4 * kinds.length);
    kinds.forEach((k, i) => pixels.set(k ? [...TESTS[k - 1][1], 255] : [20, 20, 24, 255], 4 * i));
    legend = el("span", {}, ...TESTS.flatMap(([name, c], i) => sums[i] ? [swatch(c), `${name}: ${many(sums[i])}  `] : []));
    if (!sums.some(n => n)) legend = "No fragments.";
  } else {
    const quads = at.kind.startsWith("quads");
    const [counts, total] = await counted(pass, at.layer, at.kind.endsWith("All") ? upTo : only, quads ? "quads" : "overdraw");
    let most = 0;
    for (const n of counts) if (n > most) most = n;
    pixels = new Uint8ClampedArray(4 * counts.length);
    counts.forEach((n, i) => pixels.set(n ? [...heat(n / Math.max(most, 2)), 255] : [0, 0, 0, 255], 4 * i));
    const bar = el("span", { class: "bar" });
    bar.style.background = heatBar;
    legend = total ? el("span", {}, quads ? "Helper lanes at a pixel: 0" : "Fragments at a pixel: 0", bar, `${many(Math.max(most, 2))}; ${many(total)} in all`) : "No fragments.";
  }
  if (mine !== turn) return;
  canvas.width = pass.w;
  canvas.height = pass.h;
  canvas.getContext("2d").putImageData(new ImageData(pixels, pass.w, pass.h), 0, 0);
  place(pass);
  at.legend = legend;
  readout(pass);
}
const swatch = c => { const s = el("span", { class: "swatch" }); s.style.background = `rgb(${c})`; return s; };

function scale(pass) {
  // On a small screen the page itself scrolls.
  const stage = $("stage"), small = innerWidth <= 800;
  const fit = Math.min(stage.clientWidth / pass.w, small ? Infinity : Math.max(100, stage.clientHeight) / pass.h);
  return at.zoom || Math.max(.05, fit);
}
function place(pass) {
  const s = scale(pass), c = $("canvas"), cross = $("cross");
  c.style.width = pass.w * s + "px";
  c.style.height = pass.h * s + "px";
  cross.hidden = !at.pixel;
  if (at.pixel) Object.assign(cross.style, { left: at.pixel[0] * s - 1 + "px", top: at.pixel[1] * s - 1 + "px", width: Math.max(6, s + 2) + "px", height: Math.max(6, s + 2) + "px" });
}

function readout(pass) {
  const parts = [at.legend || ""];
  if (at.pixel && !unseen(pass, rows[at.row].step)) {
    const [x, y] = at.pixel;
    const several = pass.data.planes.filter(p => p.aspect === "colour").length > 1;
    const all = pass.data.planes.map((p, i) => p.stands_in ? null : `${p.aspect}${several && p.aspect === "colour" ? " " + p.attachment : ""} ${pass.value(i, at.layer, Math.min(at.sample, p.samples - 1), x, y).map(shown).join(", ")}`).filter(Boolean);
    parts.push(` · pixel ${x + pass.x}, ${y + pass.y}: ${all.join(" · ")}`);
  }
  $("legend").replaceChildren(...parts);
}

function tabsOf(r) {
  const command = r.pass !== undefined && r.step > 0 ? passes[r.pass].data.commands[r.step - 1] : null;
  const bindings = command?.draw?.bindings || (r.line !== undefined ? frame.lines[r.line].bindings : null);
  const tabs = [];
  if (command?.draw) tabs.push(["state", "State", to => showState(passes[r.pass], command, to)]);
  if (r.pass !== undefined && !command?.draw) tabs.push(["state", "Pass", to => showPass(passes[r.pass], frame.lines[r.line], to)]);
  if (r.pass === undefined && r.line !== undefined) tabs.push(["state", "Command", to => showOther(frame.lines[r.line], to)]);
  if (bindings) tabs.push(["bindings", "Bindings", to => showBindings(bindings, to)], ["shaders", "Shaders", to => showShaders(bindings, to)], ["textures", "Textures", to => showTextures(bindings, to)]);
  if (command?.draw) tabs.push(["mesh", "Mesh", to => showMesh(command.draw, passes[r.pass].data.states[command.draw.state], to)]);
  if (r.pass !== undefined) tabs.push(["pixel", "Pixel", to => showPixel(passes[r.pass], at, s => choose(rows.findIndex(o => o.pass === r.pass && o.step === s)), to)]);
  return tabs;
}

function showOther(line, to) {
  to.append(pairs(line.kind, [["name", line.name], ["frame", line.frame], ["submission", line.submission], ["workgroups", line.groups?.join(" × ")], ["of invocations", line.local?.join(" × ")], ...(line.details || [])]));
}

async function details(mine) {
  const r = rows[at.row], tabs = tabsOf(r), shownTab = tabs.find(t => t[0] === at.tab) || tabs[0];
  $("tabs").replaceChildren(...tabs.map(([id, name]) => el("button", { role: "tab", "aria-selected": String(shownTab?.[0] === id), tabindex: shownTab?.[0] === id ? 0 : -1, onclick: () => { at.tab = id; details(++turn); } }, name)));
  const to = el("div", {});
  if (shownTab) await shownTab[2](to);
  if (mine === turn) $("detail").replaceChildren(to);
}

function move(by) {
  let i = at.row + by;
  while (rows[i] && (rows[i].label || rows[i].element.hidden)) i += Math.sign(by);
  if (rows[i]) choose(i);
}

async function pick(x, y) {
  const r = rows[at.row];
  if (r.pass === undefined) return;
  const pass = passes[r.pass];
  at.pixel = [Math.max(0, Math.min(pass.w - 1, x)), Math.max(0, Math.min(pass.h - 1, y))];
  place(pass);
  readout(pass);
  if (at.tab === "pixel") await details(++turn);
}

const KEYS = [["↑ ↓ or k j", "command before, after"], ["PageUp PageDown", "ten"], ["Home End", "first, last"], ["b", "before and after"], ["v", "next view"], ["a", "next attachment"], ["+ −", "larger, smaller"], ["p", "history of a pixel"], ["← → ↑ ↓ with Shift", "move the pixel"], ["1 … 6", "tabs"], ["/", "find"], ["d", "colours"], ["?", "these"]];
function keys() {
  $("keys").replaceChildren(...KEYS.map(([k, t]) => el("span", {}, el("kbd", {}, k), " " + t)));
  const help = () => { $("keys").hidden = !$("keys").hidden; $("help").setAttribute("aria-expanded", String(!$("keys").hidden)); };
  const theme = () => {
    const next = { undefined: "dark", dark: "light", light: "" }[document.documentElement.dataset.theme || undefined];
    if (next) document.documentElement.dataset.theme = next;
    else delete document.documentElement.dataset.theme;
    stored(next);
    $("theme").textContent = { dark: "☾", light: "☀" }[next] || "◐";
  };
  $("help").onclick = help;
  $("theme").onclick = theme;
  $("back").onclick = () => move(-1);
  $("forth").onclick = () => move(1);
  $("canvas").onclick = e => {
    const r = rows[at.row], pass = passes[r.pass], box = $("canvas").getBoundingClientRect();
    at.tab = "pixel";
    pick(Math.floor((e.clientX - box.left) / box.width * pass.w), Math.floor((e.clientY - box.top) / box.height * pass.h));
  };
  const again = f => { f(); const r = rows[at.row]; if (r.pass !== undefined) { tools(passes[r.pass]); paint(++turn); } };
  const zooms = [0, .5, 1, 2, 4, 8];
  addEventListener("resize", () => { const r = rows[at.row]; if (r?.pass !== undefined) place(passes[r.pass]); });
  addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const typing = e.target.matches("input, select");
    if (typing && e.key !== "Escape") return;
    const done = (() => {
      if (e.shiftKey && at.pixel && e.key.startsWith("Arrow")) {
        const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
        return pick(at.pixel[0] + by[0], at.pixel[1] + by[1]);
      }
      switch (e.key) {
        case "ArrowDown": case "j": return move(1);
        case "ArrowUp": case "k": return move(-1);
        case "PageDown": return e.target.id === "detail" ? false : move(10);
        case "PageUp": return e.target.id === "detail" ? false : move(-10);
        case "Home": return choose(0);
        case "End": return choose(rows.length - 1);
        case "b": return again(() => { at.kind = at.kind === "before" ? "after" : "before"; });
        case "v": return again(() => { at.kind = KINDS[(KINDS.findIndex(k => k[0] === at.kind) + 1) % KINDS.length][0]; });
        case "a": return again(() => { const r = rows[at.row]; if (r.pass !== undefined) at.plane = (at.plane + 1) % passes[r.pass].data.planes.length; });
        case "+": case "=": return again(() => { at.zoom = zooms[Math.min(zooms.length - 1, zooms.indexOf(at.zoom) + 1)]; });
        case "-": return again(() => { at.zoom = zooms[Math.max(0, zooms.indexOf(at.zoom) - 1)]; });
        case "p": at.tab = "pixel"; { const r = rows[at.row], p = passes[r.pass]; return p && (at.pixel ? details(++turn) : pick(p.w >> 1, p.h >> 1)); }
        case "/": return $("find").focus();
        case "Escape": $("find").value = ""; $("find").oninput({ target: $("find") }); return $("list").focus();
        case "d": return theme();
        case "?": return help();
        default: if (/^[1-6]$/.test(e.key)) { const t = tabsOf(rows[at.row])[+e.key - 1]; if (t) { at.tab = t[0]; return details(++turn); } } return false;
      }
    })();
    if (done !== false) e.preventDefault();
  });
}

begin().catch(e => { $("detail").textContent = "This page could not be unpacked: " + e; });
