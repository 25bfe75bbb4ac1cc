//! Texels of a warp of any uncompressed format over vectors: sixteen packed side by side, or unpacked from anywhere.
//!
//! A format's components are met one after the other, each for all lanes at once, so that one loop a SIMD level serves
//! every row of the table. The bits are those of the one-lane codecs (`codec.rs`), which the tests compare. A component
//! lies within one 32-bit word of the texel; formats of 64-bit components are not for this.

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::num::{SRGB_LEAST, SRGB_MOST, srgb8_steps, srgb8_words};
use super::{FormatInfo, NumClass, TexelKind};
use crate::vector::{load, store};
use simd::{Simd, Table, ops};

/// Sixteen lanes of four channels, raw bits.
pub type Channels = [[u32; 16]; 4];

/// Bytes of the largest texel.
pub const MOST: usize = 16;

/// How a component's bits are made of a channel: its class, and what of the format matters besides.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Coding {
    /// Normalised, up to 16 bits, and more.
    Unorm,
    Unorm24,
    Snorm,
    Uscaled,
    Sscaled,
    Uint,
    Sint,
    Half,
    /// 32 bits as they are.
    Whole,
    /// Floats of five exponent bits without a sign.
    Ufloat,
    Srgb,
}

#[inline(always)]
const fn coding(class: NumClass, bits: u32, alpha: bool) -> Coding {
    match class {
        NumClass::Srgb if !alpha => Coding::Srgb,
        NumClass::Unorm | NumClass::Srgb if bits <= 16 => Coding::Unorm,
        NumClass::Unorm | NumClass::Srgb => Coding::Unorm24,
        NumClass::Snorm => Coding::Snorm,
        NumClass::Uscaled => Coding::Uscaled,
        NumClass::Sscaled => Coding::Sscaled,
        _ if bits == 32 => Coding::Whole,
        NumClass::Uint => Coding::Uint,
        NumClass::Sint => Coding::Sint,
        _ if bits == 16 => Coding::Half,
        _ => Coding::Ufloat,
    }
}

/// NaN gives `lo`.
#[inline(always)]
fn clamp<S: Simd>(s: S, v: S::F, lo: f32, hi: f32) -> S::F {
    s.fmin_raw(s.fmax_raw(v, s.fsplat(lo)), s.fsplat(hi))
}

/// A channel's lanes as a component of `bits` bits, the others 0.
#[inline(always)]
pub(super) fn encode<S: Simd>(s: S, how: Coding, bits: u32, v: S::I) -> S::I {
    let all = u32::MAX >> (32 - bits);
    let x = s.from_bits(v);
    let half = s.fsplat(0.5);
    match how {
        Coding::Unorm => {
            let v = s.fmul(clamp(s, x, 0.0, 1.0), s.fsplat(all as f32));
            s.f_to_s_raw(s.fadd(v, half))
        }
        Coding::Unorm24 => {
            let v = s.dmul(s.f_to_d(clamp(s, x, 0.0, 1.0)), s.dsplat(all as f64));
            s.d_to_s_raw(s.dadd(v, s.dsplat(0.5)))
        }
        Coding::Snorm => {
            let x = s.fsel(s.feq(x, x), x, s.fsplat(0.0));
            let v = s.fmul(clamp(s, x, -1.0, 1.0), s.fsplat((all >> 1) as f32));
            s.iand(s.f_to_s_raw(s.fadd(v, ops::copysign(s, half, v))), s.isplat(all))
        }
        // Only vertices have these; up to 16 bits.
        Coding::Uscaled => s.f_to_s_raw(clamp(s, x, 0.0, all as f32)),
        Coding::Sscaled => {
            let x = s.fsel(s.feq(x, x), x, s.fsplat(0.0));
            let top = (all >> 1) as f32;
            s.iand(s.f_to_s_raw(clamp(s, x, -top - 1.0, top)), s.isplat(all))
        }
        Coding::Uint => s.umin(v, s.isplat(all)),
        Coding::Sint => {
            let top = s.isplat(all >> 1);
            s.iand(s.smax(s.smin(v, top), s.isplat(!(all >> 1))), s.isplat(all))
        }
        Coding::Half => s.iand(s.f_to_f16(x), s.isplat(0xFFFF)),
        Coding::Whole => v,
        Coding::Ufloat => ufloat(s, x, bits - 5),
        Coding::Srgb => srgb(s, [x])[0],
    }
}

