//! VkFramebuffer: the views a render pass draws to. A framebuffer keeps them.

use crate::base::answer::created;
use crate::base::chain;
use crate::base::object::{self, Object};
use crate::device::Device;
use crate::memory::image_view;
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
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe { Some(object::get::<Framebuffer>(framebuffer)?.data.clone()) }
}

/// The views of an array of handles; a bad one is an attachment without an image.
pub(crate) unsafe fn views(handles: &[vk::ImageView]) -> Vec<Option<Arc<ImageView>>> {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe { handles.iter().map(|&v| image_view::get(v)).collect() }
}

pub(crate) unsafe fn create_framebuffer(
    _: &Device,
    info: *const vk::FramebufferCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::Framebuffer,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let imageless = i.flags.contains(vk::FramebufferCreateFlags::IMAGELESS);
        let views =
            if imageless { Vec::new() } else { views(chain::slice(i.p_attachments, i.attachment_count)) };
        created(out, Ok(Framebuffer { data: Arc::new(Data { imageless, views, layers: i.layers }) }))
    }
}

pub(crate) unsafe fn destroy_framebuffer(
    _: &Device,
    framebuffer: vk::Framebuffer,
    _: *const vk::AllocationCallbacks,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        object::destroy::<Framebuffer>(framebuffer);
    }
}
