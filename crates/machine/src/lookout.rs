//! How long a thread looks out for something before it sleeps.
//!
//! Where CPUs have gone idle, putting a thread to sleep and waking it takes some twenty microseconds of both sides. Programs that
//! wait for each of many small submissions would do little else. So a thread looks out for a while first, but only where what
//! it waits for has lately come within that while: what takes long costs nobody a look. Nor where both share a CPU, as schedulers
//! like to have it on a busy machine: who looks out would keep the other from running, and to hand a CPU over takes little.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The longest look.
const LONGEST: Duration = Duration::from_micros(25);
/// Looks at what is waited for between two at the clock.
const LOOKS: u32 = 16;
/// So many looks take longer than [`LONGEST`] on any CPU: a clock may stand still (libfaketime's, a debugger's).
const ROUNDS: u32 = 4096;
/// From here on it is expected to come soon; at most so much.
const SOON: u32 = 2;
const SURE: u32 = 3;

/// What is known of something that is waited for again and again.
pub struct Lookout {
    /// Grows with each time it came soon, and falls with each that it did not.
    sure: AtomicU32,
    /// The CPU of who makes it come, and 1; 0: nobody knows.
    cpu: AtomicU32,
}

impl Default for Lookout {
    fn default() -> Lookout {
        Lookout { sure: SOON.into(), cpu: 0.into() }
    }
}

/// Whether others run meanwhile.
fn others_run() -> bool {
    static CPUS: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, |n| n.get()));
    *CPUS > 1
}

/// The CPU that this thread runs on now, and 1; 0 where the system does not say.
fn cpu() -> u32 {
    #[cfg(target_os = "linux")]
    // SAFETY: it has no conditions.
    return unsafe { libc::sched_getcpu() }.wrapping_add(1).max(0) as u32;
    #[cfg(not(target_os = "linux"))]
    0
}

impl Lookout {
    /// It took so long to come, beside the time that it takes to wake a thread.
    pub fn came(&self, after: Duration) {
        let next =
            |sure: u32| Some(if after <= LONGEST { (sure + 1).min(SURE) } else { sure.saturating_sub(1) });
        let _ = self.sure.fetch_update(Relaxed, Relaxed, next);
    }

    /// This thread will make it come.
    pub fn here(&self) {
        self.cpu.store(cpu(), Relaxed);
    }

    /// Looks out for it, if that is worthwhile; whether it is there.
    pub fn look<T>(&self, there: impl FnMut() -> Option<T>) -> Option<T> {
        let theirs = self.cpu.load(Relaxed);
        if self.sure.load(Relaxed) < SOON || !others_run() || theirs != 0 && theirs == cpu() {
            return None;
        }
        let begin = Instant::now();
        look_until(|| begin.elapsed() > LONGEST, there)
    }
}

/// Looks out until it is too late by the clock, or by the number of looks.
fn look_until<T>(late: impl Fn() -> bool, mut there: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..ROUNDS {
        for _ in 0..LOOKS {
            if let Some(it) = there() {
                return Some(it);
            }
            std::hint::spin_loop();
        }
        if late() {
            break;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_ends_though_the_clock_stands_still() {
        let mut looks = 0;
        let found = look_until(
            || false,
            || {
                looks += 1;
                None::<()>
            },
        );
        assert_eq!((found, looks), (None, ROUNDS * LOOKS));
    }

    #[test]
    fn looks_are_for_what_comes_soon() {
        let l = Lookout::default();
        let looks = |l: &Lookout| {
            let mut n = 0;
            assert!(
                l.look(|| Some(()).filter(|_| {
                    n += 1;
                    n > 40
                }))
                .is_none()
                    || n == 41
            );
            n
        };
        let some = if others_run() { 41 } else { 0 };
        assert_eq!(looks(&l), some, "at first");
        let (soon, late) = (Duration::from_micros(5), Duration::from_millis(1));
        l.came(late);
        assert_eq!(looks(&l), 0);
        l.came(soon);
        assert_eq!(looks(&l), some);
        (0..10).for_each(|_| l.came(soon));
        l.came(late);
        assert_eq!(looks(&l), some, "once is no habit");
        (0..10).for_each(|_| l.came(late));
        assert_eq!(looks(&l), 0);
        (0..2).for_each(|_| l.came(soon));
        assert_eq!(looks(&l), some);
    }

    #[test]
    fn who_shares_a_cpu_is_not_kept_from_it() {
        let l = Lookout::default();
        // The system may move the thread between the two; not every time.
        let sees = || {
            l.here();
            l.look(|| Some(())).is_some()
        };
        assert!(cpu() == 0 || (0..1000).any(|_| !sees()));
        l.cpu.store(u32::MAX, Relaxed);
        assert_eq!(l.look(|| Some(())).is_some(), others_run());
    }

    #[test]
    fn a_look_ends() {
        let begin = Instant::now();
        assert!(Lookout::default().look(|| None::<()>).is_none());
        assert!(begin.elapsed() < Duration::from_secs(10));
    }
}
