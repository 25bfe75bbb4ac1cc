//! The one catalogue of counters: every counter of the Mali-G720 database, with its formula or why there is none, and
//! Tuff's own. Vulkan's and OpenGL's interfaces, reports and `docs/counters.md` read this and nothing else.
//!
//! Hardware counters and Tuff's own are whole numbers: what the formula gives after the decimal point is cut (a counter in
//! units of 64 lanes counts full units). A derived counter is computed from the whole numbers, so a tool that applies
//! the published equations to the hardware counters gets the same value.

#[cfg(test)]
mod tests;

use crate::event::{Counts, Event, Phase, Unit};
use crate::formula::Formula;
use crate::model::Model;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Stable ids of Tuff's own counters begin here.
pub const OWN: u32 = 0x1000_0000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Block {
    GpuFrontend,
    Tiler,
    MemorySystem,
    ShaderCore,
    /// Computed from other counters.
    Derived,
}

impl Block {
    pub const ALL: [Block; 5] =
        [Block::GpuFrontend, Block::Tiler, Block::MemorySystem, Block::ShaderCore, Block::Derived];

    /// As the counter database spells it.
    pub fn name(self) -> &'static str {
        match self {
            Block::GpuFrontend => "GPU_FRONTEND",
            Block::Tiler => "TILER",
            Block::MemorySystem => "MEMORY_SYSTEM",
            Block::ShaderCore => "SHADER_CORE",
            Block::Derived => "DERIVED",
        }
    }
    /// For people; also VkPerformanceCounterDescriptionKHR's category.
    pub fn title(self) -> &'static str {
        match self {
            Block::GpuFrontend => "GPU front end",
            Block::Tiler => "Tiler",
            Block::MemorySystem => "Memory system",
            Block::ShaderCore => "Shader core",
            Block::Derived => "Derived",
        }
    }
}

/// VkPerformanceCounterUnitKHR, those of its values that are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Generic,
    Percentage,
    Nanoseconds,
    Bytes,
    BytesPerSecond,
    Cycles,
}

/// VkPerformanceCounterStorageKHR, those of its values that are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    Uint64,
    Float64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Uint64(u64),
    Float64(f64),
}

#[derive(Debug)]
pub struct Counter {
    /// Stable: never given to another counter. Those of the Mali database are its own.
    pub id: u32,
    /// `MaliFragWarp`.
    pub machine: &'static str,
    /// `Fragment warps`.
    pub human: &'static str,
    /// The name hardware documentation uses; empty where there is none.
    pub source: &'static str,
    pub block: Block,
    /// Place in the block's sample.
    pub index: Option<u32>,
    /// What one in the block's sample stands for; 1 where there is no place.
    pub scale: u64,
    /// Unit in words: `quads`.
    pub unit: &'static str,
    pub storage: Storage,
    /// What it tells; for a counter without a formula, why it has none.
    pub description: &'static str,
    /// The text of the formula; `None`: not modelled, not reported.
    pub formula: Option<&'static str>,
    parsed: Option<Formula>,
}

impl Counter {
    pub fn measure(&self) -> Measure {
        match self.unit {
            "percent" => Measure::Percentage,
            "nanoseconds" => Measure::Nanoseconds,
            "bytes" => Measure::Bytes,
            "bytes/second" => Measure::BytesPerSecond,
            "cycles" => Measure::Cycles,
            _ => Measure::Generic,
        }
    }

    /// Of the Mali database, and counted by hardware.
    pub fn is_hardware(&self) -> bool {
        self.block != Block::Derived && self.id < OWN
    }

    /// Whether other work of the device can change its value.
    pub fn is_shared(&self) -> bool {
        CATALOGUE.has(self, Event::is_shared, Unit::is_external)
    }

    /// Whether it tells of external memory, or of what the L2 exchanges with it.
    pub fn is_external(&self) -> bool {
        CATALOGUE.has(self, Event::is_external, Unit::is_external)
    }

    /// Whether it tells of the ray tracing unit.
    pub fn is_of_rays(&self) -> bool {
        CATALOGUE.has(self, |_| false, Unit::is_of_rays)
    }

