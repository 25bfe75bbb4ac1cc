//! Graphics pipelines: whole, as libraries of some of their four parts, and linked from such.

use crate::base::answer::{Answer, invalid};
use crate::base::given::{Call, In, OutSlice};
use crate::base::hash::Hasher128;
use crate::device::Device;
use crate::pipeline::draw_settings::{Dynamic, Settings};
use crate::pipeline::pipeline_cache::PipelineCache;
use crate::pipeline::pipeline_layout::{self, Layout};
use crate::pipeline::pipeline_state::{self as state, Targets};
use crate::pipeline::{self, Executable, Pipeline, PipelineKind, Shared, Source, wide};
use machine::lost::Title;
use raster::state::{FeedbackLoop, GraphicsPipeline};
use small_sort::SmallSort;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Instant;
use vk::GraphicsPipelineLibraryFlagsEXT as Parts;
use vk::PipelineCreateFlags as Flags;

const ALL: Parts = Parts::from_raw(
    Parts::VERTEX_INPUT_INTERFACE.as_raw()
        | Parts::PRE_RASTERIZATION_SHADERS.as_raw()
        | Parts::FRAGMENT_SHADER.as_raw()
        | Parts::FRAGMENT_OUTPUT_INTERFACE.as_raw(),
);

pub(crate) struct Graphics {
    /// `None` for a library.
    pub pipeline: Option<Arc<GraphicsPipeline>>,
    pub settings: Settings,
    pub dynamic: Dynamic,
    library: Option<Library>,
}

impl Graphics {
    /// Of shader objects: all state is dynamic.
    pub(crate) fn of_shaders(pipeline: GraphicsPipeline) -> Graphics {
        let pipeline = Some(Arc::new(pipeline));
        Graphics { pipeline, settings: Settings::default(), dynamic: Dynamic::ALL, library: None }
    }
}

/// What a link needs of a library besides its state.
struct Library {
    parts: Parts,
    stages: Vec<Stage>,
    layouts: Vec<Arc<Layout>>,
    feedback: FeedbackLoop,
}

/// A stage, compiled for a layout.
#[derive(Clone)]
struct Stage {
    source: Source,
    layout: Arc<Layout>,
    made: Executable,
}

fn flags(info: In<vk::GraphicsPipelineCreateInfo>) -> vk::PipelineCreateFlags2 {
    pipeline::flags(info.find(), info.flags)
}

/// The stages of a creation; of a part of a pipeline without shaders there may be none.
pub(crate) fn stages_of<'a>(
    info: In<'a, vk::GraphicsPipelineCreateInfo<'a>>,
) -> In<'a, [vk::PipelineShaderStageCreateInfo<'a>]> {
    // SAFETY: so many wherever there are parts with shaders; else the count is 0 or the pointer null.
    unsafe { info.stages() }
}

/// The layout of a creation, if it has one. Error: one that is none.
fn layout_of(info: In<vk::GraphicsPipelineCreateInfo>) -> Answer<Option<Arc<Layout>>> {
    match pipeline_layout::of_pipeline(info, info.layout, flags(info)) {
        None if info.layout != vk::PipelineLayout::null() => Err(vk::Result::ERROR_UNKNOWN),
        found => Ok(found),
    }
}

/// Whether fragments may read attachments as images: by a flag, or as dynamic state says.
fn feedback(info: In<vk::GraphicsPipelineCreateInfo>) -> FeedbackLoop {
    let loops =
        wide(Flags::COLOR_ATTACHMENT_FEEDBACK_LOOP_EXT | Flags::DEPTH_STENCIL_ATTACHMENT_FEEDBACK_LOOP_EXT);
    let dynamic = info.dynamic_state().map_or(&[][..], |d| d.dynamic_states());
    if flags(info).intersects(loops) {
        FeedbackLoop::Always
    } else if dynamic.contains(&vk::DynamicState::ATTACHMENT_FEEDBACK_LOOP_ENABLE_EXT) {
        FeedbackLoop::Dynamic
    } else {
        FeedbackLoop::Never
    }
}

/// The libraries that a pipeline is linked from.
fn libraries<'a>(info: In<'a, vk::GraphicsPipelineCreateInfo<'a>>) -> Answer<Vec<&'a Shared>> {
    let Some(l) = info.find::<vk::PipelineLibraryCreateInfoKHR>() else {
        return Ok(Vec::new());
    };
    l.libraries()
        .iter()
        .map(|&p| {
            let shared = info.object::<Pipeline>(p).ok_or(vk::Result::ERROR_UNKNOWN)?.shared();
            match &shared.kind {
                PipelineKind::Graphics(g) if g.library.is_some() => Ok(shared),
                _ => Err(invalid("vkCreateGraphicsPipelines: a library that is none")),
            }
        })
        .collect()
}

