//! vkQueueSubmit.

use crate::base::given::In;
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
    fn read(s: In<vk::SubmitInfo>) -> Submit {
        let timeline = s.find::<vk::TimelineSemaphoreSubmitInfo>();
        let group = s.find::<vk::DeviceGroupSubmitInfo>();
        let protected = s.find::<vk::ProtectedSubmitInfo>().is_some_and(|p| p.protected_submit != vk::FALSE);
        let stages = s.wait_dst_stage_mask();
        let (wait_values, signal_values) =
            timeline.map_or((&[][..], &[][..]), |t| (t.wait_semaphore_values(), t.signal_semaphore_values()));
        let (wait_devices, masks, signal_devices) = group.map_or((&[][..], &[][..], &[][..]), |g| {
            (
                g.wait_semaphore_device_indices(),
                g.command_buffer_device_masks(),
                g.signal_semaphore_device_indices(),
            )
        });
        let at = |list: &[u32], i: usize| list.get(i).copied().unwrap_or(0);
        let waits = s.wait_semaphores().iter().enumerate();
        let commands = s.command_buffers().iter().enumerate();
        let signals = s.signal_semaphores().iter().enumerate();
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
                s.find::<vk::PerformanceQuerySubmitInfoKHR>().map_or(0, |p| p.counter_pass_index),
            ),
            frame: s
                .find::<vk::FrameBoundaryEXT>()
                .map(|f| vk::FrameBoundaryEXT::default().flags(f.flags).frame_id(f.frame_id)),
        }
    }
}

pub(crate) fn queue_submit(queue: &Queue, submits: In<[vk::SubmitInfo]>, fence: vk::Fence) -> vk::Result {
    let mut submits: Vec<_> = submits.iter().map(Submit::read).collect();
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
    // SAFETY: structures of this function, whose arrays are the vectors above.
    unsafe { imp::queue_submit2(queue, infos.len() as u32, infos.as_ptr(), fence) }
}
