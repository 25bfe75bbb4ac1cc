//! From assembled primitives to [`Prim`]s: who is culled, clipped, and which set-up it takes.

use super::assembly::{Assembled, TopologyClass};
use super::clip::{Corner, Polygon};
use super::line::{Segment, Stipple};
use super::plane::{Bias, Gradients, Placed, varyings};
use super::vertex::{ClipZ, Outputs, Vertices, code};
use super::viewport::{Map, snap};
use super::{Batch, GeometryContext, Prepared};
use crate::prim::{Bounds, Form, Plane, Prim, Shape, Side};
use crate::record::mesh::MeshOut;
use crate::state::{Rect, State};
use ash::vk;
use counters::Event::*;
use parking_lot::Mutex;
use shader::interface::SHADING_RATE;

/// What rasterisation needs to know of a draw.
pub struct Rasterizer<'a> {
    pub level: simd::Level,
    pub state: &'a State,
    pub outputs: &'a Outputs,
    pub maps: &'a [Map],
    pub layers: u32,
    pub view: Option<u32>,
    pub bias: Option<Bias>,
    pub clip_z: ClipZ,
    pub kind: TopologyClass,
    /// Which of a primitive's vertices is the provoking one.
    pub provoking: usize,
    /// Codes that ask for clipping.
    pub cut: u32,
    /// One sample, at the pixel's centre.
    pub single: bool,
    /// Of a recorded draw.
    record: Option<&'a Mutex<MeshOut>>,
}

/// A primitive on its way: its vertices and what they say together.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Lines and points repeat their last one.
    pub vertices: [u32; 3],
    pub provoking: u32,
    pub id: u32,
    pub layer: u32,
    pub viewport: u32,
}

