//! GL_AMD_performance_monitor for OpenGL programs that run on Tuff through Mesa's zink: a library for LD_PRELOAD
//! (`tuff gl -- PROGRAM`; docs/opengl.md).
//!
//! Begin and End put a mark each into the GL stream: a debug message of type MARKER, which zink records as
//! vkCmdInsertDebugUtilsLabelEXT where it stands. The driver's channel (docs/channel.md) then tells what its queue had
//! counted when the GPU got there, and the difference of two marks is the result. Nothing waits but a program that asks
//! for a result which is not yet available.
//!
//! Downward: `entry` (the extension's 11 functions) and `strings` (GL's own functions that must know of it) use
//! `context` (what belongs to a GL context), that `monitor`, that `groups` (counters as the extension has them) and
//! `marks` (from the GL stream to the channel). `names` and `dlsym` are how programs find us, `real` how we find GL.

mod context;
mod dlsym;
mod entry;
mod gl;
mod groups;
mod marks;
mod monitor;
mod names;
mod procs;
mod real;
mod strings;

/// Runs what a C function does: a panic ends here, and its default is returned.
fn guard<R: Default>(f: impl FnOnce() -> R) -> R {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_or_default()
}

/// A lock whose holder panicked still guards whole values: each is changed in one step.
fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
