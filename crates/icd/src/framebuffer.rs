//! VkFramebuffer: kept as data for the graphics stages.
#![allow(dead_code)] // nobody reads it before those exist

use crate::answer::created;
use crate::chain;
use crate::device::Device;
use crate::object::{self, Object};

pub struct Framebuffer {
    pub(crate) data: Data,
}

/// Views are empty for an imageless framebuffer: they come with the begin of the render pass.
pub(crate) struct Data {
    pub imageless: bool,
    pub views: Vec<vk::ImageView>,
    pub extent: vk::Extent2D,
    pub layers: u32,
}

impl Object for Framebuffer {
    type Handle = vk::Framebuffer;
}

pub(crate) unsafe fn create_framebuffer(
    _: &Device,
    info: *const vk::FramebufferCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::Framebuffer,
) -> vk::Result {
    let i = &*info;
    let imageless = i.flags.contains(vk::FramebufferCreateFlags::IMAGELESS);
    let views =
        if imageless { Vec::new() } else { chain::slice(i.p_attachments, i.attachment_count).to_vec() };
    let extent = vk::Extent2D { width: i.width, height: i.height };
    created(out, Ok(Framebuffer { data: Data { imageless, views, extent, layers: i.layers } }))
}

pub(crate) unsafe fn destroy_framebuffer(
    _: &Device,
    framebuffer: vk::Framebuffer,
    _: *const vk::AllocationCallbacks,
) {
    object::destroy::<Framebuffer>(framebuffer);
}
