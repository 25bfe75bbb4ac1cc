//! What queries count: pipeline statistics and samples passed, by the stretches between queries' begins and ends.

use super::tile::item::Item;
use ash::vk;
use std::sync::atomic::Ordering::Relaxed;

/// Counters by bit number of VkQueryPipelineStatisticFlagBits; the last is samples passed.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Statistics(pub [u64; Statistics::COUNT]);

impl Statistics {
    const COUNT: usize = 16;
    pub const SAMPLES: usize = 15;
    const FRAGMENTS: usize = 7;
    pub const COMPUTE: usize = 10;

    pub fn geometry(g: &super::geometry::Statistics) -> Statistics {
        let mut s = Statistics::default();
        s.0[0] = g.input_vertices;
        s.0[1] = g.input_primitives;
        s.0[2] = g.vertex_invocations;
        s.0[5] = g.clipping_invocations;
        s.0[6] = g.clipping_primitives;
        s
    }
    pub fn fragments(i: &Item) -> Statistics {
        let mut s = Statistics::default();
        s.0[Self::FRAGMENTS] = i.invocations.load(Relaxed);
        s.0[Self::SAMPLES] = i.passed.load(Relaxed);
        s
    }
    pub fn add(&mut self, o: &Statistics) {
        self.0.iter_mut().zip(&o.0).for_each(|(a, b)| *a += b);
    }
    /// What has been counted since `began`.
    pub fn since(&self, began: &Statistics) -> Statistics {
        Statistics(std::array::from_fn(|i| self.0[i].wrapping_sub(began.0[i])))
    }
    /// The words of a query's result, in the order of the bits asked for.
    pub fn words(&self, kind: vk::QueryType, bits: vk::QueryPipelineStatisticFlags) -> Vec<u64> {
        match kind {
            vk::QueryType::OCCLUSION => vec![self.0[Self::SAMPLES]],
            vk::QueryType::PIPELINE_STATISTICS => {
                (0..Self::SAMPLES).filter(|b| bits.as_raw() >> b & 1 != 0).map(|b| self.0[b]).collect()
            }
            _ => vec![0],
        }
    }
}

/// Counts of a render pass, apart by the begins and ends of queries in it.
pub struct Epochs(Vec<Statistics>);

impl Default for Epochs {
    fn default() -> Self {
        Epochs(vec![Statistics::default()])
    }
}

impl Epochs {
    pub fn now(&self) -> usize {
        self.0.len() - 1
    }
    /// A query begins or ends: what follows is counted apart. The new epoch's number.
    pub fn advance(&mut self) -> usize {
        self.0.push(Statistics::default());
        self.now()
    }
    pub fn add(&mut self, s: &Statistics) {
        let now = self.now();
        self.0[now].add(s);
    }
    pub fn add_at(&mut self, epoch: usize, s: &Statistics) {
        self.0[epoch].add(s);
    }
    /// Everything before epoch `n`.
    pub fn before(&self, n: usize) -> Statistics {
        self.0[..n].iter().fold(Statistics::default(), |mut a, s| {
            a.add(s);
            a
        })
    }
    pub fn all(&self) -> Statistics {
        self.before(self.0.len())
    }
}
