//! `cts-subset merge`: the shards' JSON files as the one run that they are.

use crate::baseline::Baseline;
use crate::outcome::{CaseResult, Outcome};
use crate::report::{CategoryRun, Part};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What of a run's JSON a merge needs.
#[derive(Deserialize)]
struct File {
    driver: String,
    shard: Part,
    categories: BTreeMap<String, Totals>,
    cases: BTreeMap<String, Case>,
}

#[derive(Deserialize)]
struct Totals {
    seconds: f64,
}

#[derive(Deserialize)]
struct Case {
    result: Outcome,
    seconds: f64,
    message: Option<String>,
    #[serde(default)]
    log: Vec<String>,
}

fn load(path: &Path) -> Result<File, String> {
    let at = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let text = std::fs::read_to_string(path).map_err(|e| at(&e))?;
    serde_json::from_str(&text).map_err(|e| at(&format!("not the JSON of a shard: {e}")))
}

/// The driver, and the categories with their results, not judged yet.
///
/// # Errors
/// A file is no shard's, a shard is missing or there twice, or they are not of one plan and driver.
pub fn load_all(paths: &[PathBuf], baseline: &Baseline) -> Result<(String, Vec<CategoryRun>), String> {
    let files = paths.iter().map(|p| load(p)).collect::<Result<Vec<_>, _>>()?;
    let first = files.first().ok_or("no files to merge")?;
    let mut seen = BTreeSet::new();
    for (file, path) in files.iter().zip(paths) {
        let at = |why: String| Err(format!("{}: {why}", path.display()));
        if file.driver != first.driver {
            return at(format!("of {}, where the first file is of {}", file.driver, first.driver));
        }
        if (&file.shard.plan, file.shard.count) != (&first.shard.plan, first.shard.count) {
            return at("not of the first file's plan: other lists, costs or another number of shards".into());
        }
        if !seen.insert(file.shard.index) {
            return at(format!("shard {} is there twice", file.shard.index));
        }
    }
    let missing: Vec<_> =
        (1..=first.shard.count).filter(|i| !seen.contains(i)).map(|i| i.to_string()).collect();
    if !missing.is_empty() {
        return Err(format!("of {} shards these are missing: {}", first.shard.count, missing.join(", ")));
    }
    let wanted = |name: &str| {
        let parts = files.iter().flat_map(|f| &f.shard.categories).filter(|c| c.0 == name);
        parts.map(|c| c.1.len()).sum()
    };
    let mut runs = vec![];
    for (name, _) in &first.shard.categories {
        let mut run = CategoryRun::new(name.clone(), wanted(name), baseline.get(name).copied());
        for (file, path) in files.iter().zip(paths) {
            run.seconds += file.categories.get(name).map_or(0.0, |t| t.seconds);
            for case in file.shard.categories.iter().filter(|c| c.0 == *name).flat_map(|c| &c.1) {
                let known = file.cases.get(case);
                let known = known.ok_or_else(|| format!("{}: no result of {case}", path.display()))?;
                run.cases.push(result(case, known));
            }
        }
        runs.push(run);
    }
    Ok((first.driver.clone(), runs))
}

fn result(name: &str, case: &Case) -> CaseResult {
    // The JSON keeps no words of what passed.
    let message = case.message.clone().unwrap_or_default();
    let details = case.log.clone();
    CaseResult { name: name.into(), outcome: case.result, message, details, seconds: case.seconds }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Run;

    fn case(name: &str, outcome: Outcome) -> CaseResult {
        let (message, details) = (format!("said {outcome:?}"), vec!["a line".to_string()]);
        CaseResult { name: name.into(), outcome, message, details, seconds: 0.5 }
    }

    /// The run of some of these cases, as a shard's if it is one.
    fn run(which: &[usize], part: Option<(usize, usize, &str)>) -> Run {
        use Outcome::*;
        let all = [Pass, Fail, NotSupported, Crash, QualityWarning].into_iter().enumerate();
        let cases: Vec<_> = all.map(|(i, o)| case(&format!("x.{i}"), o)).collect();
        let cases: Vec<_> = which.iter().map(|&i| cases[i].clone()).collect();
        let names = cases.iter().map(|c| c.name.clone()).collect();
        let mut category = CategoryRun::new("x".into(), which.len(), None);
        category.seconds = which.len() as f64;
        category.cases = cases;
        category.judge(&[], None);
        let part = part.map(|(index, count, plan)| Part {
            index,
            count,
            plan: plan.into(),
            categories: vec![("x".into(), names)],
        });
        Run { driver: "tuff".into(), categories: vec![category], part }
    }

    fn merged(parts: &[Run]) -> Result<Run, String> {
        static FOLDERS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = FOLDERS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = client::scratch(&format!("merge-{number}")).unwrap();
        std::fs::create_dir_all(&folder).unwrap();
        let paths: Vec<PathBuf> = (0..parts.len()).map(|i| folder.join(format!("{i}.json"))).collect();
        parts.iter().zip(&paths).for_each(|(r, p)| std::fs::write(p, r.json()).unwrap());
        let all = load_all(&paths, &Baseline::new());
        std::fs::remove_dir_all(&folder).unwrap();
        let (driver, mut categories) = all?;
        categories.iter_mut().for_each(|c| c.judge(&[], None));
        Ok(Run { driver, categories, part: None })
    }

    #[test]
    fn shards_are_the_whole_run() {
        let whole = run(&[0, 1, 2, 3, 4], None);
        let parts = || [run(&[3, 1], Some((2, 2, "p"))), run(&[0, 2, 4], Some((1, 2, "p")))];
        let all = merged(&parts()).unwrap();
        assert_eq!(all.json(), whole.json());
        assert_eq!((all.junit(), all.bad(), all.good()), (whole.junit(), whole.bad(), whole.good()));
    }

    #[test]
    fn shards_that_are_not_of_one_run_are_told() {
        let why = |parts: &[Run]| merged(parts).err().unwrap();
        assert!(why(&[run(&[0], Some((1, 3, "p")))]).contains("of 3 shards these are missing: 2, 3"));
        let twice = [run(&[0], Some((1, 2, "p"))), run(&[1], Some((1, 2, "p")))];
        assert!(why(&twice).contains("1.json: shard 1 is there twice"));
        let plans = [run(&[0], Some((1, 2, "p"))), run(&[1], Some((2, 2, "q")))];
        assert!(why(&plans).contains("1.json: not of the first file's plan"));
        let mut drivers = [run(&[0], Some((1, 2, "p"))), run(&[1], Some((2, 2, "p")))];
        drivers[1].driver = "lvp".into();
        assert!(why(&drivers).contains("1.json: of lvp, where the first file is of tuff"));
        assert!(why(&[run(&[0], None)]).contains("0.json: not the JSON of a shard: missing field `shard`"));
    }
}
