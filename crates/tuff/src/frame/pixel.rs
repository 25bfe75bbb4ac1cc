//! A pixel's history: every fragment that reached it, with what became of it, and every other change.

use super::data::{Format, Line, Pass, Recorded, Tile, What};
use super::fragments::{Fragments, Piece};
use super::tiles::{Change, Reader, place};
use super::value;
use client::{Error, Result};
use serde::Serialize;

/// What happened to the pixel.
#[derive(Serialize, Debug, PartialEq)]
pub struct Event {
    /// Which of the frame's commands, and of its pass's (as in the page).
    pub command: usize,
    pub step: u32,
    pub name: String,
    pub layer: u32,
    /// gl_PrimitiveID of a fragment; none: the pixel changed otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primitive: Option<u32>,
    /// `passed`, or what stopped it.
    pub result: &'static str,
    /// Samples that the primitive covers, and those that were written.
    pub covered: u32,
    pub passed: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<f64>,
    /// By colour attachment.
    pub colors: Vec<Colour>,
    /// Depth and stencil after the command, where it changed them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth_after: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stencil_after: Option<u8>,
}

#[derive(Serialize, Debug, PartialEq)]
pub struct Colour {
    pub attachment: usize,
    /// What the shader gave: words of the channels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<[u32; 4]>,
    /// Bytes of the pixel (of the first sample that was written) before and after.
    pub before: Vec<u8>,
    pub after: Vec<u8>,
}

/// The pixel, plane by plane, sample 0: after the last command, and after the last fragment.
struct Now {
    base: Vec<Vec<u8>>,
    running: Vec<Vec<u8>>,
}

/// All events of a pixel in the frame, and how many streams of its tiles the record has no room for.
pub fn history(r: &Recorded, [x, y]: [i64; 2]) -> Result<(Vec<Event>, usize)> {
    let (mut all, mut missing) = (vec![], 0);
    let mut inside = false;
    for (command, line) in r.lines.iter().enumerate() {
        let What::Pass(pass) = &line.what else { continue };
        let [ax, ay, w, h] = pass.area;
        if !(ax..ax + w).contains(&x) || !(ay..ay + h).contains(&y) {
            continue;
        }
        inside = true;
        let mut layers: Vec<u32> = pass.tiles.iter().map(|t| t.layer).collect();
        layers.sort_unstable();
        layers.dedup();
        for layer in layers {
            missing += of_layer(r, (command, line, pass), layer, [x, y], &mut all)?;
        }
    }
    match inside {
        true => Ok((all, missing)),
        false => Err(Error(format!("no render pass of the frame has a pixel {x},{y}"))),
    }
}

