//! The device side of the driver, through the real loader: memory, transfers, synchronisation, queries.

use crate::common;
use crate::gpu::Gpu;
use crate::listen::{Heard, listening_to};
use ash::vk;

#[test]
fn fills_updates_and_copies() {
    let g = Gpu::new();
    let (a, b) = (g.buffer(64), g.buffer(64));
    a.words.fill(7);
    g.run(|d, c| unsafe {
        d.cmd_fill_buffer(c, a.buffer, 16, 32, 0xABCD);
        d.cmd_update_buffer(c, a.buffer, 64, &[1, 2, 3, 4]);
        d.cmd_copy_buffer(
            c,
            a.buffer,
            b.buffer,
            &[vk::BufferCopy { src_offset: 8, dst_offset: 0, size: 80 }],
        );
    });
    let mut want = [7u32; 64];
    want[4..12].fill(0xABCD);
    want[16] = u32::from_le_bytes([1, 2, 3, 4]);
    assert_eq!(a.words, want);
    assert_eq!(b.words[..20], want[2..22]);
    assert_eq!(b.words[20..], [0; 44]);
    g.free(a);
    g.free(b);
}

#[test]
fn a_secondary_buffer_runs_in_its_primary_and_outlives_its_handle() {
    let g = Gpu::new();
    let a = g.buffer(16);
    unsafe {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(g.pool)
            .level(vk::CommandBufferLevel::SECONDARY)
            .command_buffer_count(1);
        let s = g.device.allocate_command_buffers(&info).unwrap()[0];
        let inherit = vk::CommandBufferInheritanceInfo::default();
        let begin = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE)
            .inheritance_info(&inherit);
        g.device.begin_command_buffer(s, &begin).unwrap();
        g.device.cmd_fill_buffer(s, a.buffer, 0, vk::WHOLE_SIZE, 5);
        g.device.end_command_buffer(s).unwrap();
        let c = g.record(|d, c| d.cmd_execute_commands(c, &[s]));
        g.submit(c, vk::Fence::null());
        g.device.queue_wait_idle(g.queue).unwrap();
        assert_eq!(a.words, [5; 16]);
    }
    g.free(a);
}

#[test]
fn a_queue_waits_for_an_event_that_the_host_sets() {
    let g = Gpu::new();
    let a = g.buffer(4);
    unsafe {
        let e = g.device.create_event(&Default::default(), None).unwrap();
        let f = g.device.create_fence(&Default::default(), None).unwrap();
        let c = g.record(|d, c| {
            let (host, transfer) = (vk::PipelineStageFlags::HOST, vk::PipelineStageFlags::TRANSFER);
            d.cmd_wait_events(c, &[e], host, transfer, &[], &[], &[]);
            d.cmd_fill_buffer(c, a.buffer, 0, 16, 9);
            d.cmd_reset_event(c, e, transfer);
        });
        g.submit(c, f);
        assert_eq!(g.device.wait_for_fences(&[f], true, 20_000_000), Err(vk::Result::TIMEOUT));
        assert_eq!(a.words, [0; 4]);
        g.device.set_event(e).unwrap();
        g.device.wait_for_fences(&[f], true, u64::MAX).unwrap();
        assert_eq!(a.words, [9; 4]);
        assert_eq!(g.device.get_event_status(e), Ok(false));
        g.device.destroy_event(e, None);
        g.device.destroy_fence(f, None);
    }
    g.free(a);
}

#[test]
fn a_timeline_is_waited_for_before_it_is_signalled() {
    let g = Gpu::new();
    let a = g.buffer(1);
    unsafe {
        let mut ty = vk::SemaphoreTypeCreateInfo::default()
            .semaphore_type(vk::SemaphoreType::TIMELINE)
            .initial_value(1);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut ty);
        let s = [g.device.create_semaphore(&info, None).unwrap()];
        let c = [g.record(|d, c| d.cmd_fill_buffer(c, a.buffer, 0, 4, 3))];
        let (wait, signal) = ([5], [8]);
        let mut values = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&wait)
            .signal_semaphore_values(&signal);
        let submit = vk::SubmitInfo::default()
            .wait_semaphores(&s)
            .wait_dst_stage_mask(&[vk::PipelineStageFlags::TRANSFER])
            .signal_semaphores(&s)
            .command_buffers(&c)
            .push_next(&mut values);
        g.device.queue_submit(g.queue, &[submit], vk::Fence::null()).unwrap();
        let target = [8];
        let wait = vk::SemaphoreWaitInfo::default().semaphores(&s).values(&target);
        assert_eq!(g.device.wait_semaphores(&wait, 20_000_000), Err(vk::Result::TIMEOUT));
        assert_eq!((a.words[0], g.device.get_semaphore_counter_value(s[0])), (0, Ok(1)));
        g.device.signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(s[0]).value(5)).unwrap();
        g.device.wait_semaphores(&wait, u64::MAX).unwrap();
        assert_eq!((a.words[0], g.device.get_semaphore_counter_value(s[0])), (3, Ok(8)));
        g.device.destroy_semaphore(s[0], None);
    }
    g.free(a);
}

