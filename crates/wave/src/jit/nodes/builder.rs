//! A segment while it is built: nodes, what registers hold, and what is done in order.

use super::body::{Item, Sharing, settle};
use super::branch::{Branch, Flow};
use super::region::Check;
use super::registers::{Consts, given};
use crate::recording::{Id, Kind, Node, Tape};
use rustc_hash::{FxHashMap, FxHashSet};
use shader::bytecode::Reg;
use std::rc::Rc;

#[derive(Default)]
pub struct Builder {
    pub tape: Tape,
    pub lanes: Vec<Sharing>,
    /// By unit: what the register holds, and whether as a mask.
    pub now: FxHashMap<usize, Id>,
    pub items: Vec<Item>,
    /// Units of small registers that are written, and what they held before, where that was read.
    read: FxHashMap<usize, Vec<Id>>,
    pub kept: FxHashSet<Id>,
    pub checks: Vec<Check>,
    /// Units of which `now` is not all lanes', but of those that execute; and what all lanes have, within branches.
    pub part: FxHashSet<usize>,
    pub whole: FxHashMap<usize, Id>,
    /// The branches that are open.
    pub open: Vec<Branch>,
    /// What registers hold all along.
    consts: Rc<Consts>,
    /// Functions are taken on, outside branches too.
    pub functions: bool,
    /// How many of the branches are within functions.
    pub rare: usize,
    /// Units of a varying register.
    pub warps: usize,
}

impl Builder {
    pub fn new(flow: &Flow, narrow: bool, functions: bool) -> Builder {
        let mut it =
            Builder { consts: flow.consts.clone(), warps: flow.warps, functions, ..Builder::default() };
        it.tape.narrow = narrow;
        it
    }

    /// Nodes that came since are taken note of.
    pub fn settle(&mut self) {
        settle(&self.tape, &mut self.lanes);
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
}
