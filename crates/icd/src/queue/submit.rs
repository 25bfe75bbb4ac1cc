//! Queues: submission, idling, labels.

use crate::base::given::{Call, In};
use crate::device::Queue;
use crate::record::command_buffer::CommandBuffer;
use crate::sync::fence::Fence;
use crate::sync::semaphore::Semaphore;
use gpu::command::{CommandList, Frame, SemaphoreOp, Submission};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Semaphores of the stripes of a command buffer's render passes (VK_ARM_render_pass_striped).
fn stripes(buffer: In<vk::CommandBufferSubmitInfo>) -> Vec<SemaphoreOp> {
    buffer
        .find::<vk::RenderPassStripeSubmitInfoARM>()
        .map_or(vec![], |s| operations(s.stripe_semaphore_infos(), Semaphore::gpu))
}

fn operations(
    infos: In<[vk::SemaphoreSubmitInfo]>,
    payload: fn(&Semaphore) -> Arc<machine::sync::Semaphore>,
) -> Vec<SemaphoreOp> {
    infos
        .iter()
        .filter_map(|s| {
            let semaphore = payload(s.object::<Semaphore>(s.semaphore)?);
            Some(SemaphoreOp { semaphore, value: s.value, stages: s.stage_mask })
        })
        .collect()
}

/// The frame that a structure of a chain names (VK_EXT_frame_boundary).
pub(crate) fn frame(boundary: Option<In<vk::FrameBoundaryEXT>>) -> Option<Frame> {
    boundary.map(|f| Frame { id: f.frame_id, ends: f.flags.contains(vk::FrameBoundaryFlagsEXT::FRAME_END) })
}

/// What a submission may execute of a command buffer, on a device with protected memory. What is not allowed is told.
#[cold]
fn protection(
    queue: &Queue,
    buffer: &CommandBuffer,
    list: Arc<CommandList>,
    protected: bool,
) -> Arc<CommandList> {
    let told = |line: &str| crate::base::debug::log_error(&format!("vkQueueSubmit2: {line}"));
    if protected && !queue.protected {
        told(
            "a protected submission to a queue that was created without VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT",
        );
    }
    if protected != buffer.is_protected() {
        let [is, of] = if protected { ["a ", "an unprotected"] } else { ["an un", "a protected"] };
        told(&format!("{is}protected submission of {of} command buffer, {}", list.name));
    }
    // A sanitised device tells of accesses when they happen, those of shaders too.
    if queue.device.gpu.shared.hazards.is_some() {
        return list;
    }
    gpu::protection::allowed(&list, protected, &mut |list, call, why| {
        told(&format!("command buffer {list}: {call} {why}; it is left out"));
    })
}

pub(crate) fn queue_submit2(queue: &Queue, infos: In<[vk::SubmitInfo2]>, fence: vk::Fence) -> vk::Result {
    if queue.device.hub().is_lost() {
        return vk::Result::ERROR_DEVICE_LOST;
    }
    let mut batch: Vec<Submission> = infos
        .iter()
        .map(|s| (s, s.command_buffer_infos(), s.flags.contains(vk::SubmitFlags::PROTECTED)))
        .map(|(s, buffers, protected)| Submission {
            waits: operations(s.wait_semaphore_infos(), Semaphore::waited),
            lists: buffers
                .iter()
                .filter_map(|c| {
                    let buffer = queue.object::<CommandBuffer>(c.command_buffer)?;
                    let list = buffer.submit()?;
                    let looked_at = protected || queue.device.protects.load(Relaxed);
                    let list = if looked_at { protection(queue, buffer, list, protected) } else { list };
                    Some((list, stripes(c)))
                })
                .collect(),
            signals: operations(s.signal_semaphore_infos(), Semaphore::gpu),
            performance_pass: s
                .find::<vk::PerformanceQuerySubmitInfoKHR>()
                .map_or(0, |p| p.counter_pass_index),
            submitted: true,
            protected,
            frame: frame(s.find()),
            ..Default::default()
        })
        .collect();
    if fence != vk::Fence::null() {
        let Some(fence) = queue.object::<Fence>(fence).map(Fence::gpu) else {
            return vk::Result::ERROR_UNKNOWN;
        };
        match batch.last_mut() {
            Some(last) => last.fence = Some(fence),
            None => batch.push(Submission { fence: Some(fence), ..Default::default() }),
        }
    }
    if !batch.is_empty() {
        queue.device.gpu.queue(queue.index).submit(batch);
        gpu::hazards::host::settle(&queue.device.gpu.shared);
    }
    vk::Result::SUCCESS
}

pub(crate) fn queue_wait_idle(queue: &Queue) -> vk::Result {
    queue.device.gpu.queue(queue.index).wait_idle();
    queue.device.quarantine.empty_if_idle(&queue.device.gpu);
    queue.device.alive()
}
