//! Loops that are unrolled leave what their programs say, and pass each block as often as loops that are kept: on every SIMD
//! level, compiled or not.

mod emit;
mod evaluate;
mod program;

use crate::common::{TestHost, words};
use crate::programs::{TABLE_BINDING, TABLE_WORDS, options};
use evaluate::Evaluator;
use program::{Program as Tree, WORDS};
use shader::Module;
use shader::bytecode::Program;
use shader::instrument::{Entry, Form, instrument};
use shader::ir::Merge;
use shader::options::Options;
use simd::Level;
use std::collections::BTreeSet;
use wave::{Compile, Dispatch, Table, Worker};

const GROUPS: u32 = 2;

/// How many programs the test runs; `TUFF_JIT_PROGRAMS` says otherwise.
fn programs() -> u64 {
    std::env::var("TUFF_JIT_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

/// What a program leaves, and how many warps and invocations enter each block of the module.
fn run(p: &Program, level: Level, when: Compile, table: &[u32]) -> (Vec<u8>, Vec<[u64; 3]>) {
    let mut out = vec![0u8; (GROUPS * p.workgroup[0] * WORDS * 4) as usize];
    let mut read = words(table);
    let rows: Vec<[u64; 4]> =
        [&mut out, &mut read].into_iter().map(|b| [b.as_mut_ptr() as u64, b.len() as u64, 0, 0]).collect();
    let tables = [Table { ptr: rows.as_ptr() as *const u8, size: rows.len() as u64 * 32 }];
    let host = TestHost::default();
    let d = Dispatch {
        serial: 1,
        program: p,
        tables: &tables,
        push: &[0; 128],
        host: &host,
        base: [0; 3],
        groups: [GROUPS, 1, 1],
        arena: wave::Arena::NONE,
        draw: [0; 2],
    };
    let mut w = Worker::compiling(level, when);
    assert_eq!(w.run(&d, 0, u64::MAX), Ok(()));
    let mut blocks = vec![];
    w.tally.take(p, Some(&mut blocks));
    let mut blocks: Vec<[u64; 3]> = blocks.into_iter().map(|b| [b[0], b[1], b[2]]).collect();
    // A program knows blocks up to the last one of which something is left.
    while blocks.pop_if(|b| *b == [0; 3]).is_some() {}
    (out, blocks)
}

/// The module's loops that are still some.
fn loops(m: &Module, options: &Options) -> usize {
    let s = shader::build::build(m, options).expect("translates");
    let headers = s.blocks.iter().filter(|b| matches!(b.merge, Merge::Loop { .. }));
    let labels: BTreeSet<u32> = headers.map(|b| b.origin.label).collect();
    labels.len()
}

#[test]
fn unrolled_loops_leave_what_their_programs_say() {
    let table: Vec<u32> = (0..TABLE_WORDS).map(|i| i.wrapping_mul(0x9E37_79B9) >> 7 ^ i).collect();
    let (mut ran, mut unrolled, mut all) = (0, 0, 0);
    for seed in 0..programs() {
        let tree = Tree::random(seed);
        let workgroup = [64, 20, 96][seed as usize % 3];
        let lanes = [64, 128, 256][seed as usize / 3 % 3];
        let spec = tree.spec[(seed & 1) as usize];
        let mut want = vec![];
        let ended = (0..GROUPS * workgroup).all(|i| {
            let mut e = Evaluator::new(&tree, spec, &table, i / workgroup, i % workgroup);
            let ended = e.run();
            want.extend(e.out);
            ended
        });
        if !ended {
            continue;
        }
        ran += 1;
        let constants = [(0, spec as u64)];
        let given = if seed & 1 == 0 { &constants[..0] } else { &constants[..] };
        let options = Options { spec: given, ..options(lanes, seed % 5 != 0) };
        let modules = [false, true].map(|kept| {
            let words = emit::module(&tree, workgroup, TABLE_BINDING, kept);
            let parse = |w: &[u32]| Module::parse(w).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            let plain = parse(&words);
            let marked = instrument(&plain, Entry::All, Form::Marks).expect("instruments");
            [plain, parse(&marked.words)]
        });
        let [left, kept] = modules.each_ref().map(|m| loops(&m[0], &options));
        unrolled += kept - left;
        all += kept;
        let want = words(&want);
        let mut counts: Option<Vec<[u64; 3]>> = None;
        // Kept loops interpreted, for their counts; unrolled ones with and without marks. Each program on one level.
        let levels = Level::tested();
        let level = levels[seed as usize / 7 % levels.len()];
        let compiled = if level == Level::Portable { Compile::Never } else { Compile::Always };
        let ways = [(1, 1, Compile::Never), (0, 1, Compile::Never), (0, 1, compiled), (0, 0, compiled)];
        let programs = modules.each_ref().map(|m| {
            m.each_ref().map(|m| shader::compile(m, &options).unwrap_or_else(|e| panic!("seed {seed}: {e}")))
        });
        for (kept, marked, when) in ways {
            let (got, blocks) = run(&programs[kept][marked].clone(), level, when, &table);
            let what = || format!("seed {seed}, {level:?}, {when:?}, kept {kept}, marked {marked}");
            if let Some(at) = want.chunks(4).zip(got.chunks(4)).position(|(a, b)| a != b) {
                let (a, b) = (&want[at * 4..][..4], &got[at * 4..][..4]);
                panic!("{}: word {at}: {a:?}, not {b:?}\n{tree:#?}", what());
            }
            if marked == 1 {
                let first = counts.get_or_insert_with(|| blocks.clone());
                assert_eq!(*first, blocks, "{}", what());
            }
        }
    }
    println!("{ran} programs; {unrolled} of {all} loops are unrolled");
    assert!(ran > programs() / 2 && unrolled > all / 4, "{ran} programs, {unrolled} of {all} loops");
}
