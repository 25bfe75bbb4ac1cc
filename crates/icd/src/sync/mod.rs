//! Fences, semaphores and events, also those that processes share.
//!
//! It must not know what waits or signals.

pub(crate) mod deferred_operation;
pub(crate) mod event;
pub(crate) mod fence;
#[cfg_attr(unix, path = "handles/unix.rs")]
#[cfg_attr(windows, path = "handles/windows.rs")]
pub(crate) mod handles;
pub(crate) mod semaphore;
pub(crate) mod shared_sync;
