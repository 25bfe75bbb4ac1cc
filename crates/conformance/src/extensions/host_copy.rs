//! VK_EXT_host_image_copy: copies on the host, compared with what the device copies out, and the other way round.

use super::owned::Owned;
use super::rig::{Rig, layers as layers_of};
use super::{Check, Found, found, holds, same, text};
use ash::ext::host_image_copy;
use vk::ImageAspectFlags as Aspect;
use vk::ImageLayout as Layout;

pub fn checks() -> Vec<Check> {
    let check = |name, run| Check { name, of: host_image_copy::NAME, run };
    vec![
        check("host_copy_pitches", pitches),
        check("host_copy_layers_and_mips", layers),
        check("host_copy_slices", slices),
        check("host_copy_blocks", blocks),
        check("host_copy_depth_and_stencil", aspects),
        check("host_copy_memcpy", memcpy),
        check("host_copy_between_images", between),
        check("host_copy_linear_layout", linear),
        check("host_copy_is_reported", reported),
    ]
}

/// An image that only the host has brought into a layout.
struct Raw<'r> {
    image: Owned<'r>,
    f: host_image_copy::Device,
}

fn info(
    ty: vk::ImageType,
    format: vk::Format,
    [width, height, depth]: [u32; 3],
) -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(ty)
        .format(format)
        .extent(vk::Extent3D { width, height, depth })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(
            vk::ImageUsageFlags::HOST_TRANSFER_EXT
                | vk::ImageUsageFlags::TRANSFER_SRC
                | vk::ImageUsageFlags::TRANSFER_DST,
        )
}

fn flat(format: vk::Format, width: u32, height: u32) -> vk::ImageCreateInfo<'static> {
    info(vk::ImageType::TYPE_2D, format, [width, height, 1])
}

const COLOUR: vk::ImageSubresourceLayers = vk::ImageSubresourceLayers {
    aspect_mask: Aspect::COLOR,
    mip_level: 0,
    base_array_layer: 0,
    layer_count: 1,
};

fn offset([x, y, z]: [i32; 3]) -> vk::Offset3D {
    vk::Offset3D { x, y, z }
}

fn extent([width, height, depth]: [u32; 3]) -> vk::Extent3D {
    vk::Extent3D { width, height, depth }
}

/// A part of an image and its rows in memory (0: packed).
#[derive(Clone, Copy)]
struct Part {
    sub: vk::ImageSubresourceLayers,
    at: [i32; 3],
    size: [u32; 3],
    row: u32,
    rows: u32,
}

impl Part {
    fn whole(sub: vk::ImageSubresourceLayers, size: [u32; 3]) -> Part {
        Part { sub, at: [0; 3], size, row: 0, rows: 0 }
    }

    /// The same for copies by the device, packed.
    fn region(&self) -> vk::BufferImageCopy {
        vk::BufferImageCopy::default()
            .image_subresource(self.sub)
            .image_offset(offset(self.at))
            .image_extent(extent(self.size))
    }
}

/// The region of a part for copies by the host: the structures of both directions have the same members.
macro_rules! host_region {
    ($of:ident, $part:ident, $memory:expr) => {
        vk::$of {
            p_host_pointer: $memory,
            memory_row_length: $part.row,
            memory_image_height: $part.rows,
            image_subresource: $part.sub,
            image_offset: offset($part.at),
            image_extent: extent($part.size),
            ..Default::default()
        }
    };
}

