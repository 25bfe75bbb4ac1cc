//! What stages cost on the modelled GPU (docs/model.md, "Stages"): warps in the binning phase, and memory between them.

use super::{Make, S, T, device, layout, pipeline, spirv};
use crate::model::{Counted, SIDE};
use ash::vk;

const WHAT: [&str; 7] = [
    "Vertex shader invocations",
    "Vertex warps",
    "Load/store unit read beats from L2 cache",
    "Load/store unit write beats to L2 memory system",
    "Primitive references in tile lists",
    "Output external read bytes",
    "Output external write bytes",
];
/// Of the target.
const TARGET: f64 = (SIDE * SIDE * 4) as f64;
const LINE: f64 = 64.0;
const ENTRY: f64 = 8.0;

/// Counts what is drawn into one pixel.
fn count(
    stages: &[(S, &[u8])],
    topology: T,
    draw: impl FnOnce(&Counted, vk::PipelineLayout, vk::CommandBuffer),
) -> [f64; 7] {
    let m = Counted::of(device());
    let layout = layout(&m.g);
    let make = Make { stages, topology, discard: false, stream: 0 };
    let p = pipeline(&m.g, layout, make);
    let got = m.count(WHAT, |d, c| {
        m.pass(d, c, vk::RenderingFlags::empty(), 0.5, || unsafe {
            let side = SIDE as f32;
            let view = vk::Viewport { width: side, height: side, max_depth: 1.0, ..Default::default() };
            let seen = vk::Rect2D {
                offset: vk::Offset2D { x: 63, y: 0 },
                extent: vk::Extent2D { width: 1, height: 1 },
            };
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::GRAPHICS, p);
            d.cmd_set_viewport(c, 0, &[view]);
            d.cmd_set_scissor(c, 0, &[seen]);
            draw(&m, layout, c);
        });
    });
    unsafe {
        m.g.device.destroy_pipeline(p, None);
        m.g.device.destroy_pipeline_layout(layout, None);
    }
    m.free();
    got
}

#[test]
fn a_geometry_shader_reads_what_vertices_leave() {
    let stages = [
        (S::VERTEX, spirv!("number.vert")),
        (S::GEOMETRY, spirv!("twice.geom")),
        (S::FRAGMENT, spirv!("unit.frag")),
    ];
    let got = count(&stages, T::TRIANGLE_LIST, |m, _, c| unsafe { m.g.device.cmd_draw(c, 1536, 1, 0, 0) });
    // 512 triangles of two invocations. A vertex leaves a position and a point's size, which are read once; each of 3072 that are emitted
    // leaves a position.
    let (vertices, invocations) = (1536.0, 1024.0);
    let (read, written) = (vertices * 20.0 / LINE, (vertices * 20.0 + 3072.0 * 16.0) / LINE);
    let lists = invocations * ENTRY;
    let want = [
        vertices,
        (vertices + invocations) / 16.0,
        4.0 * read,
        4.0 * written,
        invocations,
        0.0,
        written * LINE + lists + TARGET,
    ];
    assert_eq!(got, want);
}

#[test]
fn tessellation_reads_what_each_stage_leaves() {
    let stages = [
        (S::VERTEX, spirv!("number.vert")),
        (S::TESSELLATION_CONTROL, spirv!("levels.tesc")),
        (S::TESSELLATION_EVALUATION, spirv!("quads.tese")),
        (S::FRAGMENT, spirv!("unit.frag")),
    ];
    let got = count(&stages, T::PATCH_LIST, |m, layout, c| unsafe {
        let levels: Vec<u8> = [4.0f32; 6].iter().flat_map(|l| l.to_le_bytes()).collect();
        m.g.device.cmd_push_constants(c, layout, S::ALL, 0, &levels);
        m.g.device.cmd_draw(c, 3 * 8, 1, 0, 0);
    });
    // Eight patches: 24 vertices and control invocations in two warps each, 200 points in thirteen. Vertices leave 24 positions and
    // points' sizes, of 20 bytes; control for each patch three gl_PerVertex as declared, of seven scalars, and six levels; evaluation 200
    // positions.
    let lines = |bytes: f64| (bytes / LINE).ceil();
    let (vertices, control) = (lines(24.0 * 20.0), lines(8.0 * (3.0 * 28.0 + 24.0)));
    let written = vertices + control + lines(200.0 * 16.0);
    // The pixel lies in a square's triangle or two, in each patch.
    let lists = got[4] * ENTRY;
    let moved = (written + lines(lists)) * LINE + TARGET;
    assert!((8.0..=16.0).contains(&got[4]), "{got:?}");
    let want = [24.0, 2.0 + 2.0 + 13.0, vertices * 4.0, written * 4.0, got[4], 0.0, moved];
    assert_eq!(got, want);
}

#[test]
fn mesh_workgroups_outputs_are_written() {
    let stages = [
        (S::TASK_EXT, spirv!("work.task")),
        (S::MESH_EXT, spirv!("work.mesh")),
        (S::FRAGMENT, spirv!("unit.frag")),
    ];
    let got = count(&stages, T::TRIANGLE_LIST, |m, _, c| {
        let mesh = ash::ext::mesh_shader::Device::new(&m.g.instance, &m.g.device);
        unsafe { mesh.cmd_draw_mesh_tasks(c, 64, 1, 1) };
    });
    // Each task workgroup (two warps) leaves how many it asks for, a line, and two mesh workgroups (a warp each) leave three positions
    // and two triangles' indices each: 96 and 48 bytes, two lines and one.
    let n = 64.0;
    let (written, lists) = (n * (1.0 + 2.0 + 1.0), 4.0 * n * ENTRY);
    let want = [0.0, n * 4.0, 0.0, 4.0 * written, 4.0 * n, 0.0, written * LINE + lists + TARGET];
    assert_eq!(got, want);
}

#[test]
fn transform_feedback_writes_its_bytes() {
    let stages = [(S::VERTEX, spirv!("number.vert")), (S::FRAGMENT, spirv!("unit.frag"))];
    let figures = [false, true].map(|captured| {
        count(&stages, T::TRIANGLE_LIST, |m, _, c| {
            let feedback = ash::ext::transform_feedback::Device::new(&m.g.instance, &m.g.device);
            let out = m.g.buffer(3072);
            let f = feedback.fp();
            unsafe {
                if captured {
                    (f.cmd_bind_transform_feedback_buffers_ext)(c, 0, 1, &out.buffer, &0, &vk::WHOLE_SIZE);
                    (f.cmd_begin_transform_feedback_ext)(c, 0, 0, std::ptr::null(), std::ptr::null());
                }
                m.g.device.cmd_draw(c, 1536, 1, 0, 0);
                if captured {
                    (f.cmd_end_transform_feedback_ext)(c, 0, 0, std::ptr::null(), std::ptr::null());
                }
            }
            // Its memory goes with the device: the command buffer is yet to run.
        })
    });
    let [without, with] = figures;
    let bytes = 1536.0 * 4.0;
    assert_eq!(with[3] - without[3], 4.0 * bytes / LINE);
    assert_eq!(with[6] - without[6], bytes);
    assert_eq!([with[0], with[1], with[2], with[5]], [without[0], without[1], without[2], without[5]]);
}
