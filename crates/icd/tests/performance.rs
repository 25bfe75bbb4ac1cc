//! VK_KHR_performance_query through the real loader, on a GPU that counts eight counters at a time.

mod common;
#[path = "common/gpu.rs"]
mod gpu;

use ash::vk;
use gpu::Gpu;
use std::collections::HashMap;
use std::ffi::CStr;

/// A compute shader of 32 invocations a workgroup that does nothing.
#[rustfmt::skip]
const EMPTY: [u32; 35] = [
    0x0723_0203, 0x0001_0000, 0, 5, 0,
    0x0002_0011, 1, // OpCapability Shader
    0x0003_000E, 0, 1, // OpMemoryModel Logical GLSL450
    0x0005_000F, 5, 1, 0x6E69_616D, 0, // OpEntryPoint GLCompute %1 "main"
    0x0006_0010, 1, 17, 32, 1, 1, // OpExecutionMode %1 LocalSize 32 1 1
    0x0002_0013, 2, 0x0003_0021, 3, 2, // %2 = void, %3 = void()
    0x0005_0036, 2, 1, 0, 3, 0x0002_00F8, 4, // %1 = function, %4 = label
    0x0001_00FD, 0x0001_0038, // return, end
];

struct Performance {
    g: Gpu,
    physical: vk::PhysicalDevice,
    instance: ash::khr::performance_query::Instance,
    device: ash::khr::performance_query::Device,
}

impl Performance {
    fn new() -> Performance {
        // SAFETY: every test sets the same value, and before it asks for the driver, which reads it once.
        unsafe { std::env::set_var("TUFF_GPU", "small") };
        let mut features = vk::PhysicalDevicePerformanceQueryFeaturesKHR::default()
            .performance_counter_query_pools(true)
            .performance_counter_multiple_query_pools(true);
        let g = Gpu::with(&[vk::KHR_PERFORMANCE_QUERY_NAME], &mut features);
        let instance = ash::khr::performance_query::Instance::new(common::entry(), &g.instance);
        let device = ash::khr::performance_query::Device::new(&g.instance, &g.device);
        Performance { physical: common::physical_device(&g.instance), g, instance, device }
    }

    /// Index, storage and unit of each counter, by its name.
    fn counters(
        &self,
    ) -> HashMap<String, (u32, vk::PerformanceCounterStorageKHR, vk::PerformanceCounterUnitKHR)> {
        let enumerate =
            self.instance.fp().enumerate_physical_device_queue_family_performance_query_counters_khr;
        // SAFETY (here and below): handles are alive, structures outlive the calls.
        unsafe {
            let mut n = 0;
            assert_eq!(
                enumerate(self.physical, 0, &mut n, std::ptr::null_mut(), std::ptr::null_mut()),
                vk::Result::SUCCESS
            );
            let mut counters = vec![vk::PerformanceCounterKHR::default(); n as usize];
            let mut texts = vec![vk::PerformanceCounterDescriptionKHR::default(); n as usize];
            let mut few = n - 1;
            let r = enumerate(self.physical, 0, &mut few, counters.as_mut_ptr(), texts.as_mut_ptr());
            assert_eq!((r, few), (vk::Result::INCOMPLETE, n - 1));
            let r = enumerate(self.physical, 0, &mut n, counters.as_mut_ptr(), texts.as_mut_ptr());
            assert_eq!((r, n as usize), (vk::Result::SUCCESS, counters.len()));
            let by_name: HashMap<_, _> = (counters.iter().zip(&texts).enumerate())
                .map(|(i, (c, t))| {
                    assert_eq!(c.scope, vk::PerformanceCounterScopeKHR::COMMAND);
                    let name = CStr::from_ptr(t.name.as_ptr()).to_str().unwrap().to_string();
                    (name, (i as u32, c.storage, c.unit))
                })
                .collect();
            assert_eq!(by_name.len(), counters.len(), "names differ");
            by_name
        }
    }

    fn passes(&self, indices: &[u32]) -> u32 {
        let info = vk::QueryPoolPerformanceCreateInfoKHR::default().counter_indices(indices);
        unsafe {
            self.instance.get_physical_device_queue_family_performance_query_passes(self.physical, &info)
        }
    }

    fn pool(&self, indices: &[u32]) -> Result<vk::QueryPool, vk::Result> {
        let mut counters = vk::QueryPoolPerformanceCreateInfoKHR::default().counter_indices(indices);
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::PERFORMANCE_QUERY_KHR)
            .query_count(1)
            .push_next(&mut counters);
        unsafe { self.g.device.create_query_pool(&info, None) }
    }

    fn submit(&self, c: vk::CommandBuffer, pass: u32) {
        let buffers = [c];
        let mut which = vk::PerformanceQuerySubmitInfoKHR::default().counter_pass_index(pass);
        let info = [vk::SubmitInfo::default().command_buffers(&buffers).push_next(&mut which)];
        unsafe {
            self.g.device.queue_submit(self.g.queue, &info, vk::Fence::null()).unwrap();
            self.g.device.queue_wait_idle(self.g.queue).unwrap();
        }
    }
}

fn pipeline(g: &Gpu, code: &[u32]) -> (vk::ShaderModule, vk::PipelineLayout, vk::Pipeline) {
    unsafe {
        let info = vk::ShaderModuleCreateInfo::default().code(code);
        let module = g.device.create_shader_module(&info, None).unwrap();
        let layout = g.device.create_pipeline_layout(&Default::default(), None).unwrap();
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
        let made = g.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None).unwrap();
        (module, layout, made[0])
    }
}

