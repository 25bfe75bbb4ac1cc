//! Payloads of semaphores and fences that several devices share, in one process or several, by an opaque file descriptor
//! (VK_KHR_external_semaphore_fd, VK_KHR_external_fence_fd): a page of memory that all of them map.
//!
//! What is in the page anybody may change who has the descriptor: it is read and written by atomics alone, any value is a
//! payload's, and nobody can make it shorter (its seals).

use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

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
const BYTES: usize = 4096;
const SEALS: i32 = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

pub struct Payload {
    fd: OwnedFd,
    page: *mut Page,
    pub kind: Kind,
}

// SAFETY: the page is memory that lives as long as the payload, and is changed by atomics.
unsafe impl Send for Payload {}
unsafe impl Sync for Payload {}

impl Drop for Payload {
    fn drop(&mut self) {
        // SAFETY: what `map` mapped.
        unsafe { libc::munmap(self.page.cast(), BYTES) };
    }
}

fn map(fd: &OwnedFd) -> Option<*mut Page> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a fresh mapping.
    let p = unsafe { libc::mmap(std::ptr::null_mut(), BYTES, access, libc::MAP_SHARED, fd.as_raw_fd(), 0) };
    (p != libc::MAP_FAILED).then_some(p.cast())
}

impl Payload {
    /// `None` where the system has no descriptor or memory left.
    pub fn new(kind: Kind, value: u64) -> Option<Payload> {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: a fresh descriptor, which nobody else has.
        let fd = unsafe {
            let fd = libc::memfd_create(c"tuff-sync".as_ptr(), flags);
            (fd >= 0).then(|| OwnedFd::from_raw_fd(fd))?
        };
        // SAFETY: a live descriptor.
        let sealed = unsafe {
            files::within_limits(|| libc::ftruncate(fd.as_raw_fd(), BYTES as i64)) == 0
                && libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, SEALS) == 0
        };
        let page = map(&fd).filter(|_| sealed)?;
        let number = kind as u32;
        // SAFETY: the page is ours alone as yet.
        unsafe {
            page.write(Page { magic: MAGIC, kind: number, changes: AtomicU32::new(0), value: value.into() })
        };
        Some(Payload { fd, page, kind })
    }

    /// That of a descriptor, which it takes; `None`, and the caller's still, if it is none of `kinds`.
    pub fn import(fd: i32, kinds: &[Kind]) -> Option<Payload> {
        // SAFETY: asks about a descriptor, whatever it is; fstat writes a stat, for which zero is a value.
        let fits = unsafe {
            let mut st: libc::stat = std::mem::zeroed();
            let seals = libc::fcntl(fd, libc::F_GET_SEALS);
            seals >= 0
                && seals & SEALS == SEALS
                && libc::fstat(fd, &mut st) == 0
                && st.st_size == BYTES as i64
        };
        if !fits {
            return None;
        }
        // SAFETY: a live descriptor, which is given back below if it is not what is wanted.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let opened = map(&fd).and_then(|page| {
            // SAFETY: a page that cannot go away.
            let (magic, number) =
                unsafe { ((&raw const (*page).magic).read(), (&raw const (*page).kind).read()) };
            let kind = kinds.iter().copied().find(|k| *k as u32 == number).filter(|_| magic == MAGIC);
            if kind.is_none() {
                // SAFETY: what was just mapped.
                unsafe { libc::munmap(page.cast(), BYTES) };
            }
            Some((page, kind?))
        });
        match opened {
            Some((page, kind)) => Some(Payload { fd, page, kind }),
            None => {
                _ = fd.into_raw_fd();
                None
            }
        }
    }

    /// Another descriptor of it, the caller's.
    pub fn export(&self) -> Option<i32> {
        self.fd.try_clone().ok().map(IntoRawFd::into_raw_fd)
    }

    fn page(&self) -> &Page {
        // SAFETY: mapped as long as this lives; what others change of it is atomic.
        unsafe { &*self.page }
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
        let changes = self.changes();
        changes.fetch_add(1, SeqCst);
        // SAFETY: wakes who sleeps on this word, in whatever process.
        unsafe { libc::syscall(libc::SYS_futex, changes.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_share_a_payload_and_others_descriptors_are_none() {
        let a = Payload::new(Kind::Timeline, 5).unwrap();
        let b = Payload::import(a.export().unwrap(), &[Kind::Timeline]).unwrap();
        b.signal(9);
        b.signal(7);
        assert_eq!(a.value(), 9);
        let fd = a.export().unwrap();
        assert!(Payload::import(fd, &[Kind::Binary, Kind::Fence]).is_none());
        assert!(Payload::import(fd, &[Kind::Timeline]).is_some(), "it was still the caller's");
        assert!(Payload::import(-1, &[Kind::Timeline]).is_none());
        // SAFETY: a descriptor of this test's own.
        unsafe {
            let other = libc::memfd_create(c"other".as_ptr(), libc::MFD_ALLOW_SEALING);
            libc::ftruncate(other, BYTES as i64);
            assert!(Payload::import(other, &[Kind::Binary]).is_none(), "no seals");
            libc::fcntl(other, libc::F_ADD_SEALS, SEALS);
            assert!(Payload::import(other, &[Kind::Binary]).is_none(), "no payload");
            libc::close(other);
        }
    }
}
