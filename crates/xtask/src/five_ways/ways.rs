//! The scene, run once for each way of measuring it.

use crate::arm_layers::build::Layer;
use crate::arm_layers::compare::{self, Compared, Workload};
use crate::arm_layers::host::{Hosts, run_scene};
use crate::arm_layers::runs;
use crate::cargo::target_folder;
use counters::catalogue::{self, Storage};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What each way said, workload by workload.
pub struct Measured {
    pub ledger: Vec<Workload>,
    pub channel: Vec<Workload>,
    pub query: Vec<Workload>,
    /// Sessions.
    pub monitor: Vec<Workload>,
    /// Rows of Arm's layer, and where its table is.
    pub arm: Option<(Vec<Workload>, PathBuf)>,
}

/// A folder of its own for a run.
fn place(name: &str) -> Result<PathBuf, String> {
    let folder = target_folder().join("five-ways").join(name);
    runs::empty(&folder)?;
    Ok(folder)
}

/// The scene as `tuff gl` runs it, on the GPU whose rates libGPUCounters' equations have.
fn scene(options: &[(&str, &Path)]) -> Command {
    let release = target_folder().join("release");
    let mut command = Command::new(release.join("tuff"));
    command.arg("gl");
    for (option, file) in options {
        command.arg(option).arg(file);
    }
    command.arg("--").arg(release.join("examples/perfmon_scene"));
    command.env("TUFF_GPU", "g720").env("TUFF_PERFORMANCE_TABLE", "off");
    command
}

