//! Memory behind handles of sections.

use crate::base::answer::{Answer, invalid};
use crate::base::given::{Call, Fill, In};
use crate::device::Device;
use crate::memory::allocation::Memory;
use std::ffi::c_int;
use std::ptr::null;
use std::sync::Arc;
use texel::memory::section::Section;
use texel::memory::{AddressSpace, DeviceMemory, Wanted};
use vk::ExternalMemoryHandleTypeFlags as Handle;

/// Handle types that memory can be exported to.
pub(crate) const EXPORTED: Handle = Handle::OPAQUE_WIN32;

/// Whether it is memory of a handle.
pub(crate) fn is_import(info: In<vk::MemoryAllocateInfo>) -> bool {
    info.find::<vk::ImportMemoryWin32HandleInfoKHR>().is_some_and(|i| !i.handle_type.is_empty())
}

/// The memory of a handle, which stays the application's, or of a name.
///
/// # Errors
/// `ERROR_INVALID_EXTERNAL_HANDLE`: it is none of memory, or the handle's type is unknown.
pub(crate) fn import(
    space: &Arc<AddressSpace>,
    info: In<vk::MemoryAllocateInfo>,
    size: u64,
    ty: u32,
) -> Answer<Arc<DeviceMemory>> {
    let given = info.find::<vk::ImportMemoryWin32HandleInfoKHR>();
    let section = given.filter(|i| i.handle_type == Handle::OPAQUE_WIN32).and_then(|i| match i.handle {
        // SAFETY: a name that ends in 0 (valid usage), where there is no handle.
        0 if !i.name.is_null() => unsafe { Section::open(i.name, size) },
        handle => Section::import(handle, size),
    });
    let section = section.ok_or(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE)?;
    Ok(DeviceMemory::of_section(space, section, size, ty))
}

/// Memory that can be exported.
///
/// # Errors
/// There is no memory left, or the name is taken. An address that is asked for is none of a section's.
pub(crate) fn allocate(
    space: &Arc<AddressSpace>,
    info: In<vk::MemoryAllocateInfo>,
    size: u64,
    ty: u32,
    wanted: Wanted,
) -> Answer<Arc<DeviceMemory>> {
    if matches!(wanted, Wanted::At(_)) {
        return Err(vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS);
    }
    let how = info.find::<vk::ExportMemoryWin32HandleInfoKHR>();
    let (attributes, name) = how.map_or((null(), null()), |h| (h.p_attributes, h.name));
    // SAFETY: the application's attributes, and a name that ends in 0, if they are there (valid usage).
    let section = unsafe { Section::named(size.max(1), attributes, name) };
    let section = section.ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)?;
    Ok(DeviceMemory::of_section(space, section, size, ty))
}

/// There are no file descriptors.
pub(crate) fn export(_: &DeviceMemory, _: Handle) -> Option<c_int> {
    None
}

/// # Safety
/// `out` has room for a handle.
pub(crate) unsafe fn get_memory_win32_handle_khr(
    _: &Device,
    info: In<vk::MemoryGetWin32HandleInfoKHR>,
    out: *mut vk::HANDLE,
) -> vk::Result {
    let Some(m) = info.object::<Memory>(info.memory) else { return vk::Result::ERROR_UNKNOWN };
    if info.handle_type != Handle::OPAQUE_WIN32 {
        return invalid(&format!("vkGetMemoryWin32HandleKHR: handles of type {:?}", info.handle_type));
    }
    match m.gpu.export_section() {
        Ok(handle) => {
            // SAFETY: what the caller promises.
            unsafe { out.write(handle) };
            vk::Result::SUCCESS
        }
        Err(e) => e,
    }
}

/// Only for handles that are not opaque: none.
pub(crate) fn get_memory_win32_handle_properties_khr(
    _: &Device,
    handle_type: Handle,
    _: vk::HANDLE,
    _: Fill<vk::MemoryWin32HandlePropertiesKHR>,
) -> vk::Result {
    crate::base::debug::log_error(&format!(
        "vkGetMemoryWin32HandlePropertiesKHR: {handle_type:?} has no properties of handles"
    ));
    vk::Result::ERROR_INVALID_EXTERNAL_HANDLE
}
