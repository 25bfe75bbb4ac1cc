//! Draws of mesh tasks (VK_EXT_mesh_shader).

use super::draw::record;
use crate::memory::buffer;
use crate::record::command_buffer::CommandBuffer;
use raster::draw::What;

pub(crate) fn cmd_draw_mesh_tasks_ext(b: &CommandBuffer, x: u32, y: u32, z: u32) {
    record(b, What::Mesh([x, y, z]));
}

pub(crate) fn cmd_draw_mesh_tasks_indirect_ext(
    b: &CommandBuffer,
    buffer: vk::Buffer,
    offset: u64,
    draws: u32,
    stride: u32,
) {
    let Some(buffer) = buffer::get(b, buffer) else { return };
    record(b, What::MeshIndirect { buffer, offset, draws, stride, count: None });
}

pub(crate) fn cmd_draw_mesh_tasks_indirect_count_ext(
    b: &CommandBuffer,
    buffer: vk::Buffer,
    offset: u64,
    count: vk::Buffer,
    count_offset: u64,
    draws: u32,
    stride: u32,
) {
    let (Some(buffer), Some(count)) = (buffer::get(b, buffer), buffer::get(b, count)) else { return };
    record(b, What::MeshIndirect { buffer, offset, draws, stride, count: Some((count, count_offset)) });
}
