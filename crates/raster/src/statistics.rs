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

/// The views of a pass, of those that any of its subpasses has; a pass of layers is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Views(u32);

impl Views {
    /// `mask`: a bit each; 0: a pass of layers.
    pub fn new(mask: u32) -> Views {
        Views(mask)
    }
    pub fn count(self) -> usize {
        (self.0.count_ones() as usize).max(1)
    }
    /// The index of view `view`; all layers of a pass without views are one.
    pub fn place(self, view: u32) -> usize {
        let before = 1u32.checked_shl(view).unwrap_or(0).wrapping_sub(1);
        (self.0 & before).count_ones() as usize
    }
}

/// Counts of a render pass, apart by the begins and ends of queries in it, and by views: a *cell* for each view of each epoch, those
/// of an epoch one after the other.
pub struct Epochs {
    cells: Vec<Counts>,
    views: Views,
}

impl Epochs {
    pub fn new(views: Views) -> Epochs {
        Epochs { cells: vec![Counts::default(); views.count()], views }
    }
    pub fn views(&self) -> Views {
        self.views
    }
    pub fn now(&self) -> usize {
        self.cells.len() / self.views.count() - 1
    }
    /// A query begins or ends: what follows is counted apart. The new epoch's number.
    pub fn advance(&mut self) -> usize {
        self.cells.resize(self.cells.len() + self.views.count(), Counts::default());
        self.now()
    }
    /// The cell of what happens now in this view.
    pub fn cell(&self, view: u32) -> usize {
        self.now() * self.views.count() + self.views.place(view)
    }
    /// The counts of what happens now and is no view's: they are told with the first one's.
    pub fn current(&mut self) -> &mut Counts {
        let at = self.now() * self.views.count();
        &mut self.cells[at]
    }
    /// A cell's counts.
    pub fn at(&mut self, cell: usize) -> &mut Counts {
        &mut self.cells[cell]
    }
    pub fn add_at(&mut self, cell: usize, s: &Counts) {
        self.cells[cell] += s;
    }
    /// Of each cell.
    pub fn each(&self) -> &[Counts] {
        &self.cells
    }
    /// All of them together.
    pub fn all(&self) -> Counts {
        let mut all = Counts::default();
        self.cells.iter().for_each(|c| all += c);
        all
    }
    /// Of an ended pass: sums up to each epoch.
    pub fn sums(&self) -> Sums {
        let mut sums = vec![vec![Counts::default(); self.views.count()]];
        for epoch in self.cells.chunks(self.views.count()) {
            let mut sum = sums[sums.len() - 1].clone();
            sum.iter_mut().zip(epoch).for_each(|(s, c)| *s += c);
            sums.push(sum);
        }
        Sums { sums, views: self.views }
    }
}

/// What a render pass has counted before each of its epochs, and in all.
pub struct Sums {
    /// By epoch, then by view.
    sums: Vec<Vec<Counts>>,
    views: Views,
}

impl Sums {
    /// Everything before epoch `n`.
    pub fn before(&self, n: usize) -> Counts {
        let mut all = Counts::default();
        self.sums[n].iter().for_each(|c| all += c);
        all
    }
    /// What this view has of it.
    pub fn before_of(&self, n: usize, view: u32) -> &Counts {
        &self.sums[n][self.views.place(view)]
    }
    pub fn all(&self) -> Counts {
        self.before(self.sums.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_have_places_in_the_order_of_their_bits() {
        let v = Views::new(0b1010_0001);
        assert_eq!((v.count(), [0, 5, 7, 31].map(|i| v.place(i))), (3, [0, 1, 2, 3]));
        assert_eq!((Views::new(0).count(), Views::new(0).place(9)), (1, 0));
    }

    #[test]
    fn sums_are_told_by_epoch_and_view() {
        let mut e = Epochs::new(Views::new(0b101));
        let one = |n| {
            let mut c = Counts::default();
            c[Event::SamplesPassed] = n;
            c
        };
        e.add_at(e.cell(2), &one(7));
        assert_eq!(e.advance(), 1);
        e.add_at(e.cell(0), &one(20));
        e.add_at(e.cell(2), &one(300));
        *e.current() += &one(4000);
        let s = e.sums();
        let of = |c: &Counts| c[Event::SamplesPassed];
        assert_eq!([0, 1, 2].map(|n| of(&s.before(n))), [0, 7, 4327]);
        assert_eq!([0, 1, 2].map(|n| of(s.before_of(n, 0))), [0, 0, 4020]);
        assert_eq!([0, 1, 2].map(|n| of(s.before_of(n, 2))), [0, 7, 307]);
        assert_eq!(of(&s.all()), of(&e.all()));
    }
}
