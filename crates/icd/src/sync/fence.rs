//! VkFence, shared by descriptors or not.

use crate::base::answer::{Answer, code, created, invalid};
use crate::base::given::{Call, Doomed, In, Out};
use crate::base::object::Object;
use crate::device::Device;
use crate::instance::external::FENCES;
use crate::sync::shared_sync::{self, Payloads};
use machine::payload::Kind;
use machine::sync;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

pub struct Fence {
    pub(super) payloads: Payloads<sync::Fence>,
}

impl Fence {
    pub(crate) fn gpu(&self) -> Arc<sync::Fence> {
        self.payloads.now()
    }
}

/// Handle types of payloads.
const OPAQUE: vk::ExternalFenceHandleTypeFlags = vk::ExternalFenceHandleTypeFlags::OPAQUE_FD;
const SYNC: vk::ExternalFenceHandleTypeFlags = vk::ExternalFenceHandleTypeFlags::SYNC_FD;

impl Object for Fence {
    type Handle = vk::Fence;
}

pub(crate) fn create_fence(
    device: &Device,
    info: In<vk::FenceCreateInfo>,
    out: Out<vk::Fence>,
) -> vk::Result {
    let signaled = info.flags.contains(vk::FenceCreateFlags::SIGNALED);
    let exported = info.find::<vk::ExportFenceCreateInfo>().is_some_and(|e| e.handle_types.contains(FENCES));
    let made = match exported {
        true => shared_sync::shareable(device, Kind::Fence, signaled as u64, shared_sync::of_fence(info))
            .map(sync::Fence::of),
        false => Ok(sync::Fence::new(signaled)),
    };
    created(out, made.map(|own| Fence { payloads: Payloads::new(Arc::new(own)) }))
}

pub(crate) fn destroy_fence(_: &Device, fence: Doomed<Fence>) {
    fence.destroy();
}

/// The fences of an array; `None` where one is none (which the log then says).
fn all<'a>(device: &'a Device, fences: &[vk::Fence]) -> Option<Vec<&'a Fence>> {
    fences.iter().map(|&f| device.object::<Fence>(f)).collect()
}

pub(crate) fn reset_fences(device: &Device, fences: &[vk::Fence]) -> vk::Result {
    let Some(fences) = all(device, fences) else { return vk::Result::ERROR_VALIDATION_FAILED_EXT };
    device.hub().change(|| fences.iter().for_each(|f| f.payloads.restored().set(false)));
    vk::Result::SUCCESS
}

pub(crate) fn get_fence_status(device: &Device, fence: vk::Fence) -> vk::Result {
    match device.object::<Fence>(fence) {
        None => vk::Result::ERROR_VALIDATION_FAILED_EXT,
        Some(f) if f.gpu().is_signaled() => {
            device.clock().seen(f.gpu().time.load(SeqCst));
            device.saw(|| vec![f.gpu().mark.load(SeqCst)]);
            vk::Result::SUCCESS
        }
        _ if device.hub().is_lost() => vk::Result::ERROR_DEVICE_LOST,
        _ => {
            // A caller that asks again and again takes a CPU that the queue could use.
            std::thread::yield_now();
            vk::Result::NOT_READY
        }
    }
}

pub(crate) fn wait_for_fences(
    device: &Device,
    fences: &[vk::Fence],
    wait_all: vk::Bool32,
    timeout: u64,
) -> vk::Result {
    let Some(fences) = all(device, fences) else { return vk::Result::ERROR_VALIDATION_FAILED_EXT };
    let fences: Vec<_> = fences.iter().map(|f| f.gpu()).collect();
    let ready = || {
        let mut signaled = fences.iter().map(|f| f.is_signaled());
        if wait_all != 0 { signaled.all(|s| s) } else { signaled.any(|s| s) }
    };
    let result =
        if ready() { vk::Result::SUCCESS } else { device.waited(device.hub().wait(timeout, ready), ready) };
    for f in fences.iter().filter(|f| f.is_signaled()) {
        device.clock().seen(f.time.load(SeqCst));
        device.saw(|| vec![f.mark.load(SeqCst)]);
    }
    result
}

pub(crate) fn get_fence_fd_khr(
    device: &Device,
    info: In<vk::FenceGetFdInfoKHR>,
    out: Out<c_int>,
) -> vk::Result {
    let Some(f) = device.object::<Fence>(info.fence) else { return vk::Result::ERROR_UNKNOWN };
    let fd = match info.handle_type {
        OPAQUE => shared_sync::exported(f.gpu().payload()),
        // And is reset, as by vkResetFences.
        SYNC => {
            let gpu = f.gpu();
            let fd = shared_sync::until(device, || gpu.is_signaled());
            device.hub().change(|| f.payloads.restored().set(false));
            fd
        }
        other => Err(invalid(&format!("vkGetFenceFdKHR: descriptors of type {other:?}"))),
    };
    code(fd.map(|fd| out.set(fd)))
}

pub(crate) fn import_fence_fd_khr(device: &Device, info: In<vk::ImportFenceFdInfoKHR>) -> vk::Result {
    code(import(device, info))
}

fn import(device: &Device, i: In<vk::ImportFenceFdInfoKHR>) -> Answer {
    let f = device.object::<Fence>(i.fence).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let temporary = i.flags.contains(vk::FenceImportFlags::TEMPORARY);
    match i.handle_type {
        OPAQUE => {
            let payload = shared_sync::opened(device, i.fd, &[Kind::Fence])?;
            f.payloads.import(Arc::new(sync::Fence::of(payload)), temporary);
        }
        SYNC => {
            shared_sync::signalled(i.fd)?;
            f.payloads.import(Arc::new(sync::Fence::new(true)), true);
        }
        other => return Err(invalid(&format!("vkImportFenceFdKHR: descriptors of type {other:?}"))),
    }
    Ok(())
}
