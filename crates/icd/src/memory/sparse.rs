//! Sparse resources: what they need. The room `queue` binds memory to them.

use crate::base::given::{Call, In, List};
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

fn require(image: &texel::image::Image, out: List<vk::SparseImageMemoryRequirements2>) {
    let all: Vec<_> = image.layout.parts().collect();
    let _ = out.fill_with(all.len(), |mut out, i| {
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

pub(crate) fn get_image_sparse_memory_requirements2(
    _: &Device,
    info: In<vk::ImageSparseMemoryRequirementsInfo2>,
    out: List<vk::SparseImageMemoryRequirements2>,
) {
    match info.object::<Image>(info.image) {
        Some(i) => require(&i.gpu, out),
        None => drop(out.fill_with(0, |_, _| ())),
    }
}

pub(crate) fn get_device_image_sparse_memory_requirements(
    device: &Device,
    info: In<vk::DeviceImageMemoryRequirements>,
    out: List<vk::SparseImageMemoryRequirements2>,
) {
    match info.create_info().and_then(|i| image::new(device, i).ok()) {
        Some(i) => require(&i, out),
        None => drop(out.fill_with(0, |_, _| ())),
    }
}

pub(crate) fn get_physical_device_sparse_image_format_properties2(
    _: &PhysicalDevice,
    info: In<vk::PhysicalDeviceSparseImageFormatInfo2>,
    out: List<vk::SparseImageFormatProperties2>,
) {
    let i = info;
    let flags = vk::ImageCreateFlags::SPARSE_BINDING | vk::ImageCreateFlags::SPARSE_RESIDENCY;
    let can = crate::memory::formats::image_properties(i.format, i.ty, i.tiling, i.usage, flags)
        .is_ok_and(|p| p.sample_counts.contains(i.samples));
    let format = texel::format::info(i.format).filter(|_| can);
    let blocks = format.map_or(vec![], |f| texel::image::blocks::shapes(f, i.ty, i.samples.as_raw()));
    let _ = out.fill_with(blocks.len(), |mut out, k| {
        let (aspect, format, shape) = blocks[k];
        out.properties = block(aspect, format, shape);
    });
}
