//! What units, caches and memory wait for while a job goes on: from what it counted, the time that it took and the model, once, when
//! that is known. It costs nothing: cycles are [`crate::cost`]'s.
//!
//! - Cores: warps wait for messages when arithmetic does not take a cycle, neither its issue nor its waits. What several warps wait
//!   for at once is told apart by shares: of `exec` cycles, texture instructions have as many as of all waits are theirs.
//! - Tiler: where shading takes longer, it waits for that; where it takes longer itself, positions wait for it.
//! - L2: a request waits for a slice's cycle if another is there, which has the probability of the slices' load.
//! - External memory: it takes all that may be outstanding, so that requests are refused only while it holds the job back.
//!   By its load ρ lines wait ρ / (2 (1 − ρ)) of a line's time (M/D/1), and no longer than until all that may be
//!   outstanding is before them. Without that a line takes `external_latency` on average: half of it if a row of the
//!   memory is open, half more if another one has to be closed first (a DRAM's CL, against RP + RCD + CL), evenly between.
//!   How many are outstanding is Little's law's; requests find from none to twice as many.

use crate::cost::{self, Job, Load};
use crate::event::{Counts, Event, EventCounts, Phase, Unit};
use crate::model::{BEAT, LINE, Model};

/// All of external memory's time.
pub const WHOLE: u64 = 1 << 20;

/// `a · b / c`.
fn scaled(a: u64, b: u64, c: u64) -> u64 {
    (a as u128 * b as u128).checked_div(c as u128).unwrap_or(0) as u64
}

/// How a job ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Went {
    /// Cycles in which it went on.
    pub active: u64,
    /// Cores' cycles with a warp.
    pub exec: u64,
    /// Part of external memory, of [`WHOLE`], that earlier jobs used meanwhile.
    pub beside: u64,
}

/// Of a job of this phase, which counted `c`.
pub fn of(c: &Counts, phase: Phase, job: &Job, went: Went, m: &Model) -> EventCounts {
    let mut e = EventCounts::default();
    cores(&mut e, c, phase, job, went, m);
    if phase == Phase::Binning {
        tiler(&mut e, c, job, m);
    }
    l2(&mut e, c, phase, job, m);
    memory(&mut e, c, phase, job, went, m);
    e
}

fn cores(e: &mut EventCounts, c: &Counts, phase: Phase, job: &Job, went: Went, m: &Model) {
    let u = c.units(phase);
    let (core, exec) = (&m.core, job.exec);
    let load = Load::of_units(&u);
    let waits = load.waits(m);
    if phase == Phase::Main && exec > 0 {
        // As a queue before the warps: always filled where they take longer, else as often as two come while one is shaded.
        let front = c[Event::PrimsRasterised].max(c[Event::QuadsRasterised].div_ceil(core.raster_quads));
        let shading = load.shading(core);
        let waits =
            if shading >= front { exec } else { scaled(scaled(exec, shading, front), shading, front) };
        // Beside others its cores are held for a few cycles less than alone, and for no longer are quads before them.
        e[Event::PrePipeCycles] = waits.min(went.exec);
    }
    if u[Unit::Warps] == 0 || waits == 0 {
        return;
    }
    let instructions = [Unit::Fma, Unit::Cvt, Unit::Sfu].map(|i| u[i]);
    let [fma, cvt, sfu] = instructions;
    let arithmetic = cost::arithmetic(core, fma, cvt, sfu);
    let dependent = scaled(exec, core.waits(instructions.iter().sum(), 0, 0), waits);
    e[Event::StarvedCycles] = exec.saturating_sub(arithmetic.max(dependent));
    let messages = u[Unit::TexInstr];
    if messages == 0 {
        return;
    }
    let missed = u[Unit::TexL1Misses].min(messages) * m.memory.l2_latency
        + (u[Unit::TexExtReadBeats] / 4).min(messages) * m.memory.external_latency;
    let in_flight = scaled(exec, core.waits(0, 0, messages) + missed, waits);
    let data = scaled(exec, missed, waits);
    // A footprint of a message has eight samples.
    let footprints = |n: u64| (n * 8).div_ceil(core.texels);
    let (index, filter) = (footprints(u[Unit::TexIndexes]), u[Unit::TexFilterOps].div_ceil(core.texels));
    let loaded = (u[Unit::TexL2ReadBeats] * BEAT).div_ceil(core.l2_bytes);
    let looked_up = (u[Unit::TexLookups] * 4).div_ceil(core.texels);
    let fetch = footprints(u[Unit::TexFetches]).max(looked_up).max(loaded).max(data);
    let (asked, answered) = (u[Unit::TexInBeats], u[Unit::TexOutBeats]);
    let active = [index, filter, fetch, asked, answered].into_iter().fold(in_flight, u64::max).min(exec);
    let descriptors = u[Unit::TexDescriptorLoads] * (m.memory.l2_latency + m.memory.external_latency);
    e[Event::TextureActiveCycles] = active;
    e[Event::TextureStarvedCycles] = active.saturating_sub(answered);
    e[Event::TextureDescriptorCycles] = descriptors.min(active);
    e[Event::TextureFetchCycles] = fetch.saturating_sub(index).min(active);
    e[Event::TextureFilterCycles] = active.saturating_sub(filter).min(data);
}

