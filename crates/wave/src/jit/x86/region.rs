//! Machine code of a region: a function that takes warps through the loop, one after the other or some side by side.
//!
//! What a block hands to another lies in the wave's registers, or, of those that are used most, in vector registers all along
//! ([`Pins`]); within a block values go where [`Emit`] puts them. With AVX2 the two halves of a warp go side by side, for where
//! a warp goes its lanes say together.

use super::emit::{Emit, LIVE, OFFSETS, REGS, WARPS, low};
use super::machine::{Jump, Made, TooMuch, Width};
use super::place::row;
use crate::jit::enter::Context;
use crate::jit::region::{Block, Check, End, Load, Region, To};
use crate::jit::segment::{Item, Segment};
use crate::recording::{Id, Node};
use iced_x86::{Code, MemoryOperand, Register};
use rustc_hash::FxHashMap;
use shader::bytecode::{Op, Reg, UNIT_BYTES};
use std::mem::offset_of;

/// The context, and what is free for addresses and counts.
pub const CONTEXT: Register = Register::R10;
pub const A: Register = Register::RCX;
pub const B: Register = Register::RDX;

/// A member of the context.
pub fn context(at: usize) -> MemoryOperand {
    MemoryOperand::with_base_displ(CONTEXT, at as i64)
}

/// Rows for what a call keeps: vectors, then masks, then registers of addresses.
const KEPT: u32 = 34;
/// Warps side by side at most whose lanes go apart.
const MOST_APART: usize = 2;
/// Items for all sides at most.
const MOST_ITEMS: usize = 640;
/// Rows for a kernel's operands and results.
const CALL: u32 = 8;

/// A register of the wave's that has vector registers of its own: one, or one for each side.
#[derive(Clone, Copy)]
struct Pin {
    reg: Reg,
    first: u8,
    written: bool,
}

/// Code that is seldom run, behind all other.
pub struct Stub {
    pub from: Jump,
    pub back: usize,
    pub what: Rare,
    /// Vector registers that have something.
    pub held: u32,
}

pub enum Rare {
    /// Back edges ran out: the op.
    Tired(u32),
    /// A run begins within a line; an access has a second line.
    Odd,
    /// Of each warp beside, or of those that have lanes then.
    Line(Option<usize>),
    /// A load of one word out of bounds.
    Zero(u8),
    /// A load whose lanes are not as its shape says.
    Gather(super::access::Gather),
    /// A kernel does the op.
    Call { op: *const Op, args: Vec<Arg>, results: Vec<(u8, u32)> },
}

/// Where a kernel's operand comes from.
#[derive(Clone, Copy)]
pub enum Arg {
    Reg(u8),
    Mem(MemoryOperand),
}

pub struct Cycle<'r> {
    pub e: Emit<'r>,
    pub region: &'r Region,
    /// Of the checks: the op that a kernel does.
    ops: &'r [Op],
    pins: Vec<Pin>,
    /// By block: where it begins, and jumps there from before it.
    labels: Vec<Option<usize>>,
    waiting: Vec<(To, Jump)>,
    pub stubs: Vec<Stub>,
    faults: Vec<Jump>,
    /// First rows of: uniform registers as they were, who executes (AVX2), what calls keep, kernels' operands.
    initial: u32,
    pub executing: u32,
    kept: u32,
    call: u32,
    /// First row of a block's own.
    own: u32,
    most_rows: u32,
}

