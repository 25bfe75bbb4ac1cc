//! Checks a program before it runs. A signed blob holds programs that nobody compiled here, so what kernels, compiled code and the stages
//! around programs rely on is proved here, of every program:
//!
//! - [`shape`]: lanes, workgroups, sizes of memory, profile.
//! - [`ops`]: codes that there are, with all registers that they need, within the register file; counters, images and descriptors of the
//!   program's own.
//! - [`flow`]: jumps to ops, back only where the watchdog is asked, and a prologue in a straight line.
//! - [`handles`]: descriptors' addresses, which are followed unasked, are never numbers.
//! - [`stage`]: what the stages around the program read of it.
//!
//! What an op's fields are comes from its row of [`crate::isa`]. Which descriptors there are is the pipeline layout's to say: whoever
//! takes a program from outside compares [`Program::bindings`].

mod flow;
mod handles;
mod ops;
mod shape;
mod stage;
#[cfg(test)]
mod tests;

use crate::bytecode::Program;
use crate::options::{Error, Result};

/// What is wrong at which op.
fn bad(pc: usize, what: &str) -> Error {
    Error::TooLarge(format!("bytecode op {pc}: {what} (an error of the compiler)"))
}

/// What is wrong with what is no op.
fn wrong(what: &str) -> Error {
    Error::TooLarge(format!("bytecode: {what} (an error of the compiler)"))
}

/// Fails with the first thing that could lead a run out of its memory, or nowhere.
pub fn check(program: &Program) -> Result<()> {
    shape::check(program)?;
    let starts = ops::check(program)?;
    flow::check(program, &starts)?;
    handles::check(program)?;
    stage::check(program)
}
