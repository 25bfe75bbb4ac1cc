//! From items to instructions: which value is in which register when.
//!
//! Where a warp's operations wait for each other, the loop does several warps side by side, as many as have room in registers;
//! those that are left over go one by one. A value is named by its node, plus the number of nodes for each warp beside the first;
//! what all warps have in common has one place.

use super::branch::Fork;
use super::call::Call;
use super::machine::{Machine, Made, Source, Target, TooMuch, Width};
use super::place::row;
use crate::jit::nodes::body::{Body, Item};
use crate::jit::nodes::region::Check;
use crate::recording::{Bin, Id, Node, Tri, Un};
use crate::state::Kernel;
use iced_x86::{Code, MemoryOperand, Register};
use rustc_hash::FxHashMap;
use shader::bytecode::{Op, Reg, UNIT_BYTES};
use std::mem::take;

/// First byte of the wave's registers, live warps yet to come, lanes that execute, the warp's number and what its rows begin at.
pub const REGS: Register = Register::RDI;
pub const LIVE: Register = Register::ESI;
pub const EXEC: Register = Register::RDX;
pub const WARPS: [Register; MOST_SIDE_BY_SIDE] = [Register::R8, Register::R11, Register::R14, Register::R15];
pub const OFFSETS: [Register; MOST_SIDE_BY_SIDE] =
    [Register::RAX, Register::RBX, Register::R12, Register::R13];
/// Of these the caller's values are put aside.
pub const CALLERS: [Register; 5] =
    [Register::RBX, Register::R12, Register::R13, Register::R14, Register::R15];

/// Warps that the loop does one instruction after the other, so that none waits for its own results.
pub const MOST_SIDE_BY_SIDE: usize = 4;

/// The lower half of a register.
pub fn low(r: Register) -> Register {
    Register::EAX + (r as u32 - Register::RAX as u32)
}

/// Rows of a frame at most.
const MOST_ROWS: u32 = 400;
/// Registers for what all warps use often.
pub const PINS: [usize; 2] = [3, 2];
/// A value that is never needed again.
pub const NEVER: u32 = u32::MAX;

/// Where a value is.
#[derive(Clone, Copy, Default)]
pub struct Place {
    pub reg: Option<u8>,
    /// Row of the stack frame.
    pub slot: Option<u32>,
    /// Its register stays its own.
    pub pinned: bool,
    /// Its register of the wave's has something else by now.
    pub gone: bool,
    /// This register of the wave's has it.
    pub at: Option<Reg>,
}

pub struct Emit<'s> {
    pub body: &'s Body,
    /// A segment's: nodes that are set aside, and what [`Item::Check`] is about.
    pub aside: &'s [Id],
    pub checks: &'s [Check],
    pub m: Machine,
    /// By register: what is in it.
    pub vectors: Vec<Option<Id>>,
    pub masks: Vec<Option<Id>>,
    pub place: Vec<Place>,
    /// What registers of the wave held.
    pub given: FxHashMap<Node, Id>,
    /// By node: the items that use it, the next one last.
    pub uses: Vec<Vec<u32>>,
    pub rows: u32,
    /// The loop over warps, not what comes before it.
    pub inside: bool,
    /// Warps side by side, and which of them an item is done for.
    pub side: usize,
    pub k: usize,
    /// Registers that the item at hand has need of.
    pub held: u32,
    pub held_masks: u32,
    /// A region's: sides of one warp, of warps that follow each other; none elsewhere.
    pub sides_of_warp: Option<usize>,
    /// All lanes execute, whatever happens.
    pub full: bool,
    /// Registers that are taken all along.
    pub reserved: u32,
    pub reserved_masks: u32,
    /// By value: the register that it is stored to in the end.
    pub hints: FxHashMap<Id, u8>,
    /// Branches that are open.
    pub forks: Vec<Fork>,
    /// By register of the wave's: the merged value that lies there.
    pub homes: FxHashMap<Reg, Id>,
    /// Of checks: the ops that kernels do, and all kernels.
    pub ops: &'s [Op],
    pub kernels: &'s [Kernel],
    pub calls: Vec<Call>,
    /// First rows of what a call keeps, and, with AVX2, of the lanes that passed counters; how many of these there were.
    pub kept: u32,
    pub passed: u32,
    pub counts: u32,
    pub next_count: u32,
}

