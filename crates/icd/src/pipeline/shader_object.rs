//! VkShaderEXT (VK_EXT_shader_object): one stage, compiled for the layout that its creation describes. What is bound
//! together becomes a pipeline when it is first drawn with (`shader_combinations.rs`): linked or not, stages are compiled each
//! by itself and their interfaces are matched by the GPU, so links need nothing.

use crate::base::answer::{Answer, invalid};
use crate::base::debug;
use crate::base::given::{Call, Doomed, In, List, OutSlice};
use crate::base::object::{self, Object};
use crate::device::Device;
use crate::instance::features;
use crate::pipeline::pipeline_compute;
use crate::pipeline::pipeline_layout::{self, Layout};
use crate::pipeline::shader_binary;
use crate::pipeline::shader_combinations::Combinations;
use crate::pipeline::{self, Executable, Shared, Source};
use machine::Mode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use vk::Handle;
use vk::{ShaderCreateFlagsEXT as Flags, ShaderStageFlags as Stages};

pub struct Shader {
    shared: Arc<Stage>,
}

/// What command buffers hold of a shader object.
pub(crate) struct Stage {
    /// Of all of the process, from 1.
    pub id: u64,
    pub made: Executable,
    pub layout: Arc<Layout>,
    /// `None` for a binary's. With independent sets, the others of a draw may move its dynamic buffers.
    pub source: Option<Source>,
    /// A compute shader as the pipeline that it is.
    pub compute: Option<Arc<Shared>>,
    /// What this one, as the first stage, was drawn with.
    pub combinations: Combinations,
    /// Its handle, for messages.
    pub raw: OnceLock<u64>,
}

impl Object for Shader {
    type Handle = vk::ShaderEXT;
}

impl Shader {
    fn new(made: Executable, layout: Arc<Layout>, source: Option<Source>) -> Shader {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let compute = (made.stage == Stages::COMPUTE).then(|| {
            let kind = pipeline_compute::kind(&made);
            Arc::new(Shared::new(layout.clone(), Default::default(), kind, vec![made.clone()]))
        });
        let id = NEXT.fetch_add(1, Relaxed);
        let (combinations, raw) = Default::default();
        Shader { shared: Arc::new(Stage { id, made, layout, source, compute, combinations, raw }) }
    }

    pub(crate) fn share(&self) -> Arc<Stage> {
        self.shared.clone()
    }
}

/// The application names a shader object. Pipelines of several take the names that they have when they are put together.
pub(crate) fn named<'a>(call: impl Call<'a>, shader: vk::ShaderEXT) {
    if let Some(s) = call.object::<Shader>(shader)
        && let Some(title) = s.shared.compute.as_ref().and_then(|p| p.title())
    {
        title.call(debug::called(shader.as_raw()));
    }
}

/// Flags that there are, each with the feature that it needs. Those of subgroups, of a base workgroup, of links and of the
/// absence of task shaders ask for nothing that is not always so.
const FLAGS: [(Flags, &str); 10] = [
    (Flags::ALLOW_VARYING_SUBGROUP_SIZE, "subgroupSizeControl"),
    (Flags::REQUIRE_FULL_SUBGROUPS, "computeFullSubgroups"),
    (Flags::NO_TASK_SHADER, "meshShader"),
    (Flags::FRAGMENT_SHADING_RATE_ATTACHMENT, "attachmentFragmentShadingRate"),
    (Flags::FRAGMENT_DENSITY_MAP_ATTACHMENT, "fragmentDensityMap"),
    // VK_SHADER_CREATE_INDIRECT_BINDABLE_BIT_EXT, VK_SHADER_CREATE_64_BIT_INDEXING_BIT_EXT
    (Flags::from_raw(1 << 7), "deviceGeneratedCommands"),
    (Flags::from_raw(1 << 15), "shader64BitIndexing"),
    (vk::SHADER_CREATE_INSTRUMENT_SHADER_BIT_ARM, "shaderInstrumentation"),
    (INDEPENDENT_SETS, "maintenance11"),
    (DESCRIPTOR_HEAP, "descriptorHeap"),
];

/// VK_SHADER_CREATE_INDEPENDENT_SETS_BIT_KHR
const INDEPENDENT_SETS: Flags = Flags::from_raw(1 << 18);
/// VK_SHADER_CREATE_DESCRIPTOR_HEAP_BIT_EXT
const DESCRIPTOR_HEAP: Flags = Flags::from_raw(1 << 10);

