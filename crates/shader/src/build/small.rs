//! Floats of the formats beside IEEE 754's (SPV_KHR_bfloat16, SPV_EXT_float8). In a register they are f32, of which each is
//! a subset; conversions are their only arithmetic, and the dot product of bfloat16.
//!
//! | | exponent | mantissa | least normal | greatest | infinity |
//! |---|---|---|---|---|---|
//! | bfloat16 | 8 | 7 | 2^-126 | f32's, cut | yes |
//! | E5M2 | 5 | 2 | 2^-14 | 57344 | yes |
//! | E4M3 | 4 | 3 | 2^-6 | 448 | no: what is beyond is a NaN |

use super::emit::Emit;
use super::types::Sk;
use crate::ir::*;

/// How a conversion to a small float rounds, and what becomes of values beyond the greatest.
#[derive(Clone, Copy, Default)]
pub(crate) struct Narrowing {
    pub toward_zero: bool,
    /// SaturatedToLargestFloat8NormalConversionEXT
    pub saturates: bool,
}

const SIGN: u32 = 0x8000_0000;

/// Mantissa's bits, exponent of the least normal number, and the greatest, of a format that is narrower than f32 in its exponent.
fn shape(s: Sk) -> Option<(u32, i32, f32)> {
    match s {
        Sk::E5m2 => Some((2, -14, 57344.0)),
        Sk::E4m3 => Some((3, -6, 448.0)),
        _ => None,
    }
}

impl Emit {
    /// `v`, an f32, as the nearest number of the format (or the next toward zero), in a register.
    pub fn small_of(&mut self, to: Sk, v: Value, how: Narrowing) -> Value {
        let exact = std::mem::replace(&mut self.exact, true);
        let v = self.observed(Sk::F32, v);
        let mantissa = shape(to).map_or(7, |(m, ..)| m);
        let mut r = self.cut_mantissa(v, 23 - mantissa, how.toward_zero);
        if let Some((m, least, greatest)) = shape(to) {
            let sign = self.u32(SIGN);
            let sign = self.bin(Bin::And, v, sign);
            let size = self.un(Un::FAbs, v);
            let limit = self.f32((least as f32).exp2());
            let small = self.bin(Bin::FLt, size, limit);
            let tiny = self.steps_of(size, (least - m as i32) as f32, how.toward_zero);
            let a = self.un(Un::FAbs, r);
            let a = self.select(small, tiny, a);
            let max = self.f32(greatest);
            let over = self.bin(Bin::FLt, max, a);
            let infinity = self.f32(f32::INFINITY);
            let beyond = match (to, how.saturates) {
                (_, true) => max,
                (Sk::E4m3, false) => self.f32(f32::NAN),
                // Toward zero only infinity itself is.
                (_, false) if how.toward_zero => {
                    let is = self.bin(Bin::FEq, size, infinity);
                    self.select(is, infinity, max)
                }
                (_, false) => infinity,
            };
            let a = self.select(over, beyond, a);
            r = self.bin(Bin::Or, a, sign);
        }
        let nan = self.un(Un::FIsNan, v);
        let r = self.select(nan, v, r);
        self.exact = exact;
        r
    }

    /// The bits of an f32 without its `n` last ones, rounded. A NaN's are nobody's business.
    fn cut_mantissa(&mut self, v: Value, n: u32, toward_zero: bool) -> Value {
        let mut v = v;
        if !toward_zero {
            let (by, one, half) = (self.u32(n), self.u32(1), self.u32((1 << (n - 1)) - 1));
            let last = self.bin(Bin::LShr, v, by);
            let last = self.bin(Bin::And, last, one);
            v = self.add(v, half);
            v = self.add(v, last);
        }
        let mask = self.u32(!0 << n);
        self.bin(Bin::And, v, mask)
    }

    /// A small positive f32 as a multiple of 2^`step`.
    fn steps_of(&mut self, v: Value, step: f32, toward_zero: bool) -> Value {
        // The last place of this number is the step.
        let k = self.f32((step + 23.0).exp2());
        let sum = self.bin(Bin::FAdd, v, k);
        let r = self.bin(Bin::FSub, sum, k);
        if !toward_zero {
            return r;
        }
        let above = self.bin(Bin::FLt, v, r);
        let one = self.f32(step.exp2());
        let less = self.bin(Bin::FSub, r, one);
        self.select(above, less, r)
    }

    /// An f64 as an f32 from which narrower formats are rounded right: cut, with its last bit set where something was lost.
    pub fn odd_of(&mut self, v: Value) -> Value {
        let f = self.narrow_toward_zero(Sk::F32, v);
        let back = self.un(Un::F32ToF64, f);
        let lost = self.bin(Bin::FNe, back, v);
        let lost = self.un(Un::BoolToInt, lost);
        self.bin(Bin::Or, f, lost)
    }

