//! What a render pass counts, by the stretches between queries' begins and ends.

use ash::vk;
use counters::{Counts, Event};

/// What each bit of VkQueryPipelineStatisticFlagBits counts.
const STATISTICS: [Option<Event>; 13] = [
    Some(Event::InputVertices),
    Some(Event::InputPrimitives),
    Some(Event::VertexInvocations),
    Some(Event::GeometryInvocations),
    Some(Event::GeometryPrimitives),
    Some(Event::ClippingInvocations),
    Some(Event::ClippingPrimitives),
    Some(Event::FragmentInvocations),
    Some(Event::ControlPatches),
    Some(Event::EvaluationInvocations),
    Some(Event::ComputeInvocations),
    Some(Event::TaskInvocations),
    Some(Event::MeshInvocations),
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
        self.0[epoch] += s;
    }
    /// Of each.
    pub fn each(&self) -> &[Counts] {
        &self.0
    }
    /// All of them together.
    pub fn all(&self) -> Counts {
        let mut all = Counts::default();
        self.0.iter().for_each(|c| all += c);
        all
    }
    /// Of an ended pass: sums up to each epoch.
    pub fn sums(&self) -> Sums {
        let mut sum = Counts::default();
        let mut sums = vec![sum];
        for c in &self.0 {
            sum += c;
            sums.push(sum);
        }
        Sums(sums)
    }
}

/// What a render pass has counted before each of its epochs, and in all.
pub struct Sums(Vec<Counts>);

impl Sums {
    /// Everything before epoch `n`.
    pub fn before(&self, n: usize) -> &Counts {
        &self.0[n]
    }
    pub fn all(&self) -> &Counts {
        &self.0[self.0.len() - 1]
    }
}
