//! vkQueuePresentKHR.

use super::engine::{Engine, Frame};
use super::swapchain::Swapchain;
use crate::base::chain;
use crate::base::object;
use crate::device::Queue;
use crate::sync::fence::Fence;
use crate::sync::semaphore::Semaphore;
use gpu::command::{SemaphoreOp, Submission};
use std::sync::Arc;

/// The worse of two results: any error over any success, `SUBOPTIMAL_KHR` over `SUCCESS`.
fn worse(a: vk::Result, b: vk::Result) -> vk::Result {
    let rank = |r: vk::Result| match r {
        vk::Result::SUCCESS => 0,
        r if r.as_raw() > 0 => 1,
        vk::Result::ERROR_OUT_OF_DATE_KHR => 2,
        vk::Result::ERROR_SURFACE_LOST_KHR => 3,
        vk::Result::ERROR_DEVICE_LOST => 5,
        _ => 4,
    };
    if rank(b) > rank(a) { b } else { a }
}

/// What the chain of a present says of each of its swapchains.
struct Chains<'a> {
    ids: &'a [u64],
    fences: &'a [vk::Fence],
    modes: &'a [vk::PresentModeKHR],
}

impl<'a> Chains<'a> {
    unsafe fn read(info: &vk::PresentInfoKHR<'a>) -> Chains<'a> {
        // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
        unsafe {
            let ids = chain::find::<vk::PresentIdKHR>(info.p_next);
            let fences = chain::find::<vk::SwapchainPresentFenceInfoEXT>(info.p_next);
            let modes = chain::find::<vk::SwapchainPresentModeInfoEXT>(info.p_next);
            Chains {
                ids: ids.map_or(&[], |i| chain::slice(i.p_present_ids, i.swapchain_count)),
                fences: fences.map_or(&[], |f| chain::slice(f.p_fences, f.swapchain_count)),
                modes: modes.map_or(&[], |m| chain::slice(m.p_present_modes, m.swapchain_count)),
            }
        }
    }

    unsafe fn frame(&self, i: usize, image: u32, mode: vk::PresentModeKHR) -> Frame {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            let fence = self.fences.get(i).and_then(|&f| object::get::<Fence>(f)).map(Fence::gpu);
            Frame {
                image,
                mode: self.modes.get(i).copied().unwrap_or(mode),
                id: self.ids.get(i).copied().unwrap_or(0),
                fences: fence.into_iter().collect(),
            }
        }
    }
}

pub(crate) unsafe fn queue_present_khr(queue: &Queue, info: *const vk::PresentInfoKHR) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let waits = chain::slice(i.p_wait_semaphores, i.wait_semaphore_count)
            .iter()
            .filter_map(|&s| {
                let semaphore = object::get::<Semaphore>(s)?.waited();
                Some(SemaphoreOp { semaphore, value: 0, stages: vk::PipelineStageFlags2::ALL_COMMANDS })
            })
            .collect();
        let chains = Chains::read(i);
        let images = chain::slice(i.p_image_indices, i.swapchain_count);
        let mut frames: Vec<(Arc<Engine>, Frame)> = Vec::new();
        let mut worst = vk::Result::SUCCESS;
        for (n, (&swapchain, &image)) in
            chain::slice(i.p_swapchains, i.swapchain_count).iter().zip(images).enumerate()
        {
            let result = match object::get::<Swapchain>(swapchain) {
                _ if queue.device.hub().is_lost() => vk::Result::ERROR_DEVICE_LOST,
                None => vk::Result::ERROR_SURFACE_LOST_KHR,
                Some(s) if !s.engine.take(image) => crate::base::answer::invalid(&format!(
                    "vkQueuePresentKHR: image {image} of the swapchain is not acquired"
                )),
                Some(s) => {
                    // An image goes back to its swapchain even if there is no surface left to show it on.
                    frames.push((s.engine.clone(), chains.frame(n, image, s.mode)));
                    s.engine.status()
                }
            };
            worst = worse(worst, result);
            if !i.p_results.is_null() {
                *i.p_results.add(n) = result;
            }
        }
        let done = Box::new(move || {
            for (engine, frame) in frames {
                engine.reads(&frame);
                engine.arrive(frame);
            }
        });
        queue.device.gpu.queue(queue.index).submit(vec![Submission {
            waits,
            done: Some(done),
            frame: crate::queue::frame(i.p_next),
            presents: true,
            ..Default::default()
        }]);
        worst
    }
}
