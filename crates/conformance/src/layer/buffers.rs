//! Command buffers: what they hold besides passes, and how they are used again, given back and shared by threads.

use super::Done;
use super::rig::{COLOUR, Rig, SIDE, idle, submit};
use crate::check::text;
use ash::vk;
use client::graphics::{Image, ImageInfo, barrier};
use std::ffi::CString;
use vk::{CommandBufferUsageFlags as Usage, CommandPoolCreateFlags as Pool};

const PRIMARY: vk::CommandBufferLevel = vk::CommandBufferLevel::PRIMARY;
const SECONDARY: vk::CommandBufferLevel = vk::CommandBufferLevel::SECONDARY;

/// One transfer of each kind outside of passes, then the newer forms, dispatches of all kinds, and one of nothing.
pub fn transfers() -> Done {
    let rig = Rig::open()?;
    let mut info = ImageInfo::colour(COLOUR, [SIDE; 2]);
    info.usage |= vk::ImageUsageFlags::TRANSFER_DST;
    let (a, b) =
        (Image::new(&rig.context, info).map_err(text)?, Image::new(&rig.context, info).map_err(text)?);
    info.samples = 4;
    let many = Image::new(&rig.context, info).map_err(text)?;
    let mut info = ImageInfo::depth(vk::Format::D32_SFLOAT, [SIDE; 2]);
    info.usage |= vk::ImageUsageFlags::TRANSFER_DST;
    let depth = Image::new(&rig.context, info).map_err(text)?;
    let mut groups = client::Buffer::new(&rig.context, 64).map_err(text)?;
    groups.words_mut()[..3].copy_from_slice(&[2, 1, 1]);
    let [from, to] = [rig.buffers[0].handle, rig.buffers[1].handle];
    let general = vk::ImageLayout::GENERAL;
    let layers =
        vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
    let extent = vk::Extent3D { width: SIDE, height: SIDE, depth: 1 };
    let corner = vk::Offset3D { x: SIDE as i32, y: SIDE as i32, z: 1 };
    let range =
        |aspect| [vk::ImageSubresourceRange::default().aspect_mask(aspect).level_count(1).layer_count(1)];
    let colour = range(vk::ImageAspectFlags::COLOR);
    let in_depth = range(vk::ImageAspectFlags::DEPTH);
    let buffers = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: 4096 }];
    let texels = [vk::BufferImageCopy::default().image_subresource(layers).image_extent(extent)];
    let copy = [vk::ImageCopy::default().src_subresource(layers).dst_subresource(layers).extent(extent)];
    let corners = [vk::Offset3D::default(), corner];
    let blit = [vk::ImageBlit::default()
        .src_subresource(layers)
        .src_offsets(corners)
        .dst_subresource(layers)
        .dst_offsets(corners)];
    let resolve =
        [vk::ImageResolve::default().src_subresource(layers).dst_subresource(layers).extent(extent)];
    rig.context
        .run(|d, c| {
            let next = || barrier(d, c);
            // SAFETY: recording with live handles; images are in the general layout, buffers hold what is copied.
            unsafe {
                d.cmd_fill_buffer(c, from, 0, 4096, 7);
                next();
                d.cmd_update_buffer(c, from, 0, &[1; 64]);
                next();
                d.cmd_copy_buffer(c, from, to, &buffers);
                next();
                d.cmd_clear_color_image(c, a.handle, general, &Default::default(), &colour);
                next();
                d.cmd_clear_color_image(c, many.handle, general, &Default::default(), &colour);
                d.cmd_clear_depth_stencil_image(c, depth.handle, general, &Default::default(), &in_depth);
                next();
                d.cmd_copy_image(c, a.handle, general, b.handle, general, &copy);
                next();
                d.cmd_copy_image_to_buffer(c, b.handle, general, to, &texels);
                next();
                d.cmd_copy_buffer_to_image(c, from, a.handle, general, &texels);
                next();
                d.cmd_blit_image(c, a.handle, general, b.handle, general, &blit, vk::Filter::NEAREST);
                next();
                d.cmd_resolve_image(c, many.handle, general, a.handle, general, &resolve);
                next();
                let regions = [vk::BufferCopy2::default().size(128)];
                let info = vk::CopyBufferInfo2::default().src_buffer(from).dst_buffer(to).regions(&regions);
                d.cmd_copy_buffer2(c, &info);
                next();
                rig.dispatch(d, c, 4);
                next();
                d.cmd_dispatch_indirect(c, groups.handle, 0);
                next();
                d.cmd_dispatch_base(c, 0, 0, 0, 3, 1, 1);
                next();
                rig.dispatch(d, c, 0);
            }
        })
        .map_err(text)
}

