//! What single keys of a model do to workloads that ask most of one thing each: the table of docs/model.md.

use crate::cost::{self, Draw};
use crate::event::{Counts, Event, Phase, Unit};
use crate::model::Model;
use std::fmt::Write;

pub mod plot;

/// The table stands between these lines.
pub const BEGIN: &str = "<!-- written by `cargo run -p counters --example sweep` -->\n";
pub const END: &str = "<!-- end of what was written -->\n";

/// Workloads, each by what a model makes of it: cycles.
pub const WORKLOADS: [(&str, fn(&Model) -> u64); 4] =
    [("arithmetic", arithmetic), ("texturing", texturing), ("streaming", streaming), ("table", table_read)];

/// Keys, and values of each.
type Knob = (&'static str, [u64; 5], fn(&mut Model, u64));
pub const KNOBS: [Knob; 5] = [
    ("cores", [2, 5, 10, 20, 40], |m, v| m.cores = v),
    ("clock_mhz", [325, 650, 1300, 2600, 5200], |m, v| m.clock_mhz = v),
    ("core.warps", [8, 16, 32, 64, 128], |m, v| m.core.warps = v),
    ("memory.l2_kib", [256, 512, 1024, 2048, 4096], |m, v| m.memory.l2_kib = v),
    ("memory.external_bytes_per_cycle", [14, 28, 56, 112, 224], |m, v| m.memory.external_bytes_per_cycle = v),
];

/// 4000 workgroups of four warps, of 1000 FMA and 200 CVT instructions each.
fn arithmetic(m: &Model) -> u64 {
    let mut c = dispatch(4_000);
    c[(Phase::Compute, Unit::Fma)] = 16_000_000;
    c[(Phase::Compute, Unit::Cvt)] = 3_200_000;
    cost::compute(&c, m).cycles
}

/// A draw over 1920 × 1080 pixels, eight trilinear samples each; of the texture instructions one in eight misses the L1, and
/// half of these the L2.
fn texturing(m: &Model) -> u64 {
    const PIXELS: u64 = 1920 * 1080;
    const INSTRUCTIONS: u64 = PIXELS / 16 * 8;
    let mut c = Counts::default();
    c[Event::MainJobs] = 1;
    c[Event::MainTasks] = 30 * 17;
    c[Event::QuadsRasterised] = PIXELS / 4;
    c[Event::BlendQuads] = PIXELS / 4;
    c[Event::TilePixelsWritten] = PIXELS;
    c[Event::TileWriteBeats] = PIXELS / 4;
    for (unit, n) in [
        (Unit::Warps, PIXELS / 16),
        (Unit::TexInstr, INSTRUCTIONS),
        (Unit::TexFilterOps, PIXELS * 8 * 2),
        (Unit::TexL1Misses, INSTRUCTIONS / 8),
        (Unit::TexL2ReadBeats, INSTRUCTIONS / 8 * 4),
        (Unit::TexExtReadBeats, INSTRUCTIONS / 16 * 4),
        (Unit::L2ReadLookups, INSTRUCTIONS / 8),
        (Unit::ExtReads, INSTRUCTIONS / 16),
        (Unit::ExtWrites, PIXELS / 16),
    ] {
        c[(Phase::Main, unit)] = n;
    }
    let draw = Draw { load: cost::Load::of(&c, Phase::Main), tasks: 30 * 17 };
    cost::main(&c, &[draw], &[1; 30 * 17], 30 * 17, m).job.cycles
}

/// 4000 workgroups of four warps, of which each reads 64 lines and writes as many: 65.5 MB in all each way.
fn streaming(m: &Model) -> u64 {
    const LINES: u64 = 1_024_000;
    let mut c = dispatch(4_000);
    for unit in [Unit::LsReadFull, Unit::LsWriteFull, Unit::L2ReadLookups, Unit::L2WriteLookups] {
        c[(Phase::Compute, unit)] = LINES;
    }
    for unit in [Unit::LsL2ReadBeats, Unit::LsExtReadBeats, Unit::LsWriteBackBeats] {
        c[(Phase::Compute, unit)] = LINES * 4;
    }
    c[(Phase::Compute, Unit::ExtReads)] = LINES;
    c[(Phase::Compute, Unit::ExtWrites)] = LINES;
    cost::compute(&c, m).cycles
}

/// 16 workgroups of four warps that read a table of 1 MiB from begin to end, eight times over: an L2 that is smaller has lost each
/// line before it comes again.
fn table_read(m: &Model) -> u64 {
    const LINES: u64 = 16_384;
    let (all, far) = (8 * LINES, if m.memory.l2_kib < 1024 { 8 * LINES } else { LINES });
    let mut c = dispatch(16);
    for (unit, n) in [
        (Unit::LsReadFull, all),
        (Unit::LsL2ReadBeats, all * 4),
        (Unit::L2ReadLookups, all),
        (Unit::LsExtReadBeats, far * 4),
        (Unit::ExtReads, far),
    ] {
        c[(Phase::Compute, unit)] = n;
    }
    cost::compute(&c, m).cycles
}

fn dispatch(groups: u64) -> Counts {
    let mut c = Counts::default();
    c[Event::ComputeJobs] = 1;
    c[Event::ComputeTasks] = groups;
    c[(Phase::Compute, Unit::Warps)] = groups * 4;
    c
}

/// Nanoseconds of each workload with each value of a key, all others the default model's.
pub fn series(&(_, values, set): &Knob) -> [[u64; 4]; 5] {
    values.map(|v| {
        let mut m = Model::default();
        set(&mut m, v);
        WORKLOADS.map(|(_, cycles)| m.nanoseconds(cycles(&m)))
    })
}

/// Microseconds, in Markdown.
pub fn table() -> String {
    let mut t = format!("| key | value | {} |\n|---|---|", WORKLOADS.map(|w| w.0).join(" | "));
    t += &"---|".repeat(WORKLOADS.len());
    t.push('\n');
    for knob in &KNOBS {
        for (value, ns) in knob.1.iter().zip(series(knob)) {
            let _ = write!(t, "| `{}` | {value} |", knob.0);
            ns.iter().for_each(|n| {
                let _ = write!(t, " {} |", n.div_ceil(1000));
            });
            t.push('\n');
        }
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More of anything is never slower.
    #[test]
    fn series_are_monotone() {
        for knob in &KNOBS {
            let rows = series(knob);
            for pair in rows.windows(2) {
                assert!((0..4).all(|w| pair[1][w] <= pair[0][w]), "{}: {rows:?}", knob.0);
            }
        }
        let [cores, clock, warps, l2, memory] = [0, 1, 2, 3, 4].map(|k| series(&KNOBS[k]));
        for w in 0..4 {
            // But for what is rounded up.
            assert!(clock.windows(2).all(|p| p[0][w].abs_diff(2 * p[1][w]) <= 2), "{clock:?}");
        }
        // 16 000 000 and 3 200 000 instructions of 16 lanes, 128 a cycle: 2 400 000 cycles of cores; 4000 tasks of 20; 1000.
        // Ten cores: 249 000 cycles, 191 539 ns; forty: 63 000, 48 462.
        assert_eq!((cores[2][0], cores[4][0]), (191_539, 48_462));
        // 131 072 000 bytes, 56 a cycle: 2 340 572 cycles and 1000; 112: 1 170 286.
        assert_eq!((memory[2][2], memory[3][2]), (1_801_210, 900_990));
        // 8 warps wait 4 cycles for each of 4800 instructions of 16 000: 19 200 000 · 4 / 8 cycles of cores, and 80 000.
        assert_eq!(warps[0][0], (968_000 + 1_000) * 10 / 13 + 1);
        // What comes from memory again is slower: at 1024 KiB the table fits.
        assert!(l2[1][3] > l2[2][3] && l2[0] == l2[1] && l2[2] == l2[4], "{l2:?}");
    }

    #[test]
    fn the_documentation_has_the_plot() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sweep.svg");
        let text = std::fs::read_to_string(path).expect("docs/sweep.svg");
        assert!(text == plot::plot(), "cargo run -p counters --example sweep -- plot > docs/sweep.svg");
    }

    #[test]
    fn the_documentation_has_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/model.md");
        let text = std::fs::read_to_string(path).expect("docs/model.md");
        let inside = text.split(BEGIN).nth(1).and_then(|t| t.split(END).next()).expect("its marks");
        assert_eq!(inside, table(), "cargo run -p counters --example sweep");
    }
}
