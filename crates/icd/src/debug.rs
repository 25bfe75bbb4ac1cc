//! Messages: the log and debug-utils messengers.

use vk::ObjectType;

/// An instance's messengers.
#[derive(Default)]
pub(crate) struct Sink {}

/// A line of an error on stderr.
pub(crate) fn log_error(message: &str) {
    eprintln!("tuff: {message}");
}

/// Says that a handle is not a live one of type `ty`.
pub(crate) fn bad_handle(raw: u64, ty: ObjectType) {
    log_error(&format!("{raw:#x} is no live {ty:?} but {}", crate::object::describe(raw)));
}

/// Forgets what is known about the object of a handle that is no more.
pub(crate) fn forget(_raw: u64) {}
