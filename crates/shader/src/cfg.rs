//! The control-flow graph of blocks in layout order: predecessors, loops, dominators.
//!
//! Works on bare successor lists so that IR blocks and lowered blocks share it. Relies on the order that
//! [`crate::ir`] promises: an edge to an earlier block is a loop's back edge, loops are contiguous.

use crate::ir::{Shader, Term};
use crate::options::{Error, Result};
use crate::trees::Ancestors;

pub const NONE: u32 = u32::MAX;

/// A loop: blocks `first ..= last`; `first` is the header.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    pub first: u32,
    pub last: u32,
    /// The enclosing loop or [`NONE`]; its index is lower.
    pub parent: u32,
    pub depth: u32,
}

/// See [`Cfg::dominated`].
pub struct Dominated {
    /// The first block after each one that it does not dominate.
    pub to: Vec<u32>,
    /// The greatest of `to` of the dominators that a way up from each block passes at once, its end included.
    best: Vec<u32>,
}

pub struct Cfg {
    /// Per block: up to two successors, [`NONE`] for none.
    pub succ: Vec<[u32; 2]>,
    pred_start: Vec<u32>,
    pred_list: Vec<u32>,
    pub loops: Vec<Loop>,
    /// Innermost loop of each block or [`NONE`].
    pub loop_of: Vec<u32>,
    /// Immediate dominator; [`NONE`] for the entry and for unreachable blocks.
    pub idom: Vec<u32>,
    dom_in: Vec<u32>,
    dom_out: Vec<u32>,
    up: Ancestors,
}

impl Cfg {
    /// Builds the graph of a shader with an extra last node, the end, to which returns lead.
    pub fn of(shader: &Shader) -> Result<Cfg> {
        let end = shader.blocks.len() as u32;
        let mut succ: Vec<[u32; 2]> = shader
            .blocks
            .iter()
            .map(|b| match b.term {
                Term::Jump(t) => [t.0, NONE],
                Term::Branch { yes, no, .. } if yes == no => [yes.0, NONE],
                Term::Branch { yes, no, .. } => [yes.0, no.0],
                Term::Return => [end, NONE],
            })
            .collect();
        succ.push([NONE, NONE]);
        Cfg::new(succ)
    }

    pub fn new(succ: Vec<[u32; 2]>) -> Result<Cfg> {
        let n = succ.len();
        let bad = |what: &str| Error::Invalid { word: 0, what: what.to_string() };
        let mut pred_start = vec![0u32; n + 1];
        for s in succ.iter().flatten().filter(|s| **s != NONE) {
            if *s as usize >= n {
                return Err(bad("branch to a block that does not exist"));
            }
            pred_start[*s as usize + 1] += 1;
        }
        for i in 0..n {
            pred_start[i + 1] += pred_start[i];
        }
        let mut fill = pred_start.clone();
        let mut pred_list = vec![0u32; pred_start[n] as usize];
        for (p, s) in succ.iter().enumerate() {
            for t in s.iter().filter(|t| **t != NONE) {
                let at = &mut fill[*t as usize];
                pred_list[*at as usize] = p as u32;
                *at += 1;
            }
        }
        let mut cfg = Cfg {
            succ,
            pred_start,
            pred_list,
            loops: vec![],
            loop_of: vec![NONE; n],
            idom: vec![NONE; n],
            dom_in: vec![],
            dom_out: vec![],
            up: Ancestors::new(n),
        };
        cfg.find_dominators();
        cfg.find_loops().map_err(bad)?;
        Ok(cfg)
    }

    pub fn len(&self) -> usize {
        self.succ.len()
    }
    pub fn is_empty(&self) -> bool {
        self.succ.is_empty()
    }
    pub fn preds(&self, b: u32) -> &[u32] {
        &self.pred_list[self.pred_start[b as usize] as usize..self.pred_start[b as usize + 1] as usize]
    }
    pub fn reachable(&self, b: u32) -> bool {
        b == 0 || self.idom[b as usize] != NONE
    }

