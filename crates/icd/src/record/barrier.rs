//! Barriers and events. The memory of the device is coherent and layouts are the same for every use: what remains
//! of a dependency is its stages, which place work on the time line.

use crate::base::given::{Call, In};
use crate::memory::image::Image;
use crate::record::command_buffer::{CommandBuffer, Recorder};
use crate::record::sync;
use crate::sync::event::Event;
use gpu::command::{Command, Dependency};
use gpu::ordering::Sync;
use std::sync::Arc;

/// All stages that a dependency's barriers name.
fn stages(info: In<vk::DependencyInfo>) -> Dependency {
    let mut d = Dependency { src_stages: Default::default(), dst_stages: Default::default() };
    let mut add = |src, dst| {
        d.src_stages |= src;
        d.dst_stages |= dst;
    };
    for m in info.memory_barriers() {
        add(m.src_stage_mask, m.dst_stage_mask);
    }
    for m in info.buffer_memory_barriers() {
        add(m.src_stage_mask, m.dst_stage_mask);
    }
    for m in info.image_memory_barriers() {
        add(m.src_stage_mask, m.dst_stage_mask);
    }
    if let Some(ranges) = info.find::<vk::MemoryRangeBarriersInfoKHR>() {
        for m in ranges.memory_range_barriers() {
            add(m.src_stage_mask, m.dst_stage_mask);
        }
    }
    for m in tensors(info) {
        add(m.src_stage_mask, m.dst_stage_mask);
    }
    d
}

/// Barriers of tensors: one by itself, or a list of them.
pub(crate) fn tensors<'a>(
    info: In<'a, vk::DependencyInfo<'a>>,
) -> impl Iterator<Item = In<'a, vk::TensorMemoryBarrierARM<'a>>> {
    let list = info.find::<vk::TensorDependencyInfoARM>();
    let list = list.into_iter().flat_map(|l| l.tensor_memory_barriers().iter());
    info.find::<vk::TensorMemoryBarrierARM>().into_iter().chain(list)
}

pub(crate) fn cmd_pipeline_barrier2(b: &CommandBuffer, info: In<vk::DependencyInfo>) {
    if let Some(mut r) = b.recording() {
        sync::record(&mut r, || Sync::Barrier(sync::dependencies(info)));
        r.push(Command::Barrier(stages(info)));
        undefine(&mut r, info);
    }
}

/// Contents that a dependency's transitions need not keep are to show that they are undefined, if the user wants that.
fn undefine(r: &mut Recorder, info: In<vk::DependencyInfo>) {
    if !texel::memory::poison::wanted() {
        return;
    }
    for m in info.image_memory_barriers() {
        let from_nothing =
            m.old_layout == vk::ImageLayout::UNDEFINED && m.new_layout != vk::ImageLayout::UNDEFINED;
        if let Some(image) = m.object::<Image>(m.image).filter(|_| from_nothing) {
            r.push(Command::Undefine { image: image.gpu.clone(), range: m.subresource_range });
        }
    }
}

pub(crate) fn cmd_set_event2(b: &CommandBuffer, event: vk::Event, info: In<vk::DependencyInfo>) {
    if let (Some(e), Some(mut r)) = (b.object::<Event>(event), b.recording()) {
        sync::record(&mut r, || Sync::Set(e.gpu.clone(), sync::dependencies(info)));
        r.push(Command::SetEvent { event: e.gpu.clone(), stages: stages(info).src_stages });
    }
}

pub(crate) fn cmd_reset_event2(b: &CommandBuffer, event: vk::Event, stages: vk::PipelineStageFlags2) {
    if let (Some(e), Some(mut r)) = (b.object::<Event>(event), b.recording()) {
        r.push(Command::ResetEvent { event: e.gpu.clone(), stages });
    }
}

pub(crate) fn cmd_wait_events2(b: &CommandBuffer, events: &[vk::Event], infos: In<[vk::DependencyInfo]>) {
    let Some(mut r) = b.recording() else { return };
    let mut dependency = Dependency { src_stages: Default::default(), dst_stages: Default::default() };
    for i in infos {
        let d = stages(i);
        dependency.src_stages |= d.src_stages;
        dependency.dst_stages |= d.dst_stages;
    }
    let events: Vec<_> = events.iter().filter_map(|&e| Some(b.object::<Event>(e)?.gpu.clone())).collect();
    let waited = &events;
    let each = |(e, i): (&Arc<machine::sync::Event>, _)| (e.clone(), sync::dependencies(i));
    sync::record(&mut r, || Sync::Wait(waited.iter().zip(infos).map(each).collect()));
    r.push(Command::WaitEvents { events, dependency });
    infos.iter().for_each(|i| undefine(&mut r, i));
}
