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

impl Edge {
    /// From `p` to `q` of a polygon that lies at its right hand (y downward), top-left rule included.
    #[inline(always)]
    pub fn between(p: [i32; 2], q: [i32; 2]) -> Edge {
        let (a, b) = (p[1] - q[1], q[0] - p[0]);
        let c = -(a as i64 * p[0] as i64 + b as i64 * p[1] as i64);
        Edge { a, b, c: c - !top_left(a, b) as i64 }
    }
}

/// Samples on an edge belong to the polygon if the edge is a left one, or a top one.
#[inline(always)]
pub fn top_left(a: i32, b: i32) -> bool {
    a > 0 || a == 0 && b > 0
}

/// Pixels from which planes are evaluated lie in `0 ..= FURTHEST`: a framebuffer's size. A vertex far outside would
/// cost precision.
pub const FURTHEST: f64 = 16384.0;

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

/// A primitive ready for tiles: a line of cache. What few programs read lies with its planes, edges that are not those between three
/// corners in a list of their own.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Prim {
    /// Pixels it may touch: bounds cut by scissor and render area.
    pub bounds: Bounds,
    pub form: Form,
    pub side: Side,
    pub layer: u16,
    /// First of the primitive's planes in its batch's list: one per varying of the fragment program, in order.
    /// Flat: `at` holds the raw bits. Perspective: planes of value/w. Otherwise planes of the value.
    /// For a point whose program reads PointCoord its two follow them. Its id is before them where the program reads that, as `at`'s bits.
    pub planes: u32,
    /// In pixels, multiples of 1/256: those of a triangle ([`Prim::is_triangle`]) at whose right hand it lies. Of others the first is where
    /// planes start, and the next one's bits are where their edges are in the batch's list of these, or their pixels.
    pub corners: [[f32; 2]; 3],
    /// Depth, bias included, before clamping; unclamped to the depth range.
    pub z: Plane,
    /// 1/w.
    pub w: Plane,
}

/// A primitive's shape, its edges, and whether its vertices are shaded late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Form(u8);

impl Form {
    /// `edges`: 3 or 4 used; none where the bounds say it all.
    pub const fn new(shape: Shape, edges: u8) -> Form {
        Form(shape as u8 | (edges & 7) << 2)
    }
    #[inline(always)]
    pub fn shape(self) -> Shape {
        match self.0 & 3 {
            0 => Shape::Polygon,
            1 => Shape::Pixels,
            2 => Shape::Smooth,
            _ => Shape::Centers,
        }
    }
    #[inline(always)]
    pub fn edges(self) -> usize {
        ((self.0 >> 2 & 7) as usize).min(4)
    }
    /// Its vertices are shaded where it is drawn: one, and how many of them no earlier one of its region has. Else 0.
    #[inline(always)]
    pub fn deferred(self) -> u8 {
        self.0 >> DEFERRED
    }
    pub fn set_deferred(&mut self, deferred: u8) {
        self.0 = self.0 & FORM as u8 | deferred << DEFERRED;
    }
}

/// Of a [`Form`] as a number, or of [`word::KIND`]: all but what is deferred, and from which bit on that is.
pub const FORM: u32 = 0x1F;
pub const DEFERRED: u32 = 5;
/// A triangle's.
pub const TRIANGLE: u32 = Form::new(Shape::Polygon, 3).0 as u32;

/// The viewport that a primitive went through, whether it is a point that has coordinates, and faces front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Side(u8);

impl Side {
    /// Viewports that there may be.
    pub const VIEWPORTS: usize = 16;

    pub const fn new(viewport: u32, point: bool, front: bool) -> Side {
        let viewport = viewport as u8 % Self::VIEWPORTS as u8;
        Side(viewport | (point as u8) << 4 | (front as u8) << 5)
    }
    #[inline(always)]
    pub fn viewport(self) -> usize {
        self.0 as usize % Self::VIEWPORTS
    }
    #[inline(always)]
    pub fn point(self) -> bool {
        self.0 & 1 << 4 != 0
    }
    #[inline(always)]
    pub fn front(self) -> bool {
        self.0 & 1 << 5 != 0
    }
}

