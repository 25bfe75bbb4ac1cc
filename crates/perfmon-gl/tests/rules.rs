//! The extension's rules (examples/perfmon_rules.rs, a row each), and its values against the driver's own ledger.

#[allow(dead_code, reason = "other tests use the rest")]
mod common;

use common::{command, example, has_zink, printed};
use counters::catalogue;

#[test]
fn every_rule_and_error_of_the_text() {
    if !has_zink("GL_AMD_performance_monitor's rules") {
        return;
    }
    for dialect in ["gl", "es"] {
        let text = printed(command(example("perfmon_rules")).arg(dialect));
        let rows = text.lines().filter(|l| l.ends_with(": ok")).count();
        assert!(rows >= 50 && rows == text.lines().count(), "{dialect}: {text}");
    }
}

#[test]
fn the_samples_frame_prints_its_counters() {
    if !has_zink("GL_AMD_performance_monitor's sample") {
        return;
    }
    has_the_frames_values(&printed(&mut command(example("perfmon_frame"))));
}

/// zink of Mesa 25 does not submit a command buffer that has a mark and no work (`apitrace --pframes` waited for ever).
#[test]
fn a_mark_is_never_alone_in_its_batch() {
    if !has_zink("GL_AMD_performance_monitor: marks of batches without work") {
        return;
    }
    let mut command = command(example("perfmon_frame"));
    let mut libraries = common::library().into_os_string();
    libraries.push(":");
    libraries.push(example("libperfmon_dropped_batches.so"));
    has_the_frames_values(&printed(command.env("LD_PRELOAD", libraries)));
}

fn has_the_frames_values(text: &str) {
    let value = |name: &str| -> f64 {
        let line = text.lines().find(|l| l.starts_with(name)).unwrap_or_else(|| panic!("{name}: {text}"));
        line[name.len()..].trim().parse().unwrap_or_else(|e| panic!("{line}: {e}"))
    };
    assert_eq!(value("Visible primitives"), 1.0);
    assert!(value("GPU active cycles") > 0.0 && value("GPU time") > 0.0);
    assert!((1.0..=100.0).contains(&value("Main phase queue utilization")), "{text}");
    // Half of 256 × 256 pixels, 16 a warp, and those on the edge.
    assert!((2048.0..2200.0).contains(&value("Fragment warps")), "{text}");
}

#[test]
fn what_is_hard_on_the_library_ends() {
    if !has_zink("GL_AMD_performance_monitor: threads, a fork, sessions that are left") {
        return;
    }
    let mut command = command(example("perfmon_hurt"));
    let text = printed(&mut command);
    assert!(text.ends_with("ok\n"), "{text}");
}

/// A session around a frame has what the ledger has of its one render pass: each counter of the catalogue.
#[test]
fn values_are_the_ledgers() {
    if !has_zink("GL_AMD_performance_monitor's values") {
        return;
    }
    for dialect in ["gl", "es"] {
        let mut seen = 0;
        for chunk in 0.. {
            let file = client::scratch(&format!("{dialect}-{chunk}")).expect("a temporary folder");
            let text = printed(
                command(example("perfmon_frame"))
                    .args([dialect, &chunk.to_string()])
                    .env("TUFF_COUNTERS", &file),
            );
            let ledger = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            let _ = std::fs::remove_file(&file);
            if text.is_empty() {
                break;
            }
            let ledger: serde_json::Value = serde_json::from_str(&ledger).expect("JSON");
            let passes: Vec<_> = ledger["workloads"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|w| w["kind"] == "render pass")
                .collect();
            assert!(passes.len() == 1 && passes[0]["times"] == 1, "one pass: {passes:?}");
            for line in text.lines() {
                let [_, id, value, name] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
                let counter = id.parse().ok().and_then(catalogue::by_id).unwrap_or_else(|| panic!("{line}"));
                let expected = passes[0]["counters"][counter.machine].as_f64();
                // It leaves out what a workload has none of.
                let expected = expected.unwrap_or(0.0);
                let value: f64 = value.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
                // Percentages and ratios are GL's floats, the former of 0 to 100.
                let expected = if counter.unit == "percent" { expected.clamp(0.0, 100.0) } else { expected };
                let same = match counter.storage {
                    catalogue::Storage::Uint64 => value == expected,
                    catalogue::Storage::Float64 => value as f32 == expected as f32,
                };
                assert!(same, "{name}: {value}, the ledger has {expected}");
                seen += 1;
            }
        }
        assert_eq!(seen, catalogue::reported().len(), "each counter once");
    }
}
