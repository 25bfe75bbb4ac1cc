//! Commands that name memory by its device address (VK_KHR_device_address_commands, VK_KHR_copy_memory_indirect): each
//! is recorded as the one that names a buffer, of which the range is all.

use super::draw;
use super::feedback::BUFFERS;
use crate::base::given::{Call, In};
use crate::device::query_pool::QueryPool;
use crate::instance::limits::MAX_BINDINGS;
use crate::memory::image;
use crate::record::command_buffer::CommandBuffer;
use gpu::command::{Command, CounterPlace};
use raster::draw::{IndexBuffer, VertexBuffer, What};
use raster::geometry::feedback::Target;
use std::sync::Arc;
use texel::buffer::Buffer;

/// The buffer that a range of the device's memory makes, cut where its allocation ends, as a buffer's range is cut where the buffer ends.
/// Where the address is not device memory, a command is recorded that loses the device, as a shader does that accesses such an address.
pub(super) fn range(b: &CommandBuffer, address: u64, size: u64, call: &'static str) -> Option<Arc<Buffer>> {
    let Some(whole) = Buffer::from(&b.space, address) else {
        crate::base::debug::log_error(&format!("{call}: {size} bytes at {address:#x} are not device memory"));
        if let Some(mut r) = b.recording() {
            r.push(Command::Wild { address, call });
        }
        return None;
    };
    let there = whole.size;
    if size > there {
        crate::base::debug::log_error(&format!(
            "{call}: {size} bytes at {address:#x}, where an allocation has {there} bytes left: cut to those"
        ));
    }
    Some(Arc::new(Buffer { size: size.min(there), ..whole }))
}

fn plain(b: &CommandBuffer, r: &vk::DeviceAddressRangeKHR, call: &'static str) -> Option<Arc<Buffer>> {
    range(b, r.address, r.size, call)
}

/// As the older commands have it, strides are 32 bits.
fn stride(s: u64) -> u32 {
    s.min(u32::MAX as u64) as u32
}

pub(crate) fn cmd_bind_index_buffer3_khr(b: &CommandBuffer, info: In<vk::BindIndexBuffer3InfoKHR>) {
    let i = info;
    let at = &i.address_range;
    let buffer = if at.address == 0 { None } else { plain(b, at, "vkCmdBindIndexBuffer3KHR") };
    let Some(mut r) = b.recording() else { return };
    let (ty, restart) = (i.index_type, IndexBuffer::all_ones(i.index_type));
    r.draw.index = Some(IndexBuffer { buffer, offset: 0, size: vk::WHOLE_SIZE, ty, restart });
}

pub(crate) fn cmd_bind_vertex_buffers3_khr(
    b: &CommandBuffer,
    first: u32,
    infos: In<[vk::BindVertexBuffer3InfoKHR]>,
) {
    for (at, i) in (first as usize..MAX_BINDINGS).zip(infos) {
        let a = &i.address_range;
        let buffer = match a.address {
            0 => None,
            from => range(b, from, a.size, "vkCmdBindVertexBuffers3KHR"),
        };
        let Some(mut r) = b.recording() else { return };
        r.draw.bind(at, VertexBuffer { buffer, offset: 0, size: vk::WHOLE_SIZE });
        if i.set_stride != 0 {
            r.draw.change().input.strides[at] = stride(a.stride);
        }
    }
}

fn indirect(b: &CommandBuffer, i: In<vk::DrawIndirect2InfoKHR>, indexed: bool) {
    let a = &i.address_range;
    let Some(buffer) = range(b, a.address, a.size, "vkCmdDrawIndirect2KHR") else { return };
    let (draws, stride) = (i.draw_count, stride(a.stride));
    draw::record(b, What::Indirect { indexed, buffer, offset: 0, draws, stride, count: None });
}

pub(crate) fn cmd_draw_indirect2_khr(b: &CommandBuffer, info: In<vk::DrawIndirect2InfoKHR>) {
    indirect(b, info, false)
}

