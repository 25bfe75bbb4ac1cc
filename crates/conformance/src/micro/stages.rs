//! Draws whose vertices go through geometry, tessellation, task and mesh shaders.

use super::Rig;
use super::draw::SIDE;
use crate::check::text;
use ash::vk;
use client::graphics::{Attachment, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo};
use vk::ShaderStageFlags as Stage;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Staged {
    /// 40 triangles, of which every other one is emitted.
    Geometry,
    /// 21 patches, each a grid of 5 × 5 points.
    Tessellation,
    /// 6 task workgroups of 32, each of which makes two mesh workgroups of 16, each of which makes a triangle.
    Mesh,
}

/// What is asked of each.
pub const STAGED: [(Staged, &str, &str); 8] = [
    (Staged::Geometry, "40 triangles through a geometry shader", "Geometry shader invocations"),
    (Staged::Geometry, "40 triangles through a geometry shader", "Geometry shader primitives"),
    (Staged::Geometry, "40 triangles through a geometry shader", "Generated primitives"),
    (Staged::Tessellation, "21 patches of 25 points", "Tessellation control patches"),
    (Staged::Tessellation, "21 patches of 25 points", "Tessellation evaluation shader invocations"),
    (Staged::Mesh, "6 task workgroups", "Task shader invocations"),
    (Staged::Mesh, "6 task workgroups", "Mesh shader invocations"),
    (Staged::Mesh, "6 task workgroups", "Mesh shader primitives"),
];

macro_rules! shader {
    ($name:literal) => {
        include_bytes!(concat!("../../shaders/instrumentation/", $name, ".spv")).as_slice()
    };
}

impl Rig {
    pub(super) fn staged(&self, counter: &str, staged: Staged) -> Result<f64, String> {
        let c = &self.context;
        let vertex = if staged == Staged::Mesh { &[][..] } else { shader!("fill.vert") };
        let mut info = PipelineInfo::new(vertex, shader!("plain.frag"), vk::Format::R8G8B8A8_UNORM);
        info.push_size = 8;
        info.topology = vk::PrimitiveTopology::TRIANGLE_LIST;
        match staged {
            Staged::Geometry => info.stages = vec![(Stage::GEOMETRY, shader!("stages.geom"))],
            Staged::Tessellation => {
                info.stages = vec![
                    (Stage::TESSELLATION_CONTROL, shader!("stages.tesc")),
                    (Stage::TESSELLATION_EVALUATION, shader!("stages.tese")),
                ];
                info.topology = vk::PrimitiveTopology::PATCH_LIST;
                info.patch = 3;
            }
            Staged::Mesh => {
                info.stages = vec![
                    (Stage::TASK_EXT, shader!("stages.task")),
                    (Stage::MESH_EXT, shader!("stages.mesh")),
                ];
            }
        }
        let pipeline = Pipeline::new(c, &info, None).map_err(text)?;
        let size = [SIDE; 2];
        let target = Image::new(c, ImageInfo::colour(vk::Format::R8G8B8A8_UNORM, size)).map_err(text)?;
        let mesh = ash::ext::mesh_shader::Device::new(&c.instance, &c.device);
        let push: Vec<u8> = [0.5f32, 1.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        self.counted(counter, || {
            c.run(|device, commands| {
                let colours = vec![Attachment::new(&target, Load::colour([0.0; 4]))];
                let pass = Pass { colours, size, ..Pass::default() };
                pass.record(device, commands, |d, commands| {
                    pipeline.bind(commands, None, &push);
                    // SAFETY: recording with everything bound.
                    unsafe {
                        match staged {
                            Staged::Geometry => d.cmd_draw(commands, 120, 1, 0, 0),
                            Staged::Tessellation => d.cmd_draw(commands, 63, 1, 0, 0),
                            Staged::Mesh => mesh.cmd_draw_mesh_tasks(commands, 3, 2, 1),
                        }
                    }
                });
            })
        })
    }
}
