//! `tuff annotate`: a module's text and its source, with what was measured beside each block and line.

use crate::instrument::{entry, module};
use client::{Error, Result};
use serde::Deserialize;
use shader::Module;
use shader::instrument::{Block, Source, blocks, sources};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Args {
    /// The SPIR-V module, as it was before it was instrumented.
    input: PathBuf,
    /// Counts by block: an array of numbers, or an object with `metrics` (names) and `blocks` (each with `index` and
    /// `values`); blocks of the same index are added up.
    counts: PathBuf,
    /// The entry point whose blocks were counted; all functions' without it.
    #[arg(long)]
    entry: Option<String>,
    /// Source files, for modules that only name them.
    #[arg(long)]
    source: Vec<PathBuf>,
    /// Do not print the SPIR-V.
    #[arg(long)]
    source_only: bool,
}

/// What was measured: by block, a value for each metric.
#[derive(Debug, PartialEq)]
struct Measured {
    metrics: Vec<String>,
    values: BTreeMap<u32, Vec<u64>>,
    /// The entry point whose blocks these are, if the file says so.
    entry: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum File {
    Plain(Vec<u64>),
    Full { entry: Option<String>, metrics: Vec<String>, blocks: Vec<Row> },
}

#[derive(Deserialize)]
struct Row {
    index: u32,
    values: Vec<u64>,
}

fn read(text: &str) -> std::result::Result<Measured, String> {
    let file: File = serde_json::from_str(text).map_err(|e| format!("not counts: {e}"))?;
    match file {
        File::Plain(counts) => Ok(Measured {
            metrics: vec!["threads".into()],
            values: counts.into_iter().enumerate().map(|(i, c)| (i as u32, vec![c])).collect(),
            entry: None,
        }),
        File::Full { entry, metrics, blocks } => {
            let mut values: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
            for b in blocks {
                if b.values.len() != metrics.len() {
                    return Err(format!(
                        "block {} has {} values, not {}",
                        b.index,
                        b.values.len(),
                        metrics.len()
                    ));
                }
                let sum = values.entry(b.index).or_insert_with(|| vec![0; metrics.len()]);
                sum.iter_mut().zip(&b.values).for_each(|(s, v)| *s = s.saturating_add(*v));
            }
            Ok(Measured { metrics, values, entry }.without_zeros())
        }
    }
}

impl Measured {
    /// Without the metrics that are zero everywhere.
    fn without_zeros(mut self) -> Measured {
        let used = |k: usize| self.values.values().any(|v| v.get(k).is_some_and(|n| *n != 0));
        let keep: Vec<usize> = (0..self.metrics.len()).filter(|&k| used(k)).collect();
        self.metrics = keep.iter().map(|&k| std::mem::take(&mut self.metrics[k])).collect();
        self.values.values_mut().for_each(|v| *v = keep.iter().map(|&k| v[k]).collect());
        self
    }

    /// The numbers of one row, in columns under `head`.
    fn columns(&self, values: &[u64], widths: &[usize]) -> String {
        let mut out = String::new();
        for (k, w) in widths.iter().enumerate() {
            match values.get(k) {
                Some(v) => drop(write!(out, " {v:>w$}")),
                None => drop(write!(out, " {:>w$}", "")),
            }
        }
        out
    }

    fn widths(&self) -> Vec<usize> {
        let longest = |k: usize| {
            let sum: u64 = self.values.values().filter_map(|v| v.get(k)).fold(0, |a, v| a.saturating_add(*v));
            sum.to_string().len()
        };
        self.metrics.iter().enumerate().map(|(k, m)| m.len().max(longest(k))).collect()
    }

    fn head(&self, widths: &[usize]) -> String {
        self.metrics.iter().zip(widths).map(|(m, w)| format!(" {m:>w$}")).collect()
    }
}

/// Prints instructions as they come. (rspirv's module has no place for instructions of debug info among the types.)
struct Printer<'a> {
    out: String,
    by_label: BTreeMap<u32, &'a Block>,
    measured: &'a Measured,
    widths: Vec<usize>,
}

