//! Windows' clock.

use vk::TimeDomainKHR as Domain;
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};

/// Time domains that can be read together.
pub(crate) const DOMAINS: [Domain; 2] = [Domain::DEVICE, Domain::QUERY_PERFORMANCE_COUNTER];

/// The counter, in ticks of the system's choice.
pub(crate) fn read(_: Domain) -> u64 {
    let mut ticks = 0;
    // SAFETY: writes one number.
    unsafe { QueryPerformanceCounter(&mut ticks) };
    ticks as u64
}

/// Nanoseconds of the same clock.
pub(crate) fn now() -> u64 {
    let mut hertz = 0;
    // SAFETY: writes one number.
    unsafe { QueryPerformanceFrequency(&mut hertz) };
    (u128::from(read(Domain::QUERY_PERFORMANCE_COUNTER)) * 1_000_000_000 / hertz.max(1) as u128) as u64
}
