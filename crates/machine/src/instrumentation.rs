//! Shader instrumentation objects (VK_ARM_shader_instrumentation): what each basic block of instrumented shaders cost.

use ash::vk;
use counters::model::{Core, WARP};
use parking_lot::Mutex;
use shader::bytecode::Program;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use wave::{BlockRow, Usage, Worker};

pub use counters::blocks::{METRIC, METRICS};

/// Which block of what: (resultIndex, resultSubIndex, stages, basicBlockIndex), in the order in which blocks are
/// reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub result: u32,
    pub sub: u32,
    pub stages: u32,
    pub block: u32,
}

/// The metrics of all that ran while the object was active, by block. Every stage that ran has all its blocks: those
/// that no thread entered are rows of zeros.
#[derive(Default)]
pub struct Instrumentation {
    rows: Mutex<Rows>,
    next: AtomicU32,
    told: Told,
    /// Of an object that the driver gathers in: what runs decides the result index, not what was recorded.
    works: Option<Mutex<Works>>,
}

/// A draw or dispatch, whenever it runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Work {
    /// Labels and name of its workload.
    pub label: String,
    pub workload: String,
    /// Of a draw: its index in its pass, its own labels, and its name.
    pub draw: Option<(u32, String, String)>,
}

/// Draws and dispatches that are told apart.
const MOST_WORKS: usize = 4096;
/// The result of all others.
pub const OTHERS: u32 = u32::MAX;
/// The result of what is not gathered.
const NOBODY: u32 = u32::MAX - 1;

thread_local! {
    /// What this queue's thread runs is gathered.
    static GATHERED: Cell<bool> = const { Cell::new(true) };
}

/// Whether objects that gather take what this thread runs from now on.
pub fn gather(wanted: bool) {
    GATHERED.set(wanted);
}

/// The result index of each, and how often it ran.
#[derive(Default)]
struct Works(BTreeMap<Work, (u32, u64)>);

impl Works {
    fn ran(&mut self, work: Work) -> u32 {
        let next = self.0.len();
        match self.0.get_mut(&work) {
            Some((result, times)) => {
                *times += 1;
                *result
            }
            None if next < MOST_WORKS => {
                self.0.insert(work, (next as u32, 1));
                next as u32
            }
            None => OTHERS,
        }
    }
}

type Rows = BTreeMap<Key, [u64; METRICS]>;

/// What values are added up where they are read.
#[derive(Clone, Copy, Default)]
pub struct Told {
    /// All of a shader's blocks: block 0 stands for it.
    pub whole_shaders: bool,
    /// Blocks of the same index of all stages of a draw.
    pub merged_stages: bool,
}

impl Told {
    fn of(self, all: &Rows) -> Rows {
        let mut stages = BTreeMap::<[u32; 2], u32>::new();
        all.keys().for_each(|k| *stages.entry([k.result, k.sub]).or_default() |= k.stages);
        let mut told = Rows::new();
        for (key, row) in all {
            let mut key = *key;
            if self.merged_stages {
                key.stages = stages[&[key.result, key.sub]];
            }
            if self.whole_shaders {
                key.block = 0;
            }
            add_row(&mut told, key, row);
        }
        told
    }
    fn is_all(self) -> bool {
        !self.whole_shaders && !self.merged_stages
    }
}

fn add_row(rows: &mut Rows, key: Key, row: &[u64; METRICS]) {
    let sum = rows.entry(key).or_insert([0; METRICS]);
    sum.iter_mut().zip(row).for_each(|(s, v)| *s = s.wrapping_add(*v));
}

/// What a recorded draw or dispatch writes to: an object and the result index it took.
pub type Active = (Arc<Instrumentation>, u32);

impl Instrumentation {
    pub fn new(told: Told) -> Instrumentation {
        Instrumentation { told, ..Instrumentation::default() }
    }

    /// One that tells apart what runs, and not what was recorded.
    pub fn gathering() -> Instrumentation {
        Instrumentation { works: Some(Mutex::default()), ..Instrumentation::default() }
    }

    /// Where what runs now writes to, which was recorded with this result index.
    pub fn at(self: &Arc<Self>, result: u32, work: impl FnOnce() -> Work) -> Active {
        let result = match &self.works {
            Some(_) if !GATHERED.get() => NOBODY,
            Some(w) => w.lock().ran(work()),
            None => result,
        };
        (self.clone(), result)
    }