/// As `num::f32_to_ufloat`.
#[inline(always)]
fn ufloat<S: Simd>(s: S, x: S::F, mantissa: u32) -> S::I {
    let infinity = 31 << mantissa;
    let zero = s.fsplat(0.0);
    let bits = s.bits(x);
    let drop = 23 - mantissa;
    // Normal: half of what is dropped is added, less the least bit if the rest is even; the exponent's bias changes.
    let odd = s.iand(ops::shr(s, bits, drop), s.isplat(1));
    let half = ((1u32 << (drop - 1)) - 1).wrapping_sub(112 << 23);
    let rounded = s.iadd(s.iadd(bits, s.isplat(half)), odd);
    let normal = ops::shr(s, rounded, drop);
    // Denormal: the sum with a power of two is rounded to their step.
    let magic = (136 - mantissa) << 23;
    let denormal = s.isub(s.bits(s.fadd(x, s.fsplat(f32::from_bits(magic)))), s.isplat(magic));
    let small = s.flt(x, s.fsplat(f32::from_bits(113 << 23)));
    let finite = s.umin(s.isel(small, denormal, normal), s.isplat(infinity - 1));
    let v = s.isel(s.feq(x, s.fsplat(f32::INFINITY)), s.isplat(infinity), finite);
    let v = s.isel(s.fle(x, zero), s.isplat(0), v);
    s.isel(s.fne(x, x), s.isplat(infinity | 1), v)
}

/// As `num::f32_to_srgb8`: the curve by a polynomial, of which a part of a code is known well enough, and by the table where
/// the code is in doubt.
#[inline(always)]
pub(super) fn srgb<S: Simd, const N: usize>(s: S, x: [S::F; N]) -> [S::I; N] {
    let (mut out, mut doubt) = ([s.isplat(0); N], s.isplat(!0));
    for k in 0..N {
        let x = clamp(s, x[k], SRGB_LEAST, SRGB_MOST);
        let bits = s.bits(x);
        let m = s.from_bits(s.ior(s.iand(bits, s.isplat(0x007F_FFFF)), s.isplat(0x3F80_0000)));
        let m = s.fsub(m, s.fsplat(1.5));
        // By pairs of terms: each waits less for others than one after the other would.
        let m2 = s.fmul(m, m);
        let [k0, k1, k2, k3, k4, k5, k6] = SRGB_POWER;
        let low = s.fma(s.fma(s.fsplat(k3), m, s.fsplat(k2)), m2, s.fma(s.fsplat(k1), m, s.fsplat(k0)));
        let high = s.fma(s.fsplat(k6), m2, s.fma(s.fsplat(k5), m, s.fsplat(k4)));
        let p = s.fma(high, s.fmul(m2, m2), low);
        let octave = s.from_bits(s.ilook16(&SRGB_OCTAVES, ops::shr(s, bits, 23)));
        let curve = s.fma(p, octave, s.fsplat((0.5 - 255.0 * 0.055) * SRGB_PARTS));
        let line = s.fma(x, s.fsplat(255.0 * 12.92 * SRGB_PARTS), s.fsplat(0.5 * SRGB_PARTS));
        out[k] = s.f_to_s_raw(s.fsel(s.flt(x, s.fsplat(0.0031308)), line, curve));
        // The first or the last part of a code.
        doubt = s.umin(doubt, s.iand(s.iadd(out[k], s.isplat(1)), s.isplat(SRGB_PARTS as u32 - 2)));
    }
    if s.many(s.ieq(doubt, s.isplat(0))) {
        for k in 0..N {
            out[k] = srgb_exact(s, s.bits(clamp(s, x[k], SRGB_LEAST, SRGB_MOST)));
        }
        return out;
    }
    for k in 0..N {
        out[k] = ops::shr(s, out[k], (SRGB_PARTS as u32).ilog2());
    }
    out
}

