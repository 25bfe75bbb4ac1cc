//! Takes addresses apart: register + uniform register + constant, as memory ops have them.

use super::Lowering;
use crate::ir::{Bin, Inst, Place, Ty, Value};

/// The parts of an address whose sum (mod 2^32, or 2^64 for global addresses) it is.
#[derive(Clone, Copy, Debug)]
pub struct Fold {
    /// The operand that the parts stand for.
    pub address: Option<Value>,
    pub a: Option<Value>,
    pub c: Option<Value>,
    pub imm: u32,
}

impl Lowering<'_> {
    pub(super) fn fold_addresses(&mut self) {
        for (b, block) in self.shader.blocks.iter().enumerate() {
            for &v in &block.insts {
                let (place, offset) = match &self.shader.data(v).inst {
                    Inst::Load { place, offset, .. }
                    | Inst::LoadRows { place, offset, .. }
                    | Inst::Store { place, offset, .. }
                    | Inst::StoreRows { place, offset, .. }
                    | Inst::Atomic { place, offset, .. } => (place, *offset),
                    _ => continue,
                };
                let fold = match *place {
                    Place::Global { addr } => self.fold_global(addr, offset),
                    Place::Shared { addr }
                    | Place::Buffer { addr, .. }
                    | Place::Scratch { addr }
                    | Place::Push { addr } => self.fold_address(addr, offset, b as u32),
                };
                self.fold_of[v.0 as usize] = self.folds.len() as u32;
                self.folds.push(fold);
            }
        }
    }

    fn fold_address(&self, address: Value, offset: u32, b: u32) -> Fold {
        let mut fold = Fold { address: Some(address), a: None, c: None, imm: offset };
        let mut rest = Some(address);
        while let Some(v) = rest {
            let data = self.shader.data(v);
            rest = None;
            match data.inst {
                Inst::Const(c) => fold.imm = fold.imm.wrapping_add(c as u32),
                Inst::Bin(Bin::IAdd, x, y) if data.ty == Ty::B32 && !self.u.prologue[v.0 as usize] => {
                    if let Some(c) = self.shader.as_const(y) {
                        fold.imm = fold.imm.wrapping_add(c as u32);
                        rest = Some(x);
                    } else if let Some(c) = self.shader.as_const(x) {
                        fold.imm = fold.imm.wrapping_add(c as u32);
                        rest = Some(y);
                    } else if fold.c.is_none() && self.uniform_at(y, b) {
                        fold.c = Some(y);
                        rest = Some(x);
                    } else if fold.c.is_none() && self.uniform_at(x, b) {
                        fold.c = Some(x);
                        rest = Some(y);
                    } else {
                        fold.a = Some(v);
                    }
                }
                _ => fold.a = Some(v),
            }
        }
        fold
    }

    fn fold_global(&self, address: Value, offset: u32) -> Fold {
        let whole = Fold { address: Some(address), a: Some(address), c: None, imm: offset };
        let Inst::Bin(Bin::IAdd, x, y) = self.shader.data(address).inst else { return whole };
        let (x, c) = match (self.shader.as_const(x), self.shader.as_const(y)) {
            (None, Some(c)) => (x, c),
            (Some(c), None) => (y, c),
            _ => return whole,
        };
        match u32::try_from(c).ok().and_then(|c| offset.checked_add(c)) {
            Some(imm) => Fold { a: Some(x), imm, ..whole },
            None => whole,
        }
    }
}
