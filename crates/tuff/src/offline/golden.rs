//! Costs that a shader must not exceed: a file of them, and what differs from it.

use super::analysis::{Analysis, Variant, code};
use super::{Shader, names};
use client::{Error, Result};
use counters::Model;
use counters::once::{PIPES, occupancy};
use serde::Deserialize;
use shader::cost::Cost;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

const VERSION: u32 = 1;

/// Cycles by pipe (`arith_fma`), without those that take none.
type Cycles = BTreeMap<String, f64>;

/// What a shader's costs are found by, whatever its text is.
#[derive(Deserialize, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Key {
    /// From the golden file's folder, with slashes.
    pub file: String,
    pub stage: String,
    pub entry: String,
    /// `Main`, or `Position` and `Varying`.
    pub variant: String,
    pub gpu: String,
}

impl Key {
    /// The shader for people: `lit.frag fragment, g720`.
    pub fn name(&self) -> String {
        let entry =
            if self.entry == "main" { String::new() } else { format!(" {}", plain::line(&self.entry)) };
        let part =
            if self.variant == "Main" { String::new() } else { format!(", {}", self.variant.to_lowercase()) };
        format!(
            "{} {}{entry}{part}, {}",
            plain::line(&self.file),
            plain::line(&self.stage),
            plain::line(&self.gpu)
        )
    }
}

#[derive(Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// 32-bit registers of a thread.
    pub work_registers: u64,
    #[serde(default)]
    pub stack_spill_bytes: u64,
    pub total: Cycles,
    pub shortest: Cycles,
    /// Absent if there are loops.
    pub longest: Option<Cycles>,
}

#[derive(Deserialize)]
struct Row {
    #[serde(flatten)]
    key: Key,
    #[serde(flatten)]
    costs: Costs,
}

#[derive(Deserialize)]
struct File {
    version: u32,
    #[serde(default)]
    shader: Vec<Row>,
}

pub type Golden = BTreeMap<Key, Costs>;

/// The costs in a file.
///
/// # Errors
/// It cannot be read, is no such file, or has a shader twice.
pub fn read(path: &Path) -> Result<Golden> {
    let say = |e: String| Error::file(path, e);
    let text = std::fs::read_to_string(path).map_err(|e| say(e.to_string()))?;
    let file: File = toml::from_str(&text).map_err(|e| say(e.to_string()))?;
    if file.version != VERSION {
        return Err(say(format!("version {} of golden costs; this program reads {VERSION}", file.version)));
    }
    let mut all = Golden::new();
    for row in file.shader {
        let name = row.key.name();
        if all.insert(row.key, row.costs).is_some() {
            return Err(say(format!("{name} is in it twice")));
        }
    }
    Ok(all)
}

/// The file's text: a value a line, so that version control shows what has changed.
pub fn text(all: &Golden) -> String {
    let string = |s: &str| toml::Value::from(s).to_string();
    let mut out = format!(
        "# Written by `tuff shader --golden FILE --update`. Cycles of a core for one warp of 16 threads, by pipe.\nversion = {VERSION}\n"
    );
    for (key, costs) in all {
        let _ = write!(
            out,
            "\n[[shader]]\nfile = {}\nstage = {}\nentry = {}\nvariant = {}\ngpu = {}\n",
            string(&key.file),
            string(&key.stage),
            string(&key.entry),
            string(&key.variant),
            string(&key.gpu)
        );
        let _ = writeln!(
            out,
            "work_registers = {}\nstack_spill_bytes = {}",
            costs.work_registers, costs.stack_spill_bytes
        );
        for (name, cycles) in costs.ways() {
            let pipes: Vec<_> =
                cycles.iter().map(|(pipe, v)| format!("{pipe} = {}", toml::Value::from(*v))).collect();
            let _ = writeln!(out, "{name} = {{ {} }}", pipes.join(", "));
        }
    }
    out
}

fn cycles(cost: &Cost, model: &Model) -> Cycles {
    let all = code(cost).cycles(&model.core).into_iter().filter(|p| p.1 > 0.0);
    all.map(|(pipe, v)| (pipe.name.to_string(), v)).collect()
}

impl Costs {
    pub fn new(a: &Analysis, v: &Variant, model: &Model) -> Costs {
        Costs {
            work_registers: a.work_registers(),
            stack_spill_bytes: a.spilled_bytes(),
            total: cycles(&v.ways.total, model),
            shortest: cycles(&v.ways.shortest, model),
            longest: v.ways.longest.as_ref().map(|c| cycles(c, model)),
        }
    }
    fn ways(&self) -> impl Iterator<Item = (&'static str, &Cycles)> {
        let longest = self.longest.as_ref().map(|c| ("longest", c));
        [("total", &self.total), ("shortest", &self.shortest)].into_iter().chain(longest)
    }
}

/// A file's path as a golden file at `golden` names it: one that both have in every checkout.
fn relative(file: &Path, golden: &Path) -> String {
    let folder = golden.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let inside =
        (|| Some(file.canonicalize().ok()?.strip_prefix(folder.canonicalize().ok()?).ok()?.to_path_buf()))();
    inside.as_deref().unwrap_or(file).to_string_lossy().replace('\\', "/")
}

