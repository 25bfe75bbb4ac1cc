//! Binaries and executables of pipelines with several shaders of one stage.

use super::pipelines::{Launch, MISSING, RECORD, Tracer};
use super::scene::*;
use ::vk as new;
use ash::vk;
use vk::ShaderStageFlags as Stages;

const CAPTURE: u64 = 1 << 31;
const UNUSED: u32 = vk::SHADER_UNUSED_KHR;

type Create = unsafe extern "system" fn(
    vk::Device,
    *const new::PipelineBinaryCreateInfoKHR,
    *const vk::AllocationCallbacks,
    *mut new::PipelineBinaryHandlesInfoKHR,
) -> vk::Result;
type Destroy = unsafe extern "system" fn(vk::Device, new::PipelineBinaryKHR, *const vk::AllocationCallbacks);

/// The miss shader, saying `said` instead of 2.
fn miss(said: u32) -> Vec<u8> {
    let mut words = shader::words(include_bytes!("../shaders/rays.rmiss.spv"));
    let mut at = 5;
    let mut changed = 0;
    while at < words.len() {
        // OpConstant of 2, whose word is the value stored.
        if words[at] == 43 | 4 << 16 && words[at + 3] == 2 {
            // Indices of the payload are signed numbers; this one is not.
            changed += 1;
            words[at + 3] = if changed == 1 { said } else { 2 };
        }
        at += (words[at] >> 16) as usize;
    }
    assert!(changed > 0);
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

impl Rig {
    /// A pipeline of a ray generation shader, two miss shaders and no hits, from modules or from binaries.
    fn with_two_misses(&self, flags: u64, binaries: &[new::PipelineBinaryKHR]) -> vk::Pipeline {
        let spirv = [include_bytes!("../shaders/rays.rgen.spv").to_vec(), miss(2), miss(22)];
        let modules =
            spirv.map(|s| if binaries.is_empty() { module(&self.gpu, &s) } else { Default::default() });
        let stages: Vec<_> = modules
            .iter()
            .zip([Stages::RAYGEN_KHR, Stages::MISS_KHR, Stages::MISS_KHR])
            .map(|(m, s)| vk::PipelineShaderStageCreateInfo::default().stage(s).module(*m).name(c"main"))
            .collect();
        // The second miss shader has two groups.
        let groups = [0, 1, 2, 2].map(|general| {
            vk::RayTracingShaderGroupCreateInfoKHR::default()
                .ty(vk::RayTracingShaderGroupTypeKHR::GENERAL)
                .general_shader(general)
                .closest_hit_shader(UNUSED)
                .any_hit_shader(UNUSED)
                .intersection_shader(UNUSED)
        });
        let with = new::PipelineBinaryInfoKHR {
            binary_count: binaries.len() as u32,
            p_pipeline_binaries: binaries.as_ptr(),
            ..Default::default()
        };
        let flags = new::PipelineCreateFlags2CreateInfoKHR {
            flags: new::PipelineCreateFlags2KHR::from_raw(flags),
            p_next: (&raw const with).cast(),
            ..Default::default()
        };
        let info = vk::RayTracingPipelineCreateInfoKHR {
            p_next: (&raw const flags).cast(),
            ..vk::RayTracingPipelineCreateInfoKHR::default()
                .stages(&stages)
                .groups(&groups)
                .max_pipeline_ray_recursion_depth(1)
                .layout(self.trace_layout)
        };
        // SAFETY (here and below): handles are alive, structures outlive the calls.
        let made = unsafe {
            let (none, cache) = (vk::DeferredOperationKHR::null(), vk::PipelineCache::null());
            let made = self.pipelines.create_ray_tracing_pipelines(none, cache, &[info], None);
            modules.into_iter().for_each(|m| self.gpu.device.destroy_shader_module(m, None));
            made.expect("a pipeline")[0]
        };
        self.ends.borrow_mut().push(made);
        made
    }

    /// What rays say that miss, by their miss shader.
    fn says(&self, pipeline: vk::Pipeline, scene: u64) -> [u32; 2] {
        let handles = unsafe { self.pipelines.get_ray_tracing_shader_group_handles(pipeline, 0, 3, 96) };
        let mut words = vec![];
        for handle in handles.expect("handles").chunks(32) {
            words.extend(handle.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)));
            words.extend([0; 8]);
        }
        let table = self.with(&words);
        let region = |at: u64, n: u64| vk::StridedDeviceAddressRegionKHR {
            device_address: table.address + at * RECORD,
            stride: RECORD,
            size: n * RECORD,
        };
        let none = vk::StridedDeviceAddressRegionKHR::default();
        let tracer = Tracer { pipeline, regions: [region(0, 1), region(1, 2), none, none], table };
        [0, 1].map(|miss| {
            let ray = Ray { own: [miss << 8, 0], ..MISSING };
            self.trace(&tracer, Launch::Direct, scene, &[ray], 1).expect("it runs")[0][0]
        })
    }
}

#[test]
fn binaries_of_one_stage_keep_their_order() {
    let rig = Rig::new();
    let scene = rig.address(&rig.scene());
    let first = rig.with_two_misses(CAPTURE, &[]);
    assert_eq!(rig.says(first, scene), [2, 22]);
    let d = rig.gpu.device.handle();
    let load = |name: &std::ffi::CStr| unsafe { rig.gpu.instance.get_device_proc_addr(d, name.as_ptr()) };
    let mut binaries = [new::PipelineBinaryKHR::null(); 3];
    let of = new::PipelineBinaryCreateInfoKHR { pipeline: first, ..Default::default() };
    let mut out = new::PipelineBinaryHandlesInfoKHR {
        pipeline_binary_count: 3,
        p_pipeline_binaries: binaries.as_mut_ptr(),
        ..Default::default()
    };
    unsafe {
        let create: Create = std::mem::transmute(load(c"vkCreatePipelineBinariesKHR").expect("it is there"));
        assert_eq!(create(d, &of, std::ptr::null(), &mut out), vk::Result::SUCCESS);
    }
    assert_eq!(out.pipeline_binary_count, 3);
    let second = rig.with_two_misses(0, &binaries);
    assert_eq!(rig.says(second, scene), [2, 22], "from binaries");
    unsafe {
        let destroy: Destroy = std::mem::transmute(load(c"vkDestroyPipelineBinaryKHR").expect("it is there"));
        binaries.into_iter().for_each(|b| destroy(d, b, std::ptr::null()));
    }
    // Executables say whose groups they are of.
    let all = ash::khr::pipeline_executable_properties::Device::new(&rig.gpu.instance, &rig.gpu.device);
    let info = vk::PipelineInfoKHR::default().pipeline(second);
    let all = unsafe { all.get_pipeline_executable_properties(&info) }.expect("executables");
    let groups: Vec<_> = all
        .iter()
        .map(|e| {
            let text = e.description_as_c_str().unwrap().to_str().unwrap();
            (e.stages, text.rsplit_once(", groups ").expect(text).1.to_string())
        })
        .collect();
    let want = [(Stages::RAYGEN_KHR, "0"), (Stages::MISS_KHR, "1"), (Stages::MISS_KHR, "2 3")];
    assert_eq!(groups, want.map(|(s, g)| (s, g.to_string())));
}
