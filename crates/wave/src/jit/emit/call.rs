//! What a segment with branches has beside arithmetic: counters that are passed, and kernels for lanes out of the ordinary.

use super::super::machine::{Jump, Mem};
use super::{Emit, Made, TooMuch};
use crate::state::Kernel;
use shader::bytecode::Op;

/// Where a kernel's operand comes from.
#[derive(Clone, Copy)]
pub enum Arg {
    Reg(u8),
    Mem(Mem),
}

/// What a segment's calls and counters need.
#[derive(Default)]
pub struct Calls<'s> {
    /// Of checks: the ops that kernels do, and all kernels.
    pub ops: &'s [Op],
    pub kernels: &'s [Kernel],
    pub list: Vec<Call>,
    /// First rows of what a call keeps, and, where a warp takes several vectors, of the lanes that passed counters; how many of these there were.
    pub kept: u32,
    pub passed: u32,
    pub counts: u32,
    pub next_count: u32,
}

impl<'s> Calls<'s> {
    pub fn new(ops: &'s [Op], kernels: &'s [Kernel]) -> Calls<'s> {
        Calls { ops, kernels, ..Calls::default() }
    }
}

/// A kernel is called, out of line.
pub struct Call {
    pub from: Jump,
    pub back: usize,
    pub check: usize,
    pub args: Vec<Arg>,
    pub results: Vec<u8>,
    /// Vector registers that have something.
    pub held: u32,
}

impl Emit<'_> {
    /// Has a kernel do an op where a lane is out of the ordinary.
    pub fn check(&mut self, at: u32, i: usize) -> Made<()> {
        let check = &self.checks[i];
        let mut results = vec![];
        for id in &check.results {
            results.push(self.in_register(*id)?);
        }
        let odd = self.in_register(check.odd)?;
        let from = self.m.jump_if(true, odd)?;
        let mut args = vec![];
        for id in &check.args {
            args.push(match self.place[*id as usize].reg {
                Some(r) => Arg::Reg(r),
                None => Arg::Mem(self.home(*id).ok_or(TooMuch)?),
            });
        }
        let held = self.taken();
        self.calls.list.push(Call { from, back: self.m.here(), check: i, args, results, held });
        for id in check.args.iter().chain(&check.results).chain([&check.odd]) {
            self.used(at, *id);
        }
        Ok(())
    }

    /// The calls, after all other code.
    pub fn call_all(&mut self) -> Made<()> {
        std::mem::take(&mut self.calls.list).into_iter().try_for_each(|call| self.call(call))
    }
}
