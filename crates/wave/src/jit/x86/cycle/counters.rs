//! Registers that count what is counted at every turn of a loop.

use super::super::assembler::Made;
use super::super::frame::low;
use super::{B, ROWS, context};
use crate::counting::tally::Row;
use crate::jit::cycle::Cycle;
use crate::jit::cycle::counters::Counter;
use crate::kernels::compiled::Context;
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use std::mem::offset_of;

/// The registers for it.
const REGISTERS: [Register; 3] = [Register::RBX, Register::R12, Register::R13];

/// The last of them, where lanes' loads want it.
pub const SPARE: Register = REGISTERS[2];

impl Cycle<'_> {
    /// Registers that may count.
    pub fn counting_registers(&self) -> usize {
        REGISTERS.len() - self.wants_spare() as usize
    }
    fn wants_spare(&self) -> bool {
        self.e.m.own_loads && self.region.loads.iter().any(|l| l.shape == 0 && l.part.is_none())
    }

    /// Those that count nothing, and that nobody else wants.
    pub fn free_registers(&self) -> &'static [Register] {
        &REGISTERS[self.counters.len()..REGISTERS.len() - self.wants_spare() as usize]
    }

    /// Counts once more, if a register has it.
    pub fn counted(&mut self, counter: Counter) -> Made<bool> {
        let Some(i) = self.counters.iter().position(|c| *c == counter) else { return Ok(false) };
        self.e.m.r(Code::Inc_rm64, REGISTERS[i])?;
        Ok(true)
    }

    /// They have counted nothing.
    pub fn begin_counters(&mut self) -> Made<()> {
        for r in REGISTERS.into_iter().take(self.counters.len()) {
            self.e.m.rr(Code::Xor_r32_rm32, low(r), low(r))?;
        }
        Ok(())
    }

    /// Writes out what they have counted; rdx and the flags are lost.
    pub fn end_counters(&mut self) -> Made<()> {
        let beside = self.warps_beside();
        for (r, counter) in REGISTERS.into_iter().zip(self.counters.clone()) {
            let (n, to) = match counter {
                Counter::Row(row) => (1, self.row_at(row, offset_of!(Row, warps))),
                Counter::Access(at, n) => (n, context(at)),
            };
            let told = self.e.is_full() || beside == 1;
            let times = if told { n * beside } else { n };
            self.e.m.made(Instruction::with3(Code::Imul_r64_rm64_imm32, B, r, times as i32))?;
            if !told {
                self.e.m.rm(Code::Imul_r64_rm64, B, context(offset_of!(Context, warps)))?;
            }
            self.e.m.mr(Code::Add_rm64_r64, to, B)?;
            if let Counter::Row(row) = counter
                && !self.e.is_full()
            {
                self.e.m.rm(Code::Imul_r64_rm64, r, context(offset_of!(Context, diverged)))?;
                let to = self.row_at(row, offset_of!(Row, diverged));
                self.e.m.mr(Code::Add_rm64_r64, to, r)?;
            }
        }
        self.begin_counters()
    }

    /// A member of a counter's row.
    pub fn row_at(&self, row: u16, member: usize) -> MemoryOperand {
        MemoryOperand::with_base_displ(ROWS, (row as usize * size_of::<Row>() + member) as i64)
    }
}
