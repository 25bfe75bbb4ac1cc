//! What each workload cost, commit by commit.

use super::entry::Entry;
use crate::diff::file::{Counters, ELAPSED};
use crate::diff::limits::{Limit, Limits};
use crate::diff::pairs::pairs;
use counters::catalogue;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Counters that a page shows.
pub const COUNTERS: [&str; 10] = [
    "MaliGPUActiveCy",
    ELAPSED,
    "TuffFmaInstr",
    "TuffCvtInstr",
    "TuffSfuInstr",
    "MaliLSIssueCy",
    "TuffTexFilterOps",
    "MaliExtBusRdBy",
    "MaliExtBusWrBy",
    "MaliFragWarp",
];

/// As the report's page has them: machine name, human name, unit, block, description, whether values add up.
pub fn counters() -> Value {
    let of = |name: &&str| match catalogue::by_machine(name) {
        Some(c) => json!([c.machine, c.human, c.unit, c.block.title(), c.description, 1]),
        None => json!([
            name,
            "Time from begin to end",
            "nanoseconds",
            "Time",
            "Modelled time from begin to end, added up",
            1
        ]),
    };
    COUNTERS.iter().map(of).collect()
}

/// A workload over commits, or all of them.
pub struct Series {
    pub name: String,
    /// By commit, its counters; `None` where it is not.
    values: Vec<Option<Counters>>,
    /// Greatest permitted values, by counter.
    budgets: BTreeMap<String, f64>,
}

impl Series {
    fn value(&self, commit: usize, counter: &str) -> Option<f64> {
        Some(self.values[commit].as_ref()?.get(counter).copied().unwrap_or(0.0))
    }

    /// Commits at which a counter is not what it was: whole values, the same in every run, so that any difference is one.
    pub fn steps(&self) -> usize {
        let differs = |i: &usize| {
            COUNTERS.iter().any(|c| {
                let both = self.value(i - 1, c).zip(self.value(*i, c));
                both.is_some_and(|(a, b)| a != b)
            })
        };
        (1..self.values.len()).filter(differs).count()
    }

    pub fn json(&self) -> Value {
        let column = |c: &&str| -> Value { (0..self.values.len()).map(|i| self.value(i, c)).collect() };
        let budget = |c: &&str| self.budgets.get(*c).copied();
        json!({
            "name": self.name, "values": COUNTERS.iter().map(column).collect::<Vec<_>>(),
            "budgets": COUNTERS.iter().map(budget).collect::<Vec<_>>(),
        })
    }
}

fn budgets(limits: impl IntoIterator<Item = (String, Limit)>) -> BTreeMap<String, f64> {
    limits.into_iter().filter_map(|(name, l)| Some((name, l.max?))).collect()
}

/// The total, then workloads, those that cost most at the end first. A workload is followed as `tuff diff` does: through edits of its shaders,
/// and whatever its order.
pub fn of(all: &[Entry], limits: &Limits) -> Vec<Series> {
    let n = all.len();
    let mut series: Vec<Series> = vec![];
    // By name in the last file, which series goes on.
    let mut open: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (at, e) in all.iter().enumerate() {
        let mut next = BTreeMap::new();
        let mut known: BTreeMap<usize, usize> = BTreeMap::new();
        if let Some(before) = at.checked_sub(1).map(|i| &all[i].file) {
            let places: BTreeMap<usize, usize> = (before.workloads.iter())
                .filter_map(|(name, w)| {
                    Some((w.place, *open.get(&(name.line.clone(), name.shaders.clone()))?))
                })
                .collect();
            for p in pairs(before, &e.file).0 {
                if let (Some(a), Some(b)) = (&p.before, &p.after)
                    && let Some(s) = places.get(&a.place)
                {
                    known.insert(b.place, *s);
                }
            }
        }
        for (name, w) in &e.file.workloads {
            let place = known.get(&w.place).copied().unwrap_or_else(|| {
                series.push(Series { name: String::new(), values: vec![None; n], budgets: BTreeMap::new() });
                series.len() - 1
            });
            series[place].name = name.line.clone();
            series[place].values[at] = Some(w.counters.clone());
            next.insert((name.line.clone(), name.shaders.clone()), place);
        }
        open = next;
    }
    let cost = |s: &Series| {
        let last = s.values.iter().rev().flatten().next();
        (
            s.values.last().is_some_and(Option::is_some),
            last.and_then(|c| c.get(COUNTERS[0])).copied().unwrap_or(0.0),
        )
    };
    series.sort_by(|a, b| {
        let (x, y) = (cost(a), cost(b));
        y.0.cmp(&x.0).then(y.1.total_cmp(&x.1)).then(a.name.cmp(&b.name))
    });
    for s in &mut series {
        s.budgets = budgets(limits.of_workload(&s.name));
    }
    let values = all.iter().map(|e| Some(e.file.total.clone())).collect();
    series.insert(0, Series { name: "all workloads".into(), values, budgets: budgets(limits.of_total()) });
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(commit: &str, rows: &[(&str, &str, u32, u64)]) -> Entry {
        let shaders: Vec<Value> = rows
            .iter()
            .map(|r| json!({ "stage": "compute", "entry": "main", "hash": r.1, "interface": "1", "sketch": format!("{:08x}{:08x}", 7, r.2) }))
            .collect();
        let workloads: Vec<Value> = rows
            .iter()
            .enumerate()
            .map(|(i, r)| {
                json!({ "kind": "dispatch", "label": "", "name": r.0, "shaders": r.1, "stages": [i], "times": 1, "elapsed_ns": 1,
                    "counters": { "TuffFmaInstr": r.3, "MaliGPUActiveCy": r.3 } })
            })
            .collect();
        let all: u64 = rows.iter().map(|r| r.3).sum();
        let v = json!({ "gpu": "x", "total": { "TuffFmaInstr": all }, "workloads": workloads, "shaders": shaders });
        let dir = client::scratch("history-entry").unwrap();
        std::fs::write(&dir, v.to_string()).unwrap();
        let e = Entry::of_file(&dir, commit.into(), String::new()).unwrap();
        std::fs::remove_file(&dir).unwrap();
        e
    }

    /// Three commits: the second edits a's shader (100 to 120) and puts b before it, the third has b no more.
    #[test]
    fn a_workload_is_followed_through_edits() {
        let all = [
            entry("1", &[("a", "aa", 1, 100)]),
            entry("2", &[("b", "bb", 2, 9), ("a", "ab", 1, 120)]),
            entry("3", &[("a", "ab", 1, 120)]),
        ];
        let limits = Limits::new(None, &[], &Counters::new()).unwrap();
        let series = of(&all, &limits);
        let fma = |s: &Series| (0..3).map(|i| s.value(i, "TuffFmaInstr")).collect::<Vec<_>>();
        let names: Vec<&str> = series.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["all workloads", "dispatch a", "dispatch b"]);
        assert_eq!(fma(&series[0]), [Some(100.0), Some(129.0), Some(120.0)]);
        assert_eq!(fma(&series[1]), [Some(100.0), Some(120.0), Some(120.0)]);
        assert_eq!(fma(&series[2]), [None, Some(9.0), None]);
        assert_eq!(series.iter().map(Series::steps).collect::<Vec<_>>(), [2, 1, 0]);
    }
}
