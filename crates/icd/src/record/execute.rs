//! Secondary command buffers, conditional rendering.

use crate::base::chain;
use crate::base::object;
use crate::record::command_buffer::CommandBuffer;
use gpu::command::Command;

pub(crate) unsafe fn cmd_execute_commands(b: &CommandBuffer, count: u32, buffers: *const vk::CommandBuffer) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let lists: Vec<_> = chain::slice(buffers, count)
            .iter()
            .filter_map(|&s| object::get::<CommandBuffer>(s)?.execute())
            .collect();
        let Some(mut r) = b.recording() else { return };
        if r.instrumentation.is_some() {
            // Secondary command buffers have their own objects: this one goes on behind them.
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
}

pub(crate) unsafe fn cmd_begin_conditional_rendering_ext(
    b: &CommandBuffer,
    info: *const vk::ConditionalRenderingBeginInfoEXT,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let (Some(buffer), Some(mut r)) = (crate::memory::buffer::get(i.buffer), b.recording()) else {
            return;
        };
        let inverted = i.flags.contains(vk::ConditionalRenderingFlagsEXT::INVERTED);
        r.push(Command::BeginConditional { buffer, offset: i.offset, inverted });
    }
}

pub(crate) unsafe fn cmd_end_conditional_rendering_ext(b: &CommandBuffer) {
    if let Some(mut r) = b.recording() {
        r.push(Command::EndConditional);
    }
}

/// A device group of one: the only mask is the one that is set already.
pub(crate) unsafe fn cmd_set_device_mask(b: &CommandBuffer, _: u32) {
    b.recording();
}