impl rspirv::binary::Consumer for Printer<'_> {
    fn initialize(&mut self) -> rspirv::binary::ParseAction {
        rspirv::binary::ParseAction::Continue
    }
    fn finalize(&mut self) -> rspirv::binary::ParseAction {
        rspirv::binary::ParseAction::Continue
    }
    fn consume_header(&mut self, _: rspirv::dr::ModuleHeader) -> rspirv::binary::ParseAction {
        rspirv::binary::ParseAction::Continue
    }
    fn consume_instruction(&mut self, i: rspirv::dr::Instruction) -> rspirv::binary::ParseAction {
        use rspirv::binary::Disassemble;
        if let Some(b) = i.result_id.and_then(|id| self.by_label.get(&id)) {
            let values = self.measured.values.get(&b.index).map_or(&[][..], Vec::as_slice);
            let columns = self.measured.columns(values, &self.widths);
            let _ = write!(self.out, ";{columns}  block {}, {}", b.index, b.function_name);
            if b.line != 0 {
                let _ = write!(self.out, ", {}:{}", b.file, b.line);
            }
            self.out.push_str(if b.loop_header { ", loop header\n" } else { "\n" });
        }
        let _ = writeln!(self.out, "{}", i.disassemble());
        rspirv::binary::ParseAction::Continue
    }
}

/// The module's text; where a block begins, a line of its values.
fn text(m: &Module, table: &[Block], measured: &Measured) -> std::result::Result<String, String> {
    let widths = measured.widths();
    let out = format!(";{}\n", measured.head(&widths));
    let by_label = table.iter().map(|b| (b.label, b)).collect();
    let mut printer = Printer { out, by_label, measured, widths };
    rspirv::binary::parse_words(m.words(), &mut printer)
        .map_err(|e| format!("not to be disassembled: {e}"))?;
    Ok(printer.out)
}

/// A source file. The first metric stands at every line of a block (the greatest of the blocks with instructions of
/// that line); the others once, at the line where their block begins (the sum of the blocks that begin there).
fn source(s: &Source, table: &[Block], measured: &Measured) -> String {
    let mut lines: BTreeMap<u32, (Option<u64>, Vec<u64>, Vec<u32>)> = BTreeMap::new();
    for b in table.iter().filter(|b| b.file == s.file) {
        let Some(values) = measured.values.get(&b.index) else { continue };
        for &l in &b.lines {
            let at = lines.entry(l).or_default();
            at.0 = at.0.max(values.first().copied());
        }
        let at = lines.entry(b.line).or_default();
        at.1.resize(values.len().saturating_sub(1), 0);
        at.1.iter_mut().zip(values.iter().skip(1)).for_each(|(s, v)| *s = s.saturating_add(*v));
        at.2.push(b.index);
    }
    let widths = measured.widths();
    let mut out = format!("{}\n{}\n", s.file, measured.head(&widths));
    for (i, line) in s.text.lines().enumerate() {
        let values: Vec<u64> = match lines.get(&(i as u32 + 1)) {
            Some((Some(first), rest, _)) => std::iter::once(*first).chain(rest.iter().copied()).collect(),
            _ => Vec::new(),
        };
        let _ = writeln!(out, "{} |{:>5} {line}", measured.columns(&values, &widths), i + 1);
    }
    out
}

/// The module's sources; those it only names, from `given` files or from the module's own folder.
fn texts(m: &Module, input: &Path, given: &[PathBuf]) -> Vec<Source> {
    let mut all = sources(m);
    for s in all.iter_mut().filter(|s| s.text.is_empty() && !s.file.is_empty()) {
        let name = Path::new(&s.file).file_name();
        let beside = input.parent().unwrap_or(Path::new("")).join(&s.file);
        let path = given.iter().find(|g| g.file_name() == name).cloned().unwrap_or(beside);
        s.text = std::fs::read_to_string(path).unwrap_or_default();
    }
    all.retain(|s| !s.text.is_empty());
    all
}

