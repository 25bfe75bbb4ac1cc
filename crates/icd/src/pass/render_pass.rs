//! VkRenderPass: its attachments and subpasses, and these in the form the GPU wants.

use crate::base::answer::{Answer, created, invalid};
use crate::base::chain;
use crate::base::given::{Call, Doomed, In, Out};
use crate::base::object::Object;
use crate::device::Device;
use crate::instance::limits::MAX_COLORS;
use crate::pass::convert;
use gpu::command::Dependency;
use gpu::ordering::Masks;
use raster::pass::physical;
use std::sync::Arc;
use vk::SubpassMergeStatusEXT as Status;

/// One attachment.
#[derive(Clone, Debug)]
pub(crate) struct Attachment {
    pub format: vk::Format,
    pub samples: vk::SampleCountFlags,
    pub load: vk::AttachmentLoadOp,
    pub store: vk::AttachmentStoreOp,
    pub stencil_load: vk::AttachmentLoadOp,
    pub stencil_store: vk::AttachmentStoreOp,
    /// Initial and final ones, and those of stencil: they matter to sanitised devices alone.
    pub layouts: [[vk::ImageLayout; 2]; 2],
}

#[derive(Clone, Debug)]
pub(crate) struct Reference {
    /// `None`: `VK_ATTACHMENT_UNUSED`.
    pub attachment: Option<u32>,
    /// And stencil's.
    pub layouts: [vk::ImageLayout; 2],
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
    /// Where shading rates come from, and the pixels of a texel.
    pub rate: Option<(Reference, [u32; 2])>,
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
    /// The same with its accesses.
    pub masks: Masks,
    pub flags: vk::DependencyFlags,
}

/// What command buffers and pipelines share of a render pass.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    pub attachments: Vec<Attachment>,
    pub subpasses: Vec<Subpass>,
    pub dependencies: Vec<SubpassDependency>,
    /// The attachment that says how large fragments are, and whether layers have a layer of it each.
    pub density: Option<u32>,
    pub layered: bool,
    /// The subpasses for the GPU.
    pub gpu: Vec<raster::pass::Subpass>,
}

pub struct RenderPass {
    pub(crate) shared: Arc<Pass>,
}

impl Object for RenderPass {
    type Handle = vk::RenderPass;
}

fn attachment(a: In<vk::AttachmentDescription2>) -> Attachment {
    let plain = [a.initial_layout, a.final_layout];
    let stencil = a.find::<vk::AttachmentDescriptionStencilLayout>();
    let stencil = stencil.map_or(plain, |s| [s.stencil_initial_layout, s.stencil_final_layout]);
    Attachment {
        layouts: [plain, stencil],
        format: a.format,
        samples: a.samples,
        load: a.load_op,
        store: a.store_op,
        stencil_load: a.stencil_load_op,
        stencil_store: a.stencil_store_op,
    }
}

fn reference(r: In<vk::AttachmentReference2>) -> Reference {
    let stencil = r.find::<vk::AttachmentReferenceStencilLayout>().map_or(r.layout, |s| s.stencil_layout);
    Reference {
        attachment: (r.attachment != vk::ATTACHMENT_UNUSED).then_some(r.attachment),
        layouts: [r.layout, stencil],
    }
}

fn references(r: In<[vk::AttachmentReference2]>) -> Vec<Reference> {
    r.iter().map(reference).collect()
}

fn subpass(s: In<vk::SubpassDescription2>) -> Subpass {
    let expand = expand(s.find());
    let depth_resolve = s.find::<vk::SubpassDescriptionDepthStencilResolve>().and_then(|d| {
        let to = d.depth_stencil_resolve_attachment().map(reference);
        // Where single samples are expanded the modes count without a target as well.
        let none = (expand != 0).then_some(Reference { attachment: None, layouts: Default::default() });
        Some(DepthResolve {
            to: to.or(none)?,
            depth_mode: d.depth_resolve_mode,
            stencil_mode: d.stencil_resolve_mode,
        })
    });
    Subpass {
        view_mask: s.view_mask,
        inputs: references(s.input_attachments()),
        colors: references(s.color_attachments()),
        resolves: references(s.resolve_attachments()),
        depth: s.depth_stencil_attachment().map(reference),
        depth_resolve,
        rate: s.find::<vk::FragmentShadingRateAttachmentInfoKHR>().and_then(|r| {
            let texel = r.shading_rate_attachment_texel_size;
            Some((reference(r.fragment_shading_rate_attachment()?), [texel.width, texel.height]))
        }),
        expand,
        alone: alone(s.find()),
    }
}

/// The most samples of an attachment that there are.
const MAX_EXPANDED: u32 = 16;

/// The samples that a subpass or dynamic rendering gives attachments of one sample
/// (VkMultisampledRenderToSingleSampledInfoEXT); 0: they stay as they are.
pub(crate) fn expand(info: Option<In<vk::MultisampledRenderToSingleSampledInfoEXT>>) -> u32 {
    info.filter(|m| m.multisampled_render_to_single_sampled_enable != 0)
        .map_or(0, |m| convert::samples(m.rasterization_samples))
        .min(MAX_EXPANDED)
}

