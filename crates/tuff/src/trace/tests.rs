//! What a trace holds, read back from its bytes by field number, as any reader of protocol buffers does.

use super::*;
use serde_json::json;

/// A field's value.
#[derive(Debug, Clone, PartialEq)]
enum Field {
    Number(u64),
    Double(f64),
    Bytes(Vec<u8>),
}

#[derive(Debug, Clone)]
struct Message(Vec<(u64, Field)>);

impl Message {
    fn read(bytes: &[u8]) -> Message {
        let (mut at, mut all) = (0, vec![]);
        let varint = |at: &mut usize| {
            let (mut v, mut shift) = (0u64, 0);
            loop {
                let b = bytes[*at];
                *at += 1;
                v |= u64::from(b & 0x7f) << shift;
                shift += 7;
                if b < 0x80 {
                    return v;
                }
            }
        };
        while at < bytes.len() {
            let tag = varint(&mut at);
            let field = match tag & 7 {
                0 => Field::Number(varint(&mut at)),
                1 => {
                    at += 8;
                    Field::Double(f64::from_le_bytes(bytes[at - 8..at].try_into().unwrap()))
                }
                2 => {
                    let n = varint(&mut at) as usize;
                    at += n;
                    Field::Bytes(bytes[at - n..at].to_vec())
                }
                other => panic!("wire type {other}"),
            };
            all.push((tag >> 3, field));
        }
        Message(all)
    }
    fn all(&self, field: u64) -> impl Iterator<Item = &Field> {
        self.0.iter().filter(move |f| f.0 == field).map(|f| &f.1)
    }
    fn messages(&self, field: u64) -> Vec<Message> {
        let bytes = |f: &Field| match f {
            Field::Bytes(b) => Message::read(b),
            other => panic!("{other:?}"),
        };
        self.all(field).map(bytes).collect()
    }
    fn message(&self, field: u64) -> Option<Message> {
        self.messages(field).into_iter().next()
    }
    fn number(&self, field: u64) -> Option<u64> {
        match self.all(field).next()? {
            Field::Number(n) => Some(*n),
            other => panic!("{other:?}"),
        }
    }
    fn text(&self, field: u64) -> Option<String> {
        match self.all(field).next()? {
            Field::Bytes(b) => Some(String::from_utf8(b.clone()).unwrap()),
            other => panic!("{other:?}"),
        }
    }
}

fn job(queue: &str, begin: u64, end: u64) -> serde_json::Value {
    json!({ "queue": queue, "begin_ns": begin, "end_ns": end, "active_cycles": 13, "blocked_cycles": 0,
        "drained_cycles": 0, "waited_cycles": 4, "bound": "memory", "takes": {} })
}

/// Two frames: a dispatch in Arm's tag; a render pass whose binning lies beside its predecessor's main phase; a copy.
fn capture() -> Capture {
    let workload = |kind: &str, label: &str, name: &str| {
        json!({ "device": 0, "queue": 1, "kind": kind, "label": label, "name": name, "times": 1, "begin_ns": 0,
            "end_ns": 0, "elapsed_ns": 0, "counters": {} })
    };
    let run = |workload: u64, frame: u64, jobs: serde_json::Value, counters: serde_json::Value| json!({ "workload": workload, "frame": frame, "submission": frame, "order": 0, "jobs": jobs, "counters": counters });
    let all = json!({
        "version": 1, "gpu": "g", "model": {}, "total": {}, "frames": [],
        "workloads": [workload("dispatch", "all/t17", "main 1x1x1"), workload("render pass", "city", "64x64"),
            workload("transfer", "", "copy image to buffer")],
        "runs": [
            run(0, 1, json!([job("compute", 100, 200)]), json!({ "TuffFmaInstr": 50, "MaliGPUIRQActiveCy": 0 })),
            run(1, 1, json!([job("binning", 150, 250), job("main", 250, 350)]), json!({ "TuffFmaInstr": 400 })),
            run(1, 2, json!([job("binning", 300, 400), job("main", 400, 500)]), json!({ "TuffFmaInstr": 400 })),
            run(2, 2, json!([job("main", 500, 500)]), json!({ "MaliMainQueueJob": 1 })),
        ],
    });
    let folder = temporary::folder("tuff-").unwrap();
    let file = folder.path().join("trace.json");
    std::fs::write(&file, all.to_string()).unwrap();
    let capture = Capture::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    capture
}

