//! Linux: sync files.

use crate::base::answer::{Answer, invalid};
use std::ffi::c_int;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

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
