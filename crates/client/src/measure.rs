//! Clocks: wall time and the CPU time of the whole process; and what the system tells of it.

#[cfg_attr(unix, path = "measure/unix.rs")]
#[cfg_attr(windows, path = "measure/windows.rs")]
mod system;

use crate::{Error, Result};

/// A line of /proc/self/status: bytes, or a number.
///
/// # Errors
/// The system does not tell it.
pub fn status(key: &str) -> Result<u64> {
    let text =
        std::fs::read_to_string("/proc/self/status").map_err(|e| Error(format!("/proc/self/status: {e}")))?;
    let line = text.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix(':')).map(str::trim);
    let (number, unit) = match line.and_then(|l| l.strip_suffix("kB")) {
        Some(kilobytes) => (Some(kilobytes.trim()), 1024),
        None => (line, 1),
    };
    let number = number.and_then(|n| n.parse::<u64>().ok());
    number.map(|n| n * unit).ok_or_else(|| Error(format!("/proc/self/status has no {key}")))
}

/// A point in time, on both clocks.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    wall: f64,
    cpu: f64,
}

/// Seconds between two moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    pub wall: f64,
    /// CPU time of all threads of the process.
    pub cpu: f64,
}

impl Moment {
    pub fn now() -> Self {
        let (wall, cpu) = system::now();
        Self { wall, cpu }
    }

    /// Seconds of CPU time of all threads, since the process began.
    pub fn cpu(self) -> f64 {
        self.cpu
    }

    pub fn elapsed(self) -> Span {
        let now = Self::now();
        Span { wall: now.wall - self.wall, cpu: now.cpu - self.cpu }
    }
}

/// The middle value (mean of the two middle ones for an even count); NaN for none.
pub fn median(values: &[f64]) -> f64 {
    let mut v = values.to_vec();
    v.sort_by(f64::total_cmp);
    match v.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => v[n / 2],
        n => (v[n / 2 - 1] + v[n / 2]) / 2.0,
    }
}

/// The smallest value; NaN for none.
pub fn min(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NAN, f64::min)
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use super::system::clock;
    use super::*;

    /// Half a millisecond of another thread is there at once, before any tick.
    #[cfg(unix)]
    #[test]
    fn a_running_thread_counts_at_once() {
        use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
        let stage = AtomicU32::new(0);
        std::thread::scope(|s| {
            s.spawn(|| {
                while stage.load(SeqCst) < 1 {
                    std::hint::spin_loop();
                }
                let own = clock(libc::CLOCK_THREAD_CPUTIME_ID);
                while clock(libc::CLOCK_THREAD_CPUTIME_ID) < own + 5e-4 {}
                stage.store(2, SeqCst);
                while stage.load(SeqCst) < 3 {
                    std::hint::spin_loop();
                }
            });
            let begin = Moment::now();
            let own = clock(libc::CLOCK_THREAD_CPUTIME_ID);
            stage.store(1, SeqCst);
            while stage.load(SeqCst) < 2 {
                std::thread::yield_now();
            }
            let own = clock(libc::CLOCK_THREAD_CPUTIME_ID) - own;
            let span = begin.elapsed();
            stage.store(3, SeqCst);
            assert!(span.cpu - own >= 4e-4, "{span:?}, {own} of this thread");
        });
    }

    #[test]
    fn medians_and_minima() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
        assert_eq!(min(&[3.0, 1.0, 2.0]), 1.0);
        assert!(min(&[]).is_nan());
    }

    #[test]
    fn busy_time_is_seen_on_both_clocks() {
        let start = Moment::now();
        let mut x = 1u64;
        while start.elapsed().cpu < 0.01 {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        // Other tests of this process may be busy on the other CPUs at the same time.
        let cpus = std::thread::available_parallelism().map_or(1, |n| n.get()) as f64;
        assert!(start.elapsed().wall * cpus >= 0.009);
    }
}
