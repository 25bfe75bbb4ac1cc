//! `tuff diff`: two files of `tuff run --counters`, or two captures, side by side, and whether something got dearer.

pub mod file;
mod frames;
pub mod limits;
pub mod pairs;
mod report;
mod shaders;

use clap::Args as ClapArgs;
use client::Error;
use file::{Counters, ELAPSED, File};
use limits::{Limit, Limits};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(ClapArgs)]
#[command(after_help = "\
Exit code: 0 if no cost exceeds its limit; 1 if one does (or, if there are limits, if a workload has vanished or a rule matches no
workload); 2 if the files cannot be compared.

Examples:
  tuff diff before.json after.json
  tuff diff before.json after.json --max-increase fma=0 --max-increase time=2%
  tuff diff baseline.json new.json --thresholds tuff.toml --markdown summary.md --junit diff.xml
  tuff diff --update baseline.json new.json
  tuff diff before.json after.json --all --workloads | less
  tuff diff before after --markdown lines.md      two captures: also shaders, line by line
  tuff diff before.json after.json --per-frame    means by frame, and the worst frame

A file of thresholds (docs/diff.md):
  [counters]                  # limits for the totals and for every workload
  fma = 0                     # percent of growth
  time = { max_increase = 2, slack = 1000 }
  [total]                     # replaces limits above, for the totals
  read = { max = 50_000_000 }
  [[workloads]]               # replaces limits above, for workloads with this text in their line
  match = \"shadows\"
  counters = { fma = 10 }
  [[shaders]]                 # of captures: limits for shaders with this text in their name
  match = \"lit.frag\"
  counters = { cycles = 0, registers = { max = 32 } }")]
pub struct Args {
    /// The file from `run --counters` or folder from `run --capture` to compare with.
    before: PathBuf,
    /// The file or folder whose costs must not be higher.
    after: PathBuf,
    /// Fail if this counter grew by more than PERCENT, in the totals or in a workload. NAME is a machine name (TuffFmaInstr), a part of
    /// one that begins at a word and that no other counter has (SamplesPassed), or one of fma, cvt, sfu, ls, tex, cycles, read, write (bytes), warps,
    /// time (modelled nanoseconds).
    #[arg(long, value_name = "NAME=PERCENT")]
    max_increase: Vec<String>,
    /// A TOML file with limits on the growth and the values of counters.
    #[arg(long, value_name = "FILE")]
    thresholds: Option<PathBuf>,
    /// Also show workloads that differ, not only totals and counters with a limit.
    #[arg(long)]
    workloads: bool,
    /// Show all differences, not only those of counters with a limit (or, without limits, the largest).
    #[arg(long)]
    all: bool,
    /// Compare means by frame, and the worst frames, so that a longer run costs no more than a short one.
    #[arg(long)]
    per_frame: bool,
    /// Write everything that differs as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Do not fail for: vanished (workloads that exist only in BEFORE), unmatched (rules that match no workload).
    #[arg(long, value_enum, value_name = "WHAT")]
    allow: Vec<Allow>,
    /// Write the differences as Markdown, for a pull request.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write the result for each limit as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Compare, write the reports, then replace BEFORE by AFTER, even if costs grew.
    #[arg(long)]
    update: bool,
}

/// What would be a failure otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Allow {
    Vanished,
    Unmatched,
}

const TOTAL: &str = "all workloads";
const WORST: &str = "worst frame";

/// Rows that are shown, unless all are wanted.
const SHOWN: usize = 20;

/// Growth in percent; infinite from nothing.
fn growth(a: f64, b: f64) -> f64 {
    match (a, b) {
        (a, b) if a == b => 0.0,
        (0.0, _) => f64::INFINITY,
        // In this order whole percents of whole numbers come out exact.
        _ => (b - a) * 100.0 / a,
    }
}

/// A counter in both files; `None` where a workload is in the other alone.
struct Row<'a> {
    counter: &'a str,
    before: Option<f64>,
    after: Option<f64>,
    /// What is wrong, if the limit that there is does not hold.
    judged: Option<Result<(), String>>,
}

