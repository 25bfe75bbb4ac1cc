//! The numbers below are worked out by hand for this model.

use super::*;

fn g720() -> Model {
    Model::load(Some("g720")).unwrap()
}

#[test]
fn nothing_costs_nothing() {
    let (c, m) = (Counts::default(), g720());
    assert_eq!((compute(&c, &m), binning(&c, &m)), (Job::default(), Job::default()));
    assert_eq!(main(&c, &[], &[], 0, &m), MainPhase::default());
}

#[test]
fn arithmetic_by_the_issue_rule() {
    let cycles = |fma, cvt, sfu| arithmetic(&g720().core, fma, cvt, sfu);
    // 8 warps a cycle when all are FMA; 4 when none is; one SFU.
    assert_eq!(cycles(800, 0, 0), 100);
    assert_eq!(cycles(0, 800, 0), 200);
    assert_eq!(cycles(400, 400, 0), 100);
    assert_eq!(cycles(0, 0, 800), 800);
    assert_eq!(cycles(100, 300, 0), 75);
    assert_eq!(cycles(1, 0, 0), 1);
}

/// How workgroups are dealt at an application's wish.
#[test]
fn dealt_workgroups() {
    // As below: 100 workgroups of 200 stores and 20 cycles. In batches of 30 a core has one whole batch of the four; in such of 8, 81
    // are eleven batches, and the last has one workgroup: nine of the first core.
    let mut c = dispatch(100, 6_400);
    c[(Phase::Compute, Unit::LsWriteFull)] = 20_000;
    let cycles =
        |c: &Counts, batch, queued, warps| compute_dealt(c, &g720(), Dealing { batch, queued, warps }).cycles;
    assert_eq!(cycles(&c, 30, 0, 0), 1_000 + 30 * 220);
    assert_eq!(cycles(&c, 200, 0, 0), 1_000 + 100 * 220);
    let mut c = dispatch(81, 81);
    c[(Phase::Compute, Unit::LsWriteFull)] = 81 * 200;
    assert_eq!(cycles(&c, 8, 0, 0), 1_000 + 9 * 220);
    // Ten workgroups of 64 warps, each of which waits 24 cycles for ten loads: 15 360 a core, of 64 warps at once 240, which are less
    // than its 640 loads take; of eight at once 1 920.
    let mut c = dispatch(10, 640);
    c[(Phase::Compute, Unit::LsReadFull)] = 6_400;
    assert_eq!(cycles(&c, 0, 0, 0), 1_000 + 640 + 20);
    assert_eq!(cycles(&c, 0, 0, 8), 1_000 + 1_920 + 20);
    assert_eq!(cycles(&c, 0, 0, 1_000), cycles(&c, 0, 0, 0));
    // A hundred workgroups of a warp that waits for a hundred loads: a core's ten wait at once, 2 400 cycles; two by two five times that.
    let mut c = dispatch(100, 100);
    c[(Phase::Compute, Unit::LsReadFull)] = 10_000;
    assert_eq!(cycles(&c, 0, 0, 0), 1_000 + 2_400 + 10 * 20);
    assert_eq!(cycles(&c, 0, 2, 0), 1_000 + 5 * 2_400 + 10 * 20);
    assert_eq!(cycles(&c, 5, 2, 0), cycles(&c, 0, 0, 0));
}

/// A dispatch of so many workgroups and warps.
fn dispatch(tasks: u64, warps: u64) -> Counts {
    let mut c = Counts::default();
    c[Event::ComputeJobs] = 1;
    c[Event::ComputeTasks] = tasks;
    c[(Phase::Compute, Unit::Warps)] = warps;
    c
}

#[test]
fn a_dispatch() {
    // 100 workgroups of 64 warps with 64 000 FMA and 20 000 full writes: load/store binds, 20 000 cycles of cores; each task
    // adds 20: 22 000 over ten cores = 2 200, and 1 000 for the job. Memory: 4 000 lines = 256 000 bytes at 56 a cycle =
    // 4 572 cycles, which is more.
    let mut c = dispatch(100, 6_400);
    c[(Phase::Compute, Unit::Fma)] = 64_000;
    c[(Phase::Compute, Unit::LsWriteFull)] = 20_000;
    let job = compute(&c, &g720());
    assert_eq!((job.cycles, job.core, job.exec), (3_200, 22_000, 22_000));
    c[(Phase::Compute, Unit::ExtReads)] = 3_000;
    c[(Phase::Compute, Unit::ExtWrites)] = 1_000;
    // The cores hold their warps as long: ten of them for 4 572 cycles.
    let job = compute(&c, &g720());
    assert_eq!((job.cycles, job.core, job.exec), (5_572, 45_720, 45_720));
    assert_eq!(job.uses.cores, 22_000);
    // Half as many cores, half the speed.
    let half = Model { cores: 5, ..g720() };
    c[(Phase::Compute, Unit::ExtReads)] = 0;
    assert_eq!(compute(&c, &half).cycles, 5_400);
    // Eleven workgroups on ten cores take as long as twenty: 200 and 20 each.
    let mut c = dispatch(11, 11 * 64);
    c[(Phase::Compute, Unit::LsWriteFull)] = 2_200;
    assert_eq!(compute(&c, &g720()).cycles, 1_000 + 2 * 220);
}

