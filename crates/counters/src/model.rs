//! The GPU that is modelled: a data file with what differs between GPUs. `TUFF_GPU` names one of the files of this
//! crate (`g720`, the default; `g610`; `g57`; `small`; `big`) or the path of another.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{LazyLock, Mutex};

static CURRENT: LazyLock<(Model, Option<String>)> = LazyLock::new(Model::from_env);

/// The model of this process: the one that `TUFF_GPU` names, or the default.
pub fn current() -> &'static Model {
    &CURRENT.0
}

/// What `TUFF_GPU` says, or the default's name: a built-in model's, or a file's path.
pub fn current_name() -> &'static str {
    settings::get().gpu.as_deref().unwrap_or(DEFAULT)
}

/// What is wrong with the model that `TUFF_GPU` names.
pub fn problem() -> Option<&'static str> {
    CURRENT.1.as_deref()
}

/// What the model files say. All rates are per cycle of the GPU's one clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    pub name: String,
    /// Shader cores.
    pub cores: u64,
    pub clock_mhz: u64,
    /// Counters that one pass of a performance query can hold; 0: all of them.
    pub counter_slots: u32,
    pub core: Core,
    pub tiler: Tiler,
    pub memory: Memory,
    pub overhead: Overhead,
}

/// One shader core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// Warps that are resident at once.
    pub warps: u64,
    /// Lanes a cycle: all arithmetic together, CVT and SFU together, SFU.
    pub fma_lanes: u64,
    pub cvt_lanes: u64,
    pub sfu_lanes: u64,
    /// Interpolation slots.
    pub varying_slots: u64,
    /// Load and store issues.
    pub ls_issues: u64,
    /// Bilinear operations.
    pub texels: u64,
    /// Nodes that each tester of the ray tracing unit (of boxes, and of triangles) tests for a warp of rays; 0, or left out: there is no
    /// such unit.
    #[serde(default)]
    pub ray_nodes: u64,
    /// Pixels blended or written.
    pub pixels: u64,
    /// Quads rasterised.
    pub raster_quads: u64,
    /// Bytes between core and L2, each way.
    pub l2_bytes: u64,
    /// Load/store cache.
    pub l1_kib: u64,
    /// Texture cache.
    pub texture_l1_kib: u64,
    /// Tile buffer for colours: a tile has as many pixels as fit, 32 × 32 at most.
    pub tile_kib: u64,
    /// Main-phase tasks that a core has in flight.
    pub main_tasks: u64,
    /// Cycles until a warp goes on: after arithmetic, a load or an atomic from the L1, and a texture instruction from its.
    pub arithmetic_latency: u64,
    pub ls_latency: u64,
    pub texture_latency: u64,
    /// The same at a barrier, when the last warp of the workgroup has come.
    pub barrier_latency: u64,
}

impl Core {
    /// Cycles that a warp waits in all for instructions of arithmetic, for lines and atomics of the L1, and for texture instructions.
    pub fn waits(&self, arithmetic: u64, accesses: u64, textures: u64) -> u64 {
        arithmetic * self.arithmetic_latency + accesses * self.ls_latency + textures * self.texture_latency
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiler {
    /// Primitives through assembly and culling.
    pub primitives: u64,
    /// Primitive references into the lists of tasks.
    pub bin_entries: u64,
    /// Regions that a visible primitive lies in at most for its vertices to be shaded by the main phase; 0: none's are.
    pub deferred: u64,
    /// Requests for shading that wait at once.
    pub requests: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    pub l2_kib: u64,
    pub l2_slices: u64,
    /// Bytes that a slice of the L2 serves.
    pub slice_bytes: u64,
    /// Cycles that an atomic has a line for itself.
    pub atomic_cycles: u64,
    /// Cycles more until a warp goes on: what comes from the L2, and what that lacks.
    pub l2_latency: u64,
    pub external_latency: u64,
    /// Bytes of one beat of the external bus.
    pub bus_bytes: u64,
    /// What external memory sustains, reads and writes together.
    pub external_bytes_per_cycle: u64,
    /// Reads that a slice of the L2 may have under way in external memory, and as many writes.
    pub outstanding: u64,
    /// Translations of pages of 4 KiB that the memory management unit keeps.
    pub tlb_pages: u64,
    /// Attachments are compressed where their format and use allow it: not 0.
    pub afbc: u64,
}

/// Cycles that the front end adds to each job, and a core to each task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overhead {
    pub binning_job: u64,
    pub compute_job: u64,
    pub main_job: u64,
    pub binning_task: u64,
    pub compute_task: u64,
    pub main_task: u64,
    /// Of a job's cycles, those of the front end's microcontroller, of its execution unit and of its load/store unit.
    pub mcu_job: u64,
    pub ceu_job: u64,
    pub lsu_job: u64,
}

/// Threads of a warp.
pub const WARP: u64 = 16;
/// Side of a main-phase task, and of a region of VK_ARM_performance_counters_by_region, in pixels.
pub const TASK: u64 = 64;
/// Pixels of a tile.
const TILE_MOST: u64 = 32 * 32;
const TILE_LEAST: u64 = 4 * 4;
/// Bytes of a cache line.
pub const LINE: u64 = 64;
/// Bytes of a beat between core and L2, as the counters count them.
pub const BEAT: u64 = 16;

/// Bytes that a model's file may have.
const MOST: u64 = 1 << 20;

/// The model without `TUFF_GPU`.
const DEFAULT: &str = "g720";

/// The model files of this crate by name.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("g720", include_str!("../models/g720.toml")),
    ("g610", include_str!("../models/g610.toml")),
    ("g57", include_str!("../models/g57.toml")),
    ("g77", include_str!("../models/g77.toml")),
    ("g78", include_str!("../models/g78.toml")),
    ("g710", include_str!("../models/g710.toml")),
    ("g715", include_str!("../models/g715.toml")),
    ("g725", include_str!("../models/g725.toml")),
    ("small", include_str!("../models/small.toml")),
    ("big", include_str!("../models/big.toml")),
];

