//! Uniform registers that are read after a loop: of all warps the write counts that was done in the latest turn and block.
//!
//! (x86's `cycle/later.rs` says why.)

use super::super::assembler::{A, B, Made, Mem, NONE};
use super::super::encode::*;
use super::super::frame::row;
use super::TURNS;
use crate::jit::cycle::Cycle;
use crate::jit::nodes::region::MOST_BLOCKS;
use shader::bytecode::Reg;

/// What turns are counted in: there is room for the number of a block.
const TURN: u32 = MOST_BLOCKS.next_power_of_two() as u32;

impl Cycle<'_> {
    /// Rows of register `i` of those: when the warp at hand wrote it, and (8 bytes on) any so far; what it held then.
    fn when(&self, i: usize) -> Mem {
        row(self.when + i as u32)
    }
    fn best(&self, i: usize) -> Mem {
        self.when(i).beyond(8)
    }
    fn held(&self, i: usize) -> u32 {
        self.last + i as u32
    }

    /// Nobody has written any.
    pub fn begin_later(&mut self) -> Made<()> {
        for i in 0..self.later.len() {
            self.hold(self.held(i), self.later[i])?;
            self.e.m.memory(STR_X, 3, NONE, self.best(i))?;
        }
        Ok(())
    }
    /// The warp to come has not.
    pub fn warps_later(&mut self) -> Made<()> {
        for i in 0..self.later.len() {
            self.e.m.memory(STR_X, 3, NONE, self.when(i))?;
        }
        if self.later.is_empty() { Ok(()) } else { self.e.m.number(TURNS, TURN.into()) }
    }
    /// Another turn begins.
    pub fn turn(&mut self) -> Made<()> {
        if self.later.is_empty() { Ok(()) } else { self.e.m.add(TURNS, TURNS, TURN) }
    }
    /// Block `b` has written the register.
    pub fn written(&mut self, r: Reg, b: usize) -> Made<()> {
        let Some(i) = self.later.iter().position(|x| *x == r) else { return Ok(()) };
        self.e.m.add(A, TURNS, b as u32)?;
        self.e.m.memory(STR_X, 3, A, self.when(i))
    }
    /// The warp leaves.
    pub fn out_later(&mut self) -> Made<()> {
        for i in 0..self.later.len() {
            let r = self.later[i];
            let m = &mut self.e.m;
            m.memory(LDR_X, 3, A, row(self.when + i as u32))?;
            m.memory(LDR_X, 3, B, row(self.when + i as u32).beyond(8))?;
            m.dnm(CMP_X, 0, A, B)?;
            let earlier = m.jump(JUMP_LS)?;
            self.e.m.memory(STR_X, 3, A, self.best(i))?;
            let to = self.held(i);
            match self.pins.iter().find(|p| p.reg == r).copied() {
                None => self.hold(to, r)?,
                Some(pin) => self.e.m.store(row(to), pin.first)?,
            }
            self.e.m.land(earlier);
        }
        Ok(())
    }
    /// All have left.
    pub fn end_later(&mut self) -> Made<()> {
        (0..self.later.len()).try_for_each(|i| self.give(self.later[i], self.held(i)))
    }
}
