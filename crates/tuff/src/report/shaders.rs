//! Shaders of a capture for the page: text, blocks, and what each block cost.

use super::capture::Capture;
use crate::costs::lines::{self, Spent};
use crate::costs::listing::{Beside, Pair, beside};
use crate::costs::{self, Row, Shader};
use crate::instrument::instructions;
use client::{Error, Result};
use counters::Model;
use counters::model::LINE;
use serde_json::{Value, json};
use shader::instrument::{Block, Source};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// Bytes of text that the page has of all shaders: the hottest first.
const TEXT: usize = 600_000;
/// Bytes of what shaders cost by workload, and of texts side by side.
const WORKS: usize = 200_000;
const BESIDE: usize = 250_000;
/// Lines around one that differs.
const AROUND: usize = 2;

/// Of a type's name: what is not 32 bits says so.
fn width(bits: u32) -> String {
    if bits == 32 { String::new() } else { bits.to_string() }
}

/// The module's functions as text, ids by their names and scalar constants by their values.
#[derive(Default)]
pub struct Printer {
    names: BTreeMap<u32, String>,
    /// By id of a label, its line.
    labels: BTreeMap<u32, usize>,
    lines: Vec<String>,
    inside: bool,
    /// The id of GLSL.std.450.
    glsl: Option<u32>,
    /// Bits and whether a float, of scalar types.
    scalars: BTreeMap<u32, (u32, bool, bool)>,
}

impl Printer {
    /// Of all functions of a module, which came from this file.
    pub fn of(module: &shader::Module, file: &Path) -> Result<Printer> {
        let mut printer = Printer::default();
        instructions(module, |i| printer.print(i)).map_err(|e| Error::file(file, e))?;
        Ok(printer)
    }

    /// Its lines of text.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Where a block begins, by the id of its OpLabel.
    pub fn line_of(&self, label: u32) -> Option<usize> {
        self.labels.get(&label).copied()
    }

    fn print(&mut self, i: &rspirv::dr::Instruction) {
        use rspirv::binary::Disassemble;
        use rspirv::dr::Operand;
        use rspirv::spirv::Op;
        let code = i.class.opcode;
        match (code, &i.operands[..]) {
            (Op::Name, [Operand::IdRef(id), Operand::LiteralString(name)]) if !name.is_empty() => {
                let name: String = name.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect();
                self.names.insert(*id, name);
            }
            (Op::ExtInstImport, [Operand::LiteralString(set)]) if set == "GLSL.std.450" => {
                self.glsl = i.result_id
            }
            (Op::TypeInt, [Operand::LiteralBit32(bits), Operand::LiteralBit32(signed)]) => {
                self.scalars.extend(i.result_id.map(|id| (id, (*bits, false, *signed != 0))));
                let name = format!("{}{}", if *signed != 0 { "int" } else { "uint" }, width(*bits));
                self.names.extend(i.result_id.map(|id| (id, name)));
            }
            (Op::TypeFloat, [Operand::LiteralBit32(bits), ..]) => {
                self.scalars.extend(i.result_id.map(|id| (id, (*bits, true, true))));
                self.names.extend(i.result_id.map(|id| (id, format!("float{}", width(*bits)))));
            }
            (Op::Constant, [Operand::LiteralBit32(v)]) => {
                let kind = i.result_type.and_then(|t| self.scalars.get(&t)).copied();
                let text = match kind {
                    Some((32, true, _)) => Some(format!("{:?}", f32::from_bits(*v))),
                    Some((_, false, true)) => Some((*v as i32).to_string()),
                    Some((_, false, false)) => Some(format!("{v}u")),
                    _ => None,
                };
                // What begins with a sign or digit is no name.
                self.names.extend(i.result_id.zip(text));
            }
            (Op::Function, _) => self.inside = true,
            _ => self.name_type(i),
        }
        if !self.inside || matches!(code, Op::Line | Op::NoLine) {
            return;
        }
        if let Some(id) = i.result_id.filter(|_| code == Op::Label) {
            self.labels.insert(id, self.lines.len());
        }
        let text = i.disassemble().split_whitespace().collect::<Vec<_>>().join(" ");
        let text = self.named(&self.extended(text, i));
        let indent =
            if matches!(code, Op::Function | Op::FunctionEnd | Op::FunctionParameter) { 0 } else { 2 };
        let indent = if code == Op::Label { 1 } else { indent };
        self.lines.push(format!("{}{}", " ".repeat(indent), text.trim()));
    }

