//! Graphics: draws through geometry, binning and tiles (design, sections 3 and 5).
//!
//! Knows no commands and no queues: the crate that executes those hands render passes and draws to [`run::PassRun`].
//!
//! [`state`] is what a draw is drawn with, [`pass`] what it is drawn to, [`draw`] the draw itself, [`prim`] a primitive
//! on its way from geometry to tiles.

#![deny(clippy::too_many_arguments)]

pub mod draw;
pub mod drawn;
pub mod facts;
pub mod geometry;
#[cfg(test)]
mod kernel_tests;
pub mod layout;
pub mod pass;
pub mod picture;
pub mod prim;
pub mod record;
pub mod recorded;
pub mod regions;
pub mod run;
pub mod state;
pub mod statistics;
pub mod tile;

/// A number for a job of vertex or fragment waves ([`wave::graphics::Job::serial`]), never given twice. Those of
/// dispatches lack the top bit.
fn serial() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Relaxed) | 1 << 63
}
