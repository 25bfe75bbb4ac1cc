//! Barriers and events. The memory of the device is coherent and layouts are the same for every use: what remains
//! of a dependency is its stages, which place work on the time line.

use crate::base::chain;
use crate::base::object;
use crate::record::command_buffer::CommandBuffer;
use crate::sync::event::Event;
use gpu::command::{Command, Dependency};

/// All stages that a dependency's barriers name.
unsafe fn stages(info: &vk::DependencyInfo) -> Dependency {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let mut d = Dependency { src_stages: Default::default(), dst_stages: Default::default() };
        let mut add = |src, dst| {
            d.src_stages |= src;
            d.dst_stages |= dst;
        };
        for m in chain::slice(info.p_memory_barriers, info.memory_barrier_count) {
            add(m.src_stage_mask, m.dst_stage_mask);
        }
        for m in chain::slice(info.p_buffer_memory_barriers, info.buffer_memory_barrier_count) {
            add(m.src_stage_mask, m.dst_stage_mask);
        }
        for m in chain::slice(info.p_image_memory_barriers, info.image_memory_barrier_count) {
            add(m.src_stage_mask, m.dst_stage_mask);
        }
        if let Some(ranges) = chain::find::<vk::MemoryRangeBarriersInfoKHR>(info.p_next) {
            for m in chain::slice(ranges.p_memory_range_barriers, ranges.memory_range_barrier_count) {
                add(m.src_stage_mask, m.dst_stage_mask);
            }
        }
        d
    }
}

pub(crate) unsafe fn cmd_pipeline_barrier2(b: &CommandBuffer, info: *const vk::DependencyInfo) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let Some(mut r) = b.recording() {
            r.push(Command::Barrier(stages(&*info)));
        }
    }
}

pub(crate) unsafe fn cmd_set_event2(b: &CommandBuffer, event: vk::Event, info: *const vk::DependencyInfo) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let (Some(e), Some(mut r)) = (object::get::<Event>(event), b.recording()) {
            r.push(Command::SetEvent { event: e.gpu.clone(), stages: stages(&*info).src_stages });
        }
    }
}

pub(crate) unsafe fn cmd_reset_event2(b: &CommandBuffer, event: vk::Event, stages: vk::PipelineStageFlags2) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        if let (Some(e), Some(mut r)) = (object::get::<Event>(event), b.recording()) {
            r.push(Command::ResetEvent { event: e.gpu.clone(), stages });
        }
    }
}

pub(crate) unsafe fn cmd_wait_events2(
    b: &CommandBuffer,
    count: u32,
    events: *const vk::Event,
    infos: *const vk::DependencyInfo,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(mut r) = b.recording() else { return };
        let mut dependency = Dependency { src_stages: Default::default(), dst_stages: Default::default() };
        for i in chain::slice(infos, count) {
            let d = stages(i);
            dependency.src_stages |= d.src_stages;
            dependency.dst_stages |= d.dst_stages;
        }
        let events = chain::slice(events, count)
            .iter()
            .filter_map(|&e| Some(object::get::<Event>(e)?.gpu.clone()))
            .collect();
        r.push(Command::WaitEvents { events, dependency });
    }
}