#[test]
fn timestamps_rise_and_results_are_copied() {
    let g = Gpu::new();
    let a = g.buffer(8);
    unsafe {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(3);
        let q = g.device.create_query_pool(&info, None).unwrap();
        g.device.reset_query_pool(q, 0, 3);
        let mut none = [u64::MAX; 3];
        assert_eq!(
            g.device.get_query_pool_results(q, 0, &mut none, vk::QueryResultFlags::TYPE_64),
            Err(vk::Result::NOT_READY)
        );
        assert_eq!(none, [u64::MAX; 3], "what is not available is not written");
        g.run(|d, c| {
            let stage = vk::PipelineStageFlags::ALL_COMMANDS;
            d.cmd_write_timestamp(c, stage, q, 0);
            d.cmd_write_timestamp(c, stage, q, 1);
            let flags = vk::QueryResultFlags::WITH_AVAILABILITY | vk::QueryResultFlags::PARTIAL;
            d.cmd_copy_query_pool_results(c, q, 1, 2, a.buffer, 8, 8, flags);
        });
        let mut t = [0u64; 2];
        g.device.get_query_pool_results(q, 0, &mut t, vk::QueryResultFlags::TYPE_64).unwrap();
        assert!(t[0] > 0 && t[0] <= t[1], "{t:?}");
        assert_eq!(a.words[2..6], [t[1] as u32, 1, 0, 0], "query 2 is not available");
        g.device.destroy_query_pool(q, None);
    }
    g.free(a);
}

#[test]
fn a_gigabyte_costs_nothing_and_too_much_is_an_error() {
    let g = Gpu::new();
    unsafe {
        let m = g
            .device
            .allocate_memory(&vk::MemoryAllocateInfo::default().allocation_size(1 << 30), None)
            .unwrap();
        let at = g.device.map_memory(m, 0, vk::WHOLE_SIZE, Default::default()).unwrap().cast::<u8>();
        assert_eq!(*at.add((1 << 30) - 1), 0);
        g.device.free_memory(m, None);
        let huge = vk::MemoryAllocateInfo::default().allocation_size(1 << 60);
        assert_eq!(g.device.allocate_memory(&huge, None), Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
    }
}

#[test]
fn images_go_there_and_back() {
    let g = Gpu::new();
    let (a, b) = (g.buffer(64), g.buffer(64));
    for (i, w) in a.words.iter_mut().enumerate() {
        *w = i as u32 * 0x0101_0101;
    }
    unsafe {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .extent(vk::Extent3D { width: 8, height: 8, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
        let image = g.device.create_image(&info, None).unwrap();
        let need = g.device.get_image_memory_requirements(image);
        let memory = g
            .device
            .allocate_memory(&vk::MemoryAllocateInfo::default().allocation_size(need.size), None)
            .unwrap();
        g.device.bind_image_memory(image, memory, 0).unwrap();
        let layers = vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            layer_count: 1,
            ..Default::default()
        };
        let region = vk::BufferImageCopy {
            image_subresource: layers,
            image_extent: info.extent,
            ..Default::default()
        };
        let inner = vk::BufferImageCopy {
            buffer_row_length: 8,
            image_offset: vk::Offset3D { x: 2, y: 3, z: 0 },
            image_extent: vk::Extent3D { width: 4, height: 2, depth: 1 },
            ..region
        };
        g.run(|d, c| {
            let layout = vk::ImageLayout::GENERAL;
            d.cmd_copy_buffer_to_image(c, a.buffer, image, layout, &[region]);
            d.cmd_copy_image_to_buffer(c, image, layout, b.buffer, &[inner]);
        });
        // The buffer's rows are 8 texels; the image's texels (2..6, 3..5) lie in the first four of each.
        assert_eq!(b.words[0..4], a.words[26..30]);
        assert_eq!(b.words[8..12], a.words[34..38]);
        assert_eq!(b.words[4..8], [0; 4]);
        g.device.destroy_image(image, None);
        g.device.free_memory(memory, None);
    }
    g.free(a);
    g.free(b);
}

/// Types and numbers of descriptors are no limit (a simulator in wide use takes uniform buffers from a pool of combined image
/// samplers); the pool warns once. `maxSets` is a limit.
#[test]
fn a_pool_gives_as_many_sets_as_it_has_whatever_is_in_them() {
    let heard = Heard::default();
    let (i, debug, messenger) = listening_to(&heard, vk::DebugUtilsMessageSeverityFlagsEXT::WARNING);
    let types = [
        vk::DescriptorType::UNIFORM_BUFFER,
        vk::DescriptorType::SAMPLED_IMAGE,
        vk::DescriptorType::SAMPLER,
        vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
        vk::DescriptorType::STORAGE_BUFFER,
        vk::DescriptorType::INLINE_UNIFORM_BLOCK,
    ];
    unsafe {
        let queue = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let mut inline = vk::PhysicalDeviceInlineUniformBlockFeatures::default().inline_uniform_block(true);
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queue).push_next(&mut inline);
        let device = i.create_device(common::physical_device(&i), &info, None).expect("a device");
        let layouts = types.map(|ty| {
            let binding = [vk::DescriptorSetLayoutBinding::default()
                .descriptor_type(ty)
                .descriptor_count(16)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)];
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&binding);
            device.create_descriptor_set_layout(&info, None).expect("a layout")
        });
        let sizes =
            [vk::DescriptorPoolSize { ty: vk::DescriptorType::COMBINED_IMAGE_SAMPLER, descriptor_count: 7 }];
        let info = vk::DescriptorPoolCreateInfo::default()
            .flags(vk::DescriptorPoolCreateFlags::FREE_DESCRIPTOR_SET)
            .max_sets(7)
            .pool_sizes(&sizes);
        let pool = device.create_descriptor_pool(&info, None).expect("a pool");
        let allocate = |layouts: &[vk::DescriptorSetLayout]| {
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(layouts);
            device.allocate_descriptor_sets(&info)
        };
        let sets = layouts.map(|l| allocate(&[l]).expect("a set")[0]);
        // All or nothing (§ Allocation of Descriptor Sets): one set is left.
        let full = Some(vk::Result::ERROR_OUT_OF_POOL_MEMORY);
        assert_eq!(allocate(&layouts[..2]).err(), full);
        assert!(allocate(&layouts[..1]).is_ok());
        assert_eq!(allocate(&layouts[..1]).err(), full);
        device.free_descriptor_sets(pool, &sets[..2]).expect("they are the pool's");
        assert!(allocate(&layouts[..2]).is_ok());
        device.reset_descriptor_pool(pool, Default::default()).expect("it is a pool");
        assert!(allocate(&[layouts[0]; 7]).is_ok());
        device.destroy_descriptor_pool(pool, None);
        layouts.iter().for_each(|l| device.destroy_descriptor_set_layout(*l, None));
        device.destroy_device(None);
        debug.destroy_debug_utils_messenger(messenger, None);
        i.destroy_instance(None);
    }
    let heard = heard.into_inner().expect("no panic");
    let [warning] = &heard[..] else { panic!("{heard:?}") };
    assert!(warning.contains("for 0 descriptors of type UNIFORM_BUFFER, and its sets have 16"), "{warning}");
}

