//! Microbenchmarks on each built-in GPU: what each must count follows from its model file by the arithmetic that stands here.

use ash::vk::{Format as F, PipelineStageFlags2 as Stages};
use conformance::micro::draw::{Filter, SIDE};
use conformance::micro::order::{self, Between, Job};
use conformance::micro::rates::Interpolated;
use conformance::micro::stages::Staged;
use conformance::micro::{self, CYCLES, Case, ROUNDS, Way, Work};
use counters::Model;
use std::process::Command;

/// Warp-instructions in the pipes FMA, CVT and SFU of each operation of [`micro::ALU`] (`shader/src/isa`).
pub const COSTS: [[u64; 3]; 28] = [
    [1, 0, 0],
    [1, 0, 0],
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [1, 0, 1],
    [1, 1, 1],
    [2, 2, 1],
    [7, 0, 2],
    [7, 0, 2],
    [11, 0, 3],
    [14, 3, 6],
    [14, 4, 6],
    [12, 3, 5],
    [4, 2, 2],
    [4, 2, 3],
    [2, 1, 1],
    [3, 2, 1],
    [1, 1, 0],
    [0, 1, 0],
    [0, 1, 0],
    [0, 0, 1],
    [0, 0, 1],
    [0, 2, 0],
    [0, 2, 1],
    [5, 2, 2],
    [5, 2, 2],
    [4, 2, 2],
];

/// Lines of 64 bytes that a warp of sixteen touches with an access of [`micro::SHAPES`]; an atomic is one a lane.
const LINES: [u64; 18] = [1, 2, 4, 1, 2, 4, 16, 1, 1, 2, 4, 2, 4, 16, 1, 16, 16, 16];

const MODELS: [&str; 4] = ["g720", "g610", "g57", "small"];
const BEGIN: &str = "<!-- written by conformance's microbenchmarks -->\n";
const END: &str = "<!-- end of the microbenchmarks -->";

/// Warps of a workgroup.
const WARPS: u64 = 4;
const LINE: u64 = 64;
/// Of a target.
const PIXELS: u64 = (SIDE * SIDE) as u64;
/// A transfer's task.
const TASK: u64 = 64 * 1024;