    /// An integer of 32 or 64 bits, likewise.
    pub fn int_to_odd(&mut self, from: Sk, v: Value, signed: bool) -> Value {
        if from != Sk::I64 {
            let v = self.un(if signed { Un::S32ToF64 } else { Un::U32ToF64 }, v);
            return self.odd_of(v);
        }
        // What an f64 would lose of large ones goes to the last bit that it keeps.
        let low = self.u64(0x7FF);
        let low = self.bin(Bin::And, v, low);
        let zero = self.u64(0);
        let lost = self.bin(Bin::INe, low, zero);
        let (bit, mask) = (self.u64(0x800), self.u64(!0x7FF));
        let bit = self.select(lost, bit, zero);
        let cut = self.bin(Bin::And, v, mask);
        let cut = self.bin(Bin::Or, cut, bit);
        let by = self.u32(52);
        let high = self.bin(if signed { Bin::AShr } else { Bin::LShr }, v, by);
        // 0 and -1 are of numbers that an f64 holds.
        let one = self.u64(1);
        let high = self.add(high, one);
        let few = self.bin(Bin::ULe, high, one);
        let v = self.select(few, v, cut);
        let v = self.un(if signed { Un::S64ToF64 } else { Un::U64ToF64 }, v);
        self.odd_of(v)
    }

    /// Bits of a small float in a register.
    pub fn small_bits(&mut self, s: Sk, v: Value) -> Value {
        let v = self.observed(s, v);
        match s {
            Sk::E5m2 => {
                let by = self.u32(8);
                let half = self.un(Un::F16ToBits, v);
                self.bin(Bin::LShr, half, by)
            }
            Sk::E4m3 => {
                let size = self.un(Un::FAbs, v);
                let scale = self.f32(120f32.exp2().recip());
                let scaled = self.bin(Bin::FMul, size, scale);
                let (by, all) = (self.u32(20), self.u32(0x7F));
                let bits = self.bin(Bin::LShr, scaled, by);
                let nan = self.un(Un::FIsNan, v);
                let bits = self.select(nan, all, bits);
                let (by, sign) = (self.u32(24), self.u32(0x80));
                let high = self.bin(Bin::LShr, v, by);
                let high = self.bin(Bin::And, high, sign);
                self.bin(Bin::Or, bits, high)
            }
            _ => {
                let by = self.u32(16);
                self.bin(Bin::LShr, v, by)
            }
        }
    }

