//! Kernels of [`shader::pairs`]: second(…, first(…), …) of 32 bits, made from the kernels' own functions.

use super::map::{Class, F, I, Op1, Op2, Op3, Weight};
use super::mask::Bits;
use super::operands::{Operands, by_uniform, five, warp_of};
use super::regs::reg;
use super::rows::{self, Loop, Two, loop1, loop2, loop3};
use super::{Registry, Run};
use super::{bin::*, math::FRsqrt, tri::*, un::*};
use crate::recording::{Record, Recording};
use crate::state::{At, State};
use shader::bytecode::{Code, Op, Reg};
use simd::Simd;
use std::marker::PhantomData;

/// A class of 32-bit lanes, as ints.
pub trait Word: Class {
    fn of<S: Simd>(s: S, x: S::I) -> Self::V<S>;
    fn int<S: Simd>(s: S, x: Self::V<S>) -> S::I;
}
impl Word for I {
    #[inline(always)]
    fn of<S: Simd>(_: S, x: S::I) -> S::I {
        x
    }
    #[inline(always)]
    fn int<S: Simd>(_: S, x: S::I) -> S::I {
        x
    }
}
impl Word for F {
    #[inline(always)]
    fn of<S: Simd>(s: S, x: S::I) -> S::F {
        s.from_bits(x)
    }
    #[inline(always)]
    fn int<S: Simd>(s: S, x: S::F) -> S::I {
        s.bits(x)
    }
}

/// An op over ints, of one to three operands.
pub trait Part: 'static {
    const N: usize;
    const WEIGHT: Weight;
    /// All of it at the portable level.
    const LOOP: Loop;
    fn f<S: Simd>(s: S, a: S::I, b: S::I, c: S::I) -> S::I;
}
pub struct P1<O>(PhantomData<O>);
pub struct P2<O>(PhantomData<O>);
pub struct P3<O>(PhantomData<O>);
impl<O: Op1> Part for P1<O>
where
    O::A: Word,
    O::R: Word,
{
    const N: usize = 1;
    const WEIGHT: Weight = O::WEIGHT;
    const LOOP: Loop = loop1::<O>;
    #[inline(always)]
    fn f<S: Simd>(s: S, a: S::I, _: S::I, _: S::I) -> S::I {
        O::R::int(s, O::f(s, O::A::of(s, a)))
    }
}
impl<O: Op2> Part for P2<O>
where
    O::A: Word,
    O::B: Word,
    O::R: Word,
{
    const N: usize = 2;
    const WEIGHT: Weight = O::WEIGHT;
    const LOOP: Loop = loop2::<O>;
    #[inline(always)]
    fn f<S: Simd>(s: S, a: S::I, b: S::I, _: S::I) -> S::I {
        O::R::int(s, O::f(s, O::A::of(s, a), O::B::of(s, b)))
    }
}
impl<O: Op3> Part for P3<O>
where
    O::A: Word,
    O::B: Word,
    O::C: Word,
    O::R: Word,
{
    const N: usize = 3;
    const WEIGHT: Weight = O::WEIGHT;
    const LOOP: Loop = loop3::<O>;
    #[inline(always)]
    fn f<S: Simd>(s: S, a: S::I, b: S::I, c: S::I) -> S::I {
        O::R::int(s, O::f(s, O::A::of(s, a), O::B::of(s, b), O::C::of(s, c)))
    }
}

/// Second op `B` with the result of `A` as its operand `AT`.
pub struct Pair<A, B, const AT: usize>(PhantomData<(A, B)>);

/// Which of the pair's operands operand `k` of the second op is, if it is not the first op's result.
const fn place(first: usize, at: usize, k: usize) -> usize {
    if k < at { first + k } else { first + k - (k > at) as usize }
}

impl<A: Part, B: Part, const AT: usize> Pair<A, B, AT> {
    const N: usize = A::N + B::N - 1;
    /// All of it at the portable level.
    pub const TWO: Two = Two { first: A::LOOP, second: B::LOOP, split: A::N, operands: Self::N, at: AT };

