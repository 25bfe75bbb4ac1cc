//! What a segment and a block of a loop have in common: nodes, and what is done with them in order.

use super::region::{Check, Load};
use crate::recording::{Id, Kind, Node, Tape};
use rustc_hash::FxHashSet;
use shader::bytecode::Reg;
use std::ops::Range;

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
    /// A kernel does the op for lanes that the quick way is wrong for.
    Check(u32),
    /// With no lane in it, the block is left here.
    Test(Id),
    /// Its lanes execute from here on.
    Exec(Id),
    /// Segments' alone: what follows, up to its [`Item::End`], is for warps with a lane in the mask.
    If(Id),
    /// Of the branch that ends: what a register holds after it ([`Node::Phi`]).
    Phi(Reg, Id),
    End,
    /// The counter of the row is passed by the mask's lanes, of which there are some.
    Count(u16, Id),
}

/// Nodes, and what is done with them.
pub struct Body {
    pub nodes: Vec<Node>,
    /// By node: the same in all lanes of the wave.
    pub uniform: Vec<bool>,
    /// Done once, before the loop over warps: segments' alone.
    pub once: Vec<Item>,
    /// Done for each warp.
    pub each: Vec<Item>,
}

/// What is read of a body besides its own items.
pub struct Readers<'a, F: Fn(Reg) -> bool> {
    /// Whether a register that is written is read afterwards.
    pub later: F,
    /// A node that decides where the body goes on.
    pub end: Option<Id>,
    /// The ops and loads that items refer to by number.
    pub checks: &'a [Check],
    pub loads: &'a [Load],
}

/// Removes items that nothing needs: of the stores to a register the last one counts, if anything reads it. Returns the others in order,
/// and by node whether it is needed.
pub fn eliminate<F: Fn(Reg) -> bool>(
    items: Vec<Item>,
    nodes: &[Node],
    readers: &Readers<F>,
) -> (Vec<Item>, Vec<bool>) {
    let mut seen = FxHashSet::default();
    let mut needed = vec![false; nodes.len()];
    if let Some(id) = readers.end {
        needed[id as usize] = true;
    }
    let operands = |needed: &mut Vec<bool>, id: Id| {
        nodes[id as usize].operands().for_each(|id| needed[id as usize] = true);
    };
    let mut kept = vec![];
    for item in items.into_iter().rev() {
        let keep = match item {
            Item::Store(r, id) | Item::Move(r, id) => {
                let unchanged = match nodes[id as usize] {
                    Node::Word(w) => w == r,
                    Node::Mask(w) => w.unit() == r.unit(),
                    _ => false,
                };
                let keep = seen.insert(r.unit()) && (readers.later)(r) && !unchanged;
                needed[id as usize] |= keep;
                keep
            }
            Item::Wide(r, a, b) => {
                let part = |id: Id, k: u8| nodes[id as usize] == Node::Part(r, k);
                let unchanged = part(a, 0) && (part(b, 1) || r.is_uniform());
                let keep = seen.insert(r.unit()) && (readers.later)(r) && !unchanged;
                needed[a as usize] |= keep;
                needed[b as usize] |= keep;
                keep
            }
            Item::Compute(id) | Item::Phi(_, id) => {
                // A load that is counted is done, whether or not its words are read.
                let counts = match nodes[id as usize] {
                    Node::Load(i, ..) => readers.loads[i as usize].counts.is_some(),
                    _ => false,
                };
                let keep = needed[id as usize] || counts;
                if keep {
                    operands(&mut needed, id);
                }
                keep
            }
            Item::Check(n) => {
                let check = &readers.checks[n as usize];
                let keep = check.results.iter().any(|id| needed[*id as usize]);
                if keep {
                    let ids = check.args.iter().chain(&check.results).chain([&check.odd]);
                    ids.for_each(|id| needed[*id as usize] = true);
                }
                keep
            }
            Item::If(id) | Item::Count(_, id) | Item::Test(id) | Item::Exec(id) => {
                needed[id as usize] = true;
                true
            }
            Item::End | Item::Tally(_) => true,
        };
        kept.extend(keep.then_some(item));
    }
    kept.reverse();
    (kept, needed)
}

/// What is known of a node's lanes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sharing {
    Same,
    /// A Bool register does not tell.
    Unknown,
    Differ,
}

/// Says of nodes that came since how their lanes are.
pub fn settle(tape: &Tape, known: &mut Vec<Sharing>) {
    while known.len() < tape.nodes.len() {
        let node = tape.nodes[known.len()];
        let lanes = match node {
            Node::Word(r) | Node::Part(r, _) if !r.is_uniform() => Sharing::Differ,
            Node::Word(_) | Node::Part(..) => Sharing::Same,
            Node::Splat(_) | Node::Splat64(_) | Node::Truth(_) => Sharing::Same,
            Node::Mask(_) => Sharing::Unknown,
            Node::Exec | Node::Phi(..) | Node::Line(_) | Node::Lanes(_) => Sharing::Differ,
            _ => node.operands().map(|i| known[i as usize]).max().unwrap_or(Sharing::Same),
        };
        known.push(lanes);
    }
}

/// Nodes of one segment at most, so that compiling takes about as long as its ops are many.
pub const MOST_NODES: usize = 4000;

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

/// Units of the wave's registers that a register has.
pub fn units_of(r: Reg, kind: Kind, warps: usize) -> Range<usize> {
    let each = if kind == Kind::Mask || r.is_uniform() { 1 } else { warps };
    r.unit()..r.unit() + each * if kind == Kind::Wide { 2 } else { 1 }
}
