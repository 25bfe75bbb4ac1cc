//! Lane masks of a whole wave: sixteen u16, one a warp.

use super::regs::reg;
pub use crate::bits::Bits;
use crate::state::State;
use shader::bytecode::Reg;

/// Masks of 16 warps. Operations on it become one or two vector instructions.
pub type Masks = [u16; 16];

/// Reads a Bool register.
///
/// # Safety
/// `r` is one of the op's registers ([`super::regs`]).
#[inline(always)]
pub unsafe fn load(st: &State, r: Reg) -> Masks {
    // SAFETY: the caller's.
    unsafe { *(reg(st, r) as *const Masks) }
}

/// Writes a Bool register.
///
/// # Safety
/// As [`load`].
#[inline(always)]
pub unsafe fn store(st: &State, r: Reg, m: Masks) {
    // SAFETY: the caller's.
    unsafe { *(reg(st, r) as *mut Masks) = m };
}

#[inline(always)]
pub fn exec(st: &State) -> Masks {
    // SAFETY: exec has 32 entries.
    unsafe { *(st.exec.as_ptr() as *const Masks) }
}

#[inline(always)]
pub fn map2(a: Masks, b: Masks, f: impl Fn(u16, u16) -> u16) -> Masks {
    let mut r = [0; 16];
    for i in 0..16 {
        r[i] = f(a[i], b[i]);
    }
    r
}
#[inline(always)]
pub fn and(a: Masks, b: Masks) -> Masks {
    map2(a, b, |x, y| x & y)
}
#[inline(always)]
pub fn or(a: Masks, b: Masks) -> Masks {
    map2(a, b, |x, y| x | y)
}
/// `a & !b`
#[inline(always)]
pub fn andn(a: Masks, b: Masks) -> Masks {
    map2(a, b, |x, y| x & !y)
}

/// Whether every lane of the live warps executes.
#[inline(always)]
pub fn is_full(st: &State) -> bool {
    let m = exec(st);
    // Full or empty, each warp: m + 1 ≤ 1 (mod 2^16).
    let mut bad = 0;
    for x in m {
        bad |= (x.wrapping_add(1) > 1) as u16;
    }
    bad == 0
}

/// Whether all lanes of each quad execute, or none. Then no op within quads reads a lane that does not.
#[inline(always)]
pub fn has_whole_quads(st: &State) -> bool {
    let mut broken = 0;
    for x in exec(st) {
        broken |= broken_quads(x);
    }
    broken == 0
}

/// The first bit of each quad of which some lanes execute and some do not.
#[inline(always)]
pub fn broken_quads(exec: u16) -> u16 {
    // Pairs that differ, and pairs of pairs.
    let pairs = exec ^ exec >> 1;
    (pairs | pairs >> 2 | (exec ^ exec >> 2)) & 0x1111
}

/// Makes `m` the execution mask; returns `live`.
#[inline(always)]
pub fn set_exec(st: &mut State, m: Masks) -> u32 {
    // SAFETY: exec has 32 entries.
    unsafe { *(st.exec.as_mut_ptr() as *mut Masks) = m };
    st.live = simd::non_zero(&m) & st.all;
    st.live
}