    /// Types by what they are: `v4float`, `ptr_v4float`.
    fn name_type(&mut self, i: &rspirv::dr::Instruction) {
        use rspirv::dr::Operand;
        use rspirv::spirv::Op;
        let of = |id: &u32| self.names.get(id).cloned().unwrap_or_else(|| id.to_string());
        let name = match (i.class.opcode, &i.operands[..]) {
            (Op::TypeVoid, _) => "void".into(),
            (Op::TypeBool, _) => "bool".into(),
            (Op::TypeVector, [Operand::IdRef(t), Operand::LiteralBit32(n)]) => format!("v{n}{}", of(t)),
            (Op::TypeMatrix, [Operand::IdRef(t), Operand::LiteralBit32(n)]) => format!("mat{n}{}", of(t)),
            (Op::TypePointer, [_, Operand::IdRef(t)]) => format!("ptr_{}", of(t)),
            _ => return,
        };
        self.names.extend(i.result_id.map(|id| (id, name)));
    }

    /// An instruction of GLSL.std.450 by its name.
    fn extended(&self, text: String, i: &rspirv::dr::Instruction) -> String {
        use rspirv::dr::Operand;
        use rspirv::spirv::{GlslStd450Op, Op};
        match (i.class.opcode, &i.operands[..]) {
            (Op::ExtInst, [Operand::IdRef(set), Operand::LiteralExtInstInteger(n), ..])
                if Some(*set) == self.glsl =>
            {
                let name = GlslStd450Op::from_u32(*n).map_or(n.to_string(), |o| format!("{o:?}"));
                text.replacen(&format!("%{set} {n}"), &name, 1)
            }
            _ => text,
        }
    }

    /// Ids by their names.
    fn named(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            let (before, id) = rest.split_at(at);
            out.push_str(before);
            let digits = id[1..].bytes().take_while(u8::is_ascii_digit).count();
            let name = id[1..1 + digits].parse().ok().and_then(|n: u32| self.names.get(&n));
            match name {
                Some(n) if n.starts_with(|c: char| c.is_ascii_digit() || c == '-') => out.push_str(n),
                Some(n) => {
                    out.push('%');
                    out.push_str(n);
                }
                None => out.push_str(&id[..1 + digits]),
            }
            rest = &id[1 + digits..];
        }
        out + rest
    }
}

/// A source for the page: what its rows are called where that is not their place, and by block the row where it begins (0: none) and
/// all its rows. `alone`: blocks of files that are not there are taken to be its.
fn source(s: &Source, table: &[Block], alone: bool, costs: Vec<Value>) -> Value {
    let (rows, places) = (s.rows(), s.places());
    let row = |b: &Block, line: u32| {
        let of = |file: &String| places.get(&(file.clone(), line)).copied();
        of(&b.file).or_else(|| of(&s.file).filter(|_| alone)).unwrap_or(0)
    };
    let all = |b: &Block| b.lines.iter().map(|l| row(b, *l)).filter(|r| *r != 0).collect::<Vec<_>>();
    let blocks: Vec<Value> = table.iter().map(|b| json!([row(b, b.line), all(b)])).collect();
    let named = rows.iter().zip(1..).any(|(r, n)| r.1 != n);
    let numbers: Vec<u32> = rows.iter().filter(|_| named).map(|r| r.1).collect();
    json!({ "file": s.file, "text": s.text, "blocks": blocks, "numbers": numbers, "costs": costs })
}

/// A function without what a compiler has added to its name: `shade(vf3;f1;` is `shade`.
pub fn plain_function(name: &str) -> &str {
    name.split('(').next().filter(|n| !n.is_empty()).unwrap_or(name)
}

/// By index of a function's name in the list: its only caller, or -1.
fn callers(s: &Shader, functions: &[&str]) -> Vec<i64> {
    let mut found: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    let mut inside = 0;
    let _ = instructions(&s.module, |i| {
        use rspirv::dr::Operand;
        use rspirv::spirv::Op;
        match (i.class.opcode, &i.operands[..]) {
            (Op::Function, _) => inside = i.result_id.unwrap_or(0),
            (Op::FunctionCall, [Operand::IdRef(callee), ..]) => {
                found.entry(*callee).or_default().insert(inside);
            }
            _ => {}
        }
    });
    let place = |id: u32| {
        let name = s.table.iter().find(|b| b.function == id)?.function_name.as_str();
        functions.iter().position(|f| *f == name)
    };
    let of = |name: &&str| {
        let id = s.table.iter().find(|b| b.function_name == *name).map_or(0, |b| b.function);
        let only = found.get(&id).filter(|c| c.len() == 1).and_then(|c| place(*c.first()?));
        only.map_or(-1, |p| p as i64)
    };
    functions.iter().map(of).collect()
}

