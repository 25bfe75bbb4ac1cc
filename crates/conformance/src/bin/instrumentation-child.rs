//! Runs the checks of VK_ARM_shader_instrumentation named in its arguments (all of them without any) on the driver
//! that the environment shows: a line with name and hash of all values for each good one, a line with what is wrong for
//! each other one. `--values` prints the values too.

use conformance::instrumentation::{Rig, checks};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let values = names.iter().position(|n| n == "--values").map(|at| names.remove(at)).is_some();
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
        match (check.run)(&rig) {
            Ok(found) => {
                let mut h = DefaultHasher::new();
                found.hash(&mut h);
                println!("{} {:016x}", check.name, h.finish());
                if values {
                    println!("{found:?}");
                }
            }
            Err(e) => {
                println!("WRONG {}: {e}", check.name);
                good = false;
            }
        }
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
