//! Parts of a run, for machines that know nothing of each other: who has the same lists and costs cuts them the same way.

use crate::baseline::Baseline;
use crate::cases::Category;
use std::collections::BTreeMap;
use std::path::Path;

/// Cases that stay together, in their list's order: starting deqp-vk costs as much as some of them.
const BLOCK: usize = 20;

/// Seconds that a case takes at least: a run's JSON has no less, and cases that take nothing would all go to one shard.
const LEAST: f64 = 0.001;

/// One of the parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shard {
    /// From 1.
    pub index: usize,
    pub count: usize,
}

impl Shard {
    /// `I/N`, `slurm` or `kubernetes/N`: the last two ask for the job's variables.
    pub fn parse(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Shard, String> {
        let number = |what: &str, text: &str| -> Result<usize, String> {
            text.parse().map_err(|_| format!("--shard: {what} is no number: {text:?}"))
        };
        let of = |name: &str| {
            let value = variable(name).ok_or_else(|| format!("--shard {text}: {name} is not set"))?;
            number(name, &value)
        };
        let shard = if text == "slurm" {
            // --array=3-9:2 has the ids 3, 5, 7, 9.
            let (id, count) = (of("SLURM_ARRAY_TASK_ID")?, of("SLURM_ARRAY_TASK_COUNT")?);
            let least = of("SLURM_ARRAY_TASK_MIN")?;
            let step = variable("SLURM_ARRAY_TASK_STEP").map_or(Ok(1), |s| number("its step", &s))?;
            let places = id.checked_sub(least).filter(|d| step > 0 && d % step == 0);
            let place = places.ok_or("--shard slurm: the array's ids are none of MIN, MIN + STEP, …")?;
            Shard { index: (place / step).saturating_add(1), count }
        } else {
            let parts = text.split_once('/').ok_or("--shard: I/N, slurm or kubernetes/N")?;
            let count = number("N", parts.1)?;
            let index = match parts.0 {
                "kubernetes" => of("JOB_COMPLETION_INDEX")?.saturating_add(1),
                i => number("I", i)?,
            };
            Shard { index, count }
        };
        match (1..=shard.count).contains(&shard.index) {
            true => Ok(shard),
            false => Err(format!("--shard: {} is none of 1 to {}", shard.index, shard.count)),
        }
    }
}

/// What cases take, in seconds.
pub struct Costs<'a> {
    /// Measured by an earlier run.
    pub cases: BTreeMap<String, f64>,
    /// What a peer took for whole lists.
    pub baseline: &'a Baseline,
}

impl Costs<'_> {
    /// Of a case whose list's other cases take `mean`.
    fn of(&self, case: &str, mean: f64) -> f64 {
        self.cases.get(case).copied().unwrap_or(mean).max(LEAST)
    }

    /// Of a list's cases of which nothing else is known.
    fn mean(&self, category: &Category) -> f64 {
        let known: Vec<f64> = category.cases.iter().filter_map(|c| self.cases.get(c)).copied().collect();
        if !known.is_empty() {
            return known.iter().sum::<f64>() / known.len() as f64;
        }
        let row = self.baseline.get(&category.name).filter(|r| r.cases > 0);
        row.map_or(0.05, |r| r.seconds / r.cases as f64)
    }
}

/// The seconds of each case in the JSON of an earlier run.
pub fn load(path: &Path) -> Result<BTreeMap<String, f64>, String> {
    let at = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let text = std::fs::read_to_string(path).map_err(|e| at(&e))?;
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|e| at(&e))?;
    let cases = value["cases"].as_object().ok_or_else(|| at(&"no cases in it"))?;
    let seconds = |v: &serde_json::Value| v["seconds"].as_f64().filter(|s| *s >= 0.0);
    Ok(cases.iter().filter_map(|(name, v)| Some((name.clone(), seconds(v)?))).collect())
}

/// Leaves the shard's cases in the lists: blocks go, the dearest first, to whom has the least. Tells the whole plan's
/// mark, by which parts of one plan know each other.
pub fn cut(categories: &mut [Category], shard: Shard, costs: &Costs) -> String {
    let mut blocks = vec![];
    for (c, category) in categories.iter().enumerate() {
        let mean = costs.mean(category);
        for (b, cases) in category.cases.chunks(BLOCK).enumerate() {
            blocks.push((cases.iter().map(|n| costs.of(n, mean)).sum::<f64>(), c, b));
        }
    }
    // Stable: blocks of one cost keep their order.
    blocks.sort_by(|x, y| y.0.total_cmp(&x.0));
    let mut loads = vec![0.0; shard.count];
    let mut whose = BTreeMap::new();
    for (cost, c, b) in blocks {
        let least = (0..loads.len()).min_by(|&x, &y| f64::total_cmp(&loads[x], &loads[y])).unwrap_or(0);
        loads[least] += cost;
        whose.insert((c, b), least + 1);
    }
    let mut mark = Mark::new();
    mark.add(&shard.count.to_string());
    for (c, category) in categories.iter_mut().enumerate() {
        mark.add(&category.name);
        let mut kept = vec![];
        for (b, cases) in category.cases.chunks(BLOCK).enumerate() {
            let owner = whose[&(c, b)];
            mark.add(&owner.to_string());
            cases.iter().for_each(|name| mark.add(name));
            if owner == shard.index {
                kept.extend_from_slice(cases);
            }
        }
        category.cases = kept;
    }
    format!("{:016x}", mark.0)
}

