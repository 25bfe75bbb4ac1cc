//! vkAcquireNextImageKHR, and giving images back.

use super::engine::{Phase, State};
use super::swapchain::Swapchain;
use crate::base::answer::invalid;
use crate::base::chain;
use crate::base::object;
use crate::device::Device;
use crate::sync::fence::Fence;
use crate::sync::semaphore::Semaphore;
use machine::turns::Step;

/// An image that can be acquired becomes the application's. `None` while there is none.
fn take(s: &mut State) -> Option<Result<u32, vk::Result>> {
    if s.retired {
        return Some(Err(vk::Result::ERROR_OUT_OF_DATE_KHR));
    }
    if s.status.as_raw() < 0 {
        return Some(Err(s.status));
    }
    let image = s.free.pop_front()?;
    s.phases[image as usize] = Phase::Acquired;
    Some(Ok(image))
}

pub(crate) unsafe fn acquire_next_image2_khr(
    device: &Device,
    info: *const vk::AcquireNextImageInfoKHR,
    out: *mut u32,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let Some(swapchain) = object::get::<Swapchain>(i.swapchain) else {
            return vk::Result::ERROR_SURFACE_LOST_KHR;
        };
        // Both are looked up before anything is acquired. Null is nothing, a bad handle an error.
        let semaphore = object::get::<Semaphore>(i.semaphore).map(Semaphore::gpu);
        let fence = object::get::<Fence>(i.fence).map(Fence::gpu);
        if (semaphore.is_none() && i.semaphore != vk::Semaphore::null())
            || (fence.is_none() && i.fence != vk::Fence::null())
        {
            return vk::Result::ERROR_VALIDATION_FAILED_EXT;
        }
        let mut got = None;
        swapchain.engine.wait(i.timeout, |s| {
            if got.is_none() {
                got = take(s);
            }
            got.is_some()
        });
        match got {
            Some(Ok(image)) => {
                *out = image;
                // Nobody reads the image any more: it can be used at once.
                device.hub().change(|| {
                    if let Some(s) = &semaphore {
                        device.turns().host(Step::Signal(s.clone(), 0));
                        s.signal(0, 0);
                    }
                    if let Some(f) = &fence {
                        f.set(true);
                    }
                });
                swapchain.engine.status()
            }
            Some(Err(e)) => e,
            None if device.hub().is_lost() => vk::Result::ERROR_DEVICE_LOST,
            None if i.timeout == 0 => vk::Result::NOT_READY,
            None => vk::Result::TIMEOUT,
        }
    }
}

pub(crate) unsafe fn acquire_next_image_khr(
    device: &Device,
    swapchain: vk::SwapchainKHR,
    timeout: u64,
    semaphore: vk::Semaphore,
    fence: vk::Fence,
    out: *mut u32,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let info = vk::AcquireNextImageInfoKHR::default()
            .swapchain(swapchain)
            .timeout(timeout)
            .semaphore(semaphore)
            .fence(fence)
            .device_mask(1);
        acquire_next_image2_khr(device, &info, out)
    }
}

pub(crate) unsafe fn release_swapchain_images_khr(
    _: &Device,
    info: *const vk::ReleaseSwapchainImagesInfoEXT,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let Some(swapchain) = object::get::<Swapchain>(i.swapchain) else {
            return vk::Result::ERROR_SURFACE_LOST_KHR;
        };
        if swapchain.engine.give_back(chain::slice(i.p_image_indices, i.image_index_count)) {
            vk::Result::SUCCESS
        } else {
            invalid("vkReleaseSwapchainImages: an image that is not acquired")
        }
    }
}

pub(crate) unsafe fn wait_for_present_khr(
    device: &Device,
    swapchain: vk::SwapchainKHR,
    id: u64,
    timeout: u64,
) -> vk::Result {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(swapchain) = object::get::<Swapchain>(swapchain) else {
            return vk::Result::ERROR_SURFACE_LOST_KHR;
        };
        let engine = &swapchain.engine;
        let shown = || engine.look(|s| s.shown >= id);
        let ended = engine.wait(timeout, |s| s.shown >= id || s.status.as_raw() < 0);
        match engine.status() {
            e if e.as_raw() < 0 && !shown() => e,
            _ => device.waited(ended, shown),
        }
    }
}
