//! Attachments: where they lie in memory and in the tile buffer, and how they get from one to the other.

pub mod alike;
pub mod clear;
pub mod compressed;
pub mod density;
pub mod expand;
pub mod plane;
pub mod resolve;
pub mod strip;
pub mod target;
pub mod traffic;
pub mod transfer;

use simd::Level;

/// The tile that a thread works on.
#[derive(Clone, Copy)]
pub struct Here {
    pub level: Level,
    /// The tile buffer.
    pub tile: *mut u8,
    pub layer: u32,
    /// The first pixel.
    pub origin: [i32; 2],
}
