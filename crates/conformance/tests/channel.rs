//! The driver's own channel through the loader: records, totals, marks and readers, with values worked out by hand or
//! read from VK_KHR_performance_query; the same on every SIMD level and thread count. Reading changes nothing.

use crate::common::Way;
use client::drivers::Threads;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const CHILD: &str = env!("CARGO_BIN_EXE_channel-child");

fn run(way: Way) -> Result<BTreeMap<String, String>, String> {
    let names: Vec<_> = conformance::channel::checks().iter().map(|c| c.name).collect();
    crate::common::run(CHILD, &names, way, false)
}

#[test]
fn what_readers_are_told_is_the_same_on_every_level_and_thread_count() {
    crate::common::same_everywhere(None, &[1, 2], run);
}

fn file(name: &str) -> PathBuf {
    client::scratch(&format!("channel-{name}")).expect("a temporary folder")
}

/// What a program of `arguments` prints.
fn printed(arguments: &[&str], threads: usize, counters: Option<&Path>) -> String {
    let mut child = Command::new(CHILD);
    crate::common::driver().prepare(&mut child, Threads::Count(threads));
    child.args(arguments).env_remove("TUFF_COUNTERS");
    if let Some(file) = counters {
        child.env("TUFF_COUNTERS", file);
    }
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Timestamps, queries and results that a program sees, and the file of `tuff run --counters`.
#[test]
fn reading_changes_nothing() {
    let steady = |readers: &str, threads| {
        let counters = file(&format!("{readers}-{threads}.json"));
        let seen = printed(&["--steady", readers], threads, Some(&counters));
        let text = std::fs::read_to_string(&counters).unwrap();
        let _ = std::fs::remove_file(&counters);
        (seen, text)
    };
    let alone = steady("0", 1);
    assert!(alone.1.contains("\"render pass\"") && alone.1.contains("main 40x1x1"), "{}", alone.1);
    assert!(!alone.1.contains("tuff.mark"), "marks are no workloads");
    for (readers, threads) in [("0", 2), ("1", 1), ("4", 1), ("4", 2)] {
        let again = steady(readers, threads);
        assert!(alone.0 == again.0, "{readers} readers: the program sees {} not {}", again.0, alone.0);
        assert!(alone.1 == again.1, "{readers} readers: another file");
    }
    // The ledger is the channel's reader too: without it the program sees the same.
    assert_eq!(printed(&["--steady", "0"], 1, None), alone.0);
    assert_eq!(printed(&["--steady", "2"], 1, None), alone.0);
}

/// The C of docs/channel.md compiles without a warning, and prints what a program does.
#[test]
fn the_example_of_the_documentation() {
    if !not_run::has_program("cc") {
        return not_run::say("the example of docs/channel.md", "cc (Debian's gcc)");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/channel.md")).unwrap();
    let code = page.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let (source, library) = (file("example.c"), file("example.so"));
    std::fs::write(&source, code).unwrap();
    let output = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-o"])
        .arg(&library)
        .arg("-I")
        .arg(root.join("include"))
        .arg(&source)
        .args(["-ldl"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = printed(&["--example", library.to_str().unwrap()], 1, None);
    let _ = (std::fs::remove_file(&source), std::fs::remove_file(&library));
    let lines: Vec<&str> = text.lines().collect();
    let heads: Vec<&str> = lines.iter().copied().filter(|l| !l.starts_with(' ')).collect();
    assert_eq!(heads.len(), 2, "{text}");
    assert!(heads[0].starts_with("compute: main 3x1x1, ") && heads[0].ends_with(" ns"), "{text}");
    assert!(heads[1].starts_with(": 64x64x1 of 1 attachments, "), "{text}");
    // A warp each, of eight multiply–adds.
    for line in ["    TuffComputeWarps: 3", "    TuffComputeFmaInstr: 24", "    TuffInputPrimitives: 1"] {
        assert!(lines.contains(&line), "{line}:\n{text}");
    }
}