#[test]
fn few_warps_do_not_hide_what_they_wait_for() {
    // A workgroup of one warp and 1 000 FMA, which wait 4 cycles each: 4 000. Of 64 warps: 64 000 FMA at 8 a cycle, 8 000,
    // which is more than 256 000 / 64; of 64 that hold more than 32 registers: 256 000 / 32 = 8 000, the same; and of 16: 4 000.
    let cycles = |warps: u64, large: bool| {
        let mut c = dispatch(1, warps);
        c[(Phase::Compute, Unit::Fma)] = warps * 1_000;
        c[(Phase::Compute, Unit::AllRegsWarps)] = if large { warps } else { 0 };
        compute(&c, &g720()).cycles - 1_020
    };
    assert_eq!([cycles(1, false), cycles(16, false), cycles(64, false)], [4_000, 4_000, 8_000]);
    assert_eq!([cycles(64, true), cycles(128, true)], [8_000, 16_000]);
    // Each of 32 warps loads 100 lines that no cache has: 24 + 60 + 200 cycles each. Twice the warps, half a cycle each more.
    let cycles = |warps: u64, m: &Model| {
        let mut c = dispatch(1, warps);
        c[(Phase::Compute, Unit::LsReadFull)] = warps * 100;
        c[(Phase::Compute, Unit::LsL2ReadBeats)] = warps * 400;
        c[(Phase::Compute, Unit::LsExtReadBeats)] = warps * 400;
        compute(&c, m).cycles - 1_020
    };
    let m = g720();
    // 64: as many as a core holds.
    assert_eq!([cycles(1, &m), cycles(32, &m), cycles(64, &m)], [28_400, 28_400, 28_400]);
    let near = Model { memory: crate::model::Memory { external_latency: 1, ..m.memory.clone() }, ..m };
    // 24 + 60 + 1 cycles; the link takes 12 800 beats, four a cycle.
    assert_eq!(cycles(32, &near), 8_500);
}

/// Warps of more than 32 registers: half as many hide what loads wait for, and nothing else binds. 64 warps with 100 lines each that no
/// cache has wait 100 · (24 + 60 + 200) cycles, 64 or 32 at a time; their 25 600 beats take 6 400 cycles of the link, their issues as many.
#[test]
fn half_the_warps_take_twice_the_time() {
    let cycles = |large: u64| {
        let mut c = dispatch(1, 64);
        c[(Phase::Compute, Unit::LsReadFull)] = 6_400;
        c[(Phase::Compute, Unit::LsL2ReadBeats)] = 25_600;
        c[(Phase::Compute, Unit::LsExtReadBeats)] = 25_600;
        c[(Phase::Compute, Unit::AllRegsWarps)] = large;
        compute(&c, &g720()).cycles - 1_020
    };
    assert_eq!([cycles(0), cycles(64)], [28_400, 56_800]);
}

/// A barrier of four warps: each waits 16 cycles and three more.
#[test]
fn a_barrier_waits_for_the_last_warp() {
    let cycles = |barriers| {
        let mut c = dispatch(1, 4);
        c[(Phase::Compute, Unit::Barriers)] = barriers;
        compute(&c, &g720()).cycles - 1_020
    };
    assert_eq!([cycles(0), cycles(400)], [0, 100 * 19]);
}

/// 6 400 atomics on one line have it two cycles each; on 64 lines 100 each.
#[test]
fn atomics_on_one_line_follow_one_another() {
    let cycles = |turns| {
        let mut c = dispatch(100, 400);
        c[(Phase::Compute, Unit::LsAtomic)] = 6_400;
        c[(Phase::Compute, Unit::AtomicTurns)] = turns;
        compute(&c, &g720()).cycles - 1_000
    };
    assert_eq!(cycles(6_400), 12_800);
    // Else what their warps wait: ten workgroups a core, 40 warps, 640 · (24 + 60) cycles, and 20 a workgroup.
    assert_eq!(cycles(100), 640 * 84 / 40 + 200);
}

