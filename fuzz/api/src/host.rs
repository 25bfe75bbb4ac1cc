//! Memory of the program's own that the driver is given: addresses to copy to and from and to import, file descriptors,
//! functions to call back.

use ash::vk;
use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes of the region that images are copied to and from. Nearly all of its pages are never touched.
const REGION: usize = 4 << 30;
const PAGE: usize = 4096;

/// Where the region begins; between two pages that cannot be touched, and there for as long as the process.
pub fn region() -> u64 {
    static AT: OnceLock<u64> = OnceLock::new();
    *AT.get_or_init(|| {
        // SAFETY: a fresh mapping, of which all but the first and last page is made writable.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let at = libc::mmap(std::ptr::null_mut(), REGION + 2 * PAGE, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(at, libc::MAP_FAILED, "room for the region");
            libc::mprotect(at.add(PAGE), REGION, libc::PROT_READ | libc::PROT_WRITE);
            at as u64 + PAGE as u64
        }
    })
}

/// A file of memory that a driver may take, or not; the caller's.
pub fn memfd(bytes: i64) -> i32 {
    // SAFETY: a name; a file of our own.
    unsafe {
        let fd = libc::memfd_create(c"fuzz".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
        libc::ftruncate(fd, bytes);
        if bytes & 4096 != 0 {
            libc::fcntl(fd, libc::F_ADD_SEALS, libc::F_SEAL_SHRINK);
        }
        fd
    }
}

/// Messages that told of a panic in the driver.
pub static FAULTS: AtomicU64 = AtomicU64::new(0);
/// Messages of the driver.
pub static MESSAGES: AtomicU64 = AtomicU64::new(0);

fn heard(text: *const c_char) {
    MESSAGES.fetch_add(1, Relaxed);
    // SAFETY: the driver's messages are strings.
    if !text.is_null() && unsafe { CStr::from_ptr(text) }.to_string_lossy().contains("inside the driver") {
        FAULTS.fetch_add(1, Relaxed);
    }
}

pub unsafe extern "system" fn messenger(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the driver's, or that of vkSubmitDebugUtilsMessageEXT, which passes on what it is given.
    if let Some(d) = unsafe { data.as_ref() } {
        heard(d.p_message);
    }
    vk::FALSE
}

pub unsafe extern "system" fn report(
    _: vk::DebugReportFlagsEXT,
    _: vk::DebugReportObjectTypeEXT,
    _: u64,
    _: usize,
    _: i32,
    _: *const c_char,
    message: *const c_char,
    _: *mut c_void,
) -> vk::Bool32 {
    heard(message);
    vk::FALSE
}
