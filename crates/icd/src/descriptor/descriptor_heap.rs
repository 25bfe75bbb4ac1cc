//! VK_EXT_descriptor_heap, outside command buffers: what is written as a descriptor. What the bytes are, and how they are read, is in
//! [`machine::descriptor_memory`]; where a shader's bindings lie in heaps is in [`crate::descriptor::mappings`].

use crate::base::answer::{Answer, invalid};
use crate::base::given::{Call, In, OutSlice};
use crate::base::hash::Hasher128;
use crate::device::Device;
use crate::instance::physical_device::PhysicalDevice;
use crate::memory::image::Image;
use crate::memory::image_view;
use crate::memory::sampler;
use crate::memory::ycbcr_conversion;
use machine::descriptor::DESCRIPTOR_BYTES;
use machine::descriptor_memory as form;
use std::hash::Hash;
use vk::DescriptorType as Type;

/// The words of a sampler without an object.
pub(crate) fn sampler(info: In<vk::SamplerCreateInfo>) -> [u64; 4] {
    let border = info.find::<vk::SamplerCustomBorderColorIndexCreateInfoEXT>();
    form::sampler(&info, sampler::reduction(info), border.map_or(0, |b| b.index))
}

/// A hash that distinguishes a view from other views of its image.
fn description(info: In<vk::ImageViewCreateInfo>) -> Answer<u128> {
    let mut h = Hasher128::default();
    let (c, r) = (info.components, info.subresource_range);
    (info.flags.as_raw(), info.view_type.as_raw(), info.format.as_raw()).hash(&mut h);
    [c.r, c.g, c.b, c.a].map(|c| c.as_raw()).hash(&mut h);
    [r.aspect_mask.as_raw(), r.base_mip_level, r.level_count, r.base_array_layer, r.layer_count].hash(&mut h);
    let min_lod = info.find::<vk::ImageViewMinLodCreateInfoEXT>();
    min_lod.map(|m| m.min_lod.to_bits()).hash(&mut h);
    let sliced = info.find::<vk::ImageViewSlicedCreateInfoEXT>();
    sliced.map(|s| (s.slice_offset, s.slice_count)).hash(&mut h);
    let decoded = info.find::<vk::ImageViewASTCDecodeModeEXT>();
    decoded.map(|d| d.decode_mode.as_raw()).hash(&mut h);
    let usage = info.find::<vk::ImageViewUsageCreateInfo>();
    usage.map(|u| u.usage.as_raw()).hash(&mut h);
    ycbcr_conversion::named(info.find())?.hash(&mut h);
    Ok(h.done())
}

fn image(device: &Device, info: In<vk::ImageDescriptorInfoEXT>, for_storage: bool) -> Answer<[u64; 4]> {
    let Some(view) = info.view() else {
        return Err(invalid("vkWriteResourceDescriptorsEXT: an image without its view"));
    };
    let image = device.object::<Image>(view.image).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let (name, views) = image.in_heaps(device);
    let hash = description(view)?;
    if !views.has(hash) {
        let made = image_view::new(&image.gpu, view)?;
        // A view has its image's addresses, so that one of an image without memory would stay empty.
        if made.sampled().levels.is_empty() {
            return Err(invalid("vkWriteResourceDescriptorsEXT: an image without memory"));
        }
        views.add(hash, made.sampled(), made.storage());
    }
    Ok(form::image(*name, hash, for_storage))
}

