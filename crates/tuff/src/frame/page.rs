//! The page of a frame: what it shows as JSON, and everything large in chunks that it unpacks when it needs them.

use super::changes;
use super::data::{Blob, Line, Pass, Recorded, Tile, What};
use super::fragments::{Fragments, Sums, fits};
use super::pool::{Pool, Ref, packed};
use super::shaders::Shader;
use super::tiles::Reader;
use crate::report::picture::base64;
use client::{Error, Result};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 6] = [
    include_str!("bytes.js"),
    include_str!("pass.js"),
    include_str!("views.js"),
    include_str!("mesh.js"),
    include_str!("details.js"),
    include_str!("main.js"),
];
const PAGE: &str = include_str!("page.html");

/// Bytes of a chunk of changes: one is unpacked before any of it shows.
const CHANGES: usize = 4 << 20;
/// Records of more bytes have fragments without colours from the start: memory would not hold all.
const LARGE: u64 = 1 << 29;

/// A tile's fragments of one step.
struct Own {
    pass: usize,
    tile: usize,
    step: u32,
    bytes: Vec<u8>,
}

struct Build<'r> {
    from: &'r Recorded,
    changes: Pool,
    fragments: Vec<Own>,
    meshes: Pool,
    buffers: Pool,
    texts: Pool,
    pictures: Pool,
    shaders: Vec<Value>,
    known: HashMap<Blob, usize>,
    /// By pass, its chunks of changes.
    ranges: Vec<Range<usize>>,
    /// What the record lacks.
    lacks: Vec<String>,
    missing: Missing,
}

/// The page, of at most so many bytes if leaving things out makes it so.
pub fn page(from: &Recorded, title: &str, most: usize) -> Result<String> {
    let mut b = Build {
        from,
        changes: Pool::default(),
        fragments: vec![],
        meshes: Pool::default(),
        buffers: Pool::default(),
        texts: Pool::default(),
        pictures: Pool::default(),
        shaders: vec![],
        known: HashMap::new(),
        ranges: vec![],
        lacks: vec![],
        missing: Missing::default(),
    };
    let mut lines = vec![];
    let mut passes = vec![];
    for line in &from.lines {
        lines.push(b.line(line, &mut passes)?);
    }
    b.finish(title, (lines, passes), most)
}

fn blob(v: &Value) -> Option<Blob> {
    let [at, n] = &v.as_array()?[..] else { return None };
    Some(Blob(at.as_u64()?, n.as_u64()?))
}

fn packed_ref((chunk, at, n): Ref) -> Value {
    json!([chunk, at, n])
}

