//! Memory behind file descriptors.

use crate::base::answer::Answer;
use crate::base::given::{Fill, In};
use crate::device::Device;
use std::ffi::c_int;
use std::sync::Arc;
use texel::memory::{AddressSpace, DeviceMemory, Wanted};
use vk::ExternalMemoryHandleTypeFlags as Handle;

/// Handle types that memory can be exported to.
pub(crate) const EXPORTED: Handle =
    Handle::from_raw(Handle::OPAQUE_FD.as_raw() | Handle::DMA_BUF_EXT.as_raw());

/// Whether it is memory of a descriptor.
pub(crate) fn is_import(info: In<vk::MemoryAllocateInfo>) -> bool {
    info.find::<vk::ImportMemoryFdInfoKHR>().is_some_and(|i| !i.handle_type.is_empty())
}

/// The memory of a descriptor, which it takes.
///
/// # Errors
/// `ERROR_INVALID_EXTERNAL_HANDLE`: it is none of memory, or the handle's type is unknown.
pub(crate) fn import(
    space: &Arc<AddressSpace>,
    info: In<vk::MemoryAllocateInfo>,
    size: u64,
    ty: u32,
) -> Answer<Arc<DeviceMemory>> {
    let given = info.find::<vk::ImportMemoryFdInfoKHR>().map(|i| (i.handle_type, i.fd));
    match given {
        Some((Handle::OPAQUE_FD, fd)) => DeviceMemory::import_fd(space, fd, size, ty),
        Some((Handle::DMA_BUF_EXT, fd)) => DeviceMemory::import_dma_buf(space, fd, size, ty),
        _ => Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE),
    }
}

/// Memory that can be exported.
///
/// # Errors
/// There is no memory left, or its address is taken.
pub(crate) fn allocate(
    space: &Arc<AddressSpace>,
    _: In<vk::MemoryAllocateInfo>,
    size: u64,
    ty: u32,
    wanted: Wanted,
) -> Answer<Arc<DeviceMemory>> {
    DeviceMemory::allocate_at(space, size, ty, true, wanted)
}

/// Linux has no such handles, and the command's extension is not reported.
pub(crate) fn get_memory_win32_handle_khr(
    _: &Device,
    _: In<vk::MemoryGetWin32HandleInfoKHR>,
    _: *mut vk::HANDLE,
) -> vk::Result {
    vk::Result::ERROR_TOO_MANY_OBJECTS
}

pub(crate) fn get_memory_win32_handle_properties_khr(
    _: &Device,
    _: Handle,
    _: vk::HANDLE,
    _: Fill<vk::MemoryWin32HandlePropertiesKHR>,
) -> vk::Result {
    vk::Result::ERROR_INVALID_EXTERNAL_HANDLE
}

/// A descriptor of memory, the caller's.
pub(crate) fn export(memory: &DeviceMemory, to: Handle) -> Option<c_int> {
    match to {
        Handle::OPAQUE_FD => memory.export(),
        Handle::DMA_BUF_EXT => memory.export_dma_buf(),
        _ => None,
    }
}
