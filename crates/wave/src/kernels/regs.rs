//! Register access for kernels: pointer and step between warps. To say where a register lies is safe; to go there is not.
//!
//! Why it may be gone to: the first unit of each register that an op names lies within the program's units (the check, or
//! lowering, see [`crate::Kernel`]), and after these lie as many as the widest register has ([`crate::engine`]). So all warps
//! of a wave are in the register file, for a register of any type. "The op's registers" in reasons below is this. A register
//! that an op may lack is [`Reg::NONE`] there, and asked for first. Nobody else has the register file while a kernel runs; no
//! reference into it outlives a step, for results may take their operands' registers. Likewise rows of counts: lowering numbers
//! the counters that its TALLY and LOOP ops name ("a counter of the program").

use crate::state::State;
use shader::bytecode::{Reg, UNIT_BYTES};

/// First byte of a register.
#[inline(always)]
pub fn reg(st: &State, r: Reg) -> *mut u8 {
    st.regs.wrapping_add(r.unit() * UNIT_BYTES)
}

/// 32-bit register: pointer and words from one warp to the next (0 when uniform).
#[inline(always)]
pub fn src32(st: &State, r: Reg) -> (*const u32, usize) {
    (reg(st, r).cast(), if r.is_uniform() { 0 } else { 16 })
}

/// 64-bit register: pointer and 64-bit words from one warp to the next (0 when uniform).
#[inline(always)]
pub fn src64(st: &State, r: Reg) -> (*const u64, usize) {
    (reg(st, r).cast(), if r.is_uniform() { 0 } else { 16 })
}

/// Where warp `w` of a 32-bit register is written. Writing a uniform register writes its 16 copies.
#[inline(always)]
pub fn dst32(st: &State, r: Reg, w: usize) -> *mut u32 {
    reg(st, r).cast::<u32>().wrapping_add(if r.is_uniform() { 0 } else { w * 16 })
}

/// As [`dst32`] for 64-bit registers.
#[inline(always)]
pub fn dst64(st: &State, r: Reg, w: usize) -> *mut u64 {
    reg(st, r).cast::<u64>().wrapping_add(if r.is_uniform() { 0 } else { w * 16 })
}

/// Writes the same value to all lanes of a register's live warps (or to a uniform register).
///
/// # Safety
/// `r` is one of the op's registers.
#[inline(always)]
pub unsafe fn splat32(st: &State, r: Reg, v: u32) {
    if r.is_uniform() {
        // SAFETY: the caller's.
        unsafe { *(dst32(st, r, 0) as *mut [u32; 16]) = [v; 16] };
    } else {
        for w in super::mask::Bits(st.live) {
            // SAFETY: the caller's.
            unsafe { *(dst32(st, r, w) as *mut [u32; 16]) = [v; 16] };
        }
    }
}

/// As [`splat32`] for 64 bits.
///
/// # Safety
/// As [`splat32`].
#[inline(always)]
pub unsafe fn splat64(st: &State, r: Reg, v: u64) {
    if r.is_uniform() {
        // SAFETY: the caller's.
        unsafe { *(dst64(st, r, 0) as *mut [u64; 16]) = [v; 16] };
    } else {
        for w in super::mask::Bits(st.live) {
            // SAFETY: the caller's.
            unsafe { *(dst64(st, r, w) as *mut [u64; 16]) = [v; 16] };
        }
    }
}

/// The first active lane of the wave: (warp, lane). Only call with lanes in exec.
#[inline(always)]
pub fn first_lane(st: &State) -> (usize, usize) {
    let w = st.live.trailing_zeros() as usize & 15;
    (w, st.exec[w].trailing_zeros() as usize & 15)
}

/// The last active lane: with equal addresses its store stays.
#[inline(always)]
pub fn last_lane(st: &State) -> (usize, usize) {
    let w = (31 - (st.live | 1).leading_zeros()) as usize & 15;
    (w, 15 - (st.exec[w] | 1).leading_zeros() as usize)
}