impl Build<'_> {
    fn line(&mut self, line: &Line, passes: &mut Vec<Value>) -> Result<Value> {
        let of = &line.of;
        let mut out = json!({
            "kind": of.kind, "device": of.device, "queue": of.queue, "frame": of.frame,
            "submission": of.submission, "order": of.order, "label": of.label, "name": of.name,
        });
        match &line.what {
            What::Pass(pass) => {
                out["pass"] = json!(passes.len());
                let made = self.pass(pass, passes.len(), &of.name)?;
                passes.push(made);
            }
            What::Other(more) => {
                for key in ["groups", "local", "details"] {
                    if let Some(v) = more.get(key) {
                        out[key] = v.clone();
                    }
                }
                let details = more.get("details").and_then(Value::as_array).into_iter().flatten();
                for why in details.filter(|d| d[0] == "not recorded").filter_map(|d| d[1].as_str()) {
                    self.lacks.push(format!("render pass {}: {why}", of.name));
                }
                if let Some(v) = more.get("bindings") {
                    out["bindings"] = self.bindings(v.clone())?;
                }
            }
        }
        Ok(out)
    }

    fn pass(&mut self, pass: &Pass, number: usize, name: &str) -> Result<Value> {
        let mut commands = vec![];
        for c in &pass.commands {
            let mut out = json!({ "kind": c.kind, "name": c.name, "label": c.label, "subpass": c.subpass });
            if let Some(d) = &c.draw {
                out["draw"] = self.draw(d.clone())?;
            }
            commands.push(out);
        }
        let (tiles, mut sums, chunks) = self.tiles(pass, number, name)?;
        for (step, own) in &mut sums {
            if let Some(c) = (*step as usize).checked_sub(1).and_then(|n| commands.get_mut(n)) {
                c["sums"] = serde_json::to_value(own).map_err(|e| Error(e.to_string()))?;
            }
        }
        let attachment = |a: &super::data::Attachment| {
            let mut out = Value::Object(a.more.clone());
            out["name"] = json!(a.name);
            out["format"] = json!(a.format);
            out["samples"] = json!(a.samples);
            out
        };
        Ok(json!({
            "area": pass.area, "layers": pass.layers, "subpasses": pass.subpasses, "states": pass.states,
            "attachments": pass.attachments.iter().map(attachment).collect::<Vec<_>>(),
            "planes": pass.planes, "commands": commands, "tiles": tiles, "changes": chunks,
        }))
    }

    /// Tiles of a pass: where they are; what became of each step's fragments; the chunks of what changed.
    fn tiles(
        &mut self,
        pass: &Pass,
        number: usize,
        name: &str,
    ) -> Result<(Value, BTreeMap<u32, Sums>, [usize; 2])> {
        let mut sorted: Vec<&Tile> = pass.tiles.iter().collect();
        sorted.sort_by_key(|t| (t.layer, t.y, t.x, t.turn));
        let mut places = vec![];
        let mut sums: BTreeMap<u32, Sums> = BTreeMap::new();
        let first = self.changes.len();
        let mut waiting: Vec<(u32, Vec<u8>)> = vec![];
        let mut size = 0;
        let (mut missing, lean) = (0, self.from.size() > LARGE);
        for group in sorted.chunk_by(|a, b| (a.layer, a.y, a.x) == (b.layer, b.y, b.x)) {
            let tile = places.len();
            places.push(json!([group[0].layer, group[0].x, group[0].y]));
            let mut reader = Reader::new(pass);
            for t in group {
                match t.data {
                    Some(blob) => {
                        let bytes = self.from.bytes(blob)?;
                        reader
                            .read(&bytes)
                            .ok_or_else(|| Error(format!("{name}: a tile's stream is broken")))?;
                    }
                    None => missing += 1,
                }
            }
            for c in &reader.told.changes {
                let bytes = changes::bytes(c, tile, pass);
                size += bytes.len();
                waiting.push((c.step, bytes));
            }
            if size >= CHANGES {
                self.chunk(&mut waiting);
                size = 0;
            }
            for (step, bytes) in reader.told.fragments {
                let read = Fragments::read(&bytes).filter(|f| fits(f, &pass.planes));
                let f = read.ok_or_else(|| Error(format!("{name}: fragments are broken")))?;
                sums.entry(step).or_default().add(&f);
                let bytes = if lean { f.without_colors() } else { bytes };
                self.fragments.push(Own { pass: number, tile, step, bytes });
            }
        }
        self.chunk(&mut waiting);
        if missing > 0 {
            self.lacks.push(format!("{missing} tiles of {name} (TUFF_FRAME_MIB was reached)"));
        }
        self.ranges.push(first..self.changes.len());
        Ok((Value::Array(places), sums, [first, self.changes.len()]))
    }

    /// What waits becomes a chunk, in the order of steps.
    fn chunk(&mut self, waiting: &mut Vec<(u32, Vec<u8>)>) {
        if waiting.is_empty() {
            return;
        }
        waiting.sort_by_key(|(step, _)| *step);
        self.changes.cut();
        let all: Vec<u8> = waiting.drain(..).flat_map(|(_, bytes)| bytes).collect();
        self.changes.put(&all);
    }

    fn draw(&mut self, mut d: Map<String, Value>) -> Result<Value> {
        if let Some(v) = d.remove("bindings") {
            d.insert("bindings".into(), self.bindings(v)?);
        }
        let (from, missing) = (self.from, &mut self.missing);
        let mut replaced = |v: &mut Value| -> Result<()> {
            *v = match blob(v) {
                Some(b) => packed_ref(self.meshes.blob(b, || from.bytes(b))?),
                None => {
                    missing.meshes += 1;
                    Value::Null
                }
            };
            Ok(())
        };
        if let Some(m) = d.get_mut("mesh_in").and_then(Value::as_object_mut) {
            for key in ["indices", "vertices"] {
                m.get_mut(key).map_or(Ok(()), &mut replaced)?;
            }
            for a in m.get_mut("attributes").and_then(Value::as_array_mut).into_iter().flatten() {
                a.get_mut("data").map_or(Ok(()), &mut replaced)?;
            }
        }
        for m in d.get_mut("mesh_out").and_then(Value::as_array_mut).into_iter().flatten() {
            for key in ["positions", "indices", "ids"] {
                m.get_mut(key).map_or(Ok(()), &mut replaced)?;
            }
            for v in m.get_mut("varyings").and_then(Value::as_array_mut).into_iter().flatten() {
                v.get_mut(1).map_or(Ok(()), &mut replaced)?;
            }
        }
        Ok(Value::Object(d))
    }

    fn bindings(&mut self, mut v: Value) -> Result<Value> {
        for s in v.get_mut("shaders").and_then(Value::as_array_mut).into_iter().flatten() {
            let module = s.get("module").and_then(blob);
            let number = module.map(|m| self.shader(m)).transpose()?;
            self.missing.shaders += number.is_none() as usize;
            s["module"] = json!(number);
        }
        for b in v.get_mut("bound").and_then(Value::as_array_mut).into_iter().flatten() {
            let from = self.from;
            let has_bytes = b.get("bytes").and_then(Value::as_u64).is_some_and(|n| n > 0);
            self.missing.buffers += (has_bytes && b.get("data").is_none_or(Value::is_null)) as usize;
            if let Some(d) = b.get_mut("data") {
                *d = match blob(d) {
                    Some(at) => packed_ref(self.buffers.blob(at, || from.bytes(at))?),
                    None => Value::Null,
                };
            }
            let pictures =
                b.get_mut("view").and_then(|v| v.get_mut("pictures")).and_then(Value::as_array_mut);
            for p in pictures.into_iter().flatten() {
                let size = p.get("size").and_then(|s| Some([s.get(0)?.as_u64()?, s.get(1)?.as_u64()?]));
                p["data"] = match (p.get("data").and_then(blob), size) {
                    (Some(at), Some(size)) => {
                        packed_ref(self.pictures.blob(at, || png(&from.bytes(at)?, size))?)
                    }
                    _ => {
                        self.missing.pictures += 1;
                        Value::Null
                    }
                };
            }
        }
        Ok(v)
    }

    fn shader(&mut self, module: Blob) -> Result<usize> {
        if let Some(n) = self.known.get(&module) {
            return Ok(*n);
        }
        let own = Shader::of(&self.from.bytes(module)?);
        let mut out = serde_json::to_value(&own).map_err(|e| Error(e.to_string()))?;
        let texts: Vec<Value> = (own.texts.iter())
            .map(|t| json!({ "title": t.title, "text": packed_ref(self.texts.put(t.text.as_bytes())) }))
            .collect();
        out["texts"] = json!(texts);
        self.shaders.push(out);
        self.known.insert(module, self.shaders.len() - 1);
        Ok(self.shaders.len() - 1)
    }

    /// Fragments in chunks, and where each tile's are by pass: tile, step, chunk, first byte, bytes.
    fn fragments(&self, passes: usize) -> (Pool, Vec<Vec<Value>>) {
        let mut pool = Pool::default();
        let mut of: Vec<Vec<Value>> = vec![vec![]; passes];
        for f in &self.fragments {
            let (chunk, at, n) = pool.put(&f.bytes);
            of[f.pass].push(json!([f.tile, f.step, chunk, at, n]));
        }
        (pool, of)
    }

    /// The page, with everything left out that makes it larger than `most`.
    fn finish(
        mut self,
        title: &str,
        (lines, passes): (Vec<Value>, Vec<Value>),
        most: usize,
    ) -> Result<String> {
        let mut left_out = std::mem::take(&mut self.lacks);
        left_out.extend(self.missing.text());
        let (fragments, places) = self.fragments(passes.len());
        let mut chunks = Chunks {
            changes: self.changes.packed(),
            buffers: self.buffers.packed(),
            texts: self.texts.packed(),
            meshes: self.meshes.packed(),
            pictures: self.pictures.packed(),
            fragments: fragments.packed(),
        };
        let mut data = json!({
            "title": title, "command": crate::report::capture::command(self.from.capture()), "version": env!("CARGO_PKG_VERSION"), "lines": lines, "passes": passes,
            "shaders": self.shaders, "attachments": "steps",
        });
        set_places(&mut data, places);
        let mut cuts = CUTS.iter();
        if self.from.size() > LARGE {
            left_out.extend(cuts.next().map(|(_, what)| what.to_string()));
        }
        loop {
            data["left_out"] = json!(left_out);
            let page = assembled(title, &data, &chunks);
            if page.len() <= most {
                return Ok(page);
            }
            let Some((cut, what)) = cuts.next() else { return Ok(page) };
            left_out.push((*what).into());
            self.cut(*cut, &mut data, &mut chunks);
        }
    }

    /// Leaves something out.
    fn cut(&mut self, cut: Cut, data: &mut Value, chunks: &mut Chunks) {
        let passes = data["passes"].as_array().map_or(0, Vec::len);
        match cut {
            Cut::Colours => {
                for f in &mut self.fragments {
                    if let Some(read) = Fragments::read(&f.bytes) {
                        f.bytes = read.without_colors();
                    }
                }
                let (pool, places) = self.fragments(passes);
                chunks.fragments = pool.packed();
                set_places(data, places);
            }
            Cut::Textures => chunks.pictures.clear(),
            Cut::Meshes => chunks.meshes.clear(),
            Cut::Fragments => {
                chunks.fragments.clear();
                set_places(data, vec![vec![]; passes]);
            }
            Cut::Steps => {
                let ends = self.from.passes().zip(&self.ranges);
                let ends =
                    ends.flat_map(|(p, r)| self.changes.chunks()[r.clone()].iter().map(move |c| (p, c)));
                chunks.changes = ends.map(|(p, c)| packed(&changes::ends(c, p))).collect();
                data["attachments"] = json!("ends");
            }
            Cut::Attachments => {
                chunks.changes.clear();
                data["attachments"] = json!("none");
            }
            Cut::Buffers => chunks.buffers.clear(),
            Cut::Texts => chunks.texts.clear(),
        }
    }
}

