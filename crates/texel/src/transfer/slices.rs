//! The parts of an image that a region names.

use crate::format::PLANE_ASPECTS;
use crate::image::{Image, Surface};
use ash::vk;

/// The two-dimensional slices of a region: layers of 1D and 2D images, depth slices of 3D images.
#[derive(Clone, Copy)]
pub struct Slices {
    pub surface: Surface,
    first: u32,
    count: u32,
    is_3d: bool,
}

impl Slices {
    /// Slices of `layers` in one aspect: for 3D images the depth range `z .. z + depth`, for others the array layers.
    /// `None` if the subresource does not exist or the image has no memory.
    pub fn new(
        image: &Image,
        aspect: vk::ImageAspectFlags,
        layers: &vk::ImageSubresourceLayers,
        z: i32,
        depth: u32,
    ) -> Option<Slices> {
        let surface = image.surface(aspect, layers.mip_level)?;
        let is_3d = image.image_type == vk::ImageType::TYPE_3D;
        let (first, count, all) = if is_3d {
            (u32::try_from(z).ok()?, depth, surface.extent[2])
        } else {
            (layers.base_array_layer, layers.layer_count, surface.layers)
        };
        if first >= all {
            return None;
        }
        Some(Slices { surface, first, count: count.min(all - first), is_3d })
    }

    pub fn count(&self) -> u32 {
        self.count
    }

    /// (z, layer) of a slice.
    pub fn at(&self, i: u32) -> (u32, u32) {
        if self.is_3d { (self.first + i, 0) } else { (0, self.first + i) }
    }
}

/// The aspects in a mask, one by one.
pub fn aspects(mask: vk::ImageAspectFlags) -> impl Iterator<Item = vk::ImageAspectFlags> {
    let [p0, p1, p2] = PLANE_ASPECTS;
    [vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL, p0, p1, p2]
        .into_iter()
        .filter(move |&a| mask.contains(a))
}