pub(crate) fn cmd_draw_indexed_indirect2_khr(b: &CommandBuffer, info: In<vk::DrawIndirect2InfoKHR>) {
    indirect(b, info, true)
}

fn indirect_count(b: &CommandBuffer, i: In<vk::DrawIndirectCount2InfoKHR>, indexed: bool) {
    const OF: &str = "vkCmdDrawIndirectCount2KHR";
    let a = &i.address_range;
    let (Some(buffer), Some(count)) = (range(b, a.address, a.size, OF), plain(b, &i.count_address_range, OF))
    else {
        return;
    };
    let (draws, stride, count) = (i.max_draw_count, stride(a.stride), Some((count, 0)));
    draw::record(b, What::Indirect { indexed, buffer, offset: 0, draws, stride, count });
}

pub(crate) fn cmd_draw_indirect_count2_khr(b: &CommandBuffer, info: In<vk::DrawIndirectCount2InfoKHR>) {
    indirect_count(b, info, false)
}

pub(crate) fn cmd_draw_indexed_indirect_count2_khr(
    b: &CommandBuffer,
    info: In<vk::DrawIndirectCount2InfoKHR>,
) {
    indirect_count(b, info, true)
}

pub(crate) fn cmd_dispatch_indirect2_khr(b: &CommandBuffer, info: In<vk::DispatchIndirect2InfoKHR>) {
    let i = info;
    let Some(buffer) = plain(b, &i.address_range, "vkCmdDispatchIndirect2KHR") else { return };
    let Some(mut r) = b.recording() else { return };
    if let Some(dispatch) = super::dispatch::prepare(&mut r, [0; 3]) {
        r.push(Command::DispatchIndirect { dispatch, buffer, offset: 0 });
    }
}

pub(crate) fn cmd_begin_conditional_rendering2_ext(
    b: &CommandBuffer,
    info: In<vk::ConditionalRenderingBeginInfo2EXT>,
) {
    let i = info;
    let Some(buffer) = plain(b, &i.address_range, "vkCmdBeginConditionalRendering2EXT") else { return };
    let Some(mut r) = b.recording() else { return };
    let inverted = i.flags.contains(vk::ConditionalRenderingFlagsEXT::INVERTED);
    r.push(Command::BeginConditional { buffer, offset: 0, inverted });
}

pub(crate) fn cmd_copy_memory_khr(b: &CommandBuffer, info: Option<In<vk::CopyDeviceMemoryInfoKHR>>) {
    const OF: &str = "vkCmdCopyMemoryKHR";
    let Some(info) = info else { return };
    for c in info.regions() {
        let size = c.src_range.size.min(c.dst_range.size);
        let whole = vk::BufferCopy2::default().size(size);
        if let (Some(src), Some(dst)) = (plain(b, &c.src_range, OF), plain(b, &c.dst_range, OF))
            && let Some(mut r) = b.recording()
        {
            r.push(Command::CopyBuffer { call: OF, src, dst, regions: [whole].into_iter().collect() });
        }
    }
}

