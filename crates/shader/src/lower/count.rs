//! Where executions are counted.
//!
//! A block needs no count of its own when another tells it: blocks of which each is always followed by the other run
//! with the same lanes, and a loop's header runs once for each arrival at it, from before and from its end. What one
//! count stands for is added up beforehand, so that totals are counts times constants.
//! In an instrumented module this goes for marks (and for every other block that costs something, for the mark of the
//! block that it came from): those after which memory or images are accessed count themselves, and so does one of each
//! class that no others tell of.

use super::Lowering;
use super::ways::ways;
use crate::cfg::{Cfg, NONE};
use crate::cost::{COUNTED, Cost, Half, Halves, MarkUse, Profile};
use crate::interface::interpolated;
use crate::ir::{Input, Inst, Shader, Term, Value, ValueData};
use crate::options::Result;
use crate::trees::Ancestors;
use small_sort::SmallSort;
use std::collections::HashSet;

/// Counters by place.
pub struct Plan {
    /// Counter at the start of each block; 0 for none.
    pub block: Vec<u32>,
    /// Counter that each block's jump back to a loop's header counts at; 0 for none.
    pub jump: Vec<u32>,
    /// Counters of marks that have one, by value; sorted.
    pub mark: Vec<(Value, u32)>,
}

impl Plan {
    pub fn at_mark(&self, v: Value) -> u32 {
        self.mark.binary_search_by_key(&v, |m| m.0).map_or(0, |i| self.mark[i].1)
    }
}

/// What code costs: the whole, and in a vertex program that has them each of its halves (else nothing).
pub(super) type Costs = [Cost; 3];
const FREE: Costs = [Cost::FREE; 3];

fn add(sum: &mut Costs, o: &Costs) {
    sum.iter_mut().zip(o).for_each(|(a, b)| a.add(b));
}

/// Which values are executed, and those that cost nothing, for an earlier one of their kind has room ([`super::narrow`]; empty:
/// none).
struct Part<'a> {
    needed: &'a [bool],
    rides: Vec<bool>,
}

/// The whole, and the halves if there are any.
struct Parts<'a>(Vec<Part<'a>>);

