//! Tiles: from primitives to pixels, 64 × 64 of them at a time, in parallel. Attachments live in a tile buffer between
//! load and store.
//!
//! # Rooms
//!
//! A room depends only on rooms below it (ARCHITECTURE.md, `crates/xtask/tests/arrows.rs`).
//!
//! | room | contents |
//! |---|---|
//! | [`draw`] | an item's primitives, one after the other: coverage, early tests, then the packer, the log of what waits, or both |
//! | [`shade`] | packed quads become fragment waves: inputs, the program, late tests, writes; reads of the tile by fragments |
//! | [`task`] | what a thread works on, the context of the two rooms above |
//! | [`record`] | what happens in a tile of a recorded frame |
//! | [`item`] | what is drawn: a draw whose geometry is done, its plan, the lists of a pass, and what its tiles counted |
//! | [`test`] | kernels of depth and stencil tests, and hierarchical Z |
//! | [`blend`] | kernels that write colours |
//! | [`memory`] | attachments in memory and in the tile buffer: load, clear, resolve, store |
//! | [`pack`] | quads of a wave and their seats, and the log of fragments that wait |
//! | [`cover`] | kernels of coverage |
//! | [`counts`] | what tiles count |
//!
//! # Fast paths
//!
//! Everything can be drawn by the general path: [`Cover::list`], [`draw::block`], [`pack::packer::Packer::add`], [`shade`] with
//! [`shade::warp::value`] for each input, and [`blend::wave`]. The paths below give the same bits and counts in less time. The plan of a
//! draw ([`item::plan::Plan`]) says which of them are open to it.
//!
//! | path | condition | replaces | compared by |
//! |---|---|---|---|
//! | [`cover::small`] | a polygon of at most 16 × 16 pixels | `Cover::set` and `Cover::list` | `cover::edges_against_each_sample`, `tests` |
//! | [`cover::group`] (`Plan::simple`) | sixteen triangles of at most 12 × 12 pixels, one sample, no tests before shading | `cover::small`, one triangle at a time | `tests` |
//! | [`draw::simple`] (`Plan::simple`) | one sample, nothing to test or count before shading | `draw::block` and `Packer::add` | `tests` |
//! | `Plan::last_first` | `simple`, every pixel is replaced, no side effects | drawing in order: the last primitive comes first and each pixel is shaded once | `tests` |
//! | [`draw::tested`] (`Plan::depth_alone`) | one sample, only depth is tested, before shading | early tests in `draw::block` | `tests`, `hiz::a_row_fails_as_its_blocks_do` |
//! | [`draw::four`] (`Plan::four`) | four samples, only depth is tested, before shading | early tests in `draw::block` | `tests`, `packer::four_samples_as_any_number` |
//! | [`draw::small_tested`] (`Plan::small`) | small triangles of the two rows above, with vectors | coverage and tests, one triangle at a time | `tests` |
//! | [`draw::deferred`], [`draw::show`] (`Plan::deferred`) | depth is tested early, every pixel is replaced, no side effects | shading of fragments that later ones replace | `tests` |
//! | [`item::hidden`] | a tile has large opaque primitives and at most 512 entries | shading of blocks that later primitives cover | `tests` |
//! | [`test::hiz`] (`Plan::hiz`) | only depth is tested | tests of blocks all of whose samples fail, or all pass | `hiz`'s tests, `tests` |
//! | full warps: [`shade::full`] (`Plan::plain`, `Plan::full`) | a primitive covers a block; nothing between shading and blending depends on coverage | a slot in the packer, `warp::value` | `tests` |
//! | [`shade::stretch`] (`Plan::whole`) | such blocks one after the other, as many as a wave holds | packing them | `tests` |
//! | [`shade::quads`] (`Plan::of_planes`) | all inputs are interpolated, flat, or FragCoord | `warp::value`, one warp at a time | `tests` |
//! | [`shade::direct`] | one sample, one attachment of four bytes, replaced | the writes of [`shade`], attachment by attachment | `tests` |
//! | [`memory::alike`], [`blend::whole`] | all samples of a block have the same colours | a write for each sample | `whole::samples_are_what_was_written`, `tests` |
//! | [`blend::equation`] | the format is blendable, no advanced operation | the steps of [`blend::wave`] | `the_general_way_is_the_formula` |
//! | [`blend::by_alpha`], [`blend::fixed`] | four unorm bytes, factors that do not depend on the destination | [`blend::equation`] (within a fiftieth of a code) | `factors_by_alpha_are_the_general_ones`, `near_exact_and_the_same_everywhere` |
//! | [`memory::strip`] | rows of four blocks that lie in the area | moves pixel by pixel | `moves_are_those_of_pixels` |
//! | `Targets::pass_over` | nothing is drawn in the tile, the pass is drawn at once | load and store through the tile buffer | scenes of `conformance` |
//!
//! `tests` draws random primitives in whole tiles on every SIMD level, and compares pixels and counts with a reference that handles one
//! sample at a time (`tests/reference.rs`).

// Lanes and samples are indices into several arrays at once.
#![allow(clippy::needless_range_loop)]

pub mod blend;
mod counts;
pub mod cover;
mod draw;
pub mod item;
pub mod memory;
mod pack;
pub mod record;
pub mod shade;
pub mod task;
pub mod test;
#[cfg(test)]
pub(crate) mod tests;

use crate::geometry::Batch;
use cover::{Cover, Covered};
use item::op::Gathered;
use pack::log::Log;
use pack::packer::Packer;
use parking_lot::Mutex;
use std::sync::Arc;
use wave::memory::Aligned;

/// What a thread needs to work on a tile, kept between tiles.
pub struct Scratch {
    pub packer: Box<Packer>,
    pub tile: Aligned,
    pub cover: Box<Cover>,
    pub covered: Box<Covered>,
    pub log: Log,
    /// For [`memory::target::Targets::unseen`].
    pub unseen: Vec<u64>,
}

/// Idle scratches, and memory for what passes gather.
#[derive(Default)]
pub struct Scratches {
    tiles: Mutex<Vec<Scratch>>,
    passes: Mutex<Vec<Gathered>>,
    /// Placeholder for primitives that do not exist yet.
    none: Arc<Batch>,
}

impl Scratches {
    pub fn take(&self) -> Scratch {
        self.tiles.lock().pop().unwrap_or_else(|| Scratch {
            packer: Packer::new(),
            tile: Aligned::new(),
            cover: Box::new(Cover::empty()),
            covered: Covered::new(),
            log: Log::empty(),
            unseen: Vec::new(),
        })
    }
    pub fn give(&self, s: Scratch) {
        self.tiles.lock().push(s);
    }
    /// Memory for what a pass gathers.
    pub fn gather(&self) -> Gathered {
        self.passes.lock().pop().unwrap_or_default()
    }
    /// Takes that memory back; it is empty again.
    pub fn gathered(&self, g: Gathered) {
        self.passes.lock().push(g);
    }
    /// A draw's primitives before there are any.
    pub fn none(&self) -> Arc<Batch> {
        self.none.clone()
    }
}
