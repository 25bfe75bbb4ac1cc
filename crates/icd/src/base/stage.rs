//! Stages of pipelines.

use shader::ir::Stage;

/// The compiler's name of a stage.
pub(crate) fn stage_of(stage: vk::ShaderStageFlags) -> Option<Stage> {
    Some(match stage {
        vk::ShaderStageFlags::VERTEX => Stage::Vertex,
        vk::ShaderStageFlags::TESSELLATION_CONTROL => Stage::TessControl,
        vk::ShaderStageFlags::TESSELLATION_EVALUATION => Stage::TessEval,
        vk::ShaderStageFlags::GEOMETRY => Stage::Geometry,
        vk::ShaderStageFlags::TASK_EXT => Stage::Task,
        vk::ShaderStageFlags::MESH_EXT => Stage::Mesh,
        vk::ShaderStageFlags::FRAGMENT => Stage::Fragment,
        vk::ShaderStageFlags::COMPUTE => Stage::Compute,
        vk::ShaderStageFlags::RAYGEN_KHR => Stage::RayGen,
        vk::ShaderStageFlags::INTERSECTION_KHR => Stage::Intersection,
        vk::ShaderStageFlags::ANY_HIT_KHR => Stage::AnyHit,
        vk::ShaderStageFlags::CLOSEST_HIT_KHR => Stage::ClosestHit,
        vk::ShaderStageFlags::MISS_KHR => Stage::Miss,
        vk::ShaderStageFlags::CALLABLE_KHR => Stage::Callable,
        _ => return None,
    })
}
