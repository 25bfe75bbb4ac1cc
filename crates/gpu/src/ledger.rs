//! What a whole program cost, workload by workload, for `tuff run --counters`: the driver writes it to the file that
//! `TUFF_COUNTERS` names when devices are destroyed and when the process ends.
//!
//! Equal workloads (kind, labels around them, name) are added up, in the order of their first appearance; times are the
//! model's (`docs/model.md`), whose figures are in the file. Nothing in it depends on the host's threads, and on its clock only
//! when workloads begin that a program submits after it has asked for calibrated timestamps.

use crate::channel::{self, Batch, Listener, Record, WorkloadKind, text};
use counters::{Counts, Model, Value};
use machine::time::Span;
use parking_lot::Mutex;
use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::{Arc, LazyLock};

/// What a workload is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Key {
    kind: WorkloadKind,
    label: String,
    name: String,
}

/// Equal workloads, added up.
struct Row {
    key: Key,
    times: u64,
    /// When the first of them began, and the last ended, in ticks.
    span: Span,
    /// Ticks that they took, each from its begin to its end.
    elapsed: u64,
    counts: Counts,
}

impl Row {
    fn new(key: Key) -> Row {
        let span = Span { begin: u64::MAX, end: 0 };
        Row { key, times: 0, span, elapsed: 0, counts: Counts::default() }
    }

    fn add(&mut self, span: Span, counts: &Counts) {
        self.times += 1;
        self.span.begin = self.span.begin.min(span.begin);
        self.span.end = self.span.end.max(span.end);
        self.elapsed += span.end.saturating_sub(span.begin);
        self.counts += counts;
    }
}

#[derive(Default)]
struct Queue {
    rows: Vec<Row>,
    index: HashMap<Key, usize>,
    /// Frames in the order in which they began, by the application's numbers (or counted, where it presents).
    frames: Vec<(u64, Counts)>,
    /// Where in `frames` those are that have not ended.
    open: HashMap<u64, usize>,
    /// What the batch that runs has cost.
    batch: Counts,
    /// What was done since the application has presented.
    since: Counts,
}

/// Frames that are kept apart; later ones are in the totals alone.
const MAX_FRAMES: usize = 10_000;

/// What listens to the channel, from the first device on: queues by device and number.
#[derive(Default)]
struct Ledger(Mutex<Vec<Vec<Queue>>>);

static LEDGER: LazyLock<Option<Arc<Ledger>>> = LazyLock::new(|| {
    settings::get().counters.as_ref()?;
    extern "C" fn at_exit() {
        // No panic may cross into C.
        let _ = std::panic::catch_unwind(write);
    }
    // SAFETY: the function needs nothing that is gone when a process ends.
    unsafe { libc::atexit(at_exit) };
    let ledger = Arc::new(Ledger::default());
    channel::listen(ledger.clone());
    Some(ledger)
});

/// Listens from now on, if a file is wanted.
pub fn open() {
    LazyLock::force(&LEDGER);
}

impl Ledger {
    fn with(&self, device: u32, queue: u32, f: impl FnOnce(&mut Queue)) {
        let mut devices = self.0.lock();
        let (device, queue) = (device as usize, queue as usize);
        if devices.len() <= device {
            devices.resize_with(device + 1, Vec::new);
        }
        let queues = &mut devices[device];
        if queues.len() <= queue {
            queues.resize_with(queue + 1, Queue::default);
        }
        f(&mut queues[queue]);
    }
}

impl Listener for Ledger {
    fn record(&self, r: &Arc<Record>) {
        if r.kind == WorkloadKind::Mark {
            return;
        }
        self.with(r.device, r.queue, |q| {
            let key = Key { kind: r.kind, label: text(&r.label).into(), name: text(&r.name).into() };
            let at = *q.index.entry(key.clone()).or_insert_with(|| {
                q.rows.push(Row::new(key));
                q.rows.len() - 1
            });
            q.rows[at].add(r.span, &r.counts);
            q.batch += &r.counts;
        });
    }