/// Which stages may have the flag; all where none are named.
fn stages_of(flag: Flags) -> Stages {
    match flag {
        Flags::LINK_STAGE | INDEPENDENT_SETS => !Stages::COMPUTE,
        Flags::REQUIRE_FULL_SUBGROUPS => Stages::COMPUTE | Stages::TASK_EXT | Stages::MESH_EXT,
        Flags::NO_TASK_SHADER => Stages::MESH_EXT,
        Flags::DISPATCH_BASE => Stages::COMPUTE,
        Flags::FRAGMENT_SHADING_RATE_ATTACHMENT | Flags::FRAGMENT_DENSITY_MAP_ATTACHMENT => Stages::FRAGMENT,
        _ => !Stages::empty(),
    }
}

/// An error for flags that the device has no feature for, or that the stage cannot have (VUID-VkShaderCreateInfoEXT-flags-…).
fn check_flags(flags: Flags, stage: Stages) -> Answer {
    let always = Flags::LINK_STAGE | Flags::DISPATCH_BASE;
    let known = FLAGS.iter().filter(|f| features::has(f.1)).fold(always, |all, f| all | f.0);
    if !known.contains(flags) {
        let feature = FLAGS.iter().find(|f| flags.contains(f.0) && !known.contains(f.0));
        let why =
            feature.map_or("that are not known".into(), |f| format!("of {}, which the device has not", f.1));
        return Err(invalid(&format!("vkCreateShadersEXT: flags {:#x} {why}", flags.as_raw())));
    }
    for bit in (0..32).map(|b| Flags::from_raw(1 << b)).filter(|&f| flags.contains(f)) {
        if !stages_of(bit).contains(stage) {
            return Err(invalid(&format!("vkCreateShadersEXT: flag {bit:?} for a shader of {stage:?}")));
        }
    }
    Ok(())
}

fn shader(info: In<vk::ShaderCreateInfoEXT>) -> Answer<Shader> {
    check_flags(info.flags, info.stage)?;
    pipeline::subgroup_size(info.find())?;
    let layout = match info.flags.contains(DESCRIPTOR_HEAP) {
        true => Layout::of_heaps(),
        false => Arc::new(pipeline_layout::described(
            info,
            // SAFETY: so many, of shaders that do not use descriptor heaps.
            unsafe { info.set_layouts() },
            info.push_constant_ranges(),
            "vkCreateShadersEXT",
        )?),
    };
    let mut source = None;
    let made = match info.code_type {
        vk::ShaderCodeTypeEXT::SPIRV => {
            source.insert(pipeline::source_of_object(info)?).compile(None, &layout, false)?.0
        }
        vk::ShaderCodeTypeEXT::BINARY => shader_binary::read(info.code(), info.stage, &layout)?,
        other => return Err(invalid(&format!("vkCreateShadersEXT: code of type {}", other.as_raw()))),
    };
    Ok(Shader::new(made, layout, source))
}

/// Failures leave null handles. The first failure is the result, and the shaders after it are not created.
pub(crate) fn create_shaders_ext(
    device: &Device,
    infos: In<[vk::ShaderCreateInfoEXT]>,
    out: OutSlice<vk::ShaderEXT>,
) -> vk::Result {
    // Constants are computed here.
    let _mode = Mode::plain();
    out.fill(vk::ShaderEXT::null());
    for (i, info) in infos.iter().enumerate().take(out.len()) {
        match shader(info) {
            Ok(s) => {
                let shared = s.share();
                let handle = object::create(s);
                out.set(i, handle);
                if handle == vk::ShaderEXT::null() {
                    return vk::Result::ERROR_OUT_OF_HOST_MEMORY;
                }
                let _ = shared.raw.set(handle.as_raw());
                named(device, handle);
            }
            // Not among the call's codes.
            Err(vk::Result::ERROR_INVALID_SHADER_NV) => return vk::Result::ERROR_INITIALIZATION_FAILED,
            Err(e) => return e,
        }
    }
    vk::Result::SUCCESS
}

pub(crate) fn destroy_shader_ext(_: &Device, shader: Doomed<Shader>) {
    shader.destroy();
}

/// All of the binary or nothing (§ vkGetShaderBinaryDataEXT).
pub(crate) fn get_shader_binary_data_ext(
    device: &Device,
    shader: vk::ShaderEXT,
    data: List<u8, usize>,
) -> vk::Result {
    let Some(s) = device.object::<Shader>(shader) else { return vk::Result::ERROR_UNKNOWN };
    let blob = shader_binary::write(&s.shared.made, &s.shared.layout);
    if data.room().is_some_and(|room| room < blob.len()) {
        data.count(0);
        return vk::Result::INCOMPLETE;
    }
    data.fill(&blob)
}
