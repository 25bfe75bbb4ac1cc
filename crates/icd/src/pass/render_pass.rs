//! VkRenderPass: its attachments and subpasses, and these in the form the GPU wants.

use crate::base::answer::{Answer, created, invalid};
use crate::base::chain;
use crate::base::object::{self, Object};
use crate::device::Device;
use crate::instance::limits::MAX_COLORS;
use crate::pass::convert;
use gpu::command::Dependency;
use raster::pass::physical;
use std::sync::Arc;
use vk::SubpassMergeStatusEXT as Status;

/// One attachment. Layouts are the same for every use.
#[derive(Clone, Debug)]
pub(crate) struct Attachment {
    pub format: vk::Format,
    pub samples: vk::SampleCountFlags,
    pub load: vk::AttachmentLoadOp,
    pub store: vk::AttachmentStoreOp,
    pub stencil_load: vk::AttachmentLoadOp,
    pub stencil_store: vk::AttachmentStoreOp,
}

#[derive(Clone, Debug)]
pub(crate) struct Reference {
    /// `None`: `VK_ATTACHMENT_UNUSED`.
    pub attachment: Option<u32>,
}

#[derive(Clone, Debug)]
pub(crate) struct DepthResolve {
    pub to: Reference,
    pub depth_mode: vk::ResolveModeFlags,
    pub stencil_mode: vk::ResolveModeFlags,
}

#[derive(Clone, Debug)]
pub(crate) struct Subpass {
    pub view_mask: u32,
    pub inputs: Vec<Reference>,
    pub colors: Vec<Reference>,
    /// One per colour, or none.
    pub resolves: Vec<Reference>,
    pub depth: Option<Reference>,
    pub depth_resolve: Option<DepthResolve>,
    /// Attachments of one sample are drawn to with this many; 0: as they are.
    pub expand: u32,
    /// Not to be merged with the subpass before it (VkRenderPassCreationControlEXT).
    pub alone: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct SubpassDependency {
    /// `None`: `VK_SUBPASS_EXTERNAL`.
    pub src: Option<u32>,
    pub dst: Option<u32>,
    pub stages: Dependency,
    pub flags: vk::DependencyFlags,
}

/// What command buffers and pipelines share of a render pass.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    pub attachments: Vec<Attachment>,
    pub subpasses: Vec<Subpass>,
    pub dependencies: Vec<SubpassDependency>,
    /// The subpasses for the GPU.
    pub gpu: Vec<raster::pass::Subpass>,
}

pub struct RenderPass {
    pub(crate) shared: Arc<Pass>,
}

impl Object for RenderPass {
    type Handle = vk::RenderPass;
}

fn attachment(a: &vk::AttachmentDescription2) -> Attachment {
    Attachment {
        format: a.format,
        samples: a.samples,
        load: a.load_op,
        store: a.store_op,
        stencil_load: a.stencil_load_op,
        stencil_store: a.stencil_store_op,
    }
}

fn reference(r: &vk::AttachmentReference2) -> Reference {
    Reference { attachment: (r.attachment != vk::ATTACHMENT_UNUSED).then_some(r.attachment) }
}

unsafe fn references(r: *const vk::AttachmentReference2, count: u32) -> Vec<Reference> {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe { chain::slice(r, count).iter().map(reference).collect() }
}

unsafe fn subpass(s: &vk::SubpassDescription2) -> Subpass {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let expand = expand(s.p_next);
        let depth_resolve =
            chain::find::<vk::SubpassDescriptionDepthStencilResolve>(s.p_next).and_then(|d| {
                let to = d.p_depth_stencil_resolve_attachment.as_ref().map(reference);
                // Where single samples are expanded the modes count without a target as well.
                let none = (expand != 0).then_some(Reference { attachment: None });
                Some(DepthResolve {
                    to: to.or(none)?,
                    depth_mode: d.depth_resolve_mode,
                    stencil_mode: d.stencil_resolve_mode,
                })
            });
        Subpass {
            view_mask: s.view_mask,
            inputs: references(s.p_input_attachments, s.input_attachment_count),
            colors: references(s.p_color_attachments, s.color_attachment_count),
            resolves: references(s.p_resolve_attachments, s.color_attachment_count),
            depth: s.p_depth_stencil_attachment.as_ref().map(reference),
            depth_resolve,
            expand,
            alone: alone(s.p_next),
        }
    }
}

/// The most samples of an attachment that there are.
const MAX_EXPANDED: u32 = 16;

/// The samples that a subpass or dynamic rendering gives attachments of one sample
/// (VkMultisampledRenderToSingleSampledInfoEXT); 0: they stay as they are.
///
/// # Safety
/// `p_next` is a valid chain.
pub(crate) unsafe fn expand(p_next: *const std::ffi::c_void) -> u32 {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        chain::find::<vk::MultisampledRenderToSingleSampledInfoEXT>(p_next)
            .filter(|m| m.multisampled_render_to_single_sampled_enable != 0)
            .map_or(0, |m| convert::samples(m.rasterization_samples))
            .min(MAX_EXPANDED)
    }
}

