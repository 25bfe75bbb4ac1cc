//! VK_EXT_descriptor_buffer, outside command buffers: where a layout has its descriptors, and a descriptor's bytes.
//! What the bytes are, and how they are read, is in [`machine::descriptor_memory`].

use crate::base::debug;
use crate::base::object;
use crate::descriptor::descriptor_layout;
use crate::device::Device;
use crate::memory::image_view::ImageView;
use crate::memory::sampler::Sampler;
use machine::descriptor::DESCRIPTOR_BYTES;
use machine::descriptor_memory as form;
use std::ffi::c_void;
use vk::DescriptorType as Type;

pub(crate) unsafe fn get_descriptor_set_layout_size_ext(
    _: &Device,
    layout: vk::DescriptorSetLayout,
    out: *mut vk::DeviceSize,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        *out = descriptor_layout::get(layout).map_or(0, |l| l.size().into());
    }
}

pub(crate) unsafe fn get_descriptor_set_layout_binding_offset_ext(
    _: &Device,
    layout: vk::DescriptorSetLayout,
    binding: u32,
    out: *mut vk::DeviceSize,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        *out = 0;
        let Some(l) = descriptor_layout::get(layout) else { return };
        match l.index(binding) {
            Some(i) => *out = l.bindings[i].offset.into(),
            None => debug::log_error(&format!(
                "vkGetDescriptorSetLayoutBindingOffsetEXT: the layout has no binding {binding}"
            )),
        }
    }
}

unsafe fn sampler(device: &Device, s: vk::Sampler) -> u64 {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        if s == vk::Sampler::null() { 0 } else { object::get::<Sampler>(s).map_or(0, |s| s.name(device)) }
    }
}

unsafe fn view(device: &Device, v: vk::ImageView) -> u64 {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        if v == vk::ImageView::null() { 0 } else { object::get::<ImageView>(v).map_or(0, |v| v.name(device)) }
    }
}

pub(crate) unsafe fn get_descriptor_ext(
    device: &Device,
    info: *const vk::DescriptorGetInfoEXT,
    bytes: usize,
    out: *mut c_void,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if out.is_null() {
            return;
        }
        let (ty, data) = ((*info).ty, (*info).data);
        let image = |i: *const vk::DescriptorImageInfo| i.as_ref().map_or(0, |i| view(device, i.image_view));
        let words = match ty {
            Type::SAMPLER => form::sampled(0, data.p_sampler.as_ref().map_or(0, |&s| sampler(device, s))),
            Type::COMBINED_IMAGE_SAMPLER => {
                let i = data.p_combined_image_sampler;
                form::sampled(image(i), i.as_ref().map_or(0, |i| sampler(device, i.sampler)))
            }
            Type::SAMPLED_IMAGE => form::sampled(image(data.p_sampled_image), 0),
            Type::INPUT_ATTACHMENT => form::sampled(image(data.p_input_attachment_image), 0),
            Type::STORAGE_IMAGE => form::storage(image(data.p_storage_image)),
            Type::UNIFORM_TEXEL_BUFFER | Type::STORAGE_TEXEL_BUFFER => data
                .p_uniform_texel_buffer
                .as_ref()
                .map_or([0; 4], |a| form::texels(a.address, a.range, a.format)),
            Type::UNIFORM_BUFFER | Type::STORAGE_BUFFER => {
                data.p_uniform_buffer.as_ref().map_or([0; 4], |a| form::buffer(a.address, a.range))
            }
            Type::ACCELERATION_STRUCTURE_KHR => form::structure(data.acceleration_structure),
            _ => {
                debug::log_error(&format!(
                    "vkGetDescriptorEXT: descriptors of type {ty:?} are not supported"
                ));
                [0; 4]
            }
        };
        let words = words.map(u64::to_ne_bytes);
        let bytes = bytes.min(DESCRIPTOR_BYTES as usize);
        std::ptr::copy_nonoverlapping(words.as_ptr().cast::<u8>(), out.cast::<u8>(), bytes);
    }
}

/// Commands of capture and replay, whose feature there is not: nothing is captured.
macro_rules! no_capture {
    ($($name:ident($info:ident): $command:literal,)*) => {$(
        pub(crate) unsafe fn $name(_: &Device, _: *const vk::$info, _: *mut c_void) -> vk::Result {
            debug::log_error(concat!($command, ": the feature descriptorBufferCaptureReplay is not supported"));
            vk::Result::ERROR_FEATURE_NOT_PRESENT
        }
    )*};
}

no_capture! {
    get_acceleration_structure_opaque_capture_descriptor_data_ext(AccelerationStructureCaptureDescriptorDataInfoEXT):
        "vkGetAccelerationStructureOpaqueCaptureDescriptorDataEXT",
    get_buffer_opaque_capture_descriptor_data_ext(BufferCaptureDescriptorDataInfoEXT):
        "vkGetBufferOpaqueCaptureDescriptorDataEXT",
    get_image_opaque_capture_descriptor_data_ext(ImageCaptureDescriptorDataInfoEXT):
        "vkGetImageOpaqueCaptureDescriptorDataEXT",
    get_image_view_opaque_capture_descriptor_data_ext(ImageViewCaptureDescriptorDataInfoEXT):
        "vkGetImageViewOpaqueCaptureDescriptorDataEXT",
    get_sampler_opaque_capture_descriptor_data_ext(SamplerCaptureDescriptorDataInfoEXT):
        "vkGetSamplerOpaqueCaptureDescriptorDataEXT",
}
