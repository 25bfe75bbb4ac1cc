//! Unrolling of loops whose trip count is known: the translation goes over such a loop's blocks once a turn, as it goes over a
//! function once a call. A counter is then a constant in each copy, so that arrays that it indexes become values.
//!
//! What is predicted here only chooses loops: in each copy the branch that leaves the loop folds or it doesn't. Where it doesn't
//! after as many turns as were predicted, the shader is translated anew with the loop as it is ([`Again`]).

use super::Builder;
use super::control::{FnBlock, FnInfo, NONE};
use super::emit::NO_BLOCK;
use super::foresee::operands;
use super::function::Frame;
use crate::options::{Error, Result};
use crate::spirv::*;
use rustc_hash::FxHashSet;

/// Turns of a loop that is unrolled.
pub(super) const MAX_TURNS: u32 = 64;
/// Instructions of all turns where the module asks for it or an array is indexed within.
const MAX_UNROLLED: u32 = 4096;
/// Where the module asks for it and an array is indexed by the counter: an 8 × 8 tile of a matrix product, four steps at once. Most
/// of them are of indices, which are constants then.
const MAX_TILES: u32 = 8192;
/// Likewise of other loops.
const MAX_PLAIN: u32 = 128;
/// Instructions of all unrolled loops of a shader.
const MAX_ALL: u32 = 1 << 15;
/// Expressions within one another that are looked through.
pub(super) const MAX_DEPTH: u32 = 12;
/// Translations with something forbidden before nothing is unrolled.
const MAX_AGAIN: u32 = 3;

/// What the translation has to begin anew without.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Again {
    /// The loop of this header's label unrolled.
    Loop(u32),
    /// This variable's scalars as values.
    Variable(u32),
}

/// What was tried in vain.
#[derive(Default, Debug)]
pub(crate) struct Denied {
    loops: FxHashSet<u32>,
    pub variables: FxHashSet<u32>,
    times: u32,
}

impl Denied {
    pub fn add(&mut self, what: Again) {
        self.times += 1;
        match what {
            Again::Loop(label) => self.loops.insert(label),
            Again::Variable(id) => self.variables.insert(id),
        };
    }
    fn has(&self, label: u32) -> bool {
        self.times > MAX_AGAIN || self.loops.contains(&label)
    }
}

/// What is known of a loop before the translation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// Positions of its first and last block.
    pub first: u32,
    pub last: u32,
    /// The loop around it, among a function's plans, or [`NONE`].
    parent: u32,
    /// Instructions of its blocks.
    own: u32,
    /// Instructions of a turn; those of loops within that are unrolled once for each of their turns.
    size: u32,
    /// The module forbids it, or it was tried in vain.
    denied: bool,
    /// The module asks for it.
    asked: bool,
    /// Part of an array is reached by an index that is no constant.
    indexes: bool,
    /// The module asks for it, and such an index depends on the counter: only unrolled the array's scalars are values.
    tiles: bool,
    /// Edges out of the loop.
    exits: u32,
    /// Ids of the loop are used after it.
    leaks: bool,
    /// How often it runs, if it will be unrolled by what is known before the translation.
    found: Option<Found>,
}

/// How often a loop runs.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub turns: u32,
    /// Instructions from its begin to where it is left after these turns, or [`u32::MAX`] where other loops are on the way.
    pub lead: u32,
    /// What is constant in each copy: OpPhis of the header and variables.
    pub counters: Vec<u32>,
}

impl Plan {
    pub(super) fn holds(&self, pos: u32) -> bool {
        (self.first..=self.last).contains(&pos)
    }
    fn possible(&self) -> bool {
        // Of several exits each may come from another copy: an id used afterwards would have several values.
        !self.denied && self.exits > 0 && (self.exits == 1 || !self.leaks)
    }
    fn fits(&self, found: &Found) -> bool {
        found.turns <= MAX_TURNS && self.all(found) <= self.limit()
    }
    fn limit(&self) -> u32 {
        match (self.tiles, self.asked || self.indexes) {
            (true, _) => MAX_TILES,
            (_, true) => MAX_UNROLLED,
            _ => MAX_PLAIN,
        }
    }
    /// Instructions of all copies: of the last, what leads out.
    fn all(&self, found: &Found) -> u32 {
        self.size.saturating_mul(found.turns).saturating_add(found.lead.min(self.size))
    }
    /// Instructions more than the module has.
    fn more(&self) -> u32 {
        self.found.as_ref().map_or(self.size, |f| self.all(f)).saturating_sub(self.own)
    }
}

/// An access by an index that is no constant: the position of its block, the variable, the index, whether it is into a vector.
#[derive(Clone, Copy)]
pub(crate) struct Indexed {
    pub pos: u32,
    pub base: u32,
    pub index: u32,
    pub vector: bool,
}

/// A loop that is translated turn by turn.
pub(super) struct Unrolled {
    /// The next copy of the header, once something leads there.
    pub next: u32,
    /// Copies that may follow.
    pub left: u32,
    /// Ids may be used after the loop: only the last copy may lead out.
    pub one_exit: bool,
    /// Something leads out.
    pub out: bool,
}