unsafe fn dependency(d: &vk::SubpassDependency2) -> SubpassDependency {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let known = |s| (s != vk::SUBPASS_EXTERNAL).then_some(s);
        // A VkMemoryBarrier2 in the chain replaces the stages.
        let plain = |s: vk::PipelineStageFlags| vk::PipelineStageFlags2::from_raw(s.as_raw() as u64);
        let (src_stages, dst_stages) = match chain::find::<vk::MemoryBarrier2>(d.p_next) {
            Some(m) => (m.src_stage_mask, m.dst_stage_mask),
            None => (plain(d.src_stage_mask), plain(d.dst_stage_mask)),
        };
        SubpassDependency {
            src: known(d.src_subpass),
            dst: known(d.dst_subpass),
            stages: Dependency { src_stages, dst_stages },
            flags: d.dependency_flags,
        }
    }
}

/// Stages that see a tile's pixels before they are in memory.
const FRAGMENT_STAGES: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::from_raw(
    vk::PipelineStageFlags2::FRAGMENT_SHADER.as_raw()
        | vk::PipelineStageFlags2::EARLY_FRAGMENT_TESTS.as_raw()
        | vk::PipelineStageFlags2::LATE_FRAGMENT_TESTS.as_raw()
        | vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT.as_raw()
        | vk::PipelineStageFlags2::BOTTOM_OF_PIPE.as_raw(),
);

impl Pass {
    /// Refuses references to attachments and subpasses that there are not.
    fn check(&self) -> Answer {
        let attachments = self.attachments.len();
        let mut all = self.subpasses.iter().flat_map(|s| {
            let lists = s.inputs.iter().chain(&s.colors).chain(&s.resolves);
            lists.chain(&s.depth).chain(s.depth_resolve.as_ref().map(|d| &d.to))
        });
        if let Some(bad) = all.find_map(|r| r.attachment.filter(|&a| a as usize >= attachments)) {
            return Err(invalid(&format!("vkCreateRenderPass: attachment {bad} of {attachments}")));
        }
        if self.subpasses.iter().any(|s| s.colors.len() > MAX_COLORS) {
            return Err(invalid("vkCreateRenderPass: a subpass with too many colour attachments"));
        }
        Ok(())
    }

    /// Whether a dependency into a subpass is not by region, or reaches stages before the fragment's.
    fn waits(&self, index: usize) -> bool {
        self.dependencies.iter().any(|d| {
            d.dst == Some(index as u32)
                && d.src.is_some_and(|src| src != index as u32)
                && (!d.flags.contains(vk::DependencyFlags::BY_REGION)
                    || !FRAGMENT_STAGES.contains(d.stages.dst_stages))
        })
    }

    /// Dependencies on what comes before the pass; of what comes behind it.
    pub fn outward(&self) -> [Vec<Dependency>; 2] {
        let of = |from: bool, to: bool| {
            let all =
                self.dependencies.iter().filter(move |d| (d.src.is_none(), d.dst.is_none()) == (from, to));
            all.map(|d| d.stages).collect()
        };
        [of(true, false), of(false, true)]
    }

    /// A subpass for the GPU.
    fn subpass(&self, index: usize) -> raster::pass::Subpass {
        let s = &self.subpasses[index];
        let indices = |list: &[Reference]| list.iter().map(|r| r.attachment).collect::<Vec<_>>();
        let format = |a: u32| texel::format::info(self.attachments[a as usize].format);
        let depth = s.depth.as_ref().and_then(|d| d.attachment);
        let with = |a: Option<u32>, has: fn(&texel::format::FormatInfo) -> bool| {
            a.filter(|&a| format(a).is_some_and(has))
        };
        // What is expanded for the subpass resolves to itself.
        let expanded =
            |a: u32| s.expand > 1 && self.attachments[a as usize].samples == vk::SampleCountFlags::TYPE_1;
        let resolve = |has: fn(&texel::format::FormatInfo) -> bool,
                       mode: fn(&DepthResolve) -> vk::ResolveModeFlags| {
            let d = s.depth_resolve.as_ref()?;
            let mode = mode(d);
            let to = depth.filter(|&a| expanded(a)).or(d.to.attachment);
            Some((with(to, has)?, mode)).filter(|_| !mode.is_empty())
        };
        let resolves: Vec<_> = s
            .colors
            .iter()
            .enumerate()
            .map(|(i, c)| {
                let itself = c.attachment.filter(|&a| expanded(a));
                let a = itself.or_else(|| s.resolves.get(i)?.attachment)?;
                Some((a, average(format(a))))
            })
            .collect();
        let samples = || {
            let used = s.colors.iter().chain(&s.depth).find_map(|r| r.attachment)?;
            Some(convert::samples(self.attachments[used as usize].samples))
        };
        let flush = (s.alone && index > 0) || self.waits(index);
        raster::pass::Subpass {
            view_mask: s.view_mask,
            colors: indices(&s.colors),
            resolves: if resolves.iter().all(Option::is_none) { Vec::new() } else { resolves },
            depth: with(depth, |f| f.has_depth()),
            stencil: with(depth, |f| f.has_stencil()),
            depth_resolve: resolve(|f| f.has_depth(), |d| d.depth_mode),
            stencil_resolve: resolve(|f| f.has_stencil(), |d| d.stencil_mode),
            inputs: indices(&s.inputs),
            samples: if s.expand > 1 { s.expand } else { samples().unwrap_or(0) },
            expand: s.expand,
            flush,
        }
    }
}

