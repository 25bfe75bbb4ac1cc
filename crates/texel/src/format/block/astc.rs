//! ASTC, two-dimensional: LDR profile, and with `astc_hdr` the HDR profile.
//!
//! Values are 16-bit normalised after interpolation; non-sRGB formats give the half-precision value the specification
//! names (decode mode float16), sRGB formats the upper eight bits through the curve, and views of decode mode unorm8 these bits. Illegal blocks decode to opaque
//! magenta, and so do HDR endpoints where the format is none of HDR.

use super::astc_sequence::{Range, Value, bits, range, sequence};
use super::packed::half;
use super::{AstcTo, Color8, Paint, astc_hdr};
use crate::format::num;

/// Channels of 16 bits, as what they are made.
pub trait Wide: Copy {
    type Texel: Copy;
    /// Of an illegal block.
    const MAGENTA: Self::Texel;
    fn of(self, c: [u32; 4]) -> Self::Texel;
    /// The upper eight bits are kept.
    fn bytes(self) -> bool;
    /// It has HDR endpoints.
    fn hdr(self) -> bool {
        false
    }
    /// Of halves, where it has HDR endpoints.
    fn halves(self, _: [u32; 4]) -> Self::Texel {
        Self::MAGENTA
    }
}

/// Raw texels.
#[derive(Clone, Copy)]
pub struct Raw {
    pub to: AstcTo,
    pub srgb: bool,
}

impl Wide for Raw {
    type Texel = [u32; 4];
    const MAGENTA: [u32; 4] = [0x3f80_0000, 0, 0x3f80_0000, 0x3f80_0000];
    fn of(self, c: [u32; 4]) -> [u32; 4] {
        raw(c, self)
    }
    fn bytes(self) -> bool {
        self.to == AstcTo::Bytes
    }
    fn hdr(self) -> bool {
        self.to == AstcTo::Hdr
    }
    fn halves(self, h: [u32; 4]) -> [u32; 4] {
        h.map(|h| num::f16_to_f32(h as u16).to_bits())
    }
}

/// Ranges of weights by the three R bits, less 2; low precision, then high.
const WEIGHT_RANGES: [[Range; 6]; 2] = [
    [
        range(false, false, 1),
        range(true, false, 0),
        range(false, false, 2),
        range(false, true, 0),
        range(true, false, 1),
        range(false, false, 3),
    ],
    [
        range(false, true, 1),
        range(true, false, 2),
        range(false, false, 4),
        range(false, true, 2),
        range(true, false, 3),
        range(false, false, 5),
    ],
];

/// Ranges of colour values, the finest first.
const COLOR_RANGES: [Range; 17] = [
    range(false, false, 8),
    range(true, false, 6),
    range(false, true, 5),
    range(false, false, 7),
    range(true, false, 5),
    range(false, true, 4),
    range(false, false, 6),
    range(true, false, 4),
    range(false, true, 3),
    range(false, false, 5),
    range(true, false, 3),
    range(false, true, 2),
    range(false, false, 4),
    range(true, false, 2),
    range(false, true, 1),
    range(false, false, 3),
    range(true, false, 1),
];

/// Repeats `n` bits until `to` bits are filled.
fn replicate(v: u32, n: u32, to: u32) -> u32 {
    let mut r = 0;
    let mut left = to as i32;
    while left > 0 {
        left -= n as i32;
        r |= if left >= 0 { v << left } else { v >> -left };
    }
    r
}

/// A bit pattern from the bits of a value: each letter names a bit (`b` is bit 1, `c` bit 2 and so on), 0 is 0.
fn pattern(v: u32, letters: &[u8]) -> u32 {
    letters.iter().fold(0, |r, &l| r << 1 | if l == b'0' { 0 } else { v >> (l - b'a') & 1 })
}

/// A colour value to 0..=255.
fn unquantize_color(v: Value, r: Range) -> u32 {
    if !r.trits && !r.quints {
        return replicate(v.bits, r.bits, 8);
    }
    let (letters, c): (&[u8], u32) = match (r.trits, r.bits) {
        (true, 1) => (b"000000000", 204),
        (true, 2) => (b"b000b0bb0", 93),
        (true, 3) => (b"cb000cbcb", 44),
        (true, 4) => (b"dcb000dcb", 22),
        (true, 5) => (b"edcb000ed", 11),
        (true, _) => (b"fedcb000f", 5),
        (false, 1) => (b"000000000", 113),
        (false, 2) => (b"b0000bb00", 54),
        (false, 3) => (b"cb0000cbc", 26),
        (false, 4) => (b"dcb0000dc", 13),
        (false, _) => (b"edcb0000e", 6),
    };
    let a = if v.bits & 1 == 1 { 0x1ff } else { 0 };
    let t = (v.digit * c + pattern(v.bits, letters)) ^ a;
    (a & 0x80) | (t >> 2)
}

