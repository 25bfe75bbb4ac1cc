//! Shaders of a capture and what they cost: blocks, lines, and which shader of another capture each is.

pub mod align;
pub mod keys;
pub mod lines;
pub mod listing;

use crate::instrument;
use client::{Error, Result};
use keys::Key;
pub use keys::LIKELY;
use lines::Spent;
use serde::Deserialize;
use shader::Module;
use shader::instrument::{Block, Entry, blocks, sketch};
use std::path::{Path, PathBuf};

/// What the driver leaves beside a module (docs/instrumentation.md).
#[derive(Deserialize)]
struct Measured {
    stage: String,
    entry: String,
    #[serde(default)]
    registers: u32,
    #[serde(default)]
    pipelines: Vec<String>,
    #[serde(default)]
    modules: Vec<String>,
    metrics: Vec<String>,
    #[serde(default)]
    once: Vec<String>,
    blocks: Vec<Row>,
    #[serde(default)]
    draws: Vec<Work>,
}

/// A block's index and metrics, and what one warp pays once.
#[derive(Deserialize)]
pub struct Row {
    pub index: u32,
    pub values: Vec<u64>,
    #[serde(default)]
    pub once: Vec<u32>,
}

/// A draw or dispatch that ran the shader.
#[derive(Deserialize)]
pub struct Work {
    pub label: String,
    pub workload: String,
    #[serde(default)]
    pub draw_label: String,
    pub blocks: Vec<Row>,
}

/// A shader that ran.
pub struct Shader {
    pub file: PathBuf,
    pub stage: String,
    pub entry: String,
    pub registers: u32,
    pub metrics: Vec<String>,
    pub once: Vec<String>,
    pub rows: Vec<Row>,
    pub works: Vec<Work>,
    pub module: Module,
    pub table: Vec<Block>,
    pub key: Key,
    /// What people call it; no two of a capture are called the same.
    pub name: String,
}

impl Shader {
    fn read(file: PathBuf) -> Result<Shader> {
        let beside = file.with_extension("json");
        let text = std::fs::read_to_string(&beside).map_err(|e| Error::file(&beside, e))?;
        let m: Measured = serde_json::from_str(&text).map_err(|e| Error::file(&beside, e))?;
        let module = instrument::module(&file)?;
        let entry = Entry::Named(&m.entry, None);
        let say = |e| Error::file(&file, e);
        let (table, sketch) = (blocks(&module, entry).map_err(say)?, sketch(&module, entry).map_err(say)?);
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let hash = stem.rsplit('-').next().unwrap_or_default().to_string();
        let mut names: Vec<String> = m.modules.iter().chain(&m.pipelines).cloned().collect();
        names.dedup();
        let key = Key { stage: m.stage.clone(), entry: m.entry.clone(), names, hash, sketch };
        Ok(Shader {
            file,
            stage: m.stage,
            entry: m.entry,
            registers: m.registers,
            metrics: m.metrics,
            once: m.once,
            rows: m.blocks,
            works: m.draws,
            module,
            table,
            key,
            name: String::new(),
        })
    }

    /// What its blocks cost.
    pub fn spent(&self) -> impl Iterator<Item = (&Block, Spent)> {
        self.rows.iter().filter_map(|r| {
            let b = self.table.iter().find(|b| b.index == r.index)?;
            Some((b, Spent::of(&self.metrics, &r.values)))
        })
    }

    /// What all of it cost.
    pub fn all(&self) -> Spent {
        let mut all = Spent::default();
        self.spent().for_each(|(_, s)| all.add(&s));
        all
    }

    /// Cycles of the unit that binds each block, added up.
    pub fn heat(&self) -> f64 {
        self.spent().map(|(_, s)| s.cycles()).sum()
    }

    /// A name that says something: the application's, that of its source, or the innermost label of its dearest draw.
    fn own_name(&self) -> Option<String> {
        let file = || {
            let named = self.table.iter().map(|b| b.file.as_str()).find(|f| !f.is_empty())?;
            Some(named.rsplit(['/', '\\']).next().unwrap_or(named).to_string())
        };
        let cost =
            |w: &&Work| w.blocks.iter().map(|r| Spent::of(&self.metrics, &r.values).cycles()).sum::<f64>();
        let label = || {
            let w = self.works.iter().max_by(|a, b| cost(a).total_cmp(&cost(b)))?;
            let inner = if w.draw_label.is_empty() { &w.label } else { &w.draw_label };
            inner.rsplit('/').next().filter(|l| !l.is_empty()).map(String::from)
        };
        let given = self.key.names.iter().find(|n| !n.is_empty()).cloned();
        given.or_else(file).or_else(label).map(|n| plain::line(&n).into_owned())
    }
}

/// Names for all: stage and entry point, and what tells them apart; a hash only where nothing else does.
fn name(all: &mut [Shader]) {
    for s in all.iter_mut() {
        let entry = plain::line(&s.entry).into_owned();
        s.name = match s.own_name() {
            Some(own) => format!("{} {own} ({entry})", s.stage),
            None => format!("{} {entry}", s.stage),
        };
    }
    for i in 0..all.len() {
        let same =
            (0..all.len()).any(|j| j != i && all[j].name.split(" · ").next() == Some(all[i].name.as_str()));
        if same {
            let hash: String = all[i].key.hash.chars().take(6).collect();
            all[i].name += &format!(" · {hash}");
        }
    }
}

/// All of a capture's folder (or of one of shaders alone), in order of their files; none if it has none.
pub fn read(folder: &Path) -> Result<Vec<Shader>> {
    let inside = folder.join("shaders");
    let at = if inside.is_dir() { inside.as_path() } else { folder };
    let Ok(entries) = std::fs::read_dir(at) else { return Ok(vec![]) };
    let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "spv"));
    files.sort();
    let mut all = files.into_iter().map(Shader::read).collect::<Result<Vec<_>>>()?;
    name(&mut all);
    Ok(all)
}

/// Which of `before` is which of `after`: by contents, then by likeness; of what is left, one and one of a stage and entry point.
pub fn matched(before: &[Shader], after: &[Shader]) -> Vec<(usize, usize)> {
    let mut pairs =
        keys::matched(before.len(), after.len(), |i, j| before[i].key.likeness(&after[j].key), keys::LIKELY);
    let left = |all: &[Shader], taken: Vec<usize>| -> Vec<usize> {
        (0..all.len()).filter(|i| !taken.contains(i)).collect()
    };
    let a = left(before, pairs.iter().map(|p| p.0).collect());
    let b = left(after, pairs.iter().map(|p| p.1).collect());
    let kind = |s: &Shader| (s.stage.clone(), s.entry.clone());
    for i in &a {
        let alone = |all: &[Shader], of: &[usize]| {
            let same: Vec<usize> =
                of.iter().copied().filter(|k| kind(&all[*k]) == kind(&before[*i])).collect();
            if same.len() == 1 { Some(same[0]) } else { None }
        };
        if let (Some(i), Some(j)) = (alone(before, &a), alone(after, &b)) {
            pairs.push((i, j));
        }
    }
    pairs.sort_unstable();
    pairs
}
