//! Fences, semaphores and events, and the one place where everybody waits.
//!
//! All state changes of one device happen under one lock ([`Hub`]): waiting for any or all of several objects, from the
//! host or from a queue, is then the same. Who changes something looks whether that is what somebody waits for, and
//! wakes only those: a thread that is woken to find that it has to wait on costs more than the look.

use crate::lookout::Lookout;
use crate::payload::{Kind, Payload};
use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use std::thread::Thread;
use std::time::{Duration, Instant};

#[derive(Default)]
pub struct Hub {
    /// The one lock, and those who wait, the longest first.
    waiting: Mutex<Vec<Place>>,
    /// For what waits wait for.
    pub lookout: Lookout,
    lost: AtomicBool,
    /// Work is to stop: the device is lost, or is about to be.
    stopping: AtomicBool,
}

/// A wait that has not ended, on the stack of its thread.
struct Waiter<'a> {
    /// Called under the lock after every change.
    ready: &'a mut (dyn FnMut() -> bool + Send),
    ended: AtomicBool,
    thread: Thread,
}

/// A waiter while it is in the list: its thread does not leave [`Hub::wait`] before it is taken out, under the lock.
struct Place(NonNull<Waiter<'static>>);
// SAFETY: what is behind it is used under the lock alone, and may be sent: the closure is `Send`.
unsafe impl Send for Place {}

impl Place {
    /// Ends the wait, if it is over: the thread to wake.
    ///
    /// # Safety
    /// Under the lock, and in the list; when a thread is given, it is to leave the list before the lock is.
    unsafe fn end(&self, lost: bool) -> Option<Thread> {
        let waiter = self.0.as_ptr();
        // SAFETY: in the list, says the caller: so the waiter stays until `ended`, and under the lock nobody else uses it.
        unsafe {
            if !((*waiter).ready)() && !lost {
                return None;
            }
            let thread = (*waiter).thread.clone();
            // The last look at it: its thread may be gone at once.
            (*waiter).ended.store(true, SeqCst);
            Some(thread)
        }
    }
}

impl Hub {
    /// Runs `change` under the lock, and wakes those whose waits are over.
    pub fn change<R>(&self, change: impl FnOnce() -> R) -> R {
        let waiting = self.waiting.lock();
        let r = change();
        self.wake(waiting);
        r
    }

    /// Wakes those whose waits are over, and gives the lock back. One piece for all changes: they are many.
    #[inline(never)]
    fn wake(&self, mut waiting: MutexGuard<'_, Vec<Place>>) {
        let lost = self.is_lost();
        let mut woken = Vec::new();
        waiting.retain(|place| {
            // SAFETY: under the lock, in the list, and out of it if it has ended.
            let ended = unsafe { place.end(lost) };
            let stays = ended.is_none();
            woken.extend(ended);
            stays
        });
        // They need no lock any more, and none that is held.
        drop(waiting);
        woken.iter().for_each(Thread::unpark);
    }

    /// Waits until `ready` (evaluated under the lock, by any thread; may take the signal: it is not called again once
    /// true) or the timeout in ns; false on timeout. `u64::MAX` waits for ever. A lost device ends every wait with
    /// true: callers look at [`Hub::is_lost`].
    pub fn wait(&self, timeout_ns: u64, mut ready: impl FnMut() -> bool + Send) -> bool {
        let mut waiting = self.waiting.lock();
        if ready() || self.is_lost() {
            return true;
        }
        if timeout_ns == 0 {
            return false;
        }
        // An end too far away to be told is none.
        let end =
            Instant::now().checked_add(Duration::from_nanos(timeout_ns)).filter(|_| timeout_ns != u64::MAX);
        let mut waiter =
            Waiter { ready: &mut ready, ended: AtomicBool::new(false), thread: std::thread::current() };
        let place = NonNull::from(&mut waiter).cast();
        waiting.push(Place(place));
        drop(waiting);
        // SAFETY: `waiter` lives here; `ended` is atomic.
        let ended = || unsafe { (*place.cast::<Waiter>().as_ptr()).ended.load(SeqCst) };
        if self.lookout.look(|| ended().then_some(())).is_some() {
            return true;
        }
        while !ended() {
            let Some(end) = end else {
                std::thread::park();
                continue;
            };
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let mut waiting = self.waiting.lock();
                waiting.retain(|p| p.0 != place);
                return ended();
            }
            std::thread::park_timeout(left);
        }
        true
    }

    /// Marks the device lost; every wait ends, and all work.
    pub fn lose(&self) {
        self.stop();
        self.change(|| self.lost.store(true, SeqCst));
    }
    /// Asks work to stop. Whoever it was asked of says why, then loses the device.
    pub fn stop(&self) {
        self.stopping.store(true, Relaxed);
    }
    /// Asked by every loop whose length a program sets: one load.
    #[inline]
    pub fn stops(&self) -> bool {
        self.stopping.load(Relaxed)
    }
    pub fn is_lost(&self) -> bool {
        self.lost.load(SeqCst)
    }
}

