//! Products of bytes, as pairs in 16-bit halves of words. Both matrices are packed first; products that read the same one share the pack.

use super::{Lanes, PackedLeft, PackedRight, ROWS, Rows};
use simd::Simd;
use std::mem::MaybeUninit;

/// Bytes as 16-bit halves of words: of two numbers a word.
#[inline(always)]
fn halves<S: Simd>(s: S, bytes: S::I, signed: bool) -> S::I {
    if signed { s.ihigh_bytes(s.ishl(bytes, s.isplat(8))) } else { bytes }
}

/// Of each row, bytes of lanes 2 k and 2 k + 1 in the halves of lane 2 k.
///
/// # Safety
/// The rows are a live warp's.
#[inline(always)]
pub unsafe fn pack_left<S: Simd>(s: S, x: &Rows, signed: bool, to: &mut MaybeUninit<PackedLeft>) {
    let to = to.as_mut_ptr().cast::<Lanes>();
    for i in 0..ROWS {
        let own: *mut u8 = to.wrapping_add(i).cast();
        // SAFETY: the caller's; a row of the pack, which is as long as eight words of 64 bits.
        unsafe {
            s.istore(own, s.iand(s.iload(x.left(i)), s.isplat(0xFF)));
            let wide = own.cast::<[u64; 8]>();
            for k in 0..8 {
                (*wide)[k] |= (*wide)[k] >> 16;
            }
            s.istore(own, halves(s, s.iload(own), signed));
        }
    }
}

/// Bytes of row 2 k and of the next row, in lanes' halves.
///
/// # Safety
/// The rows are a live warp's.
#[inline(always)]
pub unsafe fn pack_right<S: Simd>(s: S, x: &Rows, signed: bool, to: &mut MaybeUninit<PackedRight>) {
    let to = to.as_mut_ptr().cast::<Lanes>();
    let (low, next) = (s.isplat(0xFF), s.isplat(16));
    for k in 0..ROWS / 2 {
        // SAFETY: the caller's; a row of the pack.
        unsafe {
            let (even, odd) = (s.iload(x.right(2 * k)), s.iload(x.right(2 * k + 1)));
            let both = s.ior(s.iand(even, low), s.ishl(s.iand(odd, low), next));
            s.istore(to.wrapping_add(k).cast(), halves(s, both, signed));
        }
    }
}

/// Sums of four rows from row `first` on, two k at a time.
macro_rules! sums {
    ($s:ident, $x:ident, $left:ident, $right:ident, $at_once:ident, $first:expr, $all:ident, [$($i:literal $sum:ident),*]) => {{
        // SAFETY (all): the rows are a live warp's.
        unsafe {
            $(let mut $sum = $s.iload($x.sum($first + $i));)*
            for k in 0..ROWS / 2 {
                let row = $s.iload((&raw const $right.0[k]).cast());
                $($sum = $s.iadd($sum, $s.imadd16($s.isplat($left.0[$first + $i].0[2 * k]), row));)*
            }
            if $at_once {
                $($s.istore($x.to($first + $i), $sum);)*
            } else {
                $($all[$first + $i].write($sum);)*
            }
        }
    }};
}

/// # Safety
/// The rows are a live warp's.
#[inline(always)]
pub unsafe fn one<S: Simd>(s: S, x: &Rows, at_once: bool, left: &PackedLeft, right: &PackedRight) {
    let mut all = [const { MaybeUninit::<S::I>::uninit() }; ROWS];
    for first in [0, 4, 8, 12] {
        sums!(s, x, left, right, at_once, first, all, [0 s0, 1 s1, 2 s2, 3 s3]);
    }
    if at_once {
        return;
    }
    for (i, row) in all.iter().enumerate() {
        // SAFETY: the caller's; all have been written.
        unsafe { s.istore(x.to(i), row.assume_init_read()) };
    }
}
