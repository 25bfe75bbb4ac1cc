//! What a job's time goes to, for people: how long each thing that can hold a job up would take it alone, in cycles of the GPU.
//!
//! It follows from what the job counted when it had ended, and costs nothing: cycles are [`crate::cost`]'s. Units of cores and what
//! their warps wait for are spread over all cores evenly; what that leaves of the job's time is [`Take::Idle`].

use crate::cost::{self, Ask, Job, Load};
use crate::event::{Counts, Event, Phase, Unit};
use crate::model::{LINE, Model};
use crate::names::By;

crate::names! {
    /// What may hold a job up.
    pub Take {
        /// Arithmetic of shaders, by the issue rule of the pipes.
        Arithmetic,
        /// Load and store issues.
        LoadStore,
        /// Interpolation.
        Varying,
        /// The texture unit's longest stage.
        Texture,
        /// The ray tracing unit's busier tester.
        Rays,
        /// Beats between cores and the L2.
        Link,
        /// Rasterising, blending, writing of tiles.
        Raster,
        /// Waits of warps: cores' cycles where those are longer than any unit takes; else 0.
        Latency,
        /// The overhead of tasks (workgroups, chunks of primitives, regions).
        Tasks,
        /// The tiler.
        Tiler,
        /// Lookups in the L2's slices, and atomics on one line.
        L2,
        /// External memory.
        Memory,
        /// The front end's overhead of jobs.
        FrontEnd,
        /// Cores without a task, or slowed by what ran beside: what is left of the time.
        Idle,
    }
}

/// Cycles by what takes them: side by side, so they are no sum.
pub type Takes = By<Take, { Take::COUNT }>;

impl Take {
    /// Its key in files: the name in small letters, words with `_` between them.
    pub fn key(self) -> &'static str {
        match self {
            Take::Arithmetic => "arithmetic",
            Take::LoadStore => "load_store",
            Take::Varying => "varying",
            Take::Texture => "texture",
            Take::Rays => "rays",
            Take::Link => "l2_link",
            Take::Raster => "raster",
            Take::Latency => "latency",
            Take::Tasks => "task_overhead",
            Take::Tiler => "tiler",
            Take::L2 => "l2",
            Take::Memory => "memory",
            Take::FrontEnd => "front_end",
            Take::Idle => "idle_cores",
        }
    }
}

impl Take {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Take::Arithmetic => "arithmetic",
            Take::LoadStore => "load/store",
            Take::Varying => "interpolation",
            Take::Texture => "texture unit",
            Take::Rays => "ray tracing unit",
            Take::Link => "beats between cores and L2",
            Take::Raster => "rasteriser and tile buffer",
            Take::Latency => "latency of warps",
            Take::Tasks => "overhead of tasks",
            Take::Tiler => "tiler",
            Take::L2 => "L2 cache",
            Take::Memory => "external memory",
            Take::FrontEnd => "front end",
            Take::Idle => "idle cores",
        }
    }
}

/// Cycles of a queue of the front end, whose work is of `phase`: active, blocked, of these drained, and waited.
pub fn queue(c: &Counts, phase: Phase) -> [u64; 4] {
    use Event::*;
    match phase {
        Phase::Binning => [BinningActiveCycles, BinningBlockedCycles, BinningDrainCycles, BinningStreamWaits],
        Phase::Compute => [ComputeActiveCycles, ComputeBlockedCycles, ComputeDrainCycles, ComputeStreamWaits],
        Phase::Main => {
            let [active, blocked, waited] =
                [MainActiveCycles, MainBlockedCycles, MainStreamWaits].map(|e| c[e]);
            return [active, blocked, 0, waited];
        }
    }
    .map(|e| c[e])
}

/// How many jobs of the phase a workload, or equal ones, had.
pub fn jobs(c: &Counts, phase: Phase) -> u64 {
    c[match phase {
        Phase::Binning => Event::BinningJobs,
        Phase::Compute => Event::ComputeJobs,
        Phase::Main => Event::MainJobs,
    }]
}

