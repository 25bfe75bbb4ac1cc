//! Every case on Tuff: the right answers, and the same bits on every SIMD level and thread count.
//!
//! `CONFORMANCE_ICD` names another driver's ICD file, to see what that makes of the cases; SIMD levels then mean
//! nothing.

use crate::common::Way;
use std::collections::BTreeMap;

/// Hashes by case, of one child.
fn run(way: Way, without_loader: bool) -> Result<BTreeMap<String, String>, String> {
    let names: Vec<_> = conformance::cases().iter().map(|c| c.name).collect();
    crate::common::run(env!("CARGO_BIN_EXE_compute-child"), &names, way, without_loader)
}

#[test]
fn right_answers_and_the_same_bits_on_every_level_and_thread_count() {
    crate::common::same_everywhere(None, &[1, 2, 5], |way| run(way, false));
}

#[test]
fn the_driver_works_without_a_loader() {
    // Every level finds the entry points alike: the widest, which is done soonest.
    let way = Way::new(crate::common::levels().pop().expect("one at least"), 2);
    let with = run(way, false).unwrap_or_else(|e| panic!("{e}"));
    let without = run(way, true).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(with, without);
}

#[test]
fn the_sequence_reaches_every_branch_of_control() {
    let mut random = random::Random::default();
    let mut seen = std::collections::HashSet::new();
    for _ in 0..200 {
        let x = random.u32();
        seen.insert((x % 7, conformance::programs::control_of(x) <= 48));
    }
    assert!(seen.len() > 7);
}
