//! The ledger's files: `TUFF_COUNTERS`'s, and a capture's, which has more of the same shape (docs/capture.md).

use super::graphs::{self, Operator};
use super::steps::Kept;
use super::structures::{self, Told};
use super::{FACTS, FILE, PICTURES, Queue, Row, Run, SCHEDULE, facts};
use crate::channel::{ByPhase, WorkloadKind};
use counters::bound::{self, Bounds, Spent, Take, Takes};
use counters::{Counter, Counts, Model, Phase, Value};
use machine::lost::Made;
use machine::time::Span;
use raster::drawn::Seen;
use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Of the shape. It changes when readers of the last one would misread the new one; what is added changes nothing.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct File<'a> {
    version: u32,
    gpu: &'a str,
    model: &'a Model,
    total: Counters<'a>,
    workloads: Vec<Workload<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shaders: Vec<Shader<'a>>,
    frames: Vec<Frame<'a>>,
    #[serde(flatten)]
    capture: Option<Capture<'a>>,
}

#[derive(Serialize)]
struct Workload<'a> {
    device: usize,
    queue: usize,
    kind: &'a str,
    label: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pipelines: &'a Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shaders: Option<String>,
    /// Which of the file's shaders it ran.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stages: Vec<usize>,
    times: u64,
    begin_ns: u64,
    end_ns: u64,
    elapsed_ns: u64,
    jobs: Vec<Job>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    operators: Vec<Operator>,
    counters: Counters<'a>,
}

/// A stage of a pipeline, and what it is known by when it has changed.
#[derive(Serialize)]
struct Shader<'a> {
    stage: &'a str,
    entry: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pipeline: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    module: &'a str,
    hash: String,
    interface: String,
    sketch: String,
}

/// All shaders of a file, each once.
#[derive(Default)]
struct Shaders<'a> {
    all: Vec<Shader<'a>>,
    places: HashMap<(u64, &'a str), usize>,
}

impl<'a> Shaders<'a> {
    fn place(&mut self, (made, pipeline): &'a (Arc<Made>, String)) -> usize {
        *self.places.entry((made.hash, pipeline)).or_insert_with(|| {
            self.all.push(Shader {
                stage: made.stage,
                entry: &made.entry,
                pipeline,
                module: &made.module,
                hash: format!("{:016x}", made.hash),
                interface: format!("{:016x}", made.sketch.interface),
                sketch: made.sketch.hashes.iter().map(|h| format!("{h:08x}")).collect(),
            });
            self.all.len() - 1
        })
    }
}

#[derive(Serialize)]
struct Frame<'a> {
    device: usize,
    queue: usize,
    frame: u64,
    counters: Counters<'a>,
}

/// What only a capture has.
#[derive(Serialize)]
struct Capture<'a> {
    runs: Vec<Ran<'a>>,
    runs_lost: u64,
    passes: Vec<Pass<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    structures: Vec<Told<'a>>,
    #[serde(skip_serializing_if = "is_none")]
    structures_lost: u64,
    #[serde(skip_serializing_if = "is_none")]
    structure_traces_lost: u64,
}

/// A workload, once.
#[derive(Serialize)]
struct Ran<'a> {
    workload: usize,
    frame: Option<u64>,
    submission: u64,
    order: u64,
    jobs: Vec<Job>,
    counters: Counters<'a>,
}

/// What a queue of the front end did.
#[derive(Serialize)]
struct Job {
    queue: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    begin_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_ns: Option<u64>,
    jobs: u64,
    active_cycles: u64,
    blocked_cycles: u64,
    drained_cycles: u64,
    waited_cycles: u64,
    bound: Option<&'static str>,
    takes: Taken,
    duration_ns: u64,
    waits: Waited,
    /// Of several runs: active cycles by what bound each.
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<Taken>,
}

/// What a render pass showed and its regions counted, the last time.
#[derive(Serialize)]
struct Pass<'a> {
    workload: usize,
    run: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    picture_of: Option<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    regions: Option<Regions<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    draws: Vec<Drew<'a>>,
    #[serde(skip_serializing_if = "is_none")]
    draws_lost: u64,
}

fn is_none(n: &u64) -> bool {
    *n == 0
}

/// A command of a pass that drew.
#[derive(Serialize)]
struct Drew<'a> {
    name: &'a str,
    label: &'a str,
    counters: Counters<'a>,
}

#[derive(Serialize)]
struct Regions<'a> {
    side: u32,
    origin: Vec<i32>,
    across: u32,
    down: u32,
    counters: ByRegion<'a>,
}

/// What is not 0, by key.
struct Taken(Takes);

impl Serialize for Taken {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_map(Take::ALL.iter().filter(|t| self.0[**t] > 0).map(|t| (t.key(), self.0[*t])))
    }
}

