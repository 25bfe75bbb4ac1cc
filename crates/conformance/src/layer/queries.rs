//! Programs for counters by VK_KHR_performance_query.

use super::Done;
use super::rig::{Rig, idle, submit};
use crate::check::text;
use ash::vk;
use client::graphics::barrier;
use client::{Buffer, Context, Kernel, Library, compute::KernelInfo};
use vk::{CommandBufferUsageFlags as Usage, CommandPoolCreateFlags as Pool};

/// A secondary that is submitted once, and one that is not, each of a dispatch; twice, for the first is recorded again.
pub fn once() -> Done {
    let rig = Rig::open()?;
    let d = &rig.context.device;
    let pool = rig.pool(Pool::RESET_COMMAND_BUFFER)?;
    let secondaries = rig.allocate(pool, vk::CommandBufferLevel::SECONDARY, 2)?;
    let primary = rig.allocate(pool, vk::CommandBufferLevel::PRIMARY, 1)?[0];
    for round in 0..2 {
        for (i, &c) in secondaries.iter().enumerate().take(2 - round) {
            let inherited = vk::CommandBufferInheritanceInfo::default();
            let flags = if i == 0 { Usage::ONE_TIME_SUBMIT } else { Usage::empty() };
            let begin = vk::CommandBufferBeginInfo::default().flags(flags).inheritance_info(&inherited);
            rig.record(c, &begin, |d| {
                rig.dispatch(d, c, 10 + 10 * i as u32);
                barrier(d, c);
            })?;
        }
        rig.record(primary, &Default::default(), |d| {
            // SAFETY: recorded secondaries.
            unsafe { d.cmd_execute_commands(primary, &secondaries) };
            rig.dispatch(d, primary, 30);
            barrier(d, primary);
        })?;
        submit(&rig.context, &[primary])?;
        idle(&rig.context)?;
    }
    // SAFETY: nothing is pending.
    unsafe { d.destroy_command_pool(pool, None) };
    Ok(())
}

/// A program that measures a dispatch itself, by a query of the driver's first counter: a dispatch before it has the
/// pool, one inside of its query, and one when the pool is gone. The value must be what it is without a layer.
pub fn own() -> Done {
    let mut feature =
        vk::PhysicalDevicePerformanceQueryFeaturesKHR::default().performance_counter_query_pools(true);
    let names = [ash::khr::performance_query::NAME];
    let library = Library::any().map_err(text)?;
    let context = Context::of_instance(library, &[], &names, (&raw mut feature).cast()).map_err(text)?;
    let lock = ash::khr::performance_query::Device::new(&context.instance, &context.device);
    let counters = ash::khr::performance_query::Instance::new(context.entry(), &context.instance);
    let spirv = include_bytes!("../../shaders/static/straight.comp.spv");
    let kernel = Kernel::new(&context, &KernelInfo { spirv, bindings: 2, push_size: 4 }).map_err(text)?;
    let buffers =
        [Buffer::new(&context, 1 << 20).map_err(text)?, Buffer::new(&context, 1 << 20).map_err(text)?];
    kernel.set(&[&buffers[0], &buffers[1]]);
    let dispatch = |d: &ash::Device, c, groups| {
        kernel.bind(c, &0.5f32.to_le_bytes());
        // SAFETY: recording with everything bound.
        unsafe { d.cmd_dispatch(c, groups, 1, 1) };
        barrier(d, c);
    };
    let d = &context.device;
    context.run(|d, c| dispatch(d, c, 10)).map_err(text)?;
    // SAFETY: plain Vulkan calls; nothing is pending when it is destroyed.
    unsafe {
        // Validation layers know no counters before.
        let list = counters.fp().enumerate_physical_device_queue_family_performance_query_counters_khr;
        let (mut count, none) = (0, std::ptr::null_mut());
        list(context.physical, 0, &mut count, none, std::ptr::null_mut()).result().map_err(text)?;
        let mut all = vec![vk::PerformanceCounterKHR::default(); count as usize];
        list(context.physical, 0, &mut count, all.as_mut_ptr(), std::ptr::null_mut())
            .result()
            .map_err(text)?;
        lock.acquire_profiling_lock(&Default::default()).map_err(text)?;
        let mut counters = vk::QueryPoolPerformanceCreateInfoKHR::default().counter_indices(&[0]);
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::PERFORMANCE_QUERY_KHR)
            .query_count(1)
            .push_next(&mut counters);
        let pool = d.create_query_pool(&info, None).map_err(text)?;
        context.run(|d, c| d.cmd_reset_query_pool(c, pool, 0, 1)).map_err(text)?;
        context
            .run(|d, c| {
                d.cmd_begin_query(c, pool, 0, Default::default());
                dispatch(d, c, 20);
                d.cmd_end_query(c, pool, 0);
            })
            .map_err(text)?;
        let mut value = [0u64];
        d.get_query_pool_results(pool, 0, &mut value, vk::QueryResultFlags::WAIT).map_err(text)?;
        println!("its own query: {}", value[0]);
        d.destroy_query_pool(pool, None);
        lock.release_profiling_lock();
    }
    context.run(|d, c| dispatch(d, c, 30)).map_err(text)
}
