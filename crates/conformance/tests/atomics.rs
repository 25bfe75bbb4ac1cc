//! Blocks counted by atomics: on Tuff and on lavapipe as often as the source says that they run.

use crate::common::peers::{Need, peer};
use client::drivers::{Driver, Threads};
use std::process::Command;

fn check(driver: &Driver) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_atomics-child"));
    driver.prepare(&mut child, Threads::Count(2));
    let output = child.output().expect("the child starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let want = format!("{0:?}\n{0:?}\n", conformance::trips::counts());
    assert_eq!(text, want, "{}: {}", driver.name, String::from_utf8_lossy(&output.stderr));
}

#[test]
fn counts_on_tuff_are_the_sources() {
    let counts = conformance::trips::counts();
    // By hand: 1024 invocations enter, and every one of them calls `twist` at least once.
    assert_eq!((counts[0], counts[7]), (1024, 1024));
    assert_eq!(counts[8], 1024 + counts[6]);
    check(&crate::common::driver());
}

#[test]
fn counts_on_lavapipe_are_the_sources() {
    let needs = [Need::Vulkan(1, 3), Need::Extension("VK_KHR_shader_atomic_int64")];
    let test = "conformance::atomics::counts_on_lavapipe_are_the_sources";
    if let Some(lavapipe) = peer(test, "lavapipe", &needs) {
        check(&lavapipe);
    }
}
