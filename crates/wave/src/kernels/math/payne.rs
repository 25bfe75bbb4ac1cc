//! Reduction of large arguments by π or π/2 (Payne and Hanek's method in fixed point).

use simd::{Simd, ops};

/// A word of zeros and the first 256 bits of 2/π after the point.
const TWO_OVER_PI: [u32; 16] = [
    0,
    0xA2F9_836E,
    0x4E44_1529,
    0xFC27_57D1,
    0xF534_DDC0,
    0xDB62_9599,
    0x3C43_9041,
    0xFE51_63AB,
    0xDEBB_C561,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
];

/// (r, n) with x = n · unit + r and |r| ≤ unit / 2, for 2^10 ≤ |x| < ∞, where unit is π and the lowest bit of n is right
/// (`HALVES`), or it is π/2 and two are. Something for others.
#[inline(always)]
pub fn reduce<S: Simd, const HALVES: bool>(s: S, x: S::F) -> (S::F, S::I) {
    let bits = s.bits(x);
    let exp = s.iand(ops::shr(s, bits, 23), s.isplat(0xFF));
    let m = s.ior(s.iand(bits, s.isplat(0x7F_FFFF)), s.isplat(0x80_0000));
    // |x| = m · 2^(exp − 150). Bits of 2/π whose product with that has weight 4 or more do not matter: 96 bits from the one of
    // weight 2 on.
    let start = s.isub(exp, s.isplat(150 - 30));
    let word = s.iand(ops::shr(s, start, 5), s.isplat(7));
    let shift = s.iand(start, s.isplat(31));
    let back = s.isub(s.isplat(32), shift);
    let table = ops::i_from(s, TWO_OVER_PI);
    let a = s.ishuffle(table, word);
    let b = s.ishuffle(table, s.iadd(word, s.isplat(1)));
    let c = s.ishuffle(table, s.iadd(word, s.isplat(2)));
    let d = s.ishuffle(table, s.iadd(word, s.isplat(3)));
    let high = s.ior(s.ishl(a, shift), s.ishr(b, back));
    let middle = s.ior(s.ishl(b, shift), s.ishr(c, back));
    let low = s.ior(s.ishl(c, shift), s.ishr(d, back));
    // Fixed point: of the product's 96 bits the first 64, two of integer and 62 of fraction.
    let below = s.imul(m, middle);
    let rest = s.iadd(below, s.umul_hi(m, low));
    let carry = s.isel(s.ugt(below, rest), s.isplat(1), s.isplat(0));
    let whole = s.iadd(s.iadd(s.imul(m, high), s.umul_hi(m, middle)), carry);
    let integer = if HALVES { 1 } else { 2 };
    // A fraction of 64 bits with a sign, to the nearer n.
    let f = s.ior(ops::shl(s, whole, integer), ops::shr(s, rest, 32 - integer));
    let g = ops::shl(s, rest, integer);
    let n = s.iadd(ops::shr(s, whole, 32 - integer), ops::shr(s, f, 31));
    let r = s.fma(s.u_to_f(g), s.fsplat(1.0 / 4294967296.0), s.s_to_f(f));
    // The unit in two floats, by 2^-32.
    let unit = if HALVES { std::f64::consts::PI } else { std::f64::consts::FRAC_PI_2 } / 4294967296.0;
    let near = unit as f32;
    let r = s.fma(r, s.fsplat(near), s.fmul(r, s.fsplat((unit - near as f64) as f32)));
    let negative = s.sgt(s.isplat(0), bits);
    (ops::xorsign(s, r, x), s.isel(negative, ops::ineg(s, n), n))
}
