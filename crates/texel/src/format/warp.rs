//! Texels of a warp of any uncompressed format over vectors: sixteen packed side by side, or unpacked from anywhere.
//!
//! A format's components are met one after the other, each for all lanes at once, so that one loop a SIMD level serves
//! every row of the table. The bits are those of the one-lane codecs (`codec.rs`), which the tests compare. A component
//! lies within one 32-bit word of the texel; formats of 64-bit components are not for this.

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::num::{SRGB_LEAST, SRGB_MOST, srgb8_steps, srgb8_table};
use super::{Component, FormatInfo, NumClass, TexelKind};
use simd::Simd;
use simd::ops;

/// Sixteen lanes of four channels, raw bits.
pub type Channels = [[u32; 16]; 4];

/// Bytes of the largest texel.
pub const MOST: usize = 16;

/// How a component's bits are made of a channel: its class, and what of the format matters besides.
#[derive(Clone, Copy, PartialEq)]
enum Coding {
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
fn coding(class: NumClass, bits: u32, alpha: bool) -> Coding {
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
unsafe fn clamp<S: Simd>(v: S::F, lo: f32, hi: f32) -> S::F {
    S::fmin_raw(S::fmax_raw(v, S::fsplat(lo)), S::fsplat(hi))
}

/// A channel's lanes as a component of `bits` bits, the others 0.
#[inline(always)]
unsafe fn encode<S: Simd>(how: Coding, bits: u32, v: S::I) -> S::I {
    let all = u32::MAX >> (32 - bits);
    let x = S::from_bits(v);
    let half = S::fsplat(0.5);
    match how {
        Coding::Unorm => {
            let v = S::fmul(clamp::<S>(x, 0.0, 1.0), S::fsplat(all as f32));
            S::f_to_s_raw(S::fadd(v, half))
        }
        Coding::Unorm24 => {
            let v = S::dmul(S::f_to_d(clamp::<S>(x, 0.0, 1.0)), S::dsplat(all as f64));
            S::d_to_s_raw(S::dadd(v, S::dsplat(0.5)))
        }
        Coding::Snorm => {
            let x = S::fsel(S::feq(x, x), x, S::fsplat(0.0));
            let v = S::fmul(clamp::<S>(x, -1.0, 1.0), S::fsplat((all >> 1) as f32));
            S::iand(S::f_to_s_raw(S::fadd(v, ops::copysign::<S>(half, v))), S::isplat(all))
        }
        // Only vertices have these; up to 16 bits.
        Coding::Uscaled => S::f_to_s_raw(clamp::<S>(x, 0.0, all as f32)),
        Coding::Sscaled => {
            let x = S::fsel(S::feq(x, x), x, S::fsplat(0.0));
            let top = (all >> 1) as f32;
            S::iand(S::f_to_s_raw(clamp::<S>(x, -top - 1.0, top)), S::isplat(all))
        }
        Coding::Uint => S::umin(v, S::isplat(all)),
        Coding::Sint => {
            let top = S::isplat(all >> 1);
            S::iand(S::smax(S::smin(v, top), S::isplat(!(all >> 1))), S::isplat(all))
        }
        Coding::Half => S::iand(S::f_to_f16(x), S::isplat(0xFFFF)),
        Coding::Whole => v,
        Coding::Ufloat => ufloat::<S>(x, bits - 5),
        Coding::Srgb => srgb::<S>(x),
    }
}

/// As `num::f32_to_ufloat`.
#[inline(always)]
unsafe fn ufloat<S: Simd>(x: S::F, mantissa: u32) -> S::I {
    let infinity = 31 << mantissa;
    let zero = S::fsplat(0.0);
    let bits = S::bits(x);
    let drop = 23 - mantissa;
    // Normal: half of what is dropped is added, less the least bit if the rest is even; the exponent's bias changes.
    let odd = S::iand(ops::shr::<S>(bits, drop), S::isplat(1));
    let half = ((1u32 << (drop - 1)) - 1).wrapping_sub(112 << 23);
    let rounded = S::iadd(S::iadd(bits, S::isplat(half)), odd);
    let normal = ops::shr::<S>(rounded, drop);
    // Denormal: the sum with a power of two is rounded to their step.
    let magic = (136 - mantissa) << 23;
    let denormal = S::isub(S::bits(S::fadd(x, S::fsplat(f32::from_bits(magic)))), S::isplat(magic));
    let small = S::flt(x, S::fsplat(f32::from_bits(113 << 23)));
    let finite = S::umin(S::isel(small, denormal, normal), S::isplat(infinity - 1));
    let v = S::isel(S::feq(x, S::fsplat(f32::INFINITY)), S::isplat(infinity), finite);
    let v = S::isel(S::fle(x, zero), S::isplat(0), v);
    S::isel(S::fne(x, x), S::isplat(infinity | 1), v)
}

/// As `num::f32_to_srgb8`.
#[inline(always)]
unsafe fn srgb<S: Simd>(x: S::F) -> S::I {
    let bits = S::bits(clamp::<S>(x, SRGB_LEAST, SRGB_MOST));
    let bucket = S::isub(ops::shr::<S>(bits, 16), S::isplat(SRGB_LEAST.to_bits() >> 16));
    let step = S::igather(srgb8_steps().as_ptr().cast(), ops::shl::<S>(bucket, 2), S::mask(0xFFFF));
    let beyond = S::ugt(S::iand(step, S::isplat(0xF_FFFF)), S::iand(bits, S::isplat(0xFFFF)));
    let code = ops::shr::<S>(step, 20);
    S::isel(beyond, code, S::iadd(code, S::isplat(1)))
}

/// Sign-extends the low `bits` of each lane.
#[inline(always)]
unsafe fn signed<S: Simd>(v: S::I, bits: u32) -> S::I {
    ops::sar::<S>(ops::shl::<S>(v, 32 - bits), 32 - bits)
}

/// The channel that a component of `bits` bits (all others 0) stands for.
#[inline(always)]
unsafe fn decode<S: Simd>(how: Coding, bits: u32, v: S::I) -> S::I {
    let all = u32::MAX >> (32 - bits);
    match how {
        Coding::Unorm => S::bits(S::fdiv(S::s_to_f(v), S::fsplat(all as f32))),
        Coding::Unorm24 => S::bits(S::d_to_f(S::ddiv(S::s_to_d(v), S::dsplat(all as f64)))),
        Coding::Snorm => {
            let v = S::fdiv(S::s_to_f(signed::<S>(v, bits)), S::fsplat((all >> 1) as f32));
            S::bits(S::fmax_raw(v, S::fsplat(-1.0)))
        }
        Coding::Uscaled => S::bits(S::s_to_f(v)),
        Coding::Sscaled => S::bits(S::s_to_f(signed::<S>(v, bits))),
        Coding::Uint | Coding::Whole => v,
        Coding::Sint => signed::<S>(v, bits),
        Coding::Half => S::bits(S::f16_to_f(v)),
        Coding::Ufloat => S::bits(S::f16_to_f(ops::shl::<S>(v, 15 - bits))),
        Coding::Srgb => S::igather(srgb8_table().as_ptr().cast(), ops::shl::<S>(v, 2), S::mask(0xFFFF)),
    }
}

/// What packing needs of a format; a constant where a kernel is for one format alone.
#[derive(Clone, Copy)]
pub struct Plan {
    class: NumClass,
    components: [Component; 5],
    count: usize,
    /// Of a texel.
    pub bytes: usize,
}

impl Plan {
    #[inline(always)]
    pub const fn new(info: &FormatInfo) -> Plan {
        Plan {
            class: info.class,
            components: info.components,
            count: info.component_count as usize,
            bytes: info.block_bytes as usize,
        }
    }
}

/// Component `n` of the texels, or'ed into their words.
#[inline(always)]
unsafe fn component<S: Simd>(plan: &Plan, n: usize, t: &Channels, words: &mut [S::I; MOST / 4]) {
    let c = plan.components[n];
    let bits = c.bits as u32;
    let how = coding(plan.class, bits, c.name == b'a');
    let v = encode::<S>(how, bits, S::iloadu(t[c.channel()].as_ptr().cast()));
    let word = &mut words[c.offset as usize / 32 % (MOST / 4)];
    *word = S::ior(*word, ops::shl::<S>(v, c.offset as u32 % 32));
}

/// Sixteen texels side by side at `out`. `known`: the plan is a constant, so that the code is for its format alone.
///
/// # Safety
/// `out` is writable for them; in a function compiled for the level of `S`.
#[inline(always)]
pub unsafe fn pack<S: Simd>(plan: &Plan, known: bool, t: &Channels, out: *mut u8) {
    let mut words = [S::isplat(0); MOST / 4];
    if known {
        // One after the other: a loop would keep the choice in it.
        component::<S>(plan, 0, t, &mut words);
        if plan.count > 1 {
            component::<S>(plan, 1, t, &mut words);
        }
        if plan.count > 2 {
            component::<S>(plan, 2, t, &mut words);
        }
        if plan.count > 3 {
            component::<S>(plan, 3, t, &mut words);
        }
    } else {
        for n in 0..plan.count {
            component::<S>(plan, n, t, &mut words);
        }
    }
    let mut w = [[0u32; 16]; MOST / 4];
    match plan.bytes {
        1 => {
            S::istoreu(w[0].as_mut_ptr().cast(), words[0]);
            for lane in 0..16 {
                *out.add(lane) = w[0][lane] as u8;
            }
        }
        2 => {
            S::istoreu(w[0].as_mut_ptr().cast(), words[0]);
            for lane in 0..16 {
                out.cast::<u16>().add(lane).write_unaligned(w[0][lane] as u16);
            }
        }
        4 => S::istoreu(out, words[0]),
        8 => {
            S::istoreu(w[0].as_mut_ptr().cast(), words[0]);
            S::istoreu(w[1].as_mut_ptr().cast(), words[1]);
            for lane in 0..16 {
                out.cast::<[u32; 2]>().add(lane).write_unaligned([w[0][lane], w[1][lane]]);
            }
        }
        16 => {
            for i in 0..4 {
                S::istoreu(w[i].as_mut_ptr().cast(), words[i]);
            }
            for lane in 0..16 {
                let texel = [w[0][lane], w[1][lane], w[2][lane], w[3][lane]];
                out.cast::<[u32; 4]>().add(lane).write_unaligned(texel);
            }
        }
        bytes => {
            for i in 0..4 {
                S::istoreu(w[i].as_mut_ptr().cast(), words[i]);
            }
            let bytes = bytes.min(MOST);
            for lane in 0..16 {
                let texel = [w[0][lane], w[1][lane], w[2][lane], w[3][lane]];
                out.add(lane * bytes).copy_from(texel.as_ptr().cast(), bytes);
            }
        }
    }
}

/// The texels at `base + offsets`.
///
/// # Safety
/// All of them are readable; in a function compiled for the level of `S`.
#[inline(always)]
pub unsafe fn unpack<S: Simd>(info: &FormatInfo, base: *const u8, offsets: &[u64; 16], out: &mut Channels) {
    let one = info.channel_class().one();
    *out = [[0; 16], [0; 16], [0; 16], [one; 16]];
    if info.kind == TexelKind::Rgb9e5 {
        return shared_exponent::<S>(&words(base, offsets, 0, 4), out);
    }
    let bytes = info.block_bytes as usize;
    let mut w = [0u32; 16];
    let mut loaded = usize::MAX;
    for c in info.components() {
        let (bits, word) = (c.bits as u32, c.offset as usize / 32);
        if word != loaded {
            w = words(base, offsets, word * 4, bytes - word * 4);
            loaded = word;
        }
        let v = ops::shr::<S>(S::iloadu(w.as_ptr().cast()), c.offset as u32 % 32);
        let v = S::iand(v, S::isplat(u32::MAX >> (32 - bits)));
        let v = decode::<S>(coding(info.class, bits, c.name == b'a'), bits, v);
        S::istoreu(out[c.channel()].as_mut_ptr().cast(), v);
    }
}

/// As `num::rgb9e5_to_f32`.
#[inline(always)]
unsafe fn shared_exponent<S: Simd>(w: &[u32; 16], out: &mut Channels) {
    let w = S::iloadu(w.as_ptr().cast());
    let scale = S::from_bits(ops::shl::<S>(S::iadd(ops::shr::<S>(w, 27), S::isplat(127 - 24)), 23));
    for k in 0..3 {
        let v = S::iand(ops::shr::<S>(w, 9 * k as u32), S::isplat(0x1ff));
        S::istoreu(out[k].as_mut_ptr().cast(), S::bits(S::fmul(S::s_to_f(v), scale)));
    }
}

/// The word at `at` of each of sixteen texels that have `left` bytes from there on. A loop of its own, so that what
/// follows works on whole vectors.
#[inline(always)]
pub(super) unsafe fn words(base: *const u8, offsets: &[u64; 16], at: usize, left: usize) -> [u32; 16] {
    let mut w = [0u32; 16];
    for (w, o) in w.iter_mut().zip(offsets) {
        let p = base.add(*o as usize + at);
        *w = match left {
            1 => *p as u32,
            2 => p.cast::<u16>().read_unaligned() as u32,
            3 => p.cast::<u16>().read_unaligned() as u32 | (*p.add(2) as u32) << 16,
            _ => p.cast::<u32>().read_unaligned(),
        };
    }
    w
}
