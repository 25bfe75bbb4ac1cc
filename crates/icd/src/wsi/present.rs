//! vkQueuePresentKHR.

use super::engine::{Engine, Frame};
use super::swapchain::Swapchain;
use crate::base::given::{Call, In};
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
    fn read(info: In<'a, vk::PresentInfoKHR<'a>>) -> Chains<'a> {
        let ids = info.find::<vk::PresentIdKHR>();
        let fences = info.find::<vk::SwapchainPresentFenceInfoEXT>();
        let modes = info.find::<vk::SwapchainPresentModeInfoEXT>();
        Chains {
            ids: ids.map_or(&[], |i| i.present_ids()),
            fences: fences.map_or(&[], |f| f.fences()),
            modes: modes.map_or(&[], |m| m.present_modes()),
        }
    }

    fn frame(&self, queue: &Queue, i: usize, image: u32, mode: vk::PresentModeKHR) -> Frame {
        let fence = self.fences.get(i).and_then(|&f| queue.object::<Fence>(f)).map(Fence::gpu);
        Frame {
            image,
            mode: self.modes.get(i).copied().unwrap_or(mode),
            id: self.ids.get(i).copied().unwrap_or(0),
            fences: fence.into_iter().collect(),
        }
    }
}

pub(crate) fn queue_present_khr(queue: &Queue, info: In<vk::PresentInfoKHR>) -> vk::Result {
    let i = info;
    let waits = i
        .wait_semaphores()
        .iter()
        .filter_map(|&s| {
            let semaphore = queue.object::<Semaphore>(s)?.waited();
            Some(SemaphoreOp { semaphore, value: 0, stages: vk::PipelineStageFlags2::ALL_COMMANDS })
        })
        .collect();
    let chains = Chains::read(i);
    let images = i.image_indices();
    let mut frames: Vec<(Arc<Engine>, Frame)> = Vec::new();
    let mut worst = vk::Result::SUCCESS;
    for (n, (&swapchain, &image)) in i.swapchains().iter().zip(images).enumerate() {
        let result = match queue.object::<Swapchain>(swapchain) {
            _ if queue.device.hub().is_lost() => vk::Result::ERROR_DEVICE_LOST,
            None => vk::Result::ERROR_SURFACE_LOST_KHR,
            Some(s) if !s.engine.take(image) => crate::base::answer::invalid(&format!(
                "vkQueuePresentKHR: image {image} of the swapchain is not acquired"
            )),
            Some(s) => {
                // An image goes back to its swapchain even if there is no surface left to show it on.
                frames.push((s.engine.clone(), chains.frame(queue, n, image, s.mode)));
                s.engine.status()
            }
        };
        worst = worse(worst, result);
        i.results().set(n, result);
    }
    let shown = frames.iter().filter_map(|(e, f)| e.images.get(f.image as usize).cloned()).collect();
    let done = Box::new(move || {
        for (engine, frame) in frames {
            engine.reads(&frame);
            engine.arrive(frame);
        }
    });
    queue.device.gpu.queue(queue.index).submit(vec![Submission {
        waits,
        done: Some(done),
        frame: crate::queue::frame(i.find()),
        presents: true,
        shown,
        ..Default::default()
    }]);
    gpu::hazards::host::settle(&queue.device.gpu.shared);
    worst
}