    #[inline(always)]
    pub fn both<S: Simd>(s: S, x: [S::I; 5]) -> S::I {
        let t = A::f(s, x[0], x[1], x[2]);
        let a = if AT == 0 { t } else { x[const { place(A::N, AT, 0) }] };
        let b = if AT == 1 { t } else { x[const { place(A::N, AT, 1) }] };
        // Of what does not exist any register will do.
        let c = if AT == 2 { t } else { x[const { if B::N > 2 { place(A::N, AT, 2) } else { 0 } }] };
        B::f(s, a, b, c)
    }

    /// One warp: operands whose bit in `U` is set are held, the others lie at `p` + `o` bytes.
    ///
    /// # Safety
    /// There they lie.
    #[inline(always)]
    unsafe fn warp<S: Simd, const U: u8>(s: S, held: &[S::I; 5], p: &[*const u8; 5], o: &[usize; 5]) -> S::I {
        Self::both(s, warp_of!(s, held, p, o, Self::N, U, 0 1 2 3 4))
    }

    /// All warps of a full wave; the operands in `U` are uniform, the others are not.
    ///
    /// # Safety
    /// `p` and `d` are registers of the op that is executed, in a wave of `n` warps.
    #[inline(always)]
    unsafe fn full<S: Simd, const U: u8>(
        s: S,
        held: &[S::I; 5],
        mut p: [*const u8; 5],
        mut d: *mut u8,
        mut n: u32,
    ) {
        loop {
            for u in 0..S::UNROLL as usize {
                // SAFETY: the caller's; a wave's warps are a multiple of `UNROLL`.
                unsafe { s.istore(d.add(u * 64), Self::warp::<S, U>(s, held, &p, &[u * 64; 5])) };
            }
            let step = S::UNROLL as usize * 64;
            d = d.wrapping_add(step);
            p = five!(|i| p[i].wrapping_add(step));
            n = n.wrapping_sub(S::UNROLL);
            if n == 0 {
                return;
            }
        }
    }
}

impl<A: Part, B: Part, const AT: usize> Run for Pair<A, B, AT> {
    const RECORDING: Option<Recording> =
        Recording::of(Recording::words(Self::N), Recording::words(1), |x| [Self::both(Record, *x), 0]);
    const COLD: bool = A::WEIGHT.is_cold() || B::WEIGHT.is_cold();
    #[inline(always)]
    fn plain(st: &mut State, op: At) -> *const Op {
        // SAFETY: it is this pair's.
        unsafe { rows::pair(st, op, &Self::TWO) }
    }
    #[inline(always)]
    fn run<S: Simd>(s: S, st: &mut State, op: At) -> *const Op {
        let o = &*op;
        let d = reg(st, o.d);
        let names = [o.a, o.b, o.c, Reg(o.e), Reg(o.imm as u16)];
        // SAFETY: the op's registers.
        let x = unsafe { Operands::new(s, st, names, Self::N) };
        let (p, held) = (x.p, x.held);
        if !A::WEIGHT.long() && !B::WEIGHT.long() && st.live == st.all {
            by_uniform!(x.uniform, Self::N, [0 1 2 4 8 16 6], U => {
                // SAFETY: the op's registers.
                unsafe { Self::full::<S, U>(s, &held, p, d, st.warps) };
                return op.on(1);
            });
        }
        let steps = five!(|i| x.step(i));
        for w in Bits(st.live) {
            // SAFETY: the op's registers, a live warp.
            unsafe { s.istore(d.add(w * 64), Self::warp::<S, 0>(s, &held, &p, &five!(|i| w * steps[i]))) };
        }
        op.on(1)
    }
}

macro_rules! part {
    (un $op:ident) => { P1<$op> };
    (bin $op:ident) => { P2<$op> };
    (tri $op:ident) => { P3<$op> };
}
macro_rules! add {
    ($($ka:ident $a:ident > $kb:ident $b:ident $at:literal;)*) => {
        pub fn register(r: &mut Registry) {
            let mut i = 0;
            $(
                r.add::<Pair<part!($ka $a), part!($kb $b), $at>>(Code::pair(i));
                i += 1;
            )*
            debug_assert_eq!(i, shader::pairs::PAIRS.len());
        }
    };
}
shader::pairs!(add);
