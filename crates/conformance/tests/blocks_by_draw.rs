//! What basic blocks cost by draw and dispatch, in a program that was not changed: the diagram's passes, `pass N` with N + 1 draws that
//! cover 256 × 256 pixels each, and its dispatch of a thousand workgroups.

use client::drivers::Threads;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Warps of 256 × 256 pixels.
const WARPS: u64 = 256 * 256 / 16;

/// Runs the program with one more variable, and gives the folder that this names.
fn run(variable: &str) -> PathBuf {
    let folder = client::scratch(&format!("by-draw-{variable}")).expect("a temporary folder");
    let mut child = Command::new(env!("CARGO_BIN_EXE_layer-child"));
    crate::common::driver().prepare(&mut child, Threads::Count(2));
    let output = child.arg("diagram").env(variable, &folder).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

fn read(file: &Path) -> Value {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// The file of the one shader of this stage.
fn shader(folder: &Path, stage: &str) -> Value {
    let files = std::fs::read_dir(folder).expect("a folder").map(|f| f.expect("a file").path());
    let of = |f: &PathBuf| {
        f.extension().is_some_and(|e| e == "json")
            && f.file_name().is_some_and(|n| n.to_string_lossy().starts_with(stage))
    };
    let all: Vec<_> = files.filter(of).collect();
    let [one] = &all[..] else { panic!("{all:?}") };
    read(one)
}

/// A draw's value of a block's metric, 0 where it did not enter the block.
fn value(of: &Value, block: u64, metric: usize) -> u64 {
    let blocks = of["blocks"].as_array().expect("a list");
    let found = blocks.iter().find(|b| b["index"].as_u64() == Some(block));
    found.map_or(0, |b| b["values"][metric].as_u64().expect("a number"))
}

/// Draws' values add up to the shader's.
fn adds_up(shader: &Value) {
    for block in shader["blocks"].as_array().expect("a list") {
        let index = block["index"].as_u64().expect("a number");
        for metric in 0..block["values"].as_array().expect("a list").len() {
            let draws = shader["draws"].as_array().expect("a list").iter();
            let sum: u64 = draws.map(|d| value(d, index, metric)).sum();
            assert_eq!(sum, block["values"][metric].as_u64().unwrap(), "block {index}, metric {metric}");
        }
    }
}

#[test]
fn each_draw_has_its_blocks() {
    let folder = run("TUFF_INSTRUMENT");
    let (vertex, fragment, compute) =
        (shader(&folder, "vertex"), shader(&folder, "fragment"), shader(&folder, "compute"));
    std::fs::remove_dir_all(&folder).expect("it was made here");
    [&vertex, &fragment, &compute].into_iter().for_each(adds_up);
    let want: Vec<(String, u64)> =
        (0..3).flat_map(|p| (0..=p).map(move |d| (format!("pass {p}"), d))).collect();
    for shader in [&vertex, &fragment] {
        let draws = shader["draws"].as_array().unwrap();
        let found: Vec<_> = draws
            .iter()
            .map(|d| (d["label"].as_str().unwrap().to_string(), d["draw"].as_u64().unwrap()))
            .collect();
        assert_eq!(found, want);
        assert!(
            draws
                .iter()
                .all(|d| d["times"] == 1 && d["draw_name"].as_str().unwrap().starts_with("vkCmdDraw of 3: "))
        );
    }
    // Three vertices are a warp. What a later draw hides is not shaded: the last of a pass draws all.
    let warps = |shader: &Value| {
        shader["draws"].as_array().unwrap().iter().map(|d| value(d, 0, 0)).collect::<Vec<_>>()
    };
    assert_eq!(warps(&vertex), [1; 6]);
    assert_eq!(warps(&fragment), [WARPS, 0, WARPS, 0, 0, WARPS]);
    let [dispatch] = &compute["draws"].as_array().unwrap()[..] else { panic!("{compute}") };
    assert_eq!((dispatch["label"].as_str(), dispatch["draw"].is_null()), (Some("dispatch"), true));
    assert!(dispatch["workload"].as_str().unwrap().ends_with(" 1000x1x1"), "{dispatch}");
}

/// A capture by `tuff run`, which checks it.
fn captured() -> PathBuf {
    let child = Path::new(env!("CARGO_BIN_EXE_layer-child"));
    let tuff = child.with_file_name("tuff");
    if !tuff.exists() {
        not_run::say("checks of a_capture_has_them_too", "cargo build -p tuff");
        return run("TUFF_CAPTURE");
    }
    let folder = client::scratch("by-draw-checked").expect("a temporary folder");
    let mut command = Command::new(tuff);
    crate::common::driver().prepare(&mut command, Threads::Count(2));
    command.args(["run", "--check", "--capture"]).arg(&folder).arg("--").arg(child).arg("diagram");
    let output = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains(" 0 violated"), "{said}");
    folder
}

/// A capture's draws are those of its shaders' files.
#[test]
fn a_capture_has_them_too() {
    let folder = captured();
    let (capture, fragment) =
        (read(&folder.join("capture.json")), shader(&folder.join("shaders"), "fragment"));
    std::fs::remove_dir_all(&folder).expect("it was made here");
    let mut told = vec![];
    for pass in capture["passes"].as_array().unwrap() {
        let workload = &capture["workloads"][pass["workload"].as_u64().unwrap() as usize];
        for (i, d) in pass["draws"].as_array().unwrap().iter().enumerate() {
            let warps = d["counters"]["MaliFragWarp"].as_u64().unwrap_or(0);
            let names = ["label", "name"].map(|k| d[k].clone());
            told.push((workload["label"].clone(), workload["name"].clone(), i as u64, names, warps));
        }
    }
    let of = |d: &Value| {
        let names = ["draw_label", "draw_name"].map(|k| d[k].clone());
        (d["label"].clone(), d["workload"].clone(), d["draw"].as_u64().unwrap(), names, value(d, 0, 0))
    };
    let found: Vec<_> = fragment["draws"].as_array().unwrap().iter().map(of).collect();
    assert_eq!((told.len(), &told), (6, &found));
}