fn dependency(d: In<vk::SubpassDependency2>) -> SubpassDependency {
    let known = |s| (s != vk::SUBPASS_EXTERNAL).then_some(s);
    // A VkMemoryBarrier2 in the chain replaces the stages.
    let plain = |s: vk::PipelineStageFlags| vk::PipelineStageFlags2::from_raw(s.as_raw() as u64);
    let access = |a: vk::AccessFlags| vk::AccessFlags2::from_raw(a.as_raw() as u64);
    let masks = match d.find::<vk::MemoryBarrier2>() {
        Some(m) => Masks {
            stages: [m.src_stage_mask, m.dst_stage_mask],
            accesses: [m.src_access_mask, m.dst_access_mask],
        },
        None => Masks {
            stages: [plain(d.src_stage_mask), plain(d.dst_stage_mask)],
            accesses: [access(d.src_access_mask), access(d.dst_access_mask)],
        },
    };
    let [src_stages, dst_stages] = masks.stages;
    SubpassDependency {
        src: known(d.src_subpass),
        dst: known(d.dst_subpass),
        stages: Dependency { src_stages, dst_stages },
        masks,
        flags: d.dependency_flags,
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
            lists
                .chain(&s.depth)
                .chain(s.depth_resolve.as_ref().map(|d| &d.to))
                .chain(s.rate.iter().map(|r| &r.0))
        });
        let beyond = |a: &u32| *a as usize >= attachments;
        let bad = all.find_map(|r| r.attachment.filter(beyond)).or(self.density.filter(beyond));
        if let Some(bad) = bad {
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

    /// Dependencies of the pass on the work before it, and of the work after it on the pass.
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
            rate: s.rate.as_ref().and_then(|(r, texel)| Some((r.attachment?, *texel))),
            samples: if s.expand > 1 { s.expand } else { samples().unwrap_or(0) },
            expand: s.expand,
            flush,
        }
    }
}

/// Whether merging is disallowed.
fn alone(control: Option<In<vk::RenderPassCreationControlEXT>>) -> bool {
    control.is_some_and(|c| c.disallow_merging != 0)
}

impl Pass {
    /// Tells how subpasses merged (VK_EXT_subpass_merge_feedback).
    fn tell(&self, i: In<vk::RenderPassCreateInfo2>) {
        let last = self.gpu.len().saturating_sub(1);
        if let Some(out) =
            i.find::<vk::RenderPassCreationFeedbackCreateInfoEXT>().and_then(|f| f.render_pass_feedback())
        {
            let post_merge_subpass_count = physical(&self.gpu, last) + 1;
            out.set(vk::RenderPassCreationFeedbackInfoEXT { post_merge_subpass_count });
        }
        let all = alone(i.find());
        for (n, s) in i.subpasses().iter().enumerate() {
            if let Some(out) =
                s.find::<vk::RenderPassSubpassFeedbackCreateInfoEXT>().and_then(|f| f.subpass_feedback())
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
                let mut told = vk::RenderPassSubpassFeedbackInfoEXT {
                    subpass_merge_status: status,
                    post_merge_index: physical(&self.gpu, n),
                    ..Default::default()
                };
                chain::write_str(&mut told.description, why);
                out.set(told);
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

fn new(i: In<vk::RenderPassCreateInfo2>) -> Answer<RenderPass> {
    let mut pass = Pass {
        attachments: i.attachments().iter().map(attachment).collect(),
        subpasses: i.subpasses().iter().map(subpass).collect(),
        dependencies: i.dependencies().iter().map(dependency).collect(),
        density: i
            .find::<vk::RenderPassFragmentDensityMapCreateInfoEXT>()
            .map(|d| d.fragment_density_map_attachment.attachment)
            .filter(|a| *a != vk::ATTACHMENT_UNUSED),
        layered: i.flags.contains(vk::RENDER_PASS_CREATE_PER_LAYER_FRAGMENT_DENSITY_BIT_VALVE),
        gpu: Vec::new(),
    };
    if alone(i.find()) {
        pass.subpasses.iter_mut().for_each(|s| s.alone = true);
    }
    pass.check()?;
    pass.gpu = (0..pass.subpasses.len()).map(|s| pass.subpass(s)).collect();
    pass.tell(i);
    Ok(RenderPass { shared: Arc::new(pass) })
}

pub(crate) fn get<'a>(call: impl Call<'a>, pass: vk::RenderPass) -> Option<Arc<Pass>> {
    Some(call.object::<RenderPass>(pass)?.shared.clone())
}

pub(crate) fn create_render_pass2(
    _: &Device,
    info: In<vk::RenderPassCreateInfo2>,
    out: Out<vk::RenderPass>,
) -> vk::Result {
    created(out, new(info))
}

pub(crate) fn destroy_render_pass(_: &Device, pass: Doomed<RenderPass>) {
    pass.destroy();
}

/// Render areas are best aligned to the GPU's tile.
const GRANULARITY: vk::Extent2D =
    vk::Extent2D { width: raster::layout::TILE as u32, height: raster::layout::TILE as u32 };

pub(crate) fn get_render_area_granularity(_: &Device, _: vk::RenderPass, out: Out<vk::Extent2D>) {
    out.set(GRANULARITY);
}

pub(crate) fn get_rendering_area_granularity(
    _: &Device,
    _: In<vk::RenderingAreaInfo>,
    out: Out<vk::Extent2D>,
) {
    out.set(GRANULARITY);
}
