//! vkCmdPipelineBarrier, vkCmdSetEvent, vkCmdWaitEvents: stage masks of the call become those of each barrier.

use crate::base::given::In;
use crate::legacy::generated::imp;
use crate::record::command_buffer::CommandBuffer;
use vk::{AccessFlags2, PipelineStageFlags2 as Stages};

/// Bits 0 to 31 of both types mean the same.
fn stages(mask: vk::PipelineStageFlags) -> Stages {
    Stages::from_raw(mask.as_raw().into())
}

fn access(mask: vk::AccessFlags) -> AccessFlags2 {
    AccessFlags2::from_raw(mask.as_raw().into())
}

/// Barriers of the older kind with the stages of their call, as the newer kind.
struct Barriers {
    memory: Vec<vk::MemoryBarrier2<'static>>,
    buffers: Vec<vk::BufferMemoryBarrier2<'static>>,
    images: Vec<vk::ImageMemoryBarrier2<'static>>,
    flags: vk::DependencyFlags,
}

impl Barriers {
    fn read(
        src: vk::PipelineStageFlags,
        dst: vk::PipelineStageFlags,
        flags: vk::DependencyFlags,
        memory: &[vk::MemoryBarrier<'_>],
        buffers: &[vk::BufferMemoryBarrier<'_>],
        images: &[vk::ImageMemoryBarrier<'_>],
    ) -> Barriers {
        let (src_stage_mask, dst_stage_mask) = (stages(src), stages(dst));
        macro_rules! newer {
            ($to:ident, $barriers:expr, $($same:ident)*) => {
                $barriers.iter().map(|b| vk::$to {
                    src_stage_mask,
                    dst_stage_mask,
                    src_access_mask: access(b.src_access_mask),
                    dst_access_mask: access(b.dst_access_mask),
                    $($same: b.$same,)*
                    ..Default::default()
                })
            };
        }
        let mut memory: Vec<_> = newer!(MemoryBarrier2, memory,).collect();
        // The call orders execution even where it lists no memory.
        memory.push(vk::MemoryBarrier2 { src_stage_mask, dst_stage_mask, ..Default::default() });
        let buffers = newer!(BufferMemoryBarrier2, buffers,
            src_queue_family_index dst_queue_family_index buffer offset size)
        .collect();
        let images = newer!(ImageMemoryBarrier2, images,
            old_layout new_layout src_queue_family_index dst_queue_family_index image subresource_range)
        .collect();
        Barriers { memory, buffers, images, flags }
    }

    fn info(&self) -> vk::DependencyInfo<'_> {
        vk::DependencyInfo::default()
            .dependency_flags(self.flags)
            .memory_barriers(&self.memory)
            .buffer_memory_barriers(&self.buffers)
            .image_memory_barriers(&self.images)
    }
}

pub(crate) fn cmd_pipeline_barrier(
    commands: &CommandBuffer,
    src: vk::PipelineStageFlags,
    dst: vk::PipelineStageFlags,
    flags: vk::DependencyFlags,
    memory: In<[vk::MemoryBarrier]>,
    buffers: In<[vk::BufferMemoryBarrier]>,
    images: In<[vk::ImageMemoryBarrier]>,
) {
    let barriers = Barriers::read(src, dst, flags, &memory, &buffers, &images);
    // SAFETY: a structure of this function, whose arrays are those of `barriers`.
    unsafe { imp::cmd_pipeline_barrier2(commands, &barriers.info()) };
}

pub(crate) fn cmd_set_event(commands: &CommandBuffer, event: vk::Event, stages: vk::PipelineStageFlags) {
    let none = vk::PipelineStageFlags::empty();
    let barriers = Barriers::read(stages, none, Default::default(), &[], &[], &[]);
    // SAFETY: a structure of this function, whose arrays are those of `barriers`.
    unsafe { imp::cmd_set_event2(commands, event, &barriers.info()) };
}

pub(crate) fn cmd_wait_events(
    commands: &CommandBuffer,
    events: &[vk::Event],
    src: vk::PipelineStageFlags,
    dst: vk::PipelineStageFlags,
    memory: In<[vk::MemoryBarrier]>,
    buffers: In<[vk::BufferMemoryBarrier]>,
    images: In<[vk::ImageMemoryBarrier]>,
) {
    let barriers = Barriers::read(src, dst, Default::default(), &memory, &buffers, &images);
    // Each event waits with the stages. The memory barriers belong to the last one, so that they apply once.
    let empty = Barriers::read(src, dst, Default::default(), &[], &[], &[]);
    let mut infos = vec![empty.info(); events.len()];
    if let Some(last) = infos.last_mut() {
        *last = barriers.info();
    }
    // SAFETY: as many structures of this function as events, whose arrays are those of `barriers` and `empty`.
    unsafe { imp::cmd_wait_events2(commands, events.len() as u32, events.as_ptr(), infos.as_ptr()) };
}
