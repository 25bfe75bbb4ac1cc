//! A shader's counts by line, from those of its blocks.

use super::flow;
use super::lcov::Counts;
use crate::instrument::module;
use client::{Error, Result};
use serde::Deserialize;
use shader::Module;
use shader::instrument::{Block, Entry, Stretch, blocks, by_line};
use shader::ir::Stage;
use std::collections::BTreeMap;
use std::path::Path;

/// What the driver has written of a shader.
#[derive(Deserialize)]
struct File {
    stage: String,
    entry: String,
    metrics: Vec<String>,
    blocks: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    index: u32,
    values: Vec<u64>,
}

/// The metric that counts: an invocation is a thread.
const INVOCATIONS: &str = "Executed threads";

/// A module, and counts by the names of files that it has lines of.
pub struct Counted {
    pub module: Module,
    pub files: BTreeMap<String, Counts>,
}

/// Reads the pair of files of a shader by its `.json`.
pub fn read(json: &Path) -> Result<Counted> {
    let text = std::fs::read_to_string(json).map_err(|e| Error::file(json, e))?;
    let file: File = serde_json::from_str(&text).map_err(|e| Error::file(json, e))?;
    let spirv = json.with_extension("spv");
    let module = module(&spirv)?;
    let wrong = |e: &dyn std::fmt::Display| Error::file(&spirv, e.to_string());
    let entry = Entry::Named(&file.entry, model(&module, &file));
    let table = blocks(&module, entry).map_err(|e| wrong(&e))?;
    let metric = file.metrics.iter().position(|m| m == INVOCATIONS);
    let metric = metric.ok_or_else(|| Error::file(json, format!("no metric '{INVOCATIONS}'")))?;
    // A block that nothing has entered, of this entry point's functions or of others, has none.
    let mut by_label: BTreeMap<u32, u64> = BTreeMap::new();
    for row in &file.blocks {
        let block = table.get(row.index as usize).zip(row.values.get(metric));
        let (block, n) = block.ok_or_else(|| Error::file(json, format!("no block {}", row.index)))?;
        let sum = by_label.entry(block.label).or_default();
        *sum = sum.saturating_add(*n);
    }
    let all = blocks(&module, Entry::All).map_err(|e| wrong(&e))?;
    let lines = by_line(&module, Entry::All).map_err(|e| wrong(&e))?.stretches;
    let nodes = flow::nodes(&module).unwrap_or_else(|e| {
        eprintln!("tuff: {}: branches are left out: {}", spirv.display(), plain::message(&e));
        vec![]
    });
    Ok(Counted { files: counts(&lines, &all, &nodes, &by_label), module })
}

/// The execution model of the file's stage: of one name there may be entry points of several.
fn model(module: &Module, file: &File) -> Option<u32> {
    let name = |model: u32| Stage::ALL.iter().find(|s| s.model() as u32 == model).map_or("", |s| s.name());
    let points = module.entry_points();
    points.into_iter().find(|p| p.0 == file.entry && name(p.1) == file.stage).map(|p| p.1)
}

fn counts(
    lines: &[Stretch],
    blocks: &[Block],
    nodes: &[flow::Node],
    by_label: &BTreeMap<u32, u64>,
) -> BTreeMap<String, Counts> {
    let mut files: BTreeMap<String, Counts> = BTreeMap::new();
    let count = |label: u32| by_label.get(&label).copied().unwrap_or(0);
    let mut of: BTreeMap<u32, Vec<&Stretch>> = BTreeMap::new();
    for s in lines.iter().filter(|s| s.line != 0) {
        of.entry(s.label).or_default().push(s);
        let line = files.entry(s.file.clone()).or_default().lines.entry(s.line).or_default();
        *line = (*line).max(count(s.label));
    }
    functions(blocks, &of, &count, &mut files);
    let edges = flow::edges(nodes, by_label);
    // Several branches of a line are told apart by their order.
    let mut branch: BTreeMap<(&str, u32), u32> = BTreeMap::new();
    for n in nodes.iter().filter(|n| n.branches) {
        // The block's last line is that of the instruction that ends it.
        let Some(s) = of.get(&n.label).and_then(|all| all.last()) else { continue };
        let number = branch.entry((&s.file, s.line)).or_default();
        let counts = files.entry(s.file.clone()).or_default();
        for (to, way) in n.next.iter().zip(0..) {
            if let Some(taken) = edges.get(&(n.label, *to)) {
                let taken = (count(n.label) != 0).then_some(*taken);
                counts.branches.insert((s.line, *number, way), taken);
            }
        }
        *number += 1;
    }
    files
}

/// Each function begins where its first block with a line does, and is called as often as its first block runs.
fn functions(
    blocks: &[Block],
    of: &BTreeMap<u32, Vec<&Stretch>>,
    count: &dyn Fn(u32) -> u64,
    files: &mut BTreeMap<String, Counts>,
) {
    for function in blocks.chunk_by(|a, b| a.function == b.function) {
        let Some(s) = function.iter().find_map(|b| of.get(&b.label)?.first()) else { continue };
        // glslang appends the types of parameters: `lit(vf3;`.
        let name = function[0].function_name.split('(').next().unwrap_or_default();
        let name = name.replace(|c: char| c.is_control() || c == ',', "_");
        if !name.is_empty() {
            let calls = count(function[0].label);
            let one = Counts { functions: [(name, (s.line, calls))].into(), ..Counts::default() };
            files.entry(s.file.clone()).or_default().add(&one);
        }
    }
}
