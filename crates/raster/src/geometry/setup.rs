//! Set-up of filled triangles that need no clipping, sixteen at a time.
//!
//! A first pass over all triangles culls; the survivors are gathered in groups of sixteen, whose edges, bounds and
//! planes are computed lane by lane. Primitives of the slow way in between keep their place: they end a group.

// Loops over lanes index several arrays alike, which the compiler makes vectors of.
#![allow(clippy::needless_range_loop)]

use super::Batch;
use super::assembly::Assembled;
use super::line::Stipple;
use super::plane::FURTHEST;
use super::raster::{Rasterizer, pixels};
use super::vertex::{Vertices, code};
use crate::prim::{Bounds, Edge, Plane, Prim, Shape};
use crate::state::Rect;
use ash::vk;
use counters::Event::{self, *};
use shader::cost::COUNTED;

const LANES: usize = 16;

simd::by_level! {
    /// Triangles of a chunk, in order.
    fn triangles_at = plain body, (r: &Rasterizer, v: &Vertices, chunk: &Assembled, out: &mut Batch)
}

/// Triangles of a chunk, in order.
pub fn triangles(r: &Rasterizer, v: &Vertices, chunk: &Assembled, out: &mut Batch) {
    triangles_at(r.level, r, v, chunk, out)
}

/// What becomes of a triangle, by number.
const FATES: [Event; 6] = [
    PrimsFrustumCulled,
    PrimsSampleCulled,
    PrimsScissorCulled,
    PrimsFaceCulled,
    PrimsBackVisible,
    PrimsFrontVisible,
];

/// Survivors that wait for set-up, by number in the chunk.
struct Group {
    len: usize,
    triangles: [u32; LANES],
}

#[inline(always)]
fn body(r: &Rasterizer, v: &Vertices, chunk: &Assembled, out: &mut Batch) {
    let n = chunk.ids.len();
    let (v0, v1, v2) = (&chunk.v[0][..n], &chunk.v[1][..n], &chunk.v[2][..n]);
    let (x, y, codes) = (&v.x[..], &v.y[..], &v.codes[..]);
    assert!(x.len() >= v.count && y.len() >= v.count && codes.len() >= v.count);
    let raster = &r.state.raster;
    let plain = raster.polygon_mode == vk::PolygonMode::FILL && raster.conservative.is_none();
    let quick = plain && !raster.discard && r.outputs.viewport == 0;
    let inside = r.maps[0].inside;
    let clockwise = raster.front == vk::FrontFace::CLOCKWISE;
    let (cull_front, cull_back) = (r.culls(true), r.culls(false));
    let mut stipple = Stipple::default();
    let mut group = Group { len: 0, triangles: [0; LANES] };
    let mut clipped = 0;
    // By number, as in `FATES`.
    let mut fates = [0u64; 8];
    let mut from = 0;
    while from < n {
        let m = (n - from).min(LANES);
        let mut px = [[0i32; LANES]; 3];
        let mut py = [[0i32; LANES]; 3];
        let mut all = [0u32; LANES];
        let mut any = [0u32; LANES];
        for i in 0..m {
            let t = [v0[from + i] as usize, v1[from + i] as usize, v2[from + i] as usize];
            // SAFETY: assembly numbers the chunk's vertices, all of which have been placed (asserted above).
            unsafe {
                for k in 0..3 {
                    debug_assert!(t[k] < v.count);
                    px[k][i] = *x.get_unchecked(t[k]);
                    py[k][i] = *y.get_unchecked(t[k]);
                }
                let (a, b) = (*codes.get_unchecked(t[0]), *codes.get_unchecked(t[1]));
                let c = *codes.get_unchecked(t[2]);
                all[i] = a & b & c;
                any[i] = a | b | c;
            }
        }
        // Bounds and area of all of them.
        let mut keep = [0u8; LANES];
        let mut fate = [0u8; LANES];
        for i in 0..LANES {
            let [ax, bx, cx] = [px[0][i], px[1][i], px[2][i]];
            let [ay, by, cy] = [py[0][i], py[1][i], py[2][i]];
            let area = (bx.wrapping_sub(ax)) as i64 * (cy.wrapping_sub(ay)) as i64
                - (cx.wrapping_sub(ax)) as i64 * (by.wrapping_sub(ay)) as i64;
            let b = pixels(
                [ax.min(bx).min(cx), ay.min(by).min(cy)],
                [ax.max(bx).max(cx), ay.max(by).max(cy)],
                r.single,
            );
            let seen =
                (b.x0.max(inside.x0) < b.x1.min(inside.x1)) & (b.y0.max(inside.y0) < b.y1.min(inside.y1));
            let front = (area > 0) == clockwise;
            let culled = (front & cull_front) | (!front & cull_back);
            let faces = (area != 0) & !culled;
            keep[i] = (seen & faces) as u8;
            let some = (b.x0 < b.x1) & (b.y0 < b.y1);
            fate[i] = if !faces {
                3
            } else if seen {
                4 + front as u8
            } else {
                1 + some as u8
            };
        }
        for i in 0..m {
            if all[i] & code::REJECT != 0 {
                fates[0] += 1;
                continue;
            }
            if !quick || any[i] & r.cut != 0 {
                flush(r, v, chunk, &mut group, out);
                let t = from + i;
                r.triangle(v, [v0[t], v1[t], v2[t]], chunk.ids[t], &mut stipple, out);
                continue;
            }
            clipped += 1;
            fates[fate[i] as usize & 7] += 1;
            if keep[i] != 0 {
                group.triangles[group.len] = (from + i) as u32;
                group.len += 1;
                if group.len == LANES {
                    flush(r, v, chunk, &mut group, out);
                }
            }
        }
        from += m;
    }
    flush(r, v, chunk, &mut group, out);
    out.counts.events[ClippingPrimitives] += clipped;
    let events = &mut out.counts.events;
    FATES.into_iter().zip(fates).for_each(|(fate, n)| events[fate] += n);
}

