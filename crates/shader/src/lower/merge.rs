//! Finds loads that stand next to each other in memory and in their block: they become one op, which the kernels
//! read with fewer and wider accesses. The modelled GPU executes them one by one, so they count as before.

use super::Lowering;
use super::lir::V;
use super::ops::LOADS;
use crate::bytecode::{self as bc, Code};
use crate::cfg::NONE;
use crate::ir::{Inst, Mem, Place, Value};
use crate::isa::{self, Effect};
use crate::options::Result;
use small_sort::SmallSort;

/// Bytes of a lane that one op reads.
const MOST_BYTES: u32 = 16;
/// Instructions after the first load of an op among which the others are looked for; their results live that much longer.
const NEAR: usize = 32;

/// What loads of one op have in common.
#[derive(Clone, Copy, PartialEq)]
struct Key {
    code: Code,
    desc: Option<Value>,
    a: Value,
    c: Option<Value>,
    mem: Mem,
    n: u8,
}

/// One op so far.
struct Group {
    key: Key,
    /// Where the first load stands, and its offset and those of the others, ascending.
    at: usize,
    first: Value,
    loads: Vec<(u32, Value)>,
}

impl Group {
    /// Takes `v` as well, if it continues the op at either end.
    fn take(&mut self, imm: u32, v: Value) -> bool {
        let step = self.key.n as u32 * self.key.mem.bytes();
        let (Some(low), Some(high)) = (self.loads.first(), self.loads.last()) else { return false };
        if step * (self.loads.len() as u32 + 1) > MOST_BYTES {
            false
        } else if high.0.checked_add(step) == Some(imm) {
            self.loads.push((imm, v));
            true
        } else if imm.checked_add(step) == Some(low.0) {
            self.loads.insert(0, (imm, v));
            true
        } else {
            false
        }
    }
}

impl Lowering<'_> {
    pub(super) fn find_merged(&mut self) {
        if !self.options.optimise {
            return;
        }
        let mut merged = vec![];
        for (b, block) in self.shader.blocks.iter().enumerate() {
            let mut groups: Vec<Group> = vec![];
            for (at, &v) in block.insts.iter().enumerate() {
                let i = v.0 as usize;
                if !self.needed[i] || self.u.prologue[i] {
                    continue;
                }
                if isa::effect(&self.shader.data(v).inst) != Effect::None {
                    merged.append(&mut groups);
                    continue;
                }
                let Some((key, imm)) = self.merge_key(v, b as u32) else { continue };
                // They stand in the order of their first loads.
                let near = groups.iter_mut().rev().take_while(|g| at - g.at <= NEAR);
                if !near.filter(|g| g.key == key).any(|g| g.take(imm, v)) {
                    groups.push(Group { key, at, first: v, loads: vec![(imm, v)] });
                }
            }
            merged.append(&mut groups);
        }
        // Kernels read words; what is none of them would be read scalar by scalar as before.
        let whole = |g: &Group| (g.loads.len() as u32 * g.key.n as u32 * g.key.mem.bytes()).is_multiple_of(4);
        for g in merged.into_iter().filter(|g| g.loads.len() > 1 && whole(g)) {
            let loads: Vec<Value> = g.loads.iter().map(|l| l.1).collect();
            loads.iter().filter(|v| **v != g.first).for_each(|v| self.absorbed[v.0 as usize] = true);
            self.merged.push((g.first, loads));
        }
        self.merged.small_sort_by_key(|m| m.0.0);
    }

    /// What `v` has in common with loads that may become one op with it, and its offset. Loads whose lanes' addresses are known
    /// to be equal or consecutive are cheap by themselves.
    fn merge_key(&self, v: Value, b: u32) -> Option<(Key, u32)> {
        let Inst::Load { place, mem, n, flags, .. } = &self.shader.data(v).inst else { return None };
        let (code, desc) = match place {
            Place::Buffer { desc, .. } if self.uniform_at(*desc, b) => (Code::LD_BUF, Some(*desc)),
            Place::Global { .. } => (Code::LD_GLOBAL, None),
            Place::Shared { .. } => (Code::LD_SHARED, None),
            _ => return None,
        };
        let fold = &self.folds[self.fold_of[v.0 as usize] as usize];
        let a = fold.a.filter(|a| !self.uniform_at(*a, b))?;
        if flags.volatile || *mem == Mem::B64 || self.shape(v, b, *n as u32 * mem.bytes()) != 0 {
            return None;
        }
        Some((Key { code, desc, a, c: fold.c, mem: *mem, n: *n }, fold.imm))
    }

    /// Emits the op of `v` and those that it was merged with, if there are any.
    pub(super) fn merged_op(&mut self, v: Value, b: u32, live_loop: u32) -> Result<bool> {
        let Ok(i) = self.merged.binary_search_by_key(&v.0, |m| m.0.0) else { return Ok(false) };
        let loads = &self.merged[i].1;
        let Inst::Load { place, mem, n, .. } = &self.shader.data(loads[0]).inst else { return Ok(false) };
        let (op, desc) = self.place(loads[0], place, b, LOADS)?;
        let all = loads.len() as u8 * n;
        let op = op.b(desc).e(bc::mem_bits(*mem, all) | bc::parts_bits(loads.len() as u8));
        let results = loads.iter().flat_map(|v| {
            let first = match self.tuple[v.0 as usize] {
                NONE => self.alias[v.0 as usize],
                tuple => tuple,
            };
            first..first + *n as u32
        });
        let results: Vec<V> = results.collect();
        self.push_ext(op, results, live_loop);
        Ok(true)
    }
}
