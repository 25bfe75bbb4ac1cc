//! What a render pass counts, by the stretches between queries' begins and ends.

use counters::{Counts, Event};

/// The event that a bit of VkQueryPipelineStatisticFlagBits asks for; `None` for stages that there are not.
pub fn statistic(bit: u32) -> Option<Event> {
    Some(match bit {
        0 => Event::InputVertices,
        1 => Event::InputPrimitives,
        2 => Event::VertexInvocations,
        5 => Event::ClippingInvocations,
        6 => Event::ClippingPrimitives,
        7 => Event::FragmentInvocations,
        10 => Event::ComputeInvocations,
        _ => return None,
    })
}

/// Counts of a render pass, apart by the begins and ends of queries and by the timestamps in it.
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
    pub fn add_at(&mut self, epoch: usize, c: &Counts) {
        self.0[epoch].add(c);
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
