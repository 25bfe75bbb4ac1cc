//! vkGetImageSparseMemoryRequirements.

use crate::base::given::{In, List};
use crate::device::Device;
use crate::memory::sparse;

pub(crate) fn get_image_sparse_memory_requirements(
    device: &Device,
    image: vk::Image,
    out: List<vk::SparseImageMemoryRequirements>,
) {
    let info = vk::ImageSparseMemoryRequirementsInfo2 { image, ..Default::default() };
    // SAFETY: it has no pointers.
    let info = unsafe { In::new(&info) };
    let newer = |list: List<_>| {
        sparse::get_image_sparse_memory_requirements2(device, info, list);
        vk::Result::SUCCESS
    };
    let _ = out.fill_from(newer, |p: &vk::SparseImageMemoryRequirements2| p.memory_requirements);
}
