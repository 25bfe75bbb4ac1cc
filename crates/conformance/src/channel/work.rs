//! The catalogue; records of work that is known; totals.

use super::rig::{Got, PAIR, Rig, SIDE, TRIANGLE};
use super::{Check, Found, check_list, holds, same, text};
use channel::{Channel, Span, Value, WorkloadKind};
use client::compute::KernelInfo;
use client::graphics::{Attachment, Image, ImageInfo, Load, Pass, barrier};
use client::{Buffer, Context, Kernel};
use vk::Handle;

pub fn checks() -> Vec<Check> {
    check_list![
        the_catalogue_is_the_performance_queries = catalogue,
        records_of_a_dispatch_a_pass_and_transfers = records,
        frames_and_submissions = frames,
        views_of_a_pass = views,
        totals_outlive_their_device = totals,
        handles_and_their_numbers = handles
    ]
}

fn catalogue(rig: &Rig) -> Found {
    let enumerate =
        rig.performance.fp().enumerate_physical_device_queue_family_performance_query_counters_khr;
    let physical = rig.context.physical;
    let ours = rig.channel.counters();
    let mut n = 0;
    // SAFETY: live handles; arrays of the lengths given.
    let (counters, texts) = unsafe {
        let _ = enumerate(physical, 0, &mut n, std::ptr::null_mut(), std::ptr::null_mut());
        let mut counters = vec![vk::PerformanceCounterKHR::default(); n as usize];
        let mut texts = vec![vk::PerformanceCounterDescriptionKHR::default(); n as usize];
        let r = enumerate(physical, 0, &mut n, counters.as_mut_ptr(), texts.as_mut_ptr());
        same("enumerating", r, vk::Result::SUCCESS)?;
        (counters, texts)
    };
    same("counters", ours.len(), n as usize)?;
    for ((a, b), t) in ours.iter().zip(&counters).zip(&texts) {
        same("id", a.id.to_be_bytes(), [b.uuid[12], b.uuid[13], b.uuid[14], b.uuid[15]])?;
        same("storage", a.float, b.storage == vk::PerformanceCounterStorageKHR::FLOAT64)?;
        same("name", a.name.to_string(), client::library::name(&t.name))?;
        same("block", a.block.to_string(), client::library::name(&t.category))?;
        // Vulkan's has room for 255 bytes.
        holds("description", a.description.starts_with(&client::library::name(&t.description)))?;
        holds("machine name and unit", !a.machine.is_empty() && !a.unit.is_empty())?;
    }
    let mut names = rig.channel.event_names();
    same("event names", names.len(), rig.channel.event_count())?;
    names.sort_unstable();
    names.dedup();
    same("different event names", names.len(), rig.channel.event_count())?;
    same("the model", rig.channel.gpu().is_empty(), false)?;
    same("events of the wrong number", rig.channel.evaluate(&[0]), None)?;
    Ok(ours.iter().map(|c| c.id.into()).collect())
}

/// Nanoseconds of cycles at 1300 MHz.
fn ticks(cycles: u64) -> u64 {
    (cycles * 10).div_ceil(13)
}

fn within(outer: Span, inner: Span) -> bool {
    outer.begin <= inner.begin && inner.begin <= inner.end && inner.end <= outer.end
}

