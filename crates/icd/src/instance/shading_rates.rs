//! The sizes of fragments that there are (VK_KHR_fragment_shading_rate).

use crate::base::given::List;
use crate::instance::limits::{MAX_FRAGMENT, SAMPLE_COUNTS};
use crate::instance::physical_device::PhysicalDevice;

/// Those of 4, 2 and 1 pixels along each axis, widest first.
pub(crate) fn get_physical_device_fragment_shading_rates_khr(
    _physical_device: &PhysicalDevice,
    out: List<vk::PhysicalDeviceFragmentShadingRateKHR>,
) -> vk::Result {
    let steps = MAX_FRAGMENT.ilog2() + 1;
    out.fill_with((steps * steps) as usize, |mut out, i| {
        let side = |n: u32| MAX_FRAGMENT >> n;
        let size = vk::Extent2D { width: side(i as u32 / steps), height: side(i as u32 % steps) };
        out.fragment_size = size;
        let one = size.width * size.height == 1;
        out.sample_counts = if one { vk::SampleCountFlags::from_raw(!0) } else { SAMPLE_COUNTS };
    })
}
