//! A function's frame, and where the registers of the wave are.

use super::assembler::{Made, VectorWidth};
use crate::jit::emit::{Emit, Source};
use crate::recording::{Bin, Id};
use iced_x86::{Code, MemoryOperand, Register};
use shader::bytecode::{Reg, UNIT_BYTES};

/// First byte of the wave's registers, live warps yet to come, lanes that execute, the warp's number and what its rows begin at.
pub const REGS: Register = Register::RDI;
pub const LIVE: Register = Register::ESI;
pub const EXEC: Register = Register::RDX;
pub const WARPS: [Register; MOST_SIDE_BY_SIDE] = [Register::R8, Register::R11, Register::R14, Register::R15];
pub const OFFSETS: [Register; MOST_SIDE_BY_SIDE] =
    [Register::RAX, Register::RBX, Register::R12, Register::R13];
/// Of these the caller's values are put aside.
pub const CALLERS: [Register; 5] =
    [Register::RBX, Register::R12, Register::R13, Register::R14, Register::R15];

/// Warps that the loop does one instruction after the other, so that none waits for its own results.
pub const MOST_SIDE_BY_SIDE: usize = 4;

/// The lower half of a register.
pub fn low(r: Register) -> Register {
    Register::EAX + (r as u32 - Register::RAX as u32)
}

/// A row of the stack frame.
pub fn row(i: u32) -> MemoryOperand {
    MemoryOperand::with_base_displ(Register::RSP, (i * 64).into())
}

