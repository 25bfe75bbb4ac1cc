//! A device with the extension, its entry points, objects, and their values.

use super::text;
use client::compute::KernelInfo;
use client::graphics::{Attachment, Image, Load, Pass, Pipeline, PipelineInfo};
use client::{Buffer, Context, Kernel, Library};
use std::ffi::{CStr, c_char, c_void};
use std::rc::Rc;
use vk::Handle;

/// VK_PIPELINE_CREATE_2_INSTRUMENT_SHADERS_BIT_ARM, bit 39.
pub const INSTRUMENT: vk::PipelineCreateFlags2KHR = vk::PipelineCreateFlags2KHR::from_raw(0x80_0000_0000);
/// Pixels of a side of the colour targets.
pub const SIDE: u32 = 64;

type Enumerate = unsafe extern "system" fn(
    vk::PhysicalDevice,
    *mut u32,
    *mut vk::ShaderInstrumentationMetricDescriptionARM<'_>,
) -> vk::Result;
type Create = unsafe extern "system" fn(
    vk::Device,
    *const vk::ShaderInstrumentationCreateInfoARM<'_>,
    *const vk::AllocationCallbacks<'_>,
    *mut vk::ShaderInstrumentationARM,
) -> vk::Result;
type Destroy =
    unsafe extern "system" fn(vk::Device, vk::ShaderInstrumentationARM, *const vk::AllocationCallbacks<'_>);
type Begin = unsafe extern "system" fn(vk::CommandBuffer, vk::ShaderInstrumentationARM);
type End = unsafe extern "system" fn(vk::CommandBuffer);
type Get = unsafe extern "system" fn(
    vk::Device,
    vk::ShaderInstrumentationARM,
    *mut u32,
    *mut c_void,
    vk::ShaderInstrumentationValuesFlagsARM,
) -> vk::Result;
type Clear = unsafe extern "system" fn(vk::Device, vk::ShaderInstrumentationARM);

pub struct Rig {
    pub context: Rc<Context>,
    pub enumerate: Enumerate,
    create: Create,
    destroy: Destroy,
    pub begin: Begin,
    pub end: End,
    pub get: Get,
    clear: Clear,
    pub executable: ash::khr::pipeline_executable_properties::Device,
    pub multi_draw: ash::ext::multi_draw::Device,
    /// Values of a block.
    pub metrics: usize,
}

/// Features, each alone in its structure, after those of the chain that `last` leads to.
macro_rules! enabled {
    ($last:ident; $($name:ident: $structure:ident.$feature:ident;)+) => {
        $(
            let mut $name =
                vk::$structure { p_next: $last, $feature: vk::TRUE, ..Default::default() };
            $last = (&raw mut $name).cast();
        )+
    };
}

impl Rig {
    /// On the first device that the environment shows.
    pub fn open() -> Result<Rig, String> {
        let mut multi_draw = vk::PhysicalDeviceMultiDrawFeaturesEXT::default().multi_draw(true);
        let mut mesh = vk::PhysicalDeviceMeshShaderFeaturesEXT::default().task_shader(true).mesh_shader(true);
        mesh.p_next = (&raw mut multi_draw).cast();
        let mut last: *mut c_void = (&raw mut mesh).cast();
        enabled!(last;
            executable: PhysicalDevicePipelineExecutablePropertiesFeaturesKHR.pipeline_executable_info;
            maintenance5: PhysicalDeviceMaintenance5FeaturesKHR.maintenance5;
            instrumentation: PhysicalDeviceShaderInstrumentationFeaturesARM.shader_instrumentation;
            cores: PhysicalDeviceShaderCoreBuiltinsFeaturesARM.shader_core_builtins;
            regions: PhysicalDevicePerformanceCountersByRegionFeaturesARM.performance_counters_by_region;
            libraries: PhysicalDeviceGraphicsPipelineLibraryFeaturesEXT.graphics_pipeline_library;
            merging: PhysicalDeviceSubpassMergeFeedbackFeaturesEXT.subpass_merge_feedback;
        );
        let names = [
            c"VK_ARM_performance_counters_by_region",
            c"VK_ARM_shader_core_builtins",
            c"VK_ARM_shader_instrumentation",
            ash::khr::maintenance5::NAME,
            ash::khr::pipeline_executable_properties::NAME,
            ash::khr::pipeline_library::NAME,
            ash::ext::graphics_pipeline_library::NAME,
            ash::ext::mesh_shader::NAME,
            ash::ext::multi_draw::NAME,
            ash::ext::subpass_merge_feedback::NAME,
        ];
        let library = Library::any().map_err(text)?;
        let context = Context::extended(library, &names, last.cast()).map_err(text)?;
        let device = &context.device;
        let load = |name: &CStr| {
            // SAFETY: live handles; the name is terminated.
            let f =
                unsafe { (context.instance.fp_v1_0().get_device_proc_addr)(device.handle(), name.as_ptr()) };
            f.ok_or_else(|| format!("no {name:?}"))
        };
        let properties = {
            let mut p = vk::PhysicalDeviceShaderInstrumentationPropertiesARM::default();
            let mut all = vk::PhysicalDeviceProperties2 { p_next: (&raw mut p).cast(), ..Default::default() };
            // SAFETY: a valid chain.
            unsafe { context.instance.get_physical_device_properties2(context.physical, &mut all) };
            p
        };
        if properties.per_basic_block_granularity != vk::TRUE || properties.num_metrics == 0 {
            return Err("perBasicBlockGranularity is false, or there are no metrics".into());
        }
        let enumerate = c"vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM";
        // SAFETY: entry points are cast to the types that vk.xml gives them.
        unsafe {
            let entry = context.instance_function(enumerate).ok_or("no enumeration command")?;
            Ok(Rig {
                enumerate: std::mem::transmute::<unsafe extern "system" fn(), Enumerate>(entry),
                create: std::mem::transmute::<unsafe extern "system" fn(), Create>(load(
                    c"vkCreateShaderInstrumentationARM",
                )?),
                destroy: std::mem::transmute::<unsafe extern "system" fn(), Destroy>(load(
                    c"vkDestroyShaderInstrumentationARM",
                )?),
                begin: std::mem::transmute::<unsafe extern "system" fn(), Begin>(load(
                    c"vkCmdBeginShaderInstrumentationARM",
                )?),
                end: std::mem::transmute::<unsafe extern "system" fn(), End>(load(
                    c"vkCmdEndShaderInstrumentationARM",
                )?),
                get: std::mem::transmute::<unsafe extern "system" fn(), Get>(load(
                    c"vkGetShaderInstrumentationValuesARM",
                )?),
                clear: std::mem::transmute::<unsafe extern "system" fn(), Clear>(load(
                    c"vkClearShaderInstrumentationMetricsARM",
                )?),
                executable: ash::khr::pipeline_executable_properties::Device::new(&context.instance, device),
                multi_draw: ash::ext::multi_draw::Device::new(&context.instance, device),
                metrics: properties.num_metrics as usize,
                context,
            })
        }
    }

    pub fn object(&self) -> Result<Object<'_>, String> {
        let info = vk::ShaderInstrumentationCreateInfoARM::default();
        let mut handle = vk::ShaderInstrumentationARM::null();
        // SAFETY: a plain Vulkan call.
        let result =
            unsafe { (self.create)(self.context.device.handle(), &info, std::ptr::null(), &mut handle) };
        if result != vk::Result::SUCCESS || handle.is_null() {
            return Err(format!("vkCreateShaderInstrumentationARM: {result:?}"));
        }
        Ok(Object { rig: self, handle })
    }

    /// A compute kernel, instrumented or not.
    pub fn kernel(&self, spirv: &[u8], bindings: u32, instrumented: bool) -> Result<Kernel, String> {
        let flags = if instrumented { INSTRUMENT } else { vk::PipelineCreateFlags2KHR::empty() };
        Kernel::with_flags(&self.context, &KernelInfo { spirv, bindings, push_size: 0 }, flags).map_err(text)
    }

    pub fn buffer(&self, words: &[u32]) -> Result<Buffer, String> {
        let mut b = Buffer::new(&self.context, words.len() * 4).map_err(text)?;
        b.words_mut().copy_from_slice(words);
        Ok(b)
    }

    /// Records, submits and waits.
    pub fn run(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<(), String> {
        self.context.run(record).map_err(text)
    }

    /// A pipeline that fills RGBA8 targets by `fill.vert`.
    pub fn pipeline(&self, change: impl FnOnce(&mut PipelineInfo)) -> Result<Pipeline, String> {
        self.pipeline_with(PLAIN, None, change)
    }

    pub fn pipeline_with(
        &self,
        fragment: &[u8],
        bindings: Option<&client::graphics::Bindings>,
        change: impl FnOnce(&mut PipelineInfo),
    ) -> Result<Pipeline, String> {
        let mut info = PipelineInfo::new(FILL, fragment, vk::Format::R8G8B8A8_UNORM);
        info.push_size = 8;
        info.flags2 = INSTRUMENT;
        change(&mut info);
        Pipeline::new(&self.context, &info, bindings).map_err(text)
    }

    pub fn image(&self, info: client::graphics::ImageInfo) -> Result<Image, String> {
        Image::new(&self.context, info).map_err(text)
    }

    pub fn target(&self) -> Result<Image, String> {
        self.image(client::graphics::ImageInfo::colour(vk::Format::R8G8B8A8_UNORM, [SIDE; 2]))
    }

    /// A pass over a target in which `draws` draw.
    pub fn pass(
        &self,
        target: &Image,
        commands: vk::CommandBuffer,
        draws: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) {
        let colours = vec![Attachment::new(target, Load::colour([0.0; 4]))];
        let pass = Pass { colours, size: [SIDE; 2], ..Default::default() };
        pass.record(&self.context.device, commands, draws);
    }

    /// The executable of a pipeline's stage.
    pub fn executable_of(&self, pipeline: vk::Pipeline, stage: vk::ShaderStageFlags) -> Result<u32, String> {
        let info = vk::PipelineInfoKHR::default().pipeline(pipeline);
        // SAFETY: a live pipeline.
        let all = unsafe { self.executable.get_pipeline_executable_properties(&info) }.map_err(text)?;
        let at = all.iter().position(|e| e.stages == stage);
        at.map(|i| i as u32).ok_or_else(|| format!("no executable of {stage:?}"))
    }

    /// The table of blocks of a pipeline's executable: what VK_KHR_pipeline_executable_properties tells as "Basic
    /// blocks".
    pub fn table(&self, pipeline: vk::Pipeline, executable: u32) -> Result<Table, String> {
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(executable);
        let mut list: Vec<vk::PipelineExecutableInternalRepresentationKHR> = Vec::new();
        // SAFETY: two calls for the sizes, a third for the texts, with memory of those sizes.
        unsafe {
            let f = self.executable.fp().get_pipeline_executable_internal_representations_khr;
            let device = self.context.device.handle();
            let mut count = 0;
            let _ = f(device, &info, &mut count, std::ptr::null_mut());
            list.resize(count as usize, Default::default());
            let _ = f(device, &info, &mut count, list.as_mut_ptr());
            let mut texts: Vec<Vec<u8>> = list.iter().map(|r| vec![0; r.data_size]).collect();
            for (r, t) in list.iter_mut().zip(&mut texts) {
                r.p_data = t.as_mut_ptr().cast();
            }
            let result = f(device, &info, &mut count, list.as_mut_ptr());
            if result != vk::Result::SUCCESS {
                return Err(format!("vkGetPipelineExecutableInternalRepresentationsKHR: {result:?}"));
            }
            let found = list.iter().position(|r| client::library::name(&r.name) == "Basic blocks");
            let table = found.map(|i| texts.swap_remove(i)).ok_or("no table of basic blocks")?;
            let table = table.strip_suffix(&[0]).ok_or("the table is not terminated")?;
            let json: serde_json::Value = serde_json::from_slice(table).map_err(text)?;
            Table::read(&json).ok_or_else(|| format!("not a table of blocks: {json}"))
        }
    }
}

pub const FILL: &[u8] = include_bytes!("../../shaders/instrumentation/fill.vert.spv");
pub const PLAIN: &[u8] = include_bytes!("../../shaders/instrumentation/plain.frag.spv");

/// What blocks are.
pub struct Table(pub Vec<Info>);

pub struct Info {
    pub function: String,
    pub lines: Vec<u32>,
    pub loop_header: bool,
}

impl Table {
    fn read(json: &serde_json::Value) -> Option<Table> {
        let info = |(i, b): (usize, &serde_json::Value)| {
            (b["index"].as_u64()? == i as u64).then_some(())?;
            Some(Info {
                function: b["functionName"].as_str()?.into(),
                lines: b["lines"].as_array()?.iter().filter_map(|l| Some(l.as_u64()? as u32)).collect(),
                loop_header: b["loopHeader"].as_bool()?,
            })
        };
        json.as_array()?.iter().enumerate().map(info).collect::<Option<Vec<_>>>().map(Table)
    }

    /// The one block that has instructions of this line alone.
    pub fn line(&self, line: u32) -> Result<u32, String> {
        self.one(&format!("line {line}"), |b| b.lines == [line])
    }

    pub fn loop_header(&self) -> Result<u32, String> {
        self.one("a loop header", |b| b.loop_header)
    }

    fn one(&self, what: &str, wanted: impl Fn(&Info) -> bool) -> Result<u32, String> {
        let all: Vec<usize> = (0..self.0.len()).filter(|&i| wanted(&self.0[i])).collect();
        match all[..] {
            [one] => Ok(one as u32),
            _ => Err(format!("{} blocks have {what}", all.len())),
        }
    }
}

/// A metric block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub result: u32,
    pub sub: u32,
    pub stages: vk::ShaderStageFlags,
    pub block: u32,
    pub values: Vec<u64>,
}

