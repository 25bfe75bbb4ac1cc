//! A module under change: instructions to insert at word offsets, new ids, types and constants found or made.

use crate::options::{Error, Result};
use crate::spirv::*;
use small_sort::SmallSort;

pub(super) struct Edit<'a> {
    pub m: &'a Module,
    next: u32,
    /// (word offset, words), applied in the order of offsets; those of one offset in the order given.
    inserts: Vec<(u32, Vec<u32>)>,
    /// Ids to append to the interfaces of all entry points.
    interface: Vec<u32>,
    pub places: Places,
}

/// Offsets at which a section of the module ends (SPIR-V, Logical Layout of a Module).
#[derive(Clone, Copy, Default)]
pub(super) struct Places {
    pub capabilities: u32,
    pub extensions: u32,
    pub imports: u32,
    pub annotations: u32,
    /// Types, constants, variables: where functions begin.
    pub globals: u32,
}

impl Places {
    fn of(m: &Module) -> Places {
        let end = m.words.len() as u32;
        let mut p = Places { capabilities: 5, extensions: 5, imports: 5, annotations: end, globals: end };
        let mut preamble = true;
        let mut at = 5;
        while at < end {
            let i = m.inst(at);
            let next = at + i.len() as u32;
            match i.op {
                Op::Capability if preamble => {
                    (p.capabilities, p.extensions, p.imports) = (next, next, next);
                }
                Op::Extension if preamble => (p.extensions, p.imports) = (next, next),
                Op::ExtInstImport if preamble => p.imports = next,
                Op::Function => {
                    p.globals = at;
                    p.annotations = p.annotations.min(at);
                    break;
                }
                Op::MemoryModel
                | Op::EntryPoint
                | Op::ExecutionMode
                | Op::ExecutionModeId
                | Op::String
                | Op::SourceExtension
                | Op::Source
                | Op::SourceContinued
                | Op::Name
                | Op::MemberName
                | Op::ModuleProcessed
                | Op::Decorate
                | Op::DecorateId
                | Op::DecorateString
                | Op::MemberDecorate
                | Op::MemberDecorateString
                | Op::DecorationGroup
                | Op::GroupDecorate
                | Op::GroupMemberDecorate => {}
                _ if preamble => {
                    p.annotations = at;
                    preamble = false;
                }
                _ => {}
            }
            at = next;
        }
        p
    }
}

/// One instruction's words.
pub(super) fn op(op: Op, operands: &[u32]) -> Vec<u32> {
    let mut w = vec![(operands.len() as u32 + 1) << 16 | op as u32];
    w.extend_from_slice(operands);
    w
}

/// Words of a literal string.
pub(super) fn literal(s: &str) -> Vec<u32> {
    let mut bytes = s.as_bytes().to_vec();
    bytes.resize((s.len() / 4 + 1) * 4, 0);
    crate::words(&bytes)
}

impl<'a> Edit<'a> {
    pub fn new(m: &'a Module) -> Edit<'a> {
        Edit { m, next: m.words[3], inserts: Vec::new(), interface: Vec::new(), places: Places::of(m) }
    }

    /// The version word of the header: 0x00010300 is 1.3.
    pub fn version(&self) -> u32 {
        self.m.words[1]
    }

    pub fn id(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    pub fn insert(&mut self, at: u32, words: Vec<u32>) {
        self.inserts.push((at, words));
    }

    /// A type, constant or variable, after all others.
    pub fn global(&mut self, words: Vec<u32>) {
        self.insert(self.places.globals, words);
    }

    pub fn annotate(&mut self, words: Vec<u32>) {
        self.insert(self.places.annotations, words);
    }

    /// The variable is used by the entry points: from 1.4 their interfaces have all global variables.
    pub fn uses(&mut self, variable: u32) {
        if self.version() >= 0x0001_0400 {
            self.interface.push(variable);
        }
    }

    /// The id of a type without decorations of its own (they must be unique), made if it isn't there.
    pub fn basic_type(&mut self, code: Op, operands: &[u32]) -> u32 {
        let same = |&&at: &&u32| {
            let i = self.m.inst(at);
            i.op == code && i.rest(2) == operands
        };
        if let Some(&at) = self.m.globals.iter().find(same) {
            return self.m.inst(at).w[1];
        }
        let id = self.id();
        let all: Vec<u32> = std::iter::once(id).chain(operands.iter().copied()).collect();
        self.global(op(code, &all));
        id
    }

    /// A new constant of a 32-bit type.
    pub fn constant(&mut self, ty: u32, value: u32) -> u32 {
        let id = self.id();
        self.global(op(Op::Constant, &[ty, id, value]));
        id
    }

    /// The module with everything inserted.
    pub fn apply(mut self) -> Result<Vec<u32>> {
        if self.next > MAX_BOUND {
            return Err(Error::TooLarge("ids after instrumenting".into()));
        }
        let words = &self.m.words;
        self.inserts.small_sort_by_key(|i| i.0);
        let added: usize = self.inserts.iter().map(|i| i.1.len()).sum();
        let mut out = Vec::with_capacity(words.len() + added + self.m.entries.len());
        let mut done = 0usize;
        let mut inserts = self.inserts.iter().peekable();
        let mut entries =
            if self.interface.is_empty() { [].iter() } else { self.m.entries.iter() }.peekable();
        // Entry points come before all functions and are never at an offset of their own insertion twice: both lists
        // are walked together.
        loop {
            let next_insert = inserts.peek().map(|i| i.0 as usize);
            let next_entry = entries.peek().map(|&&e| e as usize);
            match (next_insert, next_entry) {
                (None, None) => break,
                (Some(i), e) if e.is_none_or(|e| i <= e) => {
                    out.extend_from_slice(&words[done..i]);
                    done = i;
                    out.extend_from_slice(&inserts.next().expect("peeked").1);
                }
                (_, Some(e)) => {
                    out.extend_from_slice(&words[done..e]);
                    let n = words[e] >> 16;
                    let longer = n + self.interface.len() as u32;
                    if longer > 0xFFFF {
                        return Err(Error::TooLarge("an entry point's interface".into()));
                    }
                    out.push(longer << 16 | Op::EntryPoint as u32);
                    out.extend_from_slice(&words[e + 1..e + n as usize]);
                    out.extend_from_slice(&self.interface);
                    done = e + n as usize;
                    entries.next();
                }
                (Some(_), None) => unreachable!("the first arm takes it"),
            }
        }
        out.extend_from_slice(&words[done..]);
        out[3] = self.next;
        Ok(out)
    }
}
