//! What programs cost, as `tuff run --counters` has the driver write it: the same file, byte for byte, from every run,
//! on every SIMD level and thread count.

use crate::common::{Way, all_ways, ways};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Twice on two threads: the order of their work may differ.
const THREADS: [usize; 3] = [1, 2, 2];

/// The file of a run of `program` on the cases named.
fn counters(program: &str, names: &[&str], way: Way) -> String {
    let name = std::path::Path::new(program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    static RUN: AtomicUsize = AtomicUsize::new(0);
    let run = RUN.fetch_add(1, Relaxed);
    let file = client::scratch(&format!("counters-{name}-{run}.json")).expect("a temporary folder");
    let mut child = Command::new(program);
    way.prepare(&mut child);
    let output = child.args(names).env("TUFF_COUNTERS", &file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let _ = std::fs::remove_file(&file);
    text
}

/// Of each line of the "frames", its number and the counters named (0: absent).
fn frames(text: &str, names: &[&str]) -> Vec<(u64, Vec<u64>)> {
    let json: serde_json::Value = serde_json::from_str(text).unwrap();
    let frame = |f: &serde_json::Value| {
        assert_eq!((f["device"].as_u64(), f["queue"].as_u64()), (Some(0), Some(0)), "{f}");
        let of = |n: &&str| f["counters"].get(n).map_or(0, |v| v.as_u64().unwrap());
        (f["frame"].as_u64().unwrap(), names.iter().map(of).collect())
    };
    json["frames"].as_array().unwrap().iter().map(frame).collect()
}

fn total(text: &str, name: &str) -> u64 {
    let json: serde_json::Value = serde_json::from_str(text).unwrap();
    json["total"][name].as_u64().unwrap()
}

fn same_everywhere(ways: &[Way], program: &str, names: &[&str], must: &[&str]) {
    let all = crate::common::everywhere(ways, |way| counters(program, names, way));
    let (_, first) = &all[0];
    for name in must {
        assert_ne!(total(first, name), 0, "{name}");
    }
    for (way, again) in &all {
        let differs = first.lines().zip(again.lines()).find(|(a, b)| a != b);
        assert!(first == again, "{way:?}: {differs:?}");
    }
}

#[test]
fn dispatches_cost_the_same_on_every_run() {
    // Its invocations try again when another thread's came between: how often is nobody's to say.
    let racing = "atomics";
    let cases = conformance::cases();
    let names: Vec<_> = cases.iter().map(|c| c.name).filter(|n| *n != racing).collect();
    let must = ["TuffFmaInstr", "TuffComputeWarps", "MaliGPUActiveCy"];
    same_everywhere(&ways(&THREADS), env!("CARGO_BIN_EXE_compute-child"), &names, &must);
}

#[test]
fn pictures_cost_the_same_on_every_run() {
    let must = ["MaliFragWarp", "TuffQuadsShaded", "MaliMainQueueTask"];
    same_everywhere(&ways(&THREADS), env!("CARGO_BIN_EXE_scene-child"), &[], &must);
}

/// A wave's width follows from its shader alone: wide and narrow ones, where warps are made of several triangles' quads, and workgroups
/// that share a wave and that do not.
#[test]
fn counts_do_not_depend_on_what_is_compiled() {
    let must = ["MaliFragWarp", "TuffQuadsShaded"];
    let scenes = ["large_mesh", "triangles", "mesh", "levels"];
    same_everywhere(&all_ways(&[1, 2]), env!("CARGO_BIN_EXE_scene-child"), &scenes, &must);
}

/// Six depth-tested layers back to front begin the scene, of 128 × 128 quads each: all but the last of them are hidden,
/// though an occlusion query looks on.
#[test]
fn what_later_layers_cover_is_not_shaded() {
    for scene in ["layers", "layers_4_samples", "layers_8_samples"] {
        let text = counters(env!("CARGO_BIN_EXE_scene-child"), &[scene], Way::new("portable", 1));
        let hidden = total(&text, "TuffQuadsHidden");
        assert!(hidden >= 5 * 128 * 128, "{scene}: {hidden}");
        // Each layer of the scene is opaque, and one of them at least is seen.
        assert!(total(&text, "MaliFragOpaqueQd") > hidden, "{scene}: {hidden}");
    }
}

/// A triangle over all of 32 × 16 pixels, which are 128 quads. Fragments of 1, 2 and 4 pixels along both axes are a 1st, a 4th and a 16th of
/// the 512 pixels, and four of them are a quad of threads.
#[test]
fn fewer_fragments_at_lower_densities() {
    let names = [
        "MaliFragRastQd",
        "TuffFragmentInvocations",
        "MaliFragRastCoarseQd",
        "TuffQuadsShaded",
        "MaliFragWarp",
    ];
    for (check, want) in [
        ("density_one", [128, 512, 128, 128, 32]),
        ("density_half", [128, 128, 32, 32, 8]),
        ("density_quarter", [128, 32, 8, 8, 2]),
    ] {
        let text = counters(env!("CARGO_BIN_EXE_extensions-child"), &[check], Way::new("portable", 1));
        assert_eq!(names.map(|n| total(&text, n)), want, "{check}: {names:?}");
    }
}

const FRAMES: &str = env!("CARGO_BIN_EXE_frames-child");

/// The file of one thread, after a look at those of others.
fn frames_file(kind: &str) -> String {
    let first = counters(FRAMES, &[kind], Way::new("portable", 1));
    for way in ways(&[1, 2]) {
        assert!(first == counters(FRAMES, &[kind], way), "{way:?}");
    }
    first
}

/// `frames::TOLD`, by hand. A workgroup is a warp of eight multiply–adds. Frame 7 has 5 + 6 of them. Frame 9 has 2, and
/// two passes: a triangle of 3 vertices, and two triangles of 6 vertices; each pass shades 64 × 64 pixels once.
#[test]
fn frames_that_the_application_numbers() {
    let text = frames_file("told");
    let names = [
        "TuffComputeWarps",
        "TuffComputeFmaInstr",
        "TuffInputPrimitives",
        "TuffInputVertices",
        "TuffFragmentInvocations",
    ];
    let want =
        [(100, vec![3, 3 * 8, 0, 0, 0]), (7, vec![11, 11 * 8, 0, 0, 0]), (9, vec![2, 2 * 8, 3, 9, 2 * 4096])];
    assert_eq!(frames(&text, &names), want);
    // With the one workgroup before the frames, and the one after them.
    assert_eq!(total(&text, "TuffComputeWarps"), 3 + 11 + 2 + 1 + 1);
    assert_eq!(total(&text, "TuffInputPrimitives"), 3);
}

#[test]
fn frames_that_end_where_the_application_presents() {
    let names = ["TuffComputeWarps", "TuffComputeFmaInstr"];
    for (kind, first) in [("presented", 0), ("numbered", conformance::frames::FIRST)] {
        let text = frames_file(kind);
        let want = [2, 4, 7].map(|groups| vec![groups, 8 * groups]);
        let want: Vec<_> = (first..).zip(want).collect();
        assert_eq!(frames(&text, &names), want, "{kind}");
        assert_eq!(total(&text, "TuffComputeWarps"), 2 + 4 + 7 + 1, "{kind}");
    }
}
