//! Microbenchmarks on each built-in GPU: what each must count follows from its model file by the arithmetic that stands here.

use ash::vk::Format as F;
use conformance::micro::draw::{Filter, SIDE};
use conformance::micro::{self, CYCLES, Case, ROUNDS, Way, Work};
use counters::Model;
use std::process::Command;

/// Warp-instructions in the pipes FMA, CVT and SFU of each operation of [`micro::ALU`] (`shader/src/isa`).
const COSTS: [[u64; 3]; 28] = [
    [1, 0, 0],
    [1, 0, 0],
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [1, 0, 1],
    [0, 1, 1],
    [1, 0, 1],
    [2, 0, 1],
    [2, 0, 1],
    [5, 0, 3],
    [6, 1, 1],
    [6, 1, 1],
    [8, 2, 1],
    [3, 2, 2],
    [4, 2, 3],
    [1, 1, 1],
    [2, 0, 1],
    [1, 1, 0],
    [0, 1, 0],
    [0, 1, 0],
    [0, 1, 0],
    [0, 1, 0],
    [0, 1, 0],
    [0, 1, 0],
    [4, 0, 2],
    [4, 0, 2],
    [4, 0, 2],
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
        Work::Cleared { format } => {
            let bytes = match format {
                F::R8_UNORM | F::S8_UINT => 1,
                F::R8G8_UNORM | F::D16_UNORM => 2,
                F::R16G16B16A16_SFLOAT => 8,
                F::R32G32B32A32_SFLOAT => 16,
                _ => 4,
            };
            PIXELS * bytes
        }
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
            if got != want {
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