impl<'r> Raw<'r> {
    fn new(rig: &'r Rig, info: &vk::ImageCreateInfo, aspects: Aspect) -> Result<Raw<'r>, String> {
        let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let image = Owned::new(rig, info, host)?;
        let f = host_image_copy::Device::new(&rig.context.instance, &rig.context.device);
        let change = vk::HostImageLayoutTransitionInfoEXT::default()
            .image(image.handle)
            .old_layout(Layout::UNDEFINED)
            .new_layout(Layout::GENERAL)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: aspects,
                base_mip_level: 0,
                level_count: vk::REMAINING_MIP_LEVELS,
                base_array_layer: 0,
                layer_count: vk::REMAINING_ARRAY_LAYERS,
            });
        // SAFETY: a live image that nothing else uses.
        unsafe { f.transition_image_layout(&[change]) }.map_err(text)?;
        Ok(Raw { image, f })
    }

    fn colour(rig: &'r Rig, info: &vk::ImageCreateInfo) -> Result<Raw<'r>, String> {
        Raw::new(rig, info, Aspect::COLOR)
    }

    /// Memory to image, on the host.
    fn write(&self, p: Part, bytes: &[u8], flags: vk::HostImageCopyFlagsEXT) -> Result<(), String> {
        let region = [host_region!(MemoryToImageCopyEXT, p, bytes.as_ptr().cast())];
        let copy = vk::CopyMemoryToImageInfoEXT::default()
            .flags(flags)
            .dst_image(self.image.handle)
            .dst_image_layout(Layout::GENERAL)
            .regions(&region);
        // SAFETY: the bytes are as many as the region takes.
        unsafe { self.f.copy_memory_to_image(&copy) }.map_err(text)
    }

    /// Image to memory, on the host; memory holds 0xee before.
    fn read(&self, p: Part, bytes: usize, flags: vk::HostImageCopyFlagsEXT) -> Result<Vec<u8>, String> {
        let mut out = vec![0xee; bytes];
        let region = [host_region!(ImageToMemoryCopyEXT, p, out.as_mut_ptr().cast())];
        let copy = vk::CopyImageToMemoryInfoEXT::default()
            .flags(flags)
            .src_image(self.image.handle)
            .src_image_layout(Layout::GENERAL)
            .regions(&region);
        // SAFETY: the bytes are as many as the region takes.
        unsafe { self.f.copy_image_to_memory(&copy) }.map_err(text)?;
        Ok(out)
    }

    /// Image to memory, on the device.
    fn device_read(&self, p: Part, bytes: usize) -> Result<Vec<u8>, String> {
        self.image.download(p.region(), bytes)
    }

    /// Memory to image, on the device.
    fn device_write(&self, p: Part, bytes: &[u8]) -> Result<(), String> {
        self.image.upload(p.region(), bytes)
    }
}

const NONE: vk::HostImageCopyFlagsEXT = vk::HostImageCopyFlagsEXT::empty();
const MEMCPY: vk::HostImageCopyFlagsEXT = vk::HostImageCopyFlagsEXT::MEMCPY;

fn count(n: usize) -> Vec<u8> {
    (0..n).map(|i| i as u8).collect()
}

/// 2 × 2 texels at (1, 2), from rows of five; read back to rows of three, with what lies between left alone.
fn pitches(rig: &Rig) -> Found {
    let image = Raw::colour(rig, &flat(vk::Format::R8_UINT, 4, 4))?;
    let all = Part::whole(COLOUR, [4, 4, 1]);
    image.write(all, &[0; 16], NONE)?;
    let part = Part { at: [1, 2, 0], size: [2, 2, 1], row: 5, ..all };
    image.write(part, &count(10), NONE)?;
    let want = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 5, 6, 0];
    same("on the device", image.device_read(all, 16)?, want.to_vec())?;
    same("on the host", image.read(all, 16, NONE)?, want.to_vec())?;
    let got = image.read(Part { row: 3, ..part }, 6, NONE)?;
    same("rows of three", got.clone(), vec![0, 1, 0xee, 5, 6, 0xee])?;
    found(&got)
}

