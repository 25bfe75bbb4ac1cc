//! Linux: a file without a name, whose length is sealed.

use super::{BYTES, Kind, Payload};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::AtomicU32;

const SEALS: i32 = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// Memory that processes share, mapped.
pub struct Shared {
    fd: OwnedFd,
    at: *mut u8,
}

// SAFETY: memory that lives as long as this, and is changed by atomics.
unsafe impl Send for Shared {}
unsafe impl Sync for Shared {}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: what `map` mapped.
        unsafe { libc::munmap(self.at.cast(), BYTES) };
    }
}

impl Shared {
    /// `None` where the system has no descriptor or memory left.
    pub fn new(bytes: u64) -> Option<Shared> {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: a fresh descriptor, which nobody else has.
        let fd = unsafe {
            let fd = libc::memfd_create(c"tuff-sync".as_ptr(), flags);
            (fd >= 0).then(|| OwnedFd::from_raw_fd(fd))?
        };
        // SAFETY: a live descriptor.
        let sealed = unsafe {
            files::within_limits(|| libc::ftruncate(fd.as_raw_fd(), bytes as i64)) == 0
                && libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, SEALS) == 0
        };
        if sealed { Shared::map(fd).ok() } else { None }
    }

    fn map(fd: OwnedFd) -> Result<Shared, OwnedFd> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh mapping.
        let p =
            unsafe { libc::mmap(std::ptr::null_mut(), BYTES, access, libc::MAP_SHARED, fd.as_raw_fd(), 0) };
        if p == libc::MAP_FAILED { Err(fd) } else { Ok(Shared { fd, at: p.cast() }) }
    }

    /// Where it is mapped.
    pub fn at(&self) -> *mut u8 {
        self.at
    }
}

impl Payload {
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
        let opened = Shared::map(fd).and_then(|memory| {
            Payload::opened(memory, kinds).map_err(|memory| {
                let memory = std::mem::ManuallyDrop::new(memory);
                // SAFETY: what was mapped just now, and the descriptor is read once.
                unsafe {
                    libc::munmap(memory.at.cast(), BYTES);
                    std::ptr::read(&memory.fd)
                }
            })
        });
        match opened {
            Ok(payload) => Some(payload),
            Err(fd) => {
                _ = fd.into_raw_fd();
                None
            }
        }
    }

    /// Another descriptor of it, the caller's.
    pub fn export(&self) -> Option<i32> {
        self.memory.fd.try_clone().ok().map(IntoRawFd::into_raw_fd)
    }
}

/// Wakes who sleeps on this word, in whatever process.
pub fn wake(word: &AtomicU32) {
    // SAFETY: a live word.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
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
