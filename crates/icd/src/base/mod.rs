//! What every object of the driver is made with: handles, pointers of the application, messages, memory of the host, hashes and signatures.
//!
//! It must not know any Vulkan object.

#[cfg_attr(windows, path = "alloc/windows.rs")]
pub(crate) mod alloc;
pub(crate) mod answer;
pub(crate) mod cache_key;
pub(crate) mod chain;
pub(crate) mod debug;
mod generated;
pub(crate) mod given;
pub(crate) mod guard;
pub(crate) mod hash;
pub(crate) mod object;
pub(crate) mod panics;
pub(crate) mod signed;
pub(crate) mod stage;