/// Layers 1 and 2 of level 1, two rows of memory between layers left out.
fn layers(rig: &Rig) -> Found {
    let image = Raw::colour(rig, &flat(vk::Format::R8_UINT, 4, 4).mip_levels(2).array_layers(3))?;
    let level = |base, n| Part::whole(layers_of(Aspect::COLOR, 1, base, n), [2, 2, 1]);
    image.write(level(0, 3), &[9; 12], NONE)?;
    image.write(Part::whole(layers_of(Aspect::COLOR, 0, 0, 3), [4, 4, 1]), &[8; 48], NONE)?;
    image.write(Part { rows: 4, ..level(1, 2) }, &count(12), NONE)?;
    let want = vec![9, 9, 9, 9, 0, 1, 2, 3, 8, 9, 10, 11];
    same("on the device", image.device_read(level(0, 3), 12)?, want.clone())?;
    same("on the host", image.read(level(0, 3), 12, NONE)?, want)?;
    let base = Part::whole(layers_of(Aspect::COLOR, 0, 1, 1), [4, 4, 1]);
    same("level 0", image.device_read(base, 16)?, vec![8; 16])?;
    let got = image.read(Part { rows: 3, ..level(1, 2) }, 12, NONE)?;
    same("with a row between", got.clone(), vec![0, 1, 2, 3, 0xee, 0xee, 8, 9, 10, 11, 0xee, 0xee])?;
    found(&got)
}

/// Slices 1 and 2 of a three-dimensional image.
fn slices(rig: &Rig) -> Found {
    let image = Raw::colour(rig, &info(vk::ImageType::TYPE_3D, vk::Format::R16_UINT, [2, 2, 4]))?;
    let all = Part::whole(COLOUR, [2, 2, 4]);
    image.device_write(all, &[7; 32])?;
    let two = Part { at: [0, 0, 1], size: [2, 2, 2], ..all };
    image.write(two, &count(16), NONE)?;
    let want = [&[7; 8][..], &count(16), &[7; 8]].concat();
    let got = image.read(all, 32, NONE)?;
    same("on the host", got.clone(), want.clone())?;
    same("on the device", image.device_read(all, 32)?, want)?;
    found(&got)
}

/// BC1 of 6 × 4 texels is two blocks, of which the second holds columns 4 and 5.
fn blocks(rig: &Rig) -> Found {
    let image = Raw::colour(rig, &flat(vk::Format::BC1_RGBA_UNORM_BLOCK, 6, 4))?;
    let all = Part::whole(COLOUR, [6, 4, 1]);
    image.write(all, &[1; 16], NONE)?;
    image.write(Part { at: [4, 0, 0], size: [2, 4, 1], ..all }, &count(8), NONE)?;
    let want = [&[1; 8][..], &count(8)].concat();
    same("on the device", image.device_read(all, 16)?, want.clone())?;
    let got = image.read(Part { row: 12, ..all }, 16, NONE)?;
    same("on the host", got.clone(), want)?;
    found(&got)
}

/// Depth of 24 bits is copied as 32-bit words, stencil as bytes; one does not touch the other.
fn aspects(rig: &Rig) -> Found {
    let both = Aspect::DEPTH | Aspect::STENCIL;
    let mut i = flat(vk::Format::D32_SFLOAT_S8_UINT, 2, 1);
    i.usage |= vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
    let image = Raw::new(rig, &i, both)?;
    let part = |a| Part::whole(layers_of(a, 0, 0, 1), [2, 1, 1]);
    let depths: Vec<u8> = [0.25f32, 0.75].iter().flat_map(|v| v.to_le_bytes()).collect();
    image.write(part(Aspect::DEPTH), &depths, NONE)?;
    image.write(part(Aspect::STENCIL), &[17, 200], NONE)?;
    same("depth on the device", image.device_read(part(Aspect::DEPTH), 8)?, depths.clone())?;
    same("stencil on the device", image.device_read(part(Aspect::STENCIL), 2)?, vec![17, 200])?;
    let got = image.read(part(Aspect::DEPTH), 8, NONE)?;
    same("depth on the host", got.clone(), depths)?;
    same("stencil on the host", image.read(part(Aspect::STENCIL), 2, NONE)?, vec![17, 200])?;
    found(&got)
}

