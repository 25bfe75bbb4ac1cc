//! Memory that another thread changes while the driver looks at it.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// For how long at least, and how many times the other thread has changed a byte: it must have had a core meanwhile.
const TIME: Duration = Duration::from_millis(1500);
const CHANGES: usize = 20_000;

/// Ends the other thread, also where the test fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Calls `each` over and over with a copy of `bytes` of which another thread changes a byte, and mends it again, one after the other of
/// those from `first` on. The copy is whole for about half of the time. `each` says whether it was taken.
pub fn with_shifting(bytes: &[u8], first: usize, mut each: impl FnMut(*const u8) -> bool) {
    let shared: Vec<AtomicU8> = bytes.iter().map(|b| AtomicU8::new(*b)).collect();
    let (done, changes) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|s| {
        s.spawn(|| {
            for at in (first..shared.len()).cycle() {
                if done.load(Relaxed) {
                    break;
                }
                shared[at].store(bytes[at] ^ 1, Relaxed);
                pause();
                shared[at].store(bytes[at], Relaxed);
                pause();
                changes.fetch_add(1, Relaxed);
            }
        });
        let _end = End(&done);
        let (start, mut taken) = (Instant::now(), 0);
        while start.elapsed() < TIME || changes.load(Relaxed) < CHANGES {
            taken += each(shared.as_ptr().cast()) as usize;
        }
        assert!(taken > 0, "it was never taken");
    });
}

/// Some microseconds.
fn pause() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_micros(2) {
        std::hint::spin_loop();
    }
}
