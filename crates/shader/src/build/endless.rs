//! naga bounds each loop by a counter of 64 bits in two halves, which counts down from its greatest value once a turn and ends the
//! loop at 0. No invocation lives for 2^64 turns: the counter is taken for its first value, so that nothing is left of it.

use super::Builder;
use super::analysis::Events;
use super::control::FnInfo;
use crate::options::Result;
use crate::spirv::*;
use rustc_hash::FxHashMap;
use small_sort::SmallSort;

/// The instructions from a counter's load to its store.
const SHAPE: [Op; 12] = [
    Op::Load,
    Op::IEqual,
    Op::All,
    Op::SelectionMerge,
    Op::BranchConditional,
    Op::Label,
    Op::CompositeExtract,
    Op::IEqual,
    Op::Select,
    Op::CompositeConstruct,
    Op::ISub,
    Op::Store,
];

impl Builder<'_> {
    /// Finds such counters among a function's variables.
    pub(super) fn find_endless(&mut self, info: &mut FnInfo, events: &Events) -> Result<()> {
        // Ids that carry a counter's value: its variable, and the uses that there are beside these.
        let mut uses: FxHashMap<u32, (u32, i32)> = FxHashMap::default();
        for &var in &events.counters {
            let mut stores = events.stores.iter().filter(|s| s.1 == var);
            if let (Some(&(pos, _)), None) = (stores.next(), stores.next())
                && self.uses.find(var) == var
            {
                self.follow(info, pos, var, &mut uses);
            }
        }
        if uses.is_empty() {
            return Ok(());
        }
        for &b in &info.order {
            let b = info.blocks[b as usize];
            self.work.spend((b.term - b.start) as usize / 4)?;
            let end = b.term as usize + self.m.inst(b.term).len();
            for w in &self.m.words[b.start as usize..end] {
                if let Some(u) = uses.get_mut(w) {
                    u.1 -= 1;
                }
            }
        }
        let mut bad: Vec<u32> = uses.values().filter(|u| u.1 != 0).map(|u| u.0).collect();
        bad.small_sort();
        let good = uses.values().map(|u| u.0).filter(|var| bad.binary_search(var).is_err());
        for var in good {
            info.stores.remove(&var);
            self.uses.endless.insert(var);
        }
        Ok(())
    }

    /// Whether what stores `var` at a position is the shape: then the ids that carry its value, and how often they are named.
    fn follow(&self, info: &FnInfo, pos: u32, var: u32, uses: &mut FxHashMap<u32, (u32, i32)>) -> Option<()> {
        let block = info.blocks[info.order[pos as usize] as usize];
        // The label before the block, then back over the test.
        let mut at = self.load_before(info, block.label, var)?;
        let mut code = Vec::with_capacity(SHAPE.len());
        for op in SHAPE {
            // Lines, and an instrumented module's marks, may stand anywhere.
            let mut i = self.m.inst(at);
            while matches!(i.op, Op::Line | Op::NoLine | Op::ExtInst) {
                at += i.len() as u32;
                i = self.m.inst(at);
            }
            if i.op != op {
                return None;
            }
            at += i.len() as u32;
            code.push(i);
        }
        let [load, test, all, _, branch, label, low, empty, carry, step, next, store] = code[..] else {
            return None;
        };
        let half = |id: u32| Some(self.m.inst(self.m.def_at(id)?)).filter(|i| i.op == Op::Constant)?.get(3);
        let zero = self.m.inst(self.m.def_at(test.w[3])?);
        let zeros = match zero.op {
            Op::ConstantNull => true,
            Op::ConstantComposite => zero.rest(3).iter().all(|&h| half(h) == Some(0)),
            _ => false,
        };
        let right = load.w[3] == var
            && zeros
            && test.w[4] == load.w[2]
            && all.w[3] == test.w[2]
            && branch.w[1] == all.w[2]
            && branch.w[3] == label.w[1]
            && label.w[1] == block.label
            && low.w[3..] == [load.w[2], 1]
            && empty.w[3] == low.w[2]
            && half(empty.w[4]) == Some(0)
            && carry.w[3] == empty.w[2]
            && half(carry.w[4]) == Some(1)
            && half(carry.w[5]) == Some(0)
            && step.w[3] == carry.w[2]
            && half(step.w[4]) == Some(1)
            && next.w[3..] == [load.w[2], step.w[2]]
            && store.w[1..] == [var, next.w[2]];
        if !right {
            return None;
        }
        // Their definitions count; the variable has its own besides.
        for (id, n) in [(load.w[2], 4), (low.w[2], 2), (empty.w[2], 2), (next.w[2], 2), (var, 3)] {
            uses.insert(id, (var, n));
        }
        Some(())
    }

    /// The load of `var` in the block before the one of a label.
    fn load_before(&self, info: &FnInfo, label: u32, var: u32) -> Option<u32> {
        let at = self.m.def_at(label)?;
        let k = info.index_of(at)?.checked_sub(1)?;
        let b = info.blocks.get(k as usize)?;
        let mut at = b.start;
        while at < b.term {
            let i = self.m.inst(at);
            if i.op == Op::Load && i.w[3] == var {
                return Some(at);
            }
            at += i.len() as u32;
        }
        None
    }

    /// A variable of two 32-bit integers that begins as their greatest values.
    pub(super) fn may_be_endless(&self, i: &Code) -> Option<u32> {
        let init = self.m.inst(self.m.def_at(i.get(4)?)?);
        let greatest = |id: &u32| {
            self.m.def_at(*id).is_some_and(|d| {
                let c = self.m.inst(d);
                c.op == Op::Constant && c.rest(3) == [u32::MAX]
            })
        };
        let two = init.op == Op::ConstantComposite && init.len() == 5 && init.rest(3).iter().all(greatest);
        (two && i.get(3) == Some(StorageClass::Function as u32)).then(|| i.w[2])
    }
}