/// Appends the events of a layer of a pass; how many streams are missing.
fn of_layer(
    r: &Recorded,
    (command, line, pass): (usize, &Line, &Pass),
    layer: u32,
    [x, y]: [i64; 2],
    all: &mut Vec<Event>,
) -> Result<usize> {
    let here = |t: &&Tile| t.layer == layer && (t.x..t.x + 64).contains(&x) && (t.y..t.y + 64).contains(&y);
    let mut tiles: Vec<&Tile> = pass.tiles.iter().filter(here).collect();
    tiles.sort_by_key(|t| t.turn);
    let Some(first) = tiles.first() else { return Ok(0) };
    let (block, lane) = place([(x - first.x) as usize, (y - first.y) as usize]);
    let mut reader = Reader::new(pass);
    for t in &tiles {
        let Some(blob) = t.data else { continue };
        reader
            .read(&r.bytes(blob)?)
            .ok_or_else(|| Error(format!("{}: a tile's stream is broken", line.of.name)))?;
    }
    let zeros: Vec<Vec<u8>> = pass.planes.iter().map(|p| vec![0; p.bytes]).collect();
    let mut now = Now { base: zeros.clone(), running: zeros };
    let at = |step: u32| (step as usize).checked_sub(1).and_then(|n| pass.commands.get(n));
    let name = |step: u32| match at(step) {
        Some(c) => c.name.clone(),
        None if step == 0 => "begin of the pass (load, clear)".into(),
        None => "end of the pass (resolve)".into(),
    };
    let mut described = 0;
    let told = &reader.told;
    for &(is_fragments, i) in &told.order {
        if is_fragments {
            let (step, bytes) = &told.fragments[i];
            let broken = || Error(format!("{}: fragments are broken", line.of.name));
            let f = Fragments::read(bytes)
                .filter(|f| super::fragments::fits(f, &pass.planes))
                .ok_or_else(broken)?;
            for p in
                f.pieces.iter().filter(|p| p.block == block && p.covered.iter().any(|m| m >> lane & 1 != 0))
            {
                let mut e = fragment(&f, p, lane, pass, &mut now);
                (e.command, e.step, e.name, e.layer) = (command, *step, name(*step), layer);
                all.push(e);
                described = *step;
            }
            continue;
        }
        let c = &told.changes[i];
        changed(c, (block, lane), pass, &mut now, |now, bytes| {
            // What fragments have told of already is no event of its own.
            let p = &pass.planes[c.plane as usize];
            let last =
                all.last_mut().filter(|e| described == c.step && e.step == c.step && e.command == command);
            let (depth, stencil) = match p.aspect.as_str() {
                "depth" => (Some(depth_of(bytes, p.scale)), None),
                "stencil" => (None, bytes.first().copied()),
                _ => (None, None),
            };
            if let Some(e) = last {
                e.depth_after = depth.or(e.depth_after);
                e.stencil_after = stencil.or(e.stencil_after);
                return;
            }
            let colour = Colour {
                attachment: p.attachment,
                output: None,
                before: now.to_vec(),
                after: bytes.to_vec(),
            };
            all.push(Event {
                command,
                step: c.step,
                name: name(c.step),
                layer,
                primitive: None,
                result: "changed",
                covered: 0,
                passed: 0,
                depth: None,
                colors: if p.aspect == "colour" { vec![colour] } else { vec![] },
                depth_after: depth,
                stencil_after: stencil,
            });
        });
    }
    Ok(tiles.iter().filter(|t| t.data.is_none()).count())
}

/// A depth as the tile has it, in 0 … 1.
pub fn depth_of(bytes: &[u8], scale: f32) -> f64 {
    let z = bytes.first_chunk::<4>().map_or(0.0, |b| f32::from_le_bytes(*b)) as f64;
    if scale > 0.0 { z / scale as f64 } else { z }
}

/// A change of sample 0's pixel, if this is one: it becomes what it is now; `each` is given it before and after.
fn changed(
    c: &Change,
    (block, l): (usize, usize),
    pass: &Pass,
    now: &mut Now,
    each: impl FnOnce(&[u8], &[u8]),
) {
    let Some((_, xor)) = c.blocks.iter().find(|(b, _)| *b as usize == block) else { return };
    let n = pass.planes[c.plane as usize].bytes;
    let xor = &xor[l * n..(l + 1) * n];
    if c.sample != 0 {
        return;
    }
    let plane = c.plane as usize;
    if xor.iter().all(|b| *b == 0) {
        return;
    }
    let before = now.running[plane].clone();
    now.base[plane].iter_mut().zip(xor).for_each(|(a, b)| *a ^= b);
    now.running[plane] = now.base[plane].clone();
    each(&before, &now.base[plane]);
}

