//! Each key of a model file changes what it should: through the loader, on the default model with this key changed. Figures are
//! worked out from that file and docs/model.md.

pub mod bench;

use bench::Bench;
use std::collections::BTreeMap;

const MODEL: &str = include_str!("../../counters/models/g720.toml");
const CHILD: &str = "TUFF_TEST_KNOBS";

/// A key and its value.
type Set = (&'static str, u64);

struct Row {
    key: &'static str,
    /// What else is changed, so that this key binds.
    also: &'static [Set],
    workload: &'static str,
    /// Values of the key, and the workload's figure with each.
    figures: [(u64, f64); 2],
}

const fn row(
    key: &'static str,
    also: &'static [Set],
    workload: &'static str,
    figures: [(u64, f64); 2],
) -> Row {
    Row { key, also, workload, figures }
}

const NO_BUS: Set = ("core.l2_bytes", 1 << 10);
const NO_L2: Set = ("memory.slice_bytes", 1 << 20);
const NO_MEMORY: Set = ("memory.external_bytes_per_cycle", 1 << 20);
const NO_PIXELS: Set = ("core.pixels", 1 << 10);
const NO_QUADS: Set = ("core.raster_quads", 1 << 10);
const NO_CVT: Set = ("core.cvt_lanes", 1 << 10);

/// The workloads:
///
/// - "fill": 1 MiB, 16 384 lines, in 16 tasks of 1024 issues and 4096 beats; of ten cores some have two. 1000 for the job.
/// - "multiplications", "square roots", "samples": 800 (samples: 160) rounds more of a loop, in 40 workgroups of four warps; a
///   core has four of them, 16 warps. A round is one of these and two CVT instructions, for the loop's count; a sample has an FMA
///   before it.
/// - "barriers": 800 rounds more of one in a single workgroup. "atomics": 160 rounds more, of one word.
/// - "lines": 288 rounds more in one workgroup, each of a line that the L1 lacks, but for what a warp waits for arithmetic.
/// - "clear": 16 384 pixels, 4096 beats, 65 536 bytes, in four regions on four cores. 1000 for the job.
/// - "quads": 16 draws more of 4096 quads, on four cores; interpolated ones have four slots each.
/// - "multiplied quads": 100 rounds more of three instructions for each of a draw's 1024 warps.
/// - "primitives", "references": 4096 triangles more, in one region or four. The former's vertices are shaded in that region.
/// - "lines from memory": with a line of two descriptors.
/// - "late beats": half of the fill's megabyte copied to the other half.
/// - "binning": one warp of seven instructions, which it waits for: 28 cycles.
const ROWS: &[Row] = &[
    // The text after the class name is only for readers: "Tuff (software GPU, 7)".
    row("name", &[], "length of the name", [(7, 22.0), (42, 23.0)]),
    // Two of 16 tasks on a core, or four: 1024 issues, 4096 beats at four a cycle, and 20 cycles each.
    row("cores", &[NO_MEMORY, NO_L2], "fill", [(10, 1000.0 + 2.0 * 1044.0), (4, 1000.0 + 4.0 * 1044.0)]),
    // 1 048 576 / 56 = 18 724.6 cycles, and 1000: 19 725 / 1.3 = 15 173.1; / 0.65 = 30 346.2.
    row("clock_mhz", &[], "fill, nanoseconds", [(1300, 15_174.0), (650, 30_347.0)]),
    row("counter_slots", &[], "passes of 16 counters", [(0, 1.0), (8, 2.0)]),
    // A core's 16 warps wait 3 · 4 cycles a round: all at once, or eight after eight.
    row("core.warps", &[], "multiplications", [(64, 800.0 * 12.0), (8, 800.0 * 24.0)]),
    // 16 warps · 16 lanes: 3 instructions, 2 of CVT, one of SFU a round, over the lanes.
    row(
        "core.fma_lanes",
        &[("core.arithmetic_latency", 1), NO_CVT],
        "multiplications",
        [(128, 800.0 * 3.0 * 256.0 / 128.0), (64, 800.0 * 3.0 * 256.0 / 64.0)],
    ),
    row(
        "core.cvt_lanes",
        &[("core.arithmetic_latency", 1)],
        "multiplications",
        [(64, 800.0 * 2.0 * 256.0 / 64.0), (32, 800.0 * 2.0 * 256.0 / 32.0)],
    ),
    row("core.sfu_lanes", &[], "square roots", [(16, 800.0 * 256.0 / 16.0), (8, 800.0 * 256.0 / 8.0)]),
    // 16 draws · 16 384 slots on four cores.
    row(
        "core.varying_slots",
        &[NO_MEMORY, NO_L2, NO_PIXELS, NO_QUADS],
        "interpolated quads",
        [(1, 65_536.0), (2, 32_768.0)],
    ),
    // Two tasks' 1024 issues and 20 cycles each.
    row(
        "core.ls_issues",
        &[NO_MEMORY, NO_L2, NO_BUS],
        "fill",
        [(1, 1000.0 + 2.0 * 1044.0), (2, 1000.0 + 2.0 * 532.0)],
    ),
    // 256 samples a round, one operation each. They are asked for by three operands: two beats a message, 64 a round.
    row(
        "core.texels",
        &[("core.arithmetic_latency", 1), ("core.texture_latency", 1)],
        "samples",
        [(2, 160.0 * 128.0), (4, 160.0 * 64.0)],
    ),
    // Seven of them with the unit.
    row("core.ray_nodes", &[], "extensions of rays", [(1, 7.0), (0, 0.0)]),
    // Four pixels a cycle, or two, and 100 for the region.
    row(
        "core.pixels",
        &[NO_MEMORY, NO_L2, NO_BUS],
        "clear",
        [(4, 1000.0 + 1024.0 + 100.0), (2, 1000.0 + 2048.0 + 100.0)],
    ),
    row(
        "core.raster_quads",
        &[NO_MEMORY, NO_L2, NO_PIXELS],
        "quads",
        [(1, 16.0 * 4096.0 / 4.0), (2, 16.0 * 4096.0 / 8.0)],
    ),
    // Two tasks' 4096 beats of 16 bytes.
    row(
        "core.l2_bytes",
        &[NO_MEMORY, NO_L2],
        "fill",
        [(16, 1000.0 + 2.0 * 4116.0), (8, 1000.0 + 2.0 * 8212.0)],
    ),
    // 24 KiB read three times: sets of four lines have lost each of six before it comes again, or hold three.
    row("core.l1_kib", &[], "lines from the L2", [(16, 3.0 * 24_576.0), (32, 24_576.0)]),
    // The same of 6 KiB, 96 lines, fetched twice.
    row("core.texture_l1_kib", &[], "texels' lines", [(32, 96.0), (4, 192.0)]),
    // 128² pixels of 32 bits: 32 × 32 of them take 4 KiB, half as many 2.
    row("core.tile_kib", &[], "tiles", [(32, 16.0), (2, 32.0)]),
    // 256 warps in each region: two regions' at once, or one's; 1024 warps wait 3 · 1024 cycles a round, on four cores.
    row(
        "core.main_tasks",
        &[("core.warps", 1024), ("core.arithmetic_latency", 1024)],
        "multiplied quads",
        [(2, 100.0 * 3.0 * 1024.0 * 2.0 / 4.0), (1, 100.0 * 3.0 * 1024.0 * 4.0 / 4.0)],
    ),
    row("core.arithmetic_latency", &[], "multiplications", [(4, 800.0 * 12.0), (8, 800.0 * 24.0)]),
    // A line comes from the L2.
    row("core.ls_latency", &[], "lines", [(24, 288.0 * (24.0 + 60.0)), (124, 288.0 * (124.0 + 60.0))]),
    // A warp's 320 messages; of 512 that are followed two miss (the sample lies at the texture's edge), and are in the L2, for all read the
    // same: 1.25 · 60 cycles.
    row(
        "core.texture_latency",
        &[],
        "samples",
        [(98, 160.0 * (98.0 + 12.0) + 75.0), (148, 160.0 * (148.0 + 12.0) + 75.0)],
    ),
    // Two instructions of the loop, and the three other warps of the workgroup.
    row("core.barrier_latency", &[], "barriers", [(16, 800.0 * (8.0 + 19.0)), (116, 800.0 * (8.0 + 119.0))]),
    row(
        "tiler.primitives",
        &[("tiler.bin_entries", 4), NO_MEMORY, NO_BUS],
        "primitives",
        [(1, 4096.0), (2, 2048.0)],
    ),
    row("tiler.bin_entries", &[], "references", [(1, 4.0 * 4096.0), (2, 2.0 * 4096.0)]),
    // References of 8 bytes alone, or three positions besides.
    row(
        "tiler.deferred",
        &[],
        "primitives, bytes written",
        [(1, 4096.0 * 8.0), (0, 4096.0 * (8.0 + 3.0 * 16.0))],
    ),
    // 60 triangles: 45 requests for positions alone, for the region shades the rest. A warp's seven instructions and a task's overhead are
    // 720 cycles, 660 more than the tiler's, of which 13 of 45 requests wait outside of the queue, or 44.
    row(
        "tiler.requests",
        &[("core.arithmetic_latency", 100)],
        "requests",
        [(32, (660 * 13 / 45) as f64), (1, (660 * 44 / 45) as f64)],
    ),
    // As for the L1, which is smaller than what is read.
    row("memory.l2_kib", &[], "lines from memory", [(2048, 24_576.0 + 64.0), (16, 3.0 * 24_576.0 + 64.0)]),
    // 1 MiB at 64 bytes a cycle of each slice.
    row("memory.l2_slices", &[NO_MEMORY, NO_BUS], "fill", [(4, 1000.0 + 4096.0), (1, 1000.0 + 16_384.0)]),
    row("memory.slice_bytes", &[NO_MEMORY, NO_BUS], "fill", [(64, 1000.0 + 4096.0), (16, 1000.0 + 16_384.0)]),
    // 40 workgroups of 64 threads, all on one word.
    row("memory.atomic_cycles", &[], "atomics", [(2, 160.0 * 2560.0 * 2.0), (4, 160.0 * 2560.0 * 4.0)]),
    row("memory.l2_latency", &[], "lines", [(60, 288.0 * (24.0 + 60.0)), (160, 288.0 * (24.0 + 160.0))]),
    row(
        "memory.external_latency",
        &[("memory.l2_kib", 16)],
        "lines",
        [(200, 288.0 * (24.0 + 60.0 + 200.0)), (300, 288.0 * (24.0 + 60.0 + 300.0))],
    ),
    row("memory.bus_bytes", &[], "fill, beats", [(32, 32_768.0), (64, 16_384.0)]),
    // 18 724.6 and 37 449.1 cycles, rounded up.
    row("memory.external_bytes_per_cycle", &[], "fill", [(56, 1000.0 + 18_725.0), (28, 1000.0 + 37_450.0)]),
    // 8192 lines each way, two beats a read. 256 lines are 292 cycles of memory, 92 more than its latency: answers come from 100 to
    // 484 cycles, 284 of 384 parts before 384. 512 lines are 585 cycles: to 1070, 284 of 970 parts.
    row(
        "memory.outstanding",
        &[],
        "late beats",
        [(64, 16_384.0 - 2.0 * 6058.0), (128, 16_384.0 - 2.0 * 2398.0)],
    ),
    // Six pages, for which three waves of four workgroups ask each: of the 12 times that a page is asked for again, a sixth is it there.
    row("memory.tlb_pages", &[], "pages", [(512, 6.0), (1, 6.0 + 10.0)]),
    // 64 superblocks of one colour each.
    row("memory.afbc", &[], "compressed clear, bytes", [(1, 64.0 * 16.0), (0, 65_536.0)]),
    row("overhead.binning_job", &[], "binning", [(1000, 1000.0 + 20.0 + 28.0), (5000, 5000.0 + 20.0 + 28.0)]),
    row("overhead.compute_job", &[], "fill", [(1000, 1000.0 + 18_725.0), (5000, 5000.0 + 18_725.0)]),
    // 65 536 / 56 = 1170.3.
    row("overhead.main_job", &[], "clear", [(1000, 1000.0 + 1171.0), (5000, 5000.0 + 1171.0)]),
    row("overhead.binning_task", &[], "binning", [(20, 1000.0 + 20.0 + 28.0), (520, 1000.0 + 520.0 + 28.0)]),
    row(
        "overhead.compute_task",
        &[NO_MEMORY, NO_L2],
        "fill",
        [(20, 1000.0 + 2.0 * (1024.0 + 20.0)), (520, 1000.0 + 2.0 * (1024.0 + 520.0))],
    ),
    row(
        "overhead.main_task",
        &[NO_MEMORY, NO_L2],
        "clear",
        [(100, 1000.0 + 1024.0 + 100.0), (500, 1000.0 + 1024.0 + 500.0)],
    ),
    row("overhead.mcu_job", &[], "microcontroller", [(200, 200.0), (100, 100.0)]),
    row("overhead.ceu_job", &[], "commands", [(300, 300.0), (100, 100.0)]),
    row("overhead.lsu_job", &[], "command loads", [(250, 250.0), (100, 100.0)]),
];

/// `section.key` of each line of the model, and nothing for one without a key.
fn keys() -> Vec<String> {
    let mut section = String::new();
    let mut key = |line: &str| {
        if let Some(name) = line.strip_prefix('[') {
            section = format!("{}.", name.trim_end_matches(']'));
        }
        let name = line.split_once(" = ").map(|(n, _)| n).filter(|n| !n.starts_with('#'));
        name.map_or(String::new(), |n| format!("{section}{n}"))
    };
    MODEL.lines().map(&mut key).collect()
}

/// The model with these keys changed.
fn changed(set: &[Set]) -> String {
    let mut done = 0;
    let mut text = String::new();
    for (line, key) in MODEL.lines().zip(keys()) {
        match (set.iter().find(|(k, _)| *k == key), line.split_once(" = ")) {
            (Some((_, value)), Some((name, old))) => {
                let quote = if old.starts_with('"') { "\"" } else { "" };
                text += &format!("{name} = {quote}{value}{quote}\n");
                done += 1;
            }
            _ => text += &format!("{line}\n"),
        }
    }
    assert_eq!(done, set.len(), "{set:?}");
    text
}

/// Run by the test below, on its model: the workloads that the variable names.
#[test]
fn child() {
    let Some(names) = std::env::var_os(CHILD) else { return };
    let bench = Bench::new();
    for name in names.into_string().unwrap().split(';') {
        println!("\nfigure;{name};{}", bench.measure(name));
    }
    bench.free();
}

/// The figures of these workloads on this model.
fn figures(text: &str, workloads: &[&str]) -> Vec<f64> {
    let folder = temporary::folder("tuff-").expect("a temporary folder");
    let file = folder.path().join("model.toml");
    std::fs::write(&file, text).unwrap();
    let mut me = std::process::Command::new(std::env::current_exe().expect("this program"));
    me.args(["--exact", "knobs::child", "--nocapture"])
        .env(CHILD, workloads.join(";"))
        .env("TUFF_GPU", &file);
    let out = me.output().expect("it runs");
    let (said, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{text}{said}{errors}");
    let got: Vec<(&str, f64)> = said
        .lines()
        .filter_map(|l| l.strip_prefix("figure;")?.split_once(';'))
        .map(|(name, value)| (name, value.parse().unwrap()))
        .collect();
    assert_eq!(got.iter().map(|g| g.0).collect::<Vec<_>>(), workloads, "{said}{errors}");
    got.iter().map(|g| g.1).collect()
}

/// Forty workgroups of four warps, two messages a warp and round: a beat each, or two of them where the sampler is mediump.
#[test]
fn medium_precision_halves_answers() {
    let messages = 160.0 * 40.0 * 4.0 * 2.0;
    let got = figures(MODEL, &["answers", "answers of medium precision"]);
    assert_eq!(got, [messages, messages / 2.0]);
}

/// A core's 64 warps wait for lines: 400 cycles each, more than any unit takes. Of a program with more than 32 registers it holds 32 of them.
#[test]
fn many_registers_take_twice_as_long_where_warps_wait() {
    let model = changed(&[("cores", 1), ("core.ls_latency", 400)]);
    let got = figures(&model, &["lines of a core", "lines of a core, many registers"]);
    assert!((got[1] / got[0] - 2.0).abs() < 0.01, "{got:?}");
    assert!(got[0] > 288.0 * (400.0 + 60.0), "{got:?}");
}

/// 160 warps more of sixteen bilinear samples, 160 times, at eight a cycle: the cache is looked up as fast, a quad's footprint at a time.
#[test]
fn lookups_go_at_the_filters_rate() {
    let cycles = 160.0 * 160.0 * 16.0 / 8.0;
    assert_eq!(figures(MODEL, &["look-ups", "filtering"]), [cycles; 2]);
}

#[test]
fn every_key_changes_what_it_should() {
    let rows: Vec<&str> = ROWS.iter().map(|r| r.key).collect();
    let keys: Vec<String> = keys().into_iter().filter(|k| !k.is_empty()).collect();
    assert_eq!(rows, keys, "a row for each key of the model, in its order");
    // A child for each model, with all that is measured on it.
    let mut models: BTreeMap<String, Vec<(&Row, (u64, f64))>> = BTreeMap::new();
    for row in ROWS {
        let [a, b] = row.figures;
        assert!(a.0 != b.0 && a.1 != b.1, "{}", row.key);
        for figure in row.figures {
            let set = [&[(row.key, figure.0)], row.also].concat();
            models.entry(changed(&set)).or_default().push((row, figure));
        }
    }
    let mut wrong = vec![];
    for (text, wanted) in models {
        let workloads: Vec<&str> = wanted.iter().map(|(row, _)| row.workload).collect();
        for ((row, (value, want)), got) in wanted.iter().zip(figures(&text, &workloads)) {
            if got != *want {
                wrong.push(format!("{} = {value}: {}: {got}, not {want}", row.key, row.workload));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