/// A command buffer of two dispatches, submitted five times without waiting, alone and three times in one call.
pub fn resubmitted() -> Done {
    let rig = Rig::open()?;
    let c = rig.context.record(|d, c| {
        rig.dispatch(d, c, 100);
        barrier(d, c);
        rig.dispatch(d, c, 200);
    });
    let c = [c.map_err(text)?];
    submit(&rig.context, &c)?;
    idle(&rig.context)?;
    submit(&rig.context, &c)?;
    idle(&rig.context)?;
    let one = vk::SubmitInfo::default().command_buffers(&c);
    for _ in 0..3 {
        // SAFETY: live handles.
        unsafe { rig.context.device.queue_submit(rig.context.queue, &[one], vk::Fence::null()) }
            .map_err(text)?;
        idle(&rig.context)?;
    }
    Ok(())
}

/// A command buffer that may be pending several times: twice in a batch, in two batches of a call, and in calls without
/// a wait.
pub fn simultaneous() -> Done {
    let rig = Rig::open()?;
    let pool = rig.pool(Pool::empty())?;
    let c = rig.allocate(pool, PRIMARY, 1)?[0];
    let begin = vk::CommandBufferBeginInfo::default().flags(Usage::SIMULTANEOUS_USE);
    rig.record(c, &begin, |d| {
        barrier(d, c);
        rig.dispatch(d, c, 50);
        barrier(d, c);
    })?;
    let twice = [c, c];
    let info = vk::SubmitInfo::default().command_buffers(&twice);
    // SAFETY: live handles.
    unsafe { rig.context.device.queue_submit(rig.context.queue, &[info, info], vk::Fence::null()) }
        .map_err(text)?;
    submit(&rig.context, &[c])?;
    submit(&rig.context, &[c])?;
    idle(&rig.context)?;
    // SAFETY: nothing is pending.
    unsafe { rig.context.device.destroy_command_pool(pool, None) };
    Ok(())
}

/// A secondary of two dispatches, executed twice by one call and once more by another, with a fill between; the primary
/// is submitted twice.
pub fn secondaries() -> Done {
    let rig = Rig::open()?;
    let pool = rig.pool(Pool::empty())?;
    let secondary = rig.allocate(pool, SECONDARY, 1)?[0];
    let inherited = vk::CommandBufferInheritanceInfo::default();
    let begin =
        vk::CommandBufferBeginInfo::default().flags(Usage::SIMULTANEOUS_USE).inheritance_info(&inherited);
    rig.record(secondary, &begin, |d| {
        barrier(d, secondary);
        rig.labelled(secondary, "inner", || rig.dispatch(d, secondary, 10));
        barrier(d, secondary);
        rig.dispatch(d, secondary, 20);
        barrier(d, secondary);
    })?;
    let primary = rig.allocate(pool, PRIMARY, 1)?[0];
    let begin = vk::CommandBufferBeginInfo::default().flags(Usage::SIMULTANEOUS_USE);
    rig.record(primary, &begin, |d| {
        rig.labelled(primary, "outer", || {
            // SAFETY: a recorded secondary.
            unsafe {
                d.cmd_execute_commands(primary, &[secondary, secondary]);
                barrier(d, primary);
                d.cmd_fill_buffer(primary, rig.buffers[1].handle, 0, 65536, 3);
                barrier(d, primary);
                d.cmd_execute_commands(primary, &[secondary]);
            }
        });
    })?;
    // Not both at once: Debian 12's validation layers (1.3.239) come to a deadlock with a pending command buffer that has
    // queries and is submitted again.
    for _ in 0..2 {
        submit(&rig.context, &[primary])?;
        idle(&rig.context)?;
    }
    // SAFETY: nothing is pending.
    unsafe { rig.context.device.destroy_command_pool(pool, None) };
    Ok(())
}

