//! Comparisons that split or park at once, with what one of their operands is computed from.

use super::control::{Words, any, at, masks, park_by, split_by};
use super::map::{B, Op2, reg};
use super::pair::{P2, P3, Part, Word};
use super::{Registry, Run, bin, cmp, tri};
use crate::state::State;
use shader::bytecode::{Before, Code, Op};
use shader::ir::Bin;
use simd::Simd;
use std::marker::PhantomData;

/// What is done with the lanes for which the condition holds.
trait Kind: 'static {
    const CODE: Code;
    /// Nothing is done when the condition holds for no lane.
    const RARE: bool;
    unsafe fn go(st: &mut State, op: *const Op, w: Words) -> *const Op;
}
struct Split;
impl Kind for Split {
    const CODE: Code = Code::CMP_SPLIT;
    const RARE: bool = false;
    #[inline(always)]
    unsafe fn go(st: &mut State, op: *const Op, w: Words) -> *const Op {
        let r = (*op.add(1)).regs();
        split_by(st, masks(w), r[0], r[1], (*op).imm, op.add(2))
    }
}
struct Rare;
impl Kind for Rare {
    const CODE: Code = Code::CMP_SPLIT_RARE;
    const RARE: bool = true;
    #[inline(always)]
    unsafe fn go(st: &mut State, op: *const Op, w: Words) -> *const Op {
        if !any(st, &w) {
            return at(st, (*op).imm);
        }
        Split::go(st, op, w)
    }
}
struct Park;
impl Kind for Park {
    const CODE: Code = Code::CMP_PARK;
    const RARE: bool = true;
    #[inline(always)]
    unsafe fn go(st: &mut State, op: *const Op, w: Words) -> *const Op {
        if !any(st, &w) {
            return op.add(2);
        }
        let r = (*op.add(1)).regs();
        park_by(st, masks(w), r[0], (*op).imm, op.add(2))
    }
}

