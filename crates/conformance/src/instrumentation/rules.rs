//! The extension's rules: enumeration, result indices, objects, clearing, retrieval, misuse.

use super::compute::{WAYS, Ways};
use super::graphics::{PAIR, push};
use super::rig::{THREADS, decode, digest, of, string};
use super::{Check, Found, Rig, check_list, holds, same, text};
use vk::ShaderStageFlags as Stage;

pub fn checks() -> Vec<Check> {
    check_list![
        enumeration,
        result_index,
        not_instrumented,
        resubmission_adds_up,
        clear_is_zero_and_keeps_the_index = clear,
        order,
        retrieval,
        secondary,
        several_objects,
        every_block_has_a_row,
        names_of_metrics,
        misuse
    ]
}

fn enumeration(rig: &Rig) -> Found {
    let f = rig.enumerate;
    let physical = rig.context.physical;
    let mut count = 0;
    // SAFETY: a call for the count, then calls with room for as many as are said.
    unsafe {
        same("counting", f(physical, &mut count, std::ptr::null_mut()), vk::Result::SUCCESS)?;
        same("descriptions", count as usize, rig.metrics)?;
        let mut list = vec![vk::ShaderInstrumentationMetricDescriptionARM::default(); count as usize];
        let mut short = count - 1;
        same("a short array", f(physical, &mut short, list.as_mut_ptr()), vk::Result::INCOMPLETE)?;
        same("of a short array", short, count - 1)?;
        holds("what lies behind a short array is written", list[short as usize].name[0] == 0)?;
        same("the whole", f(physical, &mut count, list.as_mut_ptr()), vk::Result::SUCCESS)?;
        let names: Vec<_> = list.iter().map(|d| string(&d.name)).collect();
        for (i, d) in list.iter().enumerate() {
            holds("a metric without name or description", d.name[0] != 0 && d.description[0] != 0)?;
            holds("two metrics of one name", !names[..i].contains(&names[i]))?;
        }
        let mut more = count + 5;
        let mut list = vec![vk::ShaderInstrumentationMetricDescriptionARM::default(); more as usize];
        same("a long array", f(physical, &mut more, list.as_mut_ptr()), vk::Result::SUCCESS)?;
        same("of a long array", more, count)?;
    }
    Ok(vec![u64::from(count)])
}

/// The order that the other checks, and Tuff's documentation, rely on.
fn names_of_metrics(rig: &Rig) -> Found {
    let mut list = vec![vk::ShaderInstrumentationMetricDescriptionARM::default(); rig.metrics];
    let mut count = rig.metrics as u32;
    // SAFETY: room for as many as there are.
    let _ = unsafe { (rig.enumerate)(rig.context.physical, &mut count, list.as_mut_ptr()) };
    let names: Vec<_> = list.iter().map(|d| string(&d.name).to_lowercase()).collect();
    let parts = [
        "executed warps",
        "threads",
        "diverged",
        "arithmetic",
        "fma",
        "cvt",
        "sfu",
        "load/store",
        "texture",
        "varying",
        "cache lines",
    ];
    same("metrics", names.len(), parts.len())?;
    for (name, part) in names.iter().zip(parts) {
        holds(&format!("'{name}' is not about {part}"), name.contains(part))?;
    }
    Ok(Vec::new())
}

/// Every draw and dispatch recorded while the object is active counts, instrumented or not; the index goes on in
/// another command buffer and in another pass; what is recorded outside counts for nothing.
fn result_index(rig: &Rig) -> Found {
    let ways = Ways::new(rig)?;
    let plain = rig.kernel(WAYS, 3, false)?;
    plain.set(&ways.buffers());
    let (drawn, not_drawn) = (rig.pipeline(|_| ())?, rig.pipeline(|i| i.flags2 = Default::default())?);
    let target = rig.target()?;
    let object = rig.object()?;
    rig.run(|d, c| {
        ways.dispatch(d, c, &ways.kernel);
        object.around(c, || {
            ways.dispatch(d, c, &ways.kernel); // 0
            ways.dispatch(d, c, &plain); // 1
        });
        ways.dispatch(d, c, &ways.kernel);
        object.around(c, || {
            rig.pass(&target, c, |d, c| {
                not_drawn.bind(c, None, &push(0.5, 1.0));
                // SAFETY: recording with everything bound.
                unsafe { d.cmd_draw(c, 3, 1, 0, 0) }; // 2
                drawn.bind(c, None, &push(0.5, 1.0));
                unsafe { d.cmd_draw(c, 3, 1, 0, 0) }; // 3
            });
        });
        // Nothing is recorded: no index is taken.
        object.around(c, || ());
    })?;
    rig.run(|d, c| object.around(c, || ways.dispatch(d, c, &ways.kernel)))?; // 4
    let rows = object.rows()?;
    let mut seen: Vec<_> = rows.iter().map(|r| (r.result, r.stages)).collect();
    seen.dedup();
    let want = [(0, Stage::COMPUTE), (3, Stage::VERTEX), (3, Stage::FRAGMENT), (4, Stage::COMPUTE)];
    same("results and stages", seen, want.to_vec())?;
    Ok(digest(&rows))
}

