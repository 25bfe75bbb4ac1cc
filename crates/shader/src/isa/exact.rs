//! The words that the meanings in [`super::alu`] are written with: registers as numbers, halves, the N forms of
//! minimum and maximum.
//!
//! NaN results of arithmetic are the quiet NaN without payload; kernels may give any NaN, which [`super::Un::FCanon`]
//! makes that one before anybody sees its bits.

use crate::ir::Ty;

/// What a register's bits are read as, and what becomes bits again.
pub(super) trait Word {
    fn of(bits: u64) -> Self;
    fn bits(self) -> u64;
}

macro_rules! words {
    ($($t:ident $bits:ident $x:ident => $of:expr, $to:expr;)*) => {$(
        impl Word for $t {
            fn of($bits: u64) -> $t {
                $of
            }
            fn bits(self) -> u64 {
                let $x = self;
                $to
            }
        }
    )*};
}
words! {
    f32 b x => f32::from_bits(b as u32), if x.is_nan() { 0x7FC0_0000 } else { x.to_bits() as u64 };
    f64 b x => f64::from_bits(b), if x.is_nan() { 0x7FF8_0000_0000_0000 } else { x.to_bits() };
    i32 b x => b as i32, x as u32 as u64;
    u32 b x => b as u32, x as u64;
    i64 b x => b as i64, x as u64;
    u64 b x => b, x;
    bool b x => b & 1 == 1, x as u64;
}

/// Parts of a float's bits.
pub(super) trait Parts {
    fn sign(self) -> Self;
    fn exponent(self) -> Self;
}
impl Parts for u32 {
    fn sign(self) -> u32 {
        1 << 31
    }
    fn exponent(self) -> u32 {
        0xFF << 23
    }
}
impl Parts for u64 {
    fn sign(self) -> u64 {
        1 << 63
    }
    fn exponent(self) -> u64 {
        0x7FF << 52
    }
}

/// Float operations that Rust lacks or has otherwise, in both widths.
pub(super) trait Float: Sized {
    /// NMin and NMax: a NaN gives the other operand; −0 < +0.
    fn n_min(self, y: Self) -> Self;
    fn n_max(self, y: Self) -> Self;
    /// −1, 1, or the zero that it is; 0 for NaN.
    fn sign_of(self) -> Self;
    /// 0 below the edge `self`, else 1.
    fn step(self, y: Self) -> Self;
}
/// Remainder with the divisor's sign; the dividend where that is 0.
pub(super) trait FloorMod {
    fn floor_mod(self, y: Self) -> Self;
}

macro_rules! both_widths {
    ($($f:ident $s:ident)*) => {$(
        impl Float for $f {
            fn n_min(self, y: $f) -> $f {
                if self.is_nan() {
                    y
                } else if y.is_nan() {
                    self
                } else if self == y {
                    if self.is_sign_negative() { self } else { y }
                } else if self < y {
                    self
                } else {
                    y
                }
            }
            fn n_max(self, y: $f) -> $f {
                -(-self).n_min(-y)
            }
            fn sign_of(self) -> $f {
                if self > 0.0 {
                    1.0
                } else if self < 0.0 {
                    -1.0
                } else if self.is_nan() {
                    0.0
                } else {
                    self
                }
            }
            fn step(self, y: $f) -> $f {
                if y < self { 0.0 } else { 1.0 }
            }
        }
        impl FloorMod for $s {
            fn floor_mod(self, y: $s) -> $s {
                if y == 0 {
                    return self;
                }
                let r = self.wrapping_rem(y);
                if r != 0 && (r < 0) != (y < 0) { r.wrapping_add(y) } else { r }
            }
        }
    )*};
}
both_widths!(f32 i32 f64 i64);

/// True when `bits` is a NaN of the float type of `ty`'s width.
pub fn is_nan(ty: Ty, bits: u64) -> bool {
    if ty == Ty::B64 { f64::of(bits).is_nan() } else { f32::of(bits).is_nan() }
}

/// How a float is rounded to f16.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Round {
    Nearest,
    Zero,
}

/// The bits of an f16.
#[derive(Clone, Copy)]
pub(super) struct F16(pub u16);

/// The f16 of an f64, rounded once. Overflow goes to infinity (nearest) or to the largest finite value (zero).
pub(super) fn to_f16(x: impl Into<f64>, round: Round) -> F16 {
    let x: f64 = x.into();
    let bits = x.to_bits();
    let sign = ((bits >> 48) & 0x8000) as u16;
    if x.is_nan() {
        return F16(sign | 0x7E00);
    }
    if x.is_infinite() {
        return F16(sign | 0x7C00);
    }
    let exp = ((bits >> 52) & 0x7FF) as i32 - 1023;
    if exp < -26 {
        return F16(sign); // below half of the smallest denormal, f64 denormals included
    }
    // In units of the result's last place: 2^-24 for denormals, else 2^(exp - 10).
    let mantissa = (bits & ((1 << 52) - 1)) | 1 << 52;
    let drop = if exp < -14 { 42 + (-14 - exp) } else { 42 };
    let mut units = mantissa >> drop;
    let rest = mantissa & ((1u64 << drop) - 1);
    let half = 1u64 << (drop - 1);
    if round == Round::Nearest && (rest > half || (rest == half && units & 1 == 1)) {
        units += 1;
    }
    // For normals `units` has the implicit bit: adding it to (exponent − 1) carries correctly.
    let base = if exp < -14 { 0 } else { ((exp + 14) as u64) << 10 };
    let code = base + units;
    if code >= 0x7C00 {
        return F16(sign | if round == Round::Nearest { 0x7C00 } else { 0x7BFF });
    }
    F16(sign | code as u16)
}

