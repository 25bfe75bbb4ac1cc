//! VK_ARM_scheduling_controls: cores by queue, and how the workgroups of dispatches are dealt to them. Figures by hand, for the G720 class of
//! ten cores: each workgroup of a shader that does nothing costs its core 20 cycles, and a dispatch 1 000; 1 300 cycles are a microsecond.

use crate::common::{instance, physical_device};
use ash::vk;
use std::ffi::c_void;

/// VkDispatchParametersARM, which ash lacks.
#[repr(C)]
struct Parameters {
    s_type: vk::StructureType,
    next: *const c_void,
    batch: u32,
    queued: u32,
    warps: u32,
}

impl Parameters {
    fn new(batch: u32, queued: u32, warps: u32) -> Parameters {
        let s_type = vk::StructureType::from_raw(1_000_417_003);
        Parameters { s_type, next: std::ptr::null(), batch, queued, warps }
    }
}

type Set = unsafe extern "system" fn(vk::CommandBuffer, *const Parameters);

const NAMES: [*const std::ffi::c_char; 2] =
    [c"VK_ARM_scheduling_controls".as_ptr(), c"VK_ARM_shader_core_builtins".as_ptr()];

/// A device whose queues of the families 0 and 1 have so many cores, 0: none are asked for; or `all` have.
unsafe fn device(i: &ash::Instance, own: [u32; 2], all: Option<u32>) -> ash::prelude::VkResult<ash::Device> {
    let one = [1.0];
    let mut controls =
        own.map(|n| vk::DeviceQueueShaderCoreControlCreateInfoARM::default().shader_core_count(n));
    let queues: Vec<_> = controls
        .iter_mut()
        .zip(0..)
        .map(|(c, f)| {
            let q = vk::DeviceQueueCreateInfo::default().queue_family_index(f).queue_priorities(&one);
            if c.shader_core_count > 0 { q.push_next(c) } else { q }
        })
        .collect();
    let mut features = vk::PhysicalDeviceSchedulingControlsFeaturesARM::default().scheduling_controls(true);
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default().host_query_reset(true);
    let mut control =
        vk::DeviceQueueShaderCoreControlCreateInfoARM::default().shader_core_count(all.unwrap_or(0));
    let mut info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&NAMES)
        .push_next(&mut features)
        .push_next(&mut v12);
    if all.is_some() {
        info = info.push_next(&mut control);
    }
    // SAFETY: structures outlive the call.
    unsafe { i.create_device(physical_device(i), &info, None) }
}

/// Nanoseconds of a dispatch of so many workgroups in a queue of each family.
unsafe fn times(i: &ash::Instance, d: &ash::Device, groups: u32, parameters: Option<Parameters>) -> [u64; 2] {
    // SAFETY: handles are alive, structures outlive the calls.
    unsafe {
        let code = shader::words(include_bytes!("shaders/cores.comp.spv"));
        let module =
            d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None).unwrap();
        let layout = d.create_pipeline_layout(&Default::default(), None).unwrap();
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
        let pipeline = d.create_compute_pipelines(vk::PipelineCache::null(), &info, None).unwrap()[0];
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
        let pool = d.create_query_pool(&info, None).unwrap();
        let set = i.get_device_proc_addr(d.handle(), c"vkCmdSetDispatchParametersARM".as_ptr()).unwrap();
        let set: Set = std::mem::transmute(set);
        let told = [0, 1].map(|family| {
            let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
            let commands = d.create_command_pool(&info, None).unwrap();
            let info =
                vk::CommandBufferAllocateInfo::default().command_pool(commands).command_buffer_count(1);
            let c = d.allocate_command_buffers(&info).unwrap()[0];
            d.reset_query_pool(pool, 0, 2);
            d.begin_command_buffer(c, &Default::default()).unwrap();
            d.cmd_write_timestamp(c, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, 0);
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, pipeline);
            if let Some(p) = &parameters {
                set(c, p);
            }
            d.cmd_dispatch(c, groups, 1, 1);
            d.cmd_write_timestamp(c, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, 1);
            d.end_command_buffer(c).unwrap();
            let buffers = [c];
            let submit = [vk::SubmitInfo::default().command_buffers(&buffers)];
            d.queue_submit(d.get_device_queue(family, 0), &submit, vk::Fence::null()).unwrap();
            d.device_wait_idle().unwrap();
            let mut told = [0u64; 2];
            d.get_query_pool_results(pool, 0, &mut told, vk::QueryResultFlags::TYPE_64).unwrap();
            d.destroy_command_pool(commands, None);
            told[1] - told[0]
        });
        d.destroy_query_pool(pool, None);
        d.destroy_pipeline(pipeline, None);
        d.destroy_pipeline_layout(layout, None);
        d.destroy_shader_module(module, None);
        told
    }
}

