//! Loads and stores of one warp's bytes of which a lane has four or more: they are words in memory, taken apart and put together by
//! vectors.

use super::cell::Row;
use super::warp::{self, Extent};
use crate::kernels::regs::{dst32, src32};
use crate::state::{At, State};
use shader::bytecode::n_of;
use simd::{Steps, ops};

/// Words of a lane that sixteen of its bytes are.
const MOST: usize = 4;

/// Loads warp `w`: offsets `p + k`, lanes `ex`. False: some lie outside, and nothing was loaded.
///
/// # Safety
/// As [`super::linear::load_warp`]; the op's scalars are bytes, a multiple of four of them.
#[inline(always)]
pub unsafe fn load<L: Steps>(
    l: L,
    st: &State,
    op: At,
    r: Extent,
    w: usize,
    p: *const u32,
    k: u32,
    ex: u16,
) -> bool {
    let n = n_of(op.e);
    // Destinations may take the offsets' register.
    // SAFETY: the caller's.
    let own = unsafe { *(p as *const [u32; 16]) };
    if !r.holds_lanes(l, &own, k, n as u32, ex) {
        return false;
    }
    let mut rows = [Row::NEW; MOST];
    let mut d = [std::ptr::null_mut(); MOST];
    for i in 0..MOST {
        d[i] = rows[i].at();
    }
    let d = &d[..(n / 4).min(MOST)];
    // SAFETY: rows are good for sixteen lanes; the offsets are the caller's.
    unsafe {
        if let [d] = d {
            warp::load32(l, r, *d, own.as_ptr(), k, ex);
        } else {
            warp::load32n(l, r, d, own.as_ptr(), k, ex);
        }
    }
    let low = l.isplat(0xFF);
    for (i, row) in d.iter().enumerate() {
        // SAFETY: a row that has just been written.
        let four = unsafe { l.iload(row.cast()) };
        for (j, byte) in
            [four, ops::shr(l, four, 8), ops::shr(l, four, 16), ops::shr(l, four, 24)].into_iter().enumerate()
        {
            // SAFETY: one of the op's values.
            let to = unsafe { op.value(n, 4 * i + j) };
            if !to.is_none() {
                // SAFETY: the op's register.
                unsafe { l.istore(dst32(st, to, w).cast(), l.iand(byte, low)) };
            }
        }
    }
    true
}

/// Stores warp `w`'s lanes `ex`. False: some lie outside, and nothing was stored.
///
/// # Safety
/// As [`load`].
#[inline(always)]
pub unsafe fn store<L: Steps>(
    l: L,
    st: &State,
    op: At,
    r: Extent,
    w: usize,
    p: *const u32,
    k: u32,
    ex: u16,
) -> bool {
    let n = n_of(op.e);
    // SAFETY: the caller's.
    if !r.holds_lanes(l, unsafe { &*(p as *const [u32; 16]) }, k, n as u32, ex) {
        return false;
    }
    let (mut rows, mut v) = ([Row::NEW; MOST], [std::ptr::null(); MOST]);
    let low = l.isplat(0xFF);
    for i in 0..(n / 4).min(MOST) {
        let mut all = l.isplat(0);
        for (j, shift) in [0, 8, 16, 24].into_iter().enumerate() {
            // SAFETY: one of the op's values, a live warp's.
            let byte = unsafe {
                let (from, step) = src32(st, op.value(n, 4 * i + j));
                l.iand(l.iload(from.add(w * step).cast()), low)
            };
            all = l.ior(all, l.ishl(byte, l.isplat(shift)));
        }
        // SAFETY: a row is good for sixteen lanes.
        unsafe { l.istore(rows[i].at().cast(), all) };
        v[i] = rows[i].at().cast_const();
    }
    // SAFETY: rows that have been written; the offsets are the caller's.
    unsafe {
        match &v[..(n / 4).min(MOST)] {
            [v] => warp::store32(l, r, *v, p, k, ex),
            v => warp::store32n(l, r, v, p, k, ex),
        }
    }
    true
}
