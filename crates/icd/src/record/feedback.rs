//! Transform feedback (VK_EXT_transform_feedback).

use crate::base::chain;
use crate::memory::buffer;
use crate::record::command_buffer::CommandBuffer;
use gpu::command::{Command, CounterPlace};
use raster::draw::What;
use raster::geometry::feedback::Target;

/// Buffers that are bound for transform feedback.
pub(crate) type Bound = [Option<Target>; BUFFERS];
/// maxTransformFeedbackBuffers.
pub(crate) const BUFFERS: usize = shader::stage_io::FEEDBACK_BUFFERS;

pub(crate) unsafe fn cmd_bind_transform_feedback_buffers_ext(
    b: &CommandBuffer,
    first: u32,
    count: u32,
    buffers: *const vk::Buffer,
    offsets: *const vk::DeviceSize,
    sizes: *const vk::DeviceSize,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(mut r) = b.recording() else { return };
        let sizes = chain::slice(sizes, if sizes.is_null() { 0 } else { count });
        let given = chain::slice(buffers, count).iter().zip(chain::slice(offsets, count));
        for (i, (&handle, &offset)) in given.enumerate() {
            let Some(place) = r.draw.feedback.get_mut((first as usize).saturating_add(i)) else { break };
            let size = sizes.get(i).copied().unwrap_or(vk::WHOLE_SIZE);
            *place = buffer::get(handle).map(|buffer| Target { buffer, offset, size, written: 0 });
        }
    }
}

/// Where counters are, by buffer.
unsafe fn counters(
    first: u32,
    count: u32,
    buffers: *const vk::Buffer,
    offsets: *const vk::DeviceSize,
) -> [Option<CounterPlace>; BUFFERS] {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let mut out = [const { None }; BUFFERS];
        let count = if buffers.is_null() { 0 } else { count };
        let offsets = chain::slice(offsets, if offsets.is_null() { 0 } else { count });
        for (i, &handle) in chain::slice(buffers, count).iter().enumerate() {
            let Some(place) = out.get_mut((first as usize).saturating_add(i)) else { break };
            let offset = offsets.get(i).copied().unwrap_or(0);
            *place = buffer::get(handle).map(|buffer| CounterPlace { buffer, offset });
        }
        out
    }
}

pub(crate) unsafe fn cmd_begin_transform_feedback_ext(
    b: &CommandBuffer,
    first: u32,
    count: u32,
    buffers: *const vk::Buffer,
    offsets: *const vk::DeviceSize,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(mut r) = b.recording() else { return };
        let (targets, counters) = (r.draw.feedback.clone(), counters(first, count, buffers, offsets));
        r.push(Command::BeginFeedback { targets: Box::new(targets), counters: Box::new(counters) });
    }
}

pub(crate) unsafe fn cmd_end_transform_feedback_ext(
    b: &CommandBuffer,
    first: u32,
    count: u32,
    buffers: *const vk::Buffer,
    offsets: *const vk::DeviceSize,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(mut r) = b.recording() else { return };
        let counters = counters(first, count, buffers, offsets);
        r.push(Command::EndFeedback { counters: Box::new(counters) });
    }
}

pub(crate) unsafe fn cmd_draw_indirect_byte_count_ext(
    b: &CommandBuffer,
    instances: u32,
    first_instance: u32,
    counter: vk::Buffer,
    offset: vk::DeviceSize,
    counter_offset: u32,
    stride: u32,
) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(buffer) = buffer::get(counter) else { return };
        let what = What::ByteCount { buffer, offset, counter_offset, stride, instances, first_instance };
        super::draw::record(b, what);
    }
}
