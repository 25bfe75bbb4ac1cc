//! Expressions that a value computes already: where common-subexpression elimination looks, while code is built
//! ([`crate::build`]) and in value numbering ([`crate::pass::gvn`]). Which instructions may be merged, and whether the
//! value found may be read where it is wanted, is for them to say.

use crate::ir::{Inst, Ty, Value, ValueData, ValueFlags};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// Slots that are looked at for one instruction. Tables are three quarters full at most, so that of a shader that was
/// not made for it none comes near; one whose constants all have one hash finds few of its expressions again.
const FAR: usize = 1024;
/// The slot of what has none.
const NOWHERE: usize = usize::MAX;
/// Bits of a slot with a value's number and 1; those above them are the hash's. Values of greater numbers are not kept.
const NUMBER: u32 = 24;

/// Values by their instructions: open addressing. An instruction is not kept here but where its value stands.
pub struct Known {
    /// 0: nothing. They are narrow because what is looked for lies anywhere among them.
    slots: Vec<u32>,
    filled: usize,
}

/// What was found, and where.
#[derive(Clone, Copy)]
pub struct Found {
    slot: usize,
    hash: u32,
    /// The value that computes the same.
    pub value: Option<Value>,
}

impl Known {
    /// `size`: expressions to expect.
    pub fn new(size: usize) -> Known {
        Known { slots: vec![0; (size + size / 2).next_power_of_two().max(64)], filled: 0 }
    }

    /// `values`: where those that were put here stand.
    #[inline]
    pub fn find(&self, values: &[ValueData], inst: &Inst, ty: Ty, flags: ValueFlags) -> Found {
        let hash = hash(inst, ty, flags);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        for _ in 0..FAR {
            let at = self.slots[slot];
            if at == 0 {
                return Found { slot, hash, value: None };
            }
            if at >> NUMBER == hash >> NUMBER {
                let value = number(at);
                let d = &values[value.0 as usize];
                // One that both may share is computed with the more bits.
                if d.ty == ty && d.flags.exact == flags.exact && d.inst == *inst {
                    return Found { slot, hash, value: Some(value) };
                }
            }
            slot = (slot + 1) & mask;
        }
        Found { slot: NOWHERE, hash, value: None }
    }

    /// `v` computes what was looked for last, and takes the place of what was found.
    #[inline]
    pub fn put(&mut self, values: &[ValueData], at: Found, v: Value) {
        if at.slot == NOWHERE || v.0 + 1 >= 1 << NUMBER {
            return;
        }
        self.slots[at.slot] = at.hash >> NUMBER << NUMBER | (v.0 + 1);
        if at.value.is_none() {
            self.filled += 1;
            if self.filled * 4 > self.slots.len() * 3 {
                self.grow(values);
            }
        }
    }

    fn grow(&mut self, values: &[ValueData]) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![0; old.len() * 2];
        let mask = self.slots.len() - 1;
        for at in old.into_iter().filter(|at| *at != 0) {
            let d = &values[number(at).0 as usize];
            let mut slot = hash(&d.inst, d.ty, d.flags) as usize & mask;
            while self.slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = at;
        }
    }
}

/// The value of a slot that has one.
fn number(slot: u32) -> Value {
    Value((slot & ((1 << NUMBER) - 1)) - 1)
}

fn hash(inst: &Inst, ty: Ty, flags: ValueFlags) -> u32 {
    /// Odd; bits set about evenly (FxHash's).
    const MIX: u64 = 0xF135_7AEA_2E62_A9C5;
    let two = |a: Value, b: Value| a.0 as u64 | (b.0 as u64) << 32;
    // Most are of the first kinds. What they are goes above what they read.
    let (what, reads) = match inst {
        Inst::Const(bits) => (1, *bits),
        Inst::Un(op, a) => (2 | (*op as u64) << 8, a.0 as u64),
        Inst::Bin(op, a, b) => (3 | (*op as u64) << 8, two(*a, *b)),
        Inst::Tri(op, a, b, c) => (4 | (*op as u64) << 8, two(*a, *b).wrapping_mul(MIX) ^ c.0 as u64),
        _ => {
            let mut h = FxHasher::default();
            inst.hash(&mut h);
            (5, h.finish())
        }
    };
    let what = what | (ty as u64) << 24 | (flags.exact as u64) << 32;
    let sum = reads.wrapping_mul(MIX) ^ what;
    ((sum ^ sum >> 32).wrapping_mul(MIX) >> 32) as u32
}