impl Row<'_> {
    fn values(&self) -> (f64, f64) {
        (self.before.unwrap_or(0.0), self.after.unwrap_or(0.0))
    }
    fn differs(&self) -> bool {
        let (a, b) = self.values();
        a != b
    }
    fn growth(&self) -> f64 {
        let (a, b) = self.values();
        growth(a, b)
    }
    /// By which rows are put in order: limits that do not hold, then what grew most. What grew from nothing says little by that.
    fn badness(&self) -> f64 {
        let failed = matches!(self.judged, Some(Err(_)));
        let growth = self.growth();
        (if failed { 1e12 } else { 0.0 }) + if growth.is_infinite() { 0.5 } else { growth }
    }
}

/// The total or a workload.
struct Place<'a> {
    name: &'a str,
    before: Option<&'a Counters>,
    after: Option<&'a Counters>,
    /// All counters that one of them has, or that have a limit, by name.
    rows: Vec<Row<'a>>,
}

/// Two files side by side.
struct Comparison<'a> {
    total: Place<'a>,
    workloads: Vec<Place<'a>>,
    /// The worst frames, and shaders of captures.
    others: Vec<Place<'a>>,
    /// What is wrong besides: workloads that have vanished, rules that are of none.
    wrong: Vec<String>,
}

impl<'a> Place<'a> {
    fn new(
        name: &'a str,
        before: Option<&'a Counters>,
        after: Option<&'a Counters>,
        limits: &'a BTreeMap<String, Limit>,
    ) -> Place<'a> {
        let counters = before.into_iter().chain(after).flat_map(|c| c.keys());
        let names: BTreeSet<&String> = counters.chain(limits.keys()).collect();
        let row = |counter: &'a String| {
            let of = |c: Option<&Counters>| c.map(|c| c.get(counter).copied().unwrap_or(0.0));
            let (a, b) = (of(before), of(after));
            // What is gone costs nothing.
            let judged = limits.get(counter).zip(b).map(|(l, b)| judge(a, b, l));
            Row { counter, before: a, after: b, judged }
        };
        Place { name, before, after, rows: names.into_iter().map(row).collect() }
    }

    fn differing(&self) -> impl Iterator<Item = &Row<'a>> {
        self.rows.iter().filter(|r| r.differs())
    }
}

/// Whether a value keeps to its limit. A workload that is new has nothing to have grown from: the totals speak of it.
fn judge(before: Option<f64>, after: f64, limit: &Limit) -> Result<(), String> {
    if let (Some(most), Some(before)) = (limit.max_increase, before)
        && growth(before, after) > most
        && after - before > limit.slack
    {
        let grown = growth(before, after);
        let slack = if limit.slack > 0.0 { format!(", or {}", limit.slack) } else { String::new() };
        return Err(format!("{before} to {after}, {grown:+.2} % where {most} %{slack} is allowed"));
    }
    match limit.max.filter(|max| after > *max) {
        Some(max) => Err(format!("{after} where {max} is the most allowed")),
        None => Ok(()),
    }
}

impl Comparison<'_> {
    fn places(&self) -> impl Iterator<Item = &Place<'_>> {
        self.workloads.iter().chain(&self.others).chain([&self.total])
    }

    /// A line for each limit that does not hold, and for what is wrong besides.
    fn failures(&self) -> Vec<String> {
        let rows = self.places().flat_map(|p| p.rows.iter().map(move |r| (p.name, r)));
        let why = |(place, r): (&str, &Row)| {
            let why = r.judged.as_ref()?.as_ref().err()?;
            Some(format!("{} of {place}: {why}", r.counter))
        };
        rows.filter_map(why).chain(self.wrong.iter().cloned()).collect()
    }

    /// What differs, as text for a terminal: what has a limit, or where nothing has, the totals; the worst first, and no more than
    /// [`SHOWN`]. `workloads`: of these too. `all`: everything that differs, place by place.
    fn table(&self, workloads: bool, all: bool) -> String {
        let limited = self.places().any(|p| p.rows.iter().any(|r| r.judged.is_some()));
        let places = [&self.total].into_iter().chain(&self.workloads).chain(&self.others);
        let mut rows: Vec<(&str, &Row)> = vec![];
        let mut hidden = 0;
        for (i, place) in places.enumerate() {
            for row in place.differing() {
                let wanted = row.judged.is_some() || (i == 0 || workloads) && (all || !limited);
                hidden += usize::from(!wanted && (i == 0 || workloads));
                rows.extend(wanted.then_some((place.name, row)));
            }
        }
        if !all {
            rows.sort_by(|a, b| b.1.badness().total_cmp(&a.1.badness()));
            hidden += rows.len().saturating_sub(SHOWN);
            rows.truncate(SHOWN);
            // Each place once, that of the worst row first.
            let order: Vec<&str> = rows.iter().map(|r| r.0).collect();
            rows.sort_by_key(|r| order.iter().position(|place| *place == r.0));
        }
        let mut out = listed(&rows);
        if hidden > 0 {
            let what = if rows.is_empty() { "nothing that has a limit differs; " } else { "and " };
            out += &format!("{what}{hidden} more that differ: --all shows them\n");
        }
        if out.is_empty() { "no difference\n".into() } else { out }
    }
}

