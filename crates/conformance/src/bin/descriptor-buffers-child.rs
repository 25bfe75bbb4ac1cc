//! Runs the cases of descriptor buffers named in its arguments (all of them without any) on the driver that the
//! environment shows ([`conformance::check::report`]); with `--own` also those that are for Tuff alone.

use conformance::check;
use conformance::descriptor_buffers::CASES;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let own = check::switch(&mut names, "--own");
    check::report(CASES, &names, false, |c| c.name, |c| (own || !c.own).then(|| c.run()))
}
