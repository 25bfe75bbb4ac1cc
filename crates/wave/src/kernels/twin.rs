//! Kernels of [`shader::twins`]: two ops of 32 bits with operands in common, made from the kernels' own functions.

use super::map::reg;
use super::mask::Bits;
use super::pair::{P2, P3, Pair, Part};
use super::{Registry, Run, rows};
use super::{bin::*, tri::*};
use crate::state::State;
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
        P::LOOP(d, [x[0], x[1], x[2]], live);
    }
    #[inline(always)]
    fn f<S: Simd>(s: S, x: [S::I; 5]) -> S::I {
        P::f(s, x[0], x[1], x[2])
    }
}
impl<A: Part, B: Part, const AT: usize> Tree for Pair<A, B, AT> {
    unsafe fn rows(d: *mut u8, x: &[Rows; 5], live: u32) {
        Self::TWO.run(d, x, live);
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
    #[inline(always)]
    unsafe fn warp<S: Simd, const U: u8>(
        s: S,
        held: &[S::I; 5],
        p: &[*const u8; 5],
        o: &[usize; 5],
    ) -> (S::I, S::I) {
        let mut x = *held;
        if U & 1 == 0 {
            x[0] = s.iload(p[0].add(o[0]));
        }
        if Self::N > 1 && U & 2 == 0 {
            x[1] = s.iload(p[1].add(o[1]));
        }
        if Self::N > 2 && U & 4 == 0 {
            x[2] = s.iload(p[2].add(o[2]));
        }
        if Self::N > 3 && U & 8 == 0 {
            x[3] = s.iload(p[3].add(o[3]));
        }
        if Self::N > 4 && U & 16 == 0 {
            x[4] = s.iload(p[4].add(o[4]));
        }
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
                let (x, y) = Self::warp::<S, U>(s, held, &p, &[u * 64; 5]);
                s.istore(d.add(u * 64), x);
                s.istore(e.add(u * 64), y);
            }
            (d, e) = (d.add(128), e.add(128));
            p = [p[0].add(128), p[1].add(128), p[2].add(128), p[3].add(128), p[4].add(128)];
            n = n.wrapping_sub(2);
            if n == 0 {
                return;
            }
        }
    }
}

impl<A: Tree, B: Tree, const RA: u32, const RB: u32> Run for Twin<A, B, RA, RB> {
    unsafe fn portable(st: &mut State, op: *const Op) -> *const Op {
        let o = &*op;
        let mut x = [Rows::NONE; 5];
        let names = [o.a, o.c, Reg(o.e), Reg(o.imm as u16), Reg((o.imm >> 16) as u16)];
        for (x, r) in x.iter_mut().zip(names).take(Self::N) {
            *x = rows::row(st, r);
        }
        let of = |reads: u32| [0, 4, 8, 12, 16].map(|i| x[(reads >> i & 15) as usize]);
        // Either result may take the place of an operand of the other.
        let mut first = rows::Between::new();
        A::rows(first.at(), &of(RA), st.live);
        B::rows(reg(st, o.b), &of(RB), st.live);
        let d = reg(st, o.d);
        for w in Bits(st.live) {
            d.add(w * 64).copy_from_nonoverlapping(first.at().add(w * 64), 64);
        }
        op.add(1)
    }
    #[inline(always)]
    unsafe fn run<S: Simd>(s: S, st: &mut State, op: *const Op) -> *const Op {
        let o = &*op;
        let d = [reg(st, o.d), reg(st, o.b)];
        let names = [o.a, o.c, Reg(o.e), Reg(o.imm as u16), Reg((o.imm >> 16) as u16)];
        let mut p = [d[0] as *const u8; 5];
        let mut uniform = 0u8;
        let mut held = [s.isplat(0); 5];
        for i in 0..5 {
            if i < Self::N {
                p[i] = reg(st, names[i]);
                uniform |= (names[i].is_uniform() as u8) << i;
                held[i] = s.iload(p[i]);
            }
        }
        if st.live == st.all {
            macro_rules! full {
                ($u:literal) => {
                    if $u < 1 << Self::N {
                        Self::full::<S, $u>(s, &held, p, d, st.warps);
                        return op.add(1);
                    }
                };
            }
            match uniform {
                0 => full!(0),
                1 => full!(1),
                2 => full!(2),
                4 => full!(4),
                8 => full!(8),
                16 => full!(16),
                _ => {}
            }
        }
        let step = |i: usize| if uniform >> i & 1 != 0 { 0 } else { 64 };
        let steps = [step(0), step(1), step(2), step(3), step(4)];
        let mut live = st.live;
        while live != 0 {
            let w = live.trailing_zeros() as usize;
            live &= live - 1;
            let o = [w * steps[0], w * steps[1], w * steps[2], w * steps[3], w * steps[4]];
            let (x, y) = Self::warp::<S, 0>(s, &held, &p, &o);
            s.istore(d[0].add(w * 64), x);
            s.istore(d[1].add(w * 64), y);
        }
        op.add(1)
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
