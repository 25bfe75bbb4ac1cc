//! Random draws of every kind that takes a path of its own through a tile.

use crate::draw::{Call, Draw, Kept, What};
use crate::geometry::Batch;
use crate::geometry::bin::{COVERS, LARGE};
use crate::geometry::tests::plain;
use crate::layout::{TILE, sample_locations};
use crate::pass::Subpass;
use crate::prim::{Bounds, Edge, Form, Plane, Prim, Shape, Side};
use crate::state::{
    Advanced, Blend, BlendAttachment, Depth, GraphicsPipeline, Rect, State, StencilFace, VertexInput,
};
use crate::tile::item::Item;
use crate::tile::item::plan::Plan;
use crate::tile::memory::plane::{Plane as Stored, PlaneKind};
use crate::tile::memory::target::{Target, Targets};
use ash::vk;
use shader::interface::{At, DepthMode, FRAG_DEPTH, SAMPLE_MASK, Varying};
use shader::ir::{Input, Stage};
use smallvec::SmallVec;
use std::sync::Arc;
use texel::format::{FormatInfo, info};

/// Pixels along a tile's side.
pub const SIDE: usize = TILE as usize;

/// Which inputs a fragment program hands on as its colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inputs {
    /// Four varyings one after the other.
    Varyings,
    /// What comes from planes and places, of every kind.
    OfPlanes,
    /// One that comes from elsewhere among them.
    Others,
}

impl Inputs {
    pub fn outputs(self) -> [Input; 4] {
        use Input::*;
        match self {
            Inputs::Varyings => [Varying(0), Varying(1), Varying(2), Varying(3)],
            Inputs::OfPlanes => [Varying(4), FragCoord(2), Varying(1), FragCoord(3)],
            Inputs::Others => [Varying(0), FragCoord(1), Layer, Varying(3)],
        }
    }
}

/// What the attachments of a pass are, and the kind of a draw.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub format: vk::Format,
    pub samples: u32,
    /// Lanes of a fragment wave.
    pub lanes: u32,
    pub inputs: Inputs,
    pub perspective: bool,
    /// Depths of sixteen bits, else floats.
    pub depth16: bool,
    /// Comparison, and whether depth is written.
    pub depth: Option<(vk::CompareOp, bool)>,
    pub stencil: bool,
    /// Adds to what is there.
    pub blend: bool,
    pub per_sample: bool,
    pub alpha_to_coverage: bool,
    pub alpha_to_one: bool,
    /// The program writes depth, or a mask of samples.
    pub depth_out: Option<Input>,
    pub mask_out: Option<Input>,
    /// A query counts samples; somebody looks at counters.
    pub counted: bool,
    pub observed: bool,
}

