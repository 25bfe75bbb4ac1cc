//! A segment: lane-wise ops one after the other, as nodes, and what is written to registers for who comes after.
//!
//! What all lanes have in common is computed before the loop over warps, the rest in it. Nothing is written that nobody reads.
//! A segment ends before an op that no recording says, or that would write where the loop still reads what was there.

use super::branch::{Branch, Flow};
use super::live::Set;
use super::region::Check;
use crate::kernels::across;
use crate::kernels::subgroup::FROM;
use crate::recording::{Id, Kind, Node, Tape, Tri, Un, with};
use rustc_hash::{FxHashMap, FxHashSet};
use shader::bytecode::{Code, Op, Program, Reg};
use shader::ir::Ty;
use shader::isa::code::extension_words;
use smallvec::SmallVec;
use std::ops::Range;
use std::rc::Rc;

/// What is done, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    Compute(Id),
    /// The register gets the node's value.
    Store(Reg, Id),
    /// A register of 64-bit lanes gets its parts.
    Wide(Reg, Id, Id),
    /// Its lanes that execute do.
    Move(Reg, Id),
    /// Regions' alone: the counter of the row is passed.
    Tally(u16),
    /// Lanes out of the ordinary have this done by a kernel.
    Check(u32),
    /// With no lane in it, the block is left here.
    Test(Id),
    /// Its lanes execute from here on.
    Exec(Id),
    /// Segments' alone: what follows, up to its [`Item::End`], is for warps with a lane in the mask.
    If(Id),
    /// Of the branch that ends: what a register holds behind it ([`Node::Phi`]).
    Phi(Reg, Id),
    End,
    /// The counter of the row is passed by the mask's lanes, of which there are some.
    Count(u16, Id),
}

pub struct Segment {
    pub first: usize,
    /// Where the interpreter goes on.
    pub end: usize,
    pub nodes: Vec<Node>,
    /// By node: the same in all lanes of the wave.
    pub uniform: Vec<bool>,
    /// Uniform registers that are written before the loop is done with what they held: these nodes are set aside.
    pub kept: Vec<Id>,
    /// Done once, and for each warp.
    pub once: Vec<Item>,
    pub each: Vec<Item>,
    /// What [`Item::Check`] is about.
    pub checks: Vec<Check>,
    /// The op behind the segment, in the place of one that compares: its condition is there.
    pub split: Option<Op>,
}

/// What is known of a node's lanes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lanes {
    Same,
    /// A Bool register does not tell.
    Unknown,
    Differ,
}

/// Says of nodes that came since how their lanes are.
pub fn settle(tape: &Tape, known: &mut Vec<Lanes>) {
    while known.len() < tape.nodes.len() {
        let node = tape.nodes[known.len()];
        let lanes = match node {
            Node::Word(r) | Node::Part(r, _) if !r.is_uniform() => Lanes::Differ,
            Node::Word(_) | Node::Part(..) => Lanes::Same,
            Node::Splat(_) | Node::Splat64(_) | Node::Truth(_) => Lanes::Same,
            Node::Mask(_) => Lanes::Unknown,
            Node::Exec | Node::Phi(..) | Node::Line(_) | Node::Lanes(_) => Lanes::Differ,
            _ => node.operands().map(|i| known[i as usize]).max().unwrap_or(Lanes::Same),
        };
        known.push(lanes);
    }
}

/// Nodes of one segment at most, so that compiling takes about as long as its ops are many.
pub const MOST_NODES: usize = 4000;

/// Vectors that a segment's values have, with AVX-512 and with AVX2: from there on some lie on the stack.
const ROOM: [usize; 2] = [28, 13];

/// The longest chain of these nodes of which each waits for the one before, and how many they are.
pub fn chain(nodes: &[Node], computed: impl Iterator<Item = Id>) -> (u32, u32) {
    let mut depth = vec![0u32; nodes.len()];
    let (mut longest, mut work) = (0, 0);
    for id in computed {
        let before = nodes[id as usize].operands().map(|x| depth[x as usize]).max().unwrap_or(0);
        depth[id as usize] = before + 1;
        longest = longest.max(before + 1);
        work += 1;
    }
    (longest, work)
}

/// What is computed of items.
pub fn computed(items: &[Item]) -> impl Iterator<Item = Id> {
    items.iter().filter_map(|item| if let Item::Compute(id) = *item { Some(id) } else { None })
}

