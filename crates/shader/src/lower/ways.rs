//! The cheapest and the dearest way through the code, and how often its loops run.

use super::Lowering;
use super::count::Costs;
use crate::cfg::{Cfg, Loop, NONE};
use crate::cost::{Cost, Ways};
use crate::eval;
use crate::ir::{Inst, Shader, Term, Value};

/// Iterations of a loop that are followed, and operations of all loops of a shader: a pipeline is not to wait for statistics.
const MOST_ITERATIONS: u32 = 1 << 14;
const MOST_OPERATIONS: u32 = 1 << 16;
/// Operations within one another.
const DEEPEST: u32 = 16;

/// Evaluates values of a loop that follow from constants and from what the loop's counters are in an iteration.
struct Iteration<'a> {
    shader: &'a Shader,
    /// Of few: a loop has one or two. `None`: it cannot be followed.
    counters: Vec<(Value, Option<u64>)>,
    left: &'a mut u32,
}

impl Iteration<'_> {
    fn value(&mut self, v: Value, deep: u32) -> Option<u64> {
        if let Some((_, value)) = self.counters.iter().find(|c| c.0 == v) {
            return *value;
        }
        *self.left = self.left.checked_sub(1)?;
        if deep > DEEPEST {
            return None;
        }
        let ty = |v: Value| self.shader.ty(v);
        match self.shader.data(v).inst {
            Inst::Const(c) => Some(c),
            Inst::Un(op, a) => eval::un(op, ty(a), self.value(a, deep + 1)?),
            Inst::Bin(op, a, b) => {
                let ty = ty(a);
                eval::bin(op, ty, self.value(a, deep + 1)?, self.value(b, deep + 1)?)
            }
            _ => None,
        }
    }
}

/// A loop's counters: their values in the first iteration, and what each becomes.
fn counters(shader: &Shader, l: &Loop) -> Vec<(Value, u64, Value)> {
    let counter = |v: &Value| {
        let Inst::Phi(sources) = &shader.data(*v).inst else { return None };
        let (mut begins, mut next) = (None, None);
        for (from, value) in sources {
            let same = match (l.first..=l.last).contains(&from.0) {
                true => next.replace(*value).is_none_or(|n| n == *value),
                false => {
                    let begin = shader.as_const(*value)?;
                    begins.replace(begin).is_none_or(|b| b == begin)
                }
            };
            if !same {
                return None;
            }
        }
        Some((*v, begins?, next?))
    };
    shader.blocks[l.first as usize].insts.iter().filter_map(counter).collect()
}

/// How often the loop's end leads back to its begin, if the branch at the end of block `exit` decides it, and constants decide that.
fn repeats(shader: &Shader, l: &Loop, exit: u32, all: &[(Value, u64, Value)], left: &mut u32) -> Option<u32> {
    let Term::Branch { cond, yes, .. } = shader.blocks[exit as usize].term else { return None };
    let leaves_if = u64::from(!(l.first..=l.last).contains(&yes.0));
    let counters = all.iter().map(|(v, begin, _)| (*v, Some(*begin))).collect();
    let mut at = Iteration { shader, counters, left };
    let mut next = Vec::with_capacity(all.len());
    for n in 0..MOST_ITERATIONS {
        if at.value(cond, 0)? == leaves_if {
            return Some(n);
        }
        next.extend(all.iter().map(|(v, _, next)| (*v, at.value(*next, 0))));
        std::mem::swap(&mut at.counters, &mut next);
        next.clear();
    }
    None
}

