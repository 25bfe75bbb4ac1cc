//! Secondary command buffers, conditional rendering.

use crate::base::given::{Call, In};
use crate::record::command_buffer::CommandBuffer;
use gpu::command::Command;

pub(crate) fn cmd_execute_commands(b: &CommandBuffer, buffers: &[vk::CommandBuffer]) {
    let lists: Vec<_> = buffers.iter().filter_map(|&s| b.object::<CommandBuffer>(s)?.execute()).collect();
    let Some(mut r) = b.recording() else { return };
    if r.instrumentation.is_some() {
        // Secondary command buffers have their own objects; this one's continue after them.
        crate::base::debug::log_error(
            "vkCmdExecuteCommands while shader instrumentation is active (VUID 12373)",
        );
    }
    r.depth = lists.iter().map(|l| l.depth + 1).max().unwrap_or(0).max(r.depth);
    r.push(Command::Execute(lists));
    // Bound state is undefined after executing a secondary buffer (§ Secondary Command Buffer Execution).
    r.compute = Default::default();
    r.graphics = Default::default();
    r.draw = Default::default();
}

pub(crate) fn cmd_begin_conditional_rendering_ext(
    b: &CommandBuffer,
    info: In<vk::ConditionalRenderingBeginInfoEXT>,
) {
    let i = info;
    let (Some(buffer), Some(mut r)) = (crate::memory::buffer::get(b, i.buffer), b.recording()) else {
        return;
    };
    let inverted = i.flags.contains(vk::ConditionalRenderingFlagsEXT::INVERTED);
    r.push(Command::BeginConditional { buffer, offset: i.offset, inverted });
}

pub(crate) fn cmd_end_conditional_rendering_ext(b: &CommandBuffer) {
    if let Some(mut r) = b.recording() {
        r.push(Command::EndConditional);
    }
}

/// A device group of one: the only mask is the one that is set already.
pub(crate) fn cmd_set_device_mask(b: &CommandBuffer, _: u32) {
    b.recording();
}