impl Lowering<'_> {
    fn cost(&self, v: Value, b: usize, part: &Part) -> Cost {
        let i = v.0 as usize;
        if !part.needed[i] || self.u.prologue[i] || part.rides.get(i) == Some(&true) {
            return Cost::FREE;
        }
        self.cost_of(v, b)
    }

    /// Wherever it runs.
    fn cost_of(&self, v: Value, b: usize) -> Cost {
        let data = self.shader.data(v);
        let mut operand = None;
        crate::isa::operands(&data.inst, |o| operand = operand.or(Some(self.shader.ty(o))));
        let single = self.is_single(v, b as u32);
        let cost = Cost::of(&data.inst, operand.unwrap_or(data.ty));
        let loads = if matches!(data.inst, Inst::Load { .. } | Inst::LoadRows { .. }) && !single {
            cost.ls
        } else {
            0
        };
        let narrow = if self.relaxed_kind(v).is_some() { cost.fma + cost.cvt } else { cost.narrow };
        Cost { single: single as u32, loads, narrow, ..cost }
    }

    fn costs(&self, v: Value, b: usize, parts: &Parts) -> Costs {
        let mut costs = FREE;
        costs.iter_mut().zip(&parts.0).for_each(|(cost, part)| *cost = self.cost(v, b, part));
        costs
    }

    /// Decides what is counted where, and leaves what it means in the profile.
    pub(super) fn plan_counts(&mut self) -> Result<Plan> {
        let halves = if COUNTED { self.find_halves()? } else { None };
        let needs = std::iter::once(&self.needed).chain(halves.iter().flatten());
        let parts = Parts(needs.map(|n| Part { needed: n, rides: self.find_packed(n) }).collect());
        let shader: &Shader = self.shader;
        let costs: Vec<Costs> = shader
            .blocks
            .iter()
            .enumerate()
            .map(|(i, b)| {
                let mut sum = FREE;
                for v in &b.insts {
                    sum.iter_mut().zip(&parts.0).for_each(|(sum, part)| sum.add(&self.cost(*v, i, part)));
                }
                sum
            })
            .collect();
        let repeats = self.repeats();
        let mut profile = Profile { ways: ways(self.cfg, &costs, 0, &repeats), ..Profile::default() };
        for (i, b) in shader.blocks.iter().enumerate() {
            let once = b.insts.iter().filter(|v| self.needed[v.0 as usize] && self.u.prologue[v.0 as usize]);
            once.for_each(|v| profile.uniform.add(&self.cost_of(*v, i)));
        }
        let varying = self.varyings();
        let all = &mut profile.ways;
        for c in [&mut all.total, &mut all.shortest].into_iter().chain(&mut all.longest) {
            c.varying = varying;
        }
        if !COUNTED {
            let n = shader.blocks.len();
            self.lir.profile = profile;
            return Ok(Plan { block: vec![0; n], jump: vec![0; n], mark: vec![] });
        }
        let marked = shader.values.iter().any(|v| matches!(v.inst, Inst::Mark(_)));
        let mut counters = vec![FREE];
        let plan = if marked {
            self.count_marks(&parts, &mut counters, &mut profile)
        } else {
            self.count_blocks(&costs, &mut counters)
        };
        profile.counters = counters.iter().map(|c| c[0]).collect();
        profile.halves = halves.map(|needs| {
            let half = |k: usize| Half {
                costs: counters.iter().map(|c| c[k + 1]).collect(),
                attributes: self.attributes(&needs[k]),
                ways: ways(self.cfg, &costs, k + 1, &repeats),
            };
            Halves { position: half(0), others: half(1) }
        });
        self.lir.profile = profile;
        Ok(plan)
    }

    /// Locations of the attributes among what is needed.
    fn attributes(&self, needed: &[bool]) -> Vec<u16> {
        let location = |(v, needed): (&ValueData, &bool)| match v.inst {
            Inst::Input(Input::Varying(slot)) if *needed => Some(slot / 4),
            _ => None,
        };
        let mut all: Vec<u16> = self.shader.values.iter().zip(needed).filter_map(location).collect();
        all.small_sort();
        all.dedup();
        all
    }

    fn count_marks(&self, parts: &Parts, counters: &mut Vec<Costs>, profile: &mut Profile) -> Plan {
        let shader: &Shader = self.shader;
        let n = shader.blocks.len();
        // The mark of each block of the application's.
        let mut of_origin = vec![];
        for block in &shader.blocks {
            for v in &block.insts {
                if let Inst::Mark(m) = shader.data(*v).inst {
                    profile.mark_count = profile.mark_count.max(m.saturating_add(1));
                    of_origin.push(((block.origin.function, block.origin.label), m));
                }
            }
        }
        // Of several marks in one block (merged blocks, lines) the first in its order.
        let mut firsts = of_origin.clone();
        firsts.small_sort_by_key(|o| o.0);
        firsts.dedup_by_key(|o| o.0);
        of_origin.small_sort();
        let stretches = self.stretches(&firsts, parts);
        profile.once = vec![Cost::FREE; profile.mark_count as usize];
        for s in &stretches {
            if let Some(once) = profile.once.get_mut(s.of as usize) {
                once.add(&s.costs[0]);
            }
        }
        // Optimised, few counters tell of all; else every stretch has its own.
        let runs = Runs::new(shader, self.cfg, self.options.optimise);
        let mut m = Marks {
            runs: &runs,
            stretches: &stretches,
            plan: Plan { block: vec![0; n], jump: vec![0; n], mark: vec![] },
            counters,
            profile,
            first: vec![None; n],
            counter: vec![0; n],
        };
        for (i, s) in stretches.iter().enumerate() {
            let class = runs.first[s.block as usize] as usize;
            if s.mark.is_some() && m.first[class].is_none() {
                m.first[class] = Some(i);
            }
            if s.works || !runs.shared {
                let counter = m.place(i);
                m.tells(i, counter, true);
                if s.mark.is_some() && m.counter[class] == 0 {
                    m.counter[class] = counter;
                }
            }
        }
        for (i, s) in stretches.iter().enumerate().filter(|(_, s)| !s.works && runs.shared) {
            let mut of = vec![];
            if !m.resolve(runs.first[s.block as usize], &mut of) {
                of = vec![m.place(i)];
            }
            of.into_iter().for_each(|c| m.tells(i, c, false));
        }
        let mut plan = m.plan;
        let read = self.varyings_read();
        let varyings = shader.interface.varyings.iter();
        let costs: HashSet<u16> =
            interpolated(varyings.filter(|v| read.contains(&v.slot))).map(|v| v.slot).collect();
        for (_, origin) in shader.varying_loads.iter().filter(|(slot, _)| costs.contains(slot)) {
            let Some(home) = home_of(&of_origin, *origin) else { continue };
            profile.marks.iter_mut().filter(|u| u.entry && u.mark == home).for_each(|u| u.cost.varying += 1);
            if let Some(once) = home_of(&firsts, *origin).and_then(|m| profile.once.get_mut(m as usize)) {
                once.varying += 1;
            }
        }
        plan.mark.small_sort();
        plan
    }

    /// What each mark begins, and what costs something before a block's first mark: that is of the first mark of its origin.
    fn stretches(&self, firsts: &[((u32, u32), u32)], parts: &Parts) -> Vec<Stretch> {
        let shader: &Shader = self.shader;
        let mut all: Vec<Stretch> = vec![];
        for (b, block) in shader.blocks.iter().enumerate() {
            let origin = (block.origin.function, block.origin.label);
            let home = home_of(firsts, origin).unwrap_or(0);
            let begins =
                |mark, of, entry| Stretch { block: b as u32, mark, entry, of, costs: FREE, works: false };
            let mut open = false;
            for &v in &block.insts {
                let inst = &shader.data(v).inst;
                if let Inst::Mark(m) | Inst::Resume(m) = inst {
                    all.push(begins(Some(v), *m, matches!(inst, Inst::Mark(_))));
                    open = true;
                    continue;
                }
                let costs = self.costs(v, b, parts);
                if costs == FREE {
                    continue;
                }
                if !open {
                    all.push(begins(None, home, false));
                    open = true;
                }
                if let Some(s) = all.last_mut() {
                    add(&mut s.costs, &costs);
                    s.works |= costs[0].single == 0
                        && matches!(
                            inst,
                            Inst::Load { .. }
                                | Inst::LoadRows { .. }
                                | Inst::Store { .. }
                                | Inst::StoreRows { .. }
                                | Inst::Atomic { .. }
                                | Inst::Image(_)
                        );
                }
            }
        }
        all
    }

    /// Slots of the varyings that are read.
    fn varyings_read(&self) -> HashSet<u16> {
        let read = |(i, v): (usize, &ValueData)| match v.inst {
            Inst::Input(Input::Varying(slot)) if self.needed[i] => Some(slot),
            _ => None,
        };
        self.shader.values.iter().enumerate().filter_map(read).collect()
    }

    /// Interpolation slots of the varying unit.
    fn varyings(&self) -> u32 {
        let read = self.varyings_read();
        interpolated(self.shader.interface.varyings.iter().filter(|v| read.contains(&v.slot))).count() as u32
    }

    fn count_blocks(&self, costs: &[Costs], counters: &mut Vec<Costs>) -> Plan {
        let cfg = self.cfg;
        let n = costs.len();
        let runs = Runs::new(self.shader, cfg, true);
        let first = &runs.first;
        let mut sums = vec![FREE; n];
        for (b, costs) in costs.iter().enumerate() {
            add(&mut sums[first[b] as usize], costs);
        }
        let mut plan = Plan { block: vec![0; n], jump: vec![0; n], mark: vec![] };
        // The jump back of a loop counts in passing.
        let mut last = vec![NONE; n];
        for b in 0..n {
            if let Term::Jump(t) = self.shader.blocks[b].term
                && t.0 as usize <= b
            {
                last[first[b] as usize] = b as u32;
            }
        }
        for c in 0..n as u32 {
            let costs = sums[c as usize];
            if costs == FREE || !cfg.reachable(c) {
                continue;
            }
            let mut left = vec![c];
            while let Some(c) = left.pop() {
                if let Some(from) = runs.arrivals(c) {
                    left.extend(from);
                    continue;
                }
                let at = match last[c as usize] {
                    b if b != NONE && counters.len() < 1 << 16 => &mut plan.jump[b as usize],
                    _ => &mut plan.block[c as usize],
                };
                if *at == 0 {
                    *at = counters.len() as u32;
                    counters.push(FREE);
                }
                add(&mut counters[*at as usize], &costs);
            }
        }
        plan
    }
}