/// As many digits as a person reads.
fn brief(v: f64) -> f64 {
    if v >= 100.0 { v.round() } else { (v * 100.0).round() / 100.0 }
}

/// What lines cost: row, then cycles of arithmetic, load/store, texture, varying and waits, and bytes.
fn lines_of(source: &Source, costs: &BTreeMap<(String, u32), Spent>, alone: bool) -> Vec<Value> {
    let places = source.places();
    let mut rows: BTreeMap<u32, Spent> = BTreeMap::new();
    for ((file, line), spent) in costs {
        let of = |file: &String| places.get(&(file.clone(), *line)).copied();
        if let Some(row) = of(file).or_else(|| of(&source.file).filter(|_| alone)) {
            rows.entry(row).or_default().add(spent);
        }
    }
    let some = rows.iter().filter(|(_, s)| s.cycles() > 0.0 || s.latency > 0.0);
    some.map(|(row, s)| {
        let numbers = [s.arithmetic, s.load_store, s.texture, s.varying, s.latency, s.lines * LINE as f64];
        let numbers = numbers.map(brief);
        json!([row, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]])
    })
    .collect()
}

/// What its blocks cost in each workload: the workload's place, then pairs of a block's place and cycles.
fn works(s: &Shader, workloads: &HashMap<[&str; 2], usize>, room: &mut usize) -> Vec<Value> {
    let mut all: BTreeMap<usize, BTreeMap<u32, f64>> = BTreeMap::new();
    for w in &s.works {
        let Some(at) = workloads.get(&[w.label.as_str(), w.workload.as_str()]) else { continue };
        for r in &w.blocks {
            let cycles = Spent::of(&s.metrics, &r.values).cycles();
            *all.entry(*at).or_default().entry(r.index).or_default() += cycles;
        }
    }
    let mut out = vec![];
    for (at, blocks) in all {
        let flat: Vec<Value> =
            blocks.iter().filter(|b| *b.1 > 0.0).flat_map(|(b, c)| [json!(b), json!(c)]).collect();
        let value = json!([at, flat]);
        let size = value.to_string().len();
        if size > *room {
            break;
        }
        *room -= size;
        out.push(value);
    }
    out
}

/// How much of what a page has room for.
struct Room {
    text: usize,
    works: usize,
}

/// A shader for the page.
fn shader(s: &Shader, c: &Capture, workloads: &HashMap<[&str; 2], usize>, room: &mut Room) -> Result<Value> {
    let printer = Printer::of(&s.module, &s.file)?;
    let rows: BTreeMap<u32, &Row> = s.rows.iter().map(|r| (r.index, r)).collect();
    let model = serde_json::from_value::<Model>(c.model.clone()).unwrap_or_default();
    let waits = lines::latencies(s, &model);
    let mut functions: Vec<&str> = vec![];
    for b in &s.table {
        if !functions.contains(&b.function_name.as_str()) {
            functions.push(&b.function_name);
        }
    }
    let list: Vec<Value> = s
        .table
        .iter()
        .map(|b| {
            let row = rows.get(&b.index);
            let function = functions.iter().position(|f| *f == b.function_name);
            json!({
                "function": function, "file": b.file, "line": b.line, "lines": b.lines, "loop": b.loop_header,
                "at": printer.line_of(b.label), "waits": brief(waits.get(&b.index).copied().unwrap_or(0.0)),
                "values": row.map_or(&[][..], |r| &r.values), "once": row.map_or(&[][..], |r| &r.once),
            })
        })
        .collect();
    let mut fits = |size: usize| {
        let fits = size <= room.text;
        room.text -= if fits { size } else { 0 };
        fits
    };
    let sources = crate::annotate::texts(&s.module, &s.file, &[]);
    let sources = if fits(sources.iter().map(|s| s.text.len()).sum()) { sources } else { vec![] };
    let costs = if sources.is_empty() { BTreeMap::new() } else { lines::of(s, &model) };
    let alone = sources.len() == 1;
    let texts: Vec<Value> =
        sources.iter().map(|t| source(t, &s.table, alone, lines_of(t, &costs, alone))).collect();
    let lines = printer.lines();
    let size: usize = lines.iter().map(|l| l.len() + 1).sum();
    let text = fits(size).then(|| lines.join("\n"));
    Ok(json!({
        "name": s.name, "stage": s.stage, "entry": s.entry, "registers": s.registers, "heat": s.heat() as u64,
        "file": s.file.file_stem().unwrap_or_default().to_string_lossy(),
        "functions": functions.iter().map(|f| plain_function(f)).collect::<Vec<_>>(), "callers": callers(s, &functions),
        "metrics": s.metrics, "once": s.once, "blocks": list, "sources": texts, "text": text,
        "works": works(s, workloads, &mut room.works),
    }))
}