/// A weight to 0..=64.
fn unquantize_weight(v: Value, r: Range) -> u32 {
    let w = if !r.trits && !r.quints {
        replicate(v.bits, r.bits, 6)
    } else if r.bits == 0 {
        if r.trits { [0, 32, 63][v.digit as usize % 3] } else { [0, 16, 32, 47, 63][v.digit as usize % 5] }
    } else {
        let (letters, c): (&[u8], u32) = match (r.trits, r.bits) {
            (true, 1) => (b"0000000", 50),
            (true, 2) => (b"b000b0b", 23),
            (true, _) => (b"cb000cb", 11),
            (false, 1) => (b"0000000", 28),
            (false, _) => (b"b0000b0", 13),
        };
        let a = if v.bits & 1 == 1 { 0x7f } else { 0 };
        let t = (v.digit * c + pattern(v.bits, letters)) ^ a;
        (a & 0x20) | (t >> 2)
    };
    if w > 32 { w + 1 } else { w }
}

/// Weight grid of a block: width, height, two planes, range.
struct Mode {
    width: u32,
    height: u32,
    dual: bool,
    range: Range,
}

fn block_mode(block: u128) -> Option<Mode> {
    let b = |low, n| bits(block, low, n);
    let (a, mut high, mut dual) = (b(5, 2), b(9, 1), b(10, 1));
    let r;
    let (width, height);
    if b(0, 2) != 0 {
        r = b(4, 1) | b(0, 2) << 1;
        let w = b(7, 2);
        (width, height) = match b(2, 2) {
            0 => (w + 4, a + 2),
            1 => (w + 8, a + 2),
            2 => (a + 2, w + 8),
            _ if b(8, 1) == 0 => (a + 2, (w & 1) + 6),
            _ => ((w & 1) + 2, a + 2),
        };
    } else {
        r = b(4, 1) | b(2, 2) << 1;
        (width, height) = match b(7, 2) {
            0 => (12, a + 2),
            1 => (a + 2, 12),
            2 => {
                let h = b(9, 2);
                (high, dual) = (0, 0);
                (a + 6, h + 6)
            }
            _ if a == 0 => (6, 10),
            _ if a == 1 => (10, 6),
            _ => return None,
        };
    }
    let range = WEIGHT_RANGES[high as usize].get((r as usize).checked_sub(2)?)?;
    Some(Mode { width, height, dual: dual == 1, range: *range })
}

/// Spreads a signed offset and its base (`bit_transfer_signed`): returns (offset, base).
fn transfer(a: i32, b: i32) -> (i32, i32) {
    let b = (b >> 1) | (a & 0x80);
    let a = (a >> 1) & 0x3f;
    (if a & 0x20 != 0 { a - 0x40 } else { a }, b)
}

fn blue_contract(c: [i32; 4]) -> [i32; 4] {
    [(c[0] + c[2]) >> 1, (c[1] + c[2]) >> 1, c[2], c[3]]
}

/// The two endpoints of a partition, of eight bits; `None` for HDR modes.
fn endpoints(mode: u32, v: &[i32]) -> Option<[[i32; 4]; 2]> {
    let e = match mode {
        0 => [[v[0], v[0], v[0], 255], [v[1], v[1], v[1], 255]],
        1 => {
            let l0 = (v[0] >> 2) | (v[1] & 0xc0);
            let l1 = l0 + (v[1] & 0x3f);
            [[l0, l0, l0, 255], [l1, l1, l1, 255]]
        }
        4 => [[v[0], v[0], v[0], v[2]], [v[1], v[1], v[1], v[3]]],
        5 => {
            let ((o, b), (oa, ba)) = (transfer(v[1], v[0]), transfer(v[3], v[2]));
            [[b, b, b, ba], [b + o, b + o, b + o, ba + oa]]
        }
        6 | 10 => {
            let (a0, a1) = if mode == 10 { (v[4], v[5]) } else { (255, 255) };
            let s = |k: usize| (v[k] * v[3]) >> 8;
            [[s(0), s(1), s(2), a0], [v[0], v[1], v[2], a1]]
        }
        8 | 12 => {
            let (a0, a1) = if mode == 12 { (v[6], v[7]) } else { (255, 255) };
            let (e0, e1) = ([v[0], v[2], v[4], a0], [v[1], v[3], v[5], a1]);
            if v[1] + v[3] + v[5] >= v[0] + v[2] + v[4] {
                [e0, e1]
            } else {
                [blue_contract(e1), blue_contract(e0)]
            }
        }
        9 | 13 => {
            let ((or, r), (og, g), (ob, b)) =
                (transfer(v[1], v[0]), transfer(v[3], v[2]), transfer(v[5], v[4]));
            let (oa, a) = if mode == 13 { transfer(v[7], v[6]) } else { (0, 255) };
            let (e0, e1) = ([r, g, b, a], [r + or, g + og, b + ob, a + oa]);
            if or + og + ob >= 0 { [e0, e1] } else { [blue_contract(e1), blue_contract(e0)] }
        }
        _ => return None,
    };
    Some(e.map(|c| c.map(|v| v.clamp(0, 255))))
}