/// FNV-1a: the same on every machine.
struct Mark(u64);

impl Mark {
    fn new() -> Mark {
        Mark(0xcbf2_9ce4_8422_2325)
    }
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn parse(text: &str, variables: &[(&str, &str)]) -> Result<(usize, usize), String> {
        let variable = |name: &str| variables.iter().find(|v| v.0 == name).map(|v| v.1.to_string());
        Shard::parse(text, &variable).map(|s| (s.index, s.count))
    }

    #[test]
    fn shards_are_named_by_the_caller_or_the_job() {
        assert_eq!(parse("1/1", &[]), Ok((1, 1)));
        assert_eq!(parse("3/8", &[]), Ok((3, 8)));
        for wrong in ["0/3", "4/3", "1/0", "1", "a/b", "1/", "/2", "-1/2"] {
            assert!(parse(wrong, &[]).is_err(), "{wrong}");
        }
        let array = |id, min, count, step| {
            let names = ["ID", "MIN", "COUNT", "STEP"].map(|n| format!("SLURM_ARRAY_TASK_{n}"));
            let all: Vec<_> = names.iter().map(String::as_str).zip([id, min, count, step]).collect();
            parse("slurm", &all)
        };
        assert_eq!(array("0", "0", "4", "1"), Ok((1, 4)));
        assert_eq!(array("4", "1", "4", "1"), Ok((4, 4)));
        assert_eq!(array("7", "3", "4", "2"), Ok((3, 4)));
        assert!(array("6", "3", "4", "2").is_err() && array("2", "3", "4", "1").is_err());
        assert!(array("9", "1", "4", "1").is_err() && array("9", "1", "4", "0").is_err());
        assert_eq!(parse("slurm", &[]), Err("--shard slurm: SLURM_ARRAY_TASK_ID is not set".into()));
        assert_eq!(parse("kubernetes/3", &[("JOB_COMPLETION_INDEX", "2")]), Ok((3, 3)));
        assert!(parse("kubernetes/3", &[("JOB_COMPLETION_INDEX", "3")]).is_err());
        assert!(parse("kubernetes/3", &[]).is_err());
    }

    fn lists() -> Vec<Category> {
        let list = |name: &str, n: usize| {
            let cases: Vec<_> = (0..n).map(|i| format!("{name}.{i}")).collect();
            crate::cases::parse(name.into(), &cases.join("\n"))
        };
        vec![list("a", 100), list("b", 7), list("c", 41)]
    }

    fn parts(count: usize, costs: &Costs) -> Vec<(Vec<Category>, String)> {
        let part = |index| {
            let mut all = lists();
            let mark = cut(&mut all, Shard { index, count }, costs);
            (all, mark)
        };
        (1..=count).map(part).collect()
    }

    #[test]
    fn every_case_is_in_one_shard() {
        let costs = Costs { cases: BTreeMap::new(), baseline: &Baseline::new() };
        for count in [1, 2, 3, 12] {
            let parts = parts(count, &costs);
            let names: Vec<_> = parts.iter().flat_map(|p| p.0.iter().flat_map(|c| &c.cases)).collect();
            assert_eq!((names.len(), names.iter().collect::<BTreeSet<_>>().len()), (148, 148), "{count}");
            assert!(parts.iter().all(|p| p.1 == parts[0].1), "{count}: one plan");
        }
    }

    /// A block of b takes as long as all others: whoever has it has nothing else. Nine blocks of the others are shared by two.
    #[test]
    fn shards_take_the_same_time() {
        let cases = lists().iter().flat_map(|c| &c.cases).map(|n| (n.clone(), 1.0)).collect();
        let mut costs = Costs { cases, baseline: &Baseline::new() };
        let even = parts(3, &costs);
        costs.cases.insert("b.0".into(), 141.0);
        let parts = parts(3, &costs);
        let sizes = |p: &(Vec<Category>, String)| p.0.iter().map(|c| c.cases.len()).collect::<Vec<_>>();
        assert_eq!(sizes(&parts[0]), [0, 7, 0]);
        // 100 + 41 cases in blocks of 20 and one of 1: four blocks and three with the one.
        let mut rest: Vec<usize> = parts[1..].iter().map(|p| sizes(p).iter().sum()).collect();
        rest.sort();
        assert_eq!(rest, [61, 80]);
        assert_ne!(even[0].1, parts[0].1, "another plan has another mark");
    }
}
