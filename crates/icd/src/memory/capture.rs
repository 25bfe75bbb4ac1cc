//! Capture and replay of what descriptors in the application's memory call things: views, samplers and views of tensors in descriptor buffers
//! (descriptorBufferCaptureReplay), images and tensors in heaps (descriptorHeapCaptureReplay). A capture keeps the name of an object that is
//! made for it; one that is made with the name has it again. Buffers, and structures in them, are called by their addresses, which
//! captures of memory keep.

use crate::base::answer::{Answer, invalid};
use crate::base::given::In;
use crate::device::Device;
use machine::descriptor_memory::{CAPTURED_BYTES, Name, Named};

/// The name of an object that is made; `is_kept`: for captures, or as it was captured.
pub(crate) fn name(
    device: &Device,
    is_kept: bool,
    captured: Option<u64>,
    what: &dyn Fn() -> Named,
) -> Answer<Name> {
    match is_kept {
        false => Ok(Name::default()),
        true => Name::reserve(device.names(), captured, what())
            .ok_or(vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS),
    }
}

/// What was captured for descriptor buffers.
pub(crate) fn in_buffers(info: Option<In<vk::OpaqueCaptureDescriptorDataCreateInfoEXT>>) -> Option<u64> {
    let data = info?.opaque_capture_descriptor_data.cast::<u64>();
    // SAFETY: valid usage: what such a command gave.
    (!data.is_null()).then(|| unsafe { data.read_unaligned() })
}

/// What was captured for heaps.
pub(crate) fn in_heaps(info: Option<In<vk::OpaqueCaptureDataCreateInfoEXT>>) -> Option<u64> {
    let data = info?.data()?;
    let has = !data.address.is_null() && data.size >= CAPTURED_BYTES;
    // SAFETY: valid usage: so many bytes can be read there.
    has.then(|| unsafe { data.address.cast::<u64>().read_unaligned() })
}

/// Gives the application what it is to keep; `None`: of an object that is not made for captures.
///
/// # Safety
/// The address is null or [`CAPTURED_BYTES`] can be written there.
pub(crate) unsafe fn give(call: &str, to: *mut std::ffi::c_void, what: Option<u64>) -> vk::Result {
    let Some(what) = what else {
        return invalid(&format!("{call}: an object that was not made for captures"));
    };
    if !to.is_null() {
        // SAFETY: the caller's.
        unsafe { to.cast::<u64>().write_unaligned(what) };
    }
    vk::Result::SUCCESS
}
