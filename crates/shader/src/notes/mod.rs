//! What a debugged shader tells of itself (`tuff debug`): a note after each instruction of the application's module, with the bits of its
//! result, for the warp of one invocation.

mod file;

pub use file::{File, Made, Module, Warp};

use crate::ir::Stage;

/// The invocation whose warp is noted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// Fragments of the pixel, in the framebuffer's coordinates.
    Pixel([u32; 2]),
    /// VertexIndex and InstanceIndex.
    Vertex { vertex: u32, instance: u32 },
    /// GlobalInvocationId.
    Thread([u32; 3]),
}

impl Target {
    /// It may be an invocation of this stage.
    pub fn is_of(&self, stage: Stage) -> bool {
        match self {
            Target::Pixel(_) => stage == Stage::Fragment,
            Target::Vertex { .. } => stage == Stage::Vertex,
            Target::Thread(_) => stage.has_workgroups(),
        }
    }
}

/// A place in the module as it is inlined: the functions under way are those of a frame and of its parents.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    /// Index of the caller's frame; the entry point's own, 0, names itself.
    pub parent: u32,
    /// Word offset of the OpFunctionCall, 0 of the entry point.
    pub at: u32,
    /// Result id of the function.
    pub function: u32,
}

/// What a note tells.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum What {
    /// The invocations begin; the words say which they are ([`begin`]).
    Begin,
    /// An instruction has been executed; the words are its result.
    Step,
    /// A function is called; what comes next is of another frame.
    Enter,
    /// It has returned to this frame; the words are its result.
    Leave,
}

/// How the words of a scalar are made of its bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scalar {
    /// 0 or 1.
    Bool,
    /// Integers of 32 bits or less, zero-extended.
    Int,
    /// Zero-extended.
    F16,
    F32,
    /// Two words, the low one first.
    I64,
    F64,
}

impl Scalar {
    pub fn words(self) -> usize {
        if matches!(self, Scalar::I64 | Scalar::F64) { 2 } else { 1 }
    }
}

/// Words that one note has at most: one operand less than an op may have, for the first says which warps are noted.
pub const MAX_WORDS: usize = 15;
/// Words of a result of which anything is told.
pub const MAX_RESULT: usize = 256;

/// A place in a shader that tells what has happened there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Note {
    /// Word offset of the instruction in the application's module.
    pub at: u32,
    /// Index of the frame.
    pub frame: u32,
    pub what: What,
    /// Words of the result that earlier notes of the same instruction tell.
    pub first: u16,
    pub scalars: Vec<Scalar>,
}

impl Note {
    pub fn words(&self) -> usize {
        self.scalars.iter().map(|s| s.words()).sum()
    }
}

/// Words of a note that begins invocations, by stage.
pub mod begin {
    /// Fragments: the pixel's column and row, and whether the lane is a helper.
    pub const PIXEL: usize = 3;
    /// VertexIndex, InstanceIndex.
    pub const VERTEX: usize = 2;
    /// WorkgroupId, LocalInvocationId.
    pub const THREAD: usize = 6;
}

/// What the notes of a shader mean.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Notes {
    pub frames: Vec<Frame>,
    pub all: Vec<Note>,
}
