//! Descriptor buffers on Tuff, on every SIMD level, and those for others on lavapipe.

use crate::common::peers::{Need, peer};
use client::drivers::{Driver, Threads};
use conformance::descriptor_buffers::{CASES, EXTENSIONS};
use std::process::Command;

fn check(driver: &Driver, own: bool, level: &str, threads: usize) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_descriptor-buffers-child"));
    driver.prepare(&mut child, Threads::Count(threads));
    child.env("TUFF_SIMD", level).args(own.then_some("--own"));
    let output = child.output().expect("the child starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let good: Vec<_> = text.lines().filter_map(|l| Some(l.split_once(' ')?.0)).collect();
    let want: Vec<_> = CASES.iter().filter(|c| own || !c.own).map(|c| c.name).collect();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && good == want, "{}, {level}: {text}\n{errors}", driver.name);
}

#[test]
fn on_tuff() {
    for level in crate::common::levels() {
        check(&crate::common::driver(), true, level, 2);
    }
}

/// The expectations are not ours alone.
#[test]
fn on_lavapipe() {
    let needs = EXTENSIONS.map(|e| Need::Extension(e.to_str().expect("ASCII")));
    if let Some(lavapipe) = peer("conformance::descriptor_buffers::on_lavapipe", "lavapipe", &needs) {
        check(&lavapipe, false, "portable", 2);
    }
}
