//! `tuff`: shows the driver's properties, runs programs on it, and reports what they cost.

#[macro_use]
extern crate say;

mod advise;
mod annotate;
mod check;
mod city;
mod compare;
mod costs;
mod coverage;
mod debug;
mod demo;
mod diff;
mod frame;
mod frames;
mod gl;
mod history;
mod info;
mod instrument;
mod junit;
mod offline;
mod overhead;
mod pages;
mod paint;
mod picture;
mod report;
mod run;
mod sanitize;
mod sums;
#[cfg_attr(windows, path = "top/windows.rs")]
mod top;
mod trace;
mod whatif;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "tuff", version, about = "A GPU in software")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Draw and path trace a city and ray march a ball; write the pictures and print the measurements.
    Demo(demo::Args),
    /// Show a summary of what the driver reports, or its extensions and limits.
    Info(info::Args),
    /// Run a program on Tuff (sets VK_DRIVER_FILES and VK_ICD_FILENAMES).
    Run(run::Args),
    /// Run a program and report what its shaders do wrong: data races, accesses out of bounds, undefined values (docs/sanitize.md).
    Sanitize(sanitize::Args),
    /// Run a program and write which lines, functions and branches of its shaders ran, for lcov (docs/coverage.md).
    Coverage(coverage::Args),
    /// Run a program and step through one invocation of a shader, forwards and backwards; a server for editors (docs/debug.md).
    Debug(debug::Args),
    /// Run a program and write the frames that it presents as PNG files (docs/pictures.md).
    Frames(frames::Args),
    /// Make an HTML page of a recorded frame to step through: draws, state, meshes, attachments after each draw, pixels' histories.
    Frame(frame::Args),
    /// Compare pictures with golden ones; fails if they differ by more than allowed (docs/pictures.md).
    Compare(compare::Args),
    /// Run an OpenGL program on Tuff, through Mesa's zink, with GL_AMD_performance_monitor.
    #[command(after_help = "\
Examples:
  tuff gl -- glxgears
  tuff gl --counters cost.json -- glxinfo -B")]
    Gl(run::Common),
    /// Make an HTML page of a capture, or of two side by side: tables, time line, heat maps, shaders.
    Report(report::Args),
    /// Compare two files from `run --counters`; fails if a cost grew by more than allowed.
    Diff(diff::Args),
    /// Make an HTML page of costs over commits: a line for each workload and counter, and every step.
    History(history::Args),
    /// Say what to change in a captured program, why that costs time on a Mali, and what it would gain.
    Advise(advise::Args),
    /// Predict how long a captured program would take on another GPU: more cores, other memory, another model.
    Whatif(whatif::Args),
    /// Show what the workloads of a running program cost, in a table every second (docs/channel.md).
    Top(top::Args),
    /// Instrument every basic block of a SPIR-V module, with marks that Tuff counts or with atomics for any driver.
    Instrument(instrument::Args),
    /// Print a module's SPIR-V, and its source if it has line information, with the cost of each basic block.
    Annotate(annotate::Args),
    /// Analyse a shader offline: registers, cycles by pipe and path, and the pipe that bounds it.
    Shader(offline::Args),
    /// Measure the overhead of the GPU Performance layer in CPU time of the city's frames; fails above the limit.
    Overhead(overhead::Args),
    /// Write man pages and shells' completions into a folder, for `cargo xtask dist`.
    #[command(hide = true)]
    Pages(pages::Args),
    /// Answer a parent's requests with the one driver that the environment shows.
    #[command(hide = true)]
    Child,
}

impl Task {
    /// It runs something on the model that `TUFF_GPU` names, or asks it.
    fn models(&self) -> bool {
        match self {
            Task::Demo(_)
            | Task::Info(_)
            | Task::Run(_)
            | Task::Sanitize(_)
            | Task::Coverage(_)
            | Task::Debug(_)
            | Task::Frames(_)
            | Task::Gl(_)
            | Task::Shader(_)
            | Task::Overhead(_) => true,
            // The process that is watched has a model of its own.
            Task::Top(args) => args.runs(),
            Task::Report(_)
            | Task::Diff(_)
            | Task::History(_)
            | Task::Compare(_)
            | Task::Frame(_)
            | Task::Advise(_)
            | Task::Whatif(_)
            | Task::Instrument(_)
            | Task::Annotate(_)
            | Task::Pages(_)
            | Task::Child => false,
        }
    }
}

fn main() -> ExitCode {
    let task = Cli::parse().task;
    // The driver takes the default in its place, which is not what was asked for.
    if let Some(problem) = counters::model::problem().filter(|_| task.models()) {
        return ended(Err(client::Error(problem.into())));
    }
    let result = match task {
        Task::Child => {
            let mut memory = city::Memory::default();
            return client::session::serve_with(|context, ask| memory.answer(context, ask));
        }
        Task::Pages(args) => pages::run(&args, Cli::command()),
        Task::Demo(args) => demo::run(&args),
        Task::Info(args) => info::run(&args),
        Task::Instrument(args) => instrument::run(&args),
        Task::Annotate(args) => annotate::run(&args),
        Task::Shader(args) => return offline::run(&args),
        Task::Diff(args) => return diff::run(&args),
        Task::Overhead(args) => overhead::run(&args),
        Task::Report(args) => report::run(&args),
        Task::History(args) => history::run(&args),
        Task::Advise(args) => advise::run(&args),
        Task::Frame(args) => frame::run(&args),
        Task::Whatif(args) => whatif::run(&args),
        Task::Run(args) => return ended(run::run(&args)),
        Task::Sanitize(args) => return ended(sanitize::run(&args)),
        Task::Frames(args) => return ended(frames::run(&args)),
        Task::Compare(args) => return compare::run(&args),
        Task::Top(args) => return ended(top::run(&args)),
        Task::Coverage(args) => return ended(coverage::run(&args)),
        Task::Debug(args) => return ended(debug::run(&args)),
        Task::Gl(args) => {
            let done = gl::environment().and_then(|more| run::common(&args, None, more));
            return ended(done.map(|d| d.code()));
        }
    };
    ended(result.map(|()| ExitCode::SUCCESS))
}

/// What the process ends with.
fn ended(result: client::Result<ExitCode>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(e) => {
            eprintln!("tuff: {}", plain::message(&e.to_string()));
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests;
