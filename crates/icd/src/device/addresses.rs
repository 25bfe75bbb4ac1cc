//! Messages about the addresses that objects have (VK_EXT_device_address_binding_report).

use crate::base::debug::{MessageTypes, Severity, Speaks};
use crate::base::object::Object;
use crate::device::Device;

/// Whether addresses are bound to an object, or no longer.
pub(crate) use vk::DeviceAddressBindingTypeEXT as Binding;

/// Tells of the addresses that an object has, or has no more (VK_EXT_device_address_binding_report), where that is wanted.
pub(crate) fn tell_address<O: Object>(
    device: &Device,
    handle: O::Handle,
    (base, size): (u64, u64),
    binding: Binding,
) where
    O::Handle: vk::Handle,
{
    use vk::Handle;
    if base == 0 || !device.features.has("reportAddressBinding") {
        return;
    }
    let mut at = vk::DeviceAddressBindingCallbackDataEXT::default()
        .base_address(base)
        .size(size)
        .binding_type(binding);
    let objects = [vk::DebugUtilsObjectNameInfoEXT {
        object_type: O::Handle::TYPE,
        object_handle: handle.as_raw(),
        ..Default::default()
    }];
    let data = vk::DebugUtilsMessengerCallbackDataEXT::default()
        .message_id_name(c"Tuff")
        .message(c"device addresses")
        .objects(&objects)
        .push_next(&mut at);
    device.sink().tell(Severity::INFO, MessageTypes::DEVICE_ADDRESS_BINDING, &data);
}
