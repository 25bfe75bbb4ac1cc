//! `tuff sanitize` on small programs, each with one fault, and on their twins without it.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A shader of the folder `sanitize`, the workgroups that it is dispatched with, the fault's kind, and a part of its message.
const SEEDS: &[(&str, u32, &str, &str)] = &[
    ("sum_tree", 1, "data-race", "one workgroup"),
    ("neighbour", 1, "data-race", "one workgroup"),
    ("reused_tile", 1, "data-race", "read and write"),
    ("prefix_sum", 1, "data-race", "one workgroup"),
    ("lockstep", 1, "data-race", "one workgroup"),
    ("plain_of_atomic", 1, "data-race", "atomic and read"),
    ("transpose", 1, "data-race", "one workgroup"),
    ("cleared_histogram", 1, "data-race", "write and atomic"),
    ("overlapping_vectors", 1, "data-race", "write and write"),
    ("half_barrier", 1, "data-race", "one workgroup"),
    ("blur_in_place", 4, "data-race", "different workgroups"),
    ("counter", 4, "data-race", ""),
    ("same_element", 1, "data-race", "write and write"),
    ("last_workgroup", 8, "data-race", "different workgroups"),
    ("scatter", 2, "data-race", "write and write"),
    ("reverse_in_place", 2, "data-race", "different workgroups"),
    ("one_too_many", 16, "out-of-bounds", "read of 4 bytes"),
    ("no_bound", 17, "out-of-bounds", "write of 4 bytes"),
    ("below_zero", 1, "out-of-bounds", "read of 4 bytes"),
    ("length_inclusive", 1, "out-of-bounds", "read of 4 bytes"),
    ("shared_index", 1, "out-of-bounds", "write of 4 bytes"),
    ("atomic_past_end", 1, "out-of-bounds", "atomic of 4 bytes"),
    ("one_slot", 1, "data-race", "write and write"),
    ("half_written", 1, "uninitialized", "variable that nothing has written is stored"),
    ("sum_from_nothing", 1, "uninitialized", "variable that nothing has written is stored"),
    ("flag_never_cleared", 1, "uninitialized", "variable that nothing has written decides a branch"),
    ("index_of_nothing", 1, "uninitialized", "is an address or an index"),
    ("shared_half", 1, "uninitialized", "workgroup memory that nothing has written is stored"),
    ("array_short", 1, "uninitialized", "variable that nothing has written is stored"),
    ("counter_from_nothing", 1, "uninitialized", "workgroup memory that nothing has written is stored"),
    ("three_of_four", 1, "uninitialized", "variable that nothing has written is stored"),
    ("divided_by_zero", 1, "arithmetic", "division by zero is stored"),
    ("shifted_out", 1, "arithmetic", "shift by at least the operand's width is stored"),
    ("root_of_negative", 1, "arithmetic", "a NaN from operands that are none is stored"),
    ("logarithm_of_zero", 1, "arithmetic", "an infinity from finite operands is stored"),
    ("negative_to_unsigned", 1, "arithmetic", "integer type cannot hold is stored"),
];

fn shader(name: &str, variant: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/sanitize/{name}.{variant}.spv"))
}

/// Runs a shader; whether `--fail` let it pass, and the findings.
fn sanitize(name: &str, variant: &str, groups: u32, settings: &[(&str, &str)]) -> (bool, Value) {
    let tuff = Path::new(env!("CARGO_BIN_EXE_tuff"));
    let program = tuff.with_file_name("examples").join("dispatch");
    assert!(program.exists(), "{} is not built: cargo build -p tuff --examples", program.display());
    let folder = temporary::folder("tuff-").unwrap();
    let json = folder.path().join("findings.json");
    let mut command = Command::new(tuff);
    command.args(["sanitize", "--fail", "--json"]).arg(&json).arg("--").arg(program);
    command.arg(shader(name, variant)).arg(groups.to_string()).envs(settings.iter().copied());
    let done = command.output().unwrap();
    let text = std::fs::read_to_string(&json);
    let text = text.unwrap_or_else(|e| panic!("{name}: {e}: {}", String::from_utf8_lossy(&done.stderr)));
    (done.status.success(), serde_json::from_str(&text).unwrap())
}

/// The line of the source that has this text first.
fn line(name: &str, text: &str) -> u64 {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/sanitize/{name}.comp"));
    let source = std::fs::read_to_string(source).unwrap();
    1 + source.lines().position(|l| l.contains(text)).unwrap() as u64
}

#[test]
fn each_fault_is_found_and_its_twin_is_silent() {
    let mut wrong = vec![];
    for &(name, groups, kind, part) in SEEDS {
        let (passed, found) = sanitize(name, "fault", groups, &[]);
        let all = found["findings"].as_array().unwrap();
        let fits = |f: &Value| f["kind"] == kind && f["message"].as_str().unwrap().contains(part);
        if passed || !all.iter().any(fits) || all.iter().any(|f| f["kind"] != kind) {
            wrong.push(format!("{name}: {kind} {part:?} expected, found {all:#?}"));
        }
        let (passed, found) = sanitize(name, "twin", groups, &[]);
        if !passed || found["findings"] != Value::Array(vec![]) || found["accesses"] == 0 {
            wrong.push(format!("{name}'s twin: {found:#}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_race_names_both_lines() {
    let (_, found) = sanitize("neighbour", "fault", 1, &[]);
    let finding = &found["findings"][0];
    let of = |place: &Value| place["line"].as_u64().unwrap();
    assert_eq!(of(&finding["here"]), line("neighbour", "b[i] ="), "{finding:#}");
    assert_eq!(of(&finding["there"]), line("neighbour", "s[i] ="), "{finding:#}");
    assert!(finding["here"]["file"].as_str().unwrap().ends_with("neighbour.comp"));
    assert_eq!(finding["memory"]["space"], "shared");
}

#[test]
fn findings_are_the_same_everywhere() {
    for (name, groups) in [("reused_tile", 1), ("blur_in_place", 4), ("one_too_many", 16)] {
        let (_, first) = sanitize(name, "fault", groups, &[]);
        for settings in [
            [("TUFF_SIMD", "portable"), ("TUFF_JIT", "0")],
            [("TUFF_SIMD", "avx2"), ("TUFF_JIT", "always")],
            [("TUFF_THREADS", "1"), ("TUFF_JIT", "1")],
            [("TUFF_THREADS", "16"), ("TUFF_JIT", "1")],
        ] {
            let (_, again) = sanitize(name, "fault", groups, &settings);
            assert_eq!(first, again, "{name} {settings:?}");
        }
    }
}
