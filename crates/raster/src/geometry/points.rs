//! Set-up of points that are drawn with one sample in the only viewport: as [`super::line`]'s square of each.

use super::Batch;
use super::assembly::Assembled;
use super::line::POINT_SIZES;
use super::raster::{Rasterizer, pixels, pixels_of};
use super::vertex::{Vertices, code};
use crate::prim::{Bounds, FURTHEST, Form, Plane, Prim, Shape, Side};
use counters::Event::*;

simd::by_level! {
    /// Points of a chunk, in order.
    fn points_at = plain body, (r: &Rasterizer, v: &Vertices, chunk: &Assembled, out: &mut Batch)
}

/// Points of a chunk, in order. False if the draw's points need more than this.
pub fn points(r: &Rasterizer, v: &Vertices, chunk: &Assembled, out: &mut Batch) -> bool {
    let quick = r.single
        && r.state.raster.conservative.is_none()
        && !r.state.raster.discard
        && r.outputs.viewport == 0;
    if quick {
        points_at(r.level, r, v, chunk, out);
    }
    quick
}

// No closures in here: they would be compiled without the level's features.
#[inline(always)]
fn body(r: &Rasterizer, v: &Vertices, chunk: &Assembled, out: &mut Batch) {
    let o = r.outputs;
    let map = &r.maps[0];
    let (layers, sizes) = (v.column(o.layer), v.column(o.point_size));
    let [x, y, z, w] = o.position;
    let position = [v.column(x), v.column(y), v.column(z), v.column(w)];
    let count = o.planes();
    if !out.fits(chunk.ids.len(), chunk.ids.len() * count, 0, 0) {
        return;
    }
    let (before, mut outside) = (out.prims.len(), 0);
    for (&a, &id) in chunk.v[0].iter().zip(&chunk.ids) {
        let a = a as usize;
        if v.codes[a] & (code::REJECT | code::NAN | code::GUARD) != 0 {
            outside += 1;
            continue;
        }
        let layer = r.layer(layers[a]);
        out.counts.events[ClippingPrimitives] += 1;
        let mut clip = [0.0; 4];
        for k in 0..4 {
            clip[k] = f32::from_bits(position[k][a]);
        }
        let window = map.window(clip);
        if !(window[0].is_finite() && window[1].is_finite() && window[2].is_finite()) {
            continue;
        }
        let size = if o.point_size == 0 { 1.0 } else { f32::from_bits(sizes[a]) };
        let size = if size.is_nan() { 1.0 } else { size.clamp(POINT_SIZES[0], POINT_SIZES[1]) };
        let side = (size * 256.0).round_ties_even() as i32;
        let (mut low, mut high, mut origin) = ([0; 2], [0; 2], [0.0; 2]);
        let place = [v.x[a], v.y[a]];
        for k in 0..2 {
            low[k] = (window[k] as f64 * 256.0 - side as f64 * 0.5).round_ties_even() as i32;
            high[k] = low[k] + side;
            origin[k] = (place[k] as f64 / 256.0).clamp(0.0, FURTHEST);
        }
        let bounds = pixels(low, high, true).intersect(&map.scissor);
        if bounds.is_empty() {
            continue;
        }
        let w = v.w[a];
        let deferred = out.used.visible([a], bounds, layer as u16);
        let mut form = Form::new(Shape::Polygon, 0);
        form.set_deferred(deferred);
        out.prims.push(Prim {
            form,
            side: Side::new(0, o.point_coord, true),
            layer: layer as u16,
            bounds: Bounds::new(bounds),
            corners: [pixels_of(place), [0.0; 2], [0.0; 2]],
            z: constant(window[2]),
            w: constant(w as f32),
            planes: o.first(&out.planes),
        });
        out.planes.extend(o.ids.then(|| constant(f32::from_bits(id))));
        for k in &o.varyings {
            let bits = match k.weight {
                // All of a point is its one vertex.
                Some(k) => ((k == 0) as u8 as f32).to_bits(),
                None => v.column(k.column)[a],
            };
            let exact = k.flat || k.no_perspective;
            let value = f32::from_bits(bits);
            out.planes.push(constant(if exact { value } else { (value as f64 * w) as f32 }));
        }
        if o.point_coord {
            out.planes.extend(super::line::coordinates(origin, window, size));
        }
    }
    let events = &mut out.counts.events;
    let seen = (out.prims.len() - before) as u64;
    events[PrimsFrustumCulled] += outside;
    events[PrimsVisible] += seen;
    events[PrimsScissorCulled] += chunk.ids.len() as u64 - outside - seen;
}

#[inline(always)]
fn constant(at: f32) -> Plane {
    Plane { at, dx: 0.0, dy: 0.0 }
}
