//! Loads and stores of one warp's 16-bit scalars. Those of a lane that follow each other in pairs are words in memory: two at once, and
//! converted by vectors. (No closures around those: one that stays a function of its own has not the level's instructions.)

use super::cell::{C16, Row};
use super::linear::store_values;
use super::warp::{self, Extent};
use crate::kernels::mask::Bits;
use crate::kernels::regs::{dst32, src32};
use crate::state::{At, State};
use shader::bytecode::{Reg, mem_of, n_of};
use shader::ir::Mem;
use simd::Steps;
use simd::ops;

/// Words of a lane that sixteen of its scalars are.
const MOST: usize = 8;

/// Sixteen 16-bit scalars, which are the low halves of words, as registers have them.
///
/// # Safety
/// `d` is good for sixteen lanes.
#[inline(always)]
pub(super) unsafe fn put<L: Steps>(l: L, mem: Mem, d: *mut u32, v: L::I) {
    // SAFETY: the caller's.
    unsafe {
        match mem {
            Mem::F16 => l.fstore(d.cast(), l.f16_to_f(v)),
            _ => l.istore(d.cast(), v),
        }
    }
}

/// The same back; what is above the low halves is nothing.
///
/// # Safety
/// Sixteen lanes are at `v`.
#[inline(always)]
unsafe fn take<L: Steps>(l: L, mem: Mem, v: *const u32) -> L::I {
    // SAFETY: the caller's.
    unsafe {
        match mem {
            Mem::F16 => l.f_to_f16(l.fload(v.cast())),
            _ => l.iand(l.iload(v.cast()), l.isplat(0xFFFF)),
        }
    }
}

/// Loads warp `w`: offsets `p + k`, lanes `ex`.
///
/// # Safety
/// As [`super::linear::load_warp`]; the op's scalars are of 16 bits.
#[inline(always)]
pub unsafe fn load<L: Steps>(l: L, st: &State, op: At, r: Extent, w: usize, p: *const u32, k: u32, ex: u16) {
    let (mem, n) = (mem_of(op.e), n_of(op.e));
    // Destinations may take the offsets' register.
    // SAFETY: the caller's.
    let own = unsafe { *(p as *const [u32; 16]) };
    let p = own.as_ptr();
    if n.is_multiple_of(2) && r.holds_lanes(l, &own, k, n as u32 * 2, ex) {
        let mut rows = [Row::NEW; MOST];
        let mut d = [std::ptr::null_mut(); MOST];
        for i in 0..MOST {
            d[i] = rows[i].at();
        }
        let d = &d[..(n / 2).min(MOST)];
        // SAFETY: rows are good for sixteen lanes; the offsets are the caller's.
        unsafe {
            if let [d] = d {
                warp::load32(l, r, *d, p, k, ex);
            } else {
                warp::load32n(l, r, d, p, k, ex);
            }
        }
        for (i, row) in d.iter().enumerate() {
            // SAFETY: rows that have just been written, two of the op's values.
            unsafe {
                let both = l.iload(row.cast());
                let (low, high) = (op.value(n, 2 * i), op.value(n, 2 * i + 1));
                if !low.is_none() {
                    put(l, mem, dst32(st, low, w), l.iand(both, l.isplat(0xFFFF)));
                }
                if !high.is_none() {
                    put(l, mem, dst32(st, high, w), ops::shr(l, both, 16));
                }
            }
        }
        return;
    }
    for i in 0..n {
        // SAFETY: one of the op's values.
        let x = unsafe { op.value(n, i) };
        if x.is_none() {
            continue;
        }
        let mut row = Row::NEW;
        // SAFETY: a row is good for sixteen lanes, and written; the op's register; the rest is the caller's.
        unsafe {
            warp::load_any::<L, C16>(l, r, row.at(), p, k, 2 * i as u32, 2 * n as u32, ex);
            put(l, mem, dst32(st, x, w), l.iload(row.at().cast()));
        }
    }
}

/// Where warp `w` has register `x`.
#[inline(always)]
fn from(st: &State, x: Reg, w: usize) -> *const u32 {
    let (v, s) = src32(st, x);
    v.wrapping_add(w * s)
}

/// Stores warp `w`'s lanes `ex`.
///
/// # Safety
/// As [`load`].
#[inline(always)]
pub unsafe fn store<L: Steps>(l: L, st: &State, op: At, r: Extent, w: usize, p: *const u32, k: u32, ex: u16) {
    let (mem, n) = (mem_of(op.e), n_of(op.e));
    if n == 1 {
        let mut row = Row::NEW;
        // SAFETY: the op's register, a row that is written; the offsets are the caller's.
        unsafe {
            l.istore(row.at().cast(), take(l, mem, from(st, op.d, w)));
            warp::store_any::<L, C16>(l, r, row.at(), p, k, ex);
        }
        return;
    }
    // SAFETY: the caller's.
    if !n.is_multiple_of(2) || !r.holds_lanes(l, unsafe { &*(p as *const [u32; 16]) }, k, n as u32 * 2, ex) {
        for lane in Bits(ex as u32) {
            // SAFETY: the caller's.
            unsafe { store_values(st, op, r, w, lane, (*p.add(lane)).wrapping_add(k) as u64) };
        }
        return;
    }
    let mut rows = [Row::NEW; MOST];
    let mut v = [std::ptr::null(); MOST];
    for i in 0..(n / 2).min(MOST) {
        let row = &mut rows[i];
        // SAFETY: two of the op's values, and a row.
        unsafe {
            let low = take(l, mem, from(st, op.value(n, 2 * i), w));
            let high = take(l, mem, from(st, op.value(n, 2 * i + 1), w));
            l.istore(row.at().cast(), l.ior(low, ops::shl(l, high, 16)));
        }
        v[i] = row.at().cast_const();
    }
    // SAFETY: rows that have been written; the offsets are the caller's.
    unsafe {
        match &v[..(n / 2).min(MOST)] {
            [v] => warp::store32(l, r, *v, p, k, ex),
            v => warp::store32n(l, r, v, p, k, ex),
        }
    }
}
