//! VkFramebuffer: the views a render pass draws to. A framebuffer keeps them.

use crate::answer::created;
use crate::chain;
use crate::device::Device;
use crate::image_view;
use crate::object::{self, Object};
use std::sync::Arc;
use texel::sample::ImageView;

pub struct Framebuffer {
    pub(crate) data: Arc<Data>,
}

/// Views are empty for an imageless framebuffer: they come with the begin of the render pass.
pub(crate) struct Data {
    pub imageless: bool,
    pub views: Vec<Option<Arc<ImageView>>>,
    pub layers: u32,
}

impl Object for Framebuffer {
    type Handle = vk::Framebuffer;
}

pub(crate) unsafe fn get(framebuffer: vk::Framebuffer) -> Option<Arc<Data>> {
    Some(object::get::<Framebuffer>(framebuffer)?.data.clone())
}

/// The views of an array of handles; a bad one is an attachment without an image.
pub(crate) unsafe fn views(handles: &[vk::ImageView]) -> Vec<Option<Arc<ImageView>>> {
    handles.iter().map(|&v| image_view::get(v)).collect()
}

pub(crate) unsafe fn create_framebuffer(
    _: &Device,
    info: *const vk::FramebufferCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::Framebuffer,
) -> vk::Result {
    let i = &*info;
    let imageless = i.flags.contains(vk::FramebufferCreateFlags::IMAGELESS);
    let views = if imageless { Vec::new() } else { views(chain::slice(i.p_attachments, i.attachment_count)) };
    created(out, Ok(Framebuffer { data: Arc::new(Data { imageless, views, layers: i.layers }) }))
}

pub(crate) unsafe fn destroy_framebuffer(
    _: &Device,
    framebuffer: vk::Framebuffer,
    _: *const vk::AllocationCallbacks,
) {
    object::destroy::<Framebuffer>(framebuffer);
}
