//! Ray tracing pipelines: their shader groups, libraries and handles (VK_KHR_ray_tracing_pipeline).

use crate::base::answer::{Answer, invalid};
use crate::base::given::{Call, In, OutSlice};
use crate::device::Device;
use crate::pipeline::pipeline_binary;
use crate::pipeline::pipeline_cache::PipelineCache;
use crate::pipeline::pipeline_layout;
use crate::pipeline::{self, Executable, Pipeline, PipelineKind, Shared, Source};
use crate::sync::deferred_operation;
use gpu::trace::{Group, HANDLE, MAX_RECURSION, RayPipeline, Shader};
use machine::lost::Title;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Instant;
use vk::RayTracingShaderGroupTypeKHR as Type;
use vk::ShaderStageFlags as Stages;

fn flags(info: In<vk::RayTracingPipelineCreateInfoKHR>) -> vk::PipelineCreateFlags2 {
    pipeline::flags(info.find(), info.flags)
}

/// A pipeline's own part, if it is one for rays.
pub(crate) fn rays(shared: &Shared) -> Option<&Arc<RayPipeline>> {
    match &shared.kind {
        PipelineKind::RayTracing(p) => Some(p),
        _ => None,
    }
}

/// Bytes of what names a group in a capture.
const CAPTURED: usize = 8;

/// The name that a group is to have, from a capture.
fn replayed(g: &vk::RayTracingShaderGroupCreateInfoKHR) -> Option<u64> {
    let handle = g.p_shader_group_capture_replay_handle.cast::<u64>();
    // SAFETY: valid usage: as many bytes as the properties say.
    (!handle.is_null()).then(|| unsafe { handle.read_unaligned() })
}

/// One group of a creation, whose stages are these.
fn group(g: &vk::RayTracingShaderGroupCreateInfoKHR, stages: &[Executable]) -> Answer<Group> {
    let shader = |index: u32, of: Stages| match stages.get(index as usize) {
        _ if index == vk::SHADER_UNUSED_KHR => Ok(None),
        Some(s) if of.contains(s.stage) => Ok(Some(index as usize)),
        _ => Err(invalid(&format!(
            "vkCreateRayTracingPipelinesKHR: a group's shader {index} is none, or of another stage"
        ))),
    };
    let is_hit = g.ty != Type::GENERAL;
    let general = Stages::RAYGEN_KHR | Stages::MISS_KHR | Stages::CALLABLE_KHR;
    let of_hits = |index: u32, of: Stages| if is_hit { shader(index, of) } else { Ok(None) };
    Ok(Group {
        id: replayed(g).unwrap_or_else(Group::new_id),
        general: if is_hit { None } else { shader(g.general_shader, general)? },
        closest_hit: of_hits(g.closest_hit_shader, Stages::CLOSEST_HIT_KHR)?,
        any_hit: of_hits(g.any_hit_shader, Stages::ANY_HIT_KHR)?,
        intersection: match g.ty {
            Type::PROCEDURAL_HIT_GROUP => shader(g.intersection_shader, Stages::INTERSECTION_KHR)?,
            _ => None,
        },
    })
}

/// What a creation's own stages say.
fn sources(info: In<vk::RayTracingPipelineCreateInfoKHR>) -> Answer<Vec<Source>> {
    let mut places = pipeline_binary::Places::default();
    let of = |s: In<vk::PipelineShaderStageCreateInfo>| {
        let nth = places.next(s.stage);
        pipeline::source(info.find(), s, flags(info), nth)
    };
    info.stages().into_iter().map(of).collect()
}

/// The libraries of a creation.
fn libraries<'a>(info: In<'a, vk::RayTracingPipelineCreateInfoKHR<'a>>) -> Answer<Vec<&'a Pipeline>> {
    let Some(l) = info.library_info() else { return Ok(vec![]) };
    let all = l.libraries().iter().map(|&l| {
        let library = info.object::<Pipeline>(l).ok_or(vk::Result::ERROR_UNKNOWN)?;
        match rays(library.shared()) {
            Some(_) => Ok(library),
            None => Err(invalid("vkCreateRayTracingPipelinesKHR: a library that is none")),
        }
    });
    all.collect()
}

/// What a creation's programs depend on.
pub(crate) fn keys(info: In<vk::RayTracingPipelineCreateInfoKHR>) -> Answer<Vec<u128>> {
    let layout =
        pipeline_layout::of_pipeline(info, info.layout, flags(info)).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let mut keys: Vec<u128> = sources(info)?.iter().map(|s| s.key(&layout)).collect();
    keys.extend(libraries(info)?.iter().flat_map(|l| l.shared().stages.iter().map(|s| s.key)));
    Ok(keys)
}