impl<'a> Rasterizer<'a> {
    pub fn new(
        ctx: &GeometryContext<'a>,
        state: &'a State,
        outputs: &'a Outputs,
        kind: TopologyClass,
        provoking: usize,
    ) -> Rasterizer<'a> {
        let (level, layers, view) = (ctx.shared.level, ctx.layers, ctx.view);
        let Prepared { maps, bias, .. } = ctx.prepared;
        let clip_z = match (state.raster.depth_clip, state.depth_negative_one_to_one) {
            (false, _) => ClipZ::None,
            (true, false) => ClipZ::Zero,
            (true, true) => ClipZ::Minus,
        };
        let cut = code::CUT | if maps.iter().any(|m| m.clip_xy) { code::XY } else { 0 };
        let single = state.samples.count <= 1;
        Rasterizer {
            level,
            state,
            outputs,
            maps,
            layers,
            view,
            bias: *bias,
            clip_z,
            kind,
            provoking,
            cut,
            single,
            record: ctx.record,
        }
    }

    /// Rasterises a chunk's primitives in order.
    pub fn chunk(&self, v: &Vertices, chunk: &Assembled, stipple: &mut Stipple, out: &mut Batch) {
        let n = chunk.ids.len();
        out.counts.events[ClippingInvocations] += n as u64;
        if let Some(to) = self.record {
            self.note(&mut to.lock(), v, chunk);
        }
        if self.maps.is_empty() {
            return;
        }
        let lists = self.lists();
        out.expect(n, lists);
        if !out.fits(n, n * lists[0], 0, n * lists[1]) {
            return;
        }
        match self.kind {
            TopologyClass::Triangle => super::setup::triangles(self, v, chunk, out),
            TopologyClass::Line => {
                for i in 0..n {
                    let (a, b) = (chunk.v[0][i], chunk.v[1][i]);
                    if chunk.starts.get(i).copied().unwrap_or(true) {
                        stipple.reset();
                    }
                    self.line(v, [a, b, b], chunk.ids[i], stipple, out);
                }
            }
            TopologyClass::Point => {
                if super::points::points(self, v, chunk, out) {
                    return;
                }
                for i in 0..n {
                    let a = chunk.v[0][i];
                    self.point(v, [a; 3], chunk.ids[i], out);
                }
            }
        }
    }

    /// Keeps a chunk's vertices and primitives.
    #[cold]
    fn note(&self, to: &mut MeshOut, v: &Vertices, chunk: &Assembled) {
        let n = chunk.ids.len();
        let corners = match self.kind {
            TopologyClass::Point => 1,
            TopologyClass::Line => 2,
            TopologyClass::Triangle => 3,
        };
        to.corners = corners;
        if !to.has_room(v.count, n) {
            return;
        }
        let varyings = self.outputs.varyings.iter().filter(|o| o.slot != SHADING_RATE);
        let varyings = varyings.map(|o| (o.slot, v.column(o.column)[..v.count].to_vec()));
        let corner = |k: usize, i: usize| chunk.v[k].get(i).copied().unwrap_or(0);
        let primitives = (0..n).map(|i| {
            let own = [0, 1, 2].map(|k| if k < corners { corner(k, i) } else { 0 });
            (own, chunk.ids[i])
        });
        to.add((0..v.count).map(|i| v.position(self.outputs, i)), varyings, primitives);
    }

    /// Planes of a primitive, at most, and edges: what is no triangle has these in a list.
    pub fn lists(&self) -> [usize; 2] {
        let r = &self.state.raster;
        let triangles = self.kind == TopologyClass::Triangle && r.polygon_mode == vk::PolygonMode::FILL;
        [self.outputs.planes(), if triangles && r.conservative.is_none() { 0 } else { 4 }]
    }

    /// Where a primitive goes that says this layer. Beyond the framebuffer's layers (undefined in Vulkan) it is the last one, as for GPUs
    /// and lavapipe: OpenGL's framebuffers that are not layered have one, whatever gl_Layer says.
    pub fn layer(&self, said: u32) -> u32 {
        self.view.unwrap_or(said.min(self.layers.saturating_sub(1)))
    }

    /// The primitive of these vertices.
    pub fn source(&self, v: &Vertices, vertices: [u32; 3], id: u32) -> Source {
        let provoking = vertices[self.provoking];
        let of = |c: usize| v.column(c)[provoking as usize];
        let viewport = of(self.outputs.viewport);
        let viewport = if (viewport as usize) < self.maps.len() { viewport } else { 0 };
        Source { vertices, provoking, id, layer: self.layer(of(self.outputs.layer)), viewport }
    }

    /// A corner of a clipped primitive in the framebuffer; `None` if it isn't anywhere.
    pub fn place(&self, s: &Source, v: &Vertices, c: &Corner) -> Option<Placed> {
        let clip = c.clip();
        let window = self.maps[s.viewport as usize].window(clip);
        if !window.iter().all(|c| c.is_finite()) {
            return None;
        }
        let w = 1.0 / clip[3] as f64;
        // A vertex's share in the framebuffer goes with its w.
        let own = s.vertices.map(|i| v.float(self.outputs.position[3], i as usize) as f64);
        let linear = match c.own {
            Some(_) => c.weights,
            None => std::array::from_fn(|i| c.weights[i] * own[i] * w),
        };
        Some(Placed { x: snap(window[0]), y: snap(window[1]), window, w, weights: c.weights, linear })
    }

    /// The primitive's own vertex `k` in the framebuffer: as [`Self::place`] of its corner.
    fn place_own(&self, s: &Source, v: &Vertices, k: usize) -> Option<Placed> {
        let clip = v.position(self.outputs, s.vertices[k] as usize);
        let window = self.maps[s.viewport as usize].window(clip);
        if !window.iter().all(|c| c.is_finite()) {
            return None;
        }
        let mut weights = [0.0; 3];
        weights[k] = 1.0;
        let (x, y) = (snap(window[0]), snap(window[1]));
        Some(Placed { x, y, window, w: 1.0 / clip[3] as f64, weights, linear: weights })
    }

    /// A triangle that needs more than the quick way: clipping, another viewport, or edges or corners drawn.
    pub fn triangle(
        &self,
        v: &Vertices,
        vertices: [u32; 3],
        id: u32,
        stipple: &mut Stipple,
        out: &mut Batch,
    ) {
        let codes = vertices.map(|i| v.codes[i as usize]);
        let any = codes[0] | codes[1] | codes[2];
        let events = &mut out.counts.events;
        if codes[0] & codes[1] & codes[2] & code::REJECT != 0 || any & code::NAN != 0 {
            events[PrimsFrustumCulled] += 1;
            return;
        }
        let source = self.source(v, vertices, id);
        let map = &self.maps[source.viewport as usize];
        let mut polygon = Polygon::new(v, self.outputs, &vertices);
        // The vertices may have been placed in another viewport: be prepared for anything.
        let guard = if self.outputs.viewport > 0 { code::GUARD } else { 0 };
        if (any | guard) & self.cut != 0 {
            polygon.clip(any | guard, self.clip_z, map);
        }
        let corners = polygon.corners();
        if corners.is_empty() {
            events[PrimsFrustumCulled] += 1;
            return;
        }
        out.counts.events[ClippingPrimitives] += 1;
        if self.state.raster.discard {
            return;
        }
        let events = &mut out.counts.events;
        let first = self.place(&source, v, &corners[0]);
        let mut placed = [first.unwrap_or_default(); 24];
        for (p, c) in placed.iter_mut().zip(corners) {
            match self.place(&source, v, c) {
                Some(at) => *p = at,
                None => {
                    events[PrimsFrustumCulled] += 1;
                    return;
                }
            }
        }
        let placed = &placed[..corners.len()];
        // The largest triangle of the fan gives planes for all of them.
        let (mut area, mut largest, mut planes_of) = (0i64, 0i64, 1);
        for i in 1..placed.len() - 1 {
            let a = area_of(&placed[0], &placed[i], &placed[i + 1]);
            area += a;
            if a.abs() > largest {
                (largest, planes_of) = (a.abs(), i);
            }
        }
        let front = self.is_front(area);
        let fill = self.state.raster.polygon_mode == vk::PolygonMode::FILL;
        if self.culls(front) || fill && largest == 0 {
            events[PrimsFaceCulled] += 1;
            return;
        }
        if !fill {
            vertices.iter().for_each(|i| out.used.mark(*i as usize));
            events[if front { PrimsFrontVisible } else { PrimsBackVisible }] += 1;
        }
        let base = [&placed[0], &placed[planes_of], &placed[planes_of + 1]];
        let g = if largest > 0 { Gradients::triangle(base) } else { Gradients::point(&placed[0]) };
        let z = base.map(|p| p.window[2] as f64);
        let bias = self.bias.map_or(0.0, |b| {
            let most = placed.iter().map(|p| p.window[2].abs()).fold(0.0, f32::max);
            b.offset(g.slope(z), most)
        });
        match self.state.raster.polygon_mode {
            vk::PolygonMode::LINE => {
                stipple.reset();
                for (i, _) in corners.iter().enumerate().filter(|(_, c)| c.edge) {
                    let ends = [&placed[i], &placed[(i + 1) % placed.len()]];
                    self.segment(v, &source, Segment { ends, front, bias }, stipple, out);
                }
            }
            vk::PolygonMode::POINT => {
                for (p, _) in placed.iter().zip(corners).filter(|(_, c)| c.own.is_some()) {
                    self.square(v, &source, p, front, bias, out);
                }
            }
            _ => {
                let mut zp = g.plane(z);
                zp.at = (zp.at as f64 + bias) as f32;
                let w = g.plane(base.map(|p| p.w));
                if !out.fits(placed.len(), self.outputs.planes(), 0, 0) {
                    return;
                }
                let (planes, before_planes) = (self.outputs.first(&out.planes), out.planes.len());
                varyings(self.outputs, v, &source, base, &g, &mut out.planes);
                let before = out.prims.len();
                if let Some(grow) = self.grow() {
                    let blank = Prim { z: zp, w, planes, ..self.blank(&source, front, &g) };
                    let mut corners = [[0; 2]; 24];
                    corners.iter_mut().zip(placed).for_each(|(c, p)| *c = [p.x, p.y]);
                    grow.polygon(&corners[..placed.len()], &blank, &map.inside, out);
                }
                let fan = if self.state.raster.conservative.is_some() { 1 } else { placed.len() - 1 };
                for i in 1..fan {
                    let t = [&placed[0], &placed[i], &placed[i + 1]];
                    let xy = t.map(|p| [p.x, p.y]);
                    let Some((corners, bounds)) = self.fan(xy, &map.inside) else { continue };
                    let prim = Prim {
                        corners: corners.map(pixels_of),
                        form: Form::new(Shape::Polygon, 3),
                        bounds: Bounds::new(bounds),
                        z: zp,
                        w,
                        planes,
                        ..self.blank(&source, front, &g)
                    };
                    out.prims.push(prim);
                }
                if out.prims.len() > before {
                    out.visible(before, &vertices);
                    out.counts.events[if front { PrimsFrontVisible } else { PrimsBackVisible }] += 1;
                } else {
                    out.planes.truncate(before_planes);
                    let xy = |k: usize, f: fn(i32, i32) -> i32| {
                        placed.iter().map(|p| if k == 0 { p.x } else { p.y }).reduce(f).unwrap_or(0)
                    };
                    let all = pixels(
                        [xy(0, i32::min), xy(1, i32::min)],
                        [xy(0, i32::max), xy(1, i32::max)],
                        self.single,
                    );
                    out.counts.events[if all.is_empty() { PrimsSampleCulled } else { PrimsScissorCulled }] +=
                        1;
                }
            }
        }
    }

    /// Corners in the order that has the inside at the right hand, the first one where it is, and bounds of a triangle; `None` if it
    /// covers nothing.
    fn fan(&self, mut t: [[i32; 2]; 3], within: &Rect) -> Option<([[i32; 2]; 3], Rect)> {
        let [a, b, c] = t;
        let area = (b[0] - a[0]) as i64 * (c[1] - a[1]) as i64 - (c[0] - a[0]) as i64 * (b[1] - a[1]) as i64;
        if area == 0 {
            return None;
        }
        if area < 0 {
            t.swap(1, 2);
        }
        let min = |k: usize| a[k].min(b[k]).min(c[k]);
        let max = |k: usize| a[k].max(b[k]).max(c[k]);
        let bounds = pixels([min(0), min(1)], [max(0), max(1)], self.single).intersect(within);
        (!bounds.is_empty()).then_some((t, bounds))
    }

    /// `area`: twice the signed area in sub-pixels, y downward.
    #[inline(always)]
    pub fn is_front(&self, area: i64) -> bool {
        if self.state.raster.front == vk::FrontFace::CLOCKWISE { area > 0 } else { area < 0 }
    }
    #[inline(always)]
    pub fn culls(&self, front: bool) -> bool {
        let which = if front { vk::CullModeFlags::FRONT } else { vk::CullModeFlags::BACK };
        self.state.raster.cull.contains(which)
    }

    /// A primitive with what it has from its source; its planes are by `g`.
    pub fn blank(&self, s: &Source, front: bool, g: &Gradients) -> Prim {
        Prim {
            form: Form::new(Shape::Polygon, 4),
            side: Side::new(s.viewport, false, front),
            layer: s.layer as u16,
            bounds: Bounds::default(),
            corners: [pixels_of(g.first), [0.0; 2], [0.0; 2]],
            z: Plane::default(),
            w: Plane::default(),
            planes: 0,
        }
    }

    /// A line primitive: clipped, then drawn.
    fn line(&self, v: &Vertices, vertices: [u32; 3], id: u32, stipple: &mut Stipple, out: &mut Batch) {
        let codes = [v.codes[vertices[0] as usize], v.codes[vertices[1] as usize]];
        let any = codes[0] | codes[1];
        let events = &mut out.counts.events;
        if codes[0] & codes[1] & code::REJECT != 0 || any & code::NAN != 0 {
            events[PrimsFrustumCulled] += 1;
            return;
        }
        let source = self.source(v, vertices, id);
        let guard = if self.outputs.viewport > 0 { code::GUARD } else { 0 };
        let placed = if (any | guard) & self.cut != 0 {
            let mut ends = Polygon::new(v, self.outputs, &vertices[..2]);
            ends.clip(any | guard, self.clip_z, &self.maps[source.viewport as usize]);
            let [a, b] = ends.corners() else {
                events[PrimsFrustumCulled] += 1;
                return;
            };
            [a, b].map(|c| self.place(&source, v, c))
        } else {
            [0, 1].map(|k| self.place_own(&source, v, k))
        };
        out.counts.events[ClippingPrimitives] += 1;
        if self.state.raster.discard {
            return;
        }
        let before = out.prims.len();
        if let [Some(a), Some(b)] = placed {
            let ends = [&a, &b];
            self.segment(v, &source, Segment { ends, front: true, bias: 0.0 }, stipple, out);
        }
        seen(out, before, &vertices[..2]);
    }

    /// A point primitive: drawn whole if its centre is inside the clip volume.
    fn point(&self, v: &Vertices, vertices: [u32; 3], id: u32, out: &mut Batch) {
        let codes = v.codes[vertices[0] as usize];
        let events = &mut out.counts.events;
        if codes & (code::REJECT | code::NAN | code::GUARD) != 0 {
            events[PrimsFrustumCulled] += 1;
            return;
        }
        let source = self.source(v, vertices, id);
        out.counts.events[ClippingPrimitives] += 1;
        if self.state.raster.discard {
            return;
        }
        let before = out.prims.len();
        if let Some(p) = self.place_own(&source, v, 0) {
            self.square(v, &source, &p, true, 0.0, out);
        }
        seen(out, before, &vertices[..1]);
    }
}

