//! What a whole program cost, workload by workload, for `tuff run --counters`: the driver writes it to the file that
//! `TUFF_COUNTERS` names when devices are destroyed and when the process ends.
//!
//! Equal workloads (kind, labels around them, name) are added up, in the order of their first appearance. Nothing in
//! the file depends on the host's clock or threads.

use crate::command::Frame;
use counters::{Counts, Value};
use parking_lot::Mutex;
use shader::instrument::quoted;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{LazyLock, Once};

/// What a workload is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    /// `dispatch`, `render pass` or `transfer`.
    pub kind: &'static str,
    /// VK_EXT_debug_utils labels of the command buffer, outermost first, with `/` between them.
    pub label: String,
    /// Entry point and workgroups; size and attachments; kind of transfer.
    pub name: String,
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

/// By device, in order of creation, and queue.
static DEVICES: Mutex<Vec<Vec<Queue>>> = Mutex::new(Vec::new());
static FILE: LazyLock<Option<PathBuf>> =
    LazyLock::new(|| std::env::var_os("TUFF_COUNTERS").filter(|f| !f.is_empty()).map(PathBuf::from));

/// Where a queue writes what it did.
pub struct Ledger {
    device: usize,
    queue: usize,
    /// The application says which frame a batch is of (VK_EXT_frame_boundary). Else a frame ends where it presents.
    told: bool,
}

/// Ledgers of a new device's queues; `None` when nobody asked for them.
pub fn open(queues: usize) -> Vec<Option<Ledger>> {
    if FILE.is_none() {
        return (0..queues).map(|_| None).collect();
    }
    static AT_EXIT: Once = Once::new();
    extern "C" fn at_exit() {
        // No panic may cross into C.
        let _ = std::panic::catch_unwind(write);
    }
    // SAFETY: the function needs nothing that is gone when a process ends.
    AT_EXIT.call_once(|| unsafe {
        libc::atexit(at_exit);
    });
    let mut devices = DEVICES.lock();
    devices.push((0..queues).map(|_| Queue::default()).collect());
    let device = devices.len() - 1;
    (0..queues).map(|queue| Some(Ledger { device, queue, told: false })).collect()
}

impl Ledger {
    /// `label`: the labels around it.
    pub fn add(&mut self, kind: &'static str, label: String, name: String, counts: &Counts) {
        let key = Key { kind, label, name };
        let mut devices = DEVICES.lock();
        let q = &mut devices[self.device][self.queue];
        let at = *q.index.entry(key.clone()).or_insert_with(|| {
            q.rows.push((key, 0, Counts::default()));
            q.rows.len() - 1
        });
        q.rows[at].1 += 1;
        q.rows[at].2.add(counts);
        q.batch.add(counts);
    }

    /// A batch has run, of this frame. Frames may overlap: the numbers tell whose a batch is. On other queues the same
    /// number has a line of its own, whether or not that is where the frame ends. Batches without a number are of no
    /// frame, once there are numbers.
    pub fn batch(&mut self, frame: Option<Frame>, presents: bool) {
        self.told |= frame.is_some();
        let mut devices = DEVICES.lock();
        let q = &mut devices[self.device][self.queue];
        let counts = std::mem::take(&mut q.batch);
        match frame {
            Some(f) => {
                if !q.open.contains_key(&f.id) && q.frames.len() < MAX_FRAMES {
                    q.open.insert(f.id, q.frames.len());
                    q.frames.push((f.id, Counts::default()));
                }
                if let Some(&at) = q.open.get(&f.id) {
                    q.frames[at].1.add(&counts);
                }
                if f.ends {
                    q.open.remove(&f.id);
                }
            }
            None if !self.told => {
                q.since.add(&counts);
                if presents {
                    let counts = std::mem::take(&mut q.since);
                    if q.frames.len() < MAX_FRAMES {
                        q.frames.push((q.frames.len() as u64, counts));
                    }
                }
            }
            None => {}
        }
    }
}

/// Writes the file, if one is wanted.
pub fn write() {
    let Some(file) = &*FILE else { return };
    let text = json(&DEVICES.lock());
    if let Err(e) = std::fs::write(file, text) {
        eprintln!("tuff: TUFF_COUNTERS={}: {e}", file.display());
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
                    quoted(key.kind),
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
    crate::count::add_cycles(&mut c, model);
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

    #[test]
    fn batches_belong_to_the_frames_that_the_application_says_or_presents() {
        let c = |n| {
            let mut c = Counts::default();
            c[Event::Triangles] = n;
            c
        };
        DEVICES.lock().push(vec![Queue::default()]);
        let device = DEVICES.lock().len() - 1;
        let mut l = Ledger { device, queue: 0, told: false };
        let mut work = |n, frame, presents| {
            l.add("render pass", String::new(), String::new(), &c(n));
            l.batch(frame, presents);
        };
        work(1, None, false);
        work(2, None, true);
        work(4, Some(Frame { id: 9, ends: false }), true);
        // Told once, what has no number is of no frame, and presenting ends none.
        work(8, None, true);
        // The next frame begins before frame 9 has ended.
        work(16, Some(Frame { id: 10, ends: false }), false);
        work(32, Some(Frame { id: 9, ends: true }), false);
        work(64, Some(Frame { id: 10, ends: true }), false);
        // A number again is another frame; this one has not ended yet.
        work(128, Some(Frame { id: 9, ends: false }), false);
        let devices = DEVICES.lock();
        let frames: Vec<_> = devices[device][0].frames.iter().map(|f| (f.0, f.1[Event::Triangles])).collect();
        assert_eq!(frames, [(0, 3), (9, 36), (10, 80), (9, 128)]);
    }

    #[test]
    fn equal_workloads_are_added_up_and_strings_are_quoted() {
        let mut c = Counts::default();
        c[Event::InputVertices] = 3;
        let key = Key { kind: "dispatch", label: "a\"\n".into(), name: String::new() };
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
