//! VK_EXT_host_image_copy: copies between images and the application's memory, on the calling thread. The application
//! orders them with the device's work; layouts are all the same.

use crate::base::chain;
use crate::device::Device;
use crate::memory::image;
use texel::transfer;

/// Whether a region lies in its level of the image; how the application's memory is laid out follows from the region, so
/// that of one that is cut nobody would know how much memory there is.
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

pub(crate) unsafe fn copy_memory_to_image(_: &Device, info: *const vk::CopyMemoryToImageInfo) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let Some(image) = image::get(i.dst_image) else { return vk::Result::ERROR_UNKNOWN };
        for r in chain::slice(i.p_regions, i.region_count).iter().filter(|r| !r.p_host_pointer.is_null()) {
            if fits(&image, &r.image_subresource, r.image_offset, r.image_extent) {
                transfer::copy_memory_to_image(&image, r, i.flags);
            }
        }
        vk::Result::SUCCESS
    }
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

pub(crate) unsafe fn copy_image_to_memory(
    device: &Device,
    info: *const vk::CopyImageToMemoryInfo,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let Some(image) = image::get(i.src_image) else { return vk::Result::ERROR_UNKNOWN };
        for r in chain::slice(i.p_regions, i.region_count).iter().filter(|r| !r.p_host_pointer.is_null()) {
            if fits(&image, &r.image_subresource, r.image_offset, r.image_extent) {
                let from = (r.image_offset, r.image_extent);
                reads(device, "vkCopyImageToMemory", &image, &r.image_subresource, from);
                transfer::copy_image_to_memory(&image, r, i.flags);
            }
        }
        vk::Result::SUCCESS
    }
}

pub(crate) unsafe fn copy_image_to_image(
    device: &Device,
    info: *const vk::CopyImageToImageInfo,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let (Some(src), Some(dst)) = (image::get(i.src_image), image::get(i.dst_image)) else {
            return vk::Result::ERROR_UNKNOWN;
        };
        for r in chain::slice(i.p_regions, i.region_count) {
            reads(device, "vkCopyImageToImage", &src, &r.src_subresource, (r.src_offset, r.extent));
            transfer::copy_image(&src, &dst, r);
        }
        vk::Result::SUCCESS
    }
}

/// All layouts are the same.
pub(crate) unsafe fn transition_image_layout(
    _: &Device,
    _count: u32,
    _: *const vk::HostImageLayoutTransitionInfo,
) -> vk::Result {
    vk::Result::SUCCESS
}