impl Case {
    pub fn format(&self) -> &'static FormatInfo {
        info(self.format).unwrap()
    }
    pub fn depth_scale(&self) -> f32 {
        if self.depth16 { 65535.0 } else { 0.0 }
    }
    pub fn places(&self) -> &'static [[u8; 2]] {
        sample_locations(self.samples)
    }
    /// The flat one of the varyings.
    pub const FLAT: u16 = 4;

    /// Four interpolated values and a flat one.
    fn varyings(&self) -> [Varying; 5] {
        let no_perspective = !self.perspective;
        std::array::from_fn(|i| Varying {
            slot: i as u16,
            flat: i as u16 == Case::FLAT,
            no_perspective,
            at: At::Center,
            half: false,
        })
    }

    /// Attachments of this kind in a tile buffer.
    pub fn targets(&self, area: Rect) -> Targets {
        let plane = |kind, format: vk::Format| {
            let mut p = Stored::of(info(format).unwrap(), kind, std::ptr::null_mut(), 0, TILE);
            p.samples = self.samples;
            Some(p)
        };
        let (depth, stencil) = if self.depth16 {
            (plane(PlaneKind::Depth16, vk::Format::D16_UNORM), plane(PlaneKind::Stencil, vk::Format::S8_UINT))
        } else {
            (
                plane(PlaneKind::Depth32, vk::Format::D32_SFLOAT),
                plane(PlaneKind::Stencil, vk::Format::S8_UINT),
            )
        };
        let color = plane(PlaneKind::Color, self.format);
        let samples = self.samples;
        let list = vec![
            Target { color, samples, ..Target::default() },
            Target { depth, stencil, samples, ..Target::default() },
        ];
        let subpass = Subpass {
            colors: vec![Some(0)],
            depth: self.depth.is_some().then_some(1),
            stencil: self.stencil.then_some(1),
            samples,
            ..Subpass::default()
        };
        Targets::of_planes(list, subpass, area, self.observed)
    }

    /// The state of a draw; `next`: numbers below another.
    pub fn state(&self, area: Rect, next: &mut impl FnMut(u32) -> u32) -> State {
        let input = VertexInput { bindings: vec![], attributes: vec![] };
        let mut s = plain::state(input, vk::PrimitiveTopology::TRIANGLE_LIST, area);
        s.samples.count = self.samples;
        s.samples.alpha_to_coverage = self.alpha_to_coverage;
        s.samples.alpha_to_one = self.alpha_to_one;
        s.samples.min_shading = self.per_sample.then_some(1.0);
        if let Some((compare, write)) = self.depth {
            s.depth = Depth { test: true, write, compare, bounds: None };
        }
        let mut face = || StencilFace {
            fail: vk::StencilOp::from_raw(next(8) as i32),
            pass: vk::StencilOp::from_raw(next(8) as i32),
            depth_fail: vk::StencilOp::from_raw(next(8) as i32),
            compare: vk::CompareOp::from_raw(1 + next(7) as i32),
            compare_mask: 0x3,
            write_mask: 0x7,
            reference: next(8),
        };
        s.stencil = self.stencil.then(|| [face(), face()]);
        let one = vk::BlendFactor::ONE;
        s.blend = Blend {
            logic_op: None,
            constants: [0.0; 4],
            attachments: vec![BlendAttachment {
                enable: self.blend,
                src_color: one,
                dst_color: one,
                color_op: vk::BlendOp::ADD,
                src_alpha: one,
                dst_alpha: one,
                alpha_op: vk::BlendOp::ADD,
                write: vk::ColorComponentFlags::RGBA,
                advanced: Advanced::default(),
            }],
            locations: vec![],
        };
        s
    }

    /// A draw of these primitives.
    pub fn item(&self, state: &State, targets: &Targets, batch: Batch) -> Item {
        let mut slots: Vec<(Input, u16)> =
            self.inputs.outputs().into_iter().enumerate().map(|(i, input)| (input, i as u16)).collect();
        slots.extend(self.depth_out.map(|i| (i, FRAG_DEPTH)));
        slots.extend(self.mask_out.map(|i| (i, SAMPLE_MASK)));
        let mut fragment = plain::program(Stage::Fragment, self.lanes, &slots, self.varyings().to_vec());
        if self.depth_out.is_some() {
            fragment.interface.depth = DepthMode::Any;
        }
        fragment.interface.writes_sample_mask = self.mask_out.is_some();
        let pipeline = Arc::new(GraphicsPipeline {
            vertex: Arc::new(plain::program(Stage::Vertex, 64, &[], vec![])),
            tessellation: None,
            geometry: None,
            task: None,
            fragment: Some(Arc::new(fragment)),
            title: Default::default(),
            feedback: Default::default(),
        });
        let state = Arc::new(state.clone());
        let call =
            Call { indexed: false, first: 0, count: 3, vertex_offset: 0, first_instance: 0, instances: 1 };
        let draw = Draw {
            pipeline: pipeline.clone(),
            state: state.clone(),
            bindings: Default::default(),
            vertex_buffers: Arc::new([]),
            index_buffer: None,
            what: What::one(call),
            feedback: false,
            instrumentation: None,
        };
        Item {
            draw: Kept::new(&Arc::new(vec![draw]), 0).unwrap(),
            tables: SmallVec::new(),
            batch: Arc::new(batch),
            counts: None,
            bins: None,
            serial: crate::serial(),
            view: 0,
            plan: Arc::new(Plan::new(&pipeline, &state, &targets.subpasses[0], targets, self.counted)),
            place: Default::default(),
            instrumentation: None,
        }
    }
}

