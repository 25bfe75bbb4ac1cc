//! Images for tests, of this crate and of those above it.

use crate::image::Image;
use crate::memory::{Bound, DeviceMemory};
use ash::vk;
use std::sync::Arc;

/// An image with memory of its own, zeroed.
pub fn bound_image(info: &vk::ImageCreateInfo) -> Arc<Image> {
    let image = Image::new(info).unwrap();
    let memory = DeviceMemory::allocate(image.size(), 0, false).unwrap();
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
