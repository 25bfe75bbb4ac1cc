//! Cycles of a workload, from its counts and the model.
//!
//! Each unit of a core has a published rate, so counts give the cycles the unit is busy. Units work side by side, so a
//! core takes as long as its busiest one; tasks are dealt evenly to the cores; the whole takes no less than its
//! traffic takes on the external memory. The front end adds its overhead to each job, a core to each task:
//!
//! - arithmetic = max((FMA + CVT + SFU) · 16 / fma_lanes, (CVT + SFU) · 16 / cvt_lanes, SFU · 16 / sfu_lanes), of
//!   warp-instructions: the published issue rule (two pipes issue at once, one of them FMA only);
//! - programmable core = max(arithmetic, load/store issues / ls_issues, varying slots / varying_slots,
//!   filter operations / texels);
//! - bus = max(beats read, beats written) · 16 / l2_bytes;
//! - main core = max(programmable core, bus, primitives rasterised, rasterised quads / raster_quads,
//!   4 · blended quads / pixels, pixels written / pixels) + main_task · tasks;
//! - other cores' work = max(programmable core, bus) + binning_task or compute_task · tasks;
//! - queue = max(core / cores in use, external bytes / external_bytes_per_cycle), for binning also
//!   max(primitives / tiler.primitives, list entries / tiler.bin_entries); + job overhead · jobs.
//!
//! Each quotient is rounded up. Latency, occupancy and contention between jobs are not modelled: a workload that is
//! too small to hide latencies on a GPU is cheaper here.

use crate::event::{Counts, Event, Phase, Unit};
use crate::model::{BEAT, Core, LINE, Model, WARP};

/// Cycles of one workload or of a stretch of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// On the queue of the phase, in order of [`Phase`].
    pub queue: [u64; Phase::COUNT],
    /// Cores' cycles on the phase's work, summed over cores.
    pub core: [u64; Phase::COUNT],
    /// Of these, cycles with a warp running.
    pub exec: [u64; Phase::COUNT],
}

impl Cost {
    pub fn of(c: &Counts, m: &Model) -> Cost {
        let mut cost = Cost::default();
        for (i, &phase) in Phase::ALL.iter().enumerate() {
            let (jobs, tasks, job_cycles, task_cycles) = match phase {
                Phase::Binning => {
                    (Event::BinningJobs, Event::BinningTasks, m.overhead.binning_job, m.overhead.binning_task)
                }
                Phase::Compute => {
                    (Event::ComputeJobs, Event::ComputeTasks, m.overhead.compute_job, m.overhead.compute_task)
                }
                Phase::Main => (Event::MainJobs, Event::MainTasks, m.overhead.main_job, m.overhead.main_task),
            };
            let exec = programmable(c, phase, m);
            let busy = exec.max(bus(c, phase, m)).max(if phase == Phase::Main { fragment(c, m) } else { 0 });
            let core = busy + c[tasks] * task_cycles;
            let cores = c[tasks].clamp(1, m.cores);
            let bytes = (c[(phase, Unit::ExtReads)] + c[(phase, Unit::ExtWrites)]) * LINE;
            let mut queue = core.div_ceil(cores).max(bytes.div_ceil(m.memory.external_bytes_per_cycle));
            if phase == Phase::Binning {
                queue = queue.max(tiler(c, m));
            }
            cost.queue[i] = queue + c[jobs] * job_cycles;
            cost.core[i] = core;
            cost.exec[i] = exec;
        }
        cost
    }

    pub fn queue(&self, phase: Phase) -> u64 {
        self.queue[phase as usize]
    }

    /// Adds the cores' cycles.
    pub fn add_cores(&self, c: &mut Counts) {
        let non_main = self.core[Phase::Binning as usize] + self.core[Phase::Compute as usize];
        let main = self.core[Phase::Main as usize];
        c[Event::CoreMainCycles] += main;
        c[Event::CoreNonMainCycles] += non_main;
        c[Event::CoreAnyCycles] += main + non_main;
        c[Event::CoreExecCycles] += self.exec.iter().sum::<u64>();
    }

