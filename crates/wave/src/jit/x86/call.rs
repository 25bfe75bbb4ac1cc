//! What a segment with branches has beside arithmetic: counters that are passed, and kernels for lanes out of the ordinary.

use super::assembler::{Made, POOL, TooMuch, VectorWidth};
use super::frame::{CALLERS, EXEC, LIVE, OFFSETS, REGS, WARPS, low, row};
use crate::counting::tally::{Counting, Row};
use crate::jit::emit::{Arg, Call, Emit};
use crate::jit::nodes::body::Item;
use crate::kernels::compiled::one;
use crate::state::State;
use iced_x86::{Code, MemoryOperand, Register};
use shader::bytecode::Op;
use std::mem::offset_of;

/// The wave's state, the counters' rows, the lanes that warps began with, which half of a warp is at hand, and what is free.
const STATE: Register = Register::R10;
const ROWS: Register = Register::R12;
const BEGAN: Register = Register::R13;
const HALF: Register = Register::R14;
const FREE: Register = Register::RBX;

/// Registers that a call may change and the loop needs.
const KEEP: [Register; 7] = [REGS, Register::RSI, EXEC, WARPS[0], POOL, STATE, OFFSETS[0]];

/// Rows for what a call keeps: vectors, masks and registers; and for a kernel's results and operands.
const KEPT: u32 = 34;
const CALL: u32 = 8;

