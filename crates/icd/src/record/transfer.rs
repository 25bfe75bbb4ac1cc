//! Copies, fills, updates, clears, blits, resolves.

use crate::base::chain;
use crate::memory::buffer;
use crate::memory::image;
use crate::record::command_buffer::CommandBuffer;
use gpu::command::Command;
use std::ffi::c_void;

/// Bytes of an update: the specification's bound, which also keeps a wrong size from reading far.
pub(crate) const MAX_UPDATE: u64 = 65536;

/// Copies region structures without their chains, which nothing reads later. Unsafe, as [`chain::slice`] is.
macro_rules! regions {
    ($regions:expr, $count:expr, $ty:ident { $($field:ident),* $(,)? }) => {
        chain::slice($regions, $count)
            .iter()
            .map(|r| vk::$ty { $($field: r.$field,)* ..Default::default() })
            .collect()
    };
}

pub(crate) unsafe fn cmd_copy_buffer2(b: &CommandBuffer, info: *const vk::CopyBufferInfo2) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let (Some(src), Some(dst)) = (buffer::get(i.src_buffer), buffer::get(i.dst_buffer)) else { return };
        let regions = regions!(i.p_regions, i.region_count, BufferCopy2 { src_offset, dst_offset, size });
        if let Some(mut r) = b.recording() {
            r.push(Command::CopyBuffer { src, dst, regions });
        }
    }
}

pub(crate) unsafe fn cmd_update_buffer(
    b: &CommandBuffer,
    dst: vk::Buffer,
    offset: u64,
    size: u64,
    data: *const c_void,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(dst) = buffer::get(dst) else { return };
        let data = chain::slice(data.cast::<u8>(), size.min(MAX_UPDATE) as u32).to_vec();
        if let Some(mut r) = b.recording() {
            r.push(Command::UpdateBuffer { dst, offset, data });
        }
    }
}

pub(crate) unsafe fn cmd_fill_buffer(b: &CommandBuffer, dst: vk::Buffer, offset: u64, size: u64, value: u32) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        if let (Some(dst), Some(mut r)) = (buffer::get(dst), b.recording()) {
            r.push(Command::FillBuffer { dst, offset, size, value });
        }
    }
}

pub(crate) unsafe fn cmd_copy_image2(b: &CommandBuffer, info: *const vk::CopyImageInfo2) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let (Some(src), Some(dst)) = (image::get(i.src_image), image::get(i.dst_image)) else { return };
        let regions = regions!(
            i.p_regions,
            i.region_count,
            ImageCopy2 { src_subresource, src_offset, dst_subresource, dst_offset, extent }
        );
        if let Some(mut r) = b.recording() {
            r.push(Command::CopyImage { src, dst, regions });
        }
    }
}

unsafe fn buffer_image(
    regions: *const vk::BufferImageCopy2,
    count: u32,
) -> Vec<vk::BufferImageCopy2<'static>> {
    // SAFETY: valid usage: as many regions as counted.
    unsafe {
        regions!(
            regions,
            count,
            BufferImageCopy2 {
                buffer_offset,
                buffer_row_length,
                buffer_image_height,
                image_subresource,
                image_offset,
                image_extent,
            }
        )
    }
}

pub(crate) unsafe fn cmd_copy_buffer_to_image2(b: &CommandBuffer, info: *const vk::CopyBufferToImageInfo2) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let (Some(src), Some(dst)) = (buffer::get(i.src_buffer), image::get(i.dst_image)) else { return };
        let regions = buffer_image(i.p_regions, i.region_count);
        if let Some(mut r) = b.recording() {
            r.push(Command::CopyBufferToImage { src, dst, regions });
        }
    }
}

pub(crate) unsafe fn cmd_copy_image_to_buffer2(b: &CommandBuffer, info: *const vk::CopyImageToBufferInfo2) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let (Some(src), Some(dst)) = (image::get(i.src_image), buffer::get(i.dst_buffer)) else { return };
        let regions = buffer_image(i.p_regions, i.region_count);
        if let Some(mut r) = b.recording() {
            r.push(Command::CopyImageToBuffer { src, dst, regions });
        }
    }
}

pub(crate) unsafe fn cmd_blit_image2(b: &CommandBuffer, info: *const vk::BlitImageInfo2) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let (Some(src), Some(dst)) = (image::get(i.src_image), image::get(i.dst_image)) else { return };
        let regions = regions!(
            i.p_regions,
            i.region_count,
            ImageBlit2 { src_subresource, src_offsets, dst_subresource, dst_offsets }
        );
        if let Some(mut r) = b.recording() {
            r.push(Command::BlitImage { src, dst, regions, filter: i.filter });
        }
    }
}

pub(crate) unsafe fn cmd_resolve_image2(b: &CommandBuffer, info: *const vk::ResolveImageInfo2) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let (Some(src), Some(dst)) = (image::get(i.src_image), image::get(i.dst_image)) else { return };
        let regions = regions!(
            i.p_regions,
            i.region_count,
            ImageResolve2 { src_subresource, src_offset, dst_subresource, dst_offset, extent }
        );
        if let Some(mut r) = b.recording() {
            let modes = chain::find::<vk::ResolveImageModeInfoKHR>(i.p_next)
                .map(|m| [m.resolve_mode, m.stencil_resolve_mode]);
            r.push(Command::ResolveImage { src, dst, regions, modes });
        }
    }
}

pub(crate) unsafe fn cmd_clear_color_image(
    b: &CommandBuffer,
    dst: vk::Image,
    _: vk::ImageLayout,
    value: *const vk::ClearColorValue,
    count: u32,
    ranges: *const vk::ImageSubresourceRange,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let (Some(dst), Some(mut r)) = (image::get(dst), b.recording()) {
            let ranges = chain::slice(ranges, count).to_vec();
            r.push(Command::ClearColorImage { dst, value: *value, ranges });
        }
    }
}

pub(crate) unsafe fn cmd_clear_depth_stencil_image(
    b: &CommandBuffer,
    dst: vk::Image,
    _: vk::ImageLayout,
    value: *const vk::ClearDepthStencilValue,
    count: u32,
    ranges: *const vk::ImageSubresourceRange,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let (Some(dst), Some(mut r)) = (image::get(dst), b.recording()) {
            let ranges = chain::slice(ranges, count).to_vec();
            r.push(Command::ClearDepthStencilImage { dst, value: *value, ranges });
        }
    }
}
