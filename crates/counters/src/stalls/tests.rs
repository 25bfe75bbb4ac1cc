//! The numbers below are worked out by hand for this model: ten cores, four slices of 64 bytes a cycle, 56 bytes a cycle of external memory,
//! latencies of 200 and 60, 64 reads a slice.

use super::*;
use crate::cost::{binning, compute};

fn g720() -> Model {
    Model::load(Some("g720")).unwrap()
}

fn alone(job: &Job) -> Went {
    Went { active: job.cycles, exec: job.exec, beside: 0 }
}

/// A transfer of so many lines each way.
fn moved(reads: u64, writes: u64) -> Counts {
    let mut c = Counts::default();
    c[Event::ComputeJobs] = 1;
    c[Event::ComputeTasks] = 100;
    for (unit, n) in [
        (Unit::LsReadFull, reads),
        (Unit::LsWriteFull, writes),
        (Unit::L2ReadLookups, reads),
        (Unit::L2WriteLookups, writes),
        (Unit::ExtReads, reads),
        (Unit::ExtWrites, writes),
    ] {
        c[(Phase::Compute, unit)] = n;
    }
    c
}

fn latencies(e: &EventCounts) -> [u64; 5] {
    LATENCIES.map(|(event, _)| e[event])
}

#[test]
fn external_memory_that_binds() {
    // 70 000 lines read, and no more: 4 480 000 bytes, 80 000 cycles. Ten cores' issues take 7 000 and 200, the slices 17 500.
    let m = g720();
    let c = moved(70_000, 0);
    let job = compute(&c, &m);
    assert_eq!((job.takes, job.cycles), ([7_200, 17_500, 80_000], 81_000));
    let e = of(&c, Phase::Compute, &job, alone(&job), &m);
    assert_eq!((e[Event::ExtReadStallCycles], e[Event::ExtWriteStallCycles]), (4 * 62_500, 0));
    // 256 lines are before a read at most: 292 cycles, so that 92 are added on average to 200. Answers come from 100 to 484 cycles:
    // 28, 64, 64, 64, 64 of 384 in the bands. By the load while it runs, 80 000 cycles of 81 000, it is full: the front end's cycles
    // are not the memory's.
    let below = |edge: u64| 70_000 * (edge - 100) / 384;
    let [a, b, c4, d, f] = [128, 192, 256, 320, 384].map(below);
    assert_eq!(latencies(&e), [a, b - a, c4 - b, d - c4, f - d]);
    assert_eq!((a, f), (5_104, 51_770));
    // 292 cycles at 70 000 of 80 000 cycles: 255 are outstanding, and a read finds up to 510: 64, 64, 64 of them below a quarter.
    let quarters = READS.map(|q| e[q]);
    let below = |edge: u64| 70_000 * edge / 510;
    assert_eq!(quarters, [below(64), below(128) - below(64), below(192) - below(128)]);
    assert_eq!(WRITES.map(|q| e[q]), [0; 3]);
    // Reads: 70 000 requests, each of which finds a slice taken with 17 500 of 80 000.
    assert_eq!((e[Event::L2ReadStallCycles], e[Event::L2WriteStallCycles]), (15_312, 0));
    // A third as many again are written: 106 666 cycles and a part of memory, a quarter of what is refused.
    let c = moved(70_000, 23_333);
    let job = compute(&c, &m);
    let e = of(&c, Phase::Compute, &job, alone(&job), &m);
    let held = (job.takes[2] - job.takes[1]) * 4;
    assert_eq!(e[Event::ExtReadStallCycles] + e[Event::ExtWriteStallCycles], held);
    assert_eq!(e[Event::ExtWriteStallCycles], held - held * 70_000 / 93_333);
}

