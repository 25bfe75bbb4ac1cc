//! `cargo xtask aarch64`: that everything compiles for the other machine that Tuff is made for, and that its kernels have the
//! same bits there: tests of crates below the driver, on the portable level, by QEMU's emulation of programs.

use crate::cargo::{call, cargo};
use crate::needs::{Need, has_program, provide};
use std::path::Path;
use std::process::Command;

#[derive(clap::Args)]
pub struct Args {
    /// Compile and test only these crates.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

const TARGET: &str = "aarch64-unknown-linux-gnu";
/// Where Debian puts the C library of that machine.
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";

const NEEDS: [Need; 3] = [
    Need { what: "aarch64-linux-gnu-gcc", package: "gcc-aarch64-linux-gnu", here: has_program },
    Need {
        what: "its C library",
        package: "libc6-dev-arm64-cross",
        here: |_| Path::new(LIBRARIES).join("lib/libc.so.6").exists(),
    },
    Need { what: "qemu-aarch64", package: "qemu-user", here: has_program },
];

/// Crates whose tests need no driver, no loader and no program of the system.
const CRATES: [&str; 9] =
    ["simd", "wave", "shader", "texel", "raster", "machine", "counters", "settings", "tuff-channel"];

pub fn run(args: &Args) -> Result<(), String> {
    provide("tests for aarch64", &NEEDS)?;
    let mut target = Command::new("rustup");
    target.args(["target", "add", TARGET]);
    call(target)?;
    let ours = |words: &[&str]| {
        let mut command = cargo(words);
        command
            .args(["--target", TARGET])
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", format!("qemu-aarch64 -L {LIBRARIES}"));
        command
    };
    if args.only.is_empty() {
        call(ours(&["check", "--workspace", "--all-targets"]))?;
    }
    let mut tests = ours(&["test", "--no-fail-fast", "--lib", "--tests"]);
    for name in CRATES.iter().filter(|c| args.only.is_empty() || args.only.iter().any(|o| o == *c)) {
        tests.args(["-p", name]);
    }
    call(tests)
}