/// The parts of a time, by key.
struct Waited(Spent);

impl Serialize for Waited {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_map(self.0.parts())
    }
}

/// All counters that are reported; without `zeros` only those that are not 0.
struct Counters<'a> {
    counts: &'a Counts,
    zeros: bool,
}

impl Serialize for Counters<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let model = counters::model::current();
        let reported = counters::catalogue::modelled().iter();
        let all = reported.map(|k| (k.machine, Number::from(k.value(self.counts, model))));
        s.collect_map(all.filter(|(_, v)| self.zeros || *v != Number::Whole(0)))
    }
}

/// Counters that regions have, each a list of all regions' values; those that are 0 everywhere are left out.
struct ByRegion<'a>(&'a [Counts]);

impl Serialize for ByRegion<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let model = counters::model::current();
        let values =
            |c: &Counter| -> Vec<Number> { self.0.iter().map(|r| c.value(r, model).into()).collect() };
        let all = counters::catalogue::by_task().iter().map(|c| (c.machine, values(c)));
        let some = all.filter(|(_, v)| v.iter().any(|v| *v != Number::Whole(0)));
        s.collect_map(some)
    }
}

/// A counter's value; what is whole is written as a whole number, whichever type the counter is of.
#[derive(Serialize, PartialEq)]
#[serde(untagged)]
pub(super) enum Number {
    Whole(u64),
    Real(f64),
}

/// Below this every whole number is a float.
const EXACT: f64 = (1u64 << 53) as f64;

impl From<Value> for Number {
    fn from(v: Value) -> Number {
        match v {
            Value::Uint64(v) => Number::Whole(v),
            Value::Float64(v) if v.fract() == 0.0 && (0.0..EXACT).contains(&v) => Number::Whole(v as u64),
            Value::Float64(v) => Number::Real(v),
        }
    }
}

/// An element of the file's own lists a line; what is in these stays in its line.
#[derive(Default)]
struct Lines {
    /// Lists that are open.
    depth: usize,
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + io::Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        to.write_all(b"[")
    }
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        match (self.depth, first) {
            (1, true) => to.write_all(b"\n"),
            (1, false) => to.write_all(b",\n"),
            (_, true) => Ok(()),
            (_, false) => to.write_all(b","),
        }
    }
    fn end_array<W: ?Sized + io::Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth = self.depth.saturating_sub(1);
        to.write_all(if self.depth == 0 { b"\n]" } else { b"]" })
    }
}

/// The jobs of a workload, with `bounds` if it is several runs', with their times if it is one's.
fn jobs(
    counts: &Counts,
    spent: &ByPhase<Spent>,
    runs: Option<&[Bounds]>,
    spans: Option<&Run>,
    k: WorkloadKind,
) -> Vec<Job> {
    let model = counters::model::current();
    let of = |(i, phase): (usize, Phase)| {
        let n = bound::jobs(counts, phase);
        let span = spans.map(|r| match phase {
            _ if k != WorkloadKind::RenderPass => r.span,
            Phase::Main => r.main,
            _ => r.binning,
        });
        let [active_cycles, blocked_cycles, drained_cycles, waited_cycles] = bound::queue(counts, phase);
        let runs = runs.map(|r| r[i]);
        let takes = runs.map_or_else(|| bound::takes(counts, phase, model), |r| r.takes);
        let by = runs.map_or_else(|| bound::bound(&takes), |r| r.bound());
        (n > 0).then_some(Job {
            queue: match phase {
                Phase::Binning => "binning",
                Phase::Compute => "compute",
                Phase::Main => "main",
            },
            begin_ns: span.map(|s: Span| s.begin),
            end_ns: span.map(|s| s.end),
            jobs: n,
            active_cycles,
            blocked_cycles,
            drained_cycles,
            waited_cycles,
            bound: by.map(Take::key),
            takes: Taken(takes),
            duration_ns: spent[i].time,
            waits: Waited(spent[i]),
            bounds: runs.map(|r| Taken(r.active)),
        })
    };
    Phase::ALL.iter().copied().enumerate().filter_map(of).collect()
}

impl Row {
    fn seen(&self) -> Option<(&Seen, usize)> {
        let (record, run) = self.seen.as_ref()?;
        Some((record.seen.as_deref()?, *run))
    }
}

