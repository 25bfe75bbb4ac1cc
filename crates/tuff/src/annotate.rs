//! `tuff annotate`: a module's text and its source, with what was measured beside each block and line.

use crate::instrument::{entry, instructions, module};
use crate::paint::{Columns, Line, Paint, Tone, When, listing};
use client::{Error, Result};
use serde::Deserialize;
use shader::Module;
use shader::instrument::{Block, Source, blocks, sources};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tuff run --shaders costs -- ./program && tuff annotate costs/fragment-main-0123456789abcdef.spv \\
      costs/fragment-main-0123456789abcdef.json
  tuff annotate lit.spv counts.json --code-only
  tuff annotate lit.spv counts.json --source-only --source src/lit.frag --color always | less -R")]
pub struct Args {
    /// The SPIR-V module, as it was before instrumentation.
    input: PathBuf,
    /// Counts by block: an array of numbers, or an object with `metrics` (names) and `blocks` (each with `index` and
    /// `values`); blocks with the same index are added up.
    counts: PathBuf,
    /// The entry point whose blocks were counted; default: blocks of all functions.
    #[arg(long)]
    entry: Option<String>,
    /// Only draws and dispatches whose labels or name contain this text; if none match, all are listed.
    #[arg(long, value_name = "TEXT")]
    draw: Option<String>,
    /// Source files, for modules that contain only their names.
    #[arg(long)]
    source: Vec<PathBuf>,
    /// Do not print the SPIR-V.
    #[arg(long)]
    source_only: bool,
    /// Print only the functions of the SPIR-V, without declarations, names and lines.
    #[arg(long, conflicts_with = "source_only")]
    code_only: bool,
    /// Use colour; auto: only on a terminal, unless NO_COLOR is set.
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    color: When,
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
    Full {
        entry: Option<String>,
        metrics: Vec<String>,
        blocks: Vec<Row>,
        #[serde(default)]
        draws: Vec<Ran>,
    },
}

/// A draw or dispatch: labels and name of its workload; of a draw its place in the pass, and its own.
#[derive(Deserialize)]
struct Ran {
    label: String,
    workload: String,
    draw: Option<u32>,
    #[serde(default)]
    draw_label: String,
    #[serde(default)]
    draw_name: String,
    blocks: Vec<Row>,
}

impl Ran {
    /// `frame/shadows: 512x512x1 of 1 attachments: draw 3 of lamps: vkCmdDraw of 36: main+main`
    fn title(&self) -> String {
        let Ran { label, workload, draw_label, draw_name, .. } = self;
        let behind = |label: &str| if label.is_empty() { String::new() } else { format!("{label}: ") };
        let draw = match self.draw {
            Some(n) => format!(": draw {n}: {}{draw_name}", behind(draw_label)),
            None => String::new(),
        };
        format!("{}{workload}{draw}", behind(label))
    }
}

#[derive(Deserialize)]
struct Row {
    index: u32,
    values: Vec<u64>,
}

