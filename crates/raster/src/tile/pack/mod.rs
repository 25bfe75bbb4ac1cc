//! Packing of covered quads into waves of fragments, and what waits to be packed.

pub mod log;
pub mod packer;
pub mod places;
pub mod seats;
pub mod shows;
