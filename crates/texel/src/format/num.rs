//! Number conversions of the formats: normalised integers, sRGB, small floats, the shared exponent.
//!
//! Sources: Vulkan specification, "Fixed-Point Data Conversions" and "RGB to Shared Exponent Conversion"; Khronos Data
//! Format Specification, "Floating-point channels" and "sRGB EOTF". Every function here gives the same bits on every
//! host: only IEEE basic operations, and tables rounded from double precision.

use half::f16;
use simd::Table;
use std::sync::LazyLock;

/// Unsigned normalised integer of `bits` ≤ 32 to a float.
#[inline]
pub fn unorm_to_f32(v: u32, bits: u32) -> f32 {
    let max = u32::MAX >> (32 - bits);
    if bits <= 16 { v as f32 / max as f32 } else { (v as f64 / max as f64) as f32 }
}

/// Float to unsigned normalised integer of `bits` ≤ 32, to nearest; NaN gives 0.
#[inline]
pub fn f32_to_unorm(x: f32, bits: u32) -> u32 {
    let max = u32::MAX >> (32 - bits);
    if bits <= 16 {
        (x.clamp(0.0, 1.0) * max as f32 + 0.5) as u32
    } else {
        ((x as f64).clamp(0.0, 1.0) * max as f64 + 0.5) as u32
    }
}

/// Signed normalised integer of `bits` ≤ 16 (already sign-extended) to a float; the lowest value is clamped to -1.
#[inline]
pub fn snorm_to_f32(v: i32, bits: u32) -> f32 {
    let max = ((1u32 << (bits - 1)) - 1) as f32;
    (v as f32 / max).max(-1.0)
}

/// Float to signed normalised integer of `bits` ≤ 16, to nearest, halves away from zero; NaN gives 0.
#[inline]
pub fn f32_to_snorm(x: f32, bits: u32) -> i32 {
    let max = ((1u32 << (bits - 1)) - 1) as f32;
    let v = x.clamp(-1.0, 1.0) * max;
    (v + 0.5f32.copysign(v)) as i32
}

/// Sign-extends the low `bits` of `v`.
#[inline]
pub fn sext(v: u32, bits: u32) -> i32 {
    ((v << (32 - bits)) as i32) >> (32 - bits)
}

fn srgb_eotf(c: f64) -> f64 {
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// Below this sRGB's code is 0, and from [`SRGB_MOST`] on 255.
pub const SRGB_LEAST: f32 = 1.0 / 8192.0;
pub const SRGB_MOST: f32 = 1.0 - 1.0 / (1 << 24) as f32;
/// Parts of the range between, by the upper half of a number's bits: 128 of each power of two.
const SRGB_PARTS: usize = 13 * 128;

struct SrgbTables {
    /// Floats' bits.
    decode: Table<256>,
    /// By part: the code of its least number << 20 | the least lower half of a number of the next code, of which a part
    /// has one step at most; 0x10000 where it has none.
    steps: [u32; SRGB_PARTS],
}

static SRGB: LazyLock<SrgbTables> = LazyLock::new(|| SrgbTables {
    decode: Table(std::array::from_fn(|i| (srgb_eotf(i as f64 / 255.0) as f32).to_bits())),
    steps: std::array::from_fn(|i| {
        let low = SRGB_LEAST.to_bits() + ((i as u32) << 16);
        // The smallest number that encodes to more than k.
        let step = |k: u32| srgb_eotf((k as f64 + 0.5) / 255.0) as f32;
        let code = (0..255).take_while(|&k| step(k).to_bits() <= low).count() as u32;
        let next = if code < 255 { step(code).to_bits() - low } else { 0x1_0000 };
        code << 20 | next.min(0x1_0000)
    }),
});

/// Eight-bit sRGB code to linear.
#[inline]
pub fn srgb8_to_f32(v: u8) -> f32 {
    f32::from_bits(SRGB.decode.0[v as usize])
}

/// The whole decoding table, for loops: floats' bits.
#[inline]
pub fn srgb8_words() -> &'static Table<256> {
    &SRGB.decode
}