    /// Adds all time events, as if nothing else were on the GPU: one phase after the other, none waiting.
    pub fn add_alone(&self, c: &mut Counts) {
        self.add_cores(c);
        use Event::*;
        let events = [
            (BinningQueuedCycles, BinningActiveCycles),
            (ComputeQueuedCycles, ComputeActiveCycles),
            (MainQueuedCycles, MainActiveCycles),
        ];
        for ((queued, active), cycles) in events.into_iter().zip(self.queue) {
            c[queued] += cycles;
            c[active] += cycles;
            c[GpuActiveCycles] += cycles;
            c[AnyQueueActive] += cycles;
        }
    }
}

/// The units that shaders use.
fn programmable(c: &Counts, p: Phase, m: &Model) -> u64 {
    let n = |u| c[(p, u)];
    let arithmetic = arithmetic(&m.core, n(Unit::Fma), n(Unit::Cvt), n(Unit::Sfu));
    let issues = n(Unit::LsReadFull)
        + n(Unit::LsReadPartial)
        + n(Unit::LsWriteFull)
        + n(Unit::LsWritePartial)
        + n(Unit::LsAtomic);
    let slots = n(Unit::VaryingSlots32) + n(Unit::VaryingSlots16);
    arithmetic
        .max(issues.div_ceil(m.core.ls_issues))
        .max(slots.div_ceil(m.core.varying_slots))
        .max(n(Unit::TexFilterOps).div_ceil(m.core.texels))
}

/// Cycles of a core for so many warp-instructions, by the issue rule.
pub fn arithmetic(core: &Core, fma: u64, cvt: u64, sfu: u64) -> u64 {
    ((fma + cvt + sfu) * WARP)
        .div_ceil(core.fma_lanes)
        .max(((cvt + sfu) * WARP).div_ceil(core.cvt_lanes))
        .max((sfu * WARP).div_ceil(core.sfu_lanes))
}

/// Between cores and L2.
fn bus(c: &Counts, p: Phase, m: &Model) -> u64 {
    let mut read =
        c[(p, Unit::LsL2ReadBeats)] + c[(p, Unit::TexL2ReadBeats)] + c[(p, Unit::OtherL2ReadBeats)];
    let mut write = c[(p, Unit::LsWriteBackBeats)] + c[(p, Unit::LsOtherWriteBeats)];
    if p == Phase::Main {
        read += c[Event::FfeL2ReadBeats];
        write += c[Event::TileWriteBeats];
    }
    (read.max(write) * BEAT).div_ceil(m.core.l2_bytes)
}

/// The fixed units around fragment shading.
fn fragment(c: &Counts, m: &Model) -> u64 {
    c[Event::PrimsRasterised]
        .max(c[Event::QuadsRasterised].div_ceil(m.core.raster_quads))
        .max((c[Event::BlendQuads] * 4).div_ceil(m.core.pixels))
        .max(c[Event::TilePixelsWritten].div_ceil(m.core.pixels))
}

