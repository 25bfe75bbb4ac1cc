//! The loop over live warps of a segment, and the one over a warp's quads.
//!
//! Quads of one warp go side by side, as many as have room in registers: what they have in common is loaded once for all of them, and no
//! instruction waits for the one before. Where a quad may jump over a branch they go one by one.

use super::assembler::{A, B, Made, Mem};
use super::encode::*;
use super::frame::{BEGAN, BITS, EXEC, LANES, LIVE, LONGS, QUAD, REGS, STATE, WORDS, bits_of};
use super::ops::TABLE;
use crate::counting::tally::Counting;
use crate::jit::emit::Emit;
use crate::jit::nodes::body::{Body, Item, computed};
use crate::recording::{Id, Node, Un};
use crate::state::State;
use std::mem::{offset_of, take};

impl Emit<'_> {
    pub fn loops(&mut self) -> Made<()> {
        self.inside = true;
        // What is common to all warps has its place; all else is the loop's own.
        let common = take(&mut self.place);
        let needs = self.needs();
        let side = self.quads_together(&needs);
        if needs.bits {
            self.reserved |= (0..side).fold(0, |all, k| all | 1 << bits_of(k));
        }
        self.begin_loop(&common, side)?;
        let each = &self.body.each;
        let each_warp = self.m.here();
        let m = &mut self.m;
        m.dn(RBIT_W, A, LIVE)?;
        m.dn(CLZ_W, A, A)?;
        m.dn(DECREMENT, B, LIVE)?;
        m.dnm(AND_W, LIVE, LIVE, B)?;
        m.dnm(ADD_X_6, WORDS, REGS, A)?;
        if needs.longs {
            m.dnm(ADD_X_7, LONGS, REGS, A)?;
        }
        if needs.bits {
            m.dnm(ADD_X_1, BITS, REGS, A)?;
            m.dnm(ADD_X_1, LANES, EXEC, A)?;
            m.number(QUAD, 0xF)?;
            for k in 0..side {
                let from = m.words([1, 2, 4, 8].map(|bit| bit << (4 * k)));
                m.load(bits_of(k), from)?;
            }
        } else if side < 4 {
            m.number(QUAD, 0xF)?;
        }
        if needs.counts {
            m.add(BEGAN, STATE, (offset_of!(State, count) + offset_of!(Counting, began)) as u32)?;
            m.dnm(ADD_X_1, BEGAN, BEGAN, A)?;
        }
        self.begin_counts()?;
        let quads = self.m.here();
        self.calls.next_count = 0;
        for (i, item) in each.iter().enumerate() {
            for k in 0..side {
                self.k = k;
                self.item((i * side + k) as u32, *item)?;
            }
        }
        self.k = 0;
        if side < 4 {
            let m = &mut self.m;
            m.add(WORDS, WORDS, 16 * side as u32)?;
            if needs.longs {
                m.add(LONGS, LONGS, 32 * side as u32)?;
            }
            if needs.bits {
                for k in 0..side {
                    m.dn(SHL | (4 * side as u32) << 16, bits_of(k), bits_of(k))?;
                }
            }
            m.dn(if side == 1 { LSL_W_4 } else { LSL_W_8 }, QUAD, QUAD)?;
            m.dn(LSR_W_16, A, QUAD)?;
            m.jump_back(CBZ | u32::from(A), quads)?;
        }
        self.end_counts()?;
        self.m.jump_back(CBNZ | u32::from(LIVE), each_warp)
    }

    /// What the loop asks for beside words.
    fn needs(&self) -> Needs {
        let body = self.body;
        let mut it = Needs::default();
        for item in &body.each {
            match *item {
                Item::Store(_, id) => it.bits |= body.nodes[id as usize].is_mask(),
                Item::Wide(..) => it.longs = true,
                Item::Move(..) => it.bits = true,
                Item::Count(..) => (it.bits, it.counts) = (true, true),
                _ => (),
            }
            self.reads_of(*item, |id| match body.nodes[id as usize] {
                Node::Part(..) => it.longs = true,
                Node::Mask(_) | Node::Exec => it.bits = true,
                _ => (),
            });
        }
        it
    }

    fn quads_together(&self, needs: &Needs) -> usize {
        let each = &self.body.each;
        if each.iter().any(|i| matches!(i, Item::If(_) | Item::Check(_))) {
            return 1;
        }
        let most = self.most_at_once();
        let room = self.vectors.len() - self.reserved.count_ones() as usize - self.m.pins();
        let fits = |n: &usize| n * (most + needs.bits as usize) <= room;
        [4, 2].into_iter().find(fits).unwrap_or(1)
    }
}

#[derive(Default)]
struct Needs {
    /// Registers of 64-bit lanes.
    longs: bool,
    /// Masks in memory.
    bits: bool,
    counts: bool,
}

/// A place of the state.
pub fn state(at: usize) -> Mem {
    Mem::at(STATE, at)
}

/// The vectors that a body's tables are loaded to.
pub fn tables(body: &Body) -> u32 {
    let of = |id: Id| match body.nodes[id as usize] {
        Node::Un(Un::Look16(_), _) => 0xF << TABLE,
        Node::Un(Un::Look(_), _) => 0xFF << TABLE,
        _ => 0,
    };
    computed(&body.once).chain(computed(&body.each)).fold(0, |all, id| all | of(id))
}
