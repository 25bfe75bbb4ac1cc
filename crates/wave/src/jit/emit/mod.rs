//! From items to instructions, whatever the machine's are: which value is in which register when. (What depends on the machine is
//! `super::machine`'s.)
//!
//! Where a warp's operations wait for each other, the loop does several warps side by side, as many as have room in registers;
//! those that are left over go one by one. A value is named by its node, plus the number of nodes for each warp beside the first;
//! what all warps have in common has one place.

mod branch;
mod call;
mod loops;
mod place;
mod state;
mod store;

pub use call::{Arg, Call, Calls};
pub use place::Place;

use super::machine::{Assembler, Mem, ROW, Target, row};
use crate::jit::nodes::body::{Body, Item};
use crate::jit::nodes::region::Check;
use crate::jit::nodes::segment::Segment;
use crate::recording::{Id, Node};
use crate::state::Kernel;
use branch::Forks;
use rustc_hash::FxHashMap;
use shader::bytecode::Op;
use std::mem::take;

/// Bytes of a frame at most.
const MOST_BYTES: u32 = 25600;
/// A value that is never needed again.
pub const NEVER: u32 = u32::MAX;

/// Something went beyond what code has room for: the interpreter keeps the segment.
#[derive(Debug)]
pub struct TooMuch;

pub type Made<T> = Result<T, TooMuch>;

/// What an instruction's last operand may be.
#[derive(Clone, Copy)]
pub enum Source {
    Reg(u8),
    Mem(Mem),
}

pub struct Emit<'s> {
    pub body: &'s Body,
    /// A segment's: nodes that are set aside, and what [`Item::Check`] is about.
    pub aside: &'s [Id],
    pub checks: &'s [Check],
    pub m: Assembler,
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
    pub forks: Forks,
    pub calls: Calls<'s>,
    /// A loop's: by unit of a Bool register, the first of the rows that have it.
    #[cfg(target_arch = "aarch64")]
    pub bools: FxHashMap<usize, u32>,
}

/// The code of a segment, whose bytes may lie anywhere, aligned to 64; `ops` are what kernels do for its checks, and stay where they are.
///
/// # Errors
/// The segment asks for more than a function has room for.
pub fn compile(segment: &Segment, target: Target, ops: &[Op], kernels: &[Kernel]) -> Made<Vec<u8>> {
    let calls = Calls::new(ops, kernels);
    Emit::of_segment(&segment.body, target, &segment.kept, &segment.checks, calls).run()
}

impl<'s> Emit<'s> {
    pub fn new(body: &'s Body, target: Target) -> Emit<'s> {
        let n = body.nodes.len();
        Emit {
            body,
            aside: &[],
            checks: &[],
            m: Assembler::new(target),
            vectors: vec![None; target.vectors()],
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
            #[cfg(target_arch = "aarch64")]
            bools: FxHashMap::default(),
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

    /// All of it.
    pub fn finish(mut self, frame: usize) -> Made<Vec<u8>> {
        if self.rows * ROW > MOST_BYTES {
            return Err(TooMuch);
        }
        self.m.set_frame(frame, self.rows * ROW);
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
        self.m.has_masks() && self.node(id).is_mask()
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
            let (file, held) = if self.m.has_masks() && mask {
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
    /// The value is not needed after item `at`, which uses it once.
    pub fn dies(&self, at: u32, id: Id) -> bool {
        let uses = &self.uses[id as usize];
        !self.place[id as usize].pinned && uses.iter().all(|u| *u == at)
    }
}
