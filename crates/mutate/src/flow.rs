//! Functions, blocks, and which values are there at a place.

use crate::module::{Inst, Module, op};
use std::collections::HashMap;

pub struct Block {
    pub label: u32,
    /// The label's place, and the terminator's.
    pub begin: usize,
    pub end: usize,
    /// The block that is passed before this one whatever way is taken; itself: the function's first. `None`: no way
    /// leads here.
    above: Option<usize>,
}

/// One function's blocks.
pub struct Flow {
    /// Its OpFunction.
    pub function: usize,
    pub blocks: Vec<Block>,
}

/// Where a terminator leads.
pub fn targets(i: &Inst, wide: bool) -> Vec<u32> {
    match i.op {
        op::BRANCH => i.args.iter().take(1).copied().collect(),
        op::BRANCH_CONDITIONAL => i.args.iter().skip(1).take(2).copied().collect(),
        op::SWITCH => {
            let step = if wide { 3 } else { 2 };
            let cases = i.args.iter().skip(2).collect::<Vec<_>>();
            let default = i.args.get(1).copied();
            default
                .into_iter()
                .chain(cases.chunks(step).filter_map(|c| c.get(step - 1).map(|w| **w)))
                .collect()
        }
        _ => vec![],
    }
}

/// The blocks of every function of a module.
pub fn flows(m: &Module) -> Vec<Flow> {
    let mut all: Vec<Flow> = vec![];
    let mut label = None;
    for (at, i) in m.insts.iter().enumerate() {
        match i.op {
            op::FUNCTION => all.push(Flow { function: at, blocks: vec![] }),
            op::LABEL => label = Some((i.id, at)),
            _ if i.is_terminator() => {
                if let (Some((label, begin)), Some(f)) = (label.take(), all.last_mut()) {
                    f.blocks.push(Block { label, begin, end: at, above: None });
                }
            }
            _ => {}
        }
    }
    all.iter_mut().for_each(|f| f.order(m));
    all.retain(|f| !f.blocks.is_empty());
    all
}

impl Flow {
    /// Finds each block's next dominator.
    fn order(&mut self, m: &Module) {
        let place: HashMap<u32, usize> = self.blocks.iter().enumerate().map(|(n, b)| (b.label, n)).collect();
        let next: Vec<Vec<usize>> = self
            .blocks
            .iter()
            .map(|b| {
                let last = &m.insts[b.end];
                let wide = last.op == op::SWITCH
                    && (last.args.first().and_then(|s| m.definition(*s)).and_then(|s| m.numbers(s.ty)))
                        .is_some_and(|(s, _)| matches!(s, crate::module::Scalar::Int(64, _)));
                targets(last, wide).iter().filter_map(|l| place.get(l).copied()).collect()
            })
            .collect();
        if self.blocks.is_empty() {
            return;
        }
        // From the end of a walk in depth to its beginning.
        let mut number = vec![usize::MAX; next.len()];
        let (mut order, mut stack, mut seen) = (vec![], vec![(0, 0)], vec![false; next.len()]);
        seen[0] = true;
        while let Some((b, n)) = stack.pop() {
            match next[b].get(n) {
                Some(&to) => {
                    stack.push((b, n + 1));
                    if !seen[to] {
                        seen[to] = true;
                        stack.push((to, 0));
                    }
                }
                None => order.push(b),
            }
        }
        order.reverse();
        order.iter().enumerate().for_each(|(n, b)| number[*b] = n);
        let mut before: Vec<Vec<usize>> = vec![vec![]; next.len()];
        for &b in &order {
            next[b].iter().for_each(|to| before[*to].push(b));
        }
        let mut above: Vec<Option<usize>> = vec![None; next.len()];
        above[0] = Some(0);
        let mut changed = true;
        while changed {
            changed = false;
            for &b in order.iter().skip(1) {
                let mut meet: Option<usize> = None;
                for &p in before[b].iter().filter(|p| above[**p].is_some()) {
                    meet = Some(meet.map_or(p, |mut q| {
                        let mut p = p;
                        while p != q {
                            if number[p] > number[q] {
                                p = above[p].unwrap_or(0);
                            } else {
                                q = above[q].unwrap_or(0);
                            }
                        }
                        p
                    }));
                }
                if meet != above[b] {
                    above[b] = meet;
                    changed = true;
                }
            }
        }
        for (b, above) in self.blocks.iter_mut().zip(above) {
            b.above = above;
        }
    }

    /// The block that an instruction is in.
    pub fn block(&self, at: usize) -> Option<usize> {
        self.blocks.iter().position(|b| (b.begin..=b.end).contains(&at))
    }

    /// The places of values that are there before `at`, within the function.
    pub fn before<'a>(&'a self, at: usize) -> impl Iterator<Item = usize> + 'a {
        let first = self.blocks[0].begin;
        let here = self.block(at);
        let own = here.map_or(0..0, |b| self.blocks[b].begin + 1..at);
        let mut walk = here;
        let up = std::iter::from_fn(move || {
            let b = walk?;
            let above = self.blocks[b].above.filter(|a| *a != b);
            walk = above;
            above.map(|a| self.blocks[a].begin + 1..self.blocks[a].end)
        });
        (self.function + 1..first).chain(own).chain(up.flatten())
    }
}

/// The function that an instruction is in.
pub fn around(flows: &[Flow], at: usize) -> Option<&Flow> {
    flows.iter().find(|f| f.block(at).is_some())
}

/// Values of type `ty` that an instruction at `at` may use: constants, variables, and what was computed before on every way.
pub fn values(m: &Module, f: &Flow, at: usize, ty: u32) -> Vec<u32> {
    let fits = |i: &&Inst| i.ty == ty && i.id != 0 && i.op != op::FUNCTION && i.op != op::SAMPLED_IMAGE;
    let globals = m.insts[..m.code()].iter().filter(fits);
    let own = f.before(at).map(|p| &m.insts[p]).filter(fits);
    globals.chain(own).map(|i| i.id).collect()
}