/// When code with functions in it would wait for its own results, so that they are left to kernels.
struct Waits {
    /// Operations that the longest chain has at least.
    longest: u32,
    /// All operations are fewer than this many halves of it.
    halves: u32,
}

/// With AVX-512, and with AVX2, where a processor looks ahead half as many lanes: `large` takes 0.93 of the time with these numbers,
/// and `trans`, all of whose functions wait for each other, as long as with kernels alone (1.12 with the others).
const WAITS: [Waits; 2] = [Waits { longest: 20, halves: 4 }, Waits { longest: 8, halves: 5 }];

#[derive(Default)]
pub struct Builder {
    pub tape: Tape,
    pub lanes: Vec<Lanes>,
    /// By unit: what the register holds, and whether as a mask.
    pub now: FxHashMap<usize, Id>,
    pub items: Vec<Item>,
    /// Units of small registers that are written, and what they held before, where that was read.
    read: FxHashMap<usize, Vec<Id>>,
    kept: FxHashSet<Id>,
    pub checks: Vec<Check>,
    /// Units of which `now` is not all lanes', but of those that execute; and what all lanes have, within branches.
    pub part: FxHashSet<usize>,
    pub whole: FxHashMap<usize, Id>,
    /// The branches that are open.
    pub open: Vec<Branch>,
    /// What registers hold all along.
    consts: Rc<Consts>,
    /// Functions are taken on, outside branches too.
    functions: bool,
    /// How many of the branches are within functions.
    pub rare: usize,
    /// Units of a varying register.
    warps: usize,
}

/// By unit of a register of 32-bit lanes, or of 64-bit ones: what it holds from the program's begin on.
pub type Consts = FxHashMap<usize, (Ty, u64)>;

/// Those of a program.
pub fn consts(program: &Program) -> Rc<Consts> {
    let numbers = program.consts.iter().filter(|c| c.1 != Ty::Bool);
    Rc::new(numbers.map(|(r, ty, x)| (r.unit(), (*ty, *x))).collect())
}

/// What a register holds where nobody has written to it, as nodes.
pub fn given(tape: &mut Tape, consts: &Consts, r: Reg, kind: Kind) -> Id {
    let known = consts.get(&r.unit());
    let node = match (kind, known) {
        (Kind::Mask, _) => Node::Mask(Reg::varying(r.unit() as u16)),
        (Kind::Word, Some((Ty::B32, x))) => Node::Splat(*x as u32),
        (Kind::Word, _) => Node::Word(r),
        (Kind::Wide, Some((Ty::B64, x))) => {
            let part = tape.put(Node::Splat64(*x));
            Node::Parts(part, part)
        }
        (Kind::Wide, _) => {
            let first = tape.put(Node::Part(r, 0));
            // What is the same in all lanes has one part for both.
            let last = if r.is_uniform() { first } else { tape.put(Node::Part(r, 1)) };
            Node::Parts(first, last)
        }
    };
    tape.put(node)
}

/// The registers of an op's operands, in the order of its recording.
pub fn operands(op: &Op) -> [Reg; 5] {
    if shader::twins::of(op.code).is_some() {
        [op.a, op.c, Reg(op.e), Reg(op.imm as u16), Reg((op.imm >> 16) as u16)]
    } else {
        [op.a, op.b, op.c, Reg(op.e), Reg(op.imm as u16)]
    }
}

/// A segment of which it is not known yet who reads its registers.
pub struct Draft {
    builder: Builder,
    pub first: usize,
    /// Its last op, and where the interpreter goes on.
    pub last: usize,
    pub end: usize,
    pub ops: usize,
    split: Option<Op>,
}

impl Draft {
    /// `live`: what is read behind the last op.
    pub fn finish(self, live: &Set) -> Option<Segment> {
        self.builder.finish(self.first, self.end, self.split, live)
    }
}

/// The longest segment that begins with op `first`; none where the first op is none's.
///
/// It has `most` ops at most. With functions in it, unless it would wait for results more than it would do: a function's kernel does many warps at a time.
pub fn draft(code: &[Op], flow: &Flow, first: usize, narrow: bool, most: usize) -> Option<Draft> {
    let whole = drafted(code, flow, first, most, Builder::new(flow, narrow, true))?;
    if whole.builder.waits() {
        return drafted(code, flow, first, most, Builder::new(flow, narrow, false));
    }
    Some(whole)
}