impl Lowering<'_> {
    /// How often each loop's end leads back to its begin, at most; `None`: nobody knows.
    pub(super) fn repeats(&self) -> Vec<Option<u32>> {
        let (shader, cfg) = (self.shader, self.cfg);
        let mut left = MOST_OPERATIONS;
        let mut of = |k: usize, l: &Loop| {
            let all = counters(shader, l);
            let inside = |b: u32| (l.first..=l.last).contains(&b);
            let latches: Vec<u32> = cfg.preds(l.first).iter().copied().filter(|b| inside(*b)).collect();
            // Those that every iteration passes once.
            let exits = (l.first..=l.last).filter(|&b| {
                cfg.loop_of[b as usize] == k as u32
                    && cfg.succ[b as usize].iter().any(|s| *s != NONE && !inside(*s))
                    && cfg.succ[b as usize].iter().any(|s| *s != NONE && inside(*s))
                    && latches.iter().all(|latch| cfg.dominates(b, *latch))
            });
            let known = exits.filter_map(|b| repeats(shader, l, b, &all, &mut left)).min();
            let Some(ask) = self.options.iterations else { return known };
            // A loop that is left at its end repeats once less than it runs.
            let is_exit = |b: u32| cfg.succ[b as usize].iter().any(|s| *s != NONE && !inside(*s));
            let more = u32::from(latches.iter().any(|b| is_exit(*b)));
            let iterations = known.map(|n| n.saturating_add(more));
            Some(ask(shader.blocks[l.first as usize].origin, iterations)?.saturating_sub(more))
        };
        cfg.loops.iter().enumerate().map(|(k, l)| of(k, l)).collect()
    }
}

/// Of what may follow a block, that with the most instructions.
fn dearest(all: impl Iterator<Item = Cost>) -> Option<Cost> {
    all.max_by_key(Cost::instructions)
}

fn sum(a: &Cost, b: &Cost) -> Cost {
    let mut sum = *a;
    sum.add(b);
    sum
}

/// The dearest way, where each loop repeats as often as `repeats` says.
fn longest(cfg: &Cfg, costs: &[Costs], part: usize, repeats: &[Option<u32>]) -> Option<Cost> {
    let n = costs.len();
    let mut own: Vec<Cost> = costs.iter().map(|c| c[part]).collect();
    // Inner loops come after those around them.
    for (l, repeats) in cfg.loops.iter().zip(repeats).rev() {
        let repeats = (*repeats)?;
        let mut way: Vec<Option<Cost>> = vec![None; (l.last - l.first) as usize + 1];
        for b in (l.first..=l.last).rev() {
            let on = cfg.succ[b as usize].iter().filter_map(|&s| match s {
                s if s == l.first => Some(Cost::FREE),
                s if s > b && s <= l.last => way[(s - l.first) as usize],
                _ => None,
            });
            way[(b - l.first) as usize] = dearest(on).map(|c| sum(&own[b as usize], &c));
        }
        let once = way[0]?;
        own[l.first as usize] = sum(&own[l.first as usize], &once.times(repeats));
    }
    // Ways that end at a loop's end, from where the code goes back, are no ways.
    let mut long = vec![None; n + 1];
    long[n] = Some(Cost::FREE);
    for b in (0..n).rev() {
        let next = cfg.succ[b].iter().filter(|s| **s != NONE && **s as usize > b);
        long[b] = dearest(next.filter_map(|s| long[*s as usize])).map(|c| sum(&own[b], &c));
    }
    long[0]
}

/// Costs of all the code and of its cheapest and dearest way; of the whole or a half ([`Costs`]).
pub(super) fn ways(cfg: &Cfg, costs: &[Costs], part: usize, repeats: &[Option<u32>]) -> Ways {
    let mut total = Cost::FREE;
    let n = costs.len();
    let mut short: Vec<Option<Cost>> = vec![None; n + 1];
    short[n] = Some(Cost::FREE);
    for b in (0..n).rev() {
        let own = costs[b][part];
        total.add(&own);
        let next = cfg.succ[b].iter().filter(|s| **s != NONE && **s as usize > b);
        let next = next.filter_map(|s| short[*s as usize]);
        short[b] = next.min_by_key(Cost::instructions).map(|c| sum(&own, &c));
    }
    Ways { total, shortest: short[0].unwrap_or_default(), longest: longest(cfg, costs, part, repeats) }
}