/// The code of `region`, aligned to 64; `ops` are what kernels do for its checks, and stay where they are.
///
/// # Errors
/// The region asks for more than a function has room for.
pub fn compile(region: &Region, width: Width, ops: &[Op]) -> Made<Vec<u8>> {
    let mut e = Emit::new(&region.blocks[0].seg, width);
    e.inside = true;
    e.sides_of_warp = Some(if width == Width::Half { 2 } else { 1 });
    let uniforms = region.uniforms.len() as u32;
    let kept = uniforms + 2 * MOST_APART as u32;
    let mut it = Cycle {
        e,
        region,
        ops,
        pins: vec![],
        labels: vec![],
        waiting: vec![],
        stubs: vec![],
        faults: vec![],
        initial: 0,
        executing: uniforms,
        kept,
        call: kept + KEPT,
        own: kept + KEPT + CALL,
        most_rows: kept + KEPT + CALL,
    };
    let frame = it.run()?;
    it.e.rows = it.most_rows.max(it.e.rows);
    it.e.finish(frame)
}

impl<'r> Cycle<'r> {
    fn run(&mut self) -> Made<usize> {
        let frame = self.e.enter()?;
        let m = &mut self.e.m;
        m.rr(Code::Mov_r64_rm64, CONTEXT, Register::RDI)?;
        m.rr(Code::Mov_r64_rm64, REGS, Register::RSI)?;
        m.rm(Code::Mov_r32_rm32, LIVE, context(offset_of!(Context, live)))?;
        let region = self.region;
        for (i, r) in region.uniforms.iter().enumerate() {
            self.copy(row(self.initial + i as u32), home(*r))?;
        }
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
        self.e.m.rr(Code::Xor_r32_rm32, Register::EAX, Register::EAX)?;
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

    /// Sides of a warp: AVX2 has two.
    pub fn of_warp(&self) -> usize {
        if self.halves() { 2 } else { 1 }
    }
    pub fn halves(&self) -> bool {
        self.e.m.width == Width::Half
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
    fn copy(&mut self, to: MemoryOperand, from: MemoryOperand) -> Made<()> {
        self.e.m.load(0, from)?;
        self.e.m.store(to, 0)?;
        if self.halves() {
            let on = |m: MemoryOperand| MemoryOperand { displacement: m.displacement + 32, ..m };
            self.e.m.load(0, on(from))?;
            self.e.m.store(on(to), 0)?;
        }
        Ok(())
    }

    // ---- what is chosen beforehand ----

    /// How many vectors of its own a block needs at one time, of one side.
    fn pressure(block: &Block) -> usize {
        let seg = &block.seg;
        let mut last = vec![usize::MAX; seg.nodes.len()];
        for (i, item) in seg.each.iter().enumerate() {
            if let Item::Compute(id) = item {
                seg.nodes[*id as usize].operands().for_each(|id| last[id as usize] = i);
            } else if let Item::Store(_, id) = item {
                last[*id as usize] = i;
            }
        }
        let (mut now, mut most) = (0usize, 0usize);
        let mut ends = vec![0usize; seg.each.len() + 1];
        for (i, item) in seg.each.iter().enumerate() {
            now -= ends[i];
            if let Item::Compute(id) = *item
                && !seg.nodes[id as usize].is_mask()
                && last[id as usize] != usize::MAX
            {
                now += 1;
                ends[last[id as usize]] += 1;
            }
            most = most.max(now);
        }
        most + 1
    }
    /// Sides that a block does together, instruction by instruction: those whose chains of operations would wait for themselves, as
    /// far as there are registers; all where they may go apart at its end.
    fn together(&self, seg: &Segment) -> usize {
        if self.region.diverges {
            return self.e.side;
        }
        let mut depth = vec![0; seg.nodes.len()];
        let (mut longest, mut work) = (0, 0);
        for item in &seg.each {
            if let Item::Compute(id) = *item {
                let before = seg.nodes[id as usize].operands().map(|x| depth[x as usize]).max().unwrap_or(0);
                depth[id as usize] = before + 1;
                longest = longest.max(before + 1);
                work += 1;
            }
        }
        let wanted = if longest < 8 { 1 } else { (4 * longest as usize).div_ceil(work) };
        let room = self.e.vectors.len() - self.e.reserved.count_ones() as usize;
        wanted.min(room / self.most_pressure()).clamp(self.of_warp(), self.e.side)
    }
    fn most_pressure(&self) -> usize {
        self.region.blocks.iter().map(Self::pressure).max().unwrap_or(1)
    }

    /// Warps side by side. Where they stay together what they share is done once for all, and what one loads the next may load too.
    fn beside(&self) -> usize {
        let r = self.region;
        let items: usize = r.blocks.iter().map(|b| b.seg.each.len()).sum();
        if !r.diverges {
            let fits = |n: &usize| *n <= r.warps && items * n * self.of_warp() <= MOST_ITEMS;
            return [8, 4, 2].into_iter().find(fits).unwrap_or(1);
        }
        let written = self.candidates();
        let count = |uniform: bool| {
            written.iter().filter(|p| p.1.written && p.1.reg.is_uniform() == uniform).count()
        };
        let fits = 2 * (count(false) + self.most_pressure()) + count(true) + 2 <= self.e.vectors.len();
        if !self.halves() && fits { 2 } else { 1 }
    }

    /// Registers of words that blocks share, and how much it would give to pin each.
    fn candidates(&self) -> Vec<(usize, Pin)> {
        let mut all: FxHashMap<Reg, (usize, bool)> = FxHashMap::default();
        for block in &self.region.blocks {
            let seg = &block.seg;
            for item in &seg.each {
                if let Item::Store(r, id) = item
                    && !seg.nodes[*id as usize].is_mask()
                {
                    let it = all.entry(*r).or_default();
                    (it.0, it.1) = (it.0 + 3, true);
                }
                reads(self.region, seg, *item, |id| {
                    if let Node::Word(r) = seg.nodes[id as usize] {
                        all.entry(r).or_default().0 += 2;
                    }
                });
            }
        }
        let mut list: Vec<(usize, Pin)> = all
            .into_iter()
            .map(|(reg, (n, written))| {
                let worth = if written { 100 + n } else { n };
                (worth, Pin { reg, first: 0, written })
            })
            .collect();
        list.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.reg.0.cmp(&b.1.reg.0)));
        list
    }

