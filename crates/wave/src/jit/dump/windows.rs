//! A system without `perf`: nothing is told of compiled code.

use shader::bytecode::Program;

/// A function: what it is, at which op, and where in a program's code it begins.
pub type Function = (&'static str, usize, usize);

pub fn functions(_: &Program, _: &[u8], _: impl FnOnce() -> Vec<Function>) {}
