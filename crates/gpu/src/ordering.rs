//! What command buffers of sanitised devices record of barriers and render passes beside what executes.

use ash::vk;
use machine::sync::Event;
use sanitize::hazards::Scope;
use std::sync::Arc;
use texel::buffer::Buffer;
use texel::image::Image;

/// Stages and accesses of a dependency.
#[derive(Clone, Copy, Debug, Default)]
pub struct Masks {
    pub stages: [vk::PipelineStageFlags2; 2],
    pub accesses: [vk::AccessFlags2; 2],
}

impl Masks {
    pub fn scopes(&self) -> [Scope; 2] {
        let [src, dst] = self.stages.map(|s| s.as_raw());
        let [from, to] = self.accesses.map(|a| a.as_raw());
        [Scope::first(src, from), Scope::second(dst, to)]
    }
}

#[derive(Clone)]
pub struct BufferBarrier {
    pub masks: Masks,
    pub buffer: Arc<Buffer>,
    pub offset: u64,
    pub size: u64,
    /// Of queues; equal: it stays with theirs.
    pub families: [u32; 2],
}

#[derive(Clone)]
pub struct ImageBarrier {
    pub masks: Masks,
    pub image: Arc<Image>,
    pub range: vk::ImageSubresourceRange,
    pub layouts: [vk::ImageLayout; 2],
    /// Of queues; equal: they stay with theirs.
    pub families: [u32; 2],
}

/// A VkDependencyInfo.
#[derive(Clone, Default)]
pub struct Dependencies {
    pub memory: Vec<Masks>,
    pub buffers: Vec<BufferBarrier>,
    pub images: Vec<ImageBarrier>,
}

/// How an attachment's layout changes with a pass. Depth and stencil apart.
#[derive(Clone, Copy, Debug)]
pub struct Layouts {
    pub initial: vk::ImageLayout,
    pub last: vk::ImageLayout,
}

#[derive(Clone, Copy, Debug)]
pub struct SubpassDependency {
    /// `None`: what is outside the pass.
    pub src: Option<u32>,
    pub dst: Option<u32>,
    pub masks: Masks,
}

/// A render pass instance; of dynamic rendering without transitions and dependencies.
#[derive(Clone, Default)]
pub struct Pass {
    /// By attachment; [depth or colour, stencil]. None: there are no transitions.
    pub attachments: Vec<[Layouts; 2]>,
    /// Layouts that attachments have in each subpass: index, layout, and stencil's layout.
    pub subpasses: Vec<Vec<(u32, [vk::ImageLayout; 2])>>,
    pub dependencies: Vec<SubpassDependency>,
}

/// What orders commands, in the place of the command that does.
#[derive(Clone)]
pub enum Sync {
    Barrier(Dependencies),
    Set(Arc<Event>, Dependencies),
    Wait(Vec<(Arc<Event>, Dependencies)>),
    /// Of the render pass that begins next.
    Pass(Arc<Pass>),
}

impl Sync {
    /// The call that recorded it.
    pub fn call(&self) -> &'static str {
        match self {
            Sync::Barrier(_) => "vkCmdPipelineBarrier2",
            Sync::Set(..) => "vkCmdSetEvent2",
            Sync::Wait(_) => "vkCmdWaitEvents2",
            Sync::Pass(_) => "vkCmdBeginRendering or vkCmdBeginRenderPass2",
        }
    }
}
