//! vkBindImageMemory2: memory of an allocation, or of an image of a swapchain.

use super::swapchain;
use crate::base::answer::invalid;
use crate::base::given::{Call, In};
use crate::device::Device;
use crate::device::addresses::Binding;
use crate::memory::image::{self, Image};

pub(crate) fn bind_image_memory2(device: &Device, infos: In<[vk::BindImageMemoryInfo]>) -> vk::Result {
    let mut result = vk::Result::SUCCESS;
    for i in infos {
        let bound = bind(i);
        if bound == vk::Result::SUCCESS {
            image::tell(device, i.image, Binding::BIND);
        }
        if let Some(status) = i.find::<vk::BindMemoryStatusKHR>().and_then(|s| s.result()) {
            status.set(bound);
        }
        if bound != vk::Result::SUCCESS {
            result = bound;
        }
    }
    result
}

fn bind(i: In<vk::BindImageMemoryInfo>) -> vk::Result {
    if let Some(of) = i.find::<vk::BindImageMemorySwapchainInfoKHR>()
        && of.swapchain != vk::SwapchainKHR::null()
    {
        let Some(image) = i.object::<Image>(i.image) else { return vk::Result::ERROR_UNKNOWN };
        let memory = swapchain::memory(i, of.swapchain, of.image_index);
        return if memory.is_some_and(|m| image.gpu.bind(m)) {
            vk::Result::SUCCESS
        } else {
            invalid("vkBindImageMemory: no such image of the swapchain, or a smaller one")
        };
    }
    image::bind(i)
}