fn want(m: &Model, case: &Case) -> u64 {
    let c = &m.core;
    let rounds = ROUNDS as u64;
    match case.work {
        Work::Alu { op, groups } => {
            // The loop's own are an addition and a comparison.
            let [f, v, s] = COSTS[op as usize];
            let v = v + 2;
            let groups = groups as u64;
            // Of the core that has most: cycles of the pipes, and what its warps wait, as many workgroups at a time as it holds.
            let most = groups.div_ceil(m.cores);
            let pipes = |n: u64| {
                let lanes = |ops: u64, lanes: u64| (ops * n * WARPS * 16 * rounds).div_ceil(lanes);
                lanes(f + v + s, c.fma_lanes).max(lanes(v + s, c.cvt_lanes)).max(lanes(s, c.sfu_lanes))
            };
            let at_once = (c.warps / WARPS).clamp(1, most);
            let waits = (f + v + s) * c.arithmetic_latency * rounds * most.div_ceil(at_once);
            pipes(most).max(waits)
        }
        Work::Access { shape } => LINES[shape as usize] * 2 * WARPS * rounds,
        Work::Table { kib } => {
            let bytes = kib as u64 * 1024;
            let (room, named) = match case.counter {
                micro::FROM_L2 => (c.l1_kib, 0),
                _ => (m.memory.l2_kib, LINE),
            };
            named + if kib as u64 <= room { bytes } else { 3 * bytes }
        }
        Work::Stream { way, kib } => {
            let bytes = kib as u64 * 1024;
            match (way, case.counter) {
                // And the two descriptors.
                (Way::Read | Way::Both, micro::READ) => bytes + LINE,
                _ => bytes,
            }
        }
        Work::Fill { kib } | Work::Copy { kib } if case.counter == CYCLES => {
            let bytes = kib as u64 * 1024;
            let moved = if matches!(case.work, Work::Copy { .. }) { 2 * bytes } else { bytes };
            let tasks = bytes.div_ceil(TASK);
            let most = tasks.div_ceil(m.cores);
            let cores =
                (most * TASK.min(bytes)).div_ceil(c.l2_bytes).max(moved / LINE / c.ls_issues * most / tasks);
            let slices = moved.div_ceil(m.memory.l2_slices * m.memory.slice_bytes);
            let memory = moved.div_ceil(m.memory.external_bytes_per_cycle);
            (cores + most * m.overhead.compute_task).max(slices).max(memory) + m.overhead.compute_job
        }
        Work::Fill { kib } | Work::Copy { kib } => kib as u64 * 1024,
        Work::Sampled { format, filter } => {
            // Of what a texel is when it is decoded: 32 bits are an operation. A level or a slice more is twice as many.
            let wide = match format {
                F::R16G16B16A16_SFLOAT | F::R32G32_SFLOAT => 2,
                F::R32G32B32A32_SFLOAT => 4,
                _ => 1,
            };
            let times = match filter {
                Filter::Nearest | Filter::Bilinear => 1,
                Filter::Trilinear | Filter::Volume => 2,
                Filter::Aniso(n) => n.min(16) as u64,
            };
            (PIXELS * wide * times).div_ceil(c.texels)
        }
        // Threads of all workgroups, points of all patches; what is emitted, or made.
        Work::Staged { stages } => match (stages, case.counter) {
            (Staged::Geometry, "Geometry shader invocations") => 40,
            (Staged::Geometry, _) => 40 / 2,
            (Staged::Tessellation, "Tessellation control patches") => 21,
            (Staged::Tessellation, _) => 21 * 5 * 5,
            (Staged::Mesh, "Mesh shader primitives") => 6 * 2,
            (Staged::Mesh, "Mesh shader invocations") => 6 * 2 * 16,
            (Staged::Mesh, _) => 6 * 32,
        },
        Work::Cleared { format } => match format {
            F::R16G16B16A16_SFLOAT => PIXELS * 8,
            F::R32G32B32A32_SFLOAT => PIXELS * 16,
            F::D32_SFLOAT => PIXELS * 4,
            // What is no float is compressed: of one colour, it is the headers of superblocks.
            _ => PIXELS / 256 * 16,
        },
        Work::Drawn(_) if case.counter == micro::QUADS => PIXELS / 4,
        // In each tile.
        Work::Drawn(_) if case.counter != micro::DRAWING => TILES,
        // The cores' cycles: pixels that are written to the tile and from it, its beats, and the tasks; or as long as the cores that have
        // one hold it while memory takes what is written.
        Work::Drawn(l) => {
            let cores = PIXELS.div_ceil(c.pixels).max(beats(l.format) * BEAT / c.l2_bytes)
                + REGIONS * m.overhead.main_task;
            let span = cores / REGIONS * REGIONS.div_ceil(m.cores);
            let memory = (stored(l.format) / LINE * LINE).div_ceil(m.memory.external_bytes_per_cycle);
            (cores as u128 * span.max(memory) as u128 / span as u128) as u64
        }
        Work::More(l) if case.counter == micro::BINNING => {
            let l = l.count as u64;
            l.div_ceil(m.tiler.primitives).max((l * TILES).div_ceil(m.tiler.bin_entries))
        }
        Work::More(l) => {
            let pixels = l.count as u64 * PIXELS;
            let samples = pixels * l.samples as u64;
            // Half floats are blended by a shader: two FMA and two CVT a quad and sample, and the fragment program's one a warp.
            let by_shader = if l.blend && l.format == F::R16G16B16A16_SFLOAT { 4 * samples / 4 } else { 0 };
            // Eight components of a quad are as many slots, or of half precision half as many; they are added.
            let (slots, added) = match l.interpolated {
                Interpolated::Nothing => (0, 1),
                Interpolated::Full => (8, 4),
                Interpolated::Half => (4, 4),
            };
            // A warp ends with ATEST and BLEND, which are CVT's as two of the blend shader's four are.
            let ends = 2 * pixels / 16;
            let arithmetic = ((by_shader + ends + added * pixels / 16) * 16 / c.fma_lanes)
                .max((by_shader / 2 + ends) * 16 / c.cvt_lanes);
            (samples / c.pixels).max(arithmetic).max(slots * pixels / 4 / c.varying_slots)
        }
        Work::Pair { first, second, between } => overlap(m, first, second, between),
    }
}

/// Of a target.
const REGIONS: u64 = PIXELS / (64 * 64);
const TILES: u64 = PIXELS / (32 * 32);

/// Bytes that a target of one colour is stored with.
fn stored(format: F) -> u64 {
    match format {
        F::R16G16B16A16_SFLOAT => PIXELS * 8,
        F::R32G32B32A32_SFLOAT => PIXELS * 16,
        _ => PIXELS / 256 * 16,
    }
}
const BEAT: u64 = 16;

