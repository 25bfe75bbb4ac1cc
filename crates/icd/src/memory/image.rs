//! VkImage.

use crate::base::answer::{Answer, invalid};
use crate::base::chain;
use crate::base::object::{self, Object};
use crate::device::Device;
use crate::device::addresses::{self, Binding};
use crate::instance::physical_device::{PLAIN_TYPE_BITS, SPARSE_TYPE_BITS, TRANSIENT_TYPE_BITS};
use crate::memory::Memory;
use crate::memory::buffer::not_dedicated;
use machine::descriptor_memory::{HeapViews, Named};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use texel::format::plane_index;
use texel::memory::Bound;
use vk::Handle;

pub struct Image {
    pub(crate) gpu: Arc<texel::image::Image>,
    /// Its name in descriptor heaps, once it was wanted there, and its views by what they were written with.
    heap: OnceLock<(u64, Arc<HeapViews>)>,
}

impl Image {
    fn new(gpu: Arc<texel::image::Image>) -> Image {
        Image { gpu, heap: OnceLock::new() }
    }
    /// The handle of an image of the device's.
    pub(crate) fn create(gpu: Arc<texel::image::Image>) -> vk::Image {
        let handle = object::create(Image::new(gpu.clone()));
        gpu.handle.store(handle.as_raw(), Relaxed);
        handle
    }
    /// What descriptors in heaps call it, and the views that they know.
    pub(crate) fn in_heaps(&self, device: &Device) -> &(u64, Arc<HeapViews>) {
        self.heap.get_or_init(|| {
            let views = Arc::new(HeapViews::default());
            (device.names().add(Named::Image(views.clone())), views)
        })
    }
}

impl Object for Image {
    type Handle = vk::Image;
}

/// The image behind a handle.
pub(crate) unsafe fn get(image: vk::Image) -> Option<Arc<texel::image::Image>> {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe { Some(object::get::<Image>(image)?.gpu.clone()) }
}

pub(crate) unsafe fn new(device: &Device, info: &vk::ImageCreateInfo) -> Answer<texel::image::Image> {
    use vk::ImageCreateFlags as Flags;
    if info.flags.contains(Flags::PROTECTED) {
        return Err(invalid("vkCreateImage: protected images are not supported"));
    }
    let in_parts = Flags::SPARSE_RESIDENCY | Flags::SPARSE_ALIASED;
    if info.flags.intersects(in_parts) && !info.flags.contains(Flags::SPARSE_BINDING) {
        return Err(invalid("vkCreateImage: sparse residency or aliasing without sparse binding"));
    }
    if info.flags.contains(Flags::SPARSE_RESIDENCY) && info.tiling != vk::ImageTiling::OPTIMAL {
        return Err(invalid("vkCreateImage: sparse residency without optimal tiling"));
    }
    // SAFETY: valid usage: the structure's chain leads to what it is said to.
    unsafe {
        let tiling = crate::memory::drm::tiling(info)?;
        let mut image = texel::image::Image::new(device.space(), &vk::ImageCreateInfo { tiling, ..*info })?;
        crate::memory::drm::check(info, &image)?;
        if uncompressed(info.p_next) {
            image.packed = None;
        }
        image.watch(raster::layout::TILE as u32, false);
        let external = chain::find::<vk::ExternalMemoryImageCreateInfo>(info.p_next);
        if external.is_some_and(|e| !e.handle_types.is_empty()) {
            image.discarded.end();
        }
        Ok(image)
    }
}

/// Whether a chain asks for an image that is kept as it is (VK_EXT_image_compression_control).
pub(crate) unsafe fn uncompressed(p_next: *const std::ffi::c_void) -> bool {
    // SAFETY: valid usage: the chain leads to what it is said to.
    unsafe { chain::find::<vk::ImageCompressionControlEXT>(p_next) }
        .is_some_and(|c| c.flags.contains(vk::ImageCompressionFlagsEXT::DISABLED))
}

/// What is told of an image that is `packed`, if that is asked for. Nothing is lost by it: no rate is fixed.
pub(crate) unsafe fn tell_compression(p_next: *mut std::ffi::c_void, packed: bool) {
    // SAFETY: valid usage: the chain leads to what it is said to.
    if let Some(p) = unsafe { chain::find_mut::<vk::ImageCompressionPropertiesEXT>(p_next) } {
        p.image_compression_flags = match packed {
            true => vk::ImageCompressionFlagsEXT::DEFAULT,
            false => vk::ImageCompressionFlagsEXT::DISABLED,
        };
        p.image_compression_fixed_rate_flags = vk::ImageCompressionFixedRateFlagsEXT::NONE;
    }
}

pub(crate) unsafe fn create_image(
    device: &Device,
    info: *const vk::ImageCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::Image,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let image = match new(device, &*info) {
            Ok(image) => Image::create(Arc::new(image)),
            Err(e) => return e,
        };
        *out = image;
        // A sparse one has its addresses from the beginning.
        if (*info).flags.contains(vk::ImageCreateFlags::SPARSE_BINDING) {
            tell(device, image, Binding::BIND);
        }
        vk::Result::SUCCESS
    }
}

