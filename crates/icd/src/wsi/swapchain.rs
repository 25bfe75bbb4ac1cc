//! VkSwapchainKHR: making one, its images, its end.

use super::engine::Engine;
use super::pixels::FORMATS;
use super::queries::{COMPOSITE, MIN_IMAGES, PRESENT_MODES, USAGE, has_color_space};
use super::surface::{MAX_EXTENT, Place, Surface};
use crate::base::answer::{Answer, created, invalid};
use crate::base::given::{Call, Doomed, In, List, Out};
use crate::base::object::Object;
use crate::device::Device;
use crate::device::addresses::Binding;
use crate::memory::Memory;
use crate::memory::image::{self, Image};
use machine::threads::Thread;
use std::sync::Arc;
use texel::memory::Bound;
use vk::Handle;

pub struct Swapchain {
    pub(crate) engine: Arc<Engine>,
    pub(crate) mode: vk::PresentModeKHR,
    images: Vec<vk::Image>,
    /// What the images are bound to; counted as any allocation.
    _memory: Vec<Memory>,
    thread: Option<Thread>,
}

impl Object for Swapchain {
    type Handle = vk::SwapchainKHR;
}

impl Drop for Swapchain {
    fn drop(&mut self) {
        self.engine.close();
        if let Some(t) = self.thread.take() {
            t.join();
        }
    }
}

/// The images' description (specification, section "WSI Swapchain": the implied image creation parameters).
fn image_info<'a>(info: &vk::SwapchainCreateInfoKHR<'a>) -> vk::ImageCreateInfo<'a> {
    let mut flags = vk::ImageCreateFlags::empty();
    if info.flags.contains(vk::SwapchainCreateFlagsKHR::MUTABLE_FORMAT) {
        flags |= vk::ImageCreateFlags::MUTABLE_FORMAT | vk::ImageCreateFlags::EXTENDED_USAGE;
    }
    if info.flags.contains(vk::SwapchainCreateFlagsKHR::SPLIT_INSTANCE_BIND_REGIONS) {
        flags |= vk::ImageCreateFlags::SPLIT_INSTANCE_BIND_REGIONS;
    }
    if info.flags.contains(vk::SWAPCHAIN_CREATE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_BIT_EXT) {
        flags |= vk::ImageCreateFlags::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_EXT;
    }
    if info.flags.contains(vk::SwapchainCreateFlagsKHR::PROTECTED) {
        flags |= vk::ImageCreateFlags::PROTECTED;
    }
    vk::ImageCreateInfo {
        p_next: info.p_next, // a list of formats, if any
        flags,
        image_type: vk::ImageType::TYPE_2D,
        format: info.image_format,
        extent: vk::Extent3D { width: info.image_extent.width, height: info.image_extent.height, depth: 1 },
        mip_levels: 1,
        array_layers: info.image_array_layers,
        samples: vk::SampleCountFlags::TYPE_1,
        tiling: vk::ImageTiling::OPTIMAL,
        usage: info.image_usage,
        sharing_mode: info.image_sharing_mode,
        queue_family_index_count: info.queue_family_index_count,
        p_queue_family_indices: info.p_queue_family_indices,
        ..Default::default()
    }
}

/// Whether the images of a swapchain of this format are compressed, if the application does not ask for others.
pub(super) fn may_be_packed(format: vk::Format) -> bool {
    let info = vk::SwapchainCreateInfoKHR {
        image_format: format,
        image_extent: vk::Extent2D { width: 1, height: 1 },
        image_array_layers: 1,
        image_usage: vk::ImageUsageFlags::COLOR_ATTACHMENT,
        ..Default::default()
    };
    texel::format::info(format).is_some_and(|f| texel::image::may_be_packed(&image_info(&info), f))
}

/// What an application may not ask for; a line about the first such thing.
fn check(info: &vk::SwapchainCreateInfoKHR) -> Result<(), String> {
    let e = info.image_extent;
    if !FORMATS.contains(&info.image_format) || !has_color_space(info.image_color_space) {
        return Err(format!("{:?} in {:?}", info.image_format, info.image_color_space));
    }
    if e.width == 0 || e.height == 0 || e.width > MAX_EXTENT.width || e.height > MAX_EXTENT.height {
        return Err(format!("{} × {} pixels", e.width, e.height));
    }
    if info.image_array_layers != 1 {
        return Err(format!("{} layers", info.image_array_layers));
    }
    if !PRESENT_MODES.contains(&info.present_mode) {
        return Err(format!("the present mode {:?}", info.present_mode));
    }
    if !USAGE.contains(info.image_usage) {
        return Err(format!("the usage {:?}", info.image_usage));
    }
    if info.pre_transform != vk::SurfaceTransformFlagsKHR::IDENTITY {
        return Err(format!("the transform {:?}", info.pre_transform));
    }
    if !COMPOSITE.contains(info.composite_alpha) {
        return Err(format!("the composite alpha {:?}", info.composite_alpha));
    }
    Ok(())
}

/// More images than any application needs.
const MAX_IMAGES: u32 = 1024;

