//! What surfaces can do.

use super::pixels::FORMATS;
use super::surface::{MAX_EXTENT, Place, Surface};
use super::swapchain;
use crate::base::answer::{Answer, code};
use crate::base::given::{Call, Fill, In, List, Out};
use crate::device::Device;
use crate::instance::physical_device::{PhysicalDevice, family};
use crate::memory::image;
use vk::CompositeAlphaFlagsKHR as Alpha;
use vk::ImageUsageFlags as U;
use vk::PresentModeKHR as Mode;

/// All surfaces have these, and a present may be of any of them whatever the swapchain's.
pub(crate) const PRESENT_MODES: [Mode; 4] = [Mode::FIFO, Mode::MAILBOX, Mode::IMMEDIATE, Mode::FIFO_RELAXED];

/// One is shown or waits for it while the application draws into another.
pub(crate) const MIN_IMAGES: u32 = 2;

pub(crate) const USAGE: U = U::from_raw(
    U::TRANSFER_SRC.as_raw()
        | U::TRANSFER_DST.as_raw()
        | U::SAMPLED.as_raw()
        | U::STORAGE.as_raw()
        | U::COLOR_ATTACHMENT.as_raw()
        | U::INPUT_ATTACHMENT.as_raw(),
);

/// What a swapchain may ask for; windows without alpha ignore all but opaque.
pub(crate) const COMPOSITE: Alpha =
    Alpha::from_raw(Alpha::OPAQUE.as_raw() | Alpha::INHERIT.as_raw() | Alpha::PRE_MULTIPLIED.as_raw());

fn capabilities(place: &Place) -> Answer<vk::SurfaceCapabilitiesKHR> {
    // A window's images have its size; without a window they have any.
    let any = vk::Extent2D { width: u32::MAX, height: u32::MAX };
    let one = vk::Extent2D { width: 1, height: 1 };
    let (current, min, max, alpha) = match place {
        Place::Headless => (any, one, MAX_EXTENT, Alpha::OPAQUE | Alpha::INHERIT),
        // The picture's size is the surface's.
        Place::Wayland(_) => (any, one, MAX_EXTENT, COMPOSITE),
        Place::Window(w) => {
            let now = w.extent()?;
            let alpha = if w.has_alpha() { COMPOSITE } else { Alpha::OPAQUE | Alpha::INHERIT };
            (now, now, now, alpha)
        }
    };
    Ok(vk::SurfaceCapabilitiesKHR {
        min_image_count: MIN_IMAGES,
        max_image_count: 0,
        current_extent: current,
        min_image_extent: min,
        max_image_extent: max,
        max_image_array_layers: 1,
        supported_transforms: vk::SurfaceTransformFlagsKHR::IDENTITY,
        current_transform: vk::SurfaceTransformFlagsKHR::IDENTITY,
        supported_composite_alpha: alpha,
        supported_usage_flags: USAGE,
    })
}

/// What a swapchain can be created with.
const SWAPCHAIN_FLAGS: vk::SwapchainCreateFlagsKHR = vk::SwapchainCreateFlagsKHR::from_raw(
    vk::SwapchainCreateFlagsKHR::MUTABLE_FORMAT.as_raw()
        | vk::SwapchainCreateFlagsKHR::SPLIT_INSTANCE_BIND_REGIONS.as_raw()
        | vk::SwapchainCreateFlagsKHR::DEFERRED_MEMORY_ALLOCATION_EXT.as_raw()
        | vk::SWAPCHAIN_CREATE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_BIT_EXT.as_raw(),
);

/// The place of a surface's handle.
fn on<'a, T>(call: impl Call<'a>, surface: vk::SurfaceKHR, f: impl FnOnce(&Place) -> Answer<T>) -> Answer<T> {
    match call.object::<Surface>(surface) {
        Some(s) => f(&s.target.place),
        None => Err(vk::Result::ERROR_SURFACE_LOST_KHR),
    }
}

pub(crate) fn get_physical_device_surface_support_khr(
    device: &PhysicalDevice,
    index: u32,
    surface: vk::SurfaceKHR,
    out: Out<vk::Bool32>,
) -> vk::Result {
    code(on(device, surface, |place| {
        let shows = match place {
            Place::Headless | Place::Wayland(_) => true,
            Place::Window(w) => w.shows(),
        };
        out.set((shows && family(index).is_some()).into());
        Ok(())
    }))
}

pub(crate) fn get_physical_device_surface_capabilities_khr(
    device: &PhysicalDevice,
    surface: vk::SurfaceKHR,
    out: Out<vk::SurfaceCapabilitiesKHR>,
) -> vk::Result {
    code(on(device, surface, capabilities).map(|c| out.set(c)))
}

