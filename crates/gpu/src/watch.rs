//! The watchdog: a thread of a device's that asks work to stop which does not end.
//!
//! A wave may take `TUFF_WATCHDOG_MS`, which it looks at itself ([`wave::Host::wave_time`]): a loop that never ends is that
//! wave's fault, however long the waves before it took together. What does not end by its number (of draws, of workgroups, of
//! lists in lists) is a submission's: it may take [`SUBMISSION`] times as much. Then it is told to stop
//! ([`Hub::stop`](machine::sync::Hub::stop)), which all loops whose length a program sets look at; the queue says where it was,
//! and loses the device. Waits for events and semaphores are not work: nothing ends them but what they wait for, or the
//! device's end.

use machine::shared::Shared;
use machine::threads::Thread;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// How many times a wave's time a submission may take.
const SUBMISSION: u32 = 30;

/// What a submission may take, where a wave may take so much.
pub fn submission_time(wave: Duration) -> Duration {
    wave.saturating_mul(SUBMISSION)
}

/// What a queue tells of itself.
#[derive(Default)]
pub struct Pulse {
    /// Submissions begun; the thread sees that there is another.
    submissions: AtomicU64,
    working: AtomicBool,
    /// One took too long.
    expired: AtomicBool,
}

impl Pulse {
    pub fn submission(&self) {
        self.submissions.fetch_add(1, Relaxed);
    }
    /// There is work, from here to the next [`Self::rest`].
    pub fn work(&self) {
        self.working.store(true, Relaxed);
    }
    /// Nothing is being worked on.
    pub fn rest(&self) {
        self.working.store(false, Relaxed);
    }
    /// Whether this queue is the one that is to stop.
    pub fn expired(&self) -> bool {
        self.expired.load(Relaxed)
    }
}

/// When a counter was last seen to move.
struct Seen {
    count: u64,
    since: Instant,
}

impl Seen {
    fn has_stood(&mut self, count: u64, now: Instant, limit: Duration) -> bool {
        if count != self.count {
            *self = Seen { count, since: now };
        }
        now.duration_since(self.since) > limit
    }
}

/// A device's watchdog; its thread starts with the first queue's.
#[derive(Default)]
pub struct Watch {
    pulses: Arc<Mutex<Vec<Arc<Pulse>>>>,
    /// It ends when the sender is dropped.
    thread: Mutex<Option<(Sender<()>, Thread)>>,
}

impl Watch {
    /// Watches a queue from now on.
    pub fn over(&self, shared: &Arc<Shared>) -> std::io::Result<Arc<Pulse>> {
        let pulse = Arc::new(Pulse::default());
        self.pulses.lock().push(pulse.clone());
        let mut thread = self.thread.lock();
        if thread.is_none() && shared.watchdog != Duration::MAX {
            let (sender, end) = mpsc::channel::<()>();
            let (pulses, shared) = (self.pulses.clone(), Arc::downgrade(shared));
            let limit = shared.upgrade().map_or(Duration::MAX, |s| submission_time(s.watchdog));
            let watch = move || watch(&pulses, &shared, limit, || end.recv_timeout(tick(limit)));
            let named = std::thread::Builder::new().name("tuff-watch".into());
            *thread = Some((sender, Thread::spawn(named, watch)?));
        }
        Ok(pulse)
    }

    pub fn end(&self) {
        if let Some((sender, thread)) = self.thread.lock().take() {
            drop(sender);
            thread.join();
        }
    }
}

/// How often the thread looks.
fn tick(limit: Duration) -> Duration {
    (limit / 8).clamp(Duration::from_millis(1), Duration::from_secs(1))
}

fn watch(
    pulses: &Mutex<Vec<Arc<Pulse>>>,
    shared: &Weak<Shared>,
    limit: Duration,
    sleep: impl Fn() -> Result<(), RecvTimeoutError>,
) {
    let mut seen: Vec<Seen> = vec![];
    while sleep() == Err(RecvTimeoutError::Timeout) {
        let Some(shared) = shared.upgrade() else { return };
        let now = Instant::now();
        let pulses = pulses.lock();
        seen.resize_with(pulses.len(), || Seen { count: 0, since: now });
        for (p, seen) in pulses.iter().zip(&mut seen) {
            let endless = seen.has_stood(p.submissions.load(Relaxed), now, limit);
            if !p.working.load(Relaxed) {
                seen.since = now;
            } else if endless {
                p.expired.store(true, Relaxed);
                shared.hub.stop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Looks so many times, `step` apart, doing `each` before each.
    fn looks(p: &Arc<Pulse>, n: u32, limit: u64, each: impl Fn(u32)) -> bool {
        let shared = Arc::new(Shared::new(Arc::new(|_: &str| ()), true).expect("threads"));
        let pulses = Mutex::new(vec![p.clone()]);
        let i = Cell::new(0);
        watch(&pulses, &Arc::downgrade(&shared), Duration::from_millis(limit), || {
            std::thread::sleep(Duration::from_millis(2));
            each(i.get());
            i.set(i.get() + 1);
            if i.get() > n { Err(RecvTimeoutError::Disconnected) } else { Err(RecvTimeoutError::Timeout) }
        });
        assert_eq!(shared.hub.stops(), p.expired());
        p.expired()
    }

    #[test]
    fn submissions_without_end_are_noticed_and_rest_is_not() {
        let p = Arc::new(Pulse::default());
        assert!(!looks(&p, 20, 5, |_| ()), "nothing to do");
        p.submission();
        p.work();
        assert!(!looks(&p, 20, 60_000, |_| p.work()), "command after command");
        p.rest();
        assert!(!looks(&p, 20, 5, |_| ()), "a wait");
        p.work();
        assert!(looks(&p, 20, 5, |_| p.work()));
        let p = Arc::new(Pulse::default());
        let next = |_| {
            p.submission();
            p.work();
        };
        // Each look is 2 ms after the last, or later; a busy machine's are no fault.
        assert!(!looks(&p, 200, 2000, next), "submissions that end");
    }

    #[test]
    fn a_submission_has_thirty_waves_time() {
        assert_eq!(submission_time(Duration::from_secs(20)), Duration::from_secs(600));
        assert_eq!(submission_time(Duration::MAX), Duration::MAX);
    }
}
