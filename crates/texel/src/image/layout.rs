//! Where the texels of an image lie in its memory.
//!
//! Planes (colour; depth; stencil; those of Y′CbCr formats) follow one another, or (disjoint images) each has memory of its own. In a plane: array layers; in a layer: mip levels; in a level:
//! samples; in a sample: depth slices; in a slice: rows of blocks. Linear and optimal tiling share this order; rows are
//! padded to 64 bytes, so that a row never shares a cache line with another. Images that are bound in parts have
//! [blocks](super::blocks) in place of rows.

use super::blocks::{self, Parts, Split};
use crate::format::{FormatInfo, MEMORY_PLANES, PLANE_ASPECTS, planar, plane_index};
use crate::memory::sparse::BLOCK;
use ash::vk;

/// Row alignment in bytes.
pub const ROW_ALIGN: u64 = 64;
/// Alignment of an image in memory and of its planes and layers.
pub const IMAGE_ALIGN: u64 = 256;
/// Bytes after the last row, so that vector loads of whole words need no check.
const TAIL: u64 = 64;
/// Larger images are refused.
const MAX_SIZE: u64 = 1 << 38;

/// One mip level of a plane; pitches in bytes, offset from the start of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mip {
    pub offset: u64,
    /// Texels.
    pub extent: [u32; 3],
    /// Blocks.
    pub blocks: [u32; 3],
    pub row_pitch: u64,
    pub slice_pitch: u64,
    pub sample_pitch: u64,
    pub split: Split,
}

/// The storage of one aspect.
#[derive(Clone, Debug)]
pub struct Plane {
    pub aspect: vk::ImageAspectFlags,
    /// Format the aspect is stored as (D24S8's depth plane is X8_D24, its stencil plane S8).
    pub format: &'static FormatInfo,
    /// Bytes from the start of the image, or of the plane's own memory.
    pub offset: u64,
    pub layer_pitch: u64,
    pub mips: Vec<Mip>,
    /// Of an image that is bound in parts.
    pub parts: Option<Parts>,
}

/// The whole image.
#[derive(Clone, Debug)]
pub struct Layout {
    pub planes: Vec<Plane>,
    /// Bytes, a multiple of [`IMAGE_ALIGN`]; of a disjoint image those of all planes.
    pub size: u64,
    /// Bytes that each plane of a disjoint image needs, by plane.
    pub apart: Option<Vec<u64>>,
}

/// The aspects that are stored one after the other.
pub(super) fn aspects(format: &FormatInfo) -> impl Iterator<Item = vk::ImageAspectFlags> + use<> {
    let [p0, p1, p2] = PLANE_ASPECTS;
    let all = format.aspects();
    [vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL, p0, p1, p2]
        .into_iter()
        .filter(move |&a| all.contains(a))
}

/// Size of mip level `mip` along one axis.
pub fn mip_size(size: u32, mip: u32) -> u32 {
    size.checked_shr(mip).unwrap_or(0).max(1)
}

impl Layout {
    /// `None` if the image is larger than this GPU can hold.
    pub fn new(
        format: &'static FormatInfo,
        extent: [u32; 3],
        mips: u32,
        layers: u32,
        samples: u32,
        disjoint: bool,
    ) -> Option<Layout> {
        Self::lay(format, extent, mips, layers, samples, disjoint, None)
    }

    /// That of an image that is bound in parts. `None` as [`Layout::new`], and for a format without sparse image blocks.
    pub fn in_parts(
        format: &'static FormatInfo,
        extent: [u32; 3],
        mips: u32,
        layers: u32,
        samples: u32,
        ty: vk::ImageType,
    ) -> Option<Layout> {
        Self::lay(format, extent, mips, layers, samples, false, Some(ty))
    }

