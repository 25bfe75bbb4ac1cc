//! Draws as they are recorded.

use super::state::{GraphicsPipeline, State};
use ash::vk;
use machine::bindings::Bindings;
use machine::instrumentation::Active;
use smallvec::SmallVec;
use std::ops::Deref;
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
    /// Its fragments may read attachments of the pass as images.
    pub feedback: bool,
    /// Where instrumented shaders' metrics go.
    pub instrumentation: Option<Active>,
}

/// One of a command buffer's draws, which stay while this does.
#[derive(Clone)]
pub struct Kept {
    draws: Arc<Vec<Draw>>,
    n: usize,
}

impl Kept {
    /// `None`: there are not so many.
    pub fn new(draws: &Arc<Vec<Draw>>, n: usize) -> Option<Kept> {
        (n < draws.len()).then(|| Kept { draws: draws.clone(), n })
    }
}

impl Deref for Kept {
    type Target = Draw;
    #[inline]
    fn deref(&self) -> &Draw {
        &self.draws[self.n]
    }
}

#[derive(Clone, Default)]
pub struct VertexBuffer {
    /// `None`: reads give 0 (nullDescriptor).
    pub buffer: Option<Arc<Buffer>>,
    pub offset: u64,
    /// Bytes from `offset` that may be read; `VK_WHOLE_SIZE` to the end.
    pub size: u64,
}

impl VertexBuffer {
    /// It is the same part of the same buffer.
    pub fn is(&self, o: &VertexBuffer) -> bool {
        let at = |b: &VertexBuffer| b.buffer.as_ref().map(Arc::as_ptr);
        (at(self), self.offset, self.size) == (at(o), o.offset, o.size)
    }
}

#[derive(Clone)]
pub struct IndexBuffer {
    pub buffer: Option<Arc<Buffer>>,
    pub offset: u64,
    pub size: u64,
    pub ty: vk::IndexType,
    /// The index at which primitives restart, where they do.
    pub restart: u32,
}

impl IndexBuffer {
    /// The restart index, unless another is set (VkPipelineInputAssemblyStateCreateInfo): all bits of an index.
    pub fn all_ones(ty: vk::IndexType) -> u32 {
        match ty {
            vk::IndexType::UINT8_EXT => 0xFF,
            vk::IndexType::UINT16 => 0xFFFF,
            _ => u32::MAX,
        }
    }
}

impl Draw {
    /// It will be drawn next: asks for its memory.
    #[inline]
    pub fn soon(&self) {
        let lines = size_of::<Draw>().div_ceil(64);
        (0..lines).for_each(|k| simd::prefetch(std::ptr::from_ref(self).cast::<u8>().wrapping_add(64 * k)));
    }

    /// For people: the call, how much it draws if that is in it, and the pipeline's entry points.
    pub fn title(&self) -> String {
        let what = match &self.what {
            What::Direct(calls) if calls.len() != 1 => format!(" of {} draws", calls.len()),
            What::Direct(calls) => match calls[0] {
                Call { count, instances: 1, .. } => format!(" of {count}"),
                Call { count, instances, .. } => format!(" of {count} × {instances}"),
            },
            What::Mesh([x, y, z]) => format!(" of {x}x{y}x{z}"),
            What::Indirect { draws, .. } | What::MeshIndirect { draws, .. } => format!(" of {draws} draws"),
            What::ByteCount { .. } => String::new(),
        };
        format!("{}{what}: {}", self.what.call(), self.pipeline.title.entries())
    }
}

/// One or several draws with the same state.
#[derive(Clone)]
pub enum What {
    /// vkCmdDraw and vkCmdDrawMultiEXT: draw i has DrawIndex i.
    Direct(SmallVec<[Call; 1]>),
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
    /// Task or mesh workgroups.
    Mesh([u32; 3]),
    MeshIndirect {
        buffer: Arc<Buffer>,
        offset: u64,
        draws: u32,
        stride: u32,
        count: Option<(Arc<Buffer>, u64)>,
    },
    /// As many vertices of `stride` bytes as fit what a counter of transform feedback says (§ vkCmdDrawIndirectByteCountEXT).
    ByteCount {
        buffer: Arc<Buffer>,
        offset: u64,
        counter_offset: u32,
        stride: u32,
        instances: u32,
        first_instance: u32,
    },
}

