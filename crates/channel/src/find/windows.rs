//! Finding the driver among the libraries of this process.

use crate::raw;
use std::ptr::null_mut;
use windows_sys::Win32::Foundation::FreeLibrary;
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleExW, GetProcAddress};
use windows_sys::w;

/// The table of the loaded driver, if it speaks [`raw::VERSION`]. The driver then stays loaded.
pub(crate) fn table() -> Option<&'static raw::Channel> {
    let mut library = null_mut();
    // SAFETY: a name that ends in 0, and room for the library.
    if unsafe { GetModuleHandleExW(0, w!("vulkan_tuff.dll"), &mut library) } == 0 {
        return None;
    }
    // SAFETY: a live library of the driver's name, whose function has the header's type. It is not closed if it has the table, which so
    // lasts.
    unsafe {
        let get = GetProcAddress(library, c"tuff_channel".as_ptr().cast());
        let get = get.map(|get| std::mem::transmute::<unsafe extern "system" fn() -> isize, raw::Get>(get));
        let table = get.and_then(|get| get(raw::VERSION).as_ref());
        if table.is_none() {
            FreeLibrary(library);
        }
        table
    }
}
