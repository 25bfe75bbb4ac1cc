//! Custom border colours by numbers (§ Samplers, VK_EXT_descriptor_heap): samplers in descriptor heaps name them. Sampler objects have
//! their colours themselves.

use crate::base::given::{In, words};
use crate::device::Device;

pub(crate) fn register_custom_border_color_ext(
    device: &Device,
    colour: In<vk::SamplerCustomBorderColorCreateInfoEXT>,
    requested: vk::Bool32,
    index: &mut u32,
) -> vk::Result {
    let wanted = (requested != vk::FALSE).then_some(*index);
    match device.names().borders.add(words(&colour.custom_border_color), wanted) {
        Some(at) => {
            *index = at;
            vk::Result::SUCCESS
        }
        None if wanted.is_some() => vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS,
        None => vk::Result::ERROR_TOO_MANY_OBJECTS,
    }
}

pub(crate) fn unregister_custom_border_color_ext(device: &Device, index: u32) {
    device.names().borders.remove(index);
}
