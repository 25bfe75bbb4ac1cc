//! Sixteen pixels in registers: formats that blending knows, by kind of component and number of channels, so that a loop which reads,
//! changes and writes pixels is compiled for each kind and stays in registers. Where a kind's components have their bits is
//! data ([`Codes`]). `wave` has all formats, in steps by way of memory.
//!
//! The bits are those of the one-lane codecs (`codec.rs`), which the tests compare.

// Loops over channels index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::num::srgb8_words;
use super::warp::{Coding, decode, encode, halves, srgb, step};
use super::wave::{THIRDS, apart3, together3};
use super::{FormatInfo, NumClass, TexelKind};
use simd::{Simd, Table, ops};
use std::marker::PhantomData;

/// A kind of pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PixelKind {
    Unorm1,
    Unorm2,
    Unorm4,
    Unorm16x4,
    Srgb1,
    Srgb2,
    Srgb4,
    Half1,
    Half2,
    Half4,
    Full1,
    Full2,
    Full3,
    Full4,
    Ufloats,
}

/// `$body` with `$P`, the type of a [`PixelKind`].
#[macro_export]
macro_rules! with_pixels {
    ($kind:expr, $P:ident => $body:expr) => {
        $crate::with_pixels!(@ $kind, $P => $body;
            Unorm1 = One<Plain, 1>, Unorm2 = One<Plain, 2>, Unorm4 = One<Plain, 4>, Unorm16x4 = Wide16,
            Srgb1 = One<Curve, 1>, Srgb2 = One<Curve, 2>, Srgb4 = One<Curve, 4>,
            Half1 = Half1, Half2 = Half2, Half4 = Half4,
            Full1 = Full<1>, Full2 = Full<2>, Full3 = Full<3>, Full4 = Full<4>, Ufloats = Ufloats)
    };
    (@ $kind:expr, $P:ident => $body:expr; $($name:ident = $t:ty),*) => {{
        use $crate::format::pixels::*;
        match $kind {
            $(PixelKind::$name => {
                type $P = $t;
                $body
            })*
        }
    }};
}

impl PixelKind {
    /// `None` of what is not blended, nor filtered by hardware that blends: integers, signed numbers, a shared exponent.
    pub fn of(info: &FormatInfo) -> Option<PixelKind> {
        use PixelKind as K;
        let parts = info.components();
        // Channels in their order, none left out.
        let first = |n: usize| parts.len() == n && parts.iter().enumerate().all(|(i, c)| c.channel() == i);
        let bits = parts.iter().map(|c| c.bits).max()?;
        if info.compressed() || info.paired() || info.has_depth() || info.has_stencil() {
            return None;
        }
        Some(match (info.class, info.block_bytes, bits) {
            (NumClass::Unorm, 1 | 2 | 4, ..=16) if first(1) => K::Unorm1,
            (NumClass::Unorm, 2 | 4, ..=16) if first(2) => K::Unorm2,
            (NumClass::Unorm, 1 | 2 | 4, ..=16) => K::Unorm4,
            (NumClass::Unorm, 8, ..=16) if first(4) => K::Unorm16x4,
            (NumClass::Srgb, 1, 8) => K::Srgb1,
            (NumClass::Srgb, 2, 8) => K::Srgb2,
            (NumClass::Srgb, 4, 8) => K::Srgb4,
            (NumClass::Sfloat, 2, 16) => K::Half1,
            (NumClass::Sfloat, 4, 16) => K::Half2,
            (NumClass::Sfloat, 8, 16) => K::Half4,
            (NumClass::Sfloat, 4, 32) => K::Full1,
            (NumClass::Sfloat, 8, 32) => K::Full2,
            (NumClass::Sfloat, 12, 32) => K::Full3,
            (NumClass::Sfloat, 16, 32) => K::Full4,
            _ if info.kind == TexelKind::R11g11b10 => K::Ufloats,
            _ => return None,
        })
    }
}

/// Where normalised components have their bits, by channel; nothing for channels that texels have not.
#[derive(Clone, Copy)]
pub struct Codes {
    bytes: usize,
    shift: [u32; 4],
    /// The largest code, and what one of its steps is, in two parts (as `warp`'s `share`).
    most: [u32; 4],
    step: [[f32; 2]; 4],
    /// Bits of what a missing channel reads as.
    missing: [u32; 4],
    /// What sRGB codes stand for.
    curve: &'static Table<256>,
}

