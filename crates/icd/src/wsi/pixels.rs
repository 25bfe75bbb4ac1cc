//! From a swapchain image's texels to a window's pixels.

use std::ops::Range;
use texel::image::Surface;

/// Formats of swapchain images, best first; all are shown as sRGB.
pub(crate) const FORMATS: [vk::Format; 6] = [
    vk::Format::B8G8R8A8_UNORM,
    vk::Format::B8G8R8A8_SRGB,
    vk::Format::R8G8B8A8_UNORM,
    vk::Format::R8G8B8A8_SRGB,
    vk::Format::A2B10G10R10_UNORM_PACK32,
    vk::Format::A2R10G10B10_UNORM_PACK32,
];

/// Where the colours lie in a texel of one of [`FORMATS`]: first bits of red, green, blue and alpha, bits of a colour,
/// bits of alpha.
type Texel = ([u32; 4], u32, u32);

fn texel(format: vk::Format) -> Texel {
    match format {
        vk::Format::R8G8B8A8_UNORM | vk::Format::R8G8B8A8_SRGB => ([0, 8, 16, 24], 8, 8),
        vk::Format::A2B10G10R10_UNORM_PACK32 => ([0, 10, 20, 30], 10, 2),
        vk::Format::A2R10G10B10_UNORM_PACK32 => ([20, 10, 0, 30], 10, 2),
        _ => ([16, 8, 0, 24], 8, 8),
    }
}

/// A pixel of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PixelLayout {
    pub bytes: usize,
    /// Bits of red, green, blue.
    pub masks: [u32; 3],
    /// Bits that mean something.
    pub depth: u32,
    pub big_endian: bool,
}

impl PixelLayout {
    /// Bits that mean something but no colour: alpha.
    fn spare(&self) -> u32 {
        let all = if self.depth >= 32 { !0 } else { (1 << self.depth) - 1 };
        all & !(self.masks[0] | self.masks[1] | self.masks[2])
    }

    /// Eight bits of each colour, in the order of B8G8R8A8.
    fn is_plain(&self) -> bool {
        self.bytes == 4 && !self.big_endian && self.masks == [0xFF_0000, 0xFF00, 0xFF]
    }

    pub fn spare_bits(&self) -> u32 {
        self.spare().count_ones()
    }
}

/// A swapchain image to be shown.
#[derive(Clone, Copy)]
pub(crate) struct Picture {
    pub surface: Surface,
    pub format: vk::Format,
    pub width: u32,
    pub height: u32,
    /// Whether the window is to be opaque, whatever the image's alpha.
    pub opaque: bool,
}

/// `v` of `from` bits as `to` bits, rounded down as a shift does; the largest stays the largest.
fn rescale(v: u32, from: u32, to: u32) -> u32 {
    // 16 bits between, filled by repetition.
    let mut wide = 0;
    let mut left = 16i32;
    while left > 0 {
        left -= from as i32;
        wide |= if left >= 0 { v << left } else { v >> -left };
    }
    if to >= 16 { wide << (to - 16) } else { wide >> (16 - to) }
}

impl Picture {
    /// Whether texels are such pixels already.
    pub fn is_shown_as_it_is(&self, to: &PixelLayout) -> bool {
        let bgra = matches!(self.format, vk::Format::B8G8R8A8_UNORM | vk::Format::B8G8R8A8_SRGB);
        bgra && to.is_plain() && !(self.opaque && to.spare() != 0)
    }

    /// Writes rows of the picture as a window's pixels, one row each `pitch` bytes of `out`.
    pub fn convert(&self, rows: Range<usize>, to: &PixelLayout, out: &mut [u8], pitch: usize) {
        let from = texel(self.format);
        let spare = to.spare();
        let plain = to.is_plain();
        let fill = if self.opaque { spare } else { 0 };
        let alpha = |t: u32| fill | ((t >> 30) * 0x5500_0000) & spare;
        for (row, out) in rows.zip(out.chunks_mut(pitch.max(1))) {
            let width = (self.width as usize).min(out.len() / to.bytes);
            if row >= self.surface.blocks[1] as usize || width > self.surface.blocks[0] as usize {
                return;
            }
            // SAFETY: the row is inside the image, four bytes a texel, and the image's memory lives as long as the
            // surface's user keeps it; texels are read as bytes, which have no invalid value.
            let texels = unsafe {
                let at = self.surface.block(0, row as u32, 0, 0, 0);
                std::slice::from_raw_parts(at.cast::<[u8; 4]>(), width)
            };
            match self.format {
                _ if self.is_shown_as_it_is(to) => {
                    out[..width * 4].copy_from_slice(texels.as_flattened());
                }
                vk::Format::B8G8R8A8_UNORM | vk::Format::B8G8R8A8_SRGB if plain => {
                    each(texels, out, |t| t | fill);
                }
                vk::Format::R8G8B8A8_UNORM | vk::Format::R8G8B8A8_SRGB if plain => {
                    each(texels, out, |t| t & 0xFF00_FF00 | t >> 16 & 0xFF | (t & 0xFF) << 16 | fill);
                }
                // The upper eight of ten bits; two of alpha as often as they fit.
                vk::Format::A2B10G10R10_UNORM_PACK32 if plain => {
                    each(texels, out, |t| t << 14 & 0xFF_0000 | t >> 4 & 0xFF00 | t >> 22 & 0xFF | alpha(t))
                }
                vk::Format::A2R10G10B10_UNORM_PACK32 if plain => {
                    each(texels, out, |t| t >> 6 & 0xFF_0000 | t >> 4 & 0xFF00 | t >> 2 & 0xFF | alpha(t))
                }
                _ => {
                    for (t, out) in texels.iter().zip(out.chunks_exact_mut(to.bytes)) {
                        let v = pixel(u32::from_le_bytes(*t), from, to, spare, self.opaque);
                        if to.big_endian {
                            out.copy_from_slice(&v.to_be_bytes()[4 - to.bytes..]);
                        } else {
                            out.copy_from_slice(&v.to_le_bytes()[..to.bytes]);
                        }
                    }
                }
            }
        }
    }
}

