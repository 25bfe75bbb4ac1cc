//! Windows: what lies in a user's profile has the profile's access list, which gives nobody else but administrators a right.

use std::ffi::OsString;
use std::fs::{DirBuilder, Metadata, OpenOptions};
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::PathBuf;
use windows_sys::Win32::Security::Cryptography::{BCRYPT_USE_SYSTEM_PREFERRED_RNG, BCryptGenRandom};
use windows_sys::Win32::Security::TOKEN_QUERY;
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};
use windows_sys::Win32::UI::Shell::GetUserProfileDirectoryW;

/// Where the user's programs keep what should last on this machine.
pub fn state_folder() -> Option<PathBuf> {
    let (mut token, mut path, mut n) = (std::ptr::null_mut(), [0; 1024], 1024);
    // SAFETY: the token is new; the path has as much room as is told.
    let found = unsafe {
        if OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &mut token) == 0 {
            return None;
        }
        let token = OwnedHandle::from_raw_handle(token);
        GetUserProfileDirectoryW(token.as_raw_handle(), path.as_mut_ptr(), &mut n) != 0
    };
    let end = path.iter().position(|c| *c == 0)?;
    found.then(|| PathBuf::from(OsString::from_wide(&path[..end])).join("AppData/Local"))
}

/// Fills bytes that nobody can foretell; false if the system has none.
pub fn random(bytes: &mut [u8]) -> bool {
    let (at, n) = (bytes.as_mut_ptr(), bytes.len() as u32);
    // SAFETY: room for as many bytes.
    unsafe { BCryptGenRandom(std::ptr::null_mut(), at, n, BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0 }
}

pub fn private_folder(how: &mut DirBuilder) -> &mut DirBuilder {
    how
}

pub fn private_file(how: &mut OpenOptions) -> &mut OpenOptions {
    how
}

pub fn is_private(_: &Metadata) -> bool {
    true
}