/// VkFence.
#[derive(Default)]
pub struct Fence {
    signaled: AtomicBool,
    /// What others share, if it may be shared: in place of `signaled`.
    shared: Option<Arc<Payload>>,
    /// Modelled time of the signal; of another device's, none.
    pub time: AtomicU64,
    /// Of the signal, of a sanitised device ([`crate::hazards::Mark`]).
    pub mark: AtomicU64,
}

impl Fence {
    pub fn new(signaled: bool) -> Fence {
        Fence { signaled: signaled.into(), ..Fence::default() }
    }
    pub fn of(payload: Arc<Payload>) -> Fence {
        Fence { shared: Some(payload), ..Fence::default() }
    }
    pub fn payload(&self) -> Option<&Arc<Payload>> {
        self.shared.as_ref()
    }
    pub fn is_signaled(&self) -> bool {
        match &self.shared {
            Some(p) => p.value() != 0,
            None => self.signaled.load(SeqCst),
        }
    }
    /// Under the hub's lock.
    pub fn set(&self, signaled: bool) {
        match &self.shared {
            Some(p) if signaled => p.signal(1),
            Some(p) => p.reset(),
            None => self.signaled.store(signaled, SeqCst),
        }
    }
}

/// VkEvent.
#[derive(Default)]
pub struct Event {
    pub set: AtomicBool,
    /// Modelled time of the last signal.
    pub time: AtomicU64,
    /// As a fence's; 0 if the host has set it.
    pub mark: AtomicU64,
    /// Whether it will be set when all that has been submitted is done: [`crate::turns`] alone uses it.
    pub(crate) promised: AtomicBool,
}

/// VkSemaphore. Binary: `value` is 0 or 1 and a wait takes it back to 0.
pub struct Semaphore {
    pub timeline: bool,
    value: AtomicU64,
    /// What others share, if it may be shared: in place of `value`.
    shared: Option<Arc<Payload>>,
    /// The value that it will have when all that has been submitted is done: [`crate::turns`] alone uses it, under its lock.
    promised: AtomicU64,
    /// Modelled times at which values were reached: those of the latest signals, in order.
    times: Mutex<VecDeque<Reached>>,
    /// Values that queues of a sanitised device are to signal, with their marks ([`crate::hazards::Mark`]).
    marks: Mutex<VecDeque<(u64, u64)>>,
}

/// A signal of a semaphore.
struct Reached {
    value: u64,
    time: u64,
}

/// Signals that are remembered: who waits for an older value gets the time of the oldest of them.
const REMEMBERED: usize = 256;

