//! Debug labels: begun and ended ones are recorded, for tools and messages; inserted ones where they are the channel's
//! marks.

use crate::base::given::In;
use crate::record::command_buffer::CommandBuffer;
use gpu::command::Command;

pub(crate) fn cmd_begin_debug_utils_label_ext(b: &CommandBuffer, info: In<vk::DebugUtilsLabelEXT>) {
    let name = info.label_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(mut r) = b.recording() {
        r.push(Command::BeginLabel(name));
    }
}

pub(crate) fn cmd_end_debug_utils_label_ext(b: &CommandBuffer) {
    if let Some(mut r) = b.recording() {
        r.push(Command::EndLabel);
    }
}

pub(crate) fn cmd_insert_debug_utils_label_ext(b: &CommandBuffer, info: In<vk::DebugUtilsLabelEXT>) {
    let label = info.label_name().unwrap_or_default().to_string_lossy();
    if let Some(mut r) = b.recording()
        && let Some(name) = gpu::channel::mark_name(&label)
    {
        r.push(Command::Mark(name.into()));
    }
}