impl Model {
    /// # Errors
    /// One line that says what is wrong.
    pub fn parse(text: &str) -> Result<Model, String> {
        let m: Model = toml::from_str(text).map_err(|e| {
            let line = e.span().map_or(0, |s| text[..s.start].lines().count().max(1));
            format!("line {line}: {}", e.message().replace('\n', " "))
        })?;
        m.check()?;
        Ok(m)
    }

    /// # Errors
    /// One line that says which number is out of range.
    pub fn check(&self) -> Result<(), String> {
        let m = self;
        let c = &m.core;
        let rates = [
            ("cores", m.cores),
            ("clock_mhz", m.clock_mhz),
            ("core.warps", c.warps),
            ("core.fma_lanes", c.fma_lanes),
            ("core.cvt_lanes", c.cvt_lanes),
            ("core.sfu_lanes", c.sfu_lanes),
            ("core.varying_slots", c.varying_slots),
            ("core.ls_issues", c.ls_issues),
            ("core.texels", c.texels),
            ("core.pixels", c.pixels),
            ("core.raster_quads", c.raster_quads),
            ("core.l2_bytes", c.l2_bytes),
            ("core.l1_kib", c.l1_kib),
            ("core.texture_l1_kib", c.texture_l1_kib),
            ("core.tile_kib", c.tile_kib),
            ("core.main_tasks", c.main_tasks),
            ("core.arithmetic_latency", c.arithmetic_latency),
            ("core.ls_latency", c.ls_latency),
            ("core.texture_latency", c.texture_latency),
            ("core.barrier_latency", c.barrier_latency),
            ("tiler.primitives", m.tiler.primitives),
            ("tiler.bin_entries", m.tiler.bin_entries),
            ("tiler.requests", m.tiler.requests),
            ("memory.l2_kib", m.memory.l2_kib),
            ("memory.l2_slices", m.memory.l2_slices),
            ("memory.slice_bytes", m.memory.slice_bytes),
            ("memory.atomic_cycles", m.memory.atomic_cycles),
            ("memory.l2_latency", m.memory.l2_latency),
            ("memory.external_latency", m.memory.external_latency),
            ("memory.bus_bytes", m.memory.bus_bytes),
            ("memory.external_bytes_per_cycle", m.memory.external_bytes_per_cycle),
            ("memory.outstanding", m.memory.outstanding),
            ("memory.tlb_pages", m.memory.tlb_pages),
        ];
        for (name, value) in rates {
            if !(1..=1 << 20).contains(&value) {
                return Err(format!("{name} = {value}: must be between 1 and {}", 1 << 20));
            }
        }
        // What is modelled of them is kept by each thread that shades.
        let caches = [
            ("core.l1_kib", c.l1_kib, 1024),
            ("core.texture_l1_kib", c.texture_l1_kib, 1024),
            ("memory.l2_kib", m.memory.l2_kib, 64 << 10),
        ];
        for (name, value, most) in caches {
            if value > most {
                return Err(format!("{name} = {value}: must be between 1 and {most}"));
            }
        }
        if m.tiler.deferred > 1 << 20 {
            return Err(format!("tiler.deferred = {}: must be {} at most", m.tiler.deferred, 1 << 20));
        }
        if c.ray_nodes > 1 << 20 {
            return Err(format!("core.ray_nodes = {}: must be {} at most", c.ray_nodes, 1 << 20));
        }
        let o = &m.overhead;
        let jobs = [o.binning_job, o.compute_job, o.main_job, o.binning_task, o.compute_task, o.main_task];
        if jobs.iter().any(|&c| c > 1 << 30) {
            return Err(format!("overhead: more than {} cycles", 1 << 30));
        }
        let least = o.binning_job.min(o.compute_job).min(o.main_job);
        if [o.mcu_job, o.ceu_job, o.lsu_job].iter().any(|&c| c > least) {
            return Err(format!("overhead: a unit of the front end takes more than a job's {least} cycles"));
        }
        Ok(())
    }

