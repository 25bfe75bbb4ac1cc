//! vkGetPhysicalDevice* that fill arrays.

use crate::base::given::{In, List};
use crate::instance::physical_device::{self, PhysicalDevice};
use crate::memory::sparse;

pub(crate) fn get_physical_device_queue_family_properties(
    physical: &PhysicalDevice,
    out: List<vk::QueueFamilyProperties>,
) {
    let newer = |list: List<_>| {
        physical_device::get_physical_device_queue_family_properties2(physical, list);
        vk::Result::SUCCESS
    };
    let _ = out.fill_from(newer, |p: &vk::QueueFamilyProperties2| p.queue_family_properties);
}

pub(crate) fn get_physical_device_sparse_image_format_properties(
    physical: &PhysicalDevice,
    format: vk::Format,
    ty: vk::ImageType,
    samples: vk::SampleCountFlags,
    usage: vk::ImageUsageFlags,
    tiling: vk::ImageTiling,
    out: List<vk::SparseImageFormatProperties>,
) {
    let info =
        vk::PhysicalDeviceSparseImageFormatInfo2 { format, ty, samples, usage, tiling, ..Default::default() };
    // SAFETY: it has no pointers.
    let info = unsafe { In::new(&info) };
    let newer = |list: List<_>| {
        sparse::get_physical_device_sparse_image_format_properties2(physical, info, list);
        vk::Result::SUCCESS
    };
    let _ = out.fill_from(newer, |p: &vk::SparseImageFormatProperties2| p.properties);
}
