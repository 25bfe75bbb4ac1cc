//! The stream of a draw's vertices: its indices, and the segments that primitive restarts cut it into.
//!
//! A program may restart after each index. Segments are therefore not listed: the stream is noted block by block, and who wants a
//! segment walks on from the note before it. What is kept is 8 bytes for each 1024 indices, whatever they are.

use crate::draw::Draw;
use ash::vk;
use machine::sync::Hub;

/// Indices between two notes.
const BLOCK: u32 = 1024;
/// Blocks that are walked between two looks at the watchdog.
const PATIENCE: u32 = 64;

/// Vertices between two primitive restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// First position in the stream of the draw's vertices.
    pub start: u32,
    /// Its primitives. Of a walk: one more, at least, than were asked for, if there are more.
    pub prims: u32,
    /// Primitives of an instance before it.
    pub before: u32,
}

/// A draw's index buffer as memory.
#[derive(Clone, Copy)]
pub(super) struct Indices {
    ptr: *const u8,
    /// Indices that may be read; those past them are 0.
    readable: u64,
    ty: vk::IndexType,
}

impl Indices {
    pub fn new(draw: &Draw) -> Indices {
        let none = Indices { ptr: std::ptr::null(), readable: 0, ty: vk::IndexType::UINT32 };
        let Some(b) = &draw.index_buffer else { return none };
        let Some(buffer) = &b.buffer else { return Indices { ty: b.ty, ..none } };
        let (ptr, n) = buffer.range(b.offset, b.size);
        let i = Indices { ptr, readable: 0, ty: b.ty };
        Indices { readable: if ptr.is_null() { 0 } else { n / i.width() }, ..i }
    }

    /// Bytes of an index.
    pub fn width(&self) -> u64 {
        match self.ty {
            vk::IndexType::UINT8_EXT => 1,
            vk::IndexType::UINT16 => 2,
            _ => 4,
        }
    }

    /// Appends indices `first ..` to `out`, `n` of them.
    pub fn read(&self, first: u64, n: u32, out: &mut Vec<u32>) {
        let good = self.readable.saturating_sub(first).min(n as u64) as usize;
        // SAFETY: `readable` indices lie in the buffer, which the draw keeps.
        unsafe {
            match self.ty {
                vk::IndexType::UINT16 => {
                    let p = self.ptr.cast::<u16>().wrapping_add(first as usize);
                    out.extend((0..good).map(|i| p.add(i).read_unaligned() as u32));
                }
                vk::IndexType::UINT8_EXT => {
                    let p = self.ptr.wrapping_add(first as usize);
                    out.extend((0..good).map(|i| *p.add(i) as u32));
                }
                _ => {
                    let p = self.ptr.cast::<u32>().wrapping_add(first as usize);
                    out.extend((0..good).map(|i| p.add(i).read_unaligned()));
                }
            }
        }
        out.resize(out.len() + n as usize - good, 0);
    }
}

/// What reaches into a block from before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Note {
    /// Where the segment begins that the block's first position is in.
    start: u32,
    /// Primitives of an instance before that segment.
    before: u32,
}

/// Why a stream has not been noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unnoted {
    /// There is no memory for the notes.
    Memory,
    /// Work is to stop.
    Stopped,
}

/// A stream of indices in which one of them restarts primitives.
pub(super) struct Restarts {
    indices: Indices,
    /// Where the stream begins in the index buffer.
    first: u32,
    count: u32,
    /// The index that restarts.
    stop: u32,
    notes: Vec<Note>,
}

/// What all segments together have.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(super) struct Sums {
    /// Vertices, those of no whole primitive too.
    pub vertices: u64,
    pub prims: u32,
}

