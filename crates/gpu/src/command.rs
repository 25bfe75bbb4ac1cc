//! What command buffers record: immutable commands that own (by `Arc`) everything they touch.

use crate::descriptor::SetMemory;
use crate::descriptor_memory::MAX_DESCRIPTOR_BUFFER_RANGE;
use crate::graphics::draw::Draw;
use crate::graphics::pass::Rendering;
use crate::instrumentation::Active;
use crate::pipeline::ComputePipeline;
use crate::query::QueryPool;
use crate::sync::Event;
use ash::vk;
use std::sync::Arc;
use texel::buffer::Buffer;
use texel::image::Image;

/// Sets and push constants as they were when a dispatch was recorded.
#[derive(Clone, Default)]
pub struct Bindings {
    /// Index = set number. Update-after-bind writes are seen because the memory is shared.
    pub sets: Vec<Option<Arc<SetMemory>>>,
    /// Device addresses of the sets that lie in descriptor buffers, by set number; 0 for any other.
    pub addresses: Option<Arc<[u64]>>,
    /// Descriptors of dynamic buffers with their offsets added, laid out as the pipeline layout says.
    pub dynamic: Option<Arc<SetMemory>>,
    pub push: Arc<[u8]>,
}

impl Bindings {
    /// The tables as a wave sees them.
    pub fn tables(&self) -> [wave::Table; 33] {
        let mut tables = [wave::Table::NONE; 33];
        for (t, s) in tables.iter_mut().zip(&self.sets) {
            if let Some(s) = s {
                *t = wave::Table { ptr: s.ptr(), size: s.size() as u64 };
            }
        }
        for (t, &a) in tables.iter_mut().zip(self.addresses.iter().flat_map(|a| a.iter())) {
            if a != 0 {
                *t = wave::Table { ptr: a as *const u8, size: MAX_DESCRIPTOR_BUFFER_RANGE };
            }
        }
        if let Some(s) = &self.dynamic {
            tables[32] = wave::Table { ptr: s.ptr(), size: s.size() as u64 };
        }
        tables
    }
}

#[derive(Clone)]
pub struct Dispatch {
    pub pipeline: Arc<ComputePipeline>,
    pub bindings: Bindings,
    pub base: [u32; 3],
    /// Where an instrumented shader's metrics go.
    pub instrumentation: Option<Active>,
}

#[derive(Clone, Copy)]
pub struct Dependency {
    pub src_stages: vk::PipelineStageFlags2,
    pub dst_stages: vk::PipelineStageFlags2,
}

#[derive(Clone)]
pub enum Command {
    Dispatch {
        dispatch: Box<Dispatch>,
        groups: [u32; 3],
    },
    /// Group counts are three u32 in the buffer.
    DispatchIndirect {
        dispatch: Box<Dispatch>,
        buffer: Arc<Buffer>,
        offset: u64,
    },

    /// A render pass instance begins, goes on to its next subpass, ends. Draws and attachment clears stand between.
    BeginRendering(Arc<Rendering>),
    NextSubpass,
    EndRendering,
    Draw(Box<Draw>),
    ClearAttachments {
        attachments: Vec<vk::ClearAttachment>,
        rects: Vec<vk::ClearRect>,
    },