    fn find_dominators(&mut self) {
        let n = self.len();
        for b in 1..n as u32 {
            let mut dom = NONE;
            for i in self.pred_start[b as usize]..self.pred_start[b as usize + 1] {
                let p = self.pred_list[i as usize];
                if p >= b || !self.reachable(p) {
                    continue;
                }
                dom = if dom == NONE { p } else { self.common_dominator(dom, p) };
            }
            self.idom[b as usize] = dom;
            if dom != NONE {
                self.up.hang(b, dom);
            }
        }
        // Numbers of a walk over the dominator tree; children come after their parent, so one pass gives sizes.
        let mut size = vec![1u32; n];
        for b in (1..n).rev() {
            if self.idom[b] != NONE {
                size[self.idom[b] as usize] += size[b];
            }
        }
        self.dom_in = vec![0; n];
        self.dom_out = vec![0; n];
        let mut next = vec![1u32; n];
        self.dom_out[0] = size[0];
        for (b, own) in size.iter().enumerate().skip(1) {
            let p = self.idom[b];
            if p != NONE {
                let p = p as usize;
                self.dom_in[b] = self.dom_in[p] + next[p];
                next[p] += own;
                self.dom_out[b] = self.dom_in[b] + own;
            }
        }
    }

    /// The nearest block that dominates both (which are reachable).
    pub fn common_dominator(&self, a: u32, b: u32) -> u32 {
        self.up.common(&self.idom, a, b)
    }

    /// How far each block dominates all that comes after it.
    pub fn dominated(&self) -> Dominated {
        let n = self.len();
        let mut to = vec![n as u32; n];
        // Blocks that dominate all that came after them: each dominates the next.
        let mut open: Vec<u32> = vec![];
        for b in 0..n as u32 {
            while let Some(&d) = open.last()
                && !self.dominates(d, b)
            {
                to[d as usize] = b;
                open.pop();
            }
            open.push(b);
        }
        let mut best = vec![0; n];
        for b in 1..n {
            let p = self.idom[b];
            if p == NONE {
                continue;
            }
            best[b] = to[p as usize];
            if self.up.jump(b as u32) != p {
                best[b] = best[b].max(best[p as usize]).max(best[self.up.jump(p) as usize]);
            }
        }
        Dominated { to, best }
    }

    /// A dominator of `b`: the next, or one further up where none in between dominates all up to `t`.
    pub fn above(&self, dominated: &Dominated, b: u32, t: u32) -> u32 {
        if dominated.best[b as usize] < t { self.up.jump(b) } else { self.idom[b as usize] }
    }

    /// `a` dominates `b` (both reachable).
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        let (x, y) = (self.dom_in[a as usize], self.dom_in[b as usize]);
        x <= y && y < self.dom_out[a as usize]
    }

    fn find_loops(&mut self) -> std::result::Result<(), &'static str> {
        let n = self.len();
        let mut last = vec![NONE; n];
        for (p, s) in self.succ.iter().enumerate() {
            for t in s.iter().filter(|t| **t <= p as u32) {
                if last[*t as usize] != NONE {
                    return Err("a loop with two back edges");
                }
                last[*t as usize] = p as u32;
            }
        }
        let mut open = NONE;
        for b in 0..n as u32 {
            while open != NONE && self.loops[open as usize].last < b {
                open = self.loops[open as usize].parent;
            }
            if last[b as usize] != NONE {
                let end = last[b as usize];
                if open != NONE && self.loops[open as usize].last < end {
                    return Err("loops that are not nested");
                }
                let depth = if open == NONE { 1 } else { self.loops[open as usize].depth + 1 };
                self.loops.push(Loop { first: b, last: end, parent: open, depth });
                open = self.loops.len() as u32 - 1;
            }
            self.loop_of[b as usize] = open;
        }
        Ok(())
    }

    /// Block `b` lies in loop `l`; every block lies in [`NONE`], the whole.
    pub fn in_loop(&self, b: u32, l: u32) -> bool {
        l == NONE || (self.loops[l as usize].first <= b && b <= self.loops[l as usize].last)
    }
    pub fn depth(&self, l: u32) -> u32 {
        if l == NONE { 0 } else { self.loops[l as usize].depth }
    }
    pub fn parent(&self, l: u32) -> u32 {
        self.loops[l as usize].parent
    }
    /// Innermost loop that holds both.
    pub fn common_loop(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            if b == NONE || (a != NONE && a > b) {
                a = self.loops[a as usize].parent;
            } else {
                b = self.loops[b as usize].parent;
            }
        }
        a
    }
    /// The header's loop, if `b` heads one.
    pub fn heads(&self, b: u32) -> Option<u32> {
        let l = self.loop_of[b as usize];
        (l != NONE && self.loops[l as usize].first == b).then_some(l)
    }
}
