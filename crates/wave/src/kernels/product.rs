//! Products of matrices of 16 × 16 elements, one of each in a warp: row r is register r of the warp, column c its lane c.
//!
//! Every level computes the same chain of roundings: an element begins as the third matrix has it, and for each k in order there is one
//! fused multiply–add. Integers of 8 bits need no order. Where the CPU has no instruction for them, they are multiplied as
//! floats, which is exact: sixteen products of two bytes stay below 2²⁴.

use super::Registry;
use super::mask::Bits;
use super::regs::{dst32, src32};
use crate::kernel;
use shader::bytecode::Code;
use shader::ir::Product;
use shader::isa::code::ROWS;
use simd::Simd;

/// One warp's matrix.
#[repr(align(64))]
struct Matrix([[u32; 16]; ROWS]);

/// Where the rows of one warp's matrices lie. Results may take the place of what is read: all of it is read first.
struct Rows {
    to: [*mut u8; ROWS],
    left: [*const u32; ROWS],
    right: [*const u32; ROWS],
    sum: [*const u32; ROWS],
}

/// Sums of some rows from row `first` on. Each is a variable of its own, which stays in a register for all of k.
macro_rules! sums {
    ($s:ident, $x:ident, $first:expr, $all:ident, [$($i:literal $sum:ident $row:ident),*]) => {{
        // SAFETY (all): the rows are a live warp's; k is one of its lanes.
        unsafe {
            $(let $row = $x.left[$first + $i].cast::<f32>();
            let mut $sum = $s.fload($x.sum[$first + $i].cast());)*
            for k in 0..ROWS {
                let row = $s.fload($x.right[k].cast());
                $($sum = $s.fma($s.fsplat(*$row.add(k)), row, $sum);)*
            }
            $($all[$first + $i] = $sum;)*
        }
    }};
}

/// # Safety
/// The rows are a live warp's.
#[inline(always)]
unsafe fn floats<S: Simd>(s: S, x: &Rows) {
    let mut all = [s.fsplat(0.0); ROWS];
    // As many rows together as registers hold: a step waits for the one before.
    if S::ONE_VECTOR {
        for first in [0, 8] {
            sums!(s, x, first, all, [0 s0 r0, 1 s1 r1, 2 s2 r2, 3 s3 r3, 4 s4 r4, 5 s5 r5, 6 s6 r6, 7 s7 r7]);
        }
    } else {
        for first in [0, 4, 8, 12] {
            sums!(s, x, first, all, [0 s0 r0, 1 s1 r1, 2 s2 r2, 3 s3 r3]);
        }
    }
    for (to, row) in x.to.iter().zip(all) {
        // SAFETY: the caller's.
        unsafe { s.fstore(*to, row) };
    }
}

/// Elements of 8 bits as floats.
///
/// # Safety
/// The rows are a live warp's.
#[inline(always)]
unsafe fn widened<S: Simd>(s: S, rows: &[*const u32; ROWS], signed: bool, to: &mut Matrix) {
    for (row, to) in rows.iter().zip(&mut to.0) {
        // SAFETY: the caller's.
        let v = unsafe { s.iload((*row).cast()) };
        let v =
            if signed { s.isar(s.ishl(v, s.isplat(24)), s.isplat(24)) } else { s.iand(v, s.isplat(0xFF)) };
        // SAFETY: a row of our own, aligned with the others.
        unsafe { s.fstore(to.as_mut_ptr().cast(), s.s_to_f(v)) };
    }
}

/// # Safety
/// The rows are a live warp's.
#[inline(always)]
unsafe fn bytes<S: Simd>(s: S, x: &Rows, signs: [bool; 2]) {
    let (mut left, mut right, zero) =
        (Matrix([[0; 16]; ROWS]), Matrix([[0; 16]; ROWS]), Matrix([[0; 16]; ROWS]));
    let mut product = Matrix([[0; 16]; ROWS]);
    // SAFETY: the caller's.
    unsafe {
        widened(s, &x.left, signs[0], &mut left);
        widened(s, &x.right, signs[1], &mut right);
    }
    let floats_of = Rows {
        to: std::array::from_fn(|i| product.0[i].as_mut_ptr().cast()),
        left: std::array::from_fn(|i| left.0[i].as_ptr()),
        right: std::array::from_fn(|i| right.0[i].as_ptr()),
        sum: std::array::from_fn(|i| zero.0[i].as_ptr()),
    };
    // SAFETY: rows of our own.
    unsafe { floats(s, &floats_of) };
    for i in 0..ROWS {
        // SAFETY: a row of our own, aligned with the others; the caller's.
        unsafe {
            let v = s.f_to_s_raw(s.fload(product.0[i].as_ptr().cast()));
            let v = s.iadd(v, s.iload(x.sum[i].cast()));
            s.istore(product.0[i].as_mut_ptr().cast(), v);
        }
    }
    for (to, row) in x.to.iter().zip(&product.0) {
        // SAFETY: as above.
        unsafe { s.istore(*to, s.iload(row.as_ptr().cast())) };
    }
}

/// By the instructions for products of bytes of AVX512-VNNI, which multiply unsigned by signed ones. Where both are of one kind, one is
/// taken as the other kind, 128 from what it is, and 128 times the sum of the other's column makes up for it.
#[cfg(target_arch = "x86_64")]
mod vnni {
    use super::{ROWS, Rows};
    use std::arch::x86_64::*;

