//! VkPipeline, and what the creation of compute and graphics pipelines has in common: shaders from cache or compiler,
//! creation feedback, the walk over an array of creations.

use crate::base::answer::{Answer, invalid};
use crate::base::debug;
use crate::base::given::{Call, Doomed, In, OutSlice};
use crate::base::hash::Hasher128;
use crate::base::object::{self, Object};
use crate::base::signed::Body;
use crate::base::stage::stage_of;
use crate::descriptor::mappings::Mappings;
use crate::device::Device;
use crate::device::instrumentation::INSTRUMENT_SHADERS;
use crate::device::measured;
use crate::instance::limits::SUBGROUP_SIZE;
use crate::instance::properties::CACHE_UUID;
use crate::pipeline::pipeline_binary;
use crate::pipeline::pipeline_cache::{self, PipelineCache};
use crate::pipeline::pipeline_graphics::Graphics;
use crate::pipeline::pipeline_layout::Layout;
use crate::pipeline::shader_module::{self, Code};
use gpu::graphs::GraphPipeline;
use gpu::pipeline::ComputePipeline;
use gpu::trace::RayPipeline;
use machine::Mode;
use machine::descriptor::DYNAMIC_TABLE;
use machine::instrumentation::Active;
use machine::lost::{Made, Title};
use machine::sources::Sources;
use parking_lot::Mutex;
use shader::bytecode::Program;
use shader::instrument::{self, Block, Entry, Form};
use shader::ir::Stage;
use shader::options::{Options, WaveWidth};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Instant;
use vk::Handle;
use vk::{PipelineCreateFlags as Flags, PipelineCreateFlags2 as Flags2};

pub struct Pipeline {
    shared: Arc<Shared>,
    /// Its stages, for binaries to be made of it (VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR).
    captured: Mutex<Vec<Source>>,
}

/// What command buffers hold of a pipeline.
pub(crate) struct Shared {
    pub layout: Arc<Layout>,
    pub flags: Flags2,
    pub kind: PipelineKind,
    /// Its programs in the order of the stages.
    pub stages: Vec<Executable>,
    /// Where metrics go while the application has no object active.
    pub measured: Option<Active>,
}

pub(crate) enum PipelineKind {
    Compute(Arc<ComputePipeline>),
    Graphics(Box<Graphics>),
    RayTracing(Arc<RayPipeline>),
    DataGraph(Arc<GraphPipeline>),
}

/// A program of a pipeline.
#[derive(Clone)]
pub(crate) struct Executable {
    pub stage: vk::ShaderStageFlags,
    pub compiled: Arc<Compiled>,
    /// Key of the compilation, for messages and statistics.
    pub key: u128,
    /// A hash of what the application gave: module, entry point and specialisation.
    pub content: u64,
    /// Of an instrumented one: what the basic block indices of its metrics mean.
    pub blocks: Option<Arc<[Block]>>,
    /// Of one that `TUFF_INSTRUMENT` gathers: its module.
    pub code: Option<Arc<Code>>,
    /// The same's specialisation, while frames are recorded.
    pub spec: Vec<(u32, u64)>,
    /// What it is known by, if files of counters are wanted.
    pub made: Option<Arc<Made>>,
}

/// What stages are known by, in their order.
pub(crate) fn made<'a>(stages: impl IntoIterator<Item = &'a Executable>) -> Vec<Arc<Made>> {
    stages.into_iter().filter_map(|s| s.made.clone()).collect()
}

impl Executable {
    /// One that reads the clock looks at modelled time.
    pub(crate) fn observing(self) -> Executable {
        if self.compiled.program.reads_clock() {
            machine::observed::ask_all();
        }
        self
    }
}

/// What caches hold.
pub(crate) struct Compiled {
    pub program: Arc<Program>,
    /// The entry point.
    pub name: String,
}

impl Object for Pipeline {
    type Handle = vk::Pipeline;
}