impl FnInfo {
    pub(super) fn position(&self, at: u32) -> Option<u32> {
        let k = self.blocks.partition_point(|b| b.start <= at);
        let b = self.blocks.get(k.checked_sub(1)?)?;
        (at <= b.term && b.pos != NONE).then_some(b.pos)
    }
    pub(super) fn at_position(&self, pos: u32) -> &FnBlock {
        &self.blocks[self.order[pos as usize] as usize]
    }
    /// The position where a branch to a block leads in the end: past blocks with one way on.
    pub(super) fn leads(&self, mut b: u32, last: u32) -> u32 {
        for _ in 0..4 {
            match self.successors(b) {
                [to] if self.blocks[b as usize].pos <= last => b = *to,
                _ => break,
            }
        }
        self.blocks[b as usize].pos
    }
    /// The innermost loop of a position, among the plans, or [`NONE`].
    fn innermost(&self, pos: u32) -> u32 {
        let mut k = self.plans.partition_point(|p| p.first <= pos).wrapping_sub(1) as u32;
        while let Some(p) = self.plans.get(k as usize)
            && !p.holds(pos)
        {
            k = p.parent;
        }
        k
    }
    pub(super) fn plan(&self, first: u32) -> Option<&Plan> {
        self.plans.binary_search_by_key(&first, |p| p.first).ok().map(|k| &self.plans[k])
    }
}

