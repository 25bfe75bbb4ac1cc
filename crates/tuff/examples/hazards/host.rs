//! The host beside the queues: mapped memory that commands use, and images that are presented.

use crate::Situation;
use crate::world::*;
use ash::vk;
use client::{Error, Result};
use vk::{AccessFlags2 as A, ImageLayout as L, PipelineStageFlags2 as S};

/// A swapchain that no screen shows.
struct Screen {
    calls: ash::khr::swapchain::Device,
    chain: vk::SwapchainKHR,
    images: Vec<vk::Image>,
}

impl Screen {
    fn new(w: &World) -> Result<Screen> {
        let (c, at) = (&w.context, Error::vk);
        let headless = ash::ext::headless_surface::Instance::new(c.entry(), &c.instance);
        let calls = ash::khr::swapchain::Device::new(&c.instance, &c.device);
        // SAFETY: plain calls with structures of this function.
        unsafe {
            let made = headless.create_headless_surface(&Default::default(), None);
            let info = vk::SwapchainCreateInfoKHR::default()
                .surface(made.map_err(at("vkCreateHeadlessSurfaceEXT"))?)
                .min_image_count(2)
                .image_format(vk::Format::B8G8R8A8_UNORM)
                .image_extent(vk::Extent2D { width: SIZE, height: SIZE })
                .image_array_layers(1)
                .image_usage(vk::ImageUsageFlags::TRANSFER_DST)
                .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
                .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
                .present_mode(vk::PresentModeKHR::FIFO);
            let chain = calls.create_swapchain(&info, None).map_err(at("vkCreateSwapchainKHR"))?;
            let images = calls.get_swapchain_images(chain).map_err(at("vkGetSwapchainImagesKHR"))?;
            Ok(Screen { calls, chain, images })
        }
    }

    /// A frame that is cleared and presented. `acquired`: what the change of the image's layout waits for; `waits`: the presentation waits
    /// for the queue.
    fn frame(&self, w: &World, acquired: Masks, waits: bool) -> Result<()> {
        let (queue, at) = (w.context.queue, Error::vk);
        let semaphore = || {
            // SAFETY: a plain call.
            let made = unsafe { w.device.create_semaphore(&vk::SemaphoreCreateInfo::default(), None) };
            made.map_err(at("vkCreateSemaphore"))
        };
        let (free, ready) = (semaphore()?, semaphore()?);
        // SAFETY: live handles.
        unsafe {
            let got = self.calls.acquire_next_image(self.chain, u64::MAX, free, vk::Fence::null());
            let (index, _) = got.map_err(at("vkAcquireNextImageKHR"))?;
            let image = self.images[index as usize];
            let commands = w.record(|r| {
                let change = |layouts, from, to| change(w, r.buffer, image, layouts, from, to);
                change([L::UNDEFINED, L::TRANSFER_DST_OPTIMAL], acquired, CLEAR);
                let colour = vk::ClearColorValue { float32: [0.5; 4] };
                let to = L::TRANSFER_DST_OPTIMAL;
                w.device.cmd_clear_color_image(r.buffer, image, to, &colour, &[WHOLE]);
                change([L::TRANSFER_DST_OPTIMAL, L::PRESENT_SRC_KHR], CLEAR, NONE);
            })?;
            let signal = waits.then_some((ready, 0, S::ALL_COMMANDS));
            w.submit(queue, commands, Some((free, 0, S::CLEAR)), signal, vk::Fence::null())?;
            let (chains, indices, semaphores) = ([self.chain], [index], [ready]);
            let info = vk::PresentInfoKHR::default()
                .swapchains(&chains)
                .image_indices(&indices)
                .wait_semaphores(if waits { &semaphores } else { &[] });
            self.calls.queue_present(queue, &info).map_err(at("vkQueuePresentKHR"))?;
        }
        Ok(())
    }

