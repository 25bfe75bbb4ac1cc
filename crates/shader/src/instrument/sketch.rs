//! What a shader is known by when its contents have changed: an interface, and a sketch of its instructions.
//!
//! A sketch has the least hashes of all runs of three instructions ([`RUN`]) of the functions that an entry point calls. Ids are left out, so
//! that an insertion changes no other run than those around it; constants count by their values. The share of hashes that two sketches have
//! in common estimates the share of runs that the shaders have in common (bottom-k sketches: Cohen and Kaplan, 2007).

use super::{Entry, functions};
use crate::options::Result;
use crate::spirv::*;
use std::collections::BTreeSet;

/// Instructions of a run.
const RUN: usize = 3;
/// Hashes of a sketch at most.
pub const HASHES: usize = 48;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    /// Of the global variables that the functions name: storage classes, bindings, locations and kinds of types, in whatever order.
    pub interface: u64,
    /// Ascending, at most [`HASHES`].
    pub hashes: Vec<u32>,
}

impl Sketch {
    /// From 0 (nothing in common) to 1 (the same instructions).
    pub fn likeness(&self, other: &Sketch) -> f64 {
        let [a, b] = [&self.hashes, &other.hashes].map(|h| h.iter().copied().collect::<BTreeSet<u32>>());
        let union: Vec<u32> = a.union(&b).copied().take(HASHES).collect();
        let both = union.iter().filter(|h| a.contains(h) && b.contains(h)).count();
        if union.is_empty() { 1.0 } else { both as f64 / union.len() as f64 }
    }
}

/// The finaliser of splitmix64.
fn mixed(h: u64, v: u64) -> u64 {
    let mut h = h.rotate_left(23).wrapping_add(v).wrapping_add(0x9e37_79b9_7f4a_7c15);
    h = (h ^ h >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h = (h ^ h >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    h ^ h >> 31
}

/// Of a variable's type: its kinds down to scalars, at most eight deep.
fn kind(m: &Module, id: u32, depth: u32) -> u64 {
    let Some(i) = m.def_at(id).map(|at| m.inst(at)).filter(|_| depth < 8) else { return 0 };
    let next = |id: Option<u32>| id.map_or(0, |id| kind(m, id, depth + 1));
    let own = mixed(i.op as u64, 0);
    match i.op {
        Op::TypePointer => next(i.get(3)),
        Op::TypeInt | Op::TypeFloat => mixed(own, i.get(2).unwrap_or(0) as u64),
        Op::TypeVector | Op::TypeMatrix => mixed(mixed(own, next(i.get(2))), i.get(3).unwrap_or(0) as u64),
        Op::TypeArray | Op::TypeRuntimeArray | Op::TypeSampledImage => mixed(own, next(i.get(2))),
        _ => own,
    }
}

/// Of a global variable; `None`: it is no part of the interface.
fn variable(m: &Module, i: &Code) -> Option<u64> {
    let class = i.get(3)?;
    let inner = [StorageClass::Private, StorageClass::Function, StorageClass::Workgroup];
    if inner.iter().any(|c| *c as u32 == class) {
        return None;
    }
    let id = i.get(2)?;
    let told = [Decoration::DescriptorSet, Decoration::Binding, Decoration::Location, Decoration::BuiltIn]
        .map(|d| {
            let value = m.decoration(id, d);
            value.map_or(0, |v| v as u64 + 1)
        });
    let all = told.into_iter().fold(mixed(0, class as u64), mixed);
    Some(mixed(all, kind(m, i.get(1)?, 0)))
}

/// An instruction without its ids; `None`: it does nothing.
fn token(m: &Module, i: &Code) -> Option<u64> {
    match i.op {
        Op::Line | Op::NoLine | Op::Nop | Op::Undef => return None,
        Op::ExtInst if !matches!(m.ext_set(i.get(3)?), Some(ExtSet::Glsl450 | ExtSet::Unknown)) => {
            return None;
        }
        _ => {}
    }
    let mut h = mixed(1, i.op as u64);
    if i.op == Op::ExtInst {
        h = mixed(h, i.get(4)? as u64);
    }
    // Where literals follow ids, numbers that might be taken for ids.
    let (ids, literals) = match i.op {
        Op::CompositeExtract => (i.rest(i.len()), i.rest(4)),
        Op::CompositeInsert | Op::VectorShuffle => (i.rest(i.len()), i.rest(5)),
        Op::Load | Op::Function | Op::LoopMerge | Op::SelectionMerge | Op::Variable => {
            (i.rest(i.len()), i.rest(i.len()))
        }
        Op::ExtInst => (i.rest(5), i.rest(i.len())),
        Op::Store => (&i.w[2.min(i.len())..3.min(i.len())], i.rest(i.len())),
        _ => (i.rest(1), i.rest(i.len())),
    };
    h = literals.iter().fold(h, |h, w| mixed(h, *w as u64));
    for id in ids {
        let Some(of) = m.def_at(*id).map(|at| m.inst(at)) else { continue };
        if of.op == Op::Constant {
            h = of.rest(3).iter().fold(h, |h, w| mixed(h, *w as u64));
        }
    }
    Some(h)
}

/// Of the functions that an entry point calls. Errors as [`super::blocks`].
pub fn sketch(m: &Module, entry: Entry) -> Result<Sketch> {
    let (mut hashes, mut variables) = (BTreeSet::new(), BTreeSet::new());
    for f in functions(m, entry)? {
        let Function { start, end, .. } = m.functions[f];
        let (mut at, mut last) = (start, vec![]);
        while at < end {
            let i = m.inst(at);
            at += i.len() as u32;
            for id in i.rest(1) {
                let global = m.def_at(*id).filter(|at| *at < start).map(|at| m.inst(at));
                if let Some(of) = global.filter(|g| g.op == Op::Variable && g.get(2) == Some(*id)) {
                    variables.extend(variable(m, &of));
                }
            }
            let Some(token) = token(m, &i) else { continue };
            last.push(token);
            if last.len() > RUN {
                last.remove(0);
            }
            hashes.insert(last.iter().fold(0, |h, t| mixed(h, *t)) as u32);
        }
    }
    Ok(Sketch {
        interface: variables.into_iter().fold(0, mixed),
        hashes: hashes.into_iter().take(HASHES).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_is_the_share_of_what_both_have() {
        let of = |hashes: &[u32]| Sketch { interface: 0, hashes: hashes.to_vec() };
        assert_eq!(of(&[1, 2, 3]).likeness(&of(&[1, 2, 3])), 1.0);
        assert_eq!(of(&[1, 2, 3]).likeness(&of(&[2, 3, 4])), 0.5);
        assert_eq!(of(&[1]).likeness(&of(&[2])), 0.0);
        assert_eq!(of(&[]).likeness(&of(&[])), 1.0);
        // Of two that are full only the least hashes of both together say something: 0 to 47, of which 24 to 47 are in both.
        let range = |from: u32, to: u32| of(&(from..to).collect::<Vec<_>>());
        assert_eq!(range(0, 48).likeness(&range(24, 72)), 0.5);
    }
}
