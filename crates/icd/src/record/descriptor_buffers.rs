//! Binding sets that lie in descriptor buffers, and sets of embedded samplers.

use super::bind::{BindPoint, BoundSet};
use super::descriptors::{points, set_layout};
use crate::base::debug::log_error;
use crate::base::given::In;
use crate::descriptor::descriptor_layout::SetLayout;
use crate::instance::limits::{MAX_BOUND_DESCRIPTOR_SETS, MAX_DESCRIPTOR_BUFFERS};
use crate::record::command_buffer::CommandBuffer;
use std::sync::Arc;

/// Push descriptors need no buffer here, so that what a binding is for makes no difference.
pub(crate) fn cmd_bind_descriptor_buffers_ext(
    b: &CommandBuffer,
    infos: In<[vk::DescriptorBufferBindingInfoEXT]>,
) {
    let Some(mut r) = b.recording() else { return };
    if infos.len() > MAX_DESCRIPTOR_BUFFERS as usize {
        let count = infos.len();
        log_error(&format!("vkCmdBindDescriptorBuffersEXT: {count} buffers, of {MAX_DESCRIPTOR_BUFFERS}"));
    }
    r.descriptor_buffers = [0; MAX_DESCRIPTOR_BUFFERS as usize];
    for (to, i) in r.descriptor_buffers.iter_mut().zip(infos) {
        *to = i.address;
    }
}

fn set_offsets(
    point: &mut BindPoint,
    buffers: &[u64],
    first: u32,
    indices: &[u32],
    offsets: &[vk::DeviceSize],
) {
    for (n, (&index, &offset)) in indices.iter().zip(offsets).enumerate() {
        let set = first as usize + n;
        if set >= MAX_BOUND_DESCRIPTOR_SETS as usize {
            return;
        }
        let buffer = buffers.get(index as usize).filter(|&&b| b != 0);
        if buffer.is_none() {
            log_error(&format!("a set's offset: no descriptor buffer {index} is bound"));
        }
        point.locate(set, buffer.map_or(0, |b| b.wrapping_add(offset)));
    }
}

pub(crate) fn cmd_set_descriptor_buffer_offsets_ext(
    b: &CommandBuffer,
    point: vk::PipelineBindPoint,
    _: vk::PipelineLayout,
    first: u32,
    indices: &[u32],
    offsets: &[vk::DeviceSize],
) {
    let Some(mut r) = b.recording() else { return };
    let buffers = r.descriptor_buffers;
    set_offsets(r.point(point), &buffers, first, indices, offsets);
}

pub(crate) fn cmd_set_descriptor_buffer_offsets2_ext(
    b: &CommandBuffer,
    info: In<vk::SetDescriptorBufferOffsetsInfoEXT>,
) {
    let i = info;
    let Some(mut r) = b.recording() else { return };
    let buffers = r.descriptor_buffers;
    let (indices, offsets) = (i.buffer_indices(), i.offsets());
    for point in points(i.stage_flags) {
        set_offsets(r.point(point), &buffers, i.first_set, indices, offsets);
    }
}

/// Binds the samplers that a layout of nothing else has.
fn embedded(point: &mut BindPoint, set: u32, layout: &Arc<SetLayout>) {
    let bound = layout.allocate(0).map(|memory| BoundSet {
        memory: Arc::new(memory),
        layout: layout.clone(),
        offsets: Default::default(),
        pushed: false,
    });
    if bound.is_none() {
        crate::base::debug::log_error("vkCmdBindDescriptorBufferEmbeddedSamplersEXT: no memory for a set");
    }
    point.bind(set as usize, bound);
}

pub(crate) fn cmd_bind_descriptor_buffer_embedded_samplers_ext(
    b: &CommandBuffer,
    point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    set: u32,
) {
    let (Some(layout), Some(mut r)) = (set_layout(b, layout, set), b.recording()) else { return };
    embedded(r.point(point), set, &layout);
}

pub(crate) fn cmd_bind_descriptor_buffer_embedded_samplers2_ext(
    b: &CommandBuffer,
    info: In<vk::BindDescriptorBufferEmbeddedSamplersInfoEXT>,
) {
    let i = info;
    let (Some(layout), Some(mut r)) = (set_layout(b, i.layout, i.set), b.recording()) else { return };
    for point in points(i.stage_flags) {
        embedded(r.point(point), i.set, &layout);
    }
}
