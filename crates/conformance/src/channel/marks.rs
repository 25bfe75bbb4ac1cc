//! Marks: their difference is what a VK_KHR_performance_query between them counts.

use super::rig::{Got, PAIR, Rig, TRIANGLE};
use super::{Check, Found, check_list, same, text};
use channel::{MARK_PREFIX, WorkloadKind};

pub fn checks() -> Vec<Check> {
    check_list![
        marks_around_a_dispatch = dispatch,
        marks_within_a_render_pass = within,
        marks_within_secondary_command_buffers = secondary,
        marks_around_and_across_passes = across,
        marks_are_named_and_numbered = named
    ]
}

/// The two marks among these records whose names end so.
fn pair<'a>(got: &'a [Got], names: [&str; 2]) -> Result<[&'a Got; 2], String> {
    let find = |n: &str| {
        let name = format!("{MARK_PREFIX}{n}");
        let found = got.iter().find(|r| r.kind == WorkloadKind::Mark && r.name == name);
        found.ok_or_else(|| format!("no mark {n}"))
    };
    Ok([find(names[0])?, find(names[1])?])
}

fn difference(rig: &Rig, got: &[Got], event: &str) -> Result<u64, String> {
    let [a, b] = pair(got, ["a", "b"])?;
    let at = rig.event(event)?;
    Ok(b.events[at] - a.events[at])
}

/// That of marks a and b is what the query has counted.
fn equal(rig: &Rig, got: &[Got], query: &super::rig::Queries) -> Result<Vec<u64>, String> {
    let [a, b] = pair(got, ["a", "b"])?;
    let (ours, words) = (rig.between(a, b)?, query.words()?);
    for ((counter, ours), word) in rig.channel.counters().iter().zip(&ours).zip(&words) {
        same(counter.machine, *ours, *word)?;
    }
    super::holds("something was counted", words.iter().any(|&w| w != 0))?;
    Ok(words)
}

fn mark(rig: &Rig, c: vk::CommandBuffer, name: &str) {
    rig.insert(c, &format!("{MARK_PREFIX}{name}"));
}

fn dispatch(rig: &Rig) -> Found {
    let query = rig.counters()?;
    let got = rig.read_run(|d, c| {
        rig.dispatch(c, 100);
        mark(rig, c, "a");
        query.begin(c);
        rig.dispatch(c, 5);
        query.end(c);
        mark(rig, c, "b");
        client::graphics::barrier(d, c);
        rig.dispatch(c, 1000);
    })?;
    same("invocations", difference(rig, &got, "ComputeInvocations")?, 5 * 16)?;
    // Where the two dispatches before have ended.
    let kinds: Vec<_> = got.iter().map(|r| r.kind).collect();
    let want = [
        WorkloadKind::Dispatch,
        WorkloadKind::Mark,
        WorkloadKind::Dispatch,
        WorkloadKind::Mark,
        WorkloadKind::Dispatch,
    ];
    same("records", kinds.as_slice(), &want)?;
    let [a, b] = pair(&got, ["a", "b"])?;
    let ends = [got[0].span.end, got[2].span.end];
    same("times", [a.span.begin, b.span.begin], ends)?;
    same("twice", [a.span.end, b.span.end], ends)?;
    equal(rig, &got, &query)
}

/// Marks, a query and timestamps side by side around two of five draws.
fn draws(rig: &Rig, c: vk::CommandBuffer, query: &super::rig::Queries, stamps: &super::rig::Queries) {
    let end = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
    rig.draw(c, TRIANGLE);
    mark(rig, c, "a");
    stamps.stamp(c, end, 0);
    query.begin(c);
    rig.draw(c, PAIR);
    rig.draw(c, TRIANGLE);
    query.end(c);
    mark(rig, c, "b");
    stamps.stamp(c, end, 1);
    rig.draw(c, PAIR);
    rig.draw(c, PAIR);
}

fn drawn(
    rig: &Rig,
    got: &[Got],
    query: &super::rig::Queries,
    stamps: &super::rig::Queries,
) -> Result<Vec<u64>, String> {
    same("primitives", difference(rig, got, "InputPrimitives")?, 2 + 1)?;
    same("vertices", difference(rig, got, "InputVertices")?, 6 + 3)?;
    let kinds: Vec<_> = got.iter().map(|r| r.kind).collect();
    same("records", kinds.as_slice(), &[WorkloadKind::Mark, WorkloadKind::Mark, WorkloadKind::RenderPass])?;
    let orders: Vec<_> = got.iter().map(|r| r.queue_order - got[0].queue_order).collect();
    same("their order", orders.as_slice(), &[0, 1, 2])?;
    let [a, b] = pair(got, ["a", "b"])?;
    same("times", vec![a.span.begin, b.span.begin], stamps.times()?)?;
    equal(rig, got, query)
}

fn within(rig: &Rig) -> Found {
    let (query, stamps) = (rig.counters()?, rig.stamps(2)?);
    let got = rig.read_run(|d, c| {
        stamps.reset(c);
        rig.pass().record(d, c, |_, c| draws(rig, c, &query, &stamps));
    })?;
    drawn(rig, &got, &query, &stamps)
}