/// `only`: of the draws and dispatches whose titles have this text.
fn read(text: &str, only: Option<&str>) -> std::result::Result<Measured, String> {
    let file: File = serde_json::from_str(text).map_err(|e| format!("not counts: {e}"))?;
    match file {
        File::Plain(_) if only.is_some() => Err("these counts are of no draws".into()),
        File::Plain(counts) => Ok(Measured {
            metrics: vec!["threads".into()],
            values: counts.into_iter().enumerate().map(|(i, c)| (i as u32, vec![c])).collect(),
            entry: None,
        }),
        File::Full { entry, metrics, blocks, draws } => {
            let metrics: Vec<_> = metrics.iter().map(|m| plain::line(m).into_owned()).collect();
            let blocks = match only {
                None => blocks,
                Some(text) => {
                    let titles: Vec<String> = draws.iter().map(Ran::title).collect();
                    let chosen = draws.into_iter().zip(&titles).filter(|(_, t)| t.contains(text));
                    let blocks: Vec<Row> = chosen.flat_map(|(d, _)| d.blocks).collect();
                    if blocks.is_empty() {
                        let all: Vec<String> =
                            titles.iter().map(|t| format!("\n  {}", plain::line(t))).collect();
                        return Err(format!(
                            "no draw or dispatch has '{text}' in its title; there are:{}",
                            all.concat()
                        ));
                    }
                    blocks
                }
            };
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

    fn names(&self) -> Vec<&str> {
        self.metrics.iter().map(String::as_str).collect()
    }

    /// The metric by which blocks are hot: the first that is of cycles, or the first.
    fn heat(&self) -> usize {
        self.metrics.iter().position(|m| m.contains("cycles")).unwrap_or(0)
    }

    fn line(&self, values: &[u64]) -> Line {
        let heat = values.get(self.heat()).map_or(0.0, |v| *v as f64);
        (values.iter().map(u64::to_string).collect(), heat)
    }
}

/// Prints instructions as they come.
struct Printer<'a> {
    out: String,
    by_label: BTreeMap<u32, &'a Block>,
    columns: Columns,
    rows: &'a BTreeMap<u32, Line>,
    most: f64,
    /// Leave out what stands before the first function, and names and lines.
    code_only: bool,
    in_function: bool,
    paint: Paint,
}

impl Printer<'_> {
    fn head(&mut self) {
        for head in self.columns.head() {
            let _ = writeln!(self.out, "{}", self.paint.paint(Tone::Head, &format!(";{head}")));
        }
    }

    fn print(&mut self, i: &rspirv::dr::Instruction) {
        use rspirv::binary::Disassemble;
        use rspirv::spirv::Op;
        if i.class.opcode == Op::Function {
            self.in_function = true;
            self.head();
        }
        if let Some(b) = i.result_id.and_then(|id| self.by_label.get(&id)) {
            let none = (vec![], 0.0);
            let (cells, heat) = self.rows.get(&b.index).unwrap_or(&none);
            let mut line = format!(";{}  block {}, {}", self.columns.row(cells), b.index, b.function_name);
            if b.line != 0 {
                let _ = write!(line, ", {}:{}", b.file, b.line);
            }
            line.push_str(if b.loop_header { ", loop header" } else { "" });
            let line = plain::line(&line);
            let _ = writeln!(self.out, "{}", self.paint.paint(Tone::of(*heat, self.most), &line));
        }
        let declares = !self.in_function || matches!(i.class.opcode, Op::Line | Op::NoLine | Op::Variable);
        if !(self.code_only && declares) {
            let _ = writeln!(self.out, "{}", plain::line(&i.disassemble()));
        }
    }
}

/// The module's text; over each function the columns' names, where a block begins a line of its values.
pub fn text(
    m: &Module,
    table: &[Block],
    names: &[&str],
    rows: &BTreeMap<u32, Line>,
    code_only: bool,
    paint: Paint,
) -> std::result::Result<String, String> {
    let widest = |k: usize| rows.values().filter_map(|l| Some(l.0.get(k)?.len())).max().unwrap_or(0);
    let mut printer = Printer {
        out: String::new(),
        by_label: table.iter().map(|b| (b.label, b)).collect(),
        columns: Columns::new(names.iter().copied(), widest),
        rows,
        most: rows.values().map(|l| l.1).fold(0.0, f64::max),
        code_only,
        in_function: false,
        paint,
    };
    instructions(m, |i| printer.print(i)).map_err(|e| format!("not to be disassembled: {e}"))?;
    Ok(printer.out)
}

