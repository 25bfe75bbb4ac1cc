//! What semaphores and fences have in common: a payload of their own, one imported for a while, and descriptors to both
//! (§ Importing Semaphore Payloads, § Importing Fence Payloads).
//!
//! An opaque descriptor, or an opaque handle of Windows, is a page that all share ([`machine::payload`]). A sync file's descriptor is −1, which means
//! signalled: exporting one waits for the signal. An imported one is waited for at once.

#[cfg_attr(unix, path = "shared_sync/unix.rs")]
#[cfg_attr(windows, path = "shared_sync/windows.rs")]
pub(crate) mod system;

pub(crate) use system::{exported, of_fence, of_semaphore, opened, signalled};

use crate::base::answer::{Answer, invalid};
use crate::device::Device;
use machine::payload::{Kind, Payload, Shared};
use parking_lot::Mutex;
use std::ffi::c_int;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An object's payloads.
pub(crate) struct Payloads<T> {
    permanent: Mutex<Arc<T>>,
    temporary: Mutex<Option<Arc<T>>>,
}

impl<T> Payloads<T> {
    pub fn new(own: Arc<T>) -> Payloads<T> {
        Payloads { permanent: Mutex::new(own), temporary: Mutex::default() }
    }
    /// What it stands for now.
    pub fn now(&self) -> Arc<T> {
        self.temporary.lock().clone().unwrap_or_else(|| self.permanent.lock().clone())
    }
    /// What it stands for now, and goes back from what was imported for a while.
    pub fn taken(&self) -> Arc<T> {
        self.temporary.lock().take().unwrap_or_else(|| self.permanent.lock().clone())
    }
    /// Its own, what was imported for a while gone.
    pub fn restored(&self) -> Arc<T> {
        *self.temporary.lock() = None;
        self.permanent.lock().clone()
    }
    pub fn import(&self, payload: Arc<T>, temporary: bool) {
        match temporary {
            true => *self.temporary.lock() = Some(payload),
            false => *self.permanent.lock() = payload,
        }
    }
}

/// A new payload that others may share, in this memory.
pub(crate) fn shareable(
    device: &Device,
    kind: Kind,
    value: u64,
    memory: Option<Shared>,
) -> Answer<Arc<Payload>> {
    let memory = memory.ok_or(vk::Result::ERROR_OUT_OF_HOST_MEMORY)?;
    known(device, Payload::within(memory, kind, value))
}

/// A payload that others have too.
fn known(device: &Device, payload: Payload) -> Answer<Arc<Payload>> {
    let payload = Arc::new(payload);
    device.gpu.watch(&payload)?;
    gpu::hazards::host::waits_elsewhere(&device.gpu.shared);
    Ok(payload)
}

/// How often a wait checks whether the device still works.
const PATIENCE_NS: u64 = 20_000_000;

/// The longest that one waits for work that goes on: a command that runs as long loses the device.
const LONGEST: Duration = Duration::from_secs(20);

/// Waits until `take` says that the payload was signalled, and is taken.
pub(crate) fn until(device: &Device, mut take: impl FnMut() -> bool + Send) -> Answer<c_int> {
    let began = Instant::now();
    while !device.hub().wait(PATIENCE_NS, &mut take) {
        // A queue may wait for what the application never signals: then this ends, too.
        if device.gpu.is_idle() || began.elapsed() > LONGEST {
            return Err(invalid("a sync file is asked for of what nothing will signal"));
        }
    }
    gpu::hazards::host::may_know(&device.gpu.shared);
    Ok(-1)
}
