//! The file of `TUFF_DEBUG`: what the notes of a run have told. docs/debug.md has its form.

use super::{Frame, Note};
use crate::ir::Stage;

/// What notes of a process have told.
#[derive(Clone, PartialEq, Debug)]
pub struct File {
    pub made: Made,
    pub modules: Vec<Module>,
    /// In the order in which they began.
    pub warps: Vec<Warp>,
}

/// How a file came to be.
#[derive(Clone, PartialEq, Debug)]
pub struct Made {
    pub version: u32,
    /// The program.
    pub process: String,
    /// The frame that is in the file, counted from 1: presents of the process.
    pub frame: u64,
    /// What is not there, and why: a line each.
    pub problems: Vec<String>,
}

/// A shader.
#[derive(Clone, PartialEq, Debug)]
pub struct Module {
    pub stage: Stage,
    pub entry: String,
    /// Of module, entry point and specialisation: the same in every run.
    pub hash: u64,
    pub spec: Vec<(u32, u64)>,
    /// Invocations of a workgroup by dimension, of stages that have them.
    pub workgroup: [u32; 3],
    /// The application's SPIR-V.
    pub words: Vec<u32>,
    pub frames: Vec<Frame>,
    pub notes: Vec<Note>,
}

/// A warp with the invocation that was asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Warp {
    /// Index of the shader.
    pub module: u32,
    pub frame: u64,
    /// The command, its labels from the outermost to the innermost, and its pipeline.
    pub command: String,
    pub labels: String,
    pub pipeline: String,
    /// Number of the draw or dispatch in its frame, from 0.
    pub draw: u32,
    /// Lanes that are the invocation that was asked for: several where each sample of a pixel is shaded.
    pub lanes: u16,
    /// Each: index of the note, with [`Warp::SAME`] if the words are those of all lanes; lanes that execute it, and above them those of
    /// these that are helpers; the note's words, one after the other, each for every executing lane in their order.
    pub records: Vec<u32>,
    /// Records that had no room.
    pub lost: u64,
}

impl Warp {
    /// All executing lanes have the same words, which are told once.
    pub const SAME: u32 = 1 << 31;
}

impl File {
    /// Files begin with it. The last digit is the version of the form.
    pub const MAGIC: &[u8; 8] = b"TuffDbg1";

    /// Numbers name what is there.
    pub(crate) fn fits(&self) -> bool {
        let module = |m: &Module| {
            let frames = m.frames.len();
            let frame = |(k, f): (usize, &Frame)| (f.parent as usize) < k.max(1);
            let note = |n: &Note| (n.frame as usize) < frames && (n.at as usize) < m.words.len().max(1);
            m.frames.iter().enumerate().all(frame) && m.notes.iter().all(note)
        };
        self.modules.iter().all(module) && self.warps.iter().all(|w| (w.module as usize) < self.modules.len())
    }
}