fn create(cache: Option<&PipelineCache>, info: In<vk::RayTracingPipelineCreateInfoKHR>) -> Answer<Pipeline> {
    let began = Instant::now();
    let flags = flags(info);
    let layout = pipeline_layout::of_pipeline(info, info.layout, flags).ok_or(vk::Result::ERROR_UNKNOWN)?;
    if info.max_pipeline_ray_recursion_depth > MAX_RECURSION {
        return Err(invalid(&format!(
            "vkCreateRayTracingPipelinesKHR: a recursion of {}, of {MAX_RECURSION} at most",
            info.max_pipeline_ray_recursion_depth
        )));
    }
    let must = flags.contains(pipeline::wide(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED));
    let (mut stages, mut hits, mut sources) = (vec![], vec![], sources(info)?);
    for source in &sources {
        let (made, hit) = source.compile(cache, &layout, must)?;
        stages.push(made);
        hits.push(hit);
    }
    let mut groups = vec![];
    // All names from a capture first: new ones beside them must differ.
    info.groups().into_iter().filter_map(|g| replayed(&g)).for_each(Group::replays);
    for g in info.groups() {
        groups.push(group(&g, &stages)?);
    }
    for library in libraries(info)? {
        let before = stages.len();
        let own = rays(library.shared()).into_iter().flat_map(|p| &p.groups);
        groups.extend(own.map(|g| g.moved(before)));
        stages.extend(library.shared().stages.iter().cloned());
        sources.extend(library.captured());
    }
    // A library that has captured nothing leaves gaps.
    if sources.len() != stages.len() {
        sources.clear();
    }
    pipeline::feedback(info.find(), began, &hits);
    let shaders: Vec<Arc<Shader>> = stages
        .iter()
        .map(|e| {
            let (program, name) = (e.compiled.program.clone(), e.compiled.name.clone());
            Arc::new(Shader { program, name })
        })
        .collect();
    let mut h = std::collections::hash_map::DefaultHasher::new();
    stages.iter().for_each(|e| e.content.hash(&mut h));
    let first = stages.iter().find(|e| e.stage == Stages::RAYGEN_KHR);
    let name = first.map_or("", |e| e.compiled.name.as_str());
    let title = Title::new(name, h.finish(), pipeline::made(&stages));
    let culls = [
        (vk::PipelineCreateFlags::RAY_TRACING_SKIP_TRIANGLES_KHR, 0x100),
        (vk::PipelineCreateFlags::RAY_TRACING_SKIP_AABBS_KHR, 0x200),
    ];
    let ray_flags = culls.iter().filter(|c| flags.contains(pipeline::wide(c.0))).map(|c| c.1).sum();
    let made = RayPipeline::new(shaders, groups, info.max_pipeline_ray_recursion_depth, ray_flags, title);
    let kind = PipelineKind::RayTracing(Arc::new(made));
    Ok(Pipeline::new(layout, flags, kind, stages).capturing(sources))
}

pub(crate) fn create_ray_tracing_pipelines_khr(
    device: &Device,
    operation: vk::DeferredOperationKHR,
    cache: vk::PipelineCache,
    infos: In<[vk::RayTracingPipelineCreateInfoKHR]>,
    out: OutSlice<vk::Pipeline>,
) -> vk::Result {
    let (n, infos, out) = (infos.len(), infos.as_ptr() as usize, out.start() as usize);
    let work = move |device: &Device| {
        // SAFETY: valid usage: the call's arrays stay until a deferred operation has ended.
        let (infos, out) = unsafe {
            let infos = In::array(infos as *const vk::RayTracingPipelineCreateInfoKHR, n);
            (infos, OutSlice::new(out as *mut vk::Pipeline, n))
        };
        pipeline::create_all(device, cache, infos, out, flags, create)
    };
    deferred_operation::perform(device, operation, work)
}

/// Writes `each` of groups `first` on.
fn write<const N: usize>(
    device: &Device,
    pipeline: vk::Pipeline,
    first: u32,
    count: u32,
    data: OutSlice<u8>,
    each: impl Fn(&Group) -> [u8; N],
) -> vk::Result {
    let found = device.object::<Pipeline>(pipeline).and_then(|p| rays(p.shared()));
    let end = (first as usize).saturating_add(count as usize);
    let groups = found.and_then(|p| p.groups.get(first as usize..end));
    let Some(groups) = groups.filter(|g| g.len() * N <= data.len()) else {
        return invalid(&format!("groups {first} + {count} are not the pipeline's, or do not fit"));
    };
    for (i, g) in groups.iter().enumerate() {
        // It fits, as just compared.
        let _ = data.put(i * N, &each(g));
    }
    vk::Result::SUCCESS
}

pub(crate) fn get_ray_tracing_shader_group_handles_khr(
    device: &Device,
    pipeline: vk::Pipeline,
    first: u32,
    count: u32,
    data: OutSlice<u8>,
) -> vk::Result {
    write::<HANDLE>(device, pipeline, first, count, data, Group::handle)
}

pub(crate) fn get_ray_tracing_capture_replay_shader_group_handles_khr(
    device: &Device,
    pipeline: vk::Pipeline,
    first: u32,
    count: u32,
    data: OutSlice<u8>,
) -> vk::Result {
    write::<CAPTURED>(device, pipeline, first, count, data, |g| g.id.to_le_bytes())
}

/// A lane's private words: there is no other stack, and none that an application could make too small.
pub(crate) fn get_ray_tracing_shader_group_stack_size_khr(
    device: &Device,
    pipeline: vk::Pipeline,
    group: u32,
    shader: vk::ShaderGroupShaderKHR,
) -> u64 {
    let found = device.object::<Pipeline>(pipeline).and_then(|p| rays(p.shared()));
    let Some((p, g)) = found.and_then(|p| Some((p, p.groups.get(group as usize)?))) else { return 0 };
    let index = match shader {
        vk::ShaderGroupShaderKHR::GENERAL => g.general,
        vk::ShaderGroupShaderKHR::CLOSEST_HIT => g.closest_hit,
        vk::ShaderGroupShaderKHR::ANY_HIT => g.any_hit,
        _ => g.intersection,
    };
    index.map_or(0, |i| p.shaders[i].program.scratch_words as u64 * 4)
}
