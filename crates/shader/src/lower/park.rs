//! Where lanes wait: which edges are jumps of the whole wave and which leave lanes in the target's waiting mask.
//!
//! Blocks run in layout order. An edge taken by only some of the executing lanes to a block that does not come next
//! *parks* them there until that block's turn. An edge taken by all may be a jump, unless lanes may already wait at a
//! block in between: then these lanes must park as well. See ARCHITECTURE's text on masks.

use crate::cfg::{Cfg, NONE};
use crate::options::Result;
use crate::trees::MinTree;
use crate::work::Work;

/// What is known about each block's terminator. The last node of the graph is the end of the program.
pub struct Parks {
    /// The branch splits the lanes (its condition varies, or a jump would pass waiting lanes).
    pub mask: Vec<bool>,
    /// Per successor: its lanes park.
    pub parked: Vec<[bool; 2]>,
    /// Earliest block from which on lanes may wait at this block; [`NONE`]: nobody ever waits here.
    since: MinTree,
    end: usize,
}

impl Parks {
    /// `n`: nodes of the graph, its end included.
    pub fn new(n: usize) -> Parks {
        Parks { mask: vec![false; n], parked: vec![[false; 2]; n], since: MinTree::new(n), end: n - 1 }
    }

    fn park(&mut self, cfg: &Cfg, p: usize, k: usize) -> bool {
        if self.parked[p][k] {
            return false;
        }
        self.parked[p][k] = true;
        let t = cfg.succ[p][k];
        // Lanes that leave a loop may wait from its first block on, from an iteration before.
        let mut from = p as u32;
        let mut l = cfg.loop_of[p];
        while l != NONE && !cfg.in_loop(t, l) {
            from = cfg.loops[l as usize].first;
            l = cfg.parent(l);
        }
        self.since.lower(t as usize, from);
        true
    }

    /// Lanes may wait at a block strictly between `p` and `t` when block `p` ends.
    fn passes_waiting(&self, p: usize, t: u32) -> bool {
        let next = p + 1;
        (t as usize) > next && self.since.first(next, p as u32).is_some_and(|x| x < t as usize)
    }

    /// Completes `parked` and `mask` from the branches known to split.
    pub fn solve(&mut self, cfg: &Cfg, work: &Work) -> Result<()> {
        loop {
            work.spend(self.end)?;
            let mut changed = false;
            for p in 0..self.end {
                changed |= self.settle(cfg, p);
            }
            if !changed {
                return Ok(());
            }
        }
    }

    /// What follows for the end of block `p` from what is known so far; whether that is news.
    pub fn settle(&mut self, cfg: &Cfg, p: usize) -> bool {
        if !cfg.reachable(p as u32) {
            return false;
        }
        let [t0, t1] = cfg.succ[p];
        let back = |t: u32| t as usize <= p;
        if t1 == NONE {
            return !back(t0) && self.passes_waiting(p, t0) && self.park(cfg, p, 0);
        }
        let mut changed = false;
        if !self.mask[p] {
            if ![t0, t1].iter().any(|t| !back(*t) && self.passes_waiting(p, *t)) {
                return false;
            }
            self.mask[p] = true;
            changed = true;
        }
        if back(t0) || back(t1) {
            return self.park(cfg, p, back(t0) as usize) || changed;
        }
        let far = (t1 > t0) as usize;
        changed |= self.park(cfg, p, far);
        if self.passes_waiting(p, t0.min(t1)) {
            changed |= self.park(cfg, p, 1 - far);
        }
        changed
    }

    /// First block after `p` at which lanes may wait when block `p` has ended; the end if there is none.
    pub fn next_waiting(&self, p: usize) -> usize {
        self.since.first(p + 1, p as u32).map_or(self.end, |x| x.min(self.end))
    }

    /// The same when block `p` is entered by nobody.
    pub fn next_waiting_without(&self, p: usize) -> usize {
        let before = |p: u32| self.since.first(p as usize + 2, p);
        (p as u32).checked_sub(1).and_then(before).map_or(self.end, |x| x.min(self.end))
    }

    /// Some edge into `t` parks.
    pub fn waits(&self, t: usize) -> bool {
        self.since.get(t) != NONE
    }

    /// Some edge parks.
    pub fn any_waits(&self) -> bool {
        self.since.first(0, NONE - 1).is_some()
    }
}
