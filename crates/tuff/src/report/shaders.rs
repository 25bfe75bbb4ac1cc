//! Shaders of a capture for the page: text, blocks, and what each block cost.

use crate::instrument::instructions;
use client::{Error, Result};
use serde::Deserialize;
use serde_json::{Value, json};
use shader::instrument::{Block, Entry, Source, blocks};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Bytes of text that the page has of all shaders: the hottest first.
const TEXT: usize = 700_000;

/// What the driver leaves beside a module (docs/instrumentation.md).
#[derive(Deserialize)]
struct Measured {
    stage: String,
    entry: String,
    #[serde(default)]
    registers: u32,
    metrics: Vec<String>,
    #[serde(default)]
    once: Vec<String>,
    blocks: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    index: u32,
    values: Vec<u64>,
    #[serde(default)]
    once: Vec<u32>,
}

impl Measured {
    /// Cycles of the unit that binds each block, added up.
    fn heat(&self) -> u64 {
        let at: Vec<usize> = BINDS.iter().filter_map(|b| self.metrics.iter().position(|m| m == b)).collect();
        let of = |r: &Row| at.iter().filter_map(|i| r.values.get(*i).copied()).max().unwrap_or(0);
        self.blocks.iter().map(of).sum()
    }
}

/// Metrics of which the greatest tells what binds a block.
const BINDS: [&str; 4] = ["Arithmetic cycles", "Load/store cycles", "Texture cycles", "Varying cycles"];

/// Of a type's name: what is not 32 bits says so.
fn width(bits: u32) -> String {
    if bits == 32 { String::new() } else { bits.to_string() }
}

/// The module's functions as text, ids by their names and scalar constants by their values.
struct Printer {
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
fn source(s: &Source, table: &[Block], alone: bool) -> Value {
    let (rows, places) = (s.rows(), s.places());
    let row = |b: &Block, line: u32| {
        let of = |file: &String| places.get(&(file.clone(), line)).copied();
        of(&b.file).or_else(|| of(&s.file).filter(|_| alone)).unwrap_or(0)
    };
    let all = |b: &Block| b.lines.iter().map(|l| row(b, *l)).filter(|r| *r != 0).collect::<Vec<_>>();
    let blocks: Vec<Value> = table.iter().map(|b| json!([row(b, b.line), all(b)])).collect();
    let named = rows.iter().zip(1..).any(|(r, n)| r.1 != n);
    let numbers: Vec<u32> = rows.iter().filter(|_| named).map(|r| r.1).collect();
    json!({ "file": s.file, "text": s.text, "blocks": blocks, "numbers": numbers })
}

/// A shader for the page.
fn shader(module: &Path, m: &Measured, room: &mut usize) -> Result<Value> {
    let parsed = crate::instrument::module(module)?;
    let table = blocks(&parsed, Entry::Named(&m.entry, None)).map_err(|e| Error::file(module, e))?;
    let mut printer = Printer {
        names: BTreeMap::new(),
        labels: BTreeMap::new(),
        lines: vec![],
        inside: false,
        glsl: None,
        scalars: BTreeMap::new(),
    };
    instructions(&parsed, |i| printer.print(i)).map_err(|e| Error::file(module, e))?;
    let rows: BTreeMap<u32, &Row> = m.blocks.iter().map(|r| (r.index, r)).collect();
    let list: Vec<Value> = table
        .iter()
        .map(|b| {
            let row = rows.get(&b.index);
            json!({
                "function": b.function_name, "file": b.file, "line": b.line, "lines": b.lines, "loop": b.loop_header,
                "at": printer.labels.get(&b.label),
                "values": row.map_or(&[][..], |r| &r.values), "once": row.map_or(&[][..], |r| &r.once),
            })
        })
        .collect();
    let mut fits = |size: usize| {
        let fits = size <= *room;
        *room -= if fits { size } else { 0 };
        fits
    };
    let sources = crate::annotate::texts(&parsed, module, &[]);
    let sources = if fits(sources.iter().map(|s| s.text.len()).sum()) { sources } else { vec![] };
    let texts: Vec<Value> = sources.iter().map(|s| source(s, &table, sources.len() == 1)).collect();
    let size: usize = printer.lines.iter().map(|l| l.len() + 1).sum();
    let text = fits(size).then(|| printer.lines.join("\n"));
    Ok(json!({
        "stage": m.stage, "entry": m.entry, "registers": m.registers, "heat": m.heat(),
        "file": module.file_stem().unwrap_or_default().to_string_lossy(),
        "metrics": m.metrics, "once": m.once, "blocks": list, "sources": texts, "text": text,
    }))
}

/// All of a folder, the hottest first; `tell` hears how many are done of how many.
pub fn read(folder: &Path, mut tell: impl FnMut(usize, usize)) -> Result<Vec<Value>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(vec![]) };
    let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "spv"));
    files.sort();
    let mut found = vec![];
    for file in files {
        let beside = file.with_extension("json");
        let text = std::fs::read_to_string(&beside).map_err(|e| Error::file(&beside, e))?;
        let measured: Measured = serde_json::from_str(&text).map_err(|e| Error::file(&beside, e))?;
        found.push((file, measured));
    }
    found.sort_by_key(|f| std::cmp::Reverse(f.1.heat()));
    let (mut room, all) = (TEXT, found.len());
    let mut done = vec![];
    for (i, (file, m)) in found.iter().enumerate() {
        tell(i, all);
        done.push(shader(file, m, &mut room)?);
    }
    Ok(done)
}