pub(crate) fn get_physical_device_surface_capabilities2_khr(
    device: &PhysicalDevice,
    info: In<vk::PhysicalDeviceSurfaceInfo2KHR>,
    out: Fill<vk::SurfaceCapabilities2KHR>,
) -> vk::Result {
    let mut out = out;
    code(on(device, info.surface, |place| {
        let c = capabilities(place)?;
        out.surface_capabilities = c;
        if let Some(mut p) = out.find::<vk::SurfaceProtectedCapabilitiesKHR>() {
            p.supports_protected = vk::TRUE;
        }
        if let Some(mut s) = out.find::<vk::SurfacePresentScalingCapabilitiesEXT>() {
            // A picture of another size lies in the window's upper left corner.
            let window = matches!(place, Place::Window(_));
            s.supported_present_scaling = Default::default();
            s.supported_present_gravity_x = Default::default();
            s.supported_present_gravity_y = Default::default();
            (s.min_scaled_image_extent, s.max_scaled_image_extent) = (c.min_image_extent, c.max_image_extent);
            if window {
                s.supported_present_scaling = vk::PresentScalingFlagsEXT::ONE_TO_ONE;
                s.supported_present_gravity_x = vk::PresentGravityFlagsEXT::MIN;
                s.supported_present_gravity_y = vk::PresentGravityFlagsEXT::MIN;
                s.min_scaled_image_extent = vk::Extent2D { width: 1, height: 1 };
                s.max_scaled_image_extent = MAX_EXTENT;
            }
        }
        if let Some(mut f) = out.find::<vk::SwapchainFlagsSurfaceCapabilitiesEXT>() {
            f.swapchain_supported_flags = SWAPCHAIN_FLAGS;
        }
        if let Some(mut m) = out.find::<vk::SurfacePresentModeCompatibilityEXT>() {
            // The mode asked about first, then all others.
            let asked = info.find::<vk::SurfacePresentModeEXT>().map(|a| a.present_mode);
            let others = PRESENT_MODES.into_iter().filter(|m| Some(*m) != asked);
            let modes: Vec<Mode> = asked.into_iter().chain(others).collect();
            // As many as there is room for: this query has no way to say that it is not all.
            let m = &mut *m;
            // SAFETY: null or room for so many (valid usage).
            let _ = unsafe { List::new(&mut m.present_mode_count, m.p_present_modes) }.fill(&modes);
        }
        Ok(())
    }))
}

/// Whether images are shown that way: always as they are, which is to say as sRGB.
pub(crate) fn has_color_space(space: vk::ColorSpaceKHR) -> bool {
    [vk::ColorSpaceKHR::SRGB_NONLINEAR, vk::ColorSpaceKHR::PASS_THROUGH_EXT].contains(&space)
}

/// More than one colour space is reported only if VK_EXT_swapchain_colorspace is enabled.
fn formats(device: &PhysicalDevice) -> Vec<vk::SurfaceFormatKHR> {
    let of =
        |color_space| FORMATS.into_iter().map(move |format| vk::SurfaceFormatKHR { format, color_space });
    let more = device.instance.extensions.has(c"VK_EXT_swapchain_colorspace");
    let mut all: Vec<_> = of(vk::ColorSpaceKHR::SRGB_NONLINEAR).collect();
    if more {
        all.extend(of(vk::ColorSpaceKHR::PASS_THROUGH_EXT));
    }
    all
}

pub(crate) fn get_physical_device_surface_formats_khr(
    device: &PhysicalDevice,
    surface: vk::SurfaceKHR,
    out: List<vk::SurfaceFormatKHR>,
) -> vk::Result {
    on(device, surface, |_| Ok(out.fill(&formats(device)))).unwrap_or_else(|e| e)
}

pub(crate) fn get_physical_device_surface_formats2_khr(
    device: &PhysicalDevice,
    info: In<vk::PhysicalDeviceSurfaceInfo2KHR>,
    out: List<vk::SurfaceFormat2KHR>,
) -> vk::Result {
    let all = formats(device);
    on(device, info.surface, |_| {
        Ok(out.fill_with(all.len(), |mut f, i| {
            f.surface_format = all[i];
            image::tell_compression(f.find(), swapchain::may_be_packed(all[i].format));
        }))
    })
    .unwrap_or_else(|e| e)
}

pub(crate) fn get_physical_device_surface_present_modes_khr(
    device: &PhysicalDevice,
    surface: vk::SurfaceKHR,
    out: List<Mode>,
) -> vk::Result {
    on(device, surface, |_| Ok(out.fill(&PRESENT_MODES))).unwrap_or_else(|e| e)
}

pub(crate) fn get_physical_device_present_rectangles_khr(
    device: &PhysicalDevice,
    surface: vk::SurfaceKHR,
    out: List<vk::Rect2D>,
) -> vk::Result {
    on(device, surface, |place| {
        let extent = match place {
            Place::Headless | Place::Wayland(_) => MAX_EXTENT,
            Place::Window(w) => w.extent()?,
        };
        Ok(out.fill(&[vk::Rect2D { offset: Default::default(), extent }]))
    })
    .unwrap_or_else(|e| e)
}

/// The one device of its group shows what it has drawn itself.
pub(crate) fn get_device_group_present_capabilities_khr(
    _: &Device,
    mut out: Fill<vk::DeviceGroupPresentCapabilitiesKHR>,
) -> vk::Result {
    out.present_mask = [0; vk::MAX_DEVICE_GROUP_SIZE];
    out.present_mask[0] = 1;
    out.modes = vk::DeviceGroupPresentModeFlagsKHR::LOCAL;
    vk::Result::SUCCESS
}

pub(crate) fn get_device_group_surface_present_modes_khr(
    device: &Device,
    surface: vk::SurfaceKHR,
    out: Out<vk::DeviceGroupPresentModeFlagsKHR>,
) -> vk::Result {
    code(on(device, surface, |_| {
        out.set(vk::DeviceGroupPresentModeFlagsKHR::LOCAL);
        Ok(())
    }))
}
