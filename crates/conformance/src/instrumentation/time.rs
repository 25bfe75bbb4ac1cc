//! Modelled time and the modelled cores, through the loader: figures worked out from the model's file
//! (`crates/counters/models/g720.toml`) and the rules that docs/counters.md gives.

use super::{Check, Found, Rig, check_list, same, text};
use client::graphics::{Attachment, ImageInfo, Load, Pass, barrier};

pub fn checks() -> Vec<Check> {
    check_list![
        a_timer_around_one_of_three_passes = timer,
        transfers_take_time = transfers,
        regions_one_after_the_other = regions,
        core_builtins = cores
    ]
}

const CORE: &[u8] = include_bytes!("../../shaders/instrumentation/core.comp.spv");

/// A pool of timestamps.
struct Stamps<'a> {
    rig: &'a Rig,
    pool: vk::QueryPool,
    count: u32,
}

impl<'a> Stamps<'a> {
    fn new(rig: &'a Rig, count: u32) -> Result<Self, String> {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
        // SAFETY: a plain Vulkan call.
        let pool = unsafe { rig.context.device.create_query_pool(&info, None) }.map_err(text)?;
        Ok(Stamps { rig, pool, count })
    }
    fn reset(&self, c: vk::CommandBuffer) {
        // SAFETY: recording into a command buffer that has begun.
        unsafe { self.rig.context.device.cmd_reset_query_pool(c, self.pool, 0, self.count) }
    }
    fn write(&self, c: vk::CommandBuffer, stage: vk::PipelineStageFlags, query: u32) {
        // SAFETY: as above.
        unsafe { self.rig.context.device.cmd_write_timestamp(c, stage, self.pool, query) }
    }
    fn values(&self) -> Result<Vec<u64>, String> {
        let mut values = vec![0u64; self.count as usize];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: the submission has been waited for.
        unsafe { self.rig.context.device.get_query_pool_results(self.pool, 0, &mut values, flags) }
            .map_err(text)?;
        Ok(values)
    }
}

impl Drop for Stamps<'_> {
    fn drop(&mut self) {
        // SAFETY: every submission has been waited for.
        unsafe { self.rig.context.device.destroy_query_pool(self.pool, None) }
    }
}

/// Ticks (nanoseconds) of cycles at 1300 MHz.
fn ticks(cycles: u64) -> u64 {
    (cycles * 10).div_ceil(13)
}

/// Passes over 640 × 640 pixels of RGBA8. Binning: the triangle's references into the lists of 400 tiles, one a cycle, which take longer
/// than one warp, whose arithmetic instructions wait four cycles each; and 1000 for the job.
/// Drawing: 102 400 cycles of cores (four pixels a cycle) and 100 for each of 100 tasks, over ten cores 11 240; but
/// 1 638 400 bytes (the targets are not compressed) to external memory at 56 a cycle take 29 258; and 1000 for the job.
const BINNING: u64 = 1000 + 400;
const DRAWING: u64 = 30_258;

/// The same of its regions one after the other: 1124 cycles each, of one core.
const SERIAL: u64 = 100 * 1124 + 1000;

/// Such a pass counted by region, as regions come and one after the other (`serializeRegions`). What each counts is the same.
fn regions(rig: &Rig) -> Found {
    use super::regions::target::{Target, ask, cover, pass, pipeline, rect};
    let stored = rig.image(ImageInfo::colour(vk::Format::R8G8B8A8_UNORM, [640; 2]).stored())?;
    let p = pipeline(rig, |_| ())?;
    let mut found = Vec::new();
    let mut counted = Vec::new();
    for (serialize, drawing) in [(vk::FALSE, DRAWING), (vk::TRUE, SERIAL)] {
        let out = Target::new(rig, 100 * 8)?;
        let (addresses, mut ids) = ([out.address], [super::regions::WARPS]);
        let mut asked = ask(&addresses, &mut ids);
        asked.serialize_regions = serialize;
        let stamps = Stamps::new(rig, 2)?;
        rig.run(|d, c| {
            stamps.reset(c);
            // Else the target would hold what it is to hold.
            Pass {
                colours: vec![Attachment::new(&stored, Load::colour([1.0; 4]))],
                size: [640; 2],
                ..Default::default()
            }
            .record(d, c, |_, _| ());
            barrier(d, c);
            stamps.write(c, vk::PipelineStageFlags::TOP_OF_PIPE, 0);
            pass(&stored, &asked).record(d, c, |d, c| cover(d, c, &p, rect(0, 0, 640, 640)));
            stamps.write(c, vk::PipelineStageFlags::BOTTOM_OF_PIPE, 1);
        })?;
        let [begin, end] = stamps.values()?[..] else { return Err("two stamps".into()) };
        same(&format!("serialize {serialize}"), end - begin, ticks(BINNING) + ticks(drawing))?;
        found.push(end - begin);
        counted.push(out.found());
    }
    same("counts", &counted[0], &counted[1])?;
    found.extend(counted.swap_remove(0));
    Ok(found)
}

