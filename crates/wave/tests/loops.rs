//! Loops that are compiled whole leave what the interpreter leaves, and count what it counts.

use crate::common::{Asm, TestHost, words};
use crate::programs::program::Generator;
use crate::programs::{LANE_BYTES, TABLE_WORDS, options};
use crate::spirv;
use shader::bytecode::{Code, Program, Reg};
use shader::ir::{Bin, Input, Ty};
use simd::Level;
use std::time::Duration;
use wave::cache::Sizes;
use wave::{Compile, Dispatch, Fault, Stop, Table, Usage, Worker};

const GROUPS: u32 = 3;

/// How many programs the test runs; `TUFF_JIT_PROGRAMS` says otherwise.
fn programs() -> u64 {
    std::env::var("TUFF_JIT_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(1500)
}

fn table(n: u32) -> Vec<u8> {
    words(&(0..n).map(|i| i.wrapping_mul(0x9E37_79B9) >> 7 ^ i).collect::<Vec<_>>())
}

/// What a program leaves in its buffer, and what it counts.
fn run(
    p: &Program,
    level: Level,
    when: Compile,
    host: &TestHost,
    traced: bool,
    table_words: u32,
) -> (Result<(), Stop>, Vec<u8>, Usage) {
    let size = p.workgroup.iter().product::<u32>();
    let mut out = vec![0u8; (GROUPS * size * LANE_BYTES) as usize];
    let mut words = table(table_words);
    let rows: Vec<[u64; 4]> =
        [&mut out, &mut words].into_iter().map(|b| [b.as_mut_ptr() as u64, b.len() as u64, 0, 0]).collect();
    let tables = [Table { ptr: rows.as_ptr() as *const u8, size: rows.len() as u64 * 32 }];
    let d = Dispatch {
        serial: 1,
        program: p,
        tables: &tables,
        push: &[0; 128],
        host,
        base: [0; 3],
        groups: [GROUPS, 1, 1],
        arena: wave::Arena::NONE,
        draw: [0; 2],
    };
    let mut w = Worker::compiling(level, when);
    w.tally.trace(traced.then(|| Sizes::of_kib(16, 32, 2048)));
    let done = w.run(&d, 0, u64::MAX);
    let usage = w.tally.take(p, None);
    (done, out, usage)
}

#[test]
fn random_loops_leave_and_count_what_ops_do() {
    // Some that found a uniform value of the turn in which the last warp left, where others went on; and one that only some wrote.
    same_as_ops((0..programs()).chain([59836, 74378]), Generator::words, TABLE_WORDS);
}

/// Several workgroups share a wave where they are small enough, and each loads from its own memory.
#[test]
fn random_loops_over_workgroups_memory_leave_and_count_what_ops_do() {
    same_as_ops(0..programs() / 2, Generator::shared, TABLE_WORDS);
}

#[test]
fn random_loops_over_parts_of_lanes_leave_and_count_what_ops_do() {
    same_as_ops(0..programs(), Generator::parts, 1001);
}

fn same_as_ops(
    seeds: impl Iterator<Item = u64>,
    generator: fn(u64, [u32; 3]) -> Generator,
    table_words: u32,
) {
    let host = TestHost::default();
    let (mut regions, mut branches, mut some) = ([0; 2], [0; 2], 0usize);
    let levels: Vec<Level> = Level::tested().into_iter().filter(|l| *l != Level::PORTABLE).collect();
    let mut all = 0;
    for seed in seeds {
        all += 1;
        let workgroup = [[64, 1, 1], [16, 16, 1], [8, 8, 1], [20, 3, 1]][seed as usize % 4];
        let lanes = [256, 128, 64][seed as usize / 4 % 3];
        // Lanes' loads by gathers and by themselves, whatever this CPU is.
        simd::pretend_slow_gathers(seed / 2 % 2 == 0);
        let mut shader = generator(seed, workgroup).generate();
        let program = if seed % 2 == 0 {
            shader::pass::compile_ir(&mut shader, &options(lanes, true))
        } else {
            shader::lower::lower(&shader, &options(lanes, false))
        };
        let mut p = program.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        // So that it shows which row counts what.
        for (i, c) in p.profile.counters.iter_mut().enumerate() {
            let mixed = (i as u32 + 1).wrapping_mul(0x9E37_79B9);
            (c.fma, c.cvt, c.sfu) = (mixed >> 20, mixed >> 8 & 0xFFF, mixed & 0xFF);
        }
        for (i, &level) in levels.iter().enumerate() {
            let one = p.clone();
            let (done, want, counted) = run(&one, level, Compile::Never, &host, seed % 16 == 0, table_words);
            assert_eq!(done, Ok(()), "seed {seed}");
            let Some(c) = wave::jit::compile(&p, level) else { continue };
            regions[i] += c.regions;
            branches[i] += c.branches;
            some += (c.regions > 0) as usize;
            let (done, got, counts) =
                run(&p.clone(), level, Compile::Always, &host, seed % 16 == 0, table_words);
            let what = || format!("{level:?}, seed {seed}: {}", shader::bytecode_print::print(&p));
            assert_eq!(done, Ok(()), "{}", what());
            if let Some(at) = want.chunks(4).zip(got.chunks(4)).position(|(a, b)| a != b) {
                panic!("word {at}: {:?}, {:?}, {}", &want[at * 4..][..4], &got[at * 4..][..4], what());
            }
            assert_eq!(counts, counted, "{}", what());
        }
    }
    println!("{regions:?} regions, {some} programs with some; {branches:?} branches within segments");
    assert!(levels.is_empty() || branches[0] > all / 20, "{branches:?} of {all}");
    assert!(levels.is_empty() || some > all / 20, "{regions:?} of {all}");
}

/// A loop that never ends is ended, at the op that the interpreter names, also one of nothing but a jump.
#[test]
fn endless_loops_are_ended() {
    for ops in [0, 1] {
        let mut a = Asm::new(256, [256, 1, 1]);
        let (index, one) = (a.input(Input::LocalIndex), a.c(1));
        let x = a.v();
        let none = Reg::NONE;
        a.op(Code::bin(Bin::IAdd, Ty::B32), x, index, one, none, 0, 0);
        a.op(Code::bin(Bin::IMul, Ty::B32), x, x, one, none, 0, 0);
        let head = a.here();
        for _ in 0..ops {
            a.op(Code::bin(Bin::IAdd, Ty::B32), x, index, one, none, 0, 0);
        }
        let last = a.op(Code::LOOP, none, none, none, none, 0, head);
        a.end();
        for level in Level::tested().into_iter().filter(|l| *l != Level::PORTABLE) {
            if ops > 0 {
                assert_eq!(wave::jit::compile(&a.p, level).map(|c| c.regions), Some(1));
            }
            let always = Compile::Always;
            for (when, traced) in [(Compile::Never, false), (always, false), (always, true)] {
                let host = TestHost { stop_after: 3, ..TestHost::default() };
                let (done, ..) = run(&a.p.clone(), level, when, &host, traced, TABLE_WORDS);
                assert_eq!(done, Err(Stop { fault: Fault::Stopped, op: last as u32 }));
                assert_eq!(host.asked.into_inner(), 3);
                let host = TestHost { wave_time: Duration::from_millis(2), ..TestHost::default() };
                let (done, ..) = run(&a.p.clone(), level, when, &host, traced, TABLE_WORDS);
                assert_eq!(done, Err(Stop { fault: Fault::Watchdog, op: last as u32 }));
            }
        }
    }
}

/// Pages with code can be executed and not written.
#[test]
fn code_cannot_be_written() {
    let mut a = Asm::new(256, [256, 1, 1]);
    let index = a.input(Input::LocalIndex);
    let (x, none) = (a.v(), Reg::NONE);
    let head = a.here();
    a.op(Code::bin(Bin::IAdd, Ty::B32), x, index, index, none, 0, 0);
    a.op(Code::LOOP, none, none, none, none, 0, head);
    a.end();
    for level in Level::tested().into_iter().filter(|l| *l != Level::PORTABLE) {
        let c = wave::jit::compile(&a.p, level).expect("a program that can be compiled");
        let code = c.machine_code().as_ptr() as usize;
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux says which pages there are");
        let rights = |line: &str| {
            let (range, rest) = line.split_once(' ')?;
            let (from, to) = range.split_once('-')?;
            let number = |hex| usize::from_str_radix(hex, 16).ok();
            (number(from)?..number(to)?).contains(&code).then(|| rest[..4].to_string())
        };
        assert_eq!(maps.lines().find_map(rights).as_deref(), Some("r-xp"));
        assert!(!maps.lines().any(|l| l.split(' ').nth(1).is_some_and(|rights| rights.contains("wx"))));
    }
}

/// The benchmarks' kernels, which load from workgroups' memory too.
#[test]
fn kernels_leave_and_count_the_same() {
    for level in Level::tested().into_iter().filter(|l| *l != Level::PORTABLE) {
        for k in spirv::KERNELS {
            let p = spirv::compile(&spirv::load(&k.path()), None).expect("a kernel compiles");
            let run = |when: Compile| {
                let (mut memory, mut w) = (k.memory(), Worker::compiling(level, when));
                let groups = k.groups.map(|n| n.min(5));
                spirv::run(&mut w, &p.clone(), &mut memory, k.push, groups, 1);
                (memory, w.tally.take(&p, None))
            };
            let ((want, counted), (got, counts)) = (run(Compile::Never), run(Compile::Always));
            assert!(want == got, "{}, {level:?}", k.name);
            assert_eq!(counts, counted, "{}, {level:?}", k.name);
        }
    }
}
