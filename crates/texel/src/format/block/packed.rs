//! Blocks decoded to small texels, as they are kept for samples (`cache`): by vectors where a format's blocks are many and simple. What they
//! stand for is what [`super::decode`] gives.

// Loops over channels index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::bc6h::bc6h;
use super::bc7::bc7;
use super::{AstcTo, BlockKind, FormatInfo, astc, bc, etc2};
use crate::format::TexelKind;
use simd::{Level, Simd, Table, ops};

/// What decoded texels are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Packing {
    /// Four bytes.
    Bytes,
    /// Four numbers of 16 bits: bytes, and an alpha of [`RAMP`].
    BytesAlpha,
    /// Two numbers of 16 bits, up to the one given.
    Pair { most: u32, signed: bool },
    /// Four halves.
    Halves,
}

impl Packing {
    pub fn bytes(self) -> u32 {
        match self {
            Packing::Bytes | Packing::Pair { .. } => 4,
            Packing::BytesAlpha | Packing::Halves => 8,
        }
    }
}

/// Sevenths and fifths of a byte are whole numbers of this.
pub const PARTS: u32 = 35;
/// What stands for one in a ramp of BC3's alpha, BC4 and BC5.
pub const RAMP: u32 = 255 * PARTS;

/// How texels of a compressed format are kept.
pub fn packing(info: &FormatInfo) -> Option<Packing> {
    let TexelKind::Block(kind) = info.kind else { return None };
    Some(match kind {
        BlockKind::Bc3 => Packing::BytesAlpha,
        BlockKind::Bc4 { signed } | BlockKind::Bc5 { signed } => {
            Packing::Pair { most: if signed { 127 * PARTS } else { RAMP }, signed }
        }
        BlockKind::EacR11 { signed } | BlockKind::EacRg11 { signed } => {
            Packing::Pair { most: etc2::MOST[signed as usize] as u32, signed }
        }
        BlockKind::Bc6h { .. } => Packing::Halves,
        BlockKind::Astc(AstcTo::Halves | AstcTo::Hdr) => Packing::Halves,
        _ => Packing::Bytes,
    })
}

