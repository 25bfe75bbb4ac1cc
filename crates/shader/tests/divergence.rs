//! Random structured programs: each invocation alone on the IR must give what the wave gives on bytecode.

mod common;

use common::{LANE_BYTES, options, program::Generator, scalar, wave};
use shader::bytecode::Program;
use shader::ir::{Inst, Shader, Ty, Value, ValueData, ValueFlags};

const GROUPS: u32 = 3;

fn expected(shader: &Shader) -> Vec<u8> {
    expected_with(shader, &mut [])
}

/// `marks`: how many invocations pass each.
fn expected_with(shader: &Shader, marks: &mut [u64]) -> Vec<u8> {
    let [x, y, z] = shader.workgroup;
    let size = x * y * z;
    let mut memory = vec![0u8; (GROUPS * size * LANE_BYTES) as usize];
    for group in 0..GROUPS {
        for i in 0..size {
            let base = (group * size + i) * LANE_BYTES;
            let own = &mut memory[base as usize..(base + LANE_BYTES) as usize];
            let local = [i % x, i / x % y, i / x / y];
            scalar::run(shader, &scalar::Invocation { local, local_index: i, group }, base, own, marks);
        }
    }
    memory
}

/// Runs one program; what is wrong with it.
fn check(seed: u64, workgroup: [u32; 3], lanes: u32) -> Result<(), String> {
    let shader = Generator::new(seed, workgroup).generate();
    let want = expected(&shader);
    let program = shader::lower::lower(&shader, &options(lanes, false)).map_err(|e| e.to_string())?;
    shader::bytecode_check::check(&program).map_err(|e| e.to_string())?;
    if std::env::var_os("TUFF_SHOW").is_some() {
        println!("{}{}", common::show::print(&shader), shader::bytecode_print::print(&program));
    }
    compare(&want, &program, seed)?;
    let mut better = shader.clone();
    let program = shader::pass::compile_ir(&mut better, &options(lanes, true)).map_err(|e| e.to_string())?;
    if std::env::var_os("TUFF_SHOW").is_some() {
        println!("{}{}", common::show::print(&better), shader::bytecode_print::print(&program));
    }
    // A better program must be right on its own as well.
    let again =
        std::panic::catch_unwind(|| expected(&better)).map_err(|_| "optimised IR stopped".to_string())?;
    if again != want {
        return Err("optimised IR differs".to_string());
    }
    compare(&want, &program, seed).map_err(|e| format!("optimised: {e}"))?;
    counts(&better, &program, lanes, seed)?;
    marks(shader, &want, lanes, seed)
}

/// Marks every block, after its phis.
fn mark(shader: &mut Shader) {
    for b in 0..shader.blocks.len() {
        let v = Value(shader.values.len() as u32);
        let flags = ValueFlags::default();
        shader.values.push(ValueData { inst: Inst::Mark(b as u32), ty: Ty::Void, flags });
        let phis = shader.blocks[b]
            .insts
            .iter()
            .take_while(|v| matches!(shader.values[v.0 as usize].inst, Inst::Phi(_)))
            .count();
        shader.blocks[b].insts.insert(phis, v);
    }
}

/// Counters that stand for several blocks must give what counting every block gives.
fn counts(shader: &Shader, program: &Program, lanes: u32, seed: u64) -> Result<(), String> {
    let mut marked = shader.clone();
    mark(&mut marked);
    let all = shader::lower::lower(&marked, &options(lanes, false)).map_err(|e| e.to_string())?;
    let sum = |p: &Program| {
        let ran = wave::run_groups(p, GROUPS, seed).2;
        let mut sum = [0u64; 3];
        for (c, n) in p.profile.counters.iter().zip(ran) {
            let c = [c.fma, c.cvt + c.sfu, c.ls];
            (0..3).for_each(|k| sum[k] += n[0] * c[k] as u64);
        }
        sum
    };
    let (few, every) = (sum(program), sum(&all));
    if few != every {
        return Err(format!("counted {few:?} warp-instructions, by block {every:?}"));
    }
    Ok(())
}

/// Marks of the unoptimised program must be passed by as many invocations after all passes.
fn marks(mut shader: Shader, want: &[u8], lanes: u32, seed: u64) -> Result<(), String> {
    mark(&mut shader);
    let mut passed = vec![0; shader.blocks.len()];
    expected_with(&shader, &mut passed);
    let program = shader::pass::compile_ir(&mut shader, &options(lanes, true)).map_err(|e| e.to_string())?;
    let (got, _, tally) = wave::run_groups(&program, GROUPS, seed);
    if got != want {
        return Err("the marked program differs".to_string());
    }
    let mut counted = vec![0; passed.len()];
    for m in program.profile.marks.iter().filter(|m| m.entry) {
        counted[m.mark as usize] += tally[m.counter as usize][1];
    }
    match (0..passed.len()).find(|b| passed[*b] != counted[*b]) {
        Some(b) => Err(format!("block {b}: {} invocations, {} counted", passed[b], counted[b])),
        None => Ok(()),
    }
}

fn compare(want: &[u8], program: &Program, seed: u64) -> Result<(), String> {
    let got = std::panic::catch_unwind(|| wave::run_groups(program, GROUPS, seed).0)
        .map_err(|_| "the wave stopped".to_string())?;
    match (0..want.len()).find(|i| want[*i] != got[*i]) {
        Some(i) => {
            Err(format!("invocation {} differs at byte {}", i as u32 / LANE_BYTES, i as u32 % LANE_BYTES))
        }
        None => Ok(()),
    }
}

/// Runs many programs and tells of the smallest that fails.
fn check_all(first: u64, workgroup: [u32; 3], lanes: u32) {
    let failed = seeds().map(|s| s + first).filter_map(|s| {
        let result = std::panic::catch_unwind(|| check(s, workgroup, lanes));
        result.unwrap_or(Err("panic".to_string())).err().map(|e| (s, e))
    });
    let size = |s: u64| Generator::new(s, workgroup).generate().values.len();
    let failed: Vec<(u64, String)> = failed.collect();
    if let Some((s, e)) = failed.iter().min_by_key(|f| size(f.0)) {
        panic!(
            "{} fail; seed {s} of {} values, workgroup {workgroup:?}, {lanes} lanes: {e}",
            failed.len(),
            size(*s)
        );
    }
}

fn seeds() -> std::ops::Range<u64> {
    let n = std::env::var("TUFF_SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(100);
    let first = std::env::var("TUFF_FIRST_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    first..first + n
}

#[test]
fn one_workgroup_a_wave() {
    check_all(0, [64, 1, 1], 64);
}

#[test]
fn packed_workgroups() {
    check_all(10_000, [20, 1, 1], 128);
}

#[test]
fn several_waves_a_workgroup() {
    check_all(20_000, [10, 10, 1], 64);
}

/// A value that lanes leaving a loop by a uniform jump read, and whose successor was once computed in its place.
#[test]
fn what_failed_before() {
    check(29_730, [10, 10, 1], 64).unwrap_or_else(|e| panic!("{e}"));
}
