//! The profiling lock, where a setting asks for one that can be held (`TUFF_INTERFACES=lock=…`).
//!
//! Whoever holds an exclusive one has a name that the system knows, which ends with its process however that ends.

#[cfg_attr(unix, path = "profiling_lock/unix.rs")]
#[cfg_attr(windows, path = "profiling_lock/windows.rs")]
mod system;

use parking_lot::Mutex;
use settings::Lock;
use std::time::{Duration, Instant};

/// How often a wait looks again.
const PATIENCE: Duration = Duration::from_millis(1);

/// The device of this process that holds it.
static HELD: Mutex<Option<(u32, system::Name)>> = Mutex::new(None);

/// Takes the lock for a device, within this time. False: another device holds it.
pub(crate) fn acquire(device: u32, timeout: Duration) -> bool {
    let lock = settings::get().interfaces.lock;
    let begun = Instant::now();
    loop {
        let taken = match lock {
            Lock::Free => true,
            Lock::Busy => false,
            Lock::Exclusive => take(device),
        };
        let left = timeout.saturating_sub(begun.elapsed());
        if taken || left.is_zero() {
            return taken;
        }
        std::thread::sleep(left.min(PATIENCE));
    }
}

fn take(device: u32) -> bool {
    let mut held = HELD.lock();
    if let Some((holder, _)) = &*held {
        return *holder == device;
    }
    *held = system::name().map(|name| (device, name));
    held.is_some()
}

/// A device has the lock no more, if it had it.
pub(crate) fn release(device: u32) {
    let mut held = HELD.lock();
    if held.as_ref().is_some_and(|(holder, _)| *holder == device) {
        *held = None;
    }
}
