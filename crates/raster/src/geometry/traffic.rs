//! Memory that geometry reads and writes on the modelled GPU: vertices, and what their shader leaves for tiles.

use counters::model::LINE;
use std::ops::RangeInclusive;
use wave::graphics::Lanes;
use wave::reach::BEYOND;
use wave::tally::AccessKind;

/// A reference in a tile's list of primitives.
pub const ENTRY: u64 = 8;
/// A vertex's position.
pub const POSITION: u64 = 16;

/// Lines of positions and varyings of a chunk of a draw, which has its own: vertices stay below 4096, with a position and 128 varyings at most.
const CHUNK: u64 = 1 << 16;
const POSITIONS: u64 = 4096 * POSITION / LINE;

/// A binding that attributes are read from.
#[derive(Clone, Copy)]
pub(super) struct Stream {
    /// Of the attributes' first byte of element 0, and how many follow to their last.
    pub base: u64,
    pub bytes: u64,
    pub stride: u64,
    /// Elements that may be read.
    pub readable: u64,
    /// `None`: an element a vertex. Instances an element; 0: always the first one.
    pub divisor: Option<u32>,
}

impl Stream {
    /// The same as [`Stream::lines`] in short, of [`neighbours`], with less than a line between them: all lines there are.
    #[inline(always)]
    fn run(&self, index: &[u32]) -> Option<RangeInclusive<u64>> {
        let (low, high) = (*index.first()? as u64, *index.last()? as u64);
        let all = self.divisor.is_none() && high < self.readable && self.stride < self.bytes + LINE;
        let at = |e: u64| self.base.wrapping_add(e.wrapping_mul(self.stride));
        all.then(|| at(low) / LINE..=at(high).wrapping_add(self.bytes - 1) / LINE)
    }

    /// Lines that a warp touches which reads these elements; `each`, if there is one, hears of them.
    fn lines(&self, elements: &[u64], mut each: Option<impl FnMut(u64)>) -> u64 {
        let at = |e: u64| self.base.wrapping_add(e.wrapping_mul(self.stride));
        let of = |e: u64| at(e) / LINE..=at(e).wrapping_add(self.bytes - 1) / LINE;
        let (low, high) = elements.iter().fold((u64::MAX, 0), |(l, h), e| (l.min(*e), h.max(*e)));
        if low > high {
            return 0;
        }
        let (first, last) = (*of(low).start(), *of(high).end());
        let mut count = 0;
        match last.wrapping_sub(first) {
            span @ 0..64 => {
                // Each of them once.
                let mut seen = 0u64;
                let bit = |line: u64| 1u64 << line.wrapping_sub(first).min(span);
                // No more than two lines an element.
                if (1..=LINE + 1).contains(&self.bytes) {
                    seen = elements.iter().fold(0, |seen, e| {
                        let at = at(*e);
                        seen | bit(at / LINE) | bit(at.wrapping_add(self.bytes - 1) / LINE)
                    });
                } else {
                    elements.iter().flat_map(|e| of(*e)).for_each(|line| seen |= bit(line));
                }
                count = seen.count_ones() as u64;
                while let Some(each) = each.as_mut().filter(|_| seen != 0) {
                    each(first + seen.trailing_zeros() as u64);
                    seen &= seen - 1;
                }
            }
            _ => elements.iter().flat_map(|e| of(*e)).for_each(|line| {
                each.iter_mut().for_each(|each| each(line));
                count += 1;
            }),
        }
        count
    }
}

/// Each is the one before it, or the one after that.
fn neighbours(index: &[u32]) -> bool {
    let steps = index.iter().zip(index.get(1..).unwrap_or(&[]));
    steps.fold(0, |apart, (a, b)| apart | b.wrapping_sub(*a)) <= 1
}

