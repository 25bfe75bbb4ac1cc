//! Linux: opaque descriptors, and sync files.

use super::known;
use crate::base::answer::{Answer, invalid};
use crate::base::given::In;
use crate::device::Device;
use machine::payload::{BYTES, Kind, Payload, Shared};
use std::ffi::c_int;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;

/// Memory for the payload of such a semaphore.
pub(crate) fn of_semaphore(_: In<vk::SemaphoreCreateInfo>) -> Option<Shared> {
    Shared::new(BYTES as u64)
}

/// Memory for the payload of such a fence.
pub(crate) fn of_fence(_: In<vk::FenceCreateInfo>) -> Option<Shared> {
    Shared::new(BYTES as u64)
}

/// The payload of another's descriptor, which is the driver's from then on.
pub(crate) fn opened(device: &Device, fd: c_int, kinds: &[Kind]) -> Answer<Arc<Payload>> {
    let payload = Payload::import(fd, kinds).ok_or_else(|| {
        _ = invalid(&format!("the descriptor {fd} is none of a payload of this kind"));
        vk::Result::ERROR_INVALID_EXTERNAL_HANDLE
    })?;
    known(device, payload)
}

/// Another descriptor of a payload that may be shared.
pub(crate) fn exported(payload: Option<&Arc<Payload>>) -> Answer<c_int> {
    match payload {
        Some(p) => p.export().ok_or(vk::Result::ERROR_TOO_MANY_OBJECTS),
        None => Err(invalid("a descriptor is asked for of what was not created to be exported")),
    }
}

/// Waits for a sync file's signal, and closes it; −1 is one that has come.
pub(crate) fn signalled(fd: c_int) -> Answer {
    if fd == -1 {
        return Ok(());
    }
    /// `struct sync_file_info` (linux/sync_file.h), without fences.
    #[repr(C)]
    #[derive(Default)]
    struct Info {
        name: [u8; 32],
        status: i32,
        flags: u32,
        fences: u32,
        pad: u32,
        list: u64,
    }
    const SYNC_IOC_FILE_INFO: u64 = 0xC038_3E04;
    let mut info = Info::default();
    // SAFETY: asks about a descriptor, whatever it is; the structure is as long as the call's number says.
    let known = unsafe { libc::ioctl(fd, SYNC_IOC_FILE_INFO as _, &mut info) } == 0;
    if !known {
        _ = invalid(&format!("the descriptor {fd} is no sync file's"));
        return Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE);
    }
    // SAFETY: a live descriptor, which is the driver's from here.
    let file = unsafe { OwnedFd::from_raw_fd(fd) };
    let mut poll = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one descriptor.
    while unsafe { libc::poll(&mut poll, 1, -1) } < 0 {}
    Ok(())
}
