//! Times geometry and binning of many small triangles: `geometry_bench [triangles] [threads] [seconds]`.
//!
//! The vertex program does what `tri.vert` of the benchmark kernels does: position and a colour go through.

use ash::vk;
use machine::shared::Shared;
use random::Random;
use raster::draw::{Call, Draw, VertexBuffer, What};
use raster::geometry::{
    Batch, GeometryContext, Prepared,
    bin::{Bins, Tiles},
    run,
};
use raster::state::*;
use shader::cost::{Half, Halves};
use shader::interface::{self, Varying};
use shader::ir::{Input, Stage};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use texel::buffer::Buffer;
use texel::memory::{Bound, DeviceMemory};

#[path = "../src/geometry/tests/plain.rs"]
mod plain;

const SIZE: [i32; 2] = [1920, 1080];

fn main() {
    let mut args = std::env::args().skip(1).map(|a| a.parse::<u32>().expect("a number"));
    let triangles = args.next().unwrap_or(200_000);
    if let Some(n) = args.next() {
        // SAFETY: no other thread is there yet.
        unsafe { std::env::set_var("TUFF_THREADS", n.to_string()) };
    }
    let seconds = args.next().unwrap_or(2);

    // About ten pixels each, anywhere.
    let mut r = Random::new(1);
    let mut random = || r.unit();
    let bytes = triangles as u64 * 3 * 32;
    let memory = DeviceMemory::allocate(texel::for_tests::space(), bytes, 0, false).expect("memory");
    let buffer = Arc::new(Buffer::new(bytes, vk::BufferUsageFlags::VERTEX_BUFFER, Default::default()));
    let _ = buffer.bound.set(Bound { memory, offset: 0 });
    // SAFETY: the buffer was just made, of this size.
    let data =
        unsafe { std::slice::from_raw_parts_mut(buffer.ptr().cast::<[f32; 8]>(), triangles as usize * 3) };
    for t in data.as_chunks_mut::<3>().0 {
        let (x, y) = (random() * 2.0 - 1.0, random() * 2.0 - 1.0);
        let (w, h) = (5.0 / SIZE[0] as f32, 5.0 / SIZE[1] as f32);
        let mut corner =
            |dx: f32, dy: f32| [x + dx * w, y + dy * h, random(), 1.0, random(), random(), random(), 1.0];
        *t = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(0.0, 1.0)];
    }

    let position = interface::POSITION;
    let outputs = (position..position + 4).chain(0..4);
    let slots: Vec<_> = outputs.enumerate().map(|(i, o)| (Input::Varying(i as u16), o)).collect();
    let varyings: Vec<Varying> = (0..4)
        .map(|slot| Varying {
            slot,
            flat: false,
            no_perspective: false,
            at: interface::At::Center,
            half: false,
        })
        .collect();
    let float4 = texel::format::info(vk::Format::R32G32B32A32_SFLOAT).expect("a format");
    let area = Rect { x0: 0, y0: 0, x1: SIZE[0], y1: SIZE[1] };
    let input = VertexInput {
        bindings: vec![VertexBinding { binding: 0, stride: 32, divisor: None }],
        attributes: (0..2)
            .map(|i| VertexAttribute { location: i, binding: 0, format: float4, offset: i * 16 })
            .collect(),
    };
    let state = plain::state(input, vk::PrimitiveTopology::TRIANGLE_LIST, area);
    let call = Call {
        indexed: false,
        first: 0,
        count: triangles * 3,
        vertex_offset: 0,
        first_instance: 0,
        instances: 1,
    };
    let mut vertex = plain::program(Stage::Vertex, 256, &slots, Vec::new());
    // As compilation would: a position of the first attribute, and the rest of the second.
    let half = |location| Half { costs: vec![], attributes: vec![location], ways: Default::default() };
    vertex.profile.halves = Some(Halves { position: half(0), others: half(1) });
    let draw = Draw {
        pipeline: Arc::new(GraphicsPipeline {
            vertex: Arc::new(vertex),
            tessellation: None,
            geometry: None,
            task: None,
            fragment: Some(Arc::new(plain::program(Stage::Fragment, 256, &[], varyings))),
            title: Default::default(),
            feedback: Default::default(),
        }),
        state: Arc::new(state),
        bindings: Default::default(),
        vertex_buffers: [VertexBuffer { buffer: Some(buffer), offset: 0, size: vk::WHOLE_SIZE }].into(),
        index_buffer: None,
        what: What::one(call),
        feedback: false,
        instrumentation: None,
    };

    let shared = &Shared::new(Arc::new(|m: &str| eprintln!("{m}")), true).expect("a device");
    let host = machine::host::DeviceHost::at(shared, 0);
    let prepared = Prepared::new(&draw.pipeline, &draw.state, area, None, false);
    let mut primitives = 0;
    let (mut geometry, mut binning) = (f64::MAX, f64::MAX);
    let began = Instant::now();
    let mut runs = 0;
    while began.elapsed().as_secs() < seconds as u64 {
        runs += 1;
        let mut batches: Vec<Box<Batch>> = vec![];
        let mut out = Batch::recycled();
        let ctx = GeometryContext {
            shared,
            host: &host,
            serial: runs,
            area,
            grid: Default::default(),
            active: None,
            layers: 1,
            index: 0,
            view: None,
            tables: &[],
            prepared: &prepared,
            record: None,
        };
        let tiles = Tiles::new(area, ctx.grid, 1, None);
        let t = Instant::now();
        let mut each = |batch: &mut Box<Batch>| {
            batches.push(std::mem::replace(batch, Batch::recycled()));
            true
        };
        run(&ctx, &draw, &call, None, &mut out, &mut each).ok().expect("no fault");
        geometry = geometry.min(t.elapsed().as_secs_f64());
        let t = Instant::now();
        for b in &batches {
            black_box(Bins::new(shared, b, 0..b.prims.len(), area, tiles).expect("room"));
        }
        binning = binning.min(t.elapsed().as_secs_f64());
        primitives = batches.iter().map(|b| b.prims.len()).sum();
    }
    let each = |s: f64| s * 1e9 / triangles as f64;
    println!(
        "{triangles} triangles, {} primitives, {} threads, {runs} runs, best: geometry {:.1} ns, binning {:.1} ns a triangle",
        primitives,
        shared.pool.threads(),
        each(geometry),
        each(binning)
    );
}
