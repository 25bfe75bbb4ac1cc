//! Finding the driver among the libraries of this process: the loader opens it for itself alone (RTLD_LOCAL).

use crate::raw;
use std::ffi::{CStr, CString, c_int, c_void};
use std::os::raw::c_char;

/// What the names of loaded libraries that are the driver end in.
const LIBRARY: &[u8] = b"/libvulkan_tuff.so";

/// The table of the first loaded driver that speaks [`raw::VERSION`]. The driver then stays loaded.
pub(crate) fn table() -> Option<&'static raw::Channel> {
    loaded().iter().find_map(|path| {
        // SAFETY: a path that ends in 0; a library that is loaded is not initialised again.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
        if library.is_null() {
            return None;
        }
        // SAFETY: a live library of the driver's name, whose function has the header's type. It is never closed, so the
        // table lasts.
        unsafe {
            let get = libc::dlsym(library, c"tuff_channel".as_ptr());
            let table = (!get.is_null()).then(|| std::mem::transmute::<*mut c_void, raw::Get>(get));
            let table = table.and_then(|get| get(raw::VERSION).as_ref());
            if table.is_none() {
                libc::dlclose(library);
            }
            table
        }
    })
}

fn loaded() -> Vec<CString> {
    unsafe extern "C" fn each(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: dl_iterate_phdr gives a library's facts, and back the list it was given.
        unsafe {
            let name: *const c_char = (*info).dlpi_name;
            if !name.is_null() {
                let name = CStr::from_ptr(name);
                if name.to_bytes().ends_with(LIBRARY) {
                    (*found.cast::<Vec<CString>>()).push(name.to_owned());
                }
            }
            0
        }
    }
    let mut found: Vec<CString> = Vec::new();
    // SAFETY: the function is called before this returns, with the list alone. Libraries are opened afterwards, for the
    // dynamic loader holds a lock meanwhile.
    unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut found).cast()) };
    found
}
