//! How a workload uses an image or a buffer, as bits: the driver writes them into captures (facts.json), tools read them.

/// Before rasterisation.
pub const VERTEX_READ: u32 = 1;
pub const VERTEX_WRITE: u32 = 2;
pub const FRAGMENT_READ: u32 = 4;
pub const FRAGMENT_WRITE: u32 = 8;
pub const COMPUTE_READ: u32 = 16;
pub const COMPUTE_WRITE: u32 = 32;
pub const TRANSFER_READ: u32 = 64;
pub const TRANSFER_WRITE: u32 = 128;
/// All of it is set to one value.
pub const CLEARED: u32 = 256;
/// By a render pass's load and store operations, or its draws.
pub const LOADED: u32 = 512;
pub const STORED: u32 = 1024;
/// An attachment whose content is not loaded or not stored.
pub const UNLOADED: u32 = 2048;
pub const UNSTORED: u32 = 4096;
/// What is in it is looked at.
pub const READ: u32 = VERTEX_READ | FRAGMENT_READ | COMPUTE_READ | TRANSFER_READ | LOADED;
