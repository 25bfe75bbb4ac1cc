//! Assembler code of a segment: a function of (registers, live warps, lanes that execute).
//!
//! Values stay in vector registers; where there are too few, the one that is needed last goes to the stack. What the wave has in
//! common is computed first and lies on the stack, or in registers of its own if it is used often.

mod assembler;
mod call;
mod compute;
mod cycle;
mod frame;
mod loops;
mod ops;
mod wide;

pub use assembler::{Assembler, Jump, Target};
pub use cycle::{ALWAYS, Branch, CALL, EXECUTING, Gather, KEPT, NONE, Parts, SOME, Scalar};
pub use frame::row;
pub use iced_x86::MemoryOperand as Mem;

/// Bytes of a row of the frame.
pub const ROW: u32 = 64;
/// Bytes between functions.
pub const FILL: u8 = 0xCC;
