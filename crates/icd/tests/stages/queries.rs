//! Queries of stages: figures by hand.

use super::{Make, Rig, S, T, spirv};
use ash::vk;
use vk::QueryPipelineStatisticFlags as Q;

/// Statistics of each of them around a draw.
fn statistics(
    rig: &Rig,
    p: vk::Pipeline,
    flags: Q,
    draw: impl Fn(&ash::Device, vk::CommandBuffer),
) -> Vec<u64> {
    let info = vk::QueryPoolCreateInfo::default()
        .query_type(vk::QueryType::PIPELINE_STATISTICS)
        .pipeline_statistics(flags)
        .query_count(1);
    let n = flags.as_raw().count_ones() as usize;
    let got = rig.queries(&info, n, |d, c, pool| {
        rig.pass(c, p, |_| unsafe {
            d.cmd_begin_query(c, pool, 0, Default::default());
            draw(d, c);
            d.cmd_end_query(c, pool, 0);
        });
    });
    got[0].clone()
}

const PIXELS: u64 = (super::SIDE * super::SIDE) as u64;

#[test]
fn statistics_of_a_geometry_shader() {
    let rig = Rig::new();
    let stages = [
        (S::VERTEX, spirv!("number.vert")),
        (S::GEOMETRY, spirv!("twice.geom")),
        (S::FRAGMENT, spirv!("unit.frag")),
    ];
    let p = rig.pipeline(Make { stages: &stages, topology: T::TRIANGLE_LIST, discard: false, stream: 0 });
    let flags = Q::INPUT_ASSEMBLY_VERTICES
        | Q::INPUT_ASSEMBLY_PRIMITIVES
        | Q::VERTEX_SHADER_INVOCATIONS
        | Q::GEOMETRY_SHADER_INVOCATIONS
        | Q::GEOMETRY_SHADER_PRIMITIVES
        | Q::CLIPPING_INVOCATIONS
        | Q::FRAGMENT_SHADER_INVOCATIONS;
    let got = statistics(&rig, p, flags, |d, c| unsafe { d.cmd_draw(c, 15, 2, 0, 0) });
    // Five triangles of two instances, each of two invocations, a triangle each, over everything.
    assert_eq!(got, [30, 10, 30, 20, 20, 20, 20 * PIXELS]);
    assert_eq!(rig.pixels(), [0x1414_1414; PIXELS as usize]);
    rig.destroy(&[p]);
}

#[test]
fn statistics_of_tessellation() {
    let rig = Rig::new();
    let stages = [
        (S::VERTEX, spirv!("number.vert")),
        (S::TESSELLATION_CONTROL, spirv!("levels.tesc")),
        (S::TESSELLATION_EVALUATION, spirv!("quads.tese")),
        (S::GEOMETRY, spirv!("twice.geom")),
        (S::FRAGMENT, spirv!("unit.frag")),
    ];
    let flags = Q::INPUT_ASSEMBLY_VERTICES
        | Q::INPUT_ASSEMBLY_PRIMITIVES
        | Q::GEOMETRY_SHADER_INVOCATIONS
        | Q::GEOMETRY_SHADER_PRIMITIVES
        | Q::FRAGMENT_SHADER_INVOCATIONS
        | Q::TESSELLATION_CONTROL_SHADER_PATCHES
        | Q::TESSELLATION_EVALUATION_SHADER_INVOCATIONS;
    for (count, levels, times) in [(5, [4.0f32; 6], 2u64), (4, [0.0, 4.0, 4.0, 4.0, 4.0, 4.0], 0)] {
        let stages: Vec<_> = stages.into_iter().filter(|s| count == 5 || s.0 != S::GEOMETRY).collect();
        let p = rig.pipeline(Make { stages: &stages, topology: T::PATCH_LIST, discard: false, stream: 0 });
        let got = statistics(&rig, p, flags, |d, c| {
            rig.push(c, &levels.map(f32::to_bits));
            unsafe { d.cmd_draw(c, 3 * 7, 1, 0, 0) };
        });
        // Seven patches of 4 × 4 squares of two triangles, whose 5 × 5 corners are evaluated once; each triangle twice. A patch with
        // an outer level of 0 is no more.
        let seven = |n: u64| if times > 0 { 7 * n } else { 0 };
        let vertices = [21, 7, seven(32 * 2), seven(32 * 2), seven(2 * PIXELS), 7, seven(25)];
        assert_eq!(got, vertices);
        let sum = u32::from_le_bytes([(7 * times) as u8; 4]);
        assert_eq!(rig.pixels(), [sum; PIXELS as usize]);
        rig.destroy(&[p]);
    }
}

#[test]
fn statistics_of_task_and_mesh_shaders() {
    let rig = Rig::new();
    let stages = [
        (S::TASK_EXT, spirv!("work.task")),
        (S::MESH_EXT, spirv!("work.mesh")),
        (S::FRAGMENT, spirv!("unit.frag")),
    ];
    let p = rig.pipeline(Make { stages: &stages, topology: T::TRIANGLE_LIST, discard: false, stream: 0 });
    let flags =
        Q::FRAGMENT_SHADER_INVOCATIONS | Q::TASK_SHADER_INVOCATIONS_EXT | Q::MESH_SHADER_INVOCATIONS_EXT;
    let draw = |c| unsafe { rig.mesh.cmd_draw_mesh_tasks(c, 3, 1, 2) };
    let got = statistics(&rig, p, flags, |_, c| draw(c));
    // Six task workgroups of 32 ask for two mesh workgroups of 16 each, of two triangles.
    assert_eq!(got, [24 * PIXELS, 6 * 32, 12 * 16]);
    assert_eq!(rig.pixels(), [0x1818_1818; PIXELS as usize]);
    let info = vk::QueryPoolCreateInfo::default()
        .query_type(vk::QueryType::MESH_PRIMITIVES_GENERATED_EXT)
        .query_count(1);
    let got = rig.queries(&info, 1, |d, c, pool| {
        rig.pass(c, p, |_| unsafe {
            d.cmd_begin_query(c, pool, 0, Default::default());
            draw(c);
            draw(c);
            d.cmd_end_query(c, pool, 0);
        });
    });
    assert_eq!(got, [[48]]);
    rig.destroy(&[p]);
}

/// Without a stage before rasterisation but vertices, primitives are counted as they are assembled, with nothing rasterised.
#[test]
fn primitives_that_are_generated() {
    let rig = Rig::new();
    let stages = [(S::VERTEX, spirv!("number.vert"))];
    let p = rig.pipeline(Make { stages: &stages, topology: T::TRIANGLE_STRIP, discard: true, stream: 0 });
    let info =
        vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::PRIMITIVES_GENERATED_EXT).query_count(2);
    let got = rig.queries(&info, 1, |d, c, pool| {
        rig.pass(c, p, |_| unsafe {
            d.cmd_begin_query(c, pool, 0, Default::default());
            d.cmd_draw(c, 2002, 3, 0, 0);
            d.cmd_end_query(c, pool, 0);
            d.cmd_begin_query(c, pool, 1, Default::default());
            d.cmd_draw(c, 2, 3, 0, 0);
            d.cmd_end_query(c, pool, 1);
        });
    });
    assert_eq!(got, [[6000], [0]]);
    rig.destroy(&[p]);
}