/// Of one phase of a workload, or of equal ones added up.
pub fn takes(c: &Counts, phase: Phase, m: &Model) -> Takes {
    let (core, over) = (&m.core, &m.overhead);
    let load = Load::of(c, phase);
    let (tasks, cycles, a_task, a_job) = match phase {
        Phase::Binning => {
            (Event::BinningTasks, Event::CoreNonMainCycles, over.binning_task, over.binning_job)
        }
        Phase::Compute => {
            (Event::ComputeTasks, Event::CoreNonMainCycles, over.compute_task, over.compute_job)
        }
        Phase::Main => (Event::MainTasks, Event::CoreMainCycles, over.main_task, over.main_job),
    };
    let even = |n: u64| n.div_ceil(m.cores.max(1));
    let overhead = c[tasks] * a_task;
    let (all, busy) = (c[cycles], load.busy(core));
    let waits = all.saturating_sub(overhead);
    let raster = load[Ask::Primitives]
        .max(load[Ask::Quads].div_ceil(core.raster_quads))
        .max((load[Ask::Blended] * 4).div_ceil(core.pixels))
        .max(load[Ask::Written].div_ceil(core.pixels));
    let bytes = (c[(phase, Unit::ExtReads)] + c[(phase, Unit::ExtWrites)]) * LINE;
    let lines = c[(phase, Unit::L2ReadLookups)] + c[(phase, Unit::L2WriteLookups)];
    let mut t = Takes::default();
    t[Take::Arithmetic] = even(cost::arithmetic(core, load[Ask::Fma], load[Ask::Cvt], load[Ask::Sfu]));
    t[Take::LoadStore] = even(load[Ask::Issues].div_ceil(core.ls_issues));
    t[Take::Varying] = even(load[Ask::Slots].div_ceil(core.varying_slots));
    t[Take::Texture] = even(load.texture(core));
    t[Take::Rays] = even(load.rays(core));
    t[Take::Link] = even(load.link(core));
    t[Take::Raster] = even(raster);
    t[Take::Tasks] = even(overhead);
    t[Take::Tiler] = if phase == Phase::Binning { cost::tiler(c, m) } else { 0 };
    t[Take::L2] = (lines * LINE)
        .div_ceil(m.memory.l2_slices * m.memory.slice_bytes)
        .max(c[(phase, Unit::AtomicTurns)] * m.memory.atomic_cycles);
    t[Take::Memory] = bytes.div_ceil(m.memory.external_bytes_per_cycle);
    t[Take::FrontEnd] = jobs(c, phase) * a_job;
    let shared = t[Take::Tiler].max(t[Take::L2]).max(t[Take::Memory]);
    // Cores hold their warps for as long as what is shared takes: that is not the warps' own latency.
    t[Take::Latency] = if waits > busy && even(all) > shared { even(waits) } else { 0 };
    let longest = even(all).max(shared);
    let [active, ..] = queue(c, phase);
    t[Take::Idle] = active.saturating_sub(t[Take::FrontEnd] + longest);
    t
}

crate::names! {
    /// What a job waits for from when its command stream comes to it, beside what it takes itself.
    pub Wait {
        /// Barriers, events and semaphores: what it depends on had not ended.
        Dependencies,
        /// Its own binning.
        Binning,
        /// The job of another Vulkan queue at the same queue of the front end.
        Queue,
        /// What ran already left it next to nothing.
        Blocked,
        /// It went on slower than alone, beside others.
        Beside,
    }
}

impl Wait {
    /// Its key in files.
    pub fn key(self) -> &'static str {
        match self {
            Wait::Dependencies => "dependencies",
            Wait::Binning => "binning",
            Wait::Queue => "queue",
            Wait::Blocked => "blocked",
            Wait::Beside => "beside",
        }
    }
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Wait::Dependencies => "what it depends on",
            Wait::Binning => "its binning",
            Wait::Queue => "another queue's job",
            Wait::Blocked => "room beside others",
            Wait::Beside => "slower beside others",
        }
    }
}

