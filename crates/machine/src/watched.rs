//! A thread of a device's that sleeps until a shared payload changes, and has those look again who wait at the device:
//! the device that signalled it may be another one, of another process.

use crate::payload::Payload;
use crate::shared::Shared;
use crate::threads::Thread;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Weak};

/// Words that one futex_waitv(2) may sleep on.
const MOST: usize = libc::FUTEX_WAITV_MAX as usize;
/// How long it sleeps where it can't sleep on all that may change.
const NAP_NS: i64 = 1_000_000;

#[derive(Default)]
struct Inner {
    payloads: Mutex<Vec<(Weak<Payload>, u32)>>,
    /// Changes with the list, and at the end.
    news: AtomicU32,
    ends: AtomicBool,
}

/// The shared payloads that a device knows; the thread starts with the first.
#[derive(Default)]
pub struct Watched {
    inner: Arc<Inner>,
    thread: Mutex<Option<Thread>>,
}

impl Watched {
    /// Watches a payload for as long as it lives.
    ///
    /// # Errors
    /// The system's, when it has no thread.
    pub fn add(&self, payload: &Arc<Payload>, shared: &Arc<Shared>) -> std::io::Result<()> {
        let mut thread = self.thread.lock();
        if thread.is_none() {
            let (inner, shared) = (self.inner.clone(), shared.clone());
            let named = std::thread::Builder::new().name("tuff-shared".into());
            *thread = Some(Thread::spawn(named, move || inner.watch(&shared))?);
        }
        self.inner.payloads.lock().push((Arc::downgrade(payload), payload.changes().load(SeqCst)));
        self.inner.tell();
        Ok(())
    }

    /// Ends the thread.
    pub fn end(&self) {
        self.inner.ends.store(true, SeqCst);
        self.inner.tell();
        if let Some(t) = self.thread.lock().take() {
            t.join();
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.end();
    }
}

impl Inner {
    fn tell(&self) {
        self.news.fetch_add(1, SeqCst);
        // SAFETY: wakes the thread that sleeps on this word.
        unsafe { libc::syscall(libc::SYS_futex, self.news.as_ptr(), libc::FUTEX_WAKE, 1) };
    }

    fn watch(&self, shared: &Shared) {
        while !self.ends.load(SeqCst) {
            let news = self.news.load(SeqCst);
            let mut changed = false;
            // They stay while their words are slept on.
            let mut held = Vec::new();
            self.payloads.lock().retain_mut(|(payload, seen)| {
                let Some(p) = payload.upgrade() else { return false };
                let now = p.changes().load(SeqCst);
                changed |= std::mem::replace(seen, now) != now;
                held.push((p, now));
                true
            });
            if changed {
                shared.hub.change(|| shared.turns.look());
                continue;
            }
            let words = held.iter().map(|(p, seen)| (p.changes(), *seen));
            sleep(std::iter::once((&self.news, news)).chain(words), held.len() + 1);
        }
    }
}

/// Sleeps until one of the `count` words is not what it was any more; not for long where the system can't sleep on so many.
fn sleep<'a>(words: impl Iterator<Item = (&'a AtomicU32, u32)>, count: usize) {
    /// `struct futex_waitv` (futex_waitv(2)).
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Waiter {
        val: u64,
        uaddr: u64,
        flags: u32,
        reserved: u32,
    }
    const FUTEX2_SIZE_U32: u32 = 2;
    let nap = libc::timespec { tv_sec: 0, tv_nsec: NAP_NS };
    let waiters: Vec<Waiter> = words
        .take(MOST)
        .map(|(word, was)| Waiter {
            val: was as u64,
            uaddr: word.as_ptr() as u64,
            flags: FUTEX2_SIZE_U32,
            reserved: 0,
        })
        .collect();
    let end = (count > MOST).then(|| {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: writes a timespec.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
        let ns = now.tv_nsec + NAP_NS;
        libc::timespec { tv_sec: now.tv_sec + ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 }
    });
    let until = end.as_ref().map_or(std::ptr::null(), |e| e as *const libc::timespec);
    // SAFETY: the words live in the caller's hands; an older system knows no such call, and says so.
    let unknown = unsafe {
        let n = waiters.len();
        let r = libc::syscall(libc::SYS_futex_waitv, waiters.as_ptr(), n, 0, until, libc::CLOCK_MONOTONIC);
        r < 0 && *libc::__errno_location() == libc::ENOSYS
    };
    if unknown {
        // SAFETY: sleeps for a constant time.
        unsafe { libc::nanosleep(&nap, std::ptr::null_mut()) };
    }
}
