//! VkRenderPass: kept as data for the graphics stages.
#![allow(dead_code)] // nobody reads it before those exist

use crate::answer::created;
use crate::chain;
use crate::device::Device;
use crate::object::{self, Object};
use std::sync::Arc;

/// One attachment; depth and stencil layouts apart (they are the same unless a chain says otherwise).
#[derive(Clone, Debug)]
pub(crate) struct Attachment {
    pub flags: vk::AttachmentDescriptionFlags,
    pub format: vk::Format,
    pub samples: vk::SampleCountFlags,
    pub load: vk::AttachmentLoadOp,
    pub store: vk::AttachmentStoreOp,
    pub stencil_load: vk::AttachmentLoadOp,
    pub stencil_store: vk::AttachmentStoreOp,
    pub layouts: [vk::ImageLayout; 2],
    pub stencil_layouts: [vk::ImageLayout; 2],
}

#[derive(Clone, Debug)]
pub(crate) struct Reference {
    /// `None`: `VK_ATTACHMENT_UNUSED`.
    pub attachment: Option<u32>,
    pub layout: vk::ImageLayout,
    pub stencil_layout: vk::ImageLayout,
    pub aspects: vk::ImageAspectFlags,
}

#[derive(Clone, Debug)]
pub(crate) struct DepthResolve {
    pub to: Reference,
    pub depth_mode: vk::ResolveModeFlags,
    pub stencil_mode: vk::ResolveModeFlags,
}

#[derive(Clone, Debug)]
pub(crate) struct Subpass {
    pub flags: vk::SubpassDescriptionFlags,
    pub bind_point: vk::PipelineBindPoint,
    pub view_mask: u32,
    pub inputs: Vec<Reference>,
    pub colors: Vec<Reference>,
    /// One per colour, or none.
    pub resolves: Vec<Reference>,
    pub depth: Option<Reference>,
    pub depth_resolve: Option<DepthResolve>,
    pub preserve: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(crate) struct SubpassDependency {
    /// `None`: `VK_SUBPASS_EXTERNAL`.
    pub src: Option<u32>,
    pub dst: Option<u32>,
    pub src_stages: vk::PipelineStageFlags2,
    pub dst_stages: vk::PipelineStageFlags2,
    pub flags: vk::DependencyFlags,
    pub view_offset: i32,
}

/// What command buffers and pipelines share of a render pass.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    pub attachments: Vec<Attachment>,
    pub subpasses: Vec<Subpass>,
    pub dependencies: Vec<SubpassDependency>,
    pub correlated_views: Vec<u32>,
}

pub struct RenderPass {
    pub(crate) shared: Arc<Pass>,
}

impl Object for RenderPass {
    type Handle = vk::RenderPass;
}

unsafe fn attachment(a: &vk::AttachmentDescription2) -> Attachment {
    let layouts = [a.initial_layout, a.final_layout];
    let stencil_layouts = match chain::find::<vk::AttachmentDescriptionStencilLayout>(a.p_next) {
        Some(s) => [s.stencil_initial_layout, s.stencil_final_layout],
        None => layouts,
    };
    Attachment {
        flags: a.flags,
        format: a.format,
        samples: a.samples,
        load: a.load_op,
        store: a.store_op,
        stencil_load: a.stencil_load_op,
        stencil_store: a.stencil_store_op,
        layouts,
        stencil_layouts,
    }
}

unsafe fn reference(r: &vk::AttachmentReference2) -> Reference {
    Reference {
        attachment: (r.attachment != vk::ATTACHMENT_UNUSED).then_some(r.attachment),
        layout: r.layout,
        stencil_layout: chain::find::<vk::AttachmentReferenceStencilLayout>(r.p_next)
            .map_or(r.layout, |s| s.stencil_layout),
        aspects: r.aspect_mask,
    }
}

unsafe fn references(r: *const vk::AttachmentReference2, count: u32) -> Vec<Reference> {
    chain::slice(r, count).iter().map(|r| reference(r)).collect()
}

unsafe fn subpass(s: &vk::SubpassDescription2) -> Subpass {
    let depth_resolve = chain::find::<vk::SubpassDescriptionDepthStencilResolve>(s.p_next).and_then(|d| {
        Some(DepthResolve {
            to: reference(d.p_depth_stencil_resolve_attachment.as_ref()?),
            depth_mode: d.depth_resolve_mode,
            stencil_mode: d.stencil_resolve_mode,
        })
    });
    Subpass {
        flags: s.flags,
        bind_point: s.pipeline_bind_point,
        view_mask: s.view_mask,
        inputs: references(s.p_input_attachments, s.input_attachment_count),
        colors: references(s.p_color_attachments, s.color_attachment_count),
        resolves: references(s.p_resolve_attachments, s.color_attachment_count),
        depth: s.p_depth_stencil_attachment.as_ref().map(|r| reference(r)),
        depth_resolve,
        preserve: chain::slice(s.p_preserve_attachments, s.preserve_attachment_count).to_vec(),
    }
}

unsafe fn dependency(d: &vk::SubpassDependency2) -> SubpassDependency {
    let known = |s| (s != vk::SUBPASS_EXTERNAL).then_some(s);
    // A VkMemoryBarrier2 in the chain replaces the stages.
    let (src_stages, dst_stages) = match chain::find::<vk::MemoryBarrier2>(d.p_next) {
        Some(m) => (m.src_stage_mask, m.dst_stage_mask),
        None => (
            vk::PipelineStageFlags2::from_raw(d.src_stage_mask.as_raw() as u64),
            vk::PipelineStageFlags2::from_raw(d.dst_stage_mask.as_raw() as u64),
        ),
    };
    SubpassDependency {
        src: known(d.src_subpass),
        dst: known(d.dst_subpass),
        src_stages,
        dst_stages,
        flags: d.dependency_flags,
        view_offset: d.view_offset,
    }
}

pub(crate) unsafe fn create_render_pass2(
    _: &Device,
    info: *const vk::RenderPassCreateInfo2,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::RenderPass,
) -> vk::Result {
    let i = &*info;
    let pass = Pass {
        attachments: chain::slice(i.p_attachments, i.attachment_count)
            .iter()
            .map(|a| attachment(a))
            .collect(),
        subpasses: chain::slice(i.p_subpasses, i.subpass_count).iter().map(|s| subpass(s)).collect(),
        dependencies: chain::slice(i.p_dependencies, i.dependency_count)
            .iter()
            .map(|d| dependency(d))
            .collect(),
        correlated_views: chain::slice(i.p_correlated_view_masks, i.correlated_view_mask_count).to_vec(),
    };
    created(out, Ok(RenderPass { shared: Arc::new(pass) }))
}

pub(crate) unsafe fn destroy_render_pass(
    _: &Device,
    pass: vk::RenderPass,
    _: *const vk::AllocationCallbacks,
) {
    object::destroy::<RenderPass>(pass);
}

/// Render areas are best aligned to the GPU's tile.
const TILE: vk::Extent2D = vk::Extent2D { width: 64, height: 64 };

pub(crate) unsafe fn get_render_area_granularity(_: &Device, _: vk::RenderPass, out: *mut vk::Extent2D) {
    *out = TILE;
}

pub(crate) unsafe fn get_rendering_area_granularity(
    _: &Device,
    _: *const vk::RenderingAreaInfo,
    out: *mut vk::Extent2D,
) {
    *out = TILE;
}
