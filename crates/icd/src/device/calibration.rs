//! Calibrated timestamps: the device's clock beside the host's.

use crate::base::given::{In, Out, OutSlice};
use crate::device::Device;

fn host_clock(id: libc::clockid_t) -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec.
    unsafe { libc::clock_gettime(id, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

pub(crate) fn get_calibrated_timestamps_khr(
    device: &Device,
    infos: In<[vk::CalibratedTimestampInfoKHR]>,
    timestamps: OutSlice<u64>,
    max_deviation: Out<u64>,
) -> vk::Result {
    let began = host_clock(libc::CLOCK_MONOTONIC_RAW);
    for (i, info) in infos.iter().enumerate() {
        let time = match info.time_domain {
            vk::TimeDomainKHR::CLOCK_MONOTONIC => host_clock(libc::CLOCK_MONOTONIC),
            vk::TimeDomainKHR::CLOCK_MONOTONIC_RAW => host_clock(libc::CLOCK_MONOTONIC_RAW),
            _ => {
                device.gpu.shared.observed.ask();
                device.clock().now()
            }
        };
        timestamps.set(i, time);
    }
    // All were read between two readings of one clock; a tick of 1 ns on top.
    max_deviation.set(host_clock(libc::CLOCK_MONOTONIC_RAW) - began + 1);
    vk::Result::SUCCESS
}
