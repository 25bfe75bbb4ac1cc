//! Images: description, layout, and the memory they are bound to.

mod blank;
pub mod blocks;
pub mod discarded;
pub mod layout;
mod packed;
mod undefined;

pub use blank::Blank;
pub use blocks::{Parts, Split};
use discarded::Discarded;
pub use layout::{IMAGE_ALIGN, Layout, Mip, Plane, mip_size};
pub use packed::{Packed, allowed as may_be_packed};

use crate::format::{self, FormatInfo, plane_index};
use crate::memory::sparse::{self, BLOCK};
use crate::memory::{AddressSpace, Bound, DeviceMemory};
use ash::vk;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

/// VK_IMAGE_USAGE_TENSOR_ALIASING_BIT_ARM.
pub const TENSOR_ALIASING: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(1 << 23);

/// A Vulkan image.
pub struct Image {
    pub format: &'static FormatInfo,
    pub image_type: vk::ImageType,
    /// Texels of level 0.
    pub extent: [u32; 3],
    pub mips: u32,
    pub layers: u32,
    pub samples: u32,
    pub tiling: vk::ImageTiling,
    pub flags: vk::ImageCreateFlags,
    pub usage: vk::ImageUsageFlags,
    pub layout: Layout,
    /// Memory of the image; of a disjoint one that of its first plane.
    bound: OnceLock<Bound>,
    /// Memory of the other planes of a disjoint image.
    others: [OnceLock<Bound>; 2],
    /// What is known of its tiles, by plane ([`Image::watch`]).
    blank: Vec<Blank>,
    /// Nobody but the device has its memory.
    alone: bool,
    /// Of one that the modelled GPU may keep compressed.
    pub packed: Option<Packed>,
    /// What render passes did not store.
    pub discarded: Discarded,
    /// The application's handle, by which messages name it; 0: none yet.
    pub handle: AtomicU64,
    /// It is shown on a screen.
    pub presented: bool,
    /// Its number among the images of a capture; none yet without one.
    pub number: OnceLock<u32>,
}

/// One mip level of one aspect of an image, ready for addressing. Coordinates are in blocks; nothing outside
/// `blocks`, `samples` and `layers` may be addressed.
#[derive(Clone, Copy, Debug)]
pub struct Surface {
    /// First byte of layer 0.
    pub base: *mut u8,
    pub format: &'static FormatInfo,
    /// Texels.
    pub extent: [u32; 3],
    /// Blocks.
    pub blocks: [u32; 3],
    pub samples: u32,
    pub layers: u32,
    pub row_pitch: u64,
    pub slice_pitch: u64,
    pub sample_pitch: u64,
    pub layer_pitch: u64,
    pub split: Split,
}

// SAFETY: the pointer is only an address into memory that all threads of the device share; Vulkan puts the ordering of
// accesses on the application. Whoever makes a surface keeps the image.
unsafe impl Send for Surface {}
unsafe impl Sync for Surface {}

impl Surface {
    /// Address of a block.
    ///
    /// # Safety
    /// The block, sample and layer must exist.
    #[inline(always)]
    pub unsafe fn block(&self, x: u32, y: u32, z: u32, sample: u32, layer: u32) -> *mut u8 {
        debug_assert!(
            x < self.blocks[0] && y < self.blocks[1] && z < self.blocks[2],
            "{x} {y} {z} of {self:?}"
        );
        debug_assert!(sample < self.samples && layer < self.layers, "{sample} {layer} of {self:?}");
        let mut at = x as u64 * self.format.block_bytes as u64
            + y as u64 * self.row_pitch
            + z as u64 * self.slice_pitch
            + sample as u64 * self.sample_pitch
            + layer as u64 * self.layer_pitch;
        if !self.split.is_none() {
            at += self.split.offset(x, y);
        }
        // SAFETY: the caller knows that the block exists.
        unsafe { self.base.add(at as usize) }
    }

    /// Calls `each(address, first block, blocks)` for the stretches of `n` blocks of a row that lie side by side: for all of them at once, if the
    /// level is not split.
    ///
    /// # Safety
    /// The blocks, sample and layer must exist.
    #[inline]
    pub unsafe fn stretches(
        &self,
        [x, y, z]: [u32; 3],
        sample: u32,
        layer: u32,
        n: u32,
        mut each: impl FnMut(*mut u8, u32, u32),
    ) {
        let mut i = 0;
        while i < n {
            let run = self.split.run(0, x + i, n - i);
            // SAFETY: the caller's blocks.
            each(unsafe { self.block(x + i, y, z, sample, layer) }, i, run);
            i += run;
        }
    }

