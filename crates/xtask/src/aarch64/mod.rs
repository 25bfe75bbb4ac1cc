//! `cargo xtask aarch64`: that Tuff is the same on AArch64. Everything is compiled for it; tests of the crates below the driver run
//! under QEMU's emulation of programs, on both SIMD levels; then the driver does, by Debian's own loader for that machine ([`driver`]).
//! `--instructions` counts instructions beside lavapipe's ([`instructions`]).

mod driver;
mod instructions;
mod system;

use crate::cargo::{call, cargo};
use crate::needs::{Need, has_program, provide};
use std::path::Path;
use std::process::Command;

#[derive(clap::Args)]
pub struct Args {
    /// Compile and test only these: crates, or `driver`.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Run the programs on the driver on both SIMD levels, with one thread and with two: hours.
    #[arg(long)]
    all: bool,
    /// Count instructions of benchmarks beside lavapipe's instead: these kernels and pictures of `benches`, or `usual`.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    instructions: Vec<String>,
}

/// Another machine than this one: programs for it are built here, and run here under QEMU.
pub struct Foreign {
    /// Rust's name of it.
    pub triple: &'static str,
    /// As in `std::env::consts::ARCH`.
    pub machine: &'static str,
}

pub const AARCH64: Foreign = Foreign { triple: "aarch64-unknown-linux-gnu", machine: "aarch64" };

/// The CPU that QEMU emulates: one of the first of 64 bits, so that nothing beyond the architecture's baseline is needed.
const CPU: &str = "cortex-a72";

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

impl Foreign {
    pub fn named(triple: &str) -> Result<Foreign, String> {
        match triple == AARCH64.triple {
            true => Ok(AARCH64),
            false => Err(format!("{triple}: the other machine is {}", AARCH64.triple)),
        }
    }

    /// What building and running for it takes.
    pub fn provide(&self, whom: &str) -> Result<(), String> {
        provide(&format!("{whom} for {}", self.machine), &NEEDS)?;
        let mut target = Command::new("rustup");
        target.args(["target", "add", self.triple]);
        call(target)
    }

    /// Tells cargo how to link and run what it builds for this machine.
    pub fn prepare(&self, command: &mut Command) {
        command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc").env(
            "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
            format!("qemu-aarch64 -cpu {CPU} -L {LIBRARIES}"),
        );
    }

    /// A command that runs a program of this machine, which needs no more than the C library.
    pub fn run(&self, program: &Path) -> Command {
        let mut command = Command::new("qemu-aarch64");
        command.args(["-cpu", CPU, "-L", LIBRARIES]).arg(program);
        command
    }

    fn cargo(&self, words: &[&str]) -> Command {
        let mut command = cargo(words);
        self.prepare(command.args(["--target", self.triple]));
        command
    }
}

/// Crates whose tests need no driver, no loader and no program of the system.
const CRATES: [&str; 9] =
    ["simd", "wave", "shader", "texel", "raster", "machine", "counters", "settings", "tuff-channel"];

pub fn run(args: &Args) -> Result<(), String> {
    AARCH64.provide("tests")?;
    if !args.instructions.is_empty() {
        return instructions::run(&args.instructions);
    }
    if args.only.is_empty() {
        call(AARCH64.cargo(&["check", "--workspace", "--all-targets"]))?;
    }
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|o| o == name);
    let crates: Vec<&str> = CRATES.into_iter().filter(|c| wanted(c)).collect();
    if !crates.is_empty() {
        let mut tests = AARCH64.cargo(&["test", "--no-fail-fast", "--lib", "--tests"]);
        tests.args(crates.iter().flat_map(|name| ["-p", name]));
        call(tests)?;
    }
    if wanted("driver") { driver::run(args.all) } else { Ok(()) }
}