fn drafted(code: &[Op], flow: &Flow, first: usize, most: usize, mut it: Builder) -> Option<Draft> {
    let (mut pc, mut ops, mut last) = (first, 0, first);
    while ops < most && it.tape.nodes.len() < MOST_NODES && (pc == first || !flow.begins(pc)) {
        let next = if it.op(&code[pc]) {
            pc + 1 + extension_words(&code[pc])
        } else if let Some(branch) = flow.branch(pc)
            && it.branch(code, flow, pc, branch)
        {
            // Its join is the last op.
            branch
        } else {
            break;
        };
        (last, pc) = (if flow.branch(pc) == Some(next) { next - 1 } else { pc }, next);
        ops += 1;
    }
    let split = if ops > 0 && !flow.begins(pc) { it.split(code, flow, pc) } else { None };
    if split.is_some() {
        (last, ops, pc) = (pc, ops + 1, pc + 1 + extension_words(&code[pc]));
    }
    // A branch is two of them at least.
    ops += it.checks.len() + it.items.iter().filter(|i| matches!(i, Item::If(_))).count();
    (ops > 0).then_some(Draft { builder: it, first, last, end: pc, ops, split })
}

impl Builder {
    fn new(flow: &Flow, narrow: bool, functions: bool) -> Builder {
        let mut it =
            Builder { consts: flow.consts.clone(), warps: flow.warps, functions, ..Builder::default() };
        it.tape.narrow = narrow;
        it
    }

    /// The longest chain of operations is most of what there is to do ([`WAITS`]).
    fn waits(&self) -> bool {
        if self.items.iter().filter(|i| matches!(i, Item::If(_))).count() > self.rare {
            return false;
        }
        let nodes = &self.tape.nodes;
        let computed = (0..nodes.len() as Id).filter(|id| !nodes[*id as usize].is_given());
        let (longest, work) = chain(nodes, computed);
        let limit = &WAITS[self.tape.narrow as usize];
        longest >= limit.longest && limit.halves * longest > 2 * work
    }

    /// Nodes that came since are taken note of.
    pub fn settle(&mut self) {
        settle(&self.tape, &mut self.lanes);
    }

    /// Takes the op on, or leaves all as it was.
    pub fn op(&mut self, op: &Op) -> bool {
        match op.code {
            Code::MOVM32 | Code::MOVIF32 => return self.masked(op),
            Code::QUAD32 => return self.quad(op),
            code if across::kinds(code).is_some() => return self.across(op),
            _ => (),
        }
        let Some(recording) = crate::kernels::recording(op.code) else { return false };
        let before = self.tape.nodes.len();
        let regs = operands(op);
        let mut x = [0; 5];
        for ((x, r), kind) in x.iter_mut().zip(regs).zip(recording.operands) {
            if r.is_none() {
                return self.undo(before);
            }
            *x = self.value(r, *kind);
        }
        // Within a branch a kernel can't be called for the wave.
        self.tape.one_way = self.functions || !self.open.is_empty();
        self.tape.odd = self.tape.one_way.then(Vec::new);
        self.tape.exec = self.tape.one_way.then(|| self.exec());
        let made = with(&mut self.tape, || (recording.run)(&x));
        let odd = self.tape.odd.take().unwrap_or_default();
        let rare = std::mem::take(&mut self.tape.rare);
        if self.tape.unsaid {
            return self.undo(before);
        }
        // What a branch leaves in such registers nobody merges.
        if recording.results[0] == Kind::Wide && !self.open.is_empty() {
            return self.undo(before);
        }
        let n = recording.results.len();
        let made: SmallVec<[Id; 2]> = made[..n].into();
        let mask = recording.results[0] == Kind::Mask;
        let odd = self.odd(&odd);
        self.settle();
        let results: SmallVec<[Reg; 2]> = [op.d, op.b][..n].into();
        for (r, id) in results.iter().zip(&made) {
            let lanes = self.lanes[*id as usize];
            // A uniform register's value is computed once; a Bool that may be uniform is whole wherever it is looked at.
            let odd = if mask { lanes == Lanes::Unknown } else { r.is_uniform() && lanes != Lanes::Same };
            if odd || r.is_none() {
                return self.undo(before);
            }
        }
        for (r, id) in results.iter().zip(&made) {
            if !self.may_write(*r, mask, self.lanes[*id as usize] == Lanes::Same) {
                return self.undo(before);
            }
        }
        let words = || recording.operands.iter().chain(recording.results).all(|k| *k == Kind::Word);
        if odd.is_some() && !words()
            || odd.is_some() && made.iter().chain(&odd).any(|id| self.lanes[*id as usize] != Lanes::Differ)
            || !rare.is_empty()
                && x[..recording.operands.len()].iter().any(|id| self.lanes[*id as usize] != Lanes::Differ)
        {
            return self.undo(before);
        }
        self.rare += rare.len();
        let mut rare = rare.into_iter().peekable();
        let mut id = before as Id;
        while (id as usize) < self.tape.nodes.len() {
            let Some(r) = rare.next_if(|r| r.first == id) else {
                self.items.push(Item::Compute(id));
                id += 1;
                continue;
            };
            self.items.push(Item::If(r.mask));
            self.items.extend((r.first..r.phis).map(Item::Compute));
            self.items.extend([r.phis, r.phis + 1].map(|id| Item::Phi(Reg::NONE, id)));
            self.items.push(Item::End);
            id = r.phis + 2;
        }
        if let Some(odd) = odd {
            self.items.push(Item::Check(self.checks.len() as u32));
            let args = x[..recording.operands.len()].to_vec();
            self.checks.push(Check { code: op.code, args, results: made.to_vec(), odd });
        }
        for (r, id) in results.into_iter().zip(made) {
            self.write(r, id);
        }
        true
    }

