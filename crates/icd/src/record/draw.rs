//! Draws, and the buffers they read.

use super::shaders;
use crate::base::given::{In, Strided};
use crate::instance::limits::MAX_BINDINGS;
use crate::memory::buffer;
use crate::pipeline::draw_settings::Settings;
use crate::pipeline::shader_combinations::Shaders;
use crate::pipeline::{PipelineKind, Shared};
use crate::record::command_buffer::{CommandBuffer, Recorder};
use raster::draw::{Call, Draw, IndexBuffer, VertexBuffer, What};
use raster::state::State;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// What graphics commands have set, for the draws to come.
#[derive(Default)]
pub(crate) struct Graphics {
    pub set: Settings,
    /// How often something was set.
    changes: u64,
    /// What draws with the pipelines that were bound last were drawn with, the latest first.
    states: Vec<Made>,
    buffers: Vec<VertexBuffer>,
    shared_buffers: Option<Arc<[VertexBuffer]>>,
    pub index: Option<IndexBuffer>,
    /// Shader objects, where no pipeline was bound after them.
    pub shaders: Shaders,
    /// Fragments may read attachments as images, where that is dynamic.
    pub feedback_loop: bool,
    pub feedback: super::feedback::Bound,
}

impl Graphics {
    /// The settings, to be changed.
    pub fn change(&mut self) -> &mut Settings {
        self.changes += 1;
        &mut self.set
    }

    /// Another pipeline is bound, in the place of shader objects as well.
    pub fn touch(&mut self) {
        self.shaders = Default::default();
    }

    /// Locations of colour attachments for shader objects; none: the identity.
    pub fn locate(&mut self, locations: Vec<u32>) {
        if self.set.output.locations != locations {
            self.change().output.locations = locations;
        }
    }

    /// What a draw with the pipeline is drawn with: made once for all draws between two changes, and not again where a
    /// change led back to what there was, for what follows from a state is kept with it.
    fn state(
        &mut self,
        pipeline: &Arc<Shared>,
        own: &crate::pipeline::pipeline_graphics::Graphics,
    ) -> Arc<State> {
        let known = self.states.iter().position(|m| Arc::ptr_eq(&m.pipeline, pipeline));
        if let Some(m) = known.and_then(|k| self.states.get(k)).filter(|m| m.changes == self.changes) {
            return m.state.clone();
        }
        let made = state_of(own, &self.set);
        let alike = |k: usize| self.states.get(k).filter(|m| *m.state == made);
        let state = match known.and_then(alike).or_else(|| alike(0)) {
            Some(m) => m.state.clone(),
            None => Arc::new(made),
        };
        match known {
            Some(k) => drop(self.states.remove(k)),
            None => self.states.truncate(STATES - 1),
        }
        let made = Made { pipeline: pipeline.clone(), changes: self.changes, state: state.clone() };
        self.states.insert(0, made);
        state
    }

    /// Binds a vertex buffer; `at` is below [`MAX_BINDINGS`].
    pub fn bind(&mut self, at: usize, buffer: VertexBuffer) {
        if self.buffers.len() <= at {
            self.shared_buffers = None;
            self.buffers.resize(at + 1, VertexBuffer::default());
        }
        if !self.buffers[at].is(&buffer) {
            self.shared_buffers = None;
            self.buffers[at] = buffer;
        }
    }

    /// Vertex and index buffers as they are bound now.
    pub fn all_buffers(&mut self) -> Buffers {
        Buffers(self.buffers(), self.index.clone())
    }

    fn buffers(&mut self) -> Arc<[VertexBuffer]> {
        self.shared_buffers.get_or_insert_with(|| self.buffers.as_slice().into()).clone()
    }
}

/// Pipelines whose states are kept.
const STATES: usize = 16;

/// A state that draws had.
struct Made {
    pipeline: Arc<Shared>,
    /// [`Graphics::changes`] then.
    changes: u64,
    state: Arc<State>,
}

/// Vertex buffers and index buffer.
pub(crate) struct Buffers(pub Arc<[VertexBuffer]>, pub Option<IndexBuffer>);

