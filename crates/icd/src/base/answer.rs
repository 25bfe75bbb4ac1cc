//! Turning Rust results into Vulkan's.

use crate::base::object::{self, Object};
use vk::Handle;

/// What an implementation computes before it is told to C.
pub(crate) type Answer<T = ()> = Result<T, vk::Result>;

pub(crate) fn code(r: Answer) -> vk::Result {
    r.err().unwrap_or(vk::Result::SUCCESS)
}

/// Hands a new object out, or the null handle and the error.
///
/// # Safety
/// `out` is valid for writing.
pub(crate) unsafe fn created<T: Object>(out: *mut T::Handle, made: Answer<T>) -> vk::Result {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        match made {
            Ok(value) => {
                *out = object::create(value);
                if (*out).as_raw() == 0 { vk::Result::ERROR_OUT_OF_HOST_MEMORY } else { vk::Result::SUCCESS }
            }
            Err(e) => {
                *out = T::Handle::from_raw(0);
                e
            }
        }
    }
}

/// Bad input that has no error code of its own: one clear line, and `VK_ERROR_VALIDATION_FAILED`.
#[cold]
pub(crate) fn invalid(line: &str) -> vk::Result {
    crate::base::debug::log_error(line);
    vk::Result::ERROR_VALIDATION_FAILED_EXT
}
