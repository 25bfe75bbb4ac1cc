//! Sparse resources: what they need. The room `queue` binds memory to them.

use crate::base::chain;
use crate::base::object;
use crate::device::Device;
use crate::instance::physical_device::PhysicalDevice;
use crate::memory::image::{self, Image};
use texel::format::FormatInfo;

/// A sparse image block in texels, and what it holds.
fn block(aspect: vk::ImageAspectFlags, f: &FormatInfo, shape: [u32; 3]) -> vk::SparseImageFormatProperties {
    let [width, height, depth] = [0, 1, 2].map(|k: usize| shape[k] * f.block_extent[k]);
    vk::SparseImageFormatProperties {
        aspect_mask: aspect,
        image_granularity: vk::Extent3D { width, height, depth },
        // Standard shapes; a tail for each layer, of levels that are smaller than a block.
        flags: vk::SparseImageFormatFlags::empty(),
    }
}

unsafe fn require(
    image: &texel::image::Image,
    count: *mut u32,
    out: *mut vk::SparseImageMemoryRequirements2,
) {
    let all: Vec<_> = image.layout.parts().collect();
    // SAFETY: the caller's pointers.
    unsafe {
        let _ = chain::fill_with(all.len(), count, out, |out, i| {
            let (plane, parts) = all[i];
            out.memory_requirements = vk::SparseImageMemoryRequirements {
                format_properties: block(plane.aspect, plane.format, parts.shape),
                image_mip_tail_first_lod: parts.tail_level,
                image_mip_tail_size: parts.tail_bytes,
                image_mip_tail_offset: plane.offset + parts.tail,
                image_mip_tail_stride: plane.layer_pitch,
            };
        });
    }
}

pub(crate) unsafe fn get_image_sparse_memory_requirements2(
    _: &Device,
    info: *const vk::ImageSparseMemoryRequirementsInfo2,
    count: *mut u32,
    out: *mut vk::SparseImageMemoryRequirements2,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        match object::get::<Image>((*info).image) {
            Some(i) => require(&i.gpu, count, out),
            None => *count = 0,
        }
    }
}

pub(crate) unsafe fn get_device_image_sparse_memory_requirements(
    device: &Device,
    info: *const vk::DeviceImageMemoryRequirements,
    count: *mut u32,
    out: *mut vk::SparseImageMemoryRequirements2,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        match (*info).p_create_info.as_ref().and_then(|i| image::new(device, i).ok()) {
            Some(i) => require(&i, count, out),
            None => *count = 0,
        }
    }
}

pub(crate) unsafe fn get_physical_device_sparse_image_format_properties2(
    _: &PhysicalDevice,
    info: *const vk::PhysicalDeviceSparseImageFormatInfo2<'_>,
    count: *mut u32,
    out: *mut vk::SparseImageFormatProperties2<'_>,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let flags = vk::ImageCreateFlags::SPARSE_BINDING | vk::ImageCreateFlags::SPARSE_RESIDENCY;
        let can = crate::memory::formats::image_properties(i.format, i.ty, i.tiling, i.usage, flags)
            .is_ok_and(|p| p.sample_counts.contains(i.samples));
        let format = texel::format::info(i.format).filter(|_| can);
        let blocks = format.map_or(vec![], |f| texel::image::blocks::shapes(f, i.ty, i.samples.as_raw()));
        let _ = chain::fill_with(blocks.len(), count, out, |out, k| {
            let (aspect, format, shape) = blocks[k];
            out.properties = block(aspect, format, shape);
        });
    }
}
