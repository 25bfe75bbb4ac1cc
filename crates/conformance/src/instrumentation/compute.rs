//! Counts of compute shaders, worked out from their sources.

use super::rig::{ARITHMETIC, CVT, DIVERGED, FMA, LINES, LOAD_STORE, Row, SFU, THREADS, WARPS, digest, of};
use super::{Check, Found, Rig, check_list, same};
use client::{Buffer, Kernel};
use vk::ShaderStageFlags as Stage;

pub fn checks() -> Vec<Check> {
    check_list![
        divergence_and_lines,
        loops_with_trips_from_memory = loops,
        pipes,
        indirect_dispatch,
        partial_workgroups
    ]
}

pub const WAYS: &[u8] = include_bytes!("../../shaders/instrumentation/ways.comp.spv");
const COSTS: &[u8] = include_bytes!("../../shaders/instrumentation/costs.comp.spv");

/// `ways.comp` for 64 warps: a quarter of them (16) takes each way.
pub struct Ways {
    pub kernel: Kernel,
    result: Buffer,
    key: Buffer,
    data: Buffer,
    table: super::rig::Table,
}

/// Workgroups of 64.
const GROUPS: u32 = 16;

impl Ways {
    pub fn new(rig: &Rig) -> Result<Ways, String> {
        let key = |i: u32| {
            let (warp, lane) = (i / 16, i % 16);
            match warp % 4 {
                // Odd keys for 5 lanes; then a line that each warp shares.
                0 => u32::from(lane < 5) | 16,
                // Odd keys for all lanes; then every lane reads a line of its own.
                1 => 1 | 32,
                // 0 to 3 trips; then all lanes read one word.
                2 => (lane & 3) << 1 | 64,
                // Three trips for all lanes; then stores of every fourth word.
                _ => 3 << 1 | 128,
            }
        };
        let keys: Vec<u32> = (0..GROUPS * 64).map(key).collect();
        let kernel = rig.kernel(WAYS, 3, true)?;
        let table = rig.table(kernel.pipeline, 0)?;
        let ways = Ways {
            kernel,
            result: rig.buffer(&vec![0; keys.len()])?,
            key: rig.buffer(&keys)?,
            data: rig.buffer(&vec![1; 16384 + 4096])?,
            table,
        };
        ways.kernel.set(&ways.buffers());
        Ok(ways)
    }

    pub fn buffers(&self) -> [&Buffer; 3] {
        [&self.result, &self.key, &self.data]
    }

    /// Records a dispatch by a kernel of `ways.comp`, and a barrier after it.
    pub fn dispatch(&self, device: &ash::Device, commands: vk::CommandBuffer, kernel: &Kernel) {
        kernel.bind(commands, &[]);
        // SAFETY: recording with everything bound.
        unsafe { device.cmd_dispatch(commands, GROUPS, 1, 1) };
        client::graphics::barrier(device, commands);
    }

    /// That `rows` hold what `times` dispatches as result `result` cost.
    pub fn check(&self, rows: &[Row], result: u32, times: u64) -> Result<(), String> {
        let t = &self.table;
        let row = |block: u32| of(rows, result, Stage::COMPUTE, block);
        // (block, warps, threads, diverged warps)
        let runs = [
            // The beginning, and the end (line 28): 64 warps of 16.
            (0, 64, 1024, 0),
            (t.line(28)?, 64, 1024, 0),
            // 16 warps with 5 lanes, 16 with all.
            (t.line(15)?, 32, 16 * 5 + 16 * 16, 16),
            // Arrivals at the loop's header: one in 32 warps without trips; four in the 16 with 0 to 3 trips, of
            // 16, 12, 8 and 4 lanes; four in the 16 with three trips for all.
            (t.loop_header()?, 32 + 64 + 64, 512 + 16 * 40 + 1024, 48),
            (t.line(17)?, 48 + 48, 16 * 24 + 48 * 16, 48),
            (t.line(19)?, 16, 256, 0),
            (t.line(21)?, 16, 256, 0),
            (t.line(23)?, 16, 256, 0),
            (t.line(25)?, 16, 256, 0),
            (t.line(27)?, 0, 0, 0),
        ];
        for (block, warps, threads, diverged) in runs {
            let r = row(block)?;
            let got = [r[WARPS], r[THREADS], r[DIVERGED]];
            same(
                &format!(
                    "warps, threads, diverged warps of block {block} (lines {:?})",
                    t.0[block as usize].lines
                ),
                got,
                [warps, threads, diverged].map(|n| n * times),
            )?;
        }
        // Lines of 64 bytes, a cycle each: 16 words side by side; 16 words 64 bytes apart; one word for all; 16 words
        // 16 bytes apart; and at the end the 16 results of a warp.
        for (line, lines) in [(19, 16), (21, 16 * 16), (23, 16), (25, 16 * 4), (28, 64)] {
            let r = row(t.line(line)?)?;
            same(&format!("cache lines of line {line}"), r[LINES], lines * times)?;
            same(&format!("load/store cycles of line {line}"), r[LOAD_STORE], lines * times)?;
        }
        let quiet = row(t.line(15)?)?;
        same("load/store cycles of arithmetic", quiet[LOAD_STORE], 0)?;
        Ok(())
    }
}