impl Codes {
    /// Of a pixel.
    #[inline(always)]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
    pub fn new(info: &FormatInfo) -> Codes {
        let mut codes = Codes {
            bytes: info.block_bytes as usize,
            shift: [0; 4],
            most: [0; 4],
            step: [[0.0; 2]; 4],
            missing: [0, 0, 0, 1f32.to_bits()],
            curve: srgb8_words(),
        };
        for c in info.components().iter().filter(|c| (1..=16).contains(&c.bits)) {
            let (k, most) = (c.channel(), u32::MAX >> (32 - c.bits as u32));
            (codes.shift[k], codes.most[k], codes.missing[k]) = (c.offset as u32 % 32, most, 0);
            codes.step[k] = step(most);
        }
        codes
    }
}

/// Sixteen pixels side by side. `Raw` vectors are as many as [`Pixels::VECTORS`]; the others are nothing.
pub trait Pixels: 'static {
    /// Channels that pixels may have: the first so many, and the others read as 0, 0, 0 and one.
    const CHANNELS: usize;
    const VECTORS: usize;
    /// Operands of blending are clamped to 0 … 1.
    const UNIT: bool = false;
    /// To read and to write takes so long that it is better done apart.
    const LONG: bool = false;
    /// # Safety
    /// Sixteen pixels of the format are readable at `p`.
    unsafe fn load<S: Simd>(s: S, k: &Codes, p: *const u8) -> [S::I; 4];
    /// # Safety
    /// Sixteen pixels of the format are writable at `p`.
    unsafe fn store<S: Simd>(s: S, k: &Codes, p: *mut u8, raw: &[S::I; 4]);
    fn decode<S: Simd>(s: S, k: &Codes, raw: &[S::I; 4]) -> [S::F; 4];
    fn encode<S: Simd>(s: S, k: &Codes, v: &[S::F; 4]) -> [S::I; 4];
    /// As raw vectors: bits that are of lanes whose word is all ones, and in `keep`, the bits of each of a pixel's words.
    fn select<S: Simd>(s: S, lanes: S::I, keep: &[u32; 4]) -> [S::I; 4];
}

/// 0, 0, 0 and one.
#[inline(always)]
fn nothing<S: Simd>(s: S) -> [S::F; 4] {
    let zero = s.fsplat(0.0);
    [zero, zero, zero, s.fsplat(1.0)]
}

/// Vectors of words in the order of memory.
///
/// # Safety
/// They are readable.
#[inline(always)]
unsafe fn vectors<S: Simd>(s: S, p: *const u8, n: usize) -> [S::I; 4] {
    let mut raw = [s.isplat(0); 4];
    for k in 0..n {
        // SAFETY: the caller's.
        raw[k] = unsafe { s.iloadu(p.add(64 * k)) };
    }
    raw
}

/// # Safety
/// They are writable.
#[inline(always)]
unsafe fn put<S: Simd>(s: S, p: *mut u8, raw: &[S::I; 4], n: usize) {
    for k in 0..n {
        // SAFETY: the caller's.
        unsafe { s.istoreu(p.add(64 * k), raw[k]) };
    }
}

/// [`Pixels::select`] of two words in the order of memory.
#[inline(always)]
fn select2<S: Simd>(s: S, lanes: S::I, keep: &[u32; 4]) -> [S::I; 4] {
    let bits = ops::together(s, [s.isplat(keep[0]), s.isplat(keep[1])]);
    let [a, b] = ops::together(s, [lanes, lanes]);
    [s.iand(a, bits[0]), s.iand(b, bits[1]), lanes, lanes]
}

/// How colours lie in codes.
pub trait Colors: 'static {
    const CURVE: bool;
}
pub struct Plain;
pub struct Curve;
impl Colors for Plain {
    const CURVE: bool = false;
}
impl Colors for Curve {
    const CURVE: bool = true;
}

/// Normalised codes in one word.
pub struct One<C, const N: usize>(PhantomData<C>);

