//! What is known of shaders, for people.

use super::analysis::{self, Analysis, code};
use super::{Shader, names};
use crate::paint::{Columns, Line, Paint, Tone, listing};
use counters::Model;
use counters::once::occupancy;
use shader::Module;
use shader::cost::Cost;
use shader::instrument::{Entry, Source, blocks};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Cycles with as many digits as tell them apart.
pub fn number(v: f64) -> String {
    if v == 0.0 { "0".into() } else { format!("{v:.3}").trim_end_matches('0').trim_end_matches('.').into() }
}

/// The cycles of a way's dearest pipe, and the pipes that take as many.
fn bound(cost: &Cost, model: &Model) -> (f64, String) {
    let all = code(cost).cycles(&model.core);
    let most = all.iter().map(|p| p.1).fold(0.0, f64::max);
    // Of arithmetic: the pipe, or that all share the issue.
    let single = all[1..].iter().any(|p| p.1 == most);
    let bound = all.iter().enumerate().filter(|(i, p)| most > 0.0 && p.1 == most && (*i > 0 || !single));
    let bound: Vec<_> = bound.map(|(_, p)| p.0.statistic).collect();
    (most, if bound.is_empty() { "nothing".into() } else { bound.join(", ") })
}

/// The row of a way through the code: what each pipe takes, and which take the most.
fn row(cost: &Cost, model: &Model) -> Vec<String> {
    let all = code(cost).cycles(&model.core);
    all.iter().map(|p| number(p.1)).chain([bound(cost, model).1]).collect()
}

/// Shaders of several files or for several GPUs, a line for each variant.
pub fn summary(all: &[Shader], paint: Paint) -> String {
    const HEADS: [&str; 8] =
        ["shader", "", "gpu", "registers", "occupancy", "shortest", "longest", "bound by"];
    let mut rows = vec![HEADS.map(String::from)];
    for s in all {
        let a = &s.analysis;
        for v in &a.variants {
            let (shortest, _) = bound(&v.ways.shortest, &s.gpu.model);
            let way = v.ways.longest.as_ref().unwrap_or(&v.ways.total);
            let (most, by) = bound(way, &s.gpu.model);
            let entry = if a.entry == "main" { String::new() } else { format!(" {}", plain::line(&a.entry)) };
            let part = if v.name == "Main" { String::new() } else { format!(", {}", v.name.to_lowercase()) };
            rows.push([
                plain::path(&s.file),
                format!("{}{entry}{part}", names(a.stage).1),
                s.gpu.name.clone(),
                a.work_registers().to_string() + if a.spilled_bytes() > 0 { ", spills" } else { "" },
                format!("{} %", occupancy(a.registers)),
                number(shortest),
                if v.ways.longest.is_some() { number(most) } else { "loops".into() },
                by,
            ]);
        }
    }
    let width = |k: usize| rows.iter().map(|r| r[k].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEADS.len()).map(width).collect();
    let mut out = String::new();
    for (i, row) in rows.iter().enumerate() {
        let mut text = String::new();
        for (k, (cell, width)) in row.iter().zip(&widths).enumerate() {
            // Numbers end in one column.
            let _ = match k {
                3..=6 => write!(text, "{cell:>width$}  "),
                _ => write!(text, "{cell:<width$}  "),
            };
        }
        let tone = if i == 0 { paint.paint(Tone::Head, text.trim_end()) } else { text.trim_end().into() };
        let _ = writeln!(out, "{tone}");
    }
    out
}

