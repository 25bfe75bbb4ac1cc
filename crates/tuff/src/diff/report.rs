//! What `tuff diff` leaves for others: Markdown for a pull request, JUnit for a CI system.

use super::file::ELAPSED;
use super::shaders::{self, Compared};
use super::{Comparison, Place, Row};
use crate::junit::{failed, suite, xml};
use counters::catalogue;
use plain::markdown as cell;
use quick_junit::{NonSuccessKind, TestCaseStatus};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// How many rows a table has at most: a comment on GitHub holds 65 536 characters.
const ROWS: usize = 60;

/// A count as it is; what is no whole number to six figures or a tenth, which is more than anyone reads.
pub(super) fn rounded(v: f64) -> String {
    if v.fract() == 0.0 || !v.is_finite() {
        return v.to_string();
    }
    let before_point = v.abs().log10().floor().max(0.0) as usize + 1;
    let text = format!("{v:.*}", 6usize.saturating_sub(before_point).max(1));
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// A number with its thousands apart.
fn number(v: f64) -> String {
    let text = rounded(v);
    let (whole, rest) = text.split_at(text.find(['.', 'e']).unwrap_or(text.len()));
    let (sign, digits) = whole.split_at(usize::from(whole.starts_with('-')));
    let mut out = String::from(sign);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 && c.is_ascii_digit() {
            out.push('\u{a0}');
        }
        out.push(c);
    }
    out + rest
}

fn percent(v: f64) -> String {
    if v.is_infinite() { "new".into() } else { format!("{v:+.2} %") }
}

/// A counter's name for people, and its own.
fn counter(machine: &str) -> String {
    match catalogue::by_machine(machine) {
        Some(c) => format!("{} `{machine}`", cell(c.human)),
        None if machine == ELAPSED => "modelled time, ns".into(),
        None => cell(machine),
    }
}

fn rows<'a>(out: &mut String, list: impl Iterator<Item = &'a Row<'a>>) {
    out.push_str("| counter | before | after | growth |\n|---|--:|--:|--:|\n");
    let list: Vec<_> = list.collect();
    for r in list.iter().take(ROWS) {
        let ((a, b), mark) = (r.values(), if matches!(r.judged, Some(Err(_))) { "**" } else { "" });
        let grown = percent(r.growth());
        let _ =
            writeln!(out, "| {} | {} | {} | {mark}{grown}{mark} |", counter(r.counter), number(a), number(b));
    }
    more(out, list.len());
}

fn more(out: &mut String, all: usize) {
    if all > ROWS {
        let _ = writeln!(out, "\nand {} more", all - ROWS);
    }
}

/// The time or, in older files, the cycles of a place.
fn cost(p: &Place) -> (Option<f64>, Option<f64>) {
    let row = |name: &str| p.rows.iter().find(|r| r.counter == name);
    row(ELAPSED).or_else(|| row("MaliGPUActiveCy")).map_or((None, None), |r| (r.before, r.after))
}

/// The workloads that differ, by how much time they differ.
fn workloads(out: &mut String, all: &Comparison) {
    let mut list: Vec<_> = all.workloads.iter().filter(|w| w.differing().next().is_some()).collect();
    if list.is_empty() {
        return;
    }
    let by = |w: &&Place| {
        let (a, b) = cost(w);
        (b.unwrap_or(0.0) - a.unwrap_or(0.0)).abs()
    };
    list.sort_by(|a, b| by(b).total_cmp(&by(a)));
    let _ = writeln!(
        out,
        "\n<details><summary>{} of {} workloads differ</summary>\n\n\
         | workload | ns before | ns after | growth | counters that differ |\n|---|--:|--:|--:|--:|",
        list.len(),
        all.workloads.len()
    );
    for w in list.iter().take(ROWS) {
        let (a, b) = cost(w);
        let text = |v: Option<f64>| v.map_or("–".into(), number);
        let grown = match (w.before, w.after) {
            (None, _) => "new".into(),
            (_, None) => "gone".into(),
            _ => percent(super::growth(a.unwrap_or(0.0), b.unwrap_or(0.0))),
        };
        let differ = w.differing().count();
        let _ = writeln!(out, "| {} | {} | {} | {grown} | {differ} |", cell(w.name), text(a), text(b));
    }
    more(out, list.len());
    out.push_str("\n</details>\n");
}

