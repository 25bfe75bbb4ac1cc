//! Draws whose primitives other stages make, or transform feedback has left.

use super::Vertex;
use super::draw::{VEC4, bytes};
use ash::vk;
use client::graphics::{Bindings, Pass, Pipeline, PipelineInfo, Resource};
use client::{Buffer, Context, Result};
use std::rc::Rc;

/// How a draw's vertices come about on the device.
#[derive(Clone)]
pub struct Via {
    /// Stages besides those of vertices and fragments.
    pub stages: Vec<(vk::ShaderStageFlags, &'static [u8])>,
    pub topology: vk::PrimitiveTopology,
    /// What the device is given.
    pub vertices: Vec<Vertex>,
    /// Of a patch.
    pub patch: u32,
    /// Outer and inner tessellation levels.
    pub levels: [f32; 6],
    pub how: How,
}

#[derive(Clone, Copy)]
pub enum How {
    Draw,
    /// So many workgroups, for which the vertices are a storage buffer.
    Mesh(u32),
    /// Captured by transform feedback, and drawn as a list of triangles of which that has counted the bytes.
    Captured,
}

/// What of it is the device's.
pub struct Ready {
    pub bindings: Option<Bindings>,
    given: Buffer,
    count: u32,
    how: How,
    mesh: Option<ash::ext::mesh_shader::Device>,
    captured: Option<Captured>,
}

struct Captured {
    device: ash::ext::transform_feedback::Device,
    pipeline: Pipeline,
    buffer: Buffer,
    counter: Buffer,
}

const STRIDE: u32 = 32;

impl Via {
    pub fn prepare(
        &self,
        context: &Rc<Context>,
        info: &mut PipelineInfo<'static>,
        push: &mut Vec<f32>,
    ) -> Result<Ready> {
        let given = Buffer::with(context, &bytes(&self.vertices))?;
        let (mut bindings, mut mesh, mut captured) = (None, None, None);
        match self.how {
            How::Draw => {
                info.topology = self.topology;
                info.stages.clone_from(&self.stages);
                info.patch = self.patch;
            }
            How::Mesh(_) => {
                info.stages.clone_from(&self.stages);
                info.vertex = &[];
                bindings = Some(Bindings::new(context, &[Resource::Storage(&given)])?);
                mesh = Some(ash::ext::mesh_shader::Device::new(&context.instance, &context.device));
            }
            How::Captured => {
                let vert = include_bytes!("../../shaders/scenes/captured.vert.spv");
                let mut before =
                    PipelineInfo::new(vert, &[], vk::Format::UNDEFINED).interleaved(&[VEC4, VEC4]);
                before.colours = vec![];
                before.fragment = None;
                before.topology = self.topology;
                before.discard = true;
                // A strip of n vertices has n - 2 triangles.
                let room = self.vertices.len() * 3 * STRIDE as usize;
                let feedback = vk::BufferUsageFlags::TRANSFORM_FEEDBACK_BUFFER_EXT;
                let counters = vk::BufferUsageFlags::TRANSFORM_FEEDBACK_COUNTER_BUFFER_EXT;
                captured = Some(Captured {
                    device: ash::ext::transform_feedback::Device::new(&context.instance, &context.device),
                    pipeline: Pipeline::new(context, &before, None)?,
                    buffer: Buffer::of(context, room, feedback)?,
                    counter: Buffer::of(context, 4, counters)?,
                });
            }
        }
        push.resize(4, 0.0);
        push.extend(self.levels);
        info.push_size = 4 * push.len() as u32;
        Ok(Ready { bindings, given, count: self.vertices.len() as u32, how: self.how, mesh, captured })
    }
}

impl Ready {
    /// What goes before the pass.
    pub fn before(&self, device: &ash::Device, commands: vk::CommandBuffer, size: [u32; 2]) {
        let Some(c) = &self.captured else { return };
        let pass = Pass { size, ..Default::default() };
        pass.record(device, commands, |device, commands| {
            c.pipeline.bind(commands, None, &[]);
            // SAFETY: recording inside a pass, with live handles.
            unsafe {
                device.cmd_bind_vertex_buffers(commands, 0, &[self.given.handle], &[0]);
                let (buffers, whole) = ([c.buffer.handle], [vk::WHOLE_SIZE]);
                let (bind, begin, end) = (
                    c.device.fp().cmd_bind_transform_feedback_buffers_ext,
                    c.device.fp().cmd_begin_transform_feedback_ext,
                    c.device.fp().cmd_end_transform_feedback_ext,
                );
                bind(commands, 0, 1, buffers.as_ptr(), [0].as_ptr(), whole.as_ptr());
                begin(commands, 0, 0, std::ptr::null(), std::ptr::null());
                device.cmd_draw(commands, self.count, 1, 0, 0);
                end(commands, 0, 1, [c.counter.handle].as_ptr(), [0].as_ptr());
            }
        });
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(
                vk::AccessFlags::TRANSFORM_FEEDBACK_WRITE_EXT
                    | vk::AccessFlags::TRANSFORM_FEEDBACK_COUNTER_WRITE_EXT,
            )
            .dst_access_mask(
                vk::AccessFlags::VERTEX_ATTRIBUTE_READ | vk::AccessFlags::INDIRECT_COMMAND_READ,
            )];
        let from = vk::PipelineStageFlags::TRANSFORM_FEEDBACK_EXT;
        let to = vk::PipelineStageFlags::VERTEX_INPUT | vk::PipelineStageFlags::DRAW_INDIRECT;
        // SAFETY: recording outside of a pass.
        unsafe { device.cmd_pipeline_barrier(commands, from, to, Default::default(), &barrier, &[], &[]) };
    }

    pub fn draw(&self, device: &ash::Device, commands: vk::CommandBuffer) {
        // SAFETY: recording inside a pass, with live handles.
        unsafe {
            match (self.how, &self.mesh, &self.captured) {
                (How::Mesh(groups), Some(mesh), _) => mesh.cmd_draw_mesh_tasks(commands, groups, 1, 1),
                (_, _, Some(c)) => {
                    device.cmd_bind_vertex_buffers(commands, 0, &[c.buffer.handle], &[0]);
                    let draw = c.device.fp().cmd_draw_indirect_byte_count_ext;
                    draw(commands, 1, 0, c.counter.handle, 0, 0, STRIDE);
                }
                _ => {
                    device.cmd_bind_vertex_buffers(commands, 0, &[self.given.handle], &[0]);
                    device.cmd_draw(commands, self.count, 1, 0, 0);
                }
            }
        }
    }
}