/// Indices of metrics, in the order in which Tuff enumerates them.
pub const WARPS: usize = 0;
pub const THREADS: usize = 1;
pub const DIVERGED: usize = 2;
pub const ARITHMETIC: usize = 3;
pub const FMA: usize = 4;
pub const CVT: usize = 5;
pub const SFU: usize = 6;
pub const LOAD_STORE: usize = 7;
pub const TEXTURE: usize = 8;
pub const VARYING: usize = 9;
pub const LINES: usize = 10;

/// An instrumentation object with its life.
pub struct Object<'a> {
    rig: &'a Rig,
    pub handle: vk::ShaderInstrumentationARM,
}

impl Object<'_> {
    pub fn begin(&self, commands: vk::CommandBuffer) {
        // SAFETY: recording into a command buffer that has begun, with live handles.
        unsafe { (self.rig.begin)(commands, self.handle) }
    }

    pub fn end(&self, commands: vk::CommandBuffer) {
        // SAFETY: as above.
        unsafe { (self.rig.end)(commands) }
    }

    /// Records what `record` does while this object is active.
    pub fn around(&self, commands: vk::CommandBuffer, record: impl FnOnce()) {
        self.begin(commands);
        record();
        self.end(commands);
    }

    pub fn clear(&self) {
        // SAFETY: live handles.
        unsafe { (self.rig.clear)(self.rig.context.device.handle(), self.handle) }
    }

    /// vkGetShaderInstrumentationValuesARM with room for `room` blocks: result, count told, the bytes.
    pub fn get(&self, room: Option<u32>) -> (vk::Result, u32, Vec<u8>) {
        let size = 16 + 8 * self.rig.metrics;
        let mut count = room.unwrap_or(0);
        // A block more than there is room for, to see what is written after.
        let mut bytes = vec![0xA5; (count as usize + 1) * size];
        let out: *mut c_void = if room.is_none() { std::ptr::null_mut() } else { bytes.as_mut_ptr().cast() };
        let flags = vk::ShaderInstrumentationValuesFlagsARM::empty();
        // SAFETY: live handles; the memory has room for `count` blocks.
        let result =
            unsafe { (self.rig.get)(self.rig.context.device.handle(), self.handle, &mut count, out, flags) };
        (result, count, bytes)
    }

    /// All blocks, in the order in which they come.
    pub fn rows(&self) -> Result<Vec<Row>, String> {
        let (result, count, _) = self.get(None);
        if result != vk::Result::SUCCESS {
            return Err(format!("counting the blocks: {result:?}"));
        }
        let (result, told, bytes) = self.get(Some(count));
        if result != vk::Result::SUCCESS || told != count {
            return Err(format!("{told} of {count} blocks: {result:?}"));
        }
        Ok(decode(&bytes, count, self.rig.metrics))
    }
}