/// The parts that a creation itself describes.
fn own_parts(info: In<vk::GraphicsPipelineCreateInfo>, is_library: bool, linked: bool) -> Parts {
    match info.find::<vk::GraphicsPipelineLibraryCreateInfoEXT>() {
        Some(l) => l.flags,
        None if is_library || linked => Parts::empty(),
        None => ALL,
    }
}

/// What a pipeline is put together from.
#[derive(Default)]
struct Build {
    parts: Parts,
    settings: Settings,
    dynamic: Dynamic,
    stages: Vec<Stage>,
    layouts: Vec<Arc<Layout>>,
    feedback: FeedbackLoop,
    /// Per stage of the creation itself: whether the application's cache had it.
    hits: Vec<bool>,
}

impl Build {
    fn take(&mut self, g: &Graphics, library: &Library) {
        let own = |p| library.parts.contains(p);
        if own(Parts::VERTEX_INPUT_INTERFACE) {
            self.settings.input = g.settings.input.clone();
        }
        if own(Parts::PRE_RASTERIZATION_SHADERS) {
            self.settings.geometry = g.settings.geometry.clone();
        }
        if own(Parts::FRAGMENT_SHADER) {
            self.settings.fragment = g.settings.fragment.clone();
        }
        if own(Parts::FRAGMENT_OUTPUT_INTERFACE) {
            self.settings.output = g.settings.output.clone();
        }
        self.parts |= library.parts;
        self.feedback = self.feedback.max(library.feedback);
        self.dynamic.insert(g.dynamic);
        self.stages.extend_from_slice(&library.stages);
        self.layouts.extend_from_slice(&library.layouts);
    }

    /// What the creation describes, as far as `parts` say.
    fn describe(
        &mut self,
        cache: Option<&PipelineCache>,
        info: In<vk::GraphicsPipelineCreateInfo>,
        parts: Parts,
        must_have: bool,
    ) -> Answer {
        // Each part has its own dynamic states; naming others has no effect.
        let on = state::dynamic(info).of_parts(parts);
        self.dynamic.insert(on);
        self.parts |= parts;
        if parts.contains(Parts::VERTEX_INPUT_INTERFACE) {
            self.settings.input = state::input(info, on)?;
        }
        let mut stages = vk::ShaderStageFlags::empty();
        let mut layout = None;
        if parts.intersects(Parts::PRE_RASTERIZATION_SHADERS | Parts::FRAGMENT_SHADER)
            && let Some(given) = layout_of(info)?
        {
            self.layouts.push(given.clone());
            layout = Some(given);
        }
        if parts.contains(Parts::PRE_RASTERIZATION_SHADERS) {
            self.settings.geometry = state::geometry(info, on);
            stages |= vk::ShaderStageFlags::ALL_GRAPHICS & !vk::ShaderStageFlags::FRAGMENT;
            stages |= vk::ShaderStageFlags::TASK_EXT | vk::ShaderStageFlags::MESH_EXT;
        }
        // Without rasterisation the fragment parts are ignored.
        let drawn = !self.parts.contains(Parts::PRE_RASTERIZATION_SHADERS)
            || state::rasterises(&self.settings.geometry, self.dynamic);
        if drawn {
            let whole = parts.contains(Parts::FRAGMENT_OUTPUT_INTERFACE)
                || info.render_pass != vk::RenderPass::null();
            let targets = Targets::of(info);
            if parts.contains(Parts::FRAGMENT_SHADER) {
                self.settings.fragment = state::fragment(info, whole.then_some(&targets));
                stages |= vk::ShaderStageFlags::FRAGMENT;
            }
            if parts.contains(Parts::FRAGMENT_OUTPUT_INTERFACE) {
                self.settings.output = state::output(info, &targets);
            }
        }
        for s in stages_of(info) {
            if !stages.contains(s.stage) {
                self.hits.push(false);
                continue;
            }
            let layout = layout.clone().ok_or(vk::Result::ERROR_UNKNOWN)?;
            let source = pipeline::source(info.find(), s, flags(info), 0)?;
            let (made, hit) = source.compile(cache, &layout, must_have)?;
            self.hits.push(hit);
            self.stages.push(Stage { source, layout, made });
        }
        Ok(())
    }

    /// The layout of the whole: the creation's if it has one, else all that the libraries have.
    fn layout(&self, info: In<vk::GraphicsPipelineCreateInfo>) -> Answer<Arc<Layout>> {
        if let Some(l) = layout_of(info)?
            && self.layouts.iter().all(|o| o.within(&l))
        {
            return Ok(l);
        }
        Ok(match self.layouts.as_slice() {
            [one] => one.clone(),
            all => Arc::new(Layout::union(all)),
        })
    }
}