/// A whole subresource as it lies in memory, into another image of the same kind: as many bytes as the device says.
fn memcpy(rig: &Rig) -> Found {
    let kind = flat(vk::Format::R8G8B8A8_UNORM, 7, 5).mip_levels(2).array_layers(2);
    let (a, b) = (Raw::colour(rig, &kind)?, Raw::colour(rig, &kind)?);
    let whole = |layer| Part::whole(layers_of(Aspect::COLOR, 1, layer, 1), [3, 2, 1]);
    let mut all = Vec::new();
    for layer in 0..2 {
        let texels: Vec<u8> = count(24).iter().map(|v| v + 100 * layer as u8).collect();
        a.device_write(whole(layer), &texels)?;
        b.write(whole(layer), &[3; 24], NONE)?;
        let mut size = vk::SubresourceHostMemcpySizeEXT::default();
        let mut told = vk::SubresourceLayout2KHR { p_next: (&raw mut size).cast(), ..Default::default() };
        let of = vk::ImageSubresource2KHR {
            image_subresource: vk::ImageSubresource {
                aspect_mask: Aspect::COLOR,
                mip_level: 1,
                array_layer: layer,
            },
            ..Default::default()
        };
        // SAFETY: valid chains.
        unsafe {
            let f = a.f.fp().get_image_subresource_layout2_ext;
            f(rig.context.device.handle(), a.image.handle, &of, &mut told);
        }
        let size = size.size as usize;
        holds("no less than the texels", size >= 24)?;
        let bytes = a.read(whole(layer), size + 16, MEMCPY)?;
        same("nothing beyond", &bytes[size..], &[0xee; 16][..])?;
        b.write(whole(layer), &bytes[..size], MEMCPY)?;
        let got = b.device_read(whole(layer), 24)?;
        same("the same texels", got.clone(), texels)?;
        all.extend(got);
    }
    found(&all)
}

/// Image to image on the host: a part to another place, and with MEMCPY a subresource as it is.
fn between(rig: &Rig) -> Found {
    let kind = flat(vk::Format::R8_UINT, 4, 4).array_layers(2);
    let (a, b) = (Raw::colour(rig, &kind)?, Raw::colour(rig, &kind)?);
    let both = Part::whole(layers_of(Aspect::COLOR, 0, 0, 2), [4, 4, 1]);
    a.write(both, &count(32), NONE)?;
    b.device_write(both, &[99; 32])?;
    let copy = |flags, region: vk::ImageCopy2| {
        let regions = [region];
        let info = vk::CopyImageToImageInfoEXT::default()
            .flags(flags)
            .src_image(a.image.handle)
            .src_image_layout(Layout::GENERAL)
            .dst_image(b.image.handle)
            .dst_image_layout(Layout::GENERAL)
            .regions(&regions);
        // SAFETY: live images and regions within them.
        unsafe { a.f.copy_image_to_image(&info) }.map_err(text)
    };
    let part = vk::ImageCopy2::default()
        .src_subresource(layers_of(Aspect::COLOR, 0, 1, 1))
        .src_offset(offset([2, 1, 0]))
        .dst_subresource(COLOUR)
        .dst_offset(offset([0, 3, 0]))
        .extent(extent([2, 1, 1]));
    copy(NONE, part)?;
    let mut want = vec![99; 32];
    (want[12], want[13]) = (22, 23);
    same("a part", b.device_read(both, 32)?, want.clone())?;
    let whole = vk::ImageCopy2::default()
        .src_subresource(COLOUR)
        .dst_subresource(layers_of(Aspect::COLOR, 0, 1, 1))
        .extent(extent([4, 4, 1]));
    copy(MEMCPY, whole)?;
    want[16..].copy_from_slice(&count(16));
    let got = b.device_read(both, 32)?;
    same("a subresource", got.clone(), want)?;
    found(&got)
}