impl Emit<'_> {
    /// Makes room for what the segment has of these.
    pub fn rooms(&mut self) -> Made<()> {
        debug_assert_eq!(LIVE, Register::ESI);
        debug_assert!(CALLERS.contains(&ROWS) && CALLERS.contains(&BEGAN) && CALLERS.contains(&HALF));
        let each = &self.body.each;
        let counts = each.iter().filter(|i| matches!(i, Item::Count(..))).count() as u32;
        let checks = each.iter().any(|i| matches!(i, Item::Check(_)));
        if counts > 0 || checks {
            self.m.rr(Code::Mov_r64_rm64, STATE, Register::RCX)?;
        }
        if checks {
            self.calls.kept = self.rows;
            self.rows += KEPT + CALL;
        }
        if counts > 0 {
            let count = offset_of!(State, count);
            let at = |member: usize| MemoryOperand::with_base_displ(STATE, (count + member) as i64);
            self.m.rm(Code::Mov_r64_rm64, ROWS, at(Counting::ROWS))?;
            self.m.rm(Code::Lea_r64_m, BEGAN, at(offset_of!(Counting, began)))?;
        }
        if self.m.width == VectorWidth::Half {
            self.calls.passed = self.rows;
            self.rows += counts.div_ceil(32);
            self.calls.counts = counts;
        }
        Ok(())
    }

    // ---- counters ----

    /// The lanes of a half that pass a counter, of the segment's `i`th: a byte for each half.
    fn passed(&self, i: u32) -> MemoryOperand {
        let at = row(self.calls.passed);
        MemoryOperand { displacement: at.displacement + 2 * i as i64, ..at }
    }

    /// A warp begins: it has passed none.
    pub fn begin_counts(&mut self) -> Made<()> {
        if self.calls.counts == 0 {
            return Ok(());
        }
        self.held = 0;
        let r = self.vector()?;
        self.m.zero(r)?;
        for i in 0..self.calls.counts.div_ceil(16) {
            let to = self.passed(16 * i);
            self.m.store(to, r)?;
        }
        self.held = 0;
        Ok(())
    }
    /// A half of it begins.
    pub fn begin_half(&mut self) -> Made<()> {
        self.calls.next_count = 0;
        if self.calls.counts == 0 {
            return Ok(());
        }
        self.m.rr(Code::Mov_r32_rm32, low(HALF), low(WARPS[0]))?;
        self.m.ri(Code::And_rm32_imm8, low(HALF), 1)
    }
    /// Both halves of a warp have passed what they pass.
    pub fn end_counts(&mut self) -> Made<()> {
        let mut i = 0;
        for item in &self.body.each {
            let Item::Count(n, _) = *item else { continue };
            let from = self.passed(i);
            i += 1;
            self.m.rm(Code::Movzx_r32_rm16, Register::ECX, from)?;
            self.m.rr(Code::Test_rm32_r32, Register::ECX, Register::ECX)?;
            let none = self.m.jump(Code::Je_rel32_64)?;
            // The warp's number is twice that, and two on, by now.
            self.pass(n, MemoryOperand::with_base_index_scale_displ_size(BEGAN, WARPS[0], 1, -2, 1))?;
            self.m.land(none);
        }
        Ok(())
    }

    /// The warp's lanes in ecx pass a counter.
    fn pass(&mut self, n: u16, began: MemoryOperand) -> Made<()> {
        let at = n as usize * size_of::<Row>();
        let to = |member: usize| MemoryOperand::with_base_displ(ROWS, (at + member) as i64);
        self.m.rr(Code::Xor_r32_rm32, low(FREE), low(FREE))?;
        self.m.rm(Code::Cmp_r16_rm16, Register::CX, began)?;
        self.m.r(Code::Setne_rm8, Register::BL)?;
        self.m.m(Code::Inc_rm64, to(offset_of!(Row, warps)))?;
        self.m.mr(Code::Add_rm64_r64, to(offset_of!(Row, diverged)), FREE)
    }

    /// Lanes of the mask, of which there are some, pass a counter.
    pub fn count(&mut self, at: u32, n: u16, mask: u32) -> Made<()> {
        let r = self.in_register(mask)?;
        if self.m.width == VectorWidth::Whole {
            self.m.rr(Code::VEX_Kmovw_r32_kr, Register::ECX, Register::K0 + r as u32)?;
            self.used(at, mask);
            return self.pass(n, MemoryOperand::with_base_index_scale_displ_size(BEGAN, WARPS[0], 2, 0, 1));
        }
        let v = self.m.vector(r);
        self.m.rr(Code::VEX_Vmovmskps_r32_ymm, Register::ECX, v)?;
        self.used(at, mask);
        let to = self.passed(self.calls.next_count);
        self.calls.next_count += 1;
        let to = MemoryOperand::with_base_index_scale_displ_size(to.base, HALF, 1, to.displacement, 1);
        self.m.mr(Code::Mov_rm8_r8, to, Register::CL)
    }

    // ---- kernels ----

    pub fn call(&mut self, call: Call) -> Made<()> {
        let first = self.calls.kept + KEPT;
        let op = self.calls.ops.get(call.check).ok_or(TooMuch)?;
        let kernel = *self.calls.kernels.get(op.code.0 as usize).ok_or(TooMuch)?;
        self.m.land(call.from);
        self.keep(self.calls.kept, KEEP, call.held, true)?;
        self.arguments(first, self.calls.kept, &call.args, call.held)?;
        let m = &mut self.m;
        m.rr(Code::Mov_r64_rm64, Register::RDI, STATE)?;
        m.r64(Register::RSI, std::ptr::from_ref::<Op>(op) as u64)?;
        m.rm(Code::Lea_r64_m, Register::RDX, row(first))?;
        m.r64(Register::RCX, kernel as usize as u64)?;
        m.r64(Register::RAX, one as *const () as u64)?;
        m.op0(Code::VEX_Vzeroupper)?;
        m.r(Code::Call_rm64, Register::RAX)?;
        self.keep(self.calls.kept, KEEP, call.held, false)?;
        for (i, r) in call.results.into_iter().enumerate() {
            self.m.load(r, row(first + i as u32))?;
        }
        self.m.jump_back(Code::Jmp_rel32_64, call.back)
    }

    /// Lays a kernel's operands down, after two rows for its results, of which `first` is one.
    pub fn arguments(&mut self, first: u32, kept: u32, args: &[Arg], held: u32) -> Made<()> {
        for (i, arg) in args.iter().enumerate() {
            let r = match arg {
                Arg::Reg(r) => *r,
                Arg::Mem(from) => {
                    self.m.load(0, *from)?;
                    0
                }
            };
            let to = row(first + 2 + i as u32);
            self.m.store(to, r)?;
            if self.m.width == VectorWidth::Half {
                self.m.store(MemoryOperand { displacement: to.displacement + 32, ..to }, r)?;
            }
            if matches!(arg, Arg::Mem(_)) && held & 1 != 0 {
                self.m.load(0, row(kept))?;
            }
        }
        Ok(())
    }

    /// Puts aside what a call may change, `regs` of the registers, in rows from `kept` on; or fetches it.
    pub fn keep(&mut self, kept: u32, regs: [Register; 7], held: u32, away: bool) -> Made<()> {
        for r in (0..self.vectors.len() as u32).filter(|r| held >> r & 1 != 0) {
            let at = row(kept + r);
            if away { self.m.store(at, r as u8)? } else { self.m.load(r as u8, at)? }
        }
        let word = |i: u32| {
            let at = row(kept + 32);
            MemoryOperand { displacement: at.displacement + 8 * i as i64, ..at }
        };
        for (i, r) in regs.into_iter().enumerate() {
            let at = word(i as u32);
            if away { self.m.mr(Code::Mov_rm64_r64, at, r)? } else { self.m.rm(Code::Mov_r64_rm64, r, at)? }
        }
        let masks = if self.m.width == VectorWidth::Whole { 1..8 } else { 0..0 };
        for k in masks {
            let (at, r) = (word(7 + k), Register::K0 + k);
            if away {
                self.m.mr(Code::VEX_Kmovw_m16_kr, at, r)?
            } else {
                self.m.rm(Code::VEX_Kmovw_kr_km16, r, at)?
            }
        }
        Ok(())
    }
}
