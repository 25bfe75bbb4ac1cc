//! Products of matrices of 16 × 16 elements, one of each in a warp: row r is register r of the warp, column c its lane c.
//!
//! Every level computes the same chain of roundings: an element begins as the third matrix has it, and for each k in order there is one
//! fused multiply–add; results of 16 bits are then rounded. Integers of 8 bits need no order. Where the CPU has no instruction for them, they are multiplied as
//! pairs in 16-bit halves, which is exact.

mod bytes;
mod floats;
#[cfg(target_arch = "x86_64")]
mod vnni;

use super::Registry;
use super::mask::Bits;
use crate::kernel;
use crate::state::{At, State};
use shader::bytecode::{Code, Op, PRODUCT_AT_ONCE, ProductGroup, Reg, UNIT_BYTES};
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

/// Words of 16 lanes, as vectors are loaded.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Lanes([u32; 16]);

/// A left matrix of bytes, as products want it.
struct PackedLeft([Lanes; ROWS]);
/// A right one.
struct PackedRight([Lanes; ROWS / 2]);

/// The packed matrices of a warp's products.
struct Packs {
    left: [MaybeUninit<PackedLeft>; MOST],
    right: [MaybeUninit<PackedRight>; MOST],
    /// Those that have been packed, a bit each.
    there: [u16; 2],
    /// By instructions for products of bytes.
    #[cfg(target_arch = "x86_64")]
    vnni: bool,
}

impl Packs {
    #[inline(always)]
    fn new<S: Simd>(_: S) -> Packs {
        let (left, right) =
            ([const { MaybeUninit::uninit() }; MOST], [const { MaybeUninit::uninit() }; MOST]);
        Packs {
            left,
            right,
            there: [0; 2],
            #[cfg(target_arch = "x86_64")]
            vnni: S::ONE_VECTOR && vnni::is_there(),
        }
    }

    /// Packs the left matrix, unless it has been.
    ///
    /// # Safety
    /// The rows are a live warp's; matrices of the same number have been the same one since `there` was 0.
    #[inline(always)]
    unsafe fn left<S: Simd>(&mut self, s: S, x: &Rows, signs: [bool; 2], number: usize) {
        if self.there[0] >> number & 1 != 0 {
            return;
        }
        self.there[0] |= 1 << number;
        let to = &mut self.left[number];
        // SAFETY (all): the caller's; of the CPU that was asked.
        #[cfg(target_arch = "x86_64")]
        if self.vnni {
            return unsafe { vnni::pack_left(x, signs, to) };
        }
        unsafe { bytes::pack_left(s, x, signs[0], to) }
    }

    /// Packs the right matrix, unless it has been.
    ///
    /// # Safety
    /// As [`Packs::left`].
    #[inline(always)]
    unsafe fn right<S: Simd>(&mut self, s: S, x: &Rows, signs: [bool; 2], number: usize) {
        if self.there[1] >> number & 1 != 0 {
            return;
        }
        self.there[1] |= 1 << number;
        let to = &mut self.right[number];
        // SAFETY (all): as in `left`.
        #[cfg(target_arch = "x86_64")]
        if self.vnni {
            return unsafe { vnni::pack_right(x, signs, to) };
        }
        unsafe { bytes::pack_right(s, x, signs[1], to) }
    }

    /// A product of bytes.
    ///
    /// # Safety
    /// As [`Packs::left`].
    #[inline(always)]
    unsafe fn one<S: Simd>(&mut self, s: S, x: &Rows, signs: [bool; 2], at_once: bool, [l, r]: [usize; 2]) {
        // SAFETY: the caller's; both matrices have been packed.
        unsafe {
            self.left(s, x, signs, l);
            self.right(s, x, signs, r);
            let (left, right) = (&self.left[l], &self.right[r]);
            // These packs are shorter than their types.
            #[cfg(target_arch = "x86_64")]
            if self.vnni {
                return vnni::one(x, signs[1], at_once, left, right);
            }
            bytes::one(s, x, at_once, left.assume_init_ref(), right.assume_init_ref());
        }
    }

