//! Shaders of two captures side by side: what each cost, and which lines of it.

use super::file::{Counters, File};
use crate::costs::lines::Spent;
use crate::costs::listing::{Beside, Pair, beside};
use crate::costs::{self, Shader};
use client::Result;
use counters::Model;
use counters::model::LINE;
use serde_json::{Value, json};
use std::fmt::Write;

/// What a shader has limits for (docs/diff.md).
pub const COUNTERS: [&str; 11] =
    ["cycles", "arithmetic", "fma", "cvt", "sfu", "ls", "tex", "varying", "bytes", "warps", "registers"];

/// Lines that are shown of a shader, and shaders, unless all are wanted.
const LINES: usize = 24;
const SHADERS: usize = 8;

/// A shader of both captures, or of one.
pub struct Compared {
    pub name: String,
    pub before: Option<Counters>,
    pub after: Option<Counters>,
    /// Its contents differ.
    pub edited: bool,
    /// Its lines, if anything differs.
    pub texts: Vec<Beside>,
}

fn counted(spent: &Spent, cycles: f64) -> Vec<f64> {
    let s = spent;
    vec![
        cycles,
        s.arithmetic,
        s.fma,
        s.cvt,
        s.sfu,
        s.load_store,
        s.texture,
        s.varying,
        s.lines * LINE as f64,
        s.warps,
    ]
}

fn counters(s: &Shader, by: f64) -> Counters {
    let mut values = counted(&s.all().scaled(by), s.heat() * by);
    values.push(f64::from(s.registers));
    COUNTERS.iter().map(|c| c.to_string()).zip(values).collect()
}

impl Compared {
    fn cycles(&self) -> [f64; 2] {
        [&self.before, &self.after].map(|c| c.as_ref().map_or(0.0, |c| c["cycles"]))
    }
    pub fn differs(&self) -> bool {
        self.edited || self.before != self.after
    }
    /// Lines that were edited or whose cost differs, with how many cycles.
    fn differing(&self) -> Vec<(&Beside, &Pair, f64)> {
        let all = self.texts.iter().flat_map(|b| b.pairs.iter().map(move |p| (b, p, delta(p))));
        all.filter(|(_, p, d)| d.abs() >= 0.5 || p.edited() && !blank(p)).collect()
    }
}

fn blank(p: &Pair) -> bool {
    [&p.before, &p.after].into_iter().flatten().all(|r| r.text.trim().is_empty())
}

/// Cycles more than before.
fn delta(p: &Pair) -> f64 {
    let [a, b] = p.spent();
    b.cycles() - a.cycles()
}

/// Shaders of both, the most different first. `each`: what costs of each are multiplied by. Nothing where one has no folder.
pub fn compare(a: &File, b: &File, each: [f64; 2]) -> Result<Vec<Compared>> {
    let (Some(x), Some(y)) = (&a.folder, &b.folder) else { return Ok(vec![]) };
    let Ok(model) = serde_json::from_value::<Model>(b.model.clone()) else { return Ok(vec![]) };
    let (before, after) = (costs::read(x)?, costs::read(y)?);
    let pairs = costs::matched(&before, &after);
    let mut all = vec![];
    for (i, j) in &pairs {
        let (s, t) = (&before[*i], &after[*j]);
        let (c, d) = (counters(s, each[0]), counters(t, each[1]));
        let edited = s.key.hash != t.key.hash;
        let texts = if edited || c != d { beside(s, t, &model, each)? } else { vec![] };
        all.push(Compared { name: t.name.clone(), before: Some(c), after: Some(d), edited, texts });
    }
    let alone = |s: &Shader, counters: [Option<Counters>; 2]| {
        let [before, after] = counters;
        Compared { name: s.name.clone(), before, after, edited: false, texts: vec![] }
    };
    let gone = before.iter().enumerate().filter(|(i, _)| !pairs.iter().any(|p| p.0 == *i));
    all.extend(gone.map(|(_, s)| alone(s, [Some(counters(s, each[0])), None])));
    let new = after.iter().enumerate().filter(|(j, _)| !pairs.iter().any(|p| p.1 == *j));
    all.extend(new.map(|(_, s)| alone(s, [None, Some(counters(s, each[1]))])));
    let by = |c: &Compared| {
        let [a, b] = c.cycles();
        (b - a).abs()
    };
    all.sort_by(|x, y| by(y).total_cmp(&by(x)).then(x.name.cmp(&y.name)));
    Ok(all)
}

