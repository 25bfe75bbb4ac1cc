//! VK_EXT_host_image_copy: copies between images and the application's memory, on the calling thread. The application
//! orders them with the device's work; layouts are all the same.

use crate::base::given::{Call, In};
use crate::device::Device;
use crate::memory::image;
use std::sync::Arc;
use texel::transfer;

/// Whether a region lies in its level of the image; how the application's memory is laid out follows from the region, so
/// if the region were clipped, the size of that memory would be unknown.
fn fits(
    image: &texel::image::Image,
    sub: &vk::ImageSubresourceLayers,
    at: vk::Offset3D,
    extent: vk::Extent3D,
) -> bool {
    let plane = image.layout.plane(sub.aspect_mask);
    let whole = plane.and_then(|p| p.mips.get(sub.mip_level as usize)).map_or([0; 3], |m| m.extent);
    let axes = [(at.x, extent.width), (at.y, extent.height), (at.z, extent.depth)];
    let good = axes.iter().zip(whole).all(|(&(at, n), all)| at >= 0 && at as u64 + n as u64 <= all as u64);
    if !good {
        crate::base::debug::log_error(&format!("a copy by the host of {extent:?} at {at:?}, of {whole:?}"));
    }
    good
}

/// An image that the host may copy.
fn get<'a>(call: impl Call<'a>, image: vk::Image) -> Option<Arc<texel::image::Image>> {
    let image = image::get(call, image)?;
    let protected = image.flags.contains(vk::ImageCreateFlags::PROTECTED);
    if protected {
        crate::base::debug::log_error("a copy by the host of a protected image");
    }
    Some(image).filter(|_| !protected)
}

pub(crate) fn copy_memory_to_image(device: &Device, info: In<vk::CopyMemoryToImageInfo>) -> vk::Result {
    let i = info;
    let Some(image) = get(info, i.dst_image) else { return vk::Result::ERROR_UNKNOWN };
    for r in i.regions().iter().filter(|r| !r.p_host_pointer.is_null()) {
        if fits(&image, &r.image_subresource, r.image_offset, r.image_extent) {
            // SAFETY: the region lies in the image, and so the application has what it covers (valid usage).
            unsafe { transfer::copy_memory_to_image(&image, &r, i.flags) };
            let sub = &r.image_subresource;
            gpu::hazards::host::copied(&device.gpu.shared, &image, sub, r.image_offset, r.image_extent);
        }
    }
    vk::Result::SUCCESS
}

/// The host reads a part of an image.
fn reads(
    device: &Device,
    call: &str,
    image: &texel::image::Image,
    sub: &vk::ImageSubresourceLayers,
    (at, extent): (vk::Offset3D, vk::Extent3D),
) {
    if image.discarded.any() {
        gpu::discarded::copied(&*device.gpu.shared.report, call, image, sub, at, extent);
    }
}

pub(crate) fn copy_image_to_memory(device: &Device, info: In<vk::CopyImageToMemoryInfo>) -> vk::Result {
    let i = info;
    let Some(image) = get(device, i.src_image) else { return vk::Result::ERROR_UNKNOWN };
    for r in i.regions().iter().filter(|r| !r.p_host_pointer.is_null()) {
        if fits(&image, &r.image_subresource, r.image_offset, r.image_extent) {
            let from = (r.image_offset, r.image_extent);
            reads(device, "vkCopyImageToMemory", &image, &r.image_subresource, from);
            // SAFETY: the region lies in the image, and so the application has room for it (valid usage).
            unsafe { transfer::copy_image_to_memory(&image, &r, i.flags) };
        }
    }
    vk::Result::SUCCESS
}

pub(crate) fn copy_image_to_image(device: &Device, info: In<vk::CopyImageToImageInfo>) -> vk::Result {
    let i = info;
    let (Some(src), Some(dst)) = (get(device, i.src_image), get(device, i.dst_image)) else {
        return vk::Result::ERROR_UNKNOWN;
    };
    for r in i.regions() {
        reads(device, "vkCopyImageToImage", &src, &r.src_subresource, (r.src_offset, r.extent));
        transfer::copy_image(&src, &dst, &r);
        gpu::hazards::host::copied(&device.gpu.shared, &dst, &r.dst_subresource, r.dst_offset, r.extent);
    }
    vk::Result::SUCCESS
}

/// All layouts are the same.
pub(crate) fn transition_image_layout(_: &Device, _: In<[vk::HostImageLayoutTransitionInfo]>) -> vk::Result {
    vk::Result::SUCCESS
}
