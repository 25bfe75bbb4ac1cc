//! Sums into floats of a buffer where nobody else can see what is half done, and nobody asks what was there before: as
//! programs scatter from particles to a grid. Lanes that follow each other often meet in one word, so what counts is the
//! time from one sum to the next.

use super::op_of;
use crate::kernels::mask::Bits;
use crate::kernels::memory::offsets::Offsets;
use crate::kernels::memory::warp::Extent;
use crate::kernels::regs::src32;
use crate::state::{At, State};
use shader::bytecode::mem_of;
use shader::ir::{AtomicOp, Mem};
use simd::Steps;

/// Whether the op is one.
#[inline(always)]
pub fn is_sum(op: At) -> bool {
    (op_of(op.e), mem_of(op.e)) == (AtomicOp::FAdd, Mem::B32) && op.d.is_none()
}

/// The NaN that a sum leaves. Out of line: a choice between values would lie between each sum and the next.
#[cold]
#[inline(never)]
fn nan() -> f32 {
    f32::from_bits(0x7FC0_0000)
}

/// # Safety
/// Four bytes live at `p`.
#[inline(always)]
unsafe fn add(p: *mut f32, a: f32) {
    // SAFETY: the caller's.
    let sum = unsafe { p.read_unaligned() } + a;
    let sum = if sum.is_nan() { nan() } else { sum };
    // SAFETY: the caller's.
    unsafe { p.write_unaligned(sum) };
}

/// The sums of all live warps, at offsets within a region.
///
/// # Safety
/// The op is one ([`is_sum`]), its registers the wave's.
#[inline(always)]
pub unsafe fn all<L: Steps>(l: L, st: &State, op: At, r: Extent, off: &Offsets) {
    let Some(limit) = r.limit(4) else { return };
    // SAFETY: atomics have one extension word, of registers.
    let (values, step) = src32(st, unsafe { op.ext() }[0]);
    let base = r.ptr();
    for w in Bits(st.live) {
        // SAFETY: a live warp.
        let (at, a) = unsafe { (off.whole(w), &*(values.add(w * step) as *const [f32; 16])) };
        let ok = l.bound_mask(&at, 0, limit) & st.exec[w];
        if ok == 0xFFFF {
            for i in 0..16 {
                // SAFETY: within the region.
                unsafe { add(base.add(at[i] as usize) as *mut f32, a[i]) };
            }
            continue;
        }
        for i in Bits(ok as u32) {
            // SAFETY: as above.
            unsafe { add(base.add(at[i & 15] as usize) as *mut f32, a[i & 15]) };
        }
    }
}