/// A sample of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Sample {
    pub color: [u8; 16],
    pub depth: f32,
    pub stencil: u8,
}

/// What a tile holds, row by row.
#[derive(Clone)]
pub struct Content {
    pub samples: Vec<[Sample; 16]>,
}

/// Corners in 256ths of a pixel, from the tile's first pixel on.
type Triangle = [[i32; 2]; 3];

/// A triangle of a size that has a path of its own: some pixels, up to a small one's bounds and beyond, larger than the tile.
fn triangle(next: &mut impl FnMut(u32) -> u32) -> Triangle {
    let reach = [3, 8, 12, 17, 40, 90][next(6) as usize] * 256;
    let center = [0; 2].map(|_| next(TILE as u32 * 256) as i32);
    let mut near = |c: i32| c + next(2 * reach) as i32 - reach as i32;
    let mut corner = || [near(center[0]), near(center[1])];
    let mut t = [corner(), corner(), corner()];
    match next(12) {
        // The whole tile.
        0 => t = [[-9000, -9000], [60000, -9000], [-9000, 60000]],
        // Half of a rectangle of blocks.
        1 => {
            let [x, y] = [0; 2].map(|_| next(12) as i32 * 1024);
            let [w, h] = [0; 2].map(|_| (1 + next(6) as i32) * 1024);
            t = [[x, y], [x + w, y], [x, y + h]];
        }
        // A sliver.
        2 => t[2] = [t[1][0] + 1, t[1][1] - 2],
        // On pixels' centres and edges.
        3 => t.as_flattened_mut().iter_mut().for_each(|c| *c = *c / 128 * 128),
        _ => {}
    }
    t
}

/// The bounds of corners, in pixels.
fn bounds(corners: &[[i32; 2]]) -> Rect {
    let of = |axis: usize| corners.iter().map(move |c| c[axis]);
    let (low, high) = ([0, 1].map(|a| of(a).min().unwrap()), [0, 1].map(|a| of(a).max().unwrap()));
    let up = |v: i32| (v + 255).div_euclid(256);
    Rect { x0: low[0].div_euclid(256), y0: low[1].div_euclid(256), x1: up(high[0]), y1: up(high[1]) }
}

