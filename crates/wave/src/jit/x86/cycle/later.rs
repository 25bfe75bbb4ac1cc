//! Uniform registers that are read after a loop.
//!
//! Warps leave with values of their own: of the turn in which the last lane left, or, where only some lanes go where a register is
//! written, with what was there before. The wave has what was written last, by whichever warp: each write says in which turn and
//! block it was, and of all warps the latest counts. In one turn's block all write the same.

use super::super::assembler::Made;
use super::super::frame::low;
use super::super::frame::row;
use super::{A, B, TURNS, home};
use crate::jit::cycle::Cycle;
use crate::jit::nodes::region::MOST_BLOCKS;
use iced_x86::{Code, MemoryOperand};
use shader::bytecode::Reg;

/// What turns are counted in: there is room for the number of a block.
const TURN: i32 = MOST_BLOCKS.next_power_of_two() as i32;

impl Cycle<'_> {
    /// Rows of register `i` of those: when the warps at hand wrote it, and (8 bytes on) any so far; what it held then.
    fn when(&self, i: usize) -> MemoryOperand {
        row(self.when + i as u32)
    }
    fn best(&self, i: usize) -> MemoryOperand {
        let at = self.when(i);
        MemoryOperand { displacement: at.displacement + 8, ..at }
    }
    fn held(&self, i: usize) -> MemoryOperand {
        row(self.last + i as u32)
    }

    /// Nobody has written any.
    pub fn begin_later(&mut self) -> Made<()> {
        for i in 0..self.later.len() {
            self.copy(self.held(i), home(self.later[i]))?;
            self.e.m.mi(Code::Mov_rm64_imm32, self.best(i), 0)?;
        }
        Ok(())
    }
    /// The warps to come have not.
    pub fn warps_later(&mut self) -> Made<()> {
        for i in 0..self.later.len() {
            self.e.m.mi(Code::Mov_rm64_imm32, self.when(i), 0)?;
        }
        if self.later.is_empty() { Ok(()) } else { self.e.m.ri(Code::Mov_r32_imm32, low(TURNS), TURN) }
    }
    /// Another turn begins.
    pub fn turn(&mut self) -> Made<()> {
        if self.later.is_empty() { Ok(()) } else { self.e.m.ri(Code::Add_rm64_imm32, TURNS, TURN) }
    }
    /// Block `b` has written the register; rcx is lost.
    pub fn written(&mut self, r: Reg, b: usize) -> Made<()> {
        let Some(i) = self.later.iter().position(|x| *x == r) else { return Ok(()) };
        self.e.m.rm(Code::Lea_r64_m, A, MemoryOperand::with_base_displ(TURNS, b as i64))?;
        self.e.m.mr(Code::Mov_rm64_r64, self.when(i), A)
    }
    /// Warps leave; rcx and the first vector are lost.
    pub fn out_later(&mut self) -> Made<()> {
        for i in 0..self.later.len() {
            let r = self.later[i];
            self.e.m.rm(Code::Mov_r64_rm64, B, self.when(i))?;
            self.e.m.rm(Code::Cmp_r64_rm64, B, self.best(i))?;
            let earlier = self.e.m.jump(Code::Jbe_rel32_64)?;
            self.e.m.mr(Code::Mov_rm64_r64, self.best(i), B)?;
            let to = self.held(i);
            match self.pins.iter().find(|p| p.reg == r).copied() {
                None => self.copy(to, home(r))?,
                Some(pin) => {
                    self.e.m.store(to, pin.first)?;
                    if self.halves() {
                        let rest = MemoryOperand { displacement: to.displacement + 32, ..to };
                        self.e.m.store(rest, pin.first)?;
                    }
                }
            }
            self.e.m.land(earlier);
        }
        Ok(())
    }
    /// All have left.
    pub fn end_later(&mut self) -> Made<()> {
        (0..self.later.len()).try_for_each(|i| self.copy(home(self.later[i]), self.held(i)))
    }
}