    pub fn is_there() -> bool {
        is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512bw")
    }

    /// # Safety
    /// The CPU has the instructions; the rows are a live warp's.
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub unsafe fn bytes(x: &Rows, [left_signed, right_signed]: [bool; 2]) {
        let mut packed = [[0u32; 4]; ROWS];
        let flip = _mm_set1_epi8(if left_signed == right_signed { i8::MIN } else { 0 });
        for (row, to) in x.left.iter().zip(&mut packed) {
            // SAFETY: the caller's; sixteen bytes of our own.
            unsafe {
                let v = _mm512_cvtepi32_epi8(_mm512_loadu_si512((*row).cast()));
                _mm_storeu_si128(to.as_mut_ptr().cast(), _mm_xor_si128(v, flip));
            }
        }
        let quad = |g: usize| {
            let byte = |k: usize| {
                // SAFETY: the caller's.
                let v = unsafe { _mm512_loadu_si512(x.right[4 * g + k].cast()) };
                _mm512_and_si512(v, _mm512_set1_epi32(0xFF))
            };
            let (low, high) = (
                _mm512_or_si512(byte(0), _mm512_slli_epi32::<8>(byte(1))),
                _mm512_or_si512(_mm512_slli_epi32::<16>(byte(2)), _mm512_slli_epi32::<24>(byte(3))),
            );
            _mm512_or_si512(low, high)
        };
        let right = [quad(0), quad(1), quad(2), quad(3)];
        let ones = _mm512_set1_epi8(1);
        let mut columns = _mm512_setzero_si512();
        if left_signed == right_signed {
            for v in right {
                columns = match right_signed {
                    true => _mm512_dpbusd_epi32(columns, ones, v),
                    false => _mm512_dpbusd_epi32(columns, v, ones),
                };
            }
            columns = _mm512_slli_epi32::<7>(columns);
            if right_signed {
                columns = _mm512_sub_epi32(_mm512_setzero_si512(), columns);
            }
        }
        let mut all = [columns; ROWS];
        for (i, sum) in all.iter_mut().enumerate() {
            // SAFETY: the caller's.
            *sum = unsafe { _mm512_add_epi32(*sum, _mm512_loadu_si512(x.sum[i].cast())) };
            for (g, v) in right.into_iter().enumerate() {
                let factor = _mm512_set1_epi32(packed[i][g] as i32);
                *sum = match right_signed {
                    true => _mm512_dpbusd_epi32(*sum, factor, v),
                    false => _mm512_dpbusd_epi32(*sum, v, factor),
                };
            }
        }
        for (to, row) in x.to.iter().zip(all) {
            // SAFETY: the caller's.
            unsafe { _mm512_storeu_si512((*to).cast(), row) };
        }
    }
}

/// # Safety
/// The rows are a live warp's.
#[inline(always)]
unsafe fn warp<S: Simd>(s: S, kind: Product, x: &Rows) {
    // SAFETY (all): the caller's; of the CPU just asked.
    if !kind.is_float() {
        #[cfg(target_arch = "x86_64")]
        if S::ONE_VECTOR && vnni::is_there() {
            return unsafe { vnni::bytes(x, kind.signs()) };
        }
        return unsafe { bytes(s, x, kind.signs()) };
    }
    unsafe { floats(s, x) }
}

/// A row of which lanes that do not execute count as 0.
///
/// # Safety
/// It is a live warp's.
unsafe fn masked(row: *const u32, lanes: u16, to: &mut [u32; 16]) -> *const u32 {
    // SAFETY: the caller's.
    let v = unsafe { *row.cast::<[u32; 16]>() };
    *to = std::array::from_fn(|i| if lanes >> i & 1 != 0 { v[i] } else { 0 });
    to.as_ptr()
}

kernel! {
    RunProduct(S, s, st, op) {
        let kind = Product::from_number(op.e).unwrap_or(Product::F32);
        // SAFETY: the op has so many registers.
        let register = |m: usize, i: usize| unsafe { op.value(4 * ROWS, m * ROWS + i) };
        let base: [[(*const u32, usize); ROWS]; 3] =
            std::array::from_fn(|m| std::array::from_fn(|i| src32(st, register(m + 1, i))));
        for w in Bits(st.live) {
            let of = |m: usize| -> [*const u32; ROWS] {
                std::array::from_fn(|i| base[m][i].0.wrapping_add(w * base[m][i].1))
            };
            let mut x = Rows {
                to: std::array::from_fn(|i| dst32(st, register(0, i), w).cast()),
                left: of(0),
                right: of(1),
                sum: of(2),
            };
            let lanes = st.exec[w];
            let mut own = [Matrix([[0; 16]; ROWS]), Matrix([[0; 16]; ROWS])];
            if lanes != 0xFFFF {
                let [left, right] = &mut own;
                for i in 0..ROWS {
                    // SAFETY: the op's registers, a live warp.
                    unsafe {
                        x.left[i] = masked(x.left[i], lanes, &mut left.0[i]);
                        x.right[i] = masked(x.right[i], lanes, &mut right.0[i]);
                    }
                }
            }
            // SAFETY: the op's registers, a live warp.
            unsafe { warp(s, kind, &x) };
        }
        op.after(4 * ROWS)
    }
}

pub fn register(r: &mut Registry) {
    r.add::<RunProduct>(Code::PRODUCT);
}