fn each(texels: &[[u8; 4]], out: &mut [u8], f: impl Fn(u32) -> u32) {
    for (t, out) in texels.iter().zip(out.as_chunks_mut::<4>().0) {
        *out = f(u32::from_le_bytes(*t)).to_le_bytes();
    }
}

fn pixel(texel: u32, (at, bits, alpha): Texel, to: &PixelLayout, spare: u32, opaque: bool) -> u32 {
    let mut v = 0;
    for (mask, at) in to.masks.iter().zip(at).filter(|(m, _)| **m != 0) {
        let colour = texel >> at & ((1 << bits) - 1);
        v |= rescale(colour, bits, mask.count_ones()) << mask.trailing_zeros();
    }
    if spare != 0 {
        let a = if opaque {
            spare
        } else {
            let a = texel >> at[3] & ((1 << alpha) - 1);
            rescale(a, alpha, spare.count_ones()) << spare.trailing_zeros()
        };
        v |= a & spare;
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(format: vk::Format, texels: &mut [u32], width: u32, opaque: bool) -> Picture {
        let height = texels.len() as u32 / width;
        let surface = Surface {
            base: texels.as_mut_ptr().cast(),
            format: texel::format::info(format).unwrap(),
            extent: [width, height, 1],
            blocks: [width, height, 1],
            samples: 1,
            layers: 1,
            row_pitch: width as u64 * 4,
            slice_pitch: 0,
            sample_pitch: 0,
            split: texel::image::Split::NONE,
            layer_pitch: 0,
        };
        Picture { surface, format, width, height, opaque }
    }

    const RGB24: PixelLayout =
        PixelLayout { bytes: 4, masks: [0xFF_0000, 0xFF00, 0xFF], depth: 24, big_endian: false };

    #[test]
    fn every_format_becomes_the_same_pixel() {
        // One colour: red 0xC0, green 0x40, blue 0xFF, alpha 0x80 (of two bits: 2).
        let ten = |v: u32| v << 2 | v >> 6;
        let texels = [
            0x80C0_40FFu32,
            0x80C0_40FF,
            0x80FF_40C0,
            0x80FF_40C0,
            2 << 30 | ten(0xFF) << 20 | ten(0x40) << 10 | ten(0xC0),
            2 << 30 | ten(0xC0) << 20 | ten(0x40) << 10 | ten(0xFF),
        ];
        for (format, texel) in FORMATS.into_iter().zip(texels) {
            let mut image = [texel, 0, texel, 0];
            let p = picture(format, &mut image, 2, true);
            let mut out = [0xEEu8; 24];
            p.convert(0..2, &RGB24, &mut out, 12);
            assert_eq!(out[..3], [0xFF, 0x40, 0xC0], "{format:?}");
            assert_eq!(out[12..15], [0xFF, 0x40, 0xC0], "{format:?}");
            assert_eq!(out[4..7], [0, 0, 0]);
            assert_eq!(out[8..12], [0xEE; 4], "padding is left alone");

            let argb = PixelLayout { depth: 32, ..RGB24 };
            p.convert(1..2, &argb, &mut out, 12);
            assert_eq!(out[..4], [0xFF, 0x40, 0xC0, 0xFF], "{format:?}");
            let p = Picture { opaque: false, ..p };
            p.convert(1..2, &argb, &mut out, 12);
            let alpha = if format == vk::Format::A2B10G10R10_UNORM_PACK32
                || format == vk::Format::A2R10G10B10_UNORM_PACK32
            {
                0xAA
            } else {
                0x80
            };
            assert_eq!(out[..4], [0xFF, 0x40, 0xC0, alpha], "{format:?}");

            let deep = PixelLayout { masks: [0x3FF << 20, 0x3FF << 10, 0x3FF], depth: 30, ..RGB24 };
            p.convert(1..2, &deep, &mut out, 12);
            let v = u32::from_le_bytes(out[..4].try_into().unwrap());
            assert_eq!(v, ten(0xC0) << 20 | ten(0x40) << 10 | ten(0xFF), "{format:?}");
        }
    }

    #[test]
    fn narrow_and_big_endian_pixels() {
        let mut image = [0x00C0_40FFu32];
        let p = picture(vk::Format::B8G8R8A8_UNORM, &mut image, 1, true);
        let mut out = [0u8; 4];
        let rgb565 = PixelLayout { bytes: 2, masks: [0xF800, 0x7E0, 0x1F], depth: 16, big_endian: false };
        p.convert(0..1, &rgb565, &mut out, 4);
        assert_eq!(u16::from_le_bytes([out[0], out[1]]), 24 << 11 | 16 << 5 | 31);
        p.convert(0..1, &PixelLayout { big_endian: true, ..rgb565 }, &mut out, 4);
        assert_eq!(u16::from_be_bytes([out[0], out[1]]), 24 << 11 | 16 << 5 | 31);
        p.convert(0..1, &PixelLayout { big_endian: true, ..RGB24 }, &mut out, 4);
        assert_eq!(out, [0, 0xC0, 0x40, 0xFF]);
        p.convert(0..1, &PixelLayout { bytes: 3, ..RGB24 }, &mut out, 3);
        assert_eq!(out[..3], [0xFF, 0x40, 0xC0]);
    }
}
