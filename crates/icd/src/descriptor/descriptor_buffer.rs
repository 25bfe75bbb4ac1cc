//! VK_EXT_descriptor_buffer, outside command buffers: where a layout has its descriptors, and a descriptor's bytes.
//! What the bytes are, and how they are read, is in [`machine::descriptor_memory`].

use crate::base::debug;
use crate::base::given::{Call, In, Out, OutSlice};
use crate::descriptor::descriptor_layout;
use crate::device::Device;
use crate::memory::buffer::Buffer;
use crate::memory::image::Image;
use crate::memory::image_view::ImageView;
use crate::memory::sampler::Sampler;
use crate::memory::tensor::{Tensor, TensorView};
use crate::memory::{acceleration_structure, capture};
use machine::descriptor_memory as form;
use std::ffi::c_void;
use vk::DescriptorType as Type;

pub(crate) fn get_descriptor_set_layout_size_ext(
    device: &Device,
    layout: vk::DescriptorSetLayout,
    out: Out<vk::DeviceSize>,
) {
    out.set(descriptor_layout::get(device, layout).map_or(0, |l| l.size().into()));
}

pub(crate) fn get_descriptor_set_layout_binding_offset_ext(
    device: &Device,
    layout: vk::DescriptorSetLayout,
    binding: u32,
    out: Out<vk::DeviceSize>,
) {
    out.set(0);
    let Some(l) = descriptor_layout::get(device, layout) else { return };
    match l.index(binding) {
        Some(i) => out.set(l.bindings[i].offset.into()),
        None => debug::log_error(&format!(
            "vkGetDescriptorSetLayoutBindingOffsetEXT: the layout has no binding {binding}"
        )),
    }
}

fn sampler(device: &Device, s: vk::Sampler) -> u64 {
    if s == vk::Sampler::null() { 0 } else { device.object::<Sampler>(s).map_or(0, |s| s.name(device)) }
}

fn view(device: &Device, v: vk::ImageView) -> u64 {
    if v == vk::ImageView::null() { 0 } else { device.object::<ImageView>(v).map_or(0, |v| v.name(device)) }
}

pub(crate) fn get_descriptor_ext(device: &Device, info: In<vk::DescriptorGetInfoEXT>, out: OutSlice<u8>) {
    let (ty, data) = (info.ty, info.data);
    if ty == vk::DESCRIPTOR_TYPE_TENSOR_ARM {
        let tensor = info.find::<vk::DescriptorGetTensorInfoARM>().map(|t| t.tensor_view);
        let view = tensor.filter(|t| *t != vk::TensorViewARM::null());
        let view = view.and_then(|t| device.object::<TensorView>(t));
        let words = view.map_or([[0; 4]; 2], |v| v.words(device));
        return out
            .copy(words.as_flattened().iter().flat_map(|w| w.to_ne_bytes()).collect::<Vec<_>>().as_slice());
    }
    // SAFETY: valid usage: the union has the pointer that the type asks for, which is null or leads to what its type says.
    let words = unsafe {
        let image = |i: *const vk::DescriptorImageInfo| i.as_ref().map_or(0, |i| view(device, i.image_view));
        match ty {
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
        }
    };
    out.copy(words.map(u64::to_ne_bytes).as_flattened());
}

/// Commands that tell what a capture keeps of an object; `None`: it was not made for that, or there is no such object.
macro_rules! captured {
    ($($name:ident($info:ident) = $command:literal: |$device:ident, $i:ident| $what:expr;)*) => {$(
        pub(crate) fn $name(device: &Device, info: In<vk::$info>, to: *mut c_void) -> vk::Result {
            fn find($device: &Device, $i: In<vk::$info>) -> Option<u64> {
                $what
            }
            // SAFETY: valid usage: as many bytes as the properties say.
            unsafe { capture::give($command, to, find(device, info)) }
        }
    )*};
}

captured! {
    get_acceleration_structure_opaque_capture_descriptor_data_ext(AccelerationStructureCaptureDescriptorDataInfoEXT)
        = "vkGetAccelerationStructureOpaqueCaptureDescriptorDataEXT":
        |device, i| acceleration_structure::get(device, i.acceleration_structure).map(|s| s.address());
    // Of buffers that are not sparse, and of images, the memory has the addresses.
    get_buffer_opaque_capture_descriptor_data_ext(BufferCaptureDescriptorDataInfoEXT)
        = "vkGetBufferOpaqueCaptureDescriptorDataEXT": |device, i| device.object::<Buffer>(i.buffer).map(|b| b.gpu.ptr() as u64);
    get_image_opaque_capture_descriptor_data_ext(ImageCaptureDescriptorDataInfoEXT)
        = "vkGetImageOpaqueCaptureDescriptorDataEXT": |device, i| device.object::<Image>(i.image).map(|_| 0);
    get_tensor_opaque_capture_descriptor_data_arm(TensorCaptureDescriptorDataInfoARM)
        = "vkGetTensorOpaqueCaptureDescriptorDataARM": |device, i| device.object::<Tensor>(i.tensor).map(|_| 0);
    get_image_view_opaque_capture_descriptor_data_ext(ImageViewCaptureDescriptorDataInfoEXT)
        = "vkGetImageViewOpaqueCaptureDescriptorDataEXT":
        |device, i| device.object::<ImageView>(i.image_view)?.name.reserved();
    get_sampler_opaque_capture_descriptor_data_ext(SamplerCaptureDescriptorDataInfoEXT)
        = "vkGetSamplerOpaqueCaptureDescriptorDataEXT": |device, i| device.object::<Sampler>(i.sampler)?.name.reserved();
    get_tensor_view_opaque_capture_descriptor_data_arm(TensorViewCaptureDescriptorDataInfoARM)
        = "vkGetTensorViewOpaqueCaptureDescriptorDataARM":
        |device, i| device.object::<TensorView>(i.tensor_view)?.0.name.reserved();
}