/// All of a capture, the hottest first.
pub fn read(c: &Capture) -> Result<Vec<Shader>> {
    if c.runs.is_none() {
        return Ok(vec![]);
    }
    let mut found = costs::read(&c.folder)?;
    found.sort_by(|a, b| b.heat().total_cmp(&a.heat()));
    Ok(found)
}

/// Those of a capture for the page; `tell` hears how many are done of how many.
pub fn of(c: &Capture, all: &[Shader], mut tell: impl FnMut(usize, usize)) -> Result<Vec<Value>> {
    let mut workloads = HashMap::new();
    for (i, w) in c.workloads.iter().enumerate() {
        workloads.entry([w.label.as_str(), w.name.as_str()]).or_insert(i);
    }
    let mut room = Room { text: TEXT, works: WORKS };
    let mut done = vec![];
    for (i, s) in all.iter().enumerate() {
        tell(i, all.len());
        done.push(shader(s, c, &workloads, &mut room)?);
    }
    Ok(done)
}

/// A text for the page: rows of mark, line before, line after, cycles before, cycles after, text; those that differ, and some around. Null
/// stands for rows that are left out.
fn text_beside(b: &Beside) -> Value {
    let differs = |p: &Pair| {
        let [x, y] = p.spent();
        p.edited() || (x.cycles() - y.cycles()).abs() >= 0.5
    };
    let at: Vec<usize> = (0..b.pairs.len()).filter(|i| differs(&b.pairs[*i])).collect();
    let near = |i: usize| {
        let first = at.partition_point(|a| a + AROUND < i);
        at.get(first).is_some_and(|a| *a <= i + AROUND)
    };
    let (mut rows, mut gap) = (vec![], false);
    for (i, p) in b.pairs.iter().enumerate() {
        if !near(i) {
            if !gap {
                rows.push(Value::Null);
            }
            gap = true;
            continue;
        }
        gap = false;
        let [x, y] = p.spent().map(|s| brief(s.cycles()));
        let [n, m] = [&p.before, &p.after].map(|r| r.as_ref().map_or(0, |r| r.number));
        let text = p.after.as_ref().or(p.before.as_ref()).map_or("", |r| r.text.as_str());
        rows.push(json!([n, m, x, y, text]));
    }
    json!({ "file": b.file, "rows": rows })
}

/// Which shader of one capture is which of the other (places, -1: of none), and the lines that differ.
pub fn compared(after: (&Capture, &[Shader]), before: &[Shader]) -> Result<Vec<Value>> {
    let (c, after) = after;
    let model = serde_json::from_value::<Model>(c.model.clone()).unwrap_or_default();
    let mut pairs = costs::matched(before, after);
    let cost = |(i, j): &(usize, usize)| (after[*j].heat() - before[*i].heat()).abs();
    pairs.sort_by(|x, y| cost(y).total_cmp(&cost(x)));
    let (mut room, mut out) = (BESIDE, vec![]);
    for (i, j) in pairs {
        let (s, t) = (&before[i], &after[j]);
        let edited = s.key.hash != t.key.hash;
        let mut texts = vec![];
        if edited || s.heat() != t.heat() {
            texts = beside(s, t, &model, [1.0; 2])?.iter().map(text_beside).collect();
            texts.retain(|t| t["rows"].as_array().is_some_and(|r| r.iter().any(|r| !r.is_null())));
            let size = json!(texts).to_string().len();
            if size > room {
                texts.clear();
            } else {
                room -= size;
            }
        }
        out.push(json!([i, j, edited, texts]));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costs::listing;

    #[test]
    fn functions_have_their_names() {
        assert_eq!(["shade(vf3;f1;", "main", "(", ""].map(plain_function), ["shade", "main", "(", ""]);
    }

    #[test]
    fn what_differs_is_kept_with_some_around() {
        let row = |n: u32, cycles: f64| {
            let spent = Spent { arithmetic: cycles, ..Spent::default() };
            Some(listing::Row { number: n, text: format!("l{n}"), spent: Some(spent) })
        };
        let mut pairs: Vec<Pair> =
            (1..=9).map(|n| Pair { before: row(n, 4.0), after: row(n, 4.0) }).collect();
        pairs[4].after = row(5, 6.0);
        let all = text_beside(&Beside { file: "f".into(), pairs });
        let rows = all["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 7);
        assert_eq!((&rows[0], &rows[6]), (&Value::Null, &Value::Null));
        assert_eq!(rows[3], json!([5, 5, 4.0, 6.0, "l5"]));
    }
}
