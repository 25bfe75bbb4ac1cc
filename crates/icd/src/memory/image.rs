//! VkImage.

use crate::base::answer::{Answer, invalid};
use crate::base::given::{Call, Doomed, Fill, In, Out};
use crate::base::object::{self, Object};
use crate::device::Device;
use crate::device::addresses::{self, Binding};
use crate::instance::physical_device::{
    PLAIN_TYPE_BITS, PROTECTED_TYPE_BITS, SPARSE, SPARSE_TYPE_BITS, TRANSIENT_TYPE_BITS,
};
use crate::memory::buffer::not_dedicated;
use crate::memory::{Memory, capture};
use machine::descriptor_memory::{HeapViews, Name, Named};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use texel::format::plane_index;
use texel::memory::Bound;
use vk::Handle;

pub struct Image {
    pub(crate) gpu: Arc<texel::image::Image>,
    /// In descriptor heaps.
    pub(crate) name: Name,
    /// Those of descriptors in heaps, by what they were written with.
    views: Views,
}

/// Once there are such.
type Views = OnceLock<Arc<HeapViews>>;

impl Image {
    /// The handle of an image of the device's.
    pub(crate) fn create(gpu: Arc<texel::image::Image>, name: Name, views: Views) -> vk::Image {
        let handle = object::create(Image { gpu: gpu.clone(), name, views });
        gpu.handle.store(handle.as_raw(), Relaxed);
        handle
    }
    /// What descriptors in heaps call it, and the views that they know.
    pub(crate) fn in_heaps(&self, device: &Device) -> (u64, &HeapViews) {
        let views = self.views.get_or_init(Default::default);
        (self.name.get(device.names(), || Named::Image(views.clone())), views)
    }
}

impl Object for Image {
    type Handle = vk::Image;
}

/// The image of a handle.
pub(crate) fn get<'a>(call: impl Call<'a>, image: vk::Image) -> Option<Arc<texel::image::Image>> {
    Some(call.object::<Image>(image)?.gpu.clone())
}

pub(crate) fn new(device: &Device, info: In<vk::ImageCreateInfo>) -> Answer<texel::image::Image> {
    use vk::ImageCreateFlags as Flags;
    if info.flags.contains(Flags::PROTECTED) {
        device.protect("vkCreateImage", info.flags.contains(Flags::SPARSE_BINDING))?;
    }
    if !SPARSE && info.flags.contains(Flags::SPARSE_BINDING) {
        return Err(invalid("vkCreateImage: this system has no sparse resources"));
    }
    let in_parts = Flags::SPARSE_RESIDENCY | Flags::SPARSE_ALIASED;
    if info.flags.intersects(in_parts) && !info.flags.contains(Flags::SPARSE_BINDING) {
        return Err(invalid("vkCreateImage: sparse residency or aliasing without sparse binding"));
    }
    if info.flags.contains(Flags::SPARSE_RESIDENCY) && info.tiling != vk::ImageTiling::OPTIMAL {
        return Err(invalid("vkCreateImage: sparse residency without optimal tiling"));
    }
    let tiling = crate::memory::drm::tiling(info)?;
    let mut image = texel::image::Image::new(device.space(), &vk::ImageCreateInfo { tiling, ..*info })?;
    crate::memory::drm::check(info, &image)?;
    if uncompressed(info.find()) {
        image.packed = None;
    }
    image.watch(raster::layout::TILE as u32, false);
    let external = info.find::<vk::ExternalMemoryImageCreateInfo>();
    if external.is_some_and(|e| !e.handle_types.is_empty()) {
        image.discarded.end();
    }
    Ok(image)
}

/// Whether a structure of a chain asks for an image that is kept as it is (VK_EXT_image_compression_control).
pub(crate) fn uncompressed(control: Option<In<vk::ImageCompressionControlEXT>>) -> bool {
    control.is_some_and(|c| c.flags.contains(vk::ImageCompressionFlagsEXT::DISABLED))
}

/// Reports the compression of an image that is `packed` or not, if the application asks. It is lossless: no rate is fixed.
pub(crate) fn tell_compression(out: Option<Fill<vk::ImageCompressionPropertiesEXT>>, packed: bool) {
    if let Some(mut p) = out {
        p.image_compression_flags = match packed {
            true => vk::ImageCompressionFlagsEXT::DEFAULT,
            false => vk::ImageCompressionFlagsEXT::DISABLED,
        };
        p.image_compression_fixed_rate_flags = vk::ImageCompressionFixedRateFlagsEXT::NONE;
    }
}

pub(crate) fn create_image(
    device: &Device,
    info: In<vk::ImageCreateInfo>,
    out: Out<vk::Image>,
) -> vk::Result {
    let is_kept = info.flags.contains(vk::IMAGE_CREATE_DESCRIPTOR_HEAP_CAPTURE_REPLAY_BIT_EXT);
    let made = new(device, info).and_then(|image| {
        let views = Views::new();
        let named = || Named::Image(views.get_or_init(Default::default).clone());
        let name = capture::name(device, is_kept, capture::in_heaps(info.find()), &named)?;
        Ok(Image::create(Arc::new(image), name, views))
    });
    let image = match made {
        Ok(image) => image,
        Err(e) => return e,
    };
    out.set(image);
    // A sparse one has its addresses from the beginning.
    if info.flags.contains(vk::ImageCreateFlags::SPARSE_BINDING) {
        tell(device, image, Binding::BIND);
    }
    vk::Result::SUCCESS
}