impl Builder<'_> {
    /// Gives up this translation for one without `what`.
    pub(crate) fn again(&mut self, what: Again) -> Error {
        self.again = Some(what);
        Error::Invalid { word: 0, what: "a loop that was unrolled goes on".into() }
    }

    /// Looks at a function's loops, inner ones first.
    pub(crate) fn plan_loops(&mut self, info: &mut FnInfo, indexed: &[Indexed]) -> Result<()> {
        let n = info.order.len() as u32;
        let headers: Vec<u32> = (0..n).filter(|&k| info.at_position(k).loop_end != NONE).collect();
        if headers.is_empty() {
            return Ok(());
        }
        let mut sums = vec![0u32];
        for k in 0..n {
            sums.push(sums[k as usize].saturating_add(info.at_position(k).instructions));
        }
        // Loops around the one that is looked at.
        let mut open: Vec<u32> = Vec::new();
        for &first in &headers {
            let header = info.at_position(first);
            let last = header.loop_end;
            let control = self.m.inst(header.last).get(3).unwrap_or(0);
            let own = sums[last as usize + 1] - sums[first as usize];
            while open.pop_if(|p| info.plans[*p as usize].last < first).is_some() {}
            let plan = Plan {
                first,
                last,
                parent: open.last().map_or(NONE, |p| *p),
                own,
                size: own,
                denied: control & LoopControl::DONT_UNROLL.bits() != 0
                    || self.denied.has(header.label)
                    || own > MAX_UNROLLED,
                asked: control & LoopControl::UNROLL.bits() != 0,
                ..Plan::default()
            };
            open.push(info.plans.len() as u32);
            info.plans.push(plan);
        }
        for x in indexed {
            let mut k = info.innermost(x.pos);
            while let Some(p) = info.plans.get_mut(k as usize)
                && !std::mem::replace(&mut p.indexes, true)
            {
                k = p.parent;
            }
        }
        let mut several = false;
        for k in 0..info.plans.len() {
            let Plan { first, last, denied, own, .. } = info.plans[k];
            if denied || own > info.plans[k].limit() {
                info.plans[k].denied = true;
                continue;
            }
            self.work.spend((last - first) as usize)?;
            let to = (first..=last).flat_map(|p| info.successors(info.order[p as usize]));
            let exits = to.filter(|&&s| info.blocks[s as usize].pos > last).count() as u32;
            info.plans[k].exits = exits;
            several |= exits > 1;
        }
        if several {
            self.find_leaks(info)?;
        }
        for k in (0..info.plans.len()).rev() {
            let plan = &info.plans[k];
            if plan.possible()
                && plan.size <= if plan.asked { MAX_TILES } else { plan.limit() }
                && let Some(found) = self.turns(info, plan, None)?
            {
                let tiles =
                    plan.asked && !plan.fits(&found) && self.has_tiles(info, plan, indexed, &found.counters);
                let plan = &mut info.plans[k];
                plan.tiles = tiles;
                if plan.fits(&found) {
                    plan.found = Some(found);
                }
            }
            let (parent, more) = (info.plans[k].parent, info.plans[k].more());
            if let Some(p) = info.plans.get_mut(parent as usize) {
                p.size = p.size.saturating_add(more);
            }
        }
        Ok(())
    }

    /// Finds loops of which ids are used outside. A literal that is an id's number counts as one.
    fn find_leaks(&mut self, info: &mut FnInfo) -> Result<()> {
        for pos in 0..info.order.len() as u32 {
            let b = *info.at_position(pos);
            self.work.spend((b.term - b.start) as usize / 4)?;
            let mut at = b.start;
            while at <= b.term {
                let i = self.m.inst(at);
                at += i.len() as u32;
                for &id in i.rest(1) {
                    let from = self.m.def_at(id).filter(|d| !(b.start..=b.term).contains(d));
                    let Some(from) = from.and_then(|d| info.position(d)) else { continue };
                    let mut k = info.innermost(from);
                    while let Some(p) = info.plans.get_mut(k as usize)
                        && !p.holds(pos)
                        && p.own <= MAX_UNROLLED
                    {
                        p.leaks = true;
                        k = p.parent;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether an array within the loop is indexed by what depends on its counters.
    fn has_tiles(&mut self, info: &FnInfo, plan: &Plan, indexed: &[Indexed], counters: &[u32]) -> bool {
        let within = indexed.iter().filter(|x| plan.holds(x.pos));
        let mut seen = FxHashSet::default();
        within.filter(|x| seen.insert(x.index)).any(|x| self.depends(info, x.index, counters, 0))
    }

    fn depends(&mut self, info: &FnInfo, id: u32, counters: &[u32], depth: u32) -> bool {
        let Some(at) = self.m.def_at(id) else { return false };
        if info.position(at).is_none() || depth == MAX_DEPTH || self.work.spend(1).is_err() {
            return false;
        }
        let i = self.m.inst(at);
        match i.op {
            Op::Phi => counters.contains(&id),
            Op::Load => {
                let Some(var) = self.variable(i.w[3]) else { return false };
                if counters.contains(&var) {
                    return true;
                }
                let Some([place]) = info.stores.get(&var).map(Vec::as_slice) else { return false };
                match self.store_at(info, var, *place) {
                    Some((_, value)) => self.depends(info, value, counters, depth + 1),
                    None => false,
                }
            }
            _ => operands(&i)
                .is_some_and(|ids| ids.iter().any(|&x| self.depends(info, x, counters, depth + 1))),
        }
    }

    /// Whether the index is a constant where loops are unrolled as planned.
    pub(crate) fn settles(&mut self, info: &FnInfo, id: u32, depth: u32) -> bool {
        if self.try_const(id).is_some() {
            return true;
        }
        let Some(at) = self.m.def_at(id) else { return false };
        let Some(pos) = info.position(at) else { return false };
        if depth == MAX_DEPTH || self.work.spend(1).is_err() {
            return false;
        }
        let i = self.m.inst(at);
        let counter = |key: u32| {
            let mut k = info.innermost(pos);
            while let Some(p) = info.plans.get(k as usize) {
                if p.found.as_ref().is_some_and(|f| f.counters.contains(&key)) {
                    return true;
                }
                k = p.parent;
            }
            false
        };
        match i.op {
            Op::Phi => counter(id),
            Op::Load => {
                let Some(var) = self.variable(i.w[3]) else { return false };
                if counter(var) {
                    return true;
                }
                // A variable that only has such values.
                let Some(places) = info.stores.get(&var) else { return false };
                places.len() == 1
                    && match self.store_at(info, var, places[0]) {
                        Some((_, value)) => self.settles(info, value, depth + 1),
                        None => false,
                    }
            }
            _ => match operands(&i) {
                Some(ids) => ids.iter().all(|&x| self.settles(info, x, depth + 1)),
                None => false,
            },
        }
    }

    /// The turns of a loop that is translated next, if it is to be unrolled.
    pub(super) fn unrolled(&mut self, info: &FnInfo, first: u32) -> Result<Option<Unrolled>> {
        let Some(plan) = info.plan(first) else { return Ok(None) };
        let [(before, _)] = self.e.blocks[self.e.cur as usize].preds[..] else { return Ok(None) };
        if !plan.possible() || plan.size > plan.limit() {
            return Ok(None);
        }
        let Some(found) = self.turns(info, plan, Some(before))? else { return Ok(None) };
        let turns = found.turns;
        let own = plan.own.saturating_mul(turns).saturating_add(found.lead.min(plan.own));
        let all = self.unrolled_size.saturating_add(own);
        if !plan.fits(&found) || all > MAX_ALL {
            return Ok(None);
        }
        self.unrolled_size = all;
        let one_exit = plan.exits == 1;
        Ok(Some(Unrolled { next: NO_BLOCK, left: turns, one_exit, out: false }))
    }

    /// Goes on with the next copy of an unrolled loop, if something leads there: the header's position.
    pub(super) fn next_turn(&mut self, fr: &mut Frame, bi: u32) -> Option<usize> {
        let l = fr.loops.last_mut()?;
        let next = std::mem::replace(&mut l.unrolled.as_mut()?.next, NO_BLOCK);
        if next == NO_BLOCK {
            fr.loops.pop();
            return None;
        }
        let header = l.block;
        let [first, last] = [header, bi].map(|b| fr.info.blocks[b as usize].pos as usize);
        for &b in &fr.info.order[first..=last] {
            fr.targets[b as usize] = NO_BLOCK;
        }
        fr.targets[header as usize] = next;
        Some(first)
    }
}