/// Without the flag nothing is written; without an active object what instrumented shaders write is discarded.
fn not_instrumented(rig: &Rig) -> Found {
    let ways = Ways::new(rig)?;
    let plain = rig.kernel(WAYS, 3, false)?;
    plain.set(&ways.buffers());
    let object = rig.object()?;
    same("blocks of a new object", object.rows()?, Vec::new())?;
    rig.run(|d, c| {
        object.around(c, || ways.dispatch(d, c, &plain));
        ways.dispatch(d, c, &ways.kernel);
    })?;
    same("blocks", object.rows()?, Vec::new())?;
    Ok(Vec::new())
}

fn resubmission_adds_up(rig: &Rig) -> Found {
    let ways = Ways::new(rig)?;
    let object = rig.object()?;
    let commands =
        rig.context.record(|d, c| object.around(c, || ways.dispatch(d, c, &ways.kernel))).map_err(text)?;
    for times in 1..=3 {
        rig.context.submit_and_wait(commands).map_err(text)?;
        ways.check(&object.rows()?, 0, times)?;
    }
    object.clear();
    rig.context.submit_and_wait(commands).map_err(text)?;
    let rows = object.rows()?;
    ways.check(&rows, 0, 1)?;
    rig.context.free(commands);
    Ok(digest(&rows))
}

fn clear(rig: &Rig) -> Found {
    let ways = Ways::new(rig)?;
    let object = rig.object()?;
    object.clear();
    same("blocks of a new object", object.rows()?, Vec::new())?;
    rig.run(|d, c| object.around(c, || ways.dispatch(d, c, &ways.kernel)))?;
    let before = object.rows()?;
    object.clear();
    let after = object.rows()?;
    holds("a value after clearing", after.iter().all(|r| r.values.iter().all(|v| *v == 0)))?;
    // "The value of all metric blocks" is cleared, not the blocks.
    let keys =
        |rows: &[super::Row]| rows.iter().map(|r| (r.result, r.sub, r.stages, r.block)).collect::<Vec<_>>();
    same("blocks after clearing", keys(&after), keys(&before))?;
    rig.run(|d, c| object.around(c, || ways.dispatch(d, c, &ways.kernel)))?;
    let rows = object.rows()?;
    ways.check(&rows, 1, 1)?;
    Ok(digest(&rows))
}

/// resultIndex, resultSubIndex, stages together, basicBlockIndex, all ascending (§ Shader Instrumentation Retrieval).
fn order(rig: &Rig) -> Found {
    let ways = Ways::new(rig)?;
    let drawn = rig.pipeline(|i| i.blend = client::graphics::over())?;
    let target = rig.target()?;
    let object = rig.object()?;
    rig.run(|d, c| {
        object.around(c, || {
            rig.pass(&target, c, |d, c| {
                drawn.bind(c, None, &push(0.5, 1.0));
                // SAFETY: recording with everything bound.
                unsafe {
                    d.cmd_draw(c, 3, 1, 0, 0);
                    d.cmd_draw(c, PAIR.0, 1, PAIR.1, 0);
                }
            });
            ways.dispatch(d, c, &ways.kernel);
        });
    })?;
    let rows = object.rows()?;
    let keys: Vec<_> = rows.iter().map(|r| (r.result, r.sub, r.stages.as_raw(), r.block)).collect();
    holds("keys are not ascending, or one comes twice", keys.windows(2).all(|k| k[0] < k[1]))?;
    same("the last result", keys.last().map(|k| k.0), Some(2))?;
    Ok(digest(&rows))
}

fn retrieval(rig: &Rig) -> Found {
    let ways = Ways::new(rig)?;
    let object = rig.object()?;
    rig.run(|d, c| object.around(c, || ways.dispatch(d, c, &ways.kernel)))?;
    let rows = object.rows()?;
    let n = rows.len() as u32;
    holds("no blocks", n > 2)?;
    let size = 16 + 8 * rig.metrics;
    for room in 0..n + 3 {
        let (result, told, bytes) = object.get(Some(room));
        let want = if room < n { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS };
        same(&format!("with room for {room} of {n}"), result, want)?;
        same("blocks written", told, room.min(n))?;
        same("what is written", decode(&bytes, told, rig.metrics), rows[..told as usize].to_vec())?;
        holds("it writes further", bytes[told as usize * size..].iter().all(|b| *b == 0xA5))?;
    }
    // As Arm's own test does: room for one block, then for twice as many until all fit.
    let mut room = 1;
    while object.get(Some(room)).0 == vk::Result::INCOMPLETE {
        room *= 2;
        holds("it never ends", room < 1 << 20)?;
    }
    Ok(digest(&rows))
}

