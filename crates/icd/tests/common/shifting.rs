//! Memory that another thread changes while the driver looks at it.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Calls `each` with a copy of `bytes` of which another thread changes a byte, and mends it again, one after the other of those from
/// `first` on, until `enough` calls have said that they took it. The copy is whole for about half of the time.
pub fn with_shifting(bytes: &[u8], first: usize, enough: usize, mut each: impl FnMut(*const u8) -> bool) {
    let shared: Vec<AtomicU8> = bytes.iter().map(|b| AtomicU8::new(*b)).collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|s| {
        s.spawn(|| {
            for at in (first..shared.len()).cycle() {
                if done.load(Relaxed) {
                    break;
                }
                shared[at].store(bytes[at] ^ 1, Relaxed);
                pause(2);
                shared[at].store(bytes[at], Relaxed);
                pause(2);
            }
        });
        let start = Instant::now();
        let mut taken = 0;
        while taken < enough && start.elapsed() < Duration::from_secs(20) {
            taken += each(shared.as_ptr().cast()) as usize;
        }
        done.store(true, Relaxed);
        assert!(taken > 0, "it was never taken");
    });
}

fn pause(micros: u64) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_micros(micros) {
        std::hint::spin_loop();
    }
}
