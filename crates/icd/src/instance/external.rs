//! How fences and semaphores can be shared between processes.

use vk::ExternalSemaphoreHandleTypeFlags as Flags;

/// What can be done with a fence shared by one kind of handle.
pub(crate) fn fence(handle: vk::ExternalFenceHandleTypeFlags) -> vk::ExternalFenceHandleTypeFlags {
    if cfg!(unix)
        && (handle == vk::ExternalFenceHandleTypeFlags::OPAQUE_FD
            || handle == vk::ExternalFenceHandleTypeFlags::SYNC_FD)
    {
        handle
    } else {
        Default::default()
    }
}

/// What can be done with a semaphore shared by one kind of handle.
pub(crate) fn semaphore(
    handle: vk::ExternalSemaphoreHandleTypeFlags,
    timeline: bool,
) -> vk::ExternalSemaphoreHandleTypeFlags {
    match handle {
        Flags::OPAQUE_FD if cfg!(unix) => Flags::OPAQUE_FD,
        Flags::SYNC_FD if cfg!(unix) && !timeline => Flags::SYNC_FD,
        _ => Default::default(),
    }
}
