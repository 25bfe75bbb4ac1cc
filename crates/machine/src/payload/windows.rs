//! Payloads of semaphores and fences that several devices share, on a system where there are none yet: the extensions that
//! make them are not reported.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

/// What a payload is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Binary,
    Timeline,
    Fence,
}

pub struct Payload {
    pub kind: Kind,
    changes: AtomicU32,
    /// A timeline's value; else 1 if signalled.
    value: AtomicU64,
}

impl Payload {
    /// None: the system has no way to share it.
    pub fn new(_: Kind, _: u64) -> Option<Payload> {
        None
    }
    pub fn import(_: i32, _: &[Kind]) -> Option<Payload> {
        None
    }
    pub fn export(&self) -> Option<i32> {
        None
    }
    pub fn value(&self) -> u64 {
        self.value.load(SeqCst)
    }
    pub fn signal(&self, value: u64) {
        self.value.fetch_max(value, SeqCst);
        self.changes.fetch_add(1, SeqCst);
    }
    pub fn reset(&self) {
        self.value.store(0, SeqCst);
        self.changes.fetch_add(1, SeqCst);
    }
    pub fn changes(&self) -> &AtomicU32 {
        &self.changes
    }
}
