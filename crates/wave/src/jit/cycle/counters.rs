//! What is counted at every turn of a loop, in registers of the CPU: a memory's sum waits for the one before it.
//!
//! A register has how often its place was passed since it was last written out: where the executing lanes change, and after the loop.
//! So it is done where that is seldom ([`seldom_changes`]).

use super::Cycle;
use crate::jit::nodes::body::{Body, Item};
use crate::jit::nodes::region::{Block, Counts, End, Loop, To};
use crate::kernels::compiled::Context;
use crate::recording::Node;
use shader::bytecode::SHAPE_RUN;
use std::mem::offset_of;

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counter {
    /// Warps that pass a counter's row, and diverged ones among them.
    Row(u16),
    /// Accesses: where in the context, and how many each time.
    Access(usize, usize),
}

impl Cycle<'_> {
    /// Gives registers to what the loop passes most.
    pub fn choose_counters(&mut self) {
        self.counters.clear();
        let Some(hot) = seldom_changes(self.region) else { return };
        let most = self.counting_registers();
        for (block, _) in self.region.blocks.iter().zip(hot).filter(|b| b.1) {
            let rows = block.body.each.iter().filter_map(|item| match *item {
                Item::Tally(row) => Some(row),
                _ => None,
            });
            let back = match block.end {
                End::Back { row, .. } if row != 0 => Some(row),
                _ => None,
            };
            let loads = self.loads_of(&block.body);
            let all = rows.chain(back).map(Counter::Row);
            for counter in all.chain(loads.map(|(at, n)| Counter::Access(at, n))) {
                if self.counters.len() < most && !self.counters.contains(&counter) {
                    self.counters.push(counter);
                }
            }
        }
    }

    /// A block's accesses: where in the context they are counted, and how many.
    pub fn loads_of(&self, body: &Body) -> impl Iterator<Item = (usize, usize)> + use<> {
        let mut sums = [
            (offset_of!(Context, unknown), 0),
            (offset_of!(Context, runs), 0),
            (offset_of!(Context, same), 0),
            (offset_of!(Context, lines), 0),
        ];
        for item in &body.each {
            let Item::Compute(id) = item else { continue };
            let Node::Load(i, ..) = body.nodes[*id as usize] else { continue };
            let load = &self.region.loads[i as usize];
            let which = match load.counts {
                None => continue,
                Some(Counts::Unknown) => 0,
                Some(Counts::Shape) if load.shape & SHAPE_RUN != 0 => 1,
                Some(Counts::Shape) => 2,
                Some(Counts::Bytes(_)) => 3,
            };
            sums[which].1 += 1;
        }
        sums.into_iter().filter(|s| s.1 > 0)
    }
}

/// The blocks that a warp goes through turn by turn, if the executing lanes change in none of them: lanes go their own way after a test
/// that finds some, which is seldom.
fn seldom_changes(region: &Loop) -> Option<Vec<bool>> {
    let mut hot = vec![false; region.blocks.len()];
    let mut left = vec![0];
    while let Some(b) = left.pop() {
        if std::mem::replace(&mut hot[b], true) {
            continue;
        }
        let Block { body, none, end } = &region.blocks[b];
        let changes = body.each.iter().position(|i| matches!(i, Item::Exec(_)));
        let tests = body.each.iter().position(|i| matches!(i, Item::Test(_)));
        if changes.is_some_and(|c| tests.is_none_or(|t| c < t)) {
            return None;
        }
        let next = match (*none, *end) {
            (Some(none), _) => [Some(none), None],
            (None, End::Go(to) | End::Back { to, .. }) => [Some(to), None],
            (None, End::If(_, a, b)) => [Some(a), Some(b)],
            (None, End::Any { some, none }) => [Some(some), Some(none)],
            (None, End::Park(_)) => return None,
        };
        left.extend(next.into_iter().flatten().filter_map(|to| match to {
            To::Block(b) => Some(b),
            To::Out(_) => None,
        }));
    }
    Some(hot)
}