    /// Lanes from others of their quads, of which all execute or none ([`Code::QUAD_SEGMENT`]): so not where the segment changes who does.
    fn quad(&mut self, op: &Op) -> bool {
        let only_some = !self.open.is_empty() || !self.checks.is_empty() || self.rare > 0;
        if only_some || self.items.iter().any(|i| matches!(i, Item::Move(..))) || op.d.is_uniform() {
            return false;
        }
        let Some(from) = FROM.get(op.e as usize) else { return false };
        let before = self.tape.nodes.len();
        let a = self.value(op.a, Kind::Word);
        let id = self.tape.put(Node::Un(Un::Quad(*from as u8), a));
        self.settle();
        if !self.may_write(op.d, false, self.lanes[id as usize] == Lanes::Same) {
            return self.undo(before);
        }
        self.items.extend((before..self.tape.nodes.len()).map(|id| Item::Compute(id as Id)));
        self.write(op.d, id);
        true
    }

    /// An op that reads the lanes of its warp.
    fn across(&mut self, op: &Op) -> bool {
        let Some((operands, result)) = across::kinds(op.code) else { return false };
        // What a branch leaves in such registers nobody merges.
        if self.tape.narrow || result == Kind::Wide && !self.open.is_empty() {
            return false;
        }
        let before = self.tape.nodes.len();
        let mut x = [0; 2];
        for ((x, r), kind) in x.iter_mut().zip([op.a, op.b]).zip(operands) {
            *x = self.value(r, *kind);
        }
        let exec = self.exec();
        let id = with(&mut self.tape, || across::recorded(op, exec, x));
        self.settle();
        let lanes = self.lanes[id as usize];
        if self.tape.unsaid
            || op.d.is_none()
            || op.d.is_uniform() && lanes != Lanes::Same
            || !self.may_write(op.d, false, lanes == Lanes::Same)
        {
            return self.undo(before);
        }
        self.items.extend((before..self.tape.nodes.len()).map(|id| Item::Compute(id as Id)));
        self.write(op.d, id);
        true
    }

    /// A move of some lanes.
    fn masked(&mut self, op: &Op) -> bool {
        if !self.open.is_empty() {
            return self.masked_within(op);
        }
        let before = self.tape.nodes.len();
        let new = self.value(op.a, Kind::Word);
        // All that is computed here is for the lanes that execute: who reads the register later in the segment need not know what it
        // holds for others. A mask of its own is one of them.
        let id = if op.d.is_uniform() || op.code == Code::MOVM32 {
            new
        } else {
            let old = self.value(op.d, Kind::Word);
            let m = self.value(op.b, Kind::Mask);
            self.tape.put(Node::Tri(Tri::Sel, m, new, old))
        };
        self.tape.put(Node::Exec);
        self.settle();
        if op.d.is_uniform() && self.lanes[id as usize] != Lanes::Same
            || !self.may_write(op.d, false, self.lanes[id as usize] == Lanes::Same)
        {
            return self.undo(before);
        }
        for id in before..self.tape.nodes.len() {
            self.items.push(Item::Compute(id as Id));
        }
        if op.d.is_uniform() {
            self.write(op.d, id);
        } else {
            self.now.insert(op.d.unit(), id);
            self.part.insert(op.d.unit());
            self.items.push(Item::Move(op.d, id));
        }
        true
    }

