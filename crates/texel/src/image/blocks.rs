//! Images that are bound in parts: their levels lie in sparse image blocks of 64 KiB, and what is smaller than a block in its mip tail.
//!
//! Source: Vulkan specification, § Standard Sparse Image Block Shapes, § Mip Tail Regions.

use super::layout::{Mip, ROW_ALIGN, mip_size};
use crate::format::FormatInfo;
use crate::memory::sparse::BLOCK;
use ash::vk;

/// How far columns and rows of sparse image blocks lie apart, beyond what the pitches of a level say.
///
/// In a block texels lie as in a small image: rows, then slices, then samples. Blocks follow one another along z, then y, then x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Of a block's width and height, in blocks of the format.
    shift: [u8; 2],
    extra: [u64; 2],
}

impl Split {
    /// A level that is not split.
    pub const NONE: Split = Split { shift: [31; 2], extra: [0; 2] };

    #[inline(always)]
    pub fn is_none(&self) -> bool {
        self.shift[0] == 31
    }
    /// Bytes along an axis (0: x, 1: y) beyond its pitch.
    #[inline(always)]
    pub fn along(&self, axis: usize, at: u32) -> u64 {
        ((at >> self.shift[axis]) as u64).wrapping_mul(self.extra[axis])
    }
    /// Both together.
    #[inline(always)]
    pub fn offset(&self, x: u32, y: u32) -> u64 {
        self.along(0, x).wrapping_add(self.along(1, y))
    }
    /// How many of `n` from `at` on lie side by side along an axis.
    #[inline(always)]
    pub fn run(&self, axis: usize, at: u32, n: u32) -> u32 {
        let side = 1u32 << self.shift[axis];
        n.min(side - (at & (side - 1)))
    }
    /// log2 of a block's side along an axis, in blocks of the format.
    pub fn shift(&self, axis: usize) -> u32 {
        self.shift[axis] as u32
    }
    /// What [`Self::along`] adds for each block.
    pub fn extra(&self, axis: usize) -> u64 {
        self.extra[axis]
    }
    /// All of these that may be added to an address.
    #[inline(always)]
    pub fn bits(&self) -> u64 {
        self.extra[0] | self.extra[1]
    }
}

/// Blocks of a format's along x, y and z of a sparse image block (for block-compressed formats those are what the shapes count).
/// `None` for formats whose texels have no standard shape.
pub fn shape(format: &FormatInfo, ty: vk::ImageType, samples: u32) -> Option<[u32; 3]> {
    if !format.block_bytes.is_power_of_two() || format.block_bytes > 16 || format.paired() {
        return None;
    }
    let bytes = format.block_bytes.trailing_zeros();
    let samples = samples.trailing_zeros();
    // Exponents of the sides. A step in size halves one side in turn.
    let log = match ty {
        // 256 × 256, 256 × 128, 128 × 128, …; samples halve the width, then the height, in turn.
        vk::ImageType::TYPE_2D if samples <= 4 => {
            [8 - bytes / 2 - samples.div_ceil(2), 8 - bytes.div_ceil(2) - samples / 2, 0]
        }
        // 64 × 32 × 32, 32 × 32 × 32, 32 × 32 × 16, 32 × 16 × 16, 16 × 16 × 16.
        vk::ImageType::TYPE_3D if samples == 0 => {
            let less = |from: u32| (bytes >= from) as u32;
            [6 - less(1) - less(4), 5 - less(3), 5 - less(2)]
        }
        _ => return None,
    };
    Some(log.map(|l| 1 << l))
}

/// Whether colours have bits that no component has (R10X6 and the like). What is rendered loses those, and the CTS wants every bit of a sparse
/// image back.
fn padded(format: &FormatInfo) -> bool {
    let bits: u32 = format.components().iter().map(|c| c.bits as u32).sum();
    format.aspects() == vk::ImageAspectFlags::COLOR && !format.compressed() && bits < 8 * format.block_bytes
}

