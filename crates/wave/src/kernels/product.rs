//! Products of matrices of 16 × 16 elements, one of each in a warp: row r is register r of the warp, column c its lane c.
//!
//! Every level computes the same chain of roundings: an element begins as the third matrix has it, and for each k in order there is one
//! fused multiply–add; results of 16 bits are then rounded. Integers of 8 bits need no order. Where the CPU has no instruction for them, they are multiplied as
//! pairs in 16-bit halves, which is exact.

use super::Registry;
use super::mask::Bits;
use crate::kernel;
use crate::state::{At, State};
use shader::bytecode::{Code, Op, PRODUCT_AT_ONCE, Reg, UNIT_BYTES};
use shader::ir::Product;
use shader::isa::code::ROWS;
use simd::Simd;
use std::mem::MaybeUninit;

/// Bytes from a base to the rows of a product's matrices: of the result, and of the left one, the right one, and the third.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Places([[u32; ROWS]; 4]);

/// The matrices of one warp. Results may take the place of what is read: all of it is read first.
#[derive(Clone, Copy)]
struct Rows<'a> {
    base: *mut u8,
    at: &'a Places,
}

impl Rows<'_> {
    #[inline(always)]
    fn row(&self, matrix: usize, i: usize) -> *mut u8 {
        self.base.wrapping_add(self.at.0[matrix][i] as usize)
    }
    #[inline(always)]
    fn to(&self, i: usize) -> *mut u8 {
        self.row(0, i)
    }
    #[inline(always)]
    fn left(&self, i: usize) -> *const u8 {
        self.row(1, i)
    }
    #[inline(always)]
    fn right(&self, i: usize) -> *const u8 {
        self.row(2, i)
    }
    #[inline(always)]
    fn sum(&self, i: usize) -> *const u8 {
        self.row(3, i)
    }
}

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
unsafe fn floats<S: Simd>(s: S, x: &Rows, at_once: bool, half: bool) {
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

/// Matrices of our own: result, left, right, third.
#[repr(align(64))]
struct Own([[[u32; 16]; ROWS]; 4]);

/// Where their rows lie.
static OWN: Places = {
    let mut at = [[0; ROWS]; 4];
    let mut i = 0;
    while i < 4 * ROWS {
        at[i / ROWS][i % ROWS] = (i * UNIT_BYTES) as u32;
        i += 1;
    }
    Places(at)
};

/// Bytes as 16-bit halves of words: of two numbers a word.
#[inline(always)]
fn halves<S: Simd>(s: S, bytes: S::I, signed: bool) -> S::I {
    if signed { s.ihigh_bytes(s.ishl(bytes, s.isplat(8))) } else { bytes }
}

/// Sums of four rows from row `first` on, by products of pairs of bytes in 16-bit halves, two k at a time.
macro_rules! byte_sums {
    ($s:ident, $x:ident, $left:ident, $right:ident, $first:expr, $all:ident, [$($i:literal $sum:ident),*]) => {{
        // SAFETY (all): the rows are a live warp's; the pairs have been written.
        unsafe {
            $(let mut $sum = $s.iload($x.sum($first + $i));)*
            for k in 0..ROWS / 2 {
                let row = $s.iload($right[k].as_ptr().cast());
                $($sum = $s.iadd($sum, $s.imadd16($s.isplat((*$left[$first + $i].as_ptr()).0[2 * k]), row));)*
            }
            $($all[$first + $i].write($sum);)*
        }
    }};
}

/// Words of 16 lanes, as vectors are loaded.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Lanes([u32; 16]);

/// # Safety
/// The rows are a live warp's.
#[inline(always)]
unsafe fn bytes<S: Simd>(s: S, x: &Rows, signs: [bool; 2]) {
    // Bytes of row 2 k and of the next row, in lanes' halves.
    let mut right = [const { MaybeUninit::<Lanes>::uninit() }; ROWS / 2];
    // Bytes of lanes 2 k and 2 k + 1, in the halves of lane 2 k.
    let mut left = [const { MaybeUninit::<Lanes>::uninit() }; ROWS];
    let mut all = [const { MaybeUninit::<S::I>::uninit() }; ROWS];
    let (low, next) = (s.isplat(0xFF), s.isplat(16));
    for k in 0..ROWS / 2 {
        // SAFETY: the caller's; rows of our own.
        unsafe {
            let (even, odd) = (s.iload(x.right(2 * k)), s.iload(x.right(2 * k + 1)));
            let both = s.ior(s.iand(even, low), s.ishl(s.iand(odd, low), next));
            s.istore(right[k].as_mut_ptr().cast(), halves(s, both, signs[1]));
        }
    }
    for i in 0..ROWS {
        let own: *mut u8 = left[i].as_mut_ptr().cast();
        // SAFETY: as above; a row is as long as eight words of 64 bits.
        unsafe {
            s.istore(own, s.iand(s.iload(x.left(i)), low));
            let wide = own.cast::<[u64; 8]>();
            for k in 0..8 {
                (*wide)[k] |= (*wide)[k] >> 16;
            }
            s.istore(own, halves(s, s.iload(own), signs[0]));
        }
    }
    for first in [0, 4, 8, 12] {
        byte_sums!(s, x, left, right, first, all, [0 s0, 1 s1, 2 s2, 3 s3]);
    }
    for (i, row) in all.iter().enumerate() {
        // SAFETY: the caller's; all have been written.
        unsafe { s.istore(x.to(i), row.assume_init_read()) };
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
        for (i, to) in packed.iter_mut().enumerate() {
            // SAFETY: the caller's; sixteen bytes of our own.
            unsafe {
                let v = _mm512_cvtepi32_epi8(_mm512_loadu_si512(x.left(i).cast()));
                _mm_storeu_si128(to.as_mut_ptr().cast(), _mm_xor_si128(v, flip));
            }
        }
        let quad = |g: usize| {
            let byte = |k: usize| {
                // SAFETY: the caller's.
                let v = unsafe { _mm512_loadu_si512(x.right(4 * g + k).cast()) };
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
            *sum = unsafe { _mm512_add_epi32(*sum, _mm512_loadu_si512(x.sum(i).cast())) };
            for (g, v) in right.into_iter().enumerate() {
                let factor = _mm512_set1_epi32(packed[i][g] as i32);
                *sum = match right_signed {
                    true => _mm512_dpbusd_epi32(*sum, factor, v),
                    false => _mm512_dpbusd_epi32(*sum, v, factor),
                };
            }
        }
        for (i, row) in all.iter().enumerate() {
            // SAFETY: the caller's.
            unsafe { _mm512_storeu_si512(x.to(i).cast(), *row) };
        }
    }
}

/// # Safety
/// The rows are a live warp's.
#[inline(always)]
unsafe fn warp<S: Simd>(s: S, kind: Product, at_once: bool, x: &Rows) {
    // SAFETY (all): the caller's; of the CPU just asked.
    if !kind.is_float() {
        #[cfg(target_arch = "x86_64")]
        if S::ONE_VECTOR && vnni::is_there() {
            return unsafe { vnni::bytes(x, kind.signs()) };
        }
        return unsafe { bytes(s, x, kind.signs()) };
    }
    unsafe { floats(s, x, at_once, kind == Product::F16) }
}

/// A warp of which some lanes do not execute: what they have of the left and the right matrix counts as 0.
///
/// # Safety
/// The rows are a live warp's.
#[inline(always)]
unsafe fn masked<S: Simd>(s: S, kind: Product, x: &Rows, lanes: u16) {
    let mut own = Own([[[0; 16]; ROWS]; 4]);
    // All is read before anything is written.
    for m in 1..4 {
        for i in 0..ROWS {
            // SAFETY: the caller's.
            let v = unsafe { *x.row(m, i).cast::<[u32; 16]>() };
            let there = |l: usize| m == 3 || lanes >> l & 1 != 0;
            own.0[m][i] = std::array::from_fn(|l| if there(l) { v[l] } else { 0 });
        }
    }
    let mine = Rows { base: (&raw mut own).cast(), at: &OWN };
    // SAFETY: rows of our own; the caller's.
    unsafe {
        warp(s, kind, false, &mine);
        for (i, row) in own.0[0].iter().enumerate() {
            *x.to(i).cast::<[u32; 16]>() = *row;
        }
    }
}

/// Products that follow each other and are done together, at most.
const MOST: usize = 16;

/// A product of the wave's warps.
#[derive(Clone, Copy)]
struct Step {
    kind: Product,
    at_once: bool,
    places: Places,
    /// Which of the registers are the same for all warps, if any.
    uniform: bool,
}

impl Step {
    /// # Safety
    /// The op is a product.
    #[inline(always)]
    unsafe fn write(op: At, to: &mut MaybeUninit<Step>) {
        // Extension words are registers in a row ([`At::value`]).
        // SAFETY: the caller's: eight words follow.
        let registers = unsafe { &*op.on(1).cast::<[[u16; ROWS]; 4]>() };
        let to = to.as_mut_ptr();
        let mut any = 0;
        for m in 0..4 {
            for i in 0..ROWS {
                any |= registers[m][i];
                let at = (registers[m][i] & !Reg::UNIFORM) as u32 * UNIT_BYTES as u32;
                // SAFETY: a place of the step's.
                unsafe { (*to).places.0[m][i] = at };
            }
        }
        // SAFETY: as above.
        unsafe {
            (*to).kind = Product::from_number(op.e & !PRODUCT_AT_ONCE).unwrap_or(Product::F32);
            (*to).at_once = op.e & PRODUCT_AT_ONCE != 0;
            (*to).uniform = any & Reg::UNIFORM != 0;
        }
    }

    /// # Safety
    /// The step is the op's at `op`, the warp is live.
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, s: S, st: &State, op: At, w: usize) {
        let lanes = st.exec[w];
        if self.uniform || lanes != 0xFFFF {
            // SAFETY: the caller's.
            return unsafe { self.run_odd(s, st, op, w) };
        }
        let x = Rows { base: st.regs.wrapping_add(w * UNIT_BYTES), at: &self.places };
        // SAFETY: the caller's; the op's registers.
        unsafe { warp(s, self.kind, self.at_once, &x) };
    }

    /// Of a warp of which some lanes do not execute, or with registers that are the same for all warps.
    ///
    /// # Safety
    /// As [`Step::run`].
    #[inline(always)]
    unsafe fn run_odd<S: Simd>(&self, s: S, st: &State, op: At, w: usize) {
        // SAFETY: as in `write`.
        let registers = unsafe { &*op.on(1).cast::<[[u16; ROWS]; 4]>() };
        let mut at = self.places;
        for (at, register) in at.0.as_flattened_mut().iter_mut().zip(registers.as_flattened()) {
            *at += if register & Reg::UNIFORM != 0 { 0 } else { (w * UNIT_BYTES) as u32 };
        }
        let x = Rows { base: st.regs, at: &at };
        // SAFETY: the caller's; the op's registers.
        unsafe { masked(s, self.kind, &x, st.exec[w]) };
    }
}

/// Products that follow each other go warp by warp: what a warp's matrices take stays in the L1, a whole wave's does not.
#[inline(always)]
fn run<S: Simd>(s: S, st: &mut State, op: At) -> *const Op {
    let mut steps = [const { MaybeUninit::<Step>::uninit() }; MOST];
    let (mut ops, mut n, mut next) = ([op; MOST], 0, op);
    while n < MOST && next.code == Code::PRODUCT {
        // SAFETY: it is a product.
        unsafe { Step::write(next, &mut steps[n]) };
        ops[n] = next;
        n += 1;
        // SAFETY: an op follows.
        next = unsafe { At::new(next.after(4 * ROWS)) };
    }
    for w in Bits(st.live) {
        for (step, op) in steps[..n].iter().zip(ops) {
            // SAFETY: so many have been written; a live warp.
            unsafe { step.assume_init_ref().run(s, st, op, w) };
        }
    }
    next.ptr()
}

kernel! {
    RunProduct(S, s, st, op) {
        run(s, st, op)
    }
}

pub fn register(r: &mut Registry) {
    r.add::<RunProduct>(Code::PRODUCT);
}
