//! Modelled time: when each workload would have run on the modelled GPU.
//!
//! A workload's counts give its cycles on the binning, compute and main queues ([`counters::Cost`]). A [`Line`], one a
//! Vulkan queue, places workloads one after another as they are executed: each of the three queues works in the order
//! of submission, a render pass's main phase follows its binning, and nothing begins before the barriers, events,
//! semaphores and submissions that it depends on allow. What depends on nothing overlaps. Ticks are nanoseconds.
//!
//! The host's clock does not enter: gaps between submissions have no length, but what the host has waited for lies
//! before what it submits then ([`Clock::seen`]). Only [`Clock::now`], which calibrated timestamps ask, ties the line
//! to the host's clock: what is submitted afterwards begins no earlier than it said.
//! Queues of one device do not slow each other down.

mod line;

pub use line::{Line, Span};

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Instant;

static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Nanoseconds since the process first asked; never 0.
fn clock_ns() -> u64 {
    EPOCH.elapsed().as_nanos() as u64 + 1
}

/// What the lines of a device share.
pub struct Clock {
    /// Ticks that the host has seen the device reach.
    seen: AtomicU64,
    /// The latest end of any workload.
    latest: AtomicU64,
    /// Device time less host time, where the two have been compared.
    ahead: parking_lot::Mutex<u64>,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { seen: AtomicU64::new(1), latest: AtomicU64::new(1), ahead: Default::default() }
    }
}

impl Clock {
    /// The host knows that the device has come to `t`.
    pub fn seen(&self, t: u64) {
        self.seen.fetch_max(t, SeqCst);
    }
    /// The earliest that work submitted now may begin.
    pub fn floor(&self) -> u64 {
        self.seen.load(SeqCst)
    }
    pub fn reached(&self, t: u64) {
        self.latest.fetch_max(t, SeqCst);
    }
    /// All work so far has been waited for.
    pub fn all_seen(&self) {
        self.seen(self.latest.load(SeqCst));
    }
    /// Device time at this moment of the host's: goes on as the host's clock does, and never lies before work that is
    /// done.
    pub fn now(&self) -> u64 {
        let mut ahead = self.ahead.lock();
        let host = clock_ns();
        let latest = self.latest.load(SeqCst).max(self.floor());
        *ahead = (*ahead).max(latest.saturating_sub(host));
        let now = host + *ahead;
        self.seen(now);
        now
    }
}
