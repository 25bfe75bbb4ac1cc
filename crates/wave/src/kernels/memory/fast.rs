//! The usual loads and stores, in tight loops: one 32-bit word a lane of one region, all lanes of the live warps active.
//! Anything else goes to the general form.

use super::linear::{buffer, shared};
use super::offsets::Words;
use super::warp::{Region, store32_full};
use crate::kernels::count;
use crate::kernels::levels::{General, Steps};
use crate::kernels::mask::Bits;
use crate::kernels::regs::src32;
use crate::state::State;
use crate::tally::{Access, Kind};
use shader::bytecode::{Op, SHAPE_RUN, SHAPE_SAME, SHAPE_SINGLE};

/// What an op is to do, when it is of the usual kind.
#[inline(always)]
unsafe fn usual(st: &State, o: &Op) -> Option<Words> {
    // Where every line is to be counted, the general form does it, unless the shape tells of them.
    let slow = st.count.exact && (!st.count.cache.is_null() || o.e & (SHAPE_RUN | SHAPE_SAME) == 0);
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
            std::arch::asm!(".p2align 6", options(nomem, nostack, preserves_flags));
            for $w in 0..live.count_ones() as usize $body
        } else {
            for $w in Bits(live) $body
        }
    }};
}

/// What a warp reads out of bounds. Apart, so that a word in bounds goes from memory to the lanes at once.
#[cold]
#[inline(never)]
unsafe fn zero(d: *mut u32) {
    *(d as *mut [u32; 16]) = [0; 16];
}

#[inline(always)]
unsafe fn load<L: Steps>(st: &State, o: &Op, r: Region, x: Words) {
    let Words { p, k } = x;
    let d = st.regs.add(o.d.unit() * 64) as *mut u32;
    match o.e >> 8 << 8 {
        SHAPE_RUN => {
            // Where offset 0 lies in its line.
            let lead = count::begin(st, &r) as u32 & 63;
            // Results that take the offsets' register leave nothing to count odd offsets by.
            if o.d == o.a {
                count::run(st, p, k.wrapping_add(lead), Access::ReadFull);
            }
            let mut off = 0;
            let end = r.run_end(64);
            each!(st.live, |w| {
                let (d, p) = (d.add(w * 16), p.add(w * 16));
                let at = (*p).wrapping_add(k);
                off |= at;
                if (at as u64) < end {
                    L::copy64(d as *mut u8, r.ptr.add(at as usize));
                } else {
                    L::load32_full(r, d, p, k);
                }
            });
            if o.d != o.a {
                count::run_known(st, p, k.wrapping_add(lead), Access::ReadFull, off | lead);
            }
        }
        shape if shape & SHAPE_SAME != 0 => {
            if shape & SHAPE_SINGLE == 0 {
                count::same(st, Access::ReadPartial);
            }
            let end = r.run_end(4);
            each!(st.live, |w| {
                let at = (*p.add(w * 16)).wrapping_add(k);
                let d = d.add(w * 16);
                if (at as u64) < end {
                    L::splat32(d, (r.ptr.add(at as usize) as *const u32).read_unaligned());
                } else {
                    zero(d);
                }
            });
        }
        _ => {
            count::unknown(st, Kind::Read);
            for w in Bits(st.live) {
                L::load32_full(r, d.add(w * 16), p.add(w * 16), k);
            }
        }
    }
}

#[inline(always)]
unsafe fn store<L: Steps>(st: &State, o: &Op, r: Region, x: Words) {
    let Words { p, k } = x;
    let (v, s) = src32(st, o.d);
    if o.e >> 8 << 8 == SHAPE_RUN {
        let lead = count::begin(st, &r) as u32 & 63;
        let mut off = 0;
        let end = r.run_end(64);
        each!(st.live, |w| {
            let (v, p) = (v.add(w * s), p.add(w * 16));
            let at = (*p).wrapping_add(k);
            off |= at;
            if (at as u64) < end {
                L::copy64(r.ptr.add(at as usize), v as *const u8);
            } else {
                store32_full::<L>(r, v, p, k);
            }
        });
        count::run_known(st, p, k.wrapping_add(lead), Access::WriteFull, off | lead);
        return;
    }
    count::unknown(st, Kind::Write);
    for w in Bits(st.live) {
        store32_full::<L>(r, v.add(w * s), p.add(w * 16), k);
    }
}

#[inline(always)]
pub unsafe fn ld_buf<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let o = &*op;
    if o.b.is_uniform()
        && let Some(x) = usual(st, o)
    {
        load::<L>(st, o, buffer(*(st.regs.add(o.b.unit() * 64) as *const u64)), x);
        return op.add(1);
    }
    L::call(General::LdBuf, st, op)
}

#[inline(always)]
pub unsafe fn st_buf<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let o = &*op;
    if o.b.is_uniform()
        && let Some(x) = usual(st, o)
    {
        store::<L>(st, o, buffer(*(st.regs.add(o.b.unit() * 64) as *const u64)), x);
        return op.add(1);
    }
    L::call(General::StBuf, st, op)
}

#[inline(always)]
pub unsafe fn ld_shared<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let o = &*op;
    if !st.packed
        && let Some(x) = usual(st, o)
    {
        load::<L>(st, o, shared(st), x);
        return op.add(1);
    }
    L::call(General::LdShared, st, op)
}

#[inline(always)]
pub unsafe fn st_shared<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let o = &*op;
    if !st.packed
        && let Some(x) = usual(st, o)
    {
        store::<L>(st, o, shared(st), x);
        return op.add(1);
    }
    L::call(General::StShared, st, op)
}
