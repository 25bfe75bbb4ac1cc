//! Draws of mesh tasks (VK_EXT_mesh_shader).

use super::draw::record;
use crate::memory::buffer;
use crate::record::command_buffer::CommandBuffer;
use raster::draw::What;

pub(crate) unsafe fn cmd_draw_mesh_tasks_ext(b: &CommandBuffer, x: u32, y: u32, z: u32) {
    record(b, What::Mesh([x, y, z]));
}

pub(crate) unsafe fn cmd_draw_mesh_tasks_indirect_ext(
    b: &CommandBuffer,
    buffer: vk::Buffer,
    offset: u64,
    draws: u32,
    stride: u32,
) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(buffer) = buffer::get(buffer) else { return };
        record(b, What::MeshIndirect { buffer, offset, draws, stride, count: None });
    }
}

pub(crate) unsafe fn cmd_draw_mesh_tasks_indirect_count_ext(
    b: &CommandBuffer,
    buffer: vk::Buffer,
    offset: u64,
    count: vk::Buffer,
    count_offset: u64,
    draws: u32,
    stride: u32,
) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let (Some(buffer), Some(count)) = (buffer::get(buffer), buffer::get(count)) else { return };
        record(b, What::MeshIndirect { buffer, offset, draws, stride, count: Some((count, count_offset)) });
    }
}