/// A summary for a pull request.
pub(super) fn markdown(all: &Comparison, before: &Path, after: &Path, gpu: &str) -> String {
    let dearer: Vec<_> = all
        .places()
        .flat_map(|p| p.rows.iter().map(move |r| (p, r)))
        .filter_map(|(p, r)| Some((p, r, r.judged.as_ref()?.as_ref().err()?)))
        .collect();
    let limits = all.places().flat_map(|p| &p.rows).filter(|r| r.judged.is_some()).count();
    let differs = all.total.differing().next().is_some()
        || all.workloads.iter().any(|w| w.differing().next().is_some());
    let wrong = &all.wrong;
    let head = match (dearer.len() + wrong.len(), differs) {
        (0, false) => "no difference".into(),
        (0, true) if limits == 0 => "what differs".into(),
        (0, true) => "nothing is dearer than allowed".into(),
        (n, _) if !wrong.is_empty() => format!("{n} failures"),
        (1, _) => "one limit does not hold".into(),
        (n, _) => format!("{n} limits do not hold"),
    };
    let mut out = format!("### Tuff: {head}\n\n");
    let name = |p: &Path| cell(&p.display().to_string());
    let _ = write!(out, "{} → {}, {}", name(before), name(after), cell(gpu));
    let _ = writeln!(out, "{}", if limits > 0 { format!("; {limits} limits judged") } else { String::new() });
    if !dearer.is_empty() {
        out.push_str("\n| limit | of | what happened |\n|---|---|---|\n");
        for (place, row, why) in dearer.iter().take(ROWS) {
            let _ = writeln!(out, "| {} | {} | {} |", counter(row.counter), cell(place.name), cell(why));
        }
        more(&mut out, dearer.len());
    }
    for line in wrong.iter().take(ROWS) {
        let _ = writeln!(out, "\n- {}", cell(line));
    }
    let (limited, others): (Vec<_>, Vec<_>) = all.total.rows.iter().partition(|r| r.judged.is_some());
    if !limited.is_empty() {
        out.push_str("\n**Totals with a limit**\n\n");
        rows(&mut out, limited.into_iter());
    }
    let others: Vec<_> = others.into_iter().filter(|r| r.differs()).collect();
    if !others.is_empty() {
        let what = if limits > 0 { "other totals differ" } else { "totals differ" };
        let _ = writeln!(out, "\n<details><summary>{} {what}</summary>\n", others.len());
        rows(&mut out, others.into_iter());
        out.push_str("\n</details>\n");
    }
    workloads(&mut out, all);
    out
}

pub fn markdown_error(why: &str) -> String {
    format!("### Tuff: not compared\n\n{}\n", cell(why))
}

/// All that differs, for other programs.
pub(super) fn json(all: &Comparison, shaders: &[Compared]) -> Value {
    let place = |p: &Place| {
        let row = |r: &Row| {
            let why = r.judged.as_ref().and_then(|j| j.as_ref().err());
            json!({ "counter": r.counter, "before": r.before, "after": r.after, "failed": why })
        };
        let rows: Vec<Value> = p.rows.iter().filter(|r| r.differs() || r.judged.is_some()).map(row).collect();
        json!({ "name": p.name, "counters": rows })
    };
    let places = |list: &[Place]| list.iter().map(place).collect::<Vec<_>>();
    json!({
        "total": place(&all.total), "workloads": places(&all.workloads), "others": places(&all.others),
        "shaders": shaders::json(shaders), "failures": all.failures(),
    })
}

