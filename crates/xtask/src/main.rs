//! The project's own tasks: `cargo xtask <task>`. One module per task.

#[macro_use]
extern crate say;

mod aarch64;
mod arm_layers;
mod avx512;
mod cargo;
mod cases;
mod clients;
mod codegen;
mod demo;
mod dependencies;
mod dist;
mod docs;
mod five_ways;
mod fresh;
mod needs;
mod pages;
mod picture;
mod piglit;
mod programs;
mod same;
mod samples;
mod sanitize;
mod shaders;
mod test;
mod windows;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "xtask", about = "Tuff's own tasks")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build the driver for Windows, and run the conformance programs under Wine.
    Windows(windows::Args),
    /// Compile everything for aarch64, and run the tests of the crates below the driver under QEMU.
    Aarch64(aarch64::Args),
    /// Build Arm's libGPULayers outside the checkout, run its layers on Tuff, and compare their values with the channel's.
    ArmLayers(arm_layers::Args),
    /// Run the kernels' tests and the conformance scenes on the AVX-512 kernels, in an emulator.
    Avx512(avx512::Args),
    /// Compile and run small third-party programs that once exposed a bug.
    Cases(cases::Args),
    /// Install real programs (if possible) and run them on Tuff and lavapipe, side by side.
    Clients(clients::Args),
    /// Write the generated files (or, with --check, compare them with a fresh run).
    Codegen(codegen::Args),
    /// Build the driver, run `tuff demo` on it, and print the measurements.
    Demo(demo::Args),
    /// Make a .tar.gz and a .deb with driver, layer, libraries and `tuff`; --check builds twice and compares bytes, --try
    /// installs them in a bare Debian 12.
    Dist(dist::Args),
    /// Run the commands in README.md and docs/*.md, except those that the pages mark as not run.
    Docs(docs::Args),
    /// Measure one scene through every counter interface, and compare; with Arm's layer, write the table in
    /// docs/counters.md.
    FiveWays(five_ways::Args),
    /// Run the README's commands in a new chroot with a bare Debian 12 and a Rust toolchain; needs root.
    Fresh(fresh::Args),
    /// Install programs that ignore software drivers, and run them on Tuff; with --suites, run third-party test suites.
    Programs(programs::Args),
    /// Run a fixed sample of piglit's tests on Mesa's zink on Tuff and lavapipe; list the tests that pass only on lavapipe.
    Piglit(piglit::Args),
    /// Show a WebGL 2 and a WebGPU page in Debian's Chromium on Tuff and on SwiftShader, and compare the pictures.
    Pages(pages::Args),
    /// Build Sascha Willems' examples outside the checkout, draw them on Tuff and its peers, and compare the pictures.
    Samples(samples::Args),
    /// Run the tests, the conformance suite and cases of the CTS on a driver built with the address or the thread
    /// sanitizer.
    Sanitize(sanitize::Args),
    /// Compile every .spv file from its source (or, with --check, compare them).
    Shaders(shaders::Args),
    /// Install what the tests need (if possible) and run all tests.
    Test,
}

fn main() -> ExitCode {
    let result = match Cli::parse().task {
        Task::Aarch64(args) => aarch64::run(&args),
        Task::Windows(args) => windows::run(&args),
        Task::ArmLayers(args) => arm_layers::run(&args),
        Task::Avx512(args) => avx512::run(&args),
        Task::Cases(args) => cases::run(&args),
        Task::Clients(args) => clients::run(&args),
        Task::Codegen(args) => codegen::run(&args),
        Task::Demo(args) => demo::run(&args),
        Task::Dist(args) => dist::run(&args),
        Task::Docs(args) => docs::run(&args),
        Task::FiveWays(args) => five_ways::run(&args),
        Task::Fresh(args) => fresh::run(&args),
        Task::Piglit(args) => piglit::run(&args),
        Task::Programs(args) => programs::run(&args),
        Task::Pages(args) => pages::run(&args),
        Task::Samples(args) => samples::run(&args),
        Task::Sanitize(args) => sanitize::run(&args),
        Task::Shaders(args) => shaders::run(&args),
        Task::Test => test::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
