//! What the loader and its layers agree on: the interface of layers, version 2
//! (LoaderLayerInterface.md of KhronosGroup/Vulkan-Loader; its structures are not in vk.xml).

use ash::vk;
use std::ffi::{c_char, c_void};

pub(crate) type GetPhysicalDeviceProcAddr =
    Option<unsafe extern "system" fn(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction>;
pub(crate) type SetDeviceLoaderData =
    unsafe extern "system" fn(device: vk::Device, object: *mut c_void) -> vk::Result;

/// The newest version of the interface that the layer speaks.
pub(crate) const VERSION: u32 = 2;
/// `sType` of [`NegotiateInterface`].
pub(crate) const NEGOTIATE: i32 = 1;
/// `function` of a link to the next layer, and of a device's callback for dispatchable handles.
pub(crate) const LINK: i32 = 0;
pub(crate) const LOADER_DATA: i32 = 1;

/// VkNegotiateLayerInterface.
#[repr(C)]
pub struct NegotiateInterface {
    pub s_type: i32,
    pub p_next: *mut c_void,
    pub version: u32,
    pub get_instance_proc_addr: Option<vk::PFN_vkGetInstanceProcAddr>,
    pub get_device_proc_addr: Option<vk::PFN_vkGetDeviceProcAddr>,
    pub get_physical_device_proc_addr: GetPhysicalDeviceProcAddr,
}

/// VkLayerInstanceLink.
#[repr(C)]
pub(crate) struct InstanceLink {
    pub next: *mut InstanceLink,
    pub get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    pub get_physical_device_proc_addr: GetPhysicalDeviceProcAddr,
}

/// VkLayerDeviceLink.
#[repr(C)]
pub(crate) struct DeviceLink {
    pub next: *mut DeviceLink,
    pub get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    pub get_device_proc_addr: vk::PFN_vkGetDeviceProcAddr,
}

/// VkLayerInstanceCreateInfo and VkLayerDeviceCreateInfo: what the pointer is depends on `function`.
#[repr(C)]
pub(crate) struct CreateInfo<Link> {
    pub s_type: vk::StructureType,
    pub p_next: *const c_void,
    pub function: i32,
    pub link: *mut Link,
}

/// The structure of a creation's chain with this `function`.
///
/// # Safety
/// A valid chain; the loader's structures in it are writable.
pub(crate) unsafe fn find<Link>(
    p_next: *const c_void,
    s_type: vk::StructureType,
    function: i32,
) -> Option<&'static mut CreateInfo<Link>> {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        let all = crate::chain::iter(p_next).filter(|s| (**s).s_type == s_type);
        let mut all = all.map(|s| s.cast::<CreateInfo<Link>>().cast_mut());
        all.find(|s| (**s).function == function).map(|s| &mut *s)
    }
}
