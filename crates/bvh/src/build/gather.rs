//! The boxes of active primitives.

use super::{LARGE, Places, Prim, room};
use crate::{Error, Geometry, Input, Instance, Pool};
use simd::Level;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Primitives of a task.
const CHUNK: usize = 1 << 14;

/// In the place of an inactive primitive, until they are removed.
const INACTIVE: u32 = u32::MAX;

/// A box as builders want it: finite, with its bounds in order, without negative zeros (which would make minima depend on their order).
#[allow(clippy::manual_clamp, reason = "clamp keeps NaN")]
#[inline(always)]
fn prim(low: [f32; 3], high: [f32; 3], geometry: u32, primitive: u32) -> Prim {
    let mut out = Prim { low, geometry, minus_high: high.map(|h| -h), primitive };
    for i in 0..3 {
        // (min and max give the other operand for a NaN.)
        out.low[i] = low[i].max(-LARGE).min(LARGE) + 0.0;
        out.minus_high[i] = (-high[i].max(-LARGE).min(LARGE)).min(-out.low[i]) + 0.0;
    }
    out
}

#[inline(always)]
pub fn of_triangle(p: &[[f32; 3]; 3], geometry: u32, primitive: u32) -> Prim {
    let inactive = p.iter().any(|v| v[0].is_nan());
    let low = std::array::from_fn(|i| p[0][i].min(p[1][i]).min(p[2][i]));
    let high = std::array::from_fn(|i| p[0][i].max(p[1][i]).max(p[2][i]));
    prim(low, high, if inactive { INACTIVE } else { geometry }, primitive)
}

#[inline(always)]
pub fn of_box(b: &[f32; 6], geometry: u32, primitive: u32) -> Prim {
    let geometry = if b[0].is_nan() { INACTIVE } else { geometry };
    prim([b[0], b[1], b[2]], [b[3], b[4], b[5]], geometry, primitive)
}

/// The box of an instance, in the world.
pub fn of_instance(instance: &Instance, index: u32) -> Prim {
    let (m, b) = (&instance.transform, &instance.bounds);
    // Of an empty structure: a point at the instance's origin.
    let empty = (0..3).any(|i| b[i] > b[i + 3]);
    let (mut low, mut high) = ([0.0; 3], [0.0; 3]);
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
    let inactive = instance.structure == 0;
    prim(low, high, if inactive { INACTIVE } else { 0 }, index)
}

/// Triangles `from` and on, into `out`: how many are inactive.
#[inline(always)]
fn triangles_body(
    positions: &[[f32; 3]],
    geometry: u32,
    from: usize,
    out: &mut [std::mem::MaybeUninit<Prim>],
) -> usize {
    let mut inactive = 0;
    let corners = &positions[from * 3..(from + out.len()) * 3];
    for (i, place) in out.iter_mut().enumerate() {
        let p = of_triangle(
            &[corners[i * 3], corners[i * 3 + 1], corners[i * 3 + 2]],
            geometry,
            (from + i) as u32,
        );
        inactive += (p.geometry == INACTIVE) as usize;
        place.write(p);
    }
    inactive
}

simd::by_level!(fn triangles = plain triangles_body, (positions: &[[f32; 3]], geometry: u32, from: usize, out: &mut [std::mem::MaybeUninit<Prim>]) -> usize);

/// The active primitives, in their order.
pub fn gather(level: Level, input: &Input, pool: &dyn Pool) -> Result<Vec<Prim>, Error> {
    // Chunks: geometry, first primitive, number, place.
    let mut chunks = Vec::new();
    let mut total = 0;
    let mut cut = |geometry: usize, count: usize| {
        for from in (0..count).step_by(CHUNK) {
            chunks.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
            chunks.push((geometry, from, CHUNK.min(count - from), total));
            total += CHUNK.min(count - from);
        }
        Ok(())
    };
    match input {
        Input::Geometries(all) => all.iter().enumerate().try_for_each(|(i, g)| cut(i, g.primitives()))?,
        Input::Instances(all) => cut(0, all.len())?,
    }
    let mut out = room::<Prim>(total)?;
    let places = Places(out.spare_capacity_mut().as_mut_ptr());
    let inactive = AtomicUsize::new(0);
    pool.run(chunks.len(), &|task| {
        let (geometry, from, count, place) = chunks[task];
        // SAFETY: chunks have separate places, all within the capacity.
        let out = unsafe { std::slice::from_raw_parts_mut(places.get().add(place), count) };
        let n = match input {
            Input::Instances(all) => {
                for (i, place) in out.iter_mut().enumerate() {
                    place.write(of_instance(&all[from + i], (from + i) as u32));
                }
                count_inactive(out)
            }
            Input::Geometries(all) => match &all[geometry] {
                Geometry::Triangles { positions, .. } => {
                    triangles(level, positions, geometry as u32, from, out)
                }
                Geometry::Boxes { bounds, .. } => {
                    for (i, place) in out.iter_mut().enumerate() {
                        place.write(of_box(&bounds[from + i], geometry as u32, (from + i) as u32));
                    }
                    count_inactive(out)
                }
            },
        };
        inactive.fetch_add(n, Relaxed);
    });
    // SAFETY: the tasks wrote every place.
    unsafe { out.set_len(total) };
    if inactive.into_inner() != 0 {
        out.retain(|p| p.geometry != INACTIVE);
    }
    Ok(out)
}

fn count_inactive(of: &[std::mem::MaybeUninit<Prim>]) -> usize {
    // SAFETY: the caller has just written them.
    of.iter().filter(|p| unsafe { p.assume_init_ref() }.geometry == INACTIVE).count()
}
