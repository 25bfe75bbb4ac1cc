//! The project's own tasks: `cargo xtask <task>`. One module per task.

mod codegen;

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
    /// Write the files generated from vk.xml (or, with --check, compare them with a fresh run).
    Codegen(codegen::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().task {
        Task::Codegen(args) => codegen::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