/// The mark of one of the application's blocks, among the marks of all, by block.
fn home_of(of_origin: &[((u32, u32), u32)], origin: (u32, u32)) -> Option<u32> {
    of_origin.binary_search_by_key(&origin, |o| o.0).ok().map(|i| of_origin[i].1)
}

/// Part of a block of an instrumented program: what one mark (or the end of a call) begins, or what comes before the first.
struct Stretch {
    block: u32,
    mark: Option<Value>,
    /// The application's block begins there. (It does not where it goes on after a call.)
    entry: bool,
    /// The mark whose cost it is.
    of: u32,
    costs: Costs,
    /// It has accesses to memory or images, which are counted at a row of its own.
    works: bool,
}

/// Counters of an instrumented program, being placed.
struct Marks<'a> {
    runs: &'a Runs<'a>,
    stretches: &'a [Stretch],
    plan: Plan,
    counters: &'a mut Vec<Costs>,
    profile: &'a mut Profile,
    /// The first stretch of each class that a mark begins, and the counter at such a one; 0 if there is none yet.
    first: Vec<Option<usize>>,
    counter: Vec<u32>,
}

impl Marks<'_> {
    /// A counter at the begin of a stretch.
    fn place(&mut self, stretch: usize) -> u32 {
        let s = &self.stretches[stretch];
        let counter = self.counters.len() as u32;
        self.counters.push(FREE);
        match s.mark {
            Some(v) => self.plan.mark.push((v, counter)),
            None => self.plan.block[s.block as usize] = counter,
        }
        counter
    }
    /// What a counter says of a stretch.
    fn tells(&mut self, stretch: usize, counter: u32, work: bool) {
        let s = &self.stretches[stretch];
        if !work && !s.entry && s.costs == FREE {
            return;
        }
        add(&mut self.counters[counter as usize], &s.costs);
        let cost = s.costs[0];
        self.profile.marks.push(MarkUse { counter, mark: s.of, entry: s.entry, work, cost });
    }
    /// Whether marks tell how often a class runs.
    fn tell(&self, class: u32) -> bool {
        self.first[class as usize].is_some()
            || self.runs.arrivals(class).is_some_and(|from| from.iter().all(|c| self.tell(*c)))
    }
    /// Counters at marks whose sum is a class's count; false if there are none.
    fn resolve(&mut self, class: u32, out: &mut Vec<u32>) -> bool {
        let c = class as usize;
        if self.counter[c] == 0 {
            if let Some(from) = self.runs.arrivals(class)
                && from.iter().all(|f| self.tell(*f))
            {
                return from.into_iter().all(|f| self.resolve(f, out));
            }
            let Some(first) = self.first[c] else { return false };
            self.counter[c] = self.place(first);
        }
        out.push(self.counter[c]);
        true
    }
}

