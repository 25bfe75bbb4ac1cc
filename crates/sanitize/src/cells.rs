//! Who accessed each word of memory last.

use crate::hash::Map;

/// An access that a cell remembers.
#[derive(Clone, Copy, Default)]
pub(crate) struct Stamp {
    pub group: u32,
    /// Time of [`crate::Races`]; 0: no access.
    pub time: u32,
    pub local: u16,
    pub epoch: u16,
    pub site: u16,
    pub subgroup: u8,
    /// Bytes of the word, one bit each, and whether the access is atomic.
    pub bytes: u8,
}

impl Stamp {
    pub const BYTES: u8 = 0xF;
    pub const ATOMIC: u8 = 0x10;

    pub fn is_atomic(&self) -> bool {
        self.bytes & Stamp::ATOMIC != 0
    }
}

/// A word of four bytes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cell {
    pub write: Stamp,
    /// What was written, if that is known.
    pub value: Option<u32>,
    /// The last readers: the latest one, and the latest one before it that was another invocation.
    pub reads: [Stamp; 2],
}

const PAGE_WORDS: usize = 256;
const PAGE_BYTES: u64 = PAGE_WORDS as u64 * 4;

/// Cells of the memory that was accessed.
#[derive(Default)]
pub(crate) struct Cells {
    pages: Vec<Box<[Cell]>>,
    /// Places in `pages` by address.
    index: Map<u64, usize>,
    /// The page that was used last, and its place.
    last: Option<(u64, usize)>,
}

impl Cells {
    /// The cell of the word that lies at this byte address.
    #[inline]
    pub fn at(&mut self, address: u64) -> &mut Cell {
        let page = address / PAGE_BYTES;
        let place = match self.last {
            Some((last, place)) if last == page => place,
            _ => self.find(page),
        };
        &mut self.pages[place][(address % PAGE_BYTES / 4) as usize]
    }

    fn find(&mut self, page: u64) -> usize {
        let next = self.pages.len();
        let place = *self.index.entry(page).or_insert(next);
        if place == next {
            self.pages.push(vec![Cell::default(); PAGE_WORDS].into_boxed_slice());
        }
        self.last = Some((page, place));
        place
    }

    /// Bytes of memory that have cells.
    pub fn bytes(&self) -> u64 {
        self.pages.len() as u64 * PAGE_BYTES
    }
}
