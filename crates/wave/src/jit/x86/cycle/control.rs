//! Who executes, and what is counted.
//!
//! AVX-512 has the lanes of a warp in a mask register of its own, AVX2 as two vectors on the stack.

use super::super::assembler::{Made, Source, TooMuch, VectorWidth};
use super::super::frame::WARPS;
use super::super::frame::row;
use super::{A, A32, B, B32, CONTEXT, context, exec};
use crate::counting::tally::Row;
use crate::jit::cycle::Cycle;
use crate::jit::cycle::counters::Counter;
use crate::kernels::compiled::Context;
use crate::recording::{Bin, Id};
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use std::mem::offset_of;

impl Cycle<'_> {
    /// Warps side by side.
    pub fn warps_beside(&self) -> usize {
        self.e.sides() / self.of_warp()
    }

    /// The masks of the warp that is `j` after the first of those side by side, in the context's array at `at`.
    pub fn lanes_at(&self, at: usize, j: usize) -> MemoryOperand {
        let scale = if self.halves() { 1 } else { 2 };
        let at = (at + 2 * j) as i64;
        MemoryOperand::with_base_index_scale_displ_size(CONTEXT, WARPS[0], scale, at, 1)
    }

    /// The lanes of the wave's that each warp comes with.
    pub fn begin_lanes(&mut self, warps: usize) -> Made<()> {
        let at = offset_of!(Context, exec);
        if self.e.is_full() {
            return Ok(());
        }
        if self.halves() {
            for k in 0..2 * warps {
                let from = MemoryOperand { displacement: (at + k) as i64, ..self.lanes_at(at, 0) };
                self.e.load_mask(0, from)?;
                self.e.m.store(row(self.executing + k as u32), 0)?;
            }
        } else {
            for k in 0..warps {
                let from = self.lanes_at(at, k);
                self.e.m.rm(Code::VEX_Kmovw_kr_km16, Register::K0 + exec(k) as u32, from)?;
            }
        }
        self.count_lanes()
    }

    /// What a counter that is passed counts from here on: who executes has changed.
    pub fn count_lanes(&mut self) -> Made<()> {
        let beside = self.warps_beside();
        let (warps, diverged) = (context(offset_of!(Context, warps)), context(offset_of!(Context, diverged)));
        let began = offset_of!(Context, began);
        if beside == 1 {
            self.bits(0)?;
            self.e.m.rr(Code::Xor_r32_rm32, B32, B32)?;
            let then = self.lanes_at(began, 0);
            self.e.m.rm(Code::Cmp_r16_rm16, Register::CX, then)?;
            self.e.m.r(Code::Setne_rm8, Register::DL)?;
            return self.e.m.mr(Code::Mov_rm64_r64, diverged, B);
        }
        self.e.m.mi(Code::Mov_rm64_imm32, warps, 0)?;
        self.e.m.mi(Code::Mov_rm64_imm32, diverged, 0)?;
        for k in 0..beside {
            self.bits(k)?;
            self.e.m.rr(Code::Test_rm32_r32, A32, A32)?;
            let none = self.e.m.jump(Code::Je_rel32_64)?;
            self.e.m.mi(Code::Add_rm64_imm32, warps, 1)?;
            let then = self.lanes_at(began, k);
            self.e.m.rm(Code::Cmp_r16_rm16, Register::CX, then)?;
            let same = self.e.m.jump(Code::Je_rel32_64)?;
            self.e.m.mi(Code::Add_rm64_imm32, diverged, 1)?;
            self.e.m.land(same);
            self.e.m.land(none);
        }
        Ok(())
    }

    /// Those with which they leave.
    pub fn end_lanes(&mut self, lanes: bool) -> Made<()> {
        let at = offset_of!(Context, exec);
        let each = if self.e.is_full() { 0 } else { self.warps_beside() };
        for k in 0..each {
            let to = self.lanes_at(at, k);
            if !lanes {
                self.e.m.mi(Code::Mov_rm16_imm16, to, 0)?;
            } else if self.halves() {
                self.bits(k)?;
                self.e.m.mr(Code::Mov_rm16_r16, to, Register::CX)?;
            } else {
                self.e.m.mr(Code::VEX_Kmovw_m16_kr, to, Register::K0 + exec(k) as u32)?;
            }
        }
        if lanes {
            self.e.m.mi(Code::Mov_rm32_imm32, context(offset_of!(Context, lanes)), 1)?;
        }
        Ok(())
    }

    /// Bits of the lanes of warp `k` that execute, in ecx; edx is lost.
    pub fn bits(&mut self, k: usize) -> Made<()> {
        if !self.halves() {
            return self.e.m.rr(Code::VEX_Kmovw_r32_kr, A32, Register::K0 + exec(k) as u32);
        }
        let r = self.e.vector()?;
        let v = self.e.m.vector(r);
        for (half, to) in [A32, B32].into_iter().enumerate() {
            self.e.m.load(r, row(self.executing + (2 * k + half) as u32))?;
            self.e.m.rr(Code::VEX_Vmovmskps_r32_ymm, to, v)?;
        }
        self.e.m.ri(Code::Shl_rm32_imm8, B32, 8)?;
        self.e.m.rr(Code::Or_r32_rm32, A32, B32)?;
        self.e.let_go(r);
        Ok(())
    }

    /// Flags: zero if no lane is in any of these masks.
    pub fn test(&mut self, ids: &[Id]) -> Made<()> {
        let mut regs = vec![];
        for id in ids {
            regs.push(self.e.in_register(*id)?);
        }
        self.test_in(&regs)
    }
    fn test_in(&mut self, regs: &[u8]) -> Made<()> {
        let [first, rest @ ..] = regs else { return Err(TooMuch) };
        if self.e.m.width == VectorWidth::Whole {
            let k = |r: u8| Register::K0 + r as u32;
            let [rest @ .., last] = rest else {
                return self.e.m.rr(Code::VEX_Kortestw_kr_kr, k(*first), k(*first));
            };
            let mut all = *first;
            if !rest.is_empty() {
                all = self.e.mask()?;
                let mut so_far = *first;
                for r in rest {
                    self.e.m.rrr(Code::VEX_Korw_kr_kr_kr, k(all), k(so_far), k(*r))?;
                    so_far = all;
                }
                self.e.let_go_mask(all);
            }
            return self.e.m.rr(Code::VEX_Kortestw_kr_kr, k(all), k(*last));
        }
        let v = self.e.m.vector(*first);
        self.e.m.rr(Code::VEX_Vmovmskps_r32_ymm, A32, v)?;
        for r in rest {
            let v = self.e.m.vector(*r);
            self.e.m.rr(Code::VEX_Vmovmskps_r32_ymm, B32, v)?;
            self.e.m.rr(Code::Or_r32_rm32, A32, B32)?;
        }
        self.e.m.rr(Code::Test_rm32_r32, A32, A32)
    }
    /// Flags: zero if no lane executes.
    pub fn any_lane(&mut self) -> Made<()> {
        let sides = self.e.sides();
        if self.e.m.width == VectorWidth::Whole {
            let all: Vec<u8> = (0..sides).map(exec).collect();
            return self.test_in(&all);
        }
        let r = self.e.vector()?;
        let v = self.e.m.vector(r);
        self.e.m.load(r, row(self.executing))?;
        for k in 1..sides as u32 {
            self.e.m.bin(Bin::Or, r, r, Source::Mem(row(self.executing + k)))?;
        }
        self.e.m.rr(Code::VEX_Vmovmskps_r32_ymm, A32, v)?;
        self.e.let_go(r);
        self.e.m.rr(Code::Test_rm32_r32, A32, A32)
    }
    /// Lanes of the value execute from here on, of the side at hand.
    pub fn executes(&mut self, id: Id) -> Made<()> {
        let s = self.e.in_register(id)?;
        let k = self.e.this_side();
        if self.halves() {
            return self.e.m.store(row(self.executing + k as u32), s);
        }
        let k = Register::K0 + exec(k) as u32;
        self.e.m.rr(Code::VEX_Kmovw_kr_km16, k, Register::K0 + s as u32)
    }
    pub fn no_lane(&mut self) -> Made<()> {
        if self.halves() {
            let r = self.e.vector()?;
            self.e.m.zero(r)?;
            for k in 0..self.e.sides() as u32 {
                self.e.m.store(row(self.executing + k), r)?;
            }
            self.e.let_go(r);
            return Ok(());
        }
        for k in 0..self.e.sides() {
            let k = Register::K0 + exec(k) as u32;
            self.e.m.rrr(Code::VEX_Kxorw_kr_kr_kr, k, k, k)?;
        }
        Ok(())
    }

    /// Adds `n` for each warp with lanes to a number of the context's; rdx is lost.
    pub fn add(&mut self, at: usize, n: usize) -> Made<()> {
        if self.counted(Counter::Access(at, n))? {
            return Ok(());
        }
        let beside = self.warps_beside();
        if self.e.is_full() || beside == 1 {
            return self.e.m.mi(Code::Add_rm64_imm32, context(at), (n * beside) as i32);
        }
        self.e.m.rm(Code::Mov_r64_rm64, B, context(offset_of!(Context, warps)))?;
        if n > 1 {
            self.e.m.made(Instruction::with3(Code::Imul_r64_rm64_imm32, B, B, n as i32))?;
        }
        self.e.m.mr(Code::Add_rm64_r64, context(at), B)
    }

    /// The counter of the row is passed.
    pub fn tally(&mut self, i: u16) -> Made<()> {
        if self.counted(Counter::Row(i))? {
            return Ok(());
        }
        let beside = self.warps_beside();
        let (warps, diverged) =
            (self.row_at(i, offset_of!(Row, warps)), self.row_at(i, offset_of!(Row, diverged)));
        if self.e.is_full() || beside == 1 {
            self.e.m.mi(Code::Add_rm64_imm32, warps, beside as i32)?;
        } else {
            self.e.m.rm(Code::Mov_r64_rm64, A, context(offset_of!(Context, warps)))?;
            self.e.m.mr(Code::Add_rm64_r64, warps, A)?;
        }
        if self.e.is_full() {
            // Who has all lanes began with all.
            return Ok(());
        }
        self.e.m.rm(Code::Mov_r64_rm64, A, context(offset_of!(Context, diverged)))?;
        self.e.m.mr(Code::Add_rm64_r64, diverged, A)
    }
}
