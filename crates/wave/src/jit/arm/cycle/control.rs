//! Who executes, what is counted, and what a comparison of integers decides. The lanes of a warp that execute are four vectors on the
//! stack.

use super::super::assembler::{A, B, Made, Mem, NONE as ZERO_REGISTER, T0, T1, TooMuch};
use super::super::encode::*;
use super::super::frame::{ROWS, row};
use super::{Branch, CONTEXT, COUNTERS, DIVERGED, MISSING, WARP, context};
use crate::counting::tally::Row;
use crate::jit::cycle::Cycle;
use crate::jit::cycle::counters::Counter;
use crate::jit::cycle::decide::{Compare, Operand, Order};
use crate::kernels::compiled::Context;
use crate::recording::Id;
use std::mem::offset_of;

impl Cycle<'_> {
    // ---- lanes ----

    /// x{B} leads to the warp's 16 bits in an array of the context's, which begins so far after it.
    fn own_bits(&mut self) -> Made<()> {
        self.e.m.dnm(ADD_X_1, B, CONTEXT, WARP)
    }

    /// The lanes of the wave's that the warp comes with.
    pub fn begin_lanes(&mut self) -> Made<()> {
        self.own_bits()?;
        self.spread_bits(Mem::at(B, offset_of!(Context, exec)), self.executing)?;
        self.count_lanes()
    }

    /// Four rows from `to` on get the lanes of a warp's bits.
    pub fn spread_bits(&mut self, from: Mem, to: u32) -> Made<()> {
        let m = &mut self.e.m;
        m.memory(LDR_H, 1, T1, from)?;
        m.dn(DUP0, T1, T1)?;
        for k in 0..4 {
            let weights = m.words([1, 2, 4, 8].map(|bit| bit << (4 * k)));
            m.load(T0, weights)?;
            m.dnm(CMTST, T0, T1, T0)?;
            m.store(row(to + k), T0)?;
        }
        Ok(())
    }
    /// w{A} = the bits of the lanes in four rows.
    pub fn gather_bits(&mut self, from: u32) -> Made<()> {
        let other = self.e.vector()?;
        let m = &mut self.e.m;
        m.load(T0, row(from))?;
        m.load(T1, row(from + 1))?;
        m.dnm(UZP1_HALF, T0, T0, T1)?;
        m.load(T1, row(from + 2))?;
        m.load(other, row(from + 3))?;
        m.dnm(UZP1_HALF, T1, T1, other)?;
        // A byte a lane, of which one bit is taken, and eight of them added.
        m.dnm(UZP1_BYTES, T0, T0, T1)?;
        let weights = m.words([0x0804_0201, 0x8040_2010, 0x0804_0201, 0x8040_2010]);
        m.load(T1, weights)?;
        m.dnm(AND, T0, T0, T1)?;
        (0..3).try_for_each(|_| m.dnm(ADDP_BYTES, T0, T0, T0))?;
        m.dn(FIRST_HALF, A, T0)?;
        self.e.let_go(other);
        Ok(())
    }
    fn bits(&mut self) -> Made<()> {
        self.gather_bits(self.executing)
    }

    /// What a counter that is passed counts from here on: who executes has changed.
    pub fn count_lanes(&mut self) -> Made<()> {
        self.bits()?;
        self.own_bits()?;
        let m = &mut self.e.m;
        m.memory(LDRH_W, 1, B, Mem::at(B, offset_of!(Context, began)))?;
        m.dnm(CMP_W, 0, A, B)?;
        m.d(CSET_NE, DIVERGED)?;
        m.number(B, 0xFFFF)?;
        m.dnm(EOR_W, MISSING, A, B)
    }

    /// Those with which it leaves.
    pub fn end_lanes(&mut self, lanes: bool) -> Made<()> {
        if lanes {
            self.bits()?;
        }
        self.own_bits()?;
        let m = &mut self.e.m;
        let from = if lanes { A } else { ZERO_REGISTER };
        m.memory(STRH_W, 1, from, Mem::at(B, offset_of!(Context, exec)))?;
        if lanes {
            m.number(A, 1)?;
            m.memory(STR_W, 2, A, context(offset_of!(Context, lanes)))?;
        }
        Ok(())
    }

    /// w{A} is not zero if a lane is in any of these masks.
    pub fn test(&mut self, ids: &[Id]) -> Made<()> {
        let mut regs = vec![];
        for id in ids {
            regs.push(self.e.in_register(*id)?);
        }
        let [first, rest @ ..] = &regs[..] else { return Err(TooMuch) };
        let mut all = *first;
        for r in rest {
            self.e.m.dnm(ORR, T0, all, *r)?;
            all = T0;
        }
        self.e.m.dn(UMAXV, T0, all)?;
        self.e.m.dn(TO_WORD, A, T0)
    }
    /// The same of the lanes that execute.
    pub fn any_lane(&mut self) -> Made<()> {
        self.e.m.number(B, 0xFFFF)?;
        self.e.m.dnm(EOR_W, A, MISSING, B)
    }
    /// Lanes of the value execute from here on, of the side at hand.
    pub fn executes(&mut self, id: Id) -> Made<()> {
        let s = self.e.in_register(id)?;
        let to = row(self.executing + self.e.this_side() as u32);
        self.e.m.store(to, s)
    }
    pub fn no_lane(&mut self) -> Made<()> {
        self.e.m.number(MISSING, 0xFFFF)?;
        self.e.m.zero(T0)?;
        (0..4).try_for_each(|k| self.e.m.store(row(self.executing + k), T0))
    }

    // ---- counts ----

    /// Adds to 64 bits in memory what is in x{by}.
    fn add_to(&mut self, to: Mem, by: u8) -> Made<()> {
        let m = &mut self.e.m;
        m.memory(LDR_X, 3, A, to)?;
        m.dnm(ADD_X, A, A, by)?;
        m.memory(STR_X, 3, A, to)
    }
    /// The same of a small number; w{A} stays.
    pub fn add_number(&mut self, to: Mem, n: u32) -> Made<()> {
        let m = &mut self.e.m;
        m.memory(LDR_X, 3, B, to)?;
        m.add(B, B, n)?;
        m.memory(STR_X, 3, B, to)
    }

    /// Adds `n` to a number of the context's.
    pub fn add(&mut self, at: usize, n: usize) -> Made<()> {
        if self.counted(Counter::Access(at, n))? {
            return Ok(());
        }
        self.add_number(context(at), n as u32)
    }

    /// The counter of the row is passed.
    pub fn tally(&mut self, i: u16) -> Made<()> {
        if self.counted(Counter::Row(i))? {
            return Ok(());
        }
        self.add_number(row_at(i, offset_of!(Row, warps)), 1)?;
        self.add_to(row_at(i, offset_of!(Row, diverged)), DIVERGED)
    }

    /// Registers that may count.
    pub fn counting_registers(&self) -> usize {
        COUNTERS.len()
    }
    /// Counts once more, if a register has it.
    fn counted(&mut self, counter: Counter) -> Made<bool> {
        let Some(i) = self.counters.iter().position(|c| *c == counter) else { return Ok(false) };
        self.e.m.dn(INCREMENT_X, COUNTERS[i], COUNTERS[i])?;
        Ok(true)
    }
    /// They have counted nothing.
    pub fn begin_counters(&mut self) -> Made<()> {
        COUNTERS.into_iter().take(self.counters.len()).try_for_each(|r| self.e.m.number(r, 0))
    }
    /// Writes out what they have counted.
    pub fn end_counters(&mut self) -> Made<()> {
        for (r, counter) in COUNTERS.into_iter().zip(self.counters.clone()) {
            match counter {
                Counter::Row(i) => {
                    self.add_to(row_at(i, offset_of!(Row, warps)), r)?;
                    self.add_product(row_at(i, offset_of!(Row, diverged)), r, DIVERGED)?;
                }
                Counter::Access(at, n) => {
                    self.e.m.number(B, n as u64)?;
                    self.add_product(context(at), r, B)?;
                }
            }
        }
        self.begin_counters()
    }
    fn add_product(&mut self, to: Mem, n: u8, by: u8) -> Made<()> {
        let m = &mut self.e.m;
        m.memory(LDR_X, 3, A, to)?;
        m.dnm(MADD | u32::from(A) << 10, A, n, by)?;
        m.memory(STR_X, 3, A, to)
    }

    // ---- comparisons of integers ----

    /// Compares: the jump where it is true, and where it is not.
    pub fn compares(&mut self, at: u32, c: &Compare) -> Made<(Branch, Branch)> {
        let [a, b] = c.operands;
        self.lane(A, a)?;
        self.lane(B, b)?;
        self.e.m.dnm(CMP_W, 0, A, B)?;
        c.values().for_each(|id| self.e.used(at, id));
        let (yes, no) = match c.order {
            Order::Equal => (JUMP_EQ, JUMP_NE),
            Order::Greater => (JUMP_GT, JUMP_LE),
            Order::Above => (JUMP_HI, JUMP_LS),
        };
        Ok(if c.not { (no, yes) } else { (yes, no) })
    }

    /// The first lane's word.
    fn lane(&mut self, to: u8, x: Operand) -> Made<()> {
        match x {
            Operand::Word(x) => self.e.m.number(to, x.into()),
            Operand::Value(id) => self.first_lane(to, id),
        }
    }
    pub fn first_lane(&mut self, to: u8, id: Id) -> Made<()> {
        if let Some(r) = self.e.register_of(id) {
            return self.e.m.dn(TO_WORD, to, r);
        }
        match self.e.home(id).ok_or(TooMuch)? {
            from @ Mem::At { .. } => self.e.m.memory(LDR_W, 2, to, from),
            from => {
                self.e.m.load(T0, from)?;
                self.e.m.dn(TO_WORD, to, T0)
            }
        }
    }
}

/// A member of a counter's row.
fn row_at(row: u16, member: usize) -> Mem {
    Mem::at(ROWS, row as usize * size_of::<Row>() + member)
}
