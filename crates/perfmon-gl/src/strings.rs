//! GL's own functions that must know of the extension.

use crate::context::{self, EXTENSION};
use crate::{gl, guard, real};
use std::ffi::CStr;

/// Whether the extension is added to what the current context has.
fn is_served() -> bool {
    context::with(|context| context.groups.is_some()).unwrap_or(false)
}

/// # Safety
/// As GL's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glGetString(name: gl::Enum) -> *const u8 {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        let Some(below) = real::get_string() else { return std::ptr::null() };
        let text = below(name);
        if name != gl::EXTENSIONS || text.is_null() {
            return text;
        }
        let longer = guard(|| {
            context::with(|c| c.groups.map(|_| c.extensions(CStr::from_ptr(text.cast())) as usize)).flatten()
        });
        longer.map_or(text, |at| at as *const u8)
    }
}

/// How many extensions the context has below us; `None` where it does not say.
unsafe fn count_below() -> Option<gl::Int> {
    // SAFETY: the caller's.
    unsafe {
        let mut count = -1;
        real::get_integerv()?(gl::NUM_EXTENSIONS, &mut count);
        (count >= 0).then_some(count)
    }
}

/// # Safety
/// As GL's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glGetStringi(name: gl::Enum, index: gl::Uint) -> *const u8 {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        if name == gl::EXTENSIONS {
            let last = guard(|| is_served() && count_below() == gl::Int::try_from(index).ok());
            if last {
                return EXTENSION.as_ptr().cast();
            }
        }
        real::get_stringi().map_or(std::ptr::null(), |below| below(name, index))
    }
}

/// # Safety
/// As GL's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glGetIntegerv(name: gl::Enum, data: *mut gl::Int) {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        let Some(below) = real::get_integerv() else { return };
        if name != gl::NUM_EXTENSIONS || data.is_null() || !guard(is_served) {
            return below(name, data);
        }
        // Where it is an error nothing is written.
        if let Some(count) = count_below() {
            *data = count + 1;
        }
    }
}

/// # Safety
/// As GL's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glGetError() -> gl::Enum {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        match guard(context::take_error) {
            Some(error) => error,
            None => real::get_error().map_or(0, |below| below()),
        }
    }
}
