//! What is chosen before a region becomes code: which sides go together, and which registers have vector registers all along.

use super::block::reads;
use super::{Cycle, Pin};
use crate::jit::nodes::body::Item;
use crate::jit::nodes::region::Block;
use crate::recording::Node;
use rustc_hash::FxHashMap;
use shader::bytecode::Reg;

impl Cycle<'_> {
    /// How many vectors of its own a block needs at one time, of one side.
    pub fn pressure(block: &Block) -> usize {
        let body = &block.body;
        let mut last = vec![usize::MAX; body.nodes.len()];
        for (i, item) in body.each.iter().enumerate() {
            if let Item::Compute(id) = item {
                body.nodes[*id as usize].operands().for_each(|id| last[id as usize] = i);
            } else if let Item::Store(_, id) = item {
                last[*id as usize] = i;
            } else if let Item::Wide(_, a, b) = item {
                (last[*a as usize], last[*b as usize]) = (i, i);
            }
        }
        let (mut now, mut most) = (0usize, 0usize);
        let mut ends = vec![0usize; body.each.len() + 1];
        for (i, item) in body.each.iter().enumerate() {
            now -= ends[i];
            if let Item::Compute(id) = *item
                && !body.nodes[id as usize].is_mask()
                && last[id as usize] != usize::MAX
            {
                now += 1;
                ends[last[id as usize]] += 1;
            }
            most = most.max(now);
        }
        most + 1
    }
    pub fn most_pressure(&self) -> usize {
        self.region.blocks.iter().map(Self::pressure).max().unwrap_or(1)
    }

    /// Registers of words that blocks share, and how much it would give to pin each.
    pub fn candidates(&self) -> Vec<(usize, Pin)> {
        let mut all: FxHashMap<Reg, (usize, bool)> = FxHashMap::default();
        for block in &self.region.blocks {
            let body = &block.body;
            for item in &body.each {
                if let Item::Store(r, id) = item
                    && !body.nodes[*id as usize].is_mask()
                {
                    let it = all.entry(*r).or_default();
                    (it.0, it.1) = (it.0 + 3, true);
                }
                reads(self.region, body, *item, |id| {
                    if let Node::Word(r) = body.nodes[id as usize] {
                        all.entry(r).or_default().0 += 2;
                    }
                });
            }
        }
        let mut list: Vec<(usize, Pin)> = all
            .into_iter()
            .map(|(reg, (n, written))| {
                let worth = if written { 100 + n } else { n };
                (worth, Pin { reg, first: 0, written })
            })
            .collect();
        list.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.reg.0.cmp(&b.1.reg.0)));
        list
    }

    /// Gives registers to what is used most.
    pub fn pin(&mut self, sides: usize) {
        let all = self.e.vector_count();
        let (least, most) = self.own_vectors();
        let own = (self.most_pressure() * sides.min(2) + 2).clamp(least, most);
        self.pins.clear();
        self.e.set_reserved(self.fixed_vectors());
        let mut next = all;
        for (_, pin) in self.candidates() {
            let n = if pin.reg.is_uniform() { 1 } else { sides };
            if next < own + n {
                continue;
            }
            next -= n;
            self.pins.push(Pin { first: next as u8, ..pin });
            let own = (next..next + n).fold(self.e.reserved(), |all, r| all | 1 << r);
            self.e.set_reserved(own);
        }
    }
}