impl<'s> Emit<'s> {
    pub fn new(body: &'s Body, target: Target) -> Emit<'s> {
        let n = body.nodes.len();
        Emit {
            body,
            aside: &[],
            checks: &[],
            m: Machine::new(target),
            vectors: vec![None; if target.width == Width::Whole { 32 } else { 16 }],
            masks: vec![None; 8],
            place: vec![Place::default(); n],
            given: body
                .nodes
                .iter()
                .enumerate()
                .filter(|(_, n)| matches!(n, Node::Word(_) | Node::Part(..) | Node::Mask(_) | Node::Exec))
                .map(|(i, n)| (*n, i as Id))
                .collect(),
            uses: vec![vec![]; n],
            rows: 0,
            inside: false,
            side: 1,
            k: 0,
            held: 0,
            held_masks: 0,
            sides_of_warp: None,
            full: false,
            reserved: 0,
            reserved_masks: 0,
            hints: FxHashMap::default(),
            forks: vec![],
            homes: FxHashMap::default(),
            ops: &[],
            kernels: &[],
            calls: vec![],
            kept: 0,
            passed: 0,
            counts: 0,
            next_count: 0,
        }
    }

    pub fn run(mut self) -> Made<Vec<u8>> {
        let frame = self.enter()?;
        self.rooms()?;
        self.once()?;
        if !self.body.each.is_empty() {
            self.loops()?;
        }
        self.leave()?;
        self.call_all()?;
        self.finish(frame)
    }

    /// The function's begin; where the size of its frame is told later.
    pub fn enter(&mut self) -> Made<usize> {
        let m = &mut self.m;
        m.r(Code::Push_r64, Register::RBP)?;
        m.rr(Code::Mov_r64_rm64, Register::RBP, Register::RSP)?;
        CALLERS.iter().try_for_each(|r| m.r(Code::Push_r64, *r))?;
        m.ri(Code::Sub_rm64_imm32, Register::RSP, 1 << 20)?;
        let frame = m.later();
        m.ri(Code::And_rm64_imm8, Register::RSP, -64)?;
        m.find_pool()?;
        Ok(frame)
    }
    /// Its end.
    pub fn leave(&mut self) -> Made<()> {
        self.m.op0(Code::VEX_Vzeroupper)?;
        let top = MemoryOperand::with_base_displ(Register::RBP, -8 * CALLERS.len() as i64);
        self.m.rm(Code::Lea_r64_m, Register::RSP, top)?;
        for r in CALLERS.into_iter().rev() {
            self.m.r(Code::Pop_r64, r)?;
        }
        self.m.r(Code::Pop_r64, Register::RBP)?;
        self.m.op0(Code::Retnq)
    }
    /// All of it.
    pub fn finish(mut self, frame: usize) -> Made<Vec<u8>> {
        if self.rows > MOST_ROWS {
            return Err(TooMuch);
        }
        self.m.patch(frame, (self.rows * 64) as i32);
        Ok(self.m.finish())
    }

    // ---- the two phases ----

    pub fn once(&mut self) -> Made<()> {
        for &id in self.aside {
            self.held = 0;
            let d = self.vector()?;
            let from = match self.body.nodes[id as usize] {
                Node::Word(r) => self.register(r),
                Node::Part(r, part) => self.register_part(r, part),
                _ => return Err(TooMuch),
            };
            self.m.load(d, from)?;
            let slot = self.slot(id);
            self.m.store(row(slot), d)?;
        }
        let once = &self.body.once;
        self.note_uses(once);
        // What the loop wants of it lies on the stack then.
        let mut wanted = vec![false; self.body.nodes.len()];
        for item in &self.body.each {
            self.reads(*item, |id| wanted[id as usize] = true);
        }
        for (i, item) in once.iter().enumerate() {
            self.item(i as u32, *item)?;
            let made: &[Id] = match item {
                Item::Compute(id) => std::slice::from_ref(id),
                _ => &[],
            };
            for &id in made {
                if wanted[id as usize] && self.place[id as usize].slot.is_none() {
                    let s = self.in_register(id)?;
                    let slot = self.slot(id);
                    self.save(id, s, slot)?;
                }
            }
        }
        Ok(())
    }

    pub fn note_uses(&mut self, items: &[Item]) {
        self.uses.iter_mut().for_each(Vec::clear);
        let mut uses = take(&mut self.uses);
        for (i, item) in items.iter().enumerate().rev() {
            for k in (0..self.side).rev() {
                self.k = k;
                self.reads(*item, |id| uses[id as usize].push((i * self.side + k) as u32));
            }
        }
        self.k = 0;
        self.uses = uses;
    }

    /// The value of a node, for the warp at hand.
    pub fn value(&self, id: Id) -> Id {
        let own = self.k > 0 && !self.body.uniform[id as usize];
        id + own as Id * (self.k * self.body.nodes.len()) as Id
    }

    /// The values that an item reads.
    pub fn reads(&self, item: Item, mut f: impl FnMut(Id)) {
        self.reads_of(item, |id| f(self.value(id)));
    }

    /// The nodes of them.
    pub fn reads_of(&self, item: Item, mut f: impl FnMut(Id)) {
        match item {
            Item::Store(_, id) => f(id),
            Item::Wide(_, a, b) => [a, b].into_iter().for_each(f),
            Item::Move(_, id) => {
                f(id);
                self.given.get(&Node::Exec).copied().into_iter().for_each(f);
            }
            Item::Compute(id) => self.body.nodes[id as usize].operands().for_each(f),
            Item::Test(id) | Item::Exec(id) | Item::If(id) | Item::Count(_, id) => f(id),
            Item::Phi(_, id) => self.body.nodes[id as usize].operands().for_each(f),
            Item::Check(i) => {
                // (A region's are its own to say.)
                let check = &self.checks[i as usize];
                check.args.iter().chain(&check.results).chain([&check.odd]).for_each(|id| f(*id));
            }
            Item::Tally(_) | Item::End => (),
        }
    }

    // ---- items ----

    pub fn item(&mut self, at: u32, item: Item) -> Made<()> {
        (self.held, self.held_masks) = (0, 0);
        match item {
            Item::Compute(id) => self.compute(at, self.value(id)),
            Item::Store(r, id) => self.store(at, r, self.value(id), false),
            Item::Wide(r, a, b) => self.store_parts(at, r, [self.value(a), self.value(b)]),
            Item::Move(r, id) => self.store(at, r, self.value(id), true),
            Item::If(id) => self.fork(at, id),
            Item::Phi(..) => Ok(()),
            Item::End => self.merge(),
            Item::Count(row, id) => self.count(at, row, id),
            Item::Check(i) => self.check(at, i as usize),
            _ => Err(TooMuch),
        }
    }

    /// A value's node, with its operands as values.
    pub fn node(&self, id: Id) -> Node {
        let v = |id: Id| self.value(id);
        match self.body.nodes[id as usize % self.body.nodes.len()] {
            Node::Un(op, a) => Node::Un(op, v(a)),
            Node::Bin(op, a, b) => Node::Bin(op, v(a), v(b)),
            Node::Tri(op, a, b, c) => Node::Tri(op, v(a), v(b), v(c)),
            Node::Load(i, a, b) => Node::Load(i, v(a), v(b)),
            given => given,
        }
    }
    pub fn is_common(&self, id: Id) -> bool {
        self.body.uniform[id as usize % self.body.nodes.len()]
    }
    /// Masks have registers of their own.
    pub fn in_masks(&self, id: Id) -> bool {
        self.m.width == Width::Whole && self.node(id).is_mask()
    }

    /// The item at `at` has used `id` once: what is never used again gives its register back.
    pub fn used(&mut self, at: u32, id: Id) {
        let uses = &mut self.uses[id as usize];
        if uses.last() == Some(&at) {
            uses.pop();
        }
        let p = &mut self.place[id as usize];
        if uses.is_empty()
            && !p.pinned
            && let Some(r) = p.reg.take()
        {
            let mask = self.body.nodes[id as usize % self.body.nodes.len()].is_mask();
            let (file, held) = if self.m.width == Width::Whole && mask {
                (&mut self.masks, &mut self.held_masks)
            } else {
                (&mut self.vectors, &mut self.held)
            };
            // An instruction reads before it writes: its result may lie there.
            file[r as usize] = None;
            *held &= !(1 << r);
        }
    }
    pub fn next_use(&self, id: Id) -> u32 {
        self.uses[id as usize].last().copied().unwrap_or(NEVER)
    }
    /// No item behind `at` uses the value.
    pub fn ends(&self, at: u32, id: Id) -> bool {
        self.uses[id as usize].iter().all(|u| *u == at)
    }
    /// The value is not needed behind item `at`, which uses it once.
    pub fn dies(&self, at: u32, id: Id) -> bool {
        let uses = &self.uses[id as usize];
        !self.place[id as usize].pinned && uses.iter().all(|u| *u == at)
    }

    pub fn compute(&mut self, at: u32, id: Id) -> Made<()> {
        match self.node(id) {
            Node::Un(Un::MNot, a) => {
                let a_in = self.in_register(a)?;
                self.used(at, a);
                let d = self.define(id)?;
                self.m.not(d, a_in)
            }
            Node::Un(Un::Look16(table), a) => self.look(at, id, &table.0, a),
            Node::Un(Un::Look(table), a) => self.look(at, id, &table.0, a),
            Node::Un(op @ Un::LPartner(_), a) => {
                let s = self.in_register(a)?;
                self.used(at, a);
                let d = self.define(id)?;
                self.m.un(op, d, Source::Reg(s))
            }
            Node::Un(Un::Ballot, a) => {
                let k = self.in_register(a)?;
                self.used(at, a);
                let bits = row(self.slot(id));
                self.m.mr(Code::VEX_Kmovw_m16_kr, bits, Register::K0 + k as u32)?;
                self.place[id as usize].slot = None;
                let d = self.define(id)?;
                self.m.ballot(d, bits)
            }
            Node::Un(op @ (Un::SToD(_) | Un::UToD(_) | Un::FToD(_) | Un::Zext(_) | Un::MPart(_)), a) => {
                let s = self.in_register(a)?;
                self.used(at, a);
                let d = self.define(id)?;
                self.m.part_of(op, d, s)
            }
            Node::Un(op, a) => {
                let s = self.source(at, a)?;
                self.used(at, a);
                let d = self.define(id)?;
                self.m.un(op, d, s)
            }
            Node::Bin(op @ (Bin::Lo | Bin::Hi), a, b) => {
                let (ra, rb) = (self.in_register(a)?, self.in_register(b)?);
                // Its own, for which words they are is there first.
                let d = self.define(id)?;
                self.used(at, a);
                self.used(at, b);
                self.m.words_of(op, d, ra, rb)
            }
            Node::Bin(Bin::First, a, b) => {
                let (k, r) = (self.in_register(a)?, self.in_register(b)?);
                self.used(at, a);
                self.used(at, b);
                let d = self.define(id)?;
                self.m.first(d, k, r)
            }
            Node::Tri(op @ (Tri::Bits | Tri::LBits), a, b, c) => {
                let (from, rb) = (self.in_register(a)?, self.in_register(b)?);
                let s = self.source(at, c)?;
                let d = if self.dies(at, a) && a != b {
                    self.rename(a, id, from);
                    from
                } else {
                    let d = self.vector()?;
                    self.m.copy(d, from)?;
                    self.take(d, id);
                    d
                };
                [a, b, c].into_iter().for_each(|x| self.used(at, x));
                self.m.bits_of(op, d, rb, s)
            }
            Node::Tri(Tri::LShuffle, idx, a, b) => {
                let from = self.in_register(idx)?;
                let (ra, rb) = (self.in_register(a)?, self.in_register(b)?);
                let d = self.vector()?;
                self.m.copy(d, from)?;
                self.take(d, id);
                [idx, a, b].into_iter().for_each(|x| self.used(at, x));
                self.m.shuffle64(d, ra, rb)
            }
            Node::Bin(op @ Bin::LAfter(_), a, b) => {
                let (ra, rb) = (self.in_register(a)?, self.in_register(b)?);
                self.used(at, a);
                self.used(at, b);
                let d = self.define(id)?;
                self.m.bin(op, d, ra, Source::Reg(rb))
            }
            Node::Bin(Bin::Join, a, b) => {
                let (ra, rb) = (self.in_register(a)?, self.in_register(b)?);
                self.used(at, a);
                self.used(at, b);
                let d = self.define(id)?;
                self.m.join(d, ra, rb)
            }
            Node::Bin(op @ (Bin::LShl | Bin::LShr | Bin::LSar), a, b)
                if matches!(self.node(b), Node::Splat64(..64)) =>
            {
                let Node::Splat64(n) = self.node(b) else { return Err(TooMuch) };
                let ra = self.in_register(a)?;
                self.used(at, a);
                self.used(at, b);
                let d = self.define(id)?;
                self.m.shift(op, d, ra, n as u32)
            }
            Node::Bin(op @ (Bin::MAnd | Bin::MOr | Bin::MXor | Bin::MJoin), a, b) => {
                let (ra, rb) = (self.in_register(a)?, self.in_register(b)?);
                self.used(at, a);
                self.used(at, b);
                let d = self.define(id)?;
                self.m.masks(op, d, ra, rb)
            }
            Node::Bin(op @ (Bin::Shl | Bin::Shr | Bin::Sar), a, b) if matches!(self.node(b), Node::Splat(n) if n < 32) =>
            {
                let Node::Splat(n) = self.node(b) else { return Err(TooMuch) };
                let ra = self.in_register(a)?;
                self.used(at, a);
                self.used(at, b);
                let d = self.define(id)?;
                self.m.shift(op, d, ra, n)
            }
            Node::Bin(op, mut a, mut b) => {
                if op.commutes()
                    && self.place[a as usize].reg.is_none()
                    && self.place[b as usize].reg.is_some()
                {
                    (a, b) = (b, a);
                }
                let ra = self.in_register(a)?;
                let s = self.source(at, b)?;
                self.used(at, a);
                self.used(at, b);
                let d = self.define(id)?;
                if op.is_mask() { self.m.compare(op, d, ra, s) } else { self.m.bin(op, d, ra, s) }
            }
            Node::Tri(op @ (Tri::Sel | Tri::LSel), mask, a, b) => {
                let m = self.in_register(mask)?;
                let rb = self.in_register(b)?;
                let s = self.source(at, a)?;
                [mask, a, b].into_iter().for_each(|x| self.used(at, x));
                let d = self.define(id)?;
                self.m.select_of(op, d, m, s, rb)
            }
            Node::Tri(Tri::Fix, a, table, c) => {
                let ra = self.in_register(a)?;
                let s = self.source(at, table)?;
                let from = self.in_register(c)?;
                let d = if self.dies(at, c) && c != a {
                    self.rename(c, id, from);
                    from
                } else {
                    let d = self.vector()?;
                    self.m.copy(d, from)?;
                    self.take(d, id);
                    d
                };
                [a, table, c].into_iter().for_each(|x| self.used(at, x));
                self.m.fix(d, ra, s)
            }
            Node::Tri(op, a, b, c) => self.fma(at, id, op, [a, b, c]),
            _ => Err(TooMuch),
        }
    }

    /// `table`'s entries of index `a`.
    fn look(&mut self, at: u32, id: Id, table: &'static [u32], a: Id) -> Made<()> {
        let idx = self.in_register(a)?;
        let mut free = [0; 3];
        if self.m.width == Width::Half {
            for r in &mut free[(table.len() <= 16) as usize..] {
                *r = self.vector()?;
            }
        }
        let d = self.define(id)?;
        self.used(at, a);
        self.m.look(table, d, idx, free)
    }

    fn fma(&mut self, at: u32, id: Id, op: Tri, [mut a, mut b, c]: [Id; 3]) -> Made<()> {
        // The factor that stays in a register of its own comes first.
        if self.place[a as usize].reg.is_none() && self.place[b as usize].reg.is_some() {
            (a, b) = (b, a);
        }
        // Where the result is to be in the end, one of the operands may lie for the last time.
        let ends = |it: &Self, r: u8| {
            [a, b, c].iter().any(|x| it.place[*x as usize].reg == Some(r) && it.ends(at, *x))
        };
        let hint = self.hints.get(&id).copied().filter(|r| self.may_take(*r) || ends(self, *r));
        let free = |it: &Self, x: Id| match it.place[x as usize].reg {
            Some(r) if hint.is_some() => hint == Some(r) && it.ends(at, x),
            Some(_) => it.dies(at, x),
            None => false,
        };
        if (!free(self, c) || c == a || c == b) && (free(self, a) || free(self, b)) && a != b {
            // d = a · d + c
            let (d_id, other) = if free(self, a) { (a, b) } else { (b, a) };
            let d = self.in_register(d_id)?;
            let o = self.in_register(other)?;
            let s = self.source(at, c)?;
            self.rename(d_id, id, d);
            [a, b, c].into_iter().for_each(|x| self.used(at, x));
            return self.m.fma213(op, d, o, s);
        }
        let ra = self.in_register(a)?;
        if free(self, c) && c != a && c != b {
            let d = self.in_register(c)?;
            let s = self.source(at, b)?;
            self.rename(c, id, d);
            [a, b, c].into_iter().for_each(|x| self.used(at, x));
            return self.m.fma231(op, d, ra, s);
        }
        // A copy of the addend, which may come from memory.
        let s = self.source(at, b)?;
        let from = self.place[c as usize].reg;
        let home = self.home(c);
        let taken = |it: &Self, r: u8| [a, b].iter().any(|x| it.place[*x as usize].reg == Some(r));
        let d = match hint {
            Some(r) if !taken(self, r) && self.may_take(r) => r,
            _ => self.vector()?,
        };
        match (from, home) {
            (Some(r), _) => self.m.copy(d, r)?,
            (None, Some(m)) => self.load_home(c, d, m)?,
            (None, None) => match self.node(c) {
                Node::Splat(0) => self.m.zero(d)?,
                _ => return Err(TooMuch),
            },
        }
        [a, b, c].into_iter().for_each(|x| self.used(at, x));
        self.take(d, id);
        self.m.fma231(op, d, ra, s)
    }

    /// Register `r`, which `old` has for the last time, is `new`'s.
    fn rename(&mut self, old: Id, new: Id, r: u8) {
        self.place[old as usize].reg = None;
        self.vectors[r as usize] = None;
        self.take(r, new);
    }

    pub fn store(&mut self, at: u32, r: Reg, id: Id, some: bool) -> Made<()> {
        let mask = self.node(id).is_mask();
        if self.place[id as usize].at == Some(r) && !mask {
            // It is there.
            self.used(at, id);
            if some {
                let exec = self.value(*self.given.get(&Node::Exec).ok_or(TooMuch)?);
                self.used(at, exec);
            }
            return Ok(());
        }
        self.leave_home(r, id)?;
        // Who reads later what the register holds now has it elsewhere by then.
        if self.inside {
            let old = if mask { Node::Mask(Reg::varying(r.unit() as u16)) } else { Node::Word(r) };
            if let Some(&old) = self.given.get(&old)
                && let old = self.value(old)
                && old != id
                && self.next_use(old) != NEVER
            {
                self.in_register(old)?;
                self.place[old as usize].gone = true;
            }
        }
        let s = self.in_register(id)?;
        let unit = (r.unit() * UNIT_BYTES) as i64;
        if some {
            let exec = self.value(*self.given.get(&Node::Exec).ok_or(TooMuch)?);
            let k = self.in_register(exec)?;
            let to = self.register(r);
            if self.m.width == Width::Whole {
                self.m.store_some(to, k, s)?;
            } else {
                let d = self.vector()?;
                self.m.load(d, to)?;
                self.m.select(d, k, Source::Reg(s), d)?;
                self.m.store(to, d)?;
            }
            self.used(at, exec);
        } else if !mask {
            let to = self.register(r);
            self.m.store(to, s)?;
            if (!self.inside || r.is_uniform()) && self.m.width == Width::Half {
                // A uniform register has its value sixteen times.
                let rest = MemoryOperand { displacement: to.displacement + 32, ..to };
                self.m.store(rest, s)?;
            }
        } else if !self.inside {
            // All sixteen masks of a uniform Bool.
            let to = MemoryOperand::with_base_displ(REGS, unit);
            if self.m.width == Width::Whole {
                let free = self.vector()?;
                let y = Register::YMM0 + free as u32;
                self.m.rr(Code::EVEX_Vpmovm2w_ymm_kr, y, Register::K0 + s as u32)?;
                self.m.mr(Code::EVEX_Vmovdqu32_ymmm256_k1z_ymm, to, y)?;
            } else {
                self.m.mr(Code::VEX_Vmovdqu_ymmm256_ymm, to, self.m.vector(s))?;
            }
        } else {
            let to = self.mask_at(REGS, unit);
            self.save_mask(to, s)?;
        }
        self.used(at, id);
        Ok(())
    }

    /// A register of 64-bit lanes gets its parts.
    fn store_parts(&mut self, at: u32, r: Reg, ids: [Id; 2]) -> Made<()> {
        if self.inside {
            // Both, before either of them is written.
            for part in 0..2 {
                if let Some(&old) = self.given.get(&Node::Part(r, part))
                    && let old = self.value(old)
                    && ids[part as usize] != old
                    && self.next_use(old) != NEVER
                {
                    self.in_register(old)?;
                    self.place[old as usize].gone = true;
                }
            }
        }
        for (part, id) in ids.into_iter().enumerate() {
            let s = self.in_register(id)?;
            let to = self.register_part(r, part as u8);
            self.m.store(to, s)?;
            if (!self.inside || r.is_uniform()) && self.m.width == Width::Half {
                // A uniform register has its value sixteen times.
                let rest = MemoryOperand { displacement: to.displacement + 64, ..to };
                self.m.store(rest, s)?;
            }
        }
        ids.into_iter().for_each(|id| self.used(at, id));
        Ok(())
    }

    pub fn save_mask(&mut self, to: MemoryOperand, s: u8) -> Made<()> {
        if self.m.width == Width::Whole {
            return self.m.mr(Code::VEX_Kmovw_m16_kr, to, Register::K0 + s as u32);
        }
        let v = self.m.vector(s);
        self.m.rr(Code::VEX_Vmovmskps_r32_ymm, Register::ECX, v)?;
        self.m.mr(Code::Mov_rm8_r8, to, Register::CL)
    }
}
