//! Loops: what is the machine's of [`crate::jit::cycle`].

mod access;
mod control;
mod counters;
mod decide;
mod later;
mod parts;
mod plan;
mod rare;

pub use access::Gather;
pub use parts::Parts;

use super::assembler::{Jump, Made, TooMuch, VectorWidth};
use super::frame::{LIVE, OFFSETS, REGS, WARPS, low, row};
use crate::jit::cycle::Cycle;
use crate::kernels::compiled::{Context, Memory, Storage};
use crate::recording::Id;
use access::memory;
use iced_x86::{Code, MemoryOperand, Register};
use shader::bytecode::{Reg, UNIT_BYTES};
use std::mem::offset_of;

/// The context, and what is free for addresses and counts.
pub const CONTEXT: Register = Register::R10;
pub const A: Register = Register::RCX;
pub const B: Register = Register::RDX;
/// Rows of counters, turns of the warps at hand, and turns that are left until the watchdog is asked. (Others are [`super::counters`]'s.)
pub const ROWS: Register = Register::R11;
pub const TURNS: Register = Register::R14;
pub const PATIENCE: Register = Register::R15;

/// A member of the context.
pub fn context(at: usize) -> MemoryOperand {
    MemoryOperand::with_base_displ(CONTEXT, at as i64)
}

/// Rows for what a call keeps: vectors, then masks, then registers of addresses.
pub const KEPT: u32 = 34;
/// Rows for lanes that execute: of two warps side by side at most, if lanes go apart.
pub const EXECUTING: u32 = 4;
/// Rows for a kernel's operands and results.
pub const CALL: u32 = 8;

/// How a jump depends on what was compared or tested: not at all, or on whether there was some lane, or none.
pub type Branch = Code;
pub const ALWAYS: Branch = Code::Jmp_rel32_64;
pub const SOME: Branch = Code::Jne_rel32_64;
pub const NONE: Branch = Code::Je_rel32_64;
/// A general register with a value's first lane.
pub type Scalar = Register;

impl<'r> Cycle<'r> {
    pub fn run(&mut self) -> Made<usize> {
        let frame = self.e.enter()?;
        let m = &mut self.e.m;
        m.rr(Code::Mov_r64_rm64, CONTEXT, Register::RDI)?;
        m.rr(Code::Mov_r64_rm64, REGS, Register::RSI)?;
        m.rm(Code::Mov_r32_rm32, LIVE, context(offset_of!(Context, live)))?;
        m.rm(Code::Mov_r64_rm64, ROWS, context(offset_of!(Context, rows)))?;
        m.rm(Code::Mov_r32_rm32, low(PATIENCE), context(offset_of!(Context, patience)))?;
        self.choose_counters();
        self.begin_counters()?;
        let region = self.region;
        for (i, r) in region.uniforms.iter().enumerate() {
            self.copy(row(self.initial + i as u32), home(*r))?;
        }
        self.begin_later()?;
        let again = self.e.m.here();
        self.e.m.rr(Code::Test_rm32_r32, LIVE, LIVE)?;
        let done = self.e.m.jump(Code::Je_rel32_64)?;
        self.e.m.rr(Code::Tzcnt_r32_rm32, low(WARPS[0]), LIVE)?;
        let n = self.beside();
        if n > 1 {
            let few = self.follow(n)?;
            self.warps(n)?;
            self.e.m.jump_back(Code::Jmp_rel32_64, again)?;
            few.into_iter().for_each(|j| self.e.m.land(j));
        }
        self.e.m.rr(Code::VEX_Blsr_r32_rm32, LIVE, LIVE)?;
        self.warps(1)?;
        self.e.m.jump_back(Code::Jmp_rel32_64, again)?;
        self.e.m.land(done);
        self.next_group(again)?;
        self.end_later()?;
        self.e.m.rr(Code::Xor_r32_rm32, Register::EAX, Register::EAX)?;
        self.e.m.mr(Code::Mov_rm32_r32, context(offset_of!(Context, patience)), low(PATIENCE))?;
        let leave = self.e.m.here();
        self.e.leave()?;
        for stub in std::mem::take(&mut self.stubs) {
            self.stub(stub)?;
        }
        for fault in std::mem::take(&mut self.faults) {
            self.e.m.land(fault);
        }
        self.e.m.ri(Code::Mov_rm32_imm32, Register::EAX, 1)?;
        self.e.m.jump_back(Code::Jmp_rel32_64, leave)?;
        Ok(frame)
    }

    /// Goes on with the next of the workgroups that share the wave, if there is one.
    fn next_group(&mut self, again: usize) -> Made<()> {
        let Some(place) = self.region.places.iter().position(|p| *p == Storage::Shared) else {
            return Ok(());
        };
        let m = &mut self.e.m;
        let groups = context(offset_of!(Context, groups));
        let of = |at: usize, scale: u32| {
            MemoryOperand::with_base_index_scale_displ_size(CONTEXT, A, scale, at as i64, 1)
        };
        m.rm(Code::Mov_r32_rm32, A32, groups)?;
        m.ri(Code::Sub_rm32_imm8, A32, 1)?;
        let none = m.jump(Code::Jb_rel32_64)?;
        m.mr(Code::Mov_rm32_r32, groups, A32)?;
        m.rm(Code::Mov_r32_rm32, LIVE, of(offset_of!(Context, group_live), 4))?;
        for (member, from) in [
            (offset_of!(Memory, ptr), offset_of!(Context, group_ptr)),
            (offset_of!(Memory, middle), offset_of!(Context, group_middle)),
        ] {
            m.rm(Code::Mov_r64_rm64, B, of(from, 8))?;
            m.mr(Code::Mov_rm64_r64, memory(place as u32, member), B)?;
        }
        m.jump_back(Code::Jmp_rel32_64, again)?;
        self.e.m.land(none);
        Ok(())
    }

