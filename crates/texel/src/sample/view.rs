//! Image views and texel buffer views.

use super::fast::{Fast, Kind, filters_bytes};
use super::ycbcr::{Conversion, PlaneTexels, Ycbcr};
use crate::buffer::Buffer;
use crate::format::block::Shape;
use crate::format::kernels::{self, GatherFn, LoadFn, ScatterFn};
use crate::format::{self, ChannelClass, Component, FormatInfo, NumClass, PLANE_ASPECTS, block};
use crate::image::{Image, Split};
use ash::vk;
use std::sync::Arc;

/// One mip level of a view. Addresses count from the view's first layer.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    pub base: *mut u8,
    /// Texels.
    pub size: [u32; 3],
    pub row_pitch: u64,
    pub slice_pitch: u64,
    pub sample_pitch: u64,
    pub layer_pitch: u64,
    pub split: Split,
}

/// Where a channel of the result comes from: 0..=3 a channel of the texel, then zero and one.
const ZERO: u8 = 4;
const ONE: u8 = 5;

/// An image view.
pub struct ImageView {
    pub image: Arc<Image>,
    pub view_type: vk::ImageViewType,
    /// Format of the texels read: the view's, or the aspect's of a depth/stencil image.
    pub format: &'static FormatInfo,
    /// Format as given at creation.
    pub view_format: vk::Format,
    pub range: vk::ImageSubresourceRange,
    pub usage: vk::ImageUsageFlags,
    /// Dimensions of an address within a layer: 1, 2 or 3.
    pub dims: usize,
    pub is_cube: bool,
    pub arrayed: bool,
    /// Levels from the base level on; empty if the image has no memory.
    pub levels: Vec<Level>,
    /// Array layers (faces of cubes), or depth slices of a 3D image seen as 2D.
    pub layers: u32,
    pub samples: u32,
    /// Least level of the image that may be read (`VkImageViewMinLodCreateInfoEXT`), relative to the base level.
    pub min_lod: f32,
    pub channels: ChannelClass,
    /// Texels may be infinite or NaN.
    pub(super) floats: bool,
    /// Channels are filtered as numbers 0..=255.
    pub(super) bytes: bool,
    pub identity: bool,
    /// Channels that the format has.
    pub(super) has: [bool; 4],
    /// The view's class has whole-warp kernels (see `wide.rs`).
    pub(super) wide: bool,
    /// The view's class has kernels over vectors (see `fast`).
    pub(super) fast: Option<Box<Fast>>,
    /// Of 3D views.
    pub(super) solid: Option<Box<Fast>>,
    pub(super) swizzle: [u8; 4],
    /// Samples go through a conversion; `format` and `levels` are those of the first plane then, of pairs (4:2:2) their halves.
    pub(super) ycbcr: Option<Box<Ycbcr>>,
    /// Of compressed formats, which offsets are made with ([`ImageView::along`]).
    pub(super) shape: Option<Shape>,
    pub load: LoadFn,
    /// Of compressed formats, offsets say blocks and texels: [`block::WITHIN`].
    pub gather: GatherFn,
    pub scatter: ScatterFn,
}

// SAFETY: the addresses are those of the image's memory, which the image keeps; see `Surface`.
unsafe impl Send for ImageView {}
unsafe impl Sync for ImageView {}

impl ImageView {
    /// Makes a view. `min_lod` is that of `VkImageViewMinLodCreateInfoEXT`, 0 without it.
    ///
    /// # Errors
    /// `ERROR_FORMAT_NOT_SUPPORTED` for an unknown format, `ERROR_VALIDATION_FAILED_EXT` if the format's texels have
    /// not the size of the image's, or the range names no level or layer.
    pub fn new(
        image: Arc<Image>,
        info: &vk::ImageViewCreateInfo,
        min_lod: f32,
    ) -> Result<ImageView, vk::Result> {
        let color = info.subresource_range.aspect_mask.contains(vk::ImageAspectFlags::COLOR);
        if color && (image.format.paired() || format::planar(image.format.format).is_some()) {
            return Self::converted(image, info, min_lod, &Conversion::none(info.format));
        }
        Self::plain(image, info, min_lod)
    }

