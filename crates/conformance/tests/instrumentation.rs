//! VK_ARM_shader_instrumentation: every rule, and counts worked out from the shaders' sources; the same values on every
//! SIMD level and thread count.

#[allow(dead_code)]
mod common;

use std::collections::BTreeMap;

fn run(level: &str, threads: usize, without_loader: bool) -> Result<BTreeMap<String, String>, String> {
    let names: Vec<_> = conformance::instrumentation::checks().iter().map(|c| c.name).collect();
    common::run(env!("CARGO_BIN_EXE_instrumentation-child"), &names, level, threads, without_loader)
}

#[test]
fn rules_and_counts_hold_alike_on_every_level_and_thread_count() {
    let reference = run("portable", 1, false).unwrap_or_else(|e| panic!("{e}"));
    let mut wrong = Vec::new();
    for level in common::levels() {
        for threads in [1, 2, 5] {
            match run(level, threads, false) {
                Ok(hashes) => {
                    wrong.extend(hashes.iter().filter(|(name, hash)| reference[*name] != **hash).map(
                        |(name, _)| format!("{name} has other values with {level} on {threads} threads"),
                    ))
                }
                Err(e) => wrong.push(e),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
