//! `tuff diff` of captures, and `tuff shader --trips-from`: folders with modules of `tests/diff` and figures made by hand.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of a test's, gone when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let at = client::scratch(&format!("diff-{name}")).unwrap();
        std::fs::create_dir_all(&at).unwrap();
        Folder(at)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn model() -> Value {
    serde_json::to_value(counters::Model::load(Some("g720")).unwrap()).unwrap()
}

/// A capture of one dispatch of this module: `blocks` are rows of (index, warps, arithmetic, FMA, CVT, SFU, load/store cycles, lines).
fn capture(folder: &Path, module: &str, blocks: &[(u32, [u64; 7])]) {
    let shaders = folder.join("shaders");
    std::fs::create_dir_all(&shaders).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/diff/{module}.spv"));
    let hash = format!("{module:0>16}").replace(|c: char| !c.is_ascii_hexdigit(), "0");
    let file = shaders.join(format!("compute-main-{hash}"));
    std::fs::copy(source, file.with_extension("spv")).unwrap();
    let metrics = [
        "Executed warps",
        "Executed threads",
        "Diverged warps",
        "Arithmetic cycles",
        "FMA cycles",
        "CVT cycles",
        "SFU cycles",
        "Load/store cycles",
        "Texture cycles",
        "Varying cycles",
        "Cache lines",
    ];
    let row = |(index, [warps, arithmetic, fma, cvt, sfu, ls, lines]): &(u32, [u64; 7])| json!({ "index": index, "values": [warps, warps * 16, 0, arithmetic, fma, cvt, sfu, ls, 0, 0, lines], "once": [0, 0, 0, 0, 0, 0] });
    let rows: Vec<Value> = blocks.iter().map(row).collect();
    let measured = json!({
        "stage": "compute", "entry": "main", "registers": 8, "pipelines": ["lit"], "modules": [], "metrics": metrics, "once": [],
        "blocks": rows, "draws": [],
    });
    std::fs::write(file.with_extension("json"), measured.to_string()).unwrap();
    let workload = json!({
        "device": 0, "queue": 0, "kind": "dispatch", "label": "", "name": "main 1x1x1", "times": 1, "begin_ns": 0, "end_ns": 1,
        "elapsed_ns": 1, "jobs": [], "counters": {},
    });
    let all = json!({
        "version": 1, "gpu": "g720", "model": model(), "total": {}, "workloads": [workload], "frames": [], "runs": [], "passes": [],
    });
    std::fs::write(folder.join("capture.json"), all.to_string()).unwrap();
}

fn tuff(words: &[&str]) -> (Option<i32>, String, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_tuff")).args(words).output().unwrap();
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    (done.status.code(), text(&done.stdout), text(&done.stderr))
}

/// The shader's one block has 8 cycles of load/store before, which its lines 6 (a load) and 8 (a store) share evenly, and 4 of FMA, all
/// of line 7. Afterwards there are 12 of SFU too, all of line 7, which is edited, and a new line 8 has FMA cycles.
#[test]
fn an_edited_shader_is_shown_line_by_line() {
    let folder = Folder::new("lines");
    let [before, after] = ["before", "after"].map(|n| folder.0.join(n));
    capture(&before, "before", &[(0, [16, 4, 4, 0, 0, 8, 32])]);
    capture(&after, "after", &[(0, [16, 16, 6, 0, 12, 8, 32])]);
    let path = |p: &Path| p.display().to_string();
    let [json_file, markdown, limits] = ["d.json", "d.md", "d.toml"].map(|n| path(&folder.0.join(n)));
    let (a, b) = (path(&before), path(&after));
    std::fs::write(&limits, "[[shaders]]\nmatch = 'lit'\ncounters = { cycles = 50, sfu = { max = 12 } }\n")
        .unwrap();
    let (code, text, said) =
        tuff(&["diff", &a, &b, "--json", &json_file, "--markdown", &markdown, "--thresholds", &limits]);
    // 8 cycles of load/store are the most before, 16 of arithmetic afterwards: twice as many.
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("cycles of compute lit (main): 8 to 16, +100.00 % where 50 % is allowed"),
        "{said}"
    );
    assert!(text.contains("edited: compute lit (main): cycles 8 → 16, +100.00 %\n"), "{text}");
    let line = |start: &str| {
        text.lines().find(|l| l.starts_with(start)).unwrap_or_else(|| panic!("{start} in {text}"))
    };
    assert!(line("-     7").ends_with("|     float y = x * x + 1.0;"), "{text}");
    assert!(line("+     7").ends_with("|     float y = sin(x) * x + 1.0;"), "{text}");
    assert!(line("+     8").ends_with("|     y = y * y * x;"), "{text}");
    let all: Value = serde_json::from_str(&std::fs::read_to_string(&json_file).unwrap()).unwrap();
    let lines = all["shaders"][0]["lines"].as_array().unwrap();
    let cost =
        |side: &str, key: &str| -> f64 { lines.iter().filter_map(|l| l[side]["cost"][key].as_f64()).sum() };
    // All FMA of before is line 7's; FMA of after is shared by 7 and 8.
    let about = |v: f64, want: f64| (v - want).abs() < 1e-9;
    assert!(about(cost("before", "fma"), 4.0) && about(cost("after", "fma"), 6.0), "{lines:?}");
    assert!(cost("after", "sfu") > 0.0);
    assert_eq!(all["shaders"][0]["edited"], true);
    let summary = std::fs::read_to_string(&markdown).unwrap();
    assert!(summary.contains("````diff\n") && summary.contains("+     8"), "{summary}");
    // The other way nothing is dearer.
    assert_eq!(tuff(&["diff", &b, &a, "--thresholds", &limits]).0, Some(0));
    std::fs::write(&limits, "[[shaders]]\nmatch = 'unheard'\ncounters = { cycles = 50 }\n").unwrap();
    let (code, _, said) = tuff(&["diff", &a, &b, "--thresholds", &limits]);
    assert!(code == Some(1) && said.contains("no shader has \"unheard\" in its name"), "{said}");
}

