//! Tiles of the modelled GPU within a region: how many of them a primitive touches.
//!
//! A region has 64 × 64 pixels. The GPU's tiles are as large as the colours of their pixels fit into the tile buffer
//! ([`counters::Model::tile`]); they begin at the region's corner.

use super::bin::{extremes, inside};
use crate::layout::TILE;
use crate::prim::{Edge, Prim, Shape};
use crate::state::Rect;

/// A tile's size, as powers of two, along x and y.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Within([u32; 2]);

impl Within {
    /// Of pixels with so many bits of colour.
    pub fn of(bits: u64) -> Within {
        Within(counters::model::current().tile(bits).map(u64::trailing_zeros))
    }

    /// Tiles of a rectangle whose pixels are told from the region's corner.
    pub fn count(self, r: &Rect) -> u64 {
        let side = |from: i32, to: i32, k: usize| {
            if to <= from { 0 } else { (((to - 1) >> self.0[k]) - (from >> self.0[k]) + 1) as u64 }
        };
        side(r.x0, r.x1, 0) * side(r.y0, r.y1, 1)
    }

    /// Tiles of the region at `origin` that a primitive touches, which touches the region; `covers`: it covers all of that.
    #[inline(always)]
    pub fn touched(
        self,
        p: &Prim,
        edges: &[Edge],
        pixels: &[[i32; 2]],
        origin: [i32; 2],
        covers: bool,
    ) -> u64 {
        let [ox, oy] = origin;
        let b = p.bounds.rect().intersect(&Rect { x0: ox, y0: oy, x1: ox + TILE, y1: oy + TILE });
        let r = Rect { x0: b.x0 - ox, y0: b.y0 - oy, x1: b.x1 - ox, y1: b.y1 - oy };
        match self.count(&r) {
            n @ 0..=1 => n.max(1),
            n if covers => n,
            _ => self.told(p, edges, pixels, origin, &r),
        }
    }

    /// As [`Self::touched`]: tile by tile.
    #[inline(never)]
    fn told(self, p: &Prim, edges: &[Edge], pixels: &[[i32; 2]], [ox, oy]: [i32; 2], r: &Rect) -> u64 {
        let [sx, sy] = self.0;
        if p.form.shape() == Shape::Pixels {
            let [first, count] = p.listed();
            let own = &pixels[first as usize..(first + count) as usize];
            let at = |[x, y]: &[i32; 2]| [x - ox, y - oy];
            let mut seen: Vec<[i32; 2]> = own
                .iter()
                .map(at)
                .filter(|[x, y]| inside(r, *x, *y))
                .map(|[x, y]| [x >> sx, y >> sy])
                .collect();
            seen.sort_unstable();
            seen.dedup();
            return seen.len().max(1) as u64;
        }
        let own = p.edges(edges);
        // What there is no edge for says nothing.
        debug_assert!(own[p.form.edges()..].iter().all(|e| *e == Edge::default()));
        // One more column begins here, and one more row: few primitives touch a third.
        let (x, y) = (((r.x0 >> sx) + 1) << sx, ((r.y0 >> sy) + 1) << sy);
        if r.x1 <= x + (1 << sx) && r.y1 <= y + (1 << sy) {
            let columns = [r.x0 + ox, x.min(r.x1) + ox, r.x1 + ox];
            let rows = [r.y0 + oy, y.min(r.y1) + oy, r.y1 + oy];
            return match own {
                [a, b, c, _] if p.is_triangle() => two_by_two(&[a, b, c], columns, rows),
                all => two_by_two(&all, columns, rows),
            };
        }
        let edges = &own[..p.form.edges()];
        let mut n = 0;
        for y in r.y0 >> sy..=(r.y1 - 1) >> sy {
            let (y0, y1) = (r.y0.max(y << sy) + oy, r.y1.min((y + 1) << sy) + oy);
            for x in r.x0 >> sx..=(r.x1 - 1) >> sx {
                let (x0, x1) = (r.x0.max(x << sx) + ox, r.x1.min((x + 1) << sx) + ox);
                let part = Rect { x0, y0, x1, y1 };
                n += edges.iter().all(|e| extremes(e, &part).1 >= 0) as u64;
            }
        }
        n.max(1)
    }
}

/// Of the parts between these columns and rows, of which the last ones may be empty, how many no edge has all of outside; one at least. As
/// [`extremes`] of each part, without a branch.
#[inline(always)]
fn two_by_two<const N: usize>(edges: &[Edge; N], [x0, x1, x2]: [i32; 3], [y0, y1, y2]: [i32; 3]) -> u64 {
    let (left, right, upper, lower) = (x0 < x1, x1 < x2, y0 < y1, y1 < y2);
    let mut inside = [left & upper, right & upper, left & lower, right & lower];
    for e in edges {
        let x = [greatest(e.a, x0, x1), greatest(e.a, x1, x2)];
        let y = [greatest(e.b, y0, y1) + e.c, greatest(e.b, y1, y2) + e.c];
        inside[0] &= x[0] + y[0] >= 0;
        inside[1] &= x[1] + y[0] >= 0;
        inside[2] &= x[0] + y[1] >= 0;
        inside[3] &= x[1] + y[1] >= 0;
    }
    let [a, b, c, d] = inside;
    (a as u64 + b as u64 + c as u64 + d as u64).max(1)
}