impl<C: Colors, const N: usize> Pixels for One<C, N> {
    const CHANNELS: usize = N;
    const VECTORS: usize = 1;
    const UNIT: bool = true;
    const LONG: bool = C::CURVE;
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, k: &Codes, p: *const u8) -> [S::I; 4] {
        // SAFETY: the caller's pixels, of so many bytes.
        let v = unsafe {
            match k.bytes {
                1 => s.iwiden8(p),
                2 => s.iwiden16(p),
                _ => s.iloadu(p),
            }
        };
        [v; 4]
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(s: S, k: &Codes, p: *mut u8, raw: &[S::I; 4]) {
        // SAFETY: the caller's pixels, of so many bytes.
        unsafe {
            match k.bytes {
                1 => s.inarrow8(p, raw[0]),
                2 => s.inarrow16(p, raw[0]),
                _ => s.istoreu(p, raw[0]),
            }
        }
    }
    #[inline(always)]
    fn decode<S: Simd>(s: S, k: &Codes, raw: &[S::I; 4]) -> [S::F; 4] {
        let mut out = nothing(s);
        let mut code = [raw[0]; 4];
        for c in 0..N {
            // (What is above the lowest eight bits does not count where there is a curve.)
            code[c] = ops::shr(s, raw[0], k.shift[c]);
        }
        if C::CURVE {
            match N {
                1 => [code[0]] = s.ilook256(k.curve, [code[0]]),
                2 => [code[0], code[1]] = s.ilook256(k.curve, [code[0], code[1]]),
                _ => [code[0], code[1], code[2]] = s.ilook256(k.curve, [code[0], code[1], code[2]]),
            }
        }
        for c in 0..N {
            if C::CURVE && c < 3 {
                out[c] = s.from_bits(code[c]);
                continue;
            }
            let v = s.s_to_f(s.iand(code[c], s.isplat(k.most[c])));
            let v = s.fma(v, s.fsplat(k.step[c][0]), s.fmul(v, s.fsplat(k.step[c][1])));
            out[c] = if N == 4 { s.from_bits(s.ior(s.bits(v), s.isplat(k.missing[c]))) } else { v };
        }
        out
    }
    #[inline(always)]
    fn encode<S: Simd>(s: S, k: &Codes, v: &[S::F; 4]) -> [S::I; 4] {
        let mut word = s.isplat(0);
        let mut curved = [word; 4];
        if C::CURVE {
            match N {
                1 => [curved[0]] = srgb(s, [v[0]]),
                2 => [curved[0], curved[1]] = srgb(s, [v[0], v[1]]),
                _ => [curved[0], curved[1], curved[2]] = srgb(s, [v[0], v[1], v[2]]),
            }
        }
        for c in 0..N {
            let code = if C::CURVE && c < 3 {
                curved[c]
            } else {
                let unit = s.fmin_raw(s.fmax_raw(v[c], s.fsplat(0.0)), s.fsplat(1.0));
                s.f_to_s_raw(s.fadd(s.fmul(unit, s.fsplat(k.most[c] as f32)), s.fsplat(0.5)))
            };
            word = s.ior(word, ops::shl(s, code, k.shift[c]));
        }
        [word; 4]
    }
    #[inline(always)]
    fn select<S: Simd>(s: S, lanes: S::I, keep: &[u32; 4]) -> [S::I; 4] {
        [s.iand(lanes, s.isplat(keep[0])); 4]
    }
}

/// Four codes of up to sixteen bits, each in sixteen.
pub struct Wide16;

impl Pixels for Wide16 {
    const CHANNELS: usize = 4;
    const VECTORS: usize = 2;
    const UNIT: bool = true;
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, _: &Codes, p: *const u8) -> [S::I; 4] {
        // SAFETY: the caller's pixels, of eight bytes.
        unsafe { vectors(s, p, 2) }
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(s: S, _: &Codes, p: *mut u8, raw: &[S::I; 4]) {
        // SAFETY: as above.
        unsafe { put(s, p, raw, 2) };
    }
    #[inline(always)]
    fn decode<S: Simd>(s: S, k: &Codes, raw: &[S::I; 4]) -> [S::F; 4] {
        let w = ops::apart(s, [raw[0], raw[1]]);
        let mut out = nothing(s);
        for c in 0..4 {
            let code = s.iand(ops::shr(s, w[c / 2], k.shift[c]), s.isplat(k.most[c]));
            out[c] = s.from_bits(decode(s, Coding::Unorm, 16, k.step[c], code));
        }
        out
    }
    #[inline(always)]
    fn encode<S: Simd>(s: S, k: &Codes, v: &[S::F; 4]) -> [S::I; 4] {
        let mut w = [s.isplat(0); 2];
        for c in 0..4 {
            let unit = s.fmin_raw(s.fmax_raw(v[c], s.fsplat(0.0)), s.fsplat(1.0));
            let code = s.f_to_s_raw(s.fadd(s.fmul(unit, s.fsplat(k.most[c] as f32)), s.fsplat(0.5)));
            w[c / 2] = s.ior(w[c / 2], ops::shl(s, code, k.shift[c]));
        }
        let [a, b] = ops::together(s, w);
        [a, b, a, b]
    }
    #[inline(always)]
    fn select<S: Simd>(s: S, lanes: S::I, keep: &[u32; 4]) -> [S::I; 4] {
        select2(s, lanes, keep)
    }
}

