use super::file::{self, Number};
use super::*;
use counters::{Event, Model, Value};

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
            spent: Default::default(),
            label,
            name,
            made_by: MadeBy::default(),
            counts,
            seen: None,
            uses: None,
            graph: None,
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
    let devices = ledger.devices.lock();
    let frames: Vec<_> = devices[1][1].frames.iter().map(|f| (f.0, f.1[Event::Triangles])).collect();
    assert_eq!(frames, [(0, 3), (9, 36), (10, 80), (9, 128)]);
}

#[test]
fn equal_workloads_are_added_up_and_strings_are_quoted() {
    let mut c = Counts::default();
    c[Event::InputVertices] = 3;
    let key = Key {
        kind: WorkloadKind::Dispatch,
        label: "a\"\n".into(),
        name: String::new(),
        made_by: MadeBy::default(),
    };
    let mut row = Row::new(key);
    row.add(Span { begin: 100, end: 130 }, &Counts::default(), &Default::default());
    row.add(Span { begin: 140, end: 150 }, &c, &Default::default());
    let q = Queue { rows: vec![row], frames: vec![(77, c)], ..Queue::default() };
    let text = String::from_utf8(file::json(&[vec![q]], None)).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let row =
        r#"{"device":0,"queue":0,"kind":"dispatch","label":"a\"\n","name":"","times":2,"begin_ns":100,"#;
    let row = format!(r#"{row}"end_ns":150,"elapsed_ns":40,"jobs":[],"counters":{{"#);
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