/// `zero_one`: depth is clamped to 0 to 1 where nothing else clamps it.
fn graphics(
    cache: Option<&PipelineCache>,
    info: In<vk::GraphicsPipelineCreateInfo>,
    zero_one: bool,
) -> Answer<Pipeline> {
    let began = Instant::now();
    let flags = flags(info);
    let must_have = flags.contains(wide(Flags::FAIL_ON_PIPELINE_COMPILE_REQUIRED));
    let is_library = flags.contains(wide(Flags::LIBRARY_KHR));
    let linked = libraries(info)?;
    let parts = own_parts(info, is_library, !linked.is_empty());
    let mut b = Build { feedback: feedback(info), ..Default::default() };
    for shared in &linked {
        if let PipelineKind::Graphics(g) = &shared.kind
            && let Some(l) = &g.library
        {
            b.take(g, l);
        }
    }
    b.describe(cache, info, parts, must_have)?;
    b.settings.geometry.zero_one = zero_one;
    let layout = b.layout(info)?;
    // A library's shader may have been laid out with holes where the whole has sets.
    for s in &mut b.stages {
        if !s.layout.within(&layout) {
            s.made = s.source.compile(cache, &layout, must_have)?.0;
            s.layout = layout.clone();
        }
    }
    pipeline::feedback(info.find(), began, &b.hits);
    b.stages.small_sort_by_key(|s| s.made.stage.as_raw());
    let stages: Vec<Executable> = b.stages.iter().map(|s| s.made.clone()).collect();
    let sources: Vec<Source> = b.stages.iter().map(|s| s.source.clone()).collect();
    let drawn = state::rasterises(&b.settings.geometry, b.dynamic);
    let made = if is_library { None } else { Some(Arc::new(assemble(&stages, drawn, b.feedback)?)) };
    let library = is_library.then_some(Library {
        parts: b.parts,
        stages: b.stages,
        layouts: b.layouts,
        feedback: b.feedback,
    });
    let g = Graphics { pipeline: made, settings: b.settings, dynamic: b.dynamic, library };
    Ok(Pipeline::new(layout, flags, PipelineKind::Graphics(Box::new(g)), stages).capturing(sources))
}

/// What the programs of a creation depend on, those of its libraries included.
pub(crate) fn keys(info: In<vk::GraphicsPipelineCreateInfo>) -> Answer<Vec<u128>> {
    let mut keys: Vec<u128> = libraries(info)?.iter().flat_map(|l| l.stages.iter().map(|s| s.key)).collect();
    let layout = layout_of(info)?;
    for s in stages_of(info) {
        let source = pipeline::source(info.find(), s, flags(info), 0)?;
        // Stages of parts that a library does not have come without a layout, and are ignored.
        keys.extend(layout.as_ref().map(|l| source.key(l)));
    }
    Ok(keys)
}

/// The pipeline for the GPU. `drawn`: primitives may be rasterised.
pub(crate) fn assemble(
    stages: &[Executable],
    drawn: bool,
    feedback: FeedbackLoop,
) -> Answer<GraphicsPipeline> {
    let of = |stage| stages.iter().find(|s| s.stage == stage);
    // A mesh shader stands in the vertex shader's place.
    let mesh = of(vk::ShaderStageFlags::MESH_EXT);
    let Some(vertex) = mesh.or(of(vk::ShaderStageFlags::VERTEX)) else {
        return Err(invalid("graphics with neither a vertex nor a mesh shader"));
    };
    let fragment = of(vk::ShaderStageFlags::FRAGMENT).filter(|_| drawn);
    let program = |stage| of(stage).map(|s| s.compiled.program.clone());
    let tessellation = match (
        program(vk::ShaderStageFlags::TESSELLATION_CONTROL),
        program(vk::ShaderStageFlags::TESSELLATION_EVALUATION),
    ) {
        (Some(control), Some(evaluation)) => Some([control, evaluation]),
        (None, None) => None,
        _ => return Err(invalid("graphics with one tessellation stage without the other")),
    };
    let name = match fragment {
        Some(f) => format!("{}/{}", vertex.compiled.name, f.compiled.name),
        None => vertex.compiled.name.clone(),
    };
    let mut contents: Vec<(u32, u64)> = stages.iter().map(|s| (s.stage.as_raw(), s.content)).collect();
    contents.small_sort();
    let mut shaders = Hasher128::default();
    contents.hash(&mut shaders);
    Ok(GraphicsPipeline {
        vertex: vertex.compiled.program.clone(),
        tessellation,
        geometry: program(vk::ShaderStageFlags::GEOMETRY),
        task: program(vk::ShaderStageFlags::TASK_EXT).filter(|_| mesh.is_some()),
        fragment: fragment.map(|f| f.compiled.program.clone()),
        title: Title::new(name, shaders.finish(), pipeline::made(stages)),
        feedback,
    })
}

pub(crate) fn create_graphics_pipelines(
    device: &Device,
    cache: vk::PipelineCache,
    infos: In<[vk::GraphicsPipelineCreateInfo]>,
    out: OutSlice<vk::Pipeline>,
) -> vk::Result {
    // § Depth Clamping and Range Adjustment
    let zero_one = device.features.has("depthClampZeroOne")
        && !device.extensions.has(c"VK_EXT_depth_range_unrestricted");
    pipeline::create_all(device, cache, infos, out, flags, |c, i| graphics(c, i, zero_one))
}
