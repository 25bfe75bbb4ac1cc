//! Runs the checks of the channel named in its arguments (all of them without any) on the driver that the environment
//! shows ([`conformance::check::report`]). `--steady N`: runs a program that N readers read, and prints what it sees.
//! `--example LIBRARY`: a dispatch and a pass, between the two functions of docs/channel.md.

use conformance::channel::{Rig, checks, example, steady};
use conformance::check;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let values = check::switch(&mut names, "--values");
    let rig = match Rig::open() {
        Ok(rig) => rig,
        Err(e) => return check::failed(&e),
    };
    let done = match &names[..] {
        [what, n] if what == "--steady" => {
            steady::run(&rig, n.parse().unwrap_or(0)).map(|v| println!("{v:?}"))
        }
        [what, library] if what == "--example" => example::run(&rig, library),
        _ => return check::report(&checks(), &names, values, |c| c.name, |c| Some((c.run)(&rig))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => check::failed(&e),
    }
}
