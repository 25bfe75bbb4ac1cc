//! Cycles of a workload that has the GPU to itself, from its counts and the model.
//!
//! Each unit of a core has a published rate, so counts give the cycles that the unit is busy. Units work side by side, as far as
//! there are warps to hide what each waits for: a core takes as long as its busiest unit, and no less than its warps wait in
//! all, shared by those that are resident at once:
//!
//! - arithmetic = max((FMA + CVT + SFU) · 16 / fma_lanes, (CVT + SFU) · 16 / cvt_lanes, SFU · 16 / sfu_lanes), of
//!   warp-instructions: the published issue rule (two pipes issue at once, one of them FMA only);
//! - texture = the longest of its stages: filter operations / texels, indices and fetches (footprints of eight samples) · 8 / texels,
//!   look-ups of quads · 4 / texels, beats of messages, answers, and beats into its cache · 16 / l2_bytes;
//! - ray tracing = max(box nodes, triangle nodes) / ray_nodes, of nodes that warps of rays visit;
//! - programmable core = max(arithmetic, load/store issues / ls_issues, varying slots / varying_slots, texture, ray tracing);
//! - bus = max(beats read, beats written) · 16 / l2_bytes;
//! - fixed units of the main phase = max(primitives rasterised, rasterised quads / raster_quads,
//!   4 · blended quads / pixels, pixels written / pixels);
//! - barriers: a load/store issue and barrier_latency each, and the issue of an instruction of each warp that is waited for;
//! - atomics: atomic_cycles for each on the line that has most of them, before the next may have it;
//! - waits: arithmetic_latency for each arithmetic warp-instruction, ls_latency for each line loaded and each atomic,
//!   texture_latency for each texture instruction; l2_latency and external_latency for each of them that had to go as far;
//! - resident warps: as many as a core holds (half as many of more than 32 registers), and no more than there are of the tasks
//!   that it has in flight.
//!
//! Tasks are dealt in order to the core that is free first, each with its overhead. The whole takes no less than its lines take
//! in the slices of the L2, its bytes on the external memory, and its primitives and list entries in the tiler; the front end
//! adds its overhead to each job. Cores hold their warps as long as the job goes on: what all of them wait for is in their cycles.
//!
//! Draws follow each other in a tile: so many overlap as it takes to fill a core with their warps ([`main`]).

use crate::event::{Counts, Event, Phase, Unit, UnitCounts};
use crate::model::{BEAT, Core, LINE, Model, WARP};
use crate::names::By;

crate::names! {
    /// What a stretch of work asks of the units of cores, and how long its warps wait.
    pub Ask {
        /// Warp-instructions of each arithmetic unit.
        Fma,
        /// Warp-instructions of each arithmetic unit.
        Cvt,
        /// Warp-instructions of each arithmetic unit.
        Sfu,
        /// Load and store issues.
        Issues,
        /// Interpolation slots.
        Slots,
        /// Bilinear operations.
        Filters,
        /// Footprints of eight samples that indices are calculated for.
        Indexes,
        /// Footprints of eight samples that texels are fetched for.
        Fetches,
        /// Look-ups of a quad's footprint in the texture cache.
        Lookups,
        /// Beats of messages to the texture unit.
        Asked,
        /// Beats of answers of the texture unit.
        Answers,
        /// Of the beats from the L2, those into the texture cache.
        TexelBeats,
        /// Box nodes that warps of rays visit.
        BoxNodes,
        /// Triangle nodes that warps of rays visit.
        TriangleNodes,
        /// Beats from the L2 to a core.
        ReadBeats,
        /// Beats from a core to the L2.
        WriteBeats,
        /// Primitives rasterised.
        Primitives,
        /// Quads rasterised.
        Quads,
        /// Quads blended.
        Blended,
        /// Pixels written from the tile buffer.
        Written,
        /// Warps that run.
        Warps,
        /// Of these, warps of more than 32 registers.
        Large,
        /// Warps that come to a barrier.
        Barriers,
        /// Lines loaded and atomics, each of which a warp waits for.
        Accesses,
        /// Texture instructions.
        Samples,
        /// Of both, those that the L1 lacks.
        Missed,
        /// Of these, those that the L2 lacks too.
        Far,
    }
}

/// What a stretch of work asks of cores.
pub type Load = By<Ask, { Ask::COUNT }>;

