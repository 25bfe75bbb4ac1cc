//! What is counted at every turn of a loop, in registers of the CPU: a memory's sum waits for the one before it.
//!
//! A register has how often its place was passed since it was last written out: where the executing lanes change, and after the loop.
//! So it is done where that is seldom ([`seldom_changes`]).

use super::super::assembler::Made;
use super::super::emit::low;
use super::{B, Cycle, ROWS, context};
use crate::counting::tally::Row;
use crate::jit::nodes::body::Item;
use crate::jit::nodes::region::{Block, End, Loop, To};
use crate::kernels::compiled::Context;
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use std::mem::offset_of;

/// The registers for it.
const REGISTERS: [Register; 3] = [Register::RBX, Register::R12, Register::R13];

/// The last of them, where lanes' loads want it.
pub const SPARE: Register = REGISTERS[2];

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counter {
    /// Warps that pass a counter's row, and diverged ones among them.
    Row(u16),
    /// Accesses: where in the context, and how many each time.
    Access(usize, usize),
}

impl Cycle<'_> {
    /// Gives registers to what the loop passes most.
    pub fn choose_counters(&mut self) {
        self.counters.clear();
        let Some(hot) = seldom_changes(self.region) else { return };
        let most = REGISTERS.len() - self.wants_spare() as usize;
        for (block, _) in self.region.blocks.iter().zip(hot).filter(|b| b.1) {
            let rows = block.body.each.iter().filter_map(|item| match *item {
                Item::Tally(row) => Some(row),
                _ => None,
            });
            let back = match block.end {
                End::Back { row, .. } if row != 0 => Some(row),
                _ => None,
            };
            let loads = self.loads_of(&block.body);
            let all = rows.chain(back).map(Counter::Row);
            for counter in all.chain(loads.map(|(at, n)| Counter::Access(at, n))) {
                if self.counters.len() < most && !self.counters.contains(&counter) {
                    self.counters.push(counter);
                }
            }
        }
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

/// The blocks that a warp goes through turn by turn, if the executing lanes change in none of them: lanes go their own way after a test
/// that finds some, which is seldom.
fn seldom_changes(region: &Loop) -> Option<Vec<bool>> {
    let mut hot = vec![false; region.blocks.len()];
    let mut left = vec![0];
    while let Some(b) = left.pop() {
        if std::mem::replace(&mut hot[b], true) {
            continue;
        }
        let Block { body, none, end } = &region.blocks[b];
        let changes = body.each.iter().position(|i| matches!(i, Item::Exec(_)));
        let tests = body.each.iter().position(|i| matches!(i, Item::Test(_)));
        if changes.is_some_and(|c| tests.is_none_or(|t| c < t)) {
            return None;
        }
        let next = match (*none, *end) {
            (Some(none), _) => [Some(none), None],
            (None, End::Go(to) | End::Back { to, .. }) => [Some(to), None],
            (None, End::If(_, a, b)) => [Some(a), Some(b)],
            (None, End::Any { some, none }) => [Some(some), Some(none)],
            (None, End::Park(_)) => return None,
        };
        left.extend(next.into_iter().flatten().filter_map(|to| match to {
            To::Block(b) => Some(b),
            To::Out(_) => None,
        }));
    }
    Some(hot)
}
