//! A capture with the work of some frames alone.

use super::capture::{Capture, Counters, Job, Run, Workload};
use crate::sums;
use counters::Model;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// Adds the numbers of `more` to those of `to`.
fn add(to: &mut Map<String, Value>, more: &Map<String, Value>) {
    for (key, v) in more {
        let sum = to.get(key).and_then(Value::as_u64).unwrap_or(0) + v.as_u64().unwrap_or(0);
        to.insert(key.clone(), sum.into());
    }
}

/// The jobs of runs as one of each queue, as the driver's workloads have them.
fn jobs(runs: &[&Run]) -> Vec<Job> {
    let mut all: Vec<Job> = vec![];
    for j in runs.iter().flat_map(|r| &r.jobs) {
        let at = all.iter().position(|a| a.queue == j.queue).unwrap_or_else(|| {
            let none = || Map::new();
            all.push(Job {
                queue: j.queue.clone(),
                begin_ns: 0,
                end_ns: 0,
                active_cycles: 0,
                blocked_cycles: 0,
                drained_cycles: 0,
                waited_cycles: 0,
                bound: None,
                takes: none(),
                bounds: none(),
                waits: none(),
            });
            all.len() - 1
        });
        let sum = &mut all[at];
        sum.active_cycles += j.active_cycles;
        sum.blocked_cycles += j.blocked_cycles;
        sum.drained_cycles += j.drained_cycles;
        sum.waited_cycles += j.waited_cycles;
        add(&mut sum.takes, &j.takes);
        add(&mut sum.waits, &j.waits);
        if let Some(by) = &j.bound {
            let cycles = Map::from_iter([(by.clone(), json!(j.active_cycles))]);
            add(&mut sum.bounds, &cycles);
        }
    }
    for j in &mut all {
        let most = j.bounds.iter().max_by_key(|b| b.1.as_u64());
        j.bound = most.map(|b| b.0.clone());
    }
    all
}

/// What these add up to.
fn sum<'a>(parts: impl Iterator<Item = &'a Counters>, model: &Option<Model>) -> Counters {
    let parts: Vec<&Counters> = parts.collect();
    model.as_ref().map_or_else(Counters::new, |m| sums::of(&parts, m))
}

/// A workload with these of its runs.
fn workload(w: &Workload, runs: &[&Run], model: &Option<Model>) -> Workload {
    let spans = runs.iter().flat_map(|r| &r.jobs);
    Workload {
        device: w.device,
        queue: w.queue,
        kind: w.kind.clone(),
        label: w.label.clone(),
        name: w.name.clone(),
        pipelines: w.pipelines.clone(),
        times: runs.len() as u64,
        begin_ns: spans.clone().map(|j| j.begin_ns).min().unwrap_or(0),
        end_ns: spans.map(|j| j.end_ns).max().unwrap_or(0),
        jobs: jobs(runs),
        operators: w.operators.clone(),
        counters: sum(runs.iter().map(|r| &r.counters), model),
    }
}

impl Capture {
    /// Leaves the runs of these frames, and what follows from them. Shaders and structures stay those of all frames.
    ///
    /// # Errors
    /// It has no runs, or none of these frames.
    pub fn only(&mut self, frames: &[RangeInclusive<u64>]) -> Result<(), String> {
        let within = |f: u64| frames.iter().any(|r| r.contains(&f));
        let runs = self
            .runs
            .take()
            .ok_or("frames are told apart in captures alone, not in files of `run --counters`")?;
        let mut places: HashMap<usize, usize> = HashMap::new();
        let mut kept: Vec<Run> = vec![];
        for (i, r) in runs.into_iter().enumerate().filter(|(_, r)| r.frame.is_some_and(within)) {
            places.insert(i, kept.len());
            kept.push(r);
        }
        if kept.is_empty() {
            return Err("it has no work of these frames".into());
        }
        let model = serde_json::from_value::<Model>(self.model.clone()).ok();
        let mut by: Vec<Vec<usize>> = vec![vec![]; self.workloads.len()];
        kept.iter().enumerate().for_each(|(i, r)| by[r.workload].push(i));
        let (mut workloads, mut moved) = (vec![], HashMap::new());
        for (i, (w, own)) in
            self.workloads.iter().zip(&by).enumerate().filter(|(_, (_, own))| !own.is_empty())
        {
            moved.insert(i, workloads.len());
            let runs: Vec<&Run> = own.iter().map(|r| &kept[*r]).collect();
            workloads.push(workload(w, &runs, &model));
        }
        kept.iter_mut().for_each(|r| r.workload = moved[&r.workload]);
        self.total = sum(kept.iter().map(|r| &r.counters), &model);
        self.frames.retain(|f| within(f.frame));
        self.passes.retain_mut(|p| {
            let places = places.get(&p.run).zip(moved.get(&p.workload));
            places.map(|(run, workload)| (p.run, p.workload) = (*run, *workload)).is_some()
        });
        (self.workloads, self.runs) = (workloads, Some(kept));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three frames of one workload, and a second that ran in the first frame alone: frames 1 and 2 have 30 + 50 cycles.
    #[test]
    fn what_is_left_adds_up() {
        let job = |begin: u64, active: u64, bound: &str| {
            json!({
                "queue": "main", "begin_ns": begin, "end_ns": begin + 10, "active_cycles": active, "blocked_cycles": 0, "drained_cycles": 0,
                "waited_cycles": 1, "bound": bound, "takes": { "memory": active }, "waits": { "binning": 2 },
            })
        };
        let run = |workload: u64, frame: u64, active: u64, bound: &str| json!({ "workload": workload, "frame": frame, "submission": 0, "order": frame, "jobs": [job(frame * 100, active, bound)], "counters": { "MaliGPUActiveCy": active } });
        let workload = |name: &str| json!({ "device": 0, "queue": 0, "kind": "render pass", "label": "", "name": name, "times": 9, "begin_ns": 0, "end_ns": 9, "counters": {} });
        let frame = |n: u64| json!({ "device": 0, "queue": 0, "frame": n, "counters": {} });
        let mut c: Capture = serde_json::from_value(json!({
            "version": 1, "gpu": "g720", "model": Model::default(), "total": { "MaliGPUActiveCy": 187 },
            "workloads": [workload("first"), workload("each")], "frames": [frame(0), frame(1), frame(2)],
            "runs": [run(0, 0, 7, "l2"), run(1, 0, 100, "l2"), run(1, 1, 30, "memory"), run(1, 2, 50, "texture")],
            "passes": [{ "workload": 1, "run": 3 }, { "workload": 0, "run": 0 }],
        }))
        .unwrap();
        c.only(&[1..=2]).unwrap();
        assert_eq!((c.workloads.len(), c.frames.len(), c.passes.len()), (1, 2, 1));
        let (w, p) = (&c.workloads[0], &c.passes[0]);
        assert_eq!((&*w.name, w.times, w.begin_ns, w.end_ns), ("each", 2, 100, 210));
        assert_eq!((w.cycles(), c.total["MaliGPUActiveCy"].as_u64()), (80.0, Some(80)));
        let j = &w.jobs[0];
        assert_eq!((j.active_cycles, j.waited_cycles, j.bound.as_deref()), (80, 2, Some("texture")));
        assert_eq!((&j.takes["memory"], &j.waits["binning"]), (&json!(80), &json!(4)));
        assert_eq!((p.workload, p.run), (0, 1));
        assert!(c.only(&[7..=9]).is_err());
    }
}