/// A fill, a dispatch, a pass of two draws and a copy, one after the other.
fn records(rig: &Rig) -> Found {
    let stamps = rig.stamps(5)?;
    let before = rig.channel.totals(None).ok_or("no totals")?;
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    let got = rig.read_run(|d, c| {
        stamps.reset(c);
        stamps.stamp(c, all, 0);
        rig.begin_label(c, c"frame");
        rig.fill(c, 7);
        barrier(d, c);
        stamps.stamp(c, all, 1);
        rig.begin_label(c, c"compute");
        rig.insert(c, "no mark");
        rig.dispatch(c, 3);
        rig.end_label(c);
        barrier(d, c);
        stamps.stamp(c, all, 2);
        rig.pass().record(d, c, |_, c| {
            rig.draw(c, TRIANGLE);
            rig.draw(c, PAIR);
        });
        barrier(d, c);
        stamps.stamp(c, all, 3);
        rig.end_label(c);
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: 1 << 20 }];
        // SAFETY: recording with live buffers.
        unsafe { d.cmd_copy_buffer(c, rig.buffers[1].handle, rig.buffers[0].handle, &region) }
        stamps.stamp(c, all, 4);
    })?;
    let after = rig.channel.totals(Some(0)).ok_or("no totals of the device")?;
    let told: Vec<_> = got.iter().map(|r| (r.kind, r.label.as_str(), r.name.as_str())).collect();
    let want = [
        (WorkloadKind::Transfer, "frame", "fill buffer"),
        (WorkloadKind::Dispatch, "frame/compute", "main 3x1x1"),
        (WorkloadKind::RenderPass, "frame", "64x64x1 of 1 attachments"),
        (WorkloadKind::Transfer, "", "copy buffer"),
    ];
    same("records", told.as_slice(), &want)?;
    for pair in got.windows(2) {
        same("order", pair[1].order, pair[0].order + 1)?;
        same("order of the queue", pair[1].queue_order, pair[0].queue_order + 1)?;
        same("submission", pair[1].submission, pair[0].submission)?;
    }
    for r in &got {
        same("device, queue, views, frame", (r.device, r.queue, r.views, r.frame), (0, 0, 1, None))?;
    }
    // Barriers make each begin where a timestamp says that the one before has ended.
    let times = stamps.times()?;
    for (r, t) in got.iter().zip(times.windows(2)) {
        holds("within its timestamps", within(Span { begin: t[0], end: t[1] }, r.span))?;
        same("up to the timestamp behind it", r.span.end, t[1])?;
    }
    // 1 MiB written over external memory at 56 bytes a cycle, and 1000 cycles for the job. The copy finds what the fill wrote in the L2,
    // and of what it writes the line that the dispatch wrote, dirty.
    same("the fill's time", got[0].span.end - got[0].span.begin, ticks(18_725 + 1000))?;
    same(
        "the copy's time",
        got[3].span.end - got[3].span.begin,
        ticks((16_383u64 * 64).div_ceil(56) + 1000),
    )?;
    let (pass, none) = (&got[2], Span::default());
    holds("phases", within(pass.span, pass.binning) && pass.binning.end <= pass.main.begin)?;
    same("of the pass", (pass.binning.begin, pass.main.end), (pass.span.begin, pass.span.end))?;
    same("of a dispatch", (got[1].binning, got[1].main), (none, none))?;
    // Workgroups of 16 invocations; nine vertices, which no index repeats, make three triangles.
    let known = [
        (1, "ComputeInvocations", 3 * 16),
        (1, "ComputeTasks", 3),
        (2, "InputVertices", 9),
        (2, "InputPrimitives", 3),
        (2, "MainJobs", 1),
        (2, "TilePixelsWritten", u64::from(SIDE * SIDE)),
        (0, "Compute.ExtWrites", (1 << 20) / 64),
        (3, "Compute.ExtReads", 0),
        (3, "Compute.ExtWrites", (1 << 20) / 64 - 1),
    ];
    for (i, name, want) in known {
        same(name, got[i].events[rig.event(name)?], want)?;
    }
    // What the device has done meanwhile is the records' sum.
    let mut sum = before;
    for r in &got {
        sum.iter_mut().zip(&r.events).for_each(|(s, e)| *s += e);
    }
    same("totals", after, sum)?;
    Ok(got.iter().flat_map(Got::digest).collect())
}

/// Three batches of a frame each (two by the application's numbers), in two calls; in between a fence alone.
fn frames(rig: &Rig) -> Found {
    let d = &rig.context.device;
    let got = rig.read(|| {
        let lists: Vec<_> = (1..4)
            .map(|n| rig.context.record(|_, c| rig.dispatch(c, n)))
            .collect::<client::Result<_>>()
            .map_err(text)?;
        let info = |c: &[_; 1]| [vk::CommandBufferSubmitInfo::default().command_buffer(c[0])];
        let infos: Vec<_> = lists.iter().map(|c| info(&[*c])).collect();
        let mut frame = [77, 5].map(|id| vk::FrameBoundaryEXT::default().frame_id(id));
        let [first, second] = &mut frame;
        let batch = |i: usize| vk::SubmitInfo2::default().command_buffer_infos(&infos[i]);
        // SAFETY: live handles; structures outlive the calls.
        unsafe {
            let fence = d.create_fence(&Default::default(), None).map_err(text)?;
            d.queue_submit2(rig.context.queue, &[batch(0).push_next(first)], vk::Fence::null())
                .map_err(text)?;
            d.queue_submit2(rig.context.queue, &[], fence).map_err(text)?;
            d.queue_submit2(rig.context.queue, &[batch(1).push_next(second), batch(2)], vk::Fence::null())
                .map_err(text)?;
            d.device_wait_idle().map_err(text)?;
            d.destroy_fence(fence, None);
        }
        lists.into_iter().for_each(|c| rig.context.free(c));
        Ok(())
    })?;
    let first = got.first().ok_or("no records")?.submission;
    let told: Vec<_> = got.iter().map(|r| (r.name.as_str(), r.frame, r.submission - first)).collect();
    let want = [("main 1x1x1", Some(77), 0), ("main 2x1x1", Some(5), 1), ("main 3x1x1", None, 2)];
    same("frames and submissions", told.as_slice(), &want)?;
    Ok(got.iter().flat_map(Got::digest).collect())
}

