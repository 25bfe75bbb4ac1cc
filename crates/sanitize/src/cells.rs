//! Who accessed each word of memory last: of each word, or of lines of words that are only accessed in order.

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

    #[inline]
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

const LINE_WORDS: usize = 16;
const LINE_BYTES: u64 = LINE_WORDS as u64 * 4;
const PAGE_LINES: usize = 16;
const PAGE_BYTES: u64 = PAGE_LINES as u64 * LINE_BYTES;

/// Words of a line that invocations of one subgroup read, all of them the same word at a time.
#[derive(Clone, Copy, Default)]
pub(crate) struct Few {
    /// A bit for each word.
    pub words: u16,
    /// The first reader, and a second one.
    pub stamp: Stamp,
    pub second: u16,
}

/// Sixteen words of which sixteen invocations with successive numbers accessed one each, every time: a stamp is the first word's.
#[derive(Clone, Copy, Default)]
pub(crate) struct Line {
    pub write: Stamp,
    pub reads: [Stamp; 2],
    pub few: Few,
    pub values: Option<[u32; LINE_WORDS]>,
    /// Something else happened: its words have cells.
    split: bool,
}

/// A stamp of a line's first word as that of word `k`.
fn of_word(s: &Stamp, k: usize) -> Stamp {
    Stamp { local: s.local.wrapping_add(k as u16), ..*s }
}

impl Line {
    fn cell(&self, k: usize) -> Cell {
        let word = |s: &Stamp| if s.time == 0 { *s } else { of_word(s, k) };
        let mut reads = self.reads.iter().map(word).collect::<Vec<_>>();
        if self.few.words >> k & 1 == 1 {
            reads.extend([self.few.stamp, Stamp { local: self.few.second, ..self.few.stamp }]);
        }
        // The latest two.
        reads.sort_by_key(|s| std::cmp::Reverse(s.time));
        Cell { write: word(&self.write), value: self.values.map(|v| v[k]), reads: [reads[0], reads[1]] }
    }
}

struct Page {
    lines: [Line; PAGE_LINES],
    cells: Option<Box<[Cell; PAGE_LINES * LINE_WORDS]>>,
}

/// What is known of the memory that was accessed.
#[derive(Default)]
pub(crate) struct Cells {
    pages: Vec<Page>,
    /// Places in `pages` by address.
    index: Map<u64, usize>,
    /// The page that was used last, and its place.
    last: Option<(u64, usize)>,
    /// Places of the first pages, plus one: those of a workgroup's memory.
    first: [u32; FIRST_PAGES],
}

const FIRST_PAGES: usize = 32;

impl Cells {
    /// The cell of the word that lies at this byte address.
    #[inline]
    pub fn at(&mut self, address: u64) -> &mut Cell {
        let place = self.place(address);
        let page = &mut self.pages[place];
        let word = (address % PAGE_BYTES / 4) as usize;
        let line = &mut page.lines[word / LINE_WORDS];
        if !line.split {
            line.split = true;
            let cells =
                page.cells.get_or_insert_with(|| Box::new([Cell::default(); PAGE_LINES * LINE_WORDS]));
            let first = word / LINE_WORDS * LINE_WORDS;
            (0..LINE_WORDS).for_each(|k| cells[first + k] = line.cell(k));
        }
        // A split line's page has cells.
        &mut page.cells.get_or_insert_with(|| Box::new([Cell::default(); PAGE_LINES * LINE_WORDS]))[word]
    }

    /// The line that this byte address is of, unless its words have cells; and which word of it that is.
    #[inline]
    pub fn line(&mut self, address: u64) -> Option<(&mut Line, usize)> {
        let place = self.place(address);
        let word = (address % PAGE_BYTES / 4) as usize;
        let line = &mut self.pages[place].lines[word / LINE_WORDS];
        (!line.split).then_some((line, word % LINE_WORDS))
    }

    #[inline]
    fn place(&mut self, address: u64) -> usize {
        let page = address / PAGE_BYTES;
        match self.last {
            Some((last, place)) if last == page => place,
            _ => self.find(page),
        }
    }

    fn find(&mut self, page: u64) -> usize {
        if let Some(place) = self.first.get(page as usize).and_then(|p| p.checked_sub(1)) {
            self.last = Some((page, place as usize));
            return place as usize;
        }
        let next = self.pages.len();
        let place = *self.index.entry(page).or_insert(next);
        if place == next {
            if let Some(first) = self.first.get_mut(page as usize) {
                *first = next as u32 + 1;
            }
            self.pages.push(Page { lines: [Line::default(); PAGE_LINES], cells: None });
        }
        self.last = Some((page, place));
        place
    }

    /// Bytes of memory that are known of.
    pub fn bytes(&self) -> u64 {
        self.pages.len() as u64 * PAGE_BYTES
    }
}
