//! The next layer's functions of a device.

use ash::vk;
use std::ffi::CStr;

/// A function's name, by that of its type: PFN_vkThis.
const fn of_type(pfn: &'static str) -> &'static CStr {
    let (_, name) = pfn.as_bytes().split_at("PFN_".len());
    match CStr::from_bytes_with_nul(name) {
        Ok(name) => name,
        Err(_) => panic!("the name of a type ends with its only zero"),
    }
}

macro_rules! table {
    ($($field:ident: $pfn:ident $(| $alias:literal)?;)*) => {
        /// What the next layer has; a function by the name in its type, or its alias.
        pub(crate) struct Table {
            $(pub $field: Option<vk::$pfn>,)*
        }

        impl Table {
            /// # Safety
            /// `get` gives functions of the types that the specification says.
            pub unsafe fn load(get: impl Fn(&CStr) -> vk::PFN_vkVoidFunction) -> Table {
// SAFETY: the caller keeps what is asked for above.
unsafe {
                Table {
                    $($field: get(const { of_type(concat!(stringify!($pfn), "\0")) })
                        $(.or_else(|| get($alias)))?
                        .map(|f| std::mem::transmute::<unsafe extern "system" fn(), vk::$pfn>(f)),)*
                }
            }
}
        }
    };
}

table! {
    destroy_device: PFN_vkDestroyDevice;
    get_device_queue: PFN_vkGetDeviceQueue;
    get_device_queue2: PFN_vkGetDeviceQueue2;
    device_wait_idle: PFN_vkDeviceWaitIdle;
    queue_wait_idle: PFN_vkQueueWaitIdle;
    wait_for_fences: PFN_vkWaitForFences;
    wait_semaphores: PFN_vkWaitSemaphores | c"vkWaitSemaphoresKHR";
    get_fence_status: PFN_vkGetFenceStatus;
    create_command_pool: PFN_vkCreateCommandPool;
    destroy_command_pool: PFN_vkDestroyCommandPool;
    reset_command_pool: PFN_vkResetCommandPool;
    allocate_command_buffers: PFN_vkAllocateCommandBuffers;
    free_command_buffers: PFN_vkFreeCommandBuffers;
    begin_command_buffer: PFN_vkBeginCommandBuffer;
    end_command_buffer: PFN_vkEndCommandBuffer;
    reset_command_buffer: PFN_vkResetCommandBuffer;
    create_query_pool: PFN_vkCreateQueryPool;
    destroy_query_pool: PFN_vkDestroyQueryPool;
    get_query_pool_results: PFN_vkGetQueryPoolResults;
    acquire_profiling_lock: PFN_vkAcquireProfilingLockKHR;
    release_profiling_lock: PFN_vkReleaseProfilingLockKHR;
    create_buffer: PFN_vkCreateBuffer;
    destroy_buffer: PFN_vkDestroyBuffer;
    get_buffer_memory_requirements: PFN_vkGetBufferMemoryRequirements;
    allocate_memory: PFN_vkAllocateMemory;
    free_memory: PFN_vkFreeMemory;
    bind_buffer_memory: PFN_vkBindBufferMemory;
    map_memory: PFN_vkMapMemory;
    create_semaphore: PFN_vkCreateSemaphore;
    destroy_semaphore: PFN_vkDestroySemaphore;
    signal_semaphore: PFN_vkSignalSemaphore | c"vkSignalSemaphoreKHR";
    get_semaphore_counter_value: PFN_vkGetSemaphoreCounterValue | c"vkGetSemaphoreCounterValueKHR";
    create_render_pass: PFN_vkCreateRenderPass;
    create_render_pass2: PFN_vkCreateRenderPass2 | c"vkCreateRenderPass2KHR";
    destroy_render_pass: PFN_vkDestroyRenderPass;
    queue_submit: PFN_vkQueueSubmit;
    queue_submit2: PFN_vkQueueSubmit2 | c"vkQueueSubmit2KHR";
    queue_bind_sparse: PFN_vkQueueBindSparse;
    queue_present: PFN_vkQueuePresentKHR;
    set_object_name: PFN_vkSetDebugUtilsObjectNameEXT;
    queue_begin_label: PFN_vkQueueBeginDebugUtilsLabelEXT;
    queue_end_label: PFN_vkQueueEndDebugUtilsLabelEXT;
    queue_insert_label: PFN_vkQueueInsertDebugUtilsLabelEXT;
    cmd_begin_label: PFN_vkCmdBeginDebugUtilsLabelEXT;
    cmd_end_label: PFN_vkCmdEndDebugUtilsLabelEXT;
    cmd_insert_label: PFN_vkCmdInsertDebugUtilsLabelEXT;
    cmd_bind_pipeline: PFN_vkCmdBindPipeline;
    cmd_execute_commands: PFN_vkCmdExecuteCommands;
    cmd_pipeline_barrier: PFN_vkCmdPipelineBarrier;
    cmd_write_timestamp: PFN_vkCmdWriteTimestamp;
    reset_query_pool: PFN_vkResetQueryPool | c"vkResetQueryPoolEXT";
    cmd_begin_query: PFN_vkCmdBeginQuery;
    cmd_end_query: PFN_vkCmdEndQuery;
    cmd_reset_query_pool: PFN_vkCmdResetQueryPool;
    cmd_copy_query_pool_results: PFN_vkCmdCopyQueryPoolResults;
    cmd_begin_render_pass: PFN_vkCmdBeginRenderPass;
    cmd_begin_render_pass2: PFN_vkCmdBeginRenderPass2 | c"vkCmdBeginRenderPass2KHR";
    cmd_next_subpass: PFN_vkCmdNextSubpass;
    cmd_next_subpass2: PFN_vkCmdNextSubpass2 | c"vkCmdNextSubpass2KHR";
    cmd_end_render_pass: PFN_vkCmdEndRenderPass;
    cmd_end_render_pass2: PFN_vkCmdEndRenderPass2 | c"vkCmdEndRenderPass2KHR";
    cmd_begin_rendering: PFN_vkCmdBeginRendering | c"vkCmdBeginRenderingKHR";
    cmd_end_rendering: PFN_vkCmdEndRendering | c"vkCmdEndRenderingKHR";
    cmd_dispatch: PFN_vkCmdDispatch;
    cmd_dispatch_indirect: PFN_vkCmdDispatchIndirect;
    cmd_dispatch_base: PFN_vkCmdDispatchBase | c"vkCmdDispatchBaseKHR";
    cmd_copy_buffer: PFN_vkCmdCopyBuffer;
    cmd_copy_buffer2: PFN_vkCmdCopyBuffer2 | c"vkCmdCopyBuffer2KHR";
    cmd_copy_image: PFN_vkCmdCopyImage;
    cmd_copy_image2: PFN_vkCmdCopyImage2 | c"vkCmdCopyImage2KHR";
    cmd_copy_buffer_to_image: PFN_vkCmdCopyBufferToImage;
    cmd_copy_buffer_to_image2: PFN_vkCmdCopyBufferToImage2 | c"vkCmdCopyBufferToImage2KHR";
    cmd_copy_image_to_buffer: PFN_vkCmdCopyImageToBuffer;
    cmd_copy_image_to_buffer2: PFN_vkCmdCopyImageToBuffer2 | c"vkCmdCopyImageToBuffer2KHR";
    cmd_blit_image: PFN_vkCmdBlitImage;
    cmd_blit_image2: PFN_vkCmdBlitImage2 | c"vkCmdBlitImage2KHR";
    cmd_resolve_image: PFN_vkCmdResolveImage;
    cmd_resolve_image2: PFN_vkCmdResolveImage2 | c"vkCmdResolveImage2KHR";
    cmd_clear_color_image: PFN_vkCmdClearColorImage;
    cmd_clear_depth_stencil_image: PFN_vkCmdClearDepthStencilImage;
    cmd_fill_buffer: PFN_vkCmdFillBuffer;
    cmd_update_buffer: PFN_vkCmdUpdateBuffer;
    cmd_trace_rays: PFN_vkCmdTraceRaysKHR;
    cmd_trace_rays_indirect: PFN_vkCmdTraceRaysIndirectKHR;
    cmd_trace_rays_indirect2: PFN_vkCmdTraceRaysIndirect2KHR;
    cmd_build_structures: PFN_vkCmdBuildAccelerationStructuresKHR;
    cmd_build_structures_indirect: PFN_vkCmdBuildAccelerationStructuresIndirectKHR;
    cmd_copy_structure: PFN_vkCmdCopyAccelerationStructureKHR;
    cmd_copy_structure_to_memory: PFN_vkCmdCopyAccelerationStructureToMemoryKHR;
    cmd_copy_memory_to_structure: PFN_vkCmdCopyMemoryToAccelerationStructureKHR;
    cmd_build_micromaps: PFN_vkCmdBuildMicromapsEXT;
    cmd_copy_micromap: PFN_vkCmdCopyMicromapEXT;
    cmd_copy_micromap_to_memory: PFN_vkCmdCopyMicromapToMemoryEXT;
    cmd_copy_memory_to_micromap: PFN_vkCmdCopyMemoryToMicromapEXT;
}

/// Calls a function of the next layer by its field; nothing happens where there is none, for then nobody has the
/// layer's own either.
macro_rules! next {
    ($device:expr, $field:ident($($argument:expr),* $(,)?)) => {
        if let Some(f) = $device.table.$field {
            f($($argument),*)
        }
    };
    ($device:expr, $field:ident($($argument:expr),* $(,)?), else $otherwise:expr) => {
        match $device.table.$field {
            Some(f) => f($($argument),*),
            None => $otherwise,
        }
    };
}
pub(crate) use next;
