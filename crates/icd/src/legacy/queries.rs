//! vkGetPhysicalDevice* that fill arrays.

use crate::base::chain;
use crate::instance::physical_device::PhysicalDevice;
use crate::legacy::generated::imp;

pub(crate) unsafe fn get_physical_device_queue_family_properties(
    physical_device: &PhysicalDevice,
    p_count: *mut u32,
    p_properties: *mut vk::QueueFamilyProperties,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if p_properties.is_null() {
            imp::get_physical_device_queue_family_properties2(physical_device, p_count, std::ptr::null_mut());
            return;
        }
        // How many there are is the newer command's business.
        let mut all = vec![vk::QueueFamilyProperties2::default(); (*p_count).min(64) as usize];
        *p_count = all.len() as u32;
        imp::get_physical_device_queue_family_properties2(physical_device, p_count, all.as_mut_ptr());
        for (out, p) in chain::slice_mut(p_properties, *p_count).iter_mut().zip(&all) {
            *out = p.queue_family_properties;
        }
    }
}

pub(crate) unsafe fn get_physical_device_sparse_image_format_properties(
    physical_device: &PhysicalDevice,
    format: vk::Format,
    ty: vk::ImageType,
    samples: vk::SampleCountFlags,
    usage: vk::ImageUsageFlags,
    tiling: vk::ImageTiling,
    p_property_count: *mut u32,
    p_properties: *mut vk::SparseImageFormatProperties,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let info = vk::PhysicalDeviceSparseImageFormatInfo2 {
            format,
            ty,
            samples,
            usage,
            tiling,
            ..Default::default()
        };
        if p_properties.is_null() {
            let none = std::ptr::null_mut();
            imp::get_physical_device_sparse_image_format_properties2(
                physical_device,
                &info,
                p_property_count,
                none,
            );
            return;
        }
        let mut all = vec![vk::SparseImageFormatProperties2::default(); (*p_property_count).min(64) as usize];
        *p_property_count = all.len() as u32;
        imp::get_physical_device_sparse_image_format_properties2(
            physical_device,
            &info,
            p_property_count,
            all.as_mut_ptr(),
        );
        for (out, p) in chain::slice_mut(p_properties, *p_property_count).iter_mut().zip(&all) {
            *out = p.properties;
        }
    }
}