    /// What ran, with its result index and how often, of an object that gathers.
    pub fn works(&self) -> Vec<(Work, u32, u64)> {
        let Some(works) = &self.works else { return vec![] };
        works.lock().0.iter().map(|(work, (result, times))| (work.clone(), *result, *times)).collect()
    }

    /// The result index of a draw or dispatch that is recorded now.
    pub fn take_index(&self) -> u32 {
        self.next.fetch_add(1, Relaxed)
    }

    /// Adds a stage's metrics: `rows[i]` are those of block `i`.
    pub fn add(&self, result: u32, sub: u32, stage: vk::ShaderStageFlags, rows: &[[u64; METRICS]]) {
        if self.works.is_some() && result == NOBODY {
            return;
        }
        let mut all = self.rows.lock();
        for (block, row) in rows.iter().enumerate() {
            let key = Key { result, sub, stages: stage.as_raw(), block: block as u32 };
            add_row(&mut all, key, row);
        }
    }

    /// Sets all values to zero. The blocks stay (the specification clears values, not blocks), as does the index.
    pub fn clear(&self) {
        self.rows.lock().values_mut().for_each(|row| *row = [0; METRICS]);
    }

    /// Blocks there are.
    pub fn len(&self) -> usize {
        let all = self.rows.lock();
        if self.told.is_all() { all.len() } else { self.told.of(&all).len() }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first `most` blocks in their order, and whether those are all.
    pub fn values(&self, most: usize) -> (Vec<(Key, [u64; METRICS])>, bool) {
        let rows = self.rows.lock();
        let told = (!self.told.is_all()).then(|| self.told.of(&rows));
        let all = told.as_ref().unwrap_or(&rows);
        (all.iter().take(most).map(|(k, v)| (*k, *v)).collect(), all.len() <= most)
    }
}

/// What a stage's blocks cost in one draw or dispatch, while threads add to it. Sums: the order does not matter.
#[derive(Default)]
pub struct Blocks(Mutex<Vec<BlockRow>>);

impl Blocks {
    /// Takes what a worker counted for `program`; its blocks' part is kept here if that is `wanted`.
    pub fn take(&self, worker: &mut Worker, program: &Program, wanted: bool) -> Usage {
        worker.tally.take(program, wanted.then(|| self.0.lock()).as_deref_mut())
    }

    /// The same without what was followed through caches.
    pub fn take_rows(&self, worker: &mut Worker, program: &Program, wanted: bool) -> Usage {
        worker.tally.take_rows(program, wanted.then(|| self.0.lock()).as_deref_mut())
    }