/// What is left out of a page that would be too large, in this order.
#[derive(Clone, Copy)]
enum Cut {
    Colours,
    Textures,
    Meshes,
    Fragments,
    Steps,
    Attachments,
    Buffers,
    Texts,
}

const CUTS: [(Cut, &str); 8] = [
    (Cut::Colours, "what shaders gave for each fragment, and pixels' values between fragments of one draw"),
    (Cut::Textures, "pictures of textures"),
    (Cut::Meshes, "meshes"),
    (Cut::Fragments, "fragments: overdraw, quads and histories of pixels"),
    (Cut::Steps, "attachments between commands: what passes end with is there"),
    (Cut::Attachments, "pictures of attachments"),
    (Cut::Buffers, "contents of buffers"),
    (Cut::Texts, "texts of shaders"),
];

/// Of each kind, packed.
struct Chunks {
    changes: Vec<Vec<u8>>,
    buffers: Vec<Vec<u8>>,
    texts: Vec<Vec<u8>>,
    meshes: Vec<Vec<u8>>,
    pictures: Vec<Vec<u8>>,
    fragments: Vec<Vec<u8>>,
}

/// Where each pass's fragments are.
fn set_places(data: &mut Value, places: Vec<Vec<Value>>) {
    for (p, own) in data["passes"].as_array_mut().into_iter().flatten().zip(places) {
        p["fragments"] = Value::Array(own);
    }
}

