//! Modelled time: when each workload would have run on the modelled GPU.
//!
//! A workload's counts give its jobs for the binning, compute and main queues ([`counters::cost`]), which [`schedule`] places: here is what the
//! lines of a device share.
//!
//! The host's clock does not enter: gaps between submissions have no length, but what the host has waited for lies
//! before what it submits then ([`Clock::seen`]). Only [`Clock::now`], which calibrated timestamps ask, ties the line
//! to the host's clock: what is submitted afterwards begins no earlier than it said.

pub use schedule::{Ahead, Gpu, Known, Line, Ran, Runs, Span, Told, Transfer};

use parking_lot::{Mutex, MutexGuard};
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
    /// What the host has seen the device reach.
    seen: AtomicU64,
    /// The latest end of any workload.
    latest: AtomicU64,
    /// Device time less host time, where the two have been compared.
    ahead: Mutex<u64>,
    gpu: Mutex<Gpu>,
}

impl Default for Clock {
    fn default() -> Clock {
        let (ahead, gpu) = Default::default();
        Clock { seen: AtomicU64::new(1), latest: AtomicU64::new(1), ahead, gpu }
    }
}

impl Clock {
    pub fn gpu(&self) -> MutexGuard<'_, Gpu> {
        self.gpu.lock()
    }
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
