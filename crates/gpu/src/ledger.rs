//! What a whole program cost, workload by workload, for `tuff run --counters`: the driver writes it to the file that
//! `TUFF_COUNTERS` names when devices are destroyed and when the process ends.
//!
//! Equal workloads (kind, labels around them, name) are added up, in the order of their first appearance. Nothing in
//! the file depends on the host's clock or threads.

use crate::channel::{self, Batch, Kind, Listener, Record, text};
use counters::{Counts, Value};
use parking_lot::Mutex;
use shader::instrument::quoted;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, LazyLock};

/// What a workload is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Key {
    kind: Kind,
    label: String,
    name: String,
}

#[derive(Default)]
struct Queue {
    rows: Vec<(Key, u64, Counts)>,
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
        if r.kind == Kind::Mark {
            return;
        }
        self.with(r.device, r.queue, |q| {
            let key = Key { kind: r.kind, label: text(&r.label).into(), name: text(&r.name).into() };
            let at = *q.index.entry(key.clone()).or_insert_with(|| {
                q.rows.push((key, 0, Counts::default()));
                q.rows.len() - 1
            });
            q.rows[at].1 += 1;
            q.rows[at].2.add(&r.counts);
            q.batch.add(&r.counts);
        });
    }

    /// Frames may overlap: the numbers tell whose a batch is. On other queues the same number has a line of its own,
    /// whether or not that is where the frame ends. A frame that presents count has a line when it ends.
    fn batch(&self, b: &Batch) {
        self.with(b.device, b.queue, |q| {
            let counts = std::mem::take(&mut q.batch);
            let Some(frame) = b.frame else { return };
            if b.counted {
                q.since.add(&counts);
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
                q.frames[at].1.add(&counts);
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
        eprintln!("tuff: TUFF_COUNTERS={}: {e}", file.display());
    }
}

fn kind(k: Kind) -> &'static str {
    match k {
        Kind::Dispatch => "dispatch",
        Kind::RenderPass => "render pass",
        Kind::Transfer => "transfer",
        Kind::Mark => "mark",
    }
}

fn json(devices: &[Vec<Queue>]) -> String {
    let mut total = Counts::default();
    devices.iter().flatten().flat_map(|q| &q.rows).for_each(|r| total.add(&r.2));
    let mut s = String::new();
    let _ = write!(s, "{{\n  \"gpu\": {},\n  \"total\": ", quoted(&counters::model::current().name));
    values(&mut s, &total, true);
    s.push_str(",\n  \"workloads\": [");
    let mut first = true;
    for (d, device) in devices.iter().enumerate() {
        for (q, queue) in device.iter().enumerate() {
            for (key, times, counts) in &queue.rows {
                s.push_str(if first { "\n" } else { ",\n" });
                first = false;
                let _ = write!(
                    s,
                    "    {{\"device\": {d}, \"queue\": {q}, \"kind\": {}, \"label\": {}, \"name\": {}, \"times\": \
                     {times}, \"counters\": ",
                    quoted(kind(key.kind)),
                    quoted(&key.label),
                    quoted(&key.name)
                );
                values(&mut s, counts, false);
                s.push('}');
            }
        }
    }
    s.push_str("\n  ],\n  \"frames\": [");
    let mut first = true;
    for (d, device) in devices.iter().enumerate() {
        for (q, queue) in device.iter().enumerate() {
            for (id, counts) in &queue.frames {
                s.push_str(if first { "\n" } else { ",\n" });
                first = false;
                let _ = write!(s, "    {{\"device\": {d}, \"queue\": {q}, \"frame\": {id}, \"counters\": ");
                values(&mut s, counts, false);
                s.push('}');
            }
        }
    }
    s.push_str(if first { "]\n}\n" } else { "\n  ]\n}\n" });
    s
}

/// All counters that are reported, with the cycles they would take alone; without `zeros` only those that are not 0.
fn values(s: &mut String, counts: &Counts, zeros: bool) {
    let model = counters::model::current();
    let mut c = *counts;
    machine::count::add_cycles(&mut c, model);
    s.push('{');
    let mut first = true;
    for k in counters::catalogue::reported() {
        let v = k.value(&c, model);
        let zero = matches!(v, Value::Uint64(0)) || v == Value::Float64(0.0);
        if zero && !zeros {
            continue;
        }
        s.push_str(if first { "" } else { ", " });
        first = false;
        let _ = match v {
            Value::Uint64(v) => write!(s, "\"{}\": {v}", k.machine),
            Value::Float64(v) if v.is_finite() => write!(s, "\"{}\": {v}", k.machine),
            Value::Float64(_) => write!(s, "\"{}\": null", k.machine),
        };
    }
    s.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use counters::Event;
    use machine::time::Span;

    #[test]
    fn batches_belong_to_the_frames_that_the_application_says_or_presents() {
        let ledger = Ledger::default();
        let record = |n| {
            let mut counts = Counts::default();
            counts[Event::Triangles] = n;
            let number = channel::Number { order: 0, queue_order: 0, submission: 0 };
            let (kind, none) = (Kind::RenderPass, Span::default());
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
        let key = Key { kind: Kind::Dispatch, label: "a\"\n".into(), name: String::new() };
        let q = Queue { rows: vec![(key, 2, c)], frames: vec![(77, c)], ..Queue::default() };
        let text = json(&[vec![q]]);
        assert!(
            text.contains(r#""kind": "dispatch", "label": "a\"\u000a", "name": "", "times": 2"#),
            "{text}"
        );
        assert!(text.contains(r#""TuffInputVertices": 3"#), "{text}");
        assert!(
            text.contains(r#"{"device": 0, "queue": 0, "frame": 77, "counters": {"#)
                && text.ends_with("]\n}\n"),
            "{text}"
        );
    }
}