    /// A view whose samples go through a Y′CbCr conversion.
    ///
    /// # Errors
    /// As [`ImageView::new`]; `ERROR_VALIDATION_FAILED_EXT` also for a view that is not flat, or of several planes that are not its image's.
    pub fn converted(
        image: Arc<Image>,
        info: &vk::ImageViewCreateInfo,
        min_lod: f32,
        conversion: &Conversion,
    ) -> Result<ImageView, vk::Result> {
        let bad = vk::Result::ERROR_VALIDATION_FAILED_EXT;
        let given = format::info(info.format).ok_or(vk::Result::ERROR_FORMAT_NOT_SUPPORTED)?;
        let flat = matches!(info.view_type, vk::ImageViewType::TYPE_2D | vk::ImageViewType::TYPE_2D_ARRAY)
            && image.samples == 1;
        let color = info.subresource_range.aspect_mask.contains(vk::ImageAspectFlags::COLOR);
        let (planar, pairs) = (format::planar(given.format), format::packed422(given.format));
        let split = planar.is_some() || pairs.is_some();
        let own = color && image.format.format == given.format;
        if !flat || !given.convertible() || split && !own {
            return Err(bad);
        }
        let of = |aspect: vk::ImageAspectFlags, format: vk::Format| {
            let mut plane = *info;
            plane.format = format;
            plane.components = Default::default();
            plane.subresource_range.aspect_mask = aspect;
            Self::plain(image.clone(), &plane, min_lod)
        };
        let asked = info.subresource_range.aspect_mask;
        let views = match (planar, pairs) {
            (Some(p), _) => {
                PLANE_ASPECTS.iter().zip(p.planes).map(|(&a, &f)| of(a, f)).collect::<Result<Vec<_>, _>>()?
            }
            (_, Some(p)) => vec![of(asked, p.half)?],
            _ => vec![of(asked, given.format)?],
        };
        let texels =
            |v: &ImageView| PlaneTexels { format: v.format, gather: v.gather, levels: v.levels.clone() };
        let planes: Vec<PlaneTexels> = views.iter().map(texels).collect();
        // A plane without memory: none of it is there.
        let bound = planes.iter().all(|p| !p.levels.is_empty());
        let mut view = views.into_iter().next().ok_or(bad)?;
        (view.fast, view.solid, view.wide, view.bytes) = (None, None, false, false);
        (view.view_format, view.range) = (info.format, info.subresource_range);
        if bound {
            view.ycbcr = Some(Box::new(Ycbcr::new(given, planes, conversion)));
        } else {
            view.levels.clear();
        }
        Ok(view)
    }

    /// The conversion that samples go through.
    pub fn ycbcr(&self) -> Option<&Ycbcr> {
        self.ycbcr.as_deref()
    }