/// Three passes and a dispatch, timers around the second pass: without barriers, the first pass's drawing, the third's binning and
/// the dispatch lie within them; with barriers, they read the second pass alone.
fn timer(rig: &Rig) -> Found {
    let p = rig.pipeline(|i| i.flags2 = Default::default())?;
    let target = || rig.image(ImageInfo::colour(vk::Format::R8G8B8A8_UNORM, [640; 2]).stored());
    let kernel = rig.kernel(CORE, 1, false)?;
    let out = rig.buffer(&[0; 320])?;
    kernel.set(&[&out]);
    let mut found = Vec::new();
    for serial in [false, true] {
        let stamps = Stamps::new(rig, 4)?;
        // Each has its own: what holds the same already is not written.
        let targets = [target()?, target()?, target()?];
        rig.run(|d, c| {
            stamps.reset(c);
            for (pass, target) in targets.iter().enumerate() {
                if pass == 1 {
                    stamps.write(c, vk::PipelineStageFlags::TOP_OF_PIPE, 0);
                }
                let colours = vec![Attachment::new(target, Load::colour([0.0; 4]))];
                Pass { colours, size: [640; 2], ..Default::default() }.record(d, c, |d, c| {
                    p.bind(c, None, &super::graphics::push(0.5, 1.0));
                    // SAFETY: recording with everything bound.
                    unsafe { d.cmd_draw(c, 3, 1, 0, 0) }
                });
                if serial {
                    barrier(d, c);
                }
                if pass == 1 {
                    stamps.write(c, vk::PipelineStageFlags::BOTTOM_OF_PIPE, 1);
                }
            }
            stamps.write(c, vk::PipelineStageFlags::VERTEX_SHADER, 2);
            kernel.bind(c, &[]);
            // SAFETY: as above.
            unsafe { d.cmd_dispatch(c, 32, 1, 1) }
            stamps.write(c, vk::PipelineStageFlags::COMPUTE_SHADER, 3);
        })?;
        let [begin, end, binned, computed] = stamps.values()?[..] else { return Err("four stamps".into()) };
        let (bin, draw) = (ticks(BINNING), ticks(DRAWING));
        if serial {
            same("the second pass alone", end - begin, bin + draw)?;
            // After it come the third pass and its barrier.
            same("the third pass follows", binned - end, bin + draw)?;
        } else {
            // The second and third binning go on beside the first drawing. Of memory they want 51 lines (references of eight bytes into
            // 400 lists, and positions) in their time, it 25 600 lines in its: 1.0086 of what there is, so both go on that much slower.
            let want = |lines: u64, cycles: u64| (lines * 64) as f64 / (cycles * 56) as f64;
            let slower = want(51, BINNING) + want(25_600, DRAWING);
            let beside = (bin as f64 * slower).ceil();
            let lost = (2.0 * beside * (1.0 - 1.0 / slower)).ceil() as u64;
            same("with the first pass's drawing", end - begin, bin + 2 * draw + lost)?;
            // What they tell of ended long before, but the queue's stamps do not run backwards.
            same("the third pass's binning and the dispatch lie within", [binned, computed], [end; 2])?;
        }
        found.extend([end - begin, binned - begin, computed - begin]);
    }
    Ok(found)
}

/// A fill of 1 MiB: 16 384 lines written, which external memory takes at 56 bytes a cycle in 18 725 cycles; and 1000 for
/// the job. A copy of as much finds that in the L2, and writes as much.
fn transfers(rig: &Rig) -> Found {
    let words = vec![7u32; 1 << 18];
    let (from, to) = (rig.buffer(&words)?, rig.buffer(&words)?);
    let stamps = Stamps::new(rig, 3)?;
    rig.run(|d, c| {
        stamps.reset(c);
        stamps.write(c, vk::PipelineStageFlags::ALL_COMMANDS, 0);
        // SAFETY: recording with live handles.
        unsafe { d.cmd_fill_buffer(c, from.handle, 0, vk::WHOLE_SIZE, 9) }
        barrier(d, c);
        stamps.write(c, vk::PipelineStageFlags::TRANSFER, 1);
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: 1 << 20 }];
        // SAFETY: as above.
        unsafe { d.cmd_copy_buffer(c, from.handle, to.handle, &region) }
        stamps.write(c, vk::PipelineStageFlags::TRANSFER, 2);
    })?;
    let [begin, filled, copied] = stamps.values()?[..] else { return Err("three stamps".into()) };
    same("the fill", filled - begin, ticks(18_725 + 1000))?;
    same("the copy", copied - filled, ticks(18_725 + 1000))?;
    same("what was copied", to.words()[1 << 17], 9)?;
    Ok(vec![filled - begin, copied - filled])
}

/// Workgroups of two warps are dealt to ten cores in turn, a core's warps to its 64 slots.
fn cores(rig: &Rig) -> Found {
    const GROUPS: usize = 700;
    let kernel = rig.kernel(CORE, 1, false)?;
    let out = rig.buffer(&[u32::MAX; GROUPS * 10])?;
    kernel.set(&[&out]);
    rig.run(|d, c| {
        kernel.bind(c, &[]);
        // SAFETY: recording with everything bound.
        unsafe { d.cmd_dispatch(c, GROUPS as u32, 1, 1) }
    })?;
    for group in 0..GROUPS {
        for subgroup in 0..2 {
            let got = &out.words()[(group * 2 + subgroup) * 5..][..5];
            let warp = (group / 10 * 2 + subgroup) % 64;
            let want = [group as u32 % 10, 10, 9, warp as u32, 63];
            same(&format!("workgroup {group}, subgroup {subgroup}"), got, &want)?;
        }
    }
    Ok(out.words().iter().map(|&w| w.into()).collect())
}
