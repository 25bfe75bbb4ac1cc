//! Families of queues: a compute queue beside one that draws.

use crate::common::{instance, physical_device};
use ash::vk;

/// What the compute queue has written the other one copies, after a semaphore; both tell the time.
#[test]
fn work_goes_from_family_to_family() {
    let i = instance(&[]);
    let p = physical_device(&i);
    let one = [1.0];
    let queues =
        [0, 1].map(|f| vk::DeviceQueueCreateInfo::default().queue_family_index(f).queue_priorities(&one));
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default().host_query_reset(true);
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut v12);
    // SAFETY: handles are alive, structures outlive the calls.
    unsafe {
        let d = i.create_device(p, &info, None).unwrap();
        let [draws, computes] = [0, 1].map(|f| d.get_device_queue(f, 0));
        assert!(draws != computes && computes != vk::Queue::null());
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(512).usage(usage);
        let buffer = d.create_buffer(&info, None).unwrap();
        let info = vk::MemoryAllocateInfo::default().allocation_size(512);
        let memory = d.allocate_memory(&info, None).unwrap();
        d.bind_buffer_memory(buffer, memory, 0).unwrap();
        let words = d.map_memory(memory, 0, vk::WHOLE_SIZE, Default::default()).unwrap().cast::<[u32; 128]>();
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
        let times = d.create_query_pool(&info, None).unwrap();
        d.reset_query_pool(times, 0, 2);
        let pools = [0, 1].map(|f| {
            let info = vk::CommandPoolCreateInfo::default().queue_family_index(f);
            d.create_command_pool(&info, None).unwrap()
        });
        let begin = |pool| {
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let c = d.allocate_command_buffers(&info).unwrap()[0];
            d.begin_command_buffer(c, &Default::default()).unwrap();
            c
        };
        let between = |from, to, (access, stage)| {
            vk::BufferMemoryBarrier2::default()
                .src_queue_family_index(from)
                .dst_queue_family_index(to)
                .buffer(buffer)
                .size(vk::WHOLE_SIZE)
                .src_access_mask(access)
                .src_stage_mask(stage)
                .dst_access_mask(vk::AccessFlags2::TRANSFER_READ)
                .dst_stage_mask(vk::PipelineStageFlags2::COPY)
        };
        let written = (vk::AccessFlags2::TRANSFER_WRITE, vk::PipelineStageFlags2::CLEAR);
        let handed = [between(1, 0, written)];
        let handed = vk::DependencyInfo::default().buffer_memory_barriers(&handed);
        let bottom = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
        let fills = begin(pools[1]);
        d.cmd_fill_buffer(fills, buffer, 0, 256, 0xABCD);
        d.cmd_write_timestamp(fills, bottom, times, 0);
        d.cmd_pipeline_barrier2(fills, &handed);
        d.end_command_buffer(fills).unwrap();
        let copies = begin(pools[0]);
        d.cmd_pipeline_barrier2(copies, &handed);
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 256, size: 256 }];
        d.cmd_copy_buffer(copies, buffer, buffer, &region);
        d.cmd_write_timestamp(copies, bottom, times, 1);
        d.end_command_buffer(copies).unwrap();
        let done = [d.create_semaphore(&Default::default(), None).unwrap()];
        let (first, second) = ([fills], [copies]);
        let stages = [vk::PipelineStageFlags::ALL_COMMANDS];
        let submit = [vk::SubmitInfo::default().command_buffers(&first).signal_semaphores(&done)];
        d.queue_submit(computes, &submit, vk::Fence::null()).unwrap();
        let submit = [vk::SubmitInfo::default()
            .command_buffers(&second)
            .wait_semaphores(&done)
            .wait_dst_stage_mask(&stages)];
        d.queue_submit(draws, &submit, vk::Fence::null()).unwrap();
        d.device_wait_idle().unwrap();
        assert_eq!(*words, [0xABCD; 128]);
        let mut told = [0u64; 2];
        d.get_query_pool_results(times, 0, &mut told, vk::QueryResultFlags::TYPE_64).unwrap();
        assert!(0 < told[0] && told[0] < told[1], "{told:?}");
        d.destroy_semaphore(done[0], None);
        pools.iter().for_each(|&p| d.destroy_command_pool(p, None));
        d.destroy_query_pool(times, None);
        d.destroy_buffer(buffer, None);
        d.free_memory(memory, None);
        d.destroy_device(None);
        // More queues than a family has, and a family that is none.
        for (family, count) in [(1, 2), (2, 1), (0, 3)] {
            let many = vec![1.0; count];
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&many)];
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
            assert!(i.create_device(p, &info, None).is_err(), "{count} of {family}");
        }
        i.destroy_instance(None);
    }
}

/// All queues count the same counters; regions are of queues that draw.
#[test]
fn every_family_counts() {
    let i = instance(&[]);
    let p = physical_device(&i);
    let counters = ash::khr::performance_query::Instance::new(crate::common::entry(), &i);
    let list = counters.fp().enumerate_physical_device_queue_family_performance_query_counters_khr;
    let count = |family| {
        let mut n = u32::MAX;
        // SAFETY: no arrays are asked for.
        let r = unsafe { list(p, family, &mut n, std::ptr::null_mut(), std::ptr::null_mut()) };
        assert_eq!(r, vk::Result::SUCCESS);
        n
    };
    assert!(count(0) > 0 && count(0) == count(1) && count(2) == 0);
    // SAFETY: the instance is alive.
    unsafe { i.destroy_instance(None) };
}
