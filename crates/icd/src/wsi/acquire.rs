//! vkAcquireNextImageKHR, and giving images back.

use super::engine::{Phase, State};
use super::swapchain::Swapchain;
use crate::base::answer::invalid;
use crate::base::given::{Call, In, Out};
use crate::device::Device;
use crate::sync::fence::Fence;
use crate::sync::semaphore::Semaphore;
use machine::turns::Step;
use std::sync::atomic::Ordering::SeqCst;

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

pub(crate) fn acquire_next_image2_khr(
    device: &Device,
    info: In<vk::AcquireNextImageInfoKHR>,
    out: Out<u32>,
) -> vk::Result {
    let i = info;
    let Some(swapchain) = device.object::<Swapchain>(i.swapchain) else {
        return vk::Result::ERROR_SURFACE_LOST_KHR;
    };
    // Both are looked up before anything is acquired. Null is nothing, a bad handle an error.
    let semaphore = device.object::<Semaphore>(i.semaphore).map(Semaphore::gpu);
    let fence = device.object::<Fence>(i.fence).map(Fence::gpu);
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
            out.set(image);
            // Nobody reads the image any more: it can be used at once.
            let shown = swapchain.engine.images.get(image as usize);
            let mark = shown.and_then(|i| gpu::hazards::presents::acquired(&device.gpu.shared, i));
            device.hub().change(|| {
                if let Some(s) = &semaphore {
                    device.turns().host(Step::Signal(s.clone(), 0));
                    if let Some(mark) = mark {
                        s.mark(0, mark);
                    }
                    s.signal(0, 0);
                }
                if let Some(f) = &fence {
                    f.mark.store(mark.unwrap_or(0), SeqCst);
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

pub(crate) fn acquire_next_image_khr(
    device: &Device,
    swapchain: vk::SwapchainKHR,
    timeout: u64,
    semaphore: vk::Semaphore,
    fence: vk::Fence,
    out: Out<u32>,
) -> vk::Result {
    let info = vk::AcquireNextImageInfoKHR::default()
        .swapchain(swapchain)
        .timeout(timeout)
        .semaphore(semaphore)
        .fence(fence)
        .device_mask(1);
    // SAFETY: it has no pointers.
    acquire_next_image2_khr(device, unsafe { In::new(&info) }, out)
}

pub(crate) fn release_swapchain_images_khr(
    _: &Device,
    info: In<vk::ReleaseSwapchainImagesInfoEXT>,
) -> vk::Result {
    let i = info;
    let Some(swapchain) = info.object::<Swapchain>(i.swapchain) else {
        return vk::Result::ERROR_SURFACE_LOST_KHR;
    };
    if swapchain.engine.give_back(i.image_indices()) {
        vk::Result::SUCCESS
    } else {
        invalid("vkReleaseSwapchainImages: an image that is not acquired")
    }
}

pub(crate) fn wait_for_present_khr(
    device: &Device,
    swapchain: vk::SwapchainKHR,
    id: u64,
    timeout: u64,
) -> vk::Result {
    let Some(swapchain) = device.object::<Swapchain>(swapchain) else {
        return vk::Result::ERROR_SURFACE_LOST_KHR;
    };
    let engine = &swapchain.engine;
    let shown = || engine.look(|s| s.shown >= id);
    let ended = engine.wait(timeout, |s| s.shown >= id || s.status.as_raw() < 0);
    gpu::hazards::host::may_know(&device.gpu.shared);
    match engine.status() {
        e if e.as_raw() < 0 && !shown() => e,
        _ => device.waited(ended, shown),
    }
}
