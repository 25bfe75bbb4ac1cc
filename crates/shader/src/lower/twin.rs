//! Finds [`crate::twins`]: of two neighbouring ops that read an operand in common the first is put off to the second.

use super::Lowering;
use super::lir::{Inst as Op, NONE, V};
use super::pair::Tree;
use crate::bytecode::Code;
use crate::ir::Value;
use crate::isa;
use crate::twins::{self, TWINS};
use small_sort::SmallSort;

/// Among how many ops before it an op looks for its twin; the first's operands are held that much longer.
const NEAR: usize = 6;

/// Two ops that are done at once.
pub struct Twin {
    code: Code,
    /// Results in the order of the twin's parts.
    results: [Value; 2],
    operands: [Option<Value>; 5],
}

impl Lowering<'_> {
    pub(super) fn find_twins(&mut self) {
        let mut recent: Vec<(Value, Tree)> = vec![];
        for b in 0..self.shader.blocks.len() {
            recent.clear();
            for &v in &self.shader.blocks[b].insts {
                let i = v.0 as usize;
                if !self.needed[i] {
                    continue;
                }
                // What reads an op's result is not to come before it.
                let inst = &self.shader.data(v).inst;
                isa::operands(inst, |o| {
                    if let Some(k) = recent.iter().position(|(r, _)| *r == o) {
                        recent.remove(k);
                    }
                });
                if !self.pairable(v) || self.absorbed[i] {
                    continue;
                }
                let Some(tree) = self.tree(v).filter(|t| twins::is_part(t.code)) else { continue };
                let found = recent.iter().enumerate().rev().find_map(|(k, (r, other))| {
                    let (code, swapped, operands) = unify(other, &tree)?;
                    let results = if swapped { [v, *r] } else { [*r, v] };
                    Some((k, Twin { code, results, operands }))
                });
                match found {
                    Some((k, twin)) => {
                        let (first, _) = recent.remove(k);
                        self.absorbed[first.0 as usize] = true;
                        self.twin_of.push((v, twin));
                        self.is_twin[i] = true;
                    }
                    None => {
                        if recent.len() == NEAR {
                            recent.remove(0);
                        }
                        recent.push((v, tree));
                    }
                }
            }
        }
        self.twin_of.small_sort_by_key(|t| t.0.0);
    }

    /// Emits `v` and its twin, if it has one.
    pub(super) fn twin_op(&mut self, v: Value, b: u32, live_loop: u32) -> bool {
        if !self.is_twin[v.0 as usize] {
            return false;
        }
        let Ok(i) = self.twin_of.binary_search_by_key(&v.0, |t| t.0.0) else { return false };
        let twin = &self.twin_of[i].1;
        let r: [V; 5] = twin.operands.map(|o| o.map_or(NONE, |o| self.at(o, b)));
        let d = twin.results.map(|v| self.alias[v.0 as usize]);
        let op = Op::new(twin.code).d(d[0]).b(d[1]).a(r[0]).c(r[1]);
        let more = r[2..].iter().copied().filter(|r| *r != NONE).collect::<Vec<V>>();
        self.push_ext(op, more, live_loop);
        true
    }
}

/// The twin whose parts are `a` and `b`, whether `b` is its first part, and its operands.
fn unify(a: &Tree, b: &Tree) -> Option<(Code, bool, [Option<Value>; 5])> {
    for (i, swapped) in twins::of_codes(a.code, b.code) {
        let reads = TWINS[i].reads;
        let (p, q) = if swapped { (b, a) } else { (a, b) };
        for x in p.orders() {
            for y in q.orders() {
                let mut operands = [None; 5];
                let pairs = reads[0].iter().zip(x).chain(reads[1].iter().zip(y));
                let fits = pairs.into_iter().all(|(k, o)| {
                    let slot = &mut operands[*k as usize];
                    o.is_some() && *slot.get_or_insert(o.unwrap_or(Value(0))) == o.unwrap_or(Value(0))
                });
                if fits {
                    return Some((Code::twin(i), swapped, operands));
                }
            }
        }
    }
    None
}
