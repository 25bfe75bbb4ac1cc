//! The loop over live warps: what it needs, and what they have in common in registers of its own.

use super::{Emit, Made, Place};
use crate::jit::nodes::body::Item;
use crate::recording::{Id, Node};

impl Emit<'_> {
    /// How many vectors of a warp's own are needed at one time.
    pub fn most_at_once(&self) -> usize {
        let each = &self.body.each;
        let mut last = vec![usize::MAX; self.body.nodes.len()];
        for (i, item) in each.iter().enumerate() {
            self.reads_of(*item, |id| last[id as usize] = i);
        }
        let (mut now, mut most) = (0usize, 0usize);
        let mut ends = vec![0usize; each.len() + 1];
        for (i, item) in each.iter().enumerate() {
            now -= ends[i];
            if let Item::Compute(id) = *item
                && !self.body.nodes[id as usize].is_mask()
                && last[id as usize] != usize::MAX
            {
                now += 1;
                ends[last[id as usize]] += 1;
            }
            most = most.max(now);
        }
        // One more for what comes from memory.
        most + 1
    }

    /// Begins a loop over warps, so many side by side: nothing lies anywhere but what is common to all of them.
    pub fn begin_loop(&mut self, common: &[Place], side: usize) -> Made<()> {
        let n = self.body.nodes.len();
        self.side = side;
        self.vectors.fill(None);
        self.masks.fill(None);
        self.place = vec![Place::default(); n * side];
        for (p, c) in self.place.iter_mut().zip(common) {
            *p = Place { slot: c.slot, ..Place::default() };
        }
        self.uses = vec![vec![]; n * side];
        self.note_uses(&self.body.each);
        self.pin()
    }

    /// What the loop uses most often of what all warps have in common gets registers.
    pub fn pin(&mut self) -> Made<()> {
        let common = |node: Node, uniform: bool| match node {
            Node::Splat(x) => x != 0,
            Node::Splat64(x) => x != 0,
            Node::Parts(..) => false,
            Node::Truth(_) => false,
            _ => uniform,
        };
        let mut often: Vec<(usize, Id)> = (0..self.body.nodes.len())
            .filter(|&i| {
                let node = self.body.nodes[i];
                self.uses[i].len() > self.side && common(node, self.body.uniform[i]) && !node.is_mask()
            })
            .map(|i| (self.uses[i].len(), i as Id))
            .collect();
        often.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        for &(_, id) in often.iter().take(self.m.pins()) {
            self.in_register(id)?;
            self.held = 0;
            self.place[id as usize].pinned = true;
        }
        Ok(())
    }
}
