//! The matrix: how fast every format and operation is ([`client::matrix`]), in a table and as a page.

use crate::parent::{Bench, Report, Row, Section, What, clock, words};
use client::drivers::Threads;
use client::matrix::Group;
use client::session::Request;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What is asked of every row, against each peer.
const ASKED: f64 = 1.5;

/// A group's rows, without those that no driver has.
pub fn section(bench: &Bench, group: Group, threads: Threads) -> Section {
    let budget_ms = bench.args.budget_ms;
    let part = bench.args.rows.as_deref().unwrap_or_default();
    let names: Vec<String> = group.rows().into_iter().filter(|row| row.contains(part)).collect();
    let requests =
        names.iter().map(|row| (row.as_str(), Request::Matrix { group, row: row.clone(), budget_ms }));
    let mut rows = bench.rounds(threads, requests);
    rows.retain(|r| r.times.values().any(|t| !t.cpu.is_empty()));
    let title = format!("{}, {}", group.name(), words(threads));
    Section { what: What::Matrix, title, clock: clock(threads), rows, threads }
}

/// A row's speed against each peer; `None` where one of the two lacks it.
fn ratios(row: &Row, names: &[String], threads: Threads) -> Vec<Option<f64>> {
    let own = &row.times[&names[0]];
    let ratio = |peer: &String| {
        let peer = &row.times[peer];
        let both = own.error.is_none() && peer.error.is_none();
        Some(peer.min(threads) / own.min(threads)).filter(|r| both && r.is_finite() && *r > 0.0)
    };
    names[1..].iter().map(ratio).collect()
}

/// How a row does beside peers: by the peer that is fastest there.
fn least(ratios: &[Option<f64>]) -> Option<f64> {
    ratios.iter().flatten().copied().min_by(f64::total_cmp)
}

/// Of some rows, against one peer.
#[derive(Default)]
struct Sum {
    rows: usize,
    short: usize,
    logarithms: f64,
    least: Option<f64>,
}

impl Sum {
    fn add(&mut self, ratio: f64) {
        self.rows += 1;
        self.short += usize::from(ratio < ASKED);
        self.logarithms += ratio.ln();
        self.least = Some(self.least.map_or(ratio, |l| l.min(ratio)));
    }

    /// Rows, mean, least and how many are short.
    fn cells(&self, between: &str) -> String {
        let mean = (self.logarithms / self.rows as f64).exp();
        match self.least {
            Some(least) => {
                format!("{}{between}{mean:.2}{between}{least:.2}{between}{}", self.rows, self.short)
            }
            None => format!("0{between}–{between}–{between}0"),
        }
    }
}

/// The sums of a section's rows by kind (what stands before the colon), for each peer; those of all first.
fn kinds(s: &Section, names: &[String]) -> Vec<(String, Vec<Sum>)> {
    let fresh = || names[1..].iter().map(|_| Sum::default()).collect::<Vec<_>>();
    let mut all = fresh();
    let mut by_kind: BTreeMap<String, Vec<Sum>> = BTreeMap::new();
    for row in &s.rows {
        let kind = row.name.split(": ").next().unwrap_or_default();
        let sums = by_kind.entry(kind.into()).or_insert_with(fresh);
        for (i, ratio) in ratios(row, names, s.threads).into_iter().enumerate() {
            if let Some(r) = ratio {
                all[i].add(r);
                sums[i].add(r);
            }
        }
    }
    std::iter::once(("all".to_string(), all)).chain(by_kind).collect()
}

/// Rows that every driver of the comparison has, worst first.
fn worst<'a>(s: &'a Section, names: &[String]) -> Vec<(f64, &'a Row)> {
    let mut rows: Vec<_> =
        s.rows.iter().filter_map(|r| Some((least(&ratios(r, names, s.threads))?, r))).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    rows
}

fn value(row: &Row, name: &str, threads: Threads) -> String {
    let t = &row.times[name];
    if t.error.is_some() { "–".into() } else { format!("{:.3}", t.min(threads) * 1e3) }
}

/// What of a driver failed, other than for lack of it.
fn failures<'a>(s: &'a Section, names: &'a [String]) -> impl Iterator<Item = String> + 'a {
    s.rows.iter().flat_map(move |r| {
        names.iter().filter_map(move |n| {
            let e = r.times[n].error.as_ref().filter(|e| !e.contains(client::pictures::MISSING))?;
            Some(format!("{}, {n}: {e}", r.name))
        })
    })
}

/// A section for the terminal: the rows worst first, and the means.
pub fn print(s: &Section, names: &[String]) {
    println!("\n{} — {} time in ms, best", s.title, s.clock);
    for (_, row) in worst(s, names) {
        print!("{:58}", row.name);
        names.iter().for_each(|n| print!("{:>14}", value(row, n, s.threads)));
        for r in ratios(row, names, s.threads) {
            print!("{:>10}", r.map_or("–".into(), |r| format!("{r:.2}")));
        }
        println!();
    }
    for (kind, sums) in kinds(s, names) {
        let cells: Vec<_> =
            names[1..].iter().zip(sums).map(|(n, s)| format!("{n}: {}", s.cells(" | "))).collect();
        println!("  {kind}: {} (rows | mean | least | below {ASKED})", cells.join("; "));
    }
    failures(s, names).for_each(|f| println!("  {f}"));
}