impl Load {
    pub fn of_units(u: &UnitCounts) -> Load {
        let reads = u[Unit::LsReadFull] + u[Unit::LsReadPartial];
        let atomics = u[Unit::LsAtomic];
        let (fma, cvt, sfu) = (u[Unit::Fma], u[Unit::Cvt], u[Unit::Sfu]);
        // A warp waits once for all that its instruction misses.
        let missed =
            (u[Unit::LsL2ReadBeats] / 4).min(reads) + atomics + u[Unit::TexL1Misses].min(u[Unit::TexInstr]);
        let far =
            (u[Unit::LsExtReadBeats] / 4).min(reads) + (u[Unit::TexExtReadBeats] / 4).min(u[Unit::TexInstr]);
        let mut load = Load::default();
        load[Ask::Fma] = fma;
        load[Ask::Cvt] = cvt;
        load[Ask::Sfu] = sfu;
        load[Ask::Issues] =
            reads + atomics + u[Unit::LsWriteFull] + u[Unit::LsWritePartial] + u[Unit::Barriers];
        load[Ask::Barriers] = u[Unit::Barriers];
        load[Ask::Slots] = u[Unit::VaryingSlots32] + u[Unit::VaryingSlots16];
        load[Ask::Filters] = u[Unit::TexFilterOps];
        load[Ask::Indexes] = u[Unit::TexIndexes];
        load[Ask::Fetches] = u[Unit::TexFetches];
        load[Ask::Lookups] = u[Unit::TexLookups];
        load[Ask::Asked] = u[Unit::TexInBeats];
        load[Ask::Answers] = u[Unit::TexOutBeats];
        load[Ask::TexelBeats] = u[Unit::TexL2ReadBeats];
        load[Ask::BoxNodes] =
            u[Unit::RayBoxNodes1] + u[Unit::RayBoxNodes5] + u[Unit::RayBoxNodes9] + u[Unit::RayBoxNodes13];
        load[Ask::TriangleNodes] = u[Unit::RayTriangleNodes1]
            + u[Unit::RayTriangleNodes5]
            + u[Unit::RayTriangleNodes9]
            + u[Unit::RayTriangleNodes13];
        load[Ask::ReadBeats] = u[Unit::LsL2ReadBeats] + u[Unit::TexL2ReadBeats] + u[Unit::OtherL2ReadBeats];
        load[Ask::WriteBeats] = u[Unit::LsWriteBackBeats] + u[Unit::LsOtherWriteBeats];
        load[Ask::Warps] = u[Unit::Warps];
        load[Ask::Large] = u[Unit::AllRegsWarps];
        // What runs no shader (a transfer) is deep enough to wait for nothing.
        if u[Unit::Warps] > 0 {
            load[Ask::Accesses] = reads + atomics;
            load[Ask::Samples] = u[Unit::TexInstr];
            (load[Ask::Missed], load[Ask::Far]) = (missed, far);
        }
        load
    }

    /// Of one phase of a workload.
    pub fn of(c: &Counts, phase: Phase) -> Load {
        let mut load = Load::of_units(&c.units(phase));
        if phase == Phase::Main {
            load[Ask::ReadBeats] += c[Event::FfeL2ReadBeats];
            load[Ask::WriteBeats] += c[Event::TileWriteBeats];
            load[Ask::Primitives] = c[Event::PrimsRasterised];
            load[Ask::Quads] = c[Event::QuadsRasterised];
            load[Ask::Blended] = c[Event::BlendQuads];
            load[Ask::Written] = c[Event::TilePixelsWritten];
        }
        load
    }

    /// Whether there are warps, or what uses their units.
    fn shades(&self, core: &Core) -> bool {
        self[Ask::Warps] > 0 || self.shading(core) > 0
    }

    /// Cycles of the units that shaders use.
    pub(crate) fn shading(&self, core: &Core) -> u64 {
        arithmetic(core, self[Ask::Fma], self[Ask::Cvt], self[Ask::Sfu])
            .max(self[Ask::Issues].div_ceil(core.ls_issues))
            .max(self[Ask::Slots].div_ceil(core.varying_slots))
            .max(self.texture(core))
            .max(self.rays(core))
    }

    /// Cycles of the ray tracing unit's busier tester; 0 without such a unit.
    pub fn rays(&self, core: &Core) -> u64 {
        match core.ray_nodes {
            0 => 0,
            rate => self[Ask::BoxNodes].max(self[Ask::TriangleNodes]).div_ceil(rate),
        }
    }