/// A source file. The first metric stands at every line of a block (the greatest of the blocks with instructions of
/// that line); the others once, at the line where their block begins (the sum of the blocks that begin there).
fn source(s: &Source, table: &[Block], measured: &Measured, paint: Paint) -> String {
    let mut lines: BTreeMap<u32, (Option<u64>, Vec<u64>)> = BTreeMap::new();
    let places = s.places();
    let row = |b: &Block, line: u32| places.get(&(b.file.clone(), line)).copied();
    for b in table {
        let Some(values) = measured.values.get(&b.index) else { continue };
        for l in b.lines.iter().filter_map(|l| row(b, *l)) {
            let at = lines.entry(l).or_default();
            at.0 = at.0.max(values.first().copied());
        }
        let Some(begin) = row(b, b.line) else { continue };
        let at = lines.entry(begin).or_default();
        at.1.resize(values.len().saturating_sub(1), 0);
        at.1.iter_mut().zip(values.iter().skip(1)).for_each(|(s, v)| *s = s.saturating_add(*v));
    }
    let line = |(first, rest): &(Option<u64>, Vec<u64>)| {
        let values: Vec<u64> = first.iter().chain(rest).copied().collect();
        measured.line(&values)
    };
    let lines = lines.iter().filter(|(_, v)| v.0.is_some()).map(|(l, v)| (*l, line(v))).collect();
    listing(s, &measured.names(), &lines, paint)
}