/// A half float.
pub struct Half1;

impl Pixels for Half1 {
    const CHANNELS: usize = 1;
    const VECTORS: usize = 1;
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, _: &Codes, p: *const u8) -> [S::I; 4] {
        // SAFETY: the caller's pixels, of two bytes.
        [unsafe { s.iwiden16(p) }; 4]
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(s: S, _: &Codes, p: *mut u8, raw: &[S::I; 4]) {
        // SAFETY: as above.
        unsafe { s.inarrow16(p, raw[0]) };
    }
    #[inline(always)]
    fn decode<S: Simd>(s: S, _: &Codes, raw: &[S::I; 4]) -> [S::F; 4] {
        let mut out = nothing(s);
        out[0] = s.f16_to_f(raw[0]);
        out
    }
    #[inline(always)]
    fn encode<S: Simd>(s: S, _: &Codes, v: &[S::F; 4]) -> [S::I; 4] {
        [s.f_to_f16(v[0]); 4]
    }
    #[inline(always)]
    fn select<S: Simd>(s: S, lanes: S::I, keep: &[u32; 4]) -> [S::I; 4] {
        [s.iand(lanes, s.isplat(keep[0])); 4]
    }
}

/// Two half floats.
pub struct Half2;

impl Pixels for Half2 {
    const CHANNELS: usize = 2;
    const VECTORS: usize = 1;
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, _: &Codes, p: *const u8) -> [S::I; 4] {
        // SAFETY: the caller's pixels, of four bytes.
        unsafe { vectors(s, p, 1) }
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(s: S, _: &Codes, p: *mut u8, raw: &[S::I; 4]) {
        // SAFETY: as above.
        unsafe { put(s, p, raw, 1) };
    }
    #[inline(always)]
    fn decode<S: Simd>(s: S, _: &Codes, raw: &[S::I; 4]) -> [S::F; 4] {
        let mut out = nothing(s);
        (out[0], out[1]) = (s.f16_to_f(raw[0]), s.f16_to_f(ops::shr(s, raw[0], 16)));
        out
    }
    #[inline(always)]
    fn encode<S: Simd>(s: S, _: &Codes, v: &[S::F; 4]) -> [S::I; 4] {
        [s.ior(s.f_to_f16(v[0]), ops::shl(s, s.f_to_f16(v[1]), 16)); 4]
    }
    #[inline(always)]
    fn select<S: Simd>(s: S, lanes: S::I, keep: &[u32; 4]) -> [S::I; 4] {
        [s.iand(lanes, s.isplat(keep[0])); 4]
    }
}

/// Four half floats.
pub struct Half4;

impl Pixels for Half4 {
    const CHANNELS: usize = 4;
    const VECTORS: usize = 2;
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, _: &Codes, p: *const u8) -> [S::I; 4] {
        // SAFETY: the caller's pixels, of eight bytes.
        unsafe { vectors(s, p, 2) }
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(s: S, _: &Codes, p: *mut u8, raw: &[S::I; 4]) {
        // SAFETY: as above.
        unsafe { put(s, p, raw, 2) };
    }
    #[inline(always)]
    fn decode<S: Simd>(s: S, _: &Codes, raw: &[S::I; 4]) -> [S::F; 4] {
        s.fapart16([raw[0], raw[1]])
    }
    #[inline(always)]
    fn encode<S: Simd>(s: S, _: &Codes, v: &[S::F; 4]) -> [S::I; 4] {
        let [a, b] = s.ftogether16(*v);
        [a, b, a, b]
    }
    #[inline(always)]
    fn select<S: Simd>(s: S, lanes: S::I, keep: &[u32; 4]) -> [S::I; 4] {
        select2(s, lanes, keep)
    }
}

/// `N` floats.
pub struct Full<const N: usize>;