fn divergence_and_lines(rig: &Rig) -> Found {
    let ways = Ways::new(rig)?;
    let object = rig.object()?;
    rig.run(|d, c| object.around(c, || ways.dispatch(d, c, &ways.kernel)))?;
    let rows = object.rows()?;
    ways.check(&rows, 0, 1)?;
    Ok(digest(&rows))
}

/// `trips.comp`: threads by what the source does for each invocation ([`crate::trips::counts`]), warps and diverged
/// warps by doing it for 16 at a time.
fn loops(rig: &Rig) -> Found {
    use crate::trips::{INVOCATIONS, SPIRV, counts, trips};
    let kernel = rig.kernel(SPIRV, 2, true)?;
    let (out, input) = (rig.buffer(&vec![0; INVOCATIONS as usize])?, rig.buffer(&trips())?);
    kernel.set(&[&out, &input]);
    let object = rig.object()?;
    rig.run(|d, c| {
        kernel.bind(c, &[]);
        // SAFETY: recording with everything bound.
        object.around(c, || unsafe { d.cmd_dispatch(c, INVOCATIONS / 32, 1, 1) });
    })?;
    let rows = object.rows()?;
    let threads: Vec<u64> = rows.iter().map(|r| r.values[THREADS]).collect();
    same("threads by block", threads, counts())?;
    let (warps, diverged) = by_warp(&trips());
    same("warps by block", rows.iter().map(|r| r.values[WARPS]).collect(), warps)?;
    same("diverged warps by block", rows.iter().map(|r| r.values[DIVERGED]).collect(), diverged)?;
    Ok(digest(&rows))
}

/// Warps that run each block of `trips.comp`, and those of fewer than 16 lanes.
fn by_warp(trips: &[u32]) -> (Vec<u64>, Vec<u64>) {
    let (mut warps, mut diverged) = (vec![0; 11], vec![0; 11]);
    for (w, trips) in trips.chunks_exact(16).enumerate() {
        let mut run = |block: usize, lanes: usize| {
            warps[block] += u64::from(lanes > 0);
            diverged[block] += u64::from(lanes > 0 && lanes < 16);
        };
        let with = |k: u32| trips.iter().filter(|t| **t >= k).count();
        run(0, 16);
        for k in 0..=7 {
            // Lanes that arrive at the header for the k-th time have k trips behind them.
            run(1, with(k));
            run(2, with(k));
            run(3, with(k + 1));
            run(4, with(k + 1));
        }
        run(5, 16);
        let mut sums: Vec<u32> = trips
            .iter()
            .enumerate()
            .map(|(lane, t)| (0..*t).fold(0, |s, k| s + k * 3 + (w * 16 + lane) as u32))
            .collect();
        let odd: Vec<bool> = sums.iter().map(|s| s & 1 == 1).collect();
        let count = |f: &dyn Fn(usize) -> bool| (0..16).filter(|l| f(*l)).count();
        run(6, count(&|l| odd[l]));
        // The two calls of `twist`: first by the odd ones, then by all.
        for by_all in [false, true] {
            let here = |l: usize| by_all || odd[l];
            run(8, count(&here));
            run(9, count(&|l| here(l) && sums[l] > 9));
            run(10, count(&|l| here(l) && sums[l] <= 9));
            if by_all {
                break;
            }
            for l in 0..16 {
                if odd[l] {
                    sums[l] = if sums[l] > 9 { sums[l] ^ 5 } else { sums[l] + 1 };
                }
            }
        }
        run(7, 16);
    }
    (warps, diverged)
}