    /// Gives registers to what is used most.
    fn pin(&mut self, sides: usize) {
        let whole = !self.halves();
        let all = self.e.vectors.len();
        let (least, most) = if whole { (8, 22) } else { (7, 12) };
        let own = (self.most_pressure() * sides.min(2) + 2).clamp(least, most);
        self.pins.clear();
        self.e.reserved = 0;
        let mut next = all;
        for (_, pin) in self.candidates() {
            let n = if pin.reg.is_uniform() { 1 } else { sides };
            if next < own + n {
                continue;
            }
            next -= n;
            self.pins.push(Pin { first: next as u8, ..pin });
            (next..next + n).for_each(|r| self.e.reserved |= 1 << r);
        }
    }

    // ---- warps ----

    /// Takes the next warps through the loop, so many side by side.
    fn warps(&mut self, warps: usize) -> Made<()> {
        let sides = self.of_warp() * warps;
        self.e.side = sides;
        self.e.full = warps > 1 && !self.region.diverges;
        self.pin(sides);
        let masks = if self.halves() || self.e.full { 0 } else { warps };
        self.e.reserved_masks = (0..masks).fold(0, |m, k| m | 1 << exec(k));
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
        for pin in self.pins.clone() {
            if pin.reg.is_uniform() && self.region.uniforms.contains(&pin.reg) {
                continue;
            }
            for k in 0..if pin.reg.is_uniform() { 1 } else { sides } {
                self.e.k = k;
                let from = self.e.register(pin.reg);
                self.e.m.load(pin.first + k as u8, from)?;
            }
        }
        self.e.k = 0;
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

    fn land(&mut self, to: To) {
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
    fn go_on(&mut self, b: usize, to: To) -> Made<()> {
        if to == To::Block(b + 1) { Ok(()) } else { self.go(Code::Jmp_rel32_64, to) }
    }

    /// A warp leaves the loop.
    fn out(&mut self, lanes: bool, sides: usize) -> Made<()> {
        let region = self.region;
        let Some((_, live)) = &region.exits[!lanes as usize] else { return Err(TooMuch) };
        for pin in self.pins.clone() {
            if !pin.written || !live.has(pin.reg.unit()) {
                continue;
            }
            for k in 0..if pin.reg.is_uniform() { 1 } else { sides } {
                self.e.k = k;
                let to = self.e.register(pin.reg);
                self.e.m.store(to, pin.first + k as u8)?;
                if pin.reg.is_uniform() && self.halves() {
                    let rest = MemoryOperand { displacement: to.displacement + 32, ..to };
                    self.e.m.store(rest, pin.first)?;
                }
            }
        }
        self.e.k = 0;
        self.end_lanes(lanes)
    }

    // ---- blocks ----

    fn block(&mut self, b: usize) -> Made<()> {
        let region = self.region;
        let block = &region.blocks[b];
        self.begin(&block.seg, block.end);
        self.count_loads(&block.seg)?;
        for (at, (item, k)) in self.order(&block.seg).into_iter().enumerate() {
            self.e.k = k;
            (self.e.held, self.e.held_masks) = (0, 0);
            self.item(at as u32, item, block)?;
        }
        self.e.k = 0;
        (self.e.held, self.e.held_masks) = (0, 0);
        match block.end {
            End::Go(to) => self.go_on(b, to),
            End::If(c, yes, no) => {
                self.test(&[c])?;
                if yes == To::Block(b + 1) {
                    return self.go(Code::Je_rel32_64, no);
                }
                self.go(Code::Jne_rel32_64, yes)?;
                self.go_on(b, no)
            }
            End::Any { some, none } => {
                self.any_lane()?;
                self.go(Code::Je_rel32_64, none)?;
                self.go_on(b, some)
            }
            End::Park(to) => {
                self.no_lane()?;
                self.go_on(b, to)
            }
            End::Back { row, to, op } => {
                if row != 0 {
                    self.tally(row)?;
                }
                self.e.m.m(Code::Dec_rm32, context(offset_of!(Context, patience)))?;
                let from = self.e.m.jump(Code::Je_rel32_64)?;
                let stub = Stub { from, back: self.e.m.here(), what: Rare::Tired(op), held: self.e.reserved };
                self.stubs.push(stub);
                self.go(Code::Jmp_rel32_64, to)
            }
        }
    }

    /// The items of a block in order, and for which side.
    fn order(&self, seg: &Segment) -> Vec<(Item, usize)> {
        let mut order = vec![];
        let n = self.together(seg);
        for first in (0..self.e.side).step_by(n) {
            for item in &seg.each {
                let sides = first..(first + n).min(self.e.side);
                order.extend(sides.filter(|k| self.done_for(seg, *item, *k)).map(|k| (*item, k)));
            }
        }
        order
    }

    /// What is common to all sides is done once.
    fn done_for(&self, seg: &Segment, item: Item, k: usize) -> bool {
        k == 0
            || match item {
                Item::Compute(id) => !seg.uniform[id as usize],
                Item::Store(r, _) => !r.is_uniform(),
                Item::Check(i) => !seg.uniform[self.region.checks[i as usize].results[0] as usize],
                Item::Test(_) | Item::Tally(_) => false,
                Item::Exec(_) | Item::Move(..) => true,
            }
    }

    /// Gets ready for a block: which values lie where, and when they are used.
    fn begin(&mut self, seg: &'r Segment, end: End) {
        let (sides, n) = (self.e.side, seg.nodes.len());
        self.e.seg = seg;
        self.most_rows = self.most_rows.max(self.e.rows);
        self.e.rows = self.own;
        self.e.vectors.fill(None);
        self.e.masks.fill(None);
        self.e.place = vec![Default::default(); n * sides];
        self.e.hints.clear();
        self.e.given = seg
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, n)| matches!(n, Node::Word(_) | Node::Mask(_) | Node::Exec))
            .map(|(i, n)| (*n, i as Id))
            .collect();
        for pin in &self.pins {
            let each = if pin.reg.is_uniform() { 1 } else { sides };
            if let Some(&id) = self.e.given.get(&Node::Word(pin.reg)) {
                for k in 0..each {
                    let (id, r) = (id + (k * n) as Id, pin.first + k as u8);
                    let place = &mut self.e.place[id as usize];
                    (place.reg, place.pinned, place.gone) = (Some(r), true, true);
                    self.e.vectors[r as usize] = Some(id);
                }
            }
            for item in &seg.each {
                if let Item::Store(r, id) = item
                    && *r == pin.reg
                    && !seg.nodes[*id as usize].is_given()
                    && !seg.nodes[*id as usize].is_mask()
                {
                    for k in 0..each {
                        let own = k > 0 && !seg.uniform[*id as usize];
                        let id = id + own as Id * (k * n) as Id;
                        self.e.hints.entry(id).or_insert(pin.first + k as u8);
                    }
                }
            }
        }
        if let Some(&id) = self.e.given.get(&Node::Exec)
            && !self.e.full
        {
            let halves = self.halves();
            for k in 0..sides {
                let place = &mut self.e.place[id as usize + k * n];
                if halves {
                    place.slot = Some(self.executing + k as u32);
                } else {
                    (place.reg, place.pinned) = (Some(exec(k)), true);
                    self.e.masks[exec(k) as usize] = Some(id + (k * n) as Id);
                }
            }
        }
        let mut uses = vec![vec![]; n * sides];
        let order = self.order(seg);
        if let End::If(c, ..) = end {
            uses[c as usize].push(order.len() as u32);
        }
        for (at, (item, k)) in order.into_iter().enumerate().rev() {
            // A test asks all sides at once.
            let all = if matches!(item, Item::Test(_)) { 0..sides } else { k..k + 1 };
            for k in all {
                reads(self.region, seg, item, |id| {
                    let own = k > 0 && !seg.uniform[id as usize];
                    uses[id as usize + if own { k * n } else { 0 }].push(at as u32);
                });
            }
        }
        self.e.uses = uses;
    }

