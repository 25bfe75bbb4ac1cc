//! What checks of extensions share: their results, and the program that runs them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::ExitCode;

/// What a check found: every value it read, for comparison between runs.
pub type Found = Result<Vec<u64>, String>;

/// A list of the `Check`s that are known where this is called: functions of the checks' names, or `name = function`.
macro_rules! check_list {
    (@run $name:ident) => { $name };
    (@run $name:ident $run:ident) => { $run };
    ($($name:ident $(= $run:ident)?),* $(,)?) => {
        vec![$(Check { name: stringify!($name), run: check_list!(@run $name $($run)?) }),*]
    };
}
pub(crate) use check_list;

/// An error unless the two are equal.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: T, want: T) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("{what}: {got:?}, not {want:?}")) }
}

/// An error with `what` unless it holds.
pub(crate) fn holds(what: &str, condition: bool) -> Result<(), String> {
    if condition { Ok(()) } else { Err(what.to_string()) }
}

/// An error as the line that a check gives.
pub(crate) fn text(e: impl std::fmt::Display) -> String {
    e.to_string()
}

/// What a check found, if it is bytes.
pub(crate) fn found(bytes: &[u8]) -> Found {
    Ok(bytes.iter().map(|&b| b.into()).collect())
}

/// Takes a switch out of a program's arguments.
pub fn switch(arguments: &mut Vec<String>, name: &str) -> bool {
    arguments.iter().position(|a| a == name).map(|at| arguments.remove(at)).is_some()
}

/// Nothing could be run.
pub fn failed(why: &str) -> ExitCode {
    println!("WRONG all: {why}");
    ExitCode::FAILURE
}

/// Runs the checks that are `wanted` (all, if no name is given): a line with name and hash of all values for each good
/// one (and one of the values, if they are to be shown), a line with what is wrong for each other one. `run` gives
/// nothing for a check that is to be left out.
pub fn report<C>(
    checks: &[C],
    wanted: &[String],
    values: bool,
    name: fn(&C) -> &'static str,
    run: impl Fn(&C) -> Option<Found>,
) -> ExitCode {
    let mut good = true;
    let is_wanted = |c: &&C| wanted.is_empty() || wanted.iter().any(|n| n == name(c));
    for check in checks.iter().filter(is_wanted) {
        match run(check) {
            None => {}
            Some(Ok(found)) => {
                let mut h = DefaultHasher::new();
                found.hash(&mut h);
                println!("{} {:016x}", name(check), h.finish());
                if values {
                    println!("{found:?}");
                }
            }
            Some(Err(e)) => {
                println!("WRONG {}: {e}", name(check));
                good = false;
            }
        }
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
