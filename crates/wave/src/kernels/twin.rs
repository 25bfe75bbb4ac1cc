//! Kernels of [`shader::twins`]: two ops of 32 bits with operands in common, made from the kernels' own functions.

use super::mask::Bits;
use super::operands::{Operands, by_uniform, five, warp_of};
use super::pair::{P2, P3, Pair, Part};
use super::regs::reg;
use super::{Registry, Run, rows};
use super::{bin::*, tri::*};
use crate::recording::{Record, Recording};
use crate::state::{At, State};
use shader::bytecode::{Code, Op, Reg};
use simd::Simd;
use simd::rows::Rows;
use std::marker::PhantomData;

/// An op or a pair, of up to five operands.
pub trait Tree: 'static {
    /// All of it at the portable level.
    ///
    /// # Safety
    /// As [`rows::Loop`].
    unsafe fn rows(d: *mut u8, x: &[Rows; 5], live: u32);
    fn f<S: Simd>(s: S, x: [S::I; 5]) -> S::I;
}
/// An op that is no pair.
pub struct One<P>(PhantomData<P>);
impl<P: Part> Tree for One<P> {
    unsafe fn rows(d: *mut u8, x: &[Rows; 5], live: u32) {
        // SAFETY: the caller's.
        unsafe { P::LOOP(d, [x[0], x[1], x[2]], live) };
    }
    #[inline(always)]
    fn f<S: Simd>(s: S, x: [S::I; 5]) -> S::I {
        P::f(s, x[0], x[1], x[2])
    }
}
impl<A: Part, B: Part, const AT: usize> Tree for Pair<A, B, AT> {
    unsafe fn rows(d: *mut u8, x: &[Rows; 5], live: u32) {
        // SAFETY: the caller's.
        unsafe { Self::TWO.run(d, x, live) };
    }
    #[inline(always)]
    fn f<S: Simd>(s: S, x: [S::I; 5]) -> S::I {
        Pair::<A, B, AT>::both(s, x)
    }
}

/// Numbers of operands, four bits each; 0 where there is none.
const fn packed(list: &[u32]) -> u32 {
    let (mut r, mut i) = (0, 0);
    while i < list.len() {
        r |= list[i] << (4 * i);
        i += 1;
    }
    r
}
const fn largest(r: u32) -> usize {
    let (mut m, mut i) = (0, 0);
    while i < 5 {
        let k = (r >> (4 * i) & 15) as usize;
        m = if k > m { k } else { m };
        i += 1;
    }
    m
}

/// `A` reads the operands numbered in `RA`, `B` those in `RB`.
struct Twin<A, B, const RA: u32, const RB: u32>(PhantomData<(A, B)>);

impl<A: Tree, B: Tree, const RA: u32, const RB: u32> Twin<A, B, RA, RB> {
    const N: usize = 1 + if largest(RA) > largest(RB) { largest(RA) } else { largest(RB) };

    /// One warp: operands whose bit in `U` is set are held, the others lie at `p` + `o` bytes.
    ///
    /// # Safety
    /// There they lie.
    #[inline(always)]
    unsafe fn warp<S: Simd, const U: u8>(
        s: S,
        held: &[S::I; 5],
        p: &[*const u8; 5],
        o: &[usize; 5],
    ) -> (S::I, S::I) {
        Self::both(s, warp_of!(s, held, p, o, Self::N, U, 0 1 2 3 4))
    }

    #[inline(always)]
    fn both<S: Simd>(s: S, x: [S::I; 5]) -> (S::I, S::I) {
        macro_rules! of {
            ($r:ident) => {
                [
                    x[const { ($r & 15) as usize }],
                    x[const { ($r >> 4 & 15) as usize }],
                    x[const { ($r >> 8 & 15) as usize }],
                    x[const { ($r >> 12 & 15) as usize }],
                    x[const { ($r >> 16 & 15) as usize }],
                ]
            };
        }
        (A::f(s, of!(RA)), B::f(s, of!(RB)))
    }

