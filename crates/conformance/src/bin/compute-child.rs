//! Runs the cases named in its arguments (all of them without any) on the driver that the environment shows: a line
//! with name and hash for each good one, a line with what is wrong for each other one.

use std::process::ExitCode;

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let context = match client::Context::open() {
        Ok(c) => c,
        Err(e) => {
            println!("WRONG all: {e}");
            return ExitCode::FAILURE;
        }
    };
    let mut good = true;
    for case in conformance::cases() {
        if !names.is_empty() && !names.iter().any(|n| n == case.name) {
            continue;
        }
        let result = case.run(&context).map_err(|e| e.to_string());
        match result.and_then(|output| case.check(&output).map(|()| case.hash(&output))) {
            Ok(hash) => println!("{} {hash:016x}", case.name),
            Err(e) => {
                println!("WRONG {}: {e}", case.name);
                good = false;
            }
        }
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
