//! A thread of a device's that sleeps until a shared payload changes, and has those look again who wait at the device:
//! the device that signalled it may be another one, of another process.

#[cfg_attr(unix, path = "watched/unix.rs")]
#[cfg_attr(windows, path = "watched/windows.rs")]
mod system;

use crate::payload::Payload;
use crate::shared::Shared;
use crate::threads::Thread;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Weak};

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
        system::wake(&self.news);
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
            system::sleep(std::iter::once((&self.news, news)).chain(words), held.len() + 1);
        }
    }
}
