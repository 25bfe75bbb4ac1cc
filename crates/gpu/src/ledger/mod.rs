//! What a whole program cost, workload by workload, for `tuff run --counters`: the driver writes it to the file that
//! `TUFF_COUNTERS` names when devices are destroyed and when the process ends. With `TUFF_CAPTURE` each time that a workload
//! ran is kept besides, and what its render passes showed: the shape of both files is docs/capture.md's.
//!
//! A process writes files of its own where the paths have `%p` ([`crate::process`]). The child of a fork begins with an empty ledger, and
//! writes none before it has a device of its own: what its parent did is the parent's.
//!
//! Equal workloads (kind, labels around them, name, pipelines' names and shaders) are added up, in the order of their first appearance; times are the
//! model's (`docs/model.md`), whose figures are in the file. Nothing in it depends on the host's threads, and on its clock only
//! when workloads begin that a program submits after it has asked for calibrated timestamps.

use crate::channel::{self, Asked, Batch, ByPhase, Listener, MadeBy, Number, Record, WorkloadKind, text};
use crate::process;
use crate::record;
use crate::structure::Command;
use counters::bound::{Bounds, Spent};
use counters::{Counts, Phase};
use graph::Plan;
use machine::facts::Uses;
use machine::time::Span;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};

mod facts;
mod file;
mod graphs;
mod steps;
mod structures;

use steps::Kept;

/// What a workload is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Key {
    kind: WorkloadKind,
    label: String,
    name: String,
    made_by: MadeBy,
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
    bounds: ByPhase<Bounds>,
    spent: ByPhase<Spent>,
    /// Of a capture's render passes, what the last one showed, and the place of that run among the queue's.
    seen: Option<(Arc<Record>, usize)>,
    /// The same of the one that took longest, whose facts are kept.
    longest: Option<(Arc<Record>, usize)>,
    /// Of dispatches of a data graph.
    graph: Option<Arc<Plan>>,
}

/// A workload, each time that it ran.
struct Run {
    /// Which of the queue's rows.
    row: usize,
    number: Number,
    frame: Option<u64>,
    span: Span,
    binning: Span,
    main: Span,
    spent: ByPhase<Spent>,
    counts: Counts,
    /// Which of the queue's `uses`.
    uses: Option<usize>,
}

impl Row {
    fn new(key: Key) -> Row {
        let span = Span { begin: u64::MAX, end: 0 };
        Row {
            key,
            times: 0,
            span,
            elapsed: 0,
            counts: Counts::default(),
            bounds: Default::default(),
            spent: Default::default(),
            seen: None,
            longest: None,
            graph: None,
        }
    }

