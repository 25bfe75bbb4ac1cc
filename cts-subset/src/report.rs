//! Tables, JSON, JUnit and lists of what went wrong.

use crate::baseline::Row;
use crate::expected::Expectation;
use crate::outcome::{CaseResult, Outcome};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

/// One category's results.
pub struct CategoryRun {
    pub name: String,
    pub cases: Vec<CaseResult>,
    pub seconds: f64,
    /// Cases that were asked for.
    wanted: usize,
    baseline: Option<Row>,
    /// Reasons by case name, where a result is expected.
    excused: BTreeMap<String, String>,
}

/// The whole run, or a part of it.
pub struct Run {
    pub driver: String,
    pub categories: Vec<CategoryRun>,
    pub part: Option<Part>,
}

/// Which shard of what a run is, in its JSON.
#[derive(Serialize, Deserialize)]
pub struct Part {
    /// From 1.
    pub index: usize,
    pub count: usize,
    /// The same for all shards of one run.
    pub plan: String,
    /// Each category's cases of this shard; all shards name all categories.
    pub categories: Vec<(String, Vec<String>)>,
}

/// Results by case name, of an earlier run.
pub type Results = BTreeMap<String, Outcome>;

impl CategoryRun {
    pub fn new(name: String, wanted: usize, baseline: Option<Row>) -> Self {
        // A part of a list cannot be compared with the whole.
        let baseline = baseline.filter(|b| b.cases == wanted);
        Self { name, cases: Vec::new(), seconds: 0.0, wanted, baseline, excused: BTreeMap::new() }
    }

    /// Sorts the cases and finds the expected results among them.
    /// An unsupported case needs no excuse where `peer`, if it is known by case, does not pass it either.
    pub fn judge(&mut self, expectations: &[Expectation], peer: Option<&Results>) {
        self.cases.sort_by(|a, b| a.name.cmp(&b.name));
        for case in &self.cases {
            let passed = |p: &Results| p.get(&case.name) == Some(&Outcome::Pass);
            if case.outcome == Outcome::NotSupported && !peer.is_none_or(passed) {
                continue;
            }
            if let Some(e) = expectations.iter().find(|e| e.covers(case)) {
                self.excused.insert(case.name.clone(), e.reason.clone());
            }
        }
    }

    fn count(&self, test: impl Fn(Outcome) -> bool) -> usize {
        self.cases.iter().filter(|c| test(c.outcome)).count()
    }

    fn unexpected(&self) -> impl Iterator<Item = &CaseResult> {
        self.cases.iter().filter(|c| c.outcome.is_bad() && !self.excused.contains_key(&c.name))
    }

    /// Cases not supported beyond what the peer does not support either, less those excused by name.
    fn not_supported_beyond(&self) -> usize {
        let Some(base) = self.baseline else { return 0 };
        let excused = |c: &&CaseResult| self.excused.contains_key(&c.name);
        let own = self.cases.iter().filter(|c| c.outcome == Outcome::NotSupported);
        let excused = own.clone().filter(excused).count();
        (own.count() - excused).saturating_sub(base.not_supported)
    }
}

pub fn header() {
    println!(
        "{:36}{:>6}{:>6}{:>6}{:>7}{:>6}{:>7}{:>8}{:>9}{:>9}{:>8}   peer pass/n.s./bad",
        "category", "pass", "fail", "n.s.", "warn", "crash", "time-o", "other", "expected", "UNEXPECT", "s"
    );
}

pub fn row(run: &CategoryRun) {
    let other = run.count(|o| matches!(o, Outcome::InternalError | Outcome::ResourceError | Outcome::NotRun));
    let unexpected = run.unexpected().count();
    let excused = run.cases.iter().filter(|c| c.outcome.is_bad()).count() - unexpected;
    let peer = run.baseline.map(|b| format!("{}/{}/{}", b.pass, b.not_supported, b.bad)).unwrap_or_default();
    let beyond = run.not_supported_beyond();
    let beyond = if beyond > 0 { format!("  {beyond} more n.s.") } else { String::new() };
    println!(
        "{:36}{:>6}{:>6}{:>6}{:>7}{:>6}{:>7}{:>8}{:>9}{:>9}{:>8.1}   {peer}{beyond}",
        run.name,
        run.count(|o| o == Outcome::Pass),
        run.count(|o| o == Outcome::Fail),
        run.count(|o| o == Outcome::NotSupported),
        run.count(Outcome::is_warning),
        run.count(|o| o == Outcome::Crash),
        run.count(|o| o == Outcome::Timeout),
        other,
        excused,
        unexpected,
        run.seconds,
    );
}