/// Parts of a code. (The polynomial is wrong by a third of one at most.)
const SRGB_PARTS: f32 = 4096.0;
/// 255 · 1.055 · m^(5/12) for m from 1 to 2, in parts, by powers of m − 3/2.
const SRGB_POWER: [f32; 7] = [
    318.54 * SRGB_PARTS,
    88.484_01 * SRGB_PARTS,
    -17.205_956 * SRGB_PARTS,
    6.032_476_4 * SRGB_PARTS,
    -2.589_512_6 * SRGB_PARTS,
    1.408_979_5 * SRGB_PARTS,
    -0.738_345_86 * SRGB_PARTS,
];
/// 2^(e · 5/12) by the lowest four bits of a float's exponent, from that of 2^-9 to that of 1/2.
static SRGB_OCTAVES: Table<16> = {
    let of = [
        0.074_325_44f32,
        0.099_212_565,
        0.132_432_9,
        0.176_776_69,
        0.235_968_58,
        0.314_980_27,
        0.420_448_2,
        0.561_231,
        0.749_153_55,
    ];
    let mut t = [0; 16];
    let mut i = 0;
    while i < of.len() {
        t[6 + i] = of[i].to_bits();
        i += 1;
    }
    Table(t)
};
/// The code by the table of steps.
#[inline(always)]
fn srgb_exact<S: Simd>(s: S, bits: S::I) -> S::I {
    let bucket = s.isub(ops::shr(s, bits, 16), s.isplat(SRGB_LEAST.to_bits() >> 16));
    // SAFETY: the clamped value's bucket is one of the table's: it has one for each from the least to the most.
    let step = unsafe { s.iwords(srgb8_steps().as_ptr().cast(), ops::shl(s, bucket, 2)) };
    let beyond = s.ugt(s.iand(step, s.isplat(0xF_FFFF)), s.iand(bits, s.isplat(0xFFFF)));
    let code = ops::shr(s, step, 20);
    s.isel(beyond, code, s.iadd(code, s.isplat(1)))
}

/// Sign-extends the low `bits` of each lane.
#[inline(always)]
fn signed<S: Simd>(s: S, v: S::I, bits: u32) -> S::I {
    ops::sar(s, ops::shl(s, v, 32 - bits), 32 - bits)
}

/// The channel that a component of `bits` bits (all others 0) stands for.
#[inline(always)]
pub(super) fn decode<S: Simd>(s: S, how: Coding, bits: u32, step: [f32; 2], v: S::I) -> S::I {
    let all = u32::MAX >> (32 - bits);
    match how {
        Coding::Unorm => s.bits(share(s, s.s_to_f(v), step)),
        Coding::Unorm24 => s.bits(s.d_to_f(s.ddiv(s.s_to_d(v), s.dsplat(all as f64)))),
        Coding::Snorm => {
            let v = share(s, s.s_to_f(signed(s, v, bits)), step);
            s.bits(s.fmax_raw(v, s.fsplat(-1.0)))
        }
        Coding::Uscaled => s.bits(s.s_to_f(v)),
        Coding::Sscaled => s.bits(s.s_to_f(signed(s, v, bits))),
        Coding::Uint | Coding::Whole => v,
        Coding::Sint => signed(s, v, bits),
        Coding::Half => s.bits(s.f16_to_f(v)),
        Coding::Ufloat => s.bits(s.f16_to_f(ops::shl(s, v, 15 - bits))),
        Coding::Srgb => s.ilook256(srgb8_words(), [v])[0],
    }
}

/// v / all, of whole numbers up to `all`, of which `step` is [`step`].
#[inline(always)]
fn share<S: Simd>(s: S, v: S::F, [high, low]: [f32; 2]) -> S::F {
    s.fma(v, s.fsplat(high), s.fmul(v, s.fsplat(low)))
}