    pub fn undo(&mut self, nodes: usize) -> bool {
        self.tape.cut(nodes);
        self.lanes.truncate(nodes);
        for list in self.read.values_mut() {
            list.retain(|id| (*id as usize) < nodes);
        }
        self.now.retain(|_, id| (*id as usize) < nodes);
        self.whole.retain(|_, id| (*id as usize) < nodes);
        false
    }

    /// What a register holds now.
    pub fn value(&mut self, r: Reg, kind: Kind) -> Id {
        if let Some(id) = self.now.get(&r.unit())
            && self.tape.nodes[*id as usize].kind() == kind
        {
            return *id;
        }
        let id = given(&mut self.tape, &self.consts, r, kind);
        let read = match self.tape.nodes[id as usize] {
            Node::Parts(part, _) => part,
            _ => id,
        };
        let known = matches!(self.tape.nodes[read as usize], Node::Splat(_) | Node::Splat64(_));
        if !known && (kind == Kind::Mask || r.is_uniform()) {
            let list = self.read.entry(r.unit()).or_default();
            if !list.contains(&read) {
                list.push(read);
            }
        }
        self.now.insert(r.unit(), id);
        id
    }

    /// Whether register `r` may be written: what it held is not read after that, or can be set aside. `once`: before the loop.
    pub fn may_write(&mut self, r: Reg, mask: bool, once: bool) -> bool {
        if !self.open.is_empty() {
            // Nothing is written there, but by who merges; of uniform registers some warps would have none.
            return mask || !r.is_uniform();
        }
        if !mask && !r.is_uniform() {
            return true;
        }
        let Some(list) = self.read.get(&r.unit()) else { return true };
        for id in list {
            match self.tape.nodes[*id as usize] {
                Node::Word(_) | Node::Part(..) => {
                    self.kept.insert(*id);
                }
                // Warp by warp, as they are read.
                Node::Mask(_) if mask && !once => (),
                _ => return false,
            }
        }
        true
    }

    pub fn write(&mut self, r: Reg, id: Id) {
        self.now.insert(r.unit(), id);
        match self.open.last_mut() {
            None => {
                self.part.remove(&r.unit());
                self.items.push(match self.tape.nodes[id as usize] {
                    Node::Parts(a, b) => Item::Wide(r, a, b),
                    _ => Item::Store(r, id),
                });
            }
            Some(branch) => {
                self.whole.remove(&r.unit());
                branch.changed.insert(r.0);
            }
        }
    }