    /// Cycles of the texture unit's longest stage.
    pub fn texture(&self, core: &Core) -> u64 {
        let footprints = self[Ask::Indexes].max(self[Ask::Fetches]) * 8;
        let samples = self[Ask::Filters].max(self[Ask::Lookups] * 4).max(footprints);
        samples
            .div_ceil(core.texels)
            .max(self[Ask::Asked])
            .max(self[Ask::Answers])
            .max((self[Ask::TexelBeats] * BEAT).div_ceil(core.l2_bytes))
    }

    /// Cycles of the link between the core and the L2.
    pub fn link(&self, core: &Core) -> u64 {
        (self[Ask::ReadBeats].max(self[Ask::WriteBeats]) * BEAT).div_ceil(core.l2_bytes)
    }

    /// Cycles of the busiest unit.
    pub fn busy(&self, core: &Core) -> u64 {
        self.issue(core).max(self.link(core))
    }

    /// Cycles of the busiest unit of the core itself.
    pub fn issue(&self, core: &Core) -> u64 {
        self.shading(core)
            .max(self[Ask::Primitives])
            .max(self[Ask::Quads].div_ceil(core.raster_quads))
            .max((self[Ask::Blended] * 4).div_ceil(core.pixels))
            .max(self[Ask::Written].div_ceil(core.pixels))
    }

    /// Cycles that its warps wait, summed; for barriers, without the warps of their workgroup.
    pub fn waits(&self, m: &Model) -> u64 {
        if self[Ask::Warps] == 0 {
            return 0;
        }
        let arithmetic = self[Ask::Fma] + self[Ask::Cvt] + self[Ask::Sfu];
        m.core.waits(arithmetic, self[Ask::Accesses], self[Ask::Samples])
            + self[Ask::Missed] * m.memory.l2_latency
            + self[Ask::Far] * m.memory.external_latency
            + self[Ask::Barriers] * m.core.barrier_latency
    }

    /// Of so many cycles that its warps wait: those of which a core holds half as many count twice.
    fn held(&self, waits: u64) -> u64 {
        let warps = self[Ask::Warps].max(1);
        (waits as u128 * (warps + self[Ask::Large]) as u128 / warps as u128) as u64
    }

    /// Of so many warps at once, as many as a core holds that has room for so many.
    fn resident(&self, warps: u64, room: u64) -> u64 {
        let room = room * self[Ask::Warps].max(1) / (self[Ask::Warps] + self[Ask::Large]).max(1);
        warps.min(room).max(1)
    }
}

/// What the draws of a pass that counted this ask of cores: without what tiles cost whatever is drawn in them.
pub(crate) fn draws_load(c: &Counts) -> Load {
    let mut load = Load::of_units(&c.units(Phase::Main));
    load[Ask::Primitives] = c[Event::PrimsRasterised];
    load[Ask::Quads] = c[Event::QuadsRasterised];
    load[Ask::Blended] = c[Event::BlendQuads];
    load
}

/// Cycles of a core for so many warp-instructions, by the issue rule.
pub fn arithmetic(core: &Core, fma: u64, cvt: u64, sfu: u64) -> u64 {
    ((fma + cvt + sfu) * WARP)
        .div_ceil(core.fma_lanes)
        .max(((cvt + sfu) * WARP).div_ceil(core.cvt_lanes))
        .max((sfu * WARP).div_ceil(core.sfu_lanes))
}

/// What jobs that run at once share: each use of it in cycles of all cores, or of the GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Cycles of cores' own units, and the overhead of tasks, summed over cores.
    pub cores: u64,
    /// Cycles of links between cores and the L2, summed over cores.
    pub links: u64,
    /// Cycles that warps are held for while they wait, summed over warps.
    pub warps: u64,
}

/// What one queue of the front end has to do for a workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// Cycles that it takes with the GPU to itself.
    pub cycles: u64,
    /// Cycles in which cores hold a task of it, summed.
    pub core: u64,
    /// Of these, cycles with a warp.
    pub exec: u64,
    /// To and from external memory.
    pub bytes: u64,
    /// Lines looked up in the L2.
    pub lines: u64,
    /// What it uses of the cores meanwhile.
    pub uses: Uses,
    /// What cores and the tiler take, the slices of the L2, and external memory: the job takes as long as the longest, and the front
    /// end's overhead.
    pub takes: [u64; 3],
    /// Of binning: what its shading takes.
    pub shading: u64,
}