impl Pipeline {
    pub(crate) fn new(
        layout: Arc<Layout>,
        flags: Flags2,
        kind: PipelineKind,
        stages: Vec<Executable>,
    ) -> Pipeline {
        let shared = Arc::new(Shared::new(layout, flags, kind, stages));
        Pipeline { shared, captured: Default::default() }
    }
    /// With the sources of its stages, if its flags ask for them to be kept.
    pub(crate) fn capturing(self, sources: impl IntoIterator<Item = Source>) -> Pipeline {
        if self.shared.flags.contains(pipeline_binary::CAPTURE_DATA) {
            *self.captured.lock() = sources.into_iter().collect();
        }
        self
    }
    pub(crate) fn captured(&self) -> Vec<Source> {
        self.captured.lock().clone()
    }
    pub(crate) fn release_captured(&self) {
        self.captured.lock().clear();
    }
    pub(crate) fn share(&self) -> Arc<Shared> {
        self.shared.clone()
    }
    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }
}

impl Shared {
    pub(crate) fn new(
        layout: Arc<Layout>,
        flags: Flags2,
        kind: PipelineKind,
        stages: Vec<Executable>,
    ) -> Shared {
        let gathered = |e: &Executable| {
            let code = e.code.clone()?;
            let (entry, program) = (e.compiled.name.clone(), e.compiled.program.clone());
            let module = e.made.as_ref().map_or(String::new(), |m| m.module.clone());
            Some(measured::Stage { stage: e.stage, entry, code, program, module })
        };
        let gathered: Vec<_> = stages.iter().filter_map(gathered).collect();
        let mut shared = Shared { layout, flags, kind, stages, measured: None };
        shared.measured = measured::gather(&gathered, shared.title());
        if gpu::record::wanted()
            && let Some(title) = shared.title()
        {
            title.made_of(|| shared.sources());
        }
        shared
    }
    /// What a recorded frame shows of it.
    fn sources(&self) -> Sources {
        let source = |e: &Executable| {
            let words = e.code.as_ref()?.module.words();
            Some(machine::sources::Source {
                stage: measured::stage_name(e.stage),
                entry: e.compiled.name.clone(),
                module: words.iter().flat_map(|w| w.to_le_bytes()).collect(),
                spec: e.spec.clone(),
            })
        };
        let sets = self.layout.sets.iter().zip(0..).filter_map(|(s, n)| Some((n, s.as_ref()?)));
        let all = sets.flat_map(|(n, s)| s.bindings.iter().map(move |b| (n, b.number)));
        Sources {
            stages: self.stages.iter().filter_map(source).collect(),
            bound: all.filter_map(|(s, b)| Some((s, b, self.layout.binding(s, b)?))).collect(),
            push_bytes: self.layout.push_bytes,
        }
    }
    /// Whether one of its shaders reads a descriptor of set `i`. Dynamic buffers share a table: where one is read, all sets
    /// that have some count.
    pub(crate) fn reads_set(&self, i: usize) -> bool {
        let dynamic = self.layout.sets[i].as_ref().is_some_and(|s| s.dynamic_count > 0);
        let reads = |p: &Program| p.reads_table(i as u32) || dynamic && p.reads_table(DYNAMIC_TABLE);
        self.stages.iter().any(|s| reads(&s.compiled.program))
    }
    /// What messages call it; a library has none.
    pub(crate) fn title(&self) -> Option<&Arc<Title>> {
        match &self.kind {
            PipelineKind::Compute(p) => Some(&p.title),
            PipelineKind::Graphics(g) => Some(&g.pipeline.as_ref()?.title),
            PipelineKind::RayTracing(p) => Some(&p.title),
            PipelineKind::DataGraph(p) => Some(&p.title),
        }
    }
}

/// The application names a pipeline.
pub(crate) fn named<'a>(call: impl Call<'a>, pipeline: vk::Pipeline) {
    if let Some(title) = call.object::<Pipeline>(pipeline).and_then(|p| p.shared().title()) {
        title.call(debug::called(pipeline.as_raw()));
    }
}

