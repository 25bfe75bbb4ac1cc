//! Images and views for tests, of this crate and of those above it.

use crate::image::Image;
use crate::memory::{AddressSpace, Bound, DeviceMemory};
use crate::sample::ImageView;
use ash::vk;
use std::sync::{Arc, OnceLock};

/// Addresses of the device that tests of one process share.
pub fn space() -> &'static Arc<AddressSpace> {
    static SPACE: OnceLock<Arc<AddressSpace>> = OnceLock::new();
    SPACE.get_or_init(|| AddressSpace::new().expect("address space"))
}

/// An image with memory of its own, zeroed.
pub fn bound_image(info: &vk::ImageCreateInfo) -> Arc<Image> {
    let image = Image::new(space(), info).unwrap();
    if let Some(addresses) = image.sparse() {
        let memory = DeviceMemory::stored(space(), image.size(), 0).unwrap();
        assert!(addresses.bind_part(0, image.size(), Some((memory, 0))));
        return Arc::new(image);
    }
    let memory = DeviceMemory::allocate(space(), image.size(), 0, false).unwrap();
    assert!(image.bind(Bound { memory, offset: 0 }));
    Arc::new(image)
}

/// A 2D image of one level.
pub fn image_2d(format: vk::Format, w: u32, h: u32) -> Arc<Image> {
    bound_image(&info_2d(format, w, h))
}

pub fn info_2d(format: vk::Format, w: u32, h: u32) -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D { width: w, height: h, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
}

/// A view of all of an image.
pub fn view(image: &Arc<Image>, t: vk::ImageViewType, swizzle: vk::ComponentMapping) -> ImageView {
    let aspect = match image.format {
        f if f.has_depth() => vk::ImageAspectFlags::DEPTH,
        f if f.has_stencil() => vk::ImageAspectFlags::STENCIL,
        _ => vk::ImageAspectFlags::COLOR,
    };
    let info = vk::ImageViewCreateInfo::default()
        .view_type(t)
        .format(image.format.format)
        .components(swizzle)
        .subresource_range(vk::ImageSubresourceRange {
            aspect_mask: aspect,
            base_mip_level: 0,
            level_count: vk::REMAINING_MIP_LEVELS,
            base_array_layer: 0,
            layer_count: vk::REMAINING_ARRAY_LAYERS,
        });
    ImageView::new(image.clone(), &info, 0.0).unwrap()
}

/// The same with its own channels.
pub fn plain(image: &Arc<Image>, t: vk::ImageViewType) -> ImageView {
    view(image, t, vk::ComponentMapping::default())
}

/// Fills a level of a layer with blocks, row by row.
pub fn fill(image: &Image, mip: u32, layer: u32, data: &[u8]) {
    let aspects = [vk::ImageAspectFlags::COLOR | vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL];
    let s = aspects.into_iter().find_map(|a| image.surface(a, mip)).unwrap();
    let row = (s.blocks[0] * s.format.block_bytes) as usize;
    for (i, r) in data.chunks(row).enumerate() {
        let (y, z) = (i as u32 % s.blocks[1], i as u32 / s.blocks[1]);
        let bytes = s.format.block_bytes as usize;
        let put = |to: *mut u8, first: u32, n: u32| {
            let r = &r[first as usize * bytes..][..n as usize * bytes];
            // SAFETY: within what the test has made.
            unsafe { std::ptr::copy_nonoverlapping(r.as_ptr(), to, r.len()) }
        };
        // SAFETY: as above.
        unsafe { s.stretches([0, y, z], 0, layer, s.blocks[0], put) };
    }
}
