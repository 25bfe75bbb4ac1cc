//! Shape of every instruction: bit 0 has a result type, bit 1 has a result id, bits 2.. the fewest words (the first word
//! counted).

use super::shapes::{OPS, RUNS};
use spirv::Op;

/// The instruction of an opcode. `Op::from_u32` searches for it.
#[inline]
pub(crate) fn op(code: u32) -> Option<Op> {
    OPS.get(code as usize).copied().unwrap_or_else(|| Op::from_u32(code))
}

/// The byte of an opcode; 0 when unknown.
pub(crate) fn shape(op: u16) -> u8 {
    // Nearly all instructions of a shader are in the first run.
    let i = RUNS.partition_point(|r| r.0 <= op);
    if i == 0 {
        return 0;
    }
    let (first, run) = RUNS[i - 1];
    run.get((op - first) as usize).copied().unwrap_or(0)
}
