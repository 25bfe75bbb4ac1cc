//! Which bytes of memory a sanitised command's shaders touch, for hazards between commands.
//!
//! A sanitised device shades on the queue's own thread, so each thread gathers what its command under way touches; the executor takes it.

use sanitize::hazards::{What, access};
use shader::bytecode::{ImageCode, Program};
use shader::ir::{Dim, ImageOp, Site};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use wave::ProbeWave;

/// Bytes that have a bit each in one place.
const PAGE: u64 = 4096;

/// Pages that are found without a look into the map.
const NEAR: usize = 16;

/// Bits of a page's bytes.
type Bits = [u64; PAGE as usize / 64];

/// A set of bytes.
#[derive(Default)]
pub struct Bytes {
    /// Where each page's bits are.
    pages: HashMap<u64, usize>,
    bits: Vec<Bits>,
    /// Bytes that are there and were added last: accesses repeat.
    last: Range<u64>,
    /// Pages that were used last, by their lowest bits, and where their bits are: accesses are near each other, in rows and levels.
    near: [Option<(u64, usize)>; NEAR],
    /// Stretches of which all bytes are there; the one that is replaced next.
    whole: [Range<u64>; 4],
    next: usize,
}

/// Bytes after what was asked for that are looked at, to make a stretch longer.
const AHEAD: u64 = 4096;

impl Bytes {
    /// Whether all of these bytes are certainly there.
    #[inline]
    pub fn has(&self, range: &Range<u64>) -> bool {
        self.whole.iter().any(|w| w.start <= range.start && range.end <= w.end)
    }

    /// Looks for a stretch that has this range, for [`Self::has`].
    fn stretch(&mut self, range: &Range<u64>) {
        let touches = |w: &Range<u64>| w.start <= range.start && range.start <= w.end && w.start < w.end;
        let at = self.whole.iter().position(touches);
        let from = at.map_or(range.start, |at| self.whole[at].end);
        let end = self.run(from, range.end.max(from) + AHEAD);
        match at {
            Some(at) => self.whole[at].end = end,
            None if end >= range.end => {
                self.whole[self.next] = range.start..end;
                self.next = (self.next + 1) % self.whole.len();
            }
            None => {}
        }
    }

    /// The end of the bytes from `at` on that are all there; `most` at most.
    fn run(&self, mut at: u64, most: u64) -> u64 {
        while at < most {
            let Some(bits) = self.pages.get(&(at / PAGE)).map(|p| &self.bits[*p]) else { return at };
            let (first, page) = (at % PAGE, at / PAGE * PAGE);
            let ones = |word: usize, low: u64| ((bits[word] >> low).trailing_ones() as u64).min(64 - low);
            let mut word = first as usize / 64;
            let mut low = first % 64;
            while word < bits.len() {
                let n = ones(word, low);
                if n < 64 - low {
                    return (page + word as u64 * 64 + low + n).min(most);
                }
                (word, low) = (word + 1, 0);
            }
            at = page + PAGE;
        }
        most
    }

    /// Adds the bytes of lanes of a warp, by their offsets from an address.
    #[inline]
    fn add_lanes(&mut self, base: u64, offsets: &[u32; 16], lanes: u16, bytes: u32) {
        let leader = lanes.trailing_zeros() as usize & 15;
        let first = offsets[leader];
        let (mut row, mut same) = (0, 0);
        for (l, offset) in offsets.iter().enumerate() {
            row |= offset ^ first.wrapping_add(l as u32 * bytes);
            same |= if lanes >> l & 1 == 1 { offset ^ first } else { 0 };
        }
        let from = base + first as u64;
        if same == 0 {
            self.add(from..from + bytes as u64);
        } else if row == 0 && lanes == 0xFFFF && first.checked_add(16 * bytes).is_some() {
            self.add(from..from + 16 * bytes as u64);
        } else {
            let addresses = offsets.map(|o| base + o as u64);
            joined(lanes, &addresses, bytes as u64).for_each(|range| self.add(range));
        }
    }

    #[inline]
    pub fn add(&mut self, range: Range<u64>) {
        if self.last.start <= range.start && range.end <= self.last.end {
            return;
        }
        let (page, word) = (range.start / PAGE, range.start % PAGE / 64);
        if range.start < range.end
            && range.start / 64 == (range.end - 1) / 64
            && let Some((near, at)) = self.near[page as usize % NEAR]
            && near == page
        {
            let bits = &mut self.bits[at][word as usize];
            *bits |= (u64::MAX >> (64 - (range.end - range.start))) << (range.start % 64);
            self.last = range;
            return;
        }
        self.add_far(range);
    }