/// 1 / all in two parts, of a number up to 65 535 and one less than a power of two: v by both, the sum rounded once, is v / all rounded
/// for every v up to it, says a test of all of them.
pub(super) const fn step(all: u32) -> [f32; 2] {
    let high = (1.0 / all as f64) as f32;
    [high, ((1.0 - high as f64 * all as f64) / all as f64) as f32]
}

/// The floats of a word: of eleven bits, eleven and ten.
#[inline(always)]
pub(super) fn halves<S: Simd>(s: S, w: S::I) -> [S::F; 3] {
    // As half floats, whose mantissas have more bits.
    let r = s.iand(ops::shl(s, w, 4), s.isplat(0x7FF0));
    let g = s.iand(ops::shr(s, w, 7), s.isplat(0x7FF0));
    let b = s.iand(ops::shr(s, w, 17), s.isplat(0x7FE0));
    [s.f16_to_f(r), s.f16_to_f(g), s.f16_to_f(b)]
}

/// A component: where its bits are in a texel, and how they are made.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub how: Coding,
    pub bits: u32,
    /// Word of the texel, and the lowest bit in it.
    pub word: usize,
    pub shift: u32,
    pub channel: usize,
    /// Of a normalised component: what one of its codes' steps is ([`step`]).
    pub step: [f32; 2],
}

/// What packing needs of a format; a constant where a kernel is for one format alone.
#[derive(Clone, Copy)]
pub struct Plan {
    parts: [Part; 5],
    count: usize,
    /// Of a texel.
    pub bytes: usize,
    /// Bits of a missing alpha.
    pub one: u32,
    channels: u32,
    shared_exponent: bool,
}

impl Plan {
    pub const fn new(info: &FormatInfo) -> Plan {
        let none = Part { how: Coding::Whole, bits: 0, word: 0, shift: 0, channel: 0, step: [0.0; 2] };
        let mut parts = [none; 5];
        let (mut n, mut channels) = (0, 0);
        while n < info.component_count as usize {
            let c = info.components[n];
            channels |= 1 << c.channel();
            let bits = c.bits as u32;
            parts[n] = Part {
                how: coding(info.class, bits, c.name == b'a'),
                bits,
                word: c.offset as usize / 32,
                shift: c.offset as u32 % 32,
                channel: c.channel(),
                step: match coding(info.class, bits, c.name == b'a') {
                    Coding::Unorm => step(u32::MAX >> (32 - bits)),
                    Coding::Snorm => step(u32::MAX >> (33 - bits)),
                    _ => [0.0; 2],
                },
            };
            n += 1;
        }
        Plan {
            parts,
            count: info.component_count as usize,
            bytes: info.block_bytes as usize,
            one: info.channel_class().one(),
            channels,
            shared_exponent: matches!(info.kind, TexelKind::Rgb9e5),
        }
    }
    #[inline(always)]
    pub(super) fn parts(&self) -> &[Part] {
        &self.parts[..self.count]
    }
    /// Channels that texels have, a bit each.
    #[inline(always)]
    pub fn channels(&self) -> u32 {
        self.channels
    }
    /// A component has 32 bits.
    pub fn wide(&self) -> bool {
        self.parts().iter().any(|p| p.bits == 32)
    }
    /// Three components have their exponent in common.
    #[inline(always)]
    pub fn shared_exponent(&self) -> bool {
        self.shared_exponent
    }
}

/// Component `n` of the texels, or'ed into their words.
#[inline(always)]
fn component<S: Simd>(s: S, plan: &Plan, n: usize, t: &Channels, words: &mut [S::I; MOST / 4]) {
    let c = &plan.parts[n];
    let v = encode(s, c.how, c.bits, load(s, &t[c.channel]));
    let word = &mut words[c.word % (MOST / 4)];
    *word = s.ior(*word, ops::shl(s, v, c.shift));
}