fn hash52(mut p: u32) -> u32 {
    p ^= p >> 15;
    p = p.wrapping_sub(p << 17);
    p = p.wrapping_add(p << 7);
    p = p.wrapping_add(p << 4);
    p ^= p >> 5;
    p = p.wrapping_add(p << 16);
    p ^= p >> 7;
    p ^= p >> 3;
    p ^= p << 6;
    p ^ (p >> 17)
}

/// Partition of a texel, by the specification's hash.
fn partition(seed: u32, x: u32, y: u32, count: u32, small: bool) -> usize {
    let (x, y) = if small { (x << 1, y << 1) } else { (x, y) };
    let seed = seed + (count - 1) * 1024;
    let r = hash52(seed);
    let s = |shift: u32| {
        let v = (r >> shift) & 15;
        v * v
    };
    let (sh1, sh2) = if seed & 1 == 1 {
        (if seed & 2 != 0 { 4 } else { 5 }, if count == 3 { 6 } else { 5 })
    } else {
        (if count == 3 { 6 } else { 5 }, if seed & 2 != 0 { 4 } else { 5 })
    };
    let a = (s(0) >> sh1) * x + (s(4) >> sh2) * y + (r >> 14);
    let b = (s(8) >> sh1) * x + (s(12) >> sh2) * y + (r >> 10);
    let c = (s(16) >> sh1) * x + (s(20) >> sh2) * y + (r >> 6);
    let d = (s(24) >> sh1) * x + (s(28) >> sh2) * y + (r >> 2);
    let (a, b) = (a & 63, b & 63);
    let c = if count < 3 { 0 } else { c & 63 };
    let d = if count < 4 { 0 } else { d & 63 };
    if a >= b && a >= c && a >= d {
        0
    } else if b >= c && b >= d {
        1
    } else if c >= d {
        2
    } else {
        3
    }
}

/// Raw texel from 16-bit normalised channels.
fn raw(c: [u32; 4], to: Raw) -> [u32; 4] {
    if to.bytes() {
        return Color8 { srgb: to.srgb }.of(c.map(|v| (v >> 8) as u8));
    }
    // Half precision, rounded towards zero: the value has 16 bits at most, of which eleven from the first one stay.
    c.map(|v| {
        if v == 65535 {
            return 1f32.to_bits();
        }
        let keep = (32 - v.leading_zeros()).saturating_sub(11);
        // Below 2^-14 halves are denormal: steps of 2^-24, finer than 2^-16, lose nothing.
        ((v >> keep << keep) as f32 / 65536.0).to_bits()
    })
}

/// Decodes one block of `extent` texels.
pub fn decode<W: Wide>(block: u128, extent: [u32; 3], wide: W, out: &mut [W::Texel]) {
    let n = (extent[0] * extent[1]) as usize;
    let texels = &mut out[..n];
    if try_decode(block, extent, wide, texels).is_none() {
        texels.fill(W::MAGENTA);
    }
}