/// A suite for the totals and each workload, a case for each limit.
pub(super) fn junit(all: &Comparison) -> String {
    let suite = |p: &Place| {
        let case = |r: &Row| {
            let status = match r.judged.as_ref()? {
                Ok(()) => TestCaseStatus::success(),
                Err(why) => {
                    let message = format!("{}: {why}", r.counter);
                    failed("dearer", message, format!("{} of {}: {why}", r.counter, p.name))
                }
            };
            Some((r.counter.to_string(), status))
        };
        suite(p.name, p.rows.iter().filter_map(case))
    };
    let vanished = match &all.wrong[..] {
        [] => TestCaseStatus::success(),
        [first, more @ ..] => {
            let message = format!("{first}{}", if more.is_empty() { "" } else { ", and more" });
            failed("missing", message, all.wrong.join("\n"))
        }
    };
    let vanished = ("nothing has vanished, and every rule is of a workload", vanished);
    // Some readers take a file without a case for a failure.
    let mut suites = vec![crate::junit::suite(NAME, [(COMPARABLE, TestCaseStatus::success()), vanished])];
    let judged = [&all.total].into_iter().chain(&all.workloads).chain(&all.others).map(suite);
    suites.extend(judged.filter(|s| !s.test_cases.is_empty()));
    xml(NAME, suites)
}

const NAME: &str = "tuff diff";
const COMPARABLE: &str = "files can be compared";

pub fn junit_error(why: &str) -> String {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_message(why);
    xml(NAME, vec![suite(NAME, [(COMPARABLE, status)])])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::limits::Limit;
    use std::collections::BTreeMap;

    #[test]
    fn numbers_have_their_thousands_apart() {
        assert_eq!(number(8388608.0), "8\u{a0}388\u{a0}608");
        assert_eq!(number(-1234.5), "-1\u{a0}234.5");
        assert_eq!((number(999.0), number(0.0)), ("999".into(), "0".into()));
        assert_eq!(number(86.239_256_714_771_46), "86.2393");
        assert_eq!(
            (number(17_792_123.514), number(0.000_012)),
            ("17\u{a0}792\u{a0}123.5".into(), "0.00001".into())
        );
    }

    /// What a program has called its workloads is text, whatever it holds.
    #[test]
    fn names_are_no_markup() {
        let counters = |v: f64| BTreeMap::from([("Own".to_string(), v), (ELAPSED.to_string(), v * 10.0)]);
        let limits =
            BTreeMap::from([("Own".to_string(), Limit { max_increase: Some(0.0), ..Default::default() })]);
        let none = BTreeMap::new();
        let (a, b) = (counters(1.0), counters(2.0));
        let total = Place::new("all workloads", Some(&a), Some(&b), &none);
        let workloads = vec![
            Place::new("0.0 <b>|\"&", Some(&a), Some(&b), &limits),
            Place::new("0.0 new", None, Some(&b), &limits),
        ];
        let all = Comparison { total, workloads, others: vec![], wrong: vec![] };
        let text = markdown(&all, Path::new("a.json"), Path::new("b.json"), "G720 class, 10 cores");
        assert_eq!(
            text,
            "### Tuff: one limit does not hold\n\n\
             a.json → b.json, G720 class, 10 cores; 2 limits judged\n\n\
             | limit | of | what happened |\n|---|---|---|\n\
             | Own | 0.0 &lt;b&gt;\\|\"&amp; | 1 to 2, +100.00 % where 0 % is allowed |\n\n\
             <details><summary>2 other totals differ</summary>\n\n\
             | counter | before | after | growth |\n|---|--:|--:|--:|\n\
             | Own | 1 | 2 | +100.00 % |\n\
             | modelled time, ns | 10 | 20 | +100.00 % |\n\n</details>\n\n\
             <details><summary>2 of 2 workloads differ</summary>\n\n\
             | workload | ns before | ns after | growth | counters that differ |\n|---|--:|--:|--:|--:|\n\
             | 0.0 new | – | 20 | new | 2 |\n\
             | 0.0 &lt;b&gt;\\|\"&amp; | 10 | 20 | +100.00 % | 2 |\n\n</details>\n"
        );
        let xml = junit(&all);
        assert!(
            xml.contains("<testsuite name=\"0.0 &lt;b&gt;|&quot;&amp;\" tests=\"1\" skipped=\"0\" errors=\"0\" failures=\"1\""),
            "{xml}"
        );
        assert!(
            xml.contains("<testsuite name=\"0.0 new\" tests=\"1\" skipped=\"0\" errors=\"0\" failures=\"0\""),
            "{xml}"
        );
    }
}
