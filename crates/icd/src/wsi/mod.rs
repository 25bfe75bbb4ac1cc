//! Showing pictures: surfaces, swapchains, presentation.
//!
//! A surface ([`surface`]) is a place to show at: an X11 window ([`window`]) reached over the application's own
//! connection, so that requests keep the application's order (a window it has just made or resized is known), a surface of
//! a Wayland compositor ([`wayland`]), likewise, or nothing (VK_EXT_headless_surface). A swapchain ([`swapchain`]) owns images in device memory and a thread, its
//! presentation engine ([`engine`]).
//!
//! vkQueuePresentKHR ([`present`]) is work of the queue: after its semaphores' waits, the queue's thread hands the
//! images to the engine and goes on. The engine copies an image to its surface when the present mode says so and
//! gives it back at once, for nothing shows the image itself; so images come back in any order. With FIFO and mailbox
//! it leaves a refresh of the screen's between two pictures; an X server tells no better moment to those who copy.
//! Headless surfaces have no refresh, so nothing waits for one.
//!
//! The libraries of X11 and Wayland are the application's: they are loaded when the first window comes along.

pub(crate) mod acquire;
pub(crate) mod bind;
mod engine;
mod frames;
mod pixels;
pub(crate) mod present;
mod queries;
#[cfg(unix)]
mod shm;
mod surface;
mod swapchain;
#[cfg_attr(windows, path = "wayland/windows.rs")]
mod wayland;
#[cfg_attr(windows, path = "window/windows.rs")]
mod window;
#[cfg_attr(unix, path = "windowed/unix.rs")]
#[cfg_attr(windows, path = "windowed/windows.rs")]
mod windowed;
#[cfg(unix)]
mod xlib;

pub(crate) use queries::*;
pub(crate) use surface::*;
pub(crate) use swapchain::*;
pub(crate) use windowed::*;
