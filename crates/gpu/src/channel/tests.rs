use super::*;
use counters::Event;
use std::time::Duration;

/// Every reader of the process hears of all records, whichever test they are of. A test holds this for reading while a reader of its own
/// must lose none, and for writing while it publishes more than readers hold.
pub(crate) static PUBLISHED: RwLock<()> = RwLock::new(());

fn counts(n: u64) -> Counts {
    let mut c = Counts::default();
    c[Event::Triangles] = n;
    c
}

fn publish(p: &mut Publisher, n: u64) {
    let span = Span { begin: n, end: 2 * n };
    let done = Done {
        kind: WorkloadKind::Dispatch,
        views: 1,
        span,
        phases: None,
        spent: Default::default(),
        counts: &counts(n),
        seen: None,
    };
    let executed = p.executed(&Labels::default(), || (n.to_string(), MadeBy::default()));
    p.publish(executed, done);
}

/// Records of this device that are there, for other tests publish too.
fn read_all(r: &Reader, device: u32) -> Vec<Arc<Record>> {
    let next = || match r.read(Some(Duration::ZERO)) {
        Read::Record(r) => Some(r),
        _ => None,
    };
    std::iter::from_fn(next).filter(|r| r.device == device).collect()
}

#[test]
fn records_are_numbered_and_totals_kept_whether_or_not_anybody_listens() {
    let _few = PUBLISHED.read();
    let (device, mut queues) = open(2, false);
    let r = Reader::open(100).unwrap();
    queues[0].begin_batch(None, true);
    publish(&mut queues[0], 1);
    r.start();
    publish(&mut queues[0], 2);
    // A present is no submission of the application's.
    queues[0].begin_batch(None, false);
    queues[0].begin_batch(None, true);
    publish(&mut queues[0], 4);
    queues[1].begin_batch(None, true);
    publish(&mut queues[1], 8);
    r.stop();
    publish(&mut queues[1], 16);
    assert_eq!(totals(Some(device)).unwrap()[Event::Triangles], 31);
    assert!(totals(None).unwrap()[Event::Triangles] >= 31);
    assert!(totals(Some(u32::MAX)).is_none());
    let all = read_all(&r, device);
    let seen: Vec<_> = all
        .iter()
        .map(|r| (r.queue, r.number.queue_order, r.number.submission, text(&r.name), r.frame))
        .collect();
    assert_eq!(seen, [(0, 1, 0, "2", None), (0, 2, 1, "4", None), (1, 0, 0, "8", None)]);
    assert!(all[0].number.order < all[1].number.order);
    assert!(matches!(r.read(None), Read::Ended));
}

#[test]
fn frames_are_the_applications_or_counted_by_presents() {
    let _few = PUBLISHED.read();
    let (device, mut queues) = open(1, true);
    let q = &mut queues[0];
    let r = Reader::open(100).unwrap();
    r.start();
    let told = |id| Some(Frame { id, ends: false });
    for (frame, presents) in [(None, false), (None, true), (None, false), (told(7), false), (None, true)] {
        q.begin_batch(frame, true);
        publish(q, 1);
        q.end_batch(presents);
    }
    r.stop();
    let frames: Vec<_> = read_all(&r, device).iter().map(|r| r.frame).collect();
    assert_eq!(frames, [Some(0), Some(0), Some(1), Some(7), None]);
}

#[test]
fn the_oldest_are_lost_and_counted() {
    let (_, mut queues) = open(1, false);
    let (small, none) = (Reader::open(0).unwrap(), Reader::open(2).unwrap());
    assert!(matches!(none.read(None), Read::Ended), "never started");
    small.start();
    small.start();
    for n in 0..5 {
        publish(&mut queues[0], n);
    }
    small.stop();
    // Another test's may have come last.
    assert!(matches!(small.read(Some(Duration::ZERO)), Read::Record(_)));
    assert!(matches!(small.read(Some(Duration::ZERO)), Read::Ended));
    assert!(small.lost() >= 4);
}

#[test]
fn a_wait_ends_with_a_record_with_time_and_with_stop() {
    let _few = PUBLISHED.read();
    let (device, mut queues) = open(1, false);
    let r = Reader::open(1000).unwrap();
    r.start();
    std::thread::scope(|s| {
        let waits = s.spawn(|| {
            let mut found = vec![];
            while let Read::Record(r) = r.read(None) {
                found.extend((r.device == device).then(|| text(&r.name).to_string()));
            }
            found
        });
        std::thread::sleep(Duration::from_millis(20));
        publish(&mut queues[0], 3);
        std::thread::sleep(Duration::from_millis(20));
        r.stop();
        assert_eq!(waits.join().unwrap(), ["3"]);
    });
}

#[test]
fn marks_are_labels_with_the_prefix_and_bounded() {
    assert_eq!(mark_name("tuff.mark:a"), Some("tuff.mark:a"));
    assert_eq!(mark_name("tuff.mark"), None);
    assert_eq!(mark_name("my tuff.mark:a"), None);
    // 10 + 245 bytes, and then one of two bytes that does not fit whole.
    let long = format!("{MARK_PREFIX}{}é{}", "a".repeat(245), "b".repeat(300));
    assert_eq!(mark_name(&long), Some(&long[..255]));
}