/// A stage as an application describes it, before it is compiled. Libraries keep it, for a link may lay descriptors
/// out otherwise.
#[derive(Clone)]
pub(crate) struct Source {
    pub stage: vk::ShaderStageFlags,
    code: Arc<Code>,
    entry: String,
    /// (id, little-endian value zero-extended to 64 bits)
    spec: Vec<(u32, u64)>,
    /// Where its bindings lie in heaps.
    mappings: Mappings,
    /// Created with VK_PIPELINE_CREATE_2_INSTRUMENT_SHADERS_BIT_ARM.
    instrumented: bool,
    /// What the application calls its module; empty if it does not.
    module: String,
    /// From a pipeline's binary: the program that the compilation of this key would make.
    pub ready: Option<(u128, Arc<Compiled>)>,
}

/// What the application calls a module, where somebody will read it; empty if it does not.
fn called(module: vk::ShaderModule) -> String {
    if !gpu::ledger::wanted() || module == vk::ShaderModule::null() {
        return String::new();
    }
    let called = debug::called(module.as_raw());
    called.strip_prefix('\'').and_then(|c| c.strip_suffix('\'')).unwrap_or_default().into()
}

pub(crate) fn specialisation(info: Option<In<vk::SpecializationInfo>>) -> Vec<(u32, u64)> {
    let Some(info) = info else { return Vec::new() };
    let data = info.data();
    info.map_entries()
        .iter()
        .filter_map(|e| {
            let start = e.offset as usize;
            let bytes = data.get(start..start.checked_add(e.size.min(8))?)?;
            let mut value = [0; 8];
            value[..bytes.len()].copy_from_slice(bytes);
            Some((e.constant_id, u64::from_le_bytes(value)))
        })
        .collect()
}

/// What a stage says, or an error for a subgroup size that there is not. `nth`: its place among the shaders of its stage.
pub(crate) fn source(
    binaries: Option<In<vk::PipelineBinaryInfoKHR>>,
    stage: In<vk::PipelineShaderStageCreateInfo>,
    flags: Flags2,
    nth: usize,
) -> Answer<Source> {
    subgroup_size(stage.find())?;
    if let Some(source) = pipeline_binary::of_stage(binaries, stage.stage, nth)? {
        return Ok(source);
    }
    Ok(Source {
        ready: None,
        stage: stage.stage,
        module: called(stage.module),
        code: shader_module::of_stage(stage)?,
        entry: stage.name().unwrap_or_default().to_string_lossy().into_owned(),
        spec: specialisation(stage.specialization_info()),
        mappings: Mappings::of(stage.find()),
        instrumented: flags.contains(INSTRUMENT_SHADERS) || measured::wanted(),
    })
}

/// What the creation of a shader object from SPIR-V says, or an error as [`source`]'s.
pub(crate) fn source_of_object(info: In<vk::ShaderCreateInfoEXT>) -> Answer<Source> {
    if stage_of(info.stage).is_none_or(Stage::is_ray_tracing) {
        return Err(invalid(&format!(
            "vkCreateShadersEXT: there are no shader objects of the stage {:?}",
            info.stage
        )));
    }
    let code = shader::words(info.code());
    Ok(Source {
        ready: None,
        stage: info.stage,
        module: String::new(),
        code: shader_module::of_words(&code, "vkCreateShadersEXT")?,
        entry: info.name().unwrap_or_default().to_string_lossy().into_owned(),
        spec: specialisation(info.specialization_info()),
        mappings: Mappings::of(info.find()),
        instrumented: info.flags.contains(vk::SHADER_CREATE_INSTRUMENT_SHADER_BIT_ARM) || measured::wanted(),
    })
}

/// An error for a required subgroup size that there is not.
pub(crate) fn subgroup_size(
    info: Option<In<vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo>>,
) -> Answer {
    match info {
        Some(size) if size.required_subgroup_size != SUBGROUP_SIZE => Err(invalid(&format!(
            "a shader stage wants subgroups of {}; they are always {SUBGROUP_SIZE}",
            size.required_subgroup_size
        ))),
        _ => Ok(()),
    }
}