/// The greatest of so many times a coordinate, of the samples of these pixels.
#[inline(always)]
fn greatest(k: i32, from: i32, to: i32) -> i64 {
    let at = if k < 0 { from as i64 * 256 } else { to as i64 * 256 - 1 };
    k as i64 * at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prim::{Bounds, Form};
    use random::Random;

    fn prim(b: Rect, form: Form) -> Prim {
        let (planes, side) = (0, crate::prim::Side::new(0, false, true));
        let z = Default::default();
        Prim { bounds: Bounds::new(b), form, side, layer: 0, planes, corners: [[0.0; 2]; 3], z, w: z }
    }

    /// 32 KiB of colours: 1024 pixels of up to 256 bits, half as many of up to 512, and so on.
    #[test]
    fn tiles_by_bits() {
        let region = Rect { x0: 0, y0: 0, x1: 64, y1: 64 };
        let tiles = [32, 256, 257, 512, 1024, 2048].map(|bits| Within::of(bits).count(&region));
        assert_eq!(tiles, [4, 4, 8, 8, 16, 32]);
        // A pixel more than a tile's side.
        assert_eq!(Within::of(128).count(&Rect { x0: 31, y0: 0, x1: 33, y1: 32 }), 2);
        assert_eq!(Within::of(128).count(&Rect { x0: 3, y0: 5, x1: 3, y1: 9 }), 0);
    }

    /// Triangles anywhere: where they touch few tiles they are counted as where they touch many.
    #[test]
    fn two_by_two_is_tile_by_tile() {
        let mut r = Random::new(5);
        let mut random = |below: i32| r.below(below as u32) as i32;
        let mut seen = [0; 5];
        for _ in 0..20_000 {
            let size = 1 + random(16384);
            let [x, y] = [random(128 * 256), random(128 * 256)];
            let corners = [(); 3].map(|()| [x + random(size), y + random(size)]);
            let [a, b, c] = corners;
            let edges = [Edge::between(a, b), Edge::between(b, c), Edge::between(c, a), Edge::default()];
            let side =
                |k: usize, f: fn(i32, i32) -> i32| corners.iter().map(|c| c[k] >> 8).reduce(f).unwrap();
            let r = [side(0, i32::min), side(0, i32::max) + 1, side(1, i32::min), side(1, i32::max) + 1];
            let cut = |from: i32, to: i32| [from, ((from >> 5) * 32 + 32).min(to), to];
            let (columns, rows) = (cut(r[0], r[1]), cut(r[2], r[3]));
            let parts = [0, 1].into_iter().flat_map(|y| [0, 1].map(|x| (x, y)));
            let want = parts.filter(|&(x, y)| {
                let r = Rect { x0: columns[x], x1: columns[x + 1], y0: rows[y], y1: rows[y + 1] };
                !r.is_empty() && edges[..3].iter().all(|e| extremes(e, &r).1 >= 0)
            });
            let want = want.count().max(1);
            let [a, b, c, _] = edges;
            let got = [two_by_two(&edges, columns, rows), two_by_two(&[a, b, c], columns, rows)];
            assert_eq!(got, [want as u64; 2], "{corners:?}");
            seen[want] += 1;
        }
        assert!(seen[1..].iter().all(|n| *n > 100), "{seen:?}");
    }

    /// The half of a region above its diagonal: of four tiles, three; of 8 × 4 tiles of 8 × 16 pixels each row begins two later.
    #[test]
    fn a_diagonal() {
        let all = Rect { x0: 64, y0: 128, x1: 128, y1: 192 };
        let mut p = prim(all, Form::new(Shape::Polygon, 3));
        p.corners = [[64.0, 128.0], [128.0, 128.0], [128.0, 192.0]];
        let at = |p: &Prim, bits, covers| Within::of(bits).touched(p, &[], &[], [64, 128], covers);
        assert_eq!([at(&p, 32, false), at(&p, 32, true)], [3, 4]);
        // Tiles of 16 × 8 pixels, rows of four: all but those left of x = y. Row k begins at y = 8 k, so in column k / 2.
        assert_eq!(at(&p, 2048, false), (0..8).map(|k| 4 - k / 2).sum::<u64>());
        // A pixel.
        let dot = prim(Rect { x0: 100, y0: 150, x1: 101, y1: 151 }, Form::new(Shape::Polygon, 0));
        assert_eq!(at(&dot, 2048, false), 1);
    }
}
