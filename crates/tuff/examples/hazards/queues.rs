//! Queues, submissions, the host and events.

use crate::Situation;
use crate::world::*;
use ash::vk;
use client::{Error, Result};
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

fn semaphore(w: &World, timeline: bool) -> Result<vk::Semaphore> {
    let kind = if timeline { vk::SemaphoreType::TIMELINE } else { vk::SemaphoreType::BINARY };
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(kind);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    // SAFETY: structures of this function.
    unsafe { w.device.create_semaphore(&info, None).map_err(Error::vk("vkCreateSemaphore")) }
}

fn fence(w: &World) -> Result<vk::Fence> {
    // SAFETY: a plain call.
    unsafe {
        w.device.create_fence(&vk::FenceCreateInfo::default(), None).map_err(Error::vk("vkCreateFence"))
    }
}

fn event(w: &World) -> Result<vk::Event> {
    // SAFETY: a plain call.
    unsafe {
        w.device.create_event(&vk::EventCreateInfo::default(), None).map_err(Error::vk("vkCreateEvent"))
    }
}

/// Both queues; the first one twice, where there is no second: then nothing is the fault of two queues.
fn queues(w: &World) -> Result<[vk::Queue; 2]> {
    let second = w.context.second.ok_or_else(|| Error("one queue alone".into()))?;
    Ok([w.context.queue, second])
}

