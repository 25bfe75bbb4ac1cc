//! VkSurfaceKHR.

use super::engine::Engine;
use super::wayland;
use super::window::Window;
use crate::base::answer::{Answer, created};
use crate::base::given::{Doomed, In, Out};
use crate::base::object::Object;
use crate::instance::Instance;
use crate::instance::limits::MAX_IMAGE_2D;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

/// Where pictures are shown.
pub(crate) enum Place {
    Headless,
    Window(Box<Window>),
    #[cfg_attr(windows, allow(dead_code, reason = "there are none"))]
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
    pub fn surface(place: Place) -> Answer<Surface> {
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

pub(crate) fn destroy_surface_khr(_: &Instance, surface: Doomed<Surface>) {
    surface.destroy();
}
