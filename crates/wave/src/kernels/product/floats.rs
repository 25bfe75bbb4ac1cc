//! Products of floats: for each row of the result and each k in order, one fused multiply–add of the right matrix's row k.

use super::{ROWS, Rows};
use simd::Simd;
use std::mem::MaybeUninit;

/// Sums of some rows from row `first` on. Each is a variable of its own, which stays in a register for all of k.
macro_rules! sums {
    ($s:ident, $x:ident, $at_once:ident, $half:ident, $first:expr, $all:ident, [$($i:literal $sum:ident $row:ident),*]) => {{
        // SAFETY (all): the rows are a live warp's; k is one of its lanes.
        unsafe {
            $(let $row = $x.left($first + $i).cast::<f32>();
            let mut $sum = $s.fload($x.sum($first + $i));)*
            for k in 0..ROWS {
                let row = $s.fload($x.right(k));
                $($sum = $s.fma($s.fsplat(*$row.add(k)), row, $sum);)*
            }
            if $half {
                $($sum = $s.f16_to_f($s.f_to_f16($sum));)*
            }
            if $at_once {
                $($s.fstore($x.to($first + $i), $sum);)*
            } else {
                $($all[$first + $i].write($sum);)*
            }
        }
    }};
}

/// # Safety
/// The rows are a live warp's.
#[inline(always)]
pub unsafe fn one<S: Simd>(s: S, x: &Rows, at_once: bool, half: bool) {
    let mut all = [const { MaybeUninit::<S::F>::uninit() }; ROWS];
    // As many rows together as registers hold: a step waits for the one before.
    if S::ONE_VECTOR {
        for first in [0, 8] {
            sums!(s, x, at_once, half, first, all, [0 s0 r0, 1 s1 r1, 2 s2 r2, 3 s3 r3, 4 s4 r4, 5 s5 r5, 6 s6 r6, 7 s7 r7]);
        }
    } else {
        for first in [0, 4, 8, 12] {
            sums!(s, x, at_once, half, first, all, [0 s0 r0, 1 s1 r1, 2 s2 r2, 3 s3 r3]);
        }
    }
    if at_once {
        return;
    }
    for (i, row) in all.iter().enumerate() {
        // SAFETY: the caller's; all have been written.
        unsafe { s.fstore(x.to(i), row.assume_init_read()) };
    }
}

/// Sums of eight rows of two products.
macro_rules! pair_sums {
    ($s:ident, $x:ident, $y:ident, $half:ident, $first:expr, [$($i:literal $a:ident $b:ident $row:ident),*]) => {{
        // SAFETY (all): the rows are a live warp's; k is one of its lanes.
        unsafe {
            $(let $row = $x.left($first + $i).cast::<f32>();
            let (mut $a, mut $b) = ($s.fload($x.sum($first + $i)), $s.fload($y.sum($first + $i)));)*
            for k in 0..ROWS {
                let rows = [$s.fload($x.right(k)), $s.fload($y.right(k))];
                $(let factor = $s.fsplat(*$row.add(k));
                $a = $s.fma(factor, rows[0], $a);
                $b = $s.fma(factor, rows[1], $b);)*
            }
            if $half {
                $($a = $s.f16_to_f($s.f_to_f16($a));
                $b = $s.f16_to_f($s.f_to_f16($b));)*
            }
            $($s.fstore($x.to($first + $i), $a);
            $s.fstore($y.to($first + $i), $b);)*
        }
    }};
}

/// Two products of one left matrix, each element of which is then read once for both; for levels with 32 registers of sixteen lanes.
///
/// # Safety
/// The rows are a live warp's, and the products are a pair ([`shader::bytecode::ProductGroup::pair`]).
#[inline(always)]
pub unsafe fn two<S: Simd>(s: S, x: &Rows, y: &Rows, half: bool) {
    for first in [0, 8] {
        pair_sums!(s, x, y, half, first, [
            0 a0 b0 r0, 1 a1 b1 r1, 2 a2 b2 r2, 3 a3 b3 r3, 4 a4 b4 r4, 5 a5 b5 r5, 6 a6 b6 r6, 7 a7 b7 r7
        ]);
    }
}
