//! Dynamic rendering passes.

use super::Image;
use ash::vk;
use std::ffi::c_void;

/// What an attachment holds when the pass begins.
#[derive(Clone, Copy)]
pub enum Load {
    Clear(vk::ClearValue),
    Load,
    DontCare,
}

impl Load {
    pub fn colour(float32: [f32; 4]) -> Self {
        Load::Clear(vk::ClearValue { color: vk::ClearColorValue { float32 } })
    }

    pub fn depth(depth: f32, stencil: u32) -> Self {
        Load::Clear(vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth, stencil } })
    }
}

/// An image in a pass.
#[derive(Clone, Copy)]
pub struct Attachment<'a> {
    pub image: &'a Image,
    /// Where samples are averaged to at the end.
    pub resolve: Option<&'a Image>,
    pub load: Load,
    /// Contents survive the pass.
    pub store: bool,
}

impl<'a> Attachment<'a> {
    /// Loaded as said, stored, not resolved.
    pub fn new(image: &'a Image, load: Load) -> Self {
        Self { image, resolve: None, load, store: true }
    }

    pub fn info(&self) -> vk::RenderingAttachmentInfo<'static> {
        let (op, value) = match self.load {
            Load::Clear(v) => (vk::AttachmentLoadOp::CLEAR, v),
            Load::Load => (vk::AttachmentLoadOp::LOAD, vk::ClearValue::default()),
            Load::DontCare => (vk::AttachmentLoadOp::DONT_CARE, vk::ClearValue::default()),
        };
        let store = if self.store { vk::AttachmentStoreOp::STORE } else { vk::AttachmentStoreOp::DONT_CARE };
        let mut info = vk::RenderingAttachmentInfo::default()
            .image_view(self.image.view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(op)
            .clear_value(value)
            .store_op(store);
        if let Some(r) = self.resolve {
            info = info
                .resolve_mode(vk::ResolveModeFlags::AVERAGE)
                .resolve_image_view(r.view)
                .resolve_image_layout(vk::ImageLayout::GENERAL);
        }
        info
    }
}

/// A rendering pass over whole images.
pub struct Pass<'a> {
    pub colours: Vec<Attachment<'a>>,
    pub depth: Option<Attachment<'a>>,
    pub stencil: Option<Attachment<'a>>,
    pub size: [u32; 2],
    /// What is rendered of it; `None`: all.
    pub area: Option<vk::Rect2D>,
    /// Layers; 0 for one.
    pub layers: u32,
    pub flags: vk::RenderingFlags,
    /// Views, a bit each; 0 for one view.
    pub view_mask: u32,
    /// Further structures for VkRenderingInfo.
    pub chain: *const c_void,
}

impl Default for Pass<'_> {
    fn default() -> Self {
        Pass {
            colours: Vec::new(),
            depth: None,
            stencil: None,
            size: [0; 2],
            area: None,
            layers: 0,
            flags: vk::RenderingFlags::empty(),
            view_mask: 0,
            chain: std::ptr::null(),
        }
    }
}

impl Pass<'_> {
    /// Records the pass; `draws` finds viewport and scissor set to the whole, unless all is drawn by secondary command
    /// buffers.
    pub fn record(
        &self,
        device: &ash::Device,
        commands: vk::CommandBuffer,
        draws: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) {
        let [width, height] = self.size;
        let area = vk::Rect2D { offset: vk::Offset2D { x: 0, y: 0 }, extent: vk::Extent2D { width, height } };
        let colours: Vec<_> = self.colours.iter().map(Attachment::info).collect();
        let depth = self.depth.as_ref().map(Attachment::info);
        let stencil = self.stencil.as_ref().map(Attachment::info);
        let mut info = vk::RenderingInfo::default()
            .flags(self.flags)
            .render_area(self.area.unwrap_or(area))
            .layer_count(self.layers.max(1))
            .view_mask(self.view_mask)
            .color_attachments(&colours);
        info.p_next = self.chain;
        if let Some(d) = &depth {
            info = info.depth_attachment(d);
        }
        if let Some(s) = &stencil {
            info = info.stencil_attachment(s);
        }
        let viewport = vk::Viewport {
            x: 0.0,
            y: 0.0,
            width: width as f32,
            height: height as f32,
            min_depth: 0.0,
            max_depth: 1.0,
        };
        // SAFETY: recording into a command buffer that has begun, with live handles.
        unsafe {
            device.cmd_begin_rendering(commands, &info);
            if !self.flags.contains(vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS) {
                device.cmd_set_viewport(commands, 0, &[viewport]);
                device.cmd_set_scissor(commands, 0, &[area]);
            }
            draws(device, commands);
            device.cmd_end_rendering(commands);
        }
    }
}

/// Everything before is visible to everything after, and to the host.
pub fn barrier(device: &ash::Device, commands: vk::CommandBuffer) {
    let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    let memory = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(all | vk::AccessFlags::HOST_READ)];
    // SAFETY: recording into a command buffer that has begun.
    unsafe {
        device.cmd_pipeline_barrier(
            commands,
            vk::PipelineStageFlags::ALL_COMMANDS,
            vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST,
            vk::DependencyFlags::empty(),
            &memory,
            &[],
            &[],
        );
    }
}
