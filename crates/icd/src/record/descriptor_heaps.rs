//! Binding heaps of descriptors, and pushing data for shaders that use them. Both leave what sets have bound as it is: such
//! pipelines have no sets, and those with sets do not look at heaps.

use super::descriptors::push_bytes;
use crate::base::debug::log_error;
use crate::base::given::In;
use crate::instance::limits::MAX_HEAP;
use crate::record::command_buffer::CommandBuffer;
use machine::bindings::HeapRange;
use shader::options::Heap;

/// A heap as it is bound. Nothing is reserved here.
fn range(info: In<vk::BindHeapInfoEXT>) -> HeapRange {
    let r = info.heap_range;
    if r.size > MAX_HEAP {
        log_error(&format!("a descriptor heap of {} bytes, of {MAX_HEAP}", r.size));
    }
    HeapRange { address: r.address, size: r.size.min(MAX_HEAP) }
}

fn bind(b: &CommandBuffer, heap: Heap, info: In<vk::BindHeapInfoEXT>) {
    let Some(mut r) = b.recording() else { return };
    r.heaps[heap as usize] = range(info);
}

pub(crate) fn cmd_bind_sampler_heap_ext(b: &CommandBuffer, info: In<vk::BindHeapInfoEXT>) {
    bind(b, Heap::Samplers, info)
}

pub(crate) fn cmd_bind_resource_heap_ext(b: &CommandBuffer, info: In<vk::BindHeapInfoEXT>) {
    bind(b, Heap::Resources, info)
}

pub(crate) fn cmd_push_data_ext(b: &CommandBuffer, info: In<vk::PushDataInfoEXT>) {
    let i = info;
    let Some(mut r) = b.recording() else { return };
    push_bytes(&mut r, i.offset, i.data().address(), "vkCmdPushDataEXT");
}

/// The heaps that a secondary command buffer begins with.
pub(crate) fn inherited(info: In<vk::CommandBufferInheritanceDescriptorHeapInfoEXT>) -> [HeapRange; 2] {
    [info.sampler_heap_bind_info(), info.resource_heap_bind_info()]
        .map(|i| i.map_or(HeapRange::default(), range))
}