    CopyBuffer {
        src: Arc<Buffer>,
        dst: Arc<Buffer>,
        regions: Vec<vk::BufferCopy2<'static>>,
    },
    UpdateBuffer {
        dst: Arc<Buffer>,
        offset: u64,
        data: Vec<u8>,
    },
    FillBuffer {
        dst: Arc<Buffer>,
        offset: u64,
        size: u64,
        value: u32,
    },
    CopyImage {
        src: Arc<Image>,
        dst: Arc<Image>,
        regions: Vec<vk::ImageCopy2<'static>>,
    },
    CopyBufferToImage {
        src: Arc<Buffer>,
        dst: Arc<Image>,
        regions: Vec<vk::BufferImageCopy2<'static>>,
    },
    CopyImageToBuffer {
        src: Arc<Image>,
        dst: Arc<Buffer>,
        regions: Vec<vk::BufferImageCopy2<'static>>,
    },
    BlitImage {
        src: Arc<Image>,
        dst: Arc<Image>,
        regions: Vec<vk::ImageBlit2<'static>>,
        filter: vk::Filter,
    },
    ResolveImage {
        src: Arc<Image>,
        dst: Arc<Image>,
        regions: Vec<vk::ImageResolve2<'static>>,
    },
    ClearColorImage {
        dst: Arc<Image>,
        value: vk::ClearColorValue,
        ranges: Vec<vk::ImageSubresourceRange>,
    },
    ClearDepthStencilImage {
        dst: Arc<Image>,
        value: vk::ClearDepthStencilValue,
        ranges: Vec<vk::ImageSubresourceRange>,
    },

    Barrier(Dependency),
    SetEvent {
        event: Arc<Event>,
        stages: vk::PipelineStageFlags2,
    },
    ResetEvent {
        event: Arc<Event>,
        stages: vk::PipelineStageFlags2,
    },
    WaitEvents {
        events: Vec<Arc<Event>>,
        dependency: Dependency,
    },

    WriteTimestamp {
        pool: Arc<QueryPool>,
        query: u32,
        stages: vk::PipelineStageFlags2,
    },
    BeginQuery {
        pool: Arc<QueryPool>,
        query: u32,
        flags: vk::QueryControlFlags,
    },
    EndQuery {
        pool: Arc<QueryPool>,
        query: u32,
    },
    ResetQueryPool {
        pool: Arc<QueryPool>,
        first: u32,
        count: u32,
    },
    CopyQueryResults {
        pool: Arc<QueryPool>,
        first: u32,
        count: u32,
        dst: Arc<Buffer>,
        offset: u64,
        stride: u64,
        flags: vk::QueryResultFlags,
    },

    /// Secondary command buffers, in order.
    Execute(Vec<Arc<CommandList>>),
    BeginLabel(String),
    EndLabel,
    /// A label that is a mark ([`crate::channel::mark_name`]).
    Mark(Arc<str>),
}

/// A recorded command buffer, shared by every submission of it.
#[derive(Clone, Default)]
pub struct CommandList {
    /// For messages: its name or handle.
    pub name: Arc<str>,
    pub commands: Vec<Command>,
}

// SAFETY: the ash region structs hold pNext pointers, which recording sets to null.
unsafe impl Send for CommandList {}
unsafe impl Sync for CommandList {}

#[derive(Clone)]
pub struct SemaphoreOp {
    pub semaphore: Arc<crate::sync::Semaphore>,
    pub value: u64,
    pub stages: vk::PipelineStageFlags2,
}

/// The frame that a batch belongs to (VK_EXT_frame_boundary), and whether it is its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    pub id: u64,
    pub ends: bool,
}

/// One VkSubmitInfo2; the fence of a batch goes with its last one.
#[derive(Default)]
pub struct Submission {
    pub waits: Vec<SemaphoreOp>,
    /// Command buffers, and semaphores of the stripes of their passes.
    pub lists: Vec<(Arc<CommandList>, Vec<SemaphoreOp>)>,
    pub signals: Vec<SemaphoreOp>,
    pub fence: Option<Arc<crate::sync::Fence>>,
    /// Modelled time that the host had seen when it submitted.
    pub floor: u64,
    /// Which pass of performance queries it measures.
    pub performance_pass: u32,
    /// It is a VkSubmitInfo2, and not the driver's own carrier of a fence or a present.
    pub submitted: bool,
    pub frame: Option<Frame>,
    /// It presents: the end of a frame, for applications that never say where frames end.
    pub presents: bool,
    /// Called on the queue's thread when the lists are done, before signals (frees one-time state).
    pub done: Option<Box<dyn FnOnce() + Send>>,
}
