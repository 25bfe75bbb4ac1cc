//! What a segment with branches has beside arithmetic: counters that are passed, and kernels for lanes out of the ordinary.

use super::assembler::{A, B, FAR, Made, Mem, NONE, SP, T0, TooMuch};
use super::encode::*;
use super::frame::{BEGAN, LAST, ROWS, STATE, row};
use super::loops::{state, tables};
use crate::counting::tally::{Counting, Row};
use crate::jit::emit::{Arg, Call, Emit};
use crate::jit::nodes::body::Item;
use crate::kernels::compiled::one;
use crate::state::State;
use shader::bytecode::Op;
use std::mem::offset_of;

/// Rows for what a call keeps: vectors, then general registers; and for a kernel's results and operands, which are units of a wave's
/// registers.
pub const KEPT: u32 = 32 + 8;
pub const UNIT: u32 = 4;
pub const CALL: u32 = 8 * UNIT;
/// Halves of a word in a row.
const COUNTS: u32 = 8;

impl Emit<'_> {
    /// Makes room for what the segment has of these.
    pub fn rooms(&mut self) -> Made<()> {
        self.reserved |= tables(self.body);
        let each = &self.body.each;
        let counts = each.iter().filter(|i| matches!(i, Item::Count(..))).count() as u32;
        if each.iter().any(|i| matches!(i, Item::Check(_))) {
            // Units are aligned as those of a wave.
            self.rows = self.rows.next_multiple_of(UNIT);
            self.calls.kept = self.rows;
            self.rows += KEPT + CALL;
        }
        if counts > 0 {
            self.m.memory(LDR_X, 3, ROWS, state(offset_of!(State, count) + Counting::ROWS))?;
        }
        self.calls.passed = self.rows;
        self.rows += counts.div_ceil(COUNTS);
        self.calls.counts = counts;
        Ok(())
    }

    // ---- counters ----

    /// The lanes of a warp that pass a counter, of the segment's `i`th: 16 bits.
    fn passed(&self, i: u32) -> Mem {
        row(self.calls.passed).beyond(2 * i)
    }

    /// A warp begins: it has passed none.
    pub fn begin_counts(&mut self) -> Made<()> {
        for i in 0..self.calls.counts.div_ceil(COUNTS) {
            self.m.zero(T0)?;
            self.m.store(row(self.calls.passed + i), T0)?;
        }
        Ok(())
    }
    /// All quads of a warp have passed what they pass.
    pub fn end_counts(&mut self) -> Made<()> {
        let mut i = 0;
        for item in &self.body.each {
            let Item::Count(n, _) = *item else { continue };
            let from = self.passed(i);
            i += 1;
            self.m.memory(LDRH_W, 1, A, from)?;
            let none = self.m.jump(CBZ | u32::from(A))?;
            let m = &mut self.m;
            m.memory(LDRH_W, 1, B, Mem::at(BEGAN, 0))?;
            m.put(CMP_W | u32::from(A) << 5 | u32::from(B) << 16)?;
            let to = |member: usize| Mem::at(ROWS, n as usize * size_of::<Row>() + member);
            m.memory(LDR_X, 3, A, to(offset_of!(Row, warps)))?;
            m.dn(INCREMENT_X, A, A)?;
            m.memory(STR_X, 3, A, to(offset_of!(Row, warps)))?;
            m.d(CSET_NE, B)?;
            m.memory(LDR_X, 3, A, to(offset_of!(Row, diverged)))?;
            m.dnm(ADD_X, A, A, B)?;
            m.memory(STR_X, 3, A, to(offset_of!(Row, diverged)))?;
            m.land(none);
        }
        Ok(())
    }
    /// Lanes of the mask, of which there are some, pass a counter of that row.
    pub fn count(&mut self, at: u32, _: u16, mask: u32) -> Made<()> {
        let r = self.in_register(mask)?;
        self.warp_bits(r)?;
        self.used(at, mask);
        let to = self.passed(self.calls.next_count);
        self.calls.next_count += 1;
        self.m.memory(LDRH_W, 1, B, to)?;
        self.m.dnm(ORR_W, B, B, A)?;
        self.m.memory(STRH_W, 1, B, to)
    }

    // ---- kernels ----

    pub fn call(&mut self, call: Call) -> Made<()> {
        let first = self.calls.kept + KEPT;
        let op = self.calls.ops.get(call.check).ok_or(TooMuch)?;
        let kernel = *self.calls.kernels.get(op.code.0 as usize).ok_or(TooMuch)?;
        self.m.land(call.from);
        self.keep(self.calls.kept, call.held, LAST, true)?;
        self.arguments(first, &call.args)?;
        let m = &mut self.m;
        m.dnm(MOV, 0, 0, STATE)?;
        m.number(1, std::ptr::from_ref::<Op>(op) as u64)?;
        m.add(2, SP, 16 * first)?;
        m.number(3, kernel as usize as u64)?;
        m.number(A, one as *const () as u64)?;
        m.put(BLR | u32::from(A) << 5)?;
        self.keep(self.calls.kept, call.held, LAST, false)?;
        for (i, r) in call.results.into_iter().enumerate() {
            self.m.load(r, row(first + UNIT * i as u32))?;
        }
        self.m.jump_back(JUMP, call.back)
    }

    /// Lays a kernel's operands down, after two units for its results, of which `first` is the first row.
    pub fn arguments(&mut self, first: u32, args: &[Arg]) -> Made<()> {
        for (i, arg) in args.iter().enumerate() {
            let r = match arg {
                Arg::Reg(r) => *r,
                Arg::Mem(from) => {
                    self.m.load(T0, *from)?;
                    T0
                }
            };
            // The quad's lanes are all that the kernel knows: four times.
            let to = first + UNIT * (2 + i as u32);
            (0..UNIT).try_for_each(|n| self.m.store(row(to + n), r))?;
        }
        Ok(())
    }

    /// Puts aside what a call may change, in rows from `kept` on, general registers up to `last`; or fetches it.
    pub fn keep(&mut self, kept: u32, held: u32, last: u8, away: bool) -> Made<()> {
        for r in (0..32).filter(|r| held >> r & 1 != 0) {
            let at = row(kept + r);
            if away { self.m.store(at, r as u8)? } else { self.m.load(r as u8, at)? }
        }
        let m = &mut self.m;
        m.add(FAR, SP, 16 * (kept + 32))?;
        for r in (0..=last).step_by(2) {
            let word = if away { STP_X } else { LDP_X };
            let second = if r < last { r + 1 } else { NONE };
            m.dn(word | u32::from(second) << 10 | u32::from(r) << 15, r, FAR)?;
        }
        Ok(())
    }
}
