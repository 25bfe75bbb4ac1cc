//! A render pass with a VkRenderPass, which clears.

use ash::vk;
use client::graphics::Image;
use client::{Context, Error, Result};
use std::rc::Rc;

pub struct LegacyPass {
    context: Rc<Context>,
    pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    extent: vk::Extent2D,
}

impl LegacyPass {
    pub fn new(context: &Rc<Context>, image: &Image) -> Result<LegacyPass> {
        let general = vk::ImageLayout::GENERAL;
        let attachments = [vk::AttachmentDescription::default()
            .format(image.info.format)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .initial_layout(general)
            .final_layout(general)];
        let colours = [vk::AttachmentReference { attachment: 0, layout: general }];
        let subpasses = [vk::SubpassDescription::default().color_attachments(&colours)];
        let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
        let [width, height] = image.info.size;
        let views = [image.view];
        // SAFETY: plain Vulkan calls with structures that outlive them. What an error leaves ends with the device.
        unsafe {
            let device = &context.device;
            let pass = device.create_render_pass(&info, None).map_err(Error::vk("vkCreateRenderPass"))?;
            let info = vk::FramebufferCreateInfo::default()
                .render_pass(pass)
                .attachments(&views)
                .width(width)
                .height(height)
                .layers(1);
            let framebuffer =
                device.create_framebuffer(&info, None).map_err(Error::vk("vkCreateFramebuffer"))?;
            let extent = vk::Extent2D { width, height };
            Ok(LegacyPass { context: context.clone(), pass, framebuffer, extent })
        }
    }

    pub fn record(&self, device: &ash::Device, commands: vk::CommandBuffer) {
        let clear = [vk::ClearValue { color: vk::ClearColorValue { float32: [1.0, 0.5, 0.0, 1.0] } }];
        // Half of it, so that what was copied is seen beside it.
        let extent = vk::Extent2D { width: self.extent.width / 2, ..self.extent };
        let info = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.framebuffer)
            .render_area(vk::Rect2D { extent, ..Default::default() })
            .clear_values(&clear);
        // SAFETY: recording with live handles.
        unsafe {
            device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE);
            device.cmd_end_render_pass(commands);
        }
    }
}

impl Drop for LegacyPass {
    fn drop(&mut self) {
        // SAFETY: every submission has been waited for.
        unsafe {
            self.context.device.destroy_framebuffer(self.framebuffer, None);
            self.context.device.destroy_render_pass(self.pass, None);
        }
    }
}
