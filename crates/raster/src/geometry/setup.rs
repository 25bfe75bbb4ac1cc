//! Set-up of filled triangles that need no clipping, sixteen at a time.
//!
//! A first pass over all triangles culls; the survivors are gathered in groups of sixteen, whose edges, bounds and
//! planes are computed lane by lane. Primitives of the slow way in between keep their place: they end a group.

// Loops over lanes index several arrays alike, which the compiler makes vectors of.
#![allow(clippy::needless_range_loop)]

use super::Batch;
use super::assembly::Assembled;
use super::batch::put;
use super::line::Stipple;
use super::raster::{Rasterizer, pixels};
use super::vertex::{Varying, Vertices, code};
use crate::prim::{FRONT, FURTHEST, LAYER, Line, Plane, Prim, TRIANGLE, prefetch, word};
use ash::vk;
use bytemuck::cast_ref;
use counters::Event::{self, *};
use shader::cost::COUNTED;
use simd::Simd;
use std::mem::MaybeUninit;
use texel::vector;

/// Triangles of a group.
pub const LANES: usize = 16;

simd::by_level! {
    /// Triangles of a chunk, in order.
    fn triangles_at = body, (r: &Rasterizer, v: &Vertices, chunk: &Assembled, out: &mut Batch)
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
fn body<S: Simd>(s: S, r: &Rasterizer, v: &Vertices, chunk: &Assembled, out: &mut Batch) {
    let n = chunk.ids.len();
    let (v0, v1, v2) = (&chunk.v[0][..n], &chunk.v[1][..n], &chunk.v[2][..n]);
    assert!(v.placed.len() >= v.count && v.w.len() >= v.count);
    let raster = &r.state.raster;
    let plain = raster.polygon_mode == vk::PolygonMode::FILL && raster.conservative.is_none();
    let quick = plain && !raster.discard && r.outputs.viewport == 0;
    let inside = r.maps[0].inside;
    let clockwise = raster.front == vk::FrontFace::CLOCKWISE;
    let (cull_front, cull_back) = (r.culls(true), r.culls(false));
    // Without perspective, which is what most small triangles are drawn in, there is nothing to divide by.
    let flat = v.w[..v.count].iter().fold(0, |odd, w| odd | (w.to_bits() ^ 1f64.to_bits())) == 0;
    let mut stipple = Stipple::default();
    let mut group = Group { len: 0, triangles: [0; LANES] };
    let mut clipped = 0;
    // By number, as in `FATES`.
    let mut fates = [0u64; 8];
    let mut from = 0;
    while from < n {
        let m = (n - from).min(LANES);
        let mut px = [[0u32; LANES]; 3];
        let mut py = [[0u32; LANES]; 3];
        let mut all = [!0u32; LANES];
        let mut any = [0u32; LANES];
        for k in 0..3 {
            let own = &[v0, v1, v2][k][from..from + m];
            let mut t = [0u32; LANES];
            match own.first_chunk() {
                Some(all) => t = *all,
                None => t[..m].copy_from_slice(own),
            }
            // SAFETY: assembly numbers the chunk's vertices, all of which have been placed (asserted above).
            let [x, y, _, codes] = unsafe { gather(s, &v.placed, &t) };
            vector::store(s, &mut px[k], x);
            vector::store(s, &mut py[k], y);
            let (before, own) = (vector::load(s, &all), vector::load(s, &any));
            vector::store(s, &mut all, s.iand(before, codes));
            vector::store(s, &mut any, s.ior(own, codes));
        }
        // Bounds and area of all of them.
        let mut keep = [0u8; LANES];
        let mut fate = [0u8; LANES];
        for i in 0..LANES {
            let [ax, bx, cx] = [px[0][i] as i32, px[1][i] as i32, px[2][i] as i32];
            let [ay, by, cy] = [py[0][i] as i32, py[1][i] as i32, py[2][i] as i32];
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
        let mut odd = 0;
        for i in 0..LANES {
            odd |= if i < m { all[i] & code::REJECT | any[i] & r.cut } else { 0 };
        }
        if quick && odd == 0 {
            // All of them the quick way.
            clipped += m as u64;
            let (mut numbers, mut kept) = ([0u8; 6], 0u32);
            for i in 0..LANES {
                let here = i < m;
                for c in 1..6 {
                    numbers[c] += (here & (fate[i] == c as u8)) as u8;
                }
                kept |= ((here & (keep[i] != 0)) as u32) << i;
            }
            for c in 1..6 {
                fates[c] += numbers[c] as u64;
            }
            while kept != 0 {
                group.triangles[group.len % LANES] = from as u32 + kept.trailing_zeros();
                kept &= kept - 1;
                group.len += 1;
                if group.len == LANES {
                    flush(s, r, v, chunk, flat, &mut group, out);
                }
            }
            from += m;
            continue;
        }
        for i in 0..m {
            if all[i] & code::REJECT != 0 {
                fates[0] += 1;
                continue;
            }
            if !quick || any[i] & r.cut != 0 {
                flush(s, r, v, chunk, flat, &mut group, out);
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
                    flush(s, r, v, chunk, flat, &mut group, out);
                }
            }
        }
        from += m;
    }
    flush(s, r, v, chunk, flat, &mut group, out);
    if out.streams {
        simd::streamed();
    }
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

impl Planes {
    const ZERO: Planes = Planes { at: [0.0; LANES], dx: [0.0; LANES], dy: [0.0; LANES] };
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
        let mut p = Planes::ZERO;
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

    /// The planes of what is 1 at all vertices: as [`Self::planes`] has it, zeros' signs too.
    #[inline(always)]
    fn one(&self) -> Planes {
        let mut p = Planes { at: [1.0; LANES], ..Planes::ZERO };
        for i in 0..LANES {
            p.dx[i] = (0.0 * self.x1[i] - 0.0 * self.x2[i]) as f32;
            p.dy[i] = (0.0 * self.y2[i] - 0.0 * self.y1[i]) as f32;
        }
        p
    }
}

/// Makes primitives of a group. The formulas are those of [`super::plane::Gradients`]. `flat`: 1/w is 1 everywhere.
#[inline(always)]
fn flush<S: Simd>(
    machine: S,
    r: &Rasterizer,
    v: &Vertices,
    chunk: &Assembled,
    flat: bool,
    group: &mut Group,
    out: &mut Batch,
) {
    let n = std::mem::take(&mut group.len);
    if n == 0 {
        return;
    }
    let mut t = [[0u32; LANES]; 3];
    let mut ids = [0u32; LANES];
    let first = group.triangles[0] as usize;
    // They come in their order.
    if n == LANES && group.triangles[LANES - 1] as usize == first + LANES - 1 {
        for k in 0..3 {
            t[k].copy_from_slice(&chunk.v[k][first..first + LANES]);
        }
        ids.copy_from_slice(&chunk.ids[first..first + LANES]);
    } else {
        for i in 0..LANES {
            let triangle = group.triangles[i.min(n - 1)] as usize;
            for k in 0..3 {
                t[k][i] = chunk.v[k][triangle];
            }
            ids[i] = chunk.ids[triangle];
        }
    }
    let mut px = [[0i32; LANES]; 3];
    let mut py = [[0i32; LANES]; 3];
    let mut z = [[0f64; LANES]; 3];
    let mut w = [[1f64; LANES]; 3];
    for k in 0..3 {
        // SAFETY: as in `body`.
        let [x, y, depth, _] = unsafe { gather(machine, &v.placed, &t[k]) };
        let words = |a: &mut [i32; LANES], v: S::I| vector::store(machine, bytemuck::cast_mut(a), v);
        words(&mut px[k], x);
        words(&mut py[k], y);
        let mut own = [0f32; LANES];
        vector::store_floats(machine, &mut own, machine.from_bits(depth));
        for i in 0..LANES {
            z[k][i] = own[i] as f64;
        }
        if !flat {
            for i in 0..LANES {
                // SAFETY: as above; each has its 1/w.
                w[k][i] = unsafe { *v.w.get_unchecked(t[k][i] as usize) };
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
            s.shift[k][i] = o - p[k];
        }
    }
    // The corners in the order that has the inside at the right hand.
    for i in 0..LANES {
        let (bx, by, cx, cy) = (px[1][i], py[1][i], px[2][i], py[2][i]);
        px[1][i] = if positive[i] { bx } else { cx };
        py[1][i] = if positive[i] { by } else { cy };
        px[2][i] = if positive[i] { cx } else { bx };
        py[2][i] = if positive[i] { cy } else { by };
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
    let wp = if flat { s.one() } else { s.planes(&w) };

    let first_plane = out.planes.len();
    let (varyings, ahead) = (&r.outputs.varyings, r.outputs.ids as usize);
    let count = ahead + varyings.len();
    if !out.fits(n, LANES * count, 0, 0) {
        return;
    }
    let streams = out.streams;
    // Where the next group goes: stores to lines that are not there yet would wait for them one by one.
    let ask = |next: *const Line, bytes: usize| {
        (0..bytes.div_ceil(size_of::<Line>())).for_each(|i| prefetch(next.wrapping_add(i)));
    };
    if !streams {
        ask(out.prims.as_ptr().wrapping_add(out.prims.len() + n).cast(), LANES * size_of::<Prim>());
    }
    if !streams || count > NEAR {
        let next = out.planes.as_ptr().wrapping_add(first_plane + n * count);
        ask(next.cast(), LANES * count * size_of::<Plane>());
    }
    // Memory is written in its order: what is put together of vectors lies in between, if it is not too much for that.
    let mut near = Near([const { MaybeUninit::uninit() }; LANES * NEAR * 3]);
    // SAFETY: room for the planes of a whole group.
    let far = unsafe { out.planes.as_mut_ptr().add(first_plane) };
    let to = if count <= NEAR { near.0.as_mut_ptr().cast::<Plane>() } else { far };
    if r.outputs.ids {
        for i in 0..n {
            // SAFETY: a primitive's planes, of the room above.
            unsafe { to.add(i * count).write(Plane { at: f32::from_bits(ids[i]), dx: 0.0, dy: 0.0 }) };
        }
    }
    for (k, four) in varyings.chunks(4).enumerate() {
        let mut own = [Planes::ZERO; 4];
        let varied = v.four(k);
        assert!(varied.len() >= v.count);
        // By varying, of each vertex.
        let mut values = [[[0f32; LANES]; 3]; 4];
        for j in 0..3 {
            // SAFETY: as in `body`.
            let columns = unsafe { gather(machine, varied, &t[j]) };
            for (values, column) in values.iter_mut().zip(columns) {
                vector::store_floats(machine, &mut values[j], machine.from_bits(column));
            }
        }
        for ((own, varying), values) in own.iter_mut().zip(four).zip(&values) {
            *own = of_varying(r, values, (!flat).then_some(&w), &s, varying);
        }
        if four.len() == 4 {
            let [a, b, c, d] = &own;
            let words =
                [[&a.at, &a.dx, &a.dy, &b.at], [&b.dx, &b.dy, &c.at, &c.dx], [&c.dy, &d.at, &d.dx, &d.dy]];
            for g in 0..3 {
                let [p, q, r, s] = words[g];
                let words = [cast_ref(p), cast_ref(q), cast_ref(r), cast_ref(s)];
                let to = to.wrapping_add(ahead + 4 * k).cast::<u8>().wrapping_add(16 * g);
                // SAFETY: four planes of each primitive, of the room above.
                unsafe { self::four(machine, words, to, count * size_of::<Plane>()) };
            }
            continue;
        }
        for i in 0..n {
            for j in 0..four.len() {
                let plane = Plane { at: own[j].at[i], dx: own[j].dx[i], dy: own[j].dy[i] };
                // SAFETY: as above.
                unsafe { to.add(i * count + ahead + 4 * k + j).write(plane) };
            }
        }
    }
    // SAFETY: every one of them has been written, there or near.
    unsafe {
        if count <= NEAR {
            put(streams, to, far, n * count);
        }
        out.planes.set_len(first_plane + n * count);
    }

    let clockwise = r.state.raster.front == vk::FrontFace::CLOCKWISE;
    let mut layers = [r.layer(0); LANES];
    if r.outputs.layer > 0 {
        let written = v.column(r.outputs.layer);
        for i in 0..n {
            layers[i] = r.layer(written[t[r.provoking][i] as usize]);
        }
    }
    let mut kinds = [0u32; LANES];
    for i in 0..LANES {
        kinds[i] = TRIANGLE | ((positive[i] == clockwise) as u32) << FRONT | layers[i] << LAYER;
    }
    if COUNTED {
        out.used.triangles(&t, n, [&box0, &box1], &layers, &mut kinds);
    }
    let [mut low, mut high, mut planes] = [[0u32; LANES]; 3];
    for i in 0..LANES {
        // As `Bounds::new`.
        let x = [box0[0][i].clamp(0, MOST) as u32, box1[0][i].clamp(0, MOST) as u32];
        let y = [box0[1][i].clamp(0, MOST) as u32, box1[1][i].clamp(0, MOST) as u32];
        low[i] = x[0] | y[0] << 16;
        high[i] = x[1] | y[1] << 16;
        planes[i] = (first_plane + i * count + ahead) as u32;
    }
    let mut near = Near([const { MaybeUninit::uninit() }; LANES * Prim::WORDS]);
    near.words(machine, word::BOUNDS, [&low, &high, &kinds, &planes]);
    let mut corners = [[[0f32; LANES]; 2]; 3];
    for k in 0..3 {
        for i in 0..LANES {
            corners[k][0][i] = px[k][i] as f32 * (1.0 / 256.0);
            corners[k][1][i] = py[k][i] as f32 * (1.0 / 256.0);
        }
    }
    let [[ax, ay], [bx, by], [cx, cy]] = corners.each_ref().map(|c| c.each_ref().map(cast_ref));
    near.words(machine, word::CORNERS, [ax, ay, bx, by]);
    near.words(machine, word::CORNERS + 4, [cx, cy, cast_ref(&zp.at), cast_ref(&zp.dx)]);
    let [at, dx, dy] = [cast_ref(&wp.at), cast_ref(&wp.dx), cast_ref(&wp.dy)];
    near.words(machine, word::Z + 2, [cast_ref(&zp.dy), at, dx, dy]);
    let before = out.prims.len();
    // SAFETY: the words are primitives'; there is room for them.
    unsafe {
        put(streams, near.0.as_ptr().cast::<Prim>(), out.prims.as_mut_ptr().add(before), n);
        out.prims.set_len(before + n);
    }
}

// Fours of words, as they are written.
const _: () = assert!(
    word::KIND == word::BOUNDS + 2
        && word::PLANES == word::BOUNDS + 3
        && word::CORNERS == word::BOUNDS + 4
        && word::Z == word::CORNERS + 6
        && word::W == word::Z + 3
        && Prim::WORDS == word::W + 3
);

/// Planes of a primitive that are put together before they are written.
const NEAR: usize = 8;

/// Words, aligned as primitives are.
#[repr(C, align(64))]
struct Near<const N: usize>([MaybeUninit<u32>; N]);

impl Near<{ LANES * Prim::WORDS }> {
    /// Writes four words of each primitive, from `first` on.
    #[inline(always)]
    fn words<S: Simd>(&mut self, s: S, first: usize, words: [&[u32; LANES]; 4]) {
        debug_assert!(first.is_multiple_of(4) && first < Prim::WORDS);
        let to = self.0.as_mut_ptr().wrapping_add(first).cast();
        // SAFETY: they are a row's, which has as many.
        unsafe { four(s, words, to, size_of::<Prim>()) };
    }
}

/// Greatest coordinate of [`crate::prim::Bounds`].
const MOST: i32 = i16::MAX as i32;

/// The planes of an input whose values the group's vertices have; `w`: 1/w of these, where it is not always 1.
#[inline(always)]
fn of_varying(
    r: &Rasterizer,
    values: &[[f32; LANES]; 3],
    w: Option<&[[f64; LANES]; 3]>,
    s: &Slopes,
    varying: &Varying,
) -> Planes {
    if varying.flat {
        let vertex = varying.vertex.map_or(r.provoking, |k| k as usize % 3);
        return Planes { at: values[vertex], ..Planes::ZERO };
    }
    let mut f = [[0f64; LANES]; 3];
    for j in 0..3 {
        for i in 0..LANES {
            f[j][i] = values[j][i] as f64;
        }
    }
    if let Some(k) = varying.weight {
        for j in 0..3 {
            f[j] = [(j == k as usize) as u8 as f64; LANES];
        }
    }
    if let Some(w) = w.filter(|_| !varying.no_perspective) {
        for j in 0..3 {
            for i in 0..LANES {
                f[j][i] *= w[j][i];
            }
        }
    }
    s.planes(&f)
}

/// Four words of each row of an index, as vectors.
///
/// # Safety
/// There are these rows.
#[inline(always)]
unsafe fn gather<S: Simd>(s: S, rows: &[[u32; 4]], index: &[u32; LANES]) -> [S::I; 4] {
    let mut lanes = [s.isplat(0); 4];
    for k in 0..4 {
        let mut at = [rows.as_ptr(); 4];
        for q in 0..4 {
            debug_assert!((index[4 * q + k] as usize) < rows.len());
            at[q] = at[q].wrapping_add(index[4 * q + k] as usize);
        }
        let [a, b, c, d] = at;
        // SAFETY: rows of four words, says the caller, which are only read.
        lanes[k] = unsafe {
            s.iload4([a.cast_mut().cast(), b.cast_mut().cast(), c.cast_mut().cast(), d.cast_mut().cast()])
        };
    }
    s.itranspose4(lanes)
}

/// Writes four words of each of sixteen rows, `step` bytes from one to the next; `words` by word.
///
/// # Safety
/// There is room for the rows.
#[inline(always)]
unsafe fn four<S: Simd>(s: S, words: [&[u32; LANES]; 4], to: *mut u8, step: usize) {
    let mut lanes = [s.isplat(0); 4];
    for k in 0..4 {
        lanes[k] = vector::load(s, words[k]);
    }
    let rows = s.itranspose4(lanes);
    for k in 0..4 {
        let mut at = [to; 4];
        for q in 0..4 {
            at[q] = to.wrapping_add((4 * q + k) * step);
        }
        // SAFETY: the caller's room.
        unsafe { s.istore4(at, rows[k]) };
    }
}