/// Where the first index of `block` is that restarts.
#[inline]
fn find(block: &[u32], stop: u32) -> Option<usize> {
    const GROUP: usize = 32;
    // Where restarts are many they are near.
    let near = block.iter().take(4).position(|v| *v == stop);
    near.or_else(|| {
        let has = |g: &[u32]| g.iter().fold(false, |any, v| any | (*v == stop));
        let (k, group) = block.chunks(GROUP).enumerate().find(|(_, g)| has(g))?;
        Some(k * GROUP + group.iter().position(|v| *v == stop)?)
    })
}

impl Restarts {
    /// Notes the stream of `count` indices from `first` on; `prims`: whole primitives of so many vertices.
    pub fn new(
        hub: &Hub,
        indices: Indices,
        (first, count): (u32, u32),
        stop: u32,
        prims: impl Fn(u32) -> u32,
    ) -> Result<(Restarts, Sums), Unnoted> {
        let mut notes = Vec::new();
        notes.try_reserve_exact(count.div_ceil(BLOCK) as usize).map_err(|_| Unnoted::Memory)?;
        let mut r = Restarts { indices, first, count, stop, notes };
        let (mut start, mut sums) = (0, Sums::default());
        let mut block = Vec::with_capacity(BLOCK as usize);
        let mut ends = |start: u32, end: u32| {
            sums.vertices += (end - start) as u64;
            sums.prims += prims(end - start);
            sums.prims
        };
        let mut before = 0;
        for b in 0..count.div_ceil(BLOCK) {
            if b % PATIENCE == 0 && hub.stops() {
                return Err(Unnoted::Stopped);
            }
            r.notes.push(Note { start, before });
            r.read(b, &mut block);
            let mut at = 0;
            while let Some(k) = find(&block[at..], stop) {
                before = ends(start, b * BLOCK + (at + k) as u32);
                at += k + 1;
                start = b * BLOCK + at as u32;
            }
        }
        ends(start, count.max(start));
        Ok((r, sums))
    }

    fn read(&self, b: u32, block: &mut Vec<u32>) {
        block.clear();
        let n = BLOCK.min(self.count - b * BLOCK);
        self.indices.read(self.first as u64 + (b * BLOCK) as u64, n, block);
    }

    /// A walk from primitive `q` of an instance on, of which there is one.
    pub fn walk<'a>(&'a self, q: u32, block: &'a mut Vec<u32>) -> Walk<'a> {
        let b = self.notes.partition_point(|n| n.before <= q).saturating_sub(1);
        let Note { start, before } = self.notes.get(b).copied().unwrap_or(Note { start: 0, before: 0 });
        Walk { of: self, start, before, seen: (b as u32 * BLOCK).max(start), held: None, block }
    }
}

/// A walk along the segments of a stream.
pub(super) struct Walk<'a> {
    of: &'a Restarts,
    /// The segment that it has come to, and primitives before it.
    start: u32,
    before: u32,
    /// No index from `start` up to here restarts.
    seen: u32,
    /// The block that has been read.
    held: Option<u32>,
    block: &'a mut Vec<u32>,
}

