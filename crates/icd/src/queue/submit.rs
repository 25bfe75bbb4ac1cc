//! Queues: submission, idling, labels.

use crate::base::chain;
use crate::base::object::{self};
use crate::device::Queue;
use crate::record::command_buffer::CommandBuffer;
use crate::sync::fence::Fence;
use crate::sync::semaphore::Semaphore;
use gpu::command::{Frame, SemaphoreOp, Submission};
use std::sync::Arc;

/// Semaphores of the stripes of a command buffer's render passes (VK_ARM_render_pass_striped).
unsafe fn stripes(buffer: &vk::CommandBufferSubmitInfo) -> Vec<SemaphoreOp> {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        chain::find::<vk::RenderPassStripeSubmitInfoARM>(buffer.p_next).map_or(vec![], |s| {
            operations(s.p_stripe_semaphore_infos, s.stripe_semaphore_info_count, Semaphore::gpu)
        })
    }
}

unsafe fn operations(
    infos: *const vk::SemaphoreSubmitInfo,
    count: u32,
    payload: fn(&Semaphore) -> Arc<machine::sync::Semaphore>,
) -> Vec<SemaphoreOp> {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        chain::slice(infos, count)
            .iter()
            .filter_map(|s| {
                let semaphore = payload(object::get::<Semaphore>(s.semaphore)?);
                Some(SemaphoreOp { semaphore, value: s.value, stages: s.stage_mask })
            })
            .collect()
    }
}

/// The frame that a chain names (VK_EXT_frame_boundary).
pub(crate) unsafe fn frame(p_next: *const std::ffi::c_void) -> Option<Frame> {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let f = chain::find::<vk::FrameBoundaryEXT>(p_next)?;
        Some(Frame { id: f.frame_id, ends: f.flags.contains(vk::FrameBoundaryFlagsEXT::FRAME_END) })
    }
}

pub(crate) unsafe fn queue_submit2(
    queue: &Queue,
    count: u32,
    infos: *const vk::SubmitInfo2,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if queue.device.hub().is_lost() {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        let mut batch: Vec<Submission> = chain::slice(infos, count)
            .iter()
            .map(|s| (s, chain::slice(s.p_command_buffer_infos, s.command_buffer_info_count)))
            .map(|(s, buffers)| Submission {
                waits: operations(s.p_wait_semaphore_infos, s.wait_semaphore_info_count, Semaphore::waited),
                lists: buffers
                    .iter()
                    .filter_map(|c| {
                        Some((object::get::<CommandBuffer>(c.command_buffer)?.submit()?, stripes(c)))
                    })
                    .collect(),
                signals: operations(
                    s.p_signal_semaphore_infos,
                    s.signal_semaphore_info_count,
                    Semaphore::gpu,
                ),
                performance_pass: chain::find::<vk::PerformanceQuerySubmitInfoKHR>(s.p_next)
                    .map_or(0, |p| p.counter_pass_index),
                submitted: true,
                frame: frame(s.p_next),
                ..Default::default()
            })
            .collect();
        if fence != vk::Fence::null() {
            let Some(fence) = object::get::<Fence>(fence).map(Fence::gpu) else {
                return vk::Result::ERROR_UNKNOWN;
            };
            match batch.last_mut() {
                Some(last) => last.fence = Some(fence),
                None => batch.push(Submission { fence: Some(fence), ..Default::default() }),
            }
        }
        if !batch.is_empty() {
            queue.device.gpu.queue(queue.index).submit(batch);
        }
        vk::Result::SUCCESS
    }
}

pub(crate) unsafe fn queue_wait_idle(queue: &Queue) -> vk::Result {
    queue.device.gpu.queue(queue.index).wait_idle();
    queue.device.quarantine.empty_if_idle(&queue.device.gpu);
    queue.device.alive()
}
