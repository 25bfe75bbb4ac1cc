//! Assembler code of a region: a function that takes warps through the loop, one after the other or some side by side.
//!
//! What a block hands to another lies in the wave's registers, or, of those that are used most, in vector registers all along
//! ([`Pin`]); within a block values go where [`Emit`] puts them. With AVX2 the two halves of a warp go side by side, for where
//! a warp goes its lanes say together.

mod access;
mod block;
mod control;
mod counters;
mod decide;
mod later;
mod parts;
mod plan;
mod rare;

pub use rare::Arg;

use super::assembler::{Jump, Made, Target, TooMuch, VectorWidth};
use super::emit::row;
use super::emit::{Emit, LIVE, OFFSETS, REGS, WARPS, low};
use crate::jit::nodes::region::{Loop, To};
use crate::kernels::compiled::Storage;
use crate::kernels::compiled::{Context, Memory};
use crate::recording::Id;
use access::memory;
use counters::Counter;
use decide::Compare;
use iced_x86::{Code, MemoryOperand, Register};
use rare::Stub;
use shader::bytecode::{Op, Reg, UNIT_BYTES};
use std::mem::offset_of;

/// The context, and what is free for addresses and counts.
pub const CONTEXT: Register = Register::R10;
pub const A: Register = Register::RCX;
pub const B: Register = Register::RDX;
/// Rows of counters, turns of the warps at hand, and turns that are left until the watchdog is asked. (Others are [`super::counters`]'s.)
pub const ROWS: Register = Register::R11;
pub const TURNS: Register = Register::R14;
pub const PATIENCE: Register = Register::R15;

/// A member of the context.
pub fn context(at: usize) -> MemoryOperand {
    MemoryOperand::with_base_displ(CONTEXT, at as i64)
}

/// Rows for what a call keeps: vectors, then masks, then registers of addresses.
const KEPT: u32 = 34;
/// Warps side by side at most whose lanes go apart.
const MOST_APART: usize = 2;
/// Rows for a kernel's operands and results.
const CALL: u32 = 8;

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
    pub scalars: Vec<(Id, Register)>,
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
    let kept = uniforms + 2 * MOST_APART as u32;
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

impl<'r> Cycle<'r> {
    fn run(&mut self) -> Made<usize> {
        let frame = self.e.enter()?;
        let m = &mut self.e.m;
        m.rr(Code::Mov_r64_rm64, CONTEXT, Register::RDI)?;
        m.rr(Code::Mov_r64_rm64, REGS, Register::RSI)?;
        m.rm(Code::Mov_r32_rm32, LIVE, context(offset_of!(Context, live)))?;
        m.rm(Code::Mov_r64_rm64, ROWS, context(offset_of!(Context, rows)))?;
        m.rm(Code::Mov_r32_rm32, low(PATIENCE), context(offset_of!(Context, patience)))?;
        self.choose_counters();
        self.begin_counters()?;
        let region = self.region;
        for (i, r) in region.uniforms.iter().enumerate() {
            self.copy(row(self.initial + i as u32), home(*r))?;
        }
        self.begin_later()?;
        let again = self.e.m.here();
        self.e.m.rr(Code::Test_rm32_r32, LIVE, LIVE)?;
        let done = self.e.m.jump(Code::Je_rel32_64)?;
        self.e.m.rr(Code::Tzcnt_r32_rm32, low(WARPS[0]), LIVE)?;
        let n = self.beside();
        if n > 1 {
            let few = self.follow(n)?;
            self.warps(n)?;
            self.e.m.jump_back(Code::Jmp_rel32_64, again)?;
            few.into_iter().for_each(|j| self.e.m.land(j));
        }
        self.e.m.rr(Code::VEX_Blsr_r32_rm32, LIVE, LIVE)?;
        self.warps(1)?;
        self.e.m.jump_back(Code::Jmp_rel32_64, again)?;
        self.e.m.land(done);
        self.next_group(again)?;
        self.end_later()?;
        self.e.m.rr(Code::Xor_r32_rm32, Register::EAX, Register::EAX)?;
        self.e.m.mr(Code::Mov_rm32_r32, context(offset_of!(Context, patience)), low(PATIENCE))?;
        let leave = self.e.m.here();
        self.e.leave()?;
        for stub in std::mem::take(&mut self.stubs) {
            self.stub(stub)?;
        }
        for fault in std::mem::take(&mut self.faults) {
            self.e.m.land(fault);
        }
        self.e.m.ri(Code::Mov_rm32_imm32, Register::EAX, 1)?;
        self.e.m.jump_back(Code::Jmp_rel32_64, leave)?;
        Ok(frame)
    }

    /// Goes on with the next of the workgroups that share the wave, if there is one.
    fn next_group(&mut self, again: usize) -> Made<()> {
        let Some(place) = self.region.places.iter().position(|p| *p == Storage::Shared) else {
            return Ok(());
        };
        let m = &mut self.e.m;
        let groups = context(offset_of!(Context, groups));
        let of = |at: usize, scale: u32| {
            MemoryOperand::with_base_index_scale_displ_size(CONTEXT, A, scale, at as i64, 1)
        };
        m.rm(Code::Mov_r32_rm32, A32, groups)?;
        m.ri(Code::Sub_rm32_imm8, A32, 1)?;
        let none = m.jump(Code::Jb_rel32_64)?;
        m.mr(Code::Mov_rm32_r32, groups, A32)?;
        m.rm(Code::Mov_r32_rm32, LIVE, of(offset_of!(Context, group_live), 4))?;
        for (member, from) in [
            (offset_of!(Memory, ptr), offset_of!(Context, group_ptr)),
            (offset_of!(Memory, middle), offset_of!(Context, group_middle)),
        ] {
            m.rm(Code::Mov_r64_rm64, B, of(from, 8))?;
            m.mr(Code::Mov_rm64_r64, memory(place as u32, member), B)?;
        }
        m.jump_back(Code::Jmp_rel32_64, again)?;
        self.e.m.land(none);
        Ok(())
    }