/// Aspect by aspect, the format and the sparse image block of what such images are bound in; nothing, if one of them has none.
pub fn shapes(
    format: &'static FormatInfo,
    ty: vk::ImageType,
    samples: u32,
) -> Vec<(vk::ImageAspectFlags, &'static FormatInfo, [u32; 3])> {
    if padded(format) {
        return vec![];
    }
    let of = |aspect| {
        let stored = format.aspect_format(aspect);
        Some((aspect, stored, shape(stored, ty, samples)?))
    };
    super::layout::aspects(format).map(of).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// Of a plane whose levels can be bound in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Blocks of the format along the sides of a sparse image block ([`shape`]).
    pub shape: [u32; 3],
    /// The first level of the mip tail; the number of levels, if there is none.
    pub tail_level: u32,
    /// Where the tail begins in a layer, and its bytes, a multiple of [`BLOCK`].
    pub tail: u64,
    pub tail_bytes: u64,
}

impl Parts {
    /// Sparse image blocks along x, y and z of a level.
    pub fn count(&self, m: &Mip) -> [u32; 3] {
        std::array::from_fn(|k| m.blocks[k].div_ceil(self.shape[k]))
    }
    /// Where a sparse image block lies in its layer; those of one column follow one another along z, then y.
    pub fn place(&self, m: &Mip, at: [u32; 3]) -> u64 {
        let [_, h, d] = self.count(m).map(u64::from);
        let [x, y, z] = at.map(u64::from);
        m.offset + ((x * h + y) * d + z) * BLOCK
    }
}