/// A value's plane for every triangle of a group.
#[derive(Clone, Copy)]
struct Planes {
    at: [f32; LANES],
    dx: [f32; LANES],
    dy: [f32; LANES],
}

struct Slopes {
    x1: [f64; LANES],
    x2: [f64; LANES],
    y1: [f64; LANES],
    y2: [f64; LANES],
    shift: [[f64; LANES]; 2],
}

impl Slopes {
    #[inline(always)]
    fn planes(&self, f: &[[f64; LANES]; 3]) -> Planes {
        let mut p = Planes { at: [0.0; LANES], dx: [0.0; LANES], dy: [0.0; LANES] };
        for i in 0..LANES {
            let (d1, d2) = (f[1][i] - f[0][i], f[2][i] - f[0][i]);
            let dx = d1 * self.x1[i] - d2 * self.x2[i];
            let dy = d2 * self.y1[i] - d1 * self.y2[i];
            p.at[i] = (f[0][i] + dx * self.shift[0][i] + dy * self.shift[1][i]) as f32;
            p.dx[i] = dx as f32;
            p.dy[i] = dy as f32;
        }
        p
    }
}

/// Makes primitives of a group. The formulas are those of [`super::plane::Gradients`].
#[inline(always)]
fn flush(r: &Rasterizer, v: &Vertices, chunk: &Assembled, group: &mut Group, out: &mut Batch) {
    let n = std::mem::take(&mut group.len);
    if n == 0 {
        return;
    }
    let mut t = [[0usize; LANES]; 3];
    for i in 0..LANES {
        let triangle = group.triangles[i.min(n - 1)] as usize;
        for k in 0..3 {
            t[k][i] = chunk.v[k][triangle] as usize;
        }
    }
    let mut px = [[0i32; LANES]; 3];
    let mut py = [[0i32; LANES]; 3];
    let mut z = [[0f64; LANES]; 3];
    let mut w = [[0f64; LANES]; 3];
    for k in 0..3 {
        for i in 0..LANES {
            // SAFETY: as in `body`; all four have the same length.
            unsafe {
                px[k][i] = *v.x.get_unchecked(t[k][i]);
                py[k][i] = *v.y.get_unchecked(t[k][i]);
                z[k][i] = *v.z.get_unchecked(t[k][i]) as f64;
                w[k][i] = *v.w.get_unchecked(t[k][i]);
            }
        }
    }

    let mut s = Slopes {
        x1: [0.0; LANES],
        x2: [0.0; LANES],
        y1: [0.0; LANES],
        y2: [0.0; LANES],
        shift: [[0.0; LANES]; 2],
    };
    let mut origin = [[0f32; LANES]; 2];
    let mut positive = [false; LANES];
    for i in 0..LANES {
        let (dx1, dy1) = ((px[1][i] - px[0][i]) as f64, (py[1][i] - py[0][i]) as f64);
        let (dx2, dy2) = ((px[2][i] - px[0][i]) as f64, (py[2][i] - py[0][i]) as f64);
        let area = dx1 * dy2 - dx2 * dy1;
        positive[i] = area > 0.0;
        let scale = 256.0 / area;
        s.x1[i] = dy2 * scale;
        s.x2[i] = dy1 * scale;
        s.y1[i] = dx1 * scale;
        s.y2[i] = dx2 * scale;
        let p = [px[0][i] as f64 * (1.0 / 256.0), py[0][i] as f64 * (1.0 / 256.0)];
        for k in 0..2 {
            let o = p[k].clamp(0.0, FURTHEST);
            origin[k][i] = o as f32;
            s.shift[k][i] = o - p[k];
        }
    }
    // Edges as in [`super::raster::edge`], the corners in the order that has the inside at the right hand.
    for i in 0..LANES {
        let (bx, by, cx, cy) = (px[1][i], py[1][i], px[2][i], py[2][i]);
        px[1][i] = if positive[i] { bx } else { cx };
        py[1][i] = if positive[i] { by } else { cy };
        px[2][i] = if positive[i] { cx } else { bx };
        py[2][i] = if positive[i] { cy } else { by };
    }
    let mut ea = [[0i32; LANES]; 3];
    let mut eb = [[0i32; LANES]; 3];
    let mut ec = [[0i64; LANES]; 3];
    for k in 0..3 {
        let j = (k + 1) % 3;
        for i in 0..LANES {
            let (a, b) = (py[k][i] - py[j][i], px[j][i] - px[k][i]);
            let not_top_left = !((a > 0) | ((a == 0) & (b > 0)));
            ea[k][i] = a;
            eb[k][i] = b;
            ec[k][i] = -(a as i64 * px[k][i] as i64 + b as i64 * py[k][i] as i64) - not_top_left as i64;
        }
    }
    let inside = r.maps[0].inside;
    let mut box0 = [[0i32; LANES]; 2];
    let mut box1 = [[0i32; LANES]; 2];
    let low = if r.single { 127 } else { 0 };
    let high = if r.single { 127 } else { 255 };
    for i in 0..LANES {
        // As `pixels`; survivors are within the guard band.
        box0[0][i] = ((px[0][i].min(px[1][i]).min(px[2][i]) + low) >> 8).max(inside.x0);
        box0[1][i] = ((py[0][i].min(py[1][i]).min(py[2][i]) + low) >> 8).max(inside.y0);
        box1[0][i] = ((px[0][i].max(px[1][i]).max(px[2][i]) + high) >> 8).min(inside.x1);
        box1[1][i] = ((py[0][i].max(py[1][i]).max(py[2][i]) + high) >> 8).min(inside.y1);
    }
    let mut zp = s.planes(&z);
    if let Some(bias) = r.bias {
        for i in 0..n {
            let most = z[0][i].abs().max(z[1][i].abs()).max(z[2][i].abs()) as f32;
            let (d1, d2) = (z[1][i] - z[0][i], z[2][i] - z[0][i]);
            let slope = [d1 * s.x1[i] - d2 * s.x2[i], d2 * s.y1[i] - d1 * s.y2[i]];
            zp.at[i] = (zp.at[i] as f64 + bias.offset(slope, most)) as f32;
        }
    }
    let wp = s.planes(&w);

    let varyings = &r.outputs.varyings;
    let first_plane = out.planes.len();
    let count = varyings.len();
    out.planes.reserve(n * count);
    let room = &mut out.planes.spare_capacity_mut()[..n * count];
    for (k, varying) in varyings.iter().enumerate() {
        let column = v.column(varying.column);
        assert!(column.len() >= v.count);
        if varying.flat {
            let vertex = varying.vertex.map_or(r.provoking, |k| k as usize % 3);
            for i in 0..n {
                let bits = column[t[vertex][i]];
                room[i * count + k].write(Plane { at: f32::from_bits(bits), dx: 0.0, dy: 0.0 });
            }
            continue;
        }
        let mut f = [[0f64; LANES]; 3];
        for j in 0..3 {
            for i in 0..LANES {
                // SAFETY: as above.
                f[j][i] = f32::from_bits(unsafe { *column.get_unchecked(t[j][i]) }) as f64;
            }
        }
        if let Some(k) = varying.weight {
            for j in 0..3 {
                f[j] = [(j == k as usize) as u8 as f64; LANES];
            }
        }
        if !varying.no_perspective {
            for j in 0..3 {
                for i in 0..LANES {
                    f[j][i] *= w[j][i];
                }
            }
        }
        let p = s.planes(&f);
        for i in 0..n {
            room[i * count + k].write(Plane { at: p.at[i], dx: p.dx[i], dy: p.dy[i] });
        }
    }
    // SAFETY: every one of them has been written.
    unsafe { out.planes.set_len(first_plane + n * count) };

    let clockwise = r.state.raster.front == vk::FrontFace::CLOCKWISE;
    let layers = v.column(r.outputs.layer);
    out.prims.reserve(n);
    for i in 0..n {
        let layer = match r.view {
            Some(view) => view,
            None => layers[t[r.provoking][i]],
        };
        if layer >= r.layers && r.view.is_none() {
            continue;
        }
        let bounds = Rect { x0: box0[0][i], y0: box0[1][i], x1: box1[0][i], y1: box1[1][i] };
        let used = [t[0][i], t[1][i], t[2][i]];
        let deferred = if COUNTED { out.used.visible(used, bounds, layer as u16) } else { 0 };
        out.prims.push(Prim {
            shape: Shape::Polygon,
            edges: [
                Edge { a: ea[0][i], b: eb[0][i], c: ec[0][i] },
                Edge { a: ea[1][i], b: eb[1][i], c: ec[1][i] },
                Edge { a: ea[2][i], b: eb[2][i], c: ec[2][i] },
                Edge::default(),
            ],
            edge_count: 3,
            front: positive[i] == clockwise,
            viewport: 0,
            bounds: Bounds::new(bounds),
            deferred,
            origin: [origin[0][i], origin[1][i]],
            z: Plane { at: zp.at[i], dx: zp.dx[i], dy: zp.dy[i] },
            w: Plane { at: wp.at[i], dx: wp.dx[i], dy: wp.dy[i] },
            planes: (first_plane + i * count) as u32,
            point: false,
            layer: layer as u16,
            id: chunk.ids[group.triangles[i] as usize],
            grown: 0,
        });
    }
}