/// Linear to the nearest eight-bit sRGB code (nearest among the encoded values); NaN gives 0.
#[inline]
pub fn f32_to_srgb8(x: f32) -> u8 {
    let x = if x > SRGB_LEAST { x.min(SRGB_MOST) } else { SRGB_LEAST };
    let bits = x.to_bits();
    let step = SRGB.steps[(bits >> 16) as usize - (SRGB_LEAST.to_bits() >> 16) as usize];
    ((step >> 20) + (bits & 0xffff >= step & 0xf_ffff) as u32) as u8
}

/// The encoding table, for loops.
pub fn srgb8_steps() -> &'static [u32; SRGB_PARTS] {
    &SRGB.steps
}

/// Half precision to single: exact, without branches (loops over it become vector code); NaN is made quiet and keeps
/// sign and payload, as CPUs do it.
#[inline(always)]
pub fn f16_to_f32(v: u16) -> f32 {
    let v = v as u32;
    let (exponent, shifted) = (v & 0x7c00, (v & 0x7fff) << 13);
    let bias = if exponent == 0x7c00 { (255 - 31) << 23 } else { (127 - 15) << 23 };
    let normal = shifted + bias;
    let denormal = ((v & 0x3ff) as f32 * (1.0 / (1 << 24) as f32)).to_bits();
    let quiet = if v & 0x7fff > 0x7c00 { 0x40_0000 } else { 0 };
    f32::from_bits(if exponent == 0 { denormal } else { normal } | quiet | (v & 0x8000) << 16)
}

/// To half precision, to nearest even; too large values become infinity.
#[inline]
pub fn f32_to_f16(x: f32) -> u16 {
    f16::from_f32(x).to_bits()
}

/// Unsigned float of 5 exponent bits and `mant` mantissa bits (6 or 5) to `f32`.
#[inline]
pub fn ufloat_to_f32(v: u32, mant: u32) -> f32 {
    // The exponent is that of half precision: widen the mantissa and let half do it.
    f16_to_f32((v << (10 - mant)) as u16)
}

/// `f32` to an unsigned float of 5 exponent bits and `mant` mantissa bits: negative values give 0, finite values above
/// the largest one are clamped to it, the rest rounds to nearest even.
#[inline]
pub fn f32_to_ufloat(x: f32, mant: u32) -> u32 {
    let inf = 31 << mant;
    if x.is_nan() {
        return inf | 1;
    }
    if x <= 0.0 {
        return 0;
    }
    if x.is_infinite() {
        return inf;
    }
    let bits = x.to_bits();
    let exp = (bits >> 23) as i32 - 127 + 15;
    let man = bits & 0x7f_ffff | 0x80_0000;
    let shift = if exp >= 1 { 23 - mant } else { (23 - mant) + (1 - exp) as u32 };
    if shift > 30 {
        return 0;
    }
    let half = 1u32 << (shift - 1);
    let mut q = man >> shift;
    let rest = man & ((1 << shift) - 1);
    if rest > half || (rest == half && q & 1 == 1) {
        q += 1;
    }
    // A normal number's hidden bit in `q` counts as one step of the exponent.
    let code = if exp >= 1 { (((exp - 1) as u32) << mant) + q } else { q };
    code.min(inf - 1)
}

/// E5B9G9R9 to RGB.
#[inline]
pub fn rgb9e5_to_f32(v: u32) -> [f32; 3] {
    // 2^(exponent - 15 - 9), always a normal number.
    let scale = f32::from_bits((127 + (v >> 27) - 24) << 23);
    [(v & 0x1ff) as f32 * scale, (v >> 9 & 0x1ff) as f32 * scale, (v >> 18 & 0x1ff) as f32 * scale]
}