/// That a target is written with.
fn beats(format: F) -> u64 {
    let bytes = match format {
        F::R8_UNORM => 1,
        F::R8G8_UNORM => 2,
        F::R16G16B16A16_SFLOAT => 8,
        F::R32G32B32A32_SFLOAT => 16,
        _ => 4,
    };
    PIXELS * bytes / BEAT
}

/// A job: its cycles, those of its cores, its bytes, and whether the compute queue has it.
struct Alone {
    cycles: u64,
    cores: u64,
    bytes: u64,
    compute: bool,
}

fn alone(m: &Model, job: Job) -> Alone {
    let (c, o) = (&m.core, &m.overhead);
    let memory = |bytes: u64| bytes.div_ceil(m.memory.external_bytes_per_cycle);
    match job {
        // A round is of three instructions, which wait one after the other.
        Job::Long => {
            let cycles = order::LONG as u64 * 3 * c.arithmetic_latency;
            // What it wants of cores is less: two CVT instructions of four warps a round.
            let cores = order::LONG as u64 * (3 * WARPS * 16 / c.fma_lanes).max(2 * WARPS * 16 / c.cvt_lanes);
            Alone { cycles: cycles + o.compute_job, cores, bytes: 0, compute: true }
        }
        // Sixteen workgroups on each core.
        Job::Full(_) => {
            let warps = 16 * WARPS * order::FULL as u64;
            let cycles =
                (warps * 3 * 16 / c.fma_lanes).max(warps * 2 * 16 / c.cvt_lanes) + 16 * o.compute_task;
            Alone { cycles: cycles + o.compute_job, cores: cycles * m.cores, bytes: 0, compute: true }
        }
        Job::Clear | Job::ClearImage => {
            let bytes = PIXELS * 4;
            let region = (PIXELS / c.pixels).max(bytes / c.l2_bytes) / REGIONS + o.main_task;
            let cycles = (region * REGIONS.div_ceil(m.cores)).max(memory(bytes)) + o.main_job;
            Alone { cycles, cores: region * REGIONS, bytes, compute: false }
        }
        Job::Fill => {
            let tasks = order::FILL / TASK;
            let task = TASK / c.l2_bytes + o.compute_task;
            let cycles = (task * tasks.div_ceil(m.cores)).max(memory(order::FILL)) + o.compute_job;
            Alone { cycles, cores: task * tasks, bytes: order::FILL, compute: true }
        }
        // Its binning: seven instructions of one warp.
        Job::Triangle | Job::LongTriangle => {
            let cores = o.binning_task + 7 * c.arithmetic_latency;
            Alone { cycles: cores + o.binning_job, cores, bytes: 0, compute: false }
        }
    }
}

/// Whether the second waits for the first by what lies between.
fn waits(first: Job, second: Job, between: Between) -> bool {
    let of = |stages: Stages, job: Job, first: bool| {
        let own = match job {
            Job::Long | Job::Full(_) => Stages::COMPUTE_SHADER,
            Job::Clear => Stages::COLOR_ATTACHMENT_OUTPUT | Stages::FRAGMENT_SHADER,
            Job::ClearImage | Job::Fill => Stages::CLEAR | Stages::ALL_TRANSFER,
            // What overlaps of the second is its binning.
            _ if first => Stages::COLOR_ATTACHMENT_OUTPUT | Stages::FRAGMENT_SHADER,
            _ => Stages::VERTEX_SHADER,
        };
        stages.intersects(own | Stages::ALL_COMMANDS)
    };
    match between {
        Between::Nothing | Between::Queues => false,
        Between::Barrier(s, d) | Between::Event(s, d) | Between::Subpass(s, d) => {
            of(s, first, true) && of(d, second, false)
        }
        Between::Binary | Between::Timeline | Between::Host => true,
    }
}