/// The page about a run of the matrix.
pub fn page(report: &Report, names: &[String], command: &str, machine: &str) -> String {
    let mut out = format!(
        "# Performance of every format and operation\n\n<!-- written by the command below: do not edit -->\n\
         <!-- not run: it wants two lavapipes at once (docs/contributing.md) -->\n```sh\n{command}\n```\n\nOn {machine}.\n\n"
    );
    let o = &mut out;
    for name in names {
        let _ = writeln!(o, "- {name}: {}", report.drivers.get(name).map_or("", |w| w.as_str()));
    }
    let _ = writeln!(
        o,
        "\nTimes as fast as each peer, best of alternating rounds; one thread is CPU time of the whole process. Rows come from the \
         registry's formats and the specification's operations (`crates/client/src/matrix`), none is left out for being slow. Textures \
         are two accesses for each of 512² pixels; targets eight layers over 512² pixels; transfers four of 1024², or of 16 MiB; operations \
         a million on one dispatch. A row that a driver lacks is not in its means. {ASKED} is asked of every row."
    );
    for s in &report.sections {
        let _ = writeln!(o, "\n## {}\n", s.title);
        let _ = write!(o, "| |");
        names[1..].iter().for_each(|n| {
            let _ = write!(o, " rows ({n}) | mean | least | below {ASKED} |");
        });
        let _ = writeln!(o, "\n|---|{}", "---|---|---|---|".repeat(names.len() - 1));
        for (kind, sums) in kinds(s, names) {
            let cells: String = sums.iter().map(|s| format!(" {} |", s.cells(" | "))).collect();
            let _ = writeln!(o, "| {kind} |{cells}");
        }
        let short: Vec<_> = worst(s, names).into_iter().take_while(|(r, _)| *r < ASKED).collect();
        if !short.is_empty() {
            let _ = writeln!(o, "\nBelow {ASKED}, worst first, in ms:\n");
            let head: String = names.iter().map(|n| format!(" {n} |")).collect();
            let peers: String = names[1..].iter().map(|n| format!(" × {n} |")).collect();
            let _ = writeln!(o, "| |{head}{peers}\n|---|{}", "---|".repeat(2 * names.len() - 1));
            for (_, row) in short {
                let times: String =
                    names.iter().map(|n| format!(" {} |", value(row, n, s.threads))).collect();
                let by = ratios(row, names, s.threads).into_iter();
                let by: String = by.map(|r| r.map_or(" – |".into(), |r| format!(" {r:.2} |"))).collect();
                let _ = writeln!(o, "| {} |{times}{by}", row.name);
            }
        }
        let own = |row: &&Row| ratios(row, names, s.threads).iter().all(Option::is_none);
        let alone = s.rows.iter().filter(own).filter(|r| r.times[&names[0]].error.is_none()).count();
        let _ = writeln!(o, "\nRows that {} alone has: {alone}.", names[0]);
        for f in failures(s, names) {
            let _ = writeln!(o, "- failed: {f}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parent::Times;

    fn row(name: &str, own: f64, peer: Option<f64>) -> Row {
        let of = |v: f64| Times { wall: vec![v], cpu: vec![v], error: None };
        let none = Times { error: Some(format!("{}it", client::pictures::MISSING)), ..Default::default() };
        let times = [("tuff".to_string(), of(own)), ("peer".to_string(), peer.map_or(none, of))].into();
        Row { name: name.into(), times, work: None }
    }

    #[test]
    fn rows_are_sorted_and_summed() {
        let rows = vec![row("a: X", 1.0, Some(4.0)), row("a: Y", 1.0, Some(1.0)), row("b: X", 1.0, None)];
        let threads = Threads::Count(1);
        let s = Section { what: What::Matrix, title: "t".into(), clock: "CPU", rows, threads };
        let names = ["tuff", "peer"].map(String::from);
        let order: Vec<_> = worst(&s, &names).iter().map(|(r, row)| (*r, row.name.clone())).collect();
        assert_eq!(order, [(1.0, "a: Y".to_string()), (4.0, "a: X".to_string())]);
        let sums = kinds(&s, &names);
        assert_eq!((sums[0].0.as_str(), sums[0].1[0].cells(" ").as_str()), ("all", "2 2.00 1.00 1"));
        let report = Report { sections: vec![s], ..Default::default() };
        let text = page(&report, &names, "benches", "a machine");
        assert!(text.contains("| a | 2 | 2.00 | 1.00 | 1 |\n| b | 0 | – | – | 0 |"), "{text}");
        assert!(text.contains("| a: Y | 1000.000 | 1000.000 | 1.00 |"), "{text}");
        assert!(text.contains("Rows that tuff alone has: 1."), "{text}");
    }
}
