//! ASTC, HDR profile: endpoints of twelve bits, and what interpolated numbers stand for.
//!
//! Source: Khronos Data Format Specification, "HDR Endpoint Decoding" and "Weight Application".

/// One, as an HDR alpha.
const OPAQUE: i32 = 0x780;

/// Sets bit `to` of a field where the mode is one of `modes`.
fn place(mode: u32, modes: u32, bit: i32, to: u32) -> i32 {
    if modes >> mode & 1 == 1 { bit << to } else { 0 }
}

/// The major component goes first in the block: back to its place.
fn ordered(mut c: [i32; 3], major: usize) -> [i32; 4] {
    c.swap(0, major);
    let [r, g, b] = c.map(|v| v.clamp(0, 0xFFF));
    [r, g, b, OPAQUE]
}

/// A colour, and what to subtract for the other (mode 7).
fn base_and_scale(v: &[i32]) -> [[i32; 4]; 2] {
    let field = (v[0] & 0xC0) >> 6 | (v[1] & 0x80) >> 5 | (v[2] & 0x80) >> 4;
    let (major, mode) = match field {
        15 => (0, 5),
        12.. => (field & 3, 4),
        _ => (field >> 2, field as u32 & 3),
    };
    let bit = |k: usize, n: u32| v[k] >> n & 1;
    let x = [bit(1, 6), bit(1, 5), bit(2, 6), bit(2, 5), bit(3, 7), bit(3, 6), bit(3, 5)];
    let put = |modes, k: usize, to| place(mode, modes, x[k], to);
    let red = (v[0] & 0x3F)
        | put(0x3B, 4, 6)
        | put(0x04, 3, 6)
        | put(0x10, 5, 7)
        | put(0x0F, 2, 7)
        | put(0x05, 1, 8)
        | put(0x0A, 0, 8)
        | put(0x05, 0, 9)
        | put(0x02, 6, 9)
        | put(0x01, 3, 10)
        | put(0x02, 5, 10);
    let green = (v[1] & 0x1F) | put(0x30, 0, 6) | put(0x3A, 1, 5);
    let blue = (v[2] & 0x1F) | put(0x30, 2, 6) | put(0x3A, 3, 5);
    let scale = (v[3] & 0x1F) | put(0x3D, 6, 5) | put(0x2D, 5, 6) | put(0x04, 4, 7);
    let shift = [1, 1, 2, 3, 4, 5][mode as usize];
    let [red, mut green, mut blue, scale] = [red, green, blue, scale].map(|n| n << shift);
    if mode != 5 {
        (green, blue) = (red - green, red - blue);
    }
    [scale, 0].map(|s| ordered([red - s, green - s, blue - s], major as usize))
}

/// Two colours (mode 11, and the colours of 14 and 15).
fn direct(v: &[i32]) -> [[i32; 4]; 2] {
    let major = (v[4] & 0x80) >> 7 | (v[5] & 0x80) >> 6;
    if major == 3 {
        return [0, 1].map(|k| [v[k] << 4, v[k + 2] << 4, (v[k + 4] & 0x7F) << 5, OPAQUE]);
    }
    let mode = ((v[1] & 0x80) >> 7 | (v[2] & 0x80) >> 6 | (v[3] & 0x80) >> 5) as u32;
    let bit = |k: usize, n: u32| v[k] >> n & 1;
    let x = [bit(2, 6), bit(3, 6), bit(4, 6), bit(5, 6), bit(4, 5), bit(5, 5)];
    let put = |modes, k: usize, to| place(mode, modes, x[k], to);
    let a = v[0]
        | (v[1] & 0x40) << 2
        | put(0xA4, 0, 9)
        | put(0x08, 2, 9)
        | put(0x50, 4, 9)
        | put(0x50, 5, 10)
        | put(0xA0, 1, 10)
        | put(0xC0, 2, 11);
    let c = (v[1] & 0x3F) | put(0x04, 1, 6) | put(0xE8, 3, 6) | put(0x20, 2, 7);
    let b0 = (v[2] & 0x3F) | put(0x5B, 0, 6) | put(0x12, 2, 7);
    let b1 = (v[3] & 0x3F) | put(0x5B, 1, 6) | put(0x12, 3, 7);
    let signed = |n: i32| {
        let bits = [7, 6, 7, 6, 5, 6, 5, 6][mode as usize];
        n << (32 - bits) >> (32 - bits)
    };
    let shift = (mode >> 1) ^ 3;
    let [a, b0, b1, c, d0, d1] = [a, b0, b1, c, signed(v[4]), signed(v[5])].map(|n| n << shift);
    let major = major as usize;
    [ordered([a - c, a - b0 - c - d0, a - b1 - c - d1], major), ordered([a, a - b0, a - b1], major)]
}

/// Two alphas (mode 15).
fn alphas(v6: i32, v7: i32) -> [i32; 2] {
    let selector = (v6 >> 7 & 1) | (v7 >> 6 & 2);
    let (mut low, mut more) = (v6 & 0x7F, v7 & 0x7F);
    if selector == 3 {
        return [low << 5, more << 5];
    }
    low |= (more << (selector + 1)) & 0x780;
    more &= 0x3F >> selector;
    more = (more ^ (0x20 >> selector)) - (0x20 >> selector);
    [low << (4 - selector), ((low + more) << (4 - selector)).clamp(0, 0xFFF)]
}

