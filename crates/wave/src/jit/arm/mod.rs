//! Code for AArch64 with Advanced SIMD, which every such CPU has: a function of (registers, live warps, lanes that execute, state).
//!
//! A vector has four lanes, a quad; masks are vectors.

mod assembler;
mod call;
mod compute;
mod cycle;
mod encode;
mod frame;
mod loops;
mod ops;

pub use assembler::{Assembler, Jump, Mem, Target};
pub use cycle::{ALWAYS, Branch, CALL, EXECUTING, Gather, KEPT, NONE, Parts, SOME, Scalar};
pub use frame::row;

/// Bytes of a row of the frame.
pub const ROW: u32 = 16;
/// Bytes between functions.
pub const FILL: u8 = 0;