fn tiler(e: &mut EventCounts, c: &Counts, job: &Job, m: &Model) {
    let tiler = cost::tiler(c, m);
    let waits = job.shading.saturating_sub(tiler);
    e[Event::AssemblyStallCycles] = waits;
    e[Event::PositionFullCycles] = if job.shading > 0 { tiler.saturating_sub(job.shading) } else { 0 };
    // The queue takes the first requests, and is full for those after.
    let (positions, varyings) = (c[Event::PositionTasks], c[Event::VaryingTasks]);
    let all = positions + varyings;
    let full = scaled(waits, all.saturating_sub(m.tiler.requests), all);
    e[Event::PositionStallCycles] = scaled(full, positions, all);
    e[Event::VaryingStallCycles] = full - e[Event::PositionStallCycles];
}

fn l2(e: &mut EventCounts, c: &Counts, phase: Phase, job: &Job, m: &Model) {
    let [_, slices, _] = job.takes;
    let busy = job.busy();
    // Of a request's own time in a slice, the part in which another is there.
    let stalled = |lines: u64| scaled(lines * LINE / m.memory.slice_bytes, slices, busy);
    e[Event::L2ReadStallCycles] = stalled(c[(phase, Unit::L2ReadLookups)]);
    e[Event::L2WriteStallCycles] = stalled(c[(phase, Unit::L2WriteLookups)]);
}

fn memory(e: &mut EventCounts, c: &Counts, phase: Phase, job: &Job, went: Went, m: &Model) {
    let [span, slices, memory] = job.takes;
    let busy = job.busy();
    let (reads, writes) = (c[(phase, Unit::ExtReads)], c[(phase, Unit::ExtWrites)]);
    if reads + writes == 0 || busy == 0 {
        return;
    }
    let held = memory.saturating_sub(span.max(slices)) * m.memory.l2_slices;
    e[Event::ExtReadStallCycles] = scaled(held, reads, reads + writes);
    e[Event::ExtWriteStallCycles] = held - e[Event::ExtReadStallCycles];

    // Slower beside others, it uses less in a cycle.
    let active = went.active.max(job.cycles);
    let own = scaled(scaled(memory, WHOLE, busy), job.cycles, active);
    let load = (own + went.beside).min(WHOLE);
    let Latency { least, most } = Latency::at(load, m);
    let mean = (least + most) / 2;
    let part = |lines: u64, edge: u64, least: u64, most: u64| {
        scaled(lines, edge.clamp(least, most) - least, (most - least).max(1))
    };
    let mut before = 0;
    for (event, edge) in LATENCIES {
        let below = part(reads, edge, least, most);
        e[event] = below - before;
        before = below;
    }
    // In the cycles in which it uses memory at all.
    let time = scaled(busy, active, job.cycles).max(1);
    let room = m.memory.outstanding * m.memory.l2_slices;
    for (lines, quarters) in [(reads, READS), (writes, WRITES)] {
        let most = (scaled(lines, mean, time).min(room) * 2).max(1);
        let mut before = 0;
        for (event, quarter) in quarters.into_iter().zip(1..) {
            let below = part(lines, (room * quarter).div_ceil(4), 0, most);
            e[event] = below - before;
            before = below;
        }
    }
}

