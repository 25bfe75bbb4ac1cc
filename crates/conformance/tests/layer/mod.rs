//! VK_LAYER_TUFF_gpu_performance through the loader, above the Khronos validation layer: every message of that fails the
//! test. On Tuff, whose modelled time is the same on every run, and on lavapipe.

mod hurt;
mod queries;
mod run;

use client::drivers::{Driver, LAYER, find};
use run::{CHILD, Run, VALIDATION, drivers, file, tuff};
use serde_json::Value;
use std::path::PathBuf;

/// Programs that submit a command buffer again while it is pending. Debian 12's validation layers (1.3.239) come to a
/// deadlock of their own where such a one has queries, so these run without.
const PENDING_AGAIN: [&str; 2] = ["simultaneous", "both queues"];

/// Rows of a program on each driver; of Tuff with serialisation off too.
fn each(test: &str, program: &str, check: impl Fn(&Driver, bool, &[Value])) {
    for driver in drivers(test) {
        for serialise in ["1", "0"] {
            let settings = [("serialise", serialise)];
            let mut run = Run { settings: &settings, ..Run::new(&driver, program) };
            if PENDING_AGAIN.contains(&program) {
                run.layers = vec![LAYER];
            }
            if let Some(rows) = run.rows() {
                check(&driver, serialise == "1", &rows);
            }
        }
    }
}

fn text<'a>(r: &'a Value, key: &str) -> &'a str {
    r[key].as_str().unwrap_or_default()
}

fn names(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|r| text(r, "name")).collect()
}

fn elapsed(r: &Value) -> f64 {
    r["elapsed_ns"].as_f64().unwrap()
}

fn begin(r: &Value) -> f64 {
    r["begin_ns"].as_f64().unwrap()
}

/// Numbers of batches, from the first that has rows.
fn submissions(rows: &[Value]) -> Vec<u64> {
    let all: Vec<_> = rows.iter().map(|r| r["submission"].as_u64().unwrap()).collect();
    all.iter().map(|n| n - all[0]).collect()
}

/// On a line of time, one after the other.
fn in_turn(rows: &[Value]) {
    for w in rows.windows(2) {
        assert!(begin(&w[0]) + elapsed(&w[0]) <= begin(&w[1]), "{} {}", w[0], w[1]);
    }
}

#[test]
fn the_diagram_serialised_gives_each_its_own_cost_and_else_what_overlaps() {
    let driver = tuff();
    let costs = |serialise| {
        let settings = [("serialise", serialise)];
        let rows = Run { settings: &settings, ..Run::new(&driver, "diagram") }.rows().unwrap();
        assert_eq!(
            rows.iter().map(|r| text(r, "labels")).collect::<Vec<_>>(),
            ["pass 0", "pass 1", "pass 2", "dispatch"]
        );
        rows
    };
    let (alone, beside) = (costs("1"), costs("0"));
    in_turn(&alone);
    // A queue's timestamps do not run backwards: each time begins where the one before it ended.
    in_turn(&beside);
    // The first pass draws beside the binning of the others and the dispatch, which take from it.
    assert!(elapsed(&beside[0]) > elapsed(&alone[0]), "{} {}", alone[0], beside[0]);
    // Meanwhile the others have binned, and the dispatch has ended: what each adds is less than it costs.
    for (a, b) in alone.iter().zip(&beside).skip(1) {
        assert!(elapsed(b) < elapsed(a), "{a} {b}");
    }
    let end = |r: &Value| begin(r) + elapsed(r);
    let sum: f64 = alone.iter().map(elapsed).sum();
    assert!(end(&beside[3]) - begin(&beside[0]) < sum, "nothing overlaps");
}

/// Builds, copies and traces are workloads, named by their commands.
#[test]
fn ray_tracing_is_listed() {
    let rows = Run::new(&tuff(), "rays").rows().unwrap();
    let got: Vec<_> = rows.iter().map(|r| (text(r, "kind"), text(r, "name"), elapsed(r) > 0.0)).collect();
    let want = [
        ("build", "vkCmdBuildAccelerationStructuresKHR 1", true),
        ("copy", "vkCmdCopyAccelerationStructureKHR", true),
        ("trace rays", "vkCmdTraceRaysKHR 3x2x1", true),
    ];
    assert_eq!(got, want, "{rows:?}");
}

