//! A library for LD_PRELOAD that answers for `/dev/mali0` (see the crate `kbase`), so that programs with an unmodified
//! libGPUCounters find it. Every other call goes on to the C library.
//!
//! `munmap`, `poll` and `fstat` stay the C library's: memory and descriptors are real.

use kbase::{Mapping, c_answer, c_result};
use libc::{c_char, c_int, c_long, c_uint, c_ulong, c_void, size_t};
use preload::Next;
use std::ffi::CStr;

type OpenFn = unsafe extern "C" fn(*const c_char, c_int, ...) -> c_int;
type Open2Fn = unsafe extern "C" fn(*const c_char, c_int) -> c_int;
type IoctlFn = unsafe extern "C" fn(c_int, c_ulong, ...) -> c_int;
type MapFn = unsafe extern "C" fn(*mut c_void, size_t, c_int, c_int, c_int, i64) -> *mut c_void;
type CloseFn = unsafe extern "C" fn(c_int) -> c_int;

unsafe fn is_device(path: *const c_char) -> bool {
    // SAFETY: as the C library's: the caller's arguments are good, and what dlsym finds is of its declared type.
    unsafe { !path.is_null() && CStr::from_ptr(path) == kbase::DEVICE }
}

/// The C declarations of `open` and `ioctl` are variadic; on x86-64 and AArch64 Linux the argument after the last named
/// one comes in the next register, and is whatever that holds where the caller gives none: it is only handed on.
unsafe fn open_by(next: &Next<OpenFn>, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: as the C library's: the caller's arguments are good, and what dlsym finds is of its declared type.
    unsafe {
        if is_device(path) {
            return c_result(|| kbase::open(flags));
        }
        next.get()(path, flags, mode)
    }
}

/// # Safety
/// As the C library's, here and below.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: as the C library's: the caller's arguments are good, and what dlsym finds is of its declared type.
    unsafe {
        static NEXT: Next<OpenFn> = Next::new(c"open");
        open_by(&NEXT, path, flags, mode)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: as the C library's: the caller's arguments are good, and what dlsym finds is of its declared type.
    unsafe {
        static NEXT: Next<OpenFn> = Next::new(c"open64");
        open_by(&NEXT, path, flags, mode)
    }
}

/// What `open` without a mode becomes in programs that are built with _FORTIFY_SOURCE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __open_2(path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: as the C library's: the caller's arguments are good, and what dlsym finds is of its declared type.
    unsafe {
        static NEXT: Next<Open2Fn> = Next::new(c"__open_2");
        if is_device(path) {
            return c_result(|| kbase::open(flags));
        }
        NEXT.get()(path, flags)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, argument: c_long) -> c_int {
    // SAFETY: as the C library's: the caller's arguments are good, and what dlsym finds is of its declared type.
    unsafe {
        static NEXT: Next<IoctlFn> = Next::new(c"ioctl");
        if kbase::is_ours(fd) {
            // The kernel looks at 32 bits of it, too.
            return c_result(|| kbase::ioctl(fd, request as u32, argument as u64));
        }
        NEXT.get()(fd, request, argument)
    }
}

unsafe fn map_by(next: &Next<MapFn>, fd: c_int, wanted: Mapping) -> *mut c_void {
    // SAFETY: as the C library's: the caller's arguments are good, and what dlsym finds is of its declared type.
    unsafe {
        if kbase::is_ours(fd) {
            return c_answer(libc::MAP_FAILED, || kbase::map(fd, wanted));
        }
        let Mapping { address, size, protection, flags, offset } = wanted;
        next.get()(address, size, protection, flags, fd, offset)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap(
    address: *mut c_void,
    size: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: as the C library's: the caller's arguments are good, and what dlsym finds is of its declared type.
    unsafe {
        static NEXT: Next<MapFn> = Next::new(c"mmap");
        map_by(&NEXT, fd, Mapping { address, size, protection, flags, offset })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap64(
    address: *mut c_void,
    size: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: as the C library's: the caller's arguments are good, and what dlsym finds is of its declared type.
    unsafe {
        static NEXT: Next<MapFn> = Next::new(c"mmap64");
        map_by(&NEXT, fd, Mapping { address, size, protection, flags, offset })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(fd: c_int) -> c_int {
    // SAFETY: as the C library's: the caller's arguments are good, and what dlsym finds is of its declared type.
    unsafe {
        static NEXT: Next<CloseFn> = Next::new(c"close");
        if kbase::is_ours(fd) {
            return c_result(|| kbase::close(fd));
        }
        NEXT.get()(fd)
    }
}
