//! Control flow: jumps where all lanes agree, masks where they do not.
//!
//! Each block where lanes may wait has a mask register. It is *assigned* by the one split that fills it where
//! possible, else cleared in a block that dominates all that touch it (and whose dominated blocks are contiguous up
//! to it, so that no path of the linear order meets it unset) and accumulated.
//! An if with an else costs a split, a `SETEXEC` and a `JOIN`: lanes of the first arm are put into the merge block's
//! mask at the split already when that arm surely ends there.
//! Lanes that return while others go on are parked in a mask that nobody reads.

use super::Lowering;
use super::edges::LBlocks;
use super::lir::{Inst as Op, NONE, V};
use super::masks::Plan;
use super::park::Parks;
use crate::bytecode::Code;
use crate::ir::{Bin, Inst, Ty, Un, Value};
use crate::options::{Error, Result};

pub struct Control {
    pub(super) parks: Parks,
    /// Waiting mask of each block.
    pub(super) wait: Vec<V>,
    /// Masks to clear at the end of each block: (block, mask), sorted.
    pub(super) clears: Vec<(u32, V)>,
    /// The split at this block assigns the waiting mask of its far target.
    pub(super) assigns: Vec<bool>,
    /// Merge block whose mask the split at this block fills with the lanes of the first arm.
    pub(super) pre_park: Vec<u32>,
    /// The jump at this block's end does nothing: its lanes wait at the merge block since the split.
    pub(super) parked_before: Vec<bool>,
    /// The split at this block is rare: its first arm is a split edge out of a loop.
    pub(super) rare: Vec<bool>,
    dump: V,
    pub(super) counts: super::count::Plan,
}

/// Label of a block's entry, and of the place after its mask work (loops come back there).
fn entry(p: usize) -> u32 {
    2 * p as u32
}
fn body(p: usize) -> u32 {
    2 * p as u32 + 1
}

impl Control {
    pub(super) fn new(lower: &mut Lowering, blocks: &LBlocks) -> Result<Control> {
        let cfg = &blocks.cfg;
        let n = blocks.blocks.len();
        let mut parks = Parks::new(n + 1);
        parks.mask.copy_from_slice(&blocks.mask);
        parks.solve(cfg, &lower.shader.work)?;
        if parks.mask != blocks.mask {
            return Err(Error::TooLarge("control flow that splitting edges changed".to_string()));
        }
        let counts = lower.plan_counts()?;
        let lir = &mut lower.lir;
        lir.labels = vec![0; 2 * n + 2];
        lir.loops = vec![(0, 0); cfg.loops.len()];
        lir.loop_parent = cfg.loops.iter().map(|l| l.parent).collect();
        let mut control = Control {
            wait: vec![NONE; n + 1],
            clears: vec![],
            assigns: vec![false; n],
            pre_park: vec![NONE; n],
            parked_before: vec![false; n],
            rare: vec![false; n],
            dump: NONE,
            counts,
            parks,
        };
        for t in 0..n {
            if control.parks.waits(t) {
                control.wait[t] = lir.new_vreg(Ty::Bool, false, outer(blocks, t as u32));
            }
        }
        if control.parks.any_waits() {
            control.dump = lir.new_vreg(Ty::Bool, false, NONE);
            lir.vregs[control.dump as usize].pinned = true;
        }
        if control.parks.any_waits() {
            control.plan_masks(&Plan::new(blocks, &lower.shader.work))?;
        }
        Ok(control)
    }

    /// Mask work and labels at the start of block `p`.
    pub(super) fn enter(&mut self, lower: &mut Lowering, blocks: &LBlocks, p: usize) {
        lower.lir.labels[entry(p) as usize] = lower.lir.insts.len() as u32;
        if self.parks.waits(p) {
            let from_split = p > 0 && self.parked_before[p - 1];
            let falls = self.falls_into(blocks, p);
            let code = if from_split || !falls { Code::SETEXEC } else { Code::JOIN };
            let next = entry(self.parks.next_waiting_without(p));
            lower.push(Op::new(code).a(self.wait[p]).imm(next), outer(blocks, p as u32));
        }
        lower.lir.labels[body(p) as usize] = lower.lir.insts.len() as u32;
        if let Some(l) = blocks.cfg.heads(p as u32) {
            lower.lir.loops[l as usize].0 = lower.lir.insts.len() as u32;
        }
    }