#[test]
fn counters_are_the_ledgers_and_times_the_models() {
    let driver = tuff();
    for (program, serialise) in [
        ("diagram", "1"),
        ("diagram", "0"),
        ("secondaries", "1"),
        ("transfers", "1"),
        ("rays", "1"),
        ("suspended", "1"),
        ("labelled", "1"),
        ("labelled", "0"),
    ] {
        let ledger = file("ledger");
        let ledger_text = ledger.to_string_lossy().into_owned();
        let settings = [("mode", "counters"), ("serialise", serialise)];
        let variables = [("TUFF_COUNTERS", &*ledger_text)];
        let rows =
            Run { settings: &settings, variables: &variables, ..Run::new(&driver, program) }.rows().unwrap();
        let json: Value = serde_json::from_str(&std::fs::read_to_string(&ledger).unwrap()).unwrap();
        let _ = std::fs::remove_file(&ledger);
        let tagged: Vec<_> = json["workloads"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|w| {
                let last = text(w, "label").rsplit('/').next().unwrap_or_default().to_string();
                last.strip_prefix('t').is_some_and(|t| t.parse::<u32>().is_ok())
            })
            .collect();
        // The ledger adds up executions of one recorded workload: tags tell those apart that only look alike.
        let times: u64 = tagged.iter().map(|w| w["times"].as_u64().unwrap()).sum();
        let counted: Vec<_> = rows.iter().filter(|r| r["counters"].is_object()).collect();
        assert_eq!(times as usize, counted.len(), "{program}");
        assert!(rows.iter().all(|r| r["note"].is_null()), "{rows:?}");
        for w in &tagged {
            // Alike in the ledger are those with the labels outside of the tag and the times of this.
            let label = text(w, "label").rsplit_once('/').map_or("", |l| l.0);
            let mut alike = counted.iter().filter(|r| text(r, "labels") == label);
            if program == "diagram" || program == "labelled" {
                let row = alike.next().unwrap_or_else(|| panic!("no row has the labels {label:?}: {rows:?}"));
                let counters = w["counters"].as_object().unwrap();
                for (name, value) in counters {
                    assert_eq!(&row["counters"][name], value, "{name} of {row}");
                }
                let zeros = row["counters"]
                    .as_object()
                    .unwrap()
                    .iter()
                    .filter(|c| !counters.contains_key(c.0.as_str()));
                assert!(zeros.clone().all(|c| c.1.as_f64() == Some(0.0)), "{:?}", zeros.collect::<Vec<_>>());
            }
        }
        let total = |name: &str| counted.iter().map(|r| r["counters"][name].as_u64().unwrap()).sum::<u64>();
        for name in ["TuffFmaInstr", "TuffComputeWarps", "MaliFragWarp"] {
            let want: u64 = tagged.iter().filter_map(|w| w["counters"][name].as_u64()).sum();
            assert_eq!(total(name), want, "{name} of {program}");
        }
        if serialise == "1" {
            // One nanosecond is a cycle of the model's clock, or a part of one: what is dearer takes longer.
            for r in &counted {
                assert!(elapsed(r) > 0.0, "{r}");
            }
        }
    }
}

#[test]
fn a_driver_without_counters_is_measured_in_time_alone() {
    let Some(driver) = find("lavapipe") else {
        return not_run::say("layer: a driver without counters", "lavapipe (not installed)");
    };
    let settings = [("mode", "counters")];
    let output = Run { settings: &settings, ..Run::new(&driver, "resubmitted") }.output(CHILD).unwrap();
    assert!(output.contains("time alone is measured"), "{output}");
    assert!(output.contains("vkCmdDispatch 200x1x1"), "{output}");
}

