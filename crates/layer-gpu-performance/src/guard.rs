//! No panic crosses the C boundary: what the layer does around a call runs in here, the call itself does not.

use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Runs `f`; a panic becomes a line on stderr and `None`. The program goes on, with what is measured so far.
pub(crate) fn caught<R>(f: impl FnOnce() -> R) -> Option<R> {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(r) => Some(r),
        Err(what) => {
            let text = what.downcast_ref::<&str>().copied();
            let text = text.or_else(|| what.downcast_ref::<String>().map(String::as_str));
            crate::say(&format!("a fault inside the layer: {}", text.unwrap_or("no message")));
            None
        }
    }
}

/// Tells the one who keeps the books of a command buffer or a queue, if there is one.
pub(crate) fn told<T>(keeper: Option<Arc<Mutex<T>>>, f: impl FnOnce(&mut T)) {
    if let Some(keeper) = keeper {
        caught(|| f(&mut keeper.lock()));
    }
}