    /// A pair of products of bytes, if there are instructions for it.
    ///
    /// # Safety
    /// As [`Packs::left`]; they are a pair.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn two<S: Simd>(&mut self, s: S, x: [&Rows; 2], signs: [bool; 2], numbers: [[u8; 2]; 2]) {
        let [l, first, second] = [numbers[0][0] as usize, numbers[0][1] as usize, numbers[1][1] as usize];
        // SAFETY: the caller's; the matrices have been packed.
        unsafe {
            self.left(s, x[0], signs, l);
            self.right(s, x[0], signs, first);
            self.right(s, x[1], signs, second);
            vnni::two(x[0], x[1], signs[1], &self.left[l], [&self.right[first], &self.right[second]]);
        }
    }
}

/// A warp of which some lanes do not execute: what they have of the left and the right matrix counts as 0.
///
/// # Safety
/// The rows are a live warp's.
#[cold]
#[inline(always)]
unsafe fn masked<S: Simd>(s: S, kind: Product, x: &Rows, lanes: u16) {
    let mut own = Own([[[0; 16]; ROWS]; 4]);
    let there = Lanes(std::array::from_fn(|l| if lanes >> l & 1 != 0 { !0 } else { 0 }));
    // All is read before anything is written.
    for m in 1..4 {
        for i in 0..ROWS {
            // SAFETY: the caller's; rows of our own.
            unsafe {
                let mut v = s.iload(x.row(m, i));
                if m != 3 {
                    v = s.iand(v, s.iload((&raw const there).cast()));
                }
                s.istore((&raw mut own.0[m][i]).cast(), v);
            }
        }
    }
    let mine = Rows { base: (&raw mut own).cast(), at: &OWN };
    // SAFETY: rows of our own; the caller's.
    unsafe {
        match kind.is_float() {
            true => floats::one(s, &mine, false, kind == Product::F16),
            false => Packs::new(s).one(s, &mine, kind.signs(), false, [0; 2]),
        }
        for (i, row) in own.0[0].iter().enumerate() {
            s.istore(x.to(i), s.iload((&raw const *row).cast()));
        }
    }
}

/// Products that are done together, at most.
const MOST: usize = ProductGroup::MOST;

/// A product of the wave's warps.
struct Step {
    kind: Product,
    float: bool,
    half: bool,
    signs: [bool; 2],
    at_once: bool,
    group: ProductGroup,
    places: Places,
    /// Which of the registers are the same for all warps, if any.
    uniform: bool,
}

impl Step {
    /// # Safety
    /// The op is a product.
    #[inline(always)]
    unsafe fn write<S: Simd>(s: S, op: At, to: &mut MaybeUninit<Step>) {
        // Extension words are registers in a row ([`At::value`]).
        // SAFETY: the caller's: eight words follow.
        let registers = unsafe { &*op.on(1).cast::<[[u16; ROWS]; 4]>() };
        let to = to.as_mut_ptr();
        let mut any = s.isplat(0);
        for (m, registers) in registers.iter().enumerate() {
            // SAFETY: sixteen numbers; places of the step's, which are aligned as vectors are.
            unsafe {
                let r = s.iwiden16(registers.as_ptr().cast());
                any = s.ior(any, r);
                let unit = s.iand(r, s.isplat(!Reg::UNIFORM as u32));
                s.istore((&raw mut (*to).places.0[m]).cast(), s.ishl(unit, s.isplat(UNIT_BYTES.ilog2())));
            }
        }
        // SAFETY: as above.
        unsafe {
            let kind = Product::from_number(op.e & !PRODUCT_AT_ONCE).unwrap_or(Product::F32);
            (*to).kind = kind;
            (*to).float = kind.is_float();
            (*to).half = kind == Product::F16;
            (*to).signs = kind.signs();
            (*to).at_once = op.e & PRODUCT_AT_ONCE != 0;
            (*to).group = ProductGroup::of(op.imm);
            let uniform = s.iand(any, s.isplat(Reg::UNIFORM as u32));
            (*to).uniform = s.mbits(s.ieq(uniform, s.isplat(0))) != 0xFFFF;
        }
    }