/// With linear tiling vkGetImageSubresourceLayout says where texels lie: they are there after a host copy.
fn linear(rig: &Rig) -> Found {
    let kind = flat(vk::Format::R8G8_UINT, 3, 2).tiling(vk::ImageTiling::LINEAR);
    let image = Raw::colour(rig, &kind)?;
    image.write(Part::whole(COLOUR, [3, 2, 1]), &count(12), NONE)?;
    let of = vk::ImageSubresource { aspect_mask: Aspect::COLOR, mip_level: 0, array_layer: 0 };
    let d = &rig.context.device;
    // SAFETY: a linear image in memory that the host sees; rows lie where the device says.
    unsafe {
        let l = d.get_image_subresource_layout(image.image.handle, of);
        holds("rows are no shorter than their texels", l.row_pitch >= 6)?;
        holds("the size holds both rows", l.size >= l.row_pitch + 6)?;
        let at = d
            .map_memory(image.image.memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
            .map_err(text)?
            .cast::<u8>()
            .add(l.offset as usize);
        let row = |y: u64| std::slice::from_raw_parts(at.add((y * l.row_pitch) as usize), 6).to_vec();
        let got = [row(0), row(1)].concat();
        d.unmap_memory(image.image.memory);
        same("texels in memory", got.clone(), count(12))?;
        found(&got)
    }
}

/// The format feature, the performance query and the lists of layouts.
fn reported(rig: &Rig) -> Found {
    let (instance, physical) = (&rig.context.instance, rig.context.physical);
    let mut p3 = vk::FormatProperties3::default();
    let mut p = vk::FormatProperties2::default().push_next(&mut p3);
    let mut told = vk::PhysicalDeviceHostImageCopyPropertiesEXT::default();
    let mut all = vk::PhysicalDeviceProperties2 { p_next: (&raw mut told).cast(), ..Default::default() };
    // SAFETY: valid chains; the second call has room for what the first said.
    let (from, to) = unsafe {
        instance.get_physical_device_format_properties2(physical, super::rig::RGBA8, &mut p);
        instance.get_physical_device_properties2(physical, &mut all);
        let mut from = vec![Layout::UNDEFINED; told.copy_src_layout_count as usize];
        let mut to = vec![Layout::UNDEFINED; told.copy_dst_layout_count as usize];
        let arrays = (from.as_mut_ptr(), to.as_mut_ptr());
        told = vk::PhysicalDeviceHostImageCopyPropertiesEXT {
            p_copy_src_layouts: arrays.0,
            p_copy_dst_layouts: arrays.1,
            ..told
        };
        all.p_next = (&raw mut told).cast();
        instance.get_physical_device_properties2(physical, &mut all);
        (from, to)
    };
    let bit = vk::FormatFeatureFlags2::HOST_IMAGE_TRANSFER_EXT;
    holds("RGBA8 is copied on the host", p3.optimal_tiling_features.contains(bit))?;
    for list in [&from, &to] {
        holds("GENERAL is among the layouts", list.contains(&Layout::GENERAL))?;
        holds("no layout is UNDEFINED", !list.contains(&Layout::UNDEFINED))?;
    }
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::HOST_TRANSFER_EXT;
    let ask = vk::PhysicalDeviceImageFormatInfo2::default()
        .format(super::rig::RGBA8)
        .ty(vk::ImageType::TYPE_2D)
        .tiling(vk::ImageTiling::OPTIMAL)
        .usage(usage);
    let unset = 0xDEAD;
    let mut query = vk::HostImageCopyDevicePerformanceQueryEXT {
        optimal_device_access: unset,
        identical_memory_layout: unset,
        ..Default::default()
    };
    let mut p = vk::ImageFormatProperties2::default().push_next(&mut query);
    // SAFETY: valid chains.
    let r = unsafe { instance.get_physical_device_image_format_properties2(physical, &ask, &mut p) };
    same("images with the usage", r, Ok(()))?;
    holds(
        "the query says yes or no",
        query.optimal_device_access <= 1 && query.identical_memory_layout <= 1,
    )?;
    holds(
        "one layout means that access is as good",
        query.identical_memory_layout == 0 || query.optimal_device_access == 1,
    )?;
    Ok(from.iter().chain(&to).map(|l| l.as_raw() as u64).collect())
}
