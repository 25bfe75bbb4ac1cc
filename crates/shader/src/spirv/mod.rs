//! The flat module: SPIR-V words in native order plus indices by id. Nothing is copied out of the words; an
//! instruction is an offset. What an instruction's operands mean is checked where they are used (`build`), so a
//! module whose unused parts are wrong still loads, and a wrong used part is a clear error.

mod callee;
mod grammar;
mod parse;
mod shapes;

use crate::options::{Error, Result};
pub(crate) use ::spirv::GlslStd450Op as GLOp;
pub(crate) use ::spirv::{
    BuiltIn, Capability, Decoration, ExecutionMode, FPEncoding, ImageOperands, LoopControl, MemoryAccess, Op,
    StorageClass,
};
use std::borrow::Cow;

/// Ids a module may have.
pub const MAX_BOUND: u32 = 4 << 20;

/// Shorthand for [`Error::Invalid`].
pub(crate) fn invalid(word: usize, what: impl Into<String>) -> Error {
    Error::Invalid { word, what: what.into() }
}
pub(crate) fn unsupported(what: impl Into<String>) -> Error {
    Error::Unsupported(what.into())
}

/// Extended instruction sets that matter to us.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExtSet {
    Glsl450,
    /// NonSemantic.Shader.DebugInfo.100: lines and sources are read, the rest ignored.
    ShaderDebugInfo,
    /// [`crate::instrument`]'s own: instruction 1 marks the basic block of the index in its operand, a constant.
    Marks,
    /// TOSA.001000.1: operators of data graphs.
    Tosa,
    /// Any other NonSemantic set.
    NonSemantic,
    Unknown,
}

/// One decoration of an id or a struct's member.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Deco {
    pub target: u32,
    /// `u32::MAX`: the id itself.
    pub member: u32,
    pub kind: u32,
    /// First extra operand, 0 if none.
    pub value: u32,
    /// Word offset of the instruction.
    pub at: u32,
}
pub(crate) const WHOLE: u32 = u32::MAX;

// Bits of `Module::flags`, for tests in hot paths.
pub(crate) const DECORATED: u8 = 1;
pub(crate) const NO_CONTRACTION: u8 = 2;
pub(crate) const RELAXED: u8 = 4;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    pub id: u32,
    /// Offset of OpFunction, and one past OpFunctionEnd.
    pub start: u32,
    pub end: u32,
}

/// A parsed SPIR-V module.
#[derive(Clone, Debug)]
pub struct Module {
    pub(crate) words: Vec<u32>,
    /// id → offset of its defining instruction; 0 where there is none.
    def: Vec<u32>,
    flags: Vec<u8>,
    pub(crate) capabilities: Vec<u32>,
    /// Offsets of OpExtension.
    extensions: Vec<u32>,
    pub(crate) addressing: u32,
    pub(crate) memory: u32,
    pub(crate) entries: Vec<u32>,
    pub(crate) modes: Vec<u32>,
    /// Types, constants, global variables in order.
    pub(crate) globals: Vec<u32>,
    pub(crate) functions: Vec<Function>,
    ext_sets: Vec<(u32, ExtSet)>,
    decorations: Vec<Deco>,
    names: Vec<u32>,
}

/// A view of one instruction.
#[derive(Clone, Copy)]
pub(crate) struct Code<'a> {
    pub op: Op,
    /// The instruction's words; `w[0]` holds the opcode.
    pub w: &'a [u32],
    pub at: usize,
}

impl<'a> Code<'a> {
    /// Word `i`, or an error when the instruction is too short.
    #[inline]
    pub fn word(&self, i: usize) -> Result<u32> {
        match self.w.get(i) {
            Some(&w) => Ok(w),
            None => Err(invalid(self.at, format!("{:?} lacks operand {i}", self.op))),
        }
    }
    pub fn get(&self, i: usize) -> Option<u32> {
        self.w.get(i).copied()
    }
    pub fn len(&self) -> usize {
        self.w.len()
    }
    pub fn rest(&self, i: usize) -> &'a [u32] {
        self.w.get(i..).unwrap_or(&[])
    }
    pub fn bad(&self, what: impl Into<String>) -> Error {
        invalid(self.at, format!("{:?}: {}", self.op, what.into()))
    }
    /// The string that starts at word `i`, and the index of the word after it.
    pub fn string(&self, i: usize) -> Result<(String, usize)> {
        string_at(self.w, i).ok_or_else(|| self.bad("bad string"))
    }
}

/// A nul-terminated literal within `w` from word `i`; the index of the next word.
pub(crate) fn string_at(w: &[u32], i: usize) -> Option<(String, usize)> {
    let mut bytes = Vec::new();
    for (k, word) in w.iter().enumerate().skip(i) {
        for b in word.to_le_bytes() {
            if b == 0 {
                return Some((String::from_utf8_lossy(&bytes).into_owned(), k + 1));
            }
            bytes.push(b);
        }
    }
    None
}

