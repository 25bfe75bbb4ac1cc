//! What every entry point does around its implementation: resolve the first handle, and keep a panic from
//! crossing into C.

use crate::base::object::{self, Object};
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[cold]
fn panicked(name: &CStr, what: &(dyn std::any::Any + Send)) {
    let why = what
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| what.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    crate::base::debug::log_error(&format!("{}: a fault inside the driver: {why}", name.to_string_lossy()));
}

/// A pointer that a command needs is null: a line in the log, and `fallback`.
#[cold]
pub(crate) fn missing<R>(name: &CStr, fallback: R) -> R {
    crate::base::debug::log_error(&format!(
        "{} needs what a null pointer should lead to",
        name.to_string_lossy()
    ));
    fallback
}

/// Runs `f`; a panic becomes a line in the log and `fallback`.
pub(crate) fn raw<R>(name: &CStr, fallback: R, f: impl FnOnce() -> R) -> R {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(r) => r,
        Err(what) => {
            panicked(name, &*what);
            fallback
        }
    }
}

/// Runs `f` on the object of `handle`; a handle that is not one, or a panic, becomes a line in the log and
/// `fallback`.
///
/// # Safety
/// As [`object::get`].
#[inline]
pub(crate) unsafe fn on<T: Object, R>(
    name: &CStr,
    handle: T::Handle,
    fallback: R,
    f: impl FnOnce(&T) -> R,
) -> R {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        match object::get::<T>(handle) {
            Some(object) => raw(name, fallback, || f(object)),
            None => {
                let ty = <T::Handle as vk::Handle>::TYPE;
                crate::base::debug::log_error(&format!("{} needs a live {ty:?}", name.to_string_lossy()));
                fallback
            }
        }
    }
}
