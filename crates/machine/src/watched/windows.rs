//! Windows has no wait for several words: a thread looks again after a while.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// How long it sleeps.
const NAP: Duration = Duration::from_millis(1);

/// Wakes the thread that sleeps on a word: it wakes by itself.
pub fn wake(_: &AtomicU32) {}

/// Sleeps for a while.
pub fn sleep<'a>(_: impl Iterator<Item = (&'a AtomicU32, u32)>, _: usize) {
    std::thread::sleep(NAP);
}
