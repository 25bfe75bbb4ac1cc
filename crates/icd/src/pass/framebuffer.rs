//! VkFramebuffer: the views a render pass draws to. A framebuffer keeps them.

use crate::base::answer::created;
use crate::base::given::{Call, Doomed, In, Out};
use crate::base::object::Object;
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
    /// Pixels along x and y.
    pub size: [u32; 2],
    pub layers: u32,
}

impl Object for Framebuffer {
    type Handle = vk::Framebuffer;
}

pub(crate) fn get<'a>(call: impl Call<'a>, framebuffer: vk::Framebuffer) -> Option<Arc<Data>> {
    Some(call.object::<Framebuffer>(framebuffer)?.data.clone())
}

/// The views of an array of handles; a bad one is an attachment without an image.
pub(crate) fn views<'a>(call: impl Call<'a>, handles: &[vk::ImageView]) -> Vec<Option<Arc<ImageView>>> {
    handles.iter().map(|&v| image_view::get(call, v)).collect()
}

pub(crate) fn create_framebuffer(
    _: &Device,
    info: In<vk::FramebufferCreateInfo>,
    out: Out<vk::Framebuffer>,
) -> vk::Result {
    let i = info;
    let imageless = i.flags.contains(vk::FramebufferCreateFlags::IMAGELESS);
    // SAFETY: an array of this length unless the framebuffer is imageless.
    let views = if imageless { Vec::new() } else { views(i, unsafe { i.attachments() }) };
    let data = Data { imageless, views, size: [i.width, i.height], layers: i.layers };
    created(out, Ok(Framebuffer { data: Arc::new(data) }))
}

pub(crate) fn destroy_framebuffer(_: &Device, framebuffer: Doomed<Framebuffer>) {
    framebuffer.destroy();
}