/// What cores do for a job.
#[derive(Clone, Copy, Default)]
struct Cores {
    /// Cycles until the last has done.
    span: u64,
    /// Cycles of all, were there nothing else to wait for; of these, with a warp.
    core: u64,
    exec: u64,
    uses: Uses,
}

impl Job {
    /// `beside`: cycles of what else only this phase has to wait for.
    fn of(c: &Counts, phase: Phase, m: &Model, cores: Cores, beside: u64, jobs: u64) -> Job {
        let bytes = (c[(phase, Unit::ExtReads)] + c[(phase, Unit::ExtWrites)]) * LINE;
        let lines = c[(phase, Unit::L2ReadLookups)] + c[(phase, Unit::L2WriteLookups)];
        let memory = bytes.div_ceil(m.memory.external_bytes_per_cycle);
        let l2 = (lines * LINE).div_ceil(m.memory.l2_slices * m.memory.slice_bytes);
        let turns = c[(phase, Unit::AtomicTurns)] * m.memory.atomic_cycles;
        let takes = [cores.span.max(beside), l2.max(turns), memory];
        let whole = takes.into_iter().fold(0, u64::max);
        // Warps wait on their cores for what is shared: as long as the job goes on.
        let held = |n: u64| (n as u128 * whole as u128).checked_div(cores.span as u128).unwrap_or(0) as u64;
        let (core, exec) = (held(cores.core), held(cores.exec));
        Job { cycles: whole + jobs, core, exec, bytes, lines, uses: cores.uses, takes, shading: 0 }
    }

    /// Cycles without the front end's overhead.
    pub fn busy(&self) -> u64 {
        self.takes.into_iter().fold(0, u64::max)
    }
}

/// How an application has the workgroups of a dispatch dealt to the cores (VK_ARM_scheduling_controls). 0: as the model does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dealing {
    /// Workgroups that go to a core together.
    pub batch: u64,
    /// Batches that a core has in flight at most.
    pub queued: u64,
    /// Warps that a core holds at most.
    pub warps: u64,
}

impl Dealing {
    /// Of so many tasks, those of the core that has most.
    fn most(&self, tasks: u64, cores: u64) -> u64 {
        let batch = self.batch.max(1);
        let before = tasks.div_ceil(batch).div_ceil(cores) - 1;
        let left = tasks.saturating_sub((before * batch).saturating_mul(cores));
        before * batch + left.min(batch)
    }
    /// Tasks that a core has at once at most.
    fn at_once(&self) -> u64 {
        match self.queued {
            0 => u64::MAX,
            n => n.saturating_mul(self.batch.max(1)),
        }
    }
}

/// Equal tasks, dealt to the cores in order.
fn dealt(load: &Load, tasks: u64, overhead: u64, m: &Model, dealing: Dealing) -> Cores {
    if tasks == 0 {
        return Cores::default();
    }
    let warps = load[Ask::Warps].div_ceil(tasks).max(1);
    let all_waits = load.waits(m) + load[Ask::Barriers] * (warps - 1);
    // Tasks of the core that has most, and those that it has at once; a core has as many of a large one's warps as it holds.
    let most = dealing.most(tasks, m.cores);
    let room = match dealing.warps {
        0 => m.core.warps,
        n => m.core.warps.min(n),
    };
    let at_once = (load.resident(u64::MAX, room) / warps).clamp(1, most).min(dealing.at_once());
    let resident = load.resident(at_once * warps, room);
    let of = |n: u64, part: u64| (n as u128 * part as u128).div_ceil(tasks as u128) as u64;
    let waits = of(all_waits, at_once).div_ceil(resident) * most.div_ceil(at_once);
    let span = of(load.busy(&m.core), most).max(waits) + most * overhead;
    let waits = all_waits.div_ceil(resident);
    let core = load.busy(&m.core).max(waits) + tasks * overhead;
    // The next task is prepared while warps of others run.
    let exec = if load.shades(&m.core) { core } else { 0 };
    let cores = load.issue(&m.core) + tasks * overhead;
    let uses = Uses { cores, links: load.link(&m.core), warps: load.held(all_waits) };
    Cores { span, core, exec, uses }
}