/// Rows under the names of their places.
fn listed(rows: &[(&str, &Row)]) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let growth = |r: &Row| match r.growth() {
        g if g.is_infinite() => "new".into(),
        g => format!("{g:+.2} %"),
    };
    let mut under = None;
    for (place, row) in rows {
        if out.is_empty() {
            let _ = writeln!(out, "  {:<32}{:>16}{:>16}{:>13}", "", "before", "after", "growth");
        }
        if under.replace(*place) != Some(*place) {
            let _ = writeln!(out, "{place}");
        }
        let (a, b) = row.values();
        let (a, b) = (report::rounded(a), report::rounded(b));
        let _ = writeln!(out, "  {:<32} {a:>15} {b:>15} {:>12}", row.counter, growth(row));
    }
    out
}

/// An older file has no times: that is no difference.
fn without_times(a: &mut File, b: &mut File) {
    if a.total.contains_key(ELAPSED) != b.total.contains_key(ELAPSED) {
        for f in [a, b] {
            let workloads = f.workloads.values_mut().map(|w| &mut w.counters);
            workloads.chain([&mut f.total]).for_each(|c| c.retain(|k, _| k != ELAPSED));
        }
    }
}

/// The process's exit code: see the help.
pub fn run(args: &Args) -> ExitCode {
    match compare(args) {
        Ok(dearer) if dearer.is_empty() => ExitCode::SUCCESS,
        Ok(dearer) => {
            eprintln!("tuff: failed:\n  {}", dearer.join("\n  "));
            ExitCode::from(if args.update { 0 } else { 1 })
        }
        Err(e) => {
            eprintln!("tuff: {}", plain::message(&e.to_string()));
            ExitCode::from(2)
        }
    }
}

fn write(path: &Path, text: &str) -> client::Result<()> {
    std::fs::write(path, text).map_err(|e| Error::file(path, e))
}

/// Writes `bytes` to a file that is whole at any time.
pub fn replace(path: &Path, bytes: &[u8]) -> client::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}", std::process::id()));
    let beside = path.with_file_name(name);
    let written = std::fs::write(&beside, bytes).and_then(|()| std::fs::rename(&beside, path));
    written.map_err(|e| {
        let _ = std::fs::remove_file(&beside);
        Error::file(path, e)
    })
}

/// What is dearer than allowed, a line each; with the reports written.
fn compare(args: &Args) -> client::Result<Vec<String>> {
    let result = judged(args);
    if let (Err(e), Some(junit)) = (&result, &args.junit) {
        write(junit, &report::junit_error(&e.to_string()))?;
    }
    if let (Err(e), Some(markdown)) = (&result, &args.markdown) {
        write(markdown, &report::markdown_error(&e.to_string()))?;
    }
    result
}

fn judged(args: &Args) -> client::Result<Vec<String>> {
    // Read once: what is compared is what the baseline becomes.
    let (mut b, bytes) = file::read_with(&args.after)?;
    if args.update && (b.folder.is_some() || args.before.is_dir()) {
        return Err(Error("--update is for files of `run --counters`: copy a capture's folder".into()));
    }
    let limits = Limits::new(args.thresholds.as_deref(), &args.max_increase, &b.total)?;
    let dearer = if args.update && !args.before.exists() {
        println!("{}: new", args.before.display());
        vec![]
    } else {
        let mut a = file::read(&args.before)?;
        match file::same_model(&a, &b) {
            Err(e) if args.update => {
                println!("not compared: {}", plain::line(&e.to_string()));
                vec![]
            }
            same => {
                same?;
                without_times(&mut a, &mut b);
                told(args, a, b, &limits)?
            }
        }
    };
    if args.update {
        replace(&args.before, &bytes)?;
        println!("{} is now what {} is", args.before.display(), args.after.display());
    }
    Ok(dearer)
}

