//! Man pages and shells' completions, made of the same declarations as the command line itself.

use clap_complete::{Shell, generate_to};
use client::{Error, Result};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// A folder for all of them; it is made where there is none.
    folder: PathBuf,
}

/// Which shells have a place for completions of programs that are installed.
const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Fish, Shell::Zsh];

/// Writes `tuff.1`, a page for each command (`tuff-run.1`), and each shell's file under the name that it looks for.
pub fn run(args: &Args, mut command: clap::Command) -> Result<()> {
    let at = |e: std::io::Error| Error(format!("{}: {e}", args.folder.display()));
    std::fs::create_dir_all(&args.folder).map_err(at)?;
    for shell in SHELLS {
        generate_to(shell, &mut command, "tuff", &args.folder).map_err(at)?;
    }
    // No pages on how to ask for help.
    clap_mangen::generate_to(command.disable_help_subcommand(true), &args.folder).map_err(at)
}
