//! VkImageView.

use crate::answer::created;
use crate::chain;
use crate::device::Device;
use crate::image;
use crate::object::{self, Object};
use std::sync::Arc;

/// The view in a form that sampling reads; descriptors hold its address.
pub struct ImageView {
    gpu: Arc<gpu::sample::ImageView>,
}

impl Object for ImageView {
    type Handle = vk::ImageView;
}

impl ImageView {
    pub(crate) fn address(&self) -> u64 {
        Arc::as_ptr(&self.gpu) as u64
    }
}

/// The view behind a handle; `None` for the null handle too.
pub(crate) unsafe fn get(view: vk::ImageView) -> Option<Arc<gpu::sample::ImageView>> {
    if view == vk::ImageView::null() { None } else { Some(object::get::<ImageView>(view)?.gpu.clone()) }
}

pub(crate) unsafe fn create_image_view(
    _: &Device,
    info: *const vk::ImageViewCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::ImageView,
) -> vk::Result {
    let min_lod = chain::find::<vk::ImageViewMinLodCreateInfoEXT>((*info).p_next).map_or(0.0, |m| m.min_lod);
    let made = match image::get((*info).image) {
        Some(i) => gpu::sample::ImageView::new(i, &*info, min_lod).map(|v| {
            let v = match chain::find::<vk::ImageViewSlicedCreateInfoEXT>((*info).p_next) {
                Some(s) => v.sliced(s.slice_offset, s.slice_count),
                None => v,
            };
            ImageView { gpu: Arc::new(v) }
        }),
        None => Err(vk::Result::ERROR_UNKNOWN),
    };
    created(out, made)
}

pub(crate) unsafe fn destroy_image_view(
    device: &Device,
    view: vk::ImageView,
    _: *const vk::AllocationCallbacks,
) {
    if let Some(v) = object::destroy::<ImageView>(view) {
        device.quarantine.keep(Box::new(v.gpu), &device.gpu);
    }
}
