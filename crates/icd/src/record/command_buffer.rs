//! VkCommandBuffer: its life cycle (§ Command Buffer Lifecycle). What is recorded lives in `record/`.
//!
//! Ending a recording freezes it into an immutable, shared list; submissions and primaries hold that list, so that
//! resetting, re-recording or freeing the buffer never touches work under way.

use crate::base::given::{Call, In};
use crate::base::object::Object;
use crate::instance::limits::{MAX_DESCRIPTOR_BUFFERS, MAX_NESTING};
use crate::pipeline::draw_settings;
use crate::record::bind::BindPoint;
use crate::record::descriptor_heaps;
use crate::record::draw::Graphics;
use counters::cost::Dealing;
use gpu::command::{Command, CommandList, Dependency, Tie};
use machine::bindings::{HeapRange, Push};
use machine::instrumentation::{Active, Instrumentation};
use parking_lot::{Mutex, MutexGuard};
use raster::draw::Draw;
use std::sync::{Arc, OnceLock};
use texel::memory::AddressSpace;

pub struct CommandBuffer {
    pool_flags: vk::CommandPoolCreateFlags,
    level: vk::CommandBufferLevel,
    /// Its handle, for messages.
    pub raw: OnceLock<u64>,
    /// The device's.
    pub(crate) space: Arc<AddressSpace>,
    state: Mutex<Recorder>,
}

impl Object for CommandBuffer {
    type Handle = vk::CommandBuffer;
}

// SAFETY: calls get references to it, and only they do; a thread holds parts of it.
unsafe impl<'a> Call<'a> for &'a CommandBuffer {}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    Initial,
    Recording,
    /// Also while pending: what is submitted is the frozen list.
    Executable,
    Invalid,
}

/// What recording knows.
pub(crate) struct Recorder {
    pub phase: Phase,
    usage: vk::CommandBufferUsageFlags,
    pub commands: Vec<Command>,
    draws: Vec<Draw>,
    ties: Vec<Tie>,
    /// Levels of command buffers that they execute.
    pub depth: u32,
    /// There was no memory for some of them.
    short: bool,
    pub compute: BindPoint,
    /// How the workgroups of dispatches are dealt to cores.
    pub dealing: Dealing,
    pub graphics: BindPoint,
    pub rays: BindPoint,
    pub data_graphs: BindPoint,
    /// Addresses of the descriptor buffers; 0: none.
    pub descriptor_buffers: [u64; MAX_DESCRIPTOR_BUFFERS as usize],
    /// Heaps of samplers and of resources.
    pub heaps: [HeapRange; 2],
    /// Push constants, or push data, as pushed so far.
    pub push: Push,
    pub draw: Graphics,
    /// Of the render pass that is being recorded, after the present one.
    pub subpasses_left: usize,
    /// Where the end of the pass says how far its map of fragment densities is moved.
    pub density_offsets: Option<Arc<OnceLock<Vec<[i32; 2]>>>>,
    /// Dependencies of the work after it on its work.
    pub after: Vec<Dependency>,
    /// The active shader instrumentation object.
    pub instrumentation: Option<Arc<Instrumentation>>,
    frozen: Option<Arc<CommandList>>,
}

impl Default for Recorder {
    fn default() -> Self {
        Recorder {
            phase: Phase::Initial,
            usage: Default::default(),
            commands: Vec::new(),
            draws: Vec::new(),
            ties: Vec::new(),
            depth: 0,
            short: false,
            compute: Default::default(),
            dealing: Default::default(),
            graphics: Default::default(),
            rays: Default::default(),
            data_graphs: Default::default(),
            descriptor_buffers: Default::default(),
            heaps: Default::default(),
            push: Default::default(),

            draw: Default::default(),
            subpasses_left: 0,
            density_offsets: None,
            after: Vec::new(),
            instrumentation: None,
            frozen: None,
        }
    }
}

impl Recorder {
    pub fn push(&mut self, c: Command) {
        let mut ties = if Tie::may_be_of(&c) { Tie::of(&c) } else { vec![] };
        // A list can have any length. If there is no memory for a command, vkEndCommandBuffer returns the error.
        match self.commands.try_reserve(1).and(self.ties.try_reserve(ties.len())) {
            Ok(()) => {
                self.commands.push(c);
                self.ties.append(&mut ties);
            }
            Err(_) => self.short = true,
        }
    }

    pub fn push_draw(&mut self, draw: Draw) {
        let (at, call) = (self.draws.len(), draw.what.call());
        match u32::try_from(at).ok().filter(|_| self.draws.try_reserve(1).is_ok()) {
            Some(at) => {
                self.draws.push(draw);
                self.push(Command::Draw(at, call));
            }
            None => self.short = true,
        }
    }

    /// What a draw or dispatch that is recorded now writes its metrics to. Each one takes an index, instrumented or
    /// not.
    pub fn instrumented(&self) -> Option<Active> {
        self.instrumentation.as_ref().map(|i| (i.clone(), i.take_index()))
    }

    /// Sets and pipeline of a bind point.
    pub fn point(&mut self, p: vk::PipelineBindPoint) -> &mut BindPoint {
        match p {
            vk::PipelineBindPoint::COMPUTE => &mut self.compute,
            vk::PipelineBindPoint::RAY_TRACING_KHR => &mut self.rays,
            vk::PIPELINE_BIND_POINT_DATA_GRAPH_ARM => &mut self.data_graphs,
            _ => &mut self.graphics,
        }
    }
}