#[test]
fn every_kind_of_pass() {
    each("every kind of pass", "passes", |_, serialise, rows| {
        let pass = |n: &&str| n.starts_with("256x256, 1 attachment");
        assert_eq!(rows.len(), 6);
        assert!(names(rows).iter().all(pass), "{rows:?}");
        assert_eq!(names(rows)[2..4], ["256x256, 1 attachment, 2 subpasses"; 2]);
        if serialise {
            in_turn(rows);
        }
    });
}

#[test]
fn each_view_of_a_multiview_pass_has_its_own_slot() {
    each("multiview", "multiview", |driver, _, rows| {
        assert_eq!(rows.len(), 3);
        for r in rows {
            let views = r["views_ns"].as_array().unwrap();
            assert_eq!(views.len(), 2, "{r}");
            if driver.name == "tuff" {
                assert!(views.iter().all(|v| v.as_f64().is_some_and(|v| v > 0.0 && v <= elapsed(r))), "{r}");
            }
        }
    });
}

#[test]
fn suspended_passes_are_measured_to_their_last_part() {
    each("suspended passes", "suspended", |driver, serialise, rows| {
        let parts: Vec<_> = rows.iter().map(|r| (text(r, "kind"), r["parts"].as_u64().unwrap())).collect();
        let pass = |n| ("render pass", n);
        let dispatch = ("dispatch", 1);
        assert_eq!(parts, [pass(3), dispatch, dispatch, pass(2), dispatch, pass(2)]);
        if driver.name == "tuff" && serialise {
            assert_eq!(elapsed(&rows[3]), elapsed(&rows[5]));
            // Each part covers all: what a later part hides is not shaded, as in a whole pass.
            assert!(elapsed(&rows[0]) >= elapsed(&rows[3]), "three parts, and two: {rows:?}");
            assert!(elapsed(&rows[0]) < 1.5 * elapsed(&rows[3]), "three parts, and two: {rows:?}");
        }
    });
}

#[test]
fn transfers_and_dispatches_of_all_kinds() {
    each("transfers", "transfers", |_, serialise, rows| {
        let kinds: Vec<_> = rows.iter().map(|r| text(r, "kind")).collect();
        let want = [
            "fill", "update", "copy", "clear", "clear", "clear", "copy", "copy", "copy", "blit", "resolve",
            "copy", "dispatch", "dispatch", "dispatch", "dispatch",
        ];
        assert_eq!(kinds, want);
        assert_eq!(names(rows)[2], "vkCmdCopyBuffer 4096 bytes");
        assert_eq!(names(rows)[9], "vkCmdBlitImage 256x256");
        if serialise {
            in_turn(rows);
        }
    });
}