impl Semaphore {
    pub fn binary() -> Arc<Semaphore> {
        Semaphore::new(false, 0, None)
    }
    pub fn timeline(initial: u64) -> Arc<Semaphore> {
        Semaphore::new(true, initial, None)
    }
    /// One that others share.
    pub fn of(payload: Arc<Payload>) -> Arc<Semaphore> {
        Semaphore::new(payload.kind == Kind::Timeline, payload.value(), Some(payload))
    }
    fn new(timeline: bool, initial: u64, shared: Option<Arc<Payload>>) -> Arc<Semaphore> {
        let (value, promised) = (AtomicU64::new(initial), AtomicU64::new(initial));
        Arc::new(Semaphore {
            timeline,
            value,
            shared,
            promised,
            times: Default::default(),
            marks: Default::default(),
        })
    }
    pub fn payload(&self) -> Option<&Arc<Payload>> {
        self.shared.as_ref()
    }
    pub fn value(&self) -> u64 {
        self.shared.as_ref().map_or_else(|| self.value.load(SeqCst), |p| p.value())
    }
    /// Whether a wait for this value has its signal submitted. That of a binary semaphore is then the wait's.
    pub(crate) fn is_promised(&self, value: u64) -> bool {
        let promised = match self.timeline {
            true => self.promised.load(Relaxed) >= value,
            false => self.promised.swap(0, Relaxed) == 1,
        };
        // Or another device has signalled it.
        promised || self.shared.is_some() && self.ready(value)
    }
    pub(crate) fn promise(&self, value: u64) {
        self.promised.fetch_max(if self.timeline { value } else { 1 }, Relaxed);
    }
    /// Under the hub's lock.
    pub fn ready(&self, value: u64) -> bool {
        self.value() >= if self.timeline { value } else { 1 }
    }
    /// Under the hub's lock, once ready.
    pub fn take(&self) {
        match &self.shared {
            _ if self.timeline => {}
            Some(p) => p.reset(),
            None => self.value.store(0, SeqCst),
        }
    }
    /// Under the hub's lock. A timeline never goes back. `time`: the modelled one of the signal.
    pub fn signal(&self, value: u64, time: u64) {
        let value = if self.timeline { value } else { 1 };
        let mut times = self.times.lock();
        if !self.timeline {
            times.clear();
        }
        if times.back().is_none_or(|last| last.value < value) {
            if times.len() == REMEMBERED {
                times.pop_front();
            }
            times.push_back(Reached { value, time });
        }
        if let Some(p) = &self.shared {
            p.signal(value);
        } else if self.timeline {
            self.value.fetch_max(value, SeqCst);
        } else {
            self.value.store(1, SeqCst);
        }
    }
    /// A queue is about to signal this value.
    pub fn mark(&self, value: u64, mark: u64) {
        let mut marks = self.marks.lock();
        if !self.timeline {
            marks.clear();
        } else if marks.len() == REMEMBERED {
            marks.pop_front();
        }
        marks.push_back((value, mark));
    }
    /// The mark of the signal that a wait for a value waits for, if a queue made it; that of a binary semaphore is the wait's.
    pub fn marked(&self, value: u64) -> Option<u64> {
        let mut marks = self.marks.lock();
        match self.timeline {
            true => marks.iter().find(|(v, _)| *v >= value).map(|(_, m)| *m),
            false => marks.pop_back().map(|(_, m)| m),
        }
    }
    /// Marks of the signals up to a value that a timeline has.
    pub fn marks(&self, value: u64) -> Vec<u64> {
        self.marks.lock().iter().filter(|(v, _)| *v <= value).map(|(_, m)| *m).collect()
    }
    /// When it reached a value that it has: 0 if it had it from the beginning.
    pub fn time(&self, value: u64) -> u64 {
        let value = if self.timeline { value } else { 1 };
        let times = self.times.lock();
        let first = times.partition_point(|r| r.value < value);
        times.get(first).map_or(0, |r| r.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    /// What a change made true ends its wait, and only its; what a wait takes, no other gets.
    #[test]
    fn a_signal_that_is_taken_ends_one_wait() {
        let (hub, signals, ended) = (Hub::default(), AtomicU64::new(0), AtomicU32::new(0));
        std::thread::scope(|s| {
            for _ in 0..8 {
                s.spawn(|| {
                    let take = || signals.load(SeqCst) > 0 && signals.fetch_sub(1, SeqCst) > 0;
                    assert!(hub.wait(u64::MAX, take));
                    hub.change(|| ended.fetch_add(1, SeqCst));
                });
            }
            for n in 1..=8 {
                hub.change(|| signals.fetch_add(1, SeqCst));
                assert!(hub.wait(60_000_000_000, || ended.load(SeqCst) == n));
                assert_eq!(signals.load(SeqCst), 0);
            }
        });
        assert!(hub.waiting.lock().is_empty());
    }

    #[test]
    fn each_value_of_a_timeline_has_its_time() {
        let s = Semaphore::timeline(5);
        for (value, time) in [(6, 100), (8, 300), (7, 900), (9, 310)] {
            s.signal(value, time);
        }
        assert_eq!([5, 6, 7, 8, 9].map(|v| s.time(v)), [100, 100, 300, 300, 310]);
        for v in 10..1000 {
            s.signal(v, v);
        }
        assert_eq!([6, 743, 744, 745, 999].map(|v| s.time(v)), [744, 744, 744, 745, 999]);
        let b = Semaphore::binary();
        b.signal(0, 70);
        b.take();
        b.signal(0, 30);
        assert_eq!(b.time(0), 30);
    }

    /// Waits that end by time and by signal at the same moment: no signal is lost, none is taken twice, nobody stays.
    #[test]
    fn ends_by_time_and_by_signal_race() {
        let (hub, signals, taken) = (Hub::default(), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|s| {
            for thread in 0..6u64 {
                let (hub, signals, taken) = (&hub, &signals, &taken);
                s.spawn(move || {
                    for i in 0..5000 {
                        let take = || signals.load(SeqCst) > 0 && signals.fetch_sub(1, SeqCst) > 0;
                        let got = hub.wait((i * 7 + thread) % 13 * 400, take);
                        taken.fetch_add(got as u64, SeqCst);
                    }
                });
            }
            for _ in 0..2 {
                s.spawn(|| (0..10_000).for_each(|_| hub.change(|| _ = signals.fetch_add(1, SeqCst))));
            }
        });
        assert_eq!(taken.load(SeqCst) + signals.load(SeqCst), 20_000);
        assert!(hub.waiting.lock().is_empty());
    }

    #[test]
    fn a_wait_ends_in_time_or_with_the_device() {
        let hub = Hub::default();
        assert!(!hub.wait(0, || false) && !hub.wait(1_000_000, || false));
        assert!(hub.waiting.lock().is_empty());
        // A change that is not what is waited for does not end it.
        let looks = AtomicU32::new(0);
        std::thread::scope(|s| {
            let waiter = s.spawn(|| {
                hub.wait(u64::MAX - 1, || {
                    looks.fetch_add(1, SeqCst);
                    false
                })
            });
            while hub.waiting.lock().is_empty() {
                std::thread::yield_now();
            }
            hub.change(|| ());
            assert_eq!(looks.load(SeqCst), 2);
            assert!(!waiter.is_finished());
            hub.lose();
            assert!(waiter.join().unwrap());
        });
        assert!(hub.wait(u64::MAX, || false), "what is lost is waited for no more");
    }
}
