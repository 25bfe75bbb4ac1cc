//! A report as a page of Markdown (`docs/performance.md`): every row beside what is asked of it, what is not reached yet, and the shares
//! of what the machine can do.

mod limits;

use crate::parent::{Report, Row, Section, What};
use client::drivers::Threads;
use limits::Limit;
use std::collections::BTreeMap;
use std::fmt::Write;

const ONE: Threads = Threads::Count(1);

type Targets = BTreeMap<String, BTreeMap<String, f64>>;

/// What is asked, by driver and row.
fn targets() -> Targets {
    toml::from_str(include_str!("../../targets.toml")).expect("the file is checked by a test")
}

/// The page about `report`, whose first driver is compared with the others, as `command` made it.
pub fn page(report: &Report, names: &[String], command: &str) -> String {
    let targets = targets();
    let limits = limits::measure();
    let mut out = String::new();
    let o = &mut out;
    let _ = writeln!(o, "# Performance\n\n<!-- written by the command below: do not edit -->");
    let _ = writeln!(
        o,
        "<!-- not run: it wants two lavapipes at once (docs/contributing.md) -->\n```sh\n{command}\n```\n\nOn {}.\n",
        machine()
    );
    for name in names {
        let _ = writeln!(o, "- {name}: {}", report.drivers.get(name).map_or("", |w| w.as_str()));
    }
    let _ = writeln!(
        o,
        "\nTimes as fast as each peer: best of alternating rounds, in brackets the medians' ratio; then what is asked, bold where it is \
         not reached. One thread is CPU time of the whole process, more are wall time. Pictures are net of their clear where it says so."
    );
    let mut missed = Vec::new();
    for section in &report.sections {
        table(o, section, names, &targets, &mut missed);
    }
    threads(o, report, names);
    shares(o, report, names, &limits);
    let _ = writeln!(o, "\n## Not reached\n");
    if missed.is_empty() {
        let _ = writeln!(o, "Nothing of what is asked.");
    }
    for line in &missed {
        let _ = writeln!(o, "- {line}");
    }
    let wrong = report.pictures.iter().flat_map(|(p, by)| by.iter().map(move |(d, v)| (p, d, v)));
    for (picture, driver, verdict) in wrong.filter(|(_, _, v)| *v != crate::pictures::RIGHT) {
        let _ = writeln!(o, "- {picture} on {driver}: {verdict}");
    }
    out
}

/// The CPU, how many there are, and its widest vectors.
pub fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field =
        |name| info.lines().find(|l| l.starts_with(name)).and_then(|l| l.split_once(": ")).map(|l| l.1);
    let flags = field("flags").unwrap_or_default();
    let has = |f: &str| flags.split(' ').any(|g| g == f);
    let vectors = if has("avx512f") {
        "AVX-512"
    } else if has("avx2") {
        "AVX2"
    } else {
        "neither AVX2 nor AVX-512"
    };
    let family = [field("cpu family"), field("model\t")].map(|f| f.unwrap_or("?"));
    let n = std::thread::available_parallelism().map_or(1, |n| n.get());
    let name = field("model name").unwrap_or("an unknown CPU");
    format!("{n} CPUs of {name} (family {}, model {}; {vectors})", family[0], family[1])
}

fn ratio(row: &Row, own: &str, peer: &str, threads: Threads) -> Option<(f64, f64)> {
    let (own, peer) = (row.times.get(own)?, row.times.get(peer)?);
    if own.error.is_some() || peer.error.is_some() {
        return None;
    }
    let best = peer.min(threads) / own.min(threads);
    let middle = peer.median(threads) / own.median(threads);
    (best.is_finite() && best > 0.0).then_some((best, middle))
}

