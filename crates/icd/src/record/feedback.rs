//! Transform feedback (VK_EXT_transform_feedback).

use crate::memory::buffer;
use crate::record::command_buffer::CommandBuffer;
use gpu::command::{Command, CounterPlace};
use raster::draw::What;
use raster::geometry::feedback::Target;

/// Buffers that are bound for transform feedback.
pub(crate) type Bound = [Option<Target>; BUFFERS];
/// maxTransformFeedbackBuffers.
pub(crate) const BUFFERS: usize = shader::stage_io::FEEDBACK_BUFFERS;

pub(crate) fn cmd_bind_transform_feedback_buffers_ext(
    b: &CommandBuffer,
    first: u32,
    buffers: &[vk::Buffer],
    offsets: &[vk::DeviceSize],
    sizes: &[vk::DeviceSize],
) {
    let Some(mut r) = b.recording() else { return };
    let given = buffers.iter().zip(offsets);
    for (i, (&handle, &offset)) in given.enumerate() {
        let Some(place) = r.draw.feedback.get_mut((first as usize).saturating_add(i)) else { break };
        let size = sizes.get(i).copied().unwrap_or(vk::WHOLE_SIZE);
        *place = buffer::get(b, handle).map(|buffer| Target { buffer, offset, size, written: 0 });
    }
}

/// Where counters are, by buffer.
fn counters(
    b: &CommandBuffer,
    first: u32,
    buffers: &[vk::Buffer],
    offsets: &[vk::DeviceSize],
) -> [Option<CounterPlace>; BUFFERS] {
    let mut out = [const { None }; BUFFERS];
    for (i, &handle) in buffers.iter().enumerate() {
        let Some(place) = out.get_mut((first as usize).saturating_add(i)) else { break };
        let offset = offsets.get(i).copied().unwrap_or(0);
        *place = buffer::get(b, handle).map(|buffer| CounterPlace { buffer, offset });
    }
    out
}

pub(crate) fn cmd_begin_transform_feedback_ext(
    b: &CommandBuffer,
    first: u32,
    buffers: &[vk::Buffer],
    offsets: &[vk::DeviceSize],
) {
    let Some(mut r) = b.recording() else { return };
    let (targets, counters) = (r.draw.feedback.clone(), counters(b, first, buffers, offsets));
    r.push(Command::BeginFeedback { targets: Box::new(targets), counters: Box::new(counters) });
}

pub(crate) fn cmd_end_transform_feedback_ext(
    b: &CommandBuffer,
    first: u32,
    buffers: &[vk::Buffer],
    offsets: &[vk::DeviceSize],
) {
    let Some(mut r) = b.recording() else { return };
    let counters = counters(b, first, buffers, offsets);
    r.push(Command::EndFeedback { counters: Box::new(counters) });
}

pub(crate) fn cmd_draw_indirect_byte_count_ext(
    b: &CommandBuffer,
    instances: u32,
    first_instance: u32,
    counter: vk::Buffer,
    offset: vk::DeviceSize,
    counter_offset: u32,
    stride: u32,
) {
    let Some(buffer) = buffer::get(b, counter) else { return };
    let what = What::ByteCount { buffer, offset, counter_offset, stride, instances, first_instance };
    super::draw::record(b, what);
}
