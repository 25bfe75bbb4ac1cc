//! Finds [`crate::pairs`]: an op whose result only one later op of its block reads is computed by that op.

use super::Lowering;
use super::lir::{Inst as Op, NONE, V};
use crate::bytecode::{Before, Code};
use crate::ir::{Bin, Inst, Term, Tri, Ty, Value};
use crate::pairs;

/// How many instructions an op may move down: its operands are held that much longer.
const FAR: u32 = 48;

/// Code and operands of a lane-wise op of 32 bits.
fn lane_wise(inst: &Inst) -> Option<(Code, [Option<Value>; 3])> {
    match *inst {
        Inst::Un(op, a) => Some((Code::un(op, Ty::B32), [Some(a), None, None])),
        Inst::Bin(op, a, b) => Some((Code::bin(op, Ty::B32), [Some(a), Some(b), None])),
        Inst::Tri(op, a, b, c) if op != Tri::Select => {
            Some((Code::tri(op, Ty::B32), [Some(a), Some(b), Some(c)]))
        }
        _ => None,
    }
}

fn before(inst: &Inst) -> Option<(Before, [Option<Value>; 3])> {
    match *inst {
        Inst::Bin(Bin::FAdd, a, b) => Some((Before::FAdd, [Some(a), Some(b), None])),
        Inst::Bin(Bin::FSub, a, b) => Some((Before::FSub, [Some(a), Some(b), None])),
        Inst::Bin(Bin::FMul, a, b) => Some((Before::FMul, [Some(a), Some(b), None])),
        Inst::Bin(Bin::FSumSquares, a, b) => Some((Before::FSumSquares, [Some(a), Some(b), None])),
        Inst::Tri(Tri::Fma, a, b, c) => Some((Before::Fma, [Some(a), Some(b), Some(c)])),
        _ => None,
    }
}

/// An op or a pair as it is written: code and operands.
pub(super) struct Tree {
    pub code: Code,
    operands: [Option<Value>; 5],
    /// Operands n and n + 1 may be swapped, for the set bits n.
    swaps: u8,
}

impl Tree {
    /// The operands in all orders that give the same.
    pub fn orders(&self) -> impl Iterator<Item = [Option<Value>; 5]> {
        // The subsets of the bits, in their order.
        let next = |k: &u8| Some(k.wrapping_sub(self.swaps) & self.swaps).filter(|k| *k != 0);
        std::iter::successors(Some(0), next).map(|k| {
            let mut o = self.operands;
            (0..4).filter(|n| k >> n & 1 != 0).for_each(|n| o.swap(n, n + 1));
            o
        })
    }
}

impl Lowering<'_> {
    /// What `v` computes, with the op that it absorbs.
    pub(super) fn tree(&self, v: Value) -> Option<Tree> {
        let (second, mut others) = lane_wise(&self.shader.data(v).inst)?;
        let list = |it: &mut dyn Iterator<Item = Value>| {
            let mut operands = [None; 5];
            operands.iter_mut().zip(it).for_each(|(o, v)| *o = Some(v));
            operands
        };
        let Some(at) = self.pair[v.0 as usize] else {
            let operands = list(&mut others.into_iter().flatten());
            return Some(Tree { code: second, operands, swaps: pairs::swaps(second) as u8 });
        };
        let mut at = at as usize;
        if at == 1 && pairs::swaps(second) {
            others.swap(0, 1);
            at = 0;
        }
        let (first, own) = lane_wise(&self.shader.data(others[at].take()?).inst)?;
        let (code, pair) = pairs::find(first, second, at)?;
        let swaps = pairs::swaps(first) as u8 | ((at == 2 && pairs::swaps(second)) as u8) << pair.split;
        let operands = list(&mut own.into_iter().chain(others).flatten());
        Some(Tree { code, operands, swaps })
    }

    pub(super) fn find_pairs(&mut self) {
        // Place of each value within its block.
        let mut place = vec![0u32; self.shader.values.len()];
        for (b, block) in self.shader.blocks.iter().enumerate() {
            for (p, &v) in block.insts.iter().enumerate() {
                let i = v.0 as usize;
                place[i] = p as u32;
                if !self.pairable(v) {
                    continue;
                }
                let Some((second, operands)) = lane_wise(&self.shader.data(v).inst) else { continue };
                // Products last: an addend is more often what makes the longer chain.
                for at in (0..3).rev() {
                    let Some(o) = operands[at] else { continue };
                    let j = o.0 as usize;
                    if self.uses[j] != 1
                        || self.u.def_block[j] != b as u32
                        || self.pair[j].is_some()
                        || !self.pairable(o)
                        || p as u32 - place[j] > FAR
                    {
                        continue;
                    }
                    let Some((first, _)) = lane_wise(&self.shader.data(o).inst) else { continue };
                    let listed = if at == 1 && pairs::swaps(second) { 0 } else { at };
                    if pairs::find(first, second, listed).is_some() {
                        self.pair[i] = Some(at as u8);
                        self.absorbed[j] = true;
                        break;
                    }
                }
            }
            if let Term::Branch { cond, yes, no } = block.term
                && yes != no
                && let Some((Bin::FLt | Bin::FLe, x, y)) = self.fused_compare(b, cond)
                && let Some(o) = [y, x].into_iter().find(|o| self.computed_before(*o, b as u32))
            {
                self.absorbed[o.0 as usize] = true;
                self.by_branch[o.0 as usize] = true;
            }
        }
    }

    pub(super) fn pairable(&self, v: Value) -> bool {
        let i = v.0 as usize;
        self.needed[i] && self.u.varying[i] && !self.u.prologue[i] && self.shader.ty(v) == Ty::B32
    }

    /// `o` is computed by the comparison at the end of block `b` that alone reads it.
    fn computed_before(&self, o: Value, b: u32) -> bool {
        let j = o.0 as usize;
        self.uses[j] == 1
            && self.u.def_block[j] == b
            && self.pair[j].is_none()
            && self.pairable(o)
            && before(&self.shader.data(o).inst).is_some()
    }

    /// A comparison of `x` and `y` at the end of block `b` by the op that branches: operands and `e`.
    pub(super) fn compare_op(&self, cmp: Bin, x: Value, y: Value, b: u32) -> Op {
        let op = Op::new(Code::CMP_SPLIT).e(cmp as u16);
        for (one, other, swapped) in [(y, x, false), (x, y, true)] {
            if self.by_branch[one.0 as usize]
                && let Some((before, operands)) = before(&self.shader.data(one).inst)
            {
                let r = operands.map(|o| o.map_or(NONE, |o| self.at(o, b)));
                let e = op.e | before.bits(swapped);
                return op.a(self.at(other, b)).b(r[0]).c(r[1]).d(r[2]).e(e);
            }
        }
        op.a(self.at(x, b)).b(self.at(y, b))
    }

    /// Emits `v` and the operand that it computes in one op.
    pub(super) fn pair_op(&mut self, v: Value, b: u32, live_loop: u32) {
        let tree = self.tree(v).expect("found before");
        let regs: [V; 5] = tree.operands.map(|o| o.map_or(NONE, |o| self.at(o, b)));
        let d = self.alias[v.0 as usize];
        let op = Op::new(tree.code).d(d).a(regs[0]).b(regs[1]).c(regs[2]);
        if regs[3] == NONE {
            self.push(op, live_loop);
        } else {
            let more = regs[3..].iter().copied().filter(|r| *r != NONE);
            self.push_ext(op, more, live_loop);
        }
    }
}
