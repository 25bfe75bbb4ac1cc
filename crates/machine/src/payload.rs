//! Payloads of semaphores and fences that several devices share, in one process or several, by an opaque file descriptor
//! (VK_KHR_external_semaphore_fd, VK_KHR_external_fence_fd) or an opaque handle of Windows (the same extensions' `_win32`): a page of memory
//! that all of them map.
//!
//! What is in the page anybody may change who has the handle: it is read and written by atomics alone, any value is a
//! payload's, and nobody can make it shorter.

#[cfg_attr(unix, path = "payload/unix.rs")]
#[cfg_attr(windows, path = "payload/windows.rs")]
mod system;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
pub use system::Shared;

/// What a payload is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Binary,
    Timeline,
    Fence,
}

/// What the page holds.
#[repr(C)]
struct Page {
    magic: u64,
    kind: u32,
    /// Goes on with every change, and is what others sleep on.
    changes: AtomicU32,
    /// A timeline's value; else 1 if signalled.
    value: AtomicU64,
}

/// Another layout, another number.
const MAGIC: u64 = u64::from_le_bytes(*b"tuffsyn1");
/// Of the memory that a payload lies in.
pub const BYTES: usize = 4096;

pub struct Payload {
    memory: Shared,
    pub kind: Kind,
}

impl Payload {
    /// `None` where the system has no handle or memory left.
    pub fn new(kind: Kind, value: u64) -> Option<Payload> {
        Some(Payload::within(Shared::new(BYTES as u64)?, kind, value))
    }

    /// In memory of [`BYTES`] that nobody else has yet.
    pub fn within(memory: Shared, kind: Kind, value: u64) -> Payload {
        let page = Page { magic: MAGIC, kind: kind as u32, changes: AtomicU32::new(0), value: value.into() };
        // SAFETY: the page is ours alone as yet.
        unsafe { memory.at().cast::<Page>().write(page) };
        Payload { memory, kind }
    }

    /// That in another's memory of [`BYTES`].
    ///
    /// # Errors
    /// The memory, if what is there is none of `kinds`.
    pub fn opened(memory: Shared, kinds: &[Kind]) -> Result<Payload, Shared> {
        let page = memory.at().cast::<Page>();
        // SAFETY: a page that cannot go away.
        let (magic, number) =
            unsafe { ((&raw const (*page).magic).read(), (&raw const (*page).kind).read()) };
        match kinds.iter().copied().find(|k| *k as u32 == number).filter(|_| magic == MAGIC) {
            Some(kind) => Ok(Payload { memory, kind }),
            None => Err(memory),
        }
    }

    fn page(&self) -> &Page {
        // SAFETY: mapped as long as this lives; what others change of it is atomic.
        unsafe { &*self.memory.at().cast() }
    }

    pub fn value(&self) -> u64 {
        self.page().value.load(SeqCst)
    }

    /// A timeline goes forward only.
    pub fn signal(&self, value: u64) {
        match self.kind {
            Kind::Timeline => _ = self.page().value.fetch_max(value, SeqCst),
            _ => self.page().value.store(1, SeqCst),
        }
        self.changed();
    }

    pub fn reset(&self) {
        self.page().value.store(0, SeqCst);
        self.changed();
    }

    /// What [`Payload::changed`] counts; sleepers sleep on it.
    pub fn changes(&self) -> &AtomicU32 {
        &self.page().changes
    }

    fn changed(&self) {
        self.changes().fetch_add(1, SeqCst);
        system::wake(self.changes());
    }
}