/// Sixteen texels side by side at `out`. `known`: the plan is a constant, so that the code is for its format alone.
///
/// # Safety
/// `out` is writable for them.
#[inline(always)]
pub unsafe fn pack<S: Simd>(s: S, plan: &Plan, known: bool, t: &Channels, out: *mut u8) {
    let mut words = [s.isplat(0); MOST / 4];
    if known {
        // One after the other: a loop would keep the choice in it.
        component(s, plan, 0, t, &mut words);
        if plan.count > 1 {
            component(s, plan, 1, t, &mut words);
        }
        if plan.count > 2 {
            component(s, plan, 2, t, &mut words);
        }
        if plan.count > 3 {
            component(s, plan, 3, t, &mut words);
        }
    } else {
        for n in 0..plan.count {
            component(s, plan, n, t, &mut words);
        }
    }
    let mut w = [[0u32; 16]; MOST / 4];
    match plan.bytes {
        1 => {
            store(s, &mut w[0], words[0]);
            for lane in 0..16 {
                // SAFETY: texel `lane` of the sixteen that the caller has writable.
                unsafe { *out.add(lane) = w[0][lane] as u8 };
            }
        }
        2 => {
            store(s, &mut w[0], words[0]);
            for lane in 0..16 {
                // SAFETY: texel `lane` of the sixteen that the caller has writable.
                unsafe { out.cast::<u16>().add(lane).write_unaligned(w[0][lane] as u16) };
            }
        }
        // SAFETY: sixteen texels of a word each, which the caller has writable.
        4 => unsafe { s.istoreu(out, words[0]) },
        8 => {
            store(s, &mut w[0], words[0]);
            store(s, &mut w[1], words[1]);
            for lane in 0..16 {
                // SAFETY: texel `lane` of the sixteen that the caller has writable.
                unsafe { out.cast::<[u32; 2]>().add(lane).write_unaligned([w[0][lane], w[1][lane]]) };
            }
        }
        16 => {
            for i in 0..4 {
                store(s, &mut w[i], words[i]);
            }
            for lane in 0..16 {
                let texel = [w[0][lane], w[1][lane], w[2][lane], w[3][lane]];
                // SAFETY: texel `lane` of the sixteen that the caller has writable.
                unsafe { out.cast::<[u32; 4]>().add(lane).write_unaligned(texel) };
            }
        }
        bytes => {
            for i in 0..4 {
                store(s, &mut w[i], words[i]);
            }
            let bytes = bytes.min(MOST);
            for lane in 0..16 {
                let texel = [w[0][lane], w[1][lane], w[2][lane], w[3][lane]];
                // SAFETY: texel `lane` of the sixteen that the caller has writable.
                unsafe { out.add(lane * bytes).copy_from(texel.as_ptr().cast(), bytes) };
            }
        }
    }
}

/// The texels at `base + offsets`.
///
/// # Safety
/// All of them are readable.
#[inline(always)]
pub unsafe fn unpack<S: Simd>(
    s: S,
    info: &FormatInfo,
    base: *const u8,
    offsets: &[u64; 16],
    out: &mut Channels,
) {
    let one = info.channel_class().one();
    *out = [[0; 16], [0; 16], [0; 16], [one; 16]];
    if info.kind == TexelKind::Rgb9e5 {
        // SAFETY: texels of four bytes, which the caller has readable.
        let v = exponents(s, load(s, &unsafe { words(base, offsets, 0, 4) }));
        return (0..3).for_each(|k| store(s, &mut out[k], v[k]));
    }
    let bytes = info.block_bytes as usize;
    let mut w = [0u32; 16];
    let mut loaded = usize::MAX;
    for p in Plan::new(info).parts() {
        if p.word != loaded {
            // SAFETY: the word, or what there is of it, is of the texels, which the caller has readable.
            w = unsafe { words(base, offsets, p.word * 4, bytes - p.word * 4) };
            loaded = p.word;
        }
        let v = ops::shr(s, load(s, &w), p.shift);
        let v = s.iand(v, s.isplat(u32::MAX >> (32 - p.bits)));
        let v = decode(s, p.how, p.bits, p.step, v);
        store(s, &mut out[p.channel], v);
    }
}