fn fragment(f: &Fragments, p: &Piece, l: usize, pass: &Pass, now: &mut Now) -> Event {
    let has = |m: &[u16]| (0..f.samples).fold(0u32, |all, s| all | ((m[s] >> l & 1) as u32) << s);
    let (covered, passed) = (has(&p.covered), has(&p.passed));
    let result = match () {
        _ if passed != 0 => "passed",
        _ if p.discarded >> l & 1 != 0 => "discarded",
        _ if has(&p.bounds) != 0 && has(&p.stencil) | has(&p.depth) == 0 => "depth bounds failed",
        _ if has(&p.stencil) != 0 && has(&p.depth) == 0 => "stencil test failed",
        _ if has(&p.depth) != 0 => "depth test failed",
        _ => "masked",
    };
    let of = |list: &[(usize, Vec<u8>)]| list.iter().find(|(lane, _)| *lane == l).map(|(_, b)| b.clone());
    let colors = f.colors.iter().enumerate().map(|(i, (attachment, _))| {
        let plane = pass
            .planes
            .iter()
            .position(|q| q.aspect == "colour" && q.attachment == *attachment && !q.stands_in);
        let first = f.samples == 1 || passed & 1 != 0;
        let before = plane.filter(|_| first).map(|q| now.running[q].clone()).unwrap_or_default();
        let output = p.outputs[i].iter().find(|(lane, _)| *lane == l).map(|(_, w)| *w);
        let after = of(&p.after[i]).unwrap_or_else(|| before.clone());
        (plane, Colour { attachment: *attachment, output, before, after })
    });
    let colors: Vec<_> = colors.collect();
    for (plane, c) in &colors {
        if let Some(own) = plane.map(|q| &mut now.running[q]).filter(|_| passed & 1 != 0) {
            own.clone_from(&c.after);
        }
    }
    Event {
        command: 0,
        step: 0,
        name: String::new(),
        layer: 0,
        primitive: Some(p.id),
        result,
        covered,
        passed,
        depth: p.z.iter().find(|(lane, _)| *lane == l).map(|(_, z)| {
            let scale = pass.planes.iter().find(|p| p.aspect == "depth").map_or(0.0, |p| p.scale);
            if scale > 0.0 { *z as f64 / scale as f64 } else { *z as f64 }
        }),
        colors: colors.into_iter().map(|(_, c)| c).collect(),
        depth_after: None,
        stencil_after: None,
    }
}

/// Lines for people.
pub fn text(r: &Recorded, events: &[Event]) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let mut last = None;
    for e in events {
        let What::Pass(pass) = &r.lines[e.command].what else { continue };
        if last != Some((e.command, e.layer)) {
            last = Some((e.command, e.layer));
            let of = &r.lines[e.command].of;
            let label = if of.label.is_empty() { String::new() } else { format!("{}: ", of.label) };
            let _ = writeln!(out, "{label}render pass {}, layer {}", of.name, e.layer);
        }
        let _ = write!(out, "  {:>4}  {}", e.step, plain::message(&e.name));
        if let Some(id) = e.primitive {
            let _ = write!(out, ", primitive {id}: {}", e.result);
            let samples = pass.planes.iter().map(|p| p.samples).max().unwrap_or(1);
            if samples > 1 {
                let _ = write!(out, " (samples {:b} of {:b})", e.passed, e.covered);
            }
        }
        if let Some(z) = e.depth {
            let _ = write!(out, ", depth {}", z as f32);
        }
        for c in &e.colors {
            let Some(format) = pass.attachments.get(c.attachment).and_then(|a| a.format.as_ref()) else {
                continue;
            };
            if let Some(o) = c.output {
                let _ =
                    write!(out, "\n          colour {} from the shader {}", c.attachment, words(format, o));
            }
            let (before, after) = (shown(format, &c.before), shown(format, &c.after));
            let _ = write!(out, "\n          colour {} {before} → {after}", c.attachment);
        }
        if let Some(z) = e.depth_after {
            let _ = write!(out, "\n          depth becomes {}", z as f32);
        }
        if let Some(s) = e.stencil_after {
            let _ = write!(out, "\n          stencil becomes {s}");
        }
        out.push('\n');
    }
    out
}

fn words(format: &Format, words: [u32; 4]) -> String {
    let one = |w: u32| match format.class.as_str() {
        "uint" => w.to_string(),
        "sint" => (w as i32).to_string(),
        _ => f32::from_bits(w).to_string(),
    };
    format!("[{}]", words.map(one).join(", "))
}

fn shown(format: &Format, bytes: &[u8]) -> String {
    let all = value::channels(format, bytes);
    format!("[{}]", all.iter().map(|(_, v)| v.to_string()).collect::<Vec<_>>().join(", "))
}