/// Of [`word::KIND`]: [`Side`] that faces front, and the layer, from these bits on.
pub const FRONT: u32 = 8 + 5;
pub const LAYER: u32 = 16;

const _: () = assert!(size_of::<Prim>() == 4 * Prim::WORDS);

/// Where its fields lie, for who writes sixteen at once: numbers of words.
pub mod word {
    use super::Prim;
    use std::mem::offset_of;

    /// Left and top, then right and bottom.
    pub const BOUNDS: usize = offset_of!(Prim, bounds) / 4;
    /// Form, side and layer.
    pub const KIND: usize = offset_of!(Prim, form) / 4;
    pub const PLANES: usize = offset_of!(Prim, planes) / 4;
    /// x and y of each.
    pub const CORNERS: usize = offset_of!(Prim, corners) / 4;
    pub const Z: usize = offset_of!(Prim, z) / 4;
    pub const W: usize = offset_of!(Prim, w) / 4;
    const _: () = assert!(offset_of!(Prim, side) == KIND * 4 + 1 && offset_of!(Prim, layer) == KIND * 4 + 2);
}

impl Prim {
    /// Words of one.
    pub const WORDS: usize = 16;

    /// Whether its edges are those between its corners.
    #[inline(always)]
    pub fn is_triangle(&self) -> bool {
        self.form.0 as u32 & FORM == TRIANGLE
    }
    /// Its edges; `list`: its batch's.
    #[inline(always)]
    pub fn edges(&self, list: &[Edge]) -> [Edge; 4] {
        if self.is_triangle() {
            let [a, b, c] = self.corners.map(|c| c.map(|v| (v * 256.0) as i32));
            return [Edge::between(a, b), Edge::between(b, c), Edge::between(c, a), Edge::default()];
        }
        let mut edges = [Edge::default(); 4];
        let n = self.form.edges();
        if n > 0 {
            edges[..n].copy_from_slice(&list[self.listed()[0] as usize..][..n]);
        }
        edges
    }
    /// Where planes start, in pixels.
    #[inline(always)]
    pub fn origin(&self) -> [f32; 2] {
        self.corners[0].map(|c| c.clamp(0.0, FURTHEST as f32))
    }
    /// Where in its batch's list its edges begin, or its pixels ([`Shape::Pixels`]), and how many of these there are.
    #[inline(always)]
    pub fn listed(&self) -> [u32; 2] {
        self.corners[1].map(f32::to_bits)
    }
    pub fn set_listed(&mut self, listed: [u32; 2]) {
        self.corners[1] = listed.map(f32::from_bits);
    }
    /// Whether all of a pixel lies in the primitive as it was before conservative rasterization moved its edges outward by so many
    /// sub-pixels along x and y each; of shapes without edges none does. `list`: as in [`Prim::edges`].
    pub fn contains(&self, list: &[Edge], grown: i64, [x, y]: [i32; 2]) -> bool {
        let (shape, n) = (self.form.shape(), self.form.edges());
        let inside = |e: &Edge| {
            let (a, b) = (e.a as i64, e.b as i64);
            let center = a * (x as i64 * 256 + 128) + b * (y as i64 * 256 + 128) + e.c;
            // A pixel that an edge only touches is inside: the top-left rule's one is given back.
            let given = (shape == Shape::Polygon && !top_left(e.a, e.b)) as i64;
            center + given >= (128 + grown) * (a.abs() + b.abs())
        };
        matches!(shape, Shape::Polygon | Shape::Centers) && n > 0 && self.edges(list)[..n].iter().all(inside)
    }
}

/// A line of cache.
pub type Line = [u8; 64];

/// Asks for the line where that begins from memory.
#[inline(always)]
pub fn prefetch<T>(p: *const T) {
    simd::prefetch(p.cast());
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A primitive of so many edges, which lie first in its batch's list, with these bounds.
    pub fn polygon(edge_count: u8, bounds: Rect) -> Prim {
        Prim {
            form: Form::new(Shape::Polygon, edge_count),
            side: Side::new(0, false, true),
            layer: 0,
            bounds: Bounds::new(bounds),
            corners: [[0.0; 2]; 3],
            z: Plane::default(),
            w: Plane { at: 1.0, ..Plane::default() },
            planes: 0,
        }
    }
}
