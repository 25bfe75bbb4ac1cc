//! A trace of `tuff run --trace` and the metadata of layer_gpu_timeline, of one run, put together by Arm's viewer's own reader.

use super::compare::{Compared, Workload};
use super::host::Hosts;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// What the reader makes of both files (`join.py`).
pub fn read(hosts: &Hosts, folder: &Path, trace: &Path, metadata: &Path) -> Result<Value, String> {
    let script = folder.join("join.py");
    python(hosts, &script, include_str!("join.py"), &[&hosts.source, trace, metadata])
}

/// The fields of a trace that Perfetto's published schema lacks (`schema.py`).
pub fn unknown(hosts: &Hosts, folder: &Path, trace: &Path) -> Result<Value, String> {
    python(hosts, &folder.join("schema.py"), include_str!("schema.py"), &[trace])
}

/// What a script of ours prints.
fn python(hosts: &Hosts, script: &Path, text: &str, arguments: &[&Path]) -> Result<Value, String> {
    std::fs::write(script, text).map_err(|e| format!("{}: {e}", script.display()))?;
    let mut python = Command::new(&hosts.python);
    python.arg("-B").arg(script).args(arguments);
    let done = python.output().map_err(|e| format!("{}: {e}", hosts.python.display()))?;
    if !done.status.success() {
        return Err(format!("{}: {}", script.display(), String::from_utf8_lossy(&done.stderr)));
    }
    serde_json::from_slice(&done.stdout).map_err(|e| format!("{}: {e}", script.display()))
}

/// The class that the reader has for a workload of ours, and the stages that it must have found of it, in order of their names.
fn expected(w: &Workload) -> (&'static str, &'static [&'static str]) {
    match (&*w.kind, &*w.name) {
        // What draws nothing has nothing to bin.
        ("render pass", _) if w.counters.get("MaliBinningQueueJob") == Some(&0.0) => {
            ("GPURenderPass", &["MAIN"])
        }
        ("render pass", _) => ("GPURenderPass", &["BINNING", "MAIN"]),
        ("dispatch", _) => ("GPUDispatch", &["COMPUTE"]),
        ("trace rays", _) => ("GPUTraceRays", &["TRACE_RAYS"]),
        // The layer has this among images' transfers; its source says that it should be a buffer's.
        (_, "copy image to buffer") => ("GPUImageTransfer", &["BUFFER_TRANSFER"]),
        (_, "copy buffer" | "fill buffer") => ("GPUBufferTransfer", &["BUFFER_TRANSFER"]),
        _ => ("GPUImageTransfer", &["IMAGE_TRANSFER"]),
    }
}

/// Each workload of a frame that ended is one of the metadata's and has its slices, which the reader has joined to it; each slice is
/// a workload's. `plain` has the program's labels, as in [`super::compare::timeline`].
pub fn compare(title: &str, ours: &[Workload], plain: &[Workload], joined: &Value) -> Compared {
    let mut c = Compared::new(title);
    let list = |name: &str| joined[name].as_array().cloned().unwrap_or_default();
    let mut by_tag: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for slice in list("slices") {
        let tag = slice["tag"].as_str().unwrap_or("no tag").to_string();
        by_tag.entry(tag).or_default().push(slice);
    }
    let tags = list("tags");
    let mut ended = 0;
    for (i, (w, plain)) in ours.iter().zip(plain).enumerate() {
        let mut slices = by_tag.remove(&w.label).unwrap_or_default();
        let row = format!("{i} {} {}: {}", w.label, plain.label, plain.name);
        let (class, stages) = expected(w);
        slices.sort_by_key(|s| s["stage"].as_str().map(String::from));
        let has: Vec<_> = slices.iter().filter_map(|s| s["stage"].as_str()).collect();
        c.cell(&row, "slices", has == stages, || format!("{has:?}, not {stages:?}"));
        // The layer writes a frame when it has ended.
        let Some(frame) = w.frame else { continue };
        ended += 1;
        for s in &slices {
            c.cell(&row, "joined", s["type"] == class, || format!("{} where {class} is meant", s["type"]));
            c.cell(&row, "frame", s["frame"] == frame, || format!("{} in the metadata", s["frame"]));
            let labels = plain.label.as_str();
            c.cell(&row, "the program's labels", s["labels"] == labels, || format!("{}", s["labels"]));
        }
    }
    c.cell("metadata", "workloads", tags.len() == ended, || format!("{}, not {ended}", tags.len()));
    let lone: Vec<_> = by_tag.keys().collect();
    c.cell("trace", "slices of no workload", lone.is_empty(), || format!("{lone:?}"));
    c
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(kind: &str, label: &str, name: &str, frame: Option<u64>) -> Workload {
        Workload {
            kind: kind.into(),
            label: label.into(),
            name: name.into(),
            frame,
            counters: Default::default(),
        }
    }

    #[test]
    fn every_slice_is_a_workloads() {
        let ours = |last: &str| {
            [
                of("render pass", "t1", "64x64", Some(0)),
                of("transfer", last, "copy image to buffer", Some(0)),
                of("dispatch", "t3", "main", None),
            ]
        };
        let plain =
            [of("render pass", "a/b", "", None), of("transfer", "", "", None), of("dispatch", "", "", None)];
        let slice = |tag: &str, stage: &str, class: &str, labels: Option<&str>| json!({ "tag": tag, "stage": stage, "type": class, "frame": labels.map(|_| 0), "labels": labels });
        let joined = json!({ "tags": ["t1", "t2"], "slices": [
            slice("t1", "MAIN", "GPURenderPass", Some("a/b")), slice("t1", "BINNING", "GPURenderPass", Some("a/b")),
            slice("t2", "BUFFER_TRANSFER", "GPUImageTransfer", Some("")), slice("t3", "COMPUTE", "GPUWorkload", None),
        ]});
        assert!(compare("", &ours("t2"), &plain, &joined).same());
        let other = compare("", &ours("t9"), &plain, &joined);
        let (equal, n) = other.counts();
        // No slice of t9's, and t2's are nobody's.
        assert_eq!(n - equal, 2);
    }
}
