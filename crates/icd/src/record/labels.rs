//! Debug labels: begun and ended ones are recorded, for tools and messages; inserted ones where they are the channel's
//! marks.

use crate::base::chain;
use crate::record::command_buffer::CommandBuffer;
use gpu::command::Command;

pub(crate) unsafe fn cmd_begin_debug_utils_label_ext(b: &CommandBuffer, info: *const vk::DebugUtilsLabelEXT) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let name = chain::str((*info).p_label_name).to_string_lossy().into_owned();
        if let Some(mut r) = b.recording() {
            r.push(Command::BeginLabel(name));
        }
    }
}

pub(crate) unsafe fn cmd_end_debug_utils_label_ext(b: &CommandBuffer) {
    if let Some(mut r) = b.recording() {
        r.push(Command::EndLabel);
    }
}

pub(crate) unsafe fn cmd_insert_debug_utils_label_ext(
    b: &CommandBuffer,
    info: *const vk::DebugUtilsLabelEXT,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let label = chain::str((*info).p_label_name).to_string_lossy();
        if let Some(mut r) = b.recording()
            && let Some(name) = gpu::channel::mark_name(&label)
        {
            r.push(Command::Mark(name.into()));
        }
    }
}