    /// The model that `which` names: a built-in one, or a file's path; the default without it.
    ///
    /// # Errors
    /// One line: no such file, or what is wrong in it.
    pub fn load(which: Option<&str>) -> Result<Model, String> {
        let which = which.unwrap_or(DEFAULT);
        if let Some((_, text)) = BUILT_IN.iter().find(|(name, _)| *name == which) {
            return Model::parse(text);
        }
        let text = files::text(Path::new(which), MOST).map_err(|e| {
            let names: Vec<_> = BUILT_IN.iter().map(|(n, _)| *n).collect();
            format!("TUFF_GPU={which}: neither one of {} nor a file: {e}", names.join(", "))
        })?;
        Model::parse(&text).map_err(|e| format!("TUFF_GPU={which}: {e}"))
    }

    /// The model `TUFF_GPU` names, or the default one and what is wrong with the other.
    pub fn from_env() -> (Model, Option<String>) {
        match Model::load(settings::get().gpu.as_deref()) {
            Ok(m) => (m, None),
            Err(e) => (Model::default(), Some(e)),
        }
    }

    /// Width and height of a tile whose pixels have so many bits of colour, all attachments and samples: powers of two.
    pub fn tile(&self, bits: u64) -> [u64; 2] {
        let pixels = ((self.core.tile_kib << 13) / bits.max(1)).clamp(TILE_LEAST, TILE_MOST).ilog2();
        [1 << pixels.div_ceil(2), 1 << (pixels / 2)]
    }