    /// The value for these counts; 0 for a counter that is not modelled.
    pub fn value(&self, counts: &Counts, model: &Model) -> Value {
        let v = CATALOGUE.evaluate(self, counts, model);
        match self.storage {
            Storage::Uint64 => Value::Uint64(v as u64),
            Storage::Float64 => Value::Float64(v),
        }
    }

    /// Its formula with counters for events; `None` where it names what no other counter tells.
    pub fn from_others(&self) -> Option<Formula> {
        let told = |f: &Formula| {
            let tells = |c: &&Counter| c.id != self.id && c.parsed.as_ref() == Some(f);
            let counter = || reported().iter().copied().find(tells).and_then(|c| place(c.machine));
            match f {
                Formula::Constant(_) | Formula::Counter(_) => Some(f.clone()),
                _ => counter().map(Formula::Counter),
            }
        };
        self.parsed.as_ref()?.renamed(&told)
    }

    /// The value of its formula as the counter has it.
    pub fn cut(&self, v: f64) -> f64 {
        if self.storage == Storage::Uint64 { v.max(0.0).trunc() } else { v }
    }

    /// 16 bytes that belong to this counter for good.
    pub fn uuid(&self) -> [u8; 16] {
        let mut uuid = *b"TuffCounter\0\0\0\0\0";
        uuid[12..].copy_from_slice(&self.id.to_be_bytes());
        uuid
    }
}

pub struct Catalogue {
    all: Vec<Counter>,
    by_machine: HashMap<&'static str, usize>,
}

static CATALOGUE: LazyLock<Catalogue> =
    LazyLock::new(|| Catalogue::read().expect("the data files are checked by a test"));

/// Every counter, reported or not: those of the database in its order, then Tuff's own.
pub fn all() -> &'static [Counter] {
    &CATALOGUE.all
}

/// The counters that have values.
pub fn reported() -> &'static [&'static Counter] {
    static REPORTED: LazyLock<Vec<&'static Counter>> =
        LazyLock::new(|| all().iter().filter(|c| c.formula.is_some()).collect());
    &REPORTED
}

/// Of these, the counters of the GPU that is modelled: without a ray tracing unit it has none of such a unit.
pub fn modelled() -> &'static [&'static Counter] {
    static MODELLED: LazyLock<Vec<&'static Counter>> = LazyLock::new(|| of(crate::model::current()));
    &MODELLED
}

fn of(model: &Model) -> Vec<&'static Counter> {
    let has = |c: &&Counter| model.core.ray_nodes > 0 || !c.is_of_rays();
    reported().iter().copied().filter(has).collect()
}

/// The counters of shader cores that have a value for every 64 × 64 task, none of external memory among them: a program could see in
/// those what others do (VK_ARM_performance_counters_by_region's security model).
pub fn by_task() -> &'static [&'static Counter] {
    static BY_TASK: LazyLock<Vec<&'static Counter>> = LazyLock::new(|| {
        modelled()
            .iter()
            .copied()
            .filter(|c| c.block == Block::ShaderCore && CATALOGUE.is_by_task(c) && !c.is_external())
            .collect()
    });
    &BY_TASK
}

pub fn by_machine(name: &str) -> Option<&'static Counter> {
    place(name).map(|i| &all()[i])
}

/// Where in [`all`] a counter is.
pub fn place(machine: &str) -> Option<usize> {
    CATALOGUE.by_machine.get(machine).copied()
}

/// Of those that are reported.
pub fn by_human(name: &str) -> Option<&'static Counter> {
    reported().iter().copied().find(|c| c.human == name)
}

pub fn by_id(id: u32) -> Option<&'static Counter> {
    static IDS: LazyLock<HashMap<u32, usize>> =
        LazyLock::new(|| all().iter().enumerate().map(|(i, c)| (c.id, i)).collect());
    IDS.get(&id).map(|&i| &all()[i])
}

/// Rows of a data file; `#` begins a comment line.
fn rows(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().filter(|l| !l.starts_with('#')).map(|l| l.split('\t').collect())
}

