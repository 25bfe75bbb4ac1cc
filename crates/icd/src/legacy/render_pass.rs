//! vkCreateRenderPass.

use crate::base::given::{In, Out};
use crate::device::Device;
use vk::ImageAspectFlags as Aspects;

/// The references of one subpass, which the newer structures point to.
#[derive(Default)]
struct Subpass {
    inputs: Vec<vk::AttachmentReference2<'static>>,
    colors: Vec<vk::AttachmentReference2<'static>>,
    resolves: Vec<vk::AttachmentReference2<'static>>,
    depth: Option<vk::AttachmentReference2<'static>>,
}

fn reference(r: &vk::AttachmentReference, aspect_mask: Aspects) -> vk::AttachmentReference2<'static> {
    vk::AttachmentReference2 { attachment: r.attachment, layout: r.layout, aspect_mask, ..Default::default() }
}

/// All aspects of an attachment's format, which an input attachment has unless the application narrows them.
fn aspects(attachments: &[vk::AttachmentDescription], index: u32) -> Aspects {
    attachments
        .get(index as usize)
        .and_then(|a| texel::format::info(a.format))
        .map_or(Aspects::empty(), |f| f.aspects())
}

fn attachment(a: &vk::AttachmentDescription) -> vk::AttachmentDescription2<'static> {
    vk::AttachmentDescription2 {
        flags: a.flags,
        format: a.format,
        samples: a.samples,
        load_op: a.load_op,
        store_op: a.store_op,
        stencil_load_op: a.stencil_load_op,
        stencil_store_op: a.stencil_store_op,
        initial_layout: a.initial_layout,
        final_layout: a.final_layout,
        ..Default::default()
    }
}

pub(crate) fn create_render_pass(
    device: &Device,
    info: In<vk::RenderPassCreateInfo>,
    out: Out<vk::RenderPass>,
) -> vk::Result {
    let multiview = info.find::<vk::RenderPassMultiviewCreateInfo>();
    let narrowed = info
        .find::<vk::RenderPassInputAttachmentAspectCreateInfo>()
        .map_or(&[][..], |a| a.aspect_references());
    let old_attachments = info.attachments();
    let attachments: Vec<_> = old_attachments.iter().map(attachment).collect();
    let old_subpasses = info.subpasses();
    let mut references = Vec::with_capacity(old_subpasses.len());
    for (s, old) in old_subpasses.iter().enumerate() {
        let all = |r: &[vk::AttachmentReference]| {
            r.iter().map(|r| reference(r, Aspects::empty())).collect::<Vec<_>>()
        };
        let inputs = old
            .input_attachments()
            .iter()
            .enumerate()
            .map(|(i, r)| {
                let narrow = narrowed
                    .iter()
                    .find(|n| (n.subpass as usize, n.input_attachment_index as usize) == (s, i))
                    .map(|n| n.aspect_mask);
                reference(r, narrow.unwrap_or_else(|| aspects(old_attachments, r.attachment)))
            })
            .collect();
        references.push(Subpass {
            inputs,
            colors: all(old.color_attachments()),
            resolves: all(old.resolve_attachments()),
            depth: old.depth_stencil_attachment().map(|r| reference(r, Aspects::empty())),
        });
    }
    let view_masks = multiview.map_or(&[][..], |m| m.view_masks());
    let view_offsets = multiview.map_or(&[][..], |m| m.view_offsets());
    let subpasses: Vec<_> = old_subpasses
        .iter()
        .zip(&references)
        .enumerate()
        .map(|(i, (old, new))| vk::SubpassDescription2 {
            flags: old.flags,
            pipeline_bind_point: old.pipeline_bind_point,
            view_mask: view_masks.get(i).copied().unwrap_or(0),
            // Of no array there is none, whatever its count says.
            input_attachment_count: new.inputs.len() as u32,
            p_input_attachments: new.inputs.as_ptr(),
            color_attachment_count: new.colors.len() as u32,
            p_color_attachments: new.colors.as_ptr(),
            p_resolve_attachments: if new.resolves.len() != new.colors.len() {
                std::ptr::null()
            } else {
                new.resolves.as_ptr()
            },
            p_depth_stencil_attachment: new.depth.as_ref().map_or(std::ptr::null(), |d| d),
            preserve_attachment_count: old.preserve_attachment_count,
            p_preserve_attachments: old.p_preserve_attachments,
            ..Default::default()
        })
        .collect();
    let dependencies: Vec<_> = info
        .dependencies()
        .iter()
        .enumerate()
        .map(|(i, d)| vk::SubpassDependency2 {
            src_subpass: d.src_subpass,
            dst_subpass: d.dst_subpass,
            src_stage_mask: d.src_stage_mask,
            dst_stage_mask: d.dst_stage_mask,
            src_access_mask: d.src_access_mask,
            dst_access_mask: d.dst_access_mask,
            dependency_flags: d.dependency_flags,
            view_offset: view_offsets.get(i).copied().unwrap_or(0),
            ..Default::default()
        })
        .collect();
    let correlated = multiview.map_or(&[][..], |m| m.correlation_masks());
    let new = vk::RenderPassCreateInfo2::default()
        .flags(info.flags)
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies)
        .correlated_view_masks(correlated);
    // SAFETY: a structure of this function, whose arrays are the vectors above.
    let new = unsafe { In::new(&new) };
    crate::pass::render_pass::create_render_pass2(device, new, out)
}