/// What a draw with the pipeline is drawn with, where these settings are dynamic.
pub(super) fn state_of(pipeline: &crate::pipeline::pipeline_graphics::Graphics, set: &Settings) -> State {
    let mut all = pipeline.settings.clone();
    all.overlay(set, pipeline.dynamic);
    let mut made = all.build();
    // Without a geometry shader vertices are of stream 0; a mesh shader's have none.
    let streams = pipeline.pipeline.as_ref().is_some_and(|p| p.geometry.is_some() || p.is_mesh());
    made.raster.discard |= made.raster.stream != 0 && !streams;
    made
}

/// A recorder whose settings change: marks the last draw's state as outdated.
pub(crate) struct Changing<'a>(pub parking_lot::MutexGuard<'a, Recorder>);

impl Deref for Changing<'_> {
    type Target = Settings;
    fn deref(&self) -> &Settings {
        &self.0.draw.set
    }
}

impl DerefMut for Changing<'_> {
    fn deref_mut(&mut self) -> &mut Settings {
        self.0.draw.change()
    }
}

/// A draw with everything bound.
pub(super) fn prepare(r: &mut Recorder, what: What) -> Option<Draw> {
    let instrumentation = r.instrumented();
    let pipeline = r.graphics.pipeline.clone().or_else(|| shaders::pipeline(r))?;
    let shared: &Shared = &pipeline;
    let PipelineKind::Graphics(g) = &shared.kind else {
        crate::base::debug::log_error("a draw with a compute pipeline");
        return None;
    };
    let Some(gpu) = &g.pipeline else {
        crate::base::debug::log_error("a draw with a pipeline library");
        return None;
    };
    Some(Draw {
        pipeline: gpu.clone(),
        state: r.draw.state(&pipeline, g),
        bindings: r.graphics.bindings(shared, &r.push, r.heaps),
        vertex_buffers: r.draw.buffers(),
        index_buffer: r.draw.index.clone(),
        what,
        feedback: gpu.feedback.of_draw(r.draw.feedback_loop),
        instrumentation: instrumentation.or_else(|| shared.measured.clone()),
    })
}

pub(super) fn record(b: &CommandBuffer, what: What) {
    if let Some(mut r) = b.recording()
        && let Some(draw) = prepare(&mut r, what)
    {
        r.push_draw(draw);
    }
}

pub(crate) fn cmd_draw(b: &CommandBuffer, count: u32, instances: u32, first: u32, first_instance: u32) {
    let call = Call { indexed: false, first, count, vertex_offset: 0, first_instance, instances };
    record(b, What::one(call));
}

pub(crate) fn cmd_draw_indexed(
    b: &CommandBuffer,
    count: u32,
    instances: u32,
    first: u32,
    vertex_offset: i32,
    first_instance: u32,
) {
    let call = Call { indexed: true, first, count, vertex_offset, first_instance, instances };
    record(b, What::one(call));
}

pub(crate) fn cmd_draw_multi_ext(
    b: &CommandBuffer,
    infos: Strided<vk::MultiDrawInfoEXT>,
    instances: u32,
    first_instance: u32,
) {
    let call = |d: vk::MultiDrawInfoEXT| Call {
        indexed: false,
        first: d.first_vertex,
        count: d.vertex_count,
        vertex_offset: 0,
        first_instance,
        instances,
    };
    record(b, What::Direct(infos.iter().map(call).collect()));
}

pub(crate) fn cmd_draw_multi_indexed_ext(
    b: &CommandBuffer,
    infos: Strided<vk::MultiDrawIndexedInfoEXT>,
    instances: u32,
    first_instance: u32,
    vertex_offset: Option<&i32>,
) {
    let call = |d: vk::MultiDrawIndexedInfoEXT| Call {
        indexed: true,
        first: d.first_index,
        count: d.index_count,
        vertex_offset: vertex_offset.copied().unwrap_or(d.vertex_offset),
        first_instance,
        instances,
    };
    record(b, What::Direct(infos.iter().map(call).collect()));
}

fn indirect(
    b: &CommandBuffer,
    indexed: bool,
    (buffer, offset): (vk::Buffer, u64),
    count: Option<(vk::Buffer, u64)>,
    draws: u32,
    stride: u32,
) {
    let Some(buffer) = buffer::get(b, buffer) else { return };
    let count = match count {
        Some((c, at)) => match buffer::get(b, c) {
            Some(c) => Some((c, at)),
            None => return,
        },
        None => None,
    };
    record(b, What::Indirect { indexed, buffer, offset, draws, stride, count });
}