#[test]
fn an_empty_cache_is_a_header_and_damaged_blobs_are_ignored() {
    let g = Gpu::new();
    unsafe {
        let cache = g.device.create_pipeline_cache(&Default::default(), None).unwrap();
        let blob = g.device.get_pipeline_cache_data(cache).unwrap();
        assert_eq!(blob[..4], 32u32.to_le_bytes());
        assert_eq!(blob[4..8], 1u32.to_le_bytes());
        for i in 0..blob.len() {
            let mut bad = blob.clone();
            bad[i] ^= 0x40;
            for bad in [&bad[..], &blob[..i]] {
                let info = vk::PipelineCacheCreateInfo::default().initial_data(bad);
                let c = g.device.create_pipeline_cache(&info, None).unwrap();
                assert_eq!(g.device.get_pipeline_cache_data(c).unwrap(), blob);
                g.device.destroy_pipeline_cache(c, None);
            }
        }
        g.device.destroy_pipeline_cache(cache, None);
    }
}

#[test]
fn stripes_signal_their_semaphores() {
    let mut features = vk::PhysicalDeviceRenderPassStripedFeaturesARM::default().render_pass_striped(true);
    let g = Gpu::with(&[vk::ARM_RENDER_PASS_STRIPED_NAME], &mut features);
    let a = g.buffer(16);
    let fill = |value| g.record(|d, c| unsafe { d.cmd_fill_buffer(c, a.buffer, 0, vk::WHOLE_SIZE, value) });
    let (first, second) = (fill(1), fill(2));
    unsafe {
        let s = [0, 1].map(|_| g.device.create_semaphore(&Default::default(), None).unwrap());
        let stage = vk::PipelineStageFlags2::ALL_COMMANDS;
        let info = s.map(|s| vk::SemaphoreSubmitInfo::default().semaphore(s).stage_mask(stage));
        let mut stripes = vk::RenderPassStripeSubmitInfoARM::default().stripe_semaphore_infos(&info);
        let buffers = [vk::CommandBufferSubmitInfo::default().command_buffer(first).push_next(&mut stripes)];
        let submits = [vk::SubmitInfo2::default().command_buffer_infos(&buffers)];
        let waiting = [vk::CommandBufferSubmitInfo::default().command_buffer(second)];
        let waits = [vk::SubmitInfo2::default().command_buffer_infos(&waiting).wait_semaphore_infos(&info)];
        g.device.queue_submit2(g.queue, &submits, vk::Fence::null()).unwrap();
        let fence = g.device.create_fence(&Default::default(), None).unwrap();
        g.device.queue_submit2(g.queue, &waits, fence).unwrap();
        g.device.wait_for_fences(&[fence], true, 10_000_000_000).expect("the semaphores are signalled");
        assert_eq!(a.words, [2; 16]);
        g.device.destroy_fence(fence, None);
        s.iter().for_each(|&s| g.device.destroy_semaphore(s, None));
    }
    g.free(a);
}
