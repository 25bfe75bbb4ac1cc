//! How fences and semaphores can be shared between processes.

use vk::{ExternalFenceHandleTypeFlags as Fences, ExternalSemaphoreHandleTypeFlags as Flags};

/// The opaque handles of this system.
pub(crate) const SEMAPHORES: Flags = if cfg!(windows) { Flags::OPAQUE_WIN32 } else { Flags::OPAQUE_FD };
pub(crate) const FENCES: Fences = if cfg!(windows) { Fences::OPAQUE_WIN32 } else { Fences::OPAQUE_FD };

/// What can be done with a fence shared by one kind of handle.
pub(crate) fn fence(handle: Fences) -> Fences {
    let sync = cfg!(unix) && handle == Fences::SYNC_FD;
    if handle == FENCES || sync { handle } else { Default::default() }
}

/// What can be done with a semaphore shared by one kind of handle.
pub(crate) fn semaphore(
    handle: vk::ExternalSemaphoreHandleTypeFlags,
    timeline: bool,
) -> vk::ExternalSemaphoreHandleTypeFlags {
    match handle {
        SEMAPHORES => SEMAPHORES,
        Flags::SYNC_FD if cfg!(unix) && !timeline => Flags::SYNC_FD,
        _ => Default::default(),
    }
}
