//! Lines of shaders: where the cost of a draw's shader lies.

use crate::instrument;
use client::{Error, Result};
use serde::Deserialize;
use shader::instrument::{Entry, blocks};
use std::path::{Path, PathBuf};

/// Shaders of a capture (docs/instrumentation.md).
#[derive(Default)]
pub struct Shaders(Vec<(PathBuf, Measured)>);

#[derive(Deserialize)]
struct Measured {
    stage: String,
    entry: String,
    metrics: Vec<String>,
    #[serde(default)]
    draws: Vec<Work>,
    #[serde(default)]
    registers: u32,
}

/// What a draw or dispatch spent in each block.
#[derive(Deserialize)]
struct Work {
    label: String,
    workload: String,
    draw: Option<usize>,
    blocks: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    index: u32,
    values: Vec<u64>,
}

/// A place in a shader.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Stage, entry point and file of the module, without its ending.
    pub shader: String,
    /// Empty without debug information.
    pub file: String,
    pub line: u32,
    pub function: String,
    /// Of what the shader costs in these draws, 0 to 1.
    pub share: f64,
    pub registers: u32,
}

impl Line {
    pub fn text(&self) -> String {
        let share = format!("{:.0} % of the shader's cost", 100.0 * self.share);
        match self.file.is_empty() {
            true => format!("{}, function {}: {share} (no line information)", self.shader, self.function),
            false => format!("{}:{}, {}: {share}", self.file, self.line, self.shader),
        }
    }
}

/// Lines that are named.
const NAMED: usize = 3;

impl Shaders {
    pub fn read(folder: &Path) -> Result<Shaders> {
        let mut all = vec![];
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
        let mut files: Vec<PathBuf> = entries.filter(|f| f.extension().is_some_and(|e| e == "spv")).collect();
        files.sort();
        for file in files {
            let beside = file.with_extension("json");
            let text = std::fs::read_to_string(&beside).map_err(|e| Error::file(&beside, e))?;
            let measured = serde_json::from_str(&text).map_err(|e| Error::file(&beside, e))?;
            all.push((file, measured));
        }
        Ok(Shaders(all))
    }

    /// Where some draws of a workload, by label and name, spend what `metrics` tell, in the shaders of one stage: the dearest lines first.
    pub fn dearest(&self, stage: &str, workload: [&str; 2], draws: &[usize], metrics: &[&str]) -> Vec<Line> {
        let mut found: Vec<(Line, u64)> = vec![];
        let mut all = 0;
        for (file, m) in self.0.iter().filter(|(_, m)| m.stage == stage) {
            let at: Vec<usize> =
                metrics.iter().filter_map(|k| m.metrics.iter().position(|n| n == k)).collect();
            let of = |r: &Row| at.iter().filter_map(|i| r.values.get(*i)).sum::<u64>();
            let own = m.draws.iter().filter(|w| {
                [w.label.as_str(), w.workload.as_str()] == workload
                    && w.draw.is_none_or(|d| draws.contains(&d))
            });
            let rows: Vec<(u32, u64)> = own.flat_map(|w| w.blocks.iter().map(|r| (r.index, of(r)))).collect();
            if rows.iter().all(|r| r.1 == 0) {
                continue;
            }
            let Ok(module) = instrument::module(file) else { continue };
            let Ok(table) = blocks(&module, Entry::Named(&m.entry, None)) else { continue };
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            for (index, cost) in rows {
                let Some(b) = table.iter().find(|b| b.index == index) else { continue };
                all += cost;
                let line = Line {
                    shader: plain::line(&format!("{} shader {} ({name})", m.stage, m.entry)).into_owned(),
                    file: plain::line(&b.file).into_owned(),
                    line: b.line,
                    function: plain::line(&b.function_name).into_owned(),
                    share: 0.0,
                    registers: m.registers,
                };
                match found.iter_mut().find(|(l, _)| *l == line) {
                    Some((_, sum)) => *sum += cost,
                    None => found.push((line, cost)),
                }
            }
        }
        found.sort_by_key(|f| std::cmp::Reverse(f.1));
        let share = |(line, cost): (Line, u64)| Line { share: cost as f64 / all.max(1) as f64, ..line };
        found.into_iter().filter(|f| f.1 > 0).take(NAMED).map(share).collect()
    }
}