/// Views 0 and 2 of a target of three layers, which are cleared.
fn views(rig: &Rig) -> Found {
    let info = ImageInfo { layers: 3, ..ImageInfo::colour(vk::Format::R8G8B8A8_UNORM, [SIDE; 2]) };
    let target = Image::new(&rig.context, info).map_err(text)?;
    let got = rig.read_run(|d, c| {
        let colours = vec![Attachment::new(&target, Load::colour([1.0; 4]))];
        let pass = Pass { colours, size: [SIDE; 2], view_mask: 0b101, ..Default::default() };
        pass.record(d, c, |_, _| {});
    })?;
    let told: Vec<_> = got.iter().map(|r| (r.kind, r.views)).collect();
    same("views", told.as_slice(), &[(WorkloadKind::RenderPass, 2)])?;
    // Nothing to bin: no time.
    same("binning", got[0].binning.end, got[0].binning.begin)?;
    Ok(got[0].digest())
}

/// Another device's work is told as its own, and stays in the totals when it is destroyed.
fn totals(rig: &Rig) -> Found {
    let (before, own) = (rig.channel.totals(None), rig.channel.totals(Some(0)));
    let (before, own) = (before.ok_or("no totals")?, own.ok_or("none of the device")?);
    let at = rig.event("ComputeInvocations")?;
    let mut number = None;
    let got = rig.read(|| {
        let other = Context::open().map_err(text)?;
        number = rig.channel.device_number(other.device.handle().as_raw() as *const _);
        let spirv = include_bytes!("../../shaders/static/straight.comp.spv");
        let kernel = Kernel::new(&other, &KernelInfo { spirv, bindings: 2, push_size: 4 }).map_err(text)?;
        let buffers = [Buffer::new(&other, 64).map_err(text)?, Buffer::new(&other, 64).map_err(text)?];
        kernel.run(&[&buffers[0], &buffers[1]], &[0; 4], [5, 1, 1]).map_err(text)
    })?;
    let number = number.ok_or("the other device has no number")?;
    holds("a number of its own", number > 0)?;
    let told: Vec<_> = got.iter().map(|r| (r.device, r.queue_order, r.submission)).collect();
    same("the other device's record", told.as_slice(), &[(number, 0, 0)])?;
    let of = |device| rig.channel.totals(device).map(|t| t[at]);
    same("what is destroyed", of(Some(number)), Some(80))?;
    same("all devices", of(None), Some(before[at] + 80))?;
    same("this device", rig.channel.totals(Some(0)), Some(own))?;
    same("a device that there never was", of(Some(number + 1000)), None)?;
    Ok(got[0].events.clone())
}

fn handles(rig: &Rig) -> Found {
    let c = &rig.channel;
    let queue = rig.context.queue.as_raw() as *const std::ffi::c_void;
    same("the device", c.device_number(rig.device()), Some(0))?;
    same("the queue", c.queue_number(queue), Some(0))?;
    same("a queue is no device", c.device_number(queue), None)?;
    same("a device is no queue", c.queue_number(rig.device()), None)?;
    let gone = {
        let other = Context::open().map_err(text)?;
        let handle = other.device.handle().as_raw();
        holds("another device", c.device_number(handle as *const _).is_some_and(|n| n > 0))?;
        handle
    };
    for garbage in [0, 1, 8, 0x1234_5678, gone, u64::MAX, rig.device() as u64 + 8] {
        let p = garbage as *const std::ffi::c_void;
        same("what is no handle", (c.device_number(p), c.queue_number(p)), (None, None))?;
    }
    // A counter by its formula: no events, no work.
    let zeros = vec![0; c.event_count()];
    let values = Channel::evaluate(c, &zeros).ok_or("no values")?;
    let at = c.counters().iter().position(|k| k.machine == "MaliGPUActiveCy");
    same("cycles of nothing", at.map(|i| values[i]), Some(Value::Uint64(0)))?;
    Ok(vec![])
}