/// Secondary command buffers begin and end inside themselves, also within a pass.
fn secondary(rig: &Rig) -> Found {
    let ways = Ways::new(rig)?;
    let drawn = rig.pipeline(|_| ())?;
    let target = rig.target()?;
    let (inner, outer) = (rig.object()?, rig.object()?);
    let secondaries = Secondaries::new(rig, 2)?;
    secondaries.record(0, None, |d, c| inner.around(c, || ways.dispatch(d, c, &ways.kernel)))?;
    let formats = [vk::Format::R8G8B8A8_UNORM];
    secondaries.record(1, Some(&formats), |d, c| {
        let area = vk::Rect2D { extent: vk::Extent2D { width: 64, height: 64 }, ..Default::default() };
        let viewport = vk::Viewport { width: 64.0, height: 64.0, max_depth: 1.0, ..Default::default() };
        drawn.bind(c, None, &push(0.5, 1.0));
        inner.around(c, || {
            // SAFETY: recording with everything bound.
            unsafe {
                d.cmd_set_viewport(c, 0, &[viewport]);
                d.cmd_set_scissor(c, 0, &[area]);
                d.cmd_draw(c, 3, 1, 0, 0);
            }
        });
    })?;
    rig.run(|d, c| {
        outer.around(c, || ways.dispatch(d, c, &ways.kernel));
        // SAFETY: recording; both secondaries are executable and live until the run has ended.
        unsafe {
            d.cmd_execute_commands(c, &secondaries.buffers[..1]);
            let view = vk::RenderingAttachmentInfo::default()
                .image_view(target.view)
                .image_layout(vk::ImageLayout::GENERAL)
                .store_op(vk::AttachmentStoreOp::STORE);
            let area = vk::Rect2D { extent: vk::Extent2D { width: 64, height: 64 }, ..Default::default() };
            let pass = vk::RenderingInfo::default()
                .flags(vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS)
                .render_area(area)
                .layer_count(1)
                .color_attachments(std::slice::from_ref(&view));
            d.cmd_begin_rendering(c, &pass);
            d.cmd_execute_commands(c, &secondaries.buffers[1..]);
            d.cmd_end_rendering(c);
        }
        outer.around(c, || ways.dispatch(d, c, &ways.kernel));
    })?;
    let (rows, outer_rows) = (inner.rows()?, outer.rows()?);
    ways.check(&rows, 0, 1)?;
    let table = rig.table(drawn.handle, 1)?;
    let pixels = of(&rows, 1, Stage::FRAGMENT, table.line(super::graphics::PLAIN_LINE)?)?;
    same("fragments drawn by a secondary", pixels[THREADS], 4096)?;
    ways.check(&outer_rows, 0, 1)?;
    ways.check(&outer_rows, 1, 1)?;
    same("results of the outer object", outer_rows.last().map(|r| r.result), Some(1))?;
    Ok([digest(&rows), digest(&outer_rows)].concat())
}

/// Secondary command buffers, freed with their pool.
struct Secondaries<'a> {
    rig: &'a Rig,
    pool: vk::CommandPool,
    buffers: Vec<vk::CommandBuffer>,
}

impl<'a> Secondaries<'a> {
    fn new(rig: &'a Rig, count: u32) -> Result<Self, String> {
        let device = &rig.context.device;
        // SAFETY: plain Vulkan calls; the context's queue is of family 0, as every driver here has one that draws.
        unsafe {
            let pool =
                device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).map_err(text)?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .level(vk::CommandBufferLevel::SECONDARY)
                .command_buffer_count(count);
            let buffers = device.allocate_command_buffers(&info).map_err(text)?;
            Ok(Self { rig, pool, buffers })
        }
    }

    /// `formats`: it draws within a pass with attachments of these.
    fn record(
        &self,
        at: usize,
        formats: Option<&[vk::Format]>,
        record: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) -> Result<(), String> {
        let device = &self.rig.context.device;
        let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
            .color_attachment_formats(formats.unwrap_or(&[]))
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let mut inheritance = vk::CommandBufferInheritanceInfo::default();
        let mut flags = vk::CommandBufferUsageFlags::empty();
        if formats.is_some() {
            inheritance = inheritance.push_next(&mut rendering);
            flags |= vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE;
        }
        let info = vk::CommandBufferBeginInfo::default().flags(flags).inheritance_info(&inheritance);
        // SAFETY: a buffer that is not in use.
        unsafe {
            device.begin_command_buffer(self.buffers[at], &info).map_err(text)?;
            record(device, self.buffers[at]);
            device.end_command_buffer(self.buffers[at]).map_err(text)
        }
    }
}

