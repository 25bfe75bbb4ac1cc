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
mod samples;
mod sanitize;
mod shaders;
mod test;

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
    /// Compile everything for aarch64, and run tests of the crates below the driver in QEMU's emulation of it.
    Aarch64(aarch64::Args),
    /// Build Arm's libGPULayers outside the checkout, run its layers on Tuff and compare what they say with the channel.
    ArmLayers(arm_layers::Args),
    /// Run the kernels' tests and the conformance scenes on the AVX-512 kernels, in an emulated machine that has them.
    Avx512(avx512::Args),
    /// Compile and run small programs of others that showed a fault once.
    Cases(cases::Args),
    /// Install real programs (where that is possible) and run them on Tuff and lavapipe, side by side.
    Clients(clients::Args),
    /// Write the generated files (or, with --check, compare them with a fresh run).
    Codegen(codegen::Args),
    /// Build the driver, run the main job on it, print and draw what it measured.
    Demo(demo::Args),
    /// Make a tar.gz and a .deb of driver, layer, libraries and `tuff`; with --check the same bytes twice, with --try in a
    /// bare Debian 12.
    Dist(dist::Args),
    /// Run the commands of README.md and docs/*.md; what is slow or not run is marked there.
    Docs(docs::Args),
    /// Measure one scene by every interface that counters have, and compare; with Arm's layer, write the table of
    /// docs/counters.md.
    FiveWays(five_ways::Args),
    /// Run the README's commands in a bare Debian 12 with a Rust toolchain, made for it in a chroot; needs root.
    Fresh(fresh::Args),
    /// Install programs that hide a software driver, and run them on Tuff; or, with --suites, test suites of others.
    Programs(programs::Args),
    /// Run a fixed sample of piglit's tests on Mesa's zink above Tuff and lavapipe; tell what passes on lavapipe alone.
    Piglit(piglit::Args),
    /// Show a WebGL 2 and a WebGPU page in Debian's Chromium on Tuff and on SwiftShader, and compare the pictures.
    Pages(pages::Args),
    /// Build Sascha Willems' examples outside the checkout, draw them on Tuff and its peers, and compare the pictures.
    Samples(samples::Args),
    /// Run the tests, the conformance suite and cases of the CTS on a driver built with the address or the thread
    /// sanitizer.
    Sanitize(sanitize::Args),
    /// Make every .spv file of its source (or, with --check, compare them).
    Shaders(shaders::Args),
    /// Install what the tests need (where that is possible) and run all of them.
    Test,
}

fn main() -> ExitCode {
    let result = match Cli::parse().task {
        Task::Aarch64(args) => aarch64::run(&args),
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
