//! What goes between a tile and memory, and how tiles are written there.

/// What goes between a tile and memory.

#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct Traffic {
    /// By attachment and sample.
    pub pixels: u64,
    /// Of these, but for what is not written because memory holds it already (transaction elimination).
    pub bytes: u64,
    pub(super) kept: u64,
    /// Quarters of the tile, 32 × 32 pixels, that differ from what memory holds, and those that were looked at (a bit
    /// each: right 1, below 2).
    pub(super) changed: u8,
    pub(super) seen: u8,
    /// Bytes of compressed images' tiles whose compressed size was not computed.
    pub(in crate::tile) unseen: u64,
}

impl Traffic {
    pub fn add(&mut self, o: &Traffic) {
        self.pixels += o.pixels;
        self.bytes += o.bytes;
        self.kept += o.kept;
        self.changed |= o.changed;
        self.seen |= o.seen;
        self.unseen += o.unseen;
    }
    /// As if memory had held something else.
    pub fn without_elimination(&self) -> Traffic {
        Traffic { bytes: self.bytes + self.kept, kept: 0, changed: self.seen, ..*self }
    }
    /// Quarters that were not written, for memory holds the same already.
    pub fn unchanged(&self) -> u64 {
        (self.seen & !self.changed).count_ones() as u64
    }
}

/// How tiles are written to memory.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Writes {
    /// A quarter of a tile ([`Traffic`]) is compared with what memory holds until it differs, and counted if it does not. What is
    /// equal is not written again. Once a quarter is known to differ, the rest of it is not compared: memory is not read any more.
    pub compares: bool,
    /// The pass stores more than caches hold until it is read again: stores bypass the caches.
    pub past: bool,
}

impl Writes {
    /// Of a pass that stores so many bytes.
    pub fn of(bytes: u64, compares: bool) -> Writes {
        Writes { compares, past: bytes >= MANY }
    }
    /// Whether what memory holds comes into the caches.
    #[inline(always)]
    pub(super) fn reads(self) -> bool {
        self.compares || !self.past
    }
    /// Whether memory is read of a quarter that has this bit, where these are known to differ.
    #[inline(always)]
    pub(super) fn asks(self, quarter: u8, differs: u8) -> bool {
        self.compares && differs & quarter == 0
    }
}

/// Bytes of a pass that replace everything in a core's own caches before they are read again.
const MANY: u64 = 2 << 20;

/// Which way.
#[derive(Clone, Copy, PartialEq)]
pub enum Way {
    Load,
    Store,
    /// The same, and it is looked at what the tile takes if it is compressed.
    Look,
    /// The clear value goes to memory, whatever the tile holds.
    Clear,
    /// Nothing moves: memory holds what the tile would.
    Keep,
    /// As [`Way::Load`], for a tile whose content is not needed.
    Skip,
}
