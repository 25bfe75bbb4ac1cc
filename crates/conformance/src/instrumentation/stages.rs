//! Counts of geometry, tessellation, task and mesh shaders, in whole pipelines and in those that are linked of libraries.

use super::graphics::push;
use super::rig::{DIVERGED, FILL, INSTRUMENT, PLAIN, Row, THREADS, WARPS, digest, of};
use super::{Check, Found, Rig, check_list, same, text};
use client::graphics::{Pipeline, PipelineInfo};
use vk::GraphicsPipelineLibraryFlagsEXT as Part;
use vk::ShaderStageFlags as Stage;

pub fn checks() -> Vec<Check> {
    check_list![
        geometry_shaders = geometry,
        tessellation_shaders = tessellation,
        task_and_mesh_shaders = mesh
    ]
}

macro_rules! shader {
    ($name:literal) => {
        include_bytes!(concat!("../../shaders/instrumentation/", $name, ".spv")).as_slice()
    };
}

type Stages<'a> = &'a [(Stage, &'a [u8])];

/// Draws with a whole pipeline, and with one that is linked of four libraries: `check` for both, which must tell the same.
fn both(
    rig: &Rig,
    vertex: &[u8],
    stages: Stages,
    topology: vk::PrimitiveTopology,
    draw: impl Fn(&ash::Device, vk::CommandBuffer),
    check: impl Fn(&[Row], vk::Pipeline) -> Result<(), String>,
) -> Found {
    let mut info = PipelineInfo::new(vertex, PLAIN, vk::Format::R8G8B8A8_UNORM);
    info.stages = stages.to_vec();
    info.topology = topology;
    info.patch = if topology == vk::PrimitiveTopology::PATCH_LIST { 3 } else { 0 };
    info.push_size = 8;
    info.flags2 = INSTRUMENT;
    let whole = Pipeline::new(&rig.context, &info, None).map_err(text)?;
    let mut libraries = Vec::new();
    let all = [
        Part::VERTEX_INPUT_INTERFACE,
        Part::PRE_RASTERIZATION_SHADERS,
        Part::FRAGMENT_SHADER,
        Part::FRAGMENT_OUTPUT_INTERFACE,
    ];
    // Mesh shading has no vertex input.
    for parts in all.into_iter().filter(|p| !vertex.is_empty() || *p != Part::VERTEX_INPUT_INTERFACE) {
        let mut part = info.clone();
        part.parts = parts;
        part.flags2 |= vk::PipelineCreateFlags2KHR::LIBRARY;
        libraries.push(Pipeline::new(&rig.context, &part, None).map_err(text)?);
    }
    info.libraries = libraries.iter().map(|l| l.handle).collect();
    let linked = Pipeline::new(&rig.context, &info, None).map_err(text)?;
    let mut found = Vec::new();
    for p in [&whole, &linked] {
        let (target, object) = (rig.target()?, rig.object()?);
        rig.run(|_, c| {
            rig.pass(&target, c, |d, c| {
                p.bind(c, None, &push(0.5, 1.0));
                object.around(c, || draw(d, c));
            });
        })?;
        let rows = object.rows()?;
        check(&rows, p.handle)?;
        found.push(digest(&rows));
    }
    let linked = found.pop();
    same("values of the linked pipeline", linked.as_ref(), found.last())?;
    Ok(linked.unwrap_or_default())
}

/// Warps, threads and diverged warps of a stage's block: the first, or the one with a line.
fn runs(
    rig: &Rig,
    rows: &[Row],
    p: vk::Pipeline,
    stage: Stage,
    line: Option<u32>,
) -> Result<[u64; 3], String> {
    let block = match line {
        Some(line) => rig.table(p, rig.executable_of(p, stage)?)?.line(line)?,
        None => 0,
    };
    let r = of(rows, 0, stage, block)?;
    Ok([r[WARPS], r[THREADS], r[DIVERGED]])
}

/// 40 triangles are three warps, the last of eight; every other thread emits.
fn geometry(rig: &Rig) -> Found {
    let stages = [(Stage::GEOMETRY, shader!("stages.geom"))];
    // SAFETY (all draws here): recording with everything bound.
    let draw = |d: &ash::Device, c| unsafe { d.cmd_draw(c, 120, 1, 0, 0) };
    both(rig, FILL, &stages, vk::PrimitiveTopology::TRIANGLE_LIST, draw, |rows, p| {
        same("all of geometry", runs(rig, rows, p, Stage::GEOMETRY, None)?, [3, 40, 0])?;
        same("what emits", runs(rig, rows, p, Stage::GEOMETRY, Some(8))?, [3, 20, 3])?;
        same("vertices", runs(rig, rows, p, Stage::VERTEX, None)?, [8, 120, 0])
    })
}

/// 21 patches of three invocations are four warps, the last of fifteen; the first of each patch goes on. Each patch has
/// 5 × 5 points, of which five lie in the middle: 525 in 33 warps.
fn tessellation(rig: &Rig) -> Found {
    let stages = [
        (Stage::TESSELLATION_CONTROL, shader!("stages.tesc")),
        (Stage::TESSELLATION_EVALUATION, shader!("stages.tese")),
    ];
    let draw = |d: &ash::Device, c| unsafe { d.cmd_draw(c, 63, 1, 0, 0) };
    both(rig, FILL, &stages, vk::PrimitiveTopology::PATCH_LIST, draw, |rows, p| {
        let (control, evaluation) = (Stage::TESSELLATION_CONTROL, Stage::TESSELLATION_EVALUATION);
        same("all of control", runs(rig, rows, p, control, None)?, [4, 63, 0])?;
        same("what sets levels", runs(rig, rows, p, control, Some(8))?, [4, 21, 4])?;
        same("all of evaluation", runs(rig, rows, p, evaluation, None)?, [33, 525, 0])?;
        same("threads in the middle", runs(rig, rows, p, evaluation, Some(8))?[1], 105)?;
        same("vertices", runs(rig, rows, p, Stage::VERTEX, None)?, [4, 63, 0])
    })
}

/// Six task workgroups of two warps, in the first of which eight threads write; twelve mesh workgroups of a warp, in which three
/// write vertices and one a triangle.
fn mesh(rig: &Rig) -> Found {
    let stages = [(Stage::TASK_EXT, shader!("stages.task")), (Stage::MESH_EXT, shader!("stages.mesh"))];
    let mesh = ash::ext::mesh_shader::Device::new(&rig.context.instance, &rig.context.device);
    let draw = |_: &ash::Device, c| unsafe { mesh.cmd_draw_mesh_tasks(c, 3, 2, 1) };
    both(rig, &[], &stages, vk::PrimitiveTopology::TRIANGLE_LIST, draw, |rows, p| {
        let (task, mesh) = (Stage::TASK_EXT, Stage::MESH_EXT);
        same("all of task", runs(rig, rows, p, task, None)?, [12, 192, 0])?;
        same("what writes the payload", runs(rig, rows, p, task, Some(10))?, [6, 48, 6])?;
        same("all of mesh", runs(rig, rows, p, mesh, None)?, [12, 192, 0])?;
        same("what writes vertices", runs(rig, rows, p, mesh, Some(13))?, [12, 36, 12])?;
        same("what writes triangles", runs(rig, rows, p, mesh, Some(15))?, [12, 12, 12])
    })
}
