//! How channels are made of a texel's bits, for the formats without a kernel of their own: one kernel does them all, by a plan that is
//! made with the view. Compressed blocks have plans too: of the texels that they are decoded to.

use super::block::{Packing, RAMP};
use super::num::srgb8_words;
use super::{FormatInfo, NumClass, TexelKind};
use simd::{Simd, Table, ops};
use std::sync::LazyLock;

/// What a channel's bits are.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Coding {
    Unorm,
    Snorm,
    Uint,
    Sint,
    /// 32 bits, as they are.
    Whole,
    /// Floats of five exponent bits, and of fewer other bits than a half.
    Float,
    /// Bytes through the curve; alpha is linear.
    Srgb,
    /// Three of nine bits, and what they share.
    Exponent,
    /// 24 bits of depth: parts of one by their greatest number are not exact.
    Deep,
}

const UNORM: u8 = Coding::Unorm as u8;
const SNORM: u8 = Coding::Snorm as u8;
const UINT: u8 = Coding::Uint as u8;
const SINT: u8 = Coding::Sint as u8;
const WHOLE: u8 = Coding::Whole as u8;
const FLOAT: u8 = Coding::Float as u8;
const SRGB: u8 = Coding::Srgb as u8;
const DEEP: u8 = Coding::Deep as u8;

/// Channels of a texel of 1, 2, 4, 8, 12 or 16 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub coding: Coding,
    pub bytes: u32,
    /// The channels that there are, a bit each.
    pub has: u8,
    /// Channels are numbers 0..=255, by which they are divided when they have been filtered.
    pub filters_bytes: bool,
    /// Where each begins in its word.
    shift: [u32; 4],
    /// As many set.
    mask: [u32; 4],
    /// How far a channel is moved up to the end of its word, and down again; and up to be the low bits of a half, as a float.
    up: [u32; 4],
    end: [u32; 4],
    halves: [u32; 4],
    /// One by the largest number, in two parts: see [`parts`].
    high: [f32; 4],
    low: [f32; 4],
}

/// `1 / of` in two parts: `v · high + v · low`, the sum rounded once, is `v / of` rounded, for whole numbers of 16 bits (a quotient of
/// such lies farther from the middle of two floats than the parts are from 1 / of).
fn parts(of: f32) -> [f32; 2] {
    let high = 1.0 / of;
    [high, (1.0 / of as f64 - high as f64) as f32]
}

impl Plan {
    /// Channels of so many bits, the first at bit 0 of its word, and the greatest number of each.
    fn packed(coding: Coding, bytes: u32, bits: &[u32], most: [f32; 4]) -> Plan {
        let mut plan = Plan::empty(coding, bytes);
        let mut at = 0;
        for (k, &bits) in bits.iter().enumerate() {
            plan.put(k, at % 32, bits, most[k]);
            at += bits;
        }
        plan
    }

    /// Of formats with kernels of their own.
    pub const NONE: Plan = Plan::empty(Coding::Whole, 4);

    const fn empty(coding: Coding, bytes: u32) -> Plan {
        Plan {
            coding,
            bytes,
            has: 0,
            filters_bytes: false,
            shift: [0; 4],
            mask: [1; 4],
            up: [31; 4],
            end: [31; 4],
            halves: [14; 4],
            high: [0.0; 4],
            low: [0.0; 4],
        }
    }

    /// Of bytes that are filtered as such.
    pub fn of_bytes(self) -> Plan {
        Plan { filters_bytes: true, high: [1.0; 4], low: [0.0; 4], ..self }
    }

    fn put(&mut self, k: usize, shift: u32, bits: u32, most: f32) {
        self.has |= 1 << k;
        (self.shift[k], self.mask[k]) = (shift, u32::MAX >> (32 - bits));
        (self.up[k], self.end[k]) = (32 - bits - shift, 32 - bits);
        self.halves[k] = 15u32.saturating_sub(bits);
        [self.high[k], self.low[k]] = parts(most);
    }

    /// Without the channels that the format lacks: blocks are decoded to all of a plan's.
    fn only(mut self, has: [bool; 4]) -> Plan {
        for (k, _) in has.into_iter().enumerate().filter(|(_, has)| !has) {
            self.has &= !(1 << k);
        }
        self
    }