/// The costs of these shaders.
pub fn of(all: &[Shader], golden: &Path) -> Golden {
    let mut out = Golden::new();
    for s in all {
        for v in &s.analysis.variants {
            let key = Key {
                file: relative(&s.file, golden),
                stage: names(s.analysis.stage).1.into(),
                entry: s.analysis.entry.clone(),
                variant: v.name.into(),
                gpu: s.gpu.name.clone(),
            };
            out.insert(key, Costs::new(&s.analysis, v, &s.gpu.model));
        }
    }
    out
}

/// What became of a shader.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    Same,
    /// Something differs, and nothing is dearer than allowed.
    Allowed(Vec<Change>),
    Dearer(Vec<Change>),
    New,
    /// It is only in the golden file.
    Gone,
}

/// A figure that differs.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// `longest path, FMA`.
    pub what: String,
    pub before: f64,
    pub after: f64,
    /// Growth in percent: of a pipe's cycles, those of the path's dearest pipe are a hundred.
    pub growth: f64,
    pub dearer: bool,
}

impl Change {
    pub fn line(&self) -> String {
        let number = |v: f64| format!("{v:.3}").trim_end_matches('0').trim_end_matches('.').to_string();
        let growth =
            if self.growth.is_finite() { format!(" ({:+.1} %)", self.growth) } else { String::new() };
        format!("{}: {} to {}{growth}", self.what, number(self.before), number(self.after))
    }
}

fn changes(before: &Costs, after: &Costs, max_increase: f64) -> Vec<Change> {
    let mut all = vec![];
    let mut add = |what: String, [before, after]: [f64; 2], growth: f64, dearer: bool| {
        if before != after {
            all.push(Change { what, before, after, growth, dearer });
        }
    };
    let beyond = |growth: f64| growth > max_increase;
    let percent = |[before, after]: [f64; 2], base: f64| (after - before) * 100.0 / base;
    // Code without branches has one path.
    let is_straight = |c: &Costs| c.total == c.shortest && c.longest.as_ref() == Some(&c.total);
    let ways = match is_straight(before) && is_straight(after) {
        true => vec![("the path", Some(&before.total), Some(&after.total))],
        false => vec![
            ("total", Some(&before.total), Some(&after.total)),
            ("shortest path", Some(&before.shortest), Some(&after.shortest)),
            ("longest path", before.longest.as_ref(), after.longest.as_ref()),
        ],
    };
    for (name, a, b) in ways {
        match (a, b) {
            (Some(a), Some(b)) => {
                let most = a.values().copied().fold(0.0, f64::max);
                for pipe in PIPES {
                    let of = |c: &Cycles| c.get(pipe.name).copied().unwrap_or(0.0);
                    let both = [of(a), of(b)];
                    let growth = percent(both, most);
                    add(format!("{name}, {}", pipe.title), both, growth, beyond(growth));
                }
            }
            // A loop has come or gone: one turn of it is in the other paths.
            (Some(_), None) => {
                add(format!("{name}, loops of unknown length"), [0.0, 1.0], f64::INFINITY, true)
            }
            (None, Some(_)) => add(format!("{name}, loops of unknown length"), [1.0, 0.0], -100.0, false),
            (None, None) => {}
        }
    }
    // Fewer threads of a core are the dearer ones.
    let threads = [before, after].map(|c| occupancy(c.work_registers) as f64);
    let fewer = percent([threads[1], threads[0]], threads[1]);
    add("occupancy in percent".into(), threads, percent(threads, threads[0]), beyond(fewer));
    let spilled = [before, after].map(|c| c.stack_spill_bytes as f64);
    let more = percent(spilled, spilled[0]);
    add("bytes spilled".into(), spilled, more, beyond(more));
    let registers = [before, after].map(|c| c.work_registers as f64);
    add("work registers".into(), registers, percent(registers, registers[0]), false);
    all
}

/// Each shader's verdict. A pipe may take `max_increase` percent more of a path's cycles. A golden shader that was not looked at has one
/// only if it `is_gone`.
pub fn compare(
    golden: &Golden,
    now: &Golden,
    max_increase: f64,
    is_gone: impl Fn(&Key) -> bool,
) -> Vec<(Key, Verdict)> {
    let keys: BTreeSet<&Key> = golden.keys().chain(now.keys()).collect();
    let verdict = |key: &Key| match (golden.get(key), now.get(key)) {
        (None, _) => Some(Verdict::New),
        (Some(_), None) => is_gone(key).then_some(Verdict::Gone),
        (Some(a), Some(b)) => {
            let list = changes(a, b, max_increase);
            Some(match (list.is_empty(), list.iter().any(|c| c.dearer)) {
                (true, _) => Verdict::Same,
                (_, true) => Verdict::Dearer(list),
                (_, false) => Verdict::Allowed(list),
            })
        }
    };
    keys.into_iter().filter_map(|key| Some((key.clone(), verdict(key)?))).collect()
}

/// Whether a golden shader exists no more: `now` is what there is of its file and GPU, or the file has vanished.
pub fn is_gone(key: &Key, now: &Golden, golden: &Path) -> bool {
    let looked_at = now.keys().any(|k| k.file == key.file && k.gpu == key.gpu);
    looked_at || !golden.parent().unwrap_or(Path::new("")).join(&key.file).exists()
}