    /// All warps of a full wave; the operands in `U` are uniform, the others are not.
    ///
    /// # Safety
    /// `p`, `d` and `e` are registers of the op that is executed, in a wave of `n` warps.
    #[inline(always)]
    unsafe fn full<S: Simd, const U: u8>(
        s: S,
        held: &[S::I; 5],
        mut p: [*const u8; 5],
        [mut d, mut e]: [*mut u8; 2],
        mut n: u32,
    ) {
        loop {
            for u in 0..2 {
                // SAFETY: the caller's; a wave's warps are even in number.
                unsafe {
                    let (x, y) = Self::warp::<S, U>(s, held, &p, &[u * 64; 5]);
                    s.istore(d.add(u * 64), x);
                    s.istore(e.add(u * 64), y);
                }
            }
            (d, e) = (d.wrapping_add(128), e.wrapping_add(128));
            p = five!(|i| p[i].wrapping_add(128));
            n = n.wrapping_sub(2);
            if n == 0 {
                return;
            }
        }
    }
}

/// The operands' registers.
#[inline(always)]
fn names(o: &Op) -> [Reg; 5] {
    [o.a, o.c, Reg(o.e), Reg(o.imm as u16), Reg((o.imm >> 16) as u16)]
}

impl<A: Tree, B: Tree, const RA: u32, const RB: u32> Run for Twin<A, B, RA, RB> {
    const RECORDING: Option<Recording> = Recording::of(Recording::words(Self::N), Recording::words(2), |x| {
        let (a, b) = Self::both(Record, *x);
        [a, b]
    });
    #[inline(always)]
    fn plain(st: &mut State, op: At) -> *const Op {
        let o = &*op;
        let mut x = [Rows::NONE; 5];
        for (x, r) in x.iter_mut().zip(names(o)).take(Self::N) {
            *x = rows::row(st, r);
        }
        let of = |reads: u32| [0, 4, 8, 12, 16].map(|i| x[(reads >> i & 15) as usize]);
        // Either result may take the place of an operand of the other.
        let mut first = rows::Between::new();
        let d = reg(st, o.d);
        // SAFETY: the op's registers, live warps; there is room for all between.
        unsafe {
            A::rows(first.at(), &of(RA), st.live);
            B::rows(reg(st, o.b), &of(RB), st.live);
            for w in Bits(st.live) {
                d.add(w * 64).copy_from_nonoverlapping(first.at().add(w * 64), 64);
            }
        }
        op.on(1)
    }
    #[inline(always)]
    fn run<S: Simd>(s: S, st: &mut State, op: At) -> *const Op {
        let o = &*op;
        let d = [reg(st, o.d), reg(st, o.b)];
        // SAFETY: the op's registers.
        let x = unsafe { Operands::new(s, st, names(o), Self::N) };
        let (p, held) = (x.p, x.held);
        if st.live == st.all {
            by_uniform!(x.uniform, Self::N, [0 1 2 4 8 16], U => {
                // SAFETY: the op's registers.
                unsafe { Self::full::<S, U>(s, &held, p, d, st.warps) };
                return op.on(1);
            });
        }
        let steps = five!(|i| x.step(i));
        for w in Bits(st.live) {
            // SAFETY: the op's registers, a live warp.
            unsafe {
                let (x, y) = Self::warp::<S, 0>(s, &held, &p, &five!(|i| w * steps[i]));
                s.istore(d[0].add(w * 64), x);
                s.istore(d[1].add(w * 64), y);
            }
        }
        op.on(1)
    }
}

macro_rules! part {
    (bin $op:ident) => { P2<$op> };
    (tri $op:ident) => { P3<$op> };
}
macro_rules! tree {
    ($ka:ident $a:ident) => { One<part!($ka $a)> };
    ($ka:ident $a:ident > $kb:ident $b:ident $at:literal) => { Pair<part!($ka $a), part!($kb $b), $at> };
}
macro_rules! add {
    ($(($($a:tt)*) [$($x:literal)*] ($($b:tt)*) [$($y:literal)*];)*) => {
        pub fn register(r: &mut Registry) {
            let mut i = 0;
            $(
                r.add::<Twin<tree!($($a)*), tree!($($b)*), { packed(&[$($x),*]) }, { packed(&[$($y),*]) }>>(
                    Code::twin(i),
                );
                i += 1;
            )*
            debug_assert_eq!(i, shader::twins::TWINS.len());
        }
    };
}
shader::twins!(add);
