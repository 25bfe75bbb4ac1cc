//! The one catalogue of counters: every counter of the Mali-G720 database, with its formula or why there is none, and
//! Tuff's own. Vulkan's and OpenGL's interfaces, reports and `docs/counters.md` read this and nothing else.
//!
//! Hardware counters and Tuff's own are whole numbers: what the formula leaves behind the point is cut (a counter in
//! units of 64 lanes counts full units). A derived counter is computed from the whole numbers, so a tool that applies
//! the published equations to the hardware counters gets the same value.

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn counter(machine: &str) -> &'static Counter {
        by_machine(machine).unwrap_or_else(|| panic!("{machine}"))
    }
    fn value(machine: &str, c: &Counts) -> Value {
        counter(machine).value(c, &Model::default())
    }

    #[test]
    fn every_counter_is_told_apart_and_explained() {
        Catalogue::read().unwrap();
        let distinct = |f: &dyn Fn(&Counter) -> String| all().iter().map(f).collect::<HashSet<_>>().len();
        assert_eq!(distinct(&|c| c.machine.into()), all().len());
        assert_eq!(distinct(&|c| c.human.into()), all().len());
        assert_eq!(distinct(&|c| format!("{:?}", c.uuid())), all().len());
        for c in all() {
            assert!(
                c.description.len() > 10 && c.human.len() < 256 && c.description.len() < 256,
                "{}",
                c.machine
            );
            assert_eq!(by_id(c.id).unwrap().machine, c.machine);
        }
    }

    /// A model without the unit has all other counters.
    #[test]
    fn counters_of_rays_need_the_unit() {
        let with = of(&Model::load(Some("g720")).unwrap());
        assert_eq!(with.len(), reported().len());
        assert_eq!(with.iter().filter(|c| c.id < OWN).count(), 279);
        for name in ["g57", "g610", "g710", "g77", "g78"] {
            let without = of(&Model::load(Some(name)).unwrap());
            let rays: Vec<_> = with.iter().map(|c| c.machine).filter(|m| m.starts_with("MaliRTU")).collect();
            assert_eq!((without.len() + 19, rays.len()), (with.len(), 19), "{name}");
            assert!(!without.iter().any(|c| rays.contains(&c.machine)), "{name}");
        }
    }

    /// The lists of the database: 185 hardware counters and 113 derived ones, of the former these are core.
    #[test]
    fn the_lists_are_whole() {
        let core: &[(Block, &[std::ops::RangeInclusive<u32>])] = &[
            (Block::GpuFrontend, &[4..=6, 12..=13, 16..=18, 22..=22, 24..=26, 30..=30, 32..=34, 38..=38]),
            (
                Block::Tiler,
                &[4..=4, 6..=14, 17..=17, 21..=21, 23..=24, 26..=26, 34..=35, 37..=38, 64..=64, 70..=71],
            ),
            (Block::MemorySystem, &[16..=16, 18..=18, 25..=27, 29..=29, 32..=33, 37..=42, 47..=48]),
            (
                Block::ShaderCore,
                &[4..=7, 9..=22, 24..=24, 26..=29, 31..=34, 36..=39, 42..=42, 44..=63, 68..=69, 87..=96],
            ),
        ];
        for (block, ranges) in core {
            for index in ranges.iter().cloned().flatten() {
                assert!(
                    all().iter().any(|c| c.block == *block && c.index == Some(index)),
                    "{block:?} {index} is missing"
                );
            }
        }
        assert_eq!(all().iter().filter(|c| c.is_hardware()).count(), 185);
        assert_eq!(all().iter().filter(|c| c.block == Block::Derived).count(), 113);
    }

    #[test]
    fn names_and_ids_of_the_database() {
        let c = counter("MaliFragWarp");
        assert_eq!((c.id, c.human, c.block, c.index), (214, "Fragment warps", Block::ShaderCore, Some(9)));
        assert_eq!(c.source, "FRAG_WARPS");
        assert_eq!(by_id(6).unwrap().human, "GPU active cycles");
        assert_eq!(by_id(556).unwrap().machine, "MaliALUIssueCy");
        assert_eq!(counter("TuffFmaInstr").id, OWN + 1);
        // The reference, where it is at hand (beside the checkout), word for word.
        const FILE: &str = "shared/reference/mali_g720_counters.tsv";
        let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let Ok(text) = std::fs::read_to_string(beside.join(FILE)) else {
            return not_run::say(
                "counters::names_and_ids_of_the_database, word for word",
                &format!("../{FILE}"),
            );
        };
        for row in text.lines().skip(1) {
            let [machine, human, id, ..] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
            let c = counter(machine);
            assert_eq!((c.human, c.id.to_string()), (human, id.to_string()));
        }
    }

    /// From the values of all counters, those that follow from others come out as they are.
    #[test]
    fn counters_follow_from_others() {
        let mut c = Counts::default();
        c.0.iter_mut().enumerate().for_each(|(i, v)| *v = 1000 + 7 * i as u64);
        let m = Model::default();
        let number = |c: Value| match c {
            Value::Uint64(v) => v as f64,
            Value::Float64(v) => v,
        };
        let values: Vec<f64> = all().iter().map(|k| number(k.value(&c, &m))).collect();
        let (mut follow, mut derived) = (0, 0);
        for k in reported() {
            let Some(f) = k.from_others() else {
                assert_ne!(k.block, Block::Derived, "{}", k.machine);
                continue;
            };
            let v = k.cut(f.value(&Counts::default(), &m, &|i| values[i]));
            assert_eq!(v, values[place(k.machine).unwrap()], "{}", k.machine);
            follow += 1;
            derived += (k.block == Block::Derived) as usize;
        }
        assert!(derived < follow && follow < reported().len(), "{derived} {follow}");
        assert!(counter("TuffTexInstr").from_others().is_none());
    }

    #[test]
    fn every_event_reaches_a_counter() {
        let mut seen = HashSet::new();
        for c in reported() {
            c.parsed.as_ref().unwrap().visit(&mut |f| {
                match f {
                    Formula::Event(e) => seen.insert(e.name()),
                    Formula::Unit(_, u) | Formula::Total(u) => seen.insert(u.name()),
                    _ => true,
                };
            });
        }
        // What is seen through a derived counter (queued less blocked), and what only the cost model reads.
        let inner = ["ComputeActiveCycles", "MainActiveCycles", "TexDescriptorLoads"];
        // What queries of pipeline statistics, of vertex streams and of mesh primitives tell, and no counter of Mali's.
        let queries: HashSet<_> = Event::ALL[Event::ControlPatches as usize..Event::SamplesPassed as usize]
            .iter()
            .map(|e| e.name())
            .collect();
        assert_eq!(queries.len(), 19);
        let inner = |n: &str| inner.contains(&n) || queries.contains(n);
        let names = Event::ALL.iter().map(|e| e.name()).chain(Unit::ALL.iter().map(|u| u.name()));
        let unseen: Vec<_> = names.filter(|n| !seen.contains(n) && !inner(n)).collect();
        assert!(unseen.is_empty(), "{unseen:?}");
    }

    #[test]
    fn storage_follows_the_formula() {
        for (machine, storage) in [
            ("MaliEngFMAInstr", Storage::Uint64),
            ("MaliTexFiltIssueCy", Storage::Uint64),
            ("MaliMainQueueActiveCy", Storage::Uint64),
            ("MaliGeomTotalPrim", Storage::Uint64),
            ("MaliMainQueueUtil", Storage::Float64),
            ("MaliFragOverdraw", Storage::Float64),
            ("TuffGpuTime", Storage::Uint64),
        ] {
            assert_eq!(counter(machine).storage, storage, "{machine}");
        }
        assert_eq!(counter("MaliMainQueueUtil").measure(), Measure::Percentage);
        assert_eq!(counter("MaliGPUActiveCy").measure(), Measure::Cycles);
        assert_eq!(counter("TuffGpuTime").measure(), Measure::Nanoseconds);
    }

    /// By hand: 1003 FMA, 402 CVT and 22 SFU warp-instructions are 250, 100 and 5 times 64 lanes.
    #[test]
    fn arithmetic_by_the_published_equations() {
        let mut c = Counts::default();
        c[(Phase::Main, Unit::Fma)] = 1000;
        c[(Phase::Binning, Unit::Fma)] = 3;
        c[(Phase::Main, Unit::Cvt)] = 402;
        c[(Phase::Compute, Unit::Sfu)] = 22;
        c[Event::CoreExecCycles] = 500;
        use Value::{Float64, Uint64};
        assert_eq!(value("TuffFmaInstr", &c), Uint64(1003));
        assert_eq!(value("MaliEngFMAInstr", &c), Uint64(250));
        assert_eq!(value("MaliEngCVTInstr", &c), Uint64(100));
        assert_eq!(value("MaliEngSFUInstr", &c), Uint64(5));
        assert_eq!(value("MaliEngArithInstr", &c), Uint64(355));
        // 105 of CVT and SFU; (250 − 105) / 2 more FMA: 177.5.
        assert_eq!(value("MaliALUIssueCy", &c), Float64(177.5));
        assert_eq!(value("MaliALUUtil", &c), Float64(35.5));
        assert_eq!(value("MaliEngFMAPipeUtil", &c), Float64(25.0));
        assert_eq!(value("MaliEngSFUPipeUtil", &c), Float64(4.0));
    }

    #[test]
    fn geometry_and_fragments_by_the_published_equations() {
        use Event::*;
        let mut c = Counts::default();
        for (e, v) in [
            (PrimsVisible, 40),
            (PrimsFaceCulled, 30),
            (PrimsFrustumCulled, 20),
            (PrimsScissorCulled, 5),
            (PrimsSampleCulled, 5),
            (QuadsRasterised, 4096),
            (QuadsEzsKilled, 1024),
            (QuadsOccluding, 2048),
            (MainTasks, 2),
            (Tiles, 8),
            (TilesKilled, 2),
            (MainQueuedCycles, 900),
            (MainBlockedCycles, 100),
            (GpuActiveCycles, 1600),
        ] {
            c[e] = v;
        }
        c[(Phase::Main, Unit::Warps)] = 640;
        c[(Phase::Main, Unit::Threads)] = 8192;
        use Value::{Float64, Uint64};
        assert_eq!(value("MaliGeomTotalPrim", &c), Uint64(100));
        assert_eq!(value("MaliGeomVisibleRate", &c), Float64(40.0));
        assert_eq!(value("MaliGeomPlaneCullRate", &c), Float64(20.0));
        // Of the 75 that frustum and scissor left.
        assert_eq!(value("MaliGeomFaceCullRate", &c), Float64(40.0));
        assert_eq!(value("MaliFragShadedQd", &c), Float64(2560.0));
        assert_eq!(value("MaliFragFPKKillQd", &c), Float64(512.0));
        assert_eq!(value("MaliFragEZSKillRate", &c), Float64(25.0));
        assert_eq!(value("MaliFragTransparentQd", &c), Uint64(1024));
        assert_eq!(value("MaliGPUPix", &c), Uint64(8192));
        assert_eq!(value("MaliFragOverdraw", &c), Float64(1.0));
        assert_eq!(value("MaliFragTileKill", &c), Uint64(8));
        assert_eq!(value("MaliFragTileKillRate", &c), Float64(25.0));
        assert_eq!(value("MaliMainQueueActiveCy", &c), Uint64(800));
        assert_eq!(value("MaliMainQueueUtil", &c), Float64(50.0));
        // 1600 cycles at 1300 MHz: 1230.77 ns.
        assert_eq!(value("TuffGpuTime", &c), Uint64(1230));
        assert_eq!(value("MaliTexUtil", &c), Float64(0.0));
    }

    #[test]
    fn memory_in_beats_of_the_model() {
        let mut c = Counts::default();
        c[(Phase::Main, Unit::ExtReads)] = 10;
        c[(Phase::Main, Unit::L2ReadLookups)] = 40;
        c[(Phase::Main, Unit::LsL2ReadBeats)] = 160;
        c[(Phase::Main, Unit::LsReadFull)] = 32;
        let wide = Model::default();
        let narrow = Model::load(Some("small")).unwrap();
        assert_eq!((wide.memory.bus_bytes, narrow.memory.bus_bytes), (32, 16));
        let beats = counter("MaliExtBusRdBt");
        assert_eq!(beats.value(&c, &wide), Value::Uint64(20));
        assert_eq!(beats.value(&c, &narrow), Value::Uint64(40));
        for m in [&wide, &narrow] {
            assert_eq!(counter("MaliExtBusRdBy").value(&c, m), Value::Uint64(640));
            assert_eq!(counter("TuffExtReadBytes").value(&c, m), Value::Uint64(640));
        }
        assert_eq!(value("MaliL2CacheRdMissRate", &c), Value::Float64(25.0));
        assert_eq!(value("MaliSCBusLSL2RdByPerRd", &c), Value::Float64(80.0));
    }

    #[test]
    fn tasks_have_what_they_count() {
        let names: Vec<_> = by_task().iter().map(|c| c.machine).collect();
        for yes in
            ["MaliFragWarp", "MaliFragThread", "MaliMainActiveCy", "MaliFragRastQd", "TuffMainFmaInstr"]
        {
            assert!(names.contains(&yes), "{yes}");
        }
        for no in
            ["MaliGPUActiveCy", "MaliNonFragWarp", "TuffBinningFmaInstr", "MaliALUUtil", "MaliGeomTotalPrim"]
        {
            assert!(!names.contains(&no), "{no}");
        }
        assert!(names.len() >= 40, "{}", names.len());
        // Beats of shader cores that missed the L2, by the database's names.
        let missed = |c: &&Counter| c.human.contains("external");
        assert!(reported().iter().any(|c| missed(c) && c.block == Block::ShaderCore));
        assert_eq!(by_task().iter().copied().filter(missed).map(|c| c.human).collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn what_others_can_change_is_told() {
        for (machine, shared) in [
            ("MaliFragWarp", false),
            ("TuffFmaInstr", false),
            ("MaliL2CacheLookup", false),
            ("MaliGPUActiveCy", true),
            ("MaliCoreActiveCy", true),
            ("MaliExtBusRdBt", true),
            ("TuffExtReadBytes", true),
            // Through other counters.
            ("MaliMainQueueUtil", true),
            ("MaliALUUtil", true),
            ("MaliFragOverdraw", false),
        ] {
            assert_eq!(counter(machine).is_shared(), shared, "{machine}");
        }
    }
}
