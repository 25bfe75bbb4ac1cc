//! Surfaces of windows. Those of other systems' windows are not reported, and their commands fail.

use super::surface::{Place, Target};
use super::window::Window;
use crate::base::answer::created;
use crate::base::given::{In, Out};
use crate::instance::Instance;
use crate::instance::physical_device::{PhysicalDevice, family};

const ABSENT: vk::Result = vk::Result::ERROR_EXTENSION_NOT_PRESENT;

pub(crate) fn create_win32_surface_khr(
    _: &Instance,
    info: In<vk::Win32SurfaceCreateInfoKHR>,
    out: Out<vk::SurfaceKHR>,
) -> vk::Result {
    created(out, Target::surface(Place::Window(Box::new(Window::new(info.hwnd)))))
}

pub(crate) fn get_physical_device_win32_presentation_support_khr(
    _: &PhysicalDevice,
    index: u32,
) -> vk::Bool32 {
    family(index).is_some().into()
}

pub(crate) fn create_xcb_surface_khr(
    _: &Instance,
    _: In<vk::XcbSurfaceCreateInfoKHR>,
    _: Out<vk::SurfaceKHR>,
) -> vk::Result {
    ABSENT
}

pub(crate) fn create_xlib_surface_khr(
    _: &Instance,
    _: In<vk::XlibSurfaceCreateInfoKHR>,
    _: Out<vk::SurfaceKHR>,
) -> vk::Result {
    ABSENT
}

pub(crate) fn create_wayland_surface_khr(
    _: &Instance,
    _: In<vk::WaylandSurfaceCreateInfoKHR>,
    _: Out<vk::SurfaceKHR>,
) -> vk::Result {
    ABSENT
}

/// # Safety
/// None.
pub(crate) unsafe fn get_physical_device_wayland_presentation_support_khr(
    _: &PhysicalDevice,
    _: u32,
    _: *mut vk::wl_display,
) -> vk::Bool32 {
    vk::FALSE
}

/// # Safety
/// None.
pub(crate) unsafe fn get_physical_device_xcb_presentation_support_khr(
    _: &PhysicalDevice,
    _: u32,
    _: *mut vk::xcb_connection_t,
    _: vk::xcb_visualid_t,
) -> vk::Bool32 {
    vk::FALSE
}

/// # Safety
/// None.
pub(crate) unsafe fn get_physical_device_xlib_presentation_support_khr(
    _: &PhysicalDevice,
    _: u32,
    _: *mut vk::Display,
    _: vk::VisualID,
) -> vk::Bool32 {
    vk::FALSE
}
