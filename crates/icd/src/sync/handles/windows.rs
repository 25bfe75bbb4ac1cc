//! Semaphores and fences that processes share by Windows' handles (VK_KHR_external_semaphore_win32, VK_KHR_external_fence_win32).

use crate::base::answer::{Answer, code, invalid};
use crate::base::given::{Call, In};
use crate::device::Device;
use crate::instance::external::{FENCES, SEMAPHORES};
use crate::sync::fence::Fence;
use crate::sync::semaphore::Semaphore;
use crate::sync::shared_sync::system::{handed_out, imported};
use machine::payload::Kind;
use machine::sync;
use std::sync::Arc;

/// # Safety
/// `out` has room for a handle.
pub(crate) unsafe fn get_semaphore_win32_handle_khr(
    _: &Device,
    info: In<vk::SemaphoreGetWin32HandleInfoKHR>,
    out: *mut vk::HANDLE,
) -> vk::Result {
    let Some(s) = info.object::<Semaphore>(info.semaphore) else { return vk::Result::ERROR_UNKNOWN };
    let handle = match info.handle_type {
        SEMAPHORES => handed_out(s.gpu().payload()),
        other => Err(invalid(&format!("vkGetSemaphoreWin32HandleKHR: handles of type {other:?}"))),
    };
    // SAFETY: what the caller promises.
    code(handle.map(|handle| unsafe { out.write(handle) }))
}

pub(crate) fn import_semaphore_win32_handle_khr(
    device: &Device,
    info: In<vk::ImportSemaphoreWin32HandleInfoKHR>,
) -> vk::Result {
    code(import_semaphore(device, info))
}

fn import_semaphore(device: &Device, i: In<vk::ImportSemaphoreWin32HandleInfoKHR>) -> Answer {
    let s = device.object::<Semaphore>(i.semaphore).ok_or(vk::Result::ERROR_UNKNOWN)?;
    if i.handle_type != SEMAPHORES {
        let other = i.handle_type;
        return Err(invalid(&format!("vkImportSemaphoreWin32HandleKHR: handles of type {other:?}")));
    }
    let kind = if s.gpu().timeline { Kind::Timeline } else { Kind::Binary };
    // SAFETY: a name that ends in 0, if there is one (valid usage).
    let payload = unsafe { imported(device, i.handle, i.name, &[kind]) }?;
    let temporary = i.flags.contains(vk::SemaphoreImportFlags::TEMPORARY);
    s.payloads.import(sync::Semaphore::of(payload), temporary);
    Ok(())
}

/// # Safety
/// `out` has room for a handle.
pub(crate) unsafe fn get_fence_win32_handle_khr(
    _: &Device,
    info: In<vk::FenceGetWin32HandleInfoKHR>,
    out: *mut vk::HANDLE,
) -> vk::Result {
    let Some(f) = info.object::<Fence>(info.fence) else { return vk::Result::ERROR_UNKNOWN };
    let handle = match info.handle_type {
        FENCES => handed_out(f.gpu().payload()),
        other => Err(invalid(&format!("vkGetFenceWin32HandleKHR: handles of type {other:?}"))),
    };
    // SAFETY: what the caller promises.
    code(handle.map(|handle| unsafe { out.write(handle) }))
}

pub(crate) fn import_fence_win32_handle_khr(
    device: &Device,
    info: In<vk::ImportFenceWin32HandleInfoKHR>,
) -> vk::Result {
    code(import_fence(device, info))
}

fn import_fence(device: &Device, i: In<vk::ImportFenceWin32HandleInfoKHR>) -> Answer {
    let f = device.object::<Fence>(i.fence).ok_or(vk::Result::ERROR_UNKNOWN)?;
    if i.handle_type != FENCES {
        let other = i.handle_type;
        return Err(invalid(&format!("vkImportFenceWin32HandleKHR: handles of type {other:?}")));
    }
    // SAFETY: a name that ends in 0, if there is one (valid usage).
    let payload = unsafe { imported(device, i.handle, i.name, &[Kind::Fence]) }?;
    let temporary = i.flags.contains(vk::FenceImportFlags::TEMPORARY);
    f.payloads.import(Arc::new(sync::Fence::of(payload)), temporary);
    Ok(())
}