impl<const N: usize> Pixels for Full<N> {
    const CHANNELS: usize = N;
    const VECTORS: usize = N;
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, _: &Codes, p: *const u8) -> [S::I; 4] {
        // SAFETY: the caller's pixels, of N words.
        unsafe {
            if N < 4 {
                return vectors(s, p, N);
            }
            let (p, mut raw) = (p.cast_mut(), [s.isplat(0); 4]);
            for k in 0..4 {
                let p = p.add(16 * k);
                raw[k] = s.iload4([p, p.add(64), p.add(128), p.add(192)]);
            }
            raw
        }
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(s: S, _: &Codes, p: *mut u8, raw: &[S::I; 4]) {
        // SAFETY: as above.
        unsafe {
            if N < 4 {
                return put(s, p, raw, N);
            }
            for k in 0..4 {
                let p = p.add(16 * k);
                s.istore4([p, p.add(64), p.add(128), p.add(192)], raw[k]);
            }
        }
    }
    #[inline(always)]
    fn decode<S: Simd>(s: S, _: &Codes, raw: &[S::I; 4]) -> [S::F; 4] {
        let mut out = nothing(s);
        let mut w = *raw;
        match N {
            2 => [w[0], w[1]] = ops::apart(s, [raw[0], raw[1]]),
            3 => [w[0], w[1], w[2]] = apart3(s, [raw[0], raw[1], raw[2]]),
            4 => w = s.itranspose4(*raw),
            _ => {}
        }
        for c in 0..N {
            out[c] = s.from_bits(w[c]);
        }
        out
    }
    #[inline(always)]
    fn encode<S: Simd>(s: S, _: &Codes, v: &[S::F; 4]) -> [S::I; 4] {
        let mut w = [s.bits(v[0]), s.bits(v[1]), s.bits(v[2]), s.bits(v[3])];
        match N {
            2 => [w[0], w[1]] = ops::together(s, [w[0], w[1]]),
            3 => [w[0], w[1], w[2]] = together3(s, [w[0], w[1], w[2]]),
            4 => w = s.itranspose4(w),
            _ => {}
        }
        w
    }
    #[inline(always)]
    fn select<S: Simd>(s: S, lanes: S::I, keep: &[u32; 4]) -> [S::I; 4] {
        if N == 2 {
            return select2(s, lanes, keep);
        }
        let mut out = [s.iand(lanes, s.isplat(keep[0])); 4];
        if N == 3 {
            for k in 0..3 {
                let (texel, kind) = (ops::i_from(s, THIRDS[k].0), ops::i_from(s, THIRDS[k].1));
                let of = |n: usize| s.isplat(keep[n]);
                let two = s.isel(s.ieq(kind, s.isplat(0)), of(0), of(1));
                let bits = s.isel(s.ieq(kind, s.isplat(2)), of(2), two);
                out[k] = s.iand(s.ishuffle(lanes, texel), bits);
            }
        }
        if N == 4 {
            let bits = ops::i_from(s, std::array::from_fn(|i| keep[i % 4]));
            let quad = ops::i_from(s, [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12]);
            for k in 0..4 {
                out[k] = s.iand(s.ishuffle(lanes, s.iadd(quad, s.isplat(k as u32))), bits);
            }
        }
        out
    }
}

/// Two floats of eleven bits and one of ten, without signs.
pub struct Ufloats;

impl Pixels for Ufloats {
    const CHANNELS: usize = 3;
    const VECTORS: usize = 1;
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, _: &Codes, p: *const u8) -> [S::I; 4] {
        // SAFETY: the caller's pixels, of four bytes.
        unsafe { vectors(s, p, 1) }
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(s: S, _: &Codes, p: *mut u8, raw: &[S::I; 4]) {
        // SAFETY: as above.
        unsafe { put(s, p, raw, 1) };
    }
    #[inline(always)]
    fn decode<S: Simd>(s: S, _: &Codes, raw: &[S::I; 4]) -> [S::F; 4] {
        let [r, g, b] = halves(s, raw[0]);
        [r, g, b, s.fsplat(1.0)]
    }
    #[inline(always)]
    fn encode<S: Simd>(s: S, _: &Codes, v: &[S::F; 4]) -> [S::I; 4] {
        let r = encode(s, Coding::Ufloat, 11, s.bits(v[0]));
        let g = encode(s, Coding::Ufloat, 11, s.bits(v[1]));
        let b = encode(s, Coding::Ufloat, 10, s.bits(v[2]));
        [s.ior(r, s.ior(ops::shl(s, g, 11), ops::shl(s, b, 22))); 4]
    }
    #[inline(always)]
    fn select<S: Simd>(s: S, lanes: S::I, keep: &[u32; 4]) -> [S::I; 4] {
        [s.iand(lanes, s.isplat(keep[0])); 4]
    }
}
