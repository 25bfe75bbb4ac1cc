//! Draws as they are recorded.

use super::state::{GraphicsPipeline, State};
use ash::vk;
use machine::bindings::Bindings;
use machine::instrumentation::Active;
use std::sync::Arc;
use texel::buffer::Buffer;

#[derive(Clone)]
pub struct Draw {
    pub pipeline: Arc<GraphicsPipeline>,
    pub state: Arc<State>,
    pub bindings: Bindings,
    /// By binding number.
    pub vertex_buffers: Arc<[VertexBuffer]>,
    /// Indexed draws without one (or with a null buffer) read index 0.
    pub index_buffer: Option<IndexBuffer>,
    pub what: What,
    /// Where instrumented shaders' metrics go.
    pub instrumentation: Option<Active>,
}

#[derive(Clone, Default)]
pub struct VertexBuffer {
    /// `None`: reads give 0 (nullDescriptor).
    pub buffer: Option<Arc<Buffer>>,
    pub offset: u64,
    /// Bytes from `offset` that may be read; `VK_WHOLE_SIZE` to the end.
    pub size: u64,
}

#[derive(Clone)]
pub struct IndexBuffer {
    pub buffer: Option<Arc<Buffer>>,
    pub offset: u64,
    pub size: u64,
    pub ty: vk::IndexType,
}

/// One or several draws with the same state.
#[derive(Clone)]
pub enum What {
    /// vkCmdDraw and vkCmdDrawMultiEXT: draw i has DrawIndex i.
    Direct(Vec<Call>),
    Indirect {
        indexed: bool,
        buffer: Arc<Buffer>,
        offset: u64,
        /// Draws, or the most there may be with a count buffer.
        draws: u32,
        stride: u32,
        /// A u32 in a buffer says how many.
        count: Option<(Arc<Buffer>, u64)>,
    },
}

impl What {
    /// The call that recorded it.
    pub fn call(&self) -> &'static str {
        match self {
            What::Direct(calls) if calls.first().is_some_and(|c| c.indexed) => "vkCmdDrawIndexed",
            What::Direct(_) => "vkCmdDraw",
            What::Indirect { indexed: true, .. } => "vkCmdDrawIndexedIndirect",
            What::Indirect { .. } => "vkCmdDrawIndirect",
        }
    }
}

/// One draw.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub indexed: bool,
    /// First vertex, or first index.
    pub first: u32,
    /// Vertices or indices.
    pub count: u32,
    pub vertex_offset: i32,
    pub first_instance: u32,
    pub instances: u32,
}