    fn item(&mut self, at: u32, item: Item, block: &Block) -> Made<()> {
        match item {
            Item::Compute(id) => {
                let id = self.e.value(id);
                match self.e.node(id) {
                    Node::Load(i, a, c) => {
                        let load: Load = self.region.loads[i as usize];
                        self.load(at, id, &load, a, c)
                    }
                    _ => self.e.compute(at, id),
                }
            }
            Item::Store(r, id) => {
                let id = self.e.value(id);
                let mask = self.e.node(id).is_mask();
                match self.pins.iter().find(|p| p.reg == r && !mask).copied() {
                    Some(pin) => {
                        let k = if r.is_uniform() { 0 } else { self.e.k };
                        self.pinned(at, pin.first + k as u8, id)
                    }
                    None => self.e.store(at, r, id, false),
                }
            }
            Item::Tally(row) => self.tally(row),
            Item::Check(i) => {
                let region = self.region;
                self.check(at, i as usize, &region.checks[i as usize])
            }
            Item::Test(id) => {
                let ids: Vec<Id> = (0..self.e.side)
                    .map(|k| {
                        self.e.k = k;
                        self.e.value(id)
                    })
                    .collect();
                self.e.k = 0;
                self.test(&ids)?;
                let none = block.none.ok_or(TooMuch)?;
                ids.iter().for_each(|id| self.e.used(at, *id));
                self.go(Code::Je_rel32_64, none)
            }
            Item::Exec(id) => {
                let id = self.e.value(id);
                self.executes(id)?;
                self.e.used(at, id);
                if self.e.k + 1 == self.e.side { self.count_lanes() } else { Ok(()) }
            }
            Item::Move(..) => Err(TooMuch),
        }
    }