pub(crate) fn tell(device: &Device, image: vk::Image, binding: Binding) {
    if let Some(b) = device.object::<Image>(image) {
        let at = b.gpu.base().map_or(0, |p| p as u64);
        device.resource("image", image.as_raw(), at..at.saturating_add(b.gpu.size()), Some(&b.gpu), binding);
        addresses::tell_address::<Image>(
            device,
            image,
            (b.gpu.base().map_or(0, |p| p as u64), b.gpu.size()),
            binding,
        );
    }
}

pub(crate) fn destroy_image(device: &Device, image: Doomed<Image>) {
    if image.object().is_some() {
        tell(device, image.handle(), Binding::UNBIND);
    }
    destroyed(device, image);
}

/// Ends an image, and what descriptors in heaps say of it.
pub(crate) fn destroyed(device: &Device, image: Doomed<Image>) {
    let Some(i) = image.destroy() else { return };
    i.gpu.released();
    i.name.end(device.names());
    if let Some(views) = i.views.into_inner() {
        device.quarantine.keep(Box::new(views), &device.gpu);
    }
}

/// What an image needs, or (`plane`) a plane of a disjoint one.
fn require(
    image: &texel::image::Image,
    plane: Option<vk::ImageAspectFlags>,
    mut out: Fill<vk::MemoryRequirements2>,
) {
    let transient = image.usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT);
    out.memory_requirements = vk::MemoryRequirements {
        size: plane.and_then(|p| image.plane_size(plane_index(p)?)).unwrap_or(image.size()),
        alignment: image.alignment(),
        memory_type_bits: match image.sparse() {
            Some(_) => SPARSE_TYPE_BITS,
            None if image.flags.contains(vk::ImageCreateFlags::PROTECTED) => PROTECTED_TYPE_BITS,
            None if transient => TRANSIENT_TYPE_BITS,
            None => PLAIN_TYPE_BITS,
        },
    };
    not_dedicated(out);
}

pub(crate) fn get_image_memory_requirements2(
    _: &Device,
    info: In<vk::ImageMemoryRequirementsInfo2>,
    out: Fill<vk::MemoryRequirements2>,
) {
    if let Some(i) = info.object::<Image>(info.image) {
        let plane = info.find::<vk::ImagePlaneMemoryRequirementsInfo>();
        require(&i.gpu, plane.map(|p| p.plane_aspect), out);
    }
}

pub(crate) fn get_device_image_memory_requirements(
    device: &Device,
    info: In<vk::DeviceImageMemoryRequirements>,
    mut out: Fill<vk::MemoryRequirements2>,
) {
    match info.create_info().and_then(|i| new(device, i).ok()) {
        Some(i) => require(&i, Some(info.plane_aspect), out),
        None => out.memory_requirements = Default::default(),
    }
}

/// Binds an allocation to an image.
pub(crate) fn bind(i: In<vk::BindImageMemoryInfo>) -> vk::Result {
    let Some(image) = i.object::<Image>(i.image) else { return vk::Result::ERROR_UNKNOWN };
    let Some(m) = i.object::<Memory>(i.memory) else { return vk::Result::ERROR_UNKNOWN };
    let Some(room) = m.gpu.size().checked_sub(i.memory_offset) else {
        return invalid("vkBindImageMemory: the offset lies outside the allocation");
    };
    if let Err(e) = m.accepts(image.gpu.flags.contains(vk::ImageCreateFlags::PROTECTED), "vkBindImageMemory")
    {
        return e;
    }
    let bound = Bound { memory: m.gpu.clone(), offset: i.memory_offset };
    let done = match i.find::<vk::BindImagePlaneMemoryInfo>() {
        Some(p) if image.gpu.disjoint() => {
            plane_index(p.plane_aspect).is_some_and(|at| image.gpu.bind_plane(at, bound))
        }
        _ => image.gpu.bind(bound),
    };
    if done {
        vk::Result::SUCCESS
    } else {
        invalid(&format!(
            "vkBindImageMemory: an image of {} bytes (or its plane) is bound already, or does not fit {room} bytes, or a \
                 disjoint image's plane is not named",
            image.gpu.size()
        ))
    }
}

fn tell_layout(
    image: &texel::image::Image,
    sub: &vk::ImageSubresource,
    mut out: Fill<vk::SubresourceLayout2>,
) {
    out.subresource_layout = image.subresource_layout(sub);
    tell_compression(out.find(), image.packed.is_some());
    if let Some(mut s) = out.find::<vk::SubresourceHostMemcpySize>() {
        s.size = texel::transfer::host_memcpy_size(image, sub.aspect_mask, sub.mip_level);
    }
}

pub(crate) fn get_image_subresource_layout2(
    _: &Device,
    image: vk::Image,
    sub: In<vk::ImageSubresource2>,
    out: Fill<vk::SubresourceLayout2>,
) {
    if let Some(i) = sub.object::<Image>(image) {
        tell_layout(&i.gpu, &sub.image_subresource, out);
    }
}

pub(crate) fn get_device_image_subresource_layout(
    device: &Device,
    info: In<vk::DeviceImageSubresourceInfo>,
    mut out: Fill<vk::SubresourceLayout2>,
) {
    let i = info;
    let image = i.create_info().and_then(|i| new(device, i).ok());
    match (image, i.subresource()) {
        (Some(image), Some(sub)) => tell_layout(&image, &sub.image_subresource, out),
        _ => out.subresource_layout = Default::default(),
    }
}