impl Drop for Secondaries<'_> {
    fn drop(&mut self) {
        // SAFETY: every submission is waited for.
        unsafe { self.rig.context.device.destroy_command_pool(self.pool, None) }
    }
}

/// Objects one after the other in one command buffer share nothing.
fn several_objects(rig: &Rig) -> Found {
    let ways = Ways::new(rig)?;
    let (first, second, third) = (rig.object()?, rig.object()?, rig.object()?);
    rig.run(|d, c| {
        first.around(c, || ways.dispatch(d, c, &ways.kernel));
        second.around(c, || {
            ways.dispatch(d, c, &ways.kernel);
            ways.dispatch(d, c, &ways.kernel);
        });
        first.around(c, || ways.dispatch(d, c, &ways.kernel));
    })?;
    let rows = [first.rows()?, second.rows()?];
    for rows in &rows {
        ways.check(rows, 0, 1)?;
        ways.check(rows, 1, 1)?;
        same("the last result", rows.last().map(|r| r.result), Some(1))?;
    }
    same("blocks of an object that was never active", third.rows()?, Vec::new())?;
    drop(second);
    same("another object's destruction", first.rows()?, rows[0].clone())?;
    Ok(rows.iter().flat_map(|r| digest(r)).collect())
}

/// A stage that ran has a row for each of its blocks, those that the compiler dropped among them.
fn every_block_has_a_row(rig: &Rig) -> Found {
    let ways = Ways::new(rig)?;
    let object = rig.object()?;
    rig.run(|d, c| object.around(c, || ways.dispatch(d, c, &ways.kernel)))?;
    let rows = object.rows()?;
    let table = rig.table(ways.kernel.pipeline, 0)?;
    let blocks: Vec<u32> = rows.iter().map(|r| r.block).collect();
    same("basic block indices", blocks, (0..table.0.len() as u32).collect())?;
    holds("a block of no function", table.0.iter().all(|b| b.function == "main"))?;
    let never = of(&rows, 0, Stage::COMPUTE, table.line(27)?)?;
    same("a block that a specialisation constant forbids", never, vec![0; rig.metrics])?;
    Ok(digest(&rows))
}

/// Beginning twice, ending without a beginning, leaving an object active: none of it may do harm, and what is right
/// stays right. (The application's fault, so the layers must be off.)
fn misuse(rig: &Rig) -> Found {
    let ways = Ways::new(rig)?;
    let (first, second) = (rig.object()?, rig.object()?);
    rig.run(|d, c| {
        first.end(c);
        first.begin(c);
        second.begin(c);
        ways.dispatch(d, c, &ways.kernel);
        first.end(c);
        first.end(c);
        ways.dispatch(d, c, &ways.kernel);
        second.begin(c);
        ways.dispatch(d, c, &ways.kernel);
        // Left active at the end.
    })?;
    rig.run(|d, c| ways.dispatch(d, c, &ways.kernel))?;
    let rows = [first.rows()?, second.rows()?];
    for rows in &rows {
        ways.check(rows, 0, 1)?;
        same("the last result", rows.last().map(|r| r.result), Some(0))?;
    }
    // Flags are reserved: nothing is told of what they may mean once.
    let (mut count, mut bytes) = (1, vec![0xA5u8; 16 + 8 * rig.metrics]);
    let flags = vk::ShaderInstrumentationValuesFlagsARM::from_raw(1);
    // SAFETY: live handles; room for a block.
    let result = unsafe {
        (rig.get)(rig.context.device.handle(), first.handle, &mut count, bytes.as_mut_ptr().cast(), flags)
    };
    same("reserved flags", result, vk::Result::ERROR_VALIDATION_FAILED_EXT)?;
    holds("something is written", bytes.iter().all(|b| *b == 0xA5))?;
    // Destroyed between recording and execution: the values are lost, nothing else.
    let lost = rig.object()?;
    let commands =
        rig.context.record(|d, c| lost.around(c, || ways.dispatch(d, c, &ways.kernel))).map_err(text)?;
    drop(lost);
    rig.context.submit_and_wait(commands).map_err(text)?;
    rig.context.free(commands);
    Ok(rows.iter().flat_map(|r| digest(r)).collect())
}
