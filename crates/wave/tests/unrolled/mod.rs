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
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
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

/// One program: how many of its loops are unrolled, and how many there are. None: it takes too long.
fn one(seed: u64, table: &[u32]) -> Option<[usize; 2]> {
    let tree = Tree::random(seed);
    let workgroup = [64, 20, 96][seed as usize % 3];
    let lanes = [64, 128, 256][seed as usize / 3 % 3];
    let spec = tree.spec[(seed & 1) as usize];
    let mut want = vec![];
    for i in 0..GROUPS * workgroup {
        let mut e = Evaluator::new(&tree, spec, table, i / workgroup, i % workgroup);
        if !e.run() {
            return None;
        }
        want.extend(e.out);
    }
    let constants = [(0, spec as u64)];
    let given = if seed & 1 == 0 { &constants[..0] } else { &constants[..] };
    let options = Options { spec: given, ..options(lanes, !seed.is_multiple_of(5)) };
    let modules = [false, true].map(|kept| {
        let words = emit::module(&tree, workgroup, (TABLE_BINDING, table), kept);
        let parse = |w: &[u32]| Module::parse(w).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let plain = parse(&words);
        let marked = instrument(&plain, Entry::All, Form::Marks).expect("instruments");
        [plain, parse(&marked.words)]
    });
    let [left, kept] = modules.each_ref().map(|m| loops(&m[0], &options));
    let want = words(&want);
    let mut counts: Option<Vec<[u64; 3]>> = None;
    // Each program on one level: kept loops for their counts, then unrolled ones with and without marks.
    let levels = Level::tested();
    let level = levels[seed as usize / 7 % levels.len()];
    let compiled = if level == Level::PORTABLE { Compile::Never } else { Compile::Always };
    let ways = [(1, 1, Compile::Never), (0, 1, Compile::Never), (0, 1, compiled), (0, 0, compiled)];
    for (kept, marked, when) in ways {
        let p = shader::compile(&modules[kept][marked], &options);
        let p = p.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let (got, blocks) = run(&p, level, when, table);
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
    Some([kept - left, kept])
}

fn table() -> Vec<u32> {
    (0..TABLE_WORDS).map(|i| i.wrapping_mul(0x9E37_79B9) >> 7 ^ i).collect()
}

/// A variable that a loop within a loop changes is read after both, and another value leaves the inner loop by another way: both were
/// in one register.
#[test]
fn what_leaves_an_inner_loop_alone_keeps_its_register() {
    assert!(one(52715, &table()).is_some());
}

#[test]
fn unrolled_loops_leave_what_their_programs_say() {
    let table = table();
    let next = AtomicU64::new(0);
    let some = || {
        let mut all = vec![];
        loop {
            let seed = next.fetch_add(1, Relaxed);
            if seed >= programs() {
                return all;
            }
            all.extend(one(seed, &table));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let ran = std::thread::scope(|s| {
        let threads: Vec<_> = (0..threads).map(|_| s.spawn(some)).collect();
        threads.into_iter().flat_map(|t| t.join().expect("no program is wrong")).collect::<Vec<_>>()
    });
    let [unrolled, all] = [0, 1].map(|k| ran.iter().map(|r| r[k]).sum::<usize>());
    println!("{} programs; {unrolled} of {all} loops are unrolled", ran.len());
    assert!(ran.len() as u64 > programs() / 2 && unrolled > all / 4);
}
