//! Linux' clocks.

/// Seconds of a clock of `clock_gettime`.
pub fn clock(id: libc::clockid_t) -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid pointer to a timespec.
    unsafe { libc::clock_gettime(id, &mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// Has the system add what threads that are running have taken since its last tick: the process's clock lacks that of all threads but the
/// caller, which is milliseconds of a thread that does not sleep.
fn settle() {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    for id in threads.filter_map(|t| t.file_name().to_str()?.parse::<i32>().ok()) {
        // The clock of a thread (CPUCLOCK_PERTHREAD and CPUCLOCK_SCHED of Linux): to read it is to bring it up to date.
        clock(!id << 3 | 4 | 2);
    }
}

/// Seconds of wall time, and of CPU time of the process.
pub fn now() -> (f64, f64) {
    settle();
    (clock(libc::CLOCK_MONOTONIC), clock(libc::CLOCK_PROCESS_CPUTIME_ID))
}
