//! VkImageView.

use crate::base::answer::{Answer, created};
use crate::base::chain;
use crate::base::object::{self, Object};
use crate::device::Device;
use crate::memory::image;
use machine::descriptor_memory::Named;
use std::sync::{Arc, OnceLock};

/// The view in a form that sampling reads; descriptors keep it.
pub struct ImageView {
    gpu: Arc<texel::sample::ImageView>,
    /// What storage images see: some slices of a 3D image (VK_EXT_image_sliced_view_of_3d).
    sliced: Option<Arc<texel::sample::ImageView>>,
    /// Its name in descriptor buffers, once it was wanted there.
    name: OnceLock<u64>,
}

impl Object for ImageView {
    type Handle = vk::ImageView;
}

impl ImageView {
    pub(crate) fn sampled(&self) -> Arc<texel::sample::ImageView> {
        self.gpu.clone()
    }
    /// What descriptors in buffers call it.
    pub(crate) fn name(&self, device: &Device) -> u64 {
        *self.name.get_or_init(|| {
            device.names().add(Named::View { sampled: self.sampled(), storage: self.storage() })
        })
    }
    /// For a storage image.
    pub(crate) fn storage(&self) -> Arc<texel::sample::ImageView> {
        self.sliced.as_ref().unwrap_or(&self.gpu).clone()
    }
}

/// The view behind a handle; `None` for the null handle too.
pub(crate) unsafe fn get(view: vk::ImageView) -> Option<Arc<texel::sample::ImageView>> {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        if view == vk::ImageView::null() { None } else { Some(object::get::<ImageView>(view)?.gpu.clone()) }
    }
}

/// A view of an image that is described so.
///
/// # Safety
/// The structure is valid with its chain.
pub(crate) unsafe fn new(
    image: &Arc<texel::image::Image>,
    info: &vk::ImageViewCreateInfo,
) -> Answer<ImageView> {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let min_lod = chain::find::<vk::ImageViewMinLodCreateInfoEXT>(info.p_next).map_or(0.0, |m| m.min_lod);
        let conversion = crate::memory::ycbcr_conversion::named(info.p_next)?;
        let view = || match &conversion {
            Some(c) => texel::sample::ImageView::converted(image.clone(), info, min_lod, c),
            None => texel::sample::ImageView::new(image.clone(), info, min_lod),
        };
        let sliced = match chain::find::<vk::ImageViewSlicedCreateInfoEXT>(info.p_next) {
            Some(s) => Some(Arc::new(view()?.sliced(s.slice_offset, s.slice_count))),
            None => None,
        };
        Ok(ImageView { gpu: Arc::new(view()?), sliced, name: OnceLock::new() })
    }
}

pub(crate) unsafe fn create_image_view(
    _: &Device,
    info: *const vk::ImageViewCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::ImageView,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let made = match image::get((*info).image) {
            Some(i) => new(&i, &*info),
            None => Err(vk::Result::ERROR_UNKNOWN),
        };
        created(out, made)
    }
}

pub(crate) unsafe fn destroy_image_view(
    device: &Device,
    view: vk::ImageView,
    _: *const vk::AllocationCallbacks,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let Some(v) = object::destroy::<ImageView>(view) {
            if let Some(&name) = v.name.get() {
                device.names().remove(name);
            }
            device.quarantine.keep(Box::new((v.gpu, v.sliced)), &device.gpu);
        }
    }
}