/// A mean of frames is no dearer if there are more of them; the worst frame is.
#[test]
fn means_of_frames_do_not_grow_with_a_run() {
    let folder = Folder::new("frames");
    let file = |name: &str, cycles: &[u64]| {
        let frame = |(i, c): (usize, &u64)| json!({ "device": 0, "queue": 0, "frame": i, "counters": { "MaliGPUActiveCy": c } });
        let frames: Vec<Value> = cycles.iter().enumerate().map(frame).collect();
        let all = json!({ "gpu": "x", "total": { "MaliGPUActiveCy": cycles.iter().sum::<u64>() }, "workloads": [], "frames": frames });
        let path = folder.0.join(name).display().to_string();
        std::fs::write(&path, all.to_string()).unwrap();
        path
    };
    let (a, b, c) = (file("a", &[100, 100]), file("b", &[100, 100, 100, 100]), file("c", &[90, 150, 60]));
    let limit = ["--max-increase", "cycles=0"];
    let run = |x: &str, y: &str, more: &[&str]| tuff(&[&["diff", x, y][..], &limit, more].concat());
    assert_eq!(run(&a, &b, &[]).0, Some(1));
    let (code, text, _) = run(&a, &b, &["--per-frame"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("means of 2 and 4 frames; the worst are 0 and 0\n"), "{text}");
    // 100 a frame in both, but the worst has 150.
    let (code, _, said) = run(&a, &c, &["--per-frame"]);
    assert!(
        code == Some(1) && said.contains("MaliGPUActiveCy of worst frame: 100 to 150, +50.00 %"),
        "{said}"
    );
    assert!(!said.contains("of all workloads"), "{said}");
    let none = file("none", &[]);
    let (code, _, said) = run(&a, &none, &["--per-frame"]);
    assert!(code == Some(2) && said.contains("it has no frames"), "{said}");
}

/// Two warps enter the loop of line 7 of trips.comp, and run its header 14 times: six iterations each.
#[test]
fn iterations_come_from_a_capture() {
    let folder = Folder::new("trips");
    let at = folder.0.join("capture");
    let rows = [(0, 2), (1, 14), (2, 14), (3, 12), (4, 12), (5, 2)];
    let rows: Vec<(u32, [u64; 7])> = rows.iter().map(|(i, warps)| (*i, [*warps, 1, 1, 1, 0, 1, 1])).collect();
    capture(&at, "trips", &rows);
    let module = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/diff/trips.spv");
    let longest = |more: &[&str]| {
        let (code, text, said) = tuff(&[&["shader", module, "--format", "json"][..], more].concat());
        assert_eq!(code, Some(0), "{said}");
        let v: Value = serde_json::from_str(&text).unwrap();
        v["shaders"][0]["variants"][0]["performance"]["longest_path_cycles"].clone()
    };
    let from = at.display().to_string();
    let measured = longest(&["--trips-from", &from]);
    assert!(measured != Value::Null && measured != json!([]), "{measured}");
    assert_eq!(measured, longest(&["--trips", "7=6"]));
    assert_ne!(measured, longest(&["--trips", "7=7"]));
    // What is given goes before what was measured.
    assert_eq!(longest(&["--trips-from", &from, "--trips", "7=7"]), longest(&["--trips", "7=7"]));
    let (code, _, said) = tuff(&[
        "shader",
        concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/city.frag.spv"),
        "--trips-from",
        &from,
    ]);
    assert!(code == Some(2) && said.contains("the capture has no fragment shader 'main'"), "{said}");
}