fn resource(device: &Device, info: In<vk::ResourceDescriptorInfoEXT>) -> Answer<[u64; 4]> {
    let (ty, data) = (info.ty, info.data);
    // SAFETY: valid usage: the union has the pointer that the type asks for, which is null or leads to what its type says.
    unsafe {
        match ty {
            Type::SAMPLED_IMAGE | Type::INPUT_ATTACHMENT | Type::STORAGE_IMAGE => {
                let i = data.p_image.as_ref();
                i.map_or(Ok([0; 4]), |i| image(device, In::new(i), ty == Type::STORAGE_IMAGE))
            }
            Type::UNIFORM_TEXEL_BUFFER | Type::STORAGE_TEXEL_BUFFER => {
                let t = data.p_texel_buffer.as_ref();
                Ok(t.map_or([0; 4], |t| {
                    form::texels(t.address_range.address, t.address_range.size, t.format)
                }))
            }
            Type::UNIFORM_BUFFER | Type::STORAGE_BUFFER => {
                Ok(data.p_address_range.as_ref().map_or([0; 4], |a| form::buffer(a.address, a.size)))
            }
            Type::ACCELERATION_STRUCTURE_KHR => {
                Ok(data.p_address_range.as_ref().map_or([0; 4], |a| form::structure(a.address)))
            }
            _ => Err(invalid(&format!(
                "vkWriteResourceDescriptorsEXT: descriptors of type {ty:?} are not supported"
            ))),
        }
    }
}

/// Writes what fits.
fn put(to: In<vk::HostAddressRangeEXT>, words: [u64; 4]) {
    let words = words.map(u64::to_ne_bytes);
    let bytes = to.size.min(DESCRIPTOR_BYTES as usize);
    if !to.address.is_null() {
        // SAFETY: valid usage: so many bytes may be written there.
        unsafe { std::ptr::copy_nonoverlapping(words.as_ptr().cast::<u8>(), to.address.cast(), bytes) };
    }
}

pub(crate) fn write_sampler_descriptors_ext(
    _: &Device,
    samplers: In<[vk::SamplerCreateInfo]>,
    to: In<[vk::HostAddressRangeEXT]>,
) -> vk::Result {
    for (s, to) in samplers.iter().zip(to) {
        put(to, sampler(s));
    }
    vk::Result::SUCCESS
}

/// What cannot be written is the null descriptor, and an error.
pub(crate) fn write_resource_descriptors_ext(
    device: &Device,
    resources: In<[vk::ResourceDescriptorInfoEXT]>,
    to: In<[vk::HostAddressRangeEXT]>,
) -> vk::Result {
    let mut result = vk::Result::SUCCESS;
    for (r, to) in resources.iter().zip(to) {
        put(
            to,
            resource(device, r).unwrap_or_else(|e| {
                result = e;
                [0; 4]
            }),
        );
    }
    result
}

pub(crate) fn get_physical_device_descriptor_size_ext(_: &PhysicalDevice, ty: Type) -> vk::DeviceSize {
    match ty {
        Type::SAMPLER
        | Type::SAMPLED_IMAGE
        | Type::INPUT_ATTACHMENT
        | Type::STORAGE_IMAGE
        | Type::UNIFORM_TEXEL_BUFFER
        | Type::STORAGE_TEXEL_BUFFER
        | Type::UNIFORM_BUFFER
        | Type::STORAGE_BUFFER
        | Type::ACCELERATION_STRUCTURE_KHR => DESCRIPTOR_BYTES.into(),
        _ => 0,
    }
}

/// Commands of capture and replay, whose feature there is not: nothing is captured.
macro_rules! no_capture {
    ($($name:ident($handle:ident): $command:literal,)*) => {$(
        pub(crate) fn $name(_: &Device, _: &[vk::$handle], _: OutSlice<vk::HostAddressRangeEXT>) -> vk::Result {
            crate::base::debug::log_error(concat!(
                $command,
                ": the feature descriptorHeapCaptureReplay is not supported"
            ));
            vk::Result::ERROR_FEATURE_NOT_PRESENT
        }
    )*};
}

no_capture! {
    get_image_opaque_capture_data_ext(Image): "vkGetImageOpaqueCaptureDataEXT",
    get_tensor_opaque_capture_data_arm(TensorARM): "vkGetTensorOpaqueCaptureDataARM",
}