/// The regions of copies between memory and an image, with the memory of each.
fn with_image<'a>(
    b: &'a CommandBuffer,
    info: In<'a, vk::CopyDeviceMemoryImageInfoKHR<'a>>,
    of: &'static str,
) -> impl Iterator<Item = (Arc<Buffer>, vk::BufferImageCopy2<'static>)> + 'a {
    let regions = info.regions();
    regions.iter().filter_map(move |r| {
        let region = vk::BufferImageCopy2 {
            buffer_row_length: r.address_row_length,
            buffer_image_height: r.address_image_height,
            image_subresource: r.image_subresource,
            image_offset: r.image_offset,
            image_extent: r.image_extent,
            ..Default::default()
        };
        Some((plain(b, &r.address_range, of)?, region))
    })
}

pub(crate) fn cmd_copy_memory_to_image_khr(
    b: &CommandBuffer,
    info: Option<In<vk::CopyDeviceMemoryImageInfoKHR>>,
) {
    let Some(info) = info else { return };
    let Some(dst) = image::get(b, info.image) else { return };
    for (src, region) in with_image(b, info, "vkCmdCopyMemoryToImageKHR") {
        let Some(mut r) = b.recording() else { return };
        r.push(Command::CopyBufferToImage { src, dst: dst.clone(), regions: vec![region] });
    }
}

pub(crate) fn cmd_copy_image_to_memory_khr(
    b: &CommandBuffer,
    info: Option<In<vk::CopyDeviceMemoryImageInfoKHR>>,
) {
    let Some(info) = info else { return };
    let Some(src) = image::get(b, info.image) else { return };
    for (dst, region) in with_image(b, info, "vkCmdCopyImageToMemoryKHR") {
        let Some(mut r) = b.recording() else { return };
        r.push(Command::CopyImageToBuffer { src: src.clone(), dst, regions: vec![region] });
    }
}

pub(crate) fn cmd_update_memory_khr(
    b: &CommandBuffer,
    to: &vk::DeviceAddressRangeKHR,
    _: vk::AddressCommandFlagsKHR,
    data: &[u8],
) {
    let Some(dst) = plain(b, to, "vkCmdUpdateMemoryKHR") else { return };
    let data = data[..data.len().min(super::transfer::MAX_UPDATE)].to_vec();
    if let Some(mut r) = b.recording() {
        r.push(Command::UpdateBuffer { dst, offset: 0, data });
    }
}

pub(crate) fn cmd_fill_memory_khr(
    b: &CommandBuffer,
    to: &vk::DeviceAddressRangeKHR,
    _: vk::AddressCommandFlagsKHR,
    value: u32,
) {
    let Some(dst) = plain(b, to, "vkCmdFillMemoryKHR") else { return };
    if let Some(mut r) = b.recording() {
        r.push(Command::FillBuffer { dst, offset: 0, size: vk::WHOLE_SIZE, value });
    }
}

pub(crate) fn cmd_copy_query_pool_results_to_memory_khr(
    b: &CommandBuffer,
    pool: vk::QueryPool,
    first: u32,
    count: u32,
    to: &vk::StridedDeviceAddressRangeKHR,
    _: vk::AddressCommandFlagsKHR,
    flags: vk::QueryResultFlags,
) {
    let Some(pool) = b.object::<QueryPool>(pool).map(|p| p.gpu.clone()) else { return };
    let Some(dst) = range(b, to.address, to.size, "vkCmdCopyQueryPoolResultsToMemoryKHR") else { return };
    let Some(mut r) = b.recording() else { return };
    let stride = to.stride;
    r.push(Command::CopyQueryResults { pool, first, count, dst, offset: 0, stride, flags });
}

pub(crate) fn cmd_copy_memory_indirect_khr(b: &CommandBuffer, info: In<vk::CopyMemoryIndirectInfoKHR>) {
    let i = info;
    let a = &i.copy_address_range;
    let Some(copies) = range(b, a.address, a.size, "vkCmdCopyMemoryIndirectKHR") else { return };
    if let Some(mut r) = b.recording() {
        r.push(Command::CopyMemoryIndirect { copies, stride: a.stride, count: i.copy_count });
    }
}

pub(crate) fn cmd_copy_memory_to_image_indirect_khr(
    b: &CommandBuffer,
    info: In<vk::CopyMemoryToImageIndirectInfoKHR>,
) {
    let i = info;
    let a = &i.copy_address_range;
    let Some(copies) = range(b, a.address, a.size, "vkCmdCopyMemoryToImageIndirectKHR") else { return };
    let Some(dst) = image::get(b, i.dst_image) else { return };
    let layers = i.image_subresources().to_vec();
    if let Some(mut r) = b.recording() {
        r.push(Command::CopyMemoryToImageIndirect { copies, stride: a.stride, dst, layers });
    }
}

pub(crate) fn cmd_bind_transform_feedback_buffers2_ext(
    b: &CommandBuffer,
    first: u32,
    infos: In<[vk::BindTransformFeedbackBuffer2InfoEXT]>,
) {
    for (at, i) in (first as usize..BUFFERS).zip(infos) {
        let buffer = plain(b, &i.address_range, "vkCmdBindTransformFeedbackBuffers2EXT");
        let Some(mut r) = b.recording() else { return };
        r.draw.feedback[at] =
            buffer.map(|buffer| Target { buffer, offset: 0, size: vk::WHOLE_SIZE, written: 0 });
    }
}

/// Where counters are, by buffer; those without an address are none.
fn counters(
    b: &CommandBuffer,
    first: u32,
    infos: In<[vk::BindTransformFeedbackBuffer2InfoEXT]>,
) -> Box<[Option<CounterPlace>; BUFFERS]> {
    let mut out = Box::new([const { None }; BUFFERS]);
    for (place, i) in out.iter_mut().skip(first as usize).zip(infos) {
        if i.address_range.address != 0 {
            let buffer = plain(b, &i.address_range, "vkCmdBeginTransformFeedback2EXT");
            *place = buffer.map(|buffer| CounterPlace { buffer, offset: 0 });
        }
    }
    out
}

pub(crate) fn cmd_begin_transform_feedback2_ext(
    b: &CommandBuffer,
    first: u32,
    infos: In<[vk::BindTransformFeedbackBuffer2InfoEXT]>,
) {
    let counters = counters(b, first, infos);
    let Some(mut r) = b.recording() else { return };
    let targets = Box::new(r.draw.feedback.clone());
    r.push(Command::BeginFeedback { targets, counters });
}

pub(crate) fn cmd_end_transform_feedback2_ext(
    b: &CommandBuffer,
    first: u32,
    infos: In<[vk::BindTransformFeedbackBuffer2InfoEXT]>,
) {
    let counters = counters(b, first, infos);
    if let Some(mut r) = b.recording() {
        r.push(Command::EndFeedback { counters });
    }
}

pub(crate) fn cmd_draw_indirect_byte_count2_ext(
    b: &CommandBuffer,
    instances: u32,
    first_instance: u32,
    counter: In<vk::BindTransformFeedbackBuffer2InfoEXT>,
    counter_offset: u32,
    stride: u32,
) {
    let at = &counter.address_range;
    let Some(buffer) = plain(b, at, "vkCmdDrawIndirectByteCount2EXT") else { return };
    draw::record(b, What::ByteCount { buffer, offset: 0, counter_offset, stride, instances, first_instance });
}

pub(crate) fn cmd_draw_mesh_tasks_indirect2_ext(b: &CommandBuffer, info: In<vk::DrawIndirect2InfoKHR>) {
    let i = info;
    let a = &i.address_range;
    let Some(buffer) = range(b, a.address, a.size, "vkCmdDrawMeshTasksIndirect2EXT") else { return };
    let (draws, stride) = (i.draw_count, stride(a.stride));
    draw::record(b, What::MeshIndirect { buffer, offset: 0, draws, stride, count: None });
}

pub(crate) fn cmd_draw_mesh_tasks_indirect_count2_ext(
    b: &CommandBuffer,
    info: In<vk::DrawIndirectCount2InfoKHR>,
) {
    const OF: &str = "vkCmdDrawMeshTasksIndirectCount2EXT";
    let i = info;
    let a = &i.address_range;
    let (Some(buffer), Some(count)) = (range(b, a.address, a.size, OF), plain(b, &i.count_address_range, OF))
    else {
        return;
    };
    let (draws, stride, count) = (i.max_draw_count, stride(a.stride), Some((count, 0)));
    draw::record(b, What::MeshIndirect { buffer, offset: 0, draws, stride, count });
}
