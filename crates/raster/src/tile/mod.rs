//! Tiles: from primitives to pixels, 64 × 64 of them at a time, in parallel. Attachments live in a tile buffer between
//! load and store.

// Lanes and samples number several arrays at once.
#![allow(clippy::needless_range_loop)]

pub mod blend;
mod counts;
pub mod cover;
mod draw;
pub mod item;
pub mod memory;
mod pack;
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

/// Idle scratches, and room for what passes gather.
#[derive(Default)]
pub struct Scratches {
    tiles: Mutex<Vec<Scratch>>,
    passes: Mutex<Vec<Gathered>>,
    /// Stands for primitives that are not there yet.
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
    /// Room for a pass.
    pub fn gather(&self) -> Gathered {
        self.passes.lock().pop().unwrap_or_default()
    }
    /// Room that is empty again.
    pub fn gathered(&self, g: Gathered) {
        self.passes.lock().push(g);
    }
    /// A draw's primitives before there are any.
    pub fn none(&self) -> Arc<Batch> {
        self.none.clone()
    }
}
