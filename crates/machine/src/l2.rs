//! The device's L2; and for a capture L2s of other sizes, which go through the same, so that it tells what a program would take with them.

use counters::model::{self, LINE};
use counters::{Counts, Curve, work};
use std::ops::Range;
use std::sync::LazyLock;
use wave::L2;
use wave::cache::Sizes;
use wave::held::Held;

/// L2s of other sizes: none unless this process is captured. If everything goes through the caches, there is only one L2.
struct Others {
    kib: Vec<u64>,
    /// [`Sizes::others`].
    sets: Vec<u32>,
    l2s: Vec<L2>,
}

static OTHERS: LazyLock<Others> = LazyLock::new(|| {
    let s = settings::get();
    let captured = s.capture.is_some() && s.trace != Some(settings::Trace::All);
    let kib = if captured { work::other_l2s(model::current()) } else { vec![] };
    let sets = kib.iter().map(|kib| Sizes::of_kib(0, 0, *kib as u32).l2).collect();
    let places = kib.iter().enumerate();
    let l2s = places.map(|(n, kib)| L2 { lines: lines_of(*kib), other: Some(n) }).collect();
    Others { kib, sets, l2s }
});

/// Sizes of the other L2s.
pub fn others_kib() -> &'static [u64] {
    &OTHERS.kib
}

/// The same, in sets.
pub fn others_sets() -> &'static [u32] {
    &OTHERS.sets
}

pub fn others() -> &'static [L2] {
    &OTHERS.l2s
}

/// The modelled one.
pub fn modelled() -> L2 {
    L2 { lines: lines_of(model::current().memory.l2_kib), other: None }
}

fn lines_of(kib: u64) -> u64 {
    (kib << 10) / LINE
}

/// What they hold.
#[derive(Default)]
pub struct L2s {
    modelled: Held,
    others: Vec<Held>,
}

impl L2s {
    /// Does the same with each of them: what comes of it with the modelled one, which is the last, and with the others.
    pub fn each<T>(&mut self, mut of: impl FnMut(L2, &mut Held) -> T) -> (T, Vec<T>) {
        self.others.resize_with(others().len(), Held::default);
        let with_others = others().iter().zip(&mut self.others).map(|(l2, held)| of(*l2, held)).collect();
        (of(modelled(), &mut self.modelled), with_others)
    }

    /// Counts something with each of them.
    pub fn count(&mut self, of: impl FnMut(L2, &mut Held) -> Counts) -> (Counts, Curve) {
        let (counts, others) = self.each(of);
        let curve = Curve::of(&counts, &others);
        (counts, curve)
    }

    /// So many lines, which nobody will ask for again, come and go.
    pub fn stream(&mut self, lines: u64) {
        self.each(|l2, held| held.stream(lines, l2.lines));
    }

    /// Writes what is dirty: how many lines.
    pub fn clean(&mut self) -> u64 {
        self.each(|_, held| held.clean()).0
    }

    /// How often they were cleaned.
    pub fn cleanings(&self) -> u64 {
        self.modelled.cleanings()
    }

    /// They have nothing of these lines of memory.
    pub fn forget_memory(&mut self, lines: Range<u64>) {
        self.each(|_, held| held.forget_memory(lines.clone()));
    }
}
