//! Acceleration structures of a capture, with the workloads whose rays meet them.

use super::capture::{Capture, Structure};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Structures that a page has, the first.
const MOST: usize = 2_000;

/// Runs whose rays meet a structure, by `order`, and how many of each do: those that begin in it, and those that begin in a structure
/// with instances of it.
fn met(all: &[Structure]) -> Vec<BTreeMap<u64, u64>> {
    let mut met: Vec<BTreeMap<u64, u64>> = vec![BTreeMap::new(); all.len()];
    for (i, s) in all.iter().enumerate() {
        let own = BTreeSet::from_iter(s.instances.iter().map(|b| b.0).chain([i]));
        for place in own {
            for (order, rays) in &s.traces {
                *met[place].entry(*order).or_default() += rays;
            }
        }
    }
    met
}

/// The structures that the page shows, and how many more there were.
pub fn of(c: &Capture) -> (Vec<Value>, u64) {
    let workloads: HashMap<u64, usize> = c.runs.iter().flatten().map(|r| (r.order, r.workload)).collect();
    let most = c.structures.len().min(MOST);
    let shown = |s: &&(usize, u64)| s.0 < most;
    let all = c.structures.iter().zip(met(&c.structures)).take(most).map(|(s, met)| {
        let mut by: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
        for (order, rays) in &met {
            let Some(w) = workloads.get(order) else { continue };
            let all = by.entry(*w).or_default();
            *all = (all.0 + 1, all.1 + rays);
        }
        let mut out = s.rest.clone();
        out.insert("name".into(), json!(s.name));
        out.insert("from".into(), json!(s.from.filter(|f| *f < most)));
        out.insert("instances".into(), json!(s.instances.iter().filter(shown).collect::<Vec<_>>()));
        out.insert("rays".into(), json!(met.values().sum::<u64>()));
        out.insert("runs".into(), json!(met.len()));
        let by: Vec<_> = by.into_iter().map(|(w, (runs, rays))| (w, runs, rays)).collect();
        out.insert("workloads".into(), json!(by));
        Value::Object(out)
    });
    (all.collect(), c.structures_lost + (c.structures.len() - most) as u64)
}
