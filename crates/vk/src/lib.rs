//! Vulkan's types and constants: ash's, and those newer than ash 0.38 (Vulkan 1.3.281), generated from vk.xml.
//! Newer values of enums that ash has carry their C names without `VK_`
//! (`vk::STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_7_FEATURES_KHR`).

mod formats;
mod generated;

pub use ash::vk::*;
pub use formats::FORMATS;
pub use generated::*;
