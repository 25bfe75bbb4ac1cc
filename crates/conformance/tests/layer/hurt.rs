//! Programs that are hard on a layer, in every mode of it.

use super::run::{Run, tuff};
use super::text;
use client::drivers::LAYER;
use serde_json::Value;

/// Time alone, and both sources of counters.
const MODES: [&[(&str, &str)]; 3] =
    [&[], &[("mode", "counters"), ("source", "channel")], &[("mode", "counters"), ("source", "query")]];

/// What the layer writes of a program, in each mode.
fn each(program: &str, variables: &[(&str, &str)], check: impl Fn(&[Value])) {
    let driver = tuff();
    for settings in MODES {
        let mut run = Run { settings, variables, ..Run::new(&driver, program) };
        // To the validation layers what a lost device was doing is in use for ever; and many take them a minute.
        run.layers.retain(|l| !["lost", "many"].contains(&program) || *l == LAYER);
        let json = run.json(super::run::CHILD).unwrap();
        check(json["workloads"].as_array().unwrap());
    }
}

#[test]
fn ten_thousand_command_buffers() {
    each("many", &[], |rows| {
        assert_eq!(rows.len(), 10_000);
        assert!(rows.iter().all(|r| r["elapsed_ns"].is_number()));
    });
}

#[test]
fn odd_orders() {
    each("odd", &[], |rows| {
        let got: Vec<_> = rows.iter().map(|r| (text(r, "name"), text(r, "labels"))).collect();
        assert_eq!(got, [("vkCmdDispatch 2x1x1", "open")]);
    });
}

/// The child of a fork has the parent's rows, and must not write them too.
#[test]
fn a_fork_writes_nothing() {
    each("forked", &[], |rows| {
        let got: Vec<_> = rows.iter().map(|r| text(r, "name")).collect();
        assert_eq!(got, ["vkCmdFillBuffer 256 bytes", "vkCmdFillBuffer 512 bytes"]);
    });
}

#[test]
fn what_a_lost_device_did_not_finish_is_listed() {
    each("lost", &[("TUFF_WATCHDOG_MS", "300")], |rows| {
        let got: Vec<_> =
            rows.iter().map(|r| (r["elapsed_ns"].is_number(), text(r, "not_measured"))).collect();
        assert_eq!(got, [(true, ""), (false, "the device was lost")], "{rows:?}");
    });
}
