//! Runs the checks of extensions named in its arguments (all of them without any) on the driver that the environment
//! shows ([`conformance::check::report`]). `--reported` leaves out those of extensions that the driver does not report.

use conformance::check;
use conformance::extensions::{Rig, checks};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let reported = check::switch(&mut names, "--reported");
    let rig = match Rig::open() {
        Ok(r) => r,
        Err(e) => return check::failed(&e),
    };
    check::report(
        &checks(),
        &names,
        false,
        |c| c.name,
        |c| match rig.reports(c.of) {
            true => Some((c.run)(&rig)),
            false if reported => None,
            false => Some(Err(format!("{:?} is not reported", c.of))),
        },
    )
}