/// Each unit's rate, each latency and each of the tiler's rates, alone.
#[test]
fn each_key_binds() {
    let busy = |set: fn(&mut Load), change: fn(&mut Core)| {
        let (mut load, mut core) = (Load::default(), g720().core);
        set(&mut load);
        let before = load.busy(&core);
        change(&mut core);
        [before, load.busy(&core)]
    };
    // 1200 of each, at the model's rate and at half or twice of it.
    assert_eq!(busy(|l| l[Ask::Fma] = 1200, |c| c.fma_lanes = 64), [150, 300]);
    assert_eq!(busy(|l| l[Ask::Cvt] = 1200, |c| c.cvt_lanes = 32), [300, 600]);
    assert_eq!(busy(|l| l[Ask::Sfu] = 1200, |c| c.sfu_lanes = 8), [1200, 2400]);
    assert_eq!(busy(|l| l[Ask::Slots] = 1200, |c| c.varying_slots = 2), [300, 600]);
    assert_eq!(busy(|l| l[Ask::Issues] = 1200, |c| c.ls_issues = 2), [1200, 600]);
    assert_eq!(busy(|l| l[Ask::Filters] = 1200, |c| c.texels = 4), [150, 300]);
    // Stages of the texture unit: footprints of eight samples, look-ups of quads, beats, answers.
    assert_eq!(busy(|l| l[Ask::Indexes] = 1200, |c| c.texels = 4), [1200, 2400]);
    assert_eq!(busy(|l| l[Ask::Fetches] = 1200, |c| c.texels = 4), [1200, 2400]);
    assert_eq!(busy(|l| l[Ask::Lookups] = 1200, |c| c.texels = 4), [600, 1200]);
    assert_eq!(busy(|l| l[Ask::Asked] = 1200, |_| ()), [1200; 2]);
    assert_eq!(busy(|l| l[Ask::Answers] = 1200, |_| ()), [1200; 2]);
    assert_eq!(busy(|l| l[Ask::TexelBeats] = 1200, |c| c.l2_bytes = 8), [300, 2400]);
    assert_eq!(busy(|l| l[Ask::Blended] = 1200, |c| c.pixels = 2), [1200, 2400]);
    assert_eq!(busy(|l| l[Ask::Written] = 1200, |c| c.pixels = 2), [300, 600]);
    assert_eq!(busy(|l| l[Ask::Quads] = 1200, |c| c.raster_quads = 2), [300, 600]);
    assert_eq!(busy(|l| l[Ask::ReadBeats] = 1200, |c| c.l2_bytes = 8), [300, 2400]);
    assert_eq!(busy(|l| l[Ask::WriteBeats] = 1200, |c| c.l2_bytes = 8), [300, 2400]);

    // A warp with 100 arithmetic instructions, ten lines that no cache has, ten texture instructions: 100 · 4 + 10 · 24 +
    // 10 · 48 + 10 · 60 + 10 · 200 = 3720. Ten cycles more of each wait.
    let waits = |change: fn(&mut Model)| {
        let mut c = dispatch(1, 1);
        c[(Phase::Compute, Unit::Fma)] = 100;
        c[(Phase::Compute, Unit::LsReadPartial)] = 10;
        c[(Phase::Compute, Unit::LsL2ReadBeats)] = 40;
        c[(Phase::Compute, Unit::LsExtReadBeats)] = 40;
        c[(Phase::Compute, Unit::TexInstr)] = 10;
        let mut m = g720();
        change(&mut m);
        compute(&c, &m).cycles - 1_020
    };
    assert_eq!(waits(|_| ()), 3_720);
    assert_eq!(waits(|m| m.core.arithmetic_latency += 10), 4_720);
    assert_eq!(waits(|m| m.core.ls_latency += 10), 3_820);
    assert_eq!(waits(|m| m.core.texture_latency += 10), 3_820);
    assert_eq!(waits(|m| m.memory.l2_latency += 10), 3_820);
    assert_eq!(waits(|m| m.memory.external_latency += 10), 3_820);

    let tiled = |primitives, bin_entries| {
        let mut c = Counts::default();
        c[Event::InputPrimitives] = 3_000;
        c[Event::BinEntries] = 12_000;
        binning(
            &c,
            &Model {
                tiler: crate::model::Tiler { primitives, bin_entries, deferred: 0, ..g720().tiler },
                ..g720()
            },
        )
        .cycles
    };
    assert_eq!([tiled(1, 1), tiled(1, 2), tiled(1, 8), tiled(2, 8)], [12_000, 6_000, 3_000, 1_500]);
}

#[test]
fn few_tasks_use_few_cores() {
    let mut c = dispatch(2, 128);
    c[(Phase::Compute, Unit::LsWritePartial)] = 960;
    let m = g720();
    assert_eq!(compute(&c, &m).cycles, 480 + 20 + 1_000);
}