    /// Executing lanes may arrive at `p` otherwise than from its mask.
    fn falls_into(&self, blocks: &LBlocks, p: usize) -> bool {
        blocks.cfg.preds(p as u32).iter().any(|q| {
            let q = *q as usize;
            q < p && (0..2).any(|k| blocks.cfg.succ[q][k] as usize == p && !self.parks.parked[q][k])
        })
    }

    /// Clears and the branch at the end of block `p`.
    pub(super) fn leave(&mut self, lower: &mut Lowering, blocks: &LBlocks, p: usize) {
        let live = blocks.blocks[p].live_loop;
        let from = self.clears.partition_point(|c| c.0 < p as u32);
        for i in from..self.clears.len() {
            if self.clears[i].0 != p as u32 {
                break;
            }
            lower.push(Op::new(Code::MASK_CLEAR).d(self.clears[i].1), live);
        }
        let [t0, t1] = blocks.cfg.succ[p];
        if t1 == NONE {
            if !self.parked_before[p] {
                self.jump(lower, blocks, p, 0);
            }
        } else {
            let cond = blocks.cond[p].expect("a block with two successors has a condition");
            let b = blocks.blocks[p].source;
            let fused = lower.fused_compare(b as usize, cond);
            if !self.parks.mask[p] {
                self.uniform_branch(lower, blocks, p, cond, fused);
            } else {
                self.split(lower, blocks, p, cond, fused, [t0 as usize, t1 as usize]);
            }
        }
        let l = blocks.cfg.loop_of[p];
        let mut l = l;
        while l != NONE && blocks.cfg.loops[l as usize].last == p as u32 {
            lower.lir.loops[l as usize].1 = lower.lir.insts.len() as u32 - 1;
            l = blocks.cfg.parent(l);
        }
    }

    pub(super) fn finish(&mut self, lower: &mut Lowering, blocks: &LBlocks) {
        let n = blocks.blocks.len();
        lower.lir.labels[entry(n) as usize] = lower.lir.insts.len() as u32;
        let outputs: Vec<V> = lower.lir.outputs.iter().map(|o| o.1).collect();
        lower.push_ext(Op::new(Code::END), outputs, NONE);
    }

    /// All executing lanes take edge `k`, or what a split has left of them.
    fn jump(&mut self, lower: &mut Lowering, blocks: &LBlocks, p: usize, k: usize) {
        let live = blocks.blocks[p].live_loop;
        let t = blocks.cfg.succ[p][k] as usize;
        let end = blocks.blocks.len();
        if t <= p {
            let source = blocks.blocks[p].source;
            let counter = if source == NONE { 0 } else { self.counts.jump[source as usize] };
            lower.push(Op::new(Code::LOOP).imm(body(t)).e(counter as u16), live);
        } else if self.parks.parked[p][k] {
            let next = entry(self.parks.next_waiting(p));
            let mask = self.mask_of(t, end);
            lower.push(Op::new(Code::PARK).d(mask).imm(next), live);
        } else if t == p + 1 {
        } else if t == end {
            lower.push(Op::new(Code::END), live);
        } else {
            lower.push(Op::new(Code::JMP).imm(entry(t)), live);
        }
    }

    fn mask_of(&self, t: usize, end: usize) -> V {
        if t == end { self.dump } else { self.wait[t] }
    }

    fn uniform_branch(
        &mut self,
        lower: &mut Lowering,
        blocks: &LBlocks,
        p: usize,
        cond: Value,
        fused: Option<(Bin, Value, Value)>,
    ) {
        let live = blocks.blocks[p].live_loop;
        let b = blocks.blocks[p].source;
        let [yes, no] = blocks.cfg.succ[p].map(|t| t as usize);
        // Jump on one side, go on with the other: a back edge must be a LOOP, so it is the one to go on with.
        let jump_yes = no <= p || (yes > p && no == p + 1);
        let (target, k) = if jump_yes { (yes, 1) } else { (no, 0) };
        let mut op = match fused {
            Some((cmp, x, y)) => {
                let e = cmp as u16 | ((!jump_yes) as u16) << 8;
                Op::new(Code::CMP_JMP).a(lower.at(x, b)).b(lower.at(y, b)).e(e)
            }
            None => Op::new(if jump_yes { Code::JMP_IF } else { Code::JMP_UNLESS }).a(lower.at(cond, b)),
        };
        op.imm = entry(target);
        lower.push(op, live);
        self.jump(lower, blocks, p, k);
    }

