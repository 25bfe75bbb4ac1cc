//! VkSurfaceKHR.

use super::engine::Engine;
use super::window::Window;
use super::{wayland, xlib};
use crate::base::answer::{Answer, created};
use crate::base::object::{self, Object};
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

pub(crate) unsafe fn create_headless_surface_ext(
    _: &Instance,
    _: *const vk::HeadlessSurfaceCreateInfoEXT,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::SurfaceKHR,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe { created(out, Target::surface(Place::Headless)) }
}

pub(crate) unsafe fn create_xcb_surface_khr(
    _: &Instance,
    info: *const vk::XcbSurfaceCreateInfoKHR,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::SurfaceKHR,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let window = xlib::of_xcb(i.connection.cast()).and_then(|c| Window::new(c, i.window));
        created(out, window.and_then(|w| Target::surface(Place::Window(Box::new(w)))))
    }
}

pub(crate) unsafe fn create_xlib_surface_khr(
    _: &Instance,
    info: *const vk::XlibSurfaceCreateInfoKHR,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::SurfaceKHR,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        // An XID has 29 bits; Xlib keeps it in a long.
        let window = xlib::of_xlib(i.dpy.cast()).and_then(|c| Window::new(c, i.window as u32));
        created(out, window.and_then(|w| Target::surface(Place::Window(Box::new(w)))))
    }
}

pub(crate) unsafe fn create_wayland_surface_khr(
    _: &Instance,
    info: *const vk::WaylandSurfaceCreateInfoKHR,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::SurfaceKHR,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let window = wayland::Window::new((*info).display.cast(), (*info).surface.cast());
        created(out, window.and_then(|w| Target::surface(Place::Wayland(Box::new(w)))))
    }
}

pub(crate) unsafe fn get_physical_device_wayland_presentation_support_khr(
    _: &PhysicalDevice,
    index: u32,
    display: *mut vk::wl_display,
) -> vk::Bool32 {
    (family(index).is_some() && wayland::shows(display.cast())).into()
}

pub(crate) unsafe fn destroy_surface_khr(
    _: &Instance,
    surface: vk::SurfaceKHR,
    _: *const vk::AllocationCallbacks,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        object::destroy::<Surface>(surface);
    }
}

pub(crate) unsafe fn get_physical_device_xcb_presentation_support_khr(
    _: &PhysicalDevice,
    index: u32,
    connection: *mut vk::xcb_connection_t,
    visual: vk::xcb_visualid_t,
) -> vk::Bool32 {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let shows = family(index).is_some() && xlib::of_xcb(connection.cast()).is_ok_and(|c| c.shows(visual));
        shows.into()
    }
}

pub(crate) unsafe fn get_physical_device_xlib_presentation_support_khr(
    _: &PhysicalDevice,
    index: u32,
    display: *mut vk::Display,
    visual: vk::VisualID,
) -> vk::Bool32 {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let shows = family(index).is_some() && xlib::of_xlib(display.cast()).is_ok_and(|c| c.shows(visual));
        shows.into()
    }
}