/// A condition of up to four operands of 32 bits.
trait Condition: 'static {
    const N: usize;
    unsafe fn f<S: Simd>(x: [S::I; 4]) -> S::M;
}
struct Plain<C>(PhantomData<C>);
impl<C: Op2<R = B>> Condition for Plain<C>
where
    C::A: Word,
    C::B: Word,
{
    const N: usize = 2;
    #[inline(always)]
    unsafe fn f<S: Simd>(x: [S::I; 4]) -> S::M {
        C::f::<S>(C::A::of::<S>(x[0]), C::B::of::<S>(x[1]))
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
    unsafe fn f<S: Simd>(x: [S::I; 4]) -> S::M {
        let v = P::f::<S>(x[1], x[2], x[3]);
        let (a, b) = if LEFT { (v, x[0]) } else { (x[0], v) };
        C::f::<S>(C::A::of::<S>(a), C::B::of::<S>(b))
    }
}

/// All of 256 lanes execute.
#[inline(always)]
fn executes_whole(st: &State) -> bool {
    // SAFETY: exec is 64 bytes, aligned to 64.
    let e = unsafe { *(st.exec.as_ptr() as *const Words) };
    e[0] & e[1] & e[2] & e[3] == !0
}

struct Fused<K, C>(PhantomData<(K, C)>);

impl<K: Kind, C: Condition> Fused<K, C> {
    /// Lanes of four warps from `p` on, `step` bytes apart; operands in `U` are held.
    #[inline(always)]
    unsafe fn four<S: Simd, const U: u8>(held: &[S::I; 4], p: [*const u8; 4], step: [usize; 4]) -> u64 {
        S::mbits4([
            Self::warp::<S, U>(held, p, step, 0),
            Self::warp::<S, U>(held, p, step, 1),
            Self::warp::<S, U>(held, p, step, 2),
            Self::warp::<S, U>(held, p, step, 3),
        ])
    }

    #[inline(always)]
    unsafe fn warp<S: Simd, const U: u8>(
        held: &[S::I; 4],
        p: [*const u8; 4],
        step: [usize; 4],
        w: usize,
    ) -> S::M {
        let mut x = *held;
        if U & 1 == 0 {
            x[0] = S::iload(p[0].add(w * step[0]));
        }
        if U & 2 == 0 {
            x[1] = S::iload(p[1].add(w * step[1]));
        }
        if C::N > 2 {
            x[2] = S::iload(p[2].add(w * step[2]));
        }
        if C::N > 3 {
            x[3] = S::iload(p[3].add(w * step[3]));
        }
        C::f::<S>(x)
    }

    /// All of 256 lanes; the operands in `U` are uniform, the others are not.
    #[inline(always)]
    unsafe fn full<S: Simd, const U: u8>(held: &[S::I; 4], p: [*const u8; 4]) -> Words {
        let from = |g: usize| [p[0].add(g * 256), p[1].add(g * 256), p[2].add(g * 256), p[3].add(g * 256)];
        [
            Self::four::<S, U>(held, from(0), [64; 4]),
            Self::four::<S, U>(held, from(1), [64; 4]),
            Self::four::<S, U>(held, from(2), [64; 4]),
            Self::four::<S, U>(held, from(3), [64; 4]),
        ]
    }

    /// Whether the condition (negated if `FLIP`) holds for no lane of a full wave of `n` warps. Without masks it takes
    /// half the time; who asks has all lanes executing, for lanes that have left are where it goes on to hold.
    #[inline(always)]
    unsafe fn nobody<S: Simd, const U: u8, const FLIP: bool>(
        held: &[S::I; 4],
        mut p: [*const u8; 4],
        mut n: u32,
    ) -> bool {
        let mut all = Self::warp::<S, U>(held, p, [64; 4], 0);
        loop {
            for w in 0..2 {
                let m = Self::warp::<S, U>(held, p, [64; 4], w);
                all = if FLIP { S::mand(all, m) } else { S::mor(all, m) };
            }
            p = [p[0].add(128), p[1].add(128), p[2].add(128), p[3].add(128)];
            n = n.wrapping_sub(2);
            if n == 0 {
                return !S::many(if FLIP { S::mnot(all) } else { all });
            }
        }
    }

    /// Lanes of groups of four warps; only groups with live warps are computed, dead warps' bits are any.
    #[inline(always)]
    unsafe fn some<S: Simd>(live: u32, held: &[S::I; 4], p: [*const u8; 4], step: [usize; 4]) -> Words {
        let mut w = [0; 4];
        for g in 0..4 {
            if live >> (4 * g) & 15 != 0 {
                let at = |i: usize| p[i].wrapping_add(4 * g * step[i]);
                w[g] = Self::four::<S, 0>(held, [at(0), at(1), at(2), at(3)], step);
            }
        }
        w
    }
}

impl<K: Kind, C: Condition> Run for Fused<K, C> {
    #[inline(always)]
    unsafe fn run<S: Simd>(st: &mut State, op: *const Op) -> *const Op {
        let o = &*op;
        let names = [o.a, o.b, o.c, o.d];
        let mut p = [st.regs as *const u8; 4];
        let mut uniform = 0u8;
        let mut held = [S::isplat(0); 4];
        let mut step = [64; 4];
        for i in 0..4 {
            if i < C::N {
                p[i] = reg(st, names[i]);
                held[i] = S::iload(p[i]);
                if names[i].is_uniform() {
                    uniform |= 1 << i;
                    step[i] = 0;
                }
            }
        }
        let whole = st.live == st.all && st.warps == 16 && S::UNROLL > 1;
        let flip = o.e & 0x100 != 0;
        if K::RARE && whole && executes_whole(st) {
            let nobody = match (uniform, flip) {
                (0, false) => Self::nobody::<S, 0, false>(&held, p, st.warps),
                (1, false) => Self::nobody::<S, 1, false>(&held, p, st.warps),
                (2, false) => Self::nobody::<S, 2, false>(&held, p, st.warps),
                (0, true) => Self::nobody::<S, 0, true>(&held, p, st.warps),
                (1, true) => Self::nobody::<S, 1, true>(&held, p, st.warps),
                (2, true) => Self::nobody::<S, 2, true>(&held, p, st.warps),
                _ => false,
            };
            if nobody {
                return K::go(st, op, [0; 4]);
            }
        }
        let mut w = match (whole, uniform) {
            (true, 0) => Self::full::<S, 0>(&held, p),
            (true, 1) => Self::full::<S, 1>(&held, p),
            (true, 2) => Self::full::<S, 2>(&held, p),
            _ => Self::some::<S>(st.live, &held, p, step),
        };
        let flip = if flip { !0 } else { 0 };
        w = [w[0] ^ flip, w[1] ^ flip, w[2] ^ flip, w[3] ^ flip];
        K::go(st, op, w)
    }
}

fn add<K: Kind>(r: &mut Registry) {
    macro_rules! plain {
        ($($c:ident)*) => { $(r.add::<Fused<K, Plain<cmp::$c>>>(K::CODE.fused(Bin::$c as u16));)* };
    }
    plain!(FEq FNe FLt FLe IEq INe SLt SLe ULt ULe);
    macro_rules! after {
        ($($c:ident $p:ident $of:ty;)*) => { $(
            let e = Bin::$c as u16;
            r.add::<Fused<K, After<cmp::$c, $of, false>>>(K::CODE.fused(e | Before::$p.bits(false)));
            r.add::<Fused<K, After<cmp::$c, $of, true>>>(K::CODE.fused(e | Before::$p.bits(true)));
        )* };
    }
    after! {
        FLt FAdd P2<bin::FAdd>; FLt FSub P2<bin::FSub>; FLt FMul P2<bin::FMul>; FLt Fma P3<tri::Fma>;
        FLt FSumSquares P2<bin::FSumSquares>; FLe FSumSquares P2<bin::FSumSquares>;
        FLe FAdd P2<bin::FAdd>; FLe FSub P2<bin::FSub>; FLe FMul P2<bin::FMul>; FLe Fma P3<tri::Fma>;
    }
}

pub fn register(r: &mut Registry) {
    add::<Split>(r);
    add::<Rare>(r);
    add::<Park>(r);
}
