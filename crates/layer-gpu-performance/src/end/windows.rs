//! The end of the process: what is measured is written, though the program may have destroyed nothing.

use std::sync::Once;
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GetModuleHandleExW,
};

extern "C" fn at_end() {
    crate::guard::caught(crate::output::finish);
}

/// Has [`at_end`] called at the end, and the library stay loaded until then: files are opened once, though a program may make one
/// instance after another.
pub(crate) fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN;
        let mut library = std::ptr::null_mut();
        // SAFETY: the address is of this library, which it pins; the function lasts as long.
        unsafe {
            GetModuleHandleExW(flags, at_end as *const () as _, &mut library);
            libc::atexit(at_end);
        }
    });
}
