//! 2^x and e^x: of what is left beside the nearest sixteenth a short polynomial, of the sixteenths a table.

use simd::ops::Fix;
use simd::{Simd, Table, ops};

/// 1.5 · 2^19: adding it rounds to a sixteenth, found in the sum's low bits.
const MAGIC: f32 = 786432.0;
/// 2^(i/16).
static POWERS: Table<16> = Table([
    0x3F80_0000,
    0x3F85_AAC3,
    0x3F8B_95C2,
    0x3F91_C3D3,
    0x3F98_37F0,
    0x3F9E_F532,
    0x3FA5_FED7,
    0x3FAD_583F,
    0x3FB5_04F3,
    0x3FBD_08A4,
    0x3FC5_672A,
    0x3FCE_248C,
    0x3FD7_44FD,
    0x3FE0_CCDF,
    0x3FEA_C0C7,
    0x3FF5_257D,
]);
/// (2^f − 1) / f on [−1/32, 1/32], error of 2^f 2^-29.2.
const EXP2: [f32; 3] = [std::f32::consts::LN_2, 0.240_234_3, 0.055_505_95];
/// (e^r − 1) / r on [−ln 2 / 32, ln 2 / 32], error of e^r 2^-29.2.
const EXP: [f32; 3] = [1.0, 0.500_016_2, 0.166_672_2];
const LN2: f32 = std::f32::consts::LN_2;
const LN2_LO: f32 = -1.904_654_2e-9;

/// What the core makes something else of.
const SPECIAL: u32 = Fix {
    nan: Fix::SELF,
    zero: Fix::NOTHING,
    negative: Fix::NOTHING,
    negative_infinity: Fix::ZERO,
    infinity: Fix::INFINITY,
}
.table();

/// 2^(⌊n⌋) · p, `t` being n + [`MAGIC`], where the result is normal.
#[inline(always)]
fn scale<S: Simd>(s: S, p: S::F, t: S::F) -> S::F {
    let whole = s.iand(s.bits(t), s.isplat(!15));
    s.from_bits(s.iadd(s.bits(p), ops::shl(s, whole, 19)))
}
/// True if a lane's magnitude is `limit` or more, or NaN.
#[inline(always)]
fn any_beyond<S: Simd>(s: S, x: S::F, limit: f32) -> bool {
    let abs = s.iand(s.bits(x), s.isplat(0x7FFF_FFFF));
    s.many(s.sgt(abs, s.isplat(limit.to_bits() - 1)))
}
/// Within [lo, hi]; NaN stays.
#[inline(always)]
fn clamp<S: Simd>(s: S, x: S::F, lo: f32, hi: f32) -> S::F {
    s.fmin_raw(s.fsplat(hi), s.fmax_raw(s.fsplat(lo), x))
}
/// The power of n's sixteenths, `t` being n + [`MAGIC`], times 1 + f · (c[0] + …).
#[inline(always)]
fn power<S: Simd>(s: S, t: S::F, f: S::F, c: [f32; 3]) -> S::F {
    let p = s.from_bits(s.ilook16(&POWERS, s.bits(t)));
    s.fma(s.fmul(f, p), super::poly::<S, 3>(s, f, c), p)
}

#[inline(always)]
pub fn exp2<S: Simd>(s: S, x: S::F) -> S::F {
    if s.parts_are_cheap() || any_beyond(s, x, 126.0) {
        // Where n may be anything there is nothing left of large x.
        let c = s.fbound(x);
        let n = s.fround16(c);
        let p = power(s, s.fadd(c, s.fsplat(MAGIC)), s.fsub(c, n), EXP2);
        return s.ffix::<SPECIAL>(s.fscale(p, n), x);
    }
    let t = s.fadd(x, s.fsplat(MAGIC));
    let n = s.fsub(t, s.fsplat(MAGIC));
    scale(s, power(s, t, s.fsub(x, n), EXP2), t)
}

/// e^x = p · 2^⌊n⌋: p, and n + [`MAGIC`].
#[inline(always)]
fn exp_core<S: Simd>(s: S, x: S::F) -> (S::F, S::F) {
    let magic = s.fsplat(MAGIC);
    let t = s.fma(x, s.fsplat(std::f32::consts::LOG2_E), magic);
    let n = s.fsub(t, magic);
    let r = s.fnma(n, s.fsplat(LN2), x);
    let r = s.fnma(n, s.fsplat(LN2_LO), r);
    (power(s, t, r, EXP), t)
}

#[inline(always)]
pub fn exp<S: Simd>(s: S, x: S::F) -> S::F {
    if s.parts_are_cheap() || any_beyond(s, x, 87.0) {
        let (p, t) = exp_core(s, clamp(s, x, -120.0, 100.0));
        return s.fscale(p, s.fsub(t, s.fsplat(MAGIC)));
    }
    exp_near(s, x)
}
/// e^x for |x| < 87; anything for NaN.
#[inline(always)]
pub fn exp_near<S: Simd>(s: S, x: S::F) -> S::F {
    let (p, t) = exp_core(s, x);
    scale(s, p, t)
}