    /// A warp's matrices. `own`: where rows lie if some registers are the same for all warps.
    ///
    /// # Safety
    /// The step is the op's at `op`, the warp is live.
    #[inline(always)]
    unsafe fn rows<'a, S: Simd>(
        &'a self,
        s: S,
        st: &State,
        op: At,
        w: usize,
        own: &'a mut Places,
    ) -> Rows<'a> {
        let warp = w * UNIT_BYTES;
        if !self.uniform {
            return Rows { base: st.regs.wrapping_add(warp), at: &self.places };
        }
        // SAFETY: as in `write`.
        unsafe {
            let registers = &*op.on(1).cast::<[[u16; ROWS]; 4]>();
            for (m, registers) in registers.iter().enumerate() {
                let bit = s.iand(s.iwiden16(registers.as_ptr().cast()), s.isplat(Reg::UNIFORM as u32));
                let varying = s.ieq(bit, s.isplat(0));
                let more = s.isel(varying, s.isplat(warp as u32), s.isplat(0));
                let at = s.iload((&raw const self.places.0[m]).cast());
                s.istore((&raw mut own.0[m]).cast(), s.iadd(at, more));
            }
        }
        Rows { base: st.regs, at: own }
    }
}

/// One warp's products.
///
/// # Safety
/// The steps are the ops', the warp is live.
#[inline(always)]
unsafe fn warp<S: Simd>(s: S, st: &State, steps: &[Step], ops: &[At], packs: &mut Packs, w: usize) {
    packs.there = [0; 2];
    let lanes = st.exec[w];
    let mut own = [Places([[0; ROWS]; 4]); 2];
    let [own, of_next] = &mut own;
    let mut i = 0;
    while let Some(step) = steps.get(i) {
        // SAFETY (all): the caller's; the group's marks are the encoder's, and the bytecode's check has seen them.
        unsafe {
            let x = step.rows(s, st, ops[i], w, own);
            i += 1;
            if lanes != 0xFFFF {
                masked(s, step.kind, &x, lanes);
                continue;
            }
            let pair = steps.get(i).filter(|_| step.group.pair);
            match (step.float, pair) {
                (true, Some(next)) if S::ONE_VECTOR => {
                    floats::two(s, &x, &next.rows(s, st, ops[i], w, of_next), step.half);
                    i += 1;
                }
                (true, _) => floats::one(s, &x, step.at_once, step.half),
                #[cfg(target_arch = "x86_64")]
                (false, Some(next)) if packs.vnni => {
                    let numbers = [step.group.matrices, next.group.matrices];
                    packs.two(s, [&x, &next.rows(s, st, ops[i], w, of_next)], step.signs, numbers);
                    i += 1;
                }
                (false, _) => {
                    let [left, right] = step.group.matrices;
                    packs.one(s, &x, step.signs, step.at_once, [left as usize, right as usize]);
                }
            }
        }
    }
}

/// Products that follow each other go warp by warp: what a warp's matrices take stays in the L1, a whole wave's does not.
#[inline(always)]
fn run<S: Simd>(s: S, st: &mut State, op: At) -> *const Op {
    let mut steps = [const { MaybeUninit::<Step>::uninit() }; MOST];
    let (mut ops, mut n, mut next) = ([op; MOST], 0, op);
    let count = ProductGroup::of(op.imm).count as usize;
    while n < count && next.code == Code::PRODUCT {
        // SAFETY: it is a product.
        unsafe { Step::write(s, next, &mut steps[n]) };
        ops[n] = next;
        n += 1;
        // SAFETY: an op follows.
        next = unsafe { At::new(next.after(4 * ROWS)) };
    }
    let mut packs = Packs::new(s);
    // SAFETY: so many have been written; live warps.
    unsafe {
        let steps = std::slice::from_raw_parts(steps.as_ptr().cast::<Step>(), n);
        for w in Bits(st.live) {
            warp(s, st, steps, &ops[..n], &mut packs, w);
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