    /// One turn less is left: the jump if some are.
    pub fn patience(&mut self) -> Made<Branch> {
        self.e.m.r(Code::Dec_rm32, low(PATIENCE))?;
        Ok(SOME)
    }
    /// A value is the lanes of side `k` that execute.
    pub fn place_lanes(&mut self, id: Id, k: usize) {
        if self.halves() {
            self.e.put_in_slot(id, self.executing + k as u32);
        } else {
            self.e.pin_mask(id, exec(k));
        }
    }

    /// Sides of a warp: AVX2 has two.
    pub fn of_warp(&self) -> usize {
        if self.halves() { 2 } else { 1 }
    }
    pub fn halves(&self) -> bool {
        self.e.m.width == VectorWidth::Half
    }

    /// Takes `n` warps that follow each other from the first live one, if all of these are: jumps for if not. Where several go side
    /// by side and stay together all their lanes execute.
    fn follow(&mut self, n: usize) -> Made<Vec<Jump>> {
        let m = &mut self.e.m;
        let first = low(WARPS[0]);
        let mut few = vec![];
        m.rr(Code::Mov_r32_rm32, A32, first)?;
        m.rr(Code::Mov_r32_rm32, B32, LIVE)?;
        m.rr(Code::Shr_rm32_CL, B32, Register::CL)?;
        m.r(Code::Not_rm32, B32)?;
        m.ri(Code::Test_rm32_imm32, B32, (1 << n) - 1)?;
        few.push(m.jump(Code::Jne_rel32_64)?);
        if !self.region.diverges {
            for j in (0..n).step_by(4) {
                let at = (offset_of!(Context, exec) + 2 * j) as i64;
                let lanes = MemoryOperand::with_base_index_scale_displ_size(CONTEXT, WARPS[0], 2, at, 1);
                let code = if n == 2 { Code::Cmp_rm32_imm8 } else { Code::Cmp_rm64_imm8 };
                self.e.m.mi(code, lanes, -1)?;
                few.push(self.e.m.jump(Code::Jne_rel32_64)?);
            }
        }
        let m = &mut self.e.m;
        m.ri(Code::Mov_rm32_imm32, B32, (1 << n) - 1)?;
        m.rr(Code::Shl_rm32_CL, B32, Register::CL)?;
        m.rr(Code::Xor_r32_rm32, LIVE, B32)?;
        Ok(few)
    }

    /// 64 bytes.
    pub fn copy(&mut self, to: MemoryOperand, from: MemoryOperand) -> Made<()> {
        self.e.m.load(0, from)?;
        self.e.m.store(to, 0)?;
        if self.halves() {
            let on = |m: MemoryOperand| MemoryOperand { displacement: m.displacement + 32, ..m };
            self.e.m.load(0, on(from))?;
            self.e.m.store(on(to), 0)?;
        }
        Ok(())
    }

    // ---- warps ----

    /// Takes the next warps through the loop, so many side by side.
    fn warps(&mut self, warps: usize) -> Made<()> {
        let sides = self.of_warp() * warps;
        self.e.set_sides(sides, warps > 1 && !self.region.diverges);
        self.pin(sides);
        let masks = if self.halves() || self.e.is_full() { 0 } else { warps };
        self.e.set_reserved_masks((0..masks).fold(0, |m, k| m | 1 << exec(k)));
        let (warp, offset) = (low(WARPS[0]), low(OFFSETS[0]));
        let m = &mut self.e.m;
        m.rr(Code::Mov_r32_rm32, offset, warp)?;
        m.ri(Code::Shl_rm32_imm8, offset, 6)?;
        if self.halves() {
            self.e.m.rr(Code::Add_r32_rm32, warp, warp)?;
        }
        self.begin_lanes(warps)?;
        for i in 0..self.region.uniforms.len() {
            let r = self.region.uniforms[i];
            let from = row(self.initial + i as u32);
            match self.pins.iter().find(|p| p.reg == r).copied() {
                Some(pin) => self.e.m.load(pin.first, from)?,
                None => self.copy(home(r), from)?,
            }
        }
        self.warps_later()?;
        self.load_pins(sides)?;
        self.all_blocks(sides)
    }

    /// A warp leaves the loop.
    pub fn out(&mut self, lanes: bool, sides: usize) -> Made<()> {
        let region = self.region;
        let Some((_, live)) = &region.exits[!lanes as usize] else { return Err(TooMuch) };
        self.store_pins(live, sides)?;
        self.end_counters()?;
        self.out_later()?;
        self.end_lanes(lanes)
    }
}

/// The mask register that says who executes, of a warp beside others.
pub fn exec(k: usize) -> u8 {
    7 - k as u8
}

pub const A32: Register = Register::ECX;
pub const B32: Register = Register::EDX;

/// Where a uniform register of the wave lies.
pub fn home(r: Reg) -> MemoryOperand {
    MemoryOperand::with_base_displ(REGS, (r.unit() * UNIT_BYTES) as i64)
}
