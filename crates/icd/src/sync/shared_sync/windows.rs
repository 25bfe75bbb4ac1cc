//! Windows has no sync files.

use crate::base::answer::Answer;
use std::ffi::c_int;

pub(crate) fn signalled(_: c_int) -> Answer {
    Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE)
}