    /// The other way.
    pub fn of_small_bits(&mut self, s: Sk, bits: Value) -> Value {
        match s {
            Sk::E5m2 => {
                let by = self.u32(8);
                let half = self.bin(Bin::Shl, bits, by);
                self.un(Un::BitsToF16, half)
            }
            Sk::E4m3 => {
                let all = self.u32(0x7F);
                let size = self.bin(Bin::And, bits, all);
                let by = self.u32(20);
                let scaled = self.bin(Bin::Shl, size, by);
                let scale = self.f32(120f32.exp2());
                let v = self.bin(Bin::FMul, scaled, scale);
                let nan = self.bin(Bin::IEq, size, all);
                let none = self.f32(f32::NAN);
                let v = self.select(nan, none, v);
                let (by, sign) = (self.u32(24), self.u32(SIGN));
                let high = self.bin(Bin::Shl, bits, by);
                let high = self.bin(Bin::And, high, sign);
                self.bin(Bin::Or, v, high)
            }
            _ => {
                let by = self.u32(16);
                self.bin(Bin::Shl, bits, by)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMATS: [(Sk, u32); 3] = [(Sk::Bf16, 16), (Sk::E5m2, 8), (Sk::E4m3, 8)];

    /// The value of a number's bits, from the format's definition alone.
    fn value(s: Sk, bits: u32) -> f64 {
        let (exponent, mantissa) = match s {
            Sk::E5m2 => (5, 2),
            Sk::E4m3 => (4, 3),
            _ => (8, 7),
        };
        let m = bits & ((1 << mantissa) - 1);
        let e = bits >> mantissa & ((1 << exponent) - 1);
        let bias = (1 << (exponent - 1)) - 1;
        let last = (1 << exponent) - 1;
        let size = match (s, e, m) {
            (Sk::E4m3, 15, 7) => f64::NAN,
            (Sk::E5m2 | Sk::Bf16, e, 0) if e == last => f64::INFINITY,
            (Sk::E5m2 | Sk::Bf16, e, _) if e == last => f64::NAN,
            (_, 0, _) => m as f64 * 2f64.powi(1 - bias - mantissa),
            _ => ((1 << mantissa) + m) as f64 * 2f64.powi(e as i32 - bias - mantissa),
        };
        if bits >> (exponent + mantissa) & 1 != 0 { -size } else { size }
    }

    fn folded(e: &mut Emit, v: Value) -> u32 {
        e.as_const(v).expect("folded") as u32
    }

    #[test]
    fn every_number_there_and_back() {
        for (s, width) in FORMATS {
            for bits in 0..1u32 << width {
                let mut e = Emit::new(64);
                let b = e.u32(bits);
                let v = e.of_small_bits(s, b);
                let got = f32::from_bits(folded(&mut e, v)) as f64;
                let want = value(s, bits);
                assert!(
                    got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                    "{s:?} {bits:#x}: {got}"
                );
                let back = e.small_bits(s, v);
                let back = folded(&mut e, back);
                assert!(
                    back == bits || want.is_nan() && value(s, back).is_nan(),
                    "{s:?} {bits:#x}: {back:#x}"
                );
            }
        }
    }

    /// Between each two neighbours: a third of the way goes down, two thirds up, the middle to the even one, all cut
    /// toward zero.
    #[test]
    fn numbers_between_are_rounded() {
        for (s, width) in FORMATS {
            for bits in 0..(1u32 << (width - 1)) - 1 {
                let (a, b) = (value(s, bits), value(s, bits + 1));
                if !(a.is_finite() && b.is_finite()) {
                    continue;
                }
                let even = if bits & 1 == 0 { a } else { b };
                for (x, want, cut) in [
                    (a, a, a),
                    (a + (b - a) / 2.0, even, a),
                    (a + (b - a) * 0.499, a, a),
                    (a + (b - a) * 0.501, b, a),
                ] {
                    for sign in [1.0, -1.0] {
                        for (toward_zero, want) in [(false, want), (true, cut)] {
                            let mut e = Emit::new(64);
                            let v = e.float(Ty::B64, x * sign);
                            let v = e.odd_of(v);
                            let v = e.small_of(s, v, Narrowing { toward_zero, saturates: false });
                            let got = f32::from_bits(folded(&mut e, v)) as f64;
                            assert_eq!(got.to_bits(), (want * sign).to_bits(), "{s:?} {x:e} {toward_zero}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn beyond_the_greatest() {
        let plain = Narrowing::default();
        let saturates = Narrowing { saturates: true, ..plain };
        let zero = Narrowing { toward_zero: true, ..plain };
        let inf = f64::INFINITY;
        for (s, x, how, want) in [
            (Sk::E4m3, 464.0, plain, 448.0),
            (Sk::E4m3, 465.0, plain, f64::NAN),
            (Sk::E4m3, -465.0, saturates, -448.0),
            (Sk::E4m3, inf, saturates, 448.0),
            (Sk::E4m3, inf, plain, f64::NAN),
            (Sk::E5m2, 61439.0, plain, 57344.0),
            (Sk::E5m2, 61440.0, plain, inf),
            (Sk::E5m2, -1e30, saturates, -57344.0),
            (Sk::E5m2, 1e30, zero, 57344.0),
            (Sk::E5m2, -inf, zero, -inf),
            (Sk::Bf16, 1e300, plain, inf),
            (Sk::Bf16, -inf, plain, -inf),
        ] {
            let mut e = Emit::new(64);
            let v = e.float(Ty::B64, x);
            let v = e.odd_of(v);
            let v = e.small_of(s, v, how);
            let got = f32::from_bits(folded(&mut e, v)) as f64;
            assert!(got == want || got.is_nan() && want.is_nan(), "{s:?} {x}: {got}");
        }
    }

    /// Integers whose first rounding to f32 would make a tie of what is none.
    #[test]
    fn integers_are_rounded_once() {
        for (from, x, signed, want) in [
            (Sk::I32, 0x0101_0001u64, false, 0x0102_0000 as f64),
            (Sk::I32, 0x0101_0000, false, 0x0100_0000 as f64),
            (Sk::I64, 0x0101_0000_0000_0001, false, 2f64.powi(49) * 129.0),
            (Sk::I64, 0x0101_0000_0000_0000, false, 2f64.powi(56)),
            (
                Sk::I64,
                (0x0101_0000_0000_0001u64 as i64).wrapping_neg() as u64,
                true,
                -(2f64.powi(49) * 129.0),
            ),
            (Sk::I64, -3i64 as u64, true, -3.0),
        ] {
            let mut e = Emit::new(64);
            let v = e.constant(from.ty(), x);
            let v = e.int_to_odd(from, v, signed);
            let v = e.small_of(Sk::Bf16, v, Narrowing::default());
            assert_eq!(f32::from_bits(folded(&mut e, v)) as f64, want, "{x:#x}");
        }
    }
}
