//! Machine code of a segment: a function of (registers, live warps, lanes that execute).
//!
//! Values stay in vector registers; where there are too few, the one that is needed last goes to the stack. What the wave has in
//! common is computed first and lies on the stack, or in registers of its own if it is used often.

mod access;
mod block;
mod branch;
mod call;
mod control;
mod counters;
mod decide;
mod emit;
mod later;
mod loops;
mod machine;
mod ops;
mod place;
mod plan;
mod rare;
pub mod region;
mod wide;

pub use machine::{Made, Target, Width};

use super::nodes::segment::Segment;
use crate::state::Kernel;
use shader::bytecode::Op;

/// The code's bytes, which may lie anywhere, aligned to 64; `ops` are what kernels do for its checks, and stay where they are.
///
/// # Errors
/// The segment asks for more than a function has room for.
pub fn compile(segment: &Segment, target: Target, ops: &[Op], kernels: &[Kernel]) -> Made<Vec<u8>> {
    let mut it = emit::Emit::new(&segment.body, target);
    (it.aside, it.checks) = (&segment.kept, &segment.checks);
    (it.ops, it.kernels) = (ops, kernels);
    it.run()
}
