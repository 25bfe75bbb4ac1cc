//! Which op fills the waiting mask of each block first: the one split that assigns it, or a clear before all that
//! accumulate.

use super::control::{Control, outer};
use super::edges::LBlocks;
use crate::cfg::{Dominated, NONE};
use crate::options::Result;
use crate::trees::MaxTree;
use crate::work::Work;
use small_sort::SmallSort;
use std::cell::OnceCell;

/// What planning asks of the blocks.
pub(super) struct Plan<'a> {
    blocks: &'a LBlocks,
    work: &'a Work,
    dominated: Dominated,
    /// The latest successor of each block, and how far from the last block its earliest one is; for long stretches.
    ends: OnceCell<[MaxTree; 2]>,
}

/// The latest successor, and how far from the last block the earliest one is.
fn ends(succ: &[u32; 2]) -> [u32; 2] {
    let each = || succ.iter().copied().filter(|t| *t != NONE);
    [each().max().unwrap_or(0), each().map(|t| NONE - t).max().unwrap_or(0)]
}

impl<'a> Plan<'a> {
    pub fn new(blocks: &'a LBlocks, work: &'a Work) -> Plan<'a> {
        Plan { blocks, work, dominated: blocks.cfg.dominated(), ends: OnceCell::new() }
    }

    /// All edges from blocks `from..to` lead to `first..end`.
    fn stays(&self, from: usize, to: usize, first: u32, end: u32) -> bool {
        let within = |[latest, earliest]: [u32; 2]| latest < end && earliest <= NONE - first;
        let succ = &self.blocks.cfg.succ;
        if to <= from + 32 {
            return (from..to).all(|q| within(ends(&succ[q])));
        }
        let tree = |k: usize| MaxTree::new(succ.iter().map(|s| ends(s)[k]));
        within(self.ends.get_or_init(|| [tree(0), tree(1)]).each_ref().map(|t| t.max(from, to)))
    }

    /// The block in which mask of `t` must be valid first: dominates all, in the loop of `t`, contiguous up to `t`.
    fn mask_owner(&self, t: u32, sources: impl Iterator<Item = u32>) -> Result<u32> {
        let cfg = &self.blocks.cfg;
        let home = outer(self.blocks, t);
        let mut d = t;
        for s in sources {
            self.work.spend(1)?;
            d = cfg.common_dominator(d, s);
        }
        if d == t {
            d = cfg.idom[t as usize];
        }
        loop {
            let fits = cfg.loop_of[d as usize] == home && self.dominated.to[d as usize] >= t;
            if fits || cfg.idom[d as usize] == NONE {
                return Ok(d);
            }
            self.work.spend(1)?;
            d = cfg.above(&self.dominated, d, t);
        }
    }
}

impl Control {
    /// Chooses for each waiting mask who assigns or clears it.
    pub(super) fn plan_masks(&mut self, plan: &Plan) -> Result<()> {
        let blocks = plan.blocks;
        let n = blocks.blocks.len();
        for p in 0..n {
            self.find_pre_park(plan, p)?;
        }
        // Sources of each mask: (target, block, the split assigns it as the far side).
        let mut sources: Vec<(u32, u32)> = vec![];
        for p in 0..n {
            for k in 0..2 {
                let t = blocks.cfg.succ[p][k];
                if self.parks.parked[p][k] && (t as usize) < n && !self.parked_before[p] {
                    sources.push((t, p as u32));
                }
            }
            if self.pre_park[p] != NONE {
                sources.push((self.pre_park[p], p as u32));
            }
        }
        sources.small_sort();
        let mut i = 0;
        while i < sources.len() {
            let t = sources[i].0;
            let mut j = i;
            while j < sources.len() && sources[j].0 == t {
                j += 1;
            }
            let group: Vec<u32> = sources[i..j].iter().map(|s| s.1).collect();
            i = j;
            let owner = plan.mask_owner(t, group.iter().copied())?;
            let first = group[0];
            let pre_parks = self.pre_park[first as usize] == t;
            // A pre-parking split assigns; if it is not the owner it cannot.
            if pre_parks && owner == first && !group[1..].contains(&first) {
                continue;
            }
            // Later sources accumulate.
            let assigned =
                owner == first && group.get(1) != Some(&first) && self.far_is_no(blocks, first as usize, t);
            if assigned {
                self.assigns[first as usize] = true;
            } else {
                self.clears.push((owner, self.wait[t as usize]));
            }
        }
        self.clears.small_sort();
        Ok(())
    }

    fn far_is_no(&self, blocks: &LBlocks, p: usize, t: u32) -> bool {
        let [yes, no] = blocks.cfg.succ[p];
        let far = if self.rare[p] { yes.max(no) } else { no };
        far == t && self.parks.mask[p] && yes > p as u32 && no > p as u32 && (self.rare[p] || no > yes)
    }

    /// `far` is the second arm of an if with an else at `p`: the first arm jumps over it.
    fn is_else(&self, blocks: &LBlocks, p: usize, far: u32) -> bool {
        let last = far as usize - 1;
        let [to, none] = blocks.cfg.succ[last];
        let inside = |b: usize| blocks.cfg.loop_of[b] == blocks.cfg.loop_of[p];
        none == NONE && to > far && (to as usize) < blocks.blocks.len() && inside(to as usize)
    }

    /// An if–else at `p` whose first arm surely ends at the merge block by the jump of its last block; or the rare
    /// exit of a loop.
    fn find_pre_park(&mut self, plan: &Plan, p: usize) -> Result<()> {
        let blocks = plan.blocks;
        let cfg = &blocks.cfg;
        let [yes, no] = cfg.succ[p];
        if no == NONE || !self.parks.mask[p] {
            return Ok(());
        }
        // Predecessors come in order: none is before `p` when the first is not.
        let none_before = |list: &[u32]| list.first().is_none_or(|q| *q >= p as u32);
        let next = p as u32 + 1;
        if yes == next || no == next {
            let far = yes.max(no);
            let preds = cfg.preds(far);
            if (far as usize) < blocks.blocks.len()
                && yes.min(no) == next
                && none_before(preds)
                && !self.is_else(blocks, p, far)
                && plan.mask_owner(far, preds.iter().copied().filter(|q| *q < far))? == p as u32
            {
                self.rare[p] = true;
                return Ok(());
            }
        }
        let mut forward = cfg.preds(no).iter().take_while(|q| **q < no);
        if yes != next || no <= next || forward.next().is_none() || forward.next().is_some() {
            return Ok(());
        }
        let last = no as usize - 1;
        let [merge, none] = cfg.succ[last];
        let n = blocks.blocks.len();
        if none != NONE || merge <= no || merge as usize >= n || !self.parks.parked[last][0] {
            return Ok(());
        }
        if !plan.stays(p + 1, last, next, no) || cfg.loop_of[last] != cfg.loop_of[p] {
            return Ok(());
        }
        // The owner dominates all of them.
        if !none_before(cfg.preds(merge)) {
            return Ok(());
        }
        let group = cfg.preds(merge).iter().copied().filter(|q| *q as usize != last);
        if plan.mask_owner(merge, std::iter::once(p as u32).chain(group))? != p as u32 {
            return Ok(());
        }
        self.pre_park[p] = merge;
        self.parked_before[last] = true;
        Ok(())
    }
}
