//! Notes of a debugged shader: one after each of the application's instructions ([`crate::notes`]).

use super::types::{Sk, TypeClass};
use super::{Builder, PTR};
use crate::ir::{Inst, Ty, Value};
use crate::notes::{Frame, MAX_RESULT, MAX_WORDS, Note, Notes, Scalar, What};
use crate::options::Result;
use crate::spirv::*;
use rustc_hash::FxHashMap;

/// The notes of a translation.
#[derive(Default)]
pub(super) struct Notebook {
    pub notes: Notes,
    /// The frame of what is translated.
    frame: u32,
    /// Frames by their parents and calls: copies of an unrolled loop share them.
    by_call: FxHashMap<(u32, u32), u32>,
    /// Types that have nothing but numbers and truths, once asked for.
    plain: FxHashMap<u32, bool>,
}

fn scalar(s: Sk) -> Scalar {
    match s {
        Sk::Bool => Scalar::Bool,
        Sk::I8 | Sk::I16 | Sk::I32 => Scalar::Int,
        Sk::F16 => Scalar::F16,
        Sk::I64 => Scalar::I64,
        Sk::F64 => Scalar::F64,
        // Registers hold them as 32 bits.
        Sk::F32 | Sk::Bf16 | Sk::E5m2 | Sk::E4m3 => Scalar::F32,
    }
}

impl Builder<'_> {
    /// The entry point begins.
    pub(super) fn begin_notes(&mut self, function: u32) {
        if self.opt.notes.is_none_or(|target| !target.is_of(self.opt.stage)) {
            return;
        }
        let mut book = Box::<Notebook>::default();
        book.notes.frames.push(Frame { parent: 0, at: 0, function });
        self.notebook = Some(book);
    }

    /// The instruction has been translated.
    #[inline]
    pub(super) fn note(&mut self, i: &Code, what: What) -> Result<()> {
        if self.notebook.is_none() { Ok(()) } else { self.noted(i, what) }
    }

    fn noted(&mut self, i: &Code, what: What) -> Result<()> {
        if self.is_silent(i) {
            return Ok(());
        }
        let (values, kinds) = match what {
            What::Step | What::Leave => self.told(i)?,
            What::Begin | What::Enter => Default::default(),
        };
        let Some(book) = &mut self.notebook else { return Ok(()) };
        let (at, frame) = (i.at as u32, book.frame);
        let mut first = 0;
        let mut from = 0;
        loop {
            let (mut to, mut words) = (from, 0);
            while to < kinds.len() && words + kinds[to].words() <= MAX_WORDS {
                words += kinds[to].words();
                to += 1;
            }
            let scalars = kinds[from..to].to_vec();
            book.notes.all.push(Note { at, frame, what, first: first as u16, scalars });
            let note = book.notes.all.len() as u32 - 1;
            self.e.push(Inst::Note { note, args: values[from..to].to_vec() }, Ty::Void);
            (from, first) = (to, first + words);
            if from == kinds.len() {
                return Ok(());
            }
        }
    }

    /// The instruction does nothing that anybody could see.
    fn is_silent(&self, i: &Code) -> bool {
        /// DebugValue: from then on a variable has another value.
        const DEBUG_VALUE: u32 = 29;
        match i.op {
            Op::Line | Op::NoLine | Op::Nop | Op::SelectionMerge | Op::LoopMerge | Op::Variable => true,
            Op::ExtInst => match i.get(3).and_then(|set| self.m.ext_set(set)) {
                Some(ExtSet::ShaderDebugInfo) => i.get(4) != Some(DEBUG_VALUE),
                Some(ExtSet::NonSemantic | ExtSet::Marks) => true,
                _ => false,
            },
            _ => false,
        }
    }

    /// The scalars of an instruction's result; none if it has none, or more than are told.
    fn told(&mut self, i: &Code) -> Result<(Vec<Value>, Vec<Scalar>)> {
        let Some(id) = i.get(2).filter(|id| self.m.def_at(*id) == Some(i.at as u32)) else {
            return Ok(Default::default());
        };
        let Some(slot) = self.ids.get(id as usize).copied().filter(|s| s.ty != 0 && s.len != PTR) else {
            return Ok(Default::default());
        };
        if !self.is_plain(slot.ty) || slot.len as usize > MAX_RESULT {
            return Ok(Default::default());
        }
        let mut kinds = Vec::new();
        self.types.flatten(slot.ty, &mut kinds)?;
        let kinds: Vec<Scalar> = kinds.into_iter().map(scalar).collect();
        let values = self.pool[slot.start as usize..][..slot.len as usize].to_vec();
        let words: usize = kinds.iter().map(|k| k.words()).sum();
        // A result whose scalars are not its type's has a form of its own.
        if values.len() != kinds.len() || words > MAX_RESULT {
            return Ok(Default::default());
        }
        Ok((values, kinds))
    }

    /// Nothing but numbers, truths and device addresses.
    fn is_plain(&mut self, ty: u32) -> bool {
        if let Some(known) = self.notebook.as_ref().and_then(|b| b.plain.get(&ty)) {
            return *known;
        }
        let plain = match self.types.kind(ty) {
            TypeClass::Scalar(..) => true,
            TypeClass::Vector(e, _) | TypeClass::Matrix(e, _) | TypeClass::Array(e, _) => self.is_plain(e),
            TypeClass::Struct(first, n) => {
                (first..first + n).all(|k| self.is_plain(self.types.members[k as usize].ty))
            }
            TypeClass::Pointer(StorageClass::PhysicalStorageBuffer, _) => true,
            _ => false,
        };
        if let Some(book) = &mut self.notebook {
            book.plain.insert(ty, plain);
        }
        plain
    }

    /// A call begins: what is translated from now on is of its frame. The caller's, for [`Self::leave_frame`].
    pub(super) fn enter_frame(&mut self, i: &Code, function: u32) -> Result<u32> {
        self.note(i, What::Enter)?;
        let Some(book) = &mut self.notebook else { return Ok(0) };
        let parent = book.frame;
        let frames = &mut book.notes.frames;
        book.frame = *book.by_call.entry((parent, i.at as u32)).or_insert_with(|| {
            frames.push(Frame { parent, at: i.at as u32, function });
            frames.len() as u32 - 1
        });
        Ok(parent)
    }

    pub(super) fn leave_frame(&mut self, caller: u32) {
        if let Some(book) = &mut self.notebook {
            book.frame = caller;
        }
    }
}