fn packets() -> Vec<Message> {
    Message::read(&perfetto(&capture()).unwrap()).messages(1)
}

#[test]
fn each_job_is_a_slice_of_its_queue() {
    let all = packets();
    // InternedData.gpu_specifications: names by number.
    let names: BTreeMap<u64, String> = all[0]
        .message(12)
        .unwrap()
        .messages(24)
        .iter()
        .map(|s| (s.number(1).unwrap(), s.text(2).unwrap()))
        .collect();
    let told: Vec<_> = all
        .iter()
        .filter_map(|p| Some((p.number(8)?, p.message(53)?)))
        .map(|(begin, e)| {
            let name = |field| names[&e.number(field).unwrap()].clone();
            (begin, e.number(2).unwrap(), name(13), name(14), e.number(10).unwrap())
        })
        .collect();
    let slice = |begin, duration, queue: &str, stage: &str, submission| {
        (begin, duration, queue.to_string(), stage.to_string(), submission)
    };
    assert_eq!(
        told,
        [
            slice(100, 100, "compute", "compute", 1),
            slice(150, 100, "binning", "binning", 1),
            slice(250, 100, "main", "main", 1),
            slice(300, 100, "binning", "binning", 2),
            slice(400, 100, "main", "main", 2),
            slice(500, 0, "main", "copy buffer", 2),
        ]
    );
}

/// Under the names that Arm's reader of Mali's traces knows.
#[test]
fn builds_and_traces_of_rays_have_stages() {
    for (kind, name, want) in [
        ("trace rays", "main 64x36x1", "trace_rays"),
        ("transfer", "build acceleration structures", "acceleration structure 'fast trace' build"),
        (
            "transfer",
            "build acceleration structures (fast build)",
            "acceleration structure 'fast build' build",
        ),
        ("transfer", "update acceleration structures", "acceleration structure update"),
        ("transfer", "copy acceleration structure", "copy buffer"),
        ("transfer", "serialize acceleration structure", "acceleration structure copy to memory"),
        ("transfer", "deserialize acceleration structure", "acceleration structure copy from memory"),
        ("transfer", "build micromaps", "compute"),
    ] {
        let mut capture = capture();
        let of = &mut capture.workloads[0];
        (of.kind, of.name) = (kind.into(), name.into());
        let all = Message::read(&perfetto(&capture).unwrap()).messages(1);
        let specifications = all[0].message(12).unwrap().messages(24);
        let event = all.iter().find_map(|p| p.message(53)).unwrap();
        let named = |field| {
            let number = event.number(field);
            specifications.iter().find(|s| s.number(1) == number).and_then(|s| s.text(2)).unwrap()
        };
        assert_eq!((named(13).as_str(), named(14).as_str()), ("compute", want), "{name}");
    }
}

/// Arm's tag alone is what its metadata knows; an application's labels are told whole.
#[test]
fn events_have_their_labels() {
    let all = packets();
    let label = |e: &Message| {
        e.messages(6).iter().find(|x| x.text(1).as_deref() == Some("Labels")).map(|x| x.text(2).unwrap())
    };
    let labels: Vec<_> = all.iter().filter_map(|p| p.message(53)).map(|e| label(&e)).collect();
    let city = || Some("city".to_string());
    assert_eq!(labels, [Some("t17".into()), city(), city(), city(), city(), None]);
    assert_eq!(
        ["t1", "a/t1", "a/b", "t", "a/t1x", "t1/a"].map(tag),
        ["t1", "t1", "a/b", "t", "a/t1x", "t1/a"]
    );
}