/// The module's sources; those it only names, from `given` files or from the module's own folder.
pub fn texts(m: &Module, input: &Path, given: &[PathBuf]) -> Vec<Source> {
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
    let in_input = |e: String| Error::file(&args.input, e);
    let in_counts = |e: String| Error::file(&args.counts, e);
    let counts = std::fs::read_to_string(&args.counts).map_err(|e| in_counts(e.to_string()))?;
    let measured = read(&counts, args.draw.as_deref()).map_err(in_counts)?;
    let of = args.entry.clone().or_else(|| measured.entry.clone());
    let table = blocks(&m, entry(&of)).map_err(|e| in_input(e.to_string()))?;
    if let Some((last, _)) = measured.values.last_key_value()
        && *last as usize >= table.len()
    {
        return Err(in_counts(format!("block {last} of a module with {} blocks", table.len())));
    }
    let paint = Paint::new(args.color);
    if !args.source_only {
        let rows = measured.values.iter().map(|(b, v)| (*b, measured.line(v))).collect();
        let all = text(&m, &table, &measured.names(), &rows, args.code_only, paint).map_err(in_input)?;
        print!("{all}");
    }
    let sources = texts(&m, &args.input, &args.source);
    if sources.is_empty() && args.source_only {
        return Err(in_input(
            "it has no source and names none that is here: --source, or leave out --source-only".into(),
        ));
    }
    for s in sources {
        print!("\n{}", source(&s, &table, &measured, paint));
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
        let plain = read("[3, 0, 5]", None).unwrap();
        assert_eq!(plain.values[&2], [5]);
        let full = r#"{"metrics": ["a", "b"], "blocks": [
            {"index": 1, "values": [2, 3]}, {"index": 1, "values": [10, 20]}]}"#;
        assert_eq!(read(full, None).unwrap().values[&1], [12, 23]);
        assert!(read(r#"{"metrics": ["a"], "blocks": [{"index": 1, "values": []}]}"#, None).is_err());
        assert!(read("{}", None).is_err());
    }

    #[test]
    fn draws_are_chosen_by_their_titles() {
        let full = r#"{"metrics": ["a"], "blocks": [{"index": 0, "values": [111]}], "draws": [
            {"label": "frame", "workload": "main 4x1x1", "times": 2, "blocks": [{"index": 0, "values": [1]}]},
            {"label": "frame", "workload": "64x64", "times": 2, "draw": 0, "draw_label": "frame/lamps", "draw_name": "vkCmdDraw of 3",
             "blocks": [{"index": 0, "values": [10]}]},
            {"label": "", "workload": "64x64", "times": 2, "draw": 1, "draw_label": "", "draw_name": "vkCmdDraw of 6",
             "blocks": [{"index": 0, "values": [100]}]}]}"#;
        let value = |only| read(full, only).unwrap().values[&0][0];
        assert_eq!(value(None), 111);
        assert_eq!(
            ["main 4x1x1", "frame", "lamps: vkCmdDraw of 3", "64x64: draw 1: vkCmd"].map(|t| value(Some(t))),
            [1, 11, 10, 100]
        );
        let none = read(full, Some("nothing")).unwrap_err();
        assert!(none.contains("\n  frame: 64x64: draw 0: frame/lamps: vkCmdDraw of 3"), "{none}");
        assert!(read("[1]", Some("x")).is_err());
    }

    /// Every line of trips.comp that runs has the count of the block that it is in.
    #[test]
    fn lines_have_their_blocks_counts() {
        for kind in ["line", "debug"] {
            let m = trips(kind);
            let table = blocks(&m, shader::instrument::Entry::All).unwrap();
            let counts: Vec<u64> = (0..table.len() as u64).map(|i| 1000 + i).collect();
            let measured = read(&format!("{counts:?}"), None).unwrap();
            let sources = sources(&m);
            let all: Vec<String> =
                sources.iter().map(|s| source(s, &table, &measured, Paint(false))).collect();
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

    /// A compiler's preamble moves the text's rows, not the lines that it speaks of.
    #[test]
    fn a_preamble_moves_no_line() {
        let m = trips("debug");
        let table = blocks(&m, shader::instrument::Entry::All).unwrap();
        let counts: Vec<u64> = (0..table.len() as u64).map(|i| 1000 + i).collect();
        let measured = read(&format!("{counts:?}"), None).unwrap();
        let own = sources(&m).remove(0);
        let text = format!("// OpModuleProcessed client vulkan100\n#define A 1\n#line 1\n{}", own.text);
        let moved = Source { text, ..own.clone() };
        let listed = |s: &Source| source(s, &table, &measured, Paint(false));
        let (own, moved) = (listed(&own), listed(&moved));
        let (preamble, rest) = moved.split_at(moved.find("|    1 #version").unwrap());
        assert_eq!(rest, &own[own.find("|    1 #version").unwrap()..]);
        let counted = |l: &str| l.split_once('|').is_some_and(|(count, _)| !count.trim().is_empty());
        assert!(!preamble.lines().skip(2).any(counted), "{preamble}");
    }

    #[test]
    fn the_text_has_a_line_for_each_block() {
        let m = trips("debug");
        let table = blocks(&m, shader::instrument::Entry::All).unwrap();
        let measured = read("[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]", None).unwrap();
        let rows = measured.values.iter().map(|(b, v)| (*b, measured.line(v))).collect();
        let whole = |code_only, paint| text(&m, &table, &measured.names(), &rows, code_only, paint).unwrap();
        let printed = whole(false, Paint(false));
        let marks: Vec<&str> =
            printed.lines().filter(|l| l.starts_with(";") && l.contains("block ")).collect();
        assert_eq!(marks.len(), 11);
        let loops: Vec<_> = marks.iter().filter(|l| l.contains("loop header")).collect();
        assert_eq!(loops.len(), 1);
        assert!(loops[0].contains("trips.comp:18"), "{}", loops[0]);
        // Over each function, its heading; functions alone, if so asked.
        let functions = printed.lines().filter(|l| l.contains("= OpFunction ")).count();
        assert_eq!(printed.lines().filter(|l| l.trim() == ";  threads").count(), functions);
        let code = whole(true, Paint(false));
        assert!(
            code.starts_with(";  threads\n") && !code.contains("OpType") && !code.contains("OpLine"),
            "{code}"
        );
        let instructions =
            |t: &str| t.lines().filter(|l| l.contains("OpLoad") || l.contains("OpBranch")).count();
        assert_eq!(instructions(&code), instructions(&printed));
        // Names are text.
        let wild: Vec<_> = table
            .iter()
            .map(|b| Block { function_name: "f\n\x1b[2J".into(), file: "\u{202e}\r".into(), ..b.clone() })
            .collect();
        let named = text(&m, &wild, &measured.names(), &rows, false, Paint(false)).unwrap();
        assert!(!named.contains(['\x1b', '\r', '\u{202e}']) && named.contains(", f\\n\\x1b[2J"), "{named:?}");
        assert_eq!(named.lines().count(), printed.lines().count(), "{named}");
        // The hottest block (11 of 11) and the coldest (1: a tenth at least is warm) have their colours.
        let painted = whole(true, Paint(true));
        assert!(painted.contains("\x1b[1;31m;       11  block 10"), "{painted}");
        assert!(painted.contains("\n;        1  block 0"), "{painted}");
    }
}