pub(crate) fn cmd_draw_indirect(b: &CommandBuffer, buffer: vk::Buffer, offset: u64, draws: u32, stride: u32) {
    indirect(b, false, (buffer, offset), None, draws, stride);
}

pub(crate) fn cmd_draw_indexed_indirect(
    b: &CommandBuffer,
    buffer: vk::Buffer,
    offset: u64,
    draws: u32,
    stride: u32,
) {
    indirect(b, true, (buffer, offset), None, draws, stride);
}

pub(crate) fn cmd_draw_indirect_count(
    b: &CommandBuffer,
    buffer: vk::Buffer,
    offset: u64,
    count: vk::Buffer,
    count_offset: u64,
    draws: u32,
    stride: u32,
) {
    indirect(b, false, (buffer, offset), Some((count, count_offset)), draws, stride);
}

pub(crate) fn cmd_draw_indexed_indirect_count(
    b: &CommandBuffer,
    buffer: vk::Buffer,
    offset: u64,
    count: vk::Buffer,
    count_offset: u64,
    draws: u32,
    stride: u32,
) {
    indirect(b, true, (buffer, offset), Some((count, count_offset)), draws, stride);
}

pub(crate) fn cmd_bind_vertex_buffers2(
    b: &CommandBuffer,
    first: u32,
    buffers: &[vk::Buffer],
    offsets: &[u64],
    sizes: &[u64],
    strides: &[u64],
) {
    let Some(mut r) = b.recording() else { return };
    let d = &mut r.draw;
    for (i, (&handle, &offset)) in buffers.iter().zip(offsets).enumerate() {
        let at = (first as usize).saturating_add(i);
        if at >= MAX_BINDINGS {
            return;
        }
        let buffer = buffer::get(b, handle);
        let size = sizes.get(i).copied().unwrap_or(vk::WHOLE_SIZE);
        d.bind(at, VertexBuffer { buffer, offset, size });
        if let Some(&stride) = strides.get(i) {
            d.change().input.strides[at] = stride.min(u32::MAX as u64) as u32;
        }
    }
}

pub(crate) fn cmd_bind_index_buffer2(
    b: &CommandBuffer,
    buffer: vk::Buffer,
    offset: u64,
    size: u64,
    ty: vk::IndexType,
) {
    let Some(mut r) = b.recording() else { return };
    let buffer = buffer::get(b, buffer);
    r.draw.index = Some(IndexBuffer { buffer, offset, size, ty, restart: IndexBuffer::all_ones(ty) });
}

/// Until an index buffer is bound (§ vkCmdSetPrimitiveRestartIndexEXT).
pub(crate) fn cmd_set_primitive_restart_index_ext(b: &CommandBuffer, index: u32) {
    let Some(mut r) = b.recording() else { return };
    match &mut r.draw.index {
        Some(i) => i.restart = index,
        None => crate::base::debug::log_error("vkCmdSetPrimitiveRestartIndexEXT: no index buffer is bound"),
    }
}

/// § vkCmdSetVertexInputEXT
pub(crate) fn cmd_set_vertex_input_ext(
    b: &CommandBuffer,
    bindings: In<[vk::VertexInputBindingDescription2EXT]>,
    attributes: In<[vk::VertexInputAttributeDescription2EXT]>,
) {
    use raster::state::VertexBinding;
    let Some(mut r) = b.recording() else { return };
    let input = &mut r.draw.change().input;
    input.bindings.clear();
    for d in bindings {
        let Some(stride) = input.strides.get_mut(d.binding as usize) else { continue };
        *stride = d.stride;
        let divisor = (d.input_rate == vk::VertexInputRate::INSTANCE).then_some(d.divisor);
        input.bindings.push(VertexBinding { binding: d.binding, stride: d.stride, divisor });
    }
    input.attributes.clear();
    for a in attributes {
        match crate::pipeline::pipeline_state::attribute(a.location, a.binding, a.format, a.offset) {
            Some(a) => input.attributes.push(a),
            None => crate::base::debug::log_error(&format!(
                "vkCmdSetVertexInputEXT: vertices of format {:?}",
                a.format
            )),
        }
    }
}