impl Run {
    /// Nothing bad that is not expected, and no more left unsupported than the peer leaves.
    pub fn good(&self) -> bool {
        self.categories.iter().all(|c| c.unexpected().next().is_none() && c.not_supported_beyond() == 0)
    }

    pub fn summary(&self, peer: &str) {
        let sum =
            |test: fn(Outcome) -> bool| -> usize { self.categories.iter().map(|c| c.count(test)).sum() };
        let wanted: usize = self.categories.iter().map(|c| c.wanted).sum();
        println!(
            "total: {wanted} cases, {} pass, {} not supported, {} warnings, {} bad, {:.0} s",
            sum(|o| o == Outcome::Pass),
            sum(|o| o == Outcome::NotSupported),
            sum(Outcome::is_warning),
            sum(Outcome::is_bad),
            self.categories.iter().map(|c| c.seconds).sum::<f64>(),
        );
        let unexpected: usize = self.categories.iter().map(|c| c.unexpected().count()).sum();
        let beyond: usize = self.categories.iter().map(CategoryRun::not_supported_beyond).sum();
        println!("unexpected: {unexpected} bad, {beyond} more not supported than {peer}");
    }

    fn all(&self) -> impl Iterator<Item = (&CategoryRun, &CaseResult)> {
        self.categories.iter().flat_map(|c| c.cases.iter().map(move |case| (c, case)))
    }

    /// Prints what every bad case said, and what the log said of it.
    pub fn show(&self) {
        for (category, case) in self.all().filter(|(_, c)| c.outcome.is_bad()) {
            println!("\n{:?} {}\n  {}", case.outcome, case.name, case.message);
            if let Some(reason) = category.excused.get(&case.name) {
                println!("  expected: {reason}");
            }
            case.details.iter().for_each(|d| println!("    {d}"));
        }
    }

    /// What another run passes and this one does not, by category; by name with `list`.
    pub fn print_against(&self, peer: &Results, list: bool) {
        println!("passed there and not here:");
        for category in &self.categories {
            let lost: Vec<_> = category
                .cases
                .iter()
                .filter(|c| peer.get(&c.name) == Some(&Outcome::Pass))
                .filter(|c| c.outcome == Outcome::NotSupported || c.outcome.is_bad())
                .collect();
            let skipped: Vec<_> = lost.iter().filter(|c| c.outcome == Outcome::NotSupported).collect();
            if lost.is_empty() {
                continue;
            }
            println!(
                "  {:36} {} not supported, {} bad",
                category.name,
                skipped.len(),
                lost.len() - skipped.len()
            );
            if list {
                skipped.iter().for_each(|c| println!("    {} ({})", c.name, c.message));
            }
        }
    }

    /// A line for each bad case: result, name and message.
    pub fn bad(&self) -> String {
        let mut text = String::new();
        for (_, c) in self.all().filter(|(_, c)| c.outcome.is_bad()) {
            let _ = writeln!(text, "{:?}\t{}\t{}", c.outcome, c.name, c.message);
        }
        text
    }

    pub fn json(&self) -> String {
        let categories: BTreeMap<_, _> = self
            .categories
            .iter()
            .map(|c| {
                let mut counts: BTreeMap<String, usize> = BTreeMap::new();
                for case in &c.cases {
                    *counts.entry(format!("{:?}", case.outcome)).or_default() += 1;
                }
                let unexpected: Vec<_> = c.unexpected().map(|c| &c.name).collect();
                let value = json!({
                    "cases": c.wanted, "seconds": c.seconds, "counts": counts, "unexpected": unexpected,
                    "not_supported_beyond_peer": c.not_supported_beyond(),
                });
                (c.name.clone(), value)
            })
            .collect();
        let mut cases = BTreeMap::new();
        for (category, c) in self.all() {
            let mut value = json!({ "result": c.outcome, "seconds": (c.seconds * 1e3).round() / 1e3 });
            if c.outcome != Outcome::Pass {
                value["message"] = json!(c.message);
            }
            if let Some(reason) = category.excused.get(&c.name) {
                value["expected"] = json!(reason);
            }
            if !c.details.is_empty() {
                value["log"] = json!(c.details);
            }
            cases.insert(c.name.clone(), value);
        }
        let mut all = json!({ "driver": self.driver, "categories": categories, "cases": cases });
        if let Some(part) = &self.part {
            all["shard"] = json!(part);
        }
        serde_json::to_string_pretty(&all).expect("plain data")
    }

