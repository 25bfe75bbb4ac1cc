//! What sanitised devices record of barriers and render passes, beside the commands themselves.

use crate::base::given::{Call, In};
use crate::memory::buffer::Buffer;
use crate::memory::image::Image;
use crate::memory::tensor::Tensor;
use crate::pass::render_pass::Pass;
use crate::record::command_buffer::Recorder;
use gpu::command::Command;
use gpu::ordering::{
    self, BufferBarrier, Dependencies, ImageBarrier, Layouts, Masks, SubpassDependency, Sync,
};
use std::sync::Arc;

/// Records it, if the device is sanitised.
pub(crate) fn record(r: &mut Recorder, what: impl FnOnce() -> Sync) {
    if machine::sanitizer::wanted() {
        r.push(Command::Sync(Box::new(what())));
    }
}

macro_rules! masks {
    ($m:expr) => {
        Masks {
            stages: [$m.src_stage_mask, $m.dst_stage_mask],
            accesses: [$m.src_access_mask, $m.dst_access_mask],
        }
    };
}

pub(crate) fn dependencies(info: In<vk::DependencyInfo>) -> Dependencies {
    let mut d = Dependencies::default();
    d.memory.extend(info.memory_barriers().iter().map(|m| masks!(m)));
    for m in info.buffer_memory_barriers() {
        let Some(b) = m.object::<Buffer>(m.buffer) else { continue };
        d.buffers.push(BufferBarrier {
            masks: masks!(m),
            buffer: b.gpu.clone(),
            offset: m.offset,
            size: m.size,
            families: [m.src_queue_family_index, m.dst_queue_family_index],
        });
    }
    for m in super::barrier::tensors(info) {
        let Some(t) = m.object::<Tensor>(m.tensor) else { continue };
        d.buffers.push(BufferBarrier {
            masks: masks!(m),
            buffer: t.gpu.clone(),
            offset: 0,
            size: t.gpu.size,
            families: [m.src_queue_family_index, m.dst_queue_family_index],
        });
    }
    for m in info.image_memory_barriers() {
        let Some(i) = m.object::<Image>(m.image) else { continue };
        d.images.push(ImageBarrier {
            masks: masks!(m),
            image: i.gpu.clone(),
            range: m.subresource_range,
            layouts: [m.old_layout, m.new_layout],
            families: [m.src_queue_family_index, m.dst_queue_family_index],
        });
    }
    if let Some(ranges) = info.find::<vk::MemoryRangeBarriersInfoKHR>() {
        d.memory.extend(ranges.memory_range_barriers().iter().map(|m| masks!(m)));
    }
    d
}

/// A render pass with its layouts and dependencies.
pub(crate) fn pass(p: &Pass) -> ordering::Pass {
    let attachments = p.attachments.iter().map(|a| {
        let [plain, stencil] = a.layouts;
        [plain, stencil].map(|[initial, last]| Layouts { initial, last })
    });
    let subpasses = p.subpasses.iter().map(|s| {
        let all = s.inputs.iter().chain(&s.colors).chain(&s.resolves).chain(&s.depth);
        let all = all.chain(s.depth_resolve.iter().map(|d| &d.to));
        all.filter_map(|r| Some((r.attachment?, r.layouts))).collect()
    });
    let dependencies =
        p.dependencies.iter().map(|d| SubpassDependency { src: d.src, dst: d.dst, masks: d.masks });
    ordering::Pass {
        attachments: attachments.collect(),
        subpasses: subpasses.collect(),
        dependencies: dependencies.collect(),
    }
}

/// Dynamic rendering: layouts alone, which stay as they are. `attachments`: how many the rendering has; the last ones are depth and stencil.
pub(crate) fn rendering(info: In<vk::RenderingInfo>, depth: Option<u32>) -> ordering::Pass {
    let layout = |a: Option<In<vk::RenderingAttachmentInfo>>| a.map(|a| a.image_layout);
    let (plain, stencil) = (layout(info.depth_attachment()), layout(info.stencil_attachment()));
    let both = plain.or(stencil).map(|any| [plain.unwrap_or(any), stencil.unwrap_or(any)]);
    let subpasses = vec![depth.zip(both).into_iter().collect()];
    ordering::Pass { subpasses, ..Default::default() }
}

pub(crate) fn of_pass(p: ordering::Pass) -> Sync {
    Sync::Pass(Arc::new(p))
}
