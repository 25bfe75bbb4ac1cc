use super::Rule;
use super::needs::{flags, needs};
use crate::advise::{About, Case, Item};
use schedule::Step;
use std::collections::{BTreeMap, HashMap};

pub const RULE: Rule = Rule {
    id: "bubbles",
    title: "The GPU drains because the program waits for it",
    threshold: "work is submitted only after the program has learned that earlier work has ended, and without these waits, but with all dependencies \
                by what is read and written, the schedule is at least 1 % shorter",
    why: "While the program waits for the GPU, nothing is queued. The queues run dry: the vertices of the next pass could have been binned while the \
          fragments of the last one were drawn. On a device, the time in which the program prepares the next submission comes on top.",
    cure: "Do not wait for a fence, a queue or the device between submissions of a frame. Keep two or three frames in flight, read results one or two frames \
           later, and order work on the GPU by barriers and semaphores.",
    source: "Vulkan GPU pipelining; Vulkan pipeline synchronization; Pipelined resource updates",
    find,
};

const LEAST: f64 = 0.01;

fn find(rule: &'static Rule, case: &Case) -> Vec<Item> {
    let runs: HashMap<u64, usize> =
        case.capture.runs.iter().flatten().map(|r| (r.order, r.workload)).collect();
    let mut steps = HashMap::new();
    let mut next: BTreeMap<usize, usize> = BTreeMap::new();
    for (device, all) in case.steps.devices.iter().enumerate() {
        // The first time is when nothing has run yet.
        let waits = |s: &Step| matches!(s, Step::Floor(t) if *t > 1);
        let needs = needs(case, device).floors;
        let mut latest: HashMap<usize, u64> = HashMap::new();
        for (n, (queue, step)) in all.iter().enumerate() {
            let Step::Floor(t) = step else { continue };
            // Only what the program has learned since.
            let before = latest.insert(*queue, *t).unwrap_or(1);
            if !waits(step) || *t == before {
                continue;
            }
            let [first, second] = needs.get(&n).copied().unwrap_or([u32::MAX; 2]);
            steps.insert((device, n), Step::Barrier(flags(first), flags(second)));
            let job = all[n + 1..].iter().find_map(|(q, s)| match s {
                Step::Job { order, .. } if q == queue => runs.get(order),
                _ => None,
            });
            job.iter().for_each(|w| *next.entry(**w).or_default() += 1);
        }
    }
    let count: usize = next.values().sum();
    if steps.is_empty() || count == 0 {
        return vec![];
    }
    let gain = case.gain_of_steps(
        steps,
        "the schedule without these waits: in their place, what follows waits for the stages whose results it uses",
    );
    if gain.ns < LEAST * case.whole as f64 {
        return vec![];
    }
    let mut next: Vec<(usize, usize)> = next.into_iter().collect();
    next.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let about = next.iter().map(|(w, n)| {
        let of = &case.capture.workloads[*w];
        About {
            kind: "submission",
            label: plain::line(&of.label).into_owned(),
            name: format!("before {}", of.line()),
            of: String::new(),
            detail: crate::report::many(*n, "wait"),
            workload: Some(*w),
            draw: None,
        }
    });
    vec![Item {
        rule,
        says: format!(
            "{count} times the program waits until the GPU has nothing left to do before it submits more."
        ),
        cure: None,
        about: about.collect(),
        more: 0,
        lines: vec![],
        gain,
    }]
}
