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

    /// Lines that a warp touches which reads these elements; `each` hears of them.
    fn lines(&self, elements: &[u64], mut each: impl FnMut(u64)) -> u64 {
        let at = |e: u64| self.base.wrapping_add(e.wrapping_mul(self.stride));
        let of = |e: u64| at(e) / LINE..=at(e).wrapping_add(self.bytes - 1) / LINE;
        let (low, high) = elements.iter().fold((u64::MAX, 0), |(l, h), e| (l.min(*e), h.max(*e)));
        if low > high {
            return 0;
        }
        let (first, last) = (*of(low).start(), *of(high).end());
        let mut count = 0;
        let mut tell = |line| {
            each(line);
            count += 1;
        };
        match last.wrapping_sub(first) {
            span @ 0..64 => {
                // Each of them once.
                let mut seen = 0u64;
                for e in elements {
                    for line in of(*e) {
                        seen |= 1 << line.wrapping_sub(first).min(span);
                    }
                }
                while seen != 0 {
                    tell(first + seen.trailing_zeros() as u64);
                    seen &= seen - 1;
                }
            }
            _ => elements.iter().flat_map(|e| of(*e)).for_each(tell),
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
    mut lanes: Option<&mut Lanes>,
) -> u64 {
    let (follows, first) = (lanes.as_deref_mut().is_some_and(|l| l.follows()), arena / LINE);
    let mut count = 0;
    // Without indices they all are.
    let all = neighbours(index);
    for s in streams.iter().filter(|s| s.readable > 0) {
        for (index, instance) in index.chunks(16).zip(instance.chunks(16)) {
            if (all || neighbours(index))
                && let Some(run) = s.run(index)
            {
                count += run.end() - run.start() + 1;
                if follows && let Some(lanes) = lanes.as_deref_mut() {
                    run.for_each(|line| lanes.follow(AccessKind::Read, line.wrapping_sub(first)));
                }
                continue;
            }
            let mut elements = [0; 16];
            let mut n = 0;
            let mut take = |e: u64| {
                if e < s.readable {
                    elements[n] = e;
                    n += 1;
                }
            };
            match s.divisor {
                None => index.iter().for_each(|i| take(*i as u64)),
                Some(0) => take(first_instance as u64),
                Some(d) => instance
                    .iter()
                    .for_each(|i| take(first_instance as u64 + (i.wrapping_sub(first_instance) / d) as u64)),
            }
            count += s.lines(&elements[..n], |line| {
                if follows && let Some(lanes) = lanes.as_deref_mut() {
                    lanes.follow(AccessKind::Read, line.wrapping_sub(first));
                }
            });
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
            let n = s.lines(elements, |l| seen.push(l - 64));
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