/// The levels of a layer, and its bytes; `None` if it is too large or the format has no shape.
pub(super) fn layer(
    format: &FormatInfo,
    ty: vk::ImageType,
    extent: [u32; 3],
    mips: u32,
    samples: u32,
) -> Option<(Vec<Mip>, u64, Parts)> {
    let up = |v: u64, a: u64| v.checked_next_multiple_of(a);
    let shape = shape(format, ty, samples)?;
    let mut parts = Parts { shape, tail_level: mips, tail: 0, tail_bytes: 0 };
    let mut levels = Vec::with_capacity(mips as usize);
    let mut at = 0u64;
    for m in 0..mips {
        let extent = extent.map(|e| mip_size(e, m));
        let blocks = [0, 1, 2].map(|a| format.blocks(extent[a], a));
        // "All mip levels smaller than the sparse image block in any dimension", and what comes after one.
        if m < parts.tail_level && (0..3).any(|k| blocks[k] < shape[k]) {
            (parts.tail_level, parts.tail) = (m, at);
        }
        let bytes = format.block_bytes as u64;
        if m >= parts.tail_level {
            let row_pitch = up(blocks[0] as u64 * bytes, ROW_ALIGN)?;
            let slice_pitch = row_pitch.checked_mul(blocks[1] as u64)?;
            let sample_pitch = slice_pitch.checked_mul(blocks[2] as u64)?;
            let split = Split::NONE;
            levels.push(Mip { offset: at, extent, blocks, row_pitch, slice_pitch, sample_pitch, split });
            at = at.checked_add(sample_pitch.checked_mul(samples as u64)?)?;
            continue;
        }
        let [w, h, d] = [0, 1, 2].map(|k: usize| blocks[k].div_ceil(shape[k]) as u64);
        let row_pitch = shape[0] as u64 * bytes;
        let slice_pitch = row_pitch * shape[1] as u64;
        let sample_pitch = slice_pitch * shape[2] as u64;
        let (down, across) = (d.checked_mul(BLOCK)?, d.checked_mul(BLOCK)?.checked_mul(h)?);
        let split = Split {
            shift: [0, 1].map(|k: usize| shape[k].trailing_zeros() as u8),
            extra: [across - row_pitch, down - slice_pitch],
        };
        levels.push(Mip { offset: at, extent, blocks, row_pitch, slice_pitch, sample_pitch, split });
        at = at.checked_add(across.checked_mul(w)?)?;
    }
    let end = up(at, BLOCK)?;
    if parts.tail_level < mips {
        parts.tail_bytes = end - parts.tail;
    } else {
        parts.tail = end;
    }
    Some((levels, end, parts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::info;

    #[test]
    fn standard_shapes() {
        use vk::Format as F;
        let formats = [F::R8_UNORM, F::R16_UINT, F::R8G8B8A8_UNORM, F::R32G32_SFLOAT, F::R32G32B32A32_UINT];
        let of = |ty, samples| formats.map(|f| shape(info(f).unwrap(), ty, samples).unwrap());
        let flat = |s: [[u32; 2]; 5]| s.map(|[w, h]| [w, h, 1]);
        let d2 = vk::ImageType::TYPE_2D;
        assert_eq!(of(d2, 1), flat([[256, 256], [256, 128], [128, 128], [128, 64], [64, 64]]));
        assert_eq!(of(d2, 2), flat([[128, 256], [128, 128], [64, 128], [64, 64], [32, 64]]));
        assert_eq!(of(d2, 4), flat([[128, 128], [128, 64], [64, 64], [64, 32], [32, 32]]));
        assert_eq!(of(d2, 8), flat([[64, 128], [64, 64], [32, 64], [32, 32], [16, 32]]));
        assert_eq!(of(d2, 16), flat([[64, 64], [64, 32], [32, 32], [32, 16], [16, 16]]));
        let solid = [[64, 32, 32], [32, 32, 32], [32, 32, 16], [32, 16, 16], [16, 16, 16]];
        assert_eq!(of(vk::ImageType::TYPE_3D, 1), solid);
        assert_eq!(shape(info(F::R32G32B32_SFLOAT).unwrap(), d2, 1), None);
        assert_eq!(shape(info(F::BC1_RGB_UNORM_BLOCK).unwrap(), d2, 1), Some([128, 64, 1]));
    }

    #[test]
    fn levels_in_blocks_and_their_tail() {
        // 300 × 200: 3 × 2 blocks of 128 × 128; 150 × 100 is lower than a block.
        let f = info(vk::Format::R8G8B8A8_UNORM).unwrap();
        let (levels, bytes, parts) = layer(f, vk::ImageType::TYPE_2D, [300, 200, 1], 9, 1).unwrap();
        assert_eq!((parts.tail_level, parts.tail), (1, 6 * BLOCK));
        // 150 × 100 texels in rows of 640 bytes, 75 × 50 in 320, 37 × 25 in 192, 18 × 12 in 128, 9 × 6 and less in 64.
        let tail = 64000 + 16000 + 4800 + 1536 + 64 * (6 + 3 + 1 + 1);
        assert_eq!((parts.tail_bytes, bytes), (2 * BLOCK, 8 * BLOCK));
        assert!(tail > BLOCK as usize && levels[8].offset == 6 * BLOCK + tail as u64 - 64);
        let l = levels[0];
        let at = |x: u32, y: u32| x as u64 * 4 + y as u64 * l.row_pitch + l.split.offset(x, y);
        assert_eq!([at(127, 0), at(128, 0), at(0, 1), at(0, 128)], [508, 2 * BLOCK, 512, BLOCK]);
        assert_eq!(parts.place(&l, [2, 1, 0]), 5 * BLOCK);
        assert_eq!((l.split.run(0, 100, 90), l.split.run(0, 256, 44), Split::NONE.run(0, 7, 9)), (28, 44, 9));
    }

    #[test]
    fn blocks_of_slices_and_of_samples() {
        let f = info(vk::Format::R8G8B8A8_UNORM).unwrap();
        // 64 × 40 × 20 in blocks of 32 × 32 × 16: 2 × 2 × 2, along z first.
        let (levels, bytes, parts) = layer(f, vk::ImageType::TYPE_3D, [64, 40, 20], 1, 1).unwrap();
        let l = levels[0];
        let at = |x: u32, y: u32, z: u32| {
            x as u64 * 4 + y as u64 * l.row_pitch + z as u64 * l.slice_pitch + l.split.offset(x, y)
        };
        assert_eq!(
            (bytes, at(0, 0, 16), at(0, 32, 0), at(32, 0, 0)),
            (8 * BLOCK, BLOCK, 2 * BLOCK, 4 * BLOCK)
        );
        assert_eq!(at(33, 33, 17), 7 * BLOCK + 4 + 128 + 32 * 128);
        assert_eq!(parts.place(&l, [1, 1, 1]), 7 * BLOCK);
        // Four samples: 64 × 64 texels, whose samples lie 16 KiB apart.
        let (levels, bytes, _) = layer(f, vk::ImageType::TYPE_2D, [100, 64, 1], 1, 4).unwrap();
        assert_eq!(
            (bytes, levels[0].sample_pitch, levels[0].split.offset(64, 63)),
            (2 * BLOCK, BLOCK / 4, BLOCK - 256)
        );
    }
}