    fn plain(
        image: Arc<Image>,
        info: &vk::ImageViewCreateInfo,
        min_lod: f32,
    ) -> Result<ImageView, vk::Result> {
        let bad = vk::Result::ERROR_VALIDATION_FAILED_EXT;
        let given = format::info(info.format).ok_or(vk::Result::ERROR_FORMAT_NOT_SUPPORTED)?;
        let r = info.subresource_range;
        let plane = image.layout.plane(r.aspect_mask).ok_or(bad)?;
        if given.paired() || format::planar(given.format).is_some() {
            return Err(bad);
        }
        let format = if given.is_depth_stencil() { given.aspect_format(plane.aspect) } else { given };
        if format.block_bytes != plane.format.block_bytes && !plane.format.paired() {
            return Err(bad);
        }
        let t = info.view_type;
        let is_cube = matches!(t, vk::ImageViewType::CUBE | vk::ImageViewType::CUBE_ARRAY);
        let arrayed = matches!(
            t,
            vk::ImageViewType::TYPE_1D_ARRAY
                | vk::ImageViewType::TYPE_2D_ARRAY
                | vk::ImageViewType::CUBE_ARRAY
        );
        let dims = match t {
            vk::ImageViewType::TYPE_1D | vk::ImageViewType::TYPE_1D_ARRAY => 1,
            vk::ImageViewType::TYPE_3D => 3,
            _ => 2,
        };
        // A 3D image seen as 2D: depth slices are layers.
        let sliced = image.image_type == vk::ImageType::TYPE_3D && dims != 3;
        let (levels, layers) = if sliced {
            let depth = image.mip_extent(r.base_mip_level)[2];
            let levels = image.resolve_range(&vk::ImageSubresourceRange { base_array_layer: 0, ..r }).0;
            let base = r.base_array_layer.min(depth);
            // Such views have one level; slices of the next one lie elsewhere.
            let first = levels.start..levels.end.min(levels.start + 1);
            (first, base..base.saturating_add(r.layer_count).min(depth))
        } else {
            image.resolve_range(&r)
        };
        if levels.is_empty() || layers.is_empty() {
            return Err(bad);
        }
        let mut views = Vec::new();
        for mip in levels.clone() {
            let Some(s) = image.surface(plane.aspect, mip) else { break };
            let s = s.with_format(format).ok_or(bad)?;
            let layer_pitch = if sliced { s.slice_pitch } else { s.layer_pitch };
            views.push(Level {
                // SAFETY: the first layer exists.
                base: unsafe { s.base.add((layers.start as u64 * layer_pitch) as usize) },
                size: if sliced { [s.extent[0], s.extent[1], 1] } else { s.extent },
                row_pitch: s.row_pitch,
                slice_pitch: s.slice_pitch,
                sample_pitch: s.sample_pitch,
                layer_pitch,
                split: s.split,
            });
        }
        // Images in sparse image blocks are flat or solid.
        let whole = views.iter().all(|l| l.split.is_none());
        if !whole && dims == 1 {
            return Err(bad);
        }
        let c = info.components;
        let pick = |c: vk::ComponentSwizzle, own: u8| match c {
            vk::ComponentSwizzle::ZERO => ZERO,
            vk::ComponentSwizzle::ONE => ONE,
            vk::ComponentSwizzle::R => 0,
            vk::ComponentSwizzle::G => 1,
            vk::ComponentSwizzle::B => 2,
            vk::ComponentSwizzle::A => 3,
            _ => own,
        };
        let flat = dims <= 2 && image.samples == 1;
        let kind = match dims {
            1 => Kind::Line,
            _ if is_cube => Kind::Cube,
            _ => Kind::Flat,
        };
        // SAFETY: the levels are the image's, whose memory it keeps, as the view keeps the image.
        let fast =
            flat.then(|| unsafe { Fast::new(format, kind, &views, layers.end - layers.start) }).flatten();
        let slices: Vec<Level> =
            views.iter().take(1).map(|l| Level { layer_pitch: l.slice_pitch, ..*l }).collect();
        let depth = views.first().map_or(1, |l| l.size[2]);
        // SAFETY: as above: slices are within a level.
        let solid = (dims == 3 && whole && image.samples == 1 && views.len() == 1)
            .then(|| unsafe { Fast::new(format, Kind::Solid, &slices, depth) })
            .flatten();
        let swizzle = [pick(c.r, 0), pick(c.g, 1), pick(c.b, 2), pick(c.a, 3)];
        Ok(ImageView {
            view_type: t,
            format,
            view_format: info.format,
            range: r,
            usage: image.usage,
            dims,
            is_cube,
            arrayed,
            layers: layers.end - layers.start,
            samples: image.samples,
            min_lod: (min_lod - r.base_mip_level as f32).max(0.0),
            channels: format.channel_class(),
            floats: matches!(format.class, NumClass::Sfloat | NumClass::Ufloat),
            bytes: flat && filters_bytes(format.kind),
            identity: swizzle == [0, 1, 2, 3],
            has: std::array::from_fn(|k| {
                let here = |c: &Component| {
                    c.channel() == k && c.name != b'e' && (c.name != b's' || !format.has_depth())
                };
                format.components().iter().any(here)
            }),
            wide: !is_cube && !format.is_64bit() && image.samples == 1,
            fast,
            solid,
            swizzle,
            ycbcr: None,
            shape: format.compressed().then(|| Shape::of(format)),
            load: kernels::load_fn(format),
            gather: if format.compressed() { block::gather() } else { kernels::gather_fn(format) },
            scatter: kernels::scatter_fn(format),
            levels: views,
            image,
        })
    }

    /// The same view of a 3D image with only `count` depth slices from `first` on (VK_EXT_image_sliced_view_of_3d);
    /// `VK_REMAINING_3D_SLICES_EXT`: all that follow.
    pub fn sliced(mut self, first: u32, count: u32) -> ImageView {
        if self.dims == 3 {
            // (Slices are counted by the kernels' view too.)
            self.solid = None;
            for l in &mut self.levels {
                let first = first.min(l.size[2].saturating_sub(1));
                l.size[2] = count.min(l.size[2] - first);
                // SAFETY: the slice exists.
                l.base = unsafe { l.base.add((first as u64 * l.slice_pitch) as usize) };
            }
        }
        self
    }

