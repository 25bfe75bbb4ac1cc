//! Binding heaps of descriptors, and pushing data for shaders that use them. Both leave what sets have bound as it is: such
//! pipelines have no sets, and those with sets do not look at heaps.

use super::descriptors::push_bytes;
use crate::base::chain;
use crate::base::debug::log_error;
use crate::instance::limits::MAX_HEAP;
use crate::record::command_buffer::CommandBuffer;
use machine::bindings::HeapRange;
use shader::options::Heap;

/// A heap as it is bound. Nothing is reserved here.
fn range(info: &vk::BindHeapInfoEXT) -> HeapRange {
    let r = info.heap_range;
    if r.size > MAX_HEAP {
        log_error(&format!("a descriptor heap of {} bytes, of {MAX_HEAP}", r.size));
    }
    HeapRange { address: r.address, size: r.size.min(MAX_HEAP) }
}

unsafe fn bind(b: &CommandBuffer, heap: Heap, info: *const vk::BindHeapInfoEXT) {
    let Some(mut r) = b.recording() else { return };
    // SAFETY: valid usage: the call's pointer leads to what it is said to.
    r.heaps[heap as usize] = range(unsafe { &*info });
}

pub(crate) unsafe fn cmd_bind_sampler_heap_ext(b: &CommandBuffer, info: *const vk::BindHeapInfoEXT) {
    // SAFETY: the call's.
    unsafe { bind(b, Heap::Samplers, info) }
}

pub(crate) unsafe fn cmd_bind_resource_heap_ext(b: &CommandBuffer, info: *const vk::BindHeapInfoEXT) {
    // SAFETY: the call's.
    unsafe { bind(b, Heap::Resources, info) }
}

pub(crate) unsafe fn cmd_push_data_ext(b: &CommandBuffer, info: *const vk::PushDataInfoEXT) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let Some(mut r) = b.recording() else { return };
        let bytes = u32::try_from(i.data.size).unwrap_or(u32::MAX);
        push_bytes(&mut r, i.offset, chain::slice(i.data.address.cast::<u8>(), bytes), "vkCmdPushDataEXT");
    }
}

/// The heaps that a secondary command buffer begins with.
pub(crate) fn inherited(info: &vk::CommandBufferInheritanceDescriptorHeapInfoEXT) -> [HeapRange; 2] {
    // SAFETY: valid usage: the structure's pointers are null or lead to what they are said to.
    [info.p_sampler_heap_bind_info, info.p_resource_heap_bind_info]
        .map(|p| unsafe { p.as_ref() }.map_or(HeapRange::default(), range))
}
