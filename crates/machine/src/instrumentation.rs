//! Shader instrumentation objects (VK_ARM_shader_instrumentation): what each basic block of instrumented shaders cost.

use ash::vk;
use counters::model::{Core, WARP};
use parking_lot::Mutex;
use shader::bytecode::Program;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use wave::{BlockRow, Usage, Worker};

/// Values of a block, in the order of [`METRIC`].
pub const METRICS: usize = 11;

/// Name and description of each metric. All are sums over the warps (16 threads) that ran the block. Cycles are those that a
/// unit of one shader core is busy at the rates of the model, rounded up once a draw or dispatch: the greatest tells what
/// binds the block.
pub static METRIC: [(&str, &str); METRICS] = [
    ("Executed warps", "Warps that ran the block with at least one thread, each time they ran it"),
    ("Executed threads", "Threads that ran the block, each time they ran it; helper invocations left out"),
    ("Diverged warps", "Executed warps in which fewer threads ran the block than the warp began with"),
    (
        "Arithmetic cycles",
        "Cycles of a core that the block's arithmetic takes, by the issue rule of its pipes",
    ),
    ("FMA cycles", "Of these, what the FMA pipe alone takes (add, multiply)"),
    ("CVT cycles", "Of these, what the CVT pipe alone takes (convert, compare, integer, logic)"),
    ("SFU cycles", "Of these, what the SFU pipe alone takes (reciprocal, root, logarithm, sine)"),
    (
        "Load/store cycles",
        "Cycles of a core's load/store unit, an issue for each cache line of a warp's access",
    ),
    ("Texture cycles", "Cycles of a core's texture unit, for the bilinear operations of the block's samples"),
    (
        "Varying cycles",
        "Cycles of a core's varying unit, for each component, or two of 16 bits; at the block that loads an input first",
    ),
    (
        "Cache lines",
        "Cache lines of 64 bytes that the block's loads, stores and atomics touched, warp by warp",
    ),
];

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
    rows: Mutex<BTreeMap<Key, [u64; METRICS]>>,
    next: AtomicU32,
}

/// What a recorded draw or dispatch writes to: an object and the result index it took.
pub type Active = (std::sync::Arc<Instrumentation>, u32);

impl Instrumentation {
    pub fn new() -> Instrumentation {
        Instrumentation::default()
    }

    /// The result index of a draw or dispatch that is recorded now.
    pub fn take_index(&self) -> u32 {
        self.next.fetch_add(1, Relaxed)
    }

    /// Adds a stage's metrics: `rows[i]` are those of block `i`.
    pub fn add(&self, result: u32, sub: u32, stage: vk::ShaderStageFlags, rows: &[[u64; METRICS]]) {
        let mut all = self.rows.lock();
        for (block, row) in rows.iter().enumerate() {
            let key = Key { result, sub, stages: stage.as_raw(), block: block as u32 };
            let sum = all.entry(key).or_insert([0; METRICS]);
            sum.iter_mut().zip(row).for_each(|(s, v)| *s = s.wrapping_add(*v));
        }
    }

    /// Sets all values to zero. The blocks stay (the specification clears values, not blocks), as does the index.
    pub fn clear(&self) {
        self.rows.lock().values_mut().for_each(|row| *row = [0; METRICS]);
    }

    /// Blocks there are.
    pub fn len(&self) -> usize {
        self.rows.lock().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first `most` blocks in their order, and whether those are all.
    pub fn values(&self, most: usize) -> (Vec<(Key, [u64; METRICS])>, bool) {
        let all = self.rows.lock();
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
        let i = Instrumentation::new();
        assert_eq!([i.take_index(), i.take_index()], [0, 1]);
        let row = |v: u64| [v; METRICS];
        i.add(1, 0, Stage::FRAGMENT, &[row(5)]);
        i.add(1, 0, Stage::VERTEX, &[row(3), row(0)]);
        i.add(0, 2, Stage::COMPUTE, &[row(1)]);
        i.add(0, 1, Stage::COMPUTE, &[row(2)]);
        i.add(0, 1, Stage::COMPUTE, &[row(40)]);
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
        ];
        assert_eq!(told, want);
        let (some, complete) = i.values(2);
        assert_eq!((some.as_slice(), complete), (&all[..2], false));
        i.clear();
        assert_eq!(i.len(), 5);
        assert!(i.values(9).0.iter().all(|(_, v)| *v == row(0)));
        assert_eq!(i.take_index(), 2);
    }
}
