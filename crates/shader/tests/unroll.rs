//! Loops of known trip counts are unrolled before private arrays become values; the rest stays loops.
//! `bounded.spv` is what naga makes of `regs` (a 4 × 4 tile in a loop of 128 turns), with its bounds of loops and indices.

#[allow(dead_code, reason = "others use the rest")]
mod modules;

use shader::Module;
use shader::build::build;
use shader::instrument::{Entry, Form, instrument};
use shader::ir::{Bin, Inst, Merge, Place, Shader, Stage, Tri};
use std::collections::BTreeMap;
use std::path::Path;

fn module(name: &str) -> Module {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/unroll");
    Module::parse(modules::read(folder.join(format!("{name}.spv")))).expect("parses")
}

fn translated(module: &Module, spec: &[(u32, u64)]) -> Shader {
    let options = shader::options::Options { spec, ..modules::options(Stage::Compute, "main") };
    build(module, &options).expect("translates")
}

fn loops(s: &Shader) -> usize {
    s.blocks.iter().filter(|b| matches!(b.merge, Merge::Loop { .. })).count()
}

fn count(s: &Shader, what: impl Fn(&Inst) -> bool) -> usize {
    let listed = s.blocks.iter().flat_map(|b| &b.insts);
    listed.filter(|v| what(&s.values[v.0 as usize].inst)).count()
}

fn in_scratch(s: &Shader) -> usize {
    let scratch = |p: &Place| matches!(p, Place::Scratch { .. });
    count(s, |i| matches!(i, Inst::Load { place, .. } | Inst::Store { place, .. } if scratch(place)))
}

/// How often each block's mark stands in the code.
fn marks(s: &Shader) -> BTreeMap<u32, usize> {
    let mut all = BTreeMap::new();
    for v in s.blocks.iter().flat_map(|b| &b.insts) {
        if let Inst::Mark(k) = s.values[v.0 as usize].inst {
            *all.entry(k).or_default() += 1;
        }
    }
    all
}

#[test]
fn a_tile_in_a_private_array_becomes_values() {
    let s = translated(&module("tile"), &[]);
    assert_eq!(loops(&s), 1, "the loop of a count that is not known");
    assert_eq!((in_scratch(&s), s.scratch_words), (0, 0));
    assert_eq!(count(&s, |i| matches!(i, Inst::Tri(Tri::Select, ..))), 0);
    // Of 4 by 8 elements, and of each with its factor but the first, whose factor is 1.
    assert_eq!(count(&s, |i| matches!(i, Inst::Bin(Bin::FMul, ..))), 32 + 31);
}

/// What leads out of a loop is no turn: else nests of short loops seem several times as large as they are.
#[test]
fn a_nest_of_short_loops_is_as_large_as_its_turns() {
    let s = translated(&module("nest"), &[]);
    assert_eq!(loops(&s), 1, "the loop of a count that is not known");
    assert_eq!((in_scratch(&s), s.scratch_words), (0, 0));
    assert_eq!(count(&s, |i| matches!(i, Inst::Tri(Tri::Fma, ..))), 4 * 2 * 2 * 4 * 4);
}

#[test]
fn a_specialised_count_is_known() {
    // Half of the rows: the other half's sums stay 0.
    let s = translated(&module("tile"), &[(0, 2)]);
    assert_eq!(loops(&s), 1);
    assert_eq!(count(&s, |i| matches!(i, Inst::Bin(Bin::FMul, ..))), 16 + 15);
}

#[test]
fn dont_unroll_is_respected() {
    let s = translated(&module("kept"), &[]);
    assert_eq!(loops(&s), 2);
    assert!(in_scratch(&s) > 0, "the array that the loop indexes");
}

#[test]
fn loops_that_are_left_early_are_unrolled_and_long_ones_stay() {
    let s = translated(&module("breaks"), &[]);
    assert_eq!(loops(&s), 1, "the loop of 5000 turns");
    assert_eq!((in_scratch(&s), s.scratch_words), (0, 0));
}

#[test]
fn bounds_that_naga_adds_leave_nothing() {
    let s = translated(&module("bounded"), &[]);
    assert_eq!(loops(&s), 1, "the loop of 128 turns");
    assert_eq!(s.scratch_words, 0);
    assert_eq!(count(&s, |i| matches!(i, Inst::Tri(Tri::Select, ..))), 0);
    // Of the bounds' halves and their comparisons: what is left compares the loop's own counter.
    assert_eq!(count(&s, |i| matches!(i, Inst::Bin(Bin::IEq, ..))), 0);
}

#[test]
fn each_copy_of_a_block_has_its_mark() {
    let marked = instrument(&module("tile"), Entry::All, Form::Marks).expect("instruments");
    let s = translated(&Module::parse(&marked.words).expect("parses"), &[]);
    let mut times: Vec<usize> = marks(&s).into_values().collect();
    times.sort_unstable();
    // Entry, the outer loop's five blocks and its merge once; header, test, body and continue target of each loop, the
    // first two once more than the others, merge blocks once.
    let turns = |n: usize| [n + 1, n + 1, n, n, 1];
    let mut expected = vec![1; 6];
    for n in [32, 4, 8, 32] {
        expected.extend(turns(n));
    }
    // The nested loops: four turns, of eight each.
    expected.extend(turns(4));
    expected.extend([4 * 9, 4 * 9, 4 * 8, 4 * 8, 4]);
    expected.sort_unstable();
    assert_eq!(times, expected);
}