    /// A value gets the register that its register of the wave's has.
    fn pinned(&mut self, at: u32, r: u8, id: Id) -> Made<()> {
        if self.e.place[id as usize].reg == Some(r) {
            self.e.used(at, id);
            return Ok(());
        }
        if let Some(old) = self.e.vectors[r as usize] {
            if self.e.uses[old as usize].iter().any(|u| *u != at) && old != id {
                // Who reads later what it held has it elsewhere by then.
                let to = self.e.vector()?;
                self.e.m.copy(to, r)?;
                self.e.vectors[to as usize] = Some(old);
                let place = &mut self.e.place[old as usize];
                (place.reg, place.pinned) = (Some(to), false);
            } else {
                self.e.place[old as usize].reg = None;
            }
            self.e.vectors[r as usize] = None;
        }
        match self.e.place[id as usize].reg {
            Some(s) => self.e.m.copy(r, s)?,
            None => match (self.e.node(id), self.e.place[id as usize].slot) {
                (Node::Splat(0), None) => self.e.m.zero(r)?,
                _ => {
                    let from = self.e.home(id).ok_or(TooMuch)?;
                    self.e.m.load(r, from)?;
                }
            },
        }
        self.e.used(at, id);
        Ok(())
    }

    /// Has a kernel do an op where a lane is out of the ordinary.
    fn check(&mut self, at: u32, i: usize, check: &Check) -> Made<()> {
        let odd = self.e.value(check.odd);
        let args: Vec<Id> = check.args.iter().map(|id| self.e.value(*id)).collect();
        let results: Vec<Id> = check.results.iter().map(|id| self.e.value(*id)).collect();
        let mut regs = vec![];
        for (j, id) in results.iter().enumerate() {
            regs.push((self.e.in_register(*id)?, j as u32));
        }
        self.test(&[odd])?;
        let from = self.e.m.jump(Code::Jne_rel32_64)?;
        let mut list = vec![];
        for id in &args {
            list.push(match self.e.place[*id as usize].reg {
                Some(r) => Arg::Reg(r),
                None => Arg::Mem(self.e.home(*id).ok_or(TooMuch)?),
            });
        }
        let held = (0..self.e.vectors.len())
            .filter(|r| self.e.vectors[*r].is_some())
            .fold(self.e.reserved, |held, r| held | 1 << r);
        let what = Rare::Call { op: &self.ops[i], args: list, results: regs };
        self.stubs.push(Stub { from, back: self.e.m.here(), what, held });
        for id in args.iter().chain(&results).chain([&odd]) {
            self.e.used(at, *id);
        }
        Ok(())
    }

