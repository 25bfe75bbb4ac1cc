//! Linux's clocks.

use vk::TimeDomainKHR as Domain;

/// Time domains that can be read together.
pub(crate) const DOMAINS: [Domain; 3] =
    [Domain::DEVICE, Domain::CLOCK_MONOTONIC, Domain::CLOCK_MONOTONIC_RAW];

fn of(id: libc::clockid_t) -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec.
    unsafe { libc::clock_gettime(id, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// The time of a domain of the host, in its unit.
pub(crate) fn read(domain: Domain) -> u64 {
    match domain {
        Domain::CLOCK_MONOTONIC => of(libc::CLOCK_MONOTONIC),
        _ => now(),
    }
}

/// Nanoseconds of a clock that nobody sets.
pub(crate) fn now() -> u64 {
    of(libc::CLOCK_MONOTONIC_RAW)
}
