//! Windows.

use std::ffi::c_void;
use windows_sys::Win32::System::LibraryLoader::*;

/// The library that has an address: where it begins, and its file if that is known.
pub fn library(of: *const c_void) -> (usize, Option<String>) {
    let flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    let (mut module, mut name) = (std::ptr::null_mut(), [0; 1024]);
    // SAFETY: any address may be asked for; the name has as much room as is told.
    let n = unsafe {
        GetModuleHandleExW(flags, of.cast(), &mut module);
        GetModuleFileNameW(module, name.as_mut_ptr(), name.len() as u32)
    };
    let path = String::from_utf16_lossy(&name[..n as usize]);
    (module as usize, Some(path).filter(|p| !p.is_empty()))
}