    /// The same GPU with fewer cores: 0, and more than there are, are all of them.
    pub fn with_cores(&'static self, cores: u64) -> &'static Model {
        /// Models made of one, by its address and their cores: no more than a model has cores.
        static MADE: Mutex<BTreeMap<(usize, u64), &'static Model>> = Mutex::new(BTreeMap::new());
        if cores == 0 || cores >= self.cores {
            return self;
        }
        let mut made = MADE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let key = (std::ptr::from_ref(self).addr(), cores);
        made.entry(key).or_insert_with(|| Box::leak(Box::new(Model { cores, ..self.clone() })))
    }

    /// Nanoseconds of so many cycles, rounded up.
    pub fn nanoseconds(&self, cycles: u64) -> u64 {
        (cycles as u128 * 1000).div_ceil(self.clock_mhz as u128) as u64
    }

    /// A constant that formulas name: those of the catalogue, and what `tuff run --check` compares with.
    pub fn constant(&self, name: &str) -> Option<f64> {
        Some(match name {
            "$cores" => self.cores as f64,
            "$l2_slices" => self.memory.l2_slices as f64,
            "$bus_bytes" => self.memory.bus_bytes as f64,
            "$clock_hz" => self.clock_mhz as f64 * 1e6,
            "$varying_slots" => self.core.varying_slots as f64,
            "$ray_nodes" => self.core.ray_nodes as f64,
            "$texels" => self.core.texels as f64,
            "$clock_mhz" => self.clock_mhz as f64,
            "$fma_lanes" => self.core.fma_lanes as f64,
            "$cvt_lanes" => self.core.cvt_lanes as f64,
            "$sfu_lanes" => self.core.sfu_lanes as f64,
            "$ls_issues" => self.core.ls_issues as f64,
            "$pixels" => self.core.pixels as f64,
            "$raster_quads" => self.core.raster_quads as f64,
            "$l2_bytes" => self.core.l2_bytes as f64,
            "$primitives" => self.tiler.primitives as f64,
            "$bin_entries" => self.tiler.bin_entries as f64,
            "$slice_bytes" => self.memory.slice_bytes as f64,
            "$external_bytes" => self.memory.external_bytes_per_cycle as f64,
            "$mcu_job" => self.overhead.mcu_job as f64,
            "$ceu_job" => self.overhead.ceu_job as f64,
            "$lsu_job" => self.overhead.lsu_job as f64,
            _ => return None,
        })
    }
}

impl Default for Model {
    fn default() -> Model {
        Model::load(None).expect("the default model file is checked by a test")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_models_are_whole() {
        for (name, text) in BUILT_IN {
            Model::parse(text).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        let m = Model::default();
        assert_eq!((m.cores, m.core.fma_lanes, m.core.pixels, m.core.texels), (10, 128, 4, 8));
        assert_eq!(m.counter_slots, 0);
        assert_ne!(Model::load(Some("small")).unwrap().counter_slots, 0);
    }

    /// Peaks that their makers tell: 32, 64 and 128 fused multiply-adds, 4, 8 and 8 samples a cycle of each core.
    #[test]
    fn classes_of_products() {
        let rates = |name| {
            let m = Model::load(Some(name)).unwrap();
            assert!(m.name.starts_with(&format!("{} class, {} cores", name.to_uppercase(), m.cores)));
            assert_eq!(m.counter_slots, 0);
            // SFU runs at a quarter of CVT's rate.
            assert_eq!(m.core.cvt_lanes, 4 * m.core.sfu_lanes);
            (m.cores, m.core.fma_lanes, m.core.texels, m.core.pixels, m.core.varying_slots)
        };
        assert_eq!(rates("g57"), (5, 32, 4, 2, 1));
        assert_eq!(rates("g610"), (4, 64, 8, 4, 2));
        assert_eq!(rates("g720"), (10, 128, 8, 4, 4));
        assert_eq!(rates("g77"), (9, 32, 4, 2, 1));
        assert_eq!(rates("g78"), (20, 32, 4, 2, 1));
        assert_eq!(rates("g710"), (10, 64, 8, 4, 2));
        assert_eq!(rates("g715"), (7, 128, 8, 4, 4));
        assert_eq!(rates("g725"), (6, 128, 8, 4, 4));
        // Billions of multiply-adds a second, twice as many operations: 5 · 32 · 0.88, 4 · 64 · 1.
        let peak = |name| {
            let m = Model::load(Some(name)).unwrap();
            m.cores * m.core.fma_lanes * m.clock_mhz
        };
        assert_eq!([peak("g57"), peak("g610")], [140_800, 256_000]);
    }

    /// Each number of a class names a source from the file's list or says "assumed", in a comment after the number or above it.
    #[test]
    fn numbers_have_their_sources() {
        for (name, text) in BUILT_IN.iter().filter(|(name, _)| name.starts_with('g')) {
            let (mut above, mut in_comment) = (String::new(), false);
            for line in text.lines() {
                let comment = line.starts_with('#');
                if comment && !in_comment || line.is_empty() {
                    above.clear();
                }
                in_comment = comment;
                if comment {
                    above += line;
                    continue;
                }
                let Some((key, rest)) = line.split_once(" = ") else { continue };
                if ["name", "counter_slots"].contains(&key) {
                    continue;
                }
                let said = rest.split_once('#').map_or(above.as_str(), |(_, behind)| behind);
                let listed = |letter: char| text.contains(&format!("\n# [{letter}] "));
                let letters = said.split('[').skip(1).filter_map(|s| s.chars().next());
                let sources: Vec<char> = letters.filter(char::is_ascii_uppercase).collect();
                assert!(sources.iter().all(|l| listed(*l)), "{name}: {line}: {said}");
                let assumed = ["assumed", "ours", "datasheet"].iter().any(|w| said.contains(w));
                assert!(assumed || !sources.is_empty(), "{name}: {line}: neither source nor assumed");
            }
        }
    }

    #[test]
    fn a_bad_file_is_one_line() {
        let text = BUILT_IN[0].1;
        let zero = text.replace("cores = 10", "cores = 0");
        assert_eq!(Model::parse(&zero).unwrap_err(), "cores = 0: must be between 1 and 1048576");
        for bad in [
            text.replace("cores = 10", "cores = \"ten\""),
            text.replace("cores = 10", ""),
            text.replace("cores = 10", "corse = 10"),
            "[".into(),
        ] {
            let e = Model::parse(&bad).unwrap_err();
            assert!(!e.contains('\n') && e.starts_with("line "), "{e}");
        }
        let e = Model::load(Some("/no/such/file")).unwrap_err();
        assert!(
            e.contains("g720, g610, g57, g77, g78, g710, g715, g725, small, big") && !e.contains('\n'),
            "{e}"
        );
    }

    #[test]
    fn nanoseconds_by_the_clock() {
        let m = Model { clock_mhz: 1300, ..Model::default() };
        assert_eq!(m.nanoseconds(1300), 1000);
        assert_eq!(m.nanoseconds(1), 1);
        assert_eq!(m.nanoseconds(13), 10);
    }
}