/// As `num::rgb9e5_to_f32`.
#[inline(always)]
pub(super) fn exponents<S: Simd>(s: S, w: S::I) -> [S::I; 3] {
    let scale = s.from_bits(ops::shl(s, s.iadd(ops::shr(s, w, 27), s.isplat(127 - 24)), 23));
    let mut out = [w; 3];
    for (k, out) in out.iter_mut().enumerate() {
        let v = s.iand(ops::shr(s, w, 9 * k as u32), s.isplat(0x1ff));
        *out = s.bits(s.fmul(s.s_to_f(v), scale));
    }
    out
}

/// The word at `at` of each of sixteen texels that have `left` bytes from there on. A loop of its own, so that what
/// follows works on whole vectors.
///
/// # Safety
/// The lesser of four bytes and of `left` are readable there.
#[inline(always)]
pub(super) unsafe fn words(base: *const u8, offsets: &[u64; 16], at: usize, left: usize) -> [u32; 16] {
    let mut w = [0u32; 16];
    for (w, o) in w.iter_mut().zip(offsets) {
        // SAFETY: the caller has these bytes readable.
        *w = unsafe {
            let p = base.add(*o as usize + at);
            match left {
                1 => *p as u32,
                2 => p.cast::<u16>().read_unaligned() as u32,
                3 => p.cast::<u16>().read_unaligned() as u32 | (*p.add(2) as u32) << 16,
                _ => p.cast::<u32>().read_unaligned(),
            }
        };
    }
    w
}

#[cfg(test)]
mod tests {
    use super::super::num::{f32_to_srgb8, srgb8_to_f32};
    use super::*;
    use simd::Level;

    #[inline(always)]
    fn codes_body<S: Simd>(s: S, x: &[f32; 16]) -> [[u32; 16]; 2] {
        let v = ops::f_from(s, *x);
        srgb(s, [v, ops::fneg(s, v)]).map(|c| ops::i_lanes(s, c))
    }
    simd::by_level!(fn codes = codes_body, (x: &[f32; 16]) -> [[u32; 16]; 2]);

    fn same(level: Level, bits: impl Iterator<Item = u32>) {
        let all: Vec<f32> = bits.map(f32::from_bits).collect();
        for x in all.chunks(16) {
            let lanes = std::array::from_fn(|i| x[i.min(x.len() - 1)]);
            let want = lanes.map(|x| f32_to_srgb8(x) as u32);
            assert_eq!(codes(level, &lanes), [want, [0; 16]], "{lanes:?}");
        }
    }

    /// sRGB codes by the polynomial are the table's: all over the range, and to either side of each step, in and out of doubt. (Once all
    /// floats were compared.)
    #[test]
    fn codes_of_the_curve() {
        for level in Level::tested() {
            same(level, (0x3800_0000u32..0x3F81_0000).step_by(0x1237));
            for code in 0..255u8 {
                // The step from this code to the next lies between what they stand for.
                let (mut low, mut high) = (srgb8_to_f32(code).to_bits(), srgb8_to_f32(code + 1).to_bits());
                while high - low > 1 {
                    let middle = low + (high - low) / 2;
                    let below = f32_to_srgb8(f32::from_bits(middle)) == code;
                    (low, high) = if below { (middle, high) } else { (low, middle) };
                }
                let width = (high >> 12).min(0x4000);
                same(
                    level,
                    (high.saturating_sub(8)..high + 8).chain((high - width..high + width).step_by(97)),
                );
            }
        }
    }

    #[inline(always)]
    fn shares_body<S: Simd>(s: S, all: u32, v: &[f32; 16]) -> [f32; 16] {
        ops::f_lanes(s, share(s, ops::f_from(s, *v), step(all)))
    }
    simd::by_level!(fn shares = shares_body, (all: u32, v: &[f32; 16]) -> [f32; 16]);

    /// A code's share by two products is the quotient, of every code there is.
    #[test]
    fn shares_are_quotients() {
        for bits in 1..=16 {
            let all = u32::MAX >> (32 - bits);
            for first in (0..=all).step_by(16) {
                let v = std::array::from_fn(|i| (first + i as u32).min(all) as f32);
                assert_eq!(shares(settings::level(), all, &v), v.map(|v| v / all as f32), "{bits} bits");
            }
        }
    }
}
