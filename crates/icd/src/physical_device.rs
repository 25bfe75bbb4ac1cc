//! The one physical device: enumeration of what it is and has.

use crate::generated::structs::HEADER_VERSION;
use crate::instance::Shared;
use crate::object::Object;
use std::sync::Arc;

/// The version of Vulkan the device has.
pub(crate) const API_VERSION: u32 = vk::make_api_version(0, 1, 3, HEADER_VERSION);

pub struct PhysicalDevice {
    pub(crate) instance: Arc<Shared>,
}

impl Object for PhysicalDevice {
    type Handle = vk::PhysicalDevice;
}

impl PhysicalDevice {
    pub(crate) fn new(instance: Arc<Shared>) -> Self {
        PhysicalDevice { instance }
    }
}
