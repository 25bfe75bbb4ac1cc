//! VK_EXT_descriptor_heap, outside command buffers: what is written as a descriptor. What the bytes are, and how they are read, is in
//! [`machine::descriptor_memory`]; where a shader's bindings lie in heaps is in [`crate::descriptor::mappings`].

use crate::base::answer::{Answer, invalid};
use crate::base::given::{Call, In, OutSlice, array};
use crate::base::hash::Hasher128;
use crate::base::object::Object;
use crate::device::Device;
use crate::instance::physical_device::PhysicalDevice;
use crate::memory::capture;
use crate::memory::image::Image;
use crate::memory::image_view;
use crate::memory::sampler;
use crate::memory::tensor;
use crate::memory::ycbcr_conversion;
use machine::descriptor::DESCRIPTOR_BYTES;
use machine::descriptor_memory as form;
use machine::descriptor_memory::{CAPTURED_BYTES, Name};
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
    Ok(form::image(name, hash, for_storage))
}

/// What a resource's descriptor is; the second half is that of tensors alone.
fn resource(device: &Device, info: In<vk::ResourceDescriptorInfoEXT>) -> Answer<[[u64; 4]; 2]> {
    let (ty, data) = (info.ty, info.data);
    if ty == vk::DESCRIPTOR_TYPE_TENSOR_ARM {
        // SAFETY: as below.
        let view = unsafe { data.p_tensor_arm.as_ref().map(|v| In::new(v)) };
        return view.map_or(Ok([[0; 4]; 2]), |v| tensor::in_heap(device, v));
    }
    Ok([plain(device, ty, data)?, [0; 4]])
}

fn plain(device: &Device, ty: Type, data: vk::ResourceDescriptorDataEXT) -> Answer<[u64; 4]> {
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
fn put(to: In<vk::HostAddressRangeEXT>, words: &[u64]) {
    let bytes = to.size.min(size_of_val(words));
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
        put(to, &sampler(s));
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
        let words = resource(device, r).unwrap_or_else(|e| {
            result = e;
            [[0; 4]; 2]
        });
        put(to, &words.as_flattened()[..size(r.ty) as usize / size_of::<u64>()]);
    }
    result
}

pub(crate) fn get_physical_device_descriptor_size_ext(_: &PhysicalDevice, ty: Type) -> vk::DeviceSize {
    size(ty).into()
}

/// Bytes of a descriptor in a heap; 0: none of this type lies there.
fn size(ty: Type) -> u32 {
    match ty {
        vk::DESCRIPTOR_TYPE_TENSOR_ARM => 2 * DESCRIPTOR_BYTES,
        Type::SAMPLER
        | Type::SAMPLED_IMAGE
        | Type::INPUT_ATTACHMENT
        | Type::STORAGE_IMAGE
        | Type::UNIFORM_TEXEL_BUFFER
        | Type::STORAGE_TEXEL_BUFFER
        | Type::UNIFORM_BUFFER
        | Type::STORAGE_BUFFER
        | Type::ACCELERATION_STRUCTURE_KHR => DESCRIPTOR_BYTES,
        _ => 0,
    }
}

/// Each object's captured name.
fn give<T: Object>(
    device: &Device,
    call: &str,
    objects: &[T::Handle],
    to: OutSlice<vk::HostAddressRangeEXT>,
    name: fn(&T) -> &Name,
) -> vk::Result {
    // SAFETY: valid usage: a range for each object.
    let to = unsafe { array(to.start().cast_const(), to.len()) };
    let each = objects.iter().zip(to).map(|(object, to)| {
        let what = device.object::<T>(*object).and_then(|o| name(o).reserved());
        let to = if to.size < CAPTURED_BYTES { std::ptr::null_mut() } else { to.address };
        // SAFETY: valid usage: so many bytes may be written there.
        unsafe { capture::give(call, to, what) }
    });
    each.fold(vk::Result::SUCCESS, |all, one| if all == vk::Result::SUCCESS { one } else { all })
}

pub(crate) fn get_image_opaque_capture_data_ext(
    device: &Device,
    images: &[vk::Image],
    to: OutSlice<vk::HostAddressRangeEXT>,
) -> vk::Result {
    give(device, "vkGetImageOpaqueCaptureDataEXT", images, to, |i: &Image| &i.name)
}

pub(crate) fn get_tensor_opaque_capture_data_arm(
    device: &Device,
    tensors: &[vk::TensorARM],
    to: OutSlice<vk::HostAddressRangeEXT>,
) -> vk::Result {
    give(device, "vkGetTensorOpaqueCaptureDataARM", tensors, to, |t: &tensor::Tensor| &t.shown.name)
}
