//! The functions that programs get from us, by name.

use crate::{entry, procs, strings};
use std::ffi::c_void;

pub struct Found {
    pub function: *mut c_void,
    /// The extension's: there may be none below us.
    pub new: bool,
}

macro_rules! table {
    ($($new:literal: $($module:ident::$name:ident)*;)*) => {
        pub fn find(name: &[u8]) -> Option<Found> {
            // Most names are others' (and asked for before anything is set up).
            if !name.starts_with(b"gl") && !name.starts_with(b"egl") {
                return None;
            }
            $($(if name == stringify!($name).as_bytes() {
                return Some(Found { function: $module::$name as *mut c_void, new: $new });
            })*)*
            None
        }
    };
}

table! {
    true:
        entry::glGetPerfMonitorGroupsAMD
        entry::glGetPerfMonitorCountersAMD
        entry::glGetPerfMonitorGroupStringAMD
        entry::glGetPerfMonitorCounterStringAMD
        entry::glGetPerfMonitorCounterInfoAMD
        entry::glGenPerfMonitorsAMD
        entry::glDeletePerfMonitorsAMD
        entry::glSelectPerfMonitorCountersAMD
        entry::glBeginPerfMonitorAMD
        entry::glEndPerfMonitorAMD
        entry::glGetPerfMonitorCounterDataAMD;
    false:
        strings::glGetString
        strings::glGetStringi
        strings::glGetIntegerv
        strings::glGetError
        procs::eglGetProcAddress
        procs::eglDestroyContext
        procs::eglTerminate
        procs::glXGetProcAddress
        procs::glXGetProcAddressARB
        procs::glXDestroyContext;
}
