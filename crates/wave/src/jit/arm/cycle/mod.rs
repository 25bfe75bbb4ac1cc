//! Loops: what is the machine's of [`crate::jit::cycle`]. The quads of one warp go side by side, each a side.

mod access;
mod control;
mod later;
mod parts;
mod rare;

pub use access::Gather;
pub use parts::Parts;

use super::assembler::{A, B, Made, Mem, T0, TooMuch};
use super::call;
use super::encode::*;
use super::frame::{BITS, LIVE, LONGS, REGS, ROWS, WORDS, row};
use super::loops::tables;
use crate::jit::cycle::Cycle;
use crate::jit::nodes::body::{Body, Item};
use crate::jit::nodes::region::Block;
use crate::kernels::compiled::{Context, Memory, Storage};
use crate::recording::{Id, Node};
use access::memory;
use shader::bytecode::{Reg, UNIT_BYTES};
use std::mem::offset_of;

/// Vectors of a warp.
const QUADS: usize = 4;

/// The context, in a segment's state's stead, and the warp's number.
pub const CONTEXT: u8 = super::frame::STATE;
pub const WARP: u8 = 7;
/// Turns that are left until the watchdog is asked; 1 if the warp has fewer lanes than it began with; the bits of lanes that do not
/// execute; turns of the warp at hand.
pub const PATIENCE: u8 = 10;
pub const DIVERGED: u8 = 11;
pub const MISSING: u8 = 12;
pub const TURNS: u8 = 13;
/// What counts.
pub const COUNTERS: [u8; 2] = [14, 2];
/// The last that calls keep.
const LAST: u8 = 14;

/// A member of the context.
pub fn context(at: usize) -> Mem {
    Mem::at(CONTEXT, at)
}

/// Rows for what a call keeps, for the lanes that execute, and for a kernel's results and operands.
pub const KEPT: u32 = call::KEPT;
pub const EXECUTING: u32 = 4;
pub const CALL: u32 = call::CALL;

/// How a jump depends on what was compared or tested: not at all, or on whether there was some lane, or none.
pub type Branch = u32;
pub const ALWAYS: Branch = JUMP;
pub const SOME: Branch = CBNZ | A as u32;
pub const NONE: Branch = CBZ | A as u32;
/// A general register with a value's first lane.
pub type Scalar = u8;

