//! Copies on edges: phis, and values that outlive a loop which lanes leave at different times.
//!
//! A value defined in such a loop and read after it gets a second register, its *escape*, copied under the mask of
//! the leaving lanes on each edge out of the loop; later iterations may then overwrite the first one for all lanes.
//! Header phis that are read after their loop escape from any loop, for then the back edge's copy can be coalesced.
//!
//! A copy goes to the end of the edge's first block when that has one successor, or when the edge stays in its loop
//! (forward edges only: the phi is dead there); else the edge is split by a block of its own.

use super::Lowering;
use super::lir::V;
use crate::cfg::{Cfg, NONE};
use crate::ir::{Inst, Term, Value};
use crate::options::Result;
use small_sort::SmallSort;

#[derive(Clone, Copy, Debug)]
pub struct Copy {
    pub dst: V,
    pub src: V,
    pub masked: bool,
}

/// One block of the final order.
#[derive(Clone, Copy, Debug)]
pub struct LBlock {
    /// IR block or [`NONE`] for a split edge.
    pub source: u32,
    /// Range in [`LBlocks::copies`], done at the block's end.
    pub copies: (u32, u32),
    /// Loop that liveness should see: a split edge out of a loop that all lanes leave at once is no part of it.
    pub live_loop: u32,
    /// Loop from which the block's copies read: a value from before the loop, read only on the way out of it, must
    /// still be there in later iterations, whose code comes after a split edge.
    pub copy_loop: u32,
    /// Loop in which lanes continue after the block's copies.
    pub next_loop: u32,
}

pub struct LBlocks {
    pub blocks: Vec<LBlock>,
    pub copies: Vec<Copy>,
    /// With the end of the program as its last node.
    pub cfg: Cfg,
    /// Branch condition of each block whose branch is by masks or a jump.
    pub cond: Vec<Option<Value>>,
    /// The block splits lanes.
    pub mask: Vec<bool>,
}

/// A copy on an edge (block · 2 + successor).
struct EdgeCopy {
    edge: u32,
    copy: Copy,
}