/// A secondary command buffer that `record` fills: within the rig's pass, or outside passes.
fn secondary_of(
    rig: &Rig,
    in_pass: bool,
    record: impl FnOnce(&ash::Device, vk::CommandBuffer),
) -> Result<vk::CommandBuffer, String> {
    let d = &rig.context.device;
    let formats = [vk::Format::R8G8B8A8_UNORM];
    let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
        .color_attachment_formats(&formats)
        .rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let mut inherited = vk::CommandBufferInheritanceInfo::default();
    let mut flags = vk::CommandBufferUsageFlags::empty();
    if in_pass {
        inherited = inherited.push_next(&mut rendering);
        flags = vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE;
    }
    let begin = vk::CommandBufferBeginInfo::default().flags(flags).inheritance_info(&inherited);
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(rig.pool)
        .level(vk::CommandBufferLevel::SECONDARY)
        .command_buffer_count(1);
    // SAFETY: live handles; structures outlive the calls.
    unsafe {
        let c = d.allocate_command_buffers(&info).map_err(text)?[0];
        d.begin_command_buffer(c, &begin).map_err(text)?;
        record(d, c);
        d.end_command_buffer(c).map_err(text)?;
        Ok(c)
    }
}

fn secondary(rig: &Rig) -> Found {
    let (query, stamps) = (rig.counters()?, rig.stamps(2)?);
    let side = super::rig::SIDE;
    let drawing = secondary_of(rig, true, |d, c| {
        let extent = vk::Extent2D { width: side, height: side };
        let (width, height, max_depth) = (side as f32, side as f32, 1.0);
        let viewport = vk::Viewport { width, height, max_depth, ..Default::default() };
        // SAFETY: recording into a command buffer that has begun.
        unsafe {
            d.cmd_set_viewport(c, 0, &[viewport]);
            d.cmd_set_scissor(c, 0, &[vk::Rect2D { extent, ..Default::default() }]);
        }
        draws(rig, c, &query, &stamps);
    })?;
    let got = rig.read_run(|d, c| {
        stamps.reset(c);
        let mut pass = rig.pass();
        pass.flags = vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS;
        // SAFETY: recording with a live buffer.
        pass.record(d, c, |d, c| unsafe { d.cmd_execute_commands(c, &[drawing]) });
    })?;
    let mut found = drawn(rig, &got, &query, &stamps)?;

    let query = rig.counters()?;
    let computing = secondary_of(rig, false, |_, c| {
        mark(rig, c, "a");
        query.begin(c);
        rig.dispatch(c, 7);
        query.end(c);
        mark(rig, c, "b");
    })?;
    let got = rig.read_run(|d, c| {
        // SAFETY: as above.
        unsafe { d.cmd_execute_commands(c, &[computing]) }
    })?;
    same("invocations", difference(rig, &got, "ComputeInvocations")?, 7 * 16)?;
    found.extend(equal(rig, &got, &query)?);
    Ok(found)
}

/// From before a fill to after a dispatch, with a whole pass between that has marks of its own.
fn across(rig: &Rig) -> Found {
    let query = rig.counters()?;
    let got = rig.read_run(|d, c| {
        mark(rig, c, "a");
        query.begin(c);
        rig.fill(c, 1);
        rig.pass().record(d, c, |_, c| {
            mark(rig, c, "first");
            rig.draw(c, TRIANGLE);
            mark(rig, c, "middle");
            rig.draw(c, PAIR);
            mark(rig, c, "last");
        });
        rig.dispatch(c, 2);
        query.end(c);
        mark(rig, c, "b");
    })?;
    same("primitives", difference(rig, &got, "InputPrimitives")?, 3)?;
    same("invocations", difference(rig, &got, "ComputeInvocations")?, 2 * 16)?;
    // After the pass is what its last mark had counted, and the tiles' own work.
    let at = rig.event("InputPrimitives")?;
    let [first, middle] = pair(&got, ["first", "middle"])?;
    let [last, behind] = pair(&got, ["last", "b"])?;
    let primitives = [first, middle, last, behind].map(|m| m.events[at] - first.events[at]);
    same("primitives up to each", primitives, [0, 1, 3, 3])?;
    let jobs = rig.event("MainJobs")?;
    same("the pass is no part of its marks", behind.events[jobs] - last.events[jobs], 1)?;
    equal(rig, &got, &query)
}

/// Marks take numbers whether or not they are read; a name has 256 bytes at most, and labels around it.
fn named(rig: &Rig) -> Found {
    let long = format!("{MARK_PREFIX}{}", "n".repeat(1000));
    let record = |d: &ash::Device, c: vk::CommandBuffer| {
        rig.begin_label(c, c"outer");
        rig.insert(c, &long);
        rig.insert(c, "tuff.mark");
        rig.pass().record(d, c, |_, c| {
            rig.begin_label(c, c"inner");
            mark(rig, c, "b");
            rig.end_label(c);
        });
        rig.end_label(c);
    };
    let first = rig.read_run(record)?;
    rig.run(record)?;
    let again = rig.read_run(record)?;
    let told: Vec<_> = again.iter().map(|r| (r.kind, r.label.as_str(), r.name.as_str())).collect();
    let want = [
        (WorkloadKind::Mark, "outer", &long[..256]),
        (WorkloadKind::Mark, "outer/inner", "tuff.mark:b"),
        (WorkloadKind::RenderPass, "outer", "64x64x1 of 1 attachments"),
    ];
    same("records", told.as_slice(), &want)?;
    same("numbers", again[0].queue_order - first[0].queue_order, 2 * 3)?;
    same("submissions", again[0].submission - first[0].submission, 2)?;
    Ok(again.iter().flat_map(Got::digest).collect())
}
