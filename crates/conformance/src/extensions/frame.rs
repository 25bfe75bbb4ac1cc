//! Render passes with subpasses, and a framebuffer for them.

use super::rig::{Rig, SIDE, whole_of};
use client::Context;
use client::graphics::{Bindings, Image, Pipeline, PipelineInfo, barrier};
use std::ffi::c_void;
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

/// A render pass and a framebuffer.
pub struct Surface<'r> {
    context: &'r Context,
    pub pass: vk::RenderPass,
    frame: vk::Framebuffer,
    size: [u32; 2],
}

impl<'r> Surface<'r> {
    pub fn new(
        context: &'r Context,
        images: &[Use],
        subpasses: &[vk::SubpassDescription2],
        dependencies: &[vk::SubpassDependency2],
        size: [u32; 2],
        layers: u32,
    ) -> Result<Surface<'r>, String> {
        Surface::chained(context, images, subpasses, dependencies, size, layers, std::ptr::null())
    }

    /// With further structures for VkRenderPassCreateInfo2.
    pub fn chained(
        context: &'r Context,
        images: &[Use],
        subpasses: &[vk::SubpassDescription2],
        dependencies: &[vk::SubpassDependency2],
        size: [u32; 2],
        layers: u32,
        chain: *const c_void,
    ) -> Result<Surface<'r>, String> {
        let attachments: Vec<_> = images.iter().map(Use::description).collect();
        let mut info = vk::RenderPassCreateInfo2::default()
            .attachments(&attachments)
            .subpasses(subpasses)
            .dependencies(dependencies);
        info.p_next = chain;
        // SAFETY: a plain Vulkan call with structs that outlive it.
        let pass = unsafe { context.device.create_render_pass2(&info, None) };
        let pass = pass.map_err(|e| format!("vkCreateRenderPass2: {e}"))?;
        Surface::of(context, pass, images, size, layers)
    }

    /// With a render pass that is this surface's from now on.
    pub fn of(
        context: &'r Context,
        pass: vk::RenderPass,
        images: &[Use],
        size: [u32; 2],
        layers: u32,
    ) -> Result<Surface<'r>, String> {
        let views: Vec<_> = images.iter().map(|u| u.image.view).collect();
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(&views)
            .width(size[0])
            .height(size[1])
            .layers(layers);
        // SAFETY: a plain Vulkan call with structs that outlive it.
        let frame = unsafe { context.device.create_framebuffer(&info, None) };
        let frame = frame.map_err(|e| format!("vkCreateFramebuffer: {e}"))?;
        Ok(Surface { context, pass, frame, size })
    }

    /// How the pass begins, over all of the framebuffer.
    pub fn begin<'a>(&self, clears: &'a [vk::ClearValue]) -> vk::RenderPassBeginInfo<'a> {
        let [width, height] = self.size;
        vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.frame)
            .render_area(vk::Rect2D {
                offset: vk::Offset2D::default(),
                extent: vk::Extent2D { width, height },
            })
            .clear_values(clears)
    }

    /// Records the pass; `draws` finds viewport and scissor set to the whole.
    pub fn record(
        &self,
        d: &ash::Device,
        c: vk::CommandBuffer,
        begin: &vk::RenderPassBeginInfo,
        draws: impl FnOnce(),
    ) {
        let inline = vk::SubpassBeginInfo::default().contents(vk::SubpassContents::INLINE);
        // SAFETY: recording into a command buffer that has begun, with live handles.
        unsafe {
            d.cmd_begin_render_pass2(c, begin, &inline);
            self.whole(d, c);
            draws();
            d.cmd_end_render_pass2(c, &vk::SubpassEndInfo::default());
        }
        barrier(d, c);
    }

    /// Sets viewport and scissor to the whole framebuffer.
    pub fn whole(&self, d: &ash::Device, c: vk::CommandBuffer) {
        whole_of(d, c, self.size);
    }
}

impl Drop for Surface<'_> {
    fn drop(&mut self) {
        // SAFETY: every submission has been waited for.
        unsafe {
            self.context.device.destroy_framebuffer(self.frame, None);
            self.context.device.destroy_render_pass(self.pass, None);
        }
    }
}

/// A render pass and a framebuffer of [`SIDE`] pixels.
pub struct Frame<'r> {
    rig: &'r Rig,
    surface: Surface<'r>,
}

impl<'r> Frame<'r> {
    pub fn new(
        rig: &'r Rig,
        images: &[Use],
        subpasses: &[vk::SubpassDescription2],
        dependencies: &[vk::SubpassDependency2],
    ) -> Result<Frame<'r>, String> {
        let surface = Surface::new(&rig.context, images, subpasses, dependencies, [SIDE; 2], 1)?;
        Ok(Frame { rig, surface })
    }

    /// Records the pass; `draws` finds viewport and scissor set.
    pub fn record(
        &self,
        d: &ash::Device,
        c: vk::CommandBuffer,
        clears: &[vk::ClearValue],
        draws: impl FnOnce(),
    ) {
        self.surface.record(d, c, &self.surface.begin(clears), draws);
    }

    pub fn pipeline(
        &self,
        subpass: u32,
        samples: u32,
        bindings: Option<&Bindings>,
        change: impl FnOnce(&mut PipelineInfo),
    ) -> Result<Pipeline, String> {
        self.rig.boxes_with(bindings, |i| {
            (i.samples, i.render_pass) = (samples, Some((self.surface.pass, subpass)));
            change(i);
        })
    }
}
