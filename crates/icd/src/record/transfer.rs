//! Copies, fills, updates, clears, blits, resolves.

use crate::base::debug;
use crate::base::given::In;
use crate::memory::buffer;
use crate::memory::image;
use crate::memory::tensor;
use crate::record::command_buffer::CommandBuffer;
use gpu::command::Command;
use machine::tensor::Part;
use smallvec::SmallVec;

/// Bytes of an update: the specification's bound, which also keeps a wrong size from reading far.
pub(crate) const MAX_UPDATE: usize = 65536;

/// Copies region structures without their chains, which nothing reads later.
macro_rules! regions {
    ($regions:expr, $ty:ident { $($field:ident),* $(,)? }) => {
        $regions
            .iter()
            .map(|r| vk::$ty { $($field: r.$field,)* ..Default::default() })
            .collect()
    };
}

pub(crate) fn cmd_copy_buffer2(b: &CommandBuffer, info: In<vk::CopyBufferInfo2>) {
    let i = info;
    let (Some(src), Some(dst)) = (buffer::get(b, i.src_buffer), buffer::get(b, i.dst_buffer)) else { return };
    let regions = regions!(i.regions(), BufferCopy2 { src_offset, dst_offset, size });
    if let Some(mut r) = b.recording() {
        r.push(Command::CopyBuffer { call: "vkCmdCopyBuffer2", src, dst, regions });
    }
}

/// Runs of a tensor's bytes that one copy may consist of.
const MOST_RUNS: usize = 1 << 20;

pub(crate) fn cmd_copy_tensor_arm(b: &CommandBuffer, info: In<vk::CopyTensorInfoARM>) {
    let (Some((src, from)), Some((dst, to))) =
        (tensor::get(b, info.src_tensor), tensor::get(b, info.dst_tensor))
    else {
        return;
    };
    let mut regions = SmallVec::new();
    for r in info.regions() {
        let given = |p: *const u64, list: &[u64], whole: &[u64]| {
            if p.is_null() || r.dimension_count == 0 { whole.to_vec() } else { list.to_vec() }
        };
        let whole = Part::whole(&from);
        let part = Part {
            from: given(r.p_src_offset, r.src_offset(), &whole.from),
            to: given(r.p_dst_offset, r.dst_offset(), &whole.to),
            extent: given(r.p_extent, r.extent(), &whole.extent),
        };
        if !part.fits(&from, &to) {
            return debug::log_error(
                "vkCmdCopyTensorARM: a region lies outside a tensor, or the tensors differ in rank or element size",
            );
        }
        let Some(runs) = part.runs(&from, &to, MOST_RUNS) else {
            return debug::log_error("vkCmdCopyTensorARM: a region of more than 2^20 separate runs of bytes");
        };
        let region = |[src, dst, size]: [u64; 3]| {
            vk::BufferCopy2::default().src_offset(src).dst_offset(dst).size(size)
        };
        regions.extend(runs.into_iter().map(region));
    }
    if let Some(mut r) = b.recording() {
        r.push(Command::CopyBuffer { call: "vkCmdCopyTensorARM", src, dst, regions });
    }
}

pub(crate) fn cmd_update_buffer(b: &CommandBuffer, dst: vk::Buffer, offset: u64, data: &[u8]) {
    let Some(dst) = buffer::get(b, dst) else { return };
    let data = data[..data.len().min(MAX_UPDATE)].to_vec();
    if let Some(mut r) = b.recording() {
        r.push(Command::UpdateBuffer { dst, offset, data });
    }
}

pub(crate) fn cmd_fill_buffer(b: &CommandBuffer, dst: vk::Buffer, offset: u64, size: u64, value: u32) {
    if let (Some(dst), Some(mut r)) = (buffer::get(b, dst), b.recording()) {
        r.push(Command::FillBuffer { dst, offset, size, value });
    }
}

pub(crate) fn cmd_copy_image2(b: &CommandBuffer, info: In<vk::CopyImageInfo2>) {
    let i = info;
    let (Some(src), Some(dst)) = (image::get(b, i.src_image), image::get(b, i.dst_image)) else { return };
    let regions = regions!(
        i.regions(),
        ImageCopy2 { src_subresource, src_offset, dst_subresource, dst_offset, extent }
    );
    if let Some(mut r) = b.recording() {
        r.push(Command::CopyImage { src, dst, regions });
    }
}

fn buffer_image(regions: In<[vk::BufferImageCopy2]>) -> Vec<vk::BufferImageCopy2<'static>> {
    regions!(
        regions,
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

pub(crate) fn cmd_copy_buffer_to_image2(b: &CommandBuffer, info: In<vk::CopyBufferToImageInfo2>) {
    let i = info;
    let (Some(src), Some(dst)) = (buffer::get(b, i.src_buffer), image::get(b, i.dst_image)) else { return };
    let regions = buffer_image(i.regions());
    if let Some(mut r) = b.recording() {
        r.push(Command::CopyBufferToImage { src, dst, regions });
    }
}

pub(crate) fn cmd_copy_image_to_buffer2(b: &CommandBuffer, info: In<vk::CopyImageToBufferInfo2>) {
    let i = info;
    let (Some(src), Some(dst)) = (image::get(b, i.src_image), buffer::get(b, i.dst_buffer)) else { return };
    let regions = buffer_image(i.regions());
    if let Some(mut r) = b.recording() {
        r.push(Command::CopyImageToBuffer { src, dst, regions });
    }
}

pub(crate) fn cmd_blit_image2(b: &CommandBuffer, info: In<vk::BlitImageInfo2>) {
    let i = info;
    let (Some(src), Some(dst)) = (image::get(b, i.src_image), image::get(b, i.dst_image)) else { return };
    let regions =
        regions!(i.regions(), ImageBlit2 { src_subresource, src_offsets, dst_subresource, dst_offsets });
    if let Some(mut r) = b.recording() {
        r.push(Command::BlitImage { src, dst, regions, filter: i.filter });
    }
}

pub(crate) fn cmd_resolve_image2(b: &CommandBuffer, info: In<vk::ResolveImageInfo2>) {
    let i = info;
    let (Some(src), Some(dst)) = (image::get(b, i.src_image), image::get(b, i.dst_image)) else { return };
    let regions = regions!(
        i.regions(),
        ImageResolve2 { src_subresource, src_offset, dst_subresource, dst_offset, extent }
    );
    if let Some(mut r) = b.recording() {
        let modes = i.find::<vk::ResolveImageModeInfoKHR>().map(|m| [m.resolve_mode, m.stencil_resolve_mode]);
        r.push(Command::ResolveImage { src, dst, regions, modes });
    }
}

pub(crate) fn cmd_clear_color_image(
    b: &CommandBuffer,
    dst: vk::Image,
    _: vk::ImageLayout,
    value: &vk::ClearColorValue,
    ranges: &[vk::ImageSubresourceRange],
) {
    if let (Some(dst), Some(mut r)) = (image::get(b, dst), b.recording()) {
        let ranges = ranges.to_vec();
        r.push(Command::ClearColorImage { dst, value: *value, ranges });
    }
}

pub(crate) fn cmd_clear_depth_stencil_image(
    b: &CommandBuffer,
    dst: vk::Image,
    _: vk::ImageLayout,
    value: &vk::ClearDepthStencilValue,
    ranges: &[vk::ImageSubresourceRange],
) {
    if let (Some(dst), Some(mut r)) = (image::get(b, dst), b.recording()) {
        let ranges = ranges.to_vec();
        r.push(Command::ClearDepthStencilImage { dst, value: *value, ranges });
    }
}