/// The parts of a job's time, from when its command stream came to it to its end, in nanoseconds: a sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// All of it.
    pub time: u64,
    pub waits: By<Wait, { Wait::COUNT }>,
    pub own: Takes,
}

impl Spent {
    /// Of a job of this phase, in so much time, of which it waited so long and would have taken `alone` with the GPU to itself.
    pub fn of(
        time: u64,
        waits: By<Wait, { Wait::COUNT }>,
        alone: u64,
        c: &Counts,
        phase: Phase,
        job: &Job,
        m: &Model,
    ) -> Spent {
        let cycles = parts(c, phase, job, m);
        let mut own = Takes::default();
        own.0.iter_mut().zip(cost::share(cycles.0.into_iter(), alone)).for_each(|(n, part)| *n = part);
        Spent { time, waits, own }
    }
    pub fn add(&mut self, o: &Spent) {
        self.time += o.time;
        self.waits += &o.waits;
        self.own += &o.own;
    }
    /// What is not 0, by key.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let waits = Wait::ALL.iter().map(|w| (w.key(), self.waits[*w]));
        let own = Take::ALL.iter().map(|t| (t.key(), self.own[*t]));
        waits.chain(own).filter(|p| p.1 > 0)
    }
}

/// The cycles of a job that has the GPU to itself, by what they go to: a sum, unlike [`takes`]. What is shared has all of them but the
/// front end's, if it takes longest; else cores have, by what the busiest unit takes, what their warps wait beyond that, and what
/// they lack tasks.
pub fn parts(c: &Counts, phase: Phase, job: &Job, m: &Model) -> Takes {
    let mut t = Takes::default();
    let busy = job.busy();
    t[Take::FrontEnd] = job.cycles - busy;
    let [cores, l2, _] = job.takes;
    let tiled = phase == Phase::Binning && job.shading < busy;
    if cores < busy || tiled {
        t[if cores == busy {
            Take::Tiler
        } else if l2 == busy {
            Take::L2
        } else {
            Take::Memory
        }] = busy;
        return t;
    }
    let of = takes(c, phase, m);
    const UNITS: [Take; 7] = [
        Take::Arithmetic,
        Take::LoadStore,
        Take::Varying,
        Take::Texture,
        Take::Rays,
        Take::Link,
        Take::Raster,
    ];
    let unit = UNITS.into_iter().fold(Take::Arithmetic, |a, b| if of[b] > of[a] { b } else { a });
    let all = job.core.div_ceil(m.cores.max(1)).min(busy);
    t[Take::Tasks] = of[Take::Tasks].min(all);
    t[unit] = of[unit].min(all - t[Take::Tasks]);
    t[Take::Latency] = all - t[Take::Tasks] - t[unit];
    t[Take::Idle] = busy - all;
    t
}

/// What takes longest; of equals the first. `None`: nothing takes any time.
pub fn bound(t: &Takes) -> Option<Take> {
    let most = t.0.iter().copied().max().filter(|m| *m > 0)?;
    Take::ALL.iter().copied().find(|k| t[*k] == most)
}

/// What the jobs of one phase go to, of several runs: neither follows from counts that are added up.
#[derive(Clone, Copy, Default)]
pub struct Bounds {
    /// What each thing would take alone.
    pub takes: Takes,
    /// Active cycles of the runs by what bound them.
    pub active: Takes,
}

impl Bounds {
    /// One run more.
    pub fn add(&mut self, run: &Counts, phase: Phase, m: &Model) {
        if jobs(run, phase) == 0 {
            return;
        }
        let takes = takes(run, phase, m);
        self.takes += &takes;
        if let Some(by) = bound(&takes) {
            self.active[by] += queue(run, phase)[0];
        }
    }

