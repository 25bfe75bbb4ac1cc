//! `tuff`: what the driver is, and programs run on it.

mod annotate;
mod city;
mod demo;
mod diff;
mod gl;
mod info;
mod instrument;
mod picture;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "tuff", version, about = "A GPU in software")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Draw a city and march a ball; write the pictures, print what was measured.
    Demo(demo::Args),
    /// What the driver reports, in short.
    Info,
    /// Run a program on Tuff: sets VK_DRIVER_FILES and VK_ICD_FILENAMES for it.
    Run {
        /// Write what every workload cost to this file (JSON, the same on every run).
        #[arg(long)]
        counters: Option<std::path::PathBuf>,
        /// Instrument every shader, and leave here what each basic block cost: pairs of `.spv` and `.json` files for
        /// `tuff annotate`.
        #[arg(long)]
        shaders: Option<std::path::PathBuf>,
        /// The program and its arguments.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        program: Vec<String>,
    },
    /// Run an OpenGL program on Tuff, through Mesa's zink, with GL_AMD_performance_monitor.
    Gl {
        /// Write what every workload cost to this file (JSON, the same on every run).
        #[arg(long)]
        counters: Option<std::path::PathBuf>,
        /// The program and its arguments.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        program: Vec<String>,
    },
    /// Compare two files of `run --counters`; fails when something got dearer than allowed.
    Diff(diff::Args),
    /// Mark every basic block of a SPIR-V module: with marks that Tuff counts, or with atomics for any driver.
    Instrument(instrument::Args),
    /// Print a module's SPIR-V, and its source where it has lines, with what each basic block cost.
    Annotate(annotate::Args),
    /// Answer a parent's requests with the one driver that the environment shows.
    #[command(hide = true)]
    Child,
}

fn main() -> ExitCode {
    let result = match Cli::parse().task {
        Task::Child => {
            let mut memory = city::Memory::default();
            return client::session::serve_with(|context, ask| memory.answer(context, ask));
        }
        Task::Demo(args) => demo::run(&args),
        Task::Info => info::run(),
        Task::Instrument(args) => instrument::run(&args),
        Task::Annotate(args) => annotate::run(&args),
        Task::Diff(args) => diff::run(&args),
        Task::Run { program, counters, shaders } => {
            run(&program, &[("TUFF_COUNTERS", counters), ("TUFF_INSTRUMENT", shaders)], vec![])
        }
        Task::Gl { program, counters } => {
            gl::environment().and_then(|more| run(&program, &[("TUFF_COUNTERS", counters)], more))
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("tuff: {e}");
            ExitCode::FAILURE
        }
    }
}

/// Becomes the program; returns only if that is impossible.
fn run(
    program: &[String],
    paths: &[(&str, Option<std::path::PathBuf>)],
    more: Vec<(&'static str, std::ffi::OsString)>,
) -> client::Result<()> {
    use std::os::unix::process::CommandExt;
    let icd = client::drivers::tuff_icd();
    let library = client::drivers::library_of(&icd)?;
    if !library.exists() {
        let line = format!("{} is not built: cargo build --release -p icd", library.display());
        return Err(client::Error(line));
    }
    let mut command = std::process::Command::new(&program[0]);
    command.args(&program[1..]).env("VK_DRIVER_FILES", &icd).env("VK_ICD_FILENAMES", &icd).envs(more);
    for (variable, path) in paths {
        let Some(path) = path else { continue };
        // The program may change its directory.
        let path =
            std::path::absolute(path).map_err(|e| client::Error(format!("{}: {e}", path.display())))?;
        command.env(variable, path);
    }
    let error = command.exec();
    Err(client::Error(format!("{}: {error}", program[0])))
}
