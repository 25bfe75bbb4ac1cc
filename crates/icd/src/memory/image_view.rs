//! VkImageView.

use crate::base::answer::{Answer, created, invalid};
use crate::base::given::{Call, Doomed, In, Out};
use crate::base::object::Object;
use crate::device::Device;
use crate::memory::{capture, image};
use machine::descriptor_memory::{Name, Named};
use std::sync::Arc;

/// The view in a form that sampling reads; descriptors keep it.
pub struct ImageView {
    gpu: Arc<texel::sample::ImageView>,
    /// What storage images see: some slices of a 3D image (VK_EXT_image_sliced_view_of_3d).
    sliced: Option<Arc<texel::sample::ImageView>>,
    /// In descriptor buffers.
    pub(crate) name: Name,
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
        self.name.get(device.names(), || self.named())
    }
    fn named(&self) -> Named {
        Named::View { sampled: self.sampled(), storage: self.storage() }
    }
    /// For a storage image.
    pub(crate) fn storage(&self) -> Arc<texel::sample::ImageView> {
        self.sliced.as_ref().unwrap_or(&self.gpu).clone()
    }
}

/// The view of a handle; `None` for the null handle too.
pub(crate) fn get<'a>(call: impl Call<'a>, view: vk::ImageView) -> Option<Arc<texel::sample::ImageView>> {
    Some(call.object::<ImageView>(view)?.gpu.clone())
}

/// A view of an image that is described so.
///
/// # Safety
/// The structure is valid with its chain.
pub(crate) fn new(image: &Arc<texel::image::Image>, info: In<vk::ImageViewCreateInfo>) -> Answer<ImageView> {
    let min_lod = info.find::<vk::ImageViewMinLodCreateInfoEXT>().map_or(0.0, |m| m.min_lod);
    let conversion = crate::memory::ycbcr_conversion::named(info.find())?;
    let mut own = *info;
    match info.find::<vk::ImageViewASTCDecodeModeEXT>().map(|m| m.decode_mode) {
        None | Some(vk::Format::R16G16B16A16_SFLOAT) => {}
        Some(vk::Format::R8G8B8A8_UNORM) => own.format = texel::format::decoded_to_bytes(info.format),
        Some(mode) => {
            return Err(invalid(&format!("vkCreateImageView: {mode:?} is no supported decode mode")));
        }
    }
    let view = || match &conversion {
        Some(c) => texel::sample::ImageView::converted(image.clone(), &own, min_lod, c),
        None => texel::sample::ImageView::new(image.clone(), &own, min_lod),
    };
    let sliced = match info.find::<vk::ImageViewSlicedCreateInfoEXT>() {
        Some(s) => Some(Arc::new(view()?.sliced(s.slice_offset, s.slice_count))),
        None => None,
    };
    Ok(ImageView { gpu: Arc::new(view()?), sliced, name: Name::default() })
}

pub(crate) fn create_image_view(
    device: &Device,
    info: In<vk::ImageViewCreateInfo>,
    out: Out<vk::ImageView>,
) -> vk::Result {
    let is_kept = info.flags.contains(vk::ImageViewCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT);
    let made = image::get(info, info.image).ok_or(vk::Result::ERROR_UNKNOWN).and_then(|i| {
        let view = new(&i, info)?;
        let name = capture::name(device, is_kept, capture::in_buffers(info.find()), &|| view.named())?;
        Ok(ImageView { name, ..view })
    });
    created(out, made)
}

pub(crate) fn destroy_image_view(device: &Device, view: Doomed<ImageView>) {
    if let Some(v) = view.destroy() {
        v.name.end(device.names());
        device.quarantine.keep(Box::new((v.gpu, v.sliced)), &device.gpu);
    }
}
