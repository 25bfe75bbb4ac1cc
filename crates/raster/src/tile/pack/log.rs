//! What waits to be shaded: blocks of fragments, in their order ([`crate::tile::draw::deferred`]).

use super::shows::Shows;
use crate::layout::{BLOCKS, PIXELS};

/// Entries between the one that is shaded and the one whose primitive is fetched.
pub const AHEAD: usize = 8;

/// Fragments of a block, or all of blocks side by side, or of a tile's.

#[derive(Clone, Copy)]
pub struct Entry {
    pub prim: u32,
    /// The first, and how many follow.
    pub block: u8,
    pub more: u8,
    pub mask: u16,
}
const _: () = assert!(BLOCKS - 1 == u8::MAX as usize);

/// What waits.
pub struct Log {
    pub(in crate::tile) entries: Vec<Entry>,
    /// Blocks in them; a tile counts as one.
    pub(in crate::tile) blocks: usize,
    /// What shows of one sample a pixel; not there while it is worked on.
    pub(in crate::tile) shows: Option<Box<Shows>>,
    /// Blocks whose depths are an entry's primitive's, and not in the tile yet: its number and 1, or 0.
    pub(in crate::tile) depths: [u32; BLOCKS],
    /// Of what waits: samples a pixel.
    pub(in crate::tile) samples: usize,
    /// Several samples a pixel: those of each entry, lanes of one after the other.
    pub(in crate::tile) masks: Vec<u16>,
}

impl Log {
    pub fn empty() -> Log {
        const { assert!(BLOCKS * 16 == PIXELS) };
        let (shows, depths) = (Some(Shows::empty()), [0; BLOCKS]);
        Log { entries: vec![], blocks: 0, shows, depths, samples: 1, masks: vec![] }
    }

    pub fn clear(&mut self) {
        self.forget();
        self.depths.fill(0);
    }

    /// Of several samples a pixel: leaves each to the last entry that has it. (Of one: [`Shows`].)
    pub(in crate::tile) fn keep_the_last(&mut self) {
        match self.samples {
            1 => self.shows.iter_mut().for_each(|s| s.begin()),
            2 => self.keep_the_last_of::<2>(),
            4 => self.keep_the_last_of::<4>(),
            8 => self.keep_the_last_of::<8>(),
            _ => self.keep_the_last_of::<16>(),
        }
    }
    fn keep_the_last_of<const SAMPLES: usize>(&mut self) {
        let mut seen = [[0u16; SAMPLES]; BLOCKS];
        let masks = self.masks.as_chunks_mut::<SAMPLES>().0;
        for (e, masks) in self.entries.iter().zip(masks).rev() {
            for (mask, seen) in masks.iter_mut().zip(&mut seen[e.block as usize]) {
                let own = *mask & !*seen;
                *seen |= *mask;
                *mask = own;
            }
        }
    }

    /// Nothing waits.
    pub(in crate::tile) fn forget(&mut self) {
        self.entries.clear();
        self.masks.clear();
        self.blocks = 0;
    }
}
