//! Comparisons that split or park at once, with what one of their operands is computed from.

use super::control::{Words, go};
use super::map::{B, Op2};
use super::operands::{Operands, warp_of};
use super::pair::{P2, P3, Part, Word};
use super::{Registry, Run, bin, cmp, rows, tri};
use crate::state::{At, State};
use shader::bytecode::{Before, Code, Op};
use shader::ir::Bin;
use simd::Simd;
use simd::rows::Rows;
use std::marker::PhantomData;

/// A condition of up to four operands of 32 bits.
trait Condition: 'static {
    const N: usize;
    fn f<S: Simd>(s: S, x: [S::I; 4]) -> S::M;
    /// All of it at the portable level; a mask a warp.
    ///
    /// # Safety
    /// As [`rows::Loop`].
    unsafe fn rows(d: *mut u8, x: &[Rows; 4], live: u32);
}
struct Plain<C>(PhantomData<C>);
impl<C: Op2<R = B>> Condition for Plain<C>
where
    C::A: Word,
    C::B: Word,
{
    const N: usize = 2;
    #[inline(always)]
    fn f<S: Simd>(s: S, x: [S::I; 4]) -> S::M {
        C::f(s, C::A::of(s, x[0]), C::B::of(s, x[1]))
    }
    unsafe fn rows(d: *mut u8, x: &[Rows; 4], live: u32) {
        // SAFETY: the caller's.
        unsafe { rows::loop2::<C>(d, [x[0], x[1], Rows::NONE], live) };
    }
}
struct After<C, P, const LEFT: bool>(PhantomData<(C, P)>);
impl<C: Op2<R = B>, P: Part, const LEFT: bool> Condition for After<C, P, LEFT>
where
    C::A: Word,
    C::B: Word,
{
    const N: usize = 1 + P::N;
    #[inline(always)]
    fn f<S: Simd>(s: S, x: [S::I; 4]) -> S::M {
        let v = P::f(s, x[1], x[2], x[3]);
        let (a, b) = if LEFT { (v, x[0]) } else { (x[0], v) };
        C::f(s, C::A::of(s, a), C::B::of(s, b))
    }
    unsafe fn rows(d: *mut u8, x: &[Rows; 4], live: u32) {
        let mut v = rows::Between::new();
        // SAFETY: the caller's; there is room for all warps between.
        unsafe { P::LOOP(v.at(), [x[1], x[2], x[3]], live) };
        let (a, b) = if LEFT { (v.rows(), x[0]) } else { (x[0], v.rows()) };
        // SAFETY: the caller's; the first op has written those warps.
        unsafe { rows::loop2::<C>(d, [a, b, Rows::NONE], live) };
    }
}

/// All of 256 lanes execute.
#[inline(always)]
fn executes_whole(st: &State) -> bool {
    // SAFETY: exec is 64 bytes, aligned to 64.
    let e = unsafe { *(st.exec.as_ptr() as *const Words) };
    e[0] & e[1] & e[2] & e[3] == !0
}

struct Fused<C>(PhantomData<C>);

impl<C: Condition> Fused<C> {
    /// Lanes of four warps from `p` on, `step` bytes apart; operands in `U` are held.
    ///
    /// # Safety
    /// The operands have four warps there.
    #[inline(always)]
    unsafe fn four<S: Simd, const U: u8>(s: S, held: &[S::I; 4], p: [*const u8; 4], step: [usize; 4]) -> u64 {
        // SAFETY: the caller's.
        let m = unsafe {
            [
                Self::warp::<S, U>(s, held, p, step, 0),
                Self::warp::<S, U>(s, held, p, step, 1),
                Self::warp::<S, U>(s, held, p, step, 2),
                Self::warp::<S, U>(s, held, p, step, 3),
            ]
        };
        s.mbits4(m)
    }

    /// Lanes of warp `w`; see [`Self::four`].
    ///
    /// # Safety
    /// The operands have the warp.
    #[inline(always)]
    unsafe fn warp<S: Simd, const U: u8>(
        s: S,
        held: &[S::I; 4],
        p: [*const u8; 4],
        step: [usize; 4],
        w: usize,
    ) -> S::M {
        let o = [w * step[0], w * step[1], w * step[2], w * step[3]];
        C::f(s, warp_of!(s, held, p, o, C::N, U, 0 1 2 3))
    }

    /// All of 256 lanes; the operands in `U` are uniform, the others are not.
    ///
    /// # Safety
    /// The operands have sixteen warps.
    #[inline(always)]
    unsafe fn full<S: Simd, const U: u8>(s: S, held: &[S::I; 4], p: [*const u8; 4]) -> Words {
        // Four warps from warp 4 · g on.
        macro_rules! four {
            ($g:literal) => {{
                let at = |i: usize| p[i].wrapping_add($g * 256);
                let from = [at(0), at(1), at(2), at(3)];
                // SAFETY: the caller's.
                unsafe { Self::four::<S, U>(s, held, from, [64; 4]) }
            }};
        }
        [four!(0), four!(1), four!(2), four!(3)]
    }