impl Emit<'_> {
    /// The function's begin; where the size of its frame is told later.
    pub fn enter(&mut self) -> Made<usize> {
        let m = &mut self.m;
        m.r(Code::Push_r64, Register::RBP)?;
        m.rr(Code::Mov_r64_rm64, Register::RBP, Register::RSP)?;
        CALLERS.iter().try_for_each(|r| m.r(Code::Push_r64, *r))?;
        m.ri(Code::Sub_rm64_imm32, Register::RSP, 1 << 20)?;
        let frame = m.later();
        m.ri(Code::And_rm64_imm8, Register::RSP, -64)?;
        m.find_pool()?;
        Ok(frame)
    }
    /// Its end.
    pub fn leave(&mut self) -> Made<()> {
        self.m.op0(Code::VEX_Vzeroupper)?;
        let top = MemoryOperand::with_base_displ(Register::RBP, -8 * CALLERS.len() as i64);
        self.m.rm(Code::Lea_r64_m, Register::RSP, top)?;
        for r in CALLERS.into_iter().rev() {
            self.m.r(Code::Pop_r64, r)?;
        }
        self.m.r(Code::Pop_r64, Register::RBP)?;
        self.m.op0(Code::Retnq)
    }

    /// Where a word register of the wave lies, for this warp.
    pub fn register(&self, r: Reg) -> MemoryOperand {
        let at = (r.unit() * UNIT_BYTES) as i64;
        if r.is_uniform() || !self.inside {
            return MemoryOperand::with_base_displ(REGS, at);
        }
        if let Some(n) = self.sides_of_warp {
            let at = at + (64 * (self.k / n) + 32 * (self.k % n)) as i64;
            return MemoryOperand::with_base_index_scale_displ_size(REGS, OFFSETS[0], 1, at, 1);
        }
        MemoryOperand::with_base_index_scale_displ_size(REGS, OFFSETS[self.k], 1, at, 1)
    }
    /// Where a part of a register of 64-bit lanes lies: of as many lanes as a vector has words, the first half and the last.
    pub fn register_part(&self, r: Reg, part: u8) -> MemoryOperand {
        let bytes = if self.m.width == VectorWidth::Whole { 64 } else { 32 };
        let at = (r.unit() * UNIT_BYTES) as i64 + bytes * part as i64;
        if r.is_uniform() || !self.inside {
            return MemoryOperand::with_base_displ(REGS, at);
        }
        // Twice as far as words.
        if let Some(n) = self.sides_of_warp {
            let at = at + (128 * (self.k / n) + 64 * (self.k % n)) as i64;
            return MemoryOperand::with_base_index_scale_displ_size(REGS, OFFSETS[0], 2, at, 1);
        }
        MemoryOperand::with_base_index_scale_displ_size(REGS, OFFSETS[self.k], 2, at, 1)
    }
    /// Where this warp's bits of a mask lie.
    pub fn mask_at(&self, base: Register, at: i64) -> MemoryOperand {
        let scale = if self.m.width == VectorWidth::Whole { 2 } else { 1 };
        if let Some(n) = self.sides_of_warp {
            let at = at + (2 * (self.k / n) + self.k % n) as i64;
            return MemoryOperand::with_base_index_scale_displ_size(base, WARPS[0], scale, at, 1);
        }
        MemoryOperand::with_base_index_scale_displ_size(base, WARPS[self.k], scale, at, 1)
    }

    /// A uniform register, of which so many units are written, has its value sixteen times: `to` has the first ones.
    pub fn spread(&mut self, to: MemoryOperand, s: u8, units: i64) -> Made<()> {
        if self.m.width == VectorWidth::Whole {
            return Ok(());
        }
        self.m.store(MemoryOperand { displacement: to.displacement + 32 * units, ..to }, s)
    }
    /// The lanes of a mask have the value of vector s.
    pub fn store_some(&mut self, r: Reg, lanes: u8, s: u8) -> Made<()> {
        let to = self.register(r);
        if self.m.width == VectorWidth::Whole {
            return self.m.store_some(to, lanes, s);
        }
        let d = self.vector()?;
        self.m.load(d, to)?;
        self.m.select(d, lanes, Source::Reg(s), d)?;
        self.m.store(to, d)
    }
    /// A Bool register has a mask: this warp's, or, before the loop, all sixteen of a uniform one.
    pub fn store_bits(&mut self, r: Reg, s: u8) -> Made<()> {
        let unit = (r.unit() * UNIT_BYTES) as i64;
        if !self.inside {
            let to = MemoryOperand::with_base_displ(REGS, unit);
            if self.m.width == VectorWidth::Half {
                let s = self.m.vector(s);
                return self.m.mr(Code::VEX_Vmovdqu_ymmm256_ymm, to, s);
            }
            let free = self.vector()?;
            let y = Register::YMM0 + free as u32;
            self.m.rr(Code::EVEX_Vpmovm2w_ymm_kr, y, Register::K0 + s as u32)?;
            return self.m.mr(Code::EVEX_Vmovdqu32_ymmm256_k1z_ymm, to, y);
        }
        let to = self.mask_at(REGS, unit);
        if self.m.width == VectorWidth::Whole {
            return self.m.store_mask(to, s);
        }
        let v = self.m.vector(s);
        self.m.rr(Code::VEX_Vmovmskps_r32_ymm, Register::ECX, v)?;
        self.m.mr(Code::Mov_rm8_r8, to, Register::CL)
    }

    /// Mask or vector d = the warp's lanes in a Bool register, or those that execute.
    pub fn read_mask(&mut self, d: u8, r: Option<Reg>) -> Made<()> {
        let from = match r {
            Some(r) => self.mask_at(REGS, (r.unit() * UNIT_BYTES) as i64),
            None => self.mask_at(EXEC, 0),
        };
        self.load_mask(d, from)
    }
    pub fn load_mask(&mut self, d: u8, m: MemoryOperand) -> Made<()> {
        if self.m.width == VectorWidth::Whole {
            return self.m.rm(Code::VEX_Kmovw_kr_km16, Register::K0 + d as u32, m);
        }
        let v = self.m.vector(d);
        self.m.rm(Code::VEX_Vpbroadcastb_ymm_xmmm8, v, m)?;
        let bits = self.m.bits();
        self.m.bin(Bin::And, d, d, Source::Mem(bits))?;
        self.m.compare(Bin::IEq, d, d, Source::Mem(bits))
    }

    // ---- masks that have registers of their own ----

    pub fn set_reserved_masks(&mut self, masks: u32) {
        self.reserved_masks = masks;
    }
    pub fn let_go_mask(&mut self, mask: u8) {
        self.held_masks &= !(1 << mask);
    }
    pub fn pin_mask(&mut self, id: Id, r: u8) {
        let place = &mut self.place[id as usize];
        (place.reg, place.pinned) = (Some(r), true);
        self.masks[r as usize] = Some(id);
    }
}
