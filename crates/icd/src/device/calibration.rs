//! Calibrated timestamps: the device's clock beside the host's.

use crate::base::chain;
use crate::device::Device;

fn host_clock(id: libc::clockid_t) -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec.
    unsafe { libc::clock_gettime(id, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

pub(crate) unsafe fn get_calibrated_timestamps_khr(
    device: &Device,
    count: u32,
    infos: *const vk::CalibratedTimestampInfoKHR,
    timestamps: *mut u64,
    max_deviation: *mut u64,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let began = host_clock(libc::CLOCK_MONOTONIC_RAW);
        let out = chain::slice_mut(timestamps, count);
        for (info, out) in chain::slice(infos, count).iter().zip(out) {
            *out = match info.time_domain {
                vk::TimeDomainKHR::CLOCK_MONOTONIC => host_clock(libc::CLOCK_MONOTONIC),
                vk::TimeDomainKHR::CLOCK_MONOTONIC_RAW => host_clock(libc::CLOCK_MONOTONIC_RAW),
                _ => {
                    device.gpu.shared.observed.ask();
                    device.clock().now()
                }
            };
        }
        // All were read between two readings of one clock; a tick of 1 ns on top.
        *max_deviation = host_clock(libc::CLOCK_MONOTONIC_RAW) - began + 1;
        vk::Result::SUCCESS
    }
}