    /// Sides of a warp: AVX2 has two.
    pub fn of_warp(&self) -> usize {
        if self.halves() { 2 } else { 1 }
    }
    pub fn halves(&self) -> bool {
        self.e.m.width == VectorWidth::Half
    }

    /// Takes `n` warps that follow each other from the first live one, if all of these are: jumps for if not. Where several go side
    /// by side and stay together all their lanes execute.
    fn follow(&mut self, n: usize) -> Made<Vec<Jump>> {
        let m = &mut self.e.m;
        let first = low(WARPS[0]);
        let mut few = vec![];
        m.rr(Code::Mov_r32_rm32, A32, first)?;
        m.rr(Code::Mov_r32_rm32, B32, LIVE)?;
        m.rr(Code::Shr_rm32_CL, B32, Register::CL)?;
        m.r(Code::Not_rm32, B32)?;
        m.ri(Code::Test_rm32_imm32, B32, (1 << n) - 1)?;
        few.push(m.jump(Code::Jne_rel32_64)?);
        if !self.region.diverges {
            for j in (0..n).step_by(4) {
                let at = (offset_of!(Context, exec) + 2 * j) as i64;
                let lanes = MemoryOperand::with_base_index_scale_displ_size(CONTEXT, WARPS[0], 2, at, 1);
                let code = if n == 2 { Code::Cmp_rm32_imm8 } else { Code::Cmp_rm64_imm8 };
                self.e.m.mi(code, lanes, -1)?;
                few.push(self.e.m.jump(Code::Jne_rel32_64)?);
            }
        }
        let m = &mut self.e.m;
        m.ri(Code::Mov_rm32_imm32, B32, (1 << n) - 1)?;
        m.rr(Code::Shl_rm32_CL, B32, Register::CL)?;
        m.rr(Code::Xor_r32_rm32, LIVE, B32)?;
        Ok(few)
    }

    /// 64 bytes.
    pub fn copy(&mut self, to: MemoryOperand, from: MemoryOperand) -> Made<()> {
        self.e.m.load(0, from)?;
        self.e.m.store(to, 0)?;
        if self.halves() {
            let on = |m: MemoryOperand| MemoryOperand { displacement: m.displacement + 32, ..m };
            self.e.m.load(0, on(from))?;
            self.e.m.store(on(to), 0)?;
        }
        Ok(())
    }

    // ---- warps ----

    /// Takes the next warps through the loop, so many side by side.
    fn warps(&mut self, warps: usize) -> Made<()> {
        let sides = self.of_warp() * warps;
        self.e.set_sides(sides, warps > 1 && !self.region.diverges);
        self.pin(sides);
        let masks = if self.halves() || self.e.is_full() { 0 } else { warps };
        self.e.set_reserved_masks((0..masks).fold(0, |m, k| m | 1 << exec(k)));
        let (warp, offset) = (low(WARPS[0]), low(OFFSETS[0]));
        let m = &mut self.e.m;
        m.rr(Code::Mov_r32_rm32, offset, warp)?;
        m.ri(Code::Shl_rm32_imm8, offset, 6)?;
        if self.halves() {
            self.e.m.rr(Code::Add_r32_rm32, warp, warp)?;
        }
        self.begin_lanes(warps)?;
        for i in 0..self.region.uniforms.len() {
            let r = self.region.uniforms[i];
            let from = row(self.initial + i as u32);
            match self.pins.iter().find(|p| p.reg == r).copied() {
                Some(pin) => self.e.m.load(pin.first, from)?,
                None => self.copy(home(r), from)?,
            }
        }
        self.warps_later()?;
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
                ends.push(self.e.m.jump(Code::Jmp_rel32_64)?);
            }
        }
        if !self.waiting.is_empty() {
            return Err(TooMuch);
        }
        ends.into_iter().for_each(|j| self.e.m.land(j));
        Ok(())
    }

    pub fn land(&mut self, to: To) {
        for (_, j) in self.waiting.extract_if(.., |w| w.0 == to) {
            self.e.m.land(j);
        }
    }

    /// A jump to a block, or out of the loop.
    pub fn go(&mut self, code: Code, to: To) -> Made<()> {
        if let To::Block(b) = to
            && let Some(at) = self.labels[b]
        {
            return self.e.m.jump_back(code, at);
        }
        let j = self.e.m.jump(code)?;
        self.waiting.push((to, j));
        Ok(())
    }
    /// The same, to what comes next perhaps.
    pub fn go_on(&mut self, b: usize, to: To) -> Made<()> {
        if to == To::Block(b + 1) { Ok(()) } else { self.go(Code::Jmp_rel32_64, to) }
    }

    /// A warp leaves the loop.
    fn out(&mut self, lanes: bool, sides: usize) -> Made<()> {
        let region = self.region;
        let Some((_, live)) = &region.exits[!lanes as usize] else { return Err(TooMuch) };
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
        self.end_counters()?;
        self.out_later()?;
        self.end_lanes(lanes)
    }
}

/// The mask register that says who executes, of a warp beside others.
pub fn exec(k: usize) -> u8 {
    7 - k as u8
}

pub const A32: Register = Register::ECX;
pub const B32: Register = Register::EDX;

/// Where a uniform register of the wave lies.
pub fn home(r: Reg) -> MemoryOperand {
    MemoryOperand::with_base_displ(REGS, (r.unit() * UNIT_BYTES) as i64)
}