impl F16 {
    pub fn to_f32(self) -> f32 {
        let h = self.0;
        let sign = ((h & 0x8000) as u32) << 16;
        let exp = (h >> 10) & 31;
        let man = (h & 0x3FF) as u32;
        match exp {
            0 => {
                let x = man as f32 * f32::from_bits(0x3380_0000); // 2^-24
                f32::from_bits(x.to_bits() | sign)
            }
            31 => f32::from_bits(sign | 0x7F80_0000 | man << 13),
            _ => f32::from_bits(sign | (exp as u32 + 112) << 23 | man << 13),
        }
    }
    /// Denormals are zeros of their sign.
    pub fn flushed(self) -> F16 {
        if self.0 & 0x7C00 == 0 { F16(self.0 & 0x8000) } else { self }
    }
}

/// The products of four bytes, of which each operand's are signed or not, added.
pub(super) fn dot4(x: u32, y: u32, signed: [bool; 2]) -> u32 {
    let wide = |b: u8, signed: bool| if signed { b as i8 as i32 } else { b as i32 };
    let pairs = x.to_le_bytes().into_iter().zip(y.to_le_bytes());
    pairs.map(|(x, y)| wide(x, signed[0]) * wide(y, signed[1])).sum::<i32>() as u32
}

/// x · 2^e with one rounding.
pub(super) fn ldexp(x: f32, e: i32) -> f32 {
    let e = e.clamp(-400, 400);
    ((x as f64) * f64::from_bits(((e + 1023) as u64) << 52)) as f32
}

/// Significand in [0.5, 1) and exponent; (x, 0) for zero, infinity and NaN.
pub(super) fn frexp(x: impl Into<f64>) -> (f64, i32) {
    let x: f64 = x.into();
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let (y, adjust) = if x.abs() < f64::MIN_POSITIVE { (x * f64::from_bits(1077 << 52), 54) } else { (x, 0) };
    let bits = y.to_bits();
    let exp = ((bits >> 52) & 0x7FF) as i32 - 1022 - adjust;
    (f64::from_bits(bits & !(0x7FF << 52) | 1022 << 52), exp)
}

/// Norm code: clamp to [lo, 1], scale, round to nearest even; NaN gives 0.
pub(super) fn norm(x: f32, lo: f32, scale: f32) -> i32 {
    if x.is_nan() {
        return 0;
    }
    (x.clamp(lo, 1.0) * scale).round_ties_even() as i32
}

/// `count` ones, from bit 0 on.
pub(super) fn ones(count: u32) -> u32 {
    if count >= 32 { u32::MAX } else { (1 << count) - 1 }
}

/// Bits `offset..offset + count` of a value of `width` bits, at the top of the word, and how far down they belong.
/// `None` where there are none.
fn raised(a: u64, offset: u64, count: u64, width: u32) -> Option<(u64, u32)> {
    let (offset, count) = (offset as u32 & (width - 1), (count as u32).min(width));
    (count != 0).then(|| ((a >> offset) << (64 - count), 64 - count))
}
/// A bit field, zero- or sign-extended.
pub(super) fn field(a: u64, offset: u64, count: u64, width: u32) -> u64 {
    raised(a, offset, count, width).map_or(0, |(x, down)| x >> down)
}
pub(super) fn signed_field(a: u64, offset: u64, count: u64, width: u32) -> i64 {
    raised(a, offset, count, width).map_or(0, |(x, down)| x as i64 >> down)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_f64(x: f64, round: Round) -> u16 {
        to_f16(x, round).0
    }

    #[test]
    fn halves_agree_with_the_half_crate() {
        for h in 0..=u16::MAX {
            let want = half::f16::from_bits(h);
            if !want.is_nan() {
                assert_eq!(F16(h).to_f32().to_bits(), want.to_f32().to_bits());
                assert_eq!(to_f16(want.to_f32(), Round::Nearest).0, h);
            }
        }
        let mut r = random::Random::new(1);
        for _ in 0..200_000 {
            let x = r.u32();
            let v = f32::from_bits(((x >> 4) % 0x1000_0000 + 0x3000_0000) | (x << 31));
            assert_eq!(of_f64(v.into(), Round::Nearest), half::f16::from_f32(v).to_bits(), "{v}");
        }
        assert_eq!(of_f64(65519.999, Round::Nearest), 0x7BFF);
        assert_eq!(of_f64(65520.0, Round::Nearest), 0x7C00);
        assert_eq!(of_f64(1e9, Round::Zero), 0x7BFF);
        // Just above a tie in f64, a tie in f32.
        assert_eq!(of_f64(1.0 + 1.0 / 2048.0 + 1e-14, Round::Nearest), 0x3C01);
    }
}
