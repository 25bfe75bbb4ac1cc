//! vkQueueSubmit.

use crate::base::chain::{find, slice};
use crate::device::Queue;
use crate::legacy::generated::imp;

/// One `VkSubmitInfo` and what its chain says, as the arrays of a `VkSubmitInfo2`.
struct Submit {
    waits: Vec<vk::SemaphoreSubmitInfo<'static>>,
    commands: Vec<vk::CommandBufferSubmitInfo<'static>>,
    signals: Vec<vk::SemaphoreSubmitInfo<'static>>,
    flags: vk::SubmitFlags,
    performance: vk::PerformanceQuerySubmitInfoKHR<'static>,
    frame: Option<vk::FrameBoundaryEXT<'static>>,
}

impl Submit {
    unsafe fn read(s: &vk::SubmitInfo<'_>) -> Submit {
        // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
        unsafe {
            let timeline = find::<vk::TimelineSemaphoreSubmitInfo>(s.p_next);
            let group = find::<vk::DeviceGroupSubmitInfo>(s.p_next);
            let protected =
                find::<vk::ProtectedSubmitInfo>(s.p_next).is_some_and(|p| p.protected_submit != vk::FALSE);
            let stages = slice(s.p_wait_dst_stage_mask, s.wait_semaphore_count);
            let (wait_values, signal_values) = timeline.map_or((&[][..], &[][..]), |t| {
                (
                    slice(t.p_wait_semaphore_values, t.wait_semaphore_value_count),
                    slice(t.p_signal_semaphore_values, t.signal_semaphore_value_count),
                )
            });
            let (wait_devices, masks, signal_devices) = group.map_or((&[][..], &[][..], &[][..]), |g| {
                (
                    slice(g.p_wait_semaphore_device_indices, g.wait_semaphore_count),
                    slice(g.p_command_buffer_device_masks, g.command_buffer_count),
                    slice(g.p_signal_semaphore_device_indices, g.signal_semaphore_count),
                )
            });
            let at = |list: &[u32], i: usize| list.get(i).copied().unwrap_or(0);
            let waits = slice(s.p_wait_semaphores, s.wait_semaphore_count).iter().enumerate();
            let commands = slice(s.p_command_buffers, s.command_buffer_count).iter().enumerate();
            let signals = slice(s.p_signal_semaphores, s.signal_semaphore_count).iter().enumerate();
            Submit {
                waits: waits
                    .map(|(i, &semaphore)| vk::SemaphoreSubmitInfo {
                        semaphore,
                        value: wait_values.get(i).copied().unwrap_or(0),
                        stage_mask: vk::PipelineStageFlags2::from_raw(
                            stages.get(i).map_or(0, |m| m.as_raw().into()),
                        ),
                        device_index: at(wait_devices, i),
                        ..Default::default()
                    })
                    .collect(),
                commands: commands
                    .map(|(i, &command_buffer)| vk::CommandBufferSubmitInfo {
                        command_buffer,
                        device_mask: at(masks, i),
                        ..Default::default()
                    })
                    .collect(),
                signals: signals
                    .map(|(i, &semaphore)| vk::SemaphoreSubmitInfo {
                        semaphore,
                        value: signal_values.get(i).copied().unwrap_or(0),
                        stage_mask: vk::PipelineStageFlags2::ALL_COMMANDS,
                        device_index: at(signal_devices, i),
                        ..Default::default()
                    })
                    .collect(),
                flags: if protected { vk::SubmitFlags::PROTECTED } else { vk::SubmitFlags::empty() },
                performance: vk::PerformanceQuerySubmitInfoKHR::default().counter_pass_index(
                    find::<vk::PerformanceQuerySubmitInfoKHR>(s.p_next).map_or(0, |p| p.counter_pass_index),
                ),
                frame: find::<vk::FrameBoundaryEXT>(s.p_next)
                    .map(|f| vk::FrameBoundaryEXT::default().flags(f.flags).frame_id(f.frame_id)),
            }
        }
    }
}

pub(crate) unsafe fn queue_submit(
    queue: &Queue,
    submit_count: u32,
    p_submits: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let mut submits: Vec<_> = slice(p_submits, submit_count).iter().map(|s| Submit::read(s)).collect();
        let infos: Vec<_> = submits
            .iter_mut()
            .map(|s| {
                let mut info = vk::SubmitInfo2::default().push_next(&mut s.performance);
                if let Some(frame) = &mut s.frame {
                    info = info.push_next(frame);
                }
                info.flags(s.flags)
                    .wait_semaphore_infos(&s.waits)
                    .command_buffer_infos(&s.commands)
                    .signal_semaphore_infos(&s.signals)
            })
            .collect();
        imp::queue_submit2(queue, infos.len() as u32, infos.as_ptr(), fence)
    }
}
