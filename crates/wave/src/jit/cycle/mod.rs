//! Assembler code of a region: a function that takes warps through the loop, one after the other or some side by side.
//!
//! What a block hands to another lies in the wave's registers, or, of those that are used most, in vector registers all along
//! ([`Pin`]); within a block values go where [`Emit`] puts them. Where a warp takes several vectors, these go side by side, for where
//! a warp goes its lanes say together. (What depends on the machine is `super::machine`'s.)

mod block;
pub mod counters;
pub mod decide;
mod plan;

use super::emit::{Arg, Emit, Made, TooMuch};
use super::machine::{ALWAYS, Branch, CALL, EXECUTING, Gather, Jump, KEPT, Parts, ROW, Scalar, Target};
use super::nodes::live::Set;
use super::nodes::region::{Loop, To};
use crate::recording::Id;
use counters::Counter;
use decide::Compare;
use shader::bytecode::{Op, Reg, UNIT_BYTES};

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
    Gather(Gather),
    /// A load some of whose lanes' words do not lie within.
    Outside(Gather),
    /// Lanes whose scalars do not follow those of the lane before, or lie out of bounds.
    Parts(Parts),
    /// A kernel does the op.
    Call { op: *const Op, args: Vec<Arg>, results: Vec<(u8, u32)> },
}

/// A register of the wave's that has vector registers of its own: one, or one for each side.
#[derive(Clone, Copy)]
pub struct Pin {
    pub reg: Reg,
    pub first: u8,
    pub written: bool,
}

pub struct Cycle<'r> {
    pub e: Emit<'r>,
    pub region: &'r Loop,
    /// Of the checks: the op that a kernel does.
    pub ops: &'r [Op],
    pub pins: Vec<Pin>,
    /// By block: where it begins, and jumps there from before it.
    pub labels: Vec<Option<usize>>,
    pub waiting: Vec<(To, Jump)>,
    pub stubs: Vec<Stub>,
    pub faults: Vec<Jump>,
    /// What registers count.
    pub counters: Vec<Counter>,
    /// Of the block at hand: values of which a general register has the first lane.
    pub scalars: Vec<(Id, Scalar)>,
    /// The first values of its parts that are read ([`Cycle::load_part`]).
    pub loaded: Vec<Id>,
    /// How the block at hand ends, if by integers.
    pub compare: Option<Compare>,
    /// First rows of: uniform registers as they were, the executing lanes (AVX2), what calls keep, kernels' operands.
    pub initial: u32,
    pub executing: u32,
    pub kept: u32,
    pub call: u32,
    /// Uniform registers that are read after the loop.
    pub later: Vec<Reg>,
    /// Rows of: when each of these was written ([`Cycle::written`]), and what they held then.
    pub when: u32,
    pub last: u32,
    /// First row of a block's own.
    pub own: u32,
    pub most_rows: u32,
}

/// The code of `region`, aligned to 64; `ops` are what kernels do for its checks, and stay where they are.
///
/// # Errors
/// The region asks for more than a function has room for.
pub fn compile(region: &Loop, target: Target, ops: &[Op]) -> Made<Vec<u8>> {
    let e = Emit::of_loop(&region.blocks[0].body, target);
    let uniforms = region.uniforms.len() as u32;
    let kept = (uniforms + EXECUTING).next_multiple_of(UNIT_BYTES as u32 / ROW);
    let later: Vec<Reg> = region.uniforms.iter().copied().filter(|r| region.read_later(r.unit())).collect();
    let when = kept + KEPT + CALL;
    let own = when + 2 * later.len() as u32;
    let mut it = Cycle {
        e,
        region,
        ops,
        pins: vec![],
        labels: vec![],
        waiting: vec![],
        stubs: vec![],
        faults: vec![],
        counters: vec![],
        scalars: vec![],
        loaded: vec![],
        compare: None,
        initial: 0,
        executing: uniforms,
        kept,
        call: kept + KEPT,
        when,
        last: when + later.len() as u32,
        later,
        own,
        most_rows: own,
    };
    let frame = it.run()?;
    it.e.set_rows(it.most_rows.max(it.e.rows()));
    it.e.finish(frame)
}

impl Cycle<'_> {
    pub fn land(&mut self, to: To) {
        for (_, j) in self.waiting.extract_if(.., |w| w.0 == to) {
            self.e.m.land(j);
        }
    }

    /// Kept registers of the wave, of so many vectors of a warp, are loaded; those that blocks write first are not.
    pub fn load_pins(&mut self, sides: usize) -> Made<()> {
        for pin in self.pins.clone() {
            if pin.reg.is_uniform() && self.region.uniforms.contains(&pin.reg) {
                continue;
            }
            for k in 0..if pin.reg.is_uniform() { 1 } else { sides } {
                self.e.set_side(k);
                let from = self.e.register(pin.reg);
                self.e.m.load(pin.first + k as u8, from)?;
            }
        }
        self.e.set_side(0);
        Ok(())
    }

    /// Kept registers that were written and are read later go back to the wave's.
    pub fn store_pins(&mut self, live: &Set, sides: usize) -> Made<()> {
        for pin in self.pins.clone() {
            if pin.reg.is_uniform() || !pin.written || !live.has(pin.reg.unit()) {
                continue;
            }
            for k in 0..sides {
                self.e.set_side(k);
                let to = self.e.register(pin.reg);
                self.e.m.store(to, pin.first + k as u8)?;
            }
        }
        self.e.set_side(0);
        Ok(())
    }

    /// The blocks, and the ways out.
    pub fn all_blocks(&mut self, sides: usize) -> Made<()> {
        self.labels = vec![None; self.region.blocks.len()];
        for b in 0..self.region.blocks.len() {
            self.labels[b] = Some(self.e.m.here());
            self.land(To::Block(b));
            self.block(b)?;
        }
        let mut ends = vec![];
        for lanes in [true, false] {
            if self.waiting.iter().any(|w| w.0 == To::Out(lanes)) {
                self.land(To::Out(lanes));
                self.out(lanes, sides)?;
                ends.push(self.e.m.jump(ALWAYS)?);
            }
        }
        if !self.waiting.is_empty() {
            return Err(TooMuch);
        }
        ends.into_iter().for_each(|j| self.e.m.land(j));
        Ok(())
    }

    /// A jump to a block, or out of the loop.
    pub fn go(&mut self, when: Branch, to: To) -> Made<()> {
        if let To::Block(b) = to
            && let Some(at) = self.labels[b]
        {
            return self.e.m.jump_back(when, at);
        }
        let j = self.e.m.jump(when)?;
        self.waiting.push((to, j));
        Ok(())
    }
    /// The same, to what comes next perhaps.
    pub fn go_on(&mut self, b: usize, to: To) -> Made<()> {
        if to == To::Block(b + 1) { Ok(()) } else { self.go(ALWAYS, to) }
    }
}
