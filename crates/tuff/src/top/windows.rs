//! `tuff top` on Windows, where no process can be watched.

use crate::run;
use client::Result;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    /// Nothing of it works on Windows.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    any: Vec<String>,
}

impl Args {
    /// It runs no program.
    pub fn runs(&self) -> bool {
        false
    }
}

/// # Errors
/// Always.
pub fn run(_: &Args) -> Result<ExitCode> {
    run::listen_folder().map(|_| ExitCode::FAILURE)
}