/// A dispatch, or a transfer: workgroups, or stretches of 64 KiB, are its tasks.
pub fn compute(c: &Counts, m: &Model) -> Job {
    compute_dealt(c, m, Dealing::default())
}

/// As [`compute`], of a dispatch whose workgroups are dealt so.
pub fn compute_dealt(c: &Counts, m: &Model, dealing: Dealing) -> Job {
    let load = Load::of(c, Phase::Compute);
    let dealt = dealt(&load, c[Event::ComputeTasks], m.overhead.compute_task, m, dealing);
    Job::of(c, Phase::Compute, m, dealt, 0, c[Event::ComputeJobs] * m.overhead.compute_job)
}

/// A render pass's binning.
pub fn binning(c: &Counts, m: &Model) -> Job {
    let load = Load::of(c, Phase::Binning);
    let cores = dealt(&load, c[Event::BinningTasks], m.overhead.binning_task, m, Dealing::default());
    let jobs = c[Event::BinningJobs] * m.overhead.binning_job;
    Job { shading: cores.span, ..Job::of(c, Phase::Binning, m, cores, tiler(c, m), jobs) }
}

/// What a draw weighs in its pass's binning. Draws' weights are added: those of several draws' counts together are others, for the busiest
/// unit of each need not be the same.
pub fn binning_weight(c: &Counts, m: &Model) -> u64 {
    let busy = Load::of(c, Phase::Binning).busy(&m.core) + c[Event::BinningTasks] * m.overhead.binning_task;
    busy.max(tiler(c, m) * m.cores)
}

/// Cycles of the tiler: it takes what is assembled, or what stages make of it if that is more.
pub(crate) fn tiler(c: &Counts, m: &Model) -> u64 {
    c[Event::InputPrimitives]
        .max(c[Event::ClippingInvocations])
        .div_ceil(m.tiler.primitives)
        .max(c[Event::BinEntries].div_ceil(m.tiler.bin_entries))
}

/// A draw of a render pass, in the tasks that it touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Draw {
    pub load: Load,
    pub tasks: u64,
}

impl Draw {
    pub fn add(&mut self, o: &Draw) {
        self.load += &o.load;
        self.tasks += o.tasks;
    }
}

/// A core's cycles for draws, of which each is in [`MainPhase::draws`] what it adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MainPhase {
    pub job: Job,
    /// Cycles in which cores hold warps of each draw. What is left of the job's is the pass's own.
    pub draws: Vec<u64>,
}

/// A render pass's tiles: its draws in order, what each task weighs, and in how many of them there is something to draw.
///
/// In a task, draws follow one another. As many of them share a core as it takes to fill it with warps, and no more than a task
/// has on average; of these the busiest unit of all counts, and each adds what it would have taken.
pub fn main(all: &Counts, draws: &[Draw], weights: &[u64], touched: u64, m: &Model) -> MainPhase {
    let mut at = 0;
    let groups = grouped(draws, touched, m).into_iter().map(|(n, sum)| {
        at += n;
        (&draws[at - n..at], sum)
    });
    drawn(all, groups, weights, touched, m)
}

/// The same of draws that share no core: of [`grouped`] ones that were added up.
pub fn main_of_groups(all: &Counts, groups: &[Draw], weights: &[u64], touched: u64, m: &Model) -> MainPhase {
    drawn(all, groups.iter().map(|d| (std::slice::from_ref(d), *d)), weights, touched, m)
}

/// The model where tasks follow one another, each with a core of its own.
pub fn serial(m: &Model) -> Model {
    Model { cores: 1, core: Core { main_tasks: 1, ..m.core.clone() }, ..m.clone() }
}

/// Draws that share a core: how many, and their sum.
pub fn grouped(draws: &[Draw], touched: u64, m: &Model) -> Vec<(usize, Draw)> {
    let pairs: u64 = draws.iter().map(|d| d.tasks).sum();
    let most = pairs.div_ceil(touched.max(1)).max(1) as usize;
    let (mut all, mut left) = (vec![], draws);
    while !left.is_empty() {
        let (mut sum, mut n) = (Draw::default(), 0);
        for d in left.iter().take(most) {
            sum.add(d);
            n += 1;
            if per_task(&sum, touched, m) >= m.core.warps {
                break;
            }
        }
        all.push((n, sum));
        left = &left[n..];
    }
    all
}