    /// Address of a texel of an uncompressed view.
    ///
    /// # Safety
    /// The texel must exist.
    #[inline(always)]
    pub unsafe fn address(&self, l: &Level, x: u32, y: u32, z: u32, layer: u32, sample: u32) -> *mut u8 {
        debug_assert!(
            x < l.size[0] && y < l.size[1] && z < l.size[2] && layer < self.layers && sample < self.samples
        );
        let at = x as u64 * self.format.block_bytes as u64
            + y as u64 * l.row_pitch
            + z as u64 * l.slice_pitch
            + layer as u64 * l.layer_pitch
            + sample as u64 * l.sample_pitch
            + if l.split.is_none() { 0 } else { l.split.offset(x, y) };
        // SAFETY: the caller knows that the texel exists.
        unsafe { l.base.add(at as usize) }
    }

    /// What a column (`axis` 0), a row or another step along a level adds to the offsets that [`ImageView::gather`] is given. `pitch`: bytes from one
    /// to the next, of rows of blocks if the view is compressed.
    #[inline(always)]
    pub(super) fn along(&self, l: &Level, axis: usize, at: u32, pitch: u64) -> u64 {
        let split = axis < 2 && !l.split.is_none();
        match &self.shape {
            Some(shape) if axis < 2 => {
                let (block, within) = shape.split(axis, at);
                let bytes = block as u64 * pitch + if split { l.split.along(axis, block) } else { 0 };
                (bytes << block::WITHIN)
                    | (within as u64 * if axis == 0 { 1 } else { shape.extent[0] as u64 })
            }
            Some(_) => (at as u64 * pitch) << block::WITHIN,
            None => at as u64 * pitch + if split { l.split.along(axis, at) } else { 0 },
        }
    }

    /// Address of the block that holds a texel: of the texel itself, if the view is not compressed.
    ///
    /// # Safety
    /// The texel must exist.
    #[inline]
    pub unsafe fn block(&self, l: &Level, x: u32, y: u32, z: u32, layer: u32, sample: u32) -> *mut u8 {
        if !self.format.compressed() {
            // SAFETY: the caller knows that the texel exists.
            return unsafe { self.address(l, x, y, z, layer, sample) };
        }
        let [bw, bh, _] = self.format.block_extent;
        let at = (x / bw) as u64 * self.format.block_bytes as u64
            + (y / bh) as u64 * l.row_pitch
            + z as u64 * l.slice_pitch
            + layer as u64 * l.layer_pitch
            + if l.split.is_none() { 0 } else { l.split.offset(x / bw, y / bh) };
        // SAFETY: the caller knows that the texel exists.
        unsafe { l.base.add(at as usize) }
    }

    /// The raw texel at a place, before swizzle.
    ///
    /// # Safety
    /// The texel must exist.
    #[inline]
    pub unsafe fn read(&self, l: &Level, x: u32, y: u32, z: u32, layer: u32, sample: u32) -> [u32; 4] {
        if self.format.compressed() {
            let [bw, bh, _] = self.format.block_extent;
            // SAFETY: the caller knows that the texel exists, and so does its block.
            let bytes = unsafe {
                let at = self.block(l, x, y, z, layer, sample);
                std::slice::from_raw_parts(at, self.format.block_bytes as usize)
            };
            return block::texel(self.format, bytes, x % bw, y % bh);
        }
        // SAFETY: the caller knows that the texel exists; the loader is the format's.
        unsafe { (self.load)(self.format, self.address(l, x, y, z, layer, sample)) }
    }

    /// What a read outside the view gives: zeros, and one for an alpha the format does not have.
    pub fn outside(&self) -> [u32; 4] {
        outside(self.format)
    }

    /// The texel's channels in the order the view asks for.
    #[inline]
    pub fn swizzled(&self, t: [u32; 4]) -> [u32; 4] {
        if self.identity {
            return t;
        }
        self.swizzle.map(|s| match s {
            ZERO => 0,
            ONE => self.channels.one(),
            s => t[s as usize],
        })
    }

    /// [`ImageView::swizzled`] for a whole warp.
    #[inline(always)]
    pub fn swizzled_warp(&self, t: &super::args::Warp4, k: usize) -> [u32; 16] {
        match self.swizzle[k] {
            ZERO => [0; 16],
            ONE => [self.channels.one(); 16],
            s => t[s as usize],
        }
    }

    /// Which channel of the texel result `k` is; none for a [constant](ImageView::constant).
    #[inline(always)]
    pub(super) fn channel(&self, k: usize) -> Option<usize> {
        (self.swizzle[k] < ZERO).then_some(self.swizzle[k] as usize)
    }

