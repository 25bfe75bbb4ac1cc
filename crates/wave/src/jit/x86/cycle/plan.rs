//! What is chosen before a region becomes code: how many warps go side by side, and which sides together.

use crate::jit::cycle::Cycle;
use crate::jit::nodes::body::{Body, Item, chain, computed};
use crate::recording::{Id, Node};

/// Items for all sides at most.
const MOST_ITEMS: usize = 640;

impl Cycle<'_> {
    /// Warps side by side. Where they stay together what they share is done once for all, and what one loads the next may load too.
    pub fn beside(&self) -> usize {
        let r = self.region;
        let items: usize = r.blocks.iter().map(|b| b.body.each.len()).sum();
        if !r.diverges {
            let fits = |n: &usize| *n <= r.warps && items * n * self.of_warp() <= MOST_ITEMS;
            return [8, 4, 2].into_iter().find(fits).unwrap_or(1);
        }
        let written = self.candidates();
        let count =
            |uniform: bool| written.iter().filter(|p| p.1.written && p.1.reg.is_uniform() == uniform).count();
        let fits = 2 * (count(false) + self.most_pressure()) + count(true) + 2 <= self.e.vector_count();
        if !self.halves() && fits { 2 } else { 1 }
    }

    /// Vectors that a block's own values have, at least and at most.
    pub fn own_vectors(&self) -> (usize, usize) {
        if self.halves() { (7, 12) } else { (8, 22) }
    }
    /// Those that no value has in any block.
    pub fn fixed_vectors(&self) -> u32 {
        0
    }
    /// Sides that a block does together, instruction by instruction: those whose chains of operations would wait for themselves, as
    /// far as there are registers; all where they may go apart at its end.
    pub fn together(&self, body: &Body) -> usize {
        if self.region.diverges {
            // (Of halves that load much, one after the other fits into registers.)
            let goes_on = !body.each.iter().any(|i| matches!(i, Item::Test(_) | Item::Exec(_)));
            return if goes_on && self.loads_parts(body) { 1 } else { self.e.sides() };
        }
        let (longest, work) = chain(&body.nodes, computed(&body.each));
        let wanted = if longest < 8 { 1 } else { (4 * longest).div_ceil(work) as usize };
        let room = self.e.vector_count() - self.e.reserved().count_ones() as usize;
        wanted.min(room / self.most_pressure()).clamp(self.of_warp(), self.e.sides())
    }
    fn loads_parts(&self, body: &Body) -> bool {
        let part = |id: Id| match body.nodes[id as usize] {
            Node::Load(i, ..) => self.region.loads[i as usize].part.is_some(),
            _ => false,
        };
        computed(&body.each).any(part)
    }
}
