//! Logarithms: x = 2^e · m with m of [3/4, 3/2), and m = (1 + r) / c with c of a table, by the highest four bits after m's point.

use super::poly;
use simd::ops::Fix;
use simd::{Simd, Table, ops};

/// c: about the inverse of the middle of each sixteenth, such that its logarithm is nearly a float; 1 where m may be 1, for precision
/// about there. Those from the eighth on are for m below 1.
static INVERSE: Table<16> = Table([
    0x3F80_0000,
    0x3F6A_07B5,
    0x3F5D_5CBB,
    0x3F52_0C5B,
    0x3F47_CBAC,
    0x3F3E_8299,
    0x3F36_140F,
    0x3F2E_4625,
    0x3FA7_2E64,
    0x3FA0_A2EB,
    0x3F9A_9C6A,
    0x3F94_FC3C,
    0x3F8F_AE6C,
    0x3F8A_E1FE,
    0x3F86_4A87,
    0x3F80_0000,
]);
/// −log2 c, and 1 more from the eighth on: where x = 2^e · m with m of [1, 2). To some 2^-36.
static LOGS: Table<16> = Table([
    0x0000_0000,
    0x3E04_8E75,
    0x3E56_C4B4,
    0x3E92_22F5,
    0x3EB7_19D8,
    0x3EDA_40D8,
    0x3EFB_B0F3,
    0x3F0E_067C,
    0x3F1D_5F04,
    0x3F2C_1ECD,
    0x3F3A_3D80,
    0x3F47_EDE8,
    0x3F55_5142,
    0x3F61_DCD8,
    0x3F6E_4797,
    0x3F80_0000,
]);
/// −log2 c.
static LOGS_BELOW: Table<16> = {
    let mut t = [0; 16];
    let mut i = 0;
    while i < 16 {
        // (Exact: those from 1/2 to 1.)
        t[i] = (f32::from_bits(LOGS.0[i]) - (i / 8) as f32).to_bits();
        i += 1;
    }
    Table(t)
};
/// log2(1 + r) / r on [−1/32, 1/16], relative error 2^-28.7.
const LOG2: [f32; 5] = [std::f32::consts::LOG2_E, -0.721_347_6, 0.480_918_88, -0.360_768_26, 0.271_089_3];
/// ln(1 + r) / r on the same, relative error 2^-28.7.
const LN: [f32; 5] = [1.0, -0.5, 0.333_347_56, -0.250_065_5, 0.187_904_76];

/// (k, r) with log2 x = k + log2(1 + r), of positive normal numbers.
#[inline(always)]
fn split<S: Simd>(s: S, x: S::F) -> (S::F, S::F) {
    let bits = s.bits(x);
    let e = ops::sar(s, s.isub(bits, s.isplat(0.75f32.to_bits())), 23);
    let m = s.from_bits(s.isub(bits, ops::shl(s, e, 23)));
    let i = ops::shr(s, bits, 19);
    (s.fadd(s.s_to_f(e), s.from_bits(s.ilook16(&LOGS_BELOW, i))), rest(s, m, i))
}
/// As [`split`], denormals too: the same sum is rounded.
#[inline(always)]
fn split_any<S: Simd>(s: S, x: S::F) -> (S::F, S::F) {
    let [e, m] = s.fparts(x);
    let i = ops::shr(s, s.bits(m), 19);
    (s.fadd(e, s.from_bits(s.ilook16(&LOGS, i))), rest(s, m, i))
}
#[inline(always)]
fn rest<S: Simd>(s: S, m: S::F, i: S::I) -> S::F {
    s.fma(m, s.from_bits(s.ilook16(&INVERSE, i)), s.fsplat(-1.0))
}
/// True if a lane is not a positive normal number.
#[inline(always)]
fn any_odd<S: Simd>(s: S, x: S::F) -> bool {
    let above = s.isub(s.bits(x), s.isplat(0x0080_0000));
    s.many(s.ugt(above, s.isplat(0x7EFF_FFFF)))
}
/// What the core makes something else of.
const SPECIAL: u32 = Fix {
    nan: Fix::SELF,
    zero: Fix::NEGATIVE_INFINITY,
    negative: Fix::NAN,
    negative_infinity: Fix::NAN,
    infinity: Fix::INFINITY,
}
.table();

#[inline(always)]
fn log2_core<S: Simd>(s: S, (k, r): (S::F, S::F)) -> S::F {
    s.fma(r, poly::<S, 5>(s, r, LOG2), k)
}
#[inline(always)]
pub fn log2<S: Simd>(s: S, x: S::F) -> S::F {
    if s.parts_are_cheap() || any_odd(s, x) {
        return s.ffix::<SPECIAL>(log2_core(s, split_any(s, x)), x);
    }
    log2_core(s, split(s, x))
}

#[inline(always)]
fn ln_core<S: Simd>(s: S, (k, r): (S::F, S::F)) -> S::F {
    s.fma(k, s.fsplat(std::f32::consts::LN_2), s.fmul(r, poly::<S, 5>(s, r, LN)))
}
#[inline(always)]
pub fn ln<S: Simd>(s: S, x: S::F) -> S::F {
    if s.parts_are_cheap() || any_odd(s, x) {
        return s.ffix::<SPECIAL>(ln_core(s, split_any(s, x)), x);
    }
    ln_core(s, split(s, x))
}

/// ln(1 + u) for u ≥ −1 or NaN: the log of the rounded sum, and what the rounding lost.
#[inline(always)]
pub fn ln_1p<S: Simd>(s: S, u: S::F) -> S::F {
    let one = s.fsplat(1.0);
    let zero = s.fsplat(0.0);
    let w = s.fadd(one, u);
    let lost = s.fsub(u, s.fsub(w, one));
    // Infinity and the pole at −1 have no correction.
    let plain = s.mor(s.feq(w, zero), s.feq(w, s.fsplat(f32::INFINITY)));
    s.fadd(ln(s, w), s.fsel(plain, zero, s.fdiv(lost, w)))
}