    /// Bits of result `k` where the swizzle gives zero or one.
    #[inline(always)]
    pub(super) fn constant(&self, k: usize) -> u32 {
        if self.swizzle[k] == ONE { self.channels.one() } else { 0 }
    }

    /// One channel of the swizzled texel.
    #[inline]
    pub fn swizzled_channel(&self, t: [u32; 4], channel: u32) -> u32 {
        self.swizzled(t)[channel as usize & 3]
    }

    /// `OpImageQuerySizeLod`: width, height, depth as the view's type has them, then the layers (cubes, not faces) of
    /// an arrayed view in the place after. Zeros for a level that does not exist.
    pub fn query_size(&self, lod: u32) -> [u32; 4] {
        let Some(l) = self.levels.get(lod as usize) else { return [0; 4] };
        let mut out = [0; 4];
        out[..self.dims].copy_from_slice(&l.size[..self.dims]);
        if self.arrayed {
            out[self.dims] = if self.is_cube { self.layers / 6 } else { self.layers };
        }
        out
    }

    /// `OpImageQueryLevels`.
    pub fn query_levels(&self) -> u32 {
        self.levels.len() as u32
    }

    /// `OpImageQuerySamples`.
    pub fn query_samples(&self) -> u32 {
        self.samples
    }
}

/// What a texel gives that does not exist.
pub fn outside(format: &FormatInfo) -> [u32; 4] {
    let alpha = if format.has_component(b'a') { 0 } else { format.channel_class().one() };
    [0, 0, 0, alpha]
}

/// A view of a buffer's bytes as texels.
pub struct BufferView {
    /// Keeps the memory; none if it is known by its address alone.
    pub buffer: Option<Arc<Buffer>>,
    pub format: &'static FormatInfo,
    /// First texel; null if the buffer has no memory.
    pub base: *mut u8,
    /// Texels.
    pub len: u32,
    pub(super) load: LoadFn,
    pub gather: GatherFn,
    pub scatter: ScatterFn,
}

// SAFETY: the address is that of the buffer's memory, which the buffer keeps.
unsafe impl Send for BufferView {}
unsafe impl Sync for BufferView {}

impl BufferView {
    /// Makes a view of `range` bytes (`VK_WHOLE_SIZE`: to the end) from `offset`, cut to the buffer.
    ///
    /// # Errors
    /// `ERROR_FORMAT_NOT_SUPPORTED` for a format without texel buffers.
    pub fn new(
        buffer: Arc<Buffer>,
        format: vk::Format,
        offset: u64,
        range: u64,
    ) -> Result<BufferView, vk::Result> {
        let format = Self::format(format).ok_or(vk::Result::ERROR_FORMAT_NOT_SUPPORTED)?;
        let (base, bytes) = buffer.range(offset, range);
        Ok(Self::of(Some(buffer), format, base, bytes))
    }

    /// A view of `bytes` bytes of live memory, which somebody else keeps; none for a format without texel buffers
    /// and for an address that is no multiple of a texel's size (of sizes that are powers of two).
    ///
    /// # Safety
    /// The bytes stay readable and writable for as long as the view is used.
    pub unsafe fn at(base: *mut u8, bytes: u64, format: vk::Format) -> Option<BufferView> {
        let format = Self::format(format)?;
        let texel = format.block_bytes as usize;
        let aligned = !texel.is_power_of_two() || (base as usize).is_multiple_of(texel);
        aligned.then(|| Self::of(None, format, base, bytes))
    }

    fn format(format: vk::Format) -> Option<&'static FormatInfo> {
        format::info(format).filter(|f| f.uniform_texel_buffer() || f.storage_texel_buffer())
    }

    fn of(buffer: Option<Arc<Buffer>>, format: &'static FormatInfo, base: *mut u8, bytes: u64) -> BufferView {
        let len = (bytes / format.block_bytes as u64).min(u32::MAX as u64) as u32;
        BufferView {
            format,
            base,
            len: if base.is_null() { 0 } else { len },
            load: kernels::load_fn(format),
            gather: kernels::gather_fn(format),
            scatter: kernels::scatter_fn(format),
            buffer,
        }
    }

    /// Address of texel `i`, `None` outside.
    #[inline]
    pub fn address(&self, i: u32) -> Option<*mut u8> {
        // SAFETY: inside the range, which was cut to the buffer.
        (i < self.len).then(|| unsafe { self.base.add(i as usize * self.format.block_bytes as usize) })
    }
}
