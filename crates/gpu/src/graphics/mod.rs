//! Graphics: draws through geometry, binning and tiles (design, sections 3 and 5).
//!
//! [`state`] is what a draw is drawn with, [`pass`] what it is drawn to, [`draw`] the draw itself, [`prim`] a primitive
//! on its way from geometry to tiles.

pub mod draw;
pub mod geometry;
pub mod pass;
pub mod prim;
pub mod state;