fn table(o: &mut String, s: &Section, names: &[String], targets: &Targets, missed: &mut Vec<String>) {
    // What is asked is asked of the run itself, on one thread.
    let asked_here = s.threads == ONE
        && matches!(s.what, What::Run | What::Net | What::Launch | What::Products | What::Rays | What::First);
    let _ = writeln!(o, "\n## {}\n", s.title);
    let _ = write!(o, "| | {} |", names[0]);
    for name in &names[1..] {
        let _ = write!(o, " × {name} | asked |");
    }
    let _ = writeln!(o, "\n|---|---|{}", "---|---|".repeat(names.len() - 1));
    for row in &s.rows {
        let own = &row.times[&names[0]];
        let value = match &own.error {
            Some(e) => e.clone(),
            None => crate::table::value(row, own.min(s.threads), s.what),
        };
        let unit = row.work.map_or(crate::table::unit(s.what).0, |(_, unit)| unit);
        let _ = write!(o, "| {} | {value} {unit} |", row.name);
        for peer in &names[1..] {
            let asked = targets.get(peer).and_then(|t| t.get(&row.name)).filter(|_| asked_here);
            let asked_text = asked.map_or(String::new(), |a| a.to_string());
            match ratio(row, &names[0], peer, s.threads) {
                Some((best, middle)) => {
                    let short = asked.is_some_and(|a| best < *a);
                    let bold = if short { "**" } else { "" };
                    let _ = write!(o, " {bold}{best:.2}{bold} ({middle:.2}) | {asked_text} |");
                    if short {
                        missed.push(format!("{} against {peer}: {best:.2}, asked {asked_text}", row.name));
                    }
                }
                None => {
                    let _ = write!(o, " – | {asked_text} |");
                }
            }
        }
        let _ = writeln!(o);
    }
}

/// How much faster two threads are than one, where both were measured: wall time of each.
fn threads(o: &mut String, report: &Report, names: &[String]) {
    let find = |what, n| report.sections.iter().find(|s| s.what == what && s.threads == Threads::Count(n));
    let mut lines = String::new();
    for (section, what) in [(What::Run, "kernels"), (What::Frames, "pictures")] {
        let (Some(one), Some(two)) = (find(section, 1), find(section, 2)) else { continue };
        for (a, b) in one.rows.iter().zip(&two.rows) {
            let name = &a.name;
            let [a, b] = [a, b].map(|r| client::measure::min(&r.times[&names[0]].wall));
            if a.is_finite() && b.is_finite() {
                let _ = writeln!(lines, "| {what} | {} | {:.2} |", name, a / b);
            }
        }
    }
    if !lines.is_empty() {
        let _ = writeln!(
            o,
            "\n## Two threads against one, wall time\n\n| | | times as fast |\n|---|---|---|\n{lines}"
        );
    }
}

/// The share of the machine's own limit.
fn shares(o: &mut String, report: &Report, names: &[String], limits: &[Limit]) {
    let _ = writeln!(
        o,
        "\n## Of what one thread of the machine can do\n\nMeasured in the same run: a loop over memory of the same size, or of \
         multiply-adds in registers.\n\n| | the limit | | {} reaches |\n|---|---|---|---|",
        names[0]
    );
    for limit in limits {
        let row = report
            .sections
            .iter()
            .filter(|s| s.threads == ONE && matches!(s.what, What::Run | What::Frames))
            .flat_map(|s| s.rows.iter())
            .find(|r| r.name == limit.row);
        let Some(row) = row else { continue };
        let time = row.times[&names[0]].min(ONE);
        let share = 100.0 * limit.seconds / time;
        let _ = writeln!(
            o,
            "| {} | {:.1} {} | {} | {share:.1} % |",
            limit.row, limit.rate, limit.unit, limit.what
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parent::Times;

    fn section(own: f64, peer: f64) -> Section {
        let of = |v: f64| Times { wall: vec![v], cpu: vec![v], error: None };
        let times = [("tuff".to_string(), of(own)), ("lavapipe25".to_string(), of(peer))].into();
        let row = Row { name: "mandel".into(), times, work: None };
        Section {
            what: What::Run,
            title: "run time, 1 thread".into(),
            clock: "CPU",
            rows: vec![row],
            threads: ONE,
        }
    }

    #[test]
    fn every_target_is_of_a_row() {
        for (driver, rows) in targets() {
            for row in rows.keys() {
                let known = client::kernels::find(row).is_some()
                    || client::pictures::find(row).is_ok()
                    || client::launch::find(row).is_some()
                    || client::products::find(row).is_some()
                    || client::rays::find(row).is_some()
                    || client::rays::FIRST.contains(&row.as_str());
                assert!(known, "{driver}: {row}");
            }
        }
    }

    #[test]
    fn what_is_short_of_its_target_is_said() {
        let names = ["tuff", "lavapipe25"].map(String::from);
        for (own, reached) in [(1.0, false), (0.5, true)] {
            let report = Report { sections: vec![section(own, 2.0)], ..Default::default() };
            let text = page(&report, &names, "benches");
            assert_eq!(text.contains("- mandel against lavapipe25: 2.00, asked 3"), !reached, "{text}");
            assert_eq!(text.contains("Nothing of what is asked."), reached, "{text}");
        }
    }
}