#[test]
fn passes_by_slots_and_bad_indices() {
    let p = Performance::new();
    let n = p.counters().len() as u32;
    assert_eq!([1, 8, 9, 16, 17].map(|k| p.passes(&(0..k).collect::<Vec<_>>())), [1, 1, 2, 2, 3]);
    assert_eq!(p.pool(&[n]), Err(vk::Result::ERROR_VALIDATION_FAILED_EXT));
    assert!(p.pool(&[]).is_err());
}

#[test]
fn a_dispatch_counted_in_two_passes() {
    let p = Performance::new();
    let d = &p.g.device;
    let counters = p.counters();
    let invocations = counters["Compute shader invocations"];
    assert_eq!(invocations.1, vk::PerformanceCounterStorageKHR::UINT64);
    let share = counters["Compute queue utilization"];
    assert_eq!(
        (share.1, share.2),
        (vk::PerformanceCounterStorageKHR::FLOAT64, vk::PerformanceCounterUnitKHR::PERCENTAGE)
    );
    // Nine counters of which eight fit: the first in pass 0, the last in pass 1, and the same in both.
    let prims = counters["Input assembly primitives"].0;
    let cores = counters["Shader core count"].0;
    let i = invocations.0;
    let indices = [i, cores, prims, prims, prims, prims, prims, prims, i];
    let pool = p.pool(&indices).unwrap();
    let (module, layout, pipe) = pipeline(&p.g, &EMPTY);
    let copied = p.g.buffer(18);
    unsafe {
        let lock = vk::AcquireProfilingLockInfoKHR::default().timeout(0);
        (p.device.acquire_profiling_lock(&lock)).unwrap();
        d.reset_query_pool(pool, 0, 1);
        let counted = p.g.record(|d, c| {
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, pipe);
            d.cmd_dispatch(c, 100, 1, 1);
            d.cmd_begin_query(c, pool, 0, Default::default());
            d.cmd_dispatch(c, 5, 2, 1);
            d.cmd_end_query(c, pool, 0);
            d.cmd_dispatch(c, 1000, 1, 1);
        });
        let get = || {
            let mut words = [[u64::MAX; 9]];
            let r = d.get_query_pool_results(pool, 0, &mut words, vk::QueryResultFlags::empty());
            (r, words[0])
        };
        p.submit(counted, 0);
        assert_eq!(get(), (Err(vk::Result::NOT_READY), [u64::MAX; 9]), "one pass of two");
        p.submit(counted, 1);
        // 10 workgroups of 32; two cores.
        let want = [320, 2, 0, 0, 0, 0, 0, 0, 320];
        assert_eq!(get(), (Ok(()), want));
        let copy = p.g.record(|d, c| {
            d.cmd_copy_query_pool_results(c, pool, 0, 1, copied.buffer, 0, 72, vk::QueryResultFlags::WAIT);
        });
        p.submit(copy, 0);
        let words: Vec<u64> = copied.words.chunks(2).map(|w| w[0] as u64 | (w[1] as u64) << 32).collect();
        assert_eq!(words, want);
        d.reset_query_pool(pool, 0, 1);
        p.submit(counted, 1);
        assert_eq!(get().0, Err(vk::Result::NOT_READY), "a reset clears all passes");
        p.device.release_profiling_lock();
        d.destroy_query_pool(pool, None);
        d.destroy_pipeline(pipe, None);
        d.destroy_pipeline_layout(layout, None);
        d.destroy_shader_module(module, None);
    }
    p.g.free(copied);
}

/// A thread's atomic is an issue of the load/store unit, whichever it is (`MaliLSAtomic`, docs/counters.md).
#[test]
fn atomics_of_every_kind() {
    let p = Performance::new();
    let d = &p.g.device;
    let pool = p.pool(&[p.counters()["Load/store unit atomic issues"].0]).unwrap();
    let code = ash::util::read_spv(&mut std::io::Cursor::new(include_bytes!("shaders/atomics.comp.spv")));
    let (module, layout, pipe) = pipeline(&p.g, &code.unwrap());
    unsafe {
        p.device.acquire_profiling_lock(&Default::default()).unwrap();
        d.reset_query_pool(pool, 0, 1);
        let counted = p.g.record(|d, c| {
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, pipe);
            d.cmd_begin_query(c, pool, 0, Default::default());
            d.cmd_dispatch(c, 3, 1, 1);
            d.cmd_end_query(c, pool, 0);
        });
        p.submit(counted, 0);
        let mut issues = [0u64];
        d.get_query_pool_results(pool, 0, &mut issues, vk::QueryResultFlags::empty()).unwrap();
        assert_eq!(issues, [3 * 40 * 11]);
        p.device.release_profiling_lock();
        d.destroy_query_pool(pool, None);
        d.destroy_pipeline(pipe, None);
        d.destroy_pipeline_layout(layout, None);
        d.destroy_shader_module(module, None);
    }
}

#[test]
fn what_the_model_says_of_itself() {
    let p = Performance::new();
    let mut core = vk::PhysicalDeviceShaderCorePropertiesARM::default();
    let mut striped = vk::PhysicalDeviceRenderPassStripedPropertiesARM::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut core).push_next(&mut striped);
    unsafe { p.g.instance.get_physical_device_properties2(p.physical, &mut all) };
    // crates/counters/models/small.toml
    assert_eq!((core.pixel_rate, core.texel_rate, core.fma_rate), (2, 4, 64));
    let stripe = striped.render_pass_stripe_granularity;
    assert_eq!((stripe.width, stripe.height), (64, 64));
    assert!(striped.max_render_pass_stripes >= 32);
}