    fn add(&mut self, span: Span, counts: &Counts, spent: &ByPhase<Spent>) {
        self.times += 1;
        self.span.begin = self.span.begin.min(span.begin);
        self.span.end = self.span.end.max(span.end);
        self.elapsed += span.end.saturating_sub(span.begin);
        self.counts += counts;
        let model = counters::model::current();
        for (bounds, phase) in self.bounds.iter_mut().zip(Phase::ALL) {
            bounds.add(counts, *phase, model);
        }
        self.spent.iter_mut().zip(spent).for_each(|(all, s)| all.add(s));
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
    /// In a capture.
    runs: Vec<Run>,
    /// Of those that ran beyond [`MAX_RUNS`].
    lost: u64,
    /// What runs read and write, each once, and their places.
    uses: Vec<Uses>,
    places: HashMap<Uses, usize>,
}

/// Frames that are kept apart; later ones are in the totals alone.
const MAX_FRAMES: usize = 10_000;
/// Runs of a queue that a capture keeps; later ones are in their workloads alone.
const MAX_RUNS: usize = 20_000;
/// Workloads of a queue that have regions and a picture in a capture.
const MAX_SEEN: usize = 64;

/// In the folder of a capture: the file, what the schedule follows from, facts beside counters, the folders of pictures and of shaders.
pub const FILE: &str = "capture.json";
pub const SCHEDULE: &str = "schedule.json";
pub const FACTS: &str = "facts.json";
pub const PICTURES: &str = "passes";
pub const SHADERS: &str = "shaders";

/// What listens to the channel, from the first device on.
#[derive(Default)]
struct Ledger {
    /// Whose it is.
    process: AtomicU32,
    /// Queues by device and number.
    devices: Mutex<Vec<Vec<Queue>>>,
    /// In a capture, what they asked of modelled time.
    steps: Mutex<Kept>,
    structures: Mutex<structures::Kept>,
}

static LEDGER: LazyLock<Option<Arc<Ledger>>> = LazyLock::new(|| {
    let s = settings::get();
    s.counters.as_ref().or(s.capture.as_ref())?;
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

/// A file is wanted.
#[inline]
pub fn wanted() -> bool {
    let s = settings::get();
    s.counters.is_some() || s.capture.is_some()
}

/// Listens from now on, if a file is wanted.
pub fn open() {
    let Some(ledger) = &*LEDGER else { return };
    let process = std::process::id();
    if ledger.process.swap(process, Relaxed) != process {
        ledger.devices.lock().clear();
        *ledger.steps.lock() = Kept::default();
        *ledger.structures.lock() = Default::default();
    }
}

impl Ledger {
    fn with(&self, device: u32, queue: u32, f: impl FnOnce(&mut Queue)) {
        let mut devices = self.devices.lock();
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
        if r.kind == WorkloadKind::Mark || !channel::of_interest(r.frame) {
            return;
        }
        self.with(r.device, r.queue, |q| {
            let (label, name) = (text(&r.label).into(), text(&r.name).into());
            let key = Key { kind: r.kind, label, name, made_by: r.made_by.clone() };
            let at = *q.index.entry(key.clone()).or_insert_with(|| {
                q.rows.push(Row::new(key));
                q.rows.len() - 1
            });
            q.rows[at].add(r.span, &r.counts, &r.spent);
            if r.graph.is_some() {
                q.rows[at].graph = r.graph.clone();
            }
            q.batch += &r.counts;
            if settings::get().capture.is_some() {
                q.capture(at, r);
            }
        });
    }

    /// Frames may overlap: the numbers tell whose a batch is. On other queues the same number has a line of its own,
    /// whether or not that is where the frame ends. A frame that presents count has a line when it ends.
    fn batch(&self, b: &Batch) {
        self.with(b.device, b.queue, |q| {
            let counts = std::mem::take(&mut q.batch);
            let Some(frame) = b.frame.filter(|f| channel::of_interest(Some(*f))) else { return };
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

    fn structures(&self, c: &Command) {
        self.structures.lock().ran(c);
    }

    fn traced(&self, order: u64, rays: &BTreeMap<u64, u64>) {
        self.structures.lock().traced(order, rays);
    }

    fn asked(&self, device: u32, queue: u32, asked: &Asked) {
        self.steps.lock().add(device as usize, queue as usize, asked);
    }
}

impl Queue {
    /// Keeps a run of a row.
    fn capture(&mut self, row: usize, r: &Arc<Record>) {
        if self.runs.len() >= MAX_RUNS {
            self.lost += 1;
            return;
        }
        let has_room = || self.rows.iter().filter(|r| r.seen.is_some()).count() < MAX_SEEN;
        if r.seen.is_some() && (self.rows[row].seen.is_some() || has_room()) {
            let ticks = |r: &Record| r.span.end.saturating_sub(r.span.begin);
            let own = &mut self.rows[row];
            if own.longest.as_ref().is_none_or(|(l, _)| ticks(l) < ticks(r)) {
                own.longest = Some((r.clone(), self.runs.len()));
            }
            own.seen = Some((r.clone(), self.runs.len()));
        }
        // What an earlier one showed goes with its record.
        let Record { number, frame, span, binning, main, spent, counts, .. } = **r;
        let uses = r.uses.as_deref().map(|uses| match self.places.get(uses) {
            Some(place) => *place,
            None => {
                self.uses.push(uses.clone());
                self.places.insert(uses.clone(), self.uses.len() - 1);
                self.uses.len() - 1
            }
        });
        self.runs.push(Run { row, number, frame, span, binning, main, spent, counts, uses });
    }
}

/// Writes the files that are wanted.
pub fn write() {
    let Some(ledger) = &*LEDGER else { return };
    // (A fork's copy of the lock may be held by a thread that is not there.)
    if ledger.process.load(Relaxed) != std::process::id() {
        return;
    }
    record::flush();
    let s = settings::get();
    let queues = ledger.devices.lock();
    if let Some(path) = s.counters.as_deref().map(process::place)
        && let Err(e) = files::within_limits(|| std::fs::write(&path, file::json(&queues, None)))
    {
        let _ = writeln!(std::io::stderr(), "tuff: TUFF_COUNTERS={}: {e}", plain::path(&path));
    }
    if let Some(folder) = s.capture.as_deref().map(process::place)
        && let Err(e) = files::within_limits(|| {
            file::capture(&queues, &ledger.steps.lock(), &ledger.structures.lock(), &folder)
        })
    {
        let _ = writeln!(std::io::stderr(), "tuff: TUFF_CAPTURE={}: {e}", plain::path(&folder));
    }
}

#[cfg(test)]
mod tests;
