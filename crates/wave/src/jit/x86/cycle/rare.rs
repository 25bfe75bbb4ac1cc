//! Code of a region that is seldom run, after all other.

use super::super::assembler::{Jump, Made};
use super::super::emit::row;
use super::super::emit::{REGS, low};
use super::{B, CONTEXT, Cycle, PATIENCE, context};
use crate::kernels::compiled::{Context, one_of_loop, tired};
use iced_x86::{Code, MemoryOperand, Register};
use shader::bytecode::Op;
use std::mem::offset_of;

/// Where it is gone to from, and back.
pub struct Stub {
    pub from: [Option<Jump>; 2],
    pub back: usize,
    pub what: Rare,
    /// Vector registers that have something.
    pub held: u32,
}

pub enum Rare {
    /// Back edges ran out: the op, how many sides there are, and whether all lanes execute.
    Tired(u32, usize, bool),
    /// A run begins within a line; an access has a second line.
    Odd,
    /// Of each warp beside, or of those that have lanes then.
    Line(Option<usize>),
    /// A load of one word out of bounds.
    Zero(u8),
    /// A load whose lanes are not as its shape says.
    Gather(super::access::Gather),
    /// A load some of whose lanes' words do not lie within.
    Outside(super::access::Gather),
    /// Lanes whose scalars do not follow those of the lane before, or lie out of bounds.
    Parts(super::parts::Parts),
    /// A kernel does the op.
    Call { op: *const Op, args: Vec<Arg>, results: Vec<(u8, u32)> },
}

/// Where a kernel's operand comes from.
#[derive(Clone, Copy)]
pub enum Arg {
    Reg(u8),
    Mem(MemoryOperand),
}

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