impl Source {
    /// Bytes that [`Source::read`] makes a source of; of a driver's own, for they are not checked as SPIR-V from outside is.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let words = self.code.module.words();
        let mappings = self.mappings.words();
        let counts = [
            self.instrumented as u32,
            self.entry.len() as u32,
            self.spec.len() as u32,
            mappings.len() as u32,
            words.len() as u32,
        ];
        counts.iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes()));
        out.extend_from_slice(self.entry.as_bytes());
        for (id, value) in &self.spec {
            out.extend_from_slice(&id.to_le_bytes());
            out.extend_from_slice(&value.to_le_bytes());
        }
        mappings.iter().chain(words).for_each(|w| out.extend_from_slice(&w.to_le_bytes()));
    }
    /// The source at the beginning of a body, and the rest of the body.
    pub(crate) fn read(stage: vk::ShaderStageFlags, b: Body) -> Option<(Source, Body)> {
        let (counts, b) = b.split_chunk::<20>()?;
        let count = |k: usize| -> Option<usize> {
            Some(u32::from_le_bytes(*counts[4 * k..].first_chunk()?) as usize)
        };
        let (entry, b) = b.split(count(1)?)?;
        let (spec, b) = b.split(count(2)?.checked_mul(12)?)?;
        let (mappings, b) = b.split(count(3)?.checked_mul(4)?)?;
        let (words, b) = b.split(count(4)?.checked_mul(4)?)?;
        let spec = spec.chunks_exact(12).filter_map(|c| {
            let (id, value) = c.split_first_chunk::<4>()?;
            Some((u32::from_le_bytes(*id), u64::from_le_bytes(*value.first_chunk()?)))
        });
        let source = Source {
            stage,
            module: String::new(),
            code: shader_module::of_words(&shader::words(words), "a pipeline binary").ok()?,
            entry: std::str::from_utf8(entry).ok()?.to_string(),
            spec: spec.collect(),
            mappings: Mappings::from_words(&shader::words(mappings))?,
            instrumented: count(0)? != 0,
            ready: None,
        };
        Some((source, b))
    }

    /// What it is known by, if files of counters are wanted.
    fn made(&self, hash: u64) -> Option<Arc<Made>> {
        if !gpu::ledger::wanted() {
            return None;
        }
        let (stage, entry) = self.entry().ok()?;
        let sketch = instrument::sketch(&self.code.module, entry).ok()?;
        let (entry, module) = (self.entry.clone(), self.module.clone());
        Some(Arc::new(Made { stage: stage.name(), entry, module, hash, sketch }))
    }

    fn content(&self) -> u64 {
        let mut h = Hasher128::default();
        (self.code.hash, &self.entry, &self.spec, self.stage.as_raw()).hash(&mut h);
        h.finish()
    }

    /// Everything that a compilation depends on.
    pub(crate) fn key(&self, layout: &Layout) -> u128 {
        let mut h = Hasher128::default();
        (self.code.hash, &self.entry, &self.spec, self.stage.as_raw(), self.instrumented).hash(&mut h);
        if layout.heaps {
            self.mappings.hash(&mut h);
        }
        surroundings(layout, &mut h);
        h.done()
    }

    /// The program, and whether it came from the application's cache. `must_have`: an error rather than a compilation.
    pub(crate) fn compile(
        &self,
        cache: Option<&PipelineCache>,
        layout: &Layout,
        must_have: bool,
    ) -> Answer<(Executable, bool)> {
        let key = self.key(layout);
        let blocks = self.blocks()?;
        let stage = self.entry()?.0;
        // A key does not prove that a program from a blob is what its compilation would give.
        let fits = |c: &Arc<Compiled>| c.program.stage == stage && layout.has_all(&c.program);
        let code = measured::wanted().then(|| self.code.clone());
        let content = self.content();
        let done = |compiled: Arc<Compiled>| {
            if machine::sanitizer::wanted() && stage == Stage::Compute {
                machine::sanitizer::unused(&compiled.program, &self.entry, &layout.unused(&compiled.program));
            }
            let spec = if gpu::record::wanted() { self.spec.clone() } else { Vec::new() };
            let made = self.made(content);
            Executable { stage: self.stage, compiled, key, content, blocks, code, spec, made }.observing()
        };
        if let Some((of, compiled)) = &self.ready
            && *of == key
            && fits(compiled)
        {
            // No hit: that is said of the application's cache alone.
            return Ok((done(compiled.clone()), false));
        }
        // Programs of debugged shaders do not come back from bytes.
        let cache = cache.filter(|_| !machine::debugger::wanted());
        if let Some(c) = cache.and_then(|c| c.get(key)).filter(fits) {
            return Ok((done(c), true));
        }
        // A program that another pipeline already has is not compiled again, but it is no cache hit.
        let compiled = match pipeline_cache::of_process(key).filter(fits) {
            Some(c) => c,
            None if must_have => return Err(vk::Result::PIPELINE_COMPILE_REQUIRED),
            None => {
                let made = self.run_compiler(layout)?;
                let kept = pipeline_cache::remember(key, made.clone());
                if fits(&kept) { kept } else { made }
            }
        };
        if let Some(c) = cache {
            c.put(key, compiled.clone());
        }
        Ok((done(compiled), false))
    }

    /// This stage's functions.
    fn entry(&self) -> Answer<(Stage, Entry<'_>)> {
        let none = || invalid(&format!("there are no shaders for the stage {:?}", self.stage));
        let stage = stage_of(self.stage).ok_or_else(none)?;
        Ok((stage, Entry::Named(&self.entry, Some(stage.model() as u32))))
    }

    fn failed(&self, e: &shader::options::Error) -> vk::Result {
        shader_module::failed(&format!("{:?} shader '{}'", self.stage, self.entry), e)
    }

    /// The table of blocks, if this is instrumented.
    fn blocks(&self) -> Answer<Option<Arc<[Block]>>> {
        if !self.instrumented {
            return Ok(None);
        }
        let blocks = instrument::blocks(&self.code.module, self.entry()?.1).map_err(|e| self.failed(&e))?;
        Ok(Some(blocks.into()))
    }

    /// Compiles the module with a mark in each block.
    fn compile_marked(&self, entry: Entry, options: &Options) -> shader::options::Result<Program> {
        let made = instrument::instrument(&self.code.module, entry, Form::Marks)?;
        let mut program = shader::compile(&shader::Module::parse(&made.words)?, options)?;
        // Blocks that the compiler dropped (their conditions are constant) are reported as well.
        program.profile.mark_count = made.blocks.len() as u32;
        Ok(program)
    }

    /// The program with notes, if that is wanted: of waves as wide as they are without, so that the same invocations share a warp.
    fn debugged(&self, stage: Stage, program: &Program, options: &Options) -> Option<Arc<Program>> {
        let target = machine::debugger::target()?;
        let source = machine::debugger::Source {
            stage,
            entry: &self.entry,
            hash: self.content(),
            spec: &self.spec,
            words: self.code.module.words(),
        };
        // No target names an invocation of these.
        if !matches!(stage, Stage::Vertex | Stage::Fragment) && !stage.has_workgroups() {
            machine::debugger::cannot(&source, &"shaders of this stage are not debugged");
        }
        if !target.is_of(stage) {
            return None;
        }
        let (width, notes) = (WaveWidth::Lanes(program.lanes), Some(target));
        let options = Options { width, notes, ..*options };
        match shader::compile(&self.code.module, &options) {
            Ok(noted) => {
                let noted = Arc::new(noted);
                machine::debugger::compiled(&noted, &source);
                Some(noted)
            }
            Err(why) => {
                machine::debugger::cannot(&source, &why);
                None
            }
        }
    }

    fn run_compiler(&self, layout: &Layout) -> Answer<Arc<Compiled>> {
        let (stage, entry) = self.entry()?;
        let binding = |set, binding| layout.binding(set, binding);
        let mapping = |set, binding, kind| self.mappings.find(set, binding, kind);
        let options = Options {
            spec: &self.spec,
            mapping: layout.heaps.then_some(&mapping),
            push_bytes: layout.push_bytes,
            cores: modelled_cores(),
            sanitize: machine::sanitizer::wanted(),
            undefined: undefined(),
            ..Options::new(stage, &self.entry, &binding)
        };
        let program = match self.instrumented {
            true => self.compile_marked(entry, &options),
            false => shader::compile(&self.code.module, &options),
        };
        let program = Arc::new(program.map_err(|e| self.failed(&e))?);
        let program = self.debugged(stage, &program, &options).unwrap_or(program);
        Ok(Arc::new(Compiled { program, name: self.entry.clone() }))
    }
}

