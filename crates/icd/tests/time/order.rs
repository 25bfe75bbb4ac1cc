//! Work of several queues which nothing orders is placed in the order in which it was submitted: on every run, with any number of
//! threads, whatever the pace of the host.

use super::{Heavy, QUERIES};
use ash::vk;
use random::Random;
use vk::PipelineStageFlags2 as Stages;

const CHILD: &str = "TUFF_TEST_ORDER";
const RUNS: u64 = 20;
/// No wait here takes so long: an end of one that has none.
const PATIENCE: u64 = 60_000_000_000;

/// Sleeps of up to two milliseconds, or none.
struct Pace(Random);
impl Pace {
    fn dawdle(&mut self) {
        if !self.0.once_in(4) {
            std::thread::sleep(std::time::Duration::from_micros(self.0.below(2048).into()));
        }
    }
}

/// What a submission waits for and signals.
#[derive(Clone, Copy, Default)]
struct Ties {
    wait: Option<(vk::Semaphore, u64)>,
    signal: Option<(vk::Semaphore, u64)>,
}

// SAFETY (all blocks): handles are alive, structures outlive the calls.
fn submit(h: &Heavy, queue: vk::Queue, ties: Ties, record: impl FnOnce(vk::CommandBuffer)) {
    let c = [vk::CommandBufferSubmitInfo::default().command_buffer(h.c.g.record(|_, c| record(c)))];
    let all = |tie: Option<(vk::Semaphore, u64)>| -> Vec<_> {
        let op = |(s, v)| vk::SemaphoreSubmitInfo::default().semaphore(s).value(v);
        tie.into_iter().map(|t| op(t).stage_mask(Stages::ALL_COMMANDS)).collect()
    };
    let (waits, signals) = (all(ties.wait), all(ties.signal));
    let info = [vk::SubmitInfo2::default()
        .command_buffer_infos(&c)
        .wait_semaphore_infos(&waits)
        .signal_semaphore_infos(&signals)];
    unsafe { h.c.g.device.queue_submit2(queue, &info, vk::Fence::null()) }.unwrap();
}

/// A dispatch that has all cores, so that another goes before or after it, and when it ended.
fn work(h: &Heavy, c: vk::CommandBuffer, n: u32, query: u32) {
    h.dispatch(c, 160, n);
    h.stamp(c, query, Stages::COMPUTE_SHADER);
}

fn timeline(h: &Heavy) -> vk::Semaphore {
    let mut ty = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut ty);
    unsafe { h.c.g.device.create_semaphore(&info, None) }.unwrap()
}

/// Until the device is idle, if it ever is: then the queries' stamps.
fn stamps<const N: usize>(h: &Heavy) -> [u64; N] {
    assert!(N <= QUERIES as usize);
    let d = &h.c.g.device;
    unsafe {
        for queue in [h.c.g.queue, h.second] {
            let fence = d.create_fence(&Default::default(), None).unwrap();
            d.queue_submit2(queue, &[], fence).unwrap();
            d.wait_for_fences(&[fence], true, PATIENCE).expect("the queue ends its work");
            d.destroy_fence(fence, None);
        }
    }
    h.times::<N>(0)
}

/// Ends of a long dispatch, a short one of another queue that was submitted after it, and so on in turn; the latter's pass last.
fn turns(seed: u64) -> [u64; 5] {
    let (h, mut pace) = (Heavy::new(), Pace(Random::new(seed)));
    for i in 0..4 {
        let (queue, n) = if i % 2 == 0 { (h.c.g.queue, 2000) } else { (h.second, 100) };
        submit(&h, queue, Ties::default(), |c| work(&h, c, n, i));
        pace.dawdle();
    }
    submit(&h, h.second, Ties::default(), |c| {
        h.pass(c, || h.draw(c, 100));
        h.stamp(c, 4, Stages::COLOR_ATTACHMENT_OUTPUT);
    });
    let t = stamps(&h);
    h.free();
    t
}

/// What waits for a value that nobody has submitted yet, and what its queue has after it, gives others way, and has its turn when
/// that value's signal is submitted: before what comes later.
fn waits_before_signals(seed: u64) -> [u64; 5] {
    let (h, mut pace) = (Heavy::new(), Pace(Random::new(seed)));
    let (first, second) = (h.c.g.queue, h.second);
    let s = timeline(&h);
    let submissions: [(vk::Queue, Ties); 5] = [
        (second, Ties { wait: Some((s, 7)), signal: Some((s, 9)) }),
        (second, Ties::default()),
        (first, Ties::default()),
        (first, Ties { wait: None, signal: Some((s, 7)) }),
        (first, Ties::default()),
    ];
    for (i, (queue, ties)) in submissions.into_iter().enumerate() {
        submit(&h, queue, ties, |c| work(&h, c, 500 + 100 * i as u32, i as u32));
        pace.dawdle();
    }
    let t = stamps(&h);
    unsafe { h.c.g.device.destroy_semaphore(s, None) };
    h.free();
    t
}