/// Whether merging is disallowed.
unsafe fn alone(p_next: *const std::ffi::c_void) -> bool {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        chain::find::<vk::RenderPassCreationControlEXT>(p_next).is_some_and(|c| c.disallow_merging != 0)
    }
}

impl Pass {
    /// Tells how subpasses merged (VK_EXT_subpass_merge_feedback).
    unsafe fn tell(&self, i: &vk::RenderPassCreateInfo2) {
        // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
        unsafe {
            let last = self.gpu.len().saturating_sub(1);
            if let Some(f) = chain::find::<vk::RenderPassCreationFeedbackCreateInfoEXT>(i.p_next)
                && let Some(out) = f.p_render_pass_feedback.as_mut()
            {
                out.post_merge_subpass_count = physical(&self.gpu, last) + 1;
            }
            let all = alone(i.p_next);
            for (n, s) in chain::slice(i.p_subpasses, i.subpass_count).iter().enumerate() {
                if let Some(f) = chain::find::<vk::RenderPassSubpassFeedbackCreateInfoEXT>(s.p_next)
                    && let Some(out) = f.p_subpass_feedback.as_mut()
                {
                    let (status, why) = match n {
                        _ if all || self.subpasses[n].alone => (Status::DISALLOWED, "disallowed"),
                        _ if last == 0 => (Status::NOT_MERGED_SINGLE_SUBPASS, "the only subpass"),
                        0 => (Status::NOT_MERGED_UNSPECIFIED, "the first subpass"),
                        _ if self.gpu[n].flush => {
                            (Status::NOT_MERGED_DEPENDENCIES, "what came before must be in memory first")
                        }
                        _ => (Status::MERGED, "drawn tile by tile with the subpass before it"),
                    };
                    out.subpass_merge_status = status;
                    out.post_merge_index = physical(&self.gpu, n);
                    chain::write_str(&mut out.description, why);
                }
            }
        }
    }
}

/// How colours of a format are resolved by a render pass: integers cannot be averaged (§ Multisample Resolve).
pub(crate) fn average(f: Option<&texel::format::FormatInfo>) -> vk::ResolveModeFlags {
    if f.is_some_and(|f| f.is_integer()) {
        vk::ResolveModeFlags::SAMPLE_ZERO
    } else {
        vk::ResolveModeFlags::AVERAGE
    }
}

unsafe fn new(i: &vk::RenderPassCreateInfo2) -> Answer<RenderPass> {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let mut pass = Pass {
            attachments: chain::slice(i.p_attachments, i.attachment_count).iter().map(attachment).collect(),
            subpasses: chain::slice(i.p_subpasses, i.subpass_count).iter().map(|s| subpass(s)).collect(),
            dependencies: chain::slice(i.p_dependencies, i.dependency_count)
                .iter()
                .map(|d| dependency(d))
                .collect(),
            gpu: Vec::new(),
        };
        if alone(i.p_next) {
            pass.subpasses.iter_mut().for_each(|s| s.alone = true);
        }
        pass.check()?;
        pass.gpu = (0..pass.subpasses.len()).map(|s| pass.subpass(s)).collect();
        pass.tell(i);
        Ok(RenderPass { shared: Arc::new(pass) })
    }
}

pub(crate) unsafe fn get(pass: vk::RenderPass) -> Option<Arc<Pass>> {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe { Some(object::get::<RenderPass>(pass)?.shared.clone()) }
}

pub(crate) unsafe fn create_render_pass2(
    _: &Device,
    info: *const vk::RenderPassCreateInfo2,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::RenderPass,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe { created(out, new(&*info)) }
}

pub(crate) unsafe fn destroy_render_pass(
    _: &Device,
    pass: vk::RenderPass,
    _: *const vk::AllocationCallbacks,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        object::destroy::<RenderPass>(pass);
    }
}

/// Render areas are best aligned to the GPU's tile.
const GRANULARITY: vk::Extent2D =
    vk::Extent2D { width: raster::layout::TILE as u32, height: raster::layout::TILE as u32 };

pub(crate) unsafe fn get_render_area_granularity(_: &Device, _: vk::RenderPass, out: *mut vk::Extent2D) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        *out = GRANULARITY;
    }
}

pub(crate) unsafe fn get_rendering_area_granularity(
    _: &Device,
    _: *const vk::RenderingAreaInfo,
    out: *mut vk::Extent2D,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        *out = GRANULARITY;
    }
}
