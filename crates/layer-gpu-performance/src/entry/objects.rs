//! Render pass objects, semaphores, performance queries of the program's own, names.

use super::{Function, function, functions};
use crate::chain;
use crate::device::{self, PassInfo, Source};
use crate::guard::caught;
use crate::table::next;
use ash::vk;
use std::ffi::CStr;
use std::sync::Arc;
use vk::Result as R;

functions! {
    pub(super) fn lookup;
    b"vkCreateRenderPass" => create_render_pass, PFN_vkCreateRenderPass;
    b"vkCreateRenderPass2" | b"vkCreateRenderPass2KHR" => create_render_pass2, PFN_vkCreateRenderPass2;
    b"vkDestroyRenderPass" => destroy_render_pass, PFN_vkDestroyRenderPass;
    b"vkCreateSemaphore" => create_semaphore, PFN_vkCreateSemaphore;
    b"vkDestroySemaphore" => destroy_semaphore, PFN_vkDestroySemaphore;
    b"vkSignalSemaphore" | b"vkSignalSemaphoreKHR" => signal_semaphore, PFN_vkSignalSemaphore;
    b"vkCreateQueryPool" => create_query_pool, PFN_vkCreateQueryPool;
    b"vkDestroyQueryPool" => destroy_query_pool, PFN_vkDestroyQueryPool;
    b"vkAcquireProfilingLockKHR" => acquire_profiling_lock, PFN_vkAcquireProfilingLockKHR;
    b"vkReleaseProfilingLockKHR" => release_profiling_lock, PFN_vkReleaseProfilingLockKHR;
    b"vkSetDebugUtilsObjectNameEXT" => set_object_name, PFN_vkSetDebugUtilsObjectNameEXT;
}

const FAILED: R = R::ERROR_INITIALIZATION_FAILED;

/// Views of subpasses with these masks.
fn views(mut masks: impl Iterator<Item = u32>) -> u32 {
    let count = |mask: u32| mask.count_ones().max(1);
    let first = masks.next().map_or(1, count);
    if masks.all(|m| count(m) == first) { first } else { 0 }
}

unsafe extern "system" fn create_render_pass(
    handle: vk::Device,
    info: *const vk::RenderPassCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pass: *mut vk::RenderPass,
) -> R {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(handle) else { return FAILED };
        let result = d.seen(next!(d, create_render_pass(handle, info, allocator, pass), else FAILED));
        if result == R::SUCCESS {
            caught(|| {
                let (attachments, subpasses) = ((*info).attachment_count, (*info).subpass_count);
                let multiview = chain::find::<vk::RenderPassMultiviewCreateInfo>((*info).p_next);
                let masks = multiview.map_or(&[][..], |m| chain::slice(m.p_view_masks, m.subpass_count));
                let info = PassInfo { views: views(masks.iter().copied()), attachments, subpasses };
                d.passes.write().insert(*pass, Arc::new(info));
            });
        }
        result
    }
}

unsafe extern "system" fn create_render_pass2(
    handle: vk::Device,
    info: *const vk::RenderPassCreateInfo2<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pass: *mut vk::RenderPass,
) -> R {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(handle) else { return FAILED };
        let result = d.seen(next!(d, create_render_pass2(handle, info, allocator, pass), else FAILED));
        if result == R::SUCCESS {
            caught(|| {
                let (attachments, subpasses) = ((*info).attachment_count, (*info).subpass_count);
                let masks = chain::slice((*info).p_subpasses, subpasses).iter().map(|s| s.view_mask);
                let info = PassInfo { views: views(masks), attachments, subpasses };
                d.passes.write().insert(*pass, Arc::new(info));
            });
        }
        result
    }
}

unsafe extern "system" fn destroy_render_pass(
    handle: vk::Device,
    pass: vk::RenderPass,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(handle) else { return };
        d.passes.write().remove(&pass);
        next!(d, destroy_render_pass(handle, pass, allocator));
    }
}

unsafe extern "system" fn create_semaphore(
    handle: vk::Device,
    info: *const vk::SemaphoreCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    semaphore: *mut vk::Semaphore,
) -> R {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(handle) else { return FAILED };
        let result = d.seen(next!(d, create_semaphore(handle, info, allocator, semaphore), else FAILED));
        let ty = chain::find::<vk::SemaphoreTypeCreateInfo>((*info).p_next);
        if let (R::SUCCESS, Some(line), Some(ty)) = (result, &d.line, ty)
            && ty.semaphore_type == vk::SemaphoreType::TIMELINE
        {
            line.lock().made(*semaphore, ty.initial_value);
        }
        result
    }
}

unsafe extern "system" fn destroy_semaphore(
    handle: vk::Device,
    semaphore: vk::Semaphore,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(handle) else { return };
        if let Some(line) = &d.line {
            line.lock().destroyed(semaphore);
        }
        next!(d, destroy_semaphore(handle, semaphore, allocator));
    }
}

unsafe extern "system" fn signal_semaphore(
    handle: vk::Device,
    info: *const vk::SemaphoreSignalInfo<'_>,
) -> R {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(handle) else { return FAILED };
        let result = d.seen(next!(d, signal_semaphore(handle, info), else FAILED));
        if let (R::SUCCESS, Some(line)) = (result, &d.line) {
            line.lock().signals(&[((*info).semaphore, (*info).value)]);
        }
        result
    }
}

unsafe extern "system" fn create_query_pool(
    handle: vk::Device,
    info: *const vk::QueryPoolCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pool: *mut vk::QueryPool,
) -> R {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(handle) else { return FAILED };
        let result = d.seen(next!(d, create_query_pool(handle, info, allocator, pool), else FAILED));
        if let (R::SUCCESS, Source::Queries(q)) = (result, &d.source)
            && (*info).query_type == vk::QueryType::PERFORMANCE_QUERY_KHR
        {
            q.made(*pool);
        }
        result
    }
}

unsafe extern "system" fn destroy_query_pool(
    handle: vk::Device,
    pool: vk::QueryPool,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(handle) else { return };
        if let Source::Queries(q) = &d.source {
            q.destroyed(pool);
        }
        next!(d, destroy_query_pool(handle, pool, allocator));
    }
}

/// The layer holds the lock for as long as there is a device, and so does the program.
unsafe extern "system" fn acquire_profiling_lock(
    handle: vk::Device,
    info: *const vk::AcquireProfilingLockInfoKHR<'_>,
) -> R {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(handle) else { return FAILED };
        match d.source {
            Source::Queries(_) => R::SUCCESS,
            _ => d.seen(next!(d, acquire_profiling_lock(handle, info), else FAILED)),
        }
    }
}

unsafe extern "system" fn release_profiling_lock(handle: vk::Device) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(d) = device::of(handle) else { return };
        if !matches!(d.source, Source::Queries(_)) {
            next!(d, release_profiling_lock(handle));
        }
    }
}

unsafe extern "system" fn set_object_name(
    handle: vk::Device,
    info: *const vk::DebugUtilsObjectNameInfoEXT<'_>,
) -> R {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(handle) else { return FAILED };
        caught(|| {
            let i = &*info;
            let name = if i.p_object_name.is_null() { c"" } else { CStr::from_ptr(i.p_object_name) };
            d.names.set(i.object_type, i.object_handle, &name.to_string_lossy());
        });
        next!(d, set_object_name(handle, info), else R::SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn subpasses_with_other_numbers_of_views_have_none_in_common() {
        let views = |m: &[u32]| super::views(m.iter().copied());
        assert_eq!((views(&[]), views(&[0, 0]), views(&[3, 6]), views(&[1, 3])), (1, 1, 2, 0));
    }
}