pub fn table(file: &Path, a: &Analysis, model: &Model, paint: Paint) -> String {
    let (stage, yes) = (names(a.stage).1, |b: bool| if b { "yes" } else { "no" });
    let mut out = String::new();
    let title = format!("{}: {stage} shader {}, on {}", plain::path(file), plain::line(&a.entry), model.name);
    let _ = writeln!(out, "{}", paint.paint(Tone::Head, &title));
    let mut line = |name: &str, value: String| {
        let _ = writeln!(out, "  {name:<22}{value}");
    };
    line("work registers", format!("{} ({} % occupancy)", a.work_registers(), occupancy(a.registers)));
    line(
        "stack spilling",
        match a.spilled_bytes() {
            0 => "no".into(),
            n => format!("{n} bytes (what that costs is not modelled)"),
        },
    );
    line("private arrays", format!("{} bytes", a.stack_bytes));
    line("16-bit arithmetic", format!("{} %", number(a.narrow)));
    line("uniform", format!("{} % of the instructions: they run once for all", number(a.uniform)));
    if let Some(effects) = a.side_effects {
        line("writes memory", yes(effects).into());
    }
    if a.stage == shader::ir::Stage::Fragment {
        line("modifies coverage", yes(a.modifies_coverage).into());
        line("late depth test", yes(a.late_test).into());
        line("late depth update", yes(a.late_update).into());
        line("reads attachments", yes(a.reads_colour).into());
    }
    for l in &a.loops {
        let iterations = match (l.iterations, l.constant) {
            (Some(n), true) => format!("{n} iterations"),
            (Some(n), false) => format!("{n} iterations, by --trips"),
            (None, _) => format!("unknown iterations (--trips {}=N)", l.at.argument()),
        };
        line("loop", format!("{}: {iterations}", l.at.name()));
    }
    for v in &a.variants {
        let longest = match &v.ways.longest {
            Some(c) => row(c, model),
            None => std::iter::repeat_n("n/a".to_string(), 7)
                .chain(["a loop's trips are unknown".into()])
                .collect(),
        };
        let rows = [
            ("total cycles", row(&v.ways.total, model)),
            ("shortest path", row(&v.ways.shortest, model)),
            ("longest path", longest),
        ];
        let heads = counters::once::PIPES.map(|p| p.title);
        let widest = |k: usize| rows.iter().map(|r| r.1[k].len()).max().unwrap_or(0);
        let columns = Columns::new(heads, widest);
        let head = columns.head();
        for (i, h) in head.iter().enumerate() {
            let last = i + 1 == head.len();
            let (name, bound) = if last { (v.name, "  bound by") } else { ("", "") };
            let text = format!("  {name:<14}{h}{bound}");
            let _ = writeln!(out, "{}", paint.paint(Tone::Head, text.trim_end()));
        }
        for (name, cells) in &rows {
            let _ = writeln!(out, "  {name:<14}{}  {}", columns.row(&cells[..7]), cells[7]);
        }
    }
    out
}

const COLUMNS: [&str; 7] = ["cycles", "FMA", "CVT", "SFU", "L/S", "varying", "texture"];

/// What is said over them.
const UNITS: &str = "One warp, once through: cycles of the busiest pipe; of each pipe, instructions.\n";

/// What some code takes: cycles of the busiest pipe, instructions of each.
fn line(cost: &Cost, model: &Model) -> Line {
    let c = code(cost);
    let cycles = c.cycles(&model.core).iter().map(|p| p.1).fold(0.0, f64::max);
    let count = |n: u64| if n == 0 { String::new() } else { n.to_string() };
    let counts = [c.fma, c.cvt, c.sfu, c.issues, c.slots, c.textures].map(count);
    let first = if cycles == 0.0 { String::new() } else { number(cycles) };
    (std::iter::once(first).chain(counts).collect(), cycles)
}

/// The sources, or the SPIR-V where there are none, with what each line or block costs once through.
pub fn annotated(
    a: &Analysis,
    sources: &[Source],
    module: &Module,
    entry: Entry,
    model: &Model,
    paint: Paint,
) -> Result<String, String> {
    let all = analysis::lines(a, module, entry, model).map_err(|e| e.to_string())?;
    let mut out = String::new();
    for s in sources {
        let mut sums: BTreeMap<u32, Cost> = BTreeMap::new();
        let places = s.places();
        for (stretch, cost) in &all {
            if let Some(row) = places.get(&(stretch.file.clone(), stretch.line)) {
                sums.entry(*row).or_default().add(cost);
            }
        }
        let lines = sums.iter().map(|(l, c)| (*l, line(c, model))).collect();
        let _ = write!(
            out,
            "{}{}",
            if out.is_empty() { UNITS } else { "\n" },
            listing(s, &COLUMNS, &lines, paint)
        );
    }
    if sources.is_empty() {
        let table = blocks(module, entry).map_err(|e| e.to_string())?;
        let cost = |label: u32| {
            let mut sum = Cost::FREE;
            all.iter().filter(|(t, _)| t.label == label).for_each(|(_, c)| sum.add(c));
            sum
        };
        let rows = table.iter().map(|b| (b.index, line(&cost(b.label), model))).collect();
        out = format!("; {UNITS}") + &crate::annotate::text(module, &table, &COLUMNS, &rows, false, paint)?;
    }
    Ok(out)
}
