//! Captures as they lie on disk (docs/capture.md): a folder, its file, or the file of `run --counters`.

use client::{Error, Result};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// The newest shape that is understood.
const VERSION: u32 = 1;
/// In a capture's folder.
pub const FILE: &str = "capture.json";
/// There too: what the schedule follows from.
pub const SCHEDULE: &str = "schedule.json";
/// There too: facts beside counters.
pub const FACTS: &str = "facts.json";
/// There too: what was run.
pub const COMMAND: &str = "command.json";
/// Bytes of such a file that are read.
const MOST_COMMAND: u64 = 1 << 20;

/// The counter that time is told by: the cycles in which the GPU does anything. Of what goes on at once each cycle is one workload's, so
/// that workloads, runs and frames add up to the whole. (Where one ends and another begins is no such measure: they overlap.)
pub const ACTIVE: &str = "MaliGPUActiveCy";

pub type Counters = Map<String, Value>;

#[derive(Deserialize)]
pub struct Capture {
    /// A file without one is older than captures.
    #[serde(default)]
    version: u32,
    pub gpu: String,
    pub model: Value,
    pub total: Counters,
    pub workloads: Vec<Workload>,
    pub frames: Vec<Frame>,
    /// `None`: the file of `run --counters`.
    pub runs: Option<Vec<Run>>,
    #[serde(default)]
    pub runs_lost: u64,
    #[serde(default)]
    pub passes: Vec<Pass>,
    #[serde(default)]
    pub structures: Vec<Structure>,
    #[serde(default)]
    pub structures_lost: u64,
    /// Where pictures and shaders lie.
    #[serde(skip)]
    pub folder: PathBuf,
}

#[derive(Deserialize)]
pub struct Workload {
    pub device: u64,
    pub queue: u64,
    pub kind: String,
    pub label: String,
    pub name: String,
    /// What the application calls its pipelines.
    #[serde(default)]
    pub pipelines: Vec<String>,
    pub times: u64,
    pub begin_ns: u64,
    pub end_ns: u64,
    #[serde(default)]
    pub jobs: Vec<Job>,
    /// Of a data graph: its nodes.
    #[serde(default)]
    pub operators: Vec<Value>,
    pub counters: Counters,
}

#[derive(Deserialize)]
pub struct Frame {
    pub device: u64,
    pub queue: u64,
    pub frame: u64,
    pub counters: Counters,
}

#[derive(Deserialize)]
pub struct Run {
    pub workload: usize,
    pub frame: Option<u64>,
    pub submission: u64,
    #[serde(default)]
    pub order: u64,
    pub jobs: Vec<Job>,
    pub counters: Counters,
}

#[derive(Deserialize)]
pub struct Job {
    pub queue: String,
    #[serde(default)]
    pub begin_ns: u64,
    #[serde(default)]
    pub end_ns: u64,
    pub active_cycles: u64,
    pub blocked_cycles: u64,
    pub drained_cycles: u64,
    pub waited_cycles: u64,
    pub bound: Option<String>,
    pub takes: Map<String, Value>,
    /// Of several runs, active cycles by what bound each; none in older files.
    #[serde(default)]
    pub bounds: Map<String, Value>,
    /// The parts of its time, nanoseconds; none in older files.
    #[serde(default)]
    pub waits: Map<String, Value>,
}

impl Job {
    /// Active cycles by what bound them.
    pub fn by_bound(&self) -> Vec<(String, u64)> {
        match &self.bound {
            _ if !self.bounds.is_empty() => {
                self.bounds.iter().map(|(k, v)| (k.clone(), v.as_u64().unwrap_or(0))).collect()
            }
            Some(key) => vec![(key.clone(), self.active_cycles)],
            None => vec![],
        }
    }
}

#[derive(Deserialize)]
pub struct Pass {
    pub workload: usize,
    pub run: usize,
    pub picture: Option<String>,
    pub picture_of: Option<[u32; 2]>,
    pub regions: Option<Regions>,
    #[serde(default)]
    pub draws: Vec<Draw>,
    #[serde(default)]
    pub draws_lost: u64,
}

