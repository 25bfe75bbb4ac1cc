//! Seats of quads in warps, if no two of the quads have a pixel in common.

use crate::layout::{PIXELS, WARPS};
use crate::tile::pack::packer::Packer;

/// Quads of a tile.
const QUADS: usize = PIXELS / 4;

/// Warps of quads of which no pixel is in two, one sample a pixel: any quad may join any warp that does not hold its pixels' quad
/// yet.
pub struct Seats {
    /// Lanes of the warps.
    masks: [u16; WARPS],
    /// Warps that hold each quad of the tile.
    held: [u16; QUADS],
}

/// Warps that are being filled: each quad waits for the one before, so it is by registers.
#[derive(Default)]
pub struct Filling {
    /// Warps that have room, by bit; and how many quads each has, modulo four.
    open: u16,
    ones: u16,
    twos: u16,
    /// All of them.
    warps: u16,
}

impl Seats {
    pub fn new() -> Seats {
        Seats { masks: [0; WARPS], held: [0; QUADS] }
    }

    /// Whether a quad finds a place in a warp that there is.
    #[inline(always)]
    pub fn has_room(&self, of: &Filling, quad: usize) -> bool {
        of.open & !self.held[quad % QUADS] != 0
    }

    /// Puts a quad there, or else into the packer's next warp.
    #[inline(always)]
    pub fn put(&mut self, of: &mut Filling, packer: &mut Packer, prim: u32, quad: usize, mask: u16) {
        let quad = quad % QUADS;
        let pixel = (quad * 4) as u16;
        let mut room = of.open & !self.held[quad];
        if room == 0 {
            let w = packer.count % WARPS;
            packer.count = w + 1;
            room = 1 << w;
            of.open |= room;
            of.warps |= room;
            let s = &mut packer.warps[w];
            // Those not in use repeat the first.
            (s.prims, s.pixels) = ([prim; 4], [pixel; 4]);
            (s.dense, s.sample) = (false, None);
        }
        let w = room.trailing_zeros() as usize % WARPS;
        let bit = 1 << w;
        let n = (of.ones >> w & 1 | (of.twos >> w & 1) << 1) as usize;
        let s = &mut packer.warps[w];
        s.prims[n] = prim;
        s.pixels[n] = pixel;
        self.masks[w] |= mask << (n * 4);
        let carry = of.ones & bit;
        of.open &= !(of.twos & carry);
        of.ones ^= bit;
        of.twos ^= carry;
        self.held[quad] |= bit;
    }

    /// The wave has no more of them; `quads`: those that it has.
    #[inline(always)]
    pub fn settle(&mut self, of: &mut Filling, packer: &mut Packer, quads: impl Iterator<Item = usize>) {
        let mut left = of.warps;
        while left != 0 {
            let w = left.trailing_zeros() as usize % WARPS;
            left &= left - 1;
            let n = match of.open >> w & 1 {
                0 => 4,
                _ => of.ones >> w & 1 | (of.twos >> w & 1) << 1,
            };
            let s = &mut packer.warps[w];
            s.quads = ((1u32 << n) - 1) as u8;
            s.masks[0] = std::mem::take(&mut self.masks[w]);
        }
        *of = Filling::default();
        quads.for_each(|q| self.held[q % QUADS] = 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quads by twos and threes in the same places: every one of them gets a seat, and no warp holds a place twice.
    #[test]
    fn every_quad_has_a_seat_beside_others() {
        let (mut p, mut seats, mut of) = (Packer::new(), Seats::new(), Filling::default());
        let mut x = 7u32;
        let mut random = move |n: u32| {
            x = x.wrapping_mul(1664525).wrapping_add(1013904223);
            (x >> 8) % n
        };
        for warps in [1, 3, 16] {
            for round in 0..200 {
                let places = 1 + random(20);
                let all: Vec<(u32, usize, u16)> = (0..random(100))
                    .map(|i| (i, (random(places) * 7) as usize, 1 + random(15) as u16))
                    .collect();
                let (mut from, mut seen) = (0, vec![]);
                let mut end =
                    |p: &mut Packer, seats: &mut Seats, of: &mut Filling, these: &[(u32, usize, u16)]| {
                        seats.settle(of, p, these.iter().map(|q| q.1));
                        for s in &p.warps[..p.count] {
                            let n = s.quads.trailing_ones() as usize;
                            assert!((1..=4).contains(&n) && s.quads as u32 == (1 << n) - 1 && !s.dense);
                            assert!((n..4).all(|k| (s.prims[k], s.pixels[k]) == (s.prims[0], s.pixels[0])));
                            let mut places = s.pixels[..n].to_vec();
                            places.sort_unstable();
                            assert!(places.windows(2).all(|w| w[0] != w[1]), "{places:?}");
                            let quad = |k: usize| {
                                (s.prims[k], s.pixels[k] as usize / 4, s.masks[0] >> (4 * k) & 0xF)
                            };
                            seen.extend((0..n).map(quad));
                            assert_eq!(s.masks[0] as u32 >> (4 * n), 0);
                        }
                        p.clear();
                    };
                for (i, &(prim, quad, mask)) in all.iter().enumerate() {
                    if !seats.has_room(&of, quad) && p.count == warps {
                        end(&mut p, &mut seats, &mut of, &all[from..i]);
                        from = i;
                    }
                    seats.put(&mut of, &mut p, prim, quad, mask);
                }
                end(&mut p, &mut seats, &mut of, &all[from..]);
                seen.sort_unstable();
                assert_eq!(seen, all, "{warps} {round}");
            }
        }
    }
}
