//! The usual loads and stores, in tight loops: one 32-bit word a lane, of one region or of each workgroup's memory, all lanes of the live
//! warps active; [`lanes`] has those of more, or of 16 bits.
//! Anything else goes to the general form.

use super::linear::{self, Packed, Regions, buffer, shared};
use super::offsets::Words;
use super::warp::{self, store32_full};
use super::{holes, lanes};
use crate::counting::tally::{Access, AccessKind};
use crate::kernels::count;
use crate::kernels::forms::call_kernel;
use crate::kernels::mask::Bits;
use crate::kernels::regs::{reg, src32, src64};
use crate::state::{At, State};
use shader::bytecode::{Op, SHAPE_RUN, SHAPE_SAME, SHAPE_SINGLE};
use simd::Steps;

/// What an op is to do, when it is of the usual kind.
#[inline(always)]
fn usual(st: &State, o: At) -> Option<Words> {
    // Where every line is to be counted, the general form does it, unless the shape tells of them.
    let slow = st.count.exact && (st.count.follows() || o.e & (SHAPE_RUN | SHAPE_SAME) == 0);
    if slow { None } else { Words::of(st, o) }
}

/// Each live warp, lowest first; the first so many without a search for the next. No closure: one that stays a function
/// of its own has not the level's instructions.
macro_rules! each {
    ($live:expr, |$w:ident| $body:block) => {{
        let live = $live;
        if live & live.wrapping_add(1) == 0 {
            // Where such a short loop begins in its line of code makes six percent of a matrix product.
            #[cfg(target_arch = "x86_64")]
            // SAFETY: it aligns what follows.
            unsafe {
                std::arch::asm!(".p2align 6", options(nomem, nostack, preserves_flags))
            };
            for $w in 0..live.count_ones() as usize $body
        } else {
            for $w in Bits(live) $body
        }
    }};
}

pub(super) use each;

/// Bytes that a run of loads asks for beforehand: a CPU does not look beyond a page by itself, and a wave is a quarter of one.
const AHEAD: usize = 2048;

/// What a warp reads out of bounds. Apart, so that a word in bounds goes from memory to the lanes at once.
///
/// # Safety
/// `d` is good for sixteen lanes.
#[cold]
#[inline(never)]
unsafe fn zero(d: *mut u32) {
    // SAFETY: the caller's.
    unsafe { *(d as *mut [u32; 16]) = [0; 16] };
}

/// # Safety
/// `x` are the op's offsets ([`usual`]).
#[inline(always)]
unsafe fn load<L: Steps, R: Regions>(l: L, st: &mut State, o: At, regions: R, x: Words) {
    let Words { p, k } = x;
    let d = reg(st, o.d) as *mut u32;
    // As large as the others, and in its line as they are.
    let first = regions.of(st, 0);
    match o.e >> 8 << 8 {
        SHAPE_RUN => {
            // Where offset 0 lies in its line.
            let lead = count::begin(st, &first) as u32 & 63;
            // Results that take the offsets' register leave nothing to count odd offsets by.
            if o.d == o.a {
                // SAFETY: the live warps' offsets.
                unsafe { count::run(st, p, k.wrapping_add(lead), Access::ReadFull) };
            }
            let mut off = 0;
            let end = first.run_end(64);
            each!(st.live, |w| {
                // SAFETY: the op's registers, a live warp; 64 bytes are in the region below its `end`.
                unsafe {
                    let (d, p, r) = (d.add(w * 16), p.add(w * 16), regions.of(st, w));
                    let at = (*p).wrapping_add(k);
                    off |= at;
                    if (at as u64) < end {
                        l.copy64(d as *mut u8, r.ptr().add(at as usize));
                        simd::prefetch(r.ptr().wrapping_add(at as usize + AHEAD));
                    } else {
                        warp::load32_full(l, r, d, p, k);
                    }
                }
            });
            if o.d != o.a {
                // SAFETY: the live warps' offsets; the result is another register.
                unsafe { count::run_known(st, p, k.wrapping_add(lead), Access::ReadFull, off | lead, 1) };
            }
        }
        shape if shape & SHAPE_SAME != 0 => {
            if shape & SHAPE_SINGLE == 0 {
                count::same(st, Access::ReadPartial);
            }
            let end = first.run_end(4);
            each!(st.live, |w| {
                // SAFETY: the op's registers, a live warp; four bytes are in the region below its `end`.
                unsafe {
                    let at = (*p.add(w * 16)).wrapping_add(k);
                    let (d, r) = (d.add(w * 16), regions.of(st, w));
                    if (at as u64) < end {
                        l.splat32(d, (r.ptr().add(at as usize) as *const u32).read_unaligned());
                    } else {
                        zero(d);
                    }
                }
            });
        }
        shape => {
            if shape & SHAPE_SINGLE == 0 {
                count::unknown(st, AccessKind::Read);
            }
            for w in Bits(st.live) {
                // SAFETY: the op's registers, a live warp.
                unsafe { warp::load32_full(l, regions.of(st, w), d.add(w * 16), p.add(w * 16), k) };
            }
        }
    }
}