#[test]
fn clocks_are_told_at_both_ends() {
    let all = packets();
    let snapshots: Vec<_> = all.iter().filter_map(|p| p.message(6)).collect();
    let clocks = |s: &Message| {
        s.messages(1).iter().map(|c| (c.number(1).unwrap(), c.number(2).unwrap())).collect::<Vec<_>>()
    };
    // MONOTONIC, MONOTONIC_RAW (Arm's readers go by it) and BOOTTIME, which timestamps are of.
    let want = |ns| vec![(3, ns), (5, ns), (6, ns)];
    assert_eq!(snapshots.iter().map(clocks).collect::<Vec<_>>(), [want(100), want(500)]);
    // All packets are of one sequence, whose state the first one clears.
    assert!(all.iter().all(|p| p.number(10) == Some(1)));
    assert_eq!(all.iter().map(|p| p.number(13).unwrap()).filter(|f| *f == 1).count(), 1);
    assert_eq!(all[0].number(13), Some(1));
}

/// A track's slices do not overlap: what does has another track of that name. Frame 2 begins when frame 1 has not ended.
#[test]
fn frames_and_labels_are_slices_of_tracks() {
    let all = packets();
    let tracks: BTreeMap<u64, String> = all
        .iter()
        .filter_map(|p| p.message(60))
        .map(|t| (t.number(1).unwrap(), t.text(2).unwrap()))
        .collect();
    let mut slices: BTreeMap<u64, Vec<(u64, String)>> = BTreeMap::new();
    for p in &all {
        let Some(e) = p.message(11) else { continue };
        let what = match e.number(9) {
            Some(1) => e.text(23).unwrap(),
            Some(2) => "end".into(),
            other => panic!("{other:?}"),
        };
        slices.entry(e.number(11).unwrap()).or_default().push((p.number(8).unwrap(), what));
    }
    let told: Vec<_> = slices.iter().map(|(t, s)| (tracks[t].as_str(), s.clone())).collect();
    let slice = |begin: u64, what: &str, end: u64| vec![(begin, what.to_string()), (end, "end".to_string())];
    assert_eq!(
        told,
        [
            ("Frames", slice(100, "frame 1", 350)),
            ("Frames", slice(300, "frame 2", 500)),
            ("Labels", slice(100, "all/t17", 200)),
            ("Labels", slice(150, "city", 500)),
        ]
    );
}

/// A run's counts are spread over its time: of 50 from 100 to 200, half until 150; of 400 from 150 to 350 a quarter each 50.
/// What is sampled adds up.
#[test]
fn samples_add_up_to_what_was_counted() {
    let all = packets();
    let events: Vec<_> = all.iter().filter_map(|p| Some((p.number(8)?, p.message(52)?))).collect();
    let specs: Vec<_> = events[0]
        .1
        .message(1)
        .unwrap()
        .messages(1)
        .iter()
        .map(|s| (s.number(1).unwrap(), s.text(2).unwrap()))
        .collect();
    let place = specs.iter().find(|s| s.1 == "FMA warp-instructions").unwrap().0;
    assert_eq!(specs.len(), 2, "FMA, and jobs of the main queue: what is 0 in all is left out: {specs:?}");
    let value = |e: &Message| {
        let of = e.messages(2).into_iter().find(|c| c.number(1) == Some(place))?;
        of.all(3).next().map(|f| match f {
            Field::Double(v) => *v,
            other => panic!("{other:?}"),
        })
    };
    let samples: Vec<_> = events[1..].iter().filter_map(|(t, e)| Some((*t, value(e)?))).collect();
    assert_eq!(samples, [(100, 0.0), (150, 25.0), (200, 125.0), (300, 200.0), (350, 200.0), (500, 300.0)]);
    assert_eq!(samples.iter().map(|s| s.1).sum::<f64>(), 850.0);
}
