//! The scene, with each layer and without one.

use super::build::{Layer, Layers, Profiles};
use super::compare::{self, Compared, Workload};
use super::host::{Hosts, run_scene};
use super::join;
use crate::cargo::{on_driver, target_folder};
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Setting {
    pub folder: PathBuf,
    pub hosts: Hosts,
    /// The driver's ICD file.
    pub driver: PathBuf,
    pub layers: Layers,
}

pub fn all(setting: &Setting) -> Result<Vec<Compared>, String> {
    let plain = setting.scene("plain", None, &[], "")?;
    let mut compared = match &setting.layers.profiles {
        Some(layers) => profiles(setting, layers, &plain)?,
        None => vec![],
    };
    let run = setting.scene("timeline", Some(&setting.layers.timeline), &[], "")?;
    let title = "layer_gpu_timeline";
    compared.push(compare::timeline(
        title,
        &run.workloads,
        &plain.workloads,
        &run.folder.join("host/timeline.json"),
    )?);
    compared.push(run.like(&plain, title));
    let run = setting.scene(TRACED, Some(&setting.layers.timeline), &[], "")?;
    let (trace, raw) = (run.folder.join(TRACE), run.folder.join("host/timeline.raw"));
    let joined = join::read(&setting.hosts, &run.folder, &trace, &raw)?;
    let title = "layer_gpu_timeline beside `tuff run --trace`, by Arm's reader";
    let mut both = join::compare(title, &run.workloads, &plain.workloads, &joined);
    let unknown = join::unknown(&setting.hosts, &run.folder, &trace)?;
    let known = unknown.as_array().is_some_and(Vec::is_empty);
    both.cell("trace", "Perfetto's schema", known, || format!("it lacks {unknown}"));
    compared.push(both);
    Ok(compared)
}

/// layer_gpu_profile, by each way to the kernel device and in each of its modes.
fn profiles(setting: &Setting, layers: &Profiles, plain: &Run) -> Result<Vec<Compared>, String> {
    let release = target_folder().join("release");
    let preload = release.join("libkbase_preload.so");
    let mut compared = Vec::new();
    let ways: [(&str, &Layer, &str, &Path); 2] = [
        ("preloaded library", &layers.device, "LD_PRELOAD", &preload),
        ("libmali.so", &layers.libmali, "LD_LIBRARY_PATH", &release),
    ];
    for (way, layer, variable, value) in ways {
        for mode in ["workload", "frame"] {
            let name =
                format!("profile-{}-{mode}", if variable == "LD_PRELOAD" { "preload" } else { "libmali" });
            let run = setting.scene(&name, Some(layer), &[(variable, value)], &layer.profiling(mode))?;
            let title = format!("layer_gpu_profile by {way}, {mode}s");
            let csv = run.folder.join("host/profile");
            compared.push(match mode {
                "workload" => compare::workloads(&title, &run.workloads, &csv)?,
                _ => compare::frames(&title, &run.frames, &csv)?,
            });
            compared.push(run.like(plain, &title));
        }
    }
    Ok(compared)
}

/// The run by `tuff run --trace`, and the trace's name.
const TRACED: &str = "timeline-trace";
const TRACE: &str = "scene.perfetto-trace";

/// What a run left.
struct Run {
    folder: PathBuf,
    workloads: Vec<Workload>,
    frames: Vec<Workload>,
    picture: Vec<u8>,
}

impl Run {
    /// Whether the program did and drew what it does and draws without a layer.
    fn like(&self, plain: &Run, title: &str) -> Compared {
        let mut c = Compared::new(&format!("{title}: the program as without it"));
        c.cell("picture", "bytes", plain.picture == self.picture, || "another picture".into());
        for (i, (p, w)) in plain.workloads.iter().zip(&self.workloads).enumerate() {
            let (wants, has) = (&p.counters, &w.counters);
            c.cell(&format!("{i} {}", p.name), "all counters", wants == has, || {
                let name = wants.iter().find(|(k, v)| has.get(*k) != Some(v)).map_or("", |(k, _)| k);
                format!("{name}: {} without the layer, {} with it", wants[name], has[name])
            });
        }
        let (a, b) = (plain.workloads.len(), self.workloads.len());
        c.cell("workloads", "number", a == b, || format!("{a} without the layer, {b} with it"));
        c
    }
}

/// A folder with nothing in it.
pub fn empty(folder: &Path) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(failed)?;
    }
    std::fs::create_dir_all(folder).map_err(failed)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))
}

impl Setting {
    /// Runs the scene in a folder of its own, with the host's side of the layer.
    fn scene(
        &self,
        name: &str,
        layer: Option<&Layer>,
        variables: &[(&str, &Path)],
        config: &str,
    ) -> Result<Run, String> {
        let folder = self.folder.join("runs").join(name);
        let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
        empty(&folder)?;
        std::fs::create_dir_all(folder.join("host")).map_err(failed)?;
        let release = target_folder().join("release");
        let program = release.join("arm-scene");
        let mut scene = match name {
            TRACED => {
                let mut tuff = Command::new(release.join("tuff"));
                tuff.args(["run", "--trace", TRACE, "--"]).arg(program);
                tuff
            }
            _ => Command::new(program),
        };
        scene.arg(&folder).current_dir(&folder);
        on_driver(&mut scene, &self.driver);
        // libGPUCounters' equations have this GPU's rates in them.
        scene.env("TUFF_GPU", "g720");
        let mut libraries: Vec<PathBuf> = Vec::new();
        if let Some(layer) = layer {
            layer.load(&mut scene, &folder, config)?;
            libraries.push(layer.folder.clone());
        }
        for (variable, value) in variables {
            match *variable {
                "LD_LIBRARY_PATH" => libraries.push(value.to_path_buf()),
                _ => drop(scene.env(variable, value)),
            }
        }
        let libraries = std::env::join_paths(&libraries).map_err(|e| e.to_string())?;
        scene.env("LD_LIBRARY_PATH", libraries);
        let host = layer.map(|_| self.hosts.start(&folder.join("host"))).transpose()?;
        run_scene(scene, &folder, name, host)?;
        let records = read(&folder.join("records.json"))?;
        let (workloads, frames) = compare::records(&records)?;
        Ok(Run { workloads, frames, picture: read(&folder.join("picture.rgba"))?, folder })
    }
}
