//! Custom border colours by numbers (§ Samplers, VK_EXT_descriptor_heap): samplers in descriptor heaps name them. Sampler objects have
//! their colours themselves.

use crate::device::Device;

pub(crate) unsafe fn register_custom_border_color_ext(
    device: &Device,
    colour: *const vk::SamplerCustomBorderColorCreateInfoEXT,
    requested: vk::Bool32,
    index: *mut u32,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to; the union's words are what it is.
    unsafe {
        let wanted = (requested != vk::FALSE).then_some(*index);
        match device.names().borders.add((*colour).custom_border_color.uint32, wanted) {
            Some(at) => {
                *index = at;
                vk::Result::SUCCESS
            }
            None if wanted.is_some() => vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS,
            None => vk::Result::ERROR_TOO_MANY_OBJECTS,
        }
    }
}

pub(crate) unsafe fn unregister_custom_border_color_ext(device: &Device, index: u32) {
    device.names().borders.remove(index);
}
