//! What command buffers record: immutable commands that own (by `Arc`) everything they touch.

pub mod generated;

use self::generated::Generated;
use crate::graphs::GraphDispatch;
use crate::ordering;
use crate::pipeline::ComputePipeline;
use crate::query::QueryPool;
use crate::structure;
use crate::trace::Trace;
use ash::vk;
use counters::cost::Dealing;
use machine::bindings::Bindings;
use machine::instrumentation::Active;
use machine::sync::Event;
use machine::turns::Slot;
use raster::draw::Draw;
use raster::geometry::feedback::Target;
use raster::pass::Rendering;
use shader::stage_io::FEEDBACK_BUFFERS;
use smallvec::SmallVec;
use std::sync::Arc;
use std::time::Instant;
use texel::buffer::Buffer;
use texel::image::Image;
use texel::memory::DeviceMemory;
use texel::memory::sparse::Room;

#[derive(Clone)]
pub struct Dispatch {
    pub pipeline: Arc<ComputePipeline>,
    pub bindings: Bindings,
    pub base: [u32; 3],
    /// Where an instrumented shader's metrics go.
    pub instrumentation: Option<Active>,
    /// How its workgroups are dealt to the modelled cores.
    pub dealing: Dealing,
}

#[derive(Clone, Copy, Debug)]
pub struct Dependency {
    pub src_stages: vk::PipelineStageFlags2,
    pub dst_stages: vk::PipelineStageFlags2,
}

/// Where the bytes that transform feedback has written to a buffer are counted: a u32.
#[derive(Clone)]
pub struct CounterPlace {
    pub buffer: Arc<Buffer>,
    pub offset: u64,
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

    /// A data graph.
    Graph(Box<GraphDispatch>),

    /// Draws or dispatches that memory describes.
    Generated(Box<Generated>),

    /// A command that names an address which is no memory of the device: it loses the device.
    Wild {
        address: u64,
        call: &'static str,
    },