/// What a compilation depends on besides the shader.
pub(crate) fn surroundings(layout: &Layout, h: &mut Hasher128) {
    layout.hash(h);
    machine_hash(h);
}

/// The driver's build and the modelled GPU.
pub(crate) fn machine_hash(h: &mut Hasher128) {
    modelled_cores().hash(h);
    machine::sanitizer::wanted().hash(h);
    machine::debugger::target().hash(h);
    undefined().hash(h);
    h.write(&CACHE_UUID);
}

/// The word of undefined contents, if they are to show.
fn undefined() -> Option<u32> {
    texel::memory::poison::wanted().then_some(texel::memory::poison::WORD)
}

/// What shaders can ask of the modelled GPU.
fn modelled_cores() -> shader::options::ShaderCores {
    let m = counters::model::current();
    shader::options::ShaderCores { cores: m.cores as u32, warps: m.core.warps as u32 }
}

/// The flags of a creation: the wide ones of its chain if there are any.
pub(crate) fn flags(wider: Option<In<vk::PipelineCreateFlags2CreateInfoKHR>>, narrow: Flags) -> Flags2 {
    match wider {
        Some(f) => f.flags,
        None => wide(narrow),
    }
}

/// The wide form of a flag.
pub(crate) fn wide(narrow: Flags) -> Flags2 {
    Flags2::from_raw(narrow.as_raw() as u64)
}