/// Random primitives around a tile, and the entries of its list.
pub fn batch(
    n: usize,
    case: &Case,
    origin: [i32; 2],
    next: &mut impl FnMut(u32) -> u32,
) -> (Batch, Vec<u32>) {
    let mut b = Batch::default();
    // Few depths, so that some are equal.
    let depths: [f32; 5] = std::array::from_fn(|_| next(1000) as f32 / 1000.0);
    for number in 0..n as u32 {
        let mut t = triangle(next);
        for (c, k) in t.iter_mut().flat_map(|c| c.iter_mut().zip([0, 1])) {
            *c += origin[k] * 256;
        }
        let [a, q, r] = t.map(|c| c.map(i64::from));
        let area = (q[0] - a[0]) * (r[1] - a[1]) - (r[0] - a[0]) * (q[1] - a[1]);
        if area < 0 {
            t.swap(1, 2);
        }
        let unit = |next: &mut dyn FnMut(u32) -> u32| next(1 << 16) as f32 / 65536.0;
        let slope = |next: &mut dyn FnMut(u32) -> u32| (unit(next) - 0.5) * 0.02;
        let mut plane = |at: f32| match next(4) {
            0 => Plane { at, dx: 0.0, dy: 0.0 },
            _ => Plane { at, dx: slope(next), dy: slope(next) },
        };
        let z = plane(depths[number as usize % 5]);
        let w = match number % 4 {
            0 => plane(1.5),
            1 => Plane { at: 0.5, dx: 0.0, dy: 0.0 },
            _ => Plane { at: 1.0, dx: 0.0, dy: 0.0 },
        };
        let side = Side::new(0, false, next(2) == 0);
        let corners = t.map(|c| c.map(|v| v as f32 / 256.0));
        let mut prim = Prim {
            bounds: Bounds::new(bounds(&t)),
            form: Form::new(Shape::Polygon, 3),
            side,
            layer: next(4) as u16,
            planes: b.planes.len() as u32,
            corners,
            z,
            w,
        };
        for _ in &case.varyings() {
            let at = unit(next) * 1.5 - 0.25;
            b.planes.push(Plane { at, dx: slope(next), dy: slope(next) });
        }
        match next(10) {
            // A point, of a pixel or of several.
            0 => {
                let [x, y] = [0, 1].map(|k| origin[k] + next(TILE as u32) as i32);
                let size = [1, 1, 5, 30][next(4) as usize];
                prim.bounds = Bounds::new(Rect { x0: x, y0: y, x1: x + size, y1: y + size });
                prim.form = Form::new(Shape::Polygon, 0);
                prim.corners[0] = [x as f32 + 0.5, y as f32 + 0.5];
            }
            // Pixels of a line.
            1 => {
                let [x, y] = [0, 1].map(|k| origin[k] + next(TILE as u32) as i32);
                let first = b.pixels.len() as u32;
                b.pixels.extend((0..20).map(|i| [x + i, y + i / 3]));
                prim.bounds = Bounds::new(Rect { x0: x, y0: y, x1: x + 18, y1: y + 9 });
                prim.form = Form::new(Shape::Pixels, 0);
                prim.set_listed([first, 20]);
            }
            // A triangle whose edges are in a list, at pixels' centres or not.
            2 => {
                let shape = if next(2) == 0 { Shape::Centers } else { Shape::Polygon };
                prim.form = Form::new(shape, 4);
                let first = b.edges.len() as u32;
                let edge = |i: usize| Edge::between(t[i % 3], t[(i + 1) % 3]);
                b.edges.extend([edge(0), edge(1), edge(2), edge(0)]);
                prim.set_listed([first, 0]);
            }
            // A scissor.
            3 => {
                let r = prim.bounds.rect();
                prim.bounds = Bounds::new(Rect { x0: r.x0 + 3, y0: r.y0 + 1, ..r });
            }
            _ => {}
        }
        b.prims.push(prim);
    }
    let entries = (0..n as u32).map(|i| i | flags(&b, &b.prims[i as usize], origin)).collect();
    (b, entries)
}

/// What a tile's list says of a primitive: that it is large, that it covers the tile.
fn flags(b: &Batch, p: &Prim, [x, y]: [i32; 2]) -> u32 {
    let r = p.bounds.rect();
    let large = if r.x1 - r.x0 >= 16 && r.y1 - r.y0 >= 16 { LARGE } else { 0 };
    let tile = Rect { x0: x, y0: y, x1: x + TILE, y1: y + TILE };
    let corners =
        [[x, y], [x + TILE, y], [x, y + TILE], [x + TILE, y + TILE]].map(|c| c.map(|v| v as i64 * 256));
    let inside = |e: &Edge| corners.iter().all(|c| e.a as i64 * c[0] + e.b as i64 * c[1] + e.c >= 0);
    let edges = &p.edges(&b.edges)[..p.form.edges()];
    let covers = p.form.shape() == Shape::Polygon && r.contains(&tile) && edges.iter().all(inside);
    large | if covers { COVERS } else { 0 }
}
