//! Where lanes wait: which edges are jumps of the whole wave and which leave lanes in the target's waiting mask.
//!
//! Blocks run in layout order. An edge taken by only some of the executing lanes to a block that does not come next
//! *parks* them there until that block's turn. An edge taken by all may be a jump, unless lanes may already wait at a
//! block in between: then these lanes must park as well. See ARCHITECTURE's text on masks.

use crate::cfg::{Cfg, NONE};

/// What is known about each block's terminator. The last node of the graph is the end of the program.
pub struct Parks {
    /// The branch splits the lanes (its condition varies, or a jump would pass waiting lanes).
    pub mask: Vec<bool>,
    /// Per successor: its lanes park.
    pub parked: Vec<[bool; 2]>,
    /// Earliest block from which on lanes may wait at this block; [`NONE`]: nobody ever waits here.
    pub since: Vec<u32>,
}

impl Parks {
    pub fn new(n: usize) -> Parks {
        Parks { mask: vec![false; n], parked: vec![[false; 2]; n], since: vec![NONE; n] }
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
        let since = &mut self.since[t as usize];
        *since = (*since).min(from);
        true
    }

    /// Lanes may wait at a block strictly between `p` and `t` when block `p` ends.
    fn passes_waiting(&self, p: usize, t: u32) -> bool {
        self.since[p + 1..t as usize].iter().any(|s| *s != NONE && *s as usize <= p)
    }

    /// Completes `parked` and `mask` from the branches known to split.
    pub fn solve(&mut self, cfg: &Cfg) {
        let n = cfg.len() - 1;
        loop {
            let mut changed = false;
            for p in 0..n {
                if !cfg.reachable(p as u32) {
                    continue;
                }
                let [t0, t1] = cfg.succ[p];
                let back = |t: u32| t as usize <= p;
                if t1 == NONE {
                    if !back(t0) && self.passes_waiting(p, t0) {
                        changed |= self.park(cfg, p, 0);
                    }
                    continue;
                }
                if !self.mask[p] {
                    if [t0, t1].iter().any(|t| !back(*t) && self.passes_waiting(p, *t)) {
                        self.mask[p] = true;
                        changed = true;
                    } else {
                        continue;
                    }
                }
                if back(t0) || back(t1) {
                    changed |= self.park(cfg, p, back(t0) as usize);
                    continue;
                }
                let far = (t1 > t0) as usize;
                changed |= self.park(cfg, p, far);
                if self.passes_waiting(p, t0.min(t1)) {
                    changed |= self.park(cfg, p, 1 - far);
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// First block after `p` at which lanes may wait when block `p` has ended; the end if there is none.
    pub fn next_waiting(&self, p: usize) -> usize {
        let end = self.since.len() - 1;
        (p + 1..end).find(|x| self.since[*x] != NONE && self.since[*x] as usize <= p).unwrap_or(end)
    }

    /// The same when block `p` is entered by nobody.
    pub fn next_waiting_without(&self, p: usize) -> usize {
        let end = self.since.len() - 1;
        (p + 1..end).find(|x| self.since[*x] != NONE && (self.since[*x] as usize) < p).unwrap_or(end)
    }

    /// Some edge into `t` parks.
    pub fn waits(&self, t: usize) -> bool {
        self.since[t] != NONE
    }
}
