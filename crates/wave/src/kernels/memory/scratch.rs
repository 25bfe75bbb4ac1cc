//! Private words: word i of lane l at `scratch + (i · lanes + l) · 4`. A scalar of 32 bits or less takes one word, as
//! it lies in the register; one of 64 bits takes two, low word first.

use super::offsets::Offsets;
use crate::kernels::mask::Bits;
use crate::kernels::regs::{dst32, dst64, src32, src64};
use crate::state::{At, State};
use shader::bytecode::{Op, mem_of, n_of};
use shader::ir::Mem;
use simd::Steps;

/// First of warp `w`'s 16 words of index `i`; null when `words` from `i` on exceed the invocation's words.
#[inline(always)]
fn row(st: &State, i: u32, words: u32, w: usize) -> *mut u32 {
    if i as u64 + words as u64 > st.scratch_words as u64 {
        return std::ptr::null_mut();
    }
    (st.scratch as *mut u32).wrapping_add(i as usize * st.warps as usize * 16 + w * 16)
}

/// Words of one component.
#[inline(always)]
fn words(mem: Mem) -> u32 {
    if mem == Mem::B64 { 2 } else { 1 }
}

#[inline(always)]
pub fn ld_scratch<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    crate::kernels::count::touch(st, op);
    let (mem, n) = (mem_of(op.e), n_of(op.e));
    let words = words(mem);
    let pitch = st.warps as usize * 16;
    let off = Offsets::new(st, op);
    for w in Bits(st.live) {
        // SAFETY: a live warp.
        let index = unsafe { off.whole(w) };
        for i in 0..n {
            // SAFETY: one of the op's values.
            let x = unsafe { op.value(n, i) };
            if x.is_none() {
                continue;
            }
            let add = i as u32 * words;
            if off.is_uniform() {
                let q = row(st, off.k.wrapping_add(add), words, w);
                if words == 1 {
                    let d = dst32(st, x, w);
                    // SAFETY: the op's register, a live warp; a row of the wave's words.
                    unsafe {
                        if q.is_null() { l.splat32(d, 0) } else { l.copy64(d as *mut u8, q as *const u8) }
                    }
                } else {
                    let d = dst64(st, x, w);
                    for l in 0..16 {
                        // SAFETY: as above, two rows.
                        unsafe { *d.add(l) = if q.is_null() { 0 } else { pair(q.add(l), pitch) } };
                    }
                }
                continue;
            }
            for (l, &index) in index.iter().enumerate() {
                let q = row(st, index.wrapping_add(add), words, w);
                // SAFETY: the op's register, a live warp; as many rows as there are words, where there are any.
                unsafe {
                    if words == 1 {
                        *dst32(st, x, w).add(l) = if q.is_null() { 0 } else { *q.add(l) };
                    } else {
                        *dst64(st, x, w).add(l) = if q.is_null() { 0 } else { pair(q.add(l), pitch) };
                    }
                }
            }
        }
    }
    op.after(n)
}

/// A 64-bit value of two words `pitch` apart.
///
/// # Safety
/// They are there.
#[inline(always)]
unsafe fn pair(q: *const u32, pitch: usize) -> u64 {
    // SAFETY: the caller's.
    unsafe { *q as u64 | (*q.add(pitch) as u64) << 32 }
}

#[inline(always)]
pub fn st_scratch<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    crate::kernels::count::touch(st, op);
    let (mem, n) = (mem_of(op.e), n_of(op.e));
    let words = words(mem);
    let pitch = st.warps as usize * 16;
    let off = Offsets::new(st, op);
    for w in Bits(st.live) {
        let ex = st.exec[w];
        let p = off.lanes(w);
        for i in 0..n {
            // SAFETY: one of the op's values.
            let x = unsafe { op.value(n, i) };
            let add = off.k.wrapping_add(i as u32 * words);
            let (v, s) = src32(st, x);
            let v = v.wrapping_add(w * s);
            if ex == 0xFFFF && words == 1 && off.is_uniform() {
                let q = row(st, add, 1, w);
                if !q.is_null() {
                    // SAFETY: the op's register, a live warp; a row of the wave's words.
                    unsafe { l.copy64(q as *mut u8, v as *const u8) };
                }
                continue;
            }
            for l in Bits(ex as u32) {
                // SAFETY: a live warp's offsets.
                let index = if off.is_uniform() { add } else { unsafe { *p.add(l) }.wrapping_add(add) };
                let q = row(st, index, words, w);
                if q.is_null() {
                    continue;
                }
                // SAFETY: the op's register, a live warp; as many rows as there are words.
                unsafe {
                    if words == 1 {
                        *q.add(l) = *v.add(l);
                    } else {
                        let (v, s) = src64(st, x);
                        let v = *v.add(w * s + l);
                        *q.add(l) = v as u32;
                        *q.add(l + pitch) = (v >> 32) as u32;
                    }
                }
            }
        }
    }
    op.after(n)
}
