//! Where the pixels of packed warps lie.

use crate::layout::{SIDE, WARPS};

/// Places of warps' pixels relative to their primitives' origins, and w.
#[repr(C, align(64))]
pub struct Places {
    pub x: [[f32; 16]; WARPS],
    pub y: [[f32; 16]; WARPS],
    pub w: [[f32; 16]; WARPS],
    /// Across, by column of blocks: of full warps.
    pub(in crate::tile) columns: [[f32; 16]; SIDE],
}

impl Places {
    pub const EMPTY: Places = Places {
        x: [[0.0; 16]; WARPS],
        y: [[0.0; 16]; WARPS],
        w: [[0.0; 16]; WARPS],
        columns: [[0.0; 16]; SIDE],
    };
}