/// # Safety
/// As [`load`].
#[inline(always)]
unsafe fn store<L: Steps, R: Regions>(l: L, st: &mut State, o: At, regions: R, x: Words) {
    let Words { p, k } = x;
    let first = regions.of(st, 0);
    let (v, s) = src32(st, o.d);
    if o.e >> 8 << 8 == SHAPE_RUN {
        let lead = count::begin(st, &first) as u32 & 63;
        let mut off = 0;
        let end = first.run_end(64);
        each!(st.live, |w| {
            // SAFETY: the op's registers, a live warp; 64 bytes are in the region below its `end`.
            unsafe {
                let (v, p, r) = (v.add(w * s), p.add(w * 16), regions.of(st, w));
                let at = (*p).wrapping_add(k);
                off |= at;
                if (at as u64) < end {
                    l.copy64(r.ptr().add(at as usize), v as *const u8);
                } else {
                    store32_full(l, r, v, p, k);
                }
            }
        });
        // SAFETY: the live warps' offsets.
        unsafe { count::run_known(st, p, k.wrapping_add(lead), Access::WriteFull, off | lead, 1) };
        return;
    }
    count::unknown(st, AccessKind::Write);
    for w in Bits(st.live) {
        // SAFETY: the op's registers, a live warp.
        unsafe { store32_full(l, regions.of(st, w), v.add(w * s), p.add(w * 16), k) };
    }
}

#[inline(always)]
pub fn ld_buf<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    if op.b.is_uniform()
        && let Some(x) = usual(st, op)
    {
        // SAFETY: the op's register, which has a descriptor's address; `usual` gave the offsets.
        unsafe { load(l, st, op, buffer(*src64(st, op.b).0), x) };
        return op.on(1);
    }
    if op.b.is_uniform()
        && let Some((lane, x)) = lanes::of(st, op)
    {
        // SAFETY: the op's register, which has a descriptor's address; `lanes::of` gave the others.
        return unsafe { lanes::load(l, st, op, buffer(*src64(st, op.b).0), lane, x) };
    }
    call_kernel!(l, linear::ld_buf, st, op)
}

#[inline(always)]
pub fn st_buf<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    if op.b.is_uniform()
        && let Some(x) = usual(st, op)
    {
        // SAFETY: the op's register, which has a descriptor's address.
        let r = unsafe { buffer(*src64(st, op.b).0) };
        if !holes::may_be_in(st, &r) {
            // SAFETY: `usual` gave the offsets.
            unsafe { store(l, st, op, r, x) };
            return op.on(1);
        }
    }
    call_kernel!(l, linear::st_buf, st, op)
}

#[inline(always)]
pub fn ld_shared<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    if let Some(x) = usual(st, op) {
        // SAFETY: `usual` gave the offsets.
        unsafe { if st.packed { load(l, st, op, Packed, x) } else { load(l, st, op, shared(st), x) } };
        return op.on(1);
    }
    call_kernel!(l, linear::ld_shared, st, op)
}

#[inline(always)]
pub fn st_shared<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    if let Some(x) = usual(st, op) {
        // SAFETY: `usual` gave the offsets.
        unsafe { if st.packed { store(l, st, op, Packed, x) } else { store(l, st, op, shared(st), x) } };
        return op.on(1);
    }
    call_kernel!(l, linear::st_shared, st, op)
}