    /// Address of a block, `None` outside the surface.
    #[inline]
    pub fn try_block(&self, x: u32, y: u32, z: u32, sample: u32, layer: u32) -> Option<*mut u8> {
        let inside = x < self.blocks[0]
            && y < self.blocks[1]
            && z < self.blocks[2]
            && sample < self.samples
            && layer < self.layers;
        // SAFETY: just checked.
        inside.then(|| unsafe { self.block(x, y, z, sample, layer) })
    }

    /// The same memory seen as another format. A format of one-texel blocks over a compressed image sees blocks as
    /// texels (`BLOCK_TEXEL_VIEW_COMPATIBLE`). `None` if the block sizes differ.
    pub fn with_format(mut self, format: &'static FormatInfo) -> Option<Surface> {
        if self.format.paired() {
            // Pairs are seen by halves, each of which has one texel's luma.
            let halves = format::packed422(self.format.format).is_some_and(|p| p.half == format.format);
            self.blocks = self.extent;
            self.format = format;
            return halves.then_some(self);
        }
        if format.block_bytes != self.format.block_bytes {
            return None;
        }
        if self.format.compressed() && !format.compressed() {
            self.extent = self.blocks;
        } else if format.block_extent != self.format.block_extent {
            return None;
        }
        self.format = format;
        Some(self)
    }
}

