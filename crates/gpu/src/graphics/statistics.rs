//! What a render pass counts, by the stretches between queries' begins and ends.

use ash::vk;
use counters::{Counts, Event};

/// What each bit of VkQueryPipelineStatisticFlagBits counts; those of stages the device lacks count nothing.
const STATISTICS: [Option<Event>; 11] = [
    Some(Event::InputVertices),
    Some(Event::InputPrimitives),
    Some(Event::VertexInvocations),
    None,
    None,
    Some(Event::ClippingInvocations),
    Some(Event::ClippingPrimitives),
    Some(Event::FragmentInvocations),
    None,
    None,
    Some(Event::ComputeInvocations),
];

/// The values of a pipeline statistics query, in the order of the bits asked for.
pub fn words(c: &Counts, bits: vk::QueryPipelineStatisticFlags) -> Vec<u64> {
    let set = |b: &usize| bits.as_raw() >> b & 1 != 0;
    (0..32).filter(set).map(|b| STATISTICS.get(b).copied().flatten().map_or(0, |e| c[e])).collect()
}

/// Counts of a render pass, apart by the begins and ends of queries in it.
pub struct Epochs(Vec<Counts>);

impl Default for Epochs {
    fn default() -> Self {
        Epochs(vec![Counts::default()])
    }
}

impl Epochs {
    pub fn now(&self) -> usize {
        self.0.len() - 1
    }
    /// A query begins or ends: what follows is counted apart. The new epoch's number.
    pub fn advance(&mut self) -> usize {
        self.0.push(Counts::default());
        self.now()
    }
    /// The counts of what happens now.
    pub fn current(&mut self) -> &mut Counts {
        let now = self.now();
        &mut self.0[now]
    }
    pub fn add_at(&mut self, epoch: usize, s: &Counts) {
        self.0[epoch].add(s);
    }
    /// Everything before epoch `n`.
    pub fn before(&self, n: usize) -> Counts {
        self.0[..n].iter().fold(Counts::default(), |mut a, s| {
            a.add(s);
            a
        })
    }
    pub fn all(&self) -> Counts {
        self.before(self.0.len())
    }
}