/// Which blocks' counts tell of which.
struct Runs<'a> {
    cfg: &'a Cfg,
    shared: bool,
    /// The first block of each one's class: those that always run together.
    first: Vec<u32>,
}

impl Runs<'_> {
    /// Not `shared`: no block tells of another.
    fn new<'a>(shader: &Shader, cfg: &'a Cfg, shared: bool) -> Runs<'a> {
        // A wave whose lanes are all demoted ends where it is: then no block tells of another.
        let shared = shared && !shader.values.iter().any(|v| matches!(v.inst, Inst::Demote));
        let n = shader.blocks.len();
        Runs { cfg, shared, first: if shared { classes(cfg, n) } else { (0..n as u32).collect() } }
    }
    /// Whose counts each class's count is the sum of, if not its own: those from whom its loop's header is reached.
    fn arrivals(&self, c: u32) -> Option<Vec<u32>> {
        if !self.shared || self.cfg.heads(c).is_none() {
            return None;
        }
        let preds = self.cfg.preds(c);
        let from: Vec<u32> = preds.iter().map(|p| self.first[*p as usize]).collect();
        let single = preds.iter().all(|p| self.cfg.succ[*p as usize][1] == NONE);
        (single && !from.contains(&c)).then_some(from)
    }
}

/// The first block of those that always run together with each.
fn classes(cfg: &Cfg, n: usize) -> Vec<u32> {
    let after = postdominators(cfg);
    let mut first: Vec<u32> = (0..n as u32).collect();
    for b in 1..n {
        let home = cfg.loop_of[b];
        let start = if home == NONE { 0 } else { cfg.loops[home as usize].first };
        let mut a = cfg.idom[b];
        while a != NONE && a >= start && cfg.loop_of[a as usize] != home {
            a = cfg.idom[a as usize];
        }
        if a == NONE || a < start {
            continue;
        }
        let mut z = after[a as usize];
        while (z as usize) < b && cfg.loop_of[z as usize] != home {
            z = after[z as usize];
        }
        if z as usize == b {
            first[b] = first[a as usize];
        }
    }
    first
}

/// The nearest block that follows each block whatever happens; a loop's end is taken to lead to what is after the
/// loop.
pub(super) fn postdominators(cfg: &Cfg) -> Vec<u32> {
    let n = cfg.len();
    let mut after = vec![n as u32 - 1; n];
    let mut up = Ancestors::new(n);
    for b in (0..n - 1).rev() {
        let mut z = NONE;
        for s in cfg.succ[b].iter().filter(|s| **s != NONE) {
            let s = match cfg.heads(*s) {
                Some(l) if *s as usize <= b => cfg.loops[l as usize].last + 1,
                _ => *s,
            };
            if z == NONE {
                z = s;
                continue;
            }
            z = up.common(&after, z, s);
        }
        if z != NONE {
            after[b] = z;
        }
        up.hang(b as u32, after[b]);
    }
    after
}
