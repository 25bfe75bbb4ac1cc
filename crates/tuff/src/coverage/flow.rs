//! How often each branch was taken, from how often its module's blocks ran.

use crate::instrument::instructions;
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::Op;
use shader::Module;
use std::collections::{BTreeMap, BTreeSet};

/// A block by the ids of labels.
#[derive(Debug, Default)]
pub struct Node {
    pub label: u32,
    /// Of its function.
    first: bool,
    function: u32,
    /// Each once, in the order of the instruction that ends the block.
    pub next: Vec<u32>,
    /// It ends with a conditional branch or a switch.
    pub branches: bool,
    calls: Vec<u32>,
    /// An invocation may end, or become a helper, in it.
    ends_some: bool,
}

/// The module's blocks in their order.
pub fn nodes(m: &Module) -> Result<Vec<Node>, String> {
    let mut all: Vec<Node> = vec![];
    let (mut function, mut first) = (0, false);
    let each = |i: &Instruction| match i.class.opcode {
        Op::Function => (function, first) = (i.result_id.unwrap_or(0), true),
        Op::Label => {
            all.push(Node { label: i.result_id.unwrap_or(0), first, function, ..Node::default() });
            first = false;
        }
        code => {
            if let Some(node) = all.last_mut() {
                node.take(code, &i.operands);
            }
        }
    };
    instructions(m, each).map_err(|e| e.to_string())?;
    spread(&mut all);
    Ok(all)
}

impl Node {
    fn take(&mut self, code: Op, operands: &[Operand]) {
        let ids = operands.iter().filter_map(|o| if let Operand::IdRef(id) = o { Some(*id) } else { None });
        match code {
            Op::Branch => self.next = ids.collect(),
            Op::BranchConditional | Op::Switch => {
                for to in ids.skip(1) {
                    if !self.next.contains(&to) {
                        self.next.push(to);
                    }
                }
                self.branches = self.next.len() > 1;
            }
            Op::FunctionCall => self.calls.extend(ids.take(1)),
            Op::Kill
            | Op::TerminateInvocation
            | Op::DemoteToHelperInvocation
            | Op::IgnoreIntersectionKHR
            | Op::TerminateRayKHR => self.ends_some = true,
            _ => {}
        }
    }
}

/// A call of a function that may end the invocation may end it too.
fn spread(all: &mut [Node]) {
    loop {
        let ending: BTreeSet<u32> = all.iter().filter(|n| n.ends_some).map(|n| n.function).collect();
        let mut changed = false;
        for n in all.iter_mut().filter(|n| !n.ends_some) {
            n.ends_some = n.calls.iter().any(|c| ending.contains(c));
            changed |= n.ends_some;
        }
        if !changed {
            return;
        }
    }
}

/// How often control passed from one block to another, where that follows from the counts of blocks: what enters a block is its count,
/// and so is what leaves it. Which edges are known does not depend on the counts.
pub fn edges(nodes: &[Node], counts: &BTreeMap<u32, u64>) -> BTreeMap<(u32, u32), u64> {
    let mut sums: Vec<(u64, Vec<(u32, u32)>)> = vec![];
    let mut entering: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    let count = |label: u32| counts.get(&label).copied().unwrap_or(0);
    for n in nodes {
        let leaving: Vec<_> = n.next.iter().map(|to| (n.label, *to)).collect();
        leaving.iter().for_each(|e| entering.entry(e.1).or_default().push(*e));
        if !n.ends_some {
            sums.push((count(n.label), leaving));
        }
    }
    for n in nodes.iter().filter(|n| !n.first) {
        sums.push((count(n.label), entering.remove(&n.label).unwrap_or_default()));
    }
    let mut known: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    loop {
        let before = known.len();
        sums.retain(|(sum, edges)| {
            let mut unknown = edges.iter().filter(|e| !known.contains_key(e));
            match (unknown.next(), unknown.next()) {
                (Some(one), None) => {
                    let rest =
                        edges.iter().filter_map(|e| known.get(e)).fold(*sum, |s, n| s.saturating_sub(*n));
                    known.insert(*one, rest);
                    false
                }
                (first, _) => first.is_some(),
            }
        });
        if known.len() == before {
            return known;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Label, successors, whether some invocations end in it.
    fn made(blocks: &[(u32, &[u32], bool)]) -> Vec<Node> {
        let node = |(i, (label, next, ends_some)): (usize, &(u32, &[u32], bool))| Node {
            label: *label,
            first: i == 0,
            next: next.to_vec(),
            branches: next.len() > 1,
            ends_some: *ends_some,
            ..Node::default()
        };
        blocks.iter().enumerate().map(node).collect()
    }

    #[test]
    fn a_branch_past_a_block_is_what_is_left() {
        // if (…) { 2 } 3, of 16 of which 4 enter.
        let nodes = made(&[(1, &[2, 3], false), (2, &[3], false), (3, &[], false)]);
        let known = edges(&nodes, &[(1, 16), (2, 4), (3, 16)].into());
        assert_eq!((known[&(1, 2)], known[&(1, 3)]), (4, 12));
        // 3 of the 4 end in block 2: 13 come to block 3.
        let nodes = made(&[(1, &[2, 3], false), (2, &[3], true), (3, &[], false)]);
        let known = edges(&nodes, &[(1, 16), (2, 4), (3, 13)].into());
        assert_eq!((known[&(1, 2)], known[&(1, 3)], known[&(2, 3)]), (4, 12, 1));
    }

    #[test]
    fn a_loop_with_a_break() {
        // 1 → 2 (header) → 3 or out to 5; 3 → 4 (goes on) or breaks to 5; 4 → 2. 10 enter, 2 break, 30 rounds end well.
        let nodes = made(&[
            (1, &[2], false),
            (2, &[3, 5], false),
            (3, &[4, 5], false),
            (4, &[2], false),
            (5, &[], false),
        ]);
        let known = edges(&nodes, &[(1, 10), (2, 40), (3, 32), (4, 30), (5, 10)].into());
        let of = [(2, 3), (2, 5), (3, 4), (3, 5), (4, 2)].map(|e| known[&e]);
        assert_eq!(of, [32, 8, 30, 2, 30]);
    }

    #[test]
    fn what_does_not_follow_is_not_known() {
        // Two blocks that both branch to the same two.
        let nodes = made(&[
            (1, &[2, 3], false),
            (2, &[4, 5], false),
            (3, &[4, 5], false),
            (4, &[], false),
            (5, &[], false),
        ]);
        let known = edges(&nodes, &[(1, 4), (2, 2), (3, 2), (4, 2), (5, 2)].into());
        assert_eq!(known.keys().copied().collect::<Vec<_>>(), [(1, 2), (1, 3)]);
    }
}
