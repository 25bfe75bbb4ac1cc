//! Tiles: from primitives to pixels, 64 × 64 of them at a time, in parallel. Attachments live in a tile buffer between
//! load and store.

// Lanes and samples number several arrays at once.
#![allow(clippy::needless_range_loop)]

mod alike;
pub mod blend;
mod blend8;
mod blend_advanced;
mod blend_equation;
mod blend_shader;
mod blend_wave;
mod blocks;
mod by_alpha;
pub mod clear;
mod compressed;
pub mod counts;
pub mod cover;
pub mod deferred;
pub mod depth;
mod direct;
pub mod expand;
pub mod fill;
mod four;
pub mod full;
mod group;
pub mod hidden;
pub mod hiz;
pub mod host;
pub mod item;
pub mod late;
pub mod op;
pub mod packer;
pub mod parts;
mod quads;
pub mod resolve;
mod seats;
mod shade;
mod shapes;
mod show;
mod simple;
mod small;
mod small_tested;
mod stretch;
mod strip;
pub mod target;
pub mod task;
mod tested;
pub mod transfer;

use cover::{Cover, Covered};
use packer::Packer;
use parking_lot::Mutex;
use wave::memory::Aligned;

/// What a thread needs to work on a tile, kept between tiles.
pub struct Scratch {
    pub packer: Box<Packer>,
    pub tile: Aligned,
    pub cover: Box<Cover>,
    pub covered: Box<Covered>,
    pub log: deferred::Log,
}

/// Idle scratches.
#[derive(Default)]
pub struct Scratches(Mutex<Vec<Scratch>>);

impl Scratches {
    pub fn take(&self) -> Scratch {
        self.0.lock().pop().unwrap_or_else(|| Scratch {
            packer: Packer::new(),
            tile: Aligned::new(),
            cover: Box::new(Cover::empty()),
            covered: Covered::new(),
            log: deferred::Log::empty(),
        })
    }
    pub fn give(&self, s: Scratch) {
        self.0.lock().push(s);
    }
}