impl Walk<'_> {
    /// The segment that has primitive `q`, which lies no further back than the last one asked for; `n` primitives from that on are
    /// wanted of it. `None`: work is to stop.
    pub fn to(&mut self, hub: &Hub, q: u32, n: u64, prims: impl Fn(u32) -> u32) -> Option<Segment> {
        let mut blocks = 0;
        loop {
            let (start, before) = (self.start, self.before);
            let known = prims(self.seen.saturating_sub(start));
            let segment = |prims| Some(Segment { start, prims, before });
            if known as u64 > q.saturating_sub(before) as u64 + n || self.seen >= self.of.count {
                return segment(known);
            }
            let b = self.seen / BLOCK;
            if self.held != Some(b) {
                blocks += 1;
                if blocks % PATIENCE == 0 && hub.stops() {
                    return None;
                }
                self.of.read(b, self.block);
                self.held = Some(b);
            }
            match find(&self.block[(self.seen % BLOCK) as usize..], self.of.stop) {
                None => self.seen = b * BLOCK + self.block.len() as u32,
                Some(k) => {
                    let end = self.seen + k as u32;
                    let all = prims(end - start);
                    if before + all > q {
                        self.seen = end;
                        return segment(all);
                    }
                    self.before += all;
                    self.start = end + 1;
                    self.seen = end + 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of a list, one after the other, as they are defined.
    fn plain(indices: &[u32], stop: u32, prims: impl Fn(u32) -> u32) -> Vec<Segment> {
        let (mut start, mut before, mut out) = (0, 0, vec![]);
        for part in indices.split(|i| *i == stop) {
            let n = prims(part.len() as u32);
            out.push(Segment { start, prims: n, before });
            start += part.len() as u32 + 1;
            before += n;
        }
        out
    }

    fn stream(list: &[u32]) -> Indices {
        Indices { ptr: list.as_ptr().cast(), readable: list.len() as u64, ty: vk::IndexType::UINT32 }
    }

    /// Restarts anywhere, none for long, and at the edges of blocks: each primitive is found in its segment.
    #[test]
    fn segments_are_found_from_anywhere() {
        let strip = |n: u32| n.saturating_sub(2);
        let at = |places: &[u32], n: u32| -> Vec<u32> {
            (0..n).map(|i| if places.contains(&i) { 9 } else { i % 7 }).collect()
        };
        let lists = [
            at(&[], 5000),
            at(&[0, 1, 2, 1023, 1024, 1025, 2047, 3072, 4095, 4096], 5000),
            at(&[1022, 1026, 4999], 5000),
            at(&[2500], 3000),
            (0..5000).map(|i| if i * i % 11 == 3 { 9 } else { 1 }).collect(),
            vec![9; 5000],
            vec![],
            vec![1, 2],
        ];
        let hub = Hub::default();
        for (k, list) in lists.iter().enumerate() {
            let want = plain(list, 9, strip);
            let made = Restarts::new(&hub, stream(list), (0, list.len() as u32), 9, strip);
            let (r, sums) = made.expect("a stream");
            let vertices = list.iter().filter(|i| **i != 9).count() as u64;
            assert_eq!(sums, Sums { vertices, prims: want.iter().map(|s| s.prims).sum() }, "list {k}");
            assert_eq!(r.notes.len(), list.len().div_ceil(1024));
            for q in (0..sums.prims).filter(|q| q % 97 == 0 || *q < 3 || *q + 3 > sums.prims) {
                let mut block = vec![];
                let mut walk = r.walk(q, &mut block);
                let (mut q, mut left) = (q, 300);
                while left > 0 && q < sums.prims {
                    let of = *want.iter().rfind(|s| s.before <= q && s.prims > 0).expect("a segment");
                    let s = walk.to(&hub, q, left, strip).expect("nobody stops it");
                    assert_eq!((s.start, s.before), (of.start, of.before), "list {k}, primitive {q}");
                    let asked = (of.prims - (q - of.before)).min(left as u32);
                    assert!(s.prims == of.prims || s.prims > q - of.before + asked, "list {k}: {s:?}");
                    q += asked;
                    left -= asked as u64;
                }
            }
        }
    }

    #[test]
    fn a_device_that_ends_is_not_kept_waiting() {
        let hub = Hub::default();
        // Points first and last, and nothing between.
        let mut list = vec![9; 1 << 20];
        (list[0], list[(1 << 20) - 1]) = (1, 1);
        let noted = Restarts::new(&hub, stream(&list), (0, 1 << 20), 9, |n| n).expect("a stream").0;
        let mut block = vec![];
        let mut walk = noted.walk(0, &mut block);
        assert!(walk.to(&hub, 0, 1, |n| n).is_some());
        hub.stop();
        let made = Restarts::new(&hub, stream(&list), (0, 1 << 20), 9, |n| n);
        assert_eq!(made.err(), Some(Unnoted::Stopped));
        assert_eq!(walk.to(&hub, 1, 1, |n| n), None);
    }
}
