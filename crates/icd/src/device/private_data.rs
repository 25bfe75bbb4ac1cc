//! Private data: a number that the application keeps with an object, per slot.

use crate::base::given::{Call, Doomed, In, Out};
use crate::base::object::{self, Object};
use crate::device::Device;
use parking_lot::Mutex;
use std::collections::HashMap;

/// Numbers by handle and the handle's generation, so that a later object of the same handle starts at 0.
#[derive(Default)]
pub(crate) struct PrivateDataSlot(Mutex<HashMap<(u64, u64), u64>>);

impl Object for PrivateDataSlot {
    type Handle = vk::PrivateDataSlot;
}

pub(crate) fn create_private_data_slot(
    _device: &Device,
    _p_create_info: In<vk::PrivateDataSlotCreateInfo>,
    p_slot: Out<vk::PrivateDataSlot>,
) -> vk::Result {
    p_slot.set(object::create(PrivateDataSlot::default()));
    vk::Result::SUCCESS
}

pub(crate) fn destroy_private_data_slot(_device: &Device, slot: Doomed<PrivateDataSlot>) {
    slot.destroy();
}

pub(crate) fn set_private_data(
    device: &Device,
    _object_type: vk::ObjectType,
    handle: u64,
    slot: vk::PrivateDataSlot,
    data: u64,
) -> vk::Result {
    let Some(slot) = device.object::<PrivateDataSlot>(slot) else { return vk::Result::ERROR_UNKNOWN };
    slot.0.lock().insert((handle, object::generation(handle)), data);
    vk::Result::SUCCESS
}

pub(crate) fn get_private_data(
    device: &Device,
    _object_type: vk::ObjectType,
    handle: u64,
    slot: vk::PrivateDataSlot,
    p_data: Out<u64>,
) {
    let slot = device.object::<PrivateDataSlot>(slot);
    let value = slot.and_then(|s| s.0.lock().get(&(handle, object::generation(handle))).copied());
    p_data.set(value.unwrap_or(0));
}
