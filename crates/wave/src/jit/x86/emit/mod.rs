//! From items to instructions: which value is in which register when.
//!
//! Where a warp's operations wait for each other, the loop does several warps side by side, as many as have room in registers;
//! those that are left over go one by one. A value is named by its node, plus the number of nodes for each warp beside the first;
//! what all warps have in common has one place.

mod branch;
mod call;
mod compute;
mod loops;
mod place;
mod state;

pub use call::Calls;
pub use place::row;

use super::assembler::{Assembler, Made, Target, TooMuch, VectorWidth};
use crate::jit::nodes::body::{Body, Item};
use crate::jit::nodes::region::Check;
use crate::recording::{Id, Node};
use branch::Forks;
use iced_x86::{Code, MemoryOperand, Register};
use rustc_hash::FxHashMap;
use shader::bytecode::Reg;
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
struct Place {
    reg: Option<u8>,
    /// Row of the stack frame.
    slot: Option<u32>,
    /// Its register stays its own.
    pinned: bool,
    /// Its register of the wave's has something else by now.
    gone: bool,
    /// This register of the wave's has it.
    at: Option<Reg>,
}

pub struct Emit<'s> {
    body: &'s Body,
    /// A segment's: nodes that are set aside, and what [`Item::Check`] is about.
    aside: &'s [Id],
    checks: &'s [Check],
    pub m: Assembler,
    /// By register: what is in it.
    vectors: Vec<Option<Id>>,
    masks: Vec<Option<Id>>,
    place: Vec<Place>,
    /// What registers of the wave held.
    given: FxHashMap<Node, Id>,
    /// By node: the items that use it, the next one last.
    uses: Vec<Vec<u32>>,
    rows: u32,
    /// The loop over warps, not what comes before it.
    inside: bool,
    /// Warps side by side, and which of them an item is done for.
    side: usize,
    k: usize,
    /// Registers that the item at hand has need of.
    held: u32,
    held_masks: u32,
    /// A region's: sides of one warp, of warps that follow each other; none elsewhere.
    sides_of_warp: Option<usize>,
    /// All lanes execute, whatever happens.
    full: bool,
    /// Registers that are taken all along.
    reserved: u32,
    reserved_masks: u32,
    /// By value: the register that it is stored to in the end.
    hints: FxHashMap<Id, u8>,
    forks: Forks,
    calls: Calls<'s>,
}

impl<'s> Emit<'s> {
    pub fn new(body: &'s Body, target: Target) -> Emit<'s> {
        let n = body.nodes.len();
        Emit {
            body,
            aside: &[],
            checks: &[],
            m: Assembler::new(target),
            vectors: vec![None; if target.width == VectorWidth::Whole { 32 } else { 16 }],
            masks: vec![None; 8],
            place: vec![Place::default(); n],
            given: state::given(body),
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
            forks: Forks::default(),
            calls: Calls::default(),
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
        self.m.width == VectorWidth::Whole && self.node(id).is_mask()
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
            let (file, held) = if self.m.width == VectorWidth::Whole && mask {
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
    /// No item after `at` uses the value.
    pub fn ends(&self, at: u32, id: Id) -> bool {
        self.uses[id as usize].iter().all(|u| *u == at)
    }
    /// The value is not needed after item `at`, which uses it once.
    pub fn dies(&self, at: u32, id: Id) -> bool {
        let uses = &self.uses[id as usize];
        !self.place[id as usize].pinned && uses.iter().all(|u| *u == at)
    }
}