/// Lines that warps of these vertices read of their attributes. `arena`: where device memory begins. `lanes`: whose caches have them, if
/// anyone's that are followed.
pub(super) fn read(
    streams: &[Stream],
    [index, instance]: [&[u32]; 2],
    first_instance: u32,
    arena: u64,
    lanes: Option<&mut Lanes>,
) -> u64 {
    let first = arena / LINE;
    let mut lanes = lanes.and_then(|l| l.follows().then_some(l));
    let mut count = 0;
    // Without indices they all are.
    let all = neighbours(index);
    for s in streams.iter().filter(|s| s.readable > 0) {
        for (index, instance) in index.chunks(16).zip(instance.chunks(16)) {
            if (all || neighbours(index))
                && let Some(run) = s.run(index)
            {
                count += run.end() - run.start() + 1;
                if let Some(lanes) = lanes.as_deref_mut() {
                    run.for_each(|line| lanes.follow(AccessKind::Read, line.wrapping_sub(first)));
                }
                continue;
            }
            let mut elements = [0; 16];
            let mut n = 0;
            let mut take = |e: u64| {
                elements[n] = e;
                n += (e < s.readable) as usize;
            };
            match s.divisor {
                None => index.iter().for_each(|i| take(*i as u64)),
                Some(0) => take(first_instance as u64),
                Some(d) => instance
                    .iter()
                    .for_each(|i| take(first_instance as u64 + (i.wrapping_sub(first_instance) / d) as u64)),
            }
            let follow =
                |lanes: &mut Lanes, line: u64| lanes.follow(AccessKind::Read, line.wrapping_sub(first));
            count += s.lines(&elements[..n], lanes.as_deref_mut().map(|lanes| |line| follow(lanes, line)));
        }
    }
    count
}

/// What a chunk leaves of vertices.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Positions,
    /// So many bytes of varyings each.
    Varyings(u64),
}

/// Lines that are written of so many vertices by chunk `c` of a draw.
pub(super) fn write(left: Left, vertices: u64, c: u64, lanes: &mut Lanes) -> u64 {
    let (first, bytes) = match left {
        Left::Positions => (BEYOND + c * CHUNK, POSITION),
        Left::Varyings(bytes) => (BEYOND + c * CHUNK + POSITIONS, bytes),
    };
    let lines = (vertices * bytes).div_ceil(LINE);
    if lanes.follows() {
        (first..first + lines).for_each(|l| lanes.follow(AccessKind::Write, l));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_warp_touches_each_line_once() {
        let runs = Cell::new(0);
        let lines = |stride, bytes, elements: &[u64]| {
            let s = Stream { base: 4096, bytes, stride, readable: 1 << 20, divisor: None };
            let mut seen = vec![];
            let n = s.lines(elements, Some(|l| seen.push(l - 64)));
            assert_eq!(s.lines(elements, None::<fn(u64)>), n);
            assert_eq!(n as usize, seen.len());
            let index: Vec<u32> = elements.iter().map(|e| *e as u32).collect();
            if neighbours(&index)
                && let Some(run) = s.run(&index)
            {
                runs.set(runs.get() + 1);
                assert!(run.map(|l| l - 64).eq(seen.iter().copied()));
            }
            seen
        };
        let sixteen: Vec<u64> = (0..16).collect();
        // 16 × 24 bytes are six lines; 12 of each 24 lie on all of them too.
        assert_eq!(lines(24, 24, &sixteen), [0, 1, 2, 3, 4, 5]);
        assert_eq!(lines(24, 12, &sixteen), [0, 1, 2, 3, 4, 5]);
        // In any order, and with some twice.
        assert_eq!(lines(24, 24, &[7, 6, 5, 4, 3, 2, 1, 0]), [0, 1, 2]);
        assert_eq!(lines(24, 24, &[0, 0, 1, 2, 2, 3]), [0, 1]);
        // Between 8 bytes of each 72 lies a line, or none.
        assert_eq!(lines(72, 8, &sixteen[..9]), [0, 1, 2, 3, 4, 5, 6, 7, 9]);
        // An element across two lines; the same twice.
        assert_eq!(lines(48, 32, &[1, 1]), [0, 1]);
        // Every other line.
        assert_eq!(lines(128, 16, &[0, 1, 2]), [0, 2, 4]);
        // Far apart: each its own.
        assert_eq!(lines(16, 16, &[0, 1 << 16]), [0, 1 << 14]);
        assert_eq!(lines(16, 16, &[]), [0u64; 0]);
        // Sixteen neighbours (twice), one twice over, some twice.
        assert_eq!(runs.get(), 4);
    }
}
