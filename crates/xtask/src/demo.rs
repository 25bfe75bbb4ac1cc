//! `cargo xtask demo`: builds the driver and runs the main job on it.

use crate::cargo::{call, release, target_folder};
use std::process::Command;

#[derive(clap::Args)]
pub struct Args {
    /// Arguments for `tuff demo`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub fn run(args: &Args) -> Result<(), String> {
    release(&["icd"], &[])?;
    let mut demo = Command::new(target_folder().join("release/tuff"));
    demo.arg("demo").args(&args.arguments);
    call(demo)
}
