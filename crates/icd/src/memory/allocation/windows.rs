//! Memory is neither exported nor imported by handles yet.

use std::ffi::c_int;
use std::sync::Arc;
use texel::memory::{AddressSpace, DeviceMemory};
use vk::ExternalMemoryHandleTypeFlags as Handle;

/// Handle types that memory can be exported to.
pub(crate) const EXPORTED: Handle = Handle::empty();

pub(crate) fn import(
    _: &Arc<AddressSpace>,
    _: Handle,
    _: c_int,
    _: u64,
    _: u32,
) -> Result<Arc<DeviceMemory>, vk::Result> {
    Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE)
}

pub(crate) fn export(_: &DeviceMemory, _: Handle) -> Option<c_int> {
    None
}