    /// Adds it all to the object, if there is one, as a core of `rates` does it.
    pub fn add_to(&self, rates: &Core, active: Option<&Active>, sub: u32, stage: vk::ShaderStageFlags) {
        let rows = std::mem::take(&mut *self.0.lock());
        if let Some((object, result)) = active {
            let rows: Vec<_> = rows.iter().map(|r| metrics(rates, r)).collect();
            object.add(*result, sub, stage, &rows);
        }
    }
}

fn metrics(rates: &Core, row: &BlockRow) -> [u64; METRICS] {
    let [warps, threads, diverged, fma, cvt, sfu, issues, operations, slots, lines] = *row;
    let lanes = |instructions: u64, rate: u64| (instructions * WARP).div_ceil(rate);
    let [own_fma, own_cvt, own_sfu] =
        [(fma, rates.fma_lanes), (cvt, rates.cvt_lanes), (sfu, rates.sfu_lanes)].map(|(n, r)| lanes(n, r));
    [
        warps,
        threads,
        diverged,
        counters::cost::arithmetic(rates, fma, cvt, sfu),
        own_fma,
        own_cvt,
        own_sfu,
        issues.div_ceil(rates.ls_issues),
        operations.div_ceil(rates.texels),
        // A slot of each of a warp's four quads.
        (slots * 4).div_ceil(rates.varying_slots),
        lines,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk::ShaderStageFlags as Stage;
    use counters::Model;

    #[test]
    fn one_unit_for_all_pipes_by_the_model() {
        // 24 + 16 + 4 warp-instructions of 16 lanes: 704 of 128 lanes, 5.5 cycles; 20 of 64 lanes: 5; 4 of 16: 4.
        let row = [9, 140, 1, 24, 16, 4, 7, 21, 5, 12];
        let model = Model::load(Some("g720")).unwrap();
        assert_eq!(metrics(&model.core, &row), [9, 140, 1, 6, 3, 4, 4, 7, 3, 5, 12]);
        // Half of each rate, twice the cycles.
        let slow =
            Core { fma_lanes: 64, cvt_lanes: 32, sfu_lanes: 8, texels: 4, varying_slots: 2, ..model.core };
        assert_eq!(metrics(&slow, &row), [9, 140, 1, 11, 6, 8, 8, 7, 6, 10, 12]);
        assert_eq!(metrics(&Core { ls_issues: 2, ..slow }, &row)[7], 4);
    }

    #[test]
    fn blocks_come_in_the_order_of_the_specification_and_add_up() {
        let i = Instrumentation::new(Told::default());
        assert_eq!([i.take_index(), i.take_index()], [0, 1]);
        let row = |v: u64| [v; METRICS];
        i.add(1, 0, Stage::FRAGMENT, &[row(5)]);
        i.add(1, 0, Stage::VERTEX, &[row(3), row(0)]);
        i.add(0, 2, Stage::COMPUTE, &[row(1)]);
        i.add(0, 1, Stage::COMPUTE, &[row(2)]);
        i.add(0, 1, Stage::COMPUTE, &[row(40)]);
        // Two draws of one command: each with its stages, for sub-indices ascend within a result (§ Shader Instrumentation Retrieval;
        // the extension's proposal had stages first).
        for (sub, stage) in
            [(1, Stage::FRAGMENT), (0, Stage::FRAGMENT), (1, Stage::VERTEX), (0, Stage::VERTEX)]
        {
            i.add(2, sub, stage, &[row(7)]);
        }
        let (all, complete) = i.values(usize::MAX);
        assert!(complete);
        let told: Vec<_> =
            all.iter().map(|(k, v)| (k.result, k.sub, Stage::from_raw(k.stages), k.block, v[9])).collect();
        let want = [
            (0, 1, Stage::COMPUTE, 0, 42),
            (0, 2, Stage::COMPUTE, 0, 1),
            (1, 0, Stage::VERTEX, 0, 3),
            (1, 0, Stage::VERTEX, 1, 0),
            (1, 0, Stage::FRAGMENT, 0, 5),
            (2, 0, Stage::VERTEX, 0, 7),
            (2, 0, Stage::FRAGMENT, 0, 7),
            (2, 1, Stage::VERTEX, 0, 7),
            (2, 1, Stage::FRAGMENT, 0, 7),
        ];
        assert_eq!(told, want);
        let (some, complete) = i.values(2);
        assert_eq!((some.as_slice(), complete), (&all[..2], false));
        i.clear();
        assert_eq!(i.len(), 9);
        assert!(i.values(9).0.iter().all(|(_, v)| *v == row(0)));
        assert_eq!(i.take_index(), 2);
    }

    #[test]
    fn stages_and_blocks_are_added_up_where_that_is_asked_for() {
        let row = |v: u64| [v; METRICS];
        let told = |told| {
            let i = Instrumentation::new(told);
            i.add(0, 0, Stage::VERTEX, &[row(1), row(20)]);
            i.add(0, 0, Stage::FRAGMENT, &[row(300)]);
            i.add(0, 1, Stage::FRAGMENT, &[row(4000)]);
            i.add(1, 0, Stage::COMPUTE, &[row(5), row(60)]);
            let (rows, all) = i.values(100);
            assert!(all && rows.len() == i.len());
            rows.iter()
                .map(|(k, v)| (k.result, k.sub, Stage::from_raw(k.stages), k.block, v[0]))
                .collect::<Vec<_>>()
        };
        let both = Stage::VERTEX | Stage::FRAGMENT;
        assert_eq!(
            told(Told { whole_shaders: true, merged_stages: false }),
            [
                (0, 0, Stage::VERTEX, 0, 21),
                (0, 0, Stage::FRAGMENT, 0, 300),
                (0, 1, Stage::FRAGMENT, 0, 4000),
                (1, 0, Stage::COMPUTE, 0, 65)
            ]
        );
        assert_eq!(
            told(Told { whole_shaders: false, merged_stages: true }),
            [
                (0, 0, both, 0, 301),
                (0, 0, both, 1, 20),
                (0, 1, Stage::FRAGMENT, 0, 4000),
                (1, 0, Stage::COMPUTE, 0, 5),
                (1, 0, Stage::COMPUTE, 1, 60)
            ]
        );
        assert_eq!(
            told(Told { whole_shaders: true, merged_stages: true }),
            [(0, 0, both, 0, 321), (0, 1, Stage::FRAGMENT, 0, 4000), (1, 0, Stage::COMPUTE, 0, 65)]
        );
    }
}