    /// A render pass instance begins, goes on to its next subpass, ends. Draws and attachment clears stand between.
    BeginRendering(Arc<Rendering>),
    NextSubpass,
    EndRendering,
    /// One of the list's draws, and the call that recorded it.
    Draw(u32, &'static str),
    /// Transform feedback begins to these buffers, after what counters say was written before.
    BeginFeedback {
        targets: Box<[Option<Target>; FEEDBACK_BUFFERS]>,
        counters: Box<[Option<CounterPlace>; FEEDBACK_BUFFERS]>,
    },
    EndFeedback {
        counters: Box<[Option<CounterPlace>; FEEDBACK_BUFFERS]>,
    },
    ClearAttachments {
        attachments: Vec<vk::ClearAttachment>,
        rects: Vec<vk::ClearRect>,
    },

    /// Of buffers, or of tensors: `call` recorded it.
    CopyBuffer {
        call: &'static str,
        src: Arc<Buffer>,
        dst: Arc<Buffer>,
        regions: SmallVec<[vk::BufferCopy2<'static>; 1]>,
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
        modes: Option<texel::transfer::Modes>,
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

    /// A matrix in another layout or of another type; source and destination are as large as it needs.
    ConvertMatrix {
        src: Arc<Buffer>,
        dst: Arc<Buffer>,
        conversion: Box<crate::matrix::Conversion>,
    },
    /// Copies of which buffer `copies` says where from, where to and how much (VkCopyMemoryIndirectCommandKHR).
    CopyMemoryIndirect {
        copies: Arc<Buffer>,
        stride: u64,
        count: u32,
    },
    /// As many copies as there are layers (VkCopyMemoryToImageIndirectCommandKHR).
    CopyMemoryToImageIndirect {
        copies: Arc<Buffer>,
        stride: u64,
        dst: Arc<Image>,
        layers: Vec<vk::ImageSubresourceLayers>,
    },

    /// Rays are traced.
    Trace(Box<Trace>),

    /// Builds, copies and questions about acceleration structures.
    Structure(Box<structure::Command>),

    Barrier(Dependency),
    /// A layout transition from UNDEFINED, recorded where undefined contents are to show.
    Undefine {
        image: Arc<Image>,
        range: vk::ImageSubresourceRange,
    },
    /// What orders commands, of a sanitised device, beside the command that does.
    Sync(Box<ordering::Sync>),
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
    /// `index`: the vertex stream, for queries of one.
    BeginQuery {
        pool: Arc<QueryPool>,
        query: u32,
        flags: vk::QueryControlFlags,
        index: u32,
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
    /// Draws, dispatches and attachment clears from here to its end are discarded if the u32 in the buffer is 0, or,
    /// inverted, if it is not.
    BeginConditional {
        buffer: Arc<Buffer>,
        offset: u64,
        inverted: bool,
    },
    EndConditional,
    BeginLabel(String),
    EndLabel,
    /// A label that is a mark ([`crate::channel::mark_name`]).
    Mark(Arc<str>),
}

impl Command {
    /// Whether conditional rendering may discard it (§ Conditional Rendering).
    pub fn is_conditional(&self) -> bool {
        matches!(
            self,
            Command::Dispatch { .. }
                | Command::DispatchIndirect { .. }
                | Command::Graph(_)
                | Command::Generated(_)
                | Command::Trace(_)
                | Command::Draw(..)
                | Command::ClearAttachments { .. }
        )
    }

    /// Whether it does something that render passes have no place for.
    pub fn is_outside(&self) -> bool {
        match self {
            Command::Generated(_)
            | Command::Wild { .. }
            | Command::BeginRendering(_)
            | Command::NextSubpass
            | Command::EndRendering
            | Command::Draw(..)
            | Command::BeginFeedback { .. }
            | Command::EndFeedback { .. }
            | Command::ClearAttachments { .. }
            | Command::Barrier(_)
            | Command::Undefine { .. }
            | Command::Sync(_)
            | Command::WriteTimestamp { .. }
            | Command::BeginQuery { .. }
            | Command::EndQuery { .. }
            | Command::Execute(_)
            | Command::BeginConditional { .. }
            | Command::EndConditional
            | Command::BeginLabel(_)
            | Command::EndLabel
            | Command::Mark(_) => false,
            Command::Dispatch { .. }
            | Command::DispatchIndirect { .. }
            | Command::Graph(_)
            | Command::CopyBuffer { .. }
            | Command::UpdateBuffer { .. }
            | Command::FillBuffer { .. }
            | Command::CopyImage { .. }
            | Command::CopyBufferToImage { .. }
            | Command::CopyImageToBuffer { .. }
            | Command::BlitImage { .. }
            | Command::ResolveImage { .. }
            | Command::ClearColorImage { .. }
            | Command::ClearDepthStencilImage { .. }
            | Command::ConvertMatrix { .. }
            | Command::CopyMemoryIndirect { .. }
            | Command::CopyMemoryToImageIndirect { .. }
            | Command::Structure(_)
            | Command::Trace(_)
            | Command::SetEvent { .. }
            | Command::ResetEvent { .. }
            | Command::WaitEvents { .. }
            | Command::ResetQueryPool { .. }
            | Command::CopyQueryResults { .. } => true,
        }
    }

    /// The call that recorded it.
    pub fn call(&self) -> &'static str {
        match self {
            Command::Dispatch { .. } => "vkCmdDispatch",
            Command::DispatchIndirect { .. } => "vkCmdDispatchIndirect",
            Command::Graph(_) => "vkCmdDispatchDataGraphARM",
            Command::Generated(_) => "vkCmdExecuteGeneratedCommandsEXT",
            Command::Wild { call, .. } => call,
            Command::BeginRendering(_) => "vkCmdBeginRendering or vkCmdBeginRenderPass2",
            Command::NextSubpass => "vkCmdNextSubpass2",
            Command::EndRendering => "vkCmdEndRendering or vkCmdEndRenderPass2",
            Command::Draw(_, call) => call,
            Command::BeginFeedback { .. } => "vkCmdBeginTransformFeedbackEXT",
            Command::EndFeedback { .. } => "vkCmdEndTransformFeedbackEXT",
            Command::ClearAttachments { .. } => "vkCmdClearAttachments",
            Command::CopyBuffer { call, .. } => call,
            Command::UpdateBuffer { .. } => "vkCmdUpdateBuffer",
            Command::FillBuffer { .. } => "vkCmdFillBuffer",
            Command::CopyImage { .. } => "vkCmdCopyImage2",
            Command::CopyBufferToImage { .. } => "vkCmdCopyBufferToImage2",
            Command::CopyImageToBuffer { .. } => "vkCmdCopyImageToBuffer2",
            Command::BlitImage { .. } => "vkCmdBlitImage2",
            Command::ResolveImage { .. } => "vkCmdResolveImage2",
            Command::ClearColorImage { .. } => "vkCmdClearColorImage",
            Command::ClearDepthStencilImage { .. } => "vkCmdClearDepthStencilImage",
            Command::ConvertMatrix { .. } => "vkCmdConvertCooperativeVectorMatrixNV",
            Command::CopyMemoryIndirect { .. } => "vkCmdCopyMemoryIndirectKHR",
            Command::CopyMemoryToImageIndirect { .. } => "vkCmdCopyMemoryToImageIndirectKHR",
            Command::Trace(t) => t.call,
            Command::Structure(c) => c.call(),
            Command::Barrier(_) | Command::Undefine { .. } => "vkCmdPipelineBarrier2",
            Command::Sync(s) => s.call(),
            Command::SetEvent { .. } => "vkCmdSetEvent2",
            Command::ResetEvent { .. } => "vkCmdResetEvent2",
            Command::WaitEvents { .. } => "vkCmdWaitEvents2",
            Command::WriteTimestamp { .. } => "vkCmdWriteTimestamp2",
            Command::BeginQuery { .. } => "vkCmdBeginQuery",
            Command::EndQuery { .. } => "vkCmdEndQuery",
            Command::ResetQueryPool { .. } => "vkCmdResetQueryPool",
            Command::CopyQueryResults { .. } => "vkCmdCopyQueryPoolResults",
            Command::Execute(_) => "vkCmdExecuteCommands",
            Command::BeginConditional { .. } => "vkCmdBeginConditionalRenderingEXT",
            Command::EndConditional => "vkCmdEndConditionalRenderingEXT",
            Command::BeginLabel(_) => "vkCmdBeginDebugUtilsLabelEXT",
            Command::EndLabel => "vkCmdEndDebugUtilsLabelEXT",
            Command::Mark(_) => "vkCmdInsertDebugUtilsLabelEXT",
        }
    }
}

/// A recorded command buffer, shared by every submission of it.
#[derive(Clone, Default)]
pub struct CommandList {
    /// For messages: its name or handle.
    pub name: Arc<str>,
    pub commands: Vec<Command>,
    /// What [`Command::Draw`] draws: all together, so that they take no memory each, and passes can hold them at once.
    pub draws: Arc<Vec<Draw>>,
    pub ties: Vec<Tie>,
    /// Lists within lists below this one.
    pub depth: u32,
}

// SAFETY: the ash region structs hold pNext pointers, which recording sets to null.
unsafe impl Send for CommandList {}
unsafe impl Sync for CommandList {}

/// What of a command list others may wait for, or waits for others.
#[derive(Clone)]
pub enum Tie {
    Set(Arc<Event>),
    Reset(Arc<Event>),
    Wait(Vec<Arc<Event>>),
    /// A render pass begins that signals so many of the list's semaphores.
    Stripes(usize),
    Execute(Arc<CommandList>),
}

impl Tie {
    /// What a command does of it.
    pub fn of(c: &Command) -> Vec<Tie> {
        match c {
            Command::SetEvent { event, .. } => vec![Tie::Set(event.clone())],
            Command::ResetEvent { event, .. } => vec![Tie::Reset(event.clone())],
            Command::WaitEvents { events, .. } => vec![Tie::Wait(events.clone())],
            Command::BeginRendering(r) if !r.stripes.is_empty() && !r.resuming => {
                vec![Tie::Stripes(r.stripes.len())]
            }
            Command::Execute(lists) => {
                lists.iter().filter(|l| !l.ties.is_empty()).cloned().map(Tie::Execute).collect()
            }
            _ => vec![],
        }
    }

    /// Whether a command may have any.
    #[inline]
    pub fn may_be_of(c: &Command) -> bool {
        matches!(
            c,
            Command::SetEvent { .. }
                | Command::ResetEvent { .. }
                | Command::WaitEvents { .. }
                | Command::BeginRendering(_)
                | Command::Execute(_)
        )
    }
}

#[derive(Clone)]
pub struct SemaphoreOp {
    pub semaphore: Arc<machine::sync::Semaphore>,
    pub value: u64,
    pub stages: vk::PipelineStageFlags2,
}

/// The frame that a batch belongs to (VK_EXT_frame_boundary), and whether it is its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    pub id: u64,
    pub ends: bool,
}

/// A part of a sparse resource, and the memory that it is bound to; none: it is unbound.
pub struct Bind {
    pub resource: Arc<DeviceMemory>,
    /// Bytes, multiples of [`texel::memory::sparse::BLOCK`].
    pub at: u64,
    pub bytes: u64,
    pub to: Option<(Arc<DeviceMemory>, u64)>,
}

/// What one VkBindSparseInfo binds, in order, and the mappings that this may take.
pub struct Binds {
    pub list: Vec<Bind>,
    pub room: Room,
}

/// One VkSubmitInfo2, or VkBindSparseInfo; the fence of a batch goes with its last one.
#[derive(Default)]
pub struct Submission {
    pub waits: Vec<SemaphoreOp>,
    /// Command buffers, and semaphores of the stripes of their passes.
    pub lists: Vec<(Arc<CommandList>, Vec<SemaphoreOp>)>,
    pub binds: Option<Binds>,
    pub signals: Vec<SemaphoreOp>,
    pub fence: Option<Arc<machine::sync::Fence>>,
    /// Its place among those of all queues.
    pub slot: Slot,
    /// When it was made, by the host's clock.
    pub made: Option<Instant>,
    /// Modelled time that the host had seen when it submitted.
    pub floor: u64,
    /// Somebody could look at counters when it was made.
    pub observed: bool,
    /// Which pass of performance queries it measures.
    pub performance_pass: u32,
    pub protected: bool,
    /// It is a VkSubmitInfo2, and not the driver's own carrier of a fence or a present.
    pub submitted: bool,
    pub frame: Option<Frame>,
    /// What the host had waited for, of a sanitised device.
    pub seen: Option<sanitize::hazards::Seen>,
    /// It presents: the end of a frame, for applications that never say where frames end.
    pub presents: bool,
    /// The images that it presents.
    pub shown: Vec<Arc<texel::image::Image>>,
    /// Called on the queue's thread when the lists are done, before signals (frees one-time state).
    pub done: Option<Box<dyn FnOnce() + Send>>,
}
