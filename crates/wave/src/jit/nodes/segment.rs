//! A segment: lane-wise ops one after the other, as nodes, and what is written to registers for who comes after.
//!
//! What all lanes have in common is computed before the loop over warps, the rest in it. Nothing is written that nobody reads.
//! A segment ends before an op that no recording says, or that would write where the loop still reads what was there.

use super::body::{Body, Item, MOST_NODES, Readers, Sharing, chain, eliminate, units_of};
use super::branch::Flow;
use super::builder::Builder;
use super::live::Set;
use super::region::Check;
use crate::recording::{Id, Kind, Node};
use shader::bytecode::{Op, Reg};
use shader::isa::code::extension_words;
use small_sort::SmallSort;
use std::ops::Range;

pub struct Segment {
    pub first: usize,
    /// Where the interpreter goes on.
    pub end: usize,
    pub body: Body,
    /// Uniform registers that are written before the loop is done with what they held: these nodes are set aside.
    pub kept: Vec<Id>,
    /// What [`Item::Check`] is about.
    pub checks: Vec<Check>,
    /// The op after the segment, in the place of one that compares: its condition is there.
    pub split: Option<Op>,
}

/// Vectors that a segment's values have, with AVX-512 and with AVX2: from there on some lie on the stack.
const ROOM: [usize; 2] = [28, 13];

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
    /// `live`: what is read after the last op.
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

    /// None where registers that share units are written and read, which warps one after the other would find changed.
    fn finish(mut self, first: usize, end: usize, split: Option<Op>, live: &Set) -> Option<Segment> {
        let nodes = std::mem::take(&mut self.tape.nodes);
        let later = |r: Reg| live.has(r.unit()) || split.is_some_and(|op| op.a == r);
        let readers = Readers { later, end: None, checks: &self.checks, loads: &[] };
        let (items, needed) = eliminate(self.items, &nodes, &readers);
        let uniform: Vec<bool> = self.lanes.iter().map(|l| *l == Sharing::Same).collect();
        let (mut once, mut each) = (vec![], vec![]);
        for item in items {
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
        kept.small_sort();
        let given = (0..nodes.len()).filter(|id| needed[*id]).map(|id| nodes[id]);
        super::order::order(&nodes, &mut each, ROOM[self.tape.narrow as usize]);
        if overlap(self.warps, &nodes, given, once.iter().chain(&each)) {
            return None;
        }
        let body = Body { nodes, uniform, once, each };
        Some(Segment { first, end, body, kept, checks: self.checks, split })
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