/// Each of so many rounds records 40 dispatches (more than a query pool has room for): after a reset that is explicit,
/// implicit, the pool's, or after the pool was destroyed, or with the buffer freed.
pub fn pools() -> Done {
    let rig = Rig::open()?;
    let d = &rig.context.device;
    let mut pool = rig.pool(Pool::RESET_COMMAND_BUFFER)?;
    let mut c = rig.allocate(pool, PRIMARY, 1)?[0];
    for round in 0..20 {
        // SAFETY: nothing is pending.
        unsafe {
            match round % 5 {
                0 => d.reset_command_buffer(c, Default::default()).map_err(text)?,
                1 => {}
                2 => d.reset_command_pool(pool, Default::default()).map_err(text)?,
                3 => {
                    d.destroy_command_pool(pool, None);
                    pool = rig.pool(Pool::RESET_COMMAND_BUFFER)?;
                    c = rig.allocate(pool, PRIMARY, 1)?[0];
                }
                _ => {
                    d.free_command_buffers(pool, &[c]);
                    c = rig.allocate(pool, PRIMARY, 1)?[0];
                }
            }
        }
        rig.record(c, &Default::default(), |d| {
            for _ in 0..40 {
                rig.dispatch(d, c, 1);
                barrier(d, c);
            }
        })?;
        submit(&rig.context, &[c])?;
        idle(&rig.context)?;
    }
    // SAFETY: nothing is pending.
    unsafe { d.destroy_command_pool(pool, None) };
    Ok(())
}

/// Four threads that record 30 command buffers of three fills each; one of them submits all.
pub fn threads() -> Done {
    let rig = Rig::open()?;
    let (d, buffer) = (&rig.context.device, rig.buffers[0].handle);
    let results: Vec<Result<_, String>> = std::thread::scope(|s| {
        let thread = |_| {
            s.spawn(move || {
                // SAFETY: each thread has a pool of its own.
                unsafe {
                    let pool = d.create_command_pool(&Default::default(), None).map_err(text)?;
                    let info =
                        vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(30);
                    let list = d.allocate_command_buffers(&info).map_err(text)?;
                    for c in &list {
                        d.begin_command_buffer(*c, &Default::default()).map_err(text)?;
                        for size in [256, 512, 1024] {
                            d.cmd_fill_buffer(*c, buffer, 0, size, 1);
                            barrier(d, *c);
                        }
                        d.end_command_buffer(*c).map_err(text)?;
                    }
                    Ok((pool, list))
                }
            })
        };
        let all: Vec<_> = (0..4).map(thread).collect();
        all.into_iter().map(|t| t.join().expect("no panic")).collect()
    });
    for r in results {
        let (pool, list) = r?;
        submit(&rig.context, &list)?;
        idle(&rig.context)?;
        // SAFETY: nothing is pending.
        unsafe { d.destroy_command_pool(pool, None) };
    }
    Ok(())
}

fn name<T: vk::Handle>(rig: &Rig, handle: T, name: &str) -> Done {
    let name = CString::new(name).map_err(text)?;
    let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(handle).object_name(&name);
    // SAFETY: a live object.
    unsafe { rig.labels.set_debug_utils_object_name(&info) }.map_err(text)
}

/// Labels of queue and command buffer, also over two of these; names of pipeline, buffers and command buffer.
pub fn labels() -> Done {
    let rig = Rig::open()?;
    name(&rig, rig.kernel.pipeline, "blur")?;
    name(&rig, rig.buffers[0].handle, "source")?;
    name(&rig, rig.buffers[1].handle, "target")?;
    let label = |n| vk::DebugUtilsLabelEXT::default().label_name(n);
    let [from, to] = [rig.buffers[0].handle, rig.buffers[1].handle];
    let first = rig.context.record(|d, c| {
        // SAFETY: recording with live handles.
        unsafe {
            rig.labels.cmd_begin_debug_utils_label(c, &label(c"post"));
            rig.labels.cmd_insert_debug_utils_label(c, &label(c"once"));
            rig.dispatch(d, c, 7);
            barrier(d, c);
            d.cmd_copy_buffer(c, from, to, &[vk::BufferCopy { src_offset: 0, dst_offset: 0, size: 512 }]);
            barrier(d, c);
        }
    });
    let first = first.map_err(text)?;
    let second = rig.context.record(|d, c| {
        rig.dispatch(d, c, 8);
        barrier(d, c);
        // SAFETY: ends what the first command buffer has begun.
        unsafe { rig.labels.cmd_end_debug_utils_label(c) };
        rig.dispatch(d, c, 9);
    });
    let second = second.map_err(text)?;
    name(&rig, first, "first")?;
    // SAFETY: a live queue.
    unsafe { rig.labels.queue_begin_debug_utils_label(rig.context.queue, &label(c"frame")) };
    submit(&rig.context, &[first, second])?;
    // SAFETY: a live queue.
    unsafe { rig.labels.queue_end_debug_utils_label(rig.context.queue) };
    idle(&rig.context)
}
