//! vkBindImageMemory2: memory of an allocation, or of an image of a swapchain.

use super::swapchain;
use crate::base::answer::invalid;
use crate::base::chain;
use crate::base::object;
use crate::device::Device;
use crate::device::addresses::Binding;
use crate::memory::image::{self, Image};

pub(crate) unsafe fn bind_image_memory2(
    device: &Device,
    count: u32,
    infos: *const vk::BindImageMemoryInfo,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let mut result = vk::Result::SUCCESS;
        for i in chain::slice(infos, count) {
            let bound = bind(i);
            if bound == vk::Result::SUCCESS {
                image::tell(device, i.image, Binding::BIND);
            }
            if let Some(status) = chain::find::<vk::BindMemoryStatusKHR>(i.p_next)
                && !status.p_result.is_null()
            {
                *status.p_result = bound;
            }
            if bound != vk::Result::SUCCESS {
                result = bound;
            }
        }
        result
    }
}

unsafe fn bind(i: &vk::BindImageMemoryInfo) -> vk::Result {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        if let Some(of) = chain::find::<vk::BindImageMemorySwapchainInfoKHR>(i.p_next)
            && of.swapchain != vk::SwapchainKHR::null()
        {
            let Some(image) = object::get::<Image>(i.image) else { return vk::Result::ERROR_UNKNOWN };
            let memory = swapchain::memory(of.swapchain, of.image_index);
            return if memory.is_some_and(|m| image.gpu.bind(m)) {
                vk::Result::SUCCESS
            } else {
                invalid("vkBindImageMemory: no such image of the swapchain, or a smaller one")
            };
        }
        image::bind(i)
    }
}
