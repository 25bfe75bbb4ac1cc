//! `cargo xtask demo`: builds the driver and runs the main job on it.

use crate::cargo::{call, cargo, target_folder};
use std::process::Command;

#[derive(clap::Args)]
pub struct Args {
    /// Arguments for `tuff demo`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub fn run(args: &Args) -> Result<(), String> {
    call(cargo(&["build", "--release", "-p", "icd", "-p", "tuff"]))?;
    let mut demo = Command::new(target_folder().join("release/tuff"));
    demo.arg("demo").args(&args.arguments);
    call(demo)
}