fn try_decode<W: Wide>(block: u128, [bw, bh, _]: [u32; 3], to: W, out: &mut [W::Texel]) -> Option<()> {
    let bytes = to.bytes();
    if bits(block, 0, 9) == 0x1fc {
        let (c, halves) = void_extent(block)?;
        out.fill(match (halves, to.hdr()) {
            (true, true) => to.halves(c),
            (true, false) => W::MAGENTA,
            (false, _) => to.of(c),
        });
        return Some(());
    }
    let mode = block_mode(block)?;
    let planes = 1 + mode.dual as u32;
    let weights = mode.width * mode.height * planes;
    let weight_bits = mode.range.sequence_bits(weights);
    let parts = bits(block, 11, 2) + 1;
    let fits = mode.width <= bw && mode.height <= bh && weights <= 64 && (24..=96).contains(&weight_bits);
    if !fits || (mode.dual && parts == 4) {
        return None;
    }

    // Endpoint modes; those that do not fit lie just below the weights.
    let mut below = 128 - weight_bits;
    let mut modes = [bits(block, 13, 4); 4];
    let color_start = if parts == 1 { 17 } else { 29 };
    if parts > 1 {
        let field = bits(block, 23, 6);
        if field & 3 == 0 {
            modes = [field >> 2; 4];
        } else {
            let extra = 3 * parts - 4;
            below -= extra;
            let list = field >> 2 | bits(block, below, extra) << 4;
            for (i, m) in modes.iter_mut().enumerate().take(parts as usize) {
                let class = (field & 3) - 1 + (list >> i & 1);
                *m = class << 2 | (list >> (parts as usize + 2 * i) & 3);
            }
        }
    }
    let mut second_plane = 4;
    if mode.dual {
        below -= 2;
        second_plane = bits(block, below, 2) as usize;
    }

    let modes = &modes[..parts as usize];
    let values: u32 = modes.iter().map(|m| (m / 4 + 1) * 2).sum();
    let room = below.checked_sub(color_start)?;
    if values > 18 || (13 * values).div_ceil(5) > room {
        return None;
    }
    let range = *COLOR_RANGES.iter().find(|r| r.sequence_bits(values) <= room)?;
    let mut colors = [Value::default(); 18];
    let colors = &mut colors[..values as usize];
    sequence(block, color_start, color_start + range.sequence_bits(values), range, colors);
    let mut ends = [None; 4];
    let mut at = 0;
    for (e, &m) in ends.iter_mut().zip(modes) {
        let count = (m as usize / 4 + 1) * 2;
        let mut v = [0i32; 8];
        for (v, c) in v.iter_mut().zip(&colors[at..at + count]) {
            *v = unquantize_color(*c, range) as i32;
        }
        let widen = |v: i32| (v as u32) << 8 | if bytes { 0x80 } else { v as u32 };
        *e = endpoints(m, &v).map(|e| (e.map(|c| c.map(widen)), 0));
        if e.is_none() && to.hdr() {
            *e = astc_hdr::endpoints(m, &v);
        }
        at += count;
    }

    let mut grid = [Value::default(); 64];
    let grid = &mut grid[..weights as usize];
    sequence(block.reverse_bits(), 0, weight_bits, mode.range, grid);
    // Sixteen spare zeros stand for the neighbours beyond the last row and column, whose factor is 0.
    let mut w = [0u32; 96];
    w.iter_mut().zip(&*grid).for_each(|(w, v)| *w = unquantize_weight(*v, mode.range));
    let scale = |size: u32| (1024 + size / 2) / (size - 1);
    let (ds, dt) = (scale(bw), scale(bh));
    for y in 0..bh {
        for x in 0..bw {
            let gs = (ds * x * (mode.width - 1) + 32) >> 6;
            let gt = (dt * y * (mode.height - 1) + 32) >> 6;
            let (fs, ft) = (gs & 15, gt & 15);
            let at = (gs >> 4) + (gt >> 4) * mode.width;
            let w11 = (fs * ft + 8) >> 4;
            let (w10, w01) = (ft - w11, fs - w11);
            let w00 = 16 + w11 - fs - ft;
            let weight = |plane: u32| {
                let p = |i: u32| w[((at + i) * planes + plane) as usize];
                (p(0) * w00 + p(1) * w01 + p(mode.width) * w10 + p(mode.width + 1) * w11 + 8) >> 4
            };
            let first = weight(0);
            let second = if mode.dual { weight(1) } else { first };
            let part = if parts == 1 { 0 } else { partition(bits(block, 13, 10), x, y, parts, bw * bh < 31) };
            out[(y * bw + x) as usize] = match ends[part] {
                None => W::MAGENTA,
                Some(([e0, e1], hdr)) => {
                    let c: [u32; 4] = std::array::from_fn(|k| {
                        let w = if k == second_plane { second } else { first };
                        (e0[k] * (64 - w) + e1[k] * w + 32) >> 6
                    });
                    if hdr == 0 { to.of(c) } else { to.halves(mixed(c, hdr)) }
                }
            };
        }
    }
    Some(())
}

/// Halves of channels, of which some are HDR.
#[cold]
fn mixed(c: [u32; 4], hdr: u32) -> [u32; 4] {
    std::array::from_fn(|k| if hdr >> k & 1 == 1 { astc_hdr::half(c[k]) } else { half(c[k]) as u32 })
}

