//! Reduction of large arguments by π or π/2 (Payne and Hanek's method in fixed point).

use simd::{Seldom, Simd, Table, ops};

/// A word of zeros and the first bits of 2/π after the point.
const TWO_OVER_PI: [u32; 9] = [
    0,
    0xA2F9_836E,
    0x4E44_1529,
    0xFC27_57D1,
    0xF534_DDC0,
    0xDB62_9599,
    0x3C43_9041,
    0xFE51_63AB,
    0xDEBB_C561,
];

/// The exponent that [`Far`] gives operands, of each four: with the lowest two bits of theirs, what is in the bits of a number of
/// that exponent is a whole number.
const EXPONENT: u32 = 152;

/// Of turns, 2^(4 · (k − 38)) / 2π, by the lowest five bits of k: the fraction's first 32 bits as the nearest integer, and what is
/// left, in units of the last of these.
static TURNS: [Table<32>; 2] = turns();

const fn turns() -> [Table<32>; 2] {
    let mut tables = [[0; 32]; 2];
    let mut k = 32;
    while k < 64 {
        // 1 / 2π is 2/π two bits on, and that has 32 bits of zeros before it here.
        let first = (4 * k + 30 - 4 * 38) as u32;
        let (word, bit) = (first as usize / 32, first % 32);
        let high = (TWO_OVER_PI[word] as u64) << 32 | TWO_OVER_PI[word + 1] as u64;
        let low = (TWO_OVER_PI[word + 2] as u64) << 32;
        let bits = high << bit | low >> 1 >> (63 - bit);
        let rest = bits as i32;
        tables[0][k % 32] = (bits >> 32) as u32 + (rest < 0) as u32;
        tables[1][k % 32] = (rest as f32 / 4294967296.0).to_bits();
        k += 1;
    }
    [Table(tables[0]), Table(tables[1])]
}

/// (r, n) with x = n · unit + r and |r| ≤ unit / 2, for 2^17 ≤ |x| < ∞, where unit is π and the lowest bit of n is right
/// (`HALVES`), or it is π/2 and two are; r to some 2^-25. Something for others.
pub struct Far<const HALVES: bool>;

impl<const HALVES: bool> Seldom for Far<HALVES> {
    #[inline(always)]
    fn of<S: Simd>(s: S, x: S::F) -> (S::F, S::I) {
        let bits = s.bits(x);
        // x = m · 2^(4 · (k − 38)) where m is whole and of at most 29 bits.
        let k = ops::shr(s, bits, 25);
        let m = s.from_bits(s.ior(s.iand(bits, s.isplat(0x81FF_FFFF)), s.isplat(EXPONENT << 23)));
        // Turns in 32 bits of fraction: what goes beyond them is whole turns.
        let high = s.imul(s.f_to_s_raw(m), s.ilook(&TURNS[0], k));
        let low = s.f_to_s_raw(s.fmul(m, s.from_bits(s.ilook(&TURNS[1], k))));
        let turns = s.iadd(high, low);
        // To the nearer n.
        let parts = if HALVES { 1 } else { 2 };
        let up = s.iadd(turns, s.isplat(1 << (31 - parts)));
        let whole = s.iand(up, s.isplat(!(u32::MAX >> parts)));
        let r =
            s.fmul(s.s_to_f(s.isub(turns, whole)), s.fsplat((std::f64::consts::TAU / 4294967296.0) as f32));
        (r, ops::shr(s, up, 32 - parts))
    }
}
