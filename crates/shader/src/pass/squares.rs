//! Sums and differences of two squares become one op each ([`Bin::FSumSquares`], [`Bin::FDiffSquares`]).
//!
//! `x·x ± y·y` whose products are read once are an FMA by the fixed rule; what comes here are products that must be
//! rounded because several ops read them (|z|² and z² of a complex number) or because they are exact. A register that
//! holds a square costs a store and its readers a load each, which is more than computing it again: an op that reads
//! the root loads as much. So when all that read a square are such sums, none is kept. The bits are the same.

use super::dce;
use crate::ir::{Bin, Inst, Shader, Ty, Value};
use crate::isa::operands;
use rustc_hash::FxHashMap;

pub fn join(shader: &mut Shader) {
    let root = |shader: &Shader, v: Value| match shader.data(v).inst {
        Inst::Bin(Bin::FMul, a, b) if a == b && shader.ty(v) == Ty::B32 => Some(a),
        _ => None,
    };
    let of_squares = |v: &Value| {
        sum(shader, *v).is_some_and(|(_, x, y)| root(shader, x).is_some() && root(shader, y).is_some())
    };
    if !shader.blocks.iter().any(|b| b.insts.iter().any(of_squares)) {
        return;
    }
    let seen = dce::live(shader);
    let live = |v: Value| seen[v.0 as usize].live;
    let values = (0..shader.values.len() as u32).map(Value);
    let mut square: Vec<bool> = values.map(|v| live(v) && root(shader, v).is_some()).collect();
    // Drop squares with another reader until none is left to drop.
    let mut sums = vec![];
    let mut reads = vec![0u32; square.len()];
    for block in &shader.blocks {
        for &v in block.insts.iter().filter(|v| live(**v)) {
            let Some((_, x, y)) = sum(shader, v) else { continue };
            if square[x.0 as usize] && square[y.0 as usize] {
                sums.push(Some((x, y)));
                operands(&shader.data(v).inst, |o| reads[o.0 as usize] += 1);
            }
        }
    }
    let mut dropped: Vec<usize> =
        (0..square.len()).filter(|i| square[*i] && reads[*i] != seen[*i].uses).collect();
    dropped.iter().for_each(|i| square[*i] = false);
    let mut of: FxHashMap<Value, Vec<usize>> = FxHashMap::default();
    if !dropped.is_empty() {
        for (k, s) in sums.iter().enumerate() {
            s.iter().flat_map(|(x, y)| [x, y]).for_each(|v| of.entry(*v).or_default().push(k));
        }
    }
    while let Some(i) = dropped.pop() {
        // Its sums are none any more, which their other squares cannot do without.
        for k in of.remove(&Value(i as u32)).unwrap_or_default() {
            let Some((x, y)) = sums[k].take() else { continue };
            for v in [x, y] {
                let i = v.0 as usize;
                reads[i] -= 1;
                if std::mem::replace(&mut square[i], false) {
                    dropped.push(i);
                }
            }
        }
    }
    let mut found = false;
    for b in 0..shader.blocks.len() {
        for i in 0..shader.blocks[b].insts.len() {
            let v = shader.blocks[b].insts[i];
            let Some((op, x, y)) = sum(shader, v).filter(|_| live(v)) else { continue };
            if square[x.0 as usize]
                && square[y.0 as usize]
                && let (Some(x), Some(y)) = (root(shader, x), root(shader, y))
            {
                shader.values[v.0 as usize].inst = Inst::Bin(op, x, y);
                found = true;
            }
        }
    }
    if found {
        dce::dce(shader);
    }
}

fn sum(shader: &Shader, v: Value) -> Option<(Bin, Value, Value)> {
    match shader.data(v).inst {
        Inst::Bin(Bin::FAdd, x, y) => Some((Bin::FSumSquares, x, y)),
        Inst::Bin(Bin::FSub, x, y) => Some((Bin::FDiffSquares, x, y)),
        _ => None,
    }
}