impl CommandBuffer {
    pub(crate) fn new(
        pool_flags: vk::CommandPoolCreateFlags,
        level: vk::CommandBufferLevel,
        space: Arc<AddressSpace>,
    ) -> CommandBuffer {
        CommandBuffer { pool_flags, level, space, raw: OnceLock::new(), state: Mutex::default() }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Recorder> {
        self.state.lock()
    }

    /// The state for a vkCmd*; `None`, with a line in the log, unless recording.
    pub(crate) fn recording(&self) -> Option<MutexGuard<'_, Recorder>> {
        let r = self.state.lock();
        if r.phase == Phase::Recording {
            return Some(r);
        }
        crate::base::debug::log_error("a command is recorded into a command buffer that is not recording");
        None
    }

    /// Back to the initial state; `release` gives its memory back as well.
    pub(crate) fn reset(&self, release: bool) {
        let mut r = self.state.lock();
        let mut old = std::mem::take(&mut *r);
        if release {
            return;
        }
        // What was recorded is the queue's as well while it is pending.
        if let Some(CommandList { commands, draws, .. }) = old.frozen.take().and_then(Arc::into_inner) {
            old.commands = commands;
            old.draws = Arc::into_inner(draws).unwrap_or_default();
        }
        old.commands.clear();
        old.draws.clear();
        (r.commands, r.draws) = (old.commands, old.draws);
    }

    /// The list to execute; a one-time buffer becomes invalid by it.
    pub(crate) fn submit(&self) -> Option<Arc<CommandList>> {
        let mut r = self.state.lock();
        let list = r.frozen.clone();
        if list.is_none() {
            crate::base::debug::log_error(&format!(
                "vkQueueSubmit: a command buffer that is not executable ({:?})",
                r.phase
            ));
        }
        if r.usage.contains(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT) && list.is_some() {
            r.phase = Phase::Invalid;
            r.frozen = None;
        }
        list
    }

    /// Whether it comes from a pool of protected command buffers.
    pub(crate) fn is_protected(&self) -> bool {
        self.pool_flags.contains(vk::CommandPoolCreateFlags::PROTECTED)
    }

    /// The list of a secondary buffer, for a primary to hold.
    pub(crate) fn execute(&self) -> Option<Arc<CommandList>> {
        let list = self.state.lock().frozen.clone();
        if list.is_none() || self.level != vk::CommandBufferLevel::SECONDARY {
            crate::base::debug::log_error("vkCmdExecuteCommands: not an executable secondary command buffer");
            return None;
        }
        if list.as_ref().is_some_and(|l| l.depth >= MAX_NESTING) {
            crate::base::debug::log_error(&format!(
                "vkCmdExecuteCommands: more than {MAX_NESTING} levels of command buffers"
            ));
            return None;
        }
        list
    }
}

pub(crate) fn begin_command_buffer(
    buffer: &CommandBuffer,
    info: In<vk::CommandBufferBeginInfo>,
) -> vk::Result {
    let phase = buffer.lock().phase;
    let resettable = buffer.pool_flags.contains(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
    if phase == Phase::Recording || (phase != Phase::Initial && !resettable) {
        crate::base::debug::log_error(&format!("vkBeginCommandBuffer: the command buffer is {phase:?}"));
    }
    // What has just been reset is empty.
    if phase != Phase::Initial {
        buffer.reset(false);
    }
    let mut r = buffer.lock();
    r.phase = Phase::Recording;
    r.usage = info.flags;
    let secondary = buffer.level == vk::CommandBufferLevel::SECONDARY;
    // SAFETY: of secondary command buffers it is valid.
    let inherited = secondary.then(|| unsafe { info.inheritance_info() }).flatten();
    if r.usage.contains(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
        && let Some(i) = inherited
        && let Some(l) = i.find::<vk::RenderingAttachmentLocationInfoKHR>()
    {
        r.draw.locate(draw_settings::locations(l));
    }
    if let Some(i) = inherited
        && let Some(h) = i.find::<vk::CommandBufferInheritanceDescriptorHeapInfoEXT>()
    {
        r.heaps = descriptor_heaps::inherited(h);
    }
    vk::Result::SUCCESS
}

pub(crate) fn end_command_buffer(buffer: &CommandBuffer) -> vk::Result {
    let mut r = buffer.lock();
    if r.phase != Phase::Recording {
        return crate::base::answer::invalid("vkEndCommandBuffer: the command buffer is not recording");
    }
    if r.instrumentation.take().is_some() {
        crate::base::debug::log_error(
            "vkEndCommandBuffer while shader instrumentation is active (VUID 12372): it ends here",
        );
    }
    if std::mem::take(&mut r.short) {
        r.phase = Phase::Invalid;
        return vk::Result::ERROR_OUT_OF_HOST_MEMORY;
    }
    let commands = std::mem::take(&mut r.commands);
    let draws = Arc::new(std::mem::take(&mut r.draws));
    let ties = std::mem::take(&mut r.ties);
    let depth = std::mem::take(&mut r.depth);
    r.frozen = Some(Arc::new(CommandList {
        name: crate::base::debug::called(buffer.raw.get().copied().unwrap_or(0)).into(),
        commands,
        draws,
        ties,
        depth,
    }));
    r.phase = Phase::Executable;
    // Bound objects are not needed any more.
    r.compute = Default::default();
    r.graphics = Default::default();
    r.draw = Default::default();
    vk::Result::SUCCESS
}

pub(crate) fn reset_command_buffer(buffer: &CommandBuffer, flags: vk::CommandBufferResetFlags) -> vk::Result {
    buffer.reset(flags.contains(vk::CommandBufferResetFlags::RELEASE_RESOURCES));
    vk::Result::SUCCESS
}
