//! The next layer's functions of a device.

use ash::vk;
use std::ffi::CStr;

macro_rules! table {
    ($($field:ident: $pfn:ident = $($name:literal)|+;)*) => {
        /// What the next layer has; a function under any of its names.
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
                    $($field: None
                        $(.or_else(|| get($name)))+
                        .map(|f| std::mem::transmute::<unsafe extern "system" fn(), vk::$pfn>(f)),)*
                }
            }
}
        }
    };
}

table! {
    destroy_device: PFN_vkDestroyDevice = c"vkDestroyDevice";
    get_device_queue: PFN_vkGetDeviceQueue = c"vkGetDeviceQueue";
    get_device_queue2: PFN_vkGetDeviceQueue2 = c"vkGetDeviceQueue2";
    device_wait_idle: PFN_vkDeviceWaitIdle = c"vkDeviceWaitIdle";
    queue_wait_idle: PFN_vkQueueWaitIdle = c"vkQueueWaitIdle";
    wait_for_fences: PFN_vkWaitForFences = c"vkWaitForFences";
    wait_semaphores: PFN_vkWaitSemaphores = c"vkWaitSemaphores" | c"vkWaitSemaphoresKHR";
    get_fence_status: PFN_vkGetFenceStatus = c"vkGetFenceStatus";
    create_command_pool: PFN_vkCreateCommandPool = c"vkCreateCommandPool";
    destroy_command_pool: PFN_vkDestroyCommandPool = c"vkDestroyCommandPool";
    reset_command_pool: PFN_vkResetCommandPool = c"vkResetCommandPool";
    allocate_command_buffers: PFN_vkAllocateCommandBuffers = c"vkAllocateCommandBuffers";
    free_command_buffers: PFN_vkFreeCommandBuffers = c"vkFreeCommandBuffers";
    begin_command_buffer: PFN_vkBeginCommandBuffer = c"vkBeginCommandBuffer";
    end_command_buffer: PFN_vkEndCommandBuffer = c"vkEndCommandBuffer";
    reset_command_buffer: PFN_vkResetCommandBuffer = c"vkResetCommandBuffer";
    create_query_pool: PFN_vkCreateQueryPool = c"vkCreateQueryPool";
    destroy_query_pool: PFN_vkDestroyQueryPool = c"vkDestroyQueryPool";
    get_query_pool_results: PFN_vkGetQueryPoolResults = c"vkGetQueryPoolResults";
    acquire_profiling_lock: PFN_vkAcquireProfilingLockKHR = c"vkAcquireProfilingLockKHR";
    release_profiling_lock: PFN_vkReleaseProfilingLockKHR = c"vkReleaseProfilingLockKHR";
    create_buffer: PFN_vkCreateBuffer = c"vkCreateBuffer";
    destroy_buffer: PFN_vkDestroyBuffer = c"vkDestroyBuffer";
    get_buffer_memory_requirements: PFN_vkGetBufferMemoryRequirements = c"vkGetBufferMemoryRequirements";
    allocate_memory: PFN_vkAllocateMemory = c"vkAllocateMemory";
    free_memory: PFN_vkFreeMemory = c"vkFreeMemory";
    bind_buffer_memory: PFN_vkBindBufferMemory = c"vkBindBufferMemory";
    map_memory: PFN_vkMapMemory = c"vkMapMemory";
    create_semaphore: PFN_vkCreateSemaphore = c"vkCreateSemaphore";
    destroy_semaphore: PFN_vkDestroySemaphore = c"vkDestroySemaphore";
    signal_semaphore: PFN_vkSignalSemaphore = c"vkSignalSemaphore" | c"vkSignalSemaphoreKHR";
    get_semaphore_counter_value: PFN_vkGetSemaphoreCounterValue =
        c"vkGetSemaphoreCounterValue" | c"vkGetSemaphoreCounterValueKHR";
    create_render_pass: PFN_vkCreateRenderPass = c"vkCreateRenderPass";
    create_render_pass2: PFN_vkCreateRenderPass2 = c"vkCreateRenderPass2" | c"vkCreateRenderPass2KHR";
    destroy_render_pass: PFN_vkDestroyRenderPass = c"vkDestroyRenderPass";
    queue_submit: PFN_vkQueueSubmit = c"vkQueueSubmit";
    queue_submit2: PFN_vkQueueSubmit2 = c"vkQueueSubmit2" | c"vkQueueSubmit2KHR";
    queue_bind_sparse: PFN_vkQueueBindSparse = c"vkQueueBindSparse";
    queue_present: PFN_vkQueuePresentKHR = c"vkQueuePresentKHR";
    set_object_name: PFN_vkSetDebugUtilsObjectNameEXT = c"vkSetDebugUtilsObjectNameEXT";
    queue_begin_label: PFN_vkQueueBeginDebugUtilsLabelEXT = c"vkQueueBeginDebugUtilsLabelEXT";
    queue_end_label: PFN_vkQueueEndDebugUtilsLabelEXT = c"vkQueueEndDebugUtilsLabelEXT";
    queue_insert_label: PFN_vkQueueInsertDebugUtilsLabelEXT = c"vkQueueInsertDebugUtilsLabelEXT";
    cmd_begin_label: PFN_vkCmdBeginDebugUtilsLabelEXT = c"vkCmdBeginDebugUtilsLabelEXT";
    cmd_end_label: PFN_vkCmdEndDebugUtilsLabelEXT = c"vkCmdEndDebugUtilsLabelEXT";
    cmd_insert_label: PFN_vkCmdInsertDebugUtilsLabelEXT = c"vkCmdInsertDebugUtilsLabelEXT";
    cmd_bind_pipeline: PFN_vkCmdBindPipeline = c"vkCmdBindPipeline";
    cmd_execute_commands: PFN_vkCmdExecuteCommands = c"vkCmdExecuteCommands";
    cmd_pipeline_barrier: PFN_vkCmdPipelineBarrier = c"vkCmdPipelineBarrier";
    cmd_write_timestamp: PFN_vkCmdWriteTimestamp = c"vkCmdWriteTimestamp";
    reset_query_pool: PFN_vkResetQueryPool = c"vkResetQueryPool" | c"vkResetQueryPoolEXT";
    cmd_begin_query: PFN_vkCmdBeginQuery = c"vkCmdBeginQuery";
    cmd_end_query: PFN_vkCmdEndQuery = c"vkCmdEndQuery";
    cmd_reset_query_pool: PFN_vkCmdResetQueryPool = c"vkCmdResetQueryPool";
    cmd_copy_query_pool_results: PFN_vkCmdCopyQueryPoolResults = c"vkCmdCopyQueryPoolResults";
    cmd_begin_render_pass: PFN_vkCmdBeginRenderPass = c"vkCmdBeginRenderPass";
    cmd_begin_render_pass2: PFN_vkCmdBeginRenderPass2 = c"vkCmdBeginRenderPass2" | c"vkCmdBeginRenderPass2KHR";
    cmd_next_subpass: PFN_vkCmdNextSubpass = c"vkCmdNextSubpass";
    cmd_next_subpass2: PFN_vkCmdNextSubpass2 = c"vkCmdNextSubpass2" | c"vkCmdNextSubpass2KHR";
    cmd_end_render_pass: PFN_vkCmdEndRenderPass = c"vkCmdEndRenderPass";
    cmd_end_render_pass2: PFN_vkCmdEndRenderPass2 = c"vkCmdEndRenderPass2" | c"vkCmdEndRenderPass2KHR";
    cmd_begin_rendering: PFN_vkCmdBeginRendering = c"vkCmdBeginRendering" | c"vkCmdBeginRenderingKHR";
    cmd_end_rendering: PFN_vkCmdEndRendering = c"vkCmdEndRendering" | c"vkCmdEndRenderingKHR";
    cmd_dispatch: PFN_vkCmdDispatch = c"vkCmdDispatch";
    cmd_dispatch_indirect: PFN_vkCmdDispatchIndirect = c"vkCmdDispatchIndirect";
    cmd_dispatch_base: PFN_vkCmdDispatchBase = c"vkCmdDispatchBase" | c"vkCmdDispatchBaseKHR";
    cmd_copy_buffer: PFN_vkCmdCopyBuffer = c"vkCmdCopyBuffer";
    cmd_copy_buffer2: PFN_vkCmdCopyBuffer2 = c"vkCmdCopyBuffer2" | c"vkCmdCopyBuffer2KHR";
    cmd_copy_image: PFN_vkCmdCopyImage = c"vkCmdCopyImage";
    cmd_copy_image2: PFN_vkCmdCopyImage2 = c"vkCmdCopyImage2" | c"vkCmdCopyImage2KHR";
    cmd_copy_buffer_to_image: PFN_vkCmdCopyBufferToImage = c"vkCmdCopyBufferToImage";
    cmd_copy_buffer_to_image2: PFN_vkCmdCopyBufferToImage2 =
        c"vkCmdCopyBufferToImage2" | c"vkCmdCopyBufferToImage2KHR";
    cmd_copy_image_to_buffer: PFN_vkCmdCopyImageToBuffer = c"vkCmdCopyImageToBuffer";
    cmd_copy_image_to_buffer2: PFN_vkCmdCopyImageToBuffer2 =
        c"vkCmdCopyImageToBuffer2" | c"vkCmdCopyImageToBuffer2KHR";
    cmd_blit_image: PFN_vkCmdBlitImage = c"vkCmdBlitImage";
    cmd_blit_image2: PFN_vkCmdBlitImage2 = c"vkCmdBlitImage2" | c"vkCmdBlitImage2KHR";
    cmd_resolve_image: PFN_vkCmdResolveImage = c"vkCmdResolveImage";
    cmd_resolve_image2: PFN_vkCmdResolveImage2 = c"vkCmdResolveImage2" | c"vkCmdResolveImage2KHR";
    cmd_clear_color_image: PFN_vkCmdClearColorImage = c"vkCmdClearColorImage";
    cmd_clear_depth_stencil_image: PFN_vkCmdClearDepthStencilImage = c"vkCmdClearDepthStencilImage";
    cmd_fill_buffer: PFN_vkCmdFillBuffer = c"vkCmdFillBuffer";
    cmd_update_buffer: PFN_vkCmdUpdateBuffer = c"vkCmdUpdateBuffer";
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
