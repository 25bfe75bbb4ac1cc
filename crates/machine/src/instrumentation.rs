//! Shader instrumentation objects (VK_ARM_shader_instrumentation): what each basic block of instrumented shaders cost.

use ash::vk;
use parking_lot::Mutex;
use shader::bytecode::Program;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use wave::{BlockRow, Usage, Worker};

/// Values of a block, in the order of [`METRIC`].
pub const METRICS: usize = 10;

/// Name and description of each metric. All are sums over the warps (16 threads) that ran the block.
pub static METRIC: [(&str, &str); METRICS] = [
    ("Executed warps", "Warps that ran the block with at least one thread, each time they ran it"),
    ("Executed threads", "Threads that ran the block, each time they ran it; helper invocations left out"),
    ("Diverged warps", "Executed warps in which fewer threads ran the block than the warp began with"),
    ("FMA cycles", "Cycles of the block's instructions in the FMA pipe (add, multiply, compare)"),
    ("CVT cycles", "Cycles of the block's instructions in the CVT pipe (convert, integer, logic)"),
    ("SFU cycles", "Cycles of the block's instructions in the SFU pipe (reciprocal, root, logarithm, sine)"),
    (
        "Load/store cycles",
        "Cycles of the block's instructions in the load/store unit, one for each cache line",
    ),
    ("Texture cycles", "Cycles of the block's instructions in the texture unit"),
    (
        "Varying cycles",
        "Cycles of the varying unit, one for each component; at the block that loads an input first",
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

    /// Adds it all to the object, if there is one.
    pub fn add_to(&self, active: Option<&Active>, sub: u32, stage: vk::ShaderStageFlags) {
        let mut rows = std::mem::take(&mut *self.0.lock());
        rows.iter_mut().for_each(wave::tally::finish);
        if let Some((object, result)) = active {
            object.add(*result, sub, stage, &rows);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk::ShaderStageFlags as Stage;

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
