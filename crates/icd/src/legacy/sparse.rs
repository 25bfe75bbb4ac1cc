//! vkGetImageSparseMemoryRequirements.

use crate::base::chain;
use crate::device::Device;
use crate::legacy::generated::imp;

pub(crate) unsafe fn get_image_sparse_memory_requirements(
    device: &Device,
    image: vk::Image,
    p_count: *mut u32,
    p_requirements: *mut vk::SparseImageMemoryRequirements,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let info = vk::ImageSparseMemoryRequirementsInfo2 { image, ..Default::default() };
        if p_requirements.is_null() {
            imp::get_image_sparse_memory_requirements2(device, &info, p_count, std::ptr::null_mut());
            return;
        }
        let mut all = vec![vk::SparseImageMemoryRequirements2::default(); (*p_count).min(64) as usize];
        *p_count = all.len() as u32;
        imp::get_image_sparse_memory_requirements2(device, &info, p_count, all.as_mut_ptr());
        for (out, p) in chain::slice_mut(p_requirements, *p_count).iter_mut().zip(&all) {
            *out = p.memory_requirements;
        }
    }
}