    fn lay(
        format: &'static FormatInfo,
        extent: [u32; 3],
        mips: u32,
        layers: u32,
        samples: u32,
        disjoint: bool,
        in_parts: Option<vk::ImageType>,
    ) -> Option<Layout> {
        let up = |v: u64, a: u64| v.checked_next_multiple_of(a);
        let mut planes = Vec::new();
        let (mut at, mut apart, mut all) = (0u64, Vec::new(), 0u64);
        let planar = planar(format.format);
        for aspect in aspects(format) {
            let stored = format.aspect_format(aspect);
            let shift = match (planar, plane_index(aspect)) {
                (Some(p), Some(i)) => p.shift_of(i),
                _ => [0; 2],
            };
            let extent = [(extent[0] >> shift[0]).max(1), (extent[1] >> shift[1]).max(1), extent[2]];
            if let Some(ty) = in_parts {
                let (mips, layer_pitch, parts) = blocks::layer(stored, ty, extent, mips, samples)?;
                planes.push(Plane {
                    aspect,
                    format: stored,
                    offset: at,
                    layer_pitch,
                    mips,
                    parts: Some(parts),
                });
                at = at.checked_add(layer_pitch.checked_mul(layers as u64)?)?;
                continue;
            }
            let mut layer = 0u64;
            let mut levels = Vec::with_capacity(mips as usize);
            for m in 0..mips {
                let extent = extent.map(|e| mip_size(e, m));
                let blocks = [0, 1, 2].map(|a| stored.blocks(extent[a], a));
                let row_pitch = up(blocks[0] as u64 * stored.block_bytes as u64, ROW_ALIGN)?;
                let slice_pitch = row_pitch.checked_mul(blocks[1] as u64)?;
                let sample_pitch = slice_pitch.checked_mul(blocks[2] as u64)?;
                let split = Split::NONE;
                levels.push(Mip {
                    offset: layer,
                    extent,
                    blocks,
                    row_pitch,
                    slice_pitch,
                    sample_pitch,
                    split,
                });
                layer = layer.checked_add(sample_pitch.checked_mul(samples as u64)?)?;
            }
            let layer_pitch = up(layer, IMAGE_ALIGN)?;
            planes.push(Plane { aspect, format: stored, offset: at, layer_pitch, mips: levels, parts: None });
            at = at.checked_add(layer_pitch.checked_mul(layers as u64)?)?;
            if disjoint {
                let own = up(at.checked_add(TAIL)?, IMAGE_ALIGN)?;
                (apart, all, at) = ([apart, vec![own]].concat(), all.checked_add(own)?, 0);
            }
        }
        let size = match in_parts {
            Some(_) => up(at, BLOCK)?,
            None if disjoint => all,
            None => up(at.checked_add(TAIL)?, IMAGE_ALIGN)?,
        };
        (size <= MAX_SIZE).then_some(Layout { planes, size, apart: disjoint.then_some(apart) })
    }

    /// Aspect by aspect, what it is bound in; none for an image that is not bound in parts.
    pub fn parts(&self) -> impl Iterator<Item = (&Plane, &Parts)> {
        self.planes.iter().filter_map(|p| Some((p, p.parts.as_ref()?)))
    }

    /// The plane of `aspect` (the first one asked for, if several are).
    pub fn plane(&self, aspect: vk::ImageAspectFlags) -> Option<&Plane> {
        // A linear image's memory planes are its format's (VK_EXT_image_drm_format_modifier).
        if let Some(at) = MEMORY_PLANES.iter().position(|&p| p == aspect) {
            return self.planes.get(at);
        }
        self.planes.iter().find(|p| aspect.contains(p.aspect))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::info;

    #[test]
    fn mip_chain_of_compressed_layers() {
        let l = Layout::new(info(vk::Format::BC1_RGBA_UNORM_BLOCK).unwrap(), [20, 12, 1], 5, 2, 1, false)
            .unwrap();
        let p = &l.planes[0];
        // 20×12, 10×6, 5×3, 2×1, 1×1 texels: 5×3, 3×2, 2×1, 1×1, 1×1 blocks of 8 bytes; rows padded to 64.
        assert_eq!(
            p.mips.iter().map(|m| m.blocks[0] * 10 + m.blocks[1]).collect::<Vec<_>>(),
            [53, 32, 21, 11, 11]
        );
        assert_eq!(p.mips.iter().map(|m| m.offset).collect::<Vec<_>>(), [0, 192, 320, 384, 448]);
        assert_eq!(p.layer_pitch, 512);
        assert_eq!(l.size, 1024 + 256);
    }

    #[test]
    fn depth_and_stencil_are_planes() {
        let l =
            Layout::new(info(vk::Format::D24_UNORM_S8_UINT).unwrap(), [17, 2, 1], 1, 1, 4, false).unwrap();
        let (d, s) = (&l.planes[0], &l.planes[1]);
        assert_eq!((d.mips[0].row_pitch, d.mips[0].sample_pitch, d.layer_pitch), (128, 256, 1024));
        assert_eq!((s.offset, s.mips[0].row_pitch, s.format.format), (1024, 64, vk::Format::S8_UINT));
        assert!(
            Layout::new(info(vk::Format::R8_UNORM).unwrap(), [1 << 30, 1 << 30, 1], 1, 1, 1, false).is_none()
        );
    }

    #[test]
    fn planes_of_two_by_two() {
        let f = info(vk::Format::G8_B8R8_2PLANE_420_UNORM).unwrap();
        let l = Layout::new(f, [66, 6, 1], 1, 3, 1, false).unwrap();
        // 66 × 6 bytes in rows of 128, 33 × 3 texels of two bytes in rows of 128.
        assert_eq!((l.planes[0].layer_pitch, l.planes[1].offset), (768, 768 * 3));
        assert_eq!((l.planes[1].mips[0].extent, l.planes[1].layer_pitch), ([33, 3, 1], 512));
        assert_eq!(l.size, 768 * 3 + 512 * 3 + 256);
        let apart = Layout::new(f, [66, 6, 1], 1, 3, 1, true).unwrap();
        assert_eq!(apart.apart, Some(vec![768 * 3 + 256, 512 * 3 + 256]));
        assert_eq!((apart.planes[1].offset, apart.size), (0, 1280 * 3 + 512));
    }
}