/// The two endpoints of a partition, of 16 bits, and which channels are HDR; `None` for LDR modes.
#[cold]
pub(super) fn endpoints(mode: u32, v: &[i32]) -> Option<([[u32; 4]; 2], u32)> {
    let grey = |n: i32| [n, n, n, OPAQUE];
    let mut e = match mode {
        2 => {
            let (low, high) =
                if v[1] >= v[0] { (v[0] << 4, v[1] << 4) } else { ((v[1] << 4) + 8, (v[0] << 4) - 8) };
            [grey(low), grey(high)]
        }
        3 => {
            let (low, more) = if v[0] & 0x80 != 0 {
                ((v[1] & 0xE0) << 4 | (v[0] & 0x7F) << 2, (v[1] & 0x1F) << 2)
            } else {
                ((v[1] & 0xF0) << 4 | (v[0] & 0x7F) << 1, (v[1] & 0x0F) << 1)
            };
            [grey(low), grey((low + more).min(0xFFF))]
        }
        7 => base_and_scale(v),
        11 | 14 | 15 => direct(v),
        _ => return None,
    };
    if mode == 15 {
        let [a0, a1] = alphas(v[6], v[7]);
        (e[0][3], e[1][3]) = (a0, a1);
    }
    let mut wide = e.map(|c| c.map(|n| (n as u32) << 4));
    if mode == 14 {
        // Alpha is LDR: a byte, twice.
        (wide[0][3], wide[1][3]) = (v[6] as u32 * 0x101, v[7] as u32 * 0x101);
        return Some((wide, 0b0111));
    }
    Some((wide, 0b1111))
}

/// The half that an interpolated HDR number stands for; the largest finite one at most.
pub(super) fn half(c: u32) -> u32 {
    let (exponent, m) = (c >> 11, c & 0x7FF);
    let mantissa = match m {
        ..512 => 3 * m,
        512..1536 => 4 * m - 512,
        _ => 5 * m - 2048,
    };
    (exponent << 10 | mantissa >> 3).min(0x7BFF)
}

#[cfg(test)]
mod tests {
    use super::super::astc::{Raw, decode};
    use super::super::{AstcTo, EMPTY};
    use super::*;
    use crate::format::num;

    /// By hand from the tables of the specification.
    #[test]
    fn endpoints_by_hand() {
        // Luminance: in order as they are, otherwise half a step nearer to each other.
        assert_eq!(endpoints(2, &[0x12, 0x34]).unwrap().0.map(|e| e[0]), [0x1200, 0x3400]);
        assert_eq!(endpoints(2, &[0x34, 0x12]).unwrap().0.map(|e| e[0]), [0x1280, 0x3380]);
        assert_eq!(endpoints(3, &[0x81, 0x23]).unwrap().0.map(|e| e[0]), [0x2040, 0x20C0 + 0x40]);
        assert_eq!(endpoints(3, &[0x01, 0x23]).unwrap().0.map(|e| e[0]), [0x2020, 0x2020 + 0x60]);
        // Base and scale of mode 5 (all four bits set): red, green, blue and scale of 6, 7, 7 and 7 bits, by 32.
        let v = [0xC0 | 3, 0x80 | 2, 0x80 | 1, 1];
        assert_eq!(endpoints(7, &v).unwrap().0, [[0x400, 0x200, 0, 0x7800], [0x600, 0x400, 0x200, 0x7800]]);
        // Direct, both major bits set: eight, eight and seven bits.
        let v = [1, 2, 3, 4, 0x85, 0x86, 0x40, 0xC0];
        let e = endpoints(11, &v).unwrap();
        assert_eq!(e, ([[0x100, 0x300, 0xA00, 0x7800], [0x200, 0x400, 0xC00, 0x7800]], 15));
        assert_eq!(endpoints(14, &v).unwrap().0.map(|e| e[3]), [0x4040, 0xC0C0]);
        // Alphas: selector 2: five bits less by four, so that 0x40 in the second is no more than bits of the first.
        assert_eq!(alphas(0x80 | 0x12, 0x80 | 0x34), [0x12 << 5, 0x34 << 5]);
        assert_eq!(endpoints(8, &v), None);
    }

    /// Random blocks of 4 × 4 texels in all modes, and their halves as VK-GL-CTS' reference decodes them (tcuAstcUtil).
    #[test]
    fn blocks_of_the_reference() {
        compare(include_bytes!("../../../tests/astc_hdr.bin"), [4, 4, 1], 24);
    }

    fn compare(all: &[u8], extent: [u32; 3], count: usize) {
        let texels = (extent[0] * extent[1]) as usize;
        let chunks = all.chunks_exact(16 + 8 * texels);
        assert_eq!(chunks.len(), count);
        for (n, chunk) in chunks.enumerate() {
            let (block, halves) = chunk.split_first_chunk::<16>().unwrap();
            let mut out = EMPTY;
            let to = Raw { to: AstcTo::Hdr, srgb: false };
            decode(u128::from_le_bytes(*block), extent, to, &mut out);
            for (t, want) in halves.as_chunks::<8>().0.iter().enumerate() {
                let want: [u16; 4] =
                    std::array::from_fn(|c| u16::from_le_bytes([want[2 * c], want[2 * c + 1]]));
                let got = out[t].map(|bits| num::f32_to_f16(f32::from_bits(bits)));
                assert_eq!(got, want, "block {n} {block:02x?}, texel {t}");
            }
        }
    }

    /// One is 0x7800; what is above the largest half stays it.
    #[test]
    fn halves() {
        assert_eq!(half(0x7800), 0x3C00);
        assert_eq!(half(0), 0);
        assert_eq!(half(0x7800 + 512), 0x3C00 + 192);
        assert_eq!(half(0x7800 + 1536), 0x3C00 + (1536 * 5 - 2048) / 8);
        assert_eq!(half(0xFFFF), 0x7BFF);
    }
}
