//! Draws through geometry with values computed by hand. The vertex program hands its inputs through.
#![allow(clippy::needless_range_loop)] // x and y are pixels

mod input;
pub(crate) mod plain;
pub(crate) mod polygons;
mod thin;

use super::*;
use crate::draw::{IndexBuffer, VertexBuffer, What};
use crate::prim::{Plane, Prim};
use crate::state::*;
use ash::vk;
use machine::host::DeviceHost;
use machine::pool::Pool;
use machine::shared::Shared;
use shader::interface::{self, At};
use shader::ir::{Input, Stage};
use std::sync::Arc;
use texel::buffer::Buffer;
use texel::format::info;
use texel::memory::{Bound, DeviceMemory};

fn buffer(bytes: &[u8]) -> Arc<Buffer> {
    let memory = DeviceMemory::allocate(texel::for_tests::space(), bytes.len() as u64, 0, false).unwrap();
    // SAFETY: just allocated, of this size.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.ptr(), bytes.len()) };
    let b = Buffer::new(bytes.len() as u64, Default::default(), Default::default());
    let _ = b.bound.set(Bound { memory, offset: 0 });
    Arc::new(b)
}

/// A draw in the making: a viewport of 256×256 pixels, so that clip coordinate −1 + p/128 is pixel p.
struct Scene {
    state: State,
    vertex_buffers: Vec<VertexBuffer>,
    index_buffer: Option<IndexBuffer>,
    /// Outputs of the vertex program and where they come from.
    slots: Vec<(Input, u16)>,
    varyings: Vec<interface::Varying>,
    /// What the fragment program reads: PointCoord, and primitives' ids.
    point_coord: bool,
    ids: bool,
    call: Call,
    depth: vk::Format,
    layers: u32,
    threads: usize,
}

const AREA: Rect = Rect { x0: 0, y0: 0, x1: 256, y1: 256 };

impl Scene {
    /// Vertices of clip-space positions at location 0, and one float at location 1.
    fn new(topology: vk::PrimitiveTopology, vertices: &[[f32; 5]]) -> Scene {
        let float4 = info(vk::Format::R32G32B32A32_SFLOAT).unwrap();
        let float1 = info(vk::Format::R32_SFLOAT).unwrap();
        let input = VertexInput {
            bindings: vec![VertexBinding { binding: 0, stride: 20, divisor: None }],
            attributes: vec![
                VertexAttribute { location: 0, binding: 0, format: float4, offset: 0 },
                VertexAttribute { location: 1, binding: 0, format: float1, offset: 16 },
            ],
        };
        let slots = (0..4).map(|i| (Input::Varying(i), interface::POSITION + i));
        Scene {
            state: plain::state(input, topology, AREA),
            vertex_buffers: vec![VertexBuffer {
                buffer: Some(buffer(bytemuck::cast_slice(vertices))),
                offset: 0,
                size: vk::WHOLE_SIZE,
            }],
            index_buffer: None,
            slots: slots.chain([(Input::Varying(4), 0)]).collect(),
            varyings: vec![varying(0)],
            point_coord: false,
            ids: false,
            call: Call {
                indexed: false,
                first: 0,
                count: vertices.len() as u32,
                vertex_offset: 0,
                first_instance: 0,
                instances: 1,
            },
            depth: vk::Format::UNDEFINED,
            layers: 1,
            threads: 1,
        }
    }

    fn indices(mut self, indices: &[u16]) -> Scene {
        self.index_buffer = Some(IndexBuffer {
            buffer: Some(buffer(bytemuck::cast_slice(indices))),
            offset: 0,
            size: vk::WHOLE_SIZE,
            ty: vk::IndexType::UINT16,
            restart: 0xFFFF,
        });
        self.call.indexed = true;
        self.call.count = indices.len() as u32;
        self
    }

    fn run(&self) -> Batch {
        let mut shared = Shared::new(Arc::new(|m: &str| panic!("{m}")), true).unwrap();
        shared.pool = Pool::new(self.threads).unwrap();
        self.run_on(&shared)
    }