#[test]
fn external_memory_that_is_idle() {
    // A line: nothing before it, 100 to 300 cycles; of 2 000 lines in 1 000 000 cycles as good as none is outstanding.
    let m = g720();
    assert_eq!(Latency::at(0, &m), Latency { least: 100, most: 300 });
    // Three quarters: 3 / 2 of a line's 64 / 56 cycles, which is 1.7. Full: 292 cycles.
    assert_eq!(Latency::at(WHOLE / 4 * 3, &m), Latency { least: 100, most: 302 });
    assert_eq!(Latency::at(WHOLE, &m), Latency { least: 100, most: 484 });
    let mut c = moved(2_000, 1_000);
    c[(Phase::Compute, Unit::LsReadFull)] = 10_000_000;
    let job = compute(&c, &m);
    let e = of(&c, Phase::Compute, &job, alone(&job), &m);
    assert_eq!(latencies(&e), [280, 640, 640, 440, 0]);
    assert_eq!((READS.map(|q| e[q]), WRITES.map(|q| e[q])), ([2_000, 0, 0], [1_000, 0, 0]));
    assert_eq!(e[Event::ExtReadStallCycles], 0);
    // Beside a job that uses all of memory it waits as that does.
    let e = of(&c, Phase::Compute, &job, Went { active: job.cycles, exec: job.exec, beside: WHOLE }, &m);
    assert_eq!(latencies(&e), [145, 334, 333, 333, 334]);
}

#[test]
fn warps_that_wait() {
    // One warp: 100 FMA of four cycles, ten lines from memory of 24 + 60 + 200: 400 + 2 840 cycles, of which arithmetic waits are 400.
    let m = g720();
    let mut c = moved(10, 0);
    c[Event::ComputeTasks] = 1;
    c[(Phase::Compute, Unit::Warps)] = 1;
    c[(Phase::Compute, Unit::Fma)] = 100;
    c[(Phase::Compute, Unit::LsL2ReadBeats)] = 40;
    c[(Phase::Compute, Unit::LsExtReadBeats)] = 40;
    let job = compute(&c, &m);
    assert_eq!(job.exec, 3_260);
    let starved = |c: &Counts| {
        let job = compute(c, &m);
        of(c, Phase::Compute, &job, alone(&job), &m)[Event::StarvedCycles]
    };
    // 20 cycles are the task's; of those that its warp is there, arithmetic's part.
    assert_eq!(starved(&c), 3_260 - 3_260 * 400 / 3_240);
    // 64 warps with 1 000 FMA each: 8 000 cycles, nothing to wait for.
    let mut c = moved(0, 0);
    c[Event::ComputeTasks] = 1;
    c[(Phase::Compute, Unit::Warps)] = 64;
    c[(Phase::Compute, Unit::Fma)] = 64_000;
    assert_eq!(starved(&c), 0);
}

#[test]
fn the_texture_unit() {
    // One warp with ten instructions, each of two messages of eight samples; two miss the L1, one of these the L2: 480 + 120 + 200 cycles.
    let m = g720();
    let mut c = Counts::default();
    c[Event::ComputeTasks] = 1;
    for (unit, n) in [
        (Unit::Warps, 1),
        (Unit::TexInstr, 10),
        (Unit::TexMessages, 20),
        (Unit::TexFilterOps, 160),
        (Unit::TexIndexes, 20),
        (Unit::TexFetches, 20),
        (Unit::TexInBeats, 20),
        (Unit::TexOutBeats, 20),
        (Unit::TexLookups, 30),
        (Unit::TexL1Misses, 2),
        (Unit::TexL2ReadBeats, 8),
        (Unit::TexExtReadBeats, 4),
        (Unit::TexDescriptorLoads, 1),
    ] {
        c[(Phase::Compute, unit)] = n;
    }
    let job = compute(&c, &m);
    // And 20 of the task.
    assert_eq!(job.exec, 820);
    let e = of(&c, Phase::Compute, &job, alone(&job), &m);
    use Event::*;
    assert_eq!((e[TextureActiveCycles], e[TextureStarvedCycles]), (820, 800));
    assert_eq!(e[TextureDescriptorCycles], 60 + 200);
    // 320 of 800 parts of that for data, against 20 cycles of indices; the filter works in 20.
    assert_eq!((e[TextureFetchCycles], e[TextureFilterCycles]), (308, 328));
    assert_eq!(e[StarvedCycles], 820);
}

