//! Linux: futexes.

use std::sync::atomic::AtomicU32;

/// Words that one futex_waitv(2) may sleep on.
const MOST: usize = libc::FUTEX_WAITV_MAX as usize;
/// How long it sleeps where it can't sleep on all that may change.
const NAP_NS: i64 = 1_000_000;

/// Wakes the thread that sleeps on a word.
pub fn wake(word: &AtomicU32) {
    // SAFETY: the call asks about a word.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1) };
}

/// Sleeps until one of the `count` words is not what it was any more; not for long where the system can't sleep on so many.
pub fn sleep<'a>(words: impl Iterator<Item = (&'a AtomicU32, u32)>, count: usize) {
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