    /// Frames may overlap: the numbers tell whose a batch is. On other queues the same number has a line of its own,
    /// whether or not that is where the frame ends. A frame that presents count has a line when it ends.
    fn batch(&self, b: &Batch) {
        self.with(b.device, b.queue, |q| {
            let counts = std::mem::take(&mut q.batch);
            let Some(frame) = b.frame else { return };
            if b.counted {
                q.since += &counts;
                if b.ends {
                    let counts = std::mem::take(&mut q.since);
                    if q.frames.len() < MAX_FRAMES {
                        q.frames.push((frame, counts));
                    }
                }
                return;
            }
            if !q.open.contains_key(&frame) && q.frames.len() < MAX_FRAMES {
                q.open.insert(frame, q.frames.len());
                q.frames.push((frame, Counts::default()));
            }
            if let Some(&at) = q.open.get(&frame) {
                q.frames[at].1 += &counts;
            }
            if b.ends {
                q.open.remove(&frame);
            }
        });
    }
}

/// Writes the file, if one is wanted.
pub fn write() {
    let (Some(file), Some(ledger)) = (&settings::get().counters, &*LEDGER) else { return };
    let text = json(&ledger.0.lock());
    if let Err(e) = std::fs::write(file, text) {
        let _ = writeln!(std::io::stderr(), "tuff: TUFF_COUNTERS={}: {e}", file.display());
    }
}

fn kind(k: WorkloadKind) -> &'static str {
    match k {
        WorkloadKind::Dispatch => "dispatch",
        WorkloadKind::RenderPass => "render pass",
        WorkloadKind::Transfer => "transfer",
        WorkloadKind::Mark => "mark",
    }
}

/// The file.
#[derive(Serialize)]
struct File<'a> {
    gpu: &'a str,
    model: &'a Model,
    total: Counters<'a>,
    workloads: Vec<Workload<'a>>,
    frames: Vec<Frame<'a>>,
}

#[derive(Serialize)]
struct Workload<'a> {
    device: usize,
    queue: usize,
    kind: &'a str,
    label: &'a str,
    name: &'a str,
    times: u64,
    begin_ns: u64,
    end_ns: u64,
    elapsed_ns: u64,
    counters: Counters<'a>,
}

#[derive(Serialize)]
struct Frame<'a> {
    device: usize,
    queue: usize,
    frame: u64,
    counters: Counters<'a>,
}

/// All counters that are reported; without `zeros` only those that are not 0.
struct Counters<'a> {
    counts: &'a Counts,
    zeros: bool,
}

impl Serialize for Counters<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let model = counters::model::current();
        let reported = counters::catalogue::reported().iter();
        let all = reported.map(|k| (k.machine, Number::from(k.value(self.counts, model))));
        s.collect_map(all.filter(|(_, v)| self.zeros || *v != Number::Whole(0)))
    }
}

/// A counter's value; what is whole is written as a whole number, whichever type the counter is of.
#[derive(Serialize, PartialEq)]
#[serde(untagged)]
enum Number {
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

/// A workload or frame a line.
struct Lines;

impl Formatter for Lines {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        to.write_all(if first { b"\n" } else { b",\n" })
    }
    fn end_array<W: ?Sized + io::Write>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b"\n]")
    }
}