impl Catalogue {
    fn read() -> Result<Catalogue, String> {
        let mut what = HashMap::new();
        for row in rows(include_str!("../data/counters.tsv")) {
            let [machine, formula, description] = row[..] else {
                return Err(format!("counters.tsv: {row:?}"));
            };
            what.insert(machine, ((formula != "-").then_some(formula), description));
        }
        let mut all = vec![];
        for row in rows(include_str!("../data/mali_g720.tsv")) {
            let [machine, human, id, source, block, index, scale, unit, _list] = row[..] else {
                return Err(format!("mali_g720.tsv: {row:?}"));
            };
            let (formula, description) =
                what.remove(machine).ok_or_else(|| format!("counters.tsv lacks {machine}"))?;
            all.push(Counter {
                id: id.parse().map_err(|_| format!("{machine}: id {id}"))?,
                machine,
                human,
                source: if source == "-" { "" } else { source },
                block: block_of(block)?,
                index: index.parse().ok(),
                scale: scale.parse().ok().filter(|&s| s > 0).unwrap_or(1),
                unit,
                storage: Storage::Uint64,
                description,
                formula,
                parsed: None,
            });
        }
        if let Some(machine) = what.keys().next() {
            return Err(format!("counters.tsv names {machine}, which is in no list"));
        }
        for row in rows(include_str!("../data/own.tsv")) {
            let [number, machine, human, block, unit, formula, description] = row[..] else {
                return Err(format!("own.tsv: {row:?}"));
            };
            all.push(Counter {
                id: OWN + number.parse::<u32>().map_err(|_| format!("{machine}: number {number}"))?,
                machine,
                human,
                source: "",
                block: block_of(block)?,
                index: None,
                scale: 1,
                unit,
                storage: Storage::Uint64,
                description,
                formula: Some(formula),
                parsed: None,
            });
        }
        let by_machine: HashMap<_, _> = all.iter().enumerate().map(|(i, c)| (c.machine, i)).collect();
        let modelled: Vec<bool> = all.iter().map(|c| c.formula.is_some()).collect();
        for c in &mut all {
            let Some(text) = c.formula else { continue };
            let parsed = Formula::parse(text, &|n| by_machine.get(n).copied().filter(|&i| modelled[i]))
                .map_err(|e| format!("{}: {e}", c.machine))?;
            if c.block == Block::Derived {
                let mut fraction = c.unit == "percent";
                parsed.visit(&mut |f| fraction |= matches!(f, Formula::Div(_) | Formula::Percent(_)));
                if fraction {
                    c.storage = Storage::Float64;
                }
            }
            c.parsed = Some(parsed);
        }
        Ok(Catalogue { all, by_machine })
    }

    fn evaluate(&self, counter: &Counter, counts: &Counts, model: &Model) -> f64 {
        let Some(f) = &counter.parsed else { return 0.0 };
        counter.cut(f.value(counts, model, &|i| self.evaluate(&self.all[i], counts, model)))
    }

    /// Calls `f` with the events that a counter is made of, also through other counters.
    fn events(&self, counter: &Counter, f: &mut dyn FnMut(&Formula)) {
        let Some(parsed) = &counter.parsed else { return };
        parsed.visit(&mut |part| match part {
            Formula::Event(_) | Formula::Unit(..) | Formula::Total(_) => f(part),
            Formula::Counter(i) => self.events(&self.all[*i], f),
            _ => {}
        });
    }

    /// Whether one of the events that a counter is made of is such.
    fn has(&self, counter: &Counter, event: fn(Event) -> bool, unit: fn(Unit) -> bool) -> bool {
        let mut yes = false;
        self.events(counter, &mut |f| match f {
            Formula::Event(e) => yes |= event(*e),
            Formula::Unit(_, u) | Formula::Total(u) => yes |= unit(*u),
            _ => {}
        });
        yes
    }

    /// Whether all events it is made of are counted by task.
    fn is_by_task(&self, counter: &Counter) -> bool {
        let mut yes = true;
        self.events(counter, &mut |f| match f {
            Formula::Event(e) => yes &= e.by_task(),
            Formula::Unit(phase, _) => yes &= *phase == Phase::Main,
            _ => {}
        });
        yes
    }
}

fn block_of(name: &str) -> Result<Block, String> {
    Block::ALL.into_iter().find(|b| b.name() == name).ok_or_else(|| format!("no block {name}"))
}
