//! Fences, semaphores and events, and the one place where everybody waits.
//!
//! All state changes of one device happen under one lock with one condition variable ([`Hub`]): waiting for any or
//! all of several objects, from the host or from a queue, is then the same loop. Signals are rare next to the work
//! between them.

use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

#[derive(Default)]
pub struct Hub {
    lock: Mutex<()>,
    changed: Condvar,
    pub lost: AtomicBool,
}

impl Hub {
    /// Runs `change` under the lock and wakes every waiter.
    pub fn change<R>(&self, change: impl FnOnce() -> R) -> R {
        let _held = self.lock.lock();
        let r = change();
        self.changed.notify_all();
        r
    }

    /// Waits until `ready` (evaluated under the lock, may take the signal) or the timeout in ns; false on timeout.
    /// `u64::MAX` waits for ever. A lost device ends every wait with true: callers look at [`Hub::lost`].
    pub fn wait(&self, timeout_ns: u64, mut ready: impl FnMut() -> bool) -> bool {
        let end = Instant::now().checked_add(Duration::from_nanos(timeout_ns.min(1 << 60)));
        let mut held = self.lock.lock();
        loop {
            if ready() || self.lost.load(SeqCst) {
                return true;
            }
            match end {
                _ if timeout_ns == u64::MAX => self.changed.wait(&mut held),
                Some(end) => {
                    if self.changed.wait_until(&mut held, end).timed_out() {
                        return ready() || self.lost.load(SeqCst);
                    }
                }
                None => self.changed.wait(&mut held),
            }
        }
    }

    /// Marks the device lost; every wait ends.
    pub fn lose(&self) {
        self.change(|| self.lost.store(true, SeqCst));
    }
    pub fn is_lost(&self) -> bool {
        self.lost.load(SeqCst)
    }
}

/// VkFence.
#[derive(Default)]
pub struct Fence {
    pub signaled: AtomicBool,
    /// Modelled time of the signal.
    pub time: AtomicU64,
}

/// VkEvent.
#[derive(Default)]
pub struct Event {
    pub set: AtomicBool,
    /// Modelled time of the last signal by the device.
    pub time: AtomicU64,
}

/// VkSemaphore. Binary: `value` is 0 or 1 and a wait takes it back to 0.
pub struct Semaphore {
    pub timeline: bool,
    pub value: AtomicU64,
    /// Modelled time of the last signal by the device.
    pub time: AtomicU64,
}

impl Semaphore {
    pub fn binary() -> Arc<Semaphore> {
        Arc::new(Semaphore { timeline: false, value: AtomicU64::new(0), time: AtomicU64::new(0) })
    }
    pub fn timeline(initial: u64) -> Arc<Semaphore> {
        Arc::new(Semaphore { timeline: true, value: AtomicU64::new(initial), time: AtomicU64::new(0) })
    }
    /// Under the hub's lock.
    pub fn ready(&self, value: u64) -> bool {
        self.value.load(SeqCst) >= if self.timeline { value } else { 1 }
    }
    /// Under the hub's lock, once ready.
    pub fn take(&self) {
        if !self.timeline {
            self.value.store(0, SeqCst);
        }
    }
    /// Under the hub's lock. A timeline never goes back.
    pub fn signal(&self, value: u64) {
        if self.timeline {
            self.value.fetch_max(value, SeqCst);
        } else {
            self.value.store(1, SeqCst);
        }
    }
}
