//! `tuff`: what the driver is, and programs run on it.

mod annotate;
mod check;
mod city;
mod demo;
mod diff;
mod gl;
mod info;
mod instrument;
mod offline;
mod overhead;
mod paint;
mod picture;

use clap::{Parser, Subcommand};
use std::process::{Command, ExitCode};

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
    /// What the driver reports, in short, or its extensions and limits.
    Info(info::Args),
    /// Run a program on Tuff: sets VK_DRIVER_FILES and VK_ICD_FILENAMES for it.
    #[command(after_help = "\
Examples:
  tuff run -- vkcube --c 100
  tuff run --counters cost.json --check -- ./program --its-own-option
  tuff run --shaders costs -- ./program
  tuff run --workloads workloads.csv -- ./program
  TUFF_GPU=small TUFF_THREADS=1 tuff run -- vulkaninfo --summary")]
    Run {
        /// Write what every workload cost to this file (JSON, the same on every run).
        #[arg(long)]
        counters: Option<std::path::PathBuf>,
        /// Check that file when the program has ended: a line for each invariant of the model that does not hold, and failure.
        #[arg(long, requires = "counters")]
        check: bool,
        /// Instrument every shader, and leave here what each basic block cost: pairs of `.spv` and `.json` files for
        /// `tuff annotate`.
        #[arg(long)]
        shaders: Option<std::path::PathBuf>,
        /// Write how long every workload took, and its counters, to this file (.json, or else CSV), by the GPU Performance
        /// layer: docs/gpu-performance-layer.md. Its other settings are the environment's.
        #[arg(long)]
        workloads: Option<std::path::PathBuf>,
        /// The program and its arguments.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        program: Vec<String>,
    },
    /// Run an OpenGL program on Tuff, through Mesa's zink, with GL_AMD_performance_monitor.
    #[command(after_help = "\
Examples:
  tuff gl -- glxgears
  tuff gl --counters cost.json -- glxinfo -B")]
    Gl {
        /// Write what every workload cost to this file (JSON, the same on every run).
        #[arg(long)]
        counters: Option<std::path::PathBuf>,
        /// As with `run`: its workloads are zink's.
        #[arg(long)]
        workloads: Option<std::path::PathBuf>,
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
    /// What an offline compiler tells of a shader: registers, cycles by pipe and path, what bounds it.
    Shader(offline::Args),
    /// Measure what the GPU Performance layer costs a program, in CPU time of the city's frames; fails above the limit.
    Overhead(overhead::Args),
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
        Task::Info(args) => info::run(&args),
        Task::Instrument(args) => instrument::run(&args),
        Task::Annotate(args) => annotate::run(&args),
        Task::Shader(args) => offline::run(&args),
        Task::Diff(args) => return diff::run(&args),
        Task::Overhead(args) => overhead::run(&args),
        Task::Run { program, counters, check, shaders, workloads } => {
            let checked = counters.clone().filter(|_| check);
            let file = rows_of(&workloads);
            let paths = [("TUFF_COUNTERS", counters), ("TUFF_INSTRUMENT", shaders), (file, workloads)];
            prepared(&program, &paths, vec![]).and_then(|command| match checked {
                Some(file) => run_checked(command, &file),
                None => run(command),
            })
        }
        Task::Gl { program, counters, workloads } => gl::environment().and_then(|more| {
            let paths = [("TUFF_COUNTERS", counters), (rows_of(&workloads), workloads)];
            run(prepared(&program, &paths, more)?)
        }),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("tuff: {e}");
            ExitCode::FAILURE
        }
    }
}

/// The layer's variable for a file of rows: JSON or CSV, by its extension.
fn rows_of(file: &Option<std::path::PathBuf>) -> &'static str {
    let is_json = file.as_ref().is_some_and(|f| f.extension().is_some_and(|e| e == "json"));
    if is_json { "TUFF_PERFORMANCE_JSON" } else { "TUFF_PERFORMANCE_CSV" }
}

/// The program, on Tuff.
fn prepared(
    program: &[String],
    paths: &[(&str, Option<std::path::PathBuf>)],
    more: Vec<(&'static str, std::ffi::OsString)>,
) -> client::Result<Command> {
    let icd = client::drivers::tuff_icd();
    let library = client::drivers::library_of(&icd)?;
    if !library.exists() {
        let line = format!("{} is not built: cargo build --release -p icd", library.display());
        return Err(client::Error(line));
    }
    let mut command = Command::new(&program[0]);
    command.args(&program[1..]).env("VK_DRIVER_FILES", &icd).env("VK_ICD_FILENAMES", &icd).envs(more);
    for (variable, path) in paths {
        let Some(path) = path else { continue };
        // The program may change its directory.
        let path =
            std::path::absolute(path).map_err(|e| client::Error(format!("{}: {e}", path.display())))?;
        command.env(variable, path);
    }
    if paths.iter().any(|(v, path)| v.starts_with("TUFF_PERFORMANCE") && path.is_some()) {
        measured(&mut command)?;
    }
    Ok(command)
}

fn failed(command: &Command, why: impl std::fmt::Display) -> client::Error {
    client::Error(format!("{}: {why}", command.get_program().display()))
}

/// Becomes the program; returns only if that is impossible.
fn run(mut command: Command) -> client::Result<()> {
    use std::os::unix::process::CommandExt;
    let error = command.exec();
    Err(failed(&command, error))
}

/// Runs the program, and checks the file of counters that it leaves. A program that fails is a failure too.
fn run_checked(mut command: Command, file: &std::path::Path) -> client::Result<()> {
    // What an earlier run has left says nothing of this one.
    if let Err(e) = std::fs::remove_file(file)
        && e.kind() != std::io::ErrorKind::NotFound
    {
        return Err(client::Error(format!("{}: {e}", file.display())));
    }
    let status = command.status().map_err(|e| failed(&command, e))?;
    let checked = check::run(file);
    match status.success() {
        true => checked,
        false => {
            if let Err(e) = checked {
                eprintln!("tuff: {e}");
            }
            Err(failed(&command, status))
        }
    }
}

/// Puts the GPU Performance layer in front of what the environment has, in counter mode unless it says otherwise.
fn measured(command: &mut Command) -> client::Result<()> {
    let before = |variable: &str, first: std::ffi::OsString| {
        let rest = std::env::var_os(variable).filter(|v| !v.is_empty());
        rest.map_or(first.clone(), |rest| [first, rest].join(std::ffi::OsStr::new(":")))
    };
    let folder = client::drivers::layer_folder()?;
    // VK_LAYER_PATH replaces the system's folders; VK_ADD_LAYER_PATH, which adds to them, is unknown to older loaders.
    let system = ["/etc/vulkan/explicit_layer.d", "/usr/share/vulkan/explicit_layer.d"];
    let mut path = before("VK_LAYER_PATH", folder.into_os_string());
    for folder in system {
        path = [path, folder.into()].join(std::ffi::OsStr::new(":"));
    }
    command
        .env("VK_LAYER_PATH", path)
        .env("VK_INSTANCE_LAYERS", before("VK_INSTANCE_LAYERS", client::drivers::LAYER.into()));
    if std::env::var_os("TUFF_PERFORMANCE_MODE").is_none() {
        command.env("TUFF_PERFORMANCE_MODE", "counters");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
