//! What programs cost, as `tuff run --counters` has the driver write it: the same file, byte for byte, from every run,
//! on every SIMD level and thread count.

#[allow(dead_code, reason = "other tests use the rest")]
mod common;

use client::drivers::Threads;
use std::process::Command;

/// The file of a run of `program` on the cases named.
fn counters(program: &str, names: &[&str], level: &str, threads: usize) -> String {
    let name = std::path::Path::new(program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file =
        std::env::temp_dir().join(format!("tuff-{name}-{level}-{threads}-{}.json", std::process::id()));
    let mut child = Command::new(program);
    common::driver().prepare(&mut child, Threads::Count(threads));
    let output = child.args(names).env("TUFF_SIMD", level).env("TUFF_COUNTERS", &file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let _ = std::fs::remove_file(&file);
    text
}

fn same_everywhere(program: &str, names: &[&str], must: &[&str]) {
    let first = counters(program, names, "portable", 1);
    for name in must {
        let total = first.lines().find(|l| l.contains("\"total\"")).unwrap_or_default();
        let at = total.find(&format!("\"{name}\": ")).unwrap_or_else(|| panic!("no {name}"));
        let value = &total[at + name.len() + 4..];
        assert!(!value.starts_with("0,"), "{name} is 0");
    }
    for level in common::levels() {
        for threads in [1, 2, 2] {
            let again = counters(program, names, level, threads);
            let differs = first.lines().zip(again.lines()).find(|(a, b)| a != b);
            assert!(first == again, "{level}, {threads} threads: {differs:?}");
        }
    }
}

#[test]
fn dispatches_cost_the_same_on_every_run() {
    // Its invocations try again when another thread's came between: how often is nobody's to say.
    let racing = "atomics";
    let cases = conformance::cases();
    let names: Vec<_> = cases.iter().map(|c| c.name).filter(|n| *n != racing).collect();
    let must = ["TuffFmaInstr", "TuffComputeWarps", "MaliGPUActiveCy"];
    same_everywhere(env!("CARGO_BIN_EXE_compute-child"), &names, &must);
}

#[test]
fn pictures_cost_the_same_on_every_run() {
    let must = ["MaliFragWarp", "TuffQuadsShaded", "MaliMainQueueTask"];
    same_everywhere(env!("CARGO_BIN_EXE_scene-child"), &[], &must);
}
