//! `libmali.so` for libGPUCounters that is built with HWCPIPE_SYSCALL_LIBMALI: the five functions by which it reaches
//! the kernel device there (see the crate `kbase`). It is no driver of anything.

use kbase::{Errno, Mapping, c_answer, c_result};
use libc::{c_char, c_int, c_long, c_void, off_t, size_t};
use std::ffi::CStr;

/// Opens `/dev/mali0`; there is no other device.
///
/// # Safety
/// `name` is null or a string that ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mali_open(name: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        c_result(|| {
            if name.is_null() {
                return Err(Errno(libc::EFAULT));
            }
            if CStr::from_ptr(name) == kbase::DEVICE { kbase::open(flags) } else { Err(Errno(libc::ENOENT)) }
        })
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn mali_close(fd: c_int) -> c_int {
    c_result(|| kbase::close(fd))
}

/// The C declaration is variadic, with `int` requests; on x86-64 and AArch64 Linux a third argument of either kind comes
/// in the same register.
#[unsafe(no_mangle)]
pub extern "C" fn mali_ioctl(fd: c_int, request: c_int, argument: c_long) -> c_int {
    c_result(|| kbase::ioctl(fd, request as u32, argument as u64))
}

#[unsafe(no_mangle)]
pub extern "C" fn mali_mmap(
    address: *mut c_void,
    size: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    let wanted = Mapping { address, size, protection, flags, offset };
    c_answer(libc::MAP_FAILED, || kbase::map(fd, wanted))
}

/// # Safety
/// As `munmap`: nobody uses that memory any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mali_munmap(address: *mut c_void, size: size_t) -> c_int {
    // SAFETY: the caller keeps what is asked for above.
    unsafe { libc::munmap(address, size) }
}
