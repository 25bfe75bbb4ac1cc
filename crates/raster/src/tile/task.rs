//! What a thread works on: one tile of one layer.

use crate::layout::{BLOCKS, SIDE};
use crate::prim::Prim;
use crate::tile::Scratch;
use crate::tile::counts::TileCounts;
use crate::tile::cover::{Cover, Covered};
use crate::tile::item::Item;
use crate::tile::memory::Here;
use crate::tile::memory::plane::Plane;
use crate::tile::memory::target::{Target, Targets};
use crate::tile::pack::log::Log;
use crate::tile::pack::packer::Packer;
use crate::tile::record::Recorder;
use crate::tile::test::hiz::Hiz;
use counters::Load;
use simd::Level;
use wave::{Arena, Host, Usage, Worker};

/// What a thread works on.
pub struct Task<'a> {
    pub(in crate::tile) targets: &'a Targets,
    pub worker: &'a mut Worker,
    pub packer: &'a mut Packer,
    pub cover: &'a mut Cover,
    pub covered: &'a mut Covered,
    pub hiz: &'a mut Hiz,
    pub host: &'a dyn Host,
    pub arena: Arena,
    /// The tile buffer, laid out by the targets, as the caller of [`Task::new`] guarantees.
    pub(in crate::tile) tile: *mut u8,
    pub layer: u32,
    /// Pixels.
    pub origin: [i32; 2],
    pub level: Level,
    /// Counted here and added once an item.
    pub(in crate::tile) counts: TileCounts,
    /// What all that was drawn in the tile asks of a core.
    pub load: Load,
    /// Pixels that have their final colour already, by block ([`Plan::last_first`]).
    /// More than a tile's blocks: a group looks at the blocks to the right and below too.
    pub(in crate::tile) done: [u16; BLOCKS + 2 * SIDE + 4],
    /// Items whose fragments wait ([`crate::tile::draw::deferred`]), and what came of those that do not any more.
    pub(in crate::tile) log: &'a mut Log,
    pub(in crate::tile) waiting: Vec<Waiting<'a>>,
    pub shown: Vec<Shown>,
    /// The op whose shading failed, where it is not the one that was drawn.
    pub blamed: Option<usize>,
    /// Depths are not needed after the draws to come: those that have not been put into the tile yet need not be.
    pub depth_ends: bool,
    /// Covered sixteenths of the block's pixels (smooth lines; else 16).
    pub(in crate::tile) coverage: [u8; 16],
    /// Of a recorded pass.
    pub record: Option<Box<Recorder>>,
}

impl<'a> Task<'a> {
    /// A task on the pixels of a tile.
    ///
    /// # Safety
    /// The tile buffer is laid out by `targets`, and while this draws nobody else uses it.
    pub unsafe fn new(
        targets: &'a Targets,
        &Here { level, tile, layer, origin }: &Here,
        scratch: &'a mut Scratch,
        hiz: &'a mut Hiz,
        worker: &'a mut Worker,
        host: &'a dyn Host,
        arena: Arena,
    ) -> Task<'a> {
        let Scratch { packer, cover, covered, log, .. } = scratch;
        // A tile that failed has left it as it was.
        log.clear();
        Task {
            targets,
            worker,
            packer,
            cover,
            covered,
            hiz,
            host,
            arena,
            tile,
            layer,
            origin,
            level,
            counts: TileCounts::default(),
            done: [0; _],
            log,
            load: Load::default(),
            waiting: vec![],
            shown: vec![],
            blamed: None,
            depth_ends: false,
            coverage: [16; 16],
            record: None,
        }
    }

    #[inline(always)]
    pub(in crate::tile) fn plane(
        &self,
        attachment: Option<u32>,
        pick: impl Fn(&'a Target) -> &'a Option<Plane>,
    ) -> Option<&'a Plane> {
        pick(self.targets.list.get(attachment? as usize)?).as_ref()
    }
}

/// An item with entries in the log.
pub struct Waiting<'a> {
    pub(in crate::tile) item: &'a Item,
    /// Its place among the ops.
    pub(in crate::tile) op: usize,
    /// Its first entry.
    pub(in crate::tile) first: usize,
}

/// What shading an item's entries counted.
pub struct Shown {
    pub op: usize,
    pub counts: TileCounts,
    pub usage: Option<Usage>,
}

/// A primitive of an item: its number in the item's batch.
#[derive(Clone, Copy)]
pub(in crate::tile) struct Of<'i> {
    pub item: &'i Item,
    pub prim: &'i Prim,
    pub number: u32,
}

/// Primitives between two checks whether work is to stop.
pub(in crate::tile) const POLL: usize = 64;

/// Primitives between the one that is looked at and the one that is fetched.
pub(in crate::tile) const AHEAD: usize = 16;
