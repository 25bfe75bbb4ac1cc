//! Addresses of descriptors. Kernels follow them unasked, in lanes that are active as in others, so the first units of the register file,
//! which hold them, hold nothing else at any time: what is written there is DESC's or was there before. As this goes by places and not
//! by the way that a run takes, it holds for every way.

use super::ops::registers;
use super::{bad, wrong};
use crate::bytecode::{Code, ImageCode, Op, Program, Reg};
use crate::ir::{Bin, Tri, Ty, Un};
use crate::isa::code::{Field, FieldKind, extension_words};
use crate::options::Result;
use small_sort::SmallSort;

pub fn check(p: &Program) -> Result<()> {
    let mut places = Places { program: p, used: vec![] };
    let mut pc = 0;
    while pc < p.code.len() {
        let words = extension_words(&p.code[pc]);
        if !places.op(&p.code[pc..=pc + words]) {
            return Err(bad(pc, "a descriptor's address that is none, or that is a number"));
        }
        pc += 1 + words;
    }
    for image in &p.images {
        let handles = [image.image, image.sampler];
        let mut others = others(image);
        if !handles.into_iter().all(|r| r.is_none() || places.handle(r)) || others.any(|r| places.has(r)) {
            return Err(wrong("the descriptors of an image operation"));
        }
    }
    let outside =
        p.consts.iter().map(|c| c.0).chain(p.inputs.iter().map(|i| i.1)).chain(p.outputs.iter().map(|o| o.1));
    if outside.into_iter().any(|r| places.has(r)) {
        return Err(wrong("a descriptor's place holds something else"));
    }
    if places.overlap() {
        return Err(wrong("descriptors' places overlap"));
    }
    Ok(())
}

/// An image operation's registers that hold no descriptors.
fn others(c: &ImageCode) -> impl Iterator<Item = Reg> {
    let one = [c.dref, c.lod, c.bias, c.sample, c.min_lod, c.residency];
    let lists = [&c.coords, &c.grad, &c.offsets, &c.data, &c.results];
    one.into_iter().chain(lists.into_iter().flatten().copied())
}

struct Places<'p> {
    program: &'p Program,
    used: Vec<Reg>,
}

impl Places<'_> {
    /// The register begins among the descriptors'. Registers reach upwards, so any other keeps clear of them.
    fn has(&self, r: Reg) -> bool {
        !r.is_none() && r.unit() < self.program.handles as usize
    }

    fn units(&self, r: Reg) -> usize {
        if r.is_uniform() { 2 } else { self.program.lanes as usize / 8 }
    }

    /// The register is a descriptor's place, from here on.
    fn handle(&mut self, r: Reg) -> bool {
        let is = self.has(r) && r.unit() + self.units(r) <= self.program.handles as usize;
        if is {
            self.used.push(r);
        }
        is
    }

    /// Two different places have units in common.
    fn overlap(&mut self) -> bool {
        self.used.small_sort_by_key(|r| (r.unit(), r.0));
        self.used.dedup();
        self.used.windows(2).any(|w| w[0].unit() + self.units(w[0]) > w[1].unit())
    }

    fn op(&mut self, words: &[Op]) -> bool {
        let op = &words[0];
        // Moves of all or some lanes, and choices.
        let select = op.code == Code::tri(Tri::Select, Ty::B64);
        let moves = select
            || op.code == Code::un(Un::Mov, Ty::B64)
            || matches!(op.code, Code::MOVM64 | Code::MOVIF64);
        if moves && self.has(op.d) {
            let from = if select { [op.b, op.c] } else { [op.a, op.a] };
            let mask = match op.code {
                _ if select => op.a,
                Code::MOVIF64 => op.b,
                _ => Reg::NONE,
            };
            return self.handle(op.d) && from.into_iter().all(|r| self.handle(r)) && !self.has(mask);
        }
        // Which of two descriptors it is may be asked.
        if [Bin::IEq, Bin::INe].iter().any(|b| op.code == Code::bin(*b, Ty::B64)) {
            return !self.has(op.d);
        }
        let mut good = true;
        registers(words, &mut |r, _: Field, kind| {
            good &= match kind {
                FieldKind::Handle => self.handle(r),
                _ => !self.has(r),
            };
        });
        good
    }
}
