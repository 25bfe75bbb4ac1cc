//! `tuff whatif`: how long a captured program would take on another GPU, from the capture alone.
//!
//! A capture has what the cost of each workload follows from, and what its queues asked of modelled time (docs/capture.md). Both are put to the
//! changed model; the program is not run again.

use crate::report::capture::{self, Capture};
use crate::report::{many, time, words};
use client::{Error, Result};
use counters::bound::{Spent, Take};
use counters::model::Model;
use counters::{Counts, Phase, Unit, work};
use schedule::{Jobs, Replay, Replayed, Step, Steps};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  tuff run --capture frames -- vkcube --c 20
  tuff whatif frames --cores 14 --bus 32
  tuff whatif frames --set core.warps=32 --set clock_mhz=850 --json
  tuff whatif frames --gpu big --as-counted

A capture has the counts for an L2 of 256, 512, 1024, 2048, 4096 and 8192 KiB and of the captured size; other sizes are possible if all
data of the program fits into both. Other counts stay as captured. The other settings of caches, tiles, deferred vertices and compression
affect the counts, so another value of core.l1_kib, core.texture_l1_kib, core.tile_kib, tiler.deferred or memory.afbc needs another run
with TUFF_GPU. With --as-counted these keys keep their captured values, and are listed.")]
pub struct Args {
    /// The folder of `run --capture`.
    capture: PathBuf,
    /// Models to use instead of the captured one: built-in names or files, as in TUFF_GPU; prints a table for each.
    #[arg(long, value_name = "MODEL", num_args = 1..)]
    gpu: Vec<String>,
    /// Number of shader cores.
    #[arg(long)]
    cores: Option<u64>,
    /// Clock frequency.
    #[arg(long, value_name = "MHZ")]
    clock: Option<u64>,
    /// Size of the L2 (memory.l2_kib).
    #[arg(long, value_name = "KIB")]
    l2: Option<u64>,
    /// Sustained bandwidth of external memory (memory.external_bytes_per_cycle).
    #[arg(long, value_name = "BYTES A CYCLE")]
    bus: Option<u64>,
    /// Set any key of a model file.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Keep the captured values of keys that affect the counts, and list these keys.
    #[arg(long)]
    as_counted: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A model to ask about.
struct Asked {
    model: Model,
    /// Keys that differ: what was, what is.
    changed: Vec<(String, Value, Value)>,
    /// Keys that differ and are left as captured.
    left: Vec<String>,
}

/// The numbers of a model, by key.
fn numbers(model: &Model) -> Vec<(String, Value)> {
    let Ok(Value::Object(all)) = serde_json::to_value(model) else { return vec![] };
    let mut keys = vec![];
    for (key, value) in all {
        match value {
            Value::Object(inside) => keys.extend(inside.into_iter().map(|(k, v)| (format!("{key}.{k}"), v))),
            Value::Number(_) => keys.push((key, value)),
            _ => {}
        }
    }
    keys
}

fn set(model: &Model, key: &str, value: u64) -> Result<Model> {
    let mut all = serde_json::to_value(model).map_err(|e| Error(e.to_string()))?;
    let place = key.split('.').try_fold(&mut all, |at, part| at.get_mut(part)).filter(|v| v.is_number());
    *place.ok_or_else(|| Error(format!("{key}: not a numeric key of a model file")))? = value.into();
    serde_json::from_value(all).map_err(|e| Error(format!("{key}: {e}")))
}

/// Bytes that all of a capture asks the L2 for: of as much nothing is ever lost, however often it is asked for.
fn asked_of_l2(steps: &Steps) -> u64 {
    let lines = |work: &counters::Work| -> u64 {
        let c = work.counts();
        let of = [Unit::L2ReadLookups, Unit::L2WriteLookups, Unit::ExtReads, Unit::ExtWrites];
        of.into_iter().map(|u| c.total(u)).sum()
    };
    let each: Vec<u64> = steps.works.iter().map(lines).collect();
    let jobs = steps.devices.iter().flatten().filter_map(|(_, s)| match s {
        Step::Job { work, .. } => each.get(*work),
        _ => None,
    });
    jobs.sum::<u64>() * counters::model::LINE
}

fn asked(args: &Args, gpu: Option<&str>, steps: &Steps) -> Result<Asked> {
    let captured = &steps.model;
    let mut model = match gpu {
        Some(name) => Model::load(Some(name)).map_err(|e| Error(e.replacen("TUFF_GPU", "--gpu", 1)))?,
        None => captured.clone(),
    };
    let own = [
        ("cores", args.cores),
        ("clock_mhz", args.clock),
        ("memory.l2_kib", args.l2),
        ("memory.external_bytes_per_cycle", args.bus),
    ];
    let mut sets: Vec<(String, u64)> =
        own.into_iter().filter_map(|(key, value)| Some((key.into(), value?))).collect();
    for one in &args.set {
        let parts =
            one.split_once('=').and_then(|(k, v)| Some((k.trim().to_string(), v.trim().parse().ok()?)));
        sets.push(parts.ok_or_else(|| Error(format!("--set {one}: expected KEY=NUMBER")))?);
    }
    for (key, value) in sets {
        model = set(&model, &key, value)?;
    }
    model.check().map_err(Error)?;
    let l2 = captured.memory.l2_kib.min(model.memory.l2_kib) << 10;
    let is_told = steps.l2_kib.contains(&model.memory.l2_kib) || asked_of_l2(steps) <= l2;
    let counted = |key: &str| work::COUNTED.contains(&key) && !(key == "memory.l2_kib" && is_told);
    let (was, now) = (numbers(captured), numbers(&model));
    let differ = was.into_iter().zip(now).filter(|(a, b)| a.1 != b.1);
    let all: Vec<_> = differ.map(|((key, was), (_, now))| (key, was, now)).collect();
    let (left, changed): (Vec<_>, Vec<_>) = all.into_iter().partition(|(key, ..)| counted(key));
    if !left.is_empty() && !args.as_counted {
        let keys: Vec<_> =
            left.iter().map(|(key, was, now)| format!("{key} = {now} (captured: {was})")).collect();
        let sizes: Vec<_> = steps.l2_kib.iter().map(u64::to_string).collect();
        let sizes = match left.iter().any(|(key, ..)| key == "memory.l2_kib") && !sizes.is_empty() {
            true => format!(" (the capture has counts for an L2 of {} KiB)", sizes.join(", ")),
            false => String::new(),
        };
        return Err(Error(format!(
            "{}: the counts depend on it, so a capture cannot predict the change{sizes}: run the program again with TUFF_GPU, or keep the \
             captured value with --as-counted",
            keys.join(", ")
        )));
    }
    for (key, was, _) in &left {
        model = set(&model, key, was.as_u64().unwrap_or(0))?;
    }
    let left = left.into_iter().map(|(key, was, now)| format!("{key} = {was}, not {now}")).collect();
    Ok(Asked { model, changed, left })
}

/// A time before and after.
type Both = [u64; 2];

/// What equal workloads took.
#[derive(Default)]
struct Row {
    name: String,
    kind: String,
    times: u64,
    elapsed: Both,
    spent: [Spent; 2],
}

impl Row {
    /// What took longest of its own time.
    fn bound(&self, side: usize) -> Option<Take> {
        counters::bound::bound(&self.spent[side].own)
    }
}

#[derive(Default)]
struct Found {
    whole: Both,
    /// Nanoseconds in which each queue of the front end had a job, by phase.
    queues: [Both; Phase::ALL.len()],
    rows: Vec<Row>,
}

const QUEUES: [&str; 3] = ["binning", "compute", "main"];

/// Adds up all that was replayed, by the capture's workloads.
fn sums(capture: &Capture, steps: &Steps, all: &[Replayed], model: &Model) -> Found {
    let runs = capture.runs.as_deref().unwrap_or_default();
    let by_order: HashMap<u64, usize> = runs.iter().map(|r| (r.order, r.workload)).collect();
    let counts = |m| steps.works.iter().map(|w| w.counts_in(m)).collect();
    let counts: [Vec<Counts>; 2] = [counts(&steps.model), counts(model)];
    let mut found = Found::default();
    let mut rows: HashMap<Option<usize>, Row> = HashMap::new();
    let mut spans: HashMap<usize, [Both; 2]> = HashMap::new();
    for r in all {
        let workload = by_order.get(&r.order).copied();
        let row = rows.entry(workload).or_insert_with(|| {
            let w = workload.and_then(|w| capture.workloads.get(w));
            let name = w.map_or("of which the capture has no runs".into(), |w| w.line());
            Row { name, kind: w.map_or(String::new(), |w| w.kind.clone()), ..Row::default() }
        });
        row.times += 1;
        let span = spans.entry(r.device).or_insert([[u64::MAX, 0]; 2]);
        for (side, (jobs, m)) in [(&r.was, &steps.model), (&r.now, model)].into_iter().enumerate() {
            let phases = steps.works[r.work].phases();
            let [mut begin, mut end] = [u64::MAX, 0];
            for ((phase, job), ran) in phases.into_iter().zip(&jobs.jobs).zip(&jobs.ran) {
                if ran.end <= ran.begin {
                    continue;
                }
                (begin, end) = (begin.min(ran.begin), end.max(ran.end));
                found.queues[phase as usize][side] += ran.end - ran.begin;
                row.spent[side].add(&ran.spent(&counts[side][r.work], phase, job, m));
            }
            row.elapsed[side] += end.saturating_sub(begin);
            span[side] = [span[side][0].min(begin), span[side][1].max(end)];
        }
    }
    for span in spans.values() {
        for (side, [begin, end]) in span.iter().enumerate() {
            found.whole[side] += end.saturating_sub(*begin);
        }
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by_key(|(place, row)| (std::cmp::Reverse(row.elapsed[0]), *place));
    found.rows = rows.into_iter().map(|r| r.1).collect();
    found
}

/// That the captured schedule comes out again, job by job.
fn same_as_captured(capture: &Capture, all: &[Replayed], steps: &Steps) -> Result<()> {
    let by_order: HashMap<u64, &Replayed> = all.iter().map(|r| (r.order, r)).collect();
    for run in capture.runs.iter().flatten() {
        let Some(r) = by_order.get(&run.order) else { continue };
        for job in &run.jobs {
            let Some(place) = QUEUES.iter().position(|q| *q == job.queue) else { continue };
            let phases = steps.works[r.work].phases();
            let Some(at) = phases.iter().position(|p| *p as usize == place) else { continue };
            let Jobs { ran, .. } = r.was;
            if [ran[at].begin, ran[at].end] != [job.begin_ns, job.end_ns] {
                return Err(Error(format!(
                    "the captured schedule could not be reproduced: the {} job of run {} ran from {} to {}, not from {} to {}",
                    job.queue, run.order, job.begin_ns, job.end_ns, ran[at].begin, ran[at].end
                )));
            }
        }
    }
    Ok(())
}

fn change([was, now]: Both) -> String {
    match was {
        0 => String::new(),
        _ => format!("{:+.1} %", 100.0 * (now as f64 / was as f64 - 1.0)),
    }
}

/// Lines of a table; all but the first column to the right.
fn aligned(rows: &[[String; 5]]) -> String {
    let width = |i: usize| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0);
    let [name, before, after, change] = [0, 1, 2, 3].map(width);
    let mut out = String::new();
    for [a, b, c, d, e] in rows {
        let line = format!("{a:name$}  {b:>before$}  {c:>after$}  {d:>change$}  {e}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// Workloads that the table names.
const NAMED: usize = 30;

fn notes(asked: &Asked) -> Vec<String> {
    let mut notes = vec![];
    if asked.changed.iter().any(|(key, ..)| key == "cores") {
        notes.push(
            "what each core reads once (descriptors, what its L1 keeps) is counted for the captured number of cores".to_string(),
        );
    }
    if ["core.warps", "core.main_tasks"].iter().any(|k| asked.changed.iter().any(|(key, ..)| key == k)) {
        notes.push("draws that share a core are those of the captured model".into());
    }
    notes.extend(asked.left.iter().map(|l| format!("left as captured: {l}")));
    notes
}

fn table(title: &str, asked: &Asked, found: &Found) -> String {
    let changed: Vec<_> =
        asked.changed.iter().map(|(key, was, now)| format!("{key} {was} → {now}")).collect();
    let changed = if changed.is_empty() { "nothing changed".into() } else { changed.join(", ") };
    let mut out = format!("{title}: {changed}\n");
    let row = |name: &str, both: Both, bound: String| {
        [plain::line(name).into_owned(), time(both[0] as f64), time(both[1] as f64), change(both), bound]
    };
    let mut rows = vec![["", "before", "after", "change", "bound"].map(String::from)];
    rows.push(row("whole time", found.whole, String::new()));
    for (name, both) in QUEUES.iter().zip(found.queues).filter(|q| q.1 != [0; 2]) {
        rows.push(row(&format!("{name} queue"), both, String::new()));
    }
    for r in found.rows.iter().take(NAMED) {
        let [was, now] = [0, 1].map(|side| r.bound(side).map_or("", |t| words(t.key())));
        let bound = if was == now { was.to_string() } else { format!("{was} → {now}") };
        rows.push(row(&format!("{} × {}", r.times, r.name), r.elapsed, bound));
    }
    out += &aligned(&rows);
    if found.rows.len() > NAMED {
        let _ = writeln!(out, "and {} more: --json has all", many(found.rows.len() - NAMED, "workload"));
    }
    for note in notes(asked) {
        let _ = writeln!(out, "note: {note}");
    }
    out
}

fn json(name: &str, asked: &Asked, found: &Found) -> Value {
    let changed: serde_json::Map<String, Value> =
        asked.changed.iter().map(|(key, was, now)| (key.clone(), json!([was, now]))).collect();
    let queues: serde_json::Map<String, Value> =
        QUEUES.iter().zip(found.queues).map(|(name, both)| (name.to_string(), json!(both))).collect();
    let spent = |s: &Spent| -> Value { s.parts().map(|(key, ns)| (key.to_string(), json!(ns))).collect() };
    let workload = |r: &Row| {
        json!({
            "name": r.name, "kind": r.kind, "times": r.times, "elapsed_ns": r.elapsed,
            "bound": ([0, 1].map(|side| r.bound(side).map(Take::key))),
            "duration_ns": r.spent.each_ref().map(|s| s.time),
            "waits": r.spent.each_ref().map(spent),
        })
    };
    json!({
        "model": name, "changed": changed, "notes": notes(asked), "whole_ns": found.whole, "queues_ns": queues,
        "workloads": found.rows.iter().map(workload).collect::<Vec<_>>(),
    })
}

/// The schedule of a capture, all of it.
pub fn steps(folder: &Path) -> Result<Steps> {
    let steps = read(folder)?;
    match steps.lost {
        0 => Ok(steps),
        n => Err(Error(format!(
            "{}: {n} steps exceeded the limit and are missing: capture fewer frames",
            folder.join(capture::SCHEDULE).display()
        ))),
    }
}

/// As much of it as there is.
fn read(folder: &Path) -> Result<Steps> {
    let file = folder.join(capture::SCHEDULE);
    let text = std::fs::read_to_string(&file).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => Error(format!(
            "{}: not found: the capture is from an older version, or this is not a folder from `tuff run --capture`",
            file.display()
        )),
        _ => Error::file(&file, e),
    })?;
    let steps: Steps = serde_json::from_str(&text).map_err(|e| Error(format!("{}: {e}", file.display())))?;
    if steps.version > Steps::VERSION {
        let newer =
            format!("{}: has version {}, newer than {}", file.display(), steps.version, Steps::VERSION);
        return Err(Error(newer));
    }
    let places = steps.devices.iter().flatten().filter_map(|(_, s)| match s {
        Step::Job { work, .. } => Some(*work),
        _ => None,
    });
    if places.max().is_some_and(|most| most >= steps.works.len()) {
        return Err(Error(format!("{}: a job refers to work that does not exist", file.display())));
    }
    steps.model.check().map_err(|e| Error(format!("{}: model: {e}", file.display())))?;
    Ok(steps)
}

/// Whether a capture's schedule gives the times that the capture has. One that is not whole, or of a program without any work, has nothing to compare.
pub fn check(folder: &Path) -> Result<()> {
    if !folder.join(capture::SCHEDULE).exists() {
        return Ok(());
    }
    let steps = read(folder)?;
    if steps.lost > 0 {
        return Ok(());
    }
    let capture = Capture::read(&folder.join(capture::FILE))?;
    same_as_captured(&capture, &Replay::run(&steps, &steps.model), &steps)
}

pub fn run(args: &Args) -> Result<()> {
    let folder = match args.capture.is_dir() {
        true => args.capture.clone(),
        false => args.capture.parent().map(Path::to_path_buf).unwrap_or_default(),
    };
    let steps = steps(&folder)?;
    let capture = Capture::read(&folder.join(capture::FILE))?;
    let gpus: Vec<Option<&str>> =
        if args.gpu.is_empty() { vec![None] } else { args.gpu.iter().map(|g| Some(&**g)).collect() };
    let mut all = vec![];
    for gpu in gpus {
        let asked = asked(args, gpu, &steps)?;
        let replayed = Replay::run(&steps, &asked.model);
        same_as_captured(&capture, &replayed, &steps)?;
        let found = sums(&capture, &steps, &replayed, &asked.model);
        let name = gpu.unwrap_or(&steps.model.name);
        match args.json {
            true => all.push(json(name, &asked, &found)),
            false => print!("{}", table(name, &asked, &found)),
        }
    }
    if args.json {
        println!("{}", Value::from(all));
    }
    Ok(())
}
