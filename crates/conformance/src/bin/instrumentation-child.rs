//! Runs the checks of VK_ARM_shader_instrumentation named in its arguments (all of them without any) on the driver
//! that the environment shows ([`conformance::check::report`]). `--values` prints the values too.

use conformance::check;
use conformance::instrumentation::{Rig, checks};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let values = check::switch(&mut names, "--values");
    match Rig::open() {
        Ok(rig) => check::report(&checks(), &names, values, |c| c.name, |c| Some((c.run)(&rig))),
        Err(e) => check::failed(&e),
    }
}
