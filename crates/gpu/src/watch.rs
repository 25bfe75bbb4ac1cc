//! The watchdog: a thread of a device's that asks work to stop which does not end.
//!
//! A command (a dispatch, a draw, a pass, a copy, whatever they cost together with what they begin) may take
//! `TUFF_WATCHDOG_MS`, and a submission [`SUBMISSION`] times as much. What takes longer is told to stop
//! ([`Hub::stop`](machine::sync::Hub::stop)), which all loops whose length a program sets look at; the queue then says which
//! command it was, and loses the device. Waits for events and semaphores are not work: nothing ends them but what they wait
//! for, or the device's end.

use machine::shared::Shared;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How many commands' time a submission may take.
const SUBMISSION: u32 = 30;

/// What a queue tells of itself.
#[derive(Default)]
pub struct Pulse {
    /// Commands and submissions begun; the thread sees that there is another.
    commands: AtomicU64,
    submissions: AtomicU64,
    working: AtomicBool,
    /// Which of the two took too long, if one did.
    expired: Mutex<Option<Expired>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expired {
    Command,
    Submission,
}

impl Expired {
    /// What it may take, where a command may take so much.
    pub fn limit(self, command: Duration) -> Duration {
        match self {
            Expired::Command => command,
            Expired::Submission => command.saturating_mul(SUBMISSION),
        }
    }
}

impl Pulse {
    pub fn submission(&self) {
        self.submissions.fetch_add(1, Relaxed);
    }
    pub fn command(&self) {
        self.commands.fetch_add(1, Relaxed);
        self.working.store(true, Relaxed);
    }
    /// Nothing is being worked on, until the next command.
    pub fn rest(&self) {
        self.working.store(false, Relaxed);
    }
    /// Why this queue is to stop, if it is the one.
    pub fn expired(&self) -> Option<Expired> {
        *self.expired.lock()
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
    thread: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
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
            let limit = shared.upgrade().map_or(Duration::MAX, |s| s.watchdog);
            let watch = move || watch(&pulses, &shared, limit, || end.recv_timeout(tick(limit)));
            *thread = Some((sender, std::thread::Builder::new().name("tuff-watch".into()).spawn(watch)?));
        }
        Ok(pulse)
    }

    pub fn end(&self) {
        if let Some((sender, thread)) = self.thread.lock().take() {
            drop(sender);
            let _ = thread.join();
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
    let mut seen: Vec<[Seen; 2]> = vec![];
    while sleep() == Err(RecvTimeoutError::Timeout) {
        let Some(shared) = shared.upgrade() else { return };
        let now = Instant::now();
        let pulses = pulses.lock();
        seen.resize_with(pulses.len(), || [Seen { count: 0, since: now }, Seen { count: 0, since: now }]);
        for (p, [command, submission]) in pulses.iter().zip(&mut seen) {
            let slow = command.has_stood(p.commands.load(Relaxed), now, limit);
            let endless =
                submission.has_stood(p.submissions.load(Relaxed), now, Expired::Submission.limit(limit));
            if !p.working.load(Relaxed) {
                (command.since, submission.since) = (now, now);
                continue;
            }
            let why = match (slow, endless) {
                (true, _) => Expired::Command,
                (_, true) => Expired::Submission,
                _ => continue,
            };
            p.expired.lock().get_or_insert(why);
            shared.hub.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Looks so many times, `step` apart, doing `each` before each.
    fn looks(p: &Arc<Pulse>, n: u32, limit: u64, each: impl Fn(u32)) -> Option<Expired> {
        let shared = Arc::new(Shared::new(Arc::new(|_: &str| ())).expect("threads"));
        let pulses = Mutex::new(vec![p.clone()]);
        let i = Cell::new(0);
        watch(&pulses, &Arc::downgrade(&shared), Duration::from_millis(limit), || {
            std::thread::sleep(Duration::from_millis(2));
            each(i.get());
            i.set(i.get() + 1);
            if i.get() > n { Err(RecvTimeoutError::Disconnected) } else { Err(RecvTimeoutError::Timeout) }
        });
        assert_eq!(shared.hub.stops(), p.expired().is_some());
        p.expired()
    }

    #[test]
    fn commands_that_stand_still_are_noticed_and_rest_is_not() {
        let p = Arc::new(Pulse::default());
        assert_eq!(looks(&p, 20, 5, |_| ()), None, "nothing to do");
        assert_eq!(looks(&p, 20, 500, |_| p.command()), None, "one after the other");
        p.rest();
        assert_eq!(looks(&p, 20, 5, |_| ()), None, "a wait");
        p.command();
        assert_eq!(looks(&p, 20, 5, |_| ()), Some(Expired::Command));
    }

    #[test]
    fn submissions_without_end_are_noticed() {
        let p = Arc::new(Pulse::default());
        p.submission();
        assert_eq!(looks(&p, 200, 4, |_| p.command()), Some(Expired::Submission));
        let p = Arc::new(Pulse::default());
        let next = |_| {
            p.submission();
            p.command();
        };
        assert_eq!(looks(&p, 200, 4, next), None, "submissions that end");
    }
}
