//! Windows: handles and names of sections. There are neither descriptors nor sync files.

use super::known;
use crate::base::answer::{Answer, invalid};
use crate::base::given::In;
use crate::device::Device;
use machine::payload::{BYTES, Kind, Payload, Shared};
use std::ffi::c_int;
use std::ptr::null;
use std::sync::Arc;

/// Memory for the payload of such a semaphore.
pub(crate) fn of_semaphore(info: In<vk::SemaphoreCreateInfo>) -> Option<Shared> {
    let how = info.find::<vk::ExportSemaphoreWin32HandleInfoKHR>();
    let (attributes, name) = how.map_or((null(), null()), |h| (h.p_attributes, h.name));
    // SAFETY: the application's attributes, and a name that ends in 0, if they are there (valid usage).
    unsafe { Shared::named(BYTES as u64, attributes, name) }
}

/// Memory for the payload of such a fence.
pub(crate) fn of_fence(info: In<vk::FenceCreateInfo>) -> Option<Shared> {
    let how = info.find::<vk::ExportFenceWin32HandleInfoKHR>();
    let (attributes, name) = how.map_or((null(), null()), |h| (h.p_attributes, h.name));
    // SAFETY: as above.
    unsafe { Shared::named(BYTES as u64, attributes, name) }
}

/// The payload of another's handle, which stays the application's, or of a name.
///
/// # Safety
/// The name is null or ends in 0.
pub(crate) unsafe fn imported(
    device: &Device,
    handle: isize,
    name: *const u16,
    kinds: &[Kind],
) -> Answer<Arc<Payload>> {
    let payload = match handle {
        // SAFETY: what the caller promises.
        0 if !name.is_null() => unsafe { Payload::import_named(name, kinds) },
        handle => Payload::import(handle, kinds),
    };
    let payload = payload.ok_or_else(|| {
        _ = invalid(&format!("the handle {handle:#x} or its name is none of a payload of this kind"));
        vk::Result::ERROR_INVALID_EXTERNAL_HANDLE
    })?;
    known(device, payload)
}

/// Another handle of a payload that may be shared.
pub(crate) fn handed_out(payload: Option<&Arc<Payload>>) -> Answer<isize> {
    match payload {
        Some(p) => p.export().ok_or(vk::Result::ERROR_TOO_MANY_OBJECTS),
        None => Err(invalid("a handle is asked for of what was not created to be exported")),
    }
}

pub(crate) fn opened(_: &Device, _: c_int, _: &[Kind]) -> Answer<Arc<Payload>> {
    Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE)
}

pub(crate) fn exported(_: Option<&Arc<Payload>>) -> Answer<c_int> {
    Err(vk::Result::ERROR_TOO_MANY_OBJECTS)
}

pub(crate) fn signalled(_: c_int) -> Answer {
    Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE)
}
