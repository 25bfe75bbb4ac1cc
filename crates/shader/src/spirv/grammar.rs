//! Shape of every instruction: bit 0 has a result type, bit 1 has a result id, bits 2.. the fewest words (the first word
//! counted).

use super::shapes::RUNS;

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