/// As [`main`], of draws that are grouped already.
fn drawn<'a>(
    all: &Counts,
    groups: impl Iterator<Item = (&'a [Draw], Draw)>,
    weights: &[u64],
    touched: u64,
    m: &Model,
) -> MainPhase {
    let mut cycles = vec![];
    let mut uses = Uses::default();
    for (draws, sum) in groups {
        together(draws, &sum.load, per_task(&sum, touched, m), m, &mut cycles);
        uses.cores += sum.load.issue(&m.core);
        uses.warps += sum.load.held(sum.load.waits(m));
    }
    let (overhead, tasks) = (m.overhead.main_task, all[Event::MainTasks]);
    let drawn: u64 = cycles.iter().sum();
    // What tiles cost whatever is drawn in them goes on beside the drawing, and holds it up where it takes longer.
    let whole = Load::of(all, Phase::Main);
    let fixed = whole.busy(&m.core);
    let core = drawn.max(fixed) + tasks * overhead;
    let part =
        |n: u64| (n as u128 * touched.min(tasks) as u128).checked_div(tasks as u128).unwrap_or(0) as u64;
    let exec = if drawn == 0 { 0 } else { (drawn.max(part(fixed)) + part(tasks * overhead)).min(core) };
    let span = (core as u128 * spread(weights, m.cores) as u128).div_ceil(SCALE as u128) as u64;
    let span = span.div_ceil(m.cores.min(tasks).max(1));
    uses.cores = uses.cores.max(whole.issue(&m.core)) + tasks * overhead;
    uses.links = whole.link(&m.core);
    let cores = Cores { span, core, exec, uses };
    let job = Job::of(all, Phase::Main, m, cores, 0, all[Event::MainJobs] * m.overhead.main_job);
    let draws = share(cycles.into_iter(), job.exec).collect();
    MainPhase { job, draws }
}

/// Warps that a core has at once of draws that touch so many tasks, some the same.
fn per_task(draws: &Draw, touched: u64, m: &Model) -> u64 {
    let distinct = draws.tasks.min(touched).max(1);
    draws.load[Ask::Warps].div_ceil(distinct) * m.core.main_tasks.min(distinct)
}

/// Draws that share a core: the cycles of each.
fn together(draws: &[Draw], load: &Load, warps: u64, m: &Model, cycles: &mut Vec<u64>) {
    let resident = load.resident(warps, m.core.warps);
    let of = |l: &Load| l.busy(&m.core).max(l.waits(m).div_ceil(resident));
    let own: Vec<u64> = draws.iter().map(|d| of(&d.load)).collect();
    cycles.extend(share(own.into_iter(), of(load)));
}

/// `whole` in parts that go by `weights`: what is rounded is rounded once, so that they add up.
pub fn share<I: Iterator<Item = u64> + Clone>(weights: I, whole: u64) -> impl Iterator<Item = u64> {
    let sum: u128 = weights.clone().map(u128::from).sum();
    let (mut seen, mut given) = (0u128, 0);
    weights.map(move |w| {
        seen += w as u128;
        let until = (whole as u128 * seen).checked_div(sum).unwrap_or(0) as u64;
        let part = until - given;
        given = until;
        part
    })
}

/// One, in [`spread`].
const SCALE: u64 = 1 << 20;

/// How much longer tasks of these weights take than if all cores ended together, in parts of [`SCALE`]: each goes to the core
/// that is free first.
fn spread(weights: &[u64], cores: u64) -> u64 {
    let tasks = weights.iter().filter(|w| **w > 0).count() as u64;
    let cores = cores.min(tasks).max(1) as usize;
    let sum: u128 = weights.iter().map(|w| *w as u128).sum();
    if sum == 0 || cores == 1 {
        return SCALE;
    }
    let mut free: std::collections::BinaryHeap<std::cmp::Reverse<u64>> =
        (0..cores).map(|_| std::cmp::Reverse(0)).collect();
    let mut end = 0;
    for w in weights.iter().filter(|w| **w > 0) {
        // There is a core at least.
        let Some(mut first) = free.peek_mut() else { break };
        first.0 += w;
        end = end.max(first.0);
    }
    let even = sum.div_ceil(cores as u128);
    (end as u128 * SCALE as u128 / even) as u64
}

#[cfg(test)]
mod tests;
