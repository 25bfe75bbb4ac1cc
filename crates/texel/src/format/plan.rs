//! How channels are made of a texel's bits, for the formats without a kernel of their own: one kernel does them all, by a plan that is
//! made with the view. Compressed blocks have plans too: of the texels that they are decoded to.

use super::block::{Packing, RAMP};
use super::num::srgb8_table;
use super::{FormatInfo, NumClass, TexelKind};
use simd::{Simd, ops};

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
}

/// Channels of a texel of 1, 2, 4, 8, 12 or 16 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub coding: Coding,
    pub bytes: u32,
    /// The channels that there are, a bit each.
    pub has: u8,
    /// Where each begins in its word, and its bits.
    shift: [u32; 4],
    bits: [u32; 4],
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
            plan.channel(k, at % 32, bits, most[k]);
            at += bits;
        }
        plan
    }

    /// Of formats with kernels of their own.
    pub const NONE: Plan = Plan::empty(Coding::Whole, 4);

    const fn empty(coding: Coding, bytes: u32) -> Plan {
        Plan { coding, bytes, has: 0, shift: [0; 4], bits: [1; 4], high: [0.0; 4], low: [0.0; 4] }
    }

    fn channel(&mut self, k: usize, shift: u32, bits: u32, most: f32) {
        self.has |= 1 << k;
        (self.shift[k], self.bits[k]) = (shift, bits);
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
        let plain = !format.compressed()
            && !format.is_64bit()
            && format.block_extent == [1; 3]
            && !(format.has_depth() && format.has_stencil())
            && matches!(format.block_bytes, 1 | 2 | 4 | 8 | 12 | 16);
        if !plain {
            return None;
        }
        let whole = format.components().iter().all(|c| c.bits == 32);
        let coding = match format.class {
            _ if format.kind == TexelKind::Rgb9e5 => Coding::Exponent,
            NumClass::Uint | NumClass::Sint | NumClass::Sfloat if whole => Coding::Whole,
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
            if word != at as usize / 32 || bits > 16 && coding != Coding::Whole {
                return None;
            }
            let most = match coding {
                Coding::Snorm => (1u32 << (bits - 1)) - 1,
                _ => u32::MAX >> (32 - bits),
            };
            plan.channel(k, at % 32, bits, most as f32);
        }
        Some(plan)
    }

    /// A channel's bits, at the low end.
    #[inline(always)]
    fn field<S: Simd>(&self, s: S, w: S::I, k: usize) -> S::I {
        s.iand(ops::shr(s, w, self.shift[k]), s.isplat(u32::MAX >> (32 - self.bits[k])))
    }

    /// The same as a number with a sign.
    #[inline(always)]
    fn signed<S: Simd>(&self, s: S, w: S::I, k: usize) -> S::I {
        let up = 32 - self.bits[k];
        ops::sar(s, ops::shl(s, w, up - self.shift[k]), up)
    }

    /// A whole number by the largest one.
    #[inline(always)]
    fn share<S: Simd>(&self, s: S, v: S::I, k: usize) -> S::F {
        let v = s.s_to_f(v);
        s.fma(v, s.fsplat(self.high[k]), s.fmul(v, s.fsplat(self.low[k])))
    }

    /// Channels of texels of `WORDS` words at most. Those that the plan lacks are left as they are.
    #[inline(always)]
    pub fn unpack<S: Simd, const WORDS: usize>(&self, s: S, w: &[S::I; WORDS], out: &mut [S::F; 4]) {
        macro_rules! each {
            (|$k:ident, $w:ident| $v:expr) => {
                for $k in 0..4 {
                    if self.has >> $k & 1 != 0 {
                        let $w = if WORDS > 1 && $k > 1 && self.bytes > 4 { w[1] } else { w[0] };
                        out[$k] = $v;
                    }
                }
            };
        }
        match self.coding {
            Coding::Unorm => each!(|k, w| self.share(s, self.field(s, w, k), k)),
            Coding::Snorm => {
                each!(|k, w| s.fmax_raw(self.share(s, self.signed(s, w, k), k), s.fsplat(-1.0)))
            }
            Coding::Uint => each!(|k, w| s.from_bits(self.field(s, w, k))),
            Coding::Sint => each!(|k, w| s.from_bits(self.signed(s, w, k))),
            Coding::Whole => {
                for k in 0..WORDS {
                    out[k] = s.from_bits(w[k]);
                }
            }
            // A half has a sign before its five bits of exponent, and ten after them.
            Coding::Float => each!(|k, w| {
                let v = self.field(s, w, k);
                s.f16_to_f(ops::shl(s, v, 15u32.saturating_sub(self.bits[k])))
            }),
            Coding::Srgb => {
                each!(|k, w| {
                    let v = self.field(s, w, k);
                    if k == 3 {
                        self.share(s, v, 3)
                    } else {
                        // SAFETY: the table has 256 entries, and these are bytes.
                        let at = s.iand(v, s.isplat(0xFF));
                        s.from_bits(unsafe { s.iwords(srgb8_table().as_ptr().cast(), ops::shl(s, at, 2)) })
                    }
                });
            }
            // As `num::rgb9e5_to_f32`.
            Coding::Exponent => {
                let scale = s.iadd(ops::shr(s, w[0], 27), s.isplat(127 - 24));
                let scale = s.from_bits(ops::shl(s, scale, 23));
                each!(|k, w| s.fmul(s.s_to_f(self.field(s, w, k)), scale));
            }
        }
    }
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
        assert_eq!([plan.has, plan.only([true, true, true, false]).has, plan.only([false, true, false, true]).has], [15, 7, 10]);
    }
}
