//! Turning Rust results into Vulkan's.

use crate::base::given::Out;
use crate::base::object::{self, Object};
use vk::Handle;

/// The result of an implementation, before it becomes C's.
pub(crate) type Answer<T = ()> = Result<T, vk::Result>;

pub(crate) fn code(r: Answer) -> vk::Result {
    r.err().unwrap_or(vk::Result::SUCCESS)
}

/// Hands a new object out, or the null handle and the error.
pub(crate) fn created<T: Object>(out: Out<T::Handle>, made: Answer<T>) -> vk::Result {
    code(handed_out(out, made).map(drop))
}

/// As [`created`], for callers that need the handle.
pub(crate) fn handed_out<T: Object>(out: Out<T::Handle>, made: Answer<T>) -> Answer<T::Handle> {
    let handle = match made.map(object::create) {
        Ok(h) if h.as_raw() == 0 => Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY),
        other => other,
    };
    out.set(handle.unwrap_or(T::Handle::from_raw(0)));
    handle
}

/// Bad input that has no error code of its own: one clear line, and `VK_ERROR_VALIDATION_FAILED`.
#[cold]
pub(crate) fn invalid(line: &str) -> vk::Result {
    crate::base::debug::log_error(line);
    vk::Result::ERROR_VALIDATION_FAILED_EXT
}
