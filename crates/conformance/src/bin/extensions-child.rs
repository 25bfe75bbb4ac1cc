//! Runs the checks of extensions named in its arguments (all of them without any) on the driver that the environment
//! shows: a line with name and hash of all values for each good one, a line with what is wrong for each other one.
//! `--reported` leaves out those of extensions that the driver does not report.

use conformance::extensions::{Rig, checks};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let reported = names.iter().position(|n| n == "--reported").map(|at| names.remove(at)).is_some();
    let rig = match Rig::open() {
        Ok(r) => r,
        Err(e) => {
            println!("WRONG all: {e}");
            return ExitCode::FAILURE;
        }
    };
    let mut good = true;
    for check in checks() {
        if !names.is_empty() && !names.iter().any(|n| n == check.name) {
            continue;
        }
        let there = rig.reports(check.of);
        if !there && reported {
            continue;
        }
        let found = if there { (check.run)(&rig) } else { Err(format!("{:?} is not reported", check.of)) };
        match found {
            Ok(found) => {
                let mut h = DefaultHasher::new();
                found.hash(&mut h);
                println!("{} {:016x}", check.name, h.finish());
            }
            Err(e) => {
                println!("WRONG {}: {e}", check.name);
                good = false;
            }
        }
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