#[test]
fn a_command_buffer_that_is_submitted_again_has_rows_for_each_time() {
    each("resubmission", "resubmitted", |driver, serialise, rows| {
        let want = ["vkCmdDispatch 100x1x1", "vkCmdDispatch 200x1x1"].repeat(5);
        assert_eq!(names(rows), want);
        assert_eq!(submissions(rows), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
        if driver.name == "tuff" && serialise {
            in_turn(rows);
            // The first time the L2 has nothing of what they read.
            let times: Vec<_> = rows.chunks(2).map(|r| [elapsed(&r[0]), elapsed(&r[1])]).collect();
            assert!(times[0][0] > times[1][0] && times[1..].windows(2).all(|w| w[0] == w[1]), "{times:?}");
        }
    });
}

#[test]
fn simultaneous_use_is_told_apart() {
    not_run::say(
        "layer: a command buffer that is pending twice, under validation",
        "validation layers newer than 1.3.239",
    );
    each("simultaneous use", "simultaneous", |driver, _, rows| {
        assert_eq!(submissions(rows), [0, 0, 1, 1, 2, 3]);
        in_turn(rows);
        if driver.name == "tuff" {
            // The first finds nothing in the L2.
            assert!(elapsed(&rows[0]) > elapsed(&rows[1]), "{rows:?}");
            assert!(rows[1..].windows(2).all(|w| elapsed(&w[0]) == elapsed(&w[1])), "{rows:?}");
        }
    });
}

#[test]
fn secondaries_that_are_executed_several_times_are_told_apart() {
    each("secondaries", "secondaries", |driver, _, rows| {
        let (ten, twenty) = ("vkCmdDispatch 10x1x1", "vkCmdDispatch 20x1x1");
        let want = [ten, twenty, ten, twenty, "vkCmdFillBuffer 65536 bytes", ten, twenty].repeat(2);
        assert_eq!(names(rows), want);
        assert_eq!((text(&rows[0], "labels"), text(&rows[1], "labels")), ("outer/inner", "outer"));
        // Each row is its own execution's: they follow each other.
        in_turn(rows);
        if driver.name == "tuff" {
            let of = |name: &str| {
                let all: Vec<_> = rows.iter().filter(|r| text(r, "name") == name).map(elapsed).collect();
                // The first may find nothing in the L2.
                assert!(all[0] >= all[1] && all[1..].windows(2).all(|w| w[0] == w[1]), "{name}: {all:?}");
                all[1]
            };
            assert!(of(ten) > 0.0 && of(twenty) >= of(ten));
        }
    });
}

#[test]
fn query_pools_are_given_back() {
    for driver in drivers("query pools") {
        let json = Run::new(&driver, "pools").json(CHILD).unwrap();
        assert_eq!(json["workloads"].as_array().unwrap().len(), 20 * 40);
        // 80 timestamps need two pools of 64.
        assert_eq!(json["devices"][0]["query_pools"].as_u64(), Some(2), "{}", json["devices"]);
        assert_eq!(json["devices"][0]["query_pools_free"].as_u64(), Some(2), "{}", json["devices"]);
    }
}

#[test]
fn threads_record_at_once() {
    each("threads", "threads", |_, _, rows| {
        let of = |name: &str| rows.iter().filter(|r| text(r, "name") == name).count();
        for size in [256, 512, 1024] {
            assert_eq!(of(&format!("vkCmdFillBuffer {size} bytes")), 4 * 30);
        }
    });
}

#[test]
fn names_and_labels_are_the_programs() {
    each("labels", "labels", |_, _, rows| {
        let got: Vec<_> =
            rows.iter().map(|r| (text(r, "name"), text(r, "labels"), text(r, "command_buffer"))).collect();
        let want = [
            ("blur: vkCmdDispatch 7x1x1", "frame/post/once", "first"),
            ("vkCmdCopyBuffer 512 bytes source -> target", "frame/post", "first"),
            ("blur: vkCmdDispatch 8x1x1", "frame/post", ""),
            ("blur: vkCmdDispatch 9x1x1", "frame", ""),
        ];
        assert_eq!(got, want);
    });
}

#[test]
fn semaphores_of_the_programs_own() {
    each("semaphores", "semaphores", |_, _, rows| {
        let want = [256, 512, 1024, 2048].map(|size| format!("vkCmdFillBuffer {size} bytes"));
        assert_eq!(names(rows), want);
        in_turn(rows);
        assert!(rows.iter().all(|r| r["note"].is_null()), "{rows:?}");
    });
}

#[test]
fn what_waits_for_the_future_is_beside_the_line_and_listed() {
    each("a wait before its signal", "future", |_, serialise, rows| {
        assert_eq!(rows.len(), 3);
        let noted: Vec<_> = rows.iter().map(|r| text(r, "note").starts_with("not serialised")).collect();
        assert_eq!(noted, if serialise { [true, true, false] } else { [false; 3] });
    });
}

#[test]
fn a_command_buffer_on_two_queues_and_queues_that_wait_for_each_other() {
    each("two queues", "both queues", |_, _, rows| {
        let shared: Vec<_> = rows.iter().filter(|r| text(r, "name").contains("65536")).cloned().collect();
        let queues: Vec<_> = shared.iter().map(|r| r["queue"].as_u64().unwrap()).collect();
        assert_eq!(queues, [0, 1, 0, 1, 0, 1]);
        in_turn(&shared);
        assert!(shared.windows(2).all(|w| elapsed(&w[0]) == elapsed(&w[1])), "{shared:?}");
        assert_eq!(rows.len(), 8);
    });
}

#[test]
fn two_devices() {
    each("two devices", "devices", |_, _, rows| {
        let mut got: Vec<_> = rows.iter().map(|r| (r["device"].as_u64().unwrap(), text(r, "name"))).collect();
        got.sort();
        let name = |n| ["vkCmdDispatch 10x1x1", "vkCmdDispatch 20x1x1", "vkCmdDispatch 30x1x1"][n];
        assert_eq!(got, [(0, name(0)), (0, name(1)), (1, name(2))]);
    });
}

#[test]
fn programs_without_timeline_semaphores_get_them() {
    each("older programs", "old", |_, _, rows| {
        assert_eq!(names(rows), ["vkCmdFillBuffer 4096 bytes"; 3]);
    });
}

#[test]
fn settings_of_the_program_and_of_the_environment() {
    for driver in drivers("settings") {
        let (own, other) = (file("own.json"), file("other.json"));
        let (own_text, other_text) =
            (own.to_string_lossy().into_owned(), other.to_string_lossy().into_owned());
        // Loaders older than VK_EXT_layer_settings take its name only so.
        let variables = [("TUFF_TEST_JSON", &*own_text), ("VK_LOADER_DISABLE_INST_EXT_FILTER", "1")];
        // Debian 12's validation layers do not know the extension's structure.
        let run = Run { variables: &variables, layers: vec![LAYER], ..Run::new(&driver, "settings") };
        let text = run.output(CHILD).unwrap();
        assert!(!text.contains("milliseconds"), "the table is off: {text}");
        let read = |path: &PathBuf| -> Value {
            let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let _ = std::fs::remove_file(path);
            serde_json::from_str(&text).unwrap()
        };
        assert_eq!(read(&own)["workloads"].as_array().unwrap().len(), 2);
        // Who runs the program has the last word.
        let settings = [("json", &*other_text), ("frames", "7"), ("table", "stderr")];
        Run { settings: &settings, ..run }.output(CHILD).unwrap();
        assert!(!own.exists());
        assert_eq!(read(&other)["workloads"].as_array().unwrap().len(), 0);
    }
}

#[test]
fn a_program_that_destroys_nothing_is_written_all_the_same() {
    each("a program that ends early", "unfinished", |_, _, rows| {
        assert_eq!(names(rows), ["vkCmdFillBuffer 4096 bytes"]);
    });
}

#[test]
fn it_works_below_the_validation_layer_too() {
    for driver in drivers("the other order of layers") {
        for program in ["suspended", "semaphores", "secondaries"] {
            let run = Run { layers: vec![VALIDATION, LAYER], ..Run::new(&driver, program) };
            assert!(!run.rows().unwrap().is_empty());
        }
    }
}

/// `conformance::frames`: frames that the program numbers (100, 7, 9), and frames that end where it presents.
#[test]
fn frames_are_chosen_by_number_range_and_period() {
    let driver = tuff();
    let frames = |program: &str, choice: &str| {
        let settings = [("frames", choice)];
        let run = Run { settings: &settings, ..Run::new(&driver, program) };
        let json = run.json(env!("CARGO_BIN_EXE_frames-child")).unwrap();
        let mut all: Vec<_> = json["workloads"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|r| text(r, "kind") != "copy")
            .map(|r| (r["frame"].as_u64(), text(r, "name").to_string()))
            .collect();
        all.dedup();
        all
    };
    let groups = |n: u32| format!("vkCmdDispatch {n}x1x1");
    assert_eq!(frames("told", "7"), [(Some(7), groups(5)), (Some(7), groups(6))]);
    assert_eq!(frames("told", "50-100"), [(Some(100), groups(3))]);
    assert_eq!(frames("told", "all").len(), 9 - 1);
    assert_eq!(frames("presented", "0-2/2"), [(Some(0), groups(2)), (Some(2), groups(7))]);
    // What comes after the last present is of the frame that would have been next.
    assert_eq!(frames("presented", "3-"), [(Some(3), groups(1))]);
    assert_eq!(frames("numbered", "41"), [(Some(41), groups(4))]);
}