pub const ALL: &[Situation] = &[
    ("submissions_without_a_barrier", |w, fault| {
        w.run(|r| r.copy((0, 0), (1, 0), 256))?;
        w.run(|r| {
            if !fault {
                r.barrier(COPY_WRITE, COPY_READ);
            }
            r.copy((1, 0), (2, 0), 256);
        })
    }),
    ("host_waits_between_submissions", |w, fault| {
        w.run(|r| r.copy((0, 0), (1, 0), 256))?;
        if !fault {
            w.wait()?;
        }
        w.run(|r| r.copy((1, 0), (2, 0), 256))
    }),
    ("fence_of_the_right_submission", |w, fault| {
        let fence = fence(w)?;
        let none = vk::Fence::null();
        let queue = w.context.queue;
        let first = w.record(|r| r.copy((0, 0), (1, 0), 256))?;
        let second = w.record(|r| r.copy((0, 0), (1, 1024), 256))?;
        let (on_first, on_second) = if fault { (fence, none) } else { (none, fence) };
        w.submit(queue, first, None, None, on_first)?;
        w.submit(queue, second, None, None, on_second)?;
        // SAFETY: the fence has been submitted.
        unsafe { w.device.wait_for_fences(&[fence], true, u64::MAX).map_err(Error::vk("vkWaitForFences"))? };
        w.run(|r| r.copy((1, 1024), (2, 0), 256))
    }),
    ("queues_without_a_semaphore", |w, fault| {
        let [one, two] = queues(w)?;
        let s = semaphore(w, false)?;
        let first = w.record(|r| r.copy((0, 0), (1, 0), 256))?;
        let second = w.record(|r| r.copy((1, 0), (2, 0), 256))?;
        let (signal, wait) = ((s, 0, S::ALL_COMMANDS), (s, 0, S::ALL_COMMANDS));
        w.submit(one, first, None, (!fault).then_some(signal), vk::Fence::null())?;
        w.submit(two, second, (!fault).then_some(wait), None, vk::Fence::null())
    }),
    ("semaphore_for_another_stage", |w, fault| {
        let [one, two] = queues(w)?;
        let s = semaphore(w, false)?;
        let first = w.record(|r| r.copy((0, 0), (1, 0), 256))?;
        let second = w.record(|r| r.copy((1, 0), (2, 0), 256))?;
        let stage = if fault { S::COMPUTE_SHADER } else { S::COPY };
        w.submit(one, first, None, Some((s, 0, S::ALL_COMMANDS)), vk::Fence::null())?;
        w.submit(two, second, Some((s, 0, stage)), None, vk::Fence::null())
    }),
    ("timeline_of_an_earlier_value", |w, fault| {
        let [one, two] = queues(w)?;
        let s = semaphore(w, true)?;
        let first = w.record(|r| r.copy((0, 0), (1, 0), 256))?;
        let second = w.record(|r| r.copy((0, 0), (1, 1024), 256))?;
        let third = w.record(|r| r.copy((1, 1024), (2, 0), 256))?;
        w.submit(one, first, None, Some((s, 1, S::ALL_COMMANDS)), vk::Fence::null())?;
        w.submit(one, second, None, Some((s, 2, S::ALL_COMMANDS)), vk::Fence::null())?;
        w.submit(two, third, Some((s, if fault { 1 } else { 2 }, S::COPY)), None, vk::Fence::null())
    }),
    ("host_waits_for_a_timeline", |w, fault| {
        let [one, two] = queues(w)?;
        let s = semaphore(w, true)?;
        let first = w.record(|r| r.copy((0, 0), (1, 0), 256))?;
        let second = w.record(|r| r.copy((1, 0), (2, 0), 256))?;
        w.submit(one, first, None, Some((s, 5, S::ALL_COMMANDS)), vk::Fence::null())?;
        if !fault {
            let (semaphores, values) = ([s], [5]);
            let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
            // SAFETY: structures of this function.
            unsafe { w.device.wait_semaphores(&info, u64::MAX).map_err(Error::vk("vkWaitSemaphores"))? };
        }
        w.submit(two, second, None, None, vk::Fence::null())
    }),
    ("event_of_the_right_stage", |w, fault| {
        let event = event(w)?;
        w.run(|r| {
            let stage = if fault { COPY_READ.0 } else { S::COPY };
            let src = (stage, if fault { A::NONE } else { A::TRANSFER_WRITE });
            let barriers = [memory(src, COPY_READ)];
            let info = vk::DependencyInfo::default().memory_barriers(&barriers);
            r.copy((0, 0), (1, 0), 256);
            // SAFETY: recording, with live handles.
            unsafe {
                w.device.cmd_set_event2(r.buffer, event, &info);
                w.device.cmd_wait_events2(r.buffer, &[event], &[info]);
            }
            r.copy((1, 0), (2, 0), 256);
        })
    }),
    ("event_set_too_early", |w, fault| {
        let event = event(w)?;
        w.run(|r| {
            let barriers = [memory(COPY_WRITE, COPY_READ)];
            let info = vk::DependencyInfo::default().memory_barriers(&barriers);
            // SAFETY: recording, with live handles.
            unsafe {
                if fault {
                    w.device.cmd_set_event2(r.buffer, event, &info);
                }
                r.copy((0, 0), (1, 0), 256);
                if !fault {
                    w.device.cmd_set_event2(r.buffer, event, &info);
                }
                w.device.cmd_wait_events2(r.buffer, &[event], &[info]);
            }
            r.copy((1, 0), (2, 0), 256);
        })
    }),
    ("secondary_command_buffers", |w, fault| {
        let device = &w.device;
        let at = Error::vk;
        // SAFETY: plain calls with structures of this function.
        unsafe {
            let pool_info = vk::CommandPoolCreateInfo::default();
            let pool = device.create_command_pool(&pool_info, None).map_err(at("vkCreateCommandPool"))?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .level(vk::CommandBufferLevel::SECONDARY)
                .command_buffer_count(2);
            let two = device.allocate_command_buffers(&info).map_err(at("vkAllocateCommandBuffers"))?;
            let inheritance = vk::CommandBufferInheritanceInfo::default();
            let begin = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance);
            for (i, buffer) in two.iter().enumerate() {
                device.begin_command_buffer(*buffer, &begin).map_err(at("vkBeginCommandBuffer"))?;
                Recorder { world: w, buffer: *buffer }.copy((i, 0), (i + 1, 0), 256);
                device.end_command_buffer(*buffer).map_err(at("vkEndCommandBuffer"))?;
            }
            w.run(|r| {
                device.cmd_execute_commands(r.buffer, &two[..1]);
                if !fault {
                    r.barrier(COPY_WRITE, COPY_READ);
                }
                device.cmd_execute_commands(r.buffer, &two[1..]);
            })
        }
    }),
];
