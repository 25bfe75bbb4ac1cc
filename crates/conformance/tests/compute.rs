//! Every case on Tuff: the right answers, and the same bits on every SIMD level and thread count.
//!
//! `CONFORMANCE_ICD` names another driver's ICD file, to see what that makes of the cases; SIMD levels then mean
//! nothing.

use client::drivers::{Driver, Threads, library_of, name_of, tuff_icd};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

fn driver() -> Driver {
    let icd = std::env::var_os("CONFORMANCE_ICD").map_or_else(tuff_icd, PathBuf::from);
    let library = library_of(&icd).unwrap();
    // A bare file name is for the dynamic loader to find.
    let built = library.exists() || library.components().count() == 1;
    assert!(built, "{} is not built: cargo build --release -p icd", library.display());
    Driver { name: name_of(&icd), icd }
}

fn levels() -> Vec<&'static str> {
    let mut list = vec!["portable"];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            list.push("avx2");
        }
        if is_x86_feature_detected!("avx512f") {
            list.push("avx512");
        }
    }
    list
}

/// Hashes by case, of one child.
fn run(level: &str, threads: usize, without_loader: bool) -> Result<BTreeMap<String, String>, String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_compute-child"));
    driver().prepare(&mut child, Threads::Count(threads));
    child.env("TUFF_SIMD", level);
    if without_loader {
        child.env("TUFF_NO_LOADER", "1");
    }
    let output = child.output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let wrong: Vec<_> = text.lines().filter(|l| l.starts_with("WRONG")).collect();
    if !output.status.success() || !wrong.is_empty() {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{level}, {threads} threads: {}\n{}\n{errors}", output.status, wrong.join("\n")));
    }
    let hashes: BTreeMap<String, String> =
        text.lines().filter_map(|l| l.split_once(' ')).map(|(n, h)| (n.into(), h.into())).collect();
    let missing: Vec<_> =
        conformance::cases().iter().map(|c| c.name).filter(|n| !hashes.contains_key(*n)).collect();
    if missing.is_empty() { Ok(hashes) } else { Err(format!("no result of {}", missing.join(", "))) }
}

#[test]
fn right_answers_and_the_same_bits_on_every_level_and_thread_count() {
    let reference = run("portable", 1, false).unwrap_or_else(|e| panic!("{e}"));
    let mut wrong = Vec::new();
    for level in levels() {
        for threads in [1, 2, 5] {
            match run(level, threads, false) {
                Ok(hashes) => wrong.extend(
                    hashes
                        .iter()
                        .filter(|(name, hash)| reference[*name] != **hash)
                        .map(|(name, _)| format!("{name} has other bits with {level} on {threads} threads")),
                ),
                Err(e) => wrong.push(e),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_driver_works_without_a_loader() {
    let with = run("portable", 2, false).unwrap_or_else(|e| panic!("{e}"));
    let without = run("portable", 2, true).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(with, without);
}
