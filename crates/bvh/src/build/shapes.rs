//! Primitives as boxes.

use super::{Bounds, LARGE, Prim};
use crate::{Geometry, Input, Instance};
use simd::Quad;

/// Lower bounds and negated upper bounds of a box: finite, in order, and without negative zeros (which would make minima depend on their
/// order). The last of each is anything.
#[derive(Clone, Copy)]
pub struct Pair {
    pub low: Quad,
    pub minus_high: Quad,
}

impl Pair {
    #[inline(always)]
    pub fn nothing() -> Pair {
        Pair { low: Quad::splat(f32::INFINITY), minus_high: Quad::splat(f32::INFINITY) }
    }

    /// (A lower bound that is NaN becomes the least, an upper one too.)
    #[inline(always)]
    fn new(low: Quad, high: Quad) -> Pair {
        let (least, most, zero) = (Quad::splat(-LARGE), Quad::splat(LARGE), Quad::splat(0.0));
        let low = low.max(least).min(most) + zero;
        let minus_high = (-high.max(least).min(most)).min(-low) + zero;
        Pair { low, minus_high }
    }

    /// Of three points; what is NaN counts for nothing.
    ///
    /// # Safety
    /// Nine floats are readable.
    #[inline(always)]
    pub unsafe fn of_triangle(p: *const f32) -> Pair {
        // SAFETY: the caller's.
        let [a, b, c] = unsafe { corners(p) };
        let (low, high) = (Quad::splat(f32::INFINITY), Quad::splat(f32::NEG_INFINITY));
        Pair::new(c.min(b.min(a.min(low))), c.max(b.max(a.max(high))))
    }

    #[inline(always)]
    pub fn of_box(b: &[f32; 6]) -> Pair {
        // SAFETY: six floats.
        unsafe { Pair::new(Quad::load(b.as_ptr()), Quad::load(b.as_ptr().add(2)).upper3()) }
    }

    #[inline(always)]
    pub fn join(&mut self, with: &Pair) {
        self.low = with.low.min(self.low);
        self.minus_high = with.minus_high.min(self.minus_high);
    }

    /// Twice the centre.
    #[inline(always)]
    pub fn centre(&self) -> Quad {
        self.low - self.minus_high
    }

    #[inline(always)]
    pub fn bounds(&self) -> Bounds {
        let ([a, b, c, _], [d, e, f, _]) = (self.low.get(), self.minus_high.get());
        [a, b, c, d, e, f]
    }

    #[inline(always)]
    pub fn prim(&self, geometry: u32, primitive: u32) -> Prim {
        let ([a, b, c, _], [d, e, f, _]) = (self.low.get(), self.minus_high.get());
        Prim { low: [a, b, c], geometry, minus_high: [d, e, f], primitive }
    }
}

/// # Safety
/// Nine floats are readable.
#[inline(always)]
pub unsafe fn corners(p: *const f32) -> [Quad; 3] {
    // SAFETY: the caller's.
    unsafe { [Quad::load(p), Quad::load(p.add(3)), Quad::load(p.add(5)).upper3()] }
}

/// A list of primitives.
pub trait Shapes: Copy {
    /// The box of an active one.
    fn pair(self, at: usize) -> Option<Pair>;
}

/// Three positions each.
#[derive(Clone, Copy)]
pub struct Triangles<'a>(pub &'a [[f32; 3]]);

impl Shapes for Triangles<'_> {
    #[inline(always)]
    fn pair(self, at: usize) -> Option<Pair> {
        let corner: &[[f32; 3]; 3] = self.0[at * 3..at * 3 + 3].try_into().ok()?;
        let x = [corner[0][0], corner[1][0], corner[2][0]];
        if x[0].is_nan() | x[1].is_nan() | x[2].is_nan() {
            return None;
        }
        // SAFETY: nine floats.
        Some(unsafe { Pair::of_triangle(corner.as_ptr().cast()) })
    }
}

#[derive(Clone, Copy)]
pub struct Boxes<'a>(pub &'a [[f32; 6]]);

impl Shapes for Boxes<'_> {
    #[inline(always)]
    fn pair(self, at: usize) -> Option<Pair> {
        let b = &self.0[at];
        if b[0].is_nan() { None } else { Some(Pair::of_box(b)) }
    }
}

#[derive(Clone, Copy)]
pub struct Instances<'a>(pub &'a [Instance]);

impl Shapes for Instances<'_> {
    #[inline(always)]
    fn pair(self, at: usize) -> Option<Pair> {
        let instance = &self.0[at];
        if instance.structure == 0 { None } else { Some(of_instance(instance)) }
    }
}

/// The box of an instance, in the world.
pub fn of_instance(instance: &Instance) -> Pair {
    let (m, b) = (&instance.transform, &instance.bounds);
    // Of an empty structure: a point at the instance's origin.
    let empty = (0..3).any(|i| b[i] > b[i + 3]);
    let (mut low, mut high) = ([0.0; 4], [0.0; 4]);
    for r in 0..3 {
        let (mut from, mut to, mut size) = (m[r * 4 + 3], m[r * 4 + 3], m[r * 4 + 3].abs());
        for c in 0..if empty { 0 } else { 3 } {
            let (x, y) = (m[r * 4 + c] * b[c], m[r * 4 + c] * b[c + 3]);
            from += x.min(y);
            to += x.max(y);
            size += x.abs().max(y.abs());
        }
        // A ray is transformed with roundings, and its hits may lie a little outside.
        let margin = size * (1.0 / (1 << 20) as f32);
        (low[r], high[r]) = (from - margin, to + margin);
    }
    Pair::new(Quad::new(low), Quad::new(high))
}

/// One geometry's primitives, or all instances.
#[derive(Clone, Copy)]
pub enum List<'a> {
    Triangles(Triangles<'a>),
    Boxes(Boxes<'a>),
    Instances(Instances<'a>),
}

impl<'a> List<'a> {
    pub fn of(input: &Input<'a>, geometry: usize) -> List<'a> {
        match input {
            Input::Instances(all) => List::Instances(Instances(all)),
            Input::Geometries(all) => match all[geometry] {
                Geometry::Triangles { positions, .. } => List::Triangles(Triangles(positions)),
                Geometry::Boxes { bounds, .. } => List::Boxes(Boxes(bounds)),
            },
        }
    }
}

/// Primitives that one task reads: of a geometry, from its `first` one on. `place` counts through all geometries.
#[derive(Clone, Copy)]
pub struct Chunk {
    pub geometry: usize,
    pub first: usize,
    pub count: usize,
    pub place: usize,
}

/// Primitives of a chunk.
const CHUNK: usize = 1 << 14;

/// All primitives in chunks, and how many there are.
pub fn chunks(input: &Input) -> Result<(Vec<Chunk>, usize), crate::Error> {
    let mut chunks = Vec::new();
    let mut total = 0;
    let mut cut = |geometry: usize, all: usize| {
        for first in (0..all).step_by(CHUNK) {
            let count = CHUNK.min(all - first);
            chunks.try_reserve(1).map_err(|_| crate::Error::OutOfMemory)?;
            chunks.push(Chunk { geometry, first, count, place: total });
            total += count;
        }
        Ok(())
    };
    match input {
        Input::Geometries(all) => all.iter().enumerate().try_for_each(|(i, g)| cut(i, g.primitives()))?,
        Input::Instances(all) => cut(0, all.len())?,
    }
    Ok((chunks, total))
}
