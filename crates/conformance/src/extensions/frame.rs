//! Render passes with subpasses, and a framebuffer for them.

use super::rig::{Rig, SIDE, area, whole};
use client::graphics::{Bindings, Image, Pipeline, PipelineInfo, barrier};
use vk::DependencyFlags as Flags;

/// An image as an attachment: loaded as said, stored, in `GENERAL` layout before and after.
pub struct Use<'a> {
    image: &'a Image,
    load: vk::AttachmentLoadOp,
    /// Another attachment is of the same memory.
    pub alias: bool,
}

impl<'a> Use<'a> {
    pub fn new(image: &'a Image, load: vk::AttachmentLoadOp) -> Use<'a> {
        Use { image, load, alias: false }
    }

    fn description(&self) -> vk::AttachmentDescription2<'static> {
        let flags = match self.alias {
            true => vk::AttachmentDescriptionFlags::MAY_ALIAS,
            false => Default::default(),
        };
        // An alias that is not loaded comes in whatever layout.
        let initial = match self.alias && self.load != vk::AttachmentLoadOp::LOAD {
            true => vk::ImageLayout::UNDEFINED,
            false => vk::ImageLayout::GENERAL,
        };
        vk::AttachmentDescription2::default()
            .flags(flags)
            .format(self.image.info.format)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(self.load)
            .store_op(vk::AttachmentStoreOp::STORE)
            .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
            .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
            .initial_layout(initial)
            .final_layout(vk::ImageLayout::GENERAL)
    }
}

pub fn reference(attachment: u32, aspect: vk::ImageAspectFlags) -> vk::AttachmentReference2<'static> {
    vk::AttachmentReference2::default()
        .attachment(attachment)
        .layout(vk::ImageLayout::GENERAL)
        .aspect_mask(aspect)
}

pub fn colour(attachment: u32) -> [vk::AttachmentReference2<'static>; 1] {
    [reference(attachment, vk::ImageAspectFlags::COLOR)]
}

const WRITERS: vk::PipelineStageFlags = vk::PipelineStageFlags::from_raw(
    vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT.as_raw()
        | vk::PipelineStageFlags::LATE_FRAGMENT_TESTS.as_raw(),
);
const WRITES: vk::AccessFlags = vk::AccessFlags::from_raw(
    vk::AccessFlags::COLOR_ATTACHMENT_WRITE.as_raw()
        | vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw(),
);
const READS: vk::AccessFlags = vk::AccessFlags::from_raw(
    vk::AccessFlags::INPUT_ATTACHMENT_READ.as_raw() | vk::AccessFlags::SHADER_READ.as_raw(),
);

/// Subpass `dst` reads and draws over what `src` drew.
pub fn after(src: u32, dst: u32, flags: Flags) -> vk::SubpassDependency2<'static> {
    let (mut stages, mut access) = (vk::PipelineStageFlags::FRAGMENT_SHADER, READS);
    if src != dst {
        stages |= WRITERS | vk::PipelineStageFlags::EARLY_FRAGMENT_TESTS;
        access |= WRITES | vk::AccessFlags::COLOR_ATTACHMENT_READ;
    }
    vk::SubpassDependency2::default()
        .src_subpass(src)
        .dst_subpass(dst)
        .src_stage_mask(WRITERS)
        .dst_stage_mask(stages)
        .src_access_mask(WRITES)
        .dst_access_mask(access)
        .dependency_flags(flags)
}

/// Records that fragment shaders see what was drawn before, by the subpass's dependency on itself.
pub fn seen(d: &ash::Device, c: vk::CommandBuffer, flags: Flags) {
    let memory = [vk::MemoryBarrier::default().src_access_mask(WRITES).dst_access_mask(READS)];
    let fragment = vk::PipelineStageFlags::FRAGMENT_SHADER;
    // SAFETY: recording within a pass that has such a dependency.
    unsafe { d.cmd_pipeline_barrier(c, WRITERS, fragment, flags, &memory, &[], &[]) }
}

/// Records the next subpass.
pub fn next(d: &ash::Device, c: vk::CommandBuffer) {
    let inline = vk::SubpassBeginInfo::default().contents(vk::SubpassContents::INLINE);
    // SAFETY: recording within a render pass that has a further subpass.
    unsafe { d.cmd_next_subpass2(c, &inline, &vk::SubpassEndInfo::default()) }
}

/// A render pass and a framebuffer of [`SIDE`] pixels.
pub struct Frame<'r> {
    rig: &'r Rig,
    pass: vk::RenderPass,
    frame: vk::Framebuffer,
}

impl<'r> Frame<'r> {
    pub fn new(
        rig: &'r Rig,
        images: &[Use],
        subpasses: &[vk::SubpassDescription2],
        dependencies: &[vk::SubpassDependency2],
    ) -> Result<Frame<'r>, String> {
        let d = &rig.context.device;
        let attachments: Vec<_> = images.iter().map(Use::description).collect();
        let info = vk::RenderPassCreateInfo2::default()
            .attachments(&attachments)
            .subpasses(subpasses)
            .dependencies(dependencies);
        let views: Vec<_> = images.iter().map(|u| u.image.view).collect();
        // SAFETY: plain Vulkan calls with structs that outlive them.
        unsafe {
            let pass = d.create_render_pass2(&info, None).map_err(|e| format!("vkCreateRenderPass2: {e}"))?;
            let info = vk::FramebufferCreateInfo::default()
                .render_pass(pass)
                .attachments(&views)
                .width(SIDE)
                .height(SIDE)
                .layers(1);
            let frame = d.create_framebuffer(&info, None).map_err(|e| format!("vkCreateFramebuffer: {e}"))?;
            Ok(Frame { rig, pass, frame })
        }
    }

    /// Records the pass; `draws` finds viewport and scissor set.
    pub fn record(
        &self,
        d: &ash::Device,
        c: vk::CommandBuffer,
        clears: &[vk::ClearValue],
        draws: impl FnOnce(),
    ) {
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.frame)
            .render_area(area())
            .clear_values(clears);
        let inline = vk::SubpassBeginInfo::default().contents(vk::SubpassContents::INLINE);
        // SAFETY: recording into a command buffer that has begun, with live handles.
        unsafe {
            d.cmd_begin_render_pass2(c, &begin, &inline);
            whole(d, c);
            draws();
            d.cmd_end_render_pass2(c, &vk::SubpassEndInfo::default());
        }
        barrier(d, c);
    }

    pub fn pipeline(
        &self,
        subpass: u32,
        samples: u32,
        bindings: Option<&Bindings>,
        change: impl FnOnce(&mut PipelineInfo),
    ) -> Result<Pipeline, String> {
        self.rig.boxes_with(bindings, |i| {
            (i.samples, i.render_pass) = (samples, Some((self.pass, subpass)));
            change(i);
        })
    }
}

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        // SAFETY: every submission has been waited for.
        unsafe {
            self.rig.context.device.destroy_framebuffer(self.frame, None);
            self.rig.context.device.destroy_render_pass(self.pass, None);
        }
    }
}
