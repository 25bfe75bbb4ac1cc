//! The library's memory: the system's, and a reserve that serves where that has nothing left. It is Rust's global allocator here; the rest is
//! as on other systems.

/// Gives the system what has been freed. The process heap does so by itself.
pub(crate) fn give_back() {}

/// The system has no memory left: nothing new is to be made.
pub(crate) fn is_short() -> bool {
    false
}