impl Lowering<'_> {
    pub(super) fn find_escapes(&mut self) {
        // Loops that values escape by divergence first, for these must not be mixed with plain escapes of a header.
        let mut plain = vec![];
        let mut found: Vec<(Value, u32, u32)> = vec![];
        self.each_use(|this, v, b| {
            let d = this.u.escapes(this.cfg, v, b);
            if d != NONE {
                found.push((v, d, b));
            } else {
                let header = this.lir.vregs[v.0 as usize].header_of;
                if header != NONE && !this.cfg.in_loop(b, header) {
                    plain.push((v, header, b));
                }
            }
        });
        for &(v, d, b) in &found {
            self.add_escape(v, d, b, true);
            // Copied at the exits of a loop around its own: read outside its own, so it stays as it is.
            let vreg = &mut self.lir.vregs[v.0 as usize];
            if vreg.header_of != d {
                vreg.header_of = NONE;
            }
        }
        for &(v, header, b) in &plain {
            let i = v.0 as usize;
            if self.escape_loop[i] == NONE || self.escape_loop[i] == header {
                self.add_escape(v, header, b, false);
            }
        }
    }

    fn add_escape(&mut self, v: Value, l: u32, b: u32, varying: bool) {
        let i = v.0 as usize;
        let home = self.cfg.common_loop(self.cfg.parent(l), self.cfg.loop_of[b as usize]);
        if self.escape_loop[i] == NONE {
            self.escape_loop[i] = l;
            let uniform = !varying && self.lir.vregs[self.alias[i] as usize].uniform;
            let ty = self.shader.data(v).ty;
            self.escape[i] = self.lir.new_vreg(ty, uniform, home);
            self.lir.vregs[self.escape[i] as usize].handle = self.lir.vregs[self.alias[i] as usize].handle;
        } else {
            let vreg = &mut self.lir.vregs[self.escape[i] as usize];
            vreg.home = self.cfg.common_loop(vreg.home, home);
        }
    }

    /// Calls `f` for each operand of a needed instruction with the block that reads it (phis: the predecessor).
    fn each_use(&self, mut f: impl FnMut(&Self, Value, u32)) {
        if self.cfg.loops.is_empty() {
            return;
        }
        for (b, block) in self.shader.blocks.iter().enumerate() {
            for &v in &block.insts {
                if !self.needed[v.0 as usize] {
                    continue;
                }
                match &self.shader.data(v).inst {
                    Inst::Part(..) => {}
                    Inst::Phi(sources) => sources.iter().for_each(|(p, o)| f(self, *o, p.0)),
                    _ => self.operands(v, |o| f(self, o, b as u32)),
                }
            }
            if let Term::Branch { cond, .. } = block.term {
                f(self, cond, b as u32);
            }
        }
    }

    fn gather_copies(&self) -> Result<Vec<EdgeCopy>> {
        let mut list = vec![];
        let mut exits: Vec<Option<Vec<(u32, u32)>>> = vec![None; self.cfg.loops.len()];
        for (t, block) in self.shader.blocks.iter().enumerate() {
            for &v in &block.insts {
                let Inst::Phi(sources) = &self.shader.data(v).inst else { break };
                if !self.needed[v.0 as usize] {
                    continue;
                }
                let first = sources.iter().map(|s| s.0.0).min().unwrap_or(0);
                let waits = self.u.parks.waits(t);
                for (p, o) in sources {
                    let src = self.at(*o, p.0);
                    if src == v.0 {
                        continue;
                    }
                    let p = p.0 as usize;
                    let k = (self.cfg.succ[p][0] != t as u32) as u32;
                    let masked = self.u.varying[v.0 as usize]
                        && p < t
                        && (self.leaves_divergent(p as u32, t as u32) || (waits && p as u32 != first));
                    list.push(EdgeCopy { edge: p as u32 * 2 + k, copy: Copy { dst: v.0, src, masked } });
                }
            }
        }
        for i in 0..self.escape_loop.len() {
            let l = self.escape_loop[i];
            if l != NONE {
                let exits = exits[l as usize].get_or_insert_with(|| self.exits(l));
                self.shader.work.spend(exits.len())?;
                self.escape_copies(i, exits, &mut list);
            }
        }
        list.small_sort_by_key(|c| c.edge);
        Ok(list)
    }

    /// Edges out of a loop, but to the end: block and successor.
    fn exits(&self, l: u32) -> Vec<(u32, u32)> {
        let bounds = self.cfg.loops[l as usize];
        let end = self.cfg.len() as u32 - 1;
        let leaves = |p: u32, k: u32| {
            let t = self.cfg.succ[p as usize][k as usize];
            t != NONE && t != end && !self.cfg.in_loop(t, l)
        };
        let each = (bounds.first..=bounds.last).flat_map(|p| [(p, 0), (p, 1)]);
        each.filter(|e| leaves(e.0, e.1)).collect()
    }

    fn escape_copies(&self, i: usize, exits: &[(u32, u32)], list: &mut Vec<EdgeCopy>) {
        let def = self.u.def_block[i];
        for &(p, k) in exits.iter().filter(|e| self.cfg.dominates(def, e.0)) {
            let t = self.cfg.succ[p as usize][k as usize];
            let masked = !self.lir.vregs[self.escape[i] as usize].uniform && self.leaves_divergent(p, t);
            let copy = Copy { dst: self.escape[i], src: self.alias[i], masked };
            list.push(EdgeCopy { edge: p * 2 + k, copy });
        }
    }

    /// The edge leaves a loop that lanes leave at different times.
    fn leaves_divergent(&self, p: u32, t: u32) -> bool {
        let mut l = self.cfg.loop_of[p as usize];
        while l != NONE && !self.cfg.in_loop(t, l) {
            if self.u.divergent[l as usize] {
                return true;
            }
            l = self.cfg.parent(l);
        }
        false
    }

    /// The blocks in their final order with all copies placed.
    pub(super) fn split_edges(&self) -> Result<LBlocks> {
        let n = self.shader.blocks.len();
        let gathered = self.gather_copies()?;
        let mut start = vec![0u32; 2 * n + 1];
        for c in &gathered {
            start[c.edge as usize + 1] += 1;
        }
        for e in 0..2 * n {
            start[e + 1] += start[e];
        }
        let copies: Vec<Copy> = gathered.iter().map(|c| c.copy).collect();
        let range = |p: usize, k: usize| (start[2 * p + k], start[2 * p + k + 1]);
        // Which edges get a block; the one of a back edge comes last, for it ends the loop.
        let split = |p: usize, k: usize| {
            let (from, to) = range(p, k);
            let t = self.cfg.succ[p][k];
            let leaves = || {
                let l = self.cfg.loop_of[p];
                l != NONE && !self.cfg.in_loop(t, l)
            };
            from != to && self.cfg.succ[p][1] != NONE && (t as usize <= p || leaves())
        };
        let mut at = vec![0u32; n + 1];
        let mut next = 0;
        for (p, first) in at.iter_mut().enumerate() {
            *first = next;
            if p < n {
                next += 1 + split(p, 0) as u32 + split(p, 1) as u32;
            }
        }
        // The program's end, which has no number here, is in none.
        let loop_at = |t: u32| self.cfg.loop_of.get(t as usize).copied().unwrap_or(NONE);
        let mut blocks = Vec::with_capacity(next as usize);
        let mut succ = Vec::with_capacity(next as usize + 1);
        let mut cond = vec![];
        let mut mask = vec![];
        for p in 0..n {
            let mut own: (u32, u32) = (0, 0);
            let mut ends = self.cfg.succ[p].map(|t| if t == NONE { NONE } else { at[t as usize] });
            let mut extra = vec![];
            for k in 0..2 {
                if self.cfg.succ[p][k] == NONE {
                    continue;
                }
                let (from, to) = range(p, k);
                if split(p, k) {
                    extra.push((self.cfg.succ[p][k] as usize <= p, k));
                } else if from != to {
                    // Both edges' ranges are neighbours; an empty first one does not matter.
                    own = if own.0 == own.1 { (from, to) } else { (own.0, to) };
                }
            }
            extra.small_sort();
            for (i, &(_, k)) in extra.iter().enumerate() {
                ends[k] = at[p] + 1 + i as u32;
            }
            blocks.push(LBlock {
                source: p as u32,
                copies: own,
                live_loop: self.cfg.loop_of[p],
                copy_loop: self.cfg.loop_of[p],
                next_loop: match self.cfg.succ[p] {
                    [t, NONE] => loop_at(t),
                    _ => self.cfg.loop_of[p],
                },
            });
            succ.push(ends);
            cond.push(match self.shader.blocks[p].term {
                Term::Branch { cond, yes, no } if yes != no => Some(cond),
                _ => None,
            });
            mask.push(self.u.parks.mask[p]);
            for &(back, k) in &extra {
                let t = self.cfg.succ[p][k];
                let mut live_loop = self.cfg.loop_of[p];
                if !back && !self.leaves_divergent(p as u32, t) && (t as usize) < n {
                    live_loop = match self.cfg.heads(t) {
                        Some(l) => self.cfg.parent(l),
                        None => self.cfg.loop_of[t as usize],
                    };
                }
                blocks.push(LBlock {
                    source: NONE,
                    copies: range(p, k),
                    live_loop,
                    copy_loop: self.cfg.loop_of[p],
                    next_loop: loop_at(t),
                });
                succ.push([at[t as usize], NONE]);
                cond.push(None);
                mask.push(false);
            }
        }
        succ.push([NONE, NONE]);
        mask.push(false);
        Ok(LBlocks { blocks, copies, cfg: Cfg::new(succ)?, cond, mask })
    }
}