/// RGB to E5B9G9R9.
pub fn f32_to_rgb9e5(rgb: [f32; 3]) -> u32 {
    const MAX: f32 = 65408.0;
    let c = rgb.map(|x| if x > 0.0 { x.min(MAX) } else { 0.0 });
    let max = c[0].max(c[1]).max(c[2]);
    // floor(log2(max)), at least -16: denormals are far below.
    let log2 = ((max.to_bits() >> 23) as i32 - 127).max(-16);
    let mut exp = log2 + 16;
    let quant = |x: f32, exp: i32| {
        (x as f64 * f64::from_bits(((1023 - (exp - 24)) as u64) << 52) + 0.5).floor() as u32
    };
    if quant(max, exp) == 512 {
        exp += 1;
    }
    quant(c[0], exp) | quant(c[1], exp) << 9 | quant(c[2], exp) << 18 | (exp as u32) << 27
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalised() {
        assert_eq!(f32_to_unorm(0.5, 8), 128);
        assert_eq!(f32_to_unorm(f32::NAN, 8), 0);
        assert_eq!(f32_to_unorm(7.0, 8), 255);
        assert_eq!(f32_to_unorm(1.0, 24), 0xff_ffff);
        assert_eq!(f32_to_snorm(-1.0, 8), -127);
        assert_eq!(f32_to_snorm(-0.5, 8), -64);
        assert_eq!(snorm_to_f32(-128, 8), -1.0);
        assert_eq!(snorm_to_f32(-2, 2), -1.0);
        for bits in [1, 2, 4, 5, 6, 8, 10, 12, 16, 24] {
            let max = (1u64 << bits) as u32 - 1;
            for v in (0..=max).step_by((max as usize / 997).max(1)) {
                assert_eq!(f32_to_unorm(unorm_to_f32(v, bits), bits), v, "{bits}");
            }
        }
    }

    #[test]
    fn srgb() {
        assert_eq!(srgb8_to_f32(0), 0.0);
        assert_eq!(srgb8_to_f32(255), 1.0);
        assert!((srgb8_to_f32(188) - 0.502886).abs() < 1e-5);
        assert_eq!(f32_to_srgb8(0.5), 188);
        assert_eq!(f32_to_srgb8(-1.0), 0);
        assert_eq!(f32_to_srgb8(f32::NAN), 0);
        assert_eq!(f32_to_srgb8(2.0), 255);
        for v in 0..=255 {
            assert_eq!(f32_to_srgb8(srgb8_to_f32(v)), v);
        }
        // To either side of each step, and of each part of the table.
        let nearest = |x: f32| (0..255).filter(|&k| x >= srgb_eotf((k as f64 + 0.5) / 255.0) as f32).count();
        let steps = (0..255).map(|k| (srgb_eotf((k as f64 + 0.5) / 255.0) as f32).to_bits());
        for at in steps.chain((0x3880_0000u32..=0x3f81_0000).step_by(0x1_0000)) {
            for bits in at - 2..=at + 2 {
                let x = f32::from_bits(bits);
                assert_eq!(f32_to_srgb8(x) as usize, nearest(x), "{x}");
            }
        }
    }

    #[test]
    fn small_floats() {
        assert_eq!(f32_to_ufloat(1.0, 6), 15 << 6);
        assert_eq!(ufloat_to_f32(15 << 6, 6), 1.0);
        assert_eq!(f32_to_ufloat(1e9, 6), 0x7bf); // 65024
        assert_eq!(ufloat_to_f32(0x7bf, 6), 65024.0);
        assert_eq!(f32_to_ufloat(-3.0, 5), 0);
        assert_eq!(f32_to_ufloat(f32::INFINITY, 5), 31 << 5);
        for mant in [5, 6] {
            for v in 0..31 << mant {
                assert_eq!(f32_to_ufloat(ufloat_to_f32(v, mant), mant), v);
            }
        }
    }

    #[test]
    fn half_floats() {
        for v in 0..=u16::MAX {
            let (got, want) = (f16_to_f32(v), f16::from_bits(v).to_f32());
            assert_eq!(got.to_bits(), want.to_bits(), "{v:#x}");
        }
        assert_eq!(f32_to_f16(65519.9), 0x7bff);
        assert_eq!(f32_to_f16(65520.0), 0x7c00);
    }

    #[test]
    fn shared_exponent() {
        // One: mantissa 256 at exponent 16 (256 · 2^(16-24) = 1).
        assert_eq!(f32_to_rgb9e5([1.0, 0.0, 0.0]), 16 << 27 | 256);
        assert_eq!(rgb9e5_to_f32(16 << 27 | 256), [1.0, 0.0, 0.0]);
        assert_eq!(f32_to_rgb9e5([1e9, -1.0, f32::NAN]), 31 << 27 | 511);
        // 511.75/512 rounds up to the next exponent.
        assert_eq!(f32_to_rgb9e5([511.75 / 512.0, 0.5, 0.0]), 16 << 27 | 128 << 9 | 256);
        assert_eq!(f32_to_rgb9e5([0.0; 3]), 0);
    }
}