/// Fills the creation feedback of a chain. `stages`: per stage, whether it came from the application's cache.
pub(crate) fn feedback(
    info: Option<In<vk::PipelineCreationFeedbackCreateInfo>>,
    began: Instant,
    stages: &[bool],
) {
    let Some(f) = info else { return };
    let duration = began.elapsed().as_nanos() as u64;
    let told = |hit: bool| {
        let mut flags = vk::PipelineCreationFeedbackFlags::VALID;
        if hit {
            flags |= vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT;
        }
        vk::PipelineCreationFeedback { flags, duration }
    };
    if let Some(whole) = f.pipeline_creation_feedback() {
        whole.set(told(!stages.is_empty() && stages.iter().all(|&h| h)));
    }
    let each = f.pipeline_stage_creation_feedbacks();
    for i in 0..each.len() {
        each.set(i, stages.get(i).map_or_else(Default::default, |&hit| told(hit)));
    }
}

/// Creates one pipeline after the other as vkCreate*Pipelines demand: failures leave null handles, the first error is
/// the answer.
pub(crate) fn create_all<'a, T>(
    device: &Device,
    cache: vk::PipelineCache,
    infos: In<'a, [T]>,
    out: OutSlice<vk::Pipeline>,
    flags: impl Fn(In<'a, T>) -> Flags2,
    make: impl Fn(Option<&PipelineCache>, In<'a, T>) -> Answer<Pipeline>,
) -> vk::Result {
    if device.hub().is_lost() {
        return vk::Result::ERROR_DEVICE_LOST;
    }
    // Constants are computed here.
    let _mode = Mode::plain();
    out.fill(vk::Pipeline::null());
    let cache = if cache == vk::PipelineCache::null() { None } else { device.object::<PipelineCache>(cache) };
    let mut result = vk::Result::SUCCESS;
    for (i, info) in infos.iter().enumerate().take(out.len()) {
        match make(cache, info) {
            Ok(p) => {
                let pipeline = object::create(p);
                out.set(i, pipeline);
                named(device, pipeline);
            }
            Err(e) => {
                // An error outranks PIPELINE_COMPILE_REQUIRED, which is none.
                if result.as_raw() >= 0 {
                    result = e;
                }
                if flags(info).contains(wide(Flags::EARLY_RETURN_ON_FAILURE)) {
                    break;
                }
            }
        }
    }
    result
}

pub(crate) fn destroy_pipeline(_: &Device, pipeline: Doomed<Pipeline>) {
    pipeline.destroy();
}