/// Prints and writes what differs.
fn told(args: &Args, mut a: File, mut b: File, limits: &Limits) -> client::Result<Vec<String>> {
    let (mut each, mut worst) = ([1.0; 2], None);
    if args.per_frame {
        let (n, x) = frames::means(&mut a).map_err(|e| Error::file(&args.before, e))?;
        let (m, y) = frames::means(&mut b).map_err(|e| Error::file(&args.after, e))?;
        println!("means of {n} and {m} frames; the worst are {} and {}", x.number, y.number);
        (each, worst) = ([1.0 / n, 1.0 / m], Some([x.counters, y.counters]));
    }
    let (a, b) = (&a, &b);
    let (of_total, of_frame) = (limits.of_total(), limits.of_frame());
    let shaders = shaders::compare(a, b, each)?;
    let of_shaders: Vec<_> = shaders.iter().map(|s| limits.of_shader(&s.name)).collect();
    let (pairs, vanished) = pairs::pairs(a, b);
    let of_workloads: Vec<_> = pairs.iter().map(|p| limits.of_workload(&p.name)).collect();
    let mut wrong = vec![];
    if limits.any() && !args.allow.contains(&Allow::Vanished) {
        wrong.extend(vanished.iter().map(|v| format!("vanished: {v} (--allow vanished)")));
    }
    if !args.allow.contains(&Allow::Unmatched) {
        let none = limits.unmatched(pairs.iter().map(|p| p.name.as_str()));
        wrong.extend(
            none.iter().map(|part| format!("no workload has \"{part}\" in its line (--allow unmatched)")),
        );
        let none = limits.unmatched_shaders(shaders.iter().map(|s| s.name.as_str()));
        wrong.extend(
            none.iter().map(|part| format!("no shader has \"{part}\" in its name (--allow unmatched)")),
        );
    }
    let frame = worst.iter().map(|[x, y]| Place::new(WORST, Some(x), Some(y), &of_frame));
    let of_shader = |(s, limits)| {
        let s: &shaders::Compared = s;
        Place::new(&s.name, s.before.as_ref(), s.after.as_ref(), limits)
    };
    let all = Comparison {
        others: frame.chain(shaders.iter().zip(&of_shaders).map(of_shader)).collect(),
        total: Place::new(TOTAL, Some(&a.total), Some(&b.total), &of_total),
        workloads: (pairs.iter().zip(&of_workloads))
            .map(|(p, limits)| {
                let [before, after] = [&p.before, &p.after].map(|w| w.as_ref().map(|w| &w.counters));
                Place::new(&p.name, before, after, limits)
            })
            .collect(),
        wrong,
    };
    print!("{}{}", all.table(args.workloads, args.all), shaders::text(&shaders, args.all));
    if let Some(path) = &args.markdown {
        let lines = shaders::markdown(&shaders);
        write(path, &(report::markdown(&all, &args.before, &args.after, &b.gpu) + &lines))?;
    }
    if let Some(path) = &args.json {
        let text =
            serde_json::to_string_pretty(&report::json(&all, &shaders)).map_err(|e| Error(e.to_string()))?;
        write(path, &(text + "\n"))?;
    }
    if let Some(path) = &args.junit {
        write(path, &report::junit(&all))?;
    }
    Ok(all.failures())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(list: &[(&str, f64)]) -> Counters {
        list.iter().map(|(k, v)| (k.to_string(), *v)).collect()
    }

    fn percent(p: f64) -> Limit {
        Limit { max_increase: Some(p), ..Limit::default() }
    }

    #[test]
    fn growth_beyond_the_limit_is_told() {
        let (a, b) = (of(&[("X", 100.0), ("New", 0.0)]), of(&[("X", 103.0), ("New", 1.0)]));
        let told = |a: &Counters, b: &Counters, limits: &[(&str, Limit)]| {
            let limits = limits.iter().map(|(k, l)| (k.to_string(), *l)).collect();
            let total = Place::new("w", Some(a), Some(b), &limits);
            Comparison { total, workloads: vec![], others: vec![], wrong: vec![] }.failures()
        };
        assert!(told(&a, &b, &[("X", percent(3.0))]).is_empty());
        let two = told(&a, &b, &[("X", percent(2.0)), ("New", percent(1000.0))]);
        assert_eq!(two.len(), 2);
        assert_eq!(two[1], "X of w: 100 to 103, +3.00 % where 2 % is allowed");
        // Cheaper is never too dear.
        assert!(told(&b, &a, &[("X", percent(0.0))]).is_empty());
        // Slack is growth, not a value; a budget is a value, whatever it was.
        let slack = |slack| Limit { slack, ..percent(0.0) };
        assert!(told(&a, &b, &[("X", slack(3.0)), ("New", slack(1.0))]).is_empty());
        let beyond = told(&a, &b, &[("X", slack(2.5))]);
        assert_eq!(beyond, ["X of w: 100 to 103, +3.00 % where 0 %, or 2.5 is allowed"]);
        let max = |max| Limit { max: Some(max), ..Limit::default() };
        assert!(told(&a, &b, &[("X", max(103.0))]).is_empty());
        assert_eq!(told(&b, &b, &[("X", max(102.0))]), ["X of w: 103 where 102 is the most allowed"]);
        // A counter that neither has is 0 in both.
        assert!(told(&a, &b, &[("Y", percent(0.0))]).is_empty());
    }

    #[test]
    fn new_workloads_have_budgets_but_no_growth() {
        let (new, limits) = (of(&[("X", 5.0)]), BTreeMap::from([("X".to_string(), percent(0.0))]));
        let budget = BTreeMap::from([("X".to_string(), Limit { max: Some(4.0), ..percent(0.0) })]);
        let judged = |limits| Place::new("w", None, Some(&new), limits).rows[0].judged.clone();
        assert_eq!(judged(&limits), Some(Ok(())));
        assert!(matches!(judged(&budget), Some(Err(_))));
        assert_eq!(Place::new("w", Some(&new), None, &budget).rows[0].judged, None);
    }

    /// A workload's name is text on each way out.
    #[test]
    fn hostile_names_are_text() {
        let file = |n: u64| {
            let name = "=a\n\x1b[2Jtuff: fine|\u{202e}<b>";
            let counters = serde_json::json!({ "X\x1b": n });
            let workload = serde_json::json!({
                "device": 0, "queue": 0, "kind": "dispatch", "label": name, "name": name, "counters": counters,
            });
            let all = serde_json::json!({ "gpu": name, "total": counters, "workloads": [workload] });
            file::parse(&all.to_string()).expect("a file")
        };
        let (a, b) = (file(1), file(2));
        let limits = [("X\\x1b".to_string(), percent(0.0))].into();
        let (pairs, _) = pairs::pairs(&a, &b);
        let [pair] = &pairs[..] else { panic!("one workload on each side") };
        let counters = [&pair.before, &pair.after].map(|w| w.as_ref().map(|w| &w.counters));
        let workloads = vec![Place::new(&pair.name, counters[0], counters[1], &limits)];
        let total = Place::new(TOTAL, Some(&a.total), Some(&b.total), &limits);
        let all = Comparison { total, workloads, others: vec![], wrong: vec![] };
        let (table, dearer) = (all.table(true, true), all.failures().join("|"));
        let markdown = report::markdown(&all, Path::new("a\n.json"), Path::new("b"), &b.gpu);
        let models = file::same_model(&a, &File { gpu: "\x1b".into(), ..file(1) });
        let error = plain::message(&models.expect_err("another GPU").to_string());
        for text in [table.clone(), dearer, markdown.clone(), report::junit(&all), error] {
            assert!(!text.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'), "{text:?}");
        }
        assert_eq!(table.lines().count(), 5, "{table}");
        assert!(table.contains("=a\\n\\x1b[2Jtuff: fine|"), "{table}");
        assert!(markdown.contains("fine\\|") && markdown.contains("&lt;b&gt;"), "{markdown}");
    }
}
