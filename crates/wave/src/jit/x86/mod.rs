//! Assembler code of a segment: a function of (registers, live warps, lanes that execute).
//!
//! Values stay in vector registers; where there are too few, the one that is needed last goes to the stack. What the wave has in
//! common is computed first and lies on the stack, or in registers of its own if it is used often.

mod assembler;
pub mod cycle;
mod emit;
mod ops;
mod wide;

pub use assembler::{Made, Target, VectorWidth};

use super::nodes::segment::Segment;
use crate::state::Kernel;
use shader::bytecode::Op;

/// The code's bytes, which may lie anywhere, aligned to 64; `ops` are what kernels do for its checks, and stay where they are.
///
/// # Errors
/// The segment asks for more than a function has room for.
pub fn compile(segment: &Segment, target: Target, ops: &[Op], kernels: &[Kernel]) -> Made<Vec<u8>> {
    let calls = emit::Calls::new(ops, kernels);
    emit::Emit::of_segment(&segment.body, target, &segment.kept, &segment.checks, calls).run()
}