impl Cycle<'_> {
    pub fn run(&mut self) -> Made<usize> {
        let frame = self.e.enter()?;
        let m = &mut self.e.m;
        m.dnm(MOV, CONTEXT, 0, 0)?;
        m.dnm(MOV, REGS, 0, 1)?;
        m.memory(LDR_W, 2, LIVE, context(offset_of!(Context, live)))?;
        m.memory(LDR_X, 3, ROWS, context(offset_of!(Context, rows)))?;
        m.memory(LDR_W, 2, PATIENCE, context(offset_of!(Context, patience)))?;
        self.choose_bools();
        self.choose_counters();
        self.begin_counters()?;
        for i in 0..self.region.uniforms.len() {
            self.hold(self.initial + i as u32, self.region.uniforms[i])?;
        }
        self.begin_later()?;
        let again = self.e.m.here();
        let m = &mut self.e.m;
        let done = m.jump(CBZ | u32::from(LIVE))?;
        m.dn(RBIT_W, WARP, LIVE)?;
        m.dn(CLZ_W, WARP, WARP)?;
        m.dn(DECREMENT, B, LIVE)?;
        m.dnm(AND_W, LIVE, LIVE, B)?;
        self.warp()?;
        self.e.m.jump_back(JUMP, again)?;
        self.e.m.land(done);
        self.next_group(again)?;
        self.end_later()?;
        self.e.m.memory(STR_W, 2, PATIENCE, context(offset_of!(Context, patience)))?;
        self.e.m.number(0, 0)?;
        let leave = self.e.m.here();
        self.e.leave()?;
        for stub in std::mem::take(&mut self.stubs) {
            self.stub(stub)?;
        }
        for fault in std::mem::take(&mut self.faults) {
            self.e.m.land(fault);
        }
        self.e.m.number(0, 1)?;
        self.e.m.jump_back(JUMP, leave)?;
        Ok(frame)
    }

    /// Goes on with the next of the workgroups that share the wave, if there is one.
    fn next_group(&mut self, again: usize) -> Made<()> {
        let Some(place) = self.region.places.iter().position(|p| *p == Storage::Shared) else {
            return Ok(());
        };
        let m = &mut self.e.m;
        let groups = context(offset_of!(Context, groups));
        m.memory(LDR_W, 2, A, groups)?;
        let none = m.jump(CBZ | u32::from(A))?;
        m.dn(DECREMENT, A, A)?;
        m.memory(STR_W, 2, A, groups)?;
        m.dnm(ADD_X_2, B, CONTEXT, A)?;
        m.memory(LDR_W, 2, LIVE, Mem::at(B, offset_of!(Context, group_live)))?;
        m.dnm(ADD_X_3, B, CONTEXT, A)?;
        for (member, from) in [
            (offset_of!(Memory, ptr), offset_of!(Context, group_ptr)),
            (offset_of!(Memory, middle), offset_of!(Context, group_middle)),
        ] {
            m.memory(LDR_X, 3, A, Mem::at(B, from))?;
            m.memory(STR_X, 3, A, memory(place as u32, member))?;
        }
        m.jump_back(JUMP, again)?;
        m.land(none);
        Ok(())
    }

    /// One turn less is left: the jump if some are.
    pub fn patience(&mut self) -> Made<Branch> {
        self.e.m.dn(DECREMENT, PATIENCE, PATIENCE)?;
        Ok(CBNZ | u32::from(PATIENCE))
    }
    /// A value is the lanes of side `k` that execute.
    pub fn place_lanes(&mut self, id: Id, k: usize) {
        self.e.put_in_slot(id, self.executing + k as u32);
    }

    // ---- uniform registers ----

    /// A row of the frame gets what a uniform register has.
    pub fn hold(&mut self, to: u32, r: Reg) -> Made<()> {
        self.e.m.load(T0, home(r))?;
        self.e.m.store(row(to), T0)
    }
    /// A uniform register gets what a row of the frame has.
    pub fn give(&mut self, r: Reg, from: u32) -> Made<()> {
        self.e.m.load(T0, row(from))?;
        self.e.m.store(home(r), T0)?;
        self.e.spread(home(r), T0, 1)
    }

    // ---- what is chosen ----

    /// Gives rows to the Bool registers of the loop's blocks: it has them as vectors.
    fn choose_bools(&mut self) {
        for body in self.region.blocks.iter().map(|b| &b.body) {
            let read = body.nodes.iter().filter_map(|n| if let Node::Mask(r) = n { Some(*r) } else { None });
            for r in read.chain(bools_written(body)) {
                let next = self.own;
                if *self.e.bools.entry(r.unit()).or_insert(next) == next {
                    self.own += 4;
                }
            }
        }
        self.most_rows = self.own;
    }

    /// Vectors that a block's own values have, at least and at most.
    pub fn own_vectors(&self) -> (usize, usize) {
        (10, 20)
    }
    /// Those that no value has in any block.
    pub fn fixed_vectors(&self) -> u32 {
        self.region.blocks.iter().fold(0, |all, b| all | tables(&b.body))
    }
    /// Quads that a block does together, instruction by instruction, as far as there is room: what they have in common is loaded once.
    /// All where they may go apart at its end.
    pub fn together(&self, body: &Body) -> usize {
        if body.each.iter().any(|i| matches!(i, Item::Test(_) | Item::Exec(_))) {
            return 4;
        }
        let room = self.e.vector_count() - self.e.reserved().count_ones() as usize;
        match room / self.most_pressure() {
            4.. => 4,
            2.. => 2,
            _ => 1,
        }
    }

    // ---- warps ----

    /// Takes the next warp through the loop.
    fn warp(&mut self) -> Made<()> {
        self.e.set_sides(QUADS, false);
        self.pin(4);
        let m = &mut self.e.m;
        m.dnm(ADD_X_6, WORDS, REGS, WARP)?;
        m.dnm(ADD_X_7, LONGS, REGS, WARP)?;
        m.dnm(ADD_X_1, BITS, REGS, WARP)?;
        self.begin_lanes()?;
        for i in 0..self.region.uniforms.len() {
            let r = self.region.uniforms[i];
            let from = self.initial + i as u32;
            match self.pins.iter().find(|p| p.reg == r).copied() {
                Some(pin) => self.e.m.load(pin.first, row(from))?,
                None => self.give(r, from)?,
            }
        }
        for (unit, to) in self.bools() {
            self.spread_bits(Mem::at(BITS, unit * UNIT_BYTES), to)?;
        }
        self.warps_later()?;
        self.load_pins(QUADS)?;
        self.all_blocks(QUADS)
    }

    /// Bool registers and their rows, in order.
    fn bools(&self) -> Vec<(usize, u32)> {
        let mut all: Vec<(usize, u32)> = self.e.bools.iter().map(|(unit, row)| (*unit, *row)).collect();
        all.sort_unstable();
        all
    }

    /// A warp leaves the loop.
    pub fn out(&mut self, lanes: bool, sides: usize) -> Made<()> {
        let region = self.region;
        let Some((_, live)) = &region.exits[!lanes as usize] else { return Err(TooMuch) };
        self.store_pins(live, sides)?;
        for (unit, from) in self.bools() {
            let written = |b: &Block| bools_written(&b.body).any(|r| r.unit() == unit);
            if live.has(unit) && region.blocks.iter().any(written) {
                self.gather_bits(from)?;
                self.e.m.memory(STRH_W, 1, A, Mem::at(BITS, unit * UNIT_BYTES))?;
            }
        }
        self.end_counters()?;
        self.out_later()?;
        self.end_lanes(lanes)
    }
}

/// Bool registers that a block writes.
fn bools_written(body: &Body) -> impl Iterator<Item = Reg> {
    body.each.iter().filter_map(|item| match *item {
        Item::Store(r, id) if body.nodes[id as usize].is_mask() => Some(r),
        _ => None,
    })
}

/// Where a uniform register of the wave lies.
pub fn home(r: Reg) -> Mem {
    Mem::at(REGS, r.unit() * UNIT_BYTES)
}
