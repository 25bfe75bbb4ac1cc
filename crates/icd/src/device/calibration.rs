//! Calibrated timestamps: the device's clock beside the host's.

use crate::base::given::{In, Out, OutSlice};
use crate::device::Device;
use crate::instance::clock;

pub(crate) fn get_calibrated_timestamps_khr(
    device: &Device,
    infos: In<[vk::CalibratedTimestampInfoKHR]>,
    timestamps: OutSlice<u64>,
    max_deviation: Out<u64>,
) -> vk::Result {
    let began = clock::now();
    for (i, info) in infos.iter().enumerate() {
        let time = match info.time_domain {
            vk::TimeDomainKHR::DEVICE => {
                device.gpu.shared.observed.ask();
                device.clock().now()
            }
            host => clock::read(host),
        };
        timestamps.set(i, time);
    }
    // All were read between two readings of one clock; a tick of 1 ns on top.
    max_deviation.set(clock::now() - began + 1);
    vk::Result::SUCCESS
}
