//! Modules that break the rules harm nobody: the process lives, the device is not lost, and what comes next is right.

use super::{Make, Rig, S, SIDE, T, spirv};
use ash::vk;

/// First index, and how many of them; beyond everything, before everything.
const NUMBERS: [[i32; 2]; 6] =
    [[0, 3], [5, 100], [-7, 50], [1 << 20, 9], [i32::MAX - 4, 4000], [i32::MIN, 300]];

/// Draws with each pair of numbers, and with a good pipeline afterwards.
fn survives(rig: &Rig, stages: &[(S, &[u8])], topology: T, draw: impl Fn(&ash::Device, vk::CommandBuffer)) {
    // What tasks ask for would be drawn thousands of times.
    let discard = stages[0].0 == S::TASK_EXT;
    let p = rig.pipeline(Make { stages, topology, discard, stream: 0 });
    for level in [3.0f32, f32::NAN, f32::INFINITY, -1e30, 1e30, f32::MIN_POSITIVE] {
        for [from, count] in NUMBERS {
            rig.g.run(|d, c| {
                rig.pass(c, p, |_| {
                    rig.push(c, &[from as u32, count as u32, level.to_bits()]);
                    draw(d, c);
                });
            });
        }
    }
    let good = [(S::VERTEX, spirv!("number.vert")), (S::FRAGMENT, spirv!("unit.frag"))];
    let q = rig.pipeline(Make { stages: &good, topology: T::TRIANGLE_LIST, discard: false, stream: 0 });
    rig.g.run(|d, c| rig.pass(c, q, |_| unsafe { d.cmd_draw(c, 3, 1, 0, 0) }));
    assert_eq!(rig.pixels(), [0x0101_0101; (SIDE * SIDE) as usize]);
    rig.destroy(&[p, q]);
}

#[test]
fn geometry_shaders_beyond_their_vertices() {
    let rig = Rig::new();
    let stages = [
        (S::VERTEX, spirv!("number.vert")),
        (S::GEOMETRY, spirv!("hostile.geom")),
        (S::FRAGMENT, spirv!("unit.frag")),
    ];
    survives(&rig, &stages, T::TRIANGLE_LIST, |d, c| unsafe { d.cmd_draw(c, 300, 1, 0, 0) });
}

/// What is emitted beyond max_vertices is not there: four vertices are two triangles.
#[test]
fn no_more_vertices_than_the_maximum() {
    let rig = Rig::new();
    let stages = [
        (S::VERTEX, spirv!("number.vert")),
        (S::GEOMETRY, spirv!("hostile.geom")),
        (S::FRAGMENT, spirv!("unit.frag")),
    ];
    let p = rig.pipeline(Make { stages: &stages, topology: T::TRIANGLE_LIST, discard: false, stream: 0 });
    let info =
        vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::PRIMITIVES_GENERATED_EXT).query_count(1);
    let got = rig.queries(&info, 1, |d, c, pool| {
        rig.pass(c, p, |_| unsafe {
            rig.push(c, &[0, 1000]);
            d.cmd_begin_query(c, pool, 0, Default::default());
            d.cmd_draw(c, 3 * 50, 1, 0, 0);
            d.cmd_end_query(c, pool, 0);
        });
    });
    assert_eq!(got, [[100]]);
    rig.destroy(&[p]);
}

#[test]
fn tessellation_beyond_its_patches_with_any_levels() {
    let rig = Rig::new();
    let stages = [
        (S::VERTEX, spirv!("number.vert")),
        (S::TESSELLATION_CONTROL, spirv!("hostile.tesc")),
        (S::TESSELLATION_EVALUATION, spirv!("hostile.tese")),
        (S::FRAGMENT, spirv!("unit.frag")),
    ];
    survives(&rig, &stages, T::PATCH_LIST, |d, c| unsafe { d.cmd_draw(c, 12, 1, 0, 0) });
}

#[test]
fn mesh_shaders_beyond_their_outputs() {
    let rig = Rig::new();
    let stages = [(S::MESH_EXT, spirv!("hostile.mesh")), (S::FRAGMENT, spirv!("unit.frag"))];
    survives(&rig, &stages, T::TRIANGLE_LIST, |_, c| unsafe { rig.mesh.cmd_draw_mesh_tasks(c, 9, 2, 1) });
}

#[test]
fn task_shaders_beyond_their_payload() {
    let rig = Rig::new();
    let stages = [
        (S::TASK_EXT, spirv!("hostile.task")),
        (S::MESH_EXT, spirv!("work.mesh")),
        (S::FRAGMENT, spirv!("unit.frag")),
    ];
    survives(&rig, &stages, T::TRIANGLE_LIST, |_, c| unsafe { rig.mesh.cmd_draw_mesh_tasks(c, 3, 1, 1) });
}