    fn end(self, w: &World) -> Result<()> {
        w.wait()?;
        // SAFETY: nothing uses it any more.
        unsafe { self.calls.destroy_swapchain(self.chain, None) };
        Ok(())
    }
}

const WHOLE: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

fn change(w: &World, to: vk::CommandBuffer, image: vk::Image, [old, new]: [L; 2], src: Masks, dst: Masks) {
    let barriers = [vk::ImageMemoryBarrier2::default()
        .src_stage_mask(src.0)
        .src_access_mask(src.1)
        .dst_stage_mask(dst.0)
        .dst_access_mask(dst.1)
        .old_layout(old)
        .new_layout(new)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image)
        .subresource_range(WHOLE)];
    let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
    // SAFETY: the command buffer records; handles are alive.
    unsafe { w.device.cmd_pipeline_barrier2(to, &info) }
}

pub const ALL: &[Situation] = &[
    ("source_rewritten_too_early", |w, fault| {
        w.run(|r| r.copy((0, 0), (1, 0), 256))?;
        if !fault {
            w.wait()?;
        }
        w.buffers[0].bytes_mut()[16..20].fill(7);
        Ok(())
    }),
    ("result_cleared_too_early", |w, fault| {
        w.buffers[0].bytes_mut()[..256].fill(3);
        w.run(|r| r.copy((0, 0), (1, 0), 256))?;
        if !fault {
            w.wait()?;
        }
        w.buffers[1].bytes_mut()[..256].fill(0);
        Ok(())
    }),
    ("two_frames_in_one_place", |w, fault| {
        for frame in 0..2 {
            let at = if fault { 0 } else { frame * 256 };
            w.buffers[0].bytes_mut()[at..at + 256].fill(frame as u8 + 1);
            w.run(|r| r.copy((0, at as u64), (1, frame as u64 * 256), 256))?;
        }
        Ok(())
    }),
    ("words_beside_those_of_a_dispatch", |w, fault| {
        let pipeline = w.compute("copy")?;
        let [a, b, _] = &w.buffers;
        let set = w.set(Bound { buffers: [Some(a), Some(b)], ..Bound::default() })?;
        w.run(|r| r.dispatch(pipeline, set, [0, 0], [2, 1]))?;
        // It copies 64 words.
        let at = if fault { 63 * 4 } else { 64 * 4 };
        w.buffers[0].bytes_mut()[at..at + 4].fill(7);
        Ok(())
    }),
    ("fence_of_the_frame_before", |w, fault| {
        // SAFETY: a plain call.
        let fence = unsafe { w.device.create_fence(&vk::FenceCreateInfo::default(), None) };
        let (fence, none) = (fence.map_err(Error::vk("vkCreateFence"))?, vk::Fence::null());
        let queue = w.context.queue;
        let first = w.record(|r| r.copy((0, 0), (1, 0), 256))?;
        let second = w.record(|r| r.copy((0, 1024), (1, 1024), 256))?;
        let (on_first, on_second) = if fault { (fence, none) } else { (none, fence) };
        w.submit(queue, first, None, None, on_first)?;
        w.submit(queue, second, None, None, on_second)?;
        // SAFETY: the fence has been submitted.
        unsafe { w.device.wait_for_fences(&[fence], true, u64::MAX).map_err(Error::vk("vkWaitForFences"))? };
        w.buffers[0].bytes_mut()[1024..1028].fill(7);
        Ok(())
    }),
    ("presented_without_a_semaphore", |w, fault| {
        let screen = Screen::new(w)?;
        screen.frame(w, CLEAR, !fault)?;
        screen.end(w)
    }),
    ("layout_changed_before_it_is_acquired", |w, fault| {
        let screen = Screen::new(w)?;
        let acquired = if fault { NONE } else { (S::CLEAR, A::NONE) };
        // The same image comes again.
        for _ in 0..=screen.images.len() {
            screen.frame(w, acquired, true)?;
        }
        screen.end(w)
    }),
];
