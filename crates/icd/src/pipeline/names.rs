//! Names and tags that applications give to objects (VK_EXT_debug_utils). A pipeline or shader passes its name on to what executes it.

use crate::base::debug::{log_error, set_name};
use crate::base::given::In;
use crate::device::Device;
use crate::memory::acceleration_structure;

pub(crate) fn set_debug_utils_object_name_ext(
    _device: &Device,
    p_name_info: In<vk::DebugUtilsObjectNameInfoEXT>,
) -> vk::Result {
    let info = p_name_info;
    if info.object_handle == 0 {
        log_error("vkSetDebugUtilsObjectNameEXT: a null object cannot be named");
        return vk::Result::ERROR_UNKNOWN;
    }
    set_name(info.object_handle, info.object_name().unwrap_or_default());
    if info.object_type == vk::ObjectType::PIPELINE {
        super::create::named(info, vk::Handle::from_raw(info.object_handle));
    }
    if info.object_type == vk::ObjectType::ACCELERATION_STRUCTURE_KHR {
        let name = info.object_name().unwrap_or_default().to_string_lossy();
        acceleration_structure::named(info, vk::Handle::from_raw(info.object_handle), &name);
    }
    if info.object_type == vk::ObjectType::SHADER_EXT {
        crate::pipeline::shader_object::named(info, vk::Handle::from_raw(info.object_handle));
    }
    vk::Result::SUCCESS
}

/// Tags are for tools in between; the driver has no use for them.
pub(crate) fn set_debug_utils_object_tag_ext(
    _device: &Device,
    _p_tag_info: In<vk::DebugUtilsObjectTagInfoEXT>,
) -> vk::Result {
    vk::Result::SUCCESS
}
