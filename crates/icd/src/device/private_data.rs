//! Private data: a number that the application keeps with an object, per slot.

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

pub(crate) unsafe fn create_private_data_slot(
    _device: &Device,
    _p_create_info: *const vk::PrivateDataSlotCreateInfo<'_>,
    _p_allocator: *const vk::AllocationCallbacks<'_>,
    p_slot: *mut vk::PrivateDataSlot,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        *p_slot = object::create(PrivateDataSlot::default());
        vk::Result::SUCCESS
    }
}

pub(crate) unsafe fn destroy_private_data_slot(
    _device: &Device,
    slot: vk::PrivateDataSlot,
    _p_allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        object::destroy::<PrivateDataSlot>(slot);
    }
}

pub(crate) unsafe fn set_private_data(
    _device: &Device,
    _object_type: vk::ObjectType,
    handle: u64,
    slot: vk::PrivateDataSlot,
    data: u64,
) -> vk::Result {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(slot) = object::get::<PrivateDataSlot>(slot) else { return vk::Result::ERROR_UNKNOWN };
        slot.0.lock().insert((handle, object::generation(handle)), data);
        vk::Result::SUCCESS
    }
}

pub(crate) unsafe fn get_private_data(
    _device: &Device,
    _object_type: vk::ObjectType,
    handle: u64,
    slot: vk::PrivateDataSlot,
    p_data: *mut u64,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let slot = object::get::<PrivateDataSlot>(slot);
        let value = slot.and_then(|s| s.0.lock().get(&(handle, object::generation(handle))).copied());
        *p_data = value.unwrap_or(0);
    }
}
