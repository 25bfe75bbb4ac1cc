//! The record of a frame as it lies on disk (docs/frame.md). It comes from outside: sizes and places are checked before they are used.

use client::{Error, Result};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// In the folder of a capture, and in that folder.
pub const FOLDER: &str = "frame";
const DATA: &str = "data.bin";
const LINES: &str = "commands.jsonl";

/// Bytes of the file of lines, and of anything that is read at once.
const MOST_LINES: u64 = 1 << 30;
const MOST_BYTES: u64 = 1 << 28;
/// Pixels along a side, samples, bytes of a pixel.
const MOST_SIDE: i64 = 1 << 15;

/// Where bytes lie: the first, and how many.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Blob(pub u64, pub u64);

/// A command of the frame, or a render pass.
pub struct Line {
    pub of: Of,
    pub what: What,
}

pub enum What {
    Pass(Box<Pass>),
    /// A dispatch, transfer or trace, as the line has it.
    Other(Map<String, Value>),
}

#[derive(Deserialize)]
pub struct Of {
    pub kind: String,
    pub device: u32,
    pub queue: u32,
    pub frame: Option<u64>,
    pub submission: u64,
    pub order: u64,
    pub label: String,
    pub name: String,
}

#[derive(Deserialize)]
pub struct Pass {
    /// x, y, width, height.
    pub area: [i64; 4],
    pub layers: u32,
    pub attachments: Vec<Attachment>,
    pub planes: Vec<Plane>,
    pub subpasses: Vec<Value>,
    pub states: Vec<Value>,
    pub commands: Vec<Command>,
    pub tiles: Vec<Tile>,
}

#[derive(Deserialize)]
pub struct Attachment {
    pub name: String,
    pub format: Option<Format>,
    pub samples: u32,
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

#[derive(Deserialize, serde::Serialize, Clone)]
pub struct Format {
    pub name: String,
    pub bytes: u32,
    pub class: String,
    /// Letter, first bit, bits.
    pub components: Vec<(char, u32, u32)>,
}

#[derive(Deserialize, serde::Serialize, Clone)]
pub struct Plane {
    pub attachment: usize,
    pub stands_in: bool,
    pub aspect: String,
    pub bytes: usize,
    pub samples: usize,
    pub scale: f32,
}

#[derive(Deserialize)]
pub struct Command {
    pub kind: String,
    pub name: String,
    pub label: String,
    pub subpass: usize,
    pub draw: Option<Map<String, Value>>,
}

#[derive(Deserialize, Clone, Copy)]
pub struct Tile {
    pub turn: u32,
    pub layer: u32,
    pub y: i64,
    pub x: i64,
    pub data: Option<Blob>,
}

/// The files, open.
pub struct Recorded {
    pub lines: Vec<Line>,
    data: File,
    size: u64,
    path: PathBuf,
    capture: PathBuf,
}

impl Recorded {
    /// Reads the record of a capture. `process`: which of several processes'.
    pub fn open(capture: &Path, process: usize) -> Result<Recorded> {
        let folder = capture.join(if process <= 1 { FOLDER.into() } else { format!("{FOLDER}-{process}") });
        let lines = folder.join(LINES);
        let path = folder.join(DATA);
        if !lines.exists() {
            let why = "no frame was recorded; `tuff run --frame N --capture FOLDER` records one";
            return Err(Error::file(capture, why));
        }
        let size = |p: &Path| std::fs::metadata(p).map(|m| m.len()).map_err(|e| Error::file(p, e));
        if size(&lines)? > MOST_LINES {
            return Err(Error::file(&lines, "larger than any record is"));
        }
        let text = std::fs::read_to_string(&lines).map_err(|e| Error::file(&lines, e))?;
        let data = File::open(&path).map_err(|e| Error::file(&path, e))?;
        let size = size(&path)?;
        let mut all = vec![];
        for (i, line) in text.lines().enumerate() {
            let one = parsed(line).map_err(|e| Error::file(&lines, format!("line {}: {e}", i + 1)))?;
            all.push(one);
        }
        all.sort_by_key(|l| l.of.order);
        Ok(Recorded { lines: all, data, size, path, capture: capture.into() })
    }

    /// The capture's folder.
    pub fn capture(&self) -> &Path {
        &self.capture
    }

    /// Render passes, in order.
    pub fn passes(&self) -> impl Iterator<Item = &Pass> {
        self.lines.iter().filter_map(|l| match &l.what {
            What::Pass(p) => Some(&**p),
            What::Other(_) => None,
        })
    }

    /// Bytes of the file of bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Bytes of a blob.
    pub fn bytes(&self, Blob(at, n): Blob) -> Result<Vec<u8>> {
        if n > MOST_BYTES || at.checked_add(n).is_none_or(|end| end > self.size) {
            return Err(Error::file(&self.path, format!("{n} bytes from {at} on are not in it")));
        }
        let mut out = vec![0; n as usize];
        let mut data = &self.data;
        data.seek(SeekFrom::Start(at))
            .and_then(|_| data.read_exact(&mut out))
            .map_err(|e| Error::file(&self.path, e))?;
        Ok(out)
    }
}

fn parsed(line: &str) -> std::result::Result<Line, String> {
    let value: Map<String, Value> = serde_json::from_str(line).map_err(|e| e.to_string())?;
    let whole = Value::Object(value);
    let of = Of::deserialize(&whole).map_err(|e| e.to_string())?;
    let what = if of.kind == "render pass" {
        let pass = Box::new(Pass::deserialize(&whole).map_err(|e| e.to_string())?);
        pass.check()?;
        What::Pass(pass)
    } else {
        let Value::Object(more) = whole else { return Err("no object".into()) };
        What::Other(more)
    };
    Ok(Line { of, what })
}

impl Pass {
    fn check(&self) -> std::result::Result<(), String> {
        let [x, y, w, h] = self.area;
        let side = |v: i64| (0..=MOST_SIDE).contains(&v);
        if !(side(x) && side(y) && side(w) && side(h)) {
            return Err("a render area beyond all framebuffers".into());
        }
        for p in &self.planes {
            if p.attachment >= self.attachments.len() {
                return Err(format!("a plane of attachment {}, which there is not", p.attachment));
            }
            if !matches!(p.bytes, 1..=16) || !matches!(p.samples, 1..=16) {
                return Err(format!("{} bytes a pixel of {} samples", p.bytes, p.samples));
            }
        }
        if self.planes.len() > 255 || self.commands.len() > 1 << 24 {
            return Err("more planes or commands than a pass has".into());
        }
        let grid = |t: &Tile| (-64..=MOST_SIDE).contains(&t.x) && (-64..=MOST_SIDE).contains(&t.y);
        if !self.tiles.iter().all(grid) {
            return Err("a tile beyond all framebuffers".into());
        }
        Ok(())
    }
}