/// The file; `capture`: with pictures by workload, which lie there, and structures.
pub(super) fn json(
    devices: &[Vec<Queue>],
    capture: Option<(&BTreeMap<usize, String>, &structures::Kept)>,
) -> Vec<u8> {
    let mut total = Counts::default();
    let (mut workloads, mut frames) = (vec![], vec![]);
    let (mut runs, mut passes, mut runs_lost) = (vec![], vec![], 0);
    let mut shaders = Shaders::default();
    for (device, queues) in devices.iter().enumerate() {
        for (queue, q) in queues.iter().enumerate() {
            let (first, first_run) = (workloads.len(), runs.len());
            for r in &q.rows {
                total += &r.counts;
                workloads.push(Workload {
                    device,
                    queue,
                    kind: r.key.kind.words(),
                    label: &r.key.label,
                    name: &r.key.name,
                    pipelines: &r.key.made_by.names,
                    shaders: r.key.made_by.shaders.map(|s| format!("{s:016x}")),
                    stages: r.key.made_by.stages.iter().map(|s| shaders.place(s)).collect(),
                    times: r.times,
                    begin_ns: r.span.begin,
                    end_ns: r.span.end,
                    elapsed_ns: r.elapsed,
                    jobs: jobs(&r.counts, &r.spent, Some(&r.bounds), None, r.key.kind),
                    operators: r.graph.as_deref().map(graphs::operators).unwrap_or_default(),
                    counters: Counters { counts: &r.counts, zeros: false },
                });
            }
            frames.extend(q.frames.iter().map(|&(frame, ref counts)| Frame {
                device,
                queue,
                frame,
                counters: Counters { counts, zeros: false },
            }));
            let Some((pictures, _)) = capture else { continue };
            runs_lost += q.lost;
            runs.extend(q.runs.iter().map(|r| Ran {
                workload: first + r.row,
                frame: r.frame,
                submission: r.number.submission,
                order: r.number.order,
                jobs: jobs(&r.counts, &r.spent, None, Some(r), q.rows[r.row].key.kind),
                counters: Counters { counts: &r.counts, zeros: false },
            }));
            let seen = q.rows.iter().enumerate().filter_map(|(i, r)| Some((first + i, r.seen()?)));
            passes.extend(seen.map(|(workload, (seen, run))| {
                Pass {
                    workload,
                    run: first_run + run,
                    picture: pictures.get(&workload).cloned(),
                    picture_of: seen.picture.as_ref().map(|p| p.of.to_vec()),
                    regions: seen.regions.as_ref().map(|m| Regions {
                        side: raster::regions::REGION,
                        origin: m.origin.to_vec(),
                        across: m.size[0],
                        down: m.size[1],
                        counters: ByRegion(&m.counts),
                    }),
                    draws: (seen.draws.told.iter())
                        .map(|d| Drew {
                            name: &d.name,
                            label: &d.label,
                            counters: Counters { counts: &d.counts, zeros: false },
                        })
                        .collect(),
                    draws_lost: seen.draws.lost,
                }
            }));
        }
    }
    let model = counters::model::current();
    let file = File {
        version: VERSION,
        gpu: &model.name,
        model,
        total: Counters { counts: &total, zeros: true },
        workloads,
        shaders: shaders.all,
        frames,
        capture: capture.map(|(_, structures)| {
            let [structures_lost, structure_traces_lost] = structures.lost();
            let structures = structures.told();
            Capture { runs, runs_lost, passes, structures, structures_lost, structure_traces_lost }
        }),
    };
    written(&file)
}

pub(super) fn written(file: &impl Serialize) -> Vec<u8> {
    let mut text = vec![];
    file.serialize(&mut serde_json::Serializer::with_formatter(&mut text, Lines::default()))
        .expect("keys are strings, and a vector takes all");
    text.push(b'\n');
    text
}

/// The folder of a capture: the file, and a picture of each pass that has one.
pub(super) fn capture(
    devices: &[Vec<Queue>],
    steps: &Kept,
    structures: &structures::Kept,
    folder: &Path,
) -> io::Result<()> {
    std::fs::create_dir_all(folder.join(PICTURES))?;
    let mut pictures = BTreeMap::new();
    let rows = devices.iter().flatten().flat_map(|q| &q.rows).enumerate();
    for (workload, row) in rows {
        let Some(p) = row.seen().and_then(|s| s.0.picture.as_ref()) else { continue };
        let name = format!("{PICTURES}/{workload}.ppm");
        let mut file = io::BufWriter::new(std::fs::File::create(folder.join(&name))?);
        write!(file, "P6\n{} {}\n255\n", p.width, p.height)?;
        file.write_all(&p.rgb)?;
        file.flush()?;
        pictures.insert(workload, name);
    }
    let steps = steps.file(counters::model::current());
    std::fs::write(folder.join(SCHEDULE), written(&steps))?;
    std::fs::write(folder.join(FACTS), facts::json(devices))?;
    std::fs::write(folder.join(FILE), json(devices, Some((&pictures, structures))))
}