    /// JUnit: a suite for each category; expected failures are skipped with their reason.
    pub fn junit(&self) -> String {
        let status = |c: &CategoryRun, case: &CaseResult| {
            let (o, message) = (case.outcome, case.message.clone());
            let mut status = match c.excused.get(&case.name) {
                Some(reason) if o.is_bad() => {
                    let mut skipped = TestCaseStatus::skipped();
                    skipped.set_message(format!("expected {o:?}: {reason} ({message})"));
                    return skipped;
                }
                _ if o.is_bad() => {
                    let mut failed = TestCaseStatus::non_success(NonSuccessKind::Failure);
                    failed.set_type(format!("{o:?}")).set_description(case.details.join("\n"));
                    failed
                }
                _ if o == Outcome::NotSupported => TestCaseStatus::skipped(),
                _ => return TestCaseStatus::success(),
            };
            status.set_message(message);
            status
        };
        let time = Duration::from_secs_f64;
        let mut report = Report::new("cts-subset");
        for c in &self.categories {
            let mut suite = TestSuite::new(&*c.name);
            suite.set_time(time(c.seconds));
            for case in &c.cases {
                let mut made = TestCase::new(&*case.name, status(c, case));
                made.set_classname(&*c.name).set_time(time(case.seconds));
                suite.add_test_case(made);
            }
            report.add_test_suite(suite);
        }
        report.to_string().expect("a string takes all that is written")
    }
}

/// Reads the results of a run's JSON, or a `.txt` file with the names of passed cases.
pub fn load_results(path: &Path) -> Result<Results, String> {
    let at = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let text = std::fs::read_to_string(path).map_err(|e| at(&e))?;
    if path.extension().is_some_and(|e| e == "txt") {
        let names = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
        return Ok(names.map(|n| (n.to_string(), Outcome::Pass)).collect());
    }
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|e| at(&e))?;
    let cases = value["cases"].as_object().ok_or_else(|| at(&"no cases in it"))?;
    let word = |v: &serde_json::Value| v["result"].as_str().and_then(Outcome::from_word);
    Ok(cases.iter().filter_map(|(name, v)| Some((name.clone(), word(v)?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, outcome: Outcome) -> CaseResult {
        CaseResult { name: name.into(), outcome, message: "a < b".into(), details: vec![], seconds: 0.5 }
    }

    fn run(outcomes: &[Outcome], expectations: &[Expectation]) -> Run {
        let base = Row { cases: outcomes.len(), pass: 0, not_supported: 1, bad: 0, seconds: 1.0 };
        let mut c = CategoryRun::new("x".into(), outcomes.len(), Some(base));
        c.cases = outcomes.iter().enumerate().map(|(i, o)| case(&format!("x.{i}"), *o)).collect();
        c.judge(expectations, None);
        Run { driver: "tuff".into(), categories: vec![c], part: None }
    }

    fn excuse(pattern: &str, result: Option<Outcome>) -> Expectation {
        let text = format!("pattern = {pattern:?}\nreason = \"because\"");
        Expectation { result, ..toml::from_str(&text).unwrap() }
    }

    #[test]
    fn a_run_is_good_when_nothing_is_unexpected() {
        use Outcome::*;
        assert!(run(&[Pass, NotSupported, QualityWarning], &[]).good());
        assert!(!run(&[Pass, Fail], &[]).good());
        assert!(!run(&[Pass, Timeout], &[]).good());
        assert!(run(&[Pass, Fail], &[excuse("x.1", None)]).good());
        assert!(!run(&[Pass, Fail], &[excuse("x.1", Some(NotSupported))]).good());
        assert!(!run(&[NotSupported, NotSupported], &[]).good(), "one more than the peer");
        assert!(run(&[NotSupported, NotSupported], &[excuse("x.0", Some(NotSupported))]).good());
    }

    #[test]
    fn reports_hold_all_cases() {
        let r = run(&[Outcome::Pass, Outcome::Fail, Outcome::NotSupported], &[]);
        let junit = r.junit();
        assert!(junit.contains("tests=\"3\" skipped=\"1\" errors=\"0\" failures=\"1\""));
        assert!(junit.contains("a &lt; b"));
        assert_eq!(r.bad(), "Fail\tx.1\ta < b\n");
        let path = client::scratch("report.json").unwrap();
        std::fs::write(&path, r.json()).unwrap();
        let results = load_results(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(results["x.1"], Outcome::Fail);
        assert_eq!(results.len(), 3);
    }
}
