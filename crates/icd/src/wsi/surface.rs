//! VkSurfaceKHR.

use super::engine::Engine;
use super::window::Window;
use super::{wayland, xlib};
use crate::base::answer::{Answer, created};
use crate::base::given::{Doomed, In, Out};
use crate::base::object::Object;
use crate::instance::Instance;
use crate::instance::limits::MAX_IMAGE_2D;
use crate::instance::physical_device::{PhysicalDevice, family};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

/// Where pictures are shown.
pub(crate) enum Place {
    Headless,
    Window(Box<Window>),
    Wayland(Box<wayland::Window>),
}

/// What a surface's swapchains hold of it.
pub(crate) struct Target {
    pub place: Place,
    /// The swapchain that shows here, for there is but one at a time that is not retired.
    pub swapchain: Mutex<Weak<Engine>>,
}

pub struct Surface {
    pub(crate) target: Arc<Target>,
}

impl Object for Surface {
    type Handle = vk::SurfaceKHR;
}

/// The largest swapchain image, in pixels.
pub(crate) const MAX_EXTENT: vk::Extent2D = vk::Extent2D { width: MAX_IMAGE_2D, height: MAX_IMAGE_2D };

impl Target {
    fn surface(place: Place) -> Answer<Surface> {
        Ok(Surface { target: Arc::new(Target { place, swapchain: Mutex::default() }) })
    }

    /// Pixels of the surface now; `None` where a swapchain decides them.
    ///
    /// # Errors
    /// `ERROR_SURFACE_LOST_KHR` when the window is gone.
    pub fn extent(&self) -> Answer<Option<vk::Extent2D>> {
        match &self.place {
            Place::Headless | Place::Wayland(_) => Ok(None),
            Place::Window(w) => w.extent().map(Some),
        }
    }

    /// Whether anything shown would be seen: a window that is gone can't show.
    pub fn alive(&self) -> Answer {
        self.extent().map(|_| ())
    }
}

pub(crate) fn create_headless_surface_ext(
    _: &Instance,
    _: In<vk::HeadlessSurfaceCreateInfoEXT>,
    out: Out<vk::SurfaceKHR>,
) -> vk::Result {
    created(out, Target::surface(Place::Headless))
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

pub(crate) fn destroy_surface_khr(_: &Instance, surface: Doomed<Surface>) {
    surface.destroy();
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
