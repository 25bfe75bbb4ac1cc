//! How many warps jobs hold while they run, by the schedule of a capture.

use super::capture::{Capture, Run, SCHEDULE};
use counters::{Job, Model};
use schedule::{Step, Steps};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Of each job of these runs, in their order, the warps that it holds on average: cycles that its warps wait by the model (what jobs that run
/// at once share), over its active cycles. And how many all cores hold. Null where there is no schedule.
pub fn of(c: &Capture, runs: &[Run]) -> Value {
    let Ok(text) = std::fs::read_to_string(c.folder.join(SCHEDULE)) else { return Value::Null };
    let Ok(steps) = serde_json::from_str::<Steps>(&text) else { return Value::Null };
    let model = &steps.model;
    let mut works: HashMap<u64, usize> = HashMap::new();
    for (_, step) in steps.devices.iter().flatten() {
        if let Step::Job { work, order, .. } = step {
            works.insert(*order, *work);
        }
    }
    let mut known: HashMap<usize, [(usize, Job); 2]> = HashMap::new();
    let mut all = vec![];
    for r in runs {
        let work = works.get(&r.order).copied().filter(|w| *w < steps.works.len());
        let jobs = work.map(|w| {
            *known.entry(w).or_insert_with(|| {
                let [a, b] = steps.works[w].jobs(model, model);
                let [p, q] = steps.works[w].phases().map(|p| p as usize);
                [(p, a), (q, b)]
            })
        });
        for j in &r.jobs {
            let queue = QUEUES.iter().position(|q| *q == j.queue);
            let of = jobs.iter().flatten().find(|(phase, _)| Some(*phase) == queue);
            all.push(of.map_or(0, |(_, job)| held(job, j.active_cycles, model)));
        }
    }
    json!({ "most": most(model), "jobs": all })
}

/// Front-end queues, by phase.
const QUEUES: [&str; 3] = ["binning", "compute", "main"];

fn most(m: &Model) -> u64 {
    m.cores * m.core.warps
}

fn held(job: &Job, active: u64, m: &Model) -> u64 {
    job.uses.warps.checked_div(active.max(job.cycles)).unwrap_or(0).min(most(m))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 cores of 64 warps; 32 000 cycles of waits in 100 cycles are 320 warps at once, in twice as many cycles half of that.
    #[test]
    fn warps_are_waits_over_time() {
        let m = Model::load(Some("g720")).unwrap();
        let uses = counters::cost::Uses { warps: 32_000, ..Default::default() };
        let job = Job { cycles: 100, uses, ..Job::default() };
        assert_eq!([held(&job, 100, &m), held(&job, 200, &m), held(&job, 0, &m)], [320, 160, 320]);
        let full = Job { cycles: 1, ..job };
        assert_eq!(held(&full, 1, &m), most(&m));
        assert_eq!(held(&Job::default(), 0, &m), 0);
    }
}
