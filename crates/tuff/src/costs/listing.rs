//! A shader's text as rows with costs, and the rows of two shaders side by side.

use super::lines::{self, Spent};
use super::{Shader, align};
use crate::report::Printer;
use client::Result;
use counters::Model;
use std::collections::BTreeMap;

/// What stands for a file's name where there is no source.
pub const CODE: &str = "SPIR-V";

/// A row of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    pub number: u32,
    pub text: String,
    pub spent: Option<Spent>,
}

/// A text of a shader: one of its sources, or its SPIR-V.
pub struct Listing {
    pub file: String,
    pub rows: Vec<Row>,
}

/// By the last part of a name.
fn short(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}

/// Its sources with costs by line; without sources its SPIR-V with costs where blocks begin.
pub fn listings(s: &Shader, m: &Model) -> Result<Vec<Listing>> {
    let sources = crate::annotate::texts(&s.module, &s.file, &[]);
    if sources.is_empty() {
        return Ok(vec![spirv(s)?]);
    }
    let costs = lines::of(s, m);
    let alone = sources.len() == 1;
    let listing =
        |source: &shader::instrument::Source| {
            let places = source.places();
            let mut spent: BTreeMap<u32, Spent> = BTreeMap::new();
            for ((file, line), cost) in &costs {
                let of = |file: &str| places.get(&(file.to_string(), *line)).copied();
                if let Some(row) = of(file).or_else(|| of(&source.file).filter(|_| alone)) {
                    spent.entry(row).or_default().add(cost);
                }
            }
            let rows = source.text.lines().zip(source.rows()).zip(1..).map(|((text, (_, number)), row)| {
                Row { number, text: text.to_string(), spent: spent.get(&row).copied() }
            });
            Listing { file: source.file.clone(), rows: rows.collect() }
        };
    Ok(sources.iter().map(listing).collect())
}

fn spirv(s: &Shader) -> Result<Listing> {
    let printer = Printer::of(&s.module, &s.file)?;
    let begins: BTreeMap<usize, Spent> =
        s.spent().filter_map(|(b, spent)| Some((printer.line_of(b.label)?, spent))).collect();
    let rows = printer.lines().iter().enumerate().map(|(i, text)| Row {
        number: i as u32 + 1,
        text: text.clone(),
        spent: begins.get(&i).copied(),
    });
    Ok(Listing { file: CODE.into(), rows: rows.collect() })
}

/// A row of SPIR-V without what an edit elsewhere changes: blanks around it, and numbers of ids.
fn steady(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text.trim());
    while let Some(at) = rest.find('%') {
        let after = &rest[at + 1..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        out += &rest[..at + 1];
        rest = &after[digits..];
    }
    out + rest
}

/// A line in both shaders, or in one of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    pub before: Option<Row>,
    pub after: Option<Row>,
}

impl Pair {
    pub fn spent(&self) -> [Spent; 2] {
        [&self.before, &self.after].map(|r| r.as_ref().and_then(|r| r.spent).unwrap_or_default())
    }
    pub fn edited(&self) -> bool {
        self.before.is_none() || self.after.is_none()
    }
}

/// Texts of two shaders side by side, by their files.
pub struct Beside {
    pub file: String,
    pub pairs: Vec<Pair>,
}

/// `each`: what costs of before and after are multiplied by.
pub fn beside(before: &Shader, after: &Shader, m: &Model, each: [f64; 2]) -> Result<Vec<Beside>> {
    let (mut a, b) = (listings(before, m)?, listings(after, m)?);
    // Source on one side only: the SPIR-V of both.
    let is_code = |l: &[Listing]| l.iter().all(|l| l.file == CODE);
    if is_code(&a) != is_code(&b) {
        return sides(vec![spirv(before)?], vec![spirv(after)?], each);
    }
    // One file and one file are the same, whatever they are called.
    if let ([x], [y]) = (&mut a[..], &b[..]) {
        x.file.clone_from(&y.file);
    }
    sides(a, b, each)
}

fn sides(mut a: Vec<Listing>, b: Vec<Listing>, each: [f64; 2]) -> Result<Vec<Beside>> {
    let mut all = vec![];
    let scaled = |r: &Row, by: f64| Row { spent: r.spent.map(|s| s.scaled(by)), ..r.clone() };
    for y in b {
        let at = a.iter().position(|x| short(&x.file) == short(&y.file));
        let x = at.map(|i| a.remove(i)).unwrap_or(Listing { file: y.file.clone(), rows: vec![] });
        let code = y.file == CODE;
        let key = |r: &Row| if code { steady(&r.text) } else { r.text.trim().to_string() };
        let texts = [&x.rows, &y.rows].map(|r| r.iter().map(key).collect::<Vec<_>>());
        let pair = |(i, j): (Option<usize>, Option<usize>)| Pair {
            before: i.map(|i| scaled(&x.rows[i], each[0])),
            after: j.map(|j| scaled(&y.rows[j], each[1])),
        };
        all.push(Beside {
            file: y.file,
            pairs: align::rows(&texts[0], &texts[1]).into_iter().map(pair).collect(),
        });
    }
    for x in a {
        let pairs = x.rows.iter().map(|r| Pair { before: Some(scaled(r, each[0])), after: None }).collect();
        all.push(Beside { file: x.file, pairs });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_blanks_are_of_no_account() {
        assert_eq!(steady("  %12 = OpFAdd %float %3 %x "), "% = OpFAdd %float % %x");
        assert_eq!(steady("a % 2"), "a % 2");
    }
}