/// Bands of latency, with the cycles that each ends before.
const LATENCIES: [(Event, u64); 5] = [
    (Event::ExtReadLatency0, 128),
    (Event::ExtReadLatency128, 192),
    (Event::ExtReadLatency192, 256),
    (Event::ExtReadLatency256, 320),
    (Event::ExtReadLatency320, 384),
];
/// By quarters of what may be outstanding, but for the last.
const READS: [Event; 3] = [Event::ExtReadsQuarter1, Event::ExtReadsQuarter2, Event::ExtReadsQuarter3];
const WRITES: [Event; 3] = [Event::ExtWritesQuarter1, Event::ExtWritesQuarter2, Event::ExtWritesQuarter3];

/// Cycles in which external memory answers, evenly from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Latency {
    least: u64,
    most: u64,
}

impl Latency {
    /// With this part of [`WHOLE`] of memory's time used.
    fn at(load: u64, m: &Model) -> Latency {
        let (own, rate) = (m.memory.external_latency, m.memory.external_bytes_per_cycle);
        let full = m.memory.outstanding * m.memory.l2_slices * LINE / rate;
        let queued = (LINE as u128 * load as u128)
            .checked_div(2 * rate as u128 * (WHOLE - load) as u128)
            .map_or(u64::MAX, |q| q as u64)
            .min(full.saturating_sub(own));
        Latency { least: own / 2, most: own + own.div_ceil(2) + 2 * queued }
    }
}

/// What an event of a pass is shared by among its draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// As they are many.
    Unit(Unit),
    /// As the phase's cycles are.
    Time,
}

/// All events of [`of`] that are no bands, and what each is shared by.
pub const SHARED: [(Event, By); 15] = [
    (Event::StarvedCycles, By::Time),
    (Event::TextureActiveCycles, By::Unit(Unit::TexMessages)),
    (Event::TextureStarvedCycles, By::Unit(Unit::TexMessages)),
    (Event::TextureDescriptorCycles, By::Unit(Unit::TexMessages)),
    (Event::TextureFetchCycles, By::Unit(Unit::TexMessages)),
    (Event::TextureFilterCycles, By::Unit(Unit::TexMessages)),
    (Event::PrePipeCycles, By::Time),
    (Event::PositionStallCycles, By::Time),
    (Event::PositionFullCycles, By::Time),
    (Event::VaryingStallCycles, By::Time),
    (Event::AssemblyStallCycles, By::Time),
    (Event::ExtReadStallCycles, By::Unit(Unit::ExtReads)),
    (Event::ExtWriteStallCycles, By::Unit(Unit::ExtWrites)),
    (Event::L2ReadStallCycles, By::Unit(Unit::L2ReadLookups)),
    (Event::L2WriteStallCycles, By::Unit(Unit::L2WriteLookups)),
];

/// Events that are bands, and what they are bands of.
pub const BANDS: [(&[Event], Unit); 3] = [
    (
        &[
            Event::ExtReadLatency0,
            Event::ExtReadLatency128,
            Event::ExtReadLatency192,
            Event::ExtReadLatency256,
            Event::ExtReadLatency320,
        ],
        Unit::ExtReads,
    ),
    (&READS, Unit::ExtReads),
    (&WRITES, Unit::ExtWrites),
];

/// Deals the bands of a whole to its parts, so that each part's add up to what it has of it (`of`), the last band, which no event
/// tells, included, and all parts' to the whole's.
pub fn deal(bands: &[u64], of: &[u64]) -> Vec<Vec<u64>> {
    let mut all: u64 = of.iter().sum();
    let last = all.saturating_sub(bands.iter().sum());
    let mut left: Vec<u64> = bands.iter().copied().chain([last]).collect();
    of.iter()
        .map(|&n| {
            let mut mine: Vec<u64> = left.iter().map(|b| scaled(*b, n, all)).collect();
            let mut more = n - mine.iter().sum::<u64>().min(n);
            for (mine, left) in mine.iter_mut().zip(&mut left) {
                let one = more.min(*left - *mine).min(1);
                (*mine, more) = (*mine + one, more - one);
                *left -= *mine;
            }
            all -= n;
            mine.pop();
            mine
        })
        .collect()
}

#[cfg(test)]
mod tests;