    fn add_far(&mut self, range: Range<u64>) {
        let mut at = range.start;
        while at < range.end {
            let (page, first) = (at / PAGE, at % PAGE);
            let end = (range.end - page * PAGE).min(PAGE);
            let bits = self.page(page);
            for word in first / 64..end.div_ceil(64) {
                let low = first.saturating_sub(word * 64).min(64);
                let high = (end - word * 64).min(64);
                bits[word as usize] |= (u64::MAX << low) & (u64::MAX >> (64 - high));
            }
            at = (page + 1) * PAGE;
        }
        self.last = range;
    }

    fn page(&mut self, page: u64) -> &mut Bits {
        let at = match self.near[page as usize % NEAR] {
            Some((near, at)) if near == page => at,
            _ => *self.pages.entry(page).or_insert_with(|| {
                self.bits.push([0; PAGE as usize / 64]);
                self.bits.len() - 1
            }),
        };
        self.near[page as usize % NEAR] = Some((page, at));
        &mut self.bits[at]
    }

    /// As ranges, in order.
    pub fn ranges(&self) -> Vec<Range<u64>> {
        let mut all: Vec<Range<u64>> = vec![];
        let pages: BTreeMap<_, _> = self.pages.iter().collect();
        for (page, bits) in pages {
            let bits = &self.bits[*bits];
            let mut at = 0;
            while at < PAGE {
                let word = bits[at as usize / 64] >> (at % 64);
                if word == 0 {
                    at = (at / 64 + 1) * 64;
                    continue;
                }
                at += word.trailing_zeros() as u64;
                let run = (bits[at as usize / 64] >> (at % 64)).trailing_ones() as u64;
                let range = page * PAGE + at..page * PAGE + at + run;
                match all.last_mut() {
                    Some(last) if last.end == range.start => last.end = range.end,
                    _ => all.push(range),
                }
                at += run;
            }
        }
        all
    }
}

/// Of what kind accesses are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Kind {
    /// Address of the program, or of one of its image operations.
    by: usize,
    what: What,
    access: u64,
}

/// What one shader touched in one way.
#[derive(Debug)]
pub struct Touched {
    by: usize,
    pub what: What,
    /// The accesses of Vulkan that it may be.
    pub access: u64,
    pub bytes: Vec<Range<u64>>,
}

impl Touched {
    /// Whether this shader did.
    pub fn is_by(&self, program: &Program) -> bool {
        std::ptr::from_ref(program).addr() == self.by
            || program.images.as_ptr_range().contains(&(self.by as *const ImageCode))
    }
}

/// What a thread's command has touched so far, and which of it last.
struct All {
    touched: Vec<(Kind, Bytes)>,
    last: usize,
}

thread_local! {
    static TOUCHED: RefCell<All> = const { RefCell::new(All { touched: Vec::new(), last: 0 }) };
}

fn with(kind: Kind, f: impl FnOnce(&mut Bytes)) {
    TOUCHED.with_borrow_mut(|all| {
        if all.touched.get(all.last).is_none_or(|(k, _)| *k != kind) {
            all.last = all.touched.iter().rposition(|(k, _)| *k == kind).unwrap_or_else(|| {
                all.touched.push((kind, Bytes::default()));
                all.touched.len() - 1
            });
        }
        f(&mut all.touched[all.last].1);
    });
}

fn of_buffer(program: &Program, what: What) -> Kind {
    let access = match what {
        What::Read => access::UNIFORM | access::STORAGE_READ,
        What::Write => access::STORAGE_WRITE,
        What::Atomic => access::STORAGE_READ | access::STORAGE_WRITE,
    };
    Kind { by: std::ptr::from_ref(program).addr(), what, access }
}

/// Ranges that lanes access; those of neighbours mostly are one.
fn joined(lanes: u16, addresses: &[u64; 16], bytes: u64) -> impl Iterator<Item = Range<u64>> {
    let mut lanes = (0..16).filter(move |l| lanes >> l & 1 == 1).map(|l| addresses[l]).peekable();
    std::iter::from_fn(move || {
        let first = lanes.next()?;
        let mut end = first.saturating_add(bytes);
        while let Some(next) = lanes.next_if(|next| (first..=end).contains(next)) {
            end = end.max(next.saturating_add(bytes));
        }
        Some(first..end)
    })
}

/// A wave reads a buffer at this address; `span`: all that it reads lies between.
pub fn reads(wave: &ProbeWave, site: &Site, address: u64, span: &Range<u64>) {
    with(of_buffer(wave.program, What::Read), |all| {
        if all.has(span) {
            return;
        }
        for (warp, lanes) in wave.warps() {
            all.add_lanes(address + site.offset as u64, &wave.operand(0, warp), lanes, site.bytes);
        }
        all.stretch(span);
    });
}