impl Image {
    /// Makes an image without memory.
    ///
    /// # Errors
    /// `ERROR_FORMAT_NOT_SUPPORTED` for a format without images, `ERROR_OUT_OF_DEVICE_MEMORY` for one too large or (sparse) without addresses,
    /// `ERROR_VALIDATION_FAILED_EXT` for an extent that is empty or splits what the format keeps together, for a Y′CbCr format of more than
    /// one level, sample or flat image, for a disjoint image of one plane, no levels, more levels than the extent has, or no layers.
    pub fn new(space: &Arc<AddressSpace>, info: &vk::ImageCreateInfo) -> Result<Image, vk::Result> {
        let format =
            format::info(info.format).filter(|f| f.image()).ok_or(vk::Result::ERROR_FORMAT_NOT_SUPPORTED)?;
        let extent = [info.extent.width, info.extent.height, info.extent.depth];
        let samples = info.samples.as_raw();
        let levels = 32 - extent.iter().fold(0, |a, b| a | b).leading_zeros();
        let flat = match info.image_type {
            vk::ImageType::TYPE_1D => extent[1] == 1 && extent[2] == 1,
            vk::ImageType::TYPE_2D => extent[2] == 1,
            vk::ImageType::TYPE_3D => info.array_layers == 1,
            _ => false,
        };
        let sane = flat
            && extent.iter().all(|&e| e > 0)
            && (1..=levels).contains(&info.mip_levels)
            && info.array_layers > 0
            && samples.is_power_of_two();
        // "Valid Usage for VkImageCreateInfo", 06410 to 06412, 04712, 04713, 01577.
        let whole = format.extent_multiple();
        let planes = format::planar(info.format).is_some();
        let disjoint = info.flags.contains(vk::ImageCreateFlags::DISJOINT) && planes;
        // An alias of one plane may say that it is one of a disjoint image.
        let apart = vk::ImageCreateFlags::DISJOINT | vk::ImageCreateFlags::ALIAS;
        let names_planes = planes || info.flags & apart != vk::ImageCreateFlags::DISJOINT;
        let sane = sane
            && (!format.requires_conversion()
                || info.mip_levels == 1 && samples == 1 && info.image_type == vk::ImageType::TYPE_2D)
            && extent[0].is_multiple_of(whole[0])
            && extent[1].is_multiple_of(whole[1])
            && names_planes;
        if !sane {
            return Err(vk::Result::ERROR_VALIDATION_FAILED_EXT);
        }
        let (mips, layers) = (info.mip_levels, info.array_layers);
        let in_parts = info.flags.contains(vk::ImageCreateFlags::SPARSE_RESIDENCY);
        let layout = match in_parts {
            true if disjoint || blocks::shapes(format, info.image_type, samples).is_empty() => {
                return Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
            }
            true => Layout::in_parts(format, extent, mips, layers, samples, info.image_type),
            false => Layout::new(format, extent, mips, layers, samples, disjoint),
        };
        let mut layout = layout.ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)?;
        let bound = OnceLock::new();
        let is_sparse = info.flags.contains(vk::ImageCreateFlags::SPARSE_BINDING);
        if is_sparse {
            layout.size = layout.size.next_multiple_of(BLOCK);
            let _ =
                bound.set(Bound { memory: DeviceMemory::sparse(space, layout.size, in_parts)?, offset: 0 });
        }
        let discarded = Discarded::default();
        // Other resources' commands, or the host, may write its memory.
        if is_sparse
            || info.tiling != vk::ImageTiling::OPTIMAL
            || info.flags.contains(vk::ImageCreateFlags::ALIAS)
            || info.usage.contains(TENSOR_ALIASING)
        {
            discarded.end();
        }
        Ok(Image {
            format,
            image_type: info.image_type,
            extent,
            mips: info.mip_levels,
            layers: info.array_layers,
            samples,
            tiling: info.tiling,
            flags: info.flags,
            usage: info.usage,
            layout,
            bound,
            others: Default::default(),
            blank: vec![],
            alone: false,
            packed: (!is_sparse && packed::allowed(info, format)).then(Packed::default),
            discarded,
            handle: AtomicU64::new(0),
            presented: false,
            number: OnceLock::new(),
        })
    }

    /// Remembers which tiles of `side` pixels hold one texel, if nothing but render passes and transfers writes the image: its
    /// usage says so. `alone`: nobody else has its memory; if not, that tells ([`DeviceMemory::is_shared`]).
    pub fn watch(&mut self, side: u32, alone: bool) {
        use vk::ImageUsageFlags as Usage;
        let passes = Usage::COLOR_ATTACHMENT | Usage::DEPTH_STENCIL_ATTACHMENT | Usage::INPUT_ATTACHMENT;
        let feedback = Usage::ATTACHMENT_FEEDBACK_LOOP_EXT;
        let known = passes | feedback | Usage::SAMPLED | Usage::TRANSFER_SRC | Usage::TRANSFER_DST;
        let one = self.mips == 1 && self.layers == 1 && self.samples == 1 && self.extent[2] == 1;
        // What a tile was cleared to is told by four bytes.
        let depth = self.format.is_depth_stencil();
        let small = depth || self.format.block_bytes == 4 && self.layout.planes.len() == 1;
        let drawn = self.usage.intersects(passes) && known.contains(self.usage);
        if one && small && drawn && self.sparse().is_none() && !self.disjoint() {
            self.blank = (0..1 + depth as usize).map(|_| Blank::new(self.extent, side)).collect();
            self.alone = alone;
        }
    }

    /// What is known of the tiles of a plane: 1 is stencil's.
    pub fn blank(&self, plane: usize) -> Option<&Blank> {
        let alone = self.alone || self.bound.get().is_some_and(|b| !b.memory.is_shared());
        self.blank.get(plane).filter(|_| alone)
    }

    /// A transfer writes it.
    pub fn written(&self) {
        self.blank.iter().for_each(Blank::forget);
        self.discarded.forget();
    }

    /// The application has destroyed it.
    pub fn released(&self) {
        if let Some(b) = self.bound.get().filter(|_| !self.disjoint()) {
            b.memory.released();
        }
    }

    /// Another image has been bound to its memory.
    pub fn share(&self) {
        self.blank.iter().for_each(Blank::give_up);
        self.discarded.end();
    }

    /// Whether each plane has memory of its own.
    pub fn disjoint(&self) -> bool {
        self.layout.apart.is_some()
    }

    /// Bytes of memory that plane `index` of a disjoint image needs.
    pub fn plane_size(&self, index: usize) -> Option<u64> {
        self.layout.apart.as_ref()?.get(index).copied()
    }

    /// Binds memory to a plane of a disjoint image. Refused (false) as [`Image::bind`] refuses, and for a plane that there is not.
    pub fn bind_plane(&self, index: usize, bound: Bound) -> bool {
        let room = bound.memory.size().saturating_sub(bound.offset);
        // Who writes an image of planes is not looked at.
        bound.memory.share();
        self.plane_size(index).is_some_and(|n| n <= room) && self.plane_bound(index).set(bound).is_ok()
    }

    fn plane_bound(&self, index: usize) -> &OnceLock<Bound> {
        if index == 0 || !self.disjoint() { &self.bound } else { &self.others[(index - 1).min(1)] }
    }

    /// The memory of which a plane of the layout is, once bound.
    pub fn base_of(&self, aspect: vk::ImageAspectFlags) -> Option<*mut u8> {
        self.plane_bound(plane_index(aspect).unwrap_or(0)).get().map(Bound::ptr)
    }

    /// Where the memory of an image, or of the first plane of a disjoint one, begins, and its bytes; once bound.
    pub fn span(&self) -> Option<(*mut u8, u64)> {
        Some((self.base()?, self.plane_size(0).unwrap_or(self.size())))
    }

    /// Bytes of memory the image needs.
    pub fn size(&self) -> u64 {
        self.layout.size
    }

    /// Alignment its memory needs, and of a sparse image the bytes that are bound together.
    pub fn alignment(&self) -> u64 {
        if self.sparse().is_some() { BLOCK } else { IMAGE_ALIGN }
    }

    /// The addresses of a sparse image.
    pub fn sparse(&self) -> Option<&Arc<DeviceMemory>> {
        self.bound.get().map(|b| &b.memory).filter(|m| m.is_sparse())
    }

    /// Whether parts of it may have no memory while it is used.
    pub fn may_have_holes(&self) -> bool {
        self.base().is_some_and(|p| sparse::may_have_holes(p))
    }

    /// Binds memory. Refused (false) if what follows the offset is too small, or the image already bound.
    pub fn bind(&self, bound: Bound) -> bool {
        let room = bound.memory.size().saturating_sub(bound.offset);
        let done = !self.disjoint() && room >= self.layout.size && self.bound.set(bound).is_ok();
        if let Some(b) = self.bound.get().filter(|_| done) {
            b.memory.used();
        }
        done
    }

    pub fn bound(&self) -> Option<&Bound> {
        self.bound.get()
    }

    /// First byte, once bound.
    pub fn base(&self) -> Option<*mut u8> {
        self.bound.get().map(Bound::ptr)
    }

    /// Extent of a mip level in texels.
    pub fn mip_extent(&self, mip: u32) -> [u32; 3] {
        self.extent.map(|e| mip_size(e, mip))
    }

    /// A level of an aspect, all layers; `None` when unbound, or without such a level or aspect.
    pub fn surface(&self, aspect: vk::ImageAspectFlags, mip: u32) -> Option<Surface> {
        let plane = self.layout.plane(aspect)?;
        let base = self.base_of(plane.aspect)?;
        let m = plane.mips.get(mip as usize)?;
        Some(Surface {
            // SAFETY: inside the layout, which `bind` has checked against the memory.
            base: unsafe { base.add((plane.offset + m.offset) as usize) },
            format: plane.format,
            extent: m.extent,
            blocks: m.blocks,
            samples: self.samples,
            layers: self.layers,
            row_pitch: m.row_pitch,
            slice_pitch: m.slice_pitch,
            sample_pitch: m.sample_pitch,
            layer_pitch: plane.layer_pitch,
            split: m.split,
        })
    }

    /// `vkGetImageSubresourceLayout`; all zero for a subresource that does not exist.
    pub fn subresource_layout(&self, sub: &vk::ImageSubresource) -> vk::SubresourceLayout {
        let mut out = vk::SubresourceLayout::default();
        let Some(plane) = self.layout.plane(sub.aspect_mask) else { return out };
        let Some(m) = plane.mips.get(sub.mip_level as usize) else { return out };
        if sub.array_layer >= self.layers {
            return out;
        }
        out.offset = plane.offset + m.offset + plane.layer_pitch * sub.array_layer as u64;
        out.size = m.sample_pitch * self.samples as u64;
        out.row_pitch = m.row_pitch;
        out.array_pitch = plane.layer_pitch;
        out.depth_pitch = m.slice_pitch;
        out
    }

    /// Levels and layers of `range` with `REMAINING_*` resolved and cut to what exists.
    pub fn resolve_range(
        &self,
        range: &vk::ImageSubresourceRange,
    ) -> (std::ops::Range<u32>, std::ops::Range<u32>) {
        let cut = |base: u32, count: u32, all: u32| {
            let base = base.min(all);
            base..base.saturating_add(count).min(all)
        };
        let levels = cut(range.base_mip_level, range.level_count, self.mips);
        (levels, cut(range.base_array_layer, range.layer_count, self.layers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{info_2d, space};
    use crate::memory::DeviceMemory;

    #[test]
    fn refuses_nonsense() {
        let ok = info_2d(vk::Format::R8G8B8A8_UNORM, 8, 4);
        assert_eq!(
            Image::new(space(), &ok.format(vk::Format::R8G8B8_UNORM)).err(),
            Some(vk::Result::ERROR_FORMAT_NOT_SUPPORTED)
        );
        assert_eq!(
            Image::new(space(), &ok.mip_levels(5)).err(),
            Some(vk::Result::ERROR_VALIDATION_FAILED_EXT)
        );
        assert!(Image::new(space(), &ok.mip_levels(4)).is_ok());
        assert!(Image::new(space(), &info_2d(vk::Format::R8_UNORM, 0, 4)).is_err());
        let image = Image::new(space(), &ok).unwrap();
        let memory = DeviceMemory::allocate(space(), image.size() + 255, 0, false).unwrap();
        assert!(!image.bind(Bound { memory: memory.clone(), offset: 256 }));
        assert!(image.base().is_none() && image.surface(vk::ImageAspectFlags::COLOR, 0).is_none());
    }

    // (Memory that others share.)
    #[cfg(unix)]
    #[test]
    fn tiles_are_known_while_nobody_else_has_the_memory() {
        use vk::ImageUsageFlags as Usage;
        let info = |usage| info_2d(vk::Format::R8G8B8A8_UNORM, 64, 64).usage(usage);
        let watched = |info: &vk::ImageCreateInfo| {
            let mut image = Image::new(space(), info).unwrap();
            image.watch(64, false);
            image
        };
        let of = |memory: &Arc<DeviceMemory>| {
            let image = watched(&info(Usage::COLOR_ATTACHMENT | Usage::TRANSFER_DST));
            assert!(image.bind(Bound { memory: memory.clone(), offset: 0 }));
            image
        };
        let memory = |exportable| DeviceMemory::allocate(space(), 1 << 18, 0, exportable).unwrap();
        let own = memory(false);
        let image = of(&own);
        image.blank(0).unwrap().becomes([0, 0], Some(5));
        assert!(image.blank(0).unwrap().holds([0, 0], 5) && image.blank(1).is_none());
        image.written();
        assert!(!image.blank(0).unwrap().holds([0, 0], 5));
        // One after the other, but not both, for as long as the memory lives.
        image.released();
        let next = of(&own);
        assert!(next.blank(0).is_some());
        of(&own).released();
        assert!(next.blank(0).is_none());
        let mapped = memory(false);
        let image = of(&mapped);
        mapped.share();
        assert!(image.blank(0).is_none() && of(&memory(true)).blank(0).is_none());
        // Who else writes, or what else there is.
        for odd in [
            info(Usage::COLOR_ATTACHMENT | Usage::STORAGE),
            info(Usage::SAMPLED),
            info(Usage::COLOR_ATTACHMENT).array_layers(2),
            info(Usage::COLOR_ATTACHMENT).samples(vk::SampleCountFlags::TYPE_4),
            info(Usage::COLOR_ATTACHMENT).format(vk::Format::R16G16B16A16_SFLOAT),
        ] {
            let image = watched(&odd);
            assert!(image.bind(Bound { memory: memory(false), offset: 0 }) && image.blank(0).is_none());
        }
    }

    #[test]
    fn subresources() {
        let image =
            Image::new(space(), &info_2d(vk::Format::R8G8B8A8_UNORM, 100, 4).array_layers(3).mip_levels(2))
                .unwrap();
        let l = image.subresource_layout(&vk::ImageSubresource {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: 1,
            array_layer: 2,
        });
        assert_eq!((l.row_pitch, l.array_pitch), (256, 448 * 4 + 256 * 2));
        assert_eq!(l.offset, l.array_pitch * 2 + 448 * 4);
    }
}
