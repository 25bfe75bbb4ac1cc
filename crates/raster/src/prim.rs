//! Primitives between geometry and tiles.
//!
//! Framebuffer positions are fixed point with 8 sub-pixel bits. Every primitive is a convex polygon of three or four
//! edges for coverage: triangles; rectangular lines and points become four-edged; other shapes carry their kind.

use crate::state::Rect;

/// `a · x + b · y + c >= 0` inside, x and y in 1/256 pixels from the framebuffer's origin. The top-left rule is in `c`
/// already (one less where a sample on the edge is outside).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Edge {
    /// Up to ±2^23.
    pub a: i32,
    pub b: i32,
    pub c: i64,
}

/// Samples on an edge belong to the polygon if the edge is a left one, or a top one.
#[inline(always)]
pub fn top_left(a: i32, b: i32) -> bool {
    a > 0 || a == 0 && b > 0
}

/// A value linear in framebuffer space: `at + dx · (x − x0) + dy · (y − y0)` with x, y in pixels, (x0, y0) the
/// primitive's [`Prim::origin`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Plane {
    pub at: f32,
    pub dx: f32,
    pub dy: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Shape {
    /// Covers samples inside all edges.
    Polygon,
    /// Bresenham: covers the pixels listed ([`Prim::pixels`]), all samples of each.
    Pixels,
    /// Smooth line: as Polygon (a rectangle half a pixel wider on all sides); coverage scales alpha.
    Smooth,
    /// Conservative: as Polygon at pixels' centres, for all of their samples.
    Centers,
}

/// Pixels `x0 <= x < x1`, `y0 <= y < y1` of a framebuffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bounds([i16; 4]);

impl Bounds {
    /// Framebuffers end before 2^15; what lies beyond is cut.
    #[inline(always)]
    pub fn new(r: Rect) -> Bounds {
        let cut = |c: i32| c.clamp(0, i16::MAX as i32) as i16;
        Bounds([cut(r.x0), cut(r.y0), cut(r.x1), cut(r.y1)])
    }
    #[inline(always)]
    pub fn rect(self) -> Rect {
        let [x0, y0, x1, y1] = self.0;
        Rect { x0: x0 as i32, y0: y0 as i32, x1: x1 as i32, y1: y1 as i32 }
    }
}

/// A primitive ready for tiles: two lines of cache, the first for coverage and the second for shading.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Prim {
    /// Pixels it may touch: bounds cut by scissor and render area.
    pub bounds: Bounds,
    pub shape: Shape,
    /// 3 or 4 used; none where the bounds say it all.
    pub edge_count: u8,
    /// Its vertices are shaded where it is drawn: one, and how many of them no earlier one of its region has. Else 0.
    pub deferred: u8,
    pub viewport: u8,
    /// First of the primitive's planes in its batch's list: one per varying of the fragment program, in order.
    /// Flat: `at` holds the raw bits. Perspective: planes of value/w. Otherwise planes of the value.
    /// If `point` is set, PointCoord's two follow them.
    pub planes: u32,
    pub edges: [Edge; 4],
    pub origin: [f32; 2],
    /// Depth, bias included, before clamping; unclamped to the depth range.
    pub z: Plane,
    /// 1/w.
    pub w: Plane,
    pub id: u32,
    pub layer: u16,
    pub point: bool,
    pub front: bool,
    /// Sub-pixels by which edges were moved outward, along x and y each (conservative rasterization).
    pub grown: i16,
}

const _: () = assert!(size_of::<Prim>() == 4 * Prim::WORDS);

/// Where its fields lie, for who writes sixteen at once: numbers of words.
pub mod word {
    use super::Prim;
    use std::mem::offset_of;

    /// Left and top, then right and bottom.
    pub const BOUNDS: usize = offset_of!(Prim, bounds) / 4;
    /// Shape, edges, what is deferred, viewport: a byte each.
    pub const KIND: usize = offset_of!(Prim, shape) / 4;
    pub const PLANES: usize = offset_of!(Prim, planes) / 4;
    /// a, b and both words of c of each.
    pub const EDGES: usize = offset_of!(Prim, edges) / 4;
    pub const ORIGIN: usize = offset_of!(Prim, origin) / 4;
    pub const Z: usize = offset_of!(Prim, z) / 4;
    pub const W: usize = offset_of!(Prim, w) / 4;
    pub const ID: usize = offset_of!(Prim, id) / 4;
    /// The layer's two bytes; then whether it is a point, and faces front.
    pub const LAYER: usize = offset_of!(Prim, layer) / 4;
    const _: () = {
        assert!(offset_of!(Prim, edge_count) == KIND * 4 + 1 && offset_of!(Prim, deferred) == KIND * 4 + 2);
        assert!(offset_of!(Prim, viewport) == KIND * 4 + 3 && offset_of!(Prim, front) == LAYER * 4 + 3);
        assert!(offset_of!(Prim, point) == LAYER * 4 + 2 && offset_of!(Prim, grown) == LAYER * 4 + 4);
    };
}

impl Prim {
    /// Words of one.
    pub const WORDS: usize = 32;

    /// First and count in the batch's list of pixels, (x, y) each ([`Shape::Pixels`], which has no edges: they are where
    /// others have the first one).
    #[inline(always)]
    pub fn pixels(&self) -> (u32, u32) {
        (self.edges[0].a as u32, self.edges[0].b as u32)
    }
    /// Whether all of a pixel lies in the primitive as it was before conservative rasterization moved its edges; of shapes
    /// without edges none does.
    pub fn contains(&self, [x, y]: [i32; 2]) -> bool {
        let inside = |e: &Edge| {
            let (a, b) = (e.a as i64, e.b as i64);
            let center = a * (x as i64 * 256 + 128) + b * (y as i64 * 256 + 128) + e.c;
            // A pixel that an edge only touches is inside: the top-left rule's one is given back.
            let given = (self.shape == Shape::Polygon && !top_left(e.a, e.b)) as i64;
            center + given >= (128 + self.grown as i64) * (a.abs() + b.abs())
        };
        matches!(self.shape, Shape::Polygon | Shape::Centers)
            && self.edge_count > 0
            && self.edges[..(self.edge_count as usize).min(4)].iter().all(inside)
    }
    pub fn set_pixels(&mut self, (first, count): (u32, u32)) {
        (self.edges[0].a, self.edges[0].b) = (first as i32, count as i32);
    }
}

/// A line of cache.
pub type Line = [u8; 64];

/// Asks for a line from memory.
#[inline(always)]
pub fn prefetch(p: *const Line) {
    simd::prefetch(p.cast());
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A polygon of given edges and bounds, everything else zero.
    pub fn polygon(edges: &[Edge], bounds: Rect) -> Prim {
        let mut e = [Edge::default(); 4];
        e[..edges.len()].copy_from_slice(edges);
        Prim {
            shape: Shape::Polygon,
            edges: e,
            edge_count: edges.len() as u8,
            front: true,
            deferred: 0,
            viewport: 0,
            bounds: Bounds::new(bounds),
            origin: [0.0; 2],
            z: Plane::default(),
            w: Plane { at: 1.0, ..Plane::default() },
            planes: 0,
            layer: 0,
            id: 0,
            point: false,
            grown: 0,
        }
    }
}