pub(crate) unsafe fn tell(device: &Device, image: vk::Image, binding: Binding) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    if let Some(b) = unsafe { object::get::<Image>(image) } {
        addresses::tell_address::<Image>(
            device,
            image,
            (b.gpu.base().map_or(0, |p| p as u64), b.gpu.size()),
            binding,
        );
    }
}

pub(crate) unsafe fn destroy_image(device: &Device, image: vk::Image, _: *const vk::AllocationCallbacks) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if image != vk::Image::null() {
            tell(device, image, Binding::UNBIND);
        }
        destroyed(device, image);
    }
}

/// Ends an image, and what descriptors in heaps say of it.
///
/// # Safety
/// Nobody uses it meanwhile.
pub(crate) unsafe fn destroyed(device: &Device, image: vk::Image) {
    // SAFETY: the caller keeps what is asked for above.
    let Some(i) = (unsafe { object::destroy::<Image>(image) }) else { return };
    i.gpu.released();
    if let Some((name, views)) = i.heap.into_inner() {
        device.names().remove(name);
        device.quarantine.keep(Box::new(views), &device.gpu);
    }
}

/// What an image needs, or (`plane`) a plane of a disjoint one.
unsafe fn require(
    image: &texel::image::Image,
    plane: Option<vk::ImageAspectFlags>,
    out: &mut vk::MemoryRequirements2,
) {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let transient = image.usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT);
        out.memory_requirements = vk::MemoryRequirements {
            size: plane.and_then(|p| image.plane_size(plane_index(p)?)).unwrap_or(image.size()),
            alignment: image.alignment(),
            memory_type_bits: match image.sparse() {
                Some(_) => SPARSE_TYPE_BITS,
                None if transient => TRANSIENT_TYPE_BITS,
                None => PLAIN_TYPE_BITS,
            },
        };
        not_dedicated(out);
    }
}

pub(crate) unsafe fn get_image_memory_requirements2(
    _: &Device,
    info: *const vk::ImageMemoryRequirementsInfo2,
    out: *mut vk::MemoryRequirements2,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let Some(i) = object::get::<Image>((*info).image) {
            let plane = chain::find::<vk::ImagePlaneMemoryRequirementsInfo>((*info).p_next);
            require(&i.gpu, plane.map(|p| p.plane_aspect), &mut *out);
        }
    }
}

pub(crate) unsafe fn get_device_image_memory_requirements(
    device: &Device,
    info: *const vk::DeviceImageMemoryRequirements,
    out: *mut vk::MemoryRequirements2,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        match (*info).p_create_info.as_ref().and_then(|i| new(device, i).ok()) {
            Some(i) => require(&i, Some((*info).plane_aspect), &mut *out),
            None => (*out).memory_requirements = Default::default(),
        }
    }
}

/// Binds an allocation to an image.
///
/// # Safety
/// The structure's pointers and its chain lead to what they are said to.
pub(crate) unsafe fn bind(i: &vk::BindImageMemoryInfo) -> vk::Result {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let Some(image) = object::get::<Image>(i.image) else { return vk::Result::ERROR_UNKNOWN };
        let Some(m) = object::get::<Memory>(i.memory) else { return vk::Result::ERROR_UNKNOWN };
        let Some(room) = m.gpu.size().checked_sub(i.memory_offset) else {
            return invalid("vkBindImageMemory: the offset lies outside the allocation");
        };
        let bound = Bound { memory: m.gpu.clone(), offset: i.memory_offset };
        let done = match chain::find::<vk::BindImagePlaneMemoryInfo>(i.p_next) {
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
}

unsafe fn tell_layout(
    image: &texel::image::Image,
    sub: &vk::ImageSubresource,
    out: &mut vk::SubresourceLayout2,
) {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        out.subresource_layout = image.subresource_layout(sub);
        tell_compression(out.p_next, image.packed.is_some());
        if let Some(s) = chain::find_mut::<vk::SubresourceHostMemcpySize>(out.p_next) {
            s.size = texel::transfer::host_memcpy_size(image, sub.aspect_mask, sub.mip_level);
        }
    }
}

pub(crate) unsafe fn get_image_subresource_layout2(
    _: &Device,
    image: vk::Image,
    sub: *const vk::ImageSubresource2,
    out: *mut vk::SubresourceLayout2,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let Some(i) = object::get::<Image>(image) {
            tell_layout(&i.gpu, &(*sub).image_subresource, &mut *out);
        }
    }
}

pub(crate) unsafe fn get_device_image_subresource_layout(
    device: &Device,
    info: *const vk::DeviceImageSubresourceInfo,
    out: *mut vk::SubresourceLayout2,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let image = i.p_create_info.as_ref().and_then(|i| new(device, i).ok());
        match (image, i.p_subresource.as_ref()) {
            (Some(image), Some(sub)) => tell_layout(&image, &sub.image_subresource, &mut *out),
            _ => (*out).subresource_layout = Default::default(),
        }
    }
}