    /// None where registers that share units are written and read, which warps one after the other would find changed.
    fn finish(mut self, first: usize, end: usize, split: Option<Op>, live: &Set) -> Option<Segment> {
        // Of the stores to a register the last counts, if anybody reads it.
        let mut seen = FxHashSet::default();
        let mut needed = vec![false; self.tape.nodes.len()];
        let mut keep = vec![false; self.items.len()];
        let need = |needed: &mut Vec<bool>, id: Id| needed[id as usize] = true;
        for (i, item) in self.items.iter().enumerate().rev() {
            match *item {
                Item::Store(r, id) | Item::Move(r, id) => {
                    let unchanged = match self.tape.nodes[id as usize] {
                        Node::Word(w) => w == r,
                        Node::Mask(w) => w.unit() == r.unit(),
                        _ => false,
                    };
                    let read = live.has(r.unit()) || split.is_some_and(|op| op.a == r);
                    keep[i] = seen.insert(r.unit()) && read && !unchanged;
                    if keep[i] {
                        need(&mut needed, id);
                    }
                }
                Item::Wide(r, a, b) => {
                    let part = |id: Id, k: u8| self.tape.nodes[id as usize] == Node::Part(r, k);
                    let unchanged = part(a, 0) && (part(b, 1) || r.is_uniform());
                    keep[i] = seen.insert(r.unit()) && live.has(r.unit()) && !unchanged;
                    if keep[i] {
                        need(&mut needed, a);
                        need(&mut needed, b);
                    }
                }
                Item::Compute(id) => {
                    keep[i] = needed[id as usize];
                    if keep[i] {
                        self.tape.nodes[id as usize].operands().for_each(|id| need(&mut needed, id));
                    }
                }
                Item::Phi(_, id) => {
                    keep[i] = needed[id as usize];
                    if keep[i] {
                        self.tape.nodes[id as usize].operands().for_each(|id| need(&mut needed, id));
                    }
                }
                Item::Check(n) => {
                    let check = &self.checks[n as usize];
                    keep[i] = check.results.iter().any(|id| needed[*id as usize]);
                    if keep[i] {
                        let ids = check.args.iter().chain(&check.results).chain([&check.odd]);
                        ids.for_each(|id| need(&mut needed, *id));
                    }
                }
                Item::If(id) | Item::Count(_, id) => {
                    keep[i] = true;
                    need(&mut needed, id);
                }
                Item::End => keep[i] = true,
                Item::Tally(_) | Item::Test(_) | Item::Exec(_) => (),
            }
        }
        let nodes = std::mem::take(&mut self.tape.nodes);
        let uniform: Vec<bool> = self.lanes.iter().map(|l| *l == Lanes::Same).collect();
        let (mut once, mut each) = (vec![], vec![]);
        for (item, _) in self.items.into_iter().zip(keep).filter(|i| i.1) {
            match item {
                // Given, not computed.
                Item::Compute(id) if nodes[id as usize].is_given() => (),
                Item::Compute(id) if uniform[id as usize] => once.push(item),
                Item::Store(r, id)
                    if uniform[id as usize] && (r.is_uniform() || nodes[id as usize].is_mask()) =>
                {
                    once.push(item);
                }
                Item::Wide(r, a, b) if r.is_uniform() && uniform[a as usize] && uniform[b as usize] => {
                    once.push(item);
                }
                _ => each.push(item),
            }
        }
        // Of an op that was not taken on, some may be no nodes.
        let mut kept: Vec<Id> =
            self.kept.into_iter().filter(|id| needed.get(*id as usize) == Some(&true)).collect();
        kept.sort_unstable();
        let given = (0..nodes.len()).filter(|id| needed[*id]).map(|id| nodes[id]);
        super::order::order(&nodes, &mut each, ROOM[self.tape.narrow as usize]);
        if overlap(self.warps, &nodes, given, once.iter().chain(&each)) {
            return None;
        }
        Some(Segment { first, end, nodes, uniform, kept, once, each, checks: self.checks, split })
    }
}

/// Whether a register of 64-bit lanes shares units with another register, and one of the two is written.
fn overlap<'i>(
    warps: usize,
    nodes: &[Node],
    given: impl Iterator<Item = Node>,
    items: impl Iterator<Item = &'i Item>,
) -> bool {
    // Units, whether of 64-bit lanes, and whether written.
    let mut all: Vec<(Range<usize>, bool, bool)> = vec![];
    let mut note = |r: Reg, kind: Kind, written: bool| {
        let units = units_of(r, kind, warps);
        let wide = kind == Kind::Wide;
        match all.iter_mut().find(|it| it.0 == units && it.1 == wide) {
            Some(it) => it.2 |= written,
            None => all.push((units, wide, written)),
        }
    };
    for node in given {
        match node {
            Node::Word(r) => note(r, Kind::Word, false),
            Node::Mask(r) => note(r, Kind::Mask, false),
            Node::Part(r, _) => note(r, Kind::Wide, false),
            _ => (),
        }
    }
    for item in items {
        match *item {
            Item::Store(r, id) | Item::Move(r, id) => note(r, nodes[id as usize].kind(), true),
            Item::Wide(r, ..) => note(r, Kind::Wide, true),
            _ => (),
        }
    }
    let meet = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
    all.iter().enumerate().any(|(i, (a, wide, written))| {
        *wide && all.iter().enumerate().any(|(j, b)| j != i && (*written || b.2) && meet(a, &b.0))
    })
}

/// Units of the wave's registers that a register has.
pub fn units_of(r: Reg, kind: Kind, warps: usize) -> Range<usize> {
    let each = if kind == Kind::Mask || r.is_uniform() { 1 } else { warps };
    r.unit()..r.unit() + each * if kind == Kind::Wide { 2 } else { 1 }
}