/// Nanoseconds of a dispatch whose busiest core has so many workgroups.
fn by_hand(most: u64) -> u64 {
    ((1_000 + 20 * most) * 1_000).div_ceil(1_300)
}

#[test]
fn queues_use_the_cores_that_they_are_given() {
    let i = instance(&[]);
    // SAFETY: handles are alive.
    unsafe {
        let mut builtins = vk::PhysicalDeviceShaderCoreBuiltinsPropertiesARM::default();
        i.get_physical_device_properties2(
            physical_device(&i),
            &mut vk::PhysicalDeviceProperties2::default().push_next(&mut builtins),
        );
        assert_eq!(builtins.shader_core_count, 10);
        // 8 000 workgroups: of ten cores each has 800, of five 1 600, of one all.
        for (own, all, most) in [
            ([0, 0], None, [800, 800]),
            ([5, 0], None, [1_600, 800]),
            ([1, 10], None, [8_000, 800]),
            ([0, 0], Some(5), [1_600, 1_600]),
            ([0, 0], Some(3), [2_667, 2_667]),
        ] {
            let d = device(&i, own, all).unwrap();
            assert_eq!(times(&i, &d, 8_000, None), most.map(by_hand), "{own:?}, {all:?}");
            d.destroy_device(None);
        }
        for (own, all) in [([11, 0], None), ([0, 0], Some(0)), ([0, 0], Some(u32::MAX))] {
            let refused = device(&i, own, all).err();
            assert_eq!(refused, Some(vk::Result::ERROR_INITIALIZATION_FAILED), "{own:?}, {all:?}");
        }
        i.destroy_instance(None);
    }
}

#[test]
fn workgroups_are_dealt_in_batches() {
    let i = instance(&[]);
    // SAFETY: handles are alive.
    unsafe {
        let mut controls = vk::PhysicalDeviceSchedulingControlsPropertiesARM::default();
        i.get_physical_device_properties2(
            physical_device(&i),
            &mut vk::PhysicalDeviceProperties2::default().push_next(&mut controls),
        );
        assert_eq!(controls.scheduling_controls_flags.as_raw(), 3);
        let d = device(&i, [0, 5], None).unwrap();
        // 8 000 workgroups in three batches, the last of which is smaller; in eight of 1 000 the five cores have two, or one. The other
        // parameters do not matter where no warp waits.
        for (parameters, most) in [
            (Parameters::new(3_000, 0, 0), [3_000, 3_000]),
            (Parameters::new(1_000, 1, 1), [1_000, 2_000]),
            (Parameters::new(0, 64, 64), [800, 1_600]),
            // More than the limits: as if it were not there.
            (Parameters::new(65_536, 0, 0), [800, 1_600]),
            (Parameters::new(3_000, 65, 0), [800, 1_600]),
            (Parameters::new(3_000, 0, 65), [800, 1_600]),
        ] {
            let what = [parameters.batch, parameters.queued, parameters.warps];
            assert_eq!(times(&i, &d, 8_000, Some(parameters)), most.map(by_hand), "{what:?}");
        }
        d.destroy_device(None);
        i.destroy_instance(None);
    }
}