/// A chain over both queues and the host, each link of which is submitted before what it waits for; work that is not in it goes on.
fn chain(seed: u64) -> [u64; 4] {
    let (h, mut pace) = (Heavy::new(), Pace(Random::new(seed)));
    let (first, second, d) = (h.c.g.queue, h.second, &h.c.g.device);
    let s = timeline(&h);
    let link = |wait, signal| Ties { wait: Some((s, wait)), signal: Some((s, signal)) };
    submit(&h, first, link(2, 3), |c| work(&h, c, 300, 2));
    pace.dawdle();
    submit(&h, second, Ties::default(), |c| work(&h, c, 200, 0));
    pace.dawdle();
    submit(&h, second, link(1, 2), |c| work(&h, c, 400, 1));
    pace.dawdle();
    submit(&h, second, link(3, 4), |c| work(&h, c, 500, 3));
    pace.dawdle();
    unsafe { d.signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(s).value(1)) }.unwrap();
    let t = stamps(&h);
    unsafe { d.destroy_semaphore(s, None) };
    h.free();
    t
}

/// Work of another queue between two halves of a submission that waits for an event of the host's: also if it is set before the
/// first half ends. `heard`: the host sets it when it has heard of the other queue's end.
fn halves(seed: u64, heard: bool) -> [u64; 3] {
    let (h, mut pace) = (Heavy::new(), Pace(Random::new(seed)));
    let d = &h.c.g.device;
    let event = unsafe { d.create_event(&Default::default(), None) }.unwrap();
    submit(&h, h.c.g.queue, Ties::default(), |c| {
        work(&h, c, 2000, 0);
        let (host, all) = (vk::PipelineStageFlags::HOST, vk::PipelineStageFlags::ALL_COMMANDS);
        unsafe { d.cmd_wait_events(c, &[event], host, all, &[], &[], &[]) };
        work(&h, c, 300, 2);
    });
    pace.dawdle();
    submit(&h, h.second, Ties::default(), |c| work(&h, c, 200, 1));
    pace.dawdle();
    if heard {
        let _: [u64; 1] = h.times(1);
    }
    unsafe { d.set_event(event) }.unwrap();
    let t = stamps(&h);
    unsafe { d.destroy_event(event, None) };
    h.free();
    t
}

/// All of them, by the pace that a seed gives.
fn all(seed: u64) -> Vec<u64> {
    let mut t = turns(seed).to_vec();
    t.extend(waits_before_signals(seed));
    t.extend(chain(seed));
    t.extend(halves(seed, false));
    t.extend(halves(seed, true));
    t
}

/// Each begins when the one before it ends, as all of them want all cores.
fn follow(t: &[u64], order: &[usize]) {
    assert!(order.windows(2).all(|w| t[w[0]] < t[w[1]]), "{t:?}, not in the order {order:?}");
}

#[test]
fn queues_take_turns_as_they_were_given_work() {
    // The pass came last; it has what dispatches leave of the cores, which is nothing.
    follow(&turns(1), &[0, 1, 2, 3, 4]);
}

#[test]
fn what_waits_for_what_is_not_submitted_gives_way() {
    follow(&waits_before_signals(2), &[2, 3, 0, 1, 4]);
    follow(&chain(3), &[0, 1, 2, 3]);
}

#[test]
fn who_waits_for_an_event_gives_way() {
    follow(&halves(4, false), &[0, 1, 2]);
    follow(&halves(5, true), &[0, 1, 2]);
}

/// Run by the test below: what came of each of some runs.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_some() {
        (0..RUNS).for_each(|seed| println!("\nstamps;{:?}", all(seed)));
    }
}

#[test]
fn the_same_on_every_run_with_any_number_of_threads() {
    let first = format!("{:?}", all(0));
    for threads in ["1", "2", "4"] {
        let mut me = std::process::Command::new(std::env::current_exe().expect("this program"));
        me.args(["--exact", "time::order::child", "--nocapture"]).env(CHILD, "").env("TUFF_THREADS", threads);
        let out = me.output().expect("it runs");
        let said = String::from_utf8_lossy(&out.stdout);
        let runs: Vec<&str> = said.lines().filter_map(|l| l.strip_prefix("stamps;")).collect();
        assert_eq!(runs.len() as u64, RUNS, "{said}{}", String::from_utf8_lossy(&out.stderr));
        for run in runs {
            assert_eq!(run, first, "{threads} threads");
        }
    }
}