fn new(device: &Device, info: In<vk::SwapchainCreateInfoKHR>) -> Answer<Swapchain> {
    if device.hub().is_lost() {
        return Err(vk::Result::ERROR_DEVICE_LOST);
    }
    check(&info).map_err(|line| invalid(&format!("vkCreateSwapchainKHR: no surface has {line}")))?;
    let Some(surface) = device.object::<Surface>(info.surface) else {
        return Err(vk::Result::ERROR_SURFACE_LOST_KHR);
    };
    let target = surface.target.clone();
    target.alive()?;
    let old = match info.old_swapchain {
        s if s == vk::SwapchainKHR::null() => None,
        s => Some(device.object::<Swapchain>(s).ok_or(vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR)?),
    };
    {
        let current = target.swapchain.lock().upgrade().filter(|c| c.is_current());
        if let Some(current) = current
            && old.is_none_or(|o| !Arc::ptr_eq(&o.engine, &current))
        {
            return Err(vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR);
        }
    }
    // The old one is retired whether or not the new one can be made.
    if let Some(old) = old {
        old.engine.change(|s| s.retired = true);
    }
    let count = info.min_image_count.max(MIN_IMAGES);
    if count > MAX_IMAGES {
        return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    }
    let image_info = image_info(&info);
    if image_info.flags.contains(vk::ImageCreateFlags::PROTECTED) {
        device.protect("vkCreateSwapchainKHR", false)?;
    }
    let uncompressed = crate::memory::image::uncompressed(info.find());
    let windowed = matches!(target.place, Place::Window(_));
    let mut images = Vec::new();
    let mut memory = Vec::new();
    for _ in 0..count {
        let mut image = texel::image::Image::new(device.space(), &image_info)?;
        image.watch(raster::layout::TILE as u32, true);
        image.presented = true;
        if uncompressed {
            image.packed = None;
        }
        let m = Memory::new(device, image.size(), windowed)?;
        if !image.bind(Bound { memory: m.gpu.clone(), offset: 0 }) {
            return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        }
        images.push(Arc::new(image));
        memory.push(m);
    }
    let opaque = info.composite_alpha == vk::CompositeAlphaFlagsKHR::OPAQUE;
    let scaled = info
        .find::<vk::SwapchainPresentScalingCreateInfoEXT>()
        .is_some_and(|s| !s.scaling_behavior.is_empty());
    let shown = (info.image_format, info.image_extent);
    let engine =
        Arc::new(Engine::new(device.inner.clone(), target.clone(), images.clone(), shown, opaque, !scaled));
    let worker = engine.clone();
    let worker_thread = std::thread::Builder::new().name("tuff-present".into());
    let thread = Thread::spawn(worker_thread, move || worker.run())
        .map_err(|_| vk::Result::ERROR_OUT_OF_HOST_MEMORY)?;
    *target.swapchain.lock() = Arc::downgrade(&engine);
    let images = images.into_iter().map(|i| named(device, i)).collect();
    Ok(Swapchain { engine, mode: info.present_mode, images, _memory: memory, thread: Some(thread) })
}

/// A handle of a swapchain's image, which a sanitised device names.
fn named(device: &Device, image: Arc<texel::image::Image>) -> vk::Image {
    let handle = Image::create(image.clone(), Default::default(), Default::default());
    let at = image.base().map_or(0, |p| p as u64);
    device.resource(
        "image",
        handle.as_raw(),
        at..at.saturating_add(image.size()),
        Some(&image),
        Binding::BIND,
    );
    handle
}

pub(crate) fn create_swapchain_khr(
    device: &Device,
    info: In<vk::SwapchainCreateInfoKHR>,
    out: Out<vk::SwapchainKHR>,
) -> vk::Result {
    created(out, new(device, info))
}

pub(crate) fn destroy_swapchain_khr(device: &Device, swapchain: Doomed<Swapchain>) {
    if let Some(s) = swapchain.destroy() {
        for (&image, gpu) in s.images.iter().zip(&s.engine.images) {
            let at = gpu.base().map_or(0, |p| p as u64);
            device.resource("image", image.as_raw(), at..at, None, Binding::UNBIND);
            // SAFETY: its images end with the swapchain, and so does their use (valid usage).
            image::destroyed(device, unsafe { Doomed::new(image) });
        }
    }
}

pub(crate) fn get_swapchain_images_khr(
    device: &Device,
    swapchain: vk::SwapchainKHR,
    images: List<vk::Image>,
) -> vk::Result {
    match device.object::<Swapchain>(swapchain) {
        Some(s) => images.fill(&s.images),
        None => vk::Result::ERROR_SURFACE_LOST_KHR,
    }
}

/// No surface here shows more than its 8 bits: what the content was mastered on changes nothing.
pub(crate) fn set_hdr_metadata_ext(
    device: &Device,
    swapchains: &[vk::SwapchainKHR],
    _: In<[vk::HdrMetadataEXT]>,
) {
    for &s in swapchains {
        device.object::<Swapchain>(s);
    }
}

/// The memory of a swapchain's image, for an image that is to be bound to it (VkBindImageMemorySwapchainInfoKHR).
pub(crate) fn memory<'a>(call: impl Call<'a>, swapchain: vk::SwapchainKHR, image: u32) -> Option<Bound> {
    call.object::<Swapchain>(swapchain)?.engine.memory(image)
}
