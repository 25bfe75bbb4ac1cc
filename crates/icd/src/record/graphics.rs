//! Render passes and draws.
//!
//! **What holds until the graphics stages exist.** Graphics pipelines can't be created, so no valid command buffer
//! draws: draws record nothing. Render passes may be begun and ended without drawing, and state may be set; of that,
//! the state is kept (see [`super::dynamic_state`]), and load operations, clears and stores of attachments are not
//! carried out. The driver reports no format as an attachment, so that no valid program can notice.

use crate::command_buffer::CommandBuffer;

/// State of graphics commands that a draw will read.
#[derive(Default, Clone, Debug)]
pub(crate) struct Graphics {
    pub dynamic: super::dynamic_state::Dynamic,
}

/// A command that does nothing yet, beyond noticing that nothing is being recorded.
fn nothing(b: &CommandBuffer) {
    b.recording();
}

pub(crate) unsafe fn cmd_begin_render_pass2(
    b: &CommandBuffer,
    _: *const vk::RenderPassBeginInfo,
    _: *const vk::SubpassBeginInfo,
) {
    nothing(b);
}

pub(crate) unsafe fn cmd_next_subpass2(
    b: &CommandBuffer,
    _: *const vk::SubpassBeginInfo,
    _: *const vk::SubpassEndInfo,
) {
    nothing(b);
}

pub(crate) unsafe fn cmd_end_render_pass2(b: &CommandBuffer, _: *const vk::SubpassEndInfo) {
    nothing(b);
}

pub(crate) unsafe fn cmd_begin_rendering(b: &CommandBuffer, _: *const vk::RenderingInfo) {
    nothing(b);
}

pub(crate) unsafe fn cmd_end_rendering(b: &CommandBuffer) {
    nothing(b);
}

pub(crate) unsafe fn cmd_clear_attachments(
    b: &CommandBuffer,
    _: u32,
    _: *const vk::ClearAttachment,
    _: u32,
    _: *const vk::ClearRect,
) {
    nothing(b);
}

pub(crate) unsafe fn cmd_draw(b: &CommandBuffer, _: u32, _: u32, _: u32, _: u32) {
    nothing(b);
}

pub(crate) unsafe fn cmd_draw_indexed(b: &CommandBuffer, _: u32, _: u32, _: u32, _: i32, _: u32) {
    nothing(b);
}

pub(crate) unsafe fn cmd_draw_indirect(b: &CommandBuffer, _: vk::Buffer, _: u64, _: u32, _: u32) {
    nothing(b);
}

pub(crate) unsafe fn cmd_draw_indexed_indirect(b: &CommandBuffer, _: vk::Buffer, _: u64, _: u32, _: u32) {
    nothing(b);
}

pub(crate) unsafe fn cmd_draw_indirect_count(
    b: &CommandBuffer,
    _: vk::Buffer,
    _: u64,
    _: vk::Buffer,
    _: u64,
    _: u32,
    _: u32,
) {
    nothing(b);
}

pub(crate) unsafe fn cmd_draw_indexed_indirect_count(
    b: &CommandBuffer,
    _: vk::Buffer,
    _: u64,
    _: vk::Buffer,
    _: u64,
    _: u32,
    _: u32,
) {
    nothing(b);
}

pub(crate) unsafe fn cmd_bind_vertex_buffers2(
    b: &CommandBuffer,
    first: u32,
    count: u32,
    buffers: *const vk::Buffer,
    offsets: *const u64,
    sizes: *const u64,
    strides: *const u64,
) {
    let Some(mut r) = b.recording() else { return };
    let d = &mut r.draw.dynamic;
    for i in 0..count as usize {
        let Some(v) = d.vertex_buffers.get_mut(first as usize + i) else { return };
        v.buffer = crate::buffer::get(*buffers.add(i)).map(super::dynamic_state::Held);
        v.offset = *offsets.add(i);
        v.size = if sizes.is_null() { vk::WHOLE_SIZE } else { *sizes.add(i) };
        if !strides.is_null() {
            v.stride = *strides.add(i);
        }
    }
}

pub(crate) unsafe fn cmd_bind_index_buffer2(
    b: &CommandBuffer,
    buffer: vk::Buffer,
    offset: u64,
    size: u64,
    ty: vk::IndexType,
) {
    let Some(mut r) = b.recording() else { return };
    let buffer = if buffer == vk::Buffer::null() { None } else { crate::buffer::get(buffer) };
    r.draw.dynamic.index_buffer = super::dynamic_state::IndexBuffer {
        buffer: buffer.map(super::dynamic_state::Held),
        offset,
        size,
        ty,
    };
}
