//! What is chosen before a region becomes code: how many warps go side by side, and which registers have vector registers all along.

use super::block::reads;
use super::{Cycle, Pin};
use crate::jit::nodes::body::{Body, Item, chain, computed};
use crate::jit::nodes::region::Block;
use crate::recording::{Id, Node};
use rustc_hash::FxHashMap;
use shader::bytecode::Reg;

/// Items for all sides at most.
const MOST_ITEMS: usize = 640;

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
    pub fn most_pressure(&self) -> usize {
        self.region.blocks.iter().map(Self::pressure).max().unwrap_or(1)
    }

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
        let whole = !self.halves();
        let all = self.e.vector_count();
        let (least, most) = if whole { (8, 22) } else { (7, 12) };
        let own = (self.most_pressure() * sides.min(2) + 2).clamp(least, most);
        self.pins.clear();
        self.e.set_reserved(0);
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
