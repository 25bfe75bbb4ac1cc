//! Surfaces of windows of X servers and Wayland compositors.

use super::surface::{Place, Target};
use super::window::Window;
use super::{wayland, xlib};
use crate::base::answer::created;
use crate::base::given::{In, Out};
use crate::instance::Instance;
use crate::instance::physical_device::{PhysicalDevice, family};

/// Of another system: not reported.
pub(crate) fn create_win32_surface_khr(
    _: &Instance,
    _: In<vk::Win32SurfaceCreateInfoKHR>,
    _: Out<vk::SurfaceKHR>,
) -> vk::Result {
    vk::Result::ERROR_EXTENSION_NOT_PRESENT
}

/// Of another system: not reported.
pub(crate) fn get_physical_device_win32_presentation_support_khr(_: &PhysicalDevice, _: u32) -> vk::Bool32 {
    vk::FALSE
}

pub(crate) fn create_xcb_surface_khr(
    _: &Instance,
    info: In<vk::XcbSurfaceCreateInfoKHR>,
    out: Out<vk::SurfaceKHR>,
) -> vk::Result {
    let i = info;
    // SAFETY: the application's connection (valid usage).
    let connection = unsafe { xlib::of_xcb(i.connection.cast()) };
    let window = connection.and_then(|c| Window::new(c, i.window));
    created(out, window.and_then(|w| Target::surface(Place::Window(Box::new(w)))))
}

pub(crate) fn create_xlib_surface_khr(
    _: &Instance,
    info: In<vk::XlibSurfaceCreateInfoKHR>,
    out: Out<vk::SurfaceKHR>,
) -> vk::Result {
    let i = info;
    // An XID has 29 bits; Xlib keeps it in a long.
    // SAFETY: the application's display (valid usage).
    let connection = unsafe { xlib::of_xlib(i.dpy.cast()) };
    let window = connection.and_then(|c| Window::new(c, i.window as u32));
    created(out, window.and_then(|w| Target::surface(Place::Window(Box::new(w)))))
}

pub(crate) fn create_wayland_surface_khr(
    _: &Instance,
    info: In<vk::WaylandSurfaceCreateInfoKHR>,
    out: Out<vk::SurfaceKHR>,
) -> vk::Result {
    // SAFETY: the application's display and a surface of it (valid usage).
    let window = unsafe { wayland::Window::new(info.display.cast(), info.surface.cast()) };
    created(out, window.and_then(|w| Target::surface(Place::Wayland(Box::new(w)))))
}

/// # Safety
/// The display is one of the window system.
pub(crate) unsafe fn get_physical_device_wayland_presentation_support_khr(
    _: &PhysicalDevice,
    index: u32,
    display: *mut vk::wl_display,
) -> vk::Bool32 {
    (family(index).is_some() && wayland::shows(display.cast())).into()
}

/// # Safety
/// The display is one of the window system.
pub(crate) unsafe fn get_physical_device_xcb_presentation_support_khr(
    _: &PhysicalDevice,
    index: u32,
    connection: *mut vk::xcb_connection_t,
    visual: vk::xcb_visualid_t,
) -> vk::Bool32 {
    let shows = family(index).is_some() && // SAFETY: the caller's.
        unsafe { xlib::of_xcb(connection.cast()) }.is_ok_and(|c| c.shows(visual));
    shows.into()
}

/// # Safety
/// The display is one of the window system.
pub(crate) unsafe fn get_physical_device_xlib_presentation_support_khr(
    _: &PhysicalDevice,
    index: u32,
    display: *mut vk::Display,
    visual: vk::VisualID,
) -> vk::Bool32 {
    let shows = family(index).is_some() && // SAFETY: the caller's.
        unsafe { xlib::of_xlib(display.cast()) }.is_ok_and(|c| c.shows(visual));
    shows.into()
}