/// Its output; a failure is an error with what it said.
fn run(mut command: Command, name: &str) -> Result<String, String> {
    println!("xtask: perfmon_scene, {name}");
    let output = command.output().map_err(|e| format!("{name}: {e}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{name}: {}\n{said}", output.status));
    }
    // The layer says what it cannot do, and goes on.
    if let Some(line) = said.lines().find(|l| l.starts_with("VK_LAYER_TUFF")) {
        return Err(format!("{name}: {line}"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn json(path: &Path) -> Result<Value, String> {
    let text = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_slice(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// The workloads of the ledger or of our layer.
fn workloads(path: &Path) -> Result<Vec<Workload>, String> {
    let file = json(path)?;
    let mut all: Vec<&Value> = file["workloads"].as_array().into_iter().flatten().collect();
    all.sort_by_key(|w| w["submission"].as_u64());
    if let Some(w) = all.iter().find(|w| w["times"].as_u64().is_some_and(|n| n != 1) || !w["note"].is_null())
    {
        return Err(format!(
            "{}: a workload that cannot be told apart, or is not counted: {w}",
            path.display()
        ));
    }
    let all = all.into_iter().map(|w| {
        let mut w = compare::workload(w);
        w.counters = w.counters.into_iter().map(|(name, v)| (machine(&name), v)).collect();
        w.kind = match &*w.kind {
            "dispatch" | "render pass" => w.kind,
            _ => "transfer".into(),
        };
        Workload { label: String::new(), frame: Some(0), ..w }
    });
    Ok(all.collect())
}

/// The machine name of a counter by either of its names.
fn machine(name: &str) -> String {
    catalogue::by_human(name).map_or(name, |c| c.machine).into()
}

pub fn all(arm: Option<&(Hosts, Layer)>) -> Result<Measured, String> {
    let folder = place("channel")?;
    let (ledger, channel) = (folder.join("ledger.json"), folder.join("channel.json"));
    let mut command = scene(&[("--counters", &ledger), ("--workloads", &channel)]);
    command.env("TUFF_PERFORMANCE_SOURCE", "channel");
    run(command, "the ledger and our layer by the channel")?;
    let mut monitor: Vec<Workload> = vec![];
    // A session has some of a group's counters. The layer puts workloads one after the other, as it does for the other ways: what
    // runs beside another has a part of its time.
    let beside = place("monitor")?.join("channel.json");
    for chunk in 0.. {
        let mut command = scene(&[("--workloads", &beside)]);
        command.env("TUFF_PERFORMANCE_SOURCE", "channel").arg(chunk.to_string());
        let lines = run(command, &format!("GL_AMD_performance_monitor, part {chunk}"))?;
        if !add_sessions(&mut monitor, &lines)? {
            break;
        }
    }
    let folder = place("query")?;
    let query = folder.join("query.json");
    let mut command = scene(&[("--workloads", &query)]);
    command.env("TUFF_PERFORMANCE_SOURCE", "query");
    run(command, "our layer by VK_KHR_performance_query")?;
    let arm = match arm {
        Some((hosts, layer)) => Some(by_arm(hosts, layer)?),
        None => None,
    };
    let (mut ledger, channel, query) = (workloads(&ledger)?, workloads(&channel)?, workloads(&query)?);
    for w in &mut ledger {
        // It leaves out what is 0.
        for c in catalogue::reported() {
            w.counters.entry(c.machine.into()).or_insert(0.0);
        }
    }
    Ok(Measured { ledger, channel, query, monitor, arm })
}

/// Adds what sessions say; whether they had any counters.
fn add_sessions(all: &mut Vec<Workload>, lines: &str) -> Result<bool, String> {
    let mut any = false;
    for (i, line) in lines.lines().enumerate() {
        let session: Value = serde_json::from_str(line).map_err(|e| format!("{line}: {e}"))?;
        if i == all.len() {
            let name = session["workload"].as_str().unwrap_or_default().into();
            let (kind, label) = Default::default();
            all.push(Workload { kind, label, name, frame: None, counters: BTreeMap::new() });
        }
        let w = all.get_mut(i).ok_or("sessions are missing")?;
        for (id, value) in session["counters"].as_object().into_iter().flatten() {
            let counter = id.parse().ok().and_then(catalogue::by_id).ok_or(format!("no counter {id}"))?;
            any = true;
            w.counters.insert(counter.machine.into(), value.as_f64().unwrap_or(f64::NAN));
        }
    }
    Ok(any)
}

/// By layer_gpu_profile, which asks the preloaded kernel device.
fn by_arm(hosts: &Hosts, layer: &Layer) -> Result<(Vec<Workload>, PathBuf), String> {
    let folder = place("arm")?;
    let mut command = scene(&[]);
    command
        .current_dir(&folder)
        .env("LD_PRELOAD", target_folder().join("release/libkbase_preload.so"))
        .env("LD_LIBRARY_PATH", &layer.folder);
    layer.load(&mut command, &folder, &layer.profiling("workload"))?;
    let host = hosts.start(&folder)?;
    run_scene(command, &folder, "layer_gpu_profile", Some(host))?;
    let csv = folder.join("profile");
    Ok((compare::rows(&csv.join("frame_00000.csv"))?, csv))
}

impl Measured {
    /// Each way but the first beside the ledger.
    pub fn compare(&self) -> Result<Vec<Compared>, String> {
        let mut all = vec![
            beside("our layer, by the channel", &self.ledger, &self.channel, |_, l, w| l == w),
            beside("our layer, by VK_KHR_performance_query", &self.ledger, &self.query, |_, l, w| l == w),
            beside("GL_AMD_performance_monitor", &self.ledger, &self.monitor, same_in_gl),
        ];
        if let Some((_, csv)) = &self.arm {
            all.push(compare::workloads("Arm's layer_gpu_profile", &self.ledger, csv)?);
        }
        Ok(all)
    }
}

/// Percentages and other fractions are 32-bit floats in GL, the former of 0 to 100.
fn same_in_gl(counter: &catalogue::Counter, ledger: f64, gl: f64) -> bool {
    let ledger = if counter.unit == "percent" { ledger.clamp(0.0, 100.0) } else { ledger };
    match counter.storage {
        Storage::Uint64 => ledger == gl,
        Storage::Float64 => ledger as f32 == gl as f32,
    }
}

/// Every counter of every workload; `same` compares the ledger's value with the way's.
fn beside(
    title: &str,
    ledger: &[Workload],
    way: &[Workload],
    same: impl Fn(&catalogue::Counter, f64, f64) -> bool,
) -> Compared {
    let mut c = Compared::new(title);
    let (n, m) = (ledger.len(), way.len());
    c.cell("scene", "workloads", n == m, || format!("the ledger has {n}, the way {m}"));
    for (i, (l, w)) in ledger.iter().zip(way).enumerate() {
        for counter in catalogue::reported() {
            let [wanted, has] = [l, w].map(|w| w.counters.get(counter.machine).copied());
            let same = wanted.zip(has).is_some_and(|(l, w)| same(counter, l, w));
            c.cell(&format!("{i} {}", w.name), counter.human, same, || {
                format!("the ledger has {wanted:?}, the way {has:?}")
            });
        }
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(name: &str, value: f64) -> Workload {
        let counters = catalogue::reported().iter().map(|c| (c.machine.to_string(), value)).collect();
        Workload { kind: String::new(), label: String::new(), name: name.into(), frame: None, counters }
    }

    #[test]
    fn a_counter_that_differs_or_is_missing_is_told() {
        let compare = |way: &[Workload]| beside("", &[workload("a", 3.0)], way, |_, l, w| l == w);
        assert!(compare(&[workload("a", 3.0)]).same());
        assert!(!compare(&[workload("a", 3.000001)]).same());
        assert!(!compare(&[]).same());
        let mut short = workload("a", 3.0);
        short.counters.remove("MaliFragThread");
        assert!(!compare(&[short]).same());
    }

    #[test]
    fn gl_has_percentages_in_their_range_and_narrow_floats() {
        let of = |machine: &str| catalogue::by_machine(machine).unwrap();
        let percent = catalogue::reported().iter().find(|c| c.unit == "percent").unwrap();
        assert!(same_in_gl(percent, 120.0, 100.0) && !same_in_gl(percent, 120.0, 120.0));
        assert!(same_in_gl(percent, 0.1, f64::from(0.1f32)) && !same_in_gl(percent, 0.1, 0.100001));
        assert!(!same_in_gl(of("MaliFragThread"), 16_777_217.0, 16_777_216.0));
    }

    #[test]
    fn sessions_of_several_runs_are_put_together() {
        let mut all = vec![];
        let id = |machine: &str| catalogue::by_machine(machine).unwrap().id;
        let line = |machine: &str, v: u32| {
            format!("{{\"workload\": \"a\", \"counters\": {{\"{}\": {v}}}}}\n", id(machine))
        };
        assert!(add_sessions(&mut all, &line("MaliFragThread", 5)).unwrap());
        assert!(add_sessions(&mut all, &line("MaliFragWarp", 7)).unwrap());
        assert!(!add_sessions(&mut all, "{\"workload\": \"a\", \"counters\": {}}\n").unwrap());
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].counters["MaliFragThread"] + all[0].counters["MaliFragWarp"], 12.0);
    }
}
