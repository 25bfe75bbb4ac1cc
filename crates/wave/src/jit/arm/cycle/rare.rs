//! Code of a loop that is seldom run, after all other.

use super::super::assembler::{A, Made, SP};
use super::super::call::UNIT;
use super::super::encode::*;
use super::super::frame::row;
use super::{CONTEXT, LAST, PATIENCE, context};
use crate::jit::cycle::{Cycle, Rare, Stub};
use crate::kernels::compiled::{Context, one_of_loop, tired};
use std::mem::offset_of;

impl Cycle<'_> {
    pub fn stub(&mut self, stub: Stub) -> Made<()> {
        stub.from.into_iter().flatten().for_each(|from| self.e.m.land(from));
        let patience = context(offset_of!(Context, patience));
        match stub.what {
            Rare::Tired(op, sides, full) => {
                self.e.set_sides(sides, full);
                self.end_counters()?;
                self.keep(stub.held, true)?;
                let m = &mut self.e.m;
                m.memory(STR_W, 2, PATIENCE, patience)?;
                m.dnm(MOV, 0, 0, CONTEXT)?;
                m.number(1, op.into())?;
                m.number(A, tired as *const () as u64)?;
                m.put(BLR | u32::from(A) << 5)?;
                self.faults.push(self.e.m.jump(CBNZ)?);
                self.keep(stub.held, false)?;
                self.e.m.memory(LDR_W, 2, PATIENCE, patience)?;
            }
            Rare::Odd => self.add_number(context(offset_of!(Context, odd)), 1)?,
            Rare::Line(n) => self.add_number(context(offset_of!(Context, lines)), n.unwrap_or(1) as u32)?,
            Rare::Zero(d) => self.e.m.zero(d)?,
            Rare::Gather(g) => self.gather(&g)?,
            Rare::Outside(g) => self.outside(&g)?,
            Rare::Parts(p) => self.parts_apart(&p, stub.held)?,
            Rare::Call { op, args, results } => {
                self.keep(stub.held, true)?;
                self.e.arguments(self.call, &args)?;
                let m = &mut self.e.m;
                m.dnm(MOV, 0, 0, CONTEXT)?;
                m.number(1, op as u64)?;
                m.add(2, SP, 16 * self.call)?;
                m.number(A, one_of_loop as *const () as u64)?;
                m.put(BLR | u32::from(A) << 5)?;
                self.keep(stub.held, false)?;
                for (r, i) in results {
                    self.e.m.load(r, row(self.call + UNIT * i))?;
                }
            }
        }
        self.e.m.jump_back(JUMP, stub.back)
    }

    /// Puts aside what a call may change, or fetches it.
    pub fn keep(&mut self, held: u32, away: bool) -> Made<()> {
        self.e.keep(self.kept, held, LAST, away)
    }
}
