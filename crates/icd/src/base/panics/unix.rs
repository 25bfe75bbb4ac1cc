//! Linux.

use std::ffi::{CStr, c_void};

/// The library that has an address: where it begins, and its file if that is known.
pub fn library(of: *const c_void) -> (usize, Option<String>) {
    // SAFETY: any address may be asked for; the result is plain.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    let found = unsafe { libc::dladdr(of, &mut info) } != 0;
    let path = (found && !info.dli_fname.is_null()).then(|| {
        // SAFETY: dladdr's names are C strings that stay as long as the library.
        unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy().into_owned()
    });
    (info.dli_fbase as usize, path)
}