/// An acceleration structure.
#[derive(Deserialize)]
pub struct Structure {
    #[serde(default)]
    pub name: String,
    /// Places of structures, and how many instances of each there are.
    pub instances: Vec<(usize, u64)>,
    /// `order`s of runs, and how many of their rays begin here.
    pub traces: Vec<(u64, u64)>,
    pub from: Option<usize>,
    /// What is shown as it is.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A command of a pass that drew.
#[derive(Deserialize)]
pub struct Draw {
    pub name: String,
    pub label: String,
    pub counters: Counters,
}

#[derive(Deserialize)]
pub struct Regions {
    pub side: u32,
    pub origin: [i32; 2],
    pub across: u32,
    pub down: u32,
    pub counters: Counters,
}

/// The text of [`COMMAND`]: the program and its arguments.
pub fn command_text(program: &[String]) -> String {
    serde_json::json!({ "command": program }).to_string()
}

/// The command line of a capture's program, as a shell reads it; `None`: the capture does not say.
pub fn command(folder: &Path) -> Option<String> {
    let file = folder.join(COMMAND);
    if std::fs::metadata(&file).ok()?.len() > MOST_COMMAND {
        return None;
    }
    let all: Value = serde_json::from_str(&std::fs::read_to_string(&file).ok()?).ok()?;
    let words = all.get("command")?.as_array()?.iter();
    Some(words.map(|w| quoted(w.as_str().unwrap_or_default())).collect::<Vec<_>>().join(" "))
}

/// A word of a command line, in quotes where it needs them.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.into(),
        false => format!("'{}'", plain::line(word).replace('\'', "'\\''")),
    }
}

/// A counter's value; one that is left out is 0.
pub fn number(counters: &Counters, name: &str) -> f64 {
    counters.get(name).and_then(Value::as_f64).unwrap_or(0.0)
}

impl Capture {
    /// # Errors
    /// No such file, or none of these.
    pub fn read(path: &Path) -> Result<Capture> {
        let file = if path.is_dir() { path.join(FILE) } else { path.to_path_buf() };
        let text = std::fs::read_to_string(&file).map_err(|e| Error::file(&file, e))?;
        let mut all: Capture = serde_json::from_str(&text).map_err(|e| {
            Error::file(&file, format!("neither a capture nor a file of `run --counters`: {e}"))
        })?;
        if all.version > VERSION {
            let newer = format!("a capture of version {}, newer than this program's {VERSION}", all.version);
            return Err(Error::file(&file, newer));
        }
        let count = all.workloads.len();
        let strange =
            all.runs.iter().flatten().map(|r| r.workload).chain(all.passes.iter().map(|p| p.workload));
        if let Some(w) = strange.into_iter().find(|w| *w >= count) {
            return Err(Error::file(&file, format!("workload {w} of {count}")));
        }
        let count = all.structures.len();
        let named = |s: &Structure| s.instances.iter().map(|i| i.0).chain(s.from).max();
        if let Some(s) = all.structures.iter().filter_map(named).max().filter(|s| *s >= count) {
            return Err(Error::file(&file, format!("structure {s} of {count}")));
        }
        all.folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(all)
    }

    /// Cycles of the GPU in a nanosecond.
    pub fn cycles_a_ns(&self) -> f64 {
        self.model["clock_mhz"].as_f64().unwrap_or(1000.0) / 1000.0
    }
}

impl Workload {
    /// In a line: label, kind and name.
    pub fn title(&self) -> String {
        let label = plain::line(&self.label);
        format!("{}{}{}", label, if label.is_empty() { "" } else { ": " }, self.what())
    }

    /// Kind and name.
    pub fn what(&self) -> String {
        format!("{} {}", plain::line(&self.kind), self.named())
    }

    /// Its name, with what the application calls its pipelines.
    pub fn named(&self) -> String {
        let name = plain::line(&self.name);
        if self.pipelines.is_empty() {
            return name.to_string();
        }
        let pipelines: Vec<_> = self.pipelines.iter().map(|p| plain::line(p)).collect();
        format!("{name} [{}]", pipelines.join(", "))
    }

    /// Cycles in which the GPU did it: what workloads, runs and frames add up to.
    pub fn cycles(&self) -> f64 {
        number(&self.counters, ACTIVE)
    }

    /// The job that goes on longest.
    /// Its label, kind and name.
    pub fn line(&self) -> String {
        let label = plain::line(&self.label);
        let colon = if label.is_empty() { "" } else { ": " };
        format!("{label}{colon}{} {}", plain::line(&self.kind), self.named())
    }

    pub fn longest(&self) -> Option<&Job> {
        self.jobs.iter().max_by_key(|j| j.active_cycles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_as_a_shell_reads_it() {
        let folder = temporary::folder("tuff-command-").expect("a folder");
        let words = ["./my program", "--c", "20", "it's", ""].map(String::from);
        std::fs::write(folder.path().join(COMMAND), command_text(&words)).expect("a file");
        assert_eq!(command(folder.path()).as_deref(), Some(r"'./my program' --c 20 'it'\''s' ''"));
        std::fs::write(folder.path().join(COMMAND), "[1").expect("a file");
        assert_eq!(command(folder.path()), None);
    }
}