#[test]
fn slices_of_the_l2_serve_all_cores() {
    // 100 000 lines: 64 bytes a cycle and slice are 25 000 cycles of four slices, 100 000 of one.
    let mut c = dispatch(100, 6_400);
    c[(Phase::Compute, Unit::L2ReadLookups)] = 100_000;
    let mut m = g720();
    assert_eq!(compute(&c, &m).cycles, 26_000);
    m.memory.l2_slices = 1;
    assert_eq!(compute(&c, &m).cycles, 101_000);
}

/// A draw of the whole of 640 × 640 pixels: 100 tasks of 256 warps.
fn draw(set: impl FnOnce(&mut Load)) -> Draw {
    let mut load = Load::default();
    (load[Ask::Warps], load[Ask::Quads]) = (25_600, 102_400);
    set(&mut load);
    Draw { load, tasks: 100 }
}

fn pass() -> Counts {
    let mut c = Counts::default();
    c[Event::MainJobs] = 1;
    c[Event::MainTasks] = 100;
    c
}

#[test]
fn a_render_pass() {
    // 640 × 640 cleared to one attachment: 409 600 pixels written at 4 a cycle = 102 400 core cycles, 102 400 beats at four a cycle; + 100 × 100; over ten cores 11 240; + 1 000.
    let (mut c, m) = (pass(), g720());
    c[Event::TilePixelsWritten] = 409_600;
    c[Event::TileWriteBeats] = 102_400;
    let p = main(&c, &[], &[1_124; 100], 0, &m);
    assert_eq!((p.job.cycles, p.job.core, p.job.exec), (12_240, 112_400, 0));
    // 10 vertices' work is less than the tiler's 3 000 primitives, one a cycle; a warp waits for 10 FMA, 4 cycles each.
    c[Event::BinningJobs] = 1;
    c[Event::BinningTasks] = 3;
    c[Event::InputPrimitives] = 3_000;
    c[(Phase::Binning, Unit::Fma)] = 10;
    c[(Phase::Binning, Unit::Warps)] = 1;
    let job = binning(&c, &m);
    // They hold it while the tiler takes 3 000 cycles: one of three tasks at least is 20 cycles and 14, and all 100.
    assert_eq!((job.cycles, job.core), (4_000, 100 * 3_000 / 34));
    // Trilinear sampling of 1 000 000 quads' fragments: 8 000 000 operations, 8 a cycle.
    let p = main(&c, &[draw(|l| l[Ask::Filters] = 8_000_000)], &[10_000; 100], 100, &m);
    assert_eq!(p.job.cycles, (1_000_000 + 10_000) / 10 + 1_000);
    assert_eq!((p.job.core, p.job.exec, &p.draws[..]), (1_010_000, 1_010_000, &[1_010_000][..]));
    // One task that weighs half of all: its core is the last.
    let mut weights = [1; 100];
    weights[99] = 99;
    let slow = main(&c, &[draw(|l| l[Ask::Filters] = 8_000_000)], &weights, 100, &m);
    // Nine or ten before it, and 99: 109 parts of 198, and not a tenth.
    assert!((540_000..560_000).contains(&slow.job.cycles), "{}", slow.job.cycles);
}

#[test]
fn draws_that_want_different_units_follow_each_other() {
    let (c, m) = (pass(), g720());
    let (alu, texture) = (draw(|l| l[Ask::Fma] = 8_000_000), draw(|l| l[Ask::Filters] = 8_000_000));
    let cycles = |draws: &[Draw]| main(&c, draws, &[1; 100], 100, &m);
    let both = cycles(&[alu, texture]);
    assert_eq!(both.draws, [1_005_000; 2]);
    assert_eq!(both.job.cycles, 202_000);
    // Draws of a warp a task share the core: 64 of them, 32 with each unit, take as long as one unit's do.
    let small = |mut d: Draw| {
        (d.load[Ask::Warps], d.load[Ask::Quads]) = (100, 400);
        d.load[Ask::Fma] /= 32;
        d.load[Ask::Filters] /= 32;
        d
    };
    let mixed: Vec<Draw> = (0..64).map(|i| small(if i % 2 == 0 { alu } else { texture })).collect();
    let shared = cycles(&mixed);
    assert_eq!(shared.draws.iter().sum::<u64>(), 2 * 500_000 + 100 * 100);
    // With its part of what tasks cost.
    assert!(shared.draws.iter().all(|d| d.abs_diff(15_781) <= 1), "{:?}", shared.draws);
}

#[test]
fn parts_add_up() {
    let parts: Vec<u64> = share([1, 1, 1].into_iter(), 100).collect();
    assert_eq!(parts, [33, 33, 34]);
    assert_eq!(share([0, 0].into_iter(), 7).sum::<u64>(), 0);
    assert_eq!(share([0, 5].into_iter(), 7).collect::<Vec<_>>(), [0, 7]);
}