/// The page's text.
fn assembled(title: &str, data: &Value, chunks: &Chunks) -> String {
    let main = [packed(data.to_string().as_bytes())];
    let kinds: [(&str, &[Vec<u8>]); 7] = [
        ("main", &main),
        ("c", &chunks.changes),
        ("b", &chunks.buffers),
        ("t", &chunks.texts),
        ("m", &chunks.meshes),
        ("p", &chunks.pictures),
        ("f", &chunks.fragments),
    ];
    let mut bytes = String::new();
    for (letter, all) in kinds {
        for (n, chunk) in all.iter().enumerate() {
            let id = if letter == "main" { letter.into() } else { format!("{letter}{n}") };
            bytes.push_str(&format!("<script type=\"text/plain\" id=\"{id}\">"));
            bytes.push_str(&base64(chunk));
            bytes.push_str("</script>\n");
        }
    }
    let scripts = SCRIPTS.concat();
    let parts = [
        ("{{title}}", plain::xml(title)),
        ("{{style}}", STYLE.into()),
        ("{{data}}", bytes),
        ("{{scripts}}", scripts),
    ];
    let (mut out, mut rest) = (String::new(), PAGE);
    for (mark, part) in parts {
        let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
        out.push_str(before);
        out.push_str(&part);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// What the record has no bytes of.
#[derive(Default)]
struct Missing {
    buffers: usize,
    pictures: usize,
    meshes: usize,
    shaders: usize,
}

impl Missing {
    fn text(&self) -> Option<String> {
        let all = [
            (self.shaders, "shaders"),
            (self.buffers, "buffers"),
            (self.pictures, "pictures of textures"),
            (self.meshes, "tables of meshes"),
        ];
        let all: Vec<String> =
            all.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        (!all.is_empty()).then(|| format!("{} (TUFF_FRAME_MIB was reached)", all.join(", ")))
    }
}

/// Four bytes a pixel as PNG.
fn png(rgba: &[u8], [w, h]: [u64; 2]) -> Result<Vec<u8>> {
    if w.checked_mul(h).and_then(|n| n.checked_mul(4)) != Some(rgba.len() as u64) || w > 1 << 15 {
        return Err(Error("a picture of a texture has another size than its line says".into()));
    }
    let mut out = vec![];
    let mut encoder = png::Encoder::new(&mut out, w as u32, h as u32);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut w| w.write_image_data(rgba));
    written.map_err(|e| Error(format!("a picture: {e}")))?;
    Ok(out)
}