    /// The plan of a compressed format's texels as they are decoded.
    pub fn decoded(format: &FormatInfo, packing: Packing) -> Plan {
        let coding = if format.is_srgb() { Coding::Srgb } else { Coding::Unorm };
        let plan = match packing {
            Packing::Bytes => Plan::packed(coding, 4, &[8; 4], [255.0; 4]),
            Packing::BytesAlpha => Plan::packed(coding, 8, &[16; 4], [255.0, 255.0, 255.0, RAMP as f32]),
            Packing::Pair { most, signed } => {
                let coding = if signed { Coding::Snorm } else { Coding::Unorm };
                Plan::packed(coding, 4, &[16; 2], [most as f32; 4])
            }
            Packing::Halves => Plan::packed(Coding::Float, 8, &[16; 4], [1.0; 4]),
        };
        plan.only([b'r', b'g', b'b', b'a'].map(|name| format.has_component(name)))
    }

    /// The plan of an uncompressed format, if it has one.
    pub fn of(format: &FormatInfo) -> Option<Plan> {
        let aspects = format.has_depth() as u32 + format.has_stencil() as u32;
        let plain = !format.compressed()
            && !format.is_64bit()
            && format.block_extent == [1; 3]
            && aspects < 2
            && matches!(format.block_bytes, 1 | 2 | 4 | 8 | 12 | 16);
        if !plain {
            return None;
        }
        let whole = format.components().iter().all(|c| c.bits == 32);
        let coding = match format.class {
            _ if format.kind == TexelKind::Rgb9e5 => Coding::Exponent,
            NumClass::Uint | NumClass::Sint | NumClass::Sfloat if whole => Coding::Whole,
            NumClass::Unorm if format.kind == TexelKind::D24 => Coding::Deep,
            NumClass::Unorm => Coding::Unorm,
            NumClass::Snorm => Coding::Snorm,
            NumClass::Uint => Coding::Uint,
            NumClass::Sint => Coding::Sint,
            NumClass::Srgb => Coding::Srgb,
            NumClass::Sfloat | NumClass::Ufloat => Coding::Float,
            NumClass::Uscaled | NumClass::Sscaled => return None,
        };
        let mut plan = Plan::empty(coding, format.block_bytes);
        for c in format.components().iter().filter(|c| c.name != b'e') {
            let (k, bits, at) = (c.channel(), c.bits as u32, c.offset as u32);
            let word = match (coding, format.block_bytes) {
                (Coding::Whole, _) => k,
                (_, 8) => k / 2,
                _ => 0,
            };
            if word != at as usize / 32 || bits > 16 && !matches!(coding, Coding::Whole | Coding::Deep) {
                return None;
            }
            let most = match coding {
                Coding::Snorm => (1u32 << (bits - 1)) - 1,
                _ => u32::MAX >> (32 - bits),
            };
            plan.put(k, at % 32, bits, most as f32);
        }
        Some(plan)
    }

    /// The word that a channel lies in.
    #[inline(always)]
    pub fn word(&self, k: usize) -> usize {
        match self.coding {
            Coding::Whole => k,
            _ => (self.bytes == 8 && k > 1) as usize,
        }
    }

    /// What the channels of [`Coding::Exponent`] share: the power of two that the words say; of others something.
    #[inline(always)]
    pub fn scales<S: Simd, const N: usize>(&self, s: S, w: &[S::I; N]) -> [S::F; N] {
        let mut out = [s.fsplat(1.0); N];
        if self.coding == Coding::Exponent {
            for n in 0..N {
                let exponent = s.iadd(ops::shr(s, w[n], 27), s.isplat(127 - 24));
                out[n] = s.from_bits(ops::shl(s, exponent, 23));
            }
        }
        out
    }

    /// Channel `k`, of words that it lies in: of several at once, for what is known of it is known of all. `scales`: [`Self::scales`] of them.
    #[inline(always)]
    pub fn channel<S: Simd, const N: usize>(
        &self,
        s: S,
        k: usize,
        w: &[S::I; N],
        scales: &[S::F; N],
    ) -> [S::F; N] {
        macro_rules! by {
            ($($coding:ident)*) => {
                match self.coding_of(k) {
                    $(Coding::$coding => self.channel_as::<S, N, { Coding::$coding as u8 }>(s, k, w, scales),)*
                }
            };
        }
        by!(Unorm Snorm Uint Sint Whole Float Srgb Exponent Deep)
    }

    /// What channel `k` is.
    #[inline(always)]
    pub fn coding_of(&self, k: usize) -> Coding {
        if self.coding == Coding::Srgb && k == 3 { Coding::Unorm } else { self.coding }
    }

