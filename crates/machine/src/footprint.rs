//! Which bytes of memory a sanitised command's shaders touch, for hazards between commands.
//!
//! A sanitised device shades on the queue's own thread, so each thread gathers what its command under way touches; the executor takes it.

use sanitize::hazards::{What, access};
use shader::bytecode::{ImageCode, Program};
use shader::ir::{Dim, ImageOp};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Bytes that have a bit each in one place.
const PAGE: u64 = 4096;

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
    /// The page that was used last, and where its bits are: accesses are near each other.
    near: Option<(u64, usize)>,
}

impl Bytes {
    pub fn add(&mut self, range: Range<u64>) {
        if self.last.start <= range.start && range.end <= self.last.end {
            return;
        }
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
        let at = match self.near {
            Some((near, at)) if near == page => at,
            _ => *self.pages.entry(page).or_insert_with(|| {
                self.bits.push([0; PAGE as usize / 64]);
                self.bits.len() - 1
            }),
        };
        self.near = Some((page, at));
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

thread_local! {
    static TOUCHED: RefCell<Vec<(Kind, Bytes)>> = const { RefCell::new(Vec::new()) };
}

fn add(kind: Kind, all: impl Iterator<Item = Range<u64>>) {
    TOUCHED.with_borrow_mut(|touched| {
        let at = touched.iter().rposition(|(k, _)| *k == kind).unwrap_or_else(|| {
            touched.push((kind, Bytes::default()));
            touched.len() - 1
        });
        all.for_each(|range| touched[at].1.add(range));
    });
}

/// Lanes of a shader access these bytes each.
pub fn buffer(program: &Program, what: What, lanes: u16, addresses: &[u64; 16], bytes: u64) {
    let access = match what {
        What::Read => access::UNIFORM | access::STORAGE_READ,
        What::Write => access::STORAGE_WRITE,
        What::Atomic => access::STORAGE_READ | access::STORAGE_WRITE,
    };
    let kind = Kind { by: std::ptr::from_ref(program).addr(), what, access };
    // Neighbours mostly touch one word or a row of them.
    let mut lanes = (0..16).filter(|l| lanes >> l & 1 == 1).map(|l| addresses[l]).peekable();
    let all = std::iter::from_fn(|| {
        let first = lanes.next()?;
        let mut end = first.saturating_add(bytes);
        while let Some(next) = lanes.next_if(|next| (first..=end).contains(next)) {
            end = end.max(next.saturating_add(bytes));
        }
        Some(first..end)
    });
    add(kind, all);
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
    add(kind, texels.iter().map(|&(at, n)| at..at + n as u64));
}

/// What was touched since the last call, in the order of first accesses.
pub fn take() -> Vec<Touched> {
    let all = TOUCHED.take();
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
}
