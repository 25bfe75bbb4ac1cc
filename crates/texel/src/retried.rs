//! What is made when it is first asked for, and may fail.

use parking_lot::Mutex;
use std::sync::OnceLock;

/// A value that is made once. Unlike `OnceLock`'s, a failure is not kept: who asks next tries again.
pub struct Retried<T> {
    value: OnceLock<T>,
    making: Mutex<()>,
}

impl<T> Retried<T> {
    #[allow(clippy::new_without_default, reason = "only statics want one")]
    pub const fn new() -> Retried<T> {
        Retried { value: OnceLock::new(), making: Mutex::new(()) }
    }

    /// The value, which `make` makes if it is not there.
    #[inline]
    pub fn get(&self, make: impl FnOnce() -> Option<T>) -> Option<&T> {
        if let Some(value) = self.value.get() {
            return Some(value);
        }
        let _making = self.making.lock();
        if self.value.get().is_none()
            && let Some(value) = make()
        {
            return Some(self.value.get_or_init(|| value));
        }
        self.value.get()
    }
}
