//! The record of frames ([`machine::record`]): which are recorded, and the lines of commands outside render passes.

use crate::command::Command;
use crate::process;
use machine::facts;
use machine::record::bound::BindingsFact;
use machine::record::{FOLDER, Record};
use machine::shared::Shared;
use raster::recorded::PassLine;
use serde::Serialize;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};

/// Made with the first command that is recorded, by that process; a child of a fork records nothing.
static RECORD: LazyLock<Option<(u32, Arc<Record>)>> = LazyLock::new(|| {
    let s = settings::get();
    let folder = process::place(s.capture.as_ref()?).join(FOLDER);
    match Record::create(&folder, s.frame_bytes) {
        Ok(record) => Some((std::process::id(), Arc::new(record))),
        Err(e) => {
            let _ = writeln!(std::io::stderr(), "tuff: TUFF_FRAME: {}: {e}", plain::path(&folder));
            None
        }
    }
});

static BEGUN: AtomicBool = AtomicBool::new(false);

/// Whether any frame is recorded.
#[inline]
pub fn wanted() -> bool {
    let s = settings::get();
    !s.frame.is_empty() && s.capture.is_some()
}

/// The record, if this frame (or submission, where there are no frames) is recorded.
pub fn of(number: u64) -> Option<&'static Arc<Record>> {
    if !settings::get().frame.iter().any(|r| r.contains(&number)) {
        return None;
    }
    let (process, record) = RECORD.as_ref()?;
    BEGUN.store(true, Relaxed);
    (*process == std::process::id()).then_some(record)
}

/// Brings everything to the files.
pub fn flush() {
    if !BEGUN.load(Relaxed) {
        return;
    }
    let Some((_, record)) = RECORD.as_ref().filter(|(p, _)| *p == std::process::id()) else { return };
    if let Err(e) = record.flush() {
        let _ = writeln!(std::io::stderr(), "tuff: TUFF_FRAME: {e}");
    }
    if record.lost() > 0 {
        let line = "of the record of frames was left out: TUFF_FRAME_MIB sets how much there may be";
        let _ = writeln!(std::io::stderr(), "tuff: {} MiB {line}", record.lost().div_ceil(1 << 20));
    }
}

/// Which command a line is of.
#[derive(Serialize)]
pub struct Of<'a> {
    pub kind: &'static str,
    pub device: u32,
    pub queue: u32,
    pub frame: Option<u64>,
    pub submission: u64,
    /// As in the capture's runs.
    pub order: u64,
    pub label: &'a str,
    pub name: &'a str,
}

#[derive(Serialize)]
struct Line<'a, T> {
    #[serde(flatten)]
    of: Of<'a>,
    #[serde(flatten)]
    more: T,
}

/// A command outside render passes, or a pass.
#[derive(Serialize)]
pub struct Dispatched {
    pub groups: [u32; 3],
    pub local: [u32; 3],
    pub bindings: BindingsFact,
}

#[derive(Serialize)]
pub struct Transferred {
    pub details: Vec<(&'static str, String)>,
}

fn write(record: &Record, of: Of, more: impl Serialize) {
    if let Ok(text) = serde_json::to_string(&Line { of, more }) {
        record.line(&text);
    }
}

pub fn pass(record: &Record, of: Of, line: &PassLine) {
    write(record, of, line);
}

pub fn dispatch(record: &Record, of: Of, what: &Dispatched) {
    write(record, of, what);
}

/// A transfer, or another command of which there is no more to say.
pub fn command(record: &Record, of: Of, details: Vec<(&'static str, String)>) {
    write(record, of, Transferred { details });
}

/// What a transfer moves.
pub fn details(shared: &Shared, c: &Command) -> Vec<(&'static str, String)> {
    let image = |i: &texel::image::Image| {
        let [w, h, d] = i.extent;
        let name = facts::name(&*shared.report, i);
        let name = if name.is_empty() { String::new() } else { format!("{name}, ") };
        format!("{name}{} {w} × {h} × {d}", i.format.name)
    };
    let buffer = |b: &texel::buffer::Buffer| format!("buffer of {} bytes", b.size);
    match c {
        Command::CopyBuffer { src, dst, .. } | Command::ConvertMatrix { src, dst, .. } => {
            vec![("from", buffer(src)), ("to", buffer(dst))]
        }
        Command::UpdateBuffer { dst, .. } | Command::FillBuffer { dst, .. } => vec![("to", buffer(dst))],
        Command::CopyImage { src, dst, .. }
        | Command::BlitImage { src, dst, .. }
        | Command::ResolveImage { src, dst, .. } => vec![("from", image(src)), ("to", image(dst))],
        Command::CopyBufferToImage { src, dst, .. } => vec![("from", buffer(src)), ("to", image(dst))],
        Command::CopyImageToBuffer { src, dst, .. } => vec![("from", image(src)), ("to", buffer(dst))],
        Command::ClearColorImage { dst, .. } | Command::ClearDepthStencilImage { dst, .. } => {
            vec![("to", image(dst))]
        }
        _ => vec![],
    }
}