/// The colour of a void-extent block, and whether it is halves; `None` if it is illegal.
fn void_extent(block: u128) -> Option<([u32; 4], bool)> {
    if bits(block, 10, 2) != 3 {
        return None;
    }
    let [s0, s1, t0, t1] = [12, 25, 38, 51].map(|at| bits(block, at, 13));
    let none = [s0, s1, t0, t1].iter().all(|&v| v == 0x1fff);
    if !none && (s0 >= s1 || t0 >= t1) {
        return None;
    }
    Some(([64, 80, 96, 112].map(|at| bits(block, at, 16)), bits(block, 9, 1) == 1))
}

#[cfg(test)]
mod tests {
    use super::super::EMPTY;
    use super::*;
    use crate::format::num;

    const LINEAR: Raw = Raw { to: AstcTo::Halves, srgb: false };

    #[test]
    fn void_extents() {
        let mut out = EMPTY;
        let header = 0x1fcu128 | 3 << 10 | ((1 << 52) - 1) << 12;
        let color = 0xffffu128 << 64 | 0x8000 << 80 | 0x1234 << 112;
        decode(header | color, [12, 12, 1], LINEAR, &mut out);
        // 0x1234 keeps eleven of its thirteen bits.
        assert_eq!(out[143].map(f32::from_bits), [1.0, 0.5, 0.0, 0x1234 as f32 / 65536.0]);
        decode(header | color, [4, 4, 1], Raw { to: AstcTo::Bytes, srgb: true }, &mut out);
        assert_eq!(f32::from_bits(out[15][1]), num::srgb8_to_f32(0x80));
        // As bytes without a curve: decode mode unorm8.
        decode(header | color, [4, 4, 1], Raw { to: AstcTo::Bytes, srgb: false }, &mut out);
        assert_eq!(out[15].map(f32::from_bits), [1.0, 128.0 / 255.0, 0.0, 18.0 / 255.0]);
        decode(header | color | 1 << 9, [4, 4, 1], LINEAR, &mut out);
        assert_eq!(out[3], Raw::MAGENTA);
        // The same in an HDR format: halves.
        decode(
            header | 0x4000 << 64 | 0x3C00 << 80 | 1 << 9,
            [4, 4, 1],
            Raw { to: AstcTo::Hdr, srgb: false },
            &mut out,
        );
        assert_eq!(out[3].map(f32::from_bits), [2.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn ranges_reach_both_ends() {
        for r in COLOR_RANGES {
            let digits = if r.trits {
                3
            } else if r.quints {
                5
            } else {
                1
            };
            let all: Vec<u32> = (0..digits)
                .flat_map(|digit| {
                    (0..1 << r.bits).map(move |bits| unquantize_color(Value { bits, digit }, r))
                })
                .collect();
            let set: std::collections::HashSet<_> = all.iter().collect();
            assert_eq!(set.len(), all.len(), "{r:?}");
            assert!(set.contains(&0) && set.contains(&255), "{r:?}");
        }
        for r in WEIGHT_RANGES.into_iter().flatten() {
            let digits = if r.trits {
                3
            } else if r.quints {
                5
            } else {
                1
            };
            let all: Vec<u32> = (0..digits)
                .flat_map(|digit| {
                    (0..1 << r.bits).map(move |bits| unquantize_weight(Value { bits, digit }, r))
                })
                .collect();
            assert!(all.contains(&0) && all.contains(&64) && all.iter().all(|&w| w <= 64), "{r:?}");
        }
    }

    #[test]
    fn luminance_ramp_by_hand() {
        // 4×4 weights of two bits (R = 4: mode bits 0001_0_10 with A = 2, B = 0), one partition, luminance 0 to 255.
        // Mode: bits 1:0 = 10 (R2 R1 = 1 0), bit 4 = 0: R = 100b = 4, width B + 4 = 4, height A + 2 = 4.
        let mode = 0b10u128 | 2 << 5;
        // 111 - 17 bits of room for two values: eight bits each.
        let ends = 255u128 << (17 + 8);
        // Weights: texel 0 is 0, texel 1 is 3 (64), texel 2 is 1 (21), stored from the top, reversed.
        let weights = (0b11u128 << 2 | 0b01 << 4).reverse_bits();
        let mut out = EMPTY;
        decode(mode | ends | weights, [4, 4, 1], LINEAR, &mut out);
        assert_eq!(out[0].map(f32::from_bits), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(out[1].map(f32::from_bits), [1.0; 4]);
        // 65535 · 21 / 64 rounds to 21504 (0x5400).
        assert_eq!(f32::from_bits(out[2][0]), 21504.0 / 65536.0);
    }
}
