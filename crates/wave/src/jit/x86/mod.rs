//! Machine code of a segment: a function of (registers, live warps, lanes that execute, state).
//!
//! Values stay in vector registers; where there are too few, the one that is needed last goes to the stack. What the wave has in
//! common is computed first and lies on the stack, or in registers of its own if it is used often.

mod cold;
mod emit;
mod loops;
mod machine;
mod place;

pub use cold::Slow;
pub use machine::{Made, Width};

use super::segment::Segment;
use simd::Level;

/// The code's bytes, which may lie anywhere, aligned to 64; and what it asks for ops that it does not do itself.
pub struct Code {
    pub bytes: Vec<u8>,
    /// The code has their addresses.
    pub slow: Vec<Box<Slow>>,
}

/// # Errors
/// The segment asks for more than a function has room for.
pub fn compile(segment: &Segment, level: Level, width: Width) -> Made<Code> {
    emit::Emit::new(segment, level, width).run()
}