    /// [`Self::channel`] of a coding that is known: loops over many have no other's steps.
    #[inline(always)]
    pub fn channel_as<S: Simd, const N: usize, const CODING: u8>(
        &self,
        s: S,
        k: usize,
        w: &[S::I; N],
        scales: &[S::F; N],
    ) -> [S::F; N] {
        let k = k % 4;
        let (high, low) = (s.fsplat(self.high[k]), s.fsplat(self.low[k]));
        let (down, mask) = (s.isplat(self.shift[k]), s.isplat(self.mask[k]));
        let (up, end) = (s.isplat(self.up[k]), s.isplat(self.end[k]));
        let mut out = [high; N];
        // A channel's bits at the low end, and the same as a number with a sign.
        macro_rules! field {
            ($w:expr) => {
                s.iand(s.ishr($w, down), mask)
            };
        }
        macro_rules! signed {
            ($w:expr) => {
                s.isar(s.ishl($w, up), end)
            };
        }
        // A whole number by the largest one.
        macro_rules! share {
            ($v:expr) => {{
                let v = s.s_to_f($v);
                s.fma(v, high, s.fmul(v, low))
            }};
        }
        macro_rules! each {
            (|$w:ident| $v:expr) => {
                for n in 0..N {
                    let $w = w[n];
                    out[n] = $v;
                }
            };
        }
        match CODING {
            SRGB => {
                let mut at = *w;
                for n in 0..N {
                    at[n] = s.iand(s.ishr(w[n], down), s.isplat(0xFF));
                }
                out = linear(s, &at);
            }
            UNORM => each!(|w| share!(field!(w))),
            SNORM => each!(|w| s.fmax_raw(share!(signed!(w)), s.fsplat(-1.0))),
            UINT => each!(|w| s.from_bits(field!(w))),
            SINT => each!(|w| s.from_bits(signed!(w))),
            WHOLE => each!(|w| s.from_bits(w)),
            // A half has a sign before its five bits of exponent, and ten after them.
            FLOAT => {
                let up = s.isplat(self.halves[k]);
                each!(|w| s.f16_to_f(s.ishl(field!(w), up)));
            }
            DEEP => each!(|w| s.fdiv(s.s_to_f(field!(w)), s.fsplat(16777215.0))),
            // As `num::rgb9e5_to_f32`.
            _ => {
                for n in 0..N {
                    out[n] = s.fmul(s.s_to_f(field!(w[n])), scales[n]);
                }
            }
        }
        out
    }
}

/// The curve's table by parts of 32.
static CURVE: LazyLock<[Table<32>; 8]> = LazyLock::new(|| {
    let all = &srgb8_words().0;
    std::array::from_fn(|n| Table(std::array::from_fn(|i| all[32 * n + i])))
});

/// Bytes through the sRGB curve.
#[inline(always)]
fn linear<S: Simd, const N: usize>(s: S, at: &[S::I; N]) -> [S::F; N] {
    let mut out = [s.fsplat(0.0); N];
    if !S::ONE_VECTOR {
        for n in 0..N {
            // SAFETY: the table has 256 entries, and these are bytes.
            out[n] = s.from_bits(unsafe { s.iwords(srgb8_words().0.as_ptr().cast(), ops::shl(s, at[n], 2)) });
        }
        return out;
    }
    // Two vectors are looked up in by one instruction: a quarter of the table after the other, less work than so many loads.
    let table = &*CURVE;
    for half in 0..2 {
        let mut of_half = out;
        for quarter in 0..2 {
            let [low, high] = [&table[4 * half + 2 * quarter], &table[4 * half + 2 * quarter + 1]];
            for n in 0..N {
                let odd = bit(s, at[n], 5);
                let v = s.isel(odd, s.ilook(high, at[n]), s.ilook(low, at[n]));
                let v = if quarter == 0 { v } else { s.isel(bit(s, at[n], 6), v, s.bits(of_half[n])) };
                of_half[n] = s.from_bits(v);
            }
        }
        for n in 0..N {
            let upper = bit(s, at[n], 7);
            out[n] = if half == 0 { of_half[n] } else { s.fsel(upper, of_half[n], out[n]) };
        }
    }
    out
}

/// Lanes with that bit.
#[inline(always)]
fn bit<S: Simd>(s: S, v: S::I, n: u32) -> S::M {
    s.ugt(s.iand(v, s.isplat(1 << n)), s.isplat(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_divide_exactly() {
        let most = [1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 2047, 4095, 4445, 8925, 32767, 65535];
        for most in most {
            let [high, low] = parts(most as f32);
            for v in 0..=most {
                let v = v as f32;
                assert_eq!(v.mul_add(high, v * low), v / most as f32, "{v} / {most}");
                assert_eq!((-v).mul_add(high, -v * low), -v / most as f32, "-{v} / {most}");
            }
        }
    }

    #[test]
    fn channels_that_a_format_lacks_are_left_out() {
        let plan = Plan::packed(Coding::Unorm, 4, &[8, 8, 8, 8], [255.0; 4]);
        assert_eq!(
            [plan.has, plan.only([true, true, true, false]).has, plan.only([false, true, false, true]).has],
            [15, 7, 10]
        );
    }
}
