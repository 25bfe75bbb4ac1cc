//! SPIR-V that is changed: by people who know the language ([`mutate`], most of whose modules are valid) and by those who
//! do not ([`words::mutate`]). For the fuzzing targets and for `crates/wave/examples/mutants`.
//!
//! A change knows types and dominance: an operand becomes another value of its type that is there, an operation another
//! of the same signature. It knows nothing of what a shader computes. What it does not know of a rule (that an index is
//! to be a constant, that a decoration goes with a class) makes an invalid module now and then, which is no harm.

mod flow;
mod marks;
mod module;
mod shape;
mod subgroup;
mod table;
mod values;
pub mod words;

pub use module::Module;
use random::Random;

/// How many changes of a module are tried at most: each may find no place for itself.
const TRIES: usize = 40;

/// A copy with one to eight changes. `None`: no module in this machine's byte order, or nothing to change in it.
pub fn mutate(words: &[u32], seed: u64) -> Option<Vec<u32>> {
    let mut module = Module::parse(words)?;
    let mut r = Random::new(seed);
    let wanted = 1 + r.index(8);
    let mut done = 0;
    for _ in 0..TRIES {
        if done == wanted {
            break;
        }
        done += one(&mut module, &mut r).is_some() as usize;
    }
    (done > 0).then(|| module.words())
}

/// A copy with control flow that lanes go through apart, and values of other lanes in it.
pub fn diverge(words: &[u32], seed: u64) -> Option<Vec<u32>> {
    let mut module = Module::parse(words)?;
    let mut r = Random::new(seed);
    let mut done = 0;
    for _ in 0..6 + r.index(10) {
        let change = match r.index(8) {
            0 => values::compute(&mut module, &mut r),
            1..4 => shape::wrap_if(&mut module, &mut r),
            4 => shape::wrap_loop(&mut module, &mut r),
            _ => subgroup::across(&mut module, &mut r),
        };
        done += change.is_some() as usize;
    }
    (done > 0).then(|| module.words())
}

/// One change, where there is a place for it.
fn one(m: &mut Module, r: &mut Random) -> Option<()> {
    match r.index(34) {
        0..6 => values::swap_operand(m, r),
        6..9 => values::other_op(m, r),
        9..11 => values::other_constant(m, r),
        11..13 => values::repeat(m, r),
        13..18 => values::compute(m, r),
        18..20 => shape::wrap_if(m, r),
        20..22 => shape::wrap_loop(m, r),
        22 => shape::turn_branch(m, r),
        23 => shape::leave(m, r),
        24 => shape::exchange(m, r),
        25..27 => shape::delete(m, r),
        27 => values::other_component(m, r),
        28 => marks::decorate(m, r),
        29 => marks::redecorate(m, r),
        30 => marks::control(m, r),
        31 => marks::specialise(m, r),
        _ => subgroup::across(m, r),
    }
}

#[cfg(test)]
mod tests;
