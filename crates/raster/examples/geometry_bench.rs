//! Times geometry and binning of many small triangles: `geometry_bench [triangles] [threads] [seconds]`.
//!
//! The vertex program does what `tri.vert` of the benchmark kernels does: position and a colour go through.

use ash::vk;
use machine::shared::Shared;
use raster::draw::{Call, Draw, VertexBuffer, What};
use raster::geometry::{Batch, GeometryContext, bin::Bins, run};
use raster::state::*;
use shader::bytecode::{Code, Op, Program, Reg};
use shader::interface::{self, Interface, Varying};
use shader::ir::{Input, Stage};
use std::sync::Arc;
use std::time::Instant;
use texel::buffer::Buffer;
use texel::memory::{Bound, DeviceMemory};

const SIZE: [i32; 2] = [1920, 1080];

/// Inputs become outputs.
fn program(stage: Stage, slots: &[(u16, u16)], varyings: Vec<Varying>) -> Program {
    let reg = |i: usize| Reg::varying(i as u16 * 16);
    Program {
        stage,
        interface: Interface { varyings, ..Default::default() },
        outputs: slots.iter().enumerate().map(|(i, s)| (s.1, reg(i))).collect(),
        lanes: 256,
        workgroup: [1; 3],
        code: vec![Op::new(Code::END)],
        images: Vec::new(),
        units: slots.len() as u32 * 16,
        consts: Vec::new(),
        inputs: slots.iter().enumerate().map(|(i, s)| (Input::Varying(s.0), reg(i))).collect(),
        prologue: 0,
        shared_bytes: 0,
        scratch_words: 0,
        packed: false,
        multi_wave: false,
        quad_derivatives: false,
        blocks: Vec::new(),
        files: Vec::new(),
        profile: Default::default(),
    }
}

fn main() {
    let mut args = std::env::args().skip(1).map(|a| a.parse::<u32>().expect("a number"));
    let triangles = args.next().unwrap_or(200_000);
    if let Some(n) = args.next() {
        // SAFETY: no other thread is there yet.
        unsafe { std::env::set_var("TUFF_THREADS", n.to_string()) };
    }
    let seconds = args.next().unwrap_or(2);

    // About ten pixels each, anywhere.
    let mut seed = 1u32;
    let mut random = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / (1 << 24) as f32
    };
    let bytes = triangles as u64 * 3 * 32;
    let memory = DeviceMemory::allocate(bytes, 0, false).expect("memory");
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
    let slots: Vec<(u16, u16)> =
        (0..4).map(|i| (i, position + i)).chain((4..8).map(|i| (i, i - 4))).collect();
    let varyings: Vec<Varying> = (0..4)
        .map(|slot| Varying { slot, flat: false, no_perspective: false, at: interface::At::Center })
        .collect();
    let float4 = texel::format::info(vk::Format::R32G32B32A32_SFLOAT).expect("a format");
    let area = Rect { x0: 0, y0: 0, x1: SIZE[0], y1: SIZE[1] };
    let state = State {
        input: VertexInput {
            bindings: vec![VertexBinding { binding: 0, stride: 32, divisor: None }],
            attributes: (0..2)
                .map(|i| VertexAttribute { location: i, binding: 0, format: float4, offset: i * 16 })
                .collect(),
        },
        topology: vk::PrimitiveTopology::TRIANGLE_LIST,
        primitive_restart: false,
        viewports: vec![Viewport {
            x: 0.0,
            y: 0.0,
            width: SIZE[0] as f32,
            height: SIZE[1] as f32,
            min_depth: 0.0,
            max_depth: 1.0,
        }],
        scissors: vec![area],
        depth_negative_one_to_one: false,
        raster: Raster {
            discard: false,
            depth_clamp: false,
            depth_clip: true,
            polygon_mode: vk::PolygonMode::FILL,
            cull: vk::CullModeFlags::NONE,
            front: vk::FrontFace::CLOCKWISE,
            depth_bias: None,
            line_width: 1.0,
            line_mode: vk::LineRasterizationModeEXT::DEFAULT,
            stipple: None,
            provoking_last: false,
        },
        samples: Samples {
            count: 1,
            min_shading: None,
            mask: u32::MAX,
            alpha_to_coverage: false,
            alpha_to_one: false,
        },
        depth: Depth { test: false, write: false, compare: vk::CompareOp::ALWAYS, bounds: None },
        stencil: None,
        blend: Blend { logic_op: None, constants: [0.0; 4], attachments: Vec::new(), locations: Vec::new() },
    };
    let call = Call {
        indexed: false,
        first: 0,
        count: triangles * 3,
        vertex_offset: 0,
        first_instance: 0,
        instances: 1,
    };
    let draw = Draw {
        pipeline: Arc::new(GraphicsPipeline {
            vertex: Arc::new(program(Stage::Vertex, &slots, Vec::new())),
            fragment: Some(Arc::new(program(Stage::Fragment, &[], varyings))),
            title: Default::default(),
            feedback: false,
        }),
        state: Arc::new(state),
        bindings: Default::default(),
        vertex_buffers: [VertexBuffer { buffer: Some(buffer), offset: 0, size: vk::WHOLE_SIZE }].into(),
        index_buffer: None,
        what: What::Direct(vec![call]),
        instrumentation: None,
    };

    let shared = &Shared::new(Arc::new(|m| eprintln!("{m}"))).expect("a device");
    let host = machine::host::DeviceHost::at(shared, 0);
    let mut primitives = 0;
    let mut bins = Bins::default();
    let (mut geometry, mut binning) = (f64::MAX, f64::MAX);
    let began = Instant::now();
    let mut runs = 0;
    while began.elapsed().as_secs() < seconds as u64 {
        runs += 1;
        let mut batches: Vec<Batch> = vec![];
        let ctx = GeometryContext { shared, host: &host, serial: runs, area, layers: 1, depth: None };
        let t = Instant::now();
        let mut each = |batch| {
            batches.push(batch);
            true
        };
        run(&ctx, &draw, &call, 0, None, &mut each).expect("no fault");
        geometry = geometry.min(t.elapsed().as_secs_f64());
        let t = Instant::now();
        for b in &batches {
            bins.fill(shared, b, 0..b.prims.len(), area, 1).expect("room");
        }
        binning = binning.min(t.elapsed().as_secs_f64());
        primitives = batches.iter().map(|b| b.prims.len()).sum();
    }
    let each = |s: f64| s * 1e9 / triangles as f64;
    println!(
        "{triangles} triangles, {} primitives, {} threads, {runs} runs, best: geometry {:.1} ns, binning {:.1} ns a triangle",
        primitives,
        shared.threads,
        each(geometry),
        each(binning)
    );
}
