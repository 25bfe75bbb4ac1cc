//! The portable forms of lane-wise ops: one loop an op over the rows of its operands, called by pointer. What is made of several
//! ops (pairs, twins, comparisons that branch) calls each one's loop with a result of its own between them, so that no op is
//! compiled for it again. Where there are vectors for it, an op is compiled into each of its places instead: `map.rs`,
//! `pair.rs`, `twin.rs`, `fused.rs`.

use super::map::{Class, I, Op1, Op2, Op3, stride};
use super::mask::Bits;
use super::regs::reg;
use crate::state::{At, State};
use shader::bytecode::{Op, Reg};
use simd::Portable;
use simd::rows::Rows;
use std::mem::MaybeUninit;

/// One op over the warps `live`: the first warp's result at `d`, the others' after it as its class lies.
///
/// # Safety
/// The operands that the op has, and `d`, are good for the rows of those warps, as the op's classes have them.
pub type Loop = unsafe fn(d: *mut u8, x: [Rows; 3], live: u32);

/// # Safety
/// As [`Loop`].
#[inline(never)]
pub unsafe fn loop1<O: Op1>(d: *mut u8, [a, ..]: [Rows; 3], live: u32) {
    for w in Bits(live) {
        // SAFETY: the caller's.
        unsafe {
            let a = O::A::load(Portable, a.warp(w));
            O::R::store(Portable, d.add(w * O::R::BYTES), O::f(Portable, a));
        }
    }
}
/// # Safety
/// As [`Loop`].
#[inline(never)]
pub unsafe fn loop2<O: Op2>(d: *mut u8, [a, b, _]: [Rows; 3], live: u32) {
    for w in Bits(live) {
        // SAFETY: the caller's.
        unsafe {
            let (a, b) = (O::A::load(Portable, a.warp(w)), O::B::load(Portable, b.warp(w)));
            O::R::store(Portable, d.add(w * O::R::BYTES), O::f(Portable, a, b));
        }
    }
}
/// # Safety
/// As [`Loop`].
#[inline(never)]
pub unsafe fn loop3<O: Op3>(d: *mut u8, [a, b, c]: [Rows; 3], live: u32) {
    for w in Bits(live) {
        // SAFETY: the caller's.
        unsafe {
            let (a, b) = (O::A::load(Portable, a.warp(w)), O::B::load(Portable, b.warp(w)));
            let c = O::C::load(Portable, c.warp(w));
            O::R::store(Portable, d.add(w * O::R::BYTES), O::f(Portable, a, b, c));
        }
    }
}

/// A class, for who does not know it when compiled.
#[derive(Clone, Copy)]
pub struct Layout {
    bytes: usize,
    bool: bool,
}

impl Layout {
    pub const fn of<C: Class>() -> Layout {
        Layout { bytes: C::BYTES, bool: C::BOOL }
    }

    /// Where the warps of an operand lie.
    #[inline(always)]
    fn rows(self, st: &State, r: Reg) -> Rows {
        Rows { at: reg(st, r), step: stride(r, self.bytes, self.bool) }
    }
}

/// An op of the IR: its loop, how its operands lie, and its result.
pub struct Single {
    pub run: Loop,
    pub operands: &'static [Layout],
    pub result: Layout,
}

/// The kernel of a single op.
///
/// # Safety
/// `op` is one of `single`'s.
pub unsafe fn single(st: &mut State, op: At, single: &Single) -> *const Op {
    let o = &*op;
    let mut x = [Rows::NONE; 3];
    let mut same = true;
    for ((x, r), layout) in x.iter_mut().zip([o.a, o.b, o.c]).zip(single.operands) {
        same &= r.is_uniform();
        *x = layout.rows(st, r);
    }
    // As `map::is_uniform` has it.
    let uniform = if single.result.bool { same } else { o.d.is_uniform() };
    let d = reg(st, o.d);
    // SAFETY: the op's registers, laid out as its code has them.
    unsafe { (single.run)(d, x, if uniform { 1 } else { st.live }) };
    if single.result.bool && uniform {
        // Every warp's mask, dead warps too: a uniform Bool is whole wherever it is looked at.
        // SAFETY: a Bool register has a unit, and the first warp's mask was just written.
        unsafe {
            let mask = d.cast::<u16>().read();
            d.cast::<[u16; 16]>().write([mask; 16]);
        }
    }
    op.on(1)
}

/// A register of 32 bits.
#[inline(always)]
pub fn row(st: &State, r: Reg) -> Rows {
    const { Layout::of::<I>() }.rows(st, r)
}

/// Room for a result of 32 bits of all warps.
#[repr(C, align(64))]
pub struct Between(MaybeUninit<[[u32; 16]; 16]>);

impl Between {
    pub fn new() -> Between {
        Between(MaybeUninit::uninit())
    }
    pub fn at(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
    pub fn rows(&mut self) -> Rows {
        Rows { at: self.at(), step: 64 }
    }
}

/// Second op with the result of the first as its operand `at`.
pub struct Two {
    pub first: Loop,
    pub second: Loop,
    /// Operands of the first, and of both but for the result between them.
    pub split: usize,
    pub operands: usize,
    pub at: usize,
}

impl Two {
    /// # Safety
    /// As [`Loop`]: the operands are the first op's, then the second's others.
    pub unsafe fn run(&self, d: *mut u8, x: &[Rows; 5], live: u32) {
        let mut between = Between::new();
        // SAFETY: the caller's; there is room for all warps between.
        unsafe { (self.first)(between.at(), [x[0], x[1], x[2]], live) };
        let mut rest = x[self.split..self.operands].iter();
        let mut y = [Rows::NONE; 3];
        for (k, y) in y.iter_mut().enumerate() {
            *y = if k == self.at { between.rows() } else { rest.next().copied().unwrap_or(Rows::NONE) };
        }
        // SAFETY: the caller's; the first op has written those warps.
        unsafe { (self.second)(d, y, live) };
    }
}

/// The kernel of a pair.
///
/// # Safety
/// `op` is that pair.
pub unsafe fn pair(st: &mut State, op: At, two: &Two) -> *const Op {
    let o = &*op;
    let mut x = [Rows::NONE; 5];
    for (x, r) in x.iter_mut().zip([o.a, o.b, o.c, Reg(o.e), Reg(o.imm as u16)]).take(two.operands) {
        *x = row(st, r);
    }
    // SAFETY: the op's registers.
    unsafe { two.run(reg(st, o.d), &x, st.live) };
    op.on(1)
}
