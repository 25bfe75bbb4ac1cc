//! Handles of Windows, which Linux has not: the extensions of these commands are not reported.

use crate::base::given::In;
use crate::device::Device;

pub(crate) fn get_semaphore_win32_handle_khr(
    _: &Device,
    _: In<vk::SemaphoreGetWin32HandleInfoKHR>,
    _: *mut vk::HANDLE,
) -> vk::Result {
    vk::Result::ERROR_TOO_MANY_OBJECTS
}

pub(crate) fn import_semaphore_win32_handle_khr(
    _: &Device,
    _: In<vk::ImportSemaphoreWin32HandleInfoKHR>,
) -> vk::Result {
    vk::Result::ERROR_INVALID_EXTERNAL_HANDLE
}

pub(crate) fn get_fence_win32_handle_khr(
    _: &Device,
    _: In<vk::FenceGetWin32HandleInfoKHR>,
    _: *mut vk::HANDLE,
) -> vk::Result {
    vk::Result::ERROR_TOO_MANY_OBJECTS
}

pub(crate) fn import_fence_win32_handle_khr(
    _: &Device,
    _: In<vk::ImportFenceWin32HandleInfoKHR>,
) -> vk::Result {
    vk::Result::ERROR_INVALID_EXTERNAL_HANDLE
}
