//! Binding and pushing descriptors and push constants.

use super::bind::{BindPoint, BoundSet};
use crate::base::given::{Call, In};
use crate::base::object;
use crate::descriptor::descriptor_layout::SetLayout;
use crate::descriptor::descriptor_set::{self, DescriptorSet, Replaced};
use crate::descriptor::update_template::DescriptorUpdateTemplate;
use crate::instance::limits::MAX_PUSH_CONSTANTS;
use crate::pipeline::Pipeline;
use crate::pipeline::pipeline_layout;
use crate::record::command_buffer::{CommandBuffer, Recorder};
use machine::descriptor::SetMemory;
use std::sync::Arc;
use vk::PipelineBindPoint as Point;

/// The stages of ray tracing pipelines.
const RAY_STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::RAYGEN_KHR.as_raw()
        | vk::ShaderStageFlags::ANY_HIT_KHR.as_raw()
        | vk::ShaderStageFlags::CLOSEST_HIT_KHR.as_raw()
        | vk::ShaderStageFlags::MISS_KHR.as_raw()
        | vk::ShaderStageFlags::INTERSECTION_KHR.as_raw()
        | vk::ShaderStageFlags::CALLABLE_KHR.as_raw(),
);

/// The bind points that shader stages belong to.
pub(super) fn points(stages: vk::ShaderStageFlags) -> impl Iterator<Item = Point> {
    let compute = stages.contains(vk::ShaderStageFlags::COMPUTE);
    let graphics = stages.intersects(vk::ShaderStageFlags::ALL_GRAPHICS);
    let rays = stages.intersects(RAY_STAGES);
    let all = [(compute, Point::COMPUTE), (graphics, Point::GRAPHICS), (rays, Point::RAY_TRACING_KHR)];
    all.into_iter().filter(|p| p.0).map(|p| p.1)
}

pub(crate) fn cmd_bind_pipeline(b: &CommandBuffer, point: Point, pipeline: vk::Pipeline) {
    let (Some(p), Some(mut r)) = (b.object::<Pipeline>(pipeline), b.recording()) else { return };
    if point == Point::GRAPHICS {
        r.draw.touch();
    }
    let bound = &mut r.point(point).pipeline;
    if !bound.as_ref().is_some_and(|b| std::ptr::eq(&**b, p.shared())) {
        *bound = Some(p.share());
    }
}

pub(crate) fn cmd_bind_descriptor_sets2(b: &CommandBuffer, info: In<vk::BindDescriptorSetsInfo>) {
    let i = info;
    let Some(mut r) = b.recording() else { return };
    for point in points(i.stage_flags) {
        bind_sets(r.point(point), i.first_set, i.descriptor_sets(), i.dynamic_offsets());
    }
}

/// The form without stages.
pub(crate) fn cmd_bind_descriptor_sets(
    b: &CommandBuffer,
    point: Point,
    _: vk::PipelineLayout,
    first: u32,
    sets: &[vk::DescriptorSet],
    offsets: &[u32],
) {
    let Some(mut r) = b.recording() else { return };
    bind_sets(r.point(point), first, sets, offsets);
}

fn bind_sets(point: &mut BindPoint, first: u32, sets: &[vk::DescriptorSet], mut offsets: &[u32]) {
    for (n, &handle) in sets.iter().enumerate() {
        let index = first as usize + n;
        if index >= pipeline_layout::MAX_SETS as usize {
            return;
        }
        let Some(set) = object::hold::<DescriptorSet>(handle) else {
            point.bind(index, None);
            continue;
        };
        let (own, rest) = offsets.split_at((set.layout.dynamic_count as usize).min(offsets.len()));
        offsets = rest;
        point.bind_set(index, &set.memory, &set.layout, own);
    }
}

pub(crate) fn cmd_push_constants2(b: &CommandBuffer, info: In<vk::PushConstantsInfo>) {
    let i = info;
    let Some(mut r) = b.recording() else { return };
    push_bytes(&mut r, i.offset, i.values(), "vkCmdPushConstants");
}

/// Overwrites part of what is pushed.
pub(super) fn push_bytes(r: &mut Recorder, offset: u32, data: &[u8], command: &str) {
    if !r.push.put(offset as usize, data) {
        let end = offset as u64 + data.len() as u64;
        crate::base::debug::log_error(&format!("{command}: bytes up to {end}, of {MAX_PUSH_CONSTANTS}"));
    }
}

/// Descriptors pushed to set `index`: a copy of what was pushed before, changed by `write`. Recorded work has the old one.
fn push(
    point: &mut BindPoint,
    index: u32,
    layout: &Arc<SetLayout>,
    write: impl FnOnce(&SetLayout, &SetMemory, &mut Replaced),
) {
    let old = point.sets.get(index as usize).and_then(Option::as_ref);
    let memory = match old {
        Some(s) if s.pushed && Arc::ptr_eq(&s.layout, layout) => s.memory.copied(),
        _ => layout.allocate(0),
    };
    let Some(memory) = memory else {
        crate::base::debug::log_error("vkCmdPushDescriptorSet: no memory for a set");
        return point.bind(index as usize, None);
    };
    write(layout, &memory, &mut Replaced::new());
    let bound = BoundSet {
        memory: Arc::new(memory),
        layout: layout.clone(),
        offsets: Default::default(),
        pushed: true,
    };
    point.bind(index as usize, Some(bound));
}

pub(super) fn set_layout(b: &CommandBuffer, layout: vk::PipelineLayout, set: u32) -> Option<Arc<SetLayout>> {
    let found = pipeline_layout::get(b, layout)?.sets.get(set as usize).cloned().flatten();
    if found.is_none() {
        crate::base::debug::log_error(&format!("the pipeline layout has no set {set}"));
    }
    found
}

pub(crate) fn cmd_push_descriptor_set2(b: &CommandBuffer, info: In<vk::PushDescriptorSetInfo>) {
    let i = info;
    let (Some(layout), Some(mut r)) = (set_layout(b, i.layout, i.set), b.recording()) else { return };
    let writes = i.descriptor_writes();
    for point in points(i.stage_flags) {
        push(r.point(point), i.set, &layout, |l, m, old| {
            for w in writes {
                descriptor_set::write(l, m, w, old);
            }
        });
    }
}

/// The form without stages.
pub(crate) fn cmd_push_descriptor_set(
    b: &CommandBuffer,
    point: Point,
    layout: vk::PipelineLayout,
    set: u32,
    writes: In<[vk::WriteDescriptorSet]>,
) {
    let (Some(layout), Some(mut r)) = (set_layout(b, layout, set), b.recording()) else { return };
    push(r.point(point), set, &layout, |l, m, old| {
        for w in writes {
            descriptor_set::write(l, m, w, old);
        }
    });
}

pub(crate) fn cmd_push_descriptor_set_with_template2(
    b: &CommandBuffer,
    info: In<vk::PushDescriptorSetWithTemplateInfo>,
) {
    let i = info;
    let Some(template) = b.object::<DescriptorUpdateTemplate>(i.descriptor_update_template) else {
        return;
    };
    let (Some(layout), Some(mut r)) = (set_layout(b, i.layout, i.set), b.recording()) else { return };
    push(r.point(template.bind_point), i.set, &layout, |l, m, old| {
        // SAFETY: valid usage: the data are what the template's entries say.
        unsafe { template.apply(l, m, i.p_data, old) }
    });
}