    // ---- what is seldom run ----

    fn stub(&mut self, stub: Stub) -> Made<()> {
        self.e.m.land(stub.from);
        match stub.what {
            Rare::Tired(op) => {
                self.keep(stub.held, true)?;
                let m = &mut self.e.m;
                m.rr(Code::Mov_r64_rm64, Register::RDI, CONTEXT)?;
                m.r64(Register::RSI, op as u64)?;
                m.r64(Register::RAX, crate::jit::enter::tired as *const () as u64)?;
                m.op0(Code::VEX_Vzeroupper)?;
                m.r(Code::Call_rm64, Register::RAX)?;
                m.rr(Code::Test_rm32_r32, Register::EAX, Register::EAX)?;
                self.faults.push(self.e.m.jump(Code::Jne_rel32_64)?);
                self.keep(stub.held, false)?;
            }
            // Runs are counted where no lane leaves alone: one at a time.
            Rare::Odd => self.e.m.mi(Code::Add_rm64_imm32, context(offset_of!(Context, odd)), 1)?,
            Rare::Line(Some(n)) => self.e.m.mi(Code::Add_rm64_imm32, context(offset_of!(Context, lines)), n as i32)?,
            Rare::Line(None) => {
                self.e.m.rm(Code::Mov_r64_rm64, B, context(offset_of!(Context, warps)))?;
                self.e.m.mr(Code::Add_rm64_r64, context(offset_of!(Context, lines)), B)?;
            }
            Rare::Zero(d) => self.e.m.zero(d)?,
            Rare::Gather(g) => self.gather(&g)?,
            Rare::Call { op, args, results } => {
                self.keep(stub.held, true)?;
                for (i, arg) in args.iter().enumerate() {
                    let r = match arg {
                        Arg::Reg(r) => *r,
                        Arg::Mem(from) => {
                            self.e.m.load(0, *from)?;
                            0
                        }
                    };
                    let to = row(self.call + 2 + i as u32);
                    self.e.m.store(to, r)?;
                    if self.halves() {
                        self.e.m.store(MemoryOperand { displacement: to.displacement + 32, ..to }, r)?;
                    }
                    if matches!(arg, Arg::Mem(_)) && stub.held & 1 != 0 {
                        let own = row(self.kept);
                        self.e.m.load(0, own)?;
                    }
                }
                let m = &mut self.e.m;
                m.rr(Code::Mov_r64_rm64, Register::RDI, CONTEXT)?;
                m.r64(Register::RSI, op as u64)?;
                m.rm(Code::Lea_r64_m, Register::RDX, row(self.call))?;
                m.r64(Register::RAX, crate::jit::enter::one as *const () as u64)?;
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
    fn keep(&mut self, held: u32, away: bool) -> Made<()> {
        for r in (0..self.e.vectors.len() as u32).filter(|r| held >> r & 1 != 0) {
            let at = row(self.kept + r);
            if away { self.e.m.store(at, r as u8)? } else { self.e.m.load(r as u8, at)? }
        }
        let word = |i: u32| {
            let at = row(self.kept + 32);
            MemoryOperand { displacement: at.displacement + 8 * i as i64, ..at }
        };
        let regs = [REGS, Register::RSI, Register::R8, Register::R9, CONTEXT, Register::R11, Register::RAX];
        for (i, r) in regs.into_iter().enumerate() {
            let at = word(i as u32);
            if away { self.e.m.mr(Code::Mov_rm64_r64, at, r)? } else { self.e.m.rm(Code::Mov_r64_rm64, r, at)? }
        }
        if self.e.m.width == Width::Whole {
            for k in 1..8 {
                let (at, r) = (word(7 + k), Register::K0 + k);
                if away { self.e.m.mr(Code::VEX_Kmovw_m16_kr, at, r)? } else { self.e.m.rm(Code::VEX_Kmovw_kr_km16, r, at)? }
            }
        }
        Ok(())
    }
}

/// The mask register that says who executes, of a warp beside others.
pub fn exec(k: usize) -> u8 {
    7 - k as u8
}

pub const A32: Register = Register::ECX;
pub const B32: Register = Register::EDX;

/// Where a uniform register of the wave lies.
fn home(r: Reg) -> MemoryOperand {
    MemoryOperand::with_base_displ(REGS, (r.unit() * UNIT_BYTES) as i64)
}

/// The nodes that an item reads.
fn reads(region: &Region, seg: &Segment, item: Item, mut f: impl FnMut(Id)) {
    match item {
        Item::Store(_, id) | Item::Move(_, id) | Item::Test(id) | Item::Exec(id) => f(id),
        Item::Compute(id) => seg.nodes[id as usize].operands().for_each(f),
        Item::Check(i) => {
            let check = &region.checks[i as usize];
            check.args.iter().chain(&check.results).chain([&check.odd]).for_each(|id| f(*id));
        }
        Item::Tally(_) => (),
    }
}
