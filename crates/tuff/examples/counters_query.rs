//! VK_KHR_performance_query: what a dispatch cost, in every counter that the device has. As docs/examples/performance_query.c,
//! with `client` for what every Vulkan program has.

use ash::vk;
use client::compute::KernelInfo;
use client::library::name;
use client::{Buffer, Context, Error, Kernel, Library, Result};

const NUMBERS: u32 = 4096;

fn main() -> Result<()> {
    let mut features =
        vk::PhysicalDevicePerformanceQueryFeaturesKHR::default().performance_counter_query_pools(true);
    let extension = ash::khr::performance_query::NAME;
    let context = Context::extended(Library::any()?, &[extension], (&raw mut features).cast())?;
    let device = &context.device;
    let of_instance = ash::khr::performance_query::Instance::new(context.entry(), &context.instance);
    let of_device = ash::khr::performance_query::Device::new(&context.instance, device);

    // Which counters there are: here all of them.
    let (counters, texts) = {
        let f = of_instance.fp().enumerate_physical_device_queue_family_performance_query_counters_khr;
        let (mut n, null) = (0, std::ptr::null_mut());
        // SAFETY: arrays of the length that the first call says.
        unsafe {
            f(context.physical, 0, &mut n, null, std::ptr::null_mut())
                .result()
                .map_err(Error::vk("counters"))?;
            let mut counters = vec![vk::PerformanceCounterKHR::default(); n as usize];
            let mut texts = vec![vk::PerformanceCounterDescriptionKHR::default(); n as usize];
            f(context.physical, 0, &mut n, counters.as_mut_ptr(), texts.as_mut_ptr())
                .result()
                .map_err(Error::vk("counters"))?;
            (counters, texts)
        }
    };
    let indices: Vec<u32> = (0..counters.len() as u32).collect();

    // On hardware as many passes as the counters need; on Tuff one.
    let mut performance = vk::QueryPoolPerformanceCreateInfoKHR::default().counter_indices(&indices);
    // SAFETY: a live device, structures that outlive the calls.
    let (passes, pool) = unsafe {
        let passes = of_instance
            .get_physical_device_queue_family_performance_query_passes(context.physical, &performance);
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::PERFORMANCE_QUERY_KHR)
            .query_count(1)
            .push_next(&mut performance);
        let pool = device.create_query_pool(&info, None).map_err(Error::vk("vkCreateQueryPool"))?;
        device.reset_query_pool(pool, 0, 1);
        // The lock is held from recording to the end of what was recorded.
        let lock = vk::AcquireProfilingLockInfoKHR::default().timeout(1_000_000_000);
        of_device.acquire_profiling_lock(&lock).map_err(|e| match e {
            vk::Result::TIMEOUT => Error("another program has held the profiling lock for a second".into()),
            e => Error::vk("vkAcquireProfilingLockKHR")(e),
        })?;
        (passes, pool)
    };

    let mut numbers = Buffer::new(&context, NUMBERS as usize * 4)?;
    numbers.words_mut().iter_mut().zip(0..).for_each(|(n, i)| *n = i);
    let spirv = include_bytes!("../../../docs/examples/double.spv");
    let kernel = Kernel::new(&context, &KernelInfo { spirv, bindings: 1, push_size: 0 })?;
    kernel.set(&[&numbers]);
    for pass in 0..passes {
        let commands = context.record(|device, commands| {
            // SAFETY: recording into a command buffer that has begun, with live handles.
            unsafe {
                device.cmd_begin_query(commands, pool, 0, vk::QueryControlFlags::empty());
                kernel.bind(commands, &[]);
                device.cmd_dispatch(commands, NUMBERS / 64, 1, 1);
                // The query ends when the dispatch has.
                client::graphics::barrier(device, commands);
                device.cmd_end_query(commands, pool, 0);
            }
        })?;
        let mut of_pass = vk::PerformanceQuerySubmitInfoKHR::default().counter_pass_index(pass);
        let buffers = [commands];
        let submit = [vk::SubmitInfo::default().command_buffers(&buffers).push_next(&mut of_pass)];
        // SAFETY: live handles, and what is submitted is waited for.
        unsafe {
            device
                .queue_submit(context.queue, &submit, vk::Fence::null())
                .map_err(Error::vk("vkQueueSubmit"))?;
            device.queue_wait_idle(context.queue).map_err(Error::vk("vkQueueWaitIdle"))?;
        }
    }
    // SAFETY: it is held.
    unsafe { of_device.release_profiling_lock() };

    let mut results = vec![vk::PerformanceCounterResultKHR { uint64: 0 }; counters.len()];
    let size = size_of_val(&results[..]);
    let f = device.fp_v1_0().get_query_pool_results;
    // SAFETY: room for one query of all counters.
    unsafe {
        let at = results.as_mut_ptr().cast();
        f(device.handle(), pool, 0, 1, size, at, size as u64, vk::QueryResultFlags::empty())
            .result()
            .map_err(Error::vk("vkGetQueryPoolResults"))?;
        device.destroy_query_pool(pool, None);
    }
    for ((counter, text), result) in counters.iter().zip(&texts).zip(&results) {
        use vk::PerformanceCounterStorageKHR as Storage;
        // Tuff's are integers of 64 bits and floats of 64 bits; other drivers have others.
        // SAFETY: each has the member that its storage names.
        let (whole, real) = unsafe {
            match counter.storage {
                Storage::INT32 => (i64::from(result.int32), 0.0),
                Storage::INT64 => (result.int64, 0.0),
                Storage::UINT32 => (i64::from(result.uint32), 0.0),
                Storage::UINT64 => (result.uint64 as i64, 0.0),
                Storage::FLOAT32 => (0, f64::from(result.float32)),
                _ => (0, result.float64),
            }
        };
        if whole != 0 {
            println!("{}: {whole}", name(&text.name));
        }
        if real != 0.0 {
            println!("{}: {real:.3}", name(&text.name));
        }
    }
    Ok(())
}