impl Drop for Object<'_> {
    fn drop(&mut self) {
        // SAFETY: every submission is waited for.
        unsafe { (self.rig.destroy)(self.rig.context.device.handle(), self.handle, std::ptr::null()) }
    }
}

pub fn decode(bytes: &[u8], count: u32, metrics: usize) -> Vec<Row> {
    let word = |b: &[u8], i: usize| u32::from_ne_bytes(b[4 * i..4 * i + 4].try_into().expect("four bytes"));
    bytes
        .chunks_exact(16 + 8 * metrics)
        .take(count as usize)
        .map(|b| Row {
            result: word(b, 0),
            sub: word(b, 1),
            stages: vk::ShaderStageFlags::from_raw(word(b, 2)),
            block: word(b, 3),
            values: b[16..]
                .chunks_exact(8)
                .map(|v| u64::from_ne_bytes(v.try_into().expect("eight")))
                .collect(),
        })
        .collect()
}

/// The values of a stage's block of a command, summed over its draws.
pub fn of(rows: &[Row], result: u32, stage: vk::ShaderStageFlags, block: u32) -> Result<Vec<u64>, String> {
    let mut found = rows.iter().filter(|r| (r.result, r.stages, r.block) == (result, stage, block));
    let mut sum = found
        .next()
        .ok_or_else(|| format!("no row of {stage:?} block {block}, result {result}"))?
        .values
        .clone();
    for r in found {
        sum.iter_mut().zip(&r.values).for_each(|(s, v)| *s += v);
    }
    Ok(sum)
}

/// Everything told, as numbers.
pub fn digest(rows: &[Row]) -> Vec<u64> {
    let row = |r: &Row| {
        let head = [r.result, r.sub, r.stages.as_raw(), r.block].map(u64::from);
        head.into_iter().chain(r.values.clone()).collect::<Vec<_>>()
    };
    rows.iter().flat_map(row).collect()
}

/// The text in a fixed array of characters.
pub fn string(chars: &[c_char]) -> String {
    client::library::name(chars)
}