/// Lanes of a shader access these bytes together.
pub fn range(program: &Program, what: What, range: Range<u64>) {
    with(of_buffer(program, what), |all| all.add(range));
}

/// Lanes of a shader access these bytes each.
pub fn buffer(program: &Program, what: What, lanes: u16, addresses: &[u64; 16], bytes: u64) {
    with(of_buffer(program, what), |all| joined(lanes, addresses, bytes).for_each(|range| all.add(range)));
}

/// An operation of a shader touches these texels: addresses and numbers of bytes.
pub fn image(code: &ImageCode, texels: &[(u64, u32)]) {
    let (what, access) = match code.op {
        ImageOp::Write => (What::Write, access::STORAGE_WRITE),
        ImageOp::Atomic(_) => (What::Atomic, access::STORAGE_READ | access::STORAGE_WRITE),
        ImageOp::Read if code.dim == Dim::SubpassData => (What::Read, access::INPUT_ATTACHMENT),
        ImageOp::Read => (What::Read, access::STORAGE_READ),
        // Texels of uniform buffers are fetched, those of storage buffers may be.
        ImageOp::Fetch if code.dim == Dim::Buffer => (What::Read, access::SAMPLED | access::STORAGE_READ),
        ImageOp::Sample | ImageOp::Gather | ImageOp::Fetch => (What::Read, access::SAMPLED),
        _ => return,
    };
    let kind = Kind { by: std::ptr::from_ref(code).addr(), what, access };
    with(kind, |all| texels.iter().for_each(|&(at, n)| all.add(at..at + n as u64)));
}

/// Rays begin in the acceleration structure at this address. Which shader's they are is not kept.
pub fn structure(address: u64, bytes: bvh::Bytes) {
    let kind = Kind { by: 0, what: What::Read, access: access::STRUCTURE_READ };
    let size = bvh::compacted_size(bytes).unwrap_or(0);
    with(kind, |all| all.add(address..address.saturating_add(size)));
}

/// What was touched since the last call, in the order of first accesses.
pub fn take() -> Vec<Touched> {
    let all = TOUCHED.replace(All { touched: Vec::new(), last: 0 }).touched;
    let of = |(kind, bytes): &(Kind, Bytes)| Touched {
        by: kind.by,
        what: kind.what,
        access: kind.access,
        bytes: bytes.ranges(),
    };
    all.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_ranges() {
        let mut b = Bytes::default();
        for range in [8..16, 16..20, 4090..4100, 64..128, 63..64, 9000..9001, 9000..9001, 12..13] {
            b.add(range);
        }
        assert_eq!(b.ranges(), [8..20, 63..128, 4090..4100, 9000..9001]);
        b.add(0..3 * PAGE);
        let whole = 0..3 * PAGE;
        assert_eq!(b.ranges(), [whole]);
    }

    /// Rows, words that all lanes touch and others, in random order: the bytes are those of a plain set, and what is said to be there is.
    #[test]
    fn lanes_of_warps_become_their_bytes() {
        let mut random = random::Random::new(1);
        let mut random = |n: u32| random.below(n);
        let (mut all, mut plain, mut sure) = (Bytes::default(), std::collections::BTreeSet::new(), 0);
        for _ in 0..4000 {
            let (base, bytes) = (3 * PAGE, [1, 2, 4, 8][random(4) as usize]);
            let first = random(3000);
            let step = [0, bytes, 24, 4][random(4) as usize];
            let offsets: [u32; 16] = std::array::from_fn(|l| match random(9) {
                0 => random(3000),
                _ => first + l as u32 * step,
            });
            let lanes = if random(3) == 0 { random(0xFFFF) as u16 | 1 } else { 0xFFFF };
            all.add_lanes(base, &offsets, lanes, bytes);
            for l in (0..16).filter(|l| lanes >> l & 1 == 1) {
                plain.extend((0..bytes as u64).map(|b| base + offsets[l] as u64 + b));
            }
            let from = base + random(3000) as u64;
            let range = from..from + 1 + random(200) as u64;
            all.stretch(&range);
            if all.has(&range) {
                sure += 1;
                assert!(range.clone().all(|b| plain.contains(&b)), "{range:?}");
            }
        }
        let told: Vec<u64> = all.ranges().into_iter().flatten().collect();
        assert_eq!(told, plain.into_iter().collect::<Vec<_>>());
        assert!(sure > 100, "{sure}");
    }
}