    fn split(
        &mut self,
        lower: &mut Lowering,
        blocks: &LBlocks,
        p: usize,
        cond: Value,
        fused: Option<(Bin, Value, Value)>,
        [yes, no]: [usize; 2],
    ) {
        let live = blocks.blocks[p].live_loop;
        let b = blocks.blocks[p].source;
        let end = blocks.blocks.len();
        // A compare of two uniform registers would lack a kernel.
        let fused = fused.filter(|(_, x, y)| !lower.uniform_at(*x, b) || !lower.uniform_at(*y, b));
        let operands = fused.map(|(cmp, x, y)| lower.compare_op(cmp, x, y, b));
        if fused.is_none() && lower.fused_compare(b as usize, cond).is_some() {
            // The compare was left to the branch: emit it after all.
            let Inst::Bin(cmp, x, y) = lower.shader.data(cond).inst else { unreachable!() };
            let d = lower.alias[cond.0 as usize];
            let op = Op::new(Code::bin(cmp, Ty::B32)).d(d).a(lower.at(x, b)).b(lower.at(y, b));
            lower.push(op, live);
        }
        if self.rare[p] {
            return self.split_rare(lower, blocks, p, cond, operands, [yes, no]);
        }
        // The far side parks; a back edge is always the near side.
        let far_is_no = if yes <= p {
            true
        } else if no <= p {
            false
        } else {
            no > yes
        };
        let (far, near_k) = if far_is_no { (no, 0) } else { (yes, 1) };
        let mask = self.mask_of(far, end);
        let next = entry(self.parks.next_waiting(p));
        let assigns = (self.assigns[p] || self.pre_park[p] != NONE) && far_is_no;
        if assigns {
            let lanes =
                if self.pre_park[p] != NONE { self.wait[self.pre_park[p] as usize] } else { self.dump };
            match operands {
                Some(cmp) => {
                    let op = cmp.code(Code::CMP_SPLIT).imm(next);
                    self.push_masks(lower, op, &[lanes, mask], live);
                }
                None => {
                    let a = lower.at(cond, b);
                    lower.push(Op::new(Code::SPLIT).d(lanes).b(mask).a(a).imm(next), live);
                }
            }
            return self.jump(lower, blocks, p, near_k);
        }
        match operands {
            Some(cmp) => {
                let e = cmp.e | (far_is_no as u16) << 8;
                let op = cmp.code(Code::CMP_PARK).e(e).imm(next);
                self.push_masks(lower, op, &[mask], live);
            }
            None => {
                let a = self.condition(lower, lower.at(cond, b), far_is_no, live);
                lower.push(Op::new(Code::PARK_IF).b(mask).a(a).imm(next), live);
            }
        }
        self.jump(lower, blocks, p, near_k);
    }

    /// `if (c) { leave the loop }` with copies on the way out.
    fn split_rare(
        &mut self,
        lower: &mut Lowering,
        blocks: &LBlocks,
        p: usize,
        cond: Value,
        operands: Option<Op>,
        [yes, no]: [usize; 2],
    ) {
        let live = blocks.blocks[p].live_loop;
        let b = blocks.blocks[p].source;
        let negate = no == p + 1;
        let stay = yes.max(no);
        let mask = self.wait[stay];
        let next = body(stay);
        match operands {
            Some(cmp) => {
                let e = cmp.e | (negate as u16) << 8;
                let op = cmp.code(Code::CMP_SPLIT_RARE).e(e).imm(next);
                self.push_masks(lower, op, &[self.dump, mask], live);
            }
            None => {
                let a = self.condition(lower, lower.at(cond, b), negate, live);
                let op = Op::new(Code::SPLIT_RARE).d(self.dump).b(mask).a(a).imm(next);
                lower.push(op, live);
            }
        }
    }

    fn condition(&mut self, lower: &mut Lowering, a: V, negate: bool, live: u32) -> V {
        if !negate {
            return a;
        }
        let uniform = lower.lir.vregs[a as usize].uniform;
        let t = lower.lir.new_vreg(Ty::Bool, uniform, live);
        lower.push(Op::new(Code::un(Un::BNot, Ty::Bool)).d(t).a(a), live);
        t
    }

    fn push_masks(&mut self, lower: &mut Lowering, mut op: Op, masks: &[V], live: u32) {
        op.ext = lower.lir.ext.len() as u32;
        op.ext_len = masks.len() as u32;
        lower.lir.ext.extend_from_slice(masks);
        lower.push(op, live);
    }
}

/// The loop around block `p`, not counting the one it heads.
pub(super) fn outer(blocks: &LBlocks, p: u32) -> u32 {
    match blocks.cfg.heads(p) {
        Some(l) => blocks.cfg.parent(l),
        None => blocks.cfg.loop_of[p as usize],
    }
}
