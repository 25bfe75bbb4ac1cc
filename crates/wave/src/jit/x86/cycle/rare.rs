//! Code of a region that is seldom run, after all other.

use super::super::assembler::Made;
use super::super::frame::{REGS, low, row};
use super::{B, CONTEXT, PATIENCE, context};
use crate::jit::cycle::{Cycle, Rare, Stub};
use crate::kernels::compiled::{Context, one_of_loop, tired};
use iced_x86::{Code, Register};
use std::mem::offset_of;

impl Cycle<'_> {
    pub fn stub(&mut self, stub: Stub) -> Made<()> {
        stub.from.into_iter().flatten().for_each(|from| self.e.m.land(from));
        match stub.what {
            Rare::Tired(op, side, full) => {
                self.e.set_sides(side, full);
                self.end_counters()?;
                self.keep(stub.held, true)?;
                let m = &mut self.e.m;
                m.mr(Code::Mov_rm32_r32, context(offset_of!(Context, patience)), low(PATIENCE))?;
                m.rr(Code::Mov_r64_rm64, Register::RDI, CONTEXT)?;
                m.r64(Register::RSI, op as u64)?;
                m.r64(Register::RAX, tired as *const () as u64)?;
                m.op0(Code::VEX_Vzeroupper)?;
                m.r(Code::Call_rm64, Register::RAX)?;
                m.rr(Code::Test_rm32_r32, Register::EAX, Register::EAX)?;
                self.faults.push(self.e.m.jump(Code::Jne_rel32_64)?);
                self.keep(stub.held, false)?;
                self.e.m.rm(Code::Mov_r32_rm32, low(PATIENCE), context(offset_of!(Context, patience)))?;
            }
            // Runs are counted where no lane leaves alone: one at a time.
            Rare::Odd => self.e.m.mi(Code::Add_rm64_imm32, context(offset_of!(Context, odd)), 1)?,
            Rare::Line(Some(n)) => {
                self.e.m.mi(Code::Add_rm64_imm32, context(offset_of!(Context, lines)), n as i32)?
            }
            Rare::Line(None) => {
                self.e.m.rm(Code::Mov_r64_rm64, B, context(offset_of!(Context, warps)))?;
                self.e.m.mr(Code::Add_rm64_r64, context(offset_of!(Context, lines)), B)?;
            }
            Rare::Zero(d) => self.e.m.zero(d)?,
            Rare::Gather(g) => self.gather(&g)?,
            Rare::Outside(g) => self.outside(&g)?,
            Rare::Parts(p) => self.parts_apart(&p, stub.held, stub.back)?,
            Rare::Call { op, args, results } => {
                self.keep(stub.held, true)?;
                self.e.arguments(self.call, self.kept, &args, stub.held)?;
                let m = &mut self.e.m;
                m.rr(Code::Mov_r64_rm64, Register::RDI, CONTEXT)?;
                m.r64(Register::RSI, op as u64)?;
                m.rm(Code::Lea_r64_m, Register::RDX, row(self.call))?;
                m.r64(Register::RAX, one_of_loop as *const () as u64)?;
                m.op0(Code::VEX_Vzeroupper)?;
                m.r(Code::Call_rm64, Register::RAX)?;
                self.keep(stub.held, false)?;
                for (r, i) in results {
                    let from = row(self.call + i);
                    self.e.m.load(r, from)?;
                }
            }
        }
        self.e.m.jump_back(Code::Jmp_rel32_64, stub.back)
    }

    /// Puts aside what a call may change, or fetches it.
    pub fn keep(&mut self, held: u32, away: bool) -> Made<()> {
        let regs = [REGS, Register::RSI, Register::R8, Register::R9, CONTEXT, Register::R11, Register::RAX];
        self.e.keep(self.kept, regs, held, away)
    }
}