fn whole(v: f64) -> String {
    super::report::rounded((v * 10.0).round() / 10.0)
}

/// `1 → 2, +100.00 %`.
fn change([a, b]: [f64; 2]) -> String {
    let grown = match super::growth(a, b) {
        g if g.is_infinite() => "new".into(),
        g => format!("{g:+.2} %"),
    };
    format!("{} → {}, {grown}", whole(a), whole(b))
}

/// What of a line's cost says most.
fn told(p: &Pair) -> String {
    let [a, b] = p.spent();
    let parts: [(&str, fn(&Spent) -> f64); 7] = [
        ("FMA", |s| s.fma),
        ("CVT", |s| s.cvt),
        ("SFU", |s| s.sfu),
        ("load/store", |s| s.load_store),
        ("texture", |s| s.texture),
        ("varying", |s| s.varying),
        ("bytes", |s| s.lines * LINE as f64),
    ];
    let differ = parts.iter().map(|(name, of)| (name, of(&b) - of(&a))).filter(|(_, d)| d.abs() >= 0.5);
    differ
        .map(|(name, d)| format!("{name} {}{}", if d > 0.0 { "+" } else { "−" }, whole(d.abs())))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Rows of a shader's lines: what differs, in the order of the text, the largest if there are too many.
fn lines(c: &Compared, all: bool) -> (Vec<String>, usize) {
    let mut rows = c.differing();
    let left = if all { 0 } else { rows.len().saturating_sub(LINES) };
    if left > 0 {
        let mut by: Vec<f64> = rows.iter().map(|r| r.2.abs()).collect();
        by.sort_by(|a, b| b.total_cmp(a));
        let least = by[LINES - 1];
        let mut room = LINES;
        rows.retain(|r| {
            let keep = r.2.abs() >= least && room > 0;
            room -= usize::from(keep);
            keep
        });
    }
    let row = |(_, p, _): &(&Beside, &Pair, f64)| {
        let (mark, text) = match (&p.before, &p.after) {
            (Some(r), None) => ('-', r),
            (None, Some(r)) => ('+', r),
            (Some(_), Some(r)) => (' ', r),
            (None, None) => return String::new(),
        };
        let [a, b] = p.spent();
        let cost = match mark {
            '-' => whole(a.cycles()),
            '+' => whole(b.cycles()),
            _ => format!("{} → {}", whole(a.cycles()), whole(b.cycles())),
        };
        let why = if mark == ' ' { told(p) } else { String::new() };
        let why = if why.is_empty() { why } else { format!("   [{why}]") };
        format!("{mark} {:>5} {cost:>20} | {}{why}", text.number, plain::line(text.text.trim_end()))
    };
    (rows.iter().map(row).collect(), left)
}

/// For a terminal: shaders that differ, and their lines.
pub fn text(shaders: &[Compared], all: bool) -> String {
    let mut out = String::new();
    let differ: Vec<_> = shaders.iter().filter(|c| c.differs()).collect();
    let shown = if all { differ.len() } else { SHADERS };
    for c in differ.iter().take(shown) {
        let what = match (&c.before, &c.after) {
            (None, _) => "new: ",
            (_, None) => "gone: ",
            _ if c.edited => "edited: ",
            _ => "",
        };
        let _ = writeln!(out, "{what}{}: cycles {}", c.name, change(c.cycles()));
        let (rows, left) = lines(c, all);
        if !rows.is_empty() {
            let _ = writeln!(out, "   line               cycles");
        }
        rows.iter().for_each(|r| {
            let _ = writeln!(out, "{r}");
        });
        if left > 0 {
            let _ = writeln!(out, "  and {left} more lines that differ: --all shows them");
        }
    }
    if differ.len() > shown {
        let _ = writeln!(out, "and {} more shaders that differ: --all shows them", differ.len() - shown);
    }
    out
}

/// For a pull request.
pub fn markdown(shaders: &[Compared]) -> String {
    let differ: Vec<_> = shaders.iter().filter(|c| c.differs()).collect();
    let mut out = String::new();
    for c in differ.iter().take(SHADERS) {
        let mark = if c.edited { ", edited" } else { "" };
        let name = plain::markdown(&c.name);
        let _ = writeln!(out, "\n<details><summary>{name}{mark}: cycles {}</summary>\n", change(c.cycles()));
        let (rows, left) = lines(c, false);
        if rows.is_empty() {
            let _ = writeln!(out, "Costs by line do not differ.");
        } else {
            // A fence that no line of the text closes.
            let _ = writeln!(
                out,
                "````diff\n  line               cycles\n{}\n````",
                rows.join("\n").replace("````", "'```")
            );
        }
        if left > 0 {
            let _ = writeln!(out, "\nand {left} more lines");
        }
        out.push_str("\n</details>\n");
    }
    if differ.len() > SHADERS {
        let _ = writeln!(out, "\nand {} more shaders", differ.len() - SHADERS);
    }
    out
}

fn spent(s: &Spent) -> Value {
    let values = counted(s, s.cycles());
    COUNTERS.iter().zip(values).filter(|(_, v)| *v != 0.0).map(|(k, v)| (k.to_string(), json!(v))).collect()
}

/// For other programs; of each shader the lines that differ.
pub fn json(shaders: &[Compared]) -> Value {
    let line = |(b, p, _): &(&Beside, &Pair, f64)| {
        let side = |r: &Option<costs::listing::Row>| {
            r.as_ref()
                .map(|r| json!({ "line": r.number, "text": r.text, "cost": r.spent.as_ref().map(spent) }))
        };
        json!({ "file": b.file, "before": side(&p.before), "after": side(&p.after) })
    };
    let shader = |c: &Compared| {
        json!({
            "name": c.name, "edited": c.edited, "before": c.before, "after": c.after,
            "lines": c.differing().iter().map(line).collect::<Vec<_>>(),
        })
    };
    shaders.iter().map(shader).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costs::listing::Row;

    fn row(number: u32, text: &str, fma: f64) -> Option<Row> {
        let spent = Spent { arithmetic: fma, fma, warps: 1.0, ..Spent::default() };
        Some(Row { number, text: text.into(), spent: (fma > 0.0).then_some(spent) })
    }

    fn compared() -> Compared {
        let pairs = vec![
            Pair { before: row(1, "void main() {", 0.0), after: row(1, "void main() {", 0.0) },
            Pair { before: row(2, "  x = a * b;", 10.0), after: None },
            Pair { before: None, after: row(2, "  x = a * b + ````;", 14.0) },
            Pair { before: row(3, "  y = x;", 4.0), after: row(3, "  y = x;", 6.0) },
        ];
        let of = |cycles: f64| Some(Counters::from([("cycles".to_string(), cycles)]));
        let texts = vec![Beside { file: "lit.frag".into(), pairs }];
        Compared {
            name: "fragment lit.frag (main)".into(),
            before: of(14.0),
            after: of(20.0),
            edited: true,
            texts,
        }
    }

    #[test]
    fn lines_that_differ_are_told_in_order() {
        assert_eq!(
            text(&[compared()], false),
            "edited: fragment lit.frag (main): cycles 14 → 20, +42.86 %\n   line               cycles\n\
             -     2                   10 |   x = a * b;\n\
             +     2                   14 |   x = a * b + ````;\n\
             \u{20}     3                4 → 6 |   y = x;   [FMA +2]\n"
        );
        let text = markdown(&[compared()]);
        assert_eq!(text.matches("````").count(), 2, "{text}");
        let all = json(&[compared()]);
        assert_eq!(all[0]["lines"].as_array().unwrap().len(), 3);
        assert_eq!(
            all[0]["lines"][2]["after"]["cost"],
            json!({ "cycles": 6.0, "arithmetic": 6.0, "fma": 6.0, "warps": 1.0 })
        );
    }

    #[test]
    fn what_is_the_same_says_nothing() {
        let of = Some(Counters::from([("cycles".to_string(), 1.0)]));
        let same = Compared { name: "x".into(), before: of.clone(), after: of, edited: false, texts: vec![] };
        assert_eq!((text(&[same], true), markdown(&[])), (String::new(), String::new()));
    }
}