    fn draw(&self) -> Draw {
        let reads = [(self.point_coord, Input::PointCoord(0)), (self.ids, Input::PrimitiveId)];
        let reads: Vec<_> = reads.into_iter().filter(|r| r.0).map(|r| (r.1, 0)).collect();
        Draw {
            pipeline: Arc::new(GraphicsPipeline {
                vertex: Arc::new(plain::program(Stage::Vertex, 64, &self.slots, vec![])),
                tessellation: None,
                geometry: None,
                task: None,
                fragment: Some(Arc::new(plain::program(Stage::Fragment, 64, &reads, self.varyings.clone()))),
                title: Default::default(),
                feedback: Default::default(),
            }),
            state: Arc::new(self.state.clone()),
            bindings: Default::default(),
            vertex_buffers: self.vertex_buffers.clone().into(),
            index_buffer: self.index_buffer.clone(),
            instrumentation: None,
            what: What::one(self.call),
            feedback: false,
        }
    }

    fn run_on(&self, shared: &Shared) -> Batch {
        let draw = self.draw();
        let host = DeviceHost::at(shared, 0);
        let ctx = GeometryContext {
            shared,
            host: &host,
            serial: 1,
            area: AREA,
            grid: Default::default(),
            active: None,
            layers: self.layers,
            index: 7,
            view: None,
            tables: &[],
            prepared: &super::Prepared::new(&draw.pipeline, &draw.state, AREA, info(self.depth), false),
            record: None,
        };
        let (mut out, mut times) = (Batch::recycled(), 0);
        let mut each = |_: &mut Box<Batch>| {
            times += 1;
            true
        };
        super::run(&ctx, &draw, &self.call, None, &mut out, &mut each).ok().expect("no fault");
        assert_eq!(times, 1, "so few primitives come at once");
        *out
    }
}

fn varying(slot: u16) -> interface::Varying {
    interface::Varying { slot, flat: false, no_perspective: false, at: At::Center, half: false }
}
fn flat(slot: u16) -> interface::Varying {
    interface::Varying { flat: true, ..varying(slot) }
}

/// A vertex at a pixel coordinate, at depth `z`, w 1, with a value.
fn at(x: f32, y: f32, z: f32, value: f32) -> [f32; 5] {
    [x / 128.0 - 1.0, y / 128.0 - 1.0, z, 1.0, value]
}

/// Whether a pixel's centre is covered.
fn covers(b: &Batch, p: &Prim, x: i32, y: i32) -> bool {
    use crate::prim::Shape;
    let r = p.bounds.rect();
    if x < r.x0 || x >= r.x1 || y < r.y0 || y >= r.y1 {
        return false;
    }
    if p.form.shape() == Shape::Pixels {
        let [first, count] = p.listed();
        return b.pixels[first as usize..][..count as usize].contains(&[x, y]);
    }
    let (x, y) = ((x * 256 + 128) as i64, (y * 256 + 128) as i64);
    p.edges(&b.edges)[..p.form.edges()].iter().all(|e| e.a as i64 * x + e.b as i64 * y + e.c >= 0)
}

/// How many primitives cover each pixel of the area.
fn counts(b: &Batch) -> Vec<Vec<u32>> {
    let of = |x, y| b.prims.iter().filter(|p| covers(b, p, x, y)).count() as u32;
    (0..AREA.y1).map(|y| (0..AREA.x1).map(|x| of(x, y)).collect()).collect()
}

/// Pixels covered, (x, y) by row.
fn pixels_of(b: &Batch) -> Vec<(i32, i32)> {
    let mut all = Vec::new();
    for (y, row) in counts(b).iter().enumerate() {
        all.extend(row.iter().enumerate().filter(|(_, n)| **n > 0).map(|(x, _)| (x as i32, y as i32)));
    }
    all
}

/// A plane at a pixel coordinate.
fn value(p: &Prim, plane: &Plane, x: f32, y: f32) -> f32 {
    let [x0, y0] = p.origin();
    plane.at + plane.dx * (x - x0) + plane.dy * (y - y0)
}