impl Module {
    /// Parses a module in either byte order, which keeps the words. Errors: [`Error::Invalid`] with the word's index.
    pub fn parse<'a>(words: impl Into<Cow<'a, [u32]>>) -> Result<Module> {
        parse::parse(words.into().into_owned())
    }

    /// Numbers of the capabilities that the module declares.
    pub fn capabilities(&self) -> &[u32] {
        &self.capabilities
    }

    /// Names of the extensions that the module declares.
    pub fn extensions(&self) -> impl Iterator<Item = String> {
        self.extensions.iter().filter_map(|at| Some(string_at(self.inst(*at).w, 1)?.0))
    }

    /// The instruction at a word offset known to start one.
    #[inline]
    pub(crate) fn inst(&self, at: u32) -> Code<'_> {
        let at = at as usize;
        let n = (self.words[at] >> 16) as usize;
        let op = grammar::op(self.words[at] & 0xFFFF).unwrap_or(Op::Nop);
        Code { op, w: &self.words[at..at + n], at }
    }
    /// Offset of the instruction that defines `id`, if any.
    #[inline]
    pub(crate) fn def_at(&self, id: u32) -> Option<u32> {
        match self.def.get(id as usize) {
            Some(&at) if at != 0 => Some(at),
            _ => None,
        }
    }
    /// The defining instruction; `user` is where the id is used, for the error.
    pub(crate) fn def(&self, id: u32, user: usize) -> Result<Code<'_>> {
        match self.def_at(id) {
            Some(at) => Ok(self.inst(at)),
            None => Err(invalid(user, format!("id {id} is not defined"))),
        }
    }
    /// One past the greatest id that has a definition.
    pub(crate) fn ids(&self) -> usize {
        self.def.len()
    }
    #[inline]
    pub(crate) fn flags(&self, id: u32) -> u8 {
        self.flags.get(id as usize).copied().unwrap_or(0)
    }
    /// All decorations of `id` (members too).
    pub(crate) fn decorations(&self, id: u32) -> &[Deco] {
        if self.flags(id) & DECORATED == 0 {
            return &[];
        }
        let a = self.decorations.partition_point(|d| d.target < id);
        let b = a + self.decorations[a..].partition_point(|d| d.target == id);
        &self.decorations[a..b]
    }
    /// First operand of a decoration on the id itself.
    pub(crate) fn decoration(&self, id: u32, kind: Decoration) -> Option<u32> {
        let all = self.decorations(id);
        let key = (WHOLE, kind as u32);
        let first = all.partition_point(|d| (d.member, d.kind) < key);
        all.get(first).filter(|d| (d.member, d.kind) == key).map(|d| d.value)
    }
    pub(crate) fn has(&self, id: u32, kind: Decoration) -> bool {
        self.decoration(id, kind).is_some()
    }
    pub(crate) fn all_decorations(&self) -> &[Deco] {
        &self.decorations
    }
    pub(crate) fn ext_set(&self, id: u32) -> Option<ExtSet> {
        self.ext_sets.binary_search_by_key(&id, |e| e.0).ok().map(|k| self.ext_sets[k].1)
    }
    pub(crate) fn function(&self, id: u32) -> Option<usize> {
        self.functions.binary_search_by_key(&self.def_at(id)?, |f| f.start).ok()
    }
    /// The OpName of an id, if any.
    pub fn name(&self, id: u32) -> Option<String> {
        let first = self.names.partition_point(|&at| self.words[at as usize + 1] < id);
        let i = self.inst(*self.names.get(first)?);
        if i.get(1) == Some(id) { i.string(2).ok().map(|s| s.0) } else { None }
    }
    /// Names and execution models (SPIR-V numbers) of the entry points.
    pub fn entry_points(&self) -> Vec<(String, u32)> {
        let each = self.entries.iter().map(|&at| self.inst(at));
        each.filter_map(|i| Some((i.string(3).ok()?.0, i.get(1)?))).collect()
    }
    /// The words, in native byte order.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// An OpLine's file and line; line 0: none. Where naga knows none it says the first line's first column, where nothing can stand
    /// that runs. (Its generator's word is 28, without a tool's number in the upper half.)
    pub(crate) fn line(&self, i: &Code) -> Result<(u32, u32)> {
        const NAGA: u32 = 28;
        let (file, line) = (i.word(1)?, i.word(2)?);
        let nowhere = self.words[2] == NAGA && (line, i.word(3)?) == (1, 1);
        Ok((file, if nowhere { 0 } else { line }))
    }
}