fn json(devices: &[Vec<Queue>]) -> Vec<u8> {
    let mut total = Counts::default();
    let (mut workloads, mut frames) = (vec![], vec![]);
    for (device, queues) in devices.iter().enumerate() {
        for (queue, q) in queues.iter().enumerate() {
            for Row { key, times, span, elapsed, counts } in &q.rows {
                total += counts;
                workloads.push(Workload {
                    device,
                    queue,
                    kind: kind(key.kind),
                    label: &key.label,
                    name: &key.name,
                    times: *times,
                    begin_ns: span.begin,
                    end_ns: span.end,
                    elapsed_ns: *elapsed,
                    counters: Counters { counts, zeros: false },
                });
            }
            frames.extend(q.frames.iter().map(|&(frame, ref counts)| Frame {
                device,
                queue,
                frame,
                counters: Counters { counts, zeros: false },
            }));
        }
    }
    let model = counters::model::current();
    let file =
        File { gpu: &model.name, model, total: Counters { counts: &total, zeros: true }, workloads, frames };
    let mut text = vec![];
    file.serialize(&mut serde_json::Serializer::with_formatter(&mut text, Lines))
        .expect("keys are strings, and a vector takes all");
    text.push(b'\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use counters::Event;

    #[test]
    fn batches_belong_to_the_frames_that_the_application_says_or_presents() {
        let ledger = Ledger::default();
        let record = |n| {
            let mut counts = Counts::default();
            counts[Event::Triangles] = n;
            let number = channel::Number { order: 0, queue_order: 0, submission: 0 };
            let (kind, none) = (WorkloadKind::RenderPass, Span::default());
            let (label, name) = Default::default();
            let (span, binning, main) = (none, none, none);
            let (device, queue, views, frame) = (1, 1, 1, None);
            Arc::new(Record {
                number,
                device,
                queue,
                kind,
                views,
                frame,
                span,
                binning,
                main,
                label,
                name,
                counts,
            })
        };
        let work = |n, frame, counted, ends| {
            ledger.record(&record(n));
            ledger.batch(&Batch { device: 1, queue: 1, frame, counted, ends });
        };
        work(1, Some(0), true, false);
        work(2, Some(0), true, true);
        work(4, Some(9), false, false);
        // Told once, what has no number is of no frame.
        work(8, None, false, true);
        // The next frame begins before frame 9 has ended.
        work(16, Some(10), false, false);
        work(32, Some(9), false, true);
        work(64, Some(10), false, true);
        // A number again is another frame; this one has not ended yet.
        work(128, Some(9), false, false);
        let devices = ledger.0.lock();
        let frames: Vec<_> = devices[1][1].frames.iter().map(|f| (f.0, f.1[Event::Triangles])).collect();
        assert_eq!(frames, [(0, 3), (9, 36), (10, 80), (9, 128)]);
    }

    #[test]
    fn equal_workloads_are_added_up_and_strings_are_quoted() {
        let mut c = Counts::default();
        c[Event::InputVertices] = 3;
        let key = Key { kind: WorkloadKind::Dispatch, label: "a\"\n".into(), name: String::new() };
        let mut row = Row::new(key);
        row.add(Span { begin: 100, end: 130 }, &Counts::default());
        row.add(Span { begin: 140, end: 150 }, &c);
        let q = Queue { rows: vec![row], frames: vec![(77, c)], ..Queue::default() };
        let text = String::from_utf8(json(&[vec![q]])).unwrap();
        let lines: Vec<_> = text.lines().collect();
        let row =
            r#"{"device":0,"queue":0,"kind":"dispatch","label":"a\"\n","name":"","times":2,"begin_ns":100,"#;
        let row = format!(r#"{row}"end_ns":150,"elapsed_ns":40,"counters":{{"#);
        assert!(lines[1].starts_with(&row), "{text}");
        assert!(lines[3].starts_with(r#"{"device":0,"queue":0,"frame":77,"counters":{"#), "{text}");
        let file: serde_json::Value = serde_json::from_str(&text).unwrap();
        for of in ["workloads", "frames"] {
            assert_eq!(file[of][0]["counters"]["TuffInputVertices"], 3, "{text}");
            assert_eq!(file[of][0]["counters"].get("TuffInputPrimitives"), None, "{text}");
        }
        assert_eq!(file["total"]["TuffInputPrimitives"], 0, "{text}");
        let model = serde_json::from_value::<Model>(file["model"].clone()).unwrap();
        assert_eq!((&model, &file["gpu"]), (counters::model::current(), &model.name.clone().into()));
    }

    #[test]
    fn whole_numbers_are_written_as_such() {
        let text = |v| serde_json::to_string(&Number::from(v)).unwrap();
        assert_eq!(text(Value::Uint64(u64::MAX)), u64::MAX.to_string());
        assert_eq!(text(Value::Float64(0.0)), "0");
        assert_eq!(text(Value::Float64(57.0)), "57");
        assert_eq!(text(Value::Float64(0.125)), "0.125");
        assert_eq!(text(Value::Float64(f64::NAN)), "null");
        assert_eq!(text(Value::Float64(f64::INFINITY)), "null");
    }
}