/// Cycles in which both jobs go on: none, if one waits for the other or they are of one queue; all of the second's, if it ends before
/// the first; else what its pace makes of the first's time.
fn overlap(m: &Model, first: Job, second: Job, between: Between) -> u64 {
    let (a, b) = (alone(m, first), alone(m, second));
    let passes = second == Job::Triangle;
    if waits(first, second, between) || (a.compute == b.compute && !passes) {
        return 0;
    }
    // What was told before does not slow down; nor does drawing for a binning that is one warp's.
    let told = matches!(between, Between::Queues | Between::Event(..));
    if first == Job::LongTriangle || first == Job::Long && told {
        return b.cycles;
    }
    let share = |n: u64, cycles: u64, most: u64| n as f64 / (cycles * most) as f64;
    let shares = |of: fn(&Alone) -> u64, most: u64| [&a, &b].map(|j| share(of(j), j.cycles, most));
    let resources = [shares(|a| a.cores, m.cores), shares(|a| a.bytes, m.memory.external_bytes_per_cycle)];
    if between == Between::Queues {
        // Of cores and memory the second wants a share, and has what the first leaves, whose submission was before.
        let pace = resources.iter().map(|[a, b]| (1.0 - a) / b).fold(1.0, f64::min);
        return if pace < 1.0 / 64.0 { 0 } else { (pace * a.cycles as f64) as u64 };
    }
    // Both go on at the same pace until one of them has ended: what they do beyond that pace of one job costs nothing.
    let pace = resources.iter().map(|[a, b]| 1.0 / (a + b)).fold(1.0, f64::min);
    let shorter = a.cycles.min(b.cycles) as f64;
    (shorter * (2.0 - 1.0 / pace)).max(0.0) as u64
}

/// How far a figure may be from what was worked out: where jobs contend, paces are fractions, and ends are whole nanoseconds.
fn about(case: &Case) -> f64 {
    match case.work {
        Work::Pair { first: Job::Full(_) | Job::Fill | Job::Long, .. } => 0.005,
        _ => 0.0,
    }
}

#[test]
fn what_they_count_follows_from_the_model() {
    let mut wrong = vec![];
    let mut rows: Vec<String> = vec![];
    for name in MODELS {
        let m = Model::load(Some(name)).expect("a model");
        let sizes = [m.cores, m.core.l1_kib, m.memory.l2_kib].map(|n| n as u32);
        let cases = micro::cases(sizes[0], sizes[1], sizes[2]);
        assert!(cases.len() >= 100, "{}", cases.len());
        let mut child = Command::new(env!("CARGO_BIN_EXE_micro-child"));
        crate::common::driver().prepare(&mut child, client::drivers::Threads::Count(2));
        child.env("TUFF_GPU", name).args(sizes.map(|n| n.to_string()));
        let out = child.output().expect("it runs");
        let (said, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        assert!(out.status.success(), "{name}: {said}{errors}");
        let got: Vec<f64> = said.lines().filter_map(|l| l.split_once(';')?.1.parse().ok()).collect();
        assert_eq!(got.len(), cases.len(), "{said}{errors}");
        let silent: Vec<&str> = said.lines().filter_map(|l| l.strip_prefix("silent ")).collect();
        // No case here traces rays: crates/machine's tests of them do, where the model has the unit.
        let silent: Vec<&str> = silent.into_iter().filter(|c| !c.starts_with("Ray tracing ")).collect();
        // Older generations shade all vertices in binning.
        let deferred = ["Visible primitives using DVS"];
        assert_eq!(silent, if m.tiler.deferred > 0 { &deferred[..0] } else { &deferred }, "{name}");
        rows.resize(cases.len(), String::new());
        for ((case, got), row) in cases.iter().zip(got).zip(&mut rows) {
            if row.is_empty() {
                *row = format!("| {} | {} |", case.name.split(':').next().unwrap_or_default(), case.counter);
            }
            *row += &format!(" {got} |");
            let want = want(&m, case) as f64;
            if (got - want).abs() > want * about(case) {
                wrong.push(format!("{name}: {}: {got}, not {want}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong: {wrong:#?}", wrong.len());
    told(&rows);
}

/// The table of docs/model.md is this; `TUFF_BLESS=1` writes it.
fn told(rows: &[String]) {
    let models = MODELS.map(|m| format!(" {m} |")).concat();
    let table = format!(
        "| case | counter |{models}\n|---|---|{}\n{}\n",
        "---|".repeat(MODELS.len()),
        rows.join("\n")
    );
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/model.md");
    let page = std::fs::read_to_string(&file).expect("docs/model.md");
    let (before, rest) = page.split_once(BEGIN).expect("where the table begins");
    let (old, after) = rest.split_once(END).expect("where it ends");
    if std::env::var_os("TUFF_BLESS").is_some() {
        std::fs::write(&file, format!("{before}{BEGIN}{table}{END}{after}"))
            .expect("docs/model.md is written");
    } else {
        assert_eq!(old, table, "TUFF_BLESS=1 cargo test -p conformance --test scenes micro");
    }
}