/// A line or point that left something to draw is visible; else it lies outside scissor and area.
fn seen(out: &mut Batch, before: usize, vertices: &[u32]) {
    if out.prims.len() > before {
        out.visible(before, vertices);
    }
    let events = &mut out.counts.events;
    events[if out.prims.len() > before { PrimsVisible } else { PrimsScissorCulled }] += 1;
}

/// Twice the signed area in sub-pixels.
fn area_of(a: &Placed, b: &Placed, c: &Placed) -> i64 {
    (b.x - a.x) as i64 * (c.y - a.y) as i64 - (c.x - a.x) as i64 * (b.y - a.y) as i64
}

/// Sub-pixels in pixels, as [`Prim::corners`] has them.
#[inline(always)]
pub fn pixels_of(corner: [i32; 2]) -> [f32; 2] {
    corner.map(|c| c as f32 * (1.0 / 256.0))
}

/// Pixels that may have a sample between two corners, in sub-pixels. One at the greatest coordinate belongs to nobody's
/// left or top edge.
#[inline(always)]
pub fn pixels(min: [i32; 2], max: [i32; 2], single: bool) -> Rect {
    let (low, high) = if single { (127, 127) } else { (0, 255) };
    Rect {
        x0: min[0].saturating_add(low) >> 8,
        y0: min[1].saturating_add(low) >> 8,
        x1: max[0].saturating_add(high) >> 8,
        y1: max[1].saturating_add(high) >> 8,
    }
}
