//! Windows: a named mutex of the session.

use std::os::windows::io::{FromRawHandle, OwnedHandle};
use windows_sys::Win32::Foundation::{ERROR_ALREADY_EXISTS, GetLastError};
use windows_sys::Win32::System::Threading::CreateMutexW;
use windows_sys::w;

pub type Name = OwnedHandle;

/// The name, if nobody has it.
pub fn name() -> Option<Name> {
    // SAFETY: a name that ends in 0; the handle is new.
    unsafe {
        let handle = CreateMutexW(std::ptr::null(), 0, w!("Local\\tuff-profiling-lock"));
        let there = GetLastError() == ERROR_ALREADY_EXISTS;
        let handle = (!handle.is_null()).then(|| OwnedHandle::from_raw_handle(handle))?;
        (!there).then_some(handle)
    }
}
