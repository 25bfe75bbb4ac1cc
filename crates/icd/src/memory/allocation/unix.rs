//! Memory behind file descriptors.

use std::ffi::c_int;
use std::sync::Arc;
use texel::memory::{AddressSpace, DeviceMemory};
use vk::ExternalMemoryHandleTypeFlags as Handle;

/// Handle types that memory can be exported to.
pub(crate) const EXPORTED: Handle =
    Handle::from_raw(Handle::OPAQUE_FD.as_raw() | Handle::DMA_BUF_EXT.as_raw());

/// The memory of a descriptor, which it takes.
///
/// # Errors
/// `ERROR_INVALID_EXTERNAL_HANDLE`: it is none of memory, or the handle's type is unknown.
pub(crate) fn import(
    space: &Arc<AddressSpace>,
    of: Handle,
    fd: c_int,
    size: u64,
    ty: u32,
) -> Result<Arc<DeviceMemory>, vk::Result> {
    match of {
        Handle::OPAQUE_FD => DeviceMemory::import_fd(space, fd, size, ty),
        Handle::DMA_BUF_EXT => DeviceMemory::import_dma_buf(space, fd, size, ty),
        _ => Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE),
    }
}

/// A descriptor of memory, the caller's.
pub(crate) fn export(memory: &DeviceMemory, to: Handle) -> Option<c_int> {
    match to {
        Handle::OPAQUE_FD => memory.export(),
        Handle::DMA_BUF_EXT => memory.export_dma_buf(),
        _ => None,
    }
}
