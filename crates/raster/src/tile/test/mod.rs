//! Depth and stencil tests of samples, and bounds of depth (§ Fragment Operations).

pub mod depth;
pub mod hiz;
pub mod stencil;