fn tiler(c: &Counts, m: &Model) -> u64 {
    c[Event::InputPrimitives]
        .div_ceil(m.tiler.primitives)
        .max(c[Event::BinEntries].div_ceil(m.tiler.bin_entries))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers below are worked out by hand for this model.
    fn g720() -> Model {
        Model::load(Some("g720")).unwrap()
    }

    #[test]
    fn nothing_costs_nothing() {
        assert_eq!(Cost::of(&Counts::default(), &g720()), Cost::default());
    }

    #[test]
    fn arithmetic_by_the_issue_rule() {
        let cycles = |fma, cvt, sfu| {
            let mut c = Counts::default();
            c[(Phase::Compute, Unit::Fma)] = fma;
            c[(Phase::Compute, Unit::Cvt)] = cvt;
            c[(Phase::Compute, Unit::Sfu)] = sfu;
            Cost::of(&c, &g720()).exec[Phase::Compute as usize]
        };
        // 8 warps a cycle when all are FMA; 4 when none is; one SFU.
        assert_eq!(cycles(800, 0, 0), 100);
        assert_eq!(cycles(0, 800, 0), 200);
        assert_eq!(cycles(400, 400, 0), 100);
        assert_eq!(cycles(0, 0, 800), 800);
        assert_eq!(cycles(100, 300, 0), 75);
        assert_eq!(cycles(1, 0, 0), 1);
    }

    #[test]
    fn a_dispatch() {
        // 100 workgroups with 64 000 FMA and 20 000 full reads: load/store binds, 20 000 cycles of cores; each task
        // adds 20: 22 000 over ten cores = 2 200, and 1 000 for the job. Memory: 4 000 lines = 256 000 bytes at 56 a
        // cycle = 4 572 cycles, which is more.
        let mut c = Counts::default();
        c[Event::ComputeJobs] = 1;
        c[Event::ComputeTasks] = 100;
        c[(Phase::Compute, Unit::Fma)] = 64_000;
        c[(Phase::Compute, Unit::LsReadFull)] = 20_000;
        let cost = Cost::of(&c, &g720());
        assert_eq!(cost.queue, [0, 3_200, 0]);
        assert_eq!((cost.core, cost.exec), ([0, 22_000, 0], [0, 20_000, 0]));
        c[(Phase::Compute, Unit::ExtReads)] = 3_000;
        c[(Phase::Compute, Unit::ExtWrites)] = 1_000;
        assert_eq!(Cost::of(&c, &g720()).queue, [0, 5_572, 0]);
        // Half as many cores, half the speed.
        let half = Model { cores: 5, ..g720() };
        c[(Phase::Compute, Unit::ExtReads)] = 0;
        assert_eq!(Cost::of(&c, &half).queue, [0, 5_400, 0]);
    }

    #[test]
    fn few_tasks_use_few_cores() {
        let mut c = Counts::default();
        c[Event::ComputeJobs] = 1;
        c[Event::ComputeTasks] = 2;
        c[(Phase::Compute, Unit::LsAtomic)] = 960;
        assert_eq!(Cost::of(&c, &g720()).queue, [0, 500 + 1_000, 0]);
    }

    #[test]
    fn a_render_pass() {
        // 640 × 640 cleared to one attachment: 100 tasks, 409 600 pixels written at 4 a cycle = 102 400 core cycles,
        // 25 600 beats × 4 at one a cycle = 102 400 too; + 100 × 100; over ten cores 11 240; + 1 000.
        let mut c = Counts::default();
        c[Event::MainJobs] = 1;
        c[Event::MainTasks] = 100;
        c[Event::TilePixelsWritten] = 409_600;
        c[Event::TileWriteBeats] = 102_400;
        // 10 vertices' work is less than the tiler's 3 000 primitives, one a cycle.
        c[Event::BinningJobs] = 1;
        c[Event::BinningTasks] = 3;
        c[Event::InputPrimitives] = 3_000;
        c[(Phase::Binning, Unit::Fma)] = 10;
        let mut cost = Cost::of(&c, &g720());
        assert_eq!(cost.queue, [4_000, 0, 12_240]);
        assert_eq!(cost.core, [62, 0, 112_400]);
        // Trilinear sampling of 1 000 000 quads' fragments: 8 000 000 operations, 8 a cycle.
        c[(Phase::Main, Unit::TexFilterOps)] = 8_000_000;
        cost = Cost::of(&c, &g720());
        assert_eq!(cost.queue(Phase::Main), (1_000_000 + 10_000) / 10 + 1_000);
        cost.add_alone(&mut c);
        assert_eq!(c[Event::MainActiveCycles], 102_000);
        assert_eq!(c[Event::GpuActiveCycles], 106_000);
        assert_eq!(c[Event::CoreMainCycles], 1_010_000);
        assert_eq!(c[Event::CoreExecCycles], 1_000_000 + 2);
        assert_eq!(c[Event::CoreAnyCycles], 1_010_062);
    }
}