    /// What bound them longest.
    pub fn bound(&self) -> Option<Take> {
        bound(&self.active).or(bound(&self.takes))
    }
}

#[cfg(test)]
mod tests {
    /// Two runs, one bound by arithmetic and one by memory: neither waits for warps' latency, though the sum of both would seem to.
    #[test]
    fn bounds_are_the_sum_of_the_runs() {
        let m = Model::default();
        let run = |fma: u64, reads: u64, active: u64| {
            let mut c = Counts::default();
            c[(Phase::Compute, Unit::Fma)] = fma;
            c[(Phase::Compute, Unit::ExtReads)] = reads;
            c[Event::ComputeJobs] = 1;
            c[Event::ComputeActiveCycles] = active;
            c[Event::CoreNonMainCycles] = cost::arithmetic(&m.core, fma, 0, 0);
            c
        };
        let runs = [run(800_000, 1, 12_000), run(1, 900_000, 2_000_000)];
        let mut all = Bounds::default();
        runs.iter().for_each(|r| all.add(r, Phase::Compute, &m));
        all.add(&Counts::default(), Phase::Compute, &m);
        for take in Take::ALL {
            let sum: u64 = runs.iter().map(|r| takes(r, Phase::Compute, &m)[*take]).sum();
            assert_eq!(all.takes[*take], sum, "{take:?}");
        }
        let by: Vec<_> = runs.iter().map(|r| bound(&takes(r, Phase::Compute, &m)).unwrap()).collect();
        assert_ne!(by[0], by[1]);
        assert_eq!([all.active[by[0]], all.active[by[1]]], [12_000, 2_000_000]);
        assert_eq!((all.bound(), all.active.sum()), (Some(by[1]), 2_012_000));
    }

    use super::*;

    /// A dispatch of ten cores: 1 600 FMA warp-instructions of 16 lanes at 128 a cycle are 200 core cycles, 20 of the GPU.
    #[test]
    fn units_are_spread_over_the_cores_and_the_rest_is_idle() {
        let m = Model::default();
        let mut c = Counts::default();
        c[(Phase::Compute, Unit::Fma)] = 1600;
        c[(Phase::Compute, Unit::Warps)] = 100;
        c[(Phase::Compute, Unit::ExtReads)] = 70;
        c[Event::ComputeJobs] = 1;
        c[Event::ComputeTasks] = 4;
        let busy = (1600 * 16u64).div_ceil(m.core.fma_lanes);
        c[Event::CoreNonMainCycles] = busy + 4 * m.overhead.compute_task;
        c[Event::ComputeActiveCycles] = 9000;
        let t = takes(&c, Phase::Compute, &m);
        assert_eq!(t[Take::Arithmetic], busy.div_ceil(m.cores));
        assert_eq!(t[Take::Latency], 0);
        assert_eq!(t[Take::Memory], (70 * 64u64).div_ceil(m.memory.external_bytes_per_cycle));
        let cores = (busy + 4 * m.overhead.compute_task).div_ceil(m.cores);
        let rest = 9000 - m.overhead.compute_job - cores.max(t[Take::Memory]);
        assert_eq!((t[Take::Idle], bound(&t)), (rest, Some(Take::Idle)));
        // Waits that take cores longer than any unit.
        c[Event::CoreNonMainCycles] += 90_000;
        let t = takes(&c, Phase::Compute, &m);
        assert_eq!(t[Take::Latency], (busy + 90_000).div_ceil(m.cores));
        assert_eq!(bound(&t), Some(Take::Latency));
        assert_eq!(bound(&takes(&Counts::default(), Phase::Main, &m)), None);
    }

    #[test]
    fn keys_differ() {
        let keys: std::collections::BTreeSet<_> = Take::ALL.iter().map(|t| t.key()).collect();
        assert_eq!(keys.len(), Take::COUNT);
    }
}