pub fn run(args: &Args) -> Result<()> {
    let m = module(&args.input)?;
    let in_input = |e: String| Error(format!("{}: {e}", args.input.display()));
    let in_counts = |e: String| Error(format!("{}: {e}", args.counts.display()));
    let counts = std::fs::read_to_string(&args.counts).map_err(|e| in_counts(e.to_string()))?;
    let measured = read(&counts).map_err(in_counts)?;
    let of = args.entry.clone().or_else(|| measured.entry.clone());
    let table = blocks(&m, entry(&of)).map_err(|e| in_input(e.to_string()))?;
    if let Some((last, _)) = measured.values.last_key_value()
        && *last as usize >= table.len()
    {
        return Err(in_counts(format!("block {last} of a module with {} blocks", table.len())));
    }
    if !args.source_only {
        print!("{}", text(&m, &table, &measured).map_err(in_input)?);
    }
    for s in texts(&m, &args.input, &args.source) {
        print!("\n{}", source(&s, &table, &measured));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn trips(kind: &str) -> Module {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shader/tests/instrument");
        module(&folder.join(format!("trips.{kind}.spv"))).unwrap()
    }

    #[test]
    fn both_forms_of_counts_are_read() {
        let plain = read("[3, 0, 5]").unwrap();
        assert_eq!(plain.values[&2], [5]);
        let full = r#"{"metrics": ["a", "b"], "blocks": [
            {"index": 1, "values": [2, 3]}, {"index": 1, "values": [10, 20]}]}"#;
        assert_eq!(read(full).unwrap().values[&1], [12, 23]);
        assert!(read(r#"{"metrics": ["a"], "blocks": [{"index": 1, "values": []}]}"#).is_err());
        assert!(read("{}").is_err());
    }

    /// Every line of trips.comp that runs has the count of the block that it is in.
    #[test]
    fn lines_have_their_blocks_counts() {
        for kind in ["line", "debug"] {
            let m = trips(kind);
            let table = blocks(&m, shader::instrument::Entry::All).unwrap();
            let counts: Vec<u64> = (0..table.len() as u64).map(|i| 1000 + i).collect();
            let measured = read(&format!("{counts:?}")).unwrap();
            let sources = sources(&m);
            let all: Vec<String> = sources.iter().map(|s| source(s, &table, &measured)).collect();
            let all = all.join("\n");
            let count = |line: u32| {
                let tag = format!("|{line:>5} ");
                let line = all.lines().find(|l| l.contains(&tag)).unwrap();
                line.split('|').next().unwrap().trim().parse::<u64>().ok()
            };
            let of = |line: u32| table.iter().find(|b| b.lines == [line]).map(|b| 1000 + u64::from(b.index));
            for line in [9, 10, 11, 19, 20, 21, 22] {
                assert_eq!(count(line), of(line), "{kind}, line {line}\n{all}");
                assert!(count(line).is_some());
            }
            assert_eq!(count(5), None);
        }
    }

    #[test]
    fn the_text_has_a_line_for_each_block() {
        let m = trips("debug");
        let table = blocks(&m, shader::instrument::Entry::All).unwrap();
        let measured = read("[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]").unwrap();
        let text = text(&m, &table, &measured).unwrap();
        let marks: Vec<&str> = text.lines().filter(|l| l.starts_with(";") && l.contains("block ")).collect();
        assert_eq!(marks.len(), 11);
        let loops: Vec<_> = marks.iter().filter(|l| l.contains("loop header")).collect();
        assert_eq!(loops.len(), 1);
        assert!(loops[0].contains("trips.comp:18"), "{}", loops[0]);
    }
}