#[test]
fn the_tiler_and_shading() {
    let m = g720();
    let mut c = Counts::default();
    c[Event::BinningJobs] = 1;
    c[Event::BinningTasks] = 10;
    c[Event::InputPrimitives] = 3_000;
    c[Event::PositionTasks] = 96;
    c[Event::VaryingTasks] = 32;
    let stalls = |c: &Counts| {
        let job = binning(c, &m);
        let e = of(c, Phase::Binning, &job, alone(&job), &m);
        use Event::*;
        [AssemblyStallCycles, PositionStallCycles, VaryingStallCycles, PositionFullCycles].map(|s| e[s])
    };
    // 3 000 cycles of the tiler; ten tasks' overhead on ten cores is 20.
    assert_eq!(stalls(&c), [0, 0, 0, 2_980]);
    // 560 000 FMA are 7 000 cycles of ten cores, and 20: 4 020 more than the tiler's. Of 128 requests 32 wait without harm; of the rest three
    // quarters are positions'.
    c[(Phase::Binning, Unit::Fma)] = 560_000;
    assert_eq!(stalls(&c), [4_020, 2_261, 754, 0]);
}

#[test]
fn quads_before_the_warps() {
    let m = g720();
    let mut c = Counts::default();
    c[Event::QuadsRasterised] = 4_000;
    let mut filled = |fma: u64, exec: u64| {
        c[(Phase::Main, Unit::Fma)] = fma;
        let job = Job { cycles: 10_000, core: 10_000, exec, ..Job::default() };
        of(&c, Phase::Main, &job, alone(&job), &m)[Event::PrePipeCycles]
    };
    // Rasterised in 1 000 cycles: shaded in 3 000, in 500 (half of the time, by half of them), not at all.
    assert_eq!([filled(24_000, 3_000), filled(4_000, 1_000), filled(0, 1_000)], [3_000, 250, 0]);
    // Beside others its cores had warps for ten cycles less: quads did not wait longer than that.
    c[(Phase::Main, Unit::Fma)] = 24_000;
    let job = Job { cycles: 10_000, core: 10_000, exec: 3_000, ..Job::default() };
    let went = Went { exec: 2_990, ..alone(&job) };
    assert_eq!(of(&c, Phase::Main, &job, went, &m)[Event::PrePipeCycles], 2_990);
}

#[test]
fn bands_are_dealt_whole() {
    // 10 in bands of 3, 3, 3 and the last 1, to parts of 4, 0, 5 and 1.
    let parts = deal(&[3, 3, 3], &[4, 0, 5, 1]);
    let sums: Vec<u64> = (0..3).map(|b| parts.iter().map(|p| p[b]).sum()).collect();
    assert_eq!(sums, [3, 3, 3]);
    for (part, of) in parts.iter().zip([4, 0, 5, 1]) {
        assert!(part.iter().sum::<u64>() <= of, "{parts:?}");
    }
    assert_eq!(deal(&[5], &[5]), [[5]]);
    assert_eq!(deal(&[0, 0], &[0, 0]), [[0, 0]; 2]);
}

/// Every event of the module is shared in one way.
#[test]
fn all_are_shared() {
    let shared: Vec<Event> = SHARED.iter().map(|s| s.0).collect();
    let bands: Vec<Event> = BANDS.iter().flat_map(|b| b.0.iter().copied()).collect();
    let all = &Event::ALL[Event::StarvedCycles as usize..=Event::ExtWritesQuarter3 as usize];
    for e in all {
        assert_eq!(shared.contains(e) as u32 + bands.contains(e) as u32, 1, "{e:?}");
    }
    assert_eq!(shared.len() + bands.len(), all.len());
}
