//! What loops tell the emitter and ask of it: sides, registers that they keep for themselves, and where values lie.

use super::super::machine::Target;
use super::{Calls, Emit, Made, Place, TooMuch};
use crate::jit::nodes::body::Body;
use crate::jit::nodes::region::Check;
use crate::recording::{Id, Node};
use rustc_hash::FxHashMap;

/// What registers of the wave held, as nodes of a body.
pub fn given(body: &Body) -> FxHashMap<Node, Id> {
    let held = |n: &Node| matches!(n, Node::Word(_) | Node::Part(..) | Node::Mask(_) | Node::Exec);
    body.nodes.iter().enumerate().filter(|(_, n)| held(n)).map(|(i, n)| (*n, i as Id)).collect()
}

impl<'s> Emit<'s> {
    /// For a segment: the nodes that are set aside, what [`crate::jit::nodes::body::Item::Check`] is about, and its calls.
    pub fn of_segment(
        body: &'s Body,
        target: Target,
        aside: &'s [Id],
        checks: &'s [Check],
        calls: Calls<'s>,
    ) -> Emit<'s> {
        Emit { aside, checks, calls, ..Emit::new(body, target) }
    }
    /// For a loop that begins with this block.
    pub fn of_loop(body: &'s Body, target: Target) -> Emit<'s> {
        let sides_of_warp = Some(target.sides_of_warp());
        Emit { inside: true, sides_of_warp, ..Emit::new(body, target) }
    }

    // ---- sides ----

    /// Warps side by side, or halves of them.
    pub fn sides(&self) -> usize {
        self.side
    }
    /// `full`: all lanes of them execute, whatever happens.
    pub fn set_sides(&mut self, sides: usize, full: bool) {
        (self.side, self.full) = (sides, full);
    }
    pub fn is_full(&self) -> bool {
        self.full
    }
    /// The side that is at hand.
    pub fn this_side(&self) -> usize {
        self.k
    }
    pub fn set_side(&mut self, k: usize) {
        self.k = k;
    }
    /// The next item is for side `k`, and needs no register yet.
    pub fn begin_item(&mut self, k: usize) {
        self.k = k;
        (self.held, self.held_masks) = (0, 0);
    }

    // ---- registers ----

    pub fn vector_count(&self) -> usize {
        self.vectors.len()
    }
    /// Vector registers that hold something, or are reserved.
    pub fn taken(&self) -> u32 {
        let some = (0..self.vectors.len()).filter(|r| self.vectors[*r].is_some());
        some.fold(self.reserved, |all, r| all | 1 << r)
    }
    /// Registers that are taken all along.
    pub fn reserved(&self) -> u32 {
        self.reserved
    }
    pub fn set_reserved(&mut self, vectors: u32) {
        self.reserved = vectors;
    }
    /// The item at hand needs the register no more.
    pub fn let_go(&mut self, vector: u8) {
        self.held &= !(1 << vector);
    }

    // ---- values ----

    /// The register that has a value.
    pub fn register_of(&self, id: Id) -> Option<u8> {
        self.place[id as usize].reg
    }
    /// The row of the stack that has it.
    pub fn slot_of(&self, id: Id) -> Option<u32> {
        self.place[id as usize].slot
    }
    /// A node of what a register of the wave held.
    pub fn given(&self, node: Node) -> Option<Id> {
        self.given.get(&node).copied()
    }
    pub fn rows(&self) -> u32 {
        self.rows
    }
    pub fn set_rows(&mut self, rows: u32) {
        self.rows = rows;
    }
    /// Gets ready for another body: nothing lies anywhere. Its rows begin with `rows`.
    pub fn begin_body(&mut self, body: &'s Body, rows: u32) {
        self.body = body;
        self.rows = rows;
        self.vectors.fill(None);
        self.masks.fill(None);
        self.place = vec![Place::default(); body.nodes.len() * self.side];
        self.hints.clear();
        self.given = given(body);
    }
    /// A value lies in a vector register all along, and its register of the wave's has something else.
    pub fn pin_vector(&mut self, id: Id, r: u8) {
        let place = &mut self.place[id as usize];
        (place.reg, place.pinned, place.gone) = (Some(r), true, true);
        self.vectors[r as usize] = Some(id);
    }
    /// A value lies in a row of the stack.
    pub fn put_in_slot(&mut self, id: Id, slot: u32) {
        self.place[id as usize].slot = Some(slot);
    }
    /// A value is stored to the register in the end.
    pub fn hint(&mut self, id: Id, r: u8) {
        self.hints.entry(id).or_insert(r);
    }
    /// By value: the items that use it, the next one last.
    pub fn set_uses(&mut self, uses: Vec<Vec<u32>>) {
        self.uses = uses;
    }

    /// A value gets the register that its register of the wave's has.
    pub fn put_in(&mut self, at: u32, r: u8, id: Id) -> Made<()> {
        if self.place[id as usize].reg == Some(r) {
            self.used(at, id);
            return Ok(());
        }
        if let Some(old) = self.vectors[r as usize] {
            if self.uses[old as usize].iter().any(|u| *u != at) && old != id {
                // What reads it later has it elsewhere by then.
                let to = self.vector()?;
                self.m.copy(to, r)?;
                self.vectors[to as usize] = Some(old);
                let place = &mut self.place[old as usize];
                (place.reg, place.pinned) = (Some(to), false);
            } else {
                self.place[old as usize].reg = None;
            }
            self.vectors[r as usize] = None;
        }
        match self.place[id as usize].reg {
            Some(s) => self.m.copy(r, s)?,
            None => match (self.node(id), self.place[id as usize].slot) {
                (Node::Splat(0), None) => self.m.zero(r)?,
                _ => {
                    let from = self.home(id).ok_or(TooMuch)?;
                    self.load_home(id, r, from)?;
                }
            },
        }
        self.used(at, id);
        Ok(())
    }
}