    /// Whether the condition (negated if `FLIP`) holds for no lane of a full wave of `n` warps. Without masks it takes
    /// half the time; who asks has all lanes executing, for lanes that have left are where it goes on to hold.
    ///
    /// # Safety
    /// The operands have `n` warps.
    #[inline(always)]
    unsafe fn nobody<S: Simd, const U: u8, const FLIP: bool>(
        s: S,
        held: &[S::I; 4],
        mut p: [*const u8; 4],
        mut n: u32,
    ) -> bool {
        // SAFETY: the caller's.
        let mut all = unsafe { Self::warp::<S, U>(s, held, p, [64; 4], 0) };
        loop {
            for w in 0..2 {
                // SAFETY: the caller's; a wave's warps are even in number.
                let m = unsafe { Self::warp::<S, U>(s, held, p, [64; 4], w) };
                all = if FLIP { s.mand(all, m) } else { s.mor(all, m) };
            }
            p = [
                p[0].wrapping_add(128),
                p[1].wrapping_add(128),
                p[2].wrapping_add(128),
                p[3].wrapping_add(128),
            ];
            n = n.wrapping_sub(2);
            if n == 0 {
                return !s.many(if FLIP { s.mnot(all) } else { all });
            }
        }
    }

    /// Lanes of groups of four warps; only groups with live warps are computed, dead warps' bits are any.
    ///
    /// # Safety
    /// The operands have the warps `live`, and a wave has warps by fours.
    #[inline(always)]
    unsafe fn some<S: Simd>(s: S, live: u32, held: &[S::I; 4], p: [*const u8; 4], step: [usize; 4]) -> Words {
        let mut w = [0; 4];
        for g in 0..4 {
            if live >> (4 * g) & 15 != 0 {
                let at = |i: usize| p[i].wrapping_add(4 * g * step[i]);
                // SAFETY: the caller's.
                w[g] = unsafe { Self::four::<S, 0>(s, held, [at(0), at(1), at(2), at(3)], step) };
            }
        }
        w
    }
}

impl<C: Condition> Run for Fused<C> {
    #[inline(always)]
    fn plain(st: &mut State, op: At) -> *const Op {
        let o = &*op;
        let mut x = [Rows::NONE; 4];
        for (x, r) in x.iter_mut().zip([o.a, o.b, o.c, o.d]).take(C::N) {
            *x = rows::row(st, r);
        }
        let mut w: Words = [0; 4];
        // SAFETY: the op's registers, live warps; a mask for each of sixteen.
        unsafe { C::rows(w.as_mut_ptr().cast(), &x, st.live) };
        go(st, op, w.map(|m| m ^ flipped(o)))
    }
    #[inline(always)]
    fn run<S: Simd>(s: S, st: &mut State, op: At) -> *const Op {
        let o = &*op;
        let names = [o.a, o.b, o.c, o.d];
        // SAFETY: the op's registers.
        let x = unsafe { Operands::new(s, st, names, C::N) };
        let (p, uniform, held) = (x.p, x.uniform, x.held);
        let step = [x.step(0), x.step(1), x.step(2), x.step(3)];
        let whole = st.live == st.all && st.warps == 16;
        let flip = flipped(o);
        if whole && o.code.unfused() != Code::CMP_SPLIT && executes_whole(st) {
            // SAFETY: the op's registers.
            let nobody = unsafe {
                match (uniform, flip != 0) {
                    (0, false) => Self::nobody::<S, 0, false>(s, &held, p, st.warps),
                    (1, false) => Self::nobody::<S, 1, false>(s, &held, p, st.warps),
                    (2, false) => Self::nobody::<S, 2, false>(s, &held, p, st.warps),
                    (0, true) => Self::nobody::<S, 0, true>(s, &held, p, st.warps),
                    (1, true) => Self::nobody::<S, 1, true>(s, &held, p, st.warps),
                    (2, true) => Self::nobody::<S, 2, true>(s, &held, p, st.warps),
                    _ => false,
                }
            };
            if nobody {
                return go(st, op, [0; 4]);
            }
        }
        // SAFETY: the op's registers; sixteen warps, or the live ones.
        let mut w = unsafe {
            match (whole, uniform) {
                (true, 0) => Self::full::<S, 0>(s, &held, p),
                (true, 1) => Self::full::<S, 1>(s, &held, p),
                (true, 2) => Self::full::<S, 2>(s, &held, p),
                _ => Self::some(s, st.live, &held, p, step),
            }
        };
        w = [w[0] ^ flip, w[1] ^ flip, w[2] ^ flip, w[3] ^ flip];
        go(st, op, w)
    }
}

/// What a condition's words are combined with: all ones where `e` says that it is negated.
#[inline(always)]
fn flipped(o: &Op) -> u64 {
    if o.e & 0x100 != 0 { !0 } else { 0 }
}

fn add<C: Condition>(r: &mut Registry, e: u16) {
    for kind in [Code::CMP_SPLIT, Code::CMP_SPLIT_RARE, Code::CMP_PARK] {
        r.add::<Fused<C>>(kind.fused(e));
    }
}

pub fn register(r: &mut Registry) {
    macro_rules! plain {
        ($($c:ident)*) => { $(add::<Plain<cmp::$c>>(r, Bin::$c as u16);)* };
    }
    plain!(FEq FNe FLt FLe IEq INe SLt SLe ULt ULe);
    macro_rules! after {
        ($($c:ident $p:ident $of:ty;)*) => { $(
            let e = Bin::$c as u16;
            add::<After<cmp::$c, $of, false>>(r, e | Before::$p.bits(false));
            add::<After<cmp::$c, $of, true>>(r, e | Before::$p.bits(true));
        )* };
    }
    after! {
        FLt FAdd P2<bin::FAdd>; FLt FSub P2<bin::FSub>; FLt FMul P2<bin::FMul>; FLt Fma P3<tri::Fma>;
        FLt FSumSquares P2<bin::FSumSquares>; FLe FSumSquares P2<bin::FSumSquares>;
        FLe FAdd P2<bin::FAdd>; FLe FSub P2<bin::FSub>; FLe FMul P2<bin::FMul>; FLe Fma P3<tri::Fma>;
    }
}