/// `costs.comp` for 32 warps, of which 24, 16 and 8 run the three blocks of known instructions.
fn pipes(rig: &Rig) -> Found {
    let kernel = rig.kernel(COSTS, 3, true)?;
    let table = rig.table(kernel.pipeline, 0)?;
    let bits = |f: &dyn Fn(u32) -> f32| (0..512).map(|i| f(i).to_bits()).collect::<Vec<_>>();
    let out = rig.buffer(&[0; 512])?;
    let a = rig.buffer(&bits(&|i| 1.0 + i as f32))?;
    let b = rig.buffer(&bits(&|i| [-1.0, 0.5, 1.5, 2.5][(i / 16 % 4) as usize]))?;
    kernel.set(&[&out, &a, &b]);
    let object = rig.object()?;
    rig.run(|d, c| {
        kernel.bind(c, &[]);
        // SAFETY: recording with everything bound.
        object.around(c, || unsafe { d.cmd_dispatch(c, 16, 1, 1) });
    })?;
    let rows = object.rows()?;
    // (line, warps, cycles of all, FMA, CVT, SFU), a warp having 16 lanes: four multiplications and additions on 128 lanes; a
    // reciprocal root on 16; an integer addition on 64 and two logic operations on 16.
    for (line, warps, cycles) in [(15, 24, [12, 12, 0, 0]), (18, 16, [16, 0, 0, 16]), (21, 8, [16, 0, 2, 16])]
    {
        let r = of(&rows, 0, Stage::COMPUTE, table.line(line)?)?;
        same(&format!("warps of line {line}"), r[WARPS], warps)?;
        same(
            &format!("cycles of all arithmetic, FMA, CVT, SFU of line {line}"),
            [r[ARITHMETIC], r[FMA], r[CVT], r[SFU]],
            cycles,
        )?;
        same(&format!("load/store cycles of line {line}"), r[LOAD_STORE], 0)?;
    }
    Ok(digest(&rows))
}

fn indirect_dispatch(rig: &Rig) -> Found {
    let ways = Ways::new(rig)?;
    let groups = rig.buffer(&[7, 7, 7, GROUPS, 1, 1])?;
    let none = rig.buffer(&[0, 1, 1])?;
    let object = rig.object()?;
    rig.run(|d, c| {
        object.around(c, || {
            ways.kernel.bind(c, &[]);
            // SAFETY: recording with everything bound.
            unsafe {
                d.cmd_dispatch_indirect(c, none.handle, 0);
                d.cmd_dispatch_indirect(c, groups.handle, 12);
            }
        });
    })?;
    let rows = object.rows()?;
    ways.check(&rows, 1, 1)?;
    // Whether a dispatch of nothing has rows is open; if so, of zeros.
    for r in rows.iter().filter(|r| r.result == 0) {
        same("values of a dispatch of nothing", r.values.clone(), vec![0; rig.metrics])?;
    }
    Ok(digest(&rows))
}

/// Workgroups of 32 in odd number, several to a wave: every invocation once, no warp diverges for that.
fn partial_workgroups(rig: &Rig) -> Found {
    let kernel = rig.kernel(COSTS, 3, true)?;
    let table = rig.table(kernel.pipeline, 0)?;
    let buffers = [rig.buffer(&[0; 512])?, rig.buffer(&[0; 512])?, rig.buffer(&[0; 512])?];
    kernel.set(&[&buffers[0], &buffers[1], &buffers[2]]);
    let object = rig.object()?;
    rig.run(|d, c| {
        kernel.bind(c, &[]);
        // SAFETY: recording with everything bound.
        object.around(c, || unsafe { d.cmd_dispatch(c, 13, 1, 1) });
    })?;
    let rows = object.rows()?;
    let r = of(&rows, 0, Stage::COMPUTE, table.line(23)?)?;
    same("warps, threads, diverged warps", [r[WARPS], r[THREADS], r[DIVERGED]], [26, 13 * 32, 0])?;
    for line in [15, 18, 21] {
        let r = of(&rows, 0, Stage::COMPUTE, table.line(line)?)?;
        same("a block that no thread enters", r, vec![0; rig.metrics])?;
    }
    Ok(digest(&rows))
}
