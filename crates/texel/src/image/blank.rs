//! Tiles of an image that hold one texel everywhere: to clear them to it again costs nothing.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Set where a texel is known, above its 32 bits.
const KNOWN: u64 = 1 << 32;

/// Kept for one plane of an image of which it is known who writes it.
pub struct Blank {
    /// Pixels of a tile's side.
    side: u32,
    across: u32,
    tiles: Vec<AtomicU64>,
    /// Others may write the memory.
    off: AtomicBool,
}

impl Blank {
    /// `extent`: texels.
    pub(super) fn new(extent: [u32; 3], side: u32) -> Blank {
        let [across, down] = [extent[0].div_ceil(side), extent[1].div_ceil(side)];
        let tiles = (0..across as u64 * down as u64).map(|_| AtomicU64::new(0)).collect();
        Blank { side, across, tiles, off: AtomicBool::new(false) }
    }

    /// Something other than a render pass writes the image.
    pub(super) fn forget(&self) {
        self.tiles.iter().for_each(|t| t.store(0, Relaxed));
    }

    /// Nothing is known any more: another image has been bound to the memory.
    pub fn give_up(&self) {
        self.off.store(true, Relaxed);
    }

    /// The tile whose first pixel is `origin`, if one begins there.
    fn tile(&self, origin: [i32; 2]) -> Option<&AtomicU64> {
        let [x, y] = origin.map(|o| u32::try_from(o).ok().filter(|o| o.is_multiple_of(self.side)));
        let (x, y) = (x? / self.side, y? / self.side);
        self.tiles.get((y as usize) * self.across as usize + x as usize).filter(|_| x < self.across)
    }

    /// Whether all of a tile is this texel.
    pub fn holds(&self, origin: [i32; 2], texel: u32) -> bool {
        !self.off.load(Relaxed) && self.tile(origin).is_some_and(|t| t.load(Relaxed) == KNOWN | texel as u64)
    }

    /// All of a tile is this texel now, or (`None`) anything. Of a square that is no tile, tiles that it touches may hold anything.
    pub fn becomes(&self, origin: [i32; 2], texel: Option<u32>) {
        if let Some(t) = self.tile(origin) {
            return t.store(texel.map_or(0, |t| KNOWN | t as u64), Relaxed);
        }
        let side = self.side as i32;
        let ends = |o: i32| [o.max(0) / side, o.saturating_add(side - 1).max(0) / side];
        for y in ends(origin[1]) {
            for x in ends(origin[0]) {
                if let Some(t) = self.tile([x * side, y * side]) {
                    t.store(0, Relaxed);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_holds_what_it_was_cleared_to_until_something_else_is_written() {
        let b = Blank::new([130, 70, 1], 64);
        // Three tiles across, two down.
        assert!(!b.holds([128, 64], 7));
        b.becomes([128, 64], Some(7));
        assert!(b.holds([128, 64], 7) && !b.holds([128, 64], 8) && !b.holds([64, 64], 7));
        b.becomes([128, 64], None);
        assert!(!b.holds([128, 64], 7) && !b.holds([128, 64], 0));
        b.becomes([0, 0], Some(3));
        b.forget();
        assert!(!b.holds([0, 0], 3));
        b.becomes([0, 0], Some(3));
        assert!(b.holds([0, 0], 3));
    }

    #[test]
    fn nothing_is_known_beside_tiles_or_of_memory_that_others_write() {
        let b = Blank::new([130, 70, 1], 64);
        for outside in [[192, 0], [0, 128], [32, 0], [0, -64], [i32::MAX - 63, 0]] {
            b.becomes(outside, Some(7));
            assert!(!b.holds(outside, 7), "{outside:?}");
        }
        // What lies across tiles spoils each.
        let all = [[0, 0], [64, 0], [128, 0], [0, 64], [64, 64], [128, 64]];
        all.iter().for_each(|t| b.becomes(*t, Some(5)));
        b.becomes([68, 20], Some(5));
        assert_eq!(all.map(|t| b.holds(t, 5)), [true, false, false, true, false, false]);
        b.becomes([0, 0], Some(7));
        b.give_up();
        assert!(!b.holds([0, 0], 7));
    }
}
