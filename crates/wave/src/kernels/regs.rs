//! Register access for kernels: pointer and step between warps.

use crate::state::State;
use shader::bytecode::{Op, Reg};

/// 32-bit register: pointer and words from one warp to the next (0 when uniform).
///
/// # Safety
/// `r` lies within the register file.
#[inline(always)]
pub unsafe fn src32(st: &State, r: Reg) -> (*const u32, usize) {
    (st.regs.add(r.unit() * 64) as *const u32, if r.is_uniform() { 0 } else { 16 })
}

/// 64-bit register: pointer and 64-bit words from one warp to the next (0 when uniform).
///
/// # Safety
/// `r` lies within the register file.
#[inline(always)]
pub unsafe fn src64(st: &State, r: Reg) -> (*const u64, usize) {
    (st.regs.add(r.unit() * 64) as *const u64, if r.is_uniform() { 0 } else { 16 })
}

/// Where warp `w` of a 32-bit register is written. Writing a uniform register writes its 16 copies.
///
/// # Safety
/// `r` lies within the register file.
#[inline(always)]
pub unsafe fn dst32(st: &State, r: Reg, w: usize) -> *mut u32 {
    (st.regs.add(r.unit() * 64) as *mut u32).add(if r.is_uniform() { 0 } else { w * 16 })
}

/// As [`dst32`] for 64-bit registers.
///
/// # Safety
/// `r` lies within the register file.
#[inline(always)]
pub unsafe fn dst64(st: &State, r: Reg, w: usize) -> *mut u64 {
    (st.regs.add(r.unit() * 64) as *mut u64).add(if r.is_uniform() { 0 } else { w * 16 })
}

/// Writes the same value to all lanes of a register's live warps (or to a uniform register).
///
/// # Safety
/// As [`dst32`].
#[inline(always)]
pub unsafe fn splat32(st: &State, r: Reg, v: u32) {
    if r.is_uniform() {
        *(dst32(st, r, 0) as *mut [u32; 16]) = [v; 16];
    } else {
        for w in super::mask::Bits(st.live) {
            *(dst32(st, r, w) as *mut [u32; 16]) = [v; 16];
        }
    }
}

/// As [`splat32`] for 64 bits.
///
/// # Safety
/// As [`dst64`].
#[inline(always)]
pub unsafe fn splat64(st: &State, r: Reg, v: u64) {
    if r.is_uniform() {
        *(dst64(st, r, 0) as *mut [u64; 16]) = [v; 16];
    } else {
        for w in super::mask::Bits(st.live) {
            *(dst64(st, r, w) as *mut [u64; 16]) = [v; 16];
        }
    }
}

/// Register `i` of an op with `n` values: `d` when n is 1, else from the ext words that follow.
///
/// # Safety
/// The ext words follow `op`.
#[inline(always)]
pub unsafe fn value_reg(op: *const Op, n: usize, i: usize) -> Reg {
    if n == 1 {
        (*op).d
    } else {
        // An ext word is eight u16.
        Reg(*(op.add(1) as *const u16).add(ext_slot(i)))
    }
}

/// The u16 of ext words at which register `i` lies: `Op` is code, d, a, b, c, e, imm (low half, high half on
/// little-endian machines).
#[inline(always)]
fn ext_slot(i: usize) -> usize {
    const { assert!(cfg!(target_endian = "little")) };
    i
}

/// Op after a memory op with `n` values.
///
/// # Safety
/// As [`value_reg`].
#[inline(always)]
pub unsafe fn after(op: *const Op, n: usize) -> *const Op {
    op.add(if n == 1 { 1 } else { 1 + n.div_ceil(8) })
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
