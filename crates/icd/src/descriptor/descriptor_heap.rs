//! VK_EXT_descriptor_heap, outside command buffers: what is written as a descriptor. What the bytes are, and how they are read, is in
//! [`machine::descriptor_memory`]; where a shader's bindings lie in heaps is in [`crate::descriptor::mappings`].

use crate::base::answer::{Answer, invalid};
use crate::base::chain;
use crate::base::hash::Hasher128;
use crate::base::object;
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
///
/// # Safety
/// The structure is valid with its chain.
pub(crate) unsafe fn sampler(info: &vk::SamplerCreateInfo) -> [u64; 4] {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        let border = chain::find::<vk::SamplerCustomBorderColorIndexCreateInfoEXT>(info.p_next);
        form::sampler(info, sampler::reduction(info), border.map_or(0, |b| b.index))
    }
}

/// What tells a view from others of its image.
unsafe fn description(info: &vk::ImageViewCreateInfo) -> Answer<u128> {
    // SAFETY: valid usage: the structure's chain leads to what it is said to.
    unsafe {
        let mut h = Hasher128::default();
        let (c, r) = (info.components, info.subresource_range);
        (info.flags.as_raw(), info.view_type.as_raw(), info.format.as_raw()).hash(&mut h);
        [c.r, c.g, c.b, c.a].map(|c| c.as_raw()).hash(&mut h);
        [r.aspect_mask.as_raw(), r.base_mip_level, r.level_count, r.base_array_layer, r.layer_count]
            .hash(&mut h);
        let min_lod = chain::find::<vk::ImageViewMinLodCreateInfoEXT>(info.p_next);
        min_lod.map(|m| m.min_lod.to_bits()).hash(&mut h);
        let sliced = chain::find::<vk::ImageViewSlicedCreateInfoEXT>(info.p_next);
        sliced.map(|s| (s.slice_offset, s.slice_count)).hash(&mut h);
        let usage = chain::find::<vk::ImageViewUsageCreateInfo>(info.p_next);
        usage.map(|u| u.usage.as_raw()).hash(&mut h);
        ycbcr_conversion::named(info.p_next)?.hash(&mut h);
        Ok(h.done())
    }
}

unsafe fn image(device: &Device, info: &vk::ImageDescriptorInfoEXT, for_storage: bool) -> Answer<[u64; 4]> {
    // SAFETY: valid usage: the structures' pointers lead to what they are said to, nobody destroys the objects meanwhile.
    unsafe {
        let Some(view) = info.p_view.as_ref() else {
            return Err(invalid("vkWriteResourceDescriptorsEXT: an image without its view"));
        };
        let image = object::get::<Image>(view.image).ok_or(vk::Result::ERROR_UNKNOWN)?;
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
}

unsafe fn resource(device: &Device, info: &vk::ResourceDescriptorInfoEXT) -> Answer<[u64; 4]> {
    // SAFETY: valid usage: the union has what the type says.
    unsafe {
        let (ty, data) = (info.ty, info.data);
        match ty {
            Type::SAMPLED_IMAGE | Type::INPUT_ATTACHMENT | Type::STORAGE_IMAGE => {
                let i = data.p_image.as_ref();
                i.map_or(Ok([0; 4]), |i| image(device, i, ty == Type::STORAGE_IMAGE))
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
unsafe fn put(to: &vk::HostAddressRangeEXT, words: [u64; 4]) {
    let words = words.map(u64::to_ne_bytes);
    let bytes = to.size.min(DESCRIPTOR_BYTES as usize);
    if !to.address.is_null() {
        // SAFETY: valid usage: so many bytes may be written there.
        unsafe { std::ptr::copy_nonoverlapping(words.as_ptr().cast::<u8>(), to.address.cast(), bytes) };
    }
}

pub(crate) unsafe fn write_sampler_descriptors_ext(
    _: &Device,
    count: u32,
    samplers: *const vk::SamplerCreateInfo,
    to: *const vk::HostAddressRangeEXT,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        for (s, to) in chain::slice(samplers, count).iter().zip(chain::slice(to, count)) {
            put(to, sampler(s));
        }
        vk::Result::SUCCESS
    }
}

/// What cannot be written is the null descriptor, and an error.
pub(crate) unsafe fn write_resource_descriptors_ext(
    device: &Device,
    count: u32,
    resources: *const vk::ResourceDescriptorInfoEXT,
    to: *const vk::HostAddressRangeEXT,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let mut result = vk::Result::SUCCESS;
        for (r, to) in chain::slice(resources, count).iter().zip(chain::slice(to, count)) {
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
}

pub(crate) unsafe fn get_physical_device_descriptor_size_ext(_: &PhysicalDevice, ty: Type) -> vk::DeviceSize {
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

pub(crate) unsafe fn get_image_opaque_capture_data_ext(
    _: &Device,
    _: u32,
    _: *const vk::Image,
    _: *mut vk::HostAddressRangeEXT,
) -> vk::Result {
    crate::base::debug::log_error(
        "vkGetImageOpaqueCaptureDataEXT: the feature descriptorHeapCaptureReplay is not supported",
    );
    vk::Result::ERROR_FEATURE_NOT_PRESENT
}