impl What {
    /// One draw.
    pub fn one(call: Call) -> What {
        What::Direct(SmallVec::from_buf([call]))
    }

    /// The call that recorded it.
    pub fn call(&self) -> &'static str {
        match self {
            What::Direct(calls) if calls.first().is_some_and(|c| c.indexed) => "vkCmdDrawIndexed",
            What::Direct(_) => "vkCmdDraw",
            What::Indirect { indexed: true, .. } => "vkCmdDrawIndexedIndirect",
            What::Indirect { .. } => "vkCmdDrawIndirect",
            What::ByteCount { .. } => "vkCmdDrawIndirectByteCountEXT",
            What::Mesh(_) => "vkCmdDrawMeshTasksEXT",
            What::MeshIndirect { .. } => "vkCmdDrawMeshTasksIndirectEXT",
        }
    }

    /// How many draws there are, as a count buffer says now.
    pub fn count(&self) -> u32 {
        match self {
            What::Direct(calls) => calls.len() as u32,
            What::ByteCount { .. } | What::Mesh(_) => 1,
            What::Indirect { draws, count: None, .. } | What::MeshIndirect { draws, count: None, .. } => {
                *draws
            }
            What::Indirect { draws, count: Some((b, at)), .. }
            | What::MeshIndirect { draws, count: Some((b, at)), .. } => {
                let (p, room) = b.range(*at, 4);
                // SAFETY: four bytes of the buffer.
                (*draws).min(if room == 4 { unsafe { p.cast::<u32>().read_unaligned() } } else { 0 })
            }
        }
    }

    /// The workgroups of a DrawIndex, where it draws mesh tasks.
    pub fn groups(&self, index: u32) -> Option<[u32; 3]> {
        match self {
            What::Mesh(groups) => Some(*groups),
            What::MeshIndirect { buffer, offset, stride, .. } => {
                let (p, room) = buffer.range(offset.checked_add(index as u64 * *stride as u64)?, 12);
                // SAFETY: twelve bytes of the buffer.
                (room == 12).then(|| unsafe { p.cast::<[u32; 3]>().read_unaligned() })
            }
            _ => None,
        }
    }

    /// The draw of a DrawIndex; indirect ones are read now (§ Drawing Commands). `None`: it does not lie in the buffer.
    pub fn nth(&self, index: u32) -> Option<Call> {
        let (indexed, buffer, offset, stride) = match self {
            What::Direct(calls) => return calls.get(index as usize).copied(),
            What::Mesh(_) | What::MeshIndirect { .. } => return None,
            What::Indirect { indexed, buffer, offset, stride, .. } => (*indexed, buffer, *offset, *stride),
            What::ByteCount { buffer, offset, counter_offset, stride, instances, first_instance } => {
                let (p, room) = buffer.range(*offset, 4);
                if room < 4 || *stride == 0 {
                    return None;
                }
                // SAFETY: four bytes of the buffer.
                let bytes = unsafe { p.cast::<u32>().read_unaligned() };
                return Some(Call {
                    indexed: false,
                    first: 0,
                    count: bytes.saturating_sub(*counter_offset) / stride,
                    vertex_offset: 0,
                    first_instance: *first_instance,
                    instances: *instances,
                });
            }
        };
        let bytes = if indexed { 20 } else { 16 };
        let (p, room) = buffer.range(offset.checked_add(index as u64 * stride as u64)?, bytes);
        if room < bytes {
            return None;
        }
        // SAFETY: as many words of the buffer.
        let word = |k: usize| unsafe { p.cast::<u32>().add(k).read_unaligned() };
        Some(Call {
            indexed,
            count: word(0),
            instances: word(1),
            first: word(2),
            vertex_offset: if indexed { word(3) as i32 } else { 0 },
            first_instance: word(if indexed { 4 } else { 3 }),
        })
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