/// Decodes a block of a format to texels row by row. They take what [`Packing::bytes`] says; the place is aligned to 64.
pub type Decode = unsafe fn(info: &'static FormatInfo, block: u128, out: *mut u8);

/// The decoder of compressed formats for a machine. All give the same bits. (An x86-64 CPU without AVX2 is rare, and has none.)
pub fn decoder(level: Level) -> Option<Decode> {
    simd::form!(
        level,
        unsafe fn(info: &'static FormatInfo, block: u128, out: *mut u8) = decode;
        portable if Level::COUNT == 1
    )
}

/// Colours as words.
#[derive(Clone, Copy)]
struct Word;

impl astc::Wide for Word {
    type Texel = u32;
    const MAGENTA: u32 = 0xFFFF_00FF;
    #[inline(always)]
    fn of(self, c: [u32; 4]) -> u32 {
        u32::from_le_bytes(c.map(|v| (v >> 8) as u8))
    }
    #[inline(always)]
    fn bytes(self) -> bool {
        true
    }
}

/// The half that is the nearest one below 65536ths, but that 65535 stands for one.
#[inline(always)]
pub(super) fn half(v: u32) -> u64 {
    if v == 65535 {
        return 0x3C00;
    }
    let top = 31 - (v | 1).leading_zeros();
    // Below 2^-14 halves are denormal: steps of 2^-24.
    if top < 2 {
        return (v << 8) as u64;
    }
    let mantissa = if top > 10 { v >> (top - 10) } else { v << (10 - top) };
    ((top - 1) << 10 | mantissa & 0x3FF) as u64
}

/// 16 bits as halves.
#[derive(Clone, Copy)]
struct Halves {
    hdr: bool,
}

impl astc::Wide for Halves {
    type Texel = u64;
    const MAGENTA: u64 = 0x3C00_3C00_0000_3C00;
    #[inline(always)]
    fn of(self, c: [u32; 4]) -> u64 {
        half(c[0]) | half(c[1]) << 16 | half(c[2]) << 32 | half(c[3]) << 48
    }
    #[inline(always)]
    fn bytes(self) -> bool {
        false
    }
    fn hdr(self) -> bool {
        self.hdr
    }
    fn halves(self, h: [u32; 4]) -> u64 {
        h.iter().rev().fold(0, |all, h| all << 16 | u64::from(*h))
    }
}

/// # Safety
/// There is room for the block's texels at `out`, which is aligned to 64.
#[inline(always)]
unsafe fn decode<S: Simd>(s: S, info: &'static FormatInfo, block: u128, out: *mut u8) {
    let TexelKind::Block(kind) = info.kind else { return };
    let (lo, hi) = (block as u64, (block >> 64) as u64);
    let texels = (info.block_extent[0] * info.block_extent[1]) as usize;
    // SAFETY: the caller has room for so many, of the bytes that the format's packing says; `out` is aligned.
    unsafe {
        match kind {
            BlockKind::Bc1 { alpha } => {
                let mut p = [0; 4];
                for (p, [red_blue, green]) in p.iter_mut().zip(palette(lo, true)) {
                    *p = red_blue | green << 8 | 0xFF00_0000;
                }
                // Three colours, and black.
                if alpha && lo as u16 <= (lo >> 16) as u16 {
                    p[3] = 0;
                }
                s.istore(out, picked(s, (lo >> 32) as u32, p));
            }
            BlockKind::Bc2 => {
                let mut p = [0; 4];
                for (p, [red_blue, green]) in p.iter_mut().zip(palette(hi, false)) {
                    *p = red_blue | green << 8;
                }
                let of = s.isel(s.mask(0xFF), s.isplat(lo as u32), s.isplat((lo >> 32) as u32));
                let nibble = s.iand(s.ishr(of, s.iline(&FOURS)), s.isplat(15));
                let alpha = ops::shl(s, s.imul(nibble, s.isplat(17)), 24);
                s.istore(out, s.ior(picked(s, (hi >> 32) as u32, p), alpha));
            }
            BlockKind::Bc3 => {
                let (mut red_green, mut blue) = ([0; 4], [0; 4]);
                for (n, [red_blue, green]) in palette(hi, false).into_iter().enumerate() {
                    (red_green[n], blue[n]) = (red_blue & 0xFF | green << 16, red_blue >> 16);
                }
                let index = (hi >> 32) as u32;
                let red_green = picked(s, index, red_green);
                let alpha = ops::shl(s, ramp(s, lo, false), 16);
                let blue_alpha = s.ior(picked(s, index, blue), alpha);
                s.lstore(out, s.pack(red_green, blue_alpha));
            }
            BlockKind::Bc4 { signed } => s.istore(out, s.iand(ramp(s, lo, signed), s.isplat(0xFFFF))),
            BlockKind::Bc5 { signed } => {
                let red = s.iand(ramp(s, lo, signed), s.isplat(0xFFFF));
                s.istore(out, s.ior(red, ops::shl(s, ramp(s, hi, signed), 16)));
            }
            BlockKind::Bc6h { signed } => {
                let [red_green, blue_alpha] = bc6h(s, block, signed);
                s.lstore(out, s.pack(red_green, blue_alpha));
            }
            BlockKind::Bc7 => s.istore(out, bc7(s, block)),
            BlockKind::Etc2Rgb => s.istore(out, etc2(s, lo.swap_bytes(), false)),
            BlockKind::Etc2Rgba1 => s.istore(out, etc2(s, lo.swap_bytes(), true)),
            BlockKind::Etc2Rgba8 => {
                let alpha = lo.swap_bytes();
                let step = s.imul(modifiers(s, alpha), s.isplat((alpha >> 52) as u32 & 15));
                let alpha = clamped(s, s.iadd(step, s.isplat((alpha >> 56) as u32)), 0, 255);
                let color = s.iand(etc2(s, hi.swap_bytes(), false), s.isplat(0xFF_FFFF));
                s.istore(out, s.ior(color, ops::shl(s, alpha, 24)));
            }
            BlockKind::EacR11 { signed } => s.istore(out, eac(s, lo.swap_bytes(), signed)),
            BlockKind::EacRg11 { signed } => {
                let (red, green) = (eac(s, lo.swap_bytes(), signed), eac(s, hi.swap_bytes(), signed));
                s.istore(out, s.ior(red, ops::shl(s, green, 16)));
            }
            BlockKind::Astc(AstcTo::Bytes) => {
                let out = std::slice::from_raw_parts_mut(out.cast::<u32>(), texels);
                astc::decode(block, info.block_extent, Word, out);
            }
            BlockKind::Astc(to) => {
                let out = std::slice::from_raw_parts_mut(out.cast::<u64>(), texels);
                astc::decode(block, info.block_extent, Halves { hdr: to == AstcTo::Hdr }, out);
            }
        }
    }
}

/// A block's colours ([`bc::colors`]), red and blue to a word, and green.
#[inline(always)]
fn palette(block: u64, punch: bool) -> [[u32; 2]; 4] {
    let mut words = [[0; 2]; 4];
    for (to, [r, g, b]) in words.iter_mut().zip(bc::colors(block, punch)) {
        *to = [r | b << 16, g];
    }
    words
}

const fn steps(by: u32, again: usize) -> Table<16> {
    let (mut t, mut i) = ([0; 16], 0);
    while i < 16 {
        t[i] = (i % again) as u32 * by;
        i += 1;
    }
    Table(t)
}

/// Where a lane's index begins: of two bits, and of two, three or four bits in its half of the lanes.
pub static TWOS: Table<16> = steps(2, 16);
pub static HALF_TWOS: Table<16> = steps(2, 8);
pub static THREES: Table<16> = steps(3, 8);
pub static FOURS: Table<16> = steps(4, 8);

/// That of four words which each lane's two bits name.
#[inline(always)]
fn picked<S: Simd>(s: S, index: u32, p: [u32; 4]) -> S::I {
    // SAFETY: sixteen words, aligned.
    let index = s.ishr(s.isplat(index), s.iline(&TWOS));
    let zero = s.isplat(0);
    let odd = s.ieq(s.iand(index, s.isplat(1)), zero);
    let low = s.ieq(s.iand(index, s.isplat(2)), zero);
    let a = s.isel(odd, s.isplat(p[0]), s.isplat(p[1]));
    let b = s.isel(odd, s.isplat(p[2]), s.isplat(p[3]));
    s.isel(low, a, b)
}

/// Weights of the two ends of a ramp of eight, and of six, in parts.
static EIGHT: [Table<16>; 2] = [
    Table([35, 0, 30, 25, 20, 15, 10, 5, 0, 0, 0, 0, 0, 0, 0, 0]),
    Table([0, 35, 5, 10, 15, 20, 25, 30, 0, 0, 0, 0, 0, 0, 0, 0]),
];
static SIX: [Table<16>; 2] = [
    Table([35, 0, 28, 21, 14, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    Table([0, 35, 7, 14, 21, 28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
];

/// The numbers of an RGTC block, in parts.
#[inline(always)]
fn ramp<S: Simd>(s: S, block: u64, signed: bool) -> S::I {
    let of = s.isel(s.mask(0xFF), s.isplat((block >> 16) as u32), s.isplat((block >> 40) as u32));
    // SAFETY: sixteen words, aligned.
    let index = s.iand(s.ishr(of, s.iline(&THREES)), s.isplat(7));
    let (a, b, eight) = if signed {
        // -128 stands for -127; the order is decided on the codes as they are stored.
        let (a, b) = (block as i8, (block >> 8) as i8);
        (a.max(-127) as i32, b.max(-127) as i32, a > b)
    } else {
        let (a, b) = (block as u8, (block >> 8) as u8);
        (a as i32, b as i32, a > b)
    };
    let [wa, wb] = if eight { &EIGHT } else { &SIX };
    let (a, b) = (s.isplat(a as u32), s.isplat(b as u32));
    let v = s.iadd(s.imul(a, s.ilook16(wa, index)), s.imul(b, s.ilook16(wb, index)));
    if eight {
        return v;
    }
    let most = if signed { 127 * PARTS } else { RAMP };
    let least = if signed { s.isplat(most.wrapping_neg()) } else { s.isplat(0) };
    let v = s.isel(s.ieq(index, s.isplat(6)), least, v);
    s.isel(s.ieq(index, s.isplat(7)), s.isplat(most), v)
}

/// A lane's number down the columns, as ETC2 counts texels.
static DOWN: Table<16> = Table([0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]);
/// Three for each of eight texels down the columns, from the highest bit of 24 downwards.
static EIGHTHS: Table<16> = Table([21, 9, 21, 9, 18, 6, 18, 6, 15, 3, 15, 3, 12, 0, 12, 0]);

/// Signed numbers within bounds.
#[inline(always)]
fn clamped<S: Simd>(s: S, v: S::I, least: i32, most: i32) -> S::I {
    s.smin(s.smax(v, s.isplat(least as u32)), s.isplat(most as u32))
}

/// ETC2's colours, with an alpha of 255 or 0.
#[inline(always)]
fn etc2<S: Simd>(s: S, block: u64, punch: bool) -> S::I {
    // SAFETY: sixteen words, aligned.
    let down = s.iline(&DOWN);
    let (zero, one) = (s.isplat(0), s.isplat(1));
    // The index' bits: the high ones after the low ones, as a number a lane.
    let pair = s.ishr(s.isplat(block as u32), down);
    let low = s.ieq(s.iand(pair, one), zero);
    let high = s.ieq(s.iand(pair, s.isplat(1 << 16)), zero);
    match etc2::colors(block, punch) {
        etc2::Colors::Four(of) => {
            let [a, b, c, d] = of.map(|c| s.isplat(u32::from_le_bytes(c)));
            s.isel(high, s.isel(low, a, b), s.isel(low, c, d))
        }
        etc2::Colors::Halves { bases, steps, flip, transparent } => {
            let second = s.mask(if flip { 0xFF00 } else { 0xCCCC });
            macro_rules! half {
                ($of:expr) => {
                    s.isel(second, s.isplat($of(1) as u32), s.isplat($of(0) as u32))
                };
            }
            let small = half!(|n: usize| if transparent { 0 } else { steps[n][0] });
            let step = s.isel(low, small, half!(|n: usize| steps[n][1]));
            let step = s.isel(high, step, s.isub(zero, step));
            let mut all = s.isplat(255 << 24);
            for k in 0..3 {
                let v = clamped(s, s.iadd(half!(|n: usize| bases[n][k]), step), 0, 255);
                all = s.ior(all, ops::shl(s, v, 8 * k as u32));
            }
            // Index 2.
            let clear = s.mand(low, s.mnot(high));
            if transparent { s.isel(clear, zero, all) } else { all }
        }
        etc2::Colors::Plane([o, h, v]) => {
            let (x, y) = (ops::shr(s, down, 2), s.iand(down, s.isplat(3)));
            let mut all = s.isplat(255 << 24);
            for k in 0..3 {
                let across = s.imul(x, s.isplat((h[k] - o[k]) as u32));
                let along = s.imul(y, s.isplat((v[k] - o[k]) as u32));
                let sum = s.iadd(s.iadd(across, along), s.isplat((4 * o[k] + 2) as u32));
                all = s.ior(all, ops::shl(s, clamped(s, ops::sar(s, sum, 2), 0, 255), 8 * k as u32));
            }
            all
        }
    }
}

/// EAC's modifiers.
static EAC: [Table<16>; 16] = {
    let (mut all, mut t) = ([const { Table([0; 16]) }; 16], 0);
    while t < 16 {
        let mut i = 0;
        while i < 8 {
            all[t].0[i] = etc2::EAC[t][i] as u32;
            i += 1;
        }
        t += 1;
    }
    all
};

/// Those that the texels of an EAC block name.
#[inline(always)]
fn modifiers<S: Simd>(s: S, block: u64) -> S::I {
    // The first two columns are the upper half of the indices.
    let first = s.mask(0x3333);
    let of = s.isel(first, s.isplat((block >> 24) as u32), s.isplat(block as u32));
    // SAFETY: sixteen words, aligned.
    let index = s.iand(s.ishr(of, s.iline(&EIGHTHS)), s.isplat(7));
    s.ilook16(&EAC[(block >> 48) as usize & 15], index)
}

/// The numbers of an EAC block of eleven bits, in the low sixteen.
#[inline(always)]
fn eac<S: Simd>(s: S, block: u64, signed: bool) -> S::I {
    let multiplier = (block >> 52) as u32 & 15;
    let step = s.imul(modifiers(s, block), s.isplat(if multiplier == 0 { 1 } else { 8 * multiplier }));
    let most = etc2::MOST[signed as usize];
    let (base, least) = match signed {
        true => (((block >> 56) as i8).max(-127) as i32 * 8, -most),
        false => ((block >> 56) as i32 * 8 + 4, 0),
    };
    let v = clamped(s, s.iadd(step, s.isplat(base as u32)), least, most);
    s.iand(v, s.isplat(0xFFFF))
}

#[cfg(test)]
pub(crate) use tests::packed_texels_are_the_decoded_ones;
#[cfg(test)]
mod tests {
    use super::super::{EMPTY, decode as unpacked};
    use super::*;
    use crate::format::{all, num};
    use random::Random;

    #[repr(align(64))]
    struct Room([u8; super::super::MAX_TEXELS * 8]);

    /// What a packed texel stands for.
    fn raw(info: &FormatInfo, packing: Packing, bytes: &[u8]) -> [u32; 4] {
        let half = |k: usize| u16::from_le_bytes([bytes[2 * k], bytes[2 * k + 1]]);
        let byte = |v: u8, k: usize| match info.is_srgb() && k < 3 {
            true => num::srgb8_to_f32(v),
            false => v as f32 / 255.0,
        };
        let one = 1f32;
        let t = match packing {
            Packing::Bytes => [0, 1, 2, 3].map(|k| byte(bytes[k], k)),
            Packing::BytesAlpha => {
                let c = |k: usize| byte(half(k) as u8, k);
                [c(0), c(1), c(2), half(3) as f32 / RAMP as f32]
            }
            Packing::Pair { most, signed } => {
                let c = |k: usize| {
                    let v = half(k);
                    (if signed { v as i16 as f32 } else { v as f32 }) / most as f32
                };
                [c(0), c(1), 0.0, one]
            }
            Packing::Halves => [0, 1, 2, 3].map(|k| num::f16_to_f32(half(k))),
        };
        t.map(f32::to_bits)
    }

    /// Every compressed format: blocks of all kinds, against what decodes a block to whole texels.
    pub(crate) fn packed_texels_are_the_decoded_ones(level: Level) {
        let mut r = Random::new(1);
        let mut random = || r.u32();
        for info in all().iter().filter(|f| f.compressed()) {
            let (packing, Some(decode)) = (packing(info).unwrap(), decoder(level)) else { return };
            let texels = (info.block_extent[0] * info.block_extent[1]) as usize;
            for case in 0..3000u64 {
                let mut block = random() as u128
                    | (random() as u128) << 32
                    | (random() as u128) << 64
                    | (random() as u128) << 96;
                match case % 4 {
                    // Modes told by the lowest bit that is set; equal ends; few bits.
                    0 => block = (block | 1) << (case / 4 % 9),
                    1 => block &= !0xFFFF_FFFF | (block & 0xFFFF) << 16,
                    2 if case % 3 == 0 => block = block & 0xFFFF_FFFF | 0x1FC,
                    _ => {}
                }
                let mut want = EMPTY;
                unpacked(info, &block.to_le_bytes(), &mut want);
                let mut got = Room([0; super::super::MAX_TEXELS * 8]);
                let (mut lo, n) = (block, info.block_bytes);
                if n == 8 {
                    lo &= u64::MAX as u128;
                }
                // SAFETY: room for the largest block; the machine has the level.
                unsafe { decode(info, lo, got.0.as_mut_ptr()) };
                let bytes = packing.bytes() as usize;
                for (t, want) in want[..texels].iter().enumerate() {
                    let got = raw(info, packing, &got.0[t * bytes..][..bytes]);
                    // (Of channels that there are.)
                    assert_eq!(got, *want, "{} texel {t} of {block:#x} {level:?}", info.name);
                }
            }
        }
    }
}
