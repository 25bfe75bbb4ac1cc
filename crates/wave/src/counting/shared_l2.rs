//! One L2 for all of a workload's stretches: those that were followed had one each ([`crate::counting::cache`]), and what several of them asked
//! memory for, it gives once as long as it stays there ([`crate::counting::reach`]).

use crate::counting::cache::{Trace, Traced};
use crate::counting::held::Held;
use crate::counting::reach::{Asked, Asks};
use crate::counting::tally::{Access, AccessKind, Tex, Usage};

/// Of a line, in what was traced once it is known what stretches share.
const PARTS: u64 = 1 << 12;

type ByAsks<T> = [T; Asks::COUNT];

/// What memory is asked for: by loads lines that the L2 lacks, by stores and atomics lines that become dirty there.
const ASKED: ByAsks<Traced> = {
    let mut asked = [Traced::Far; Asks::COUNT];
    asked[AccessKind::Atomic as usize] = Traced::Missed;
    asked
};

/// One of the L2s that stretches went through: the modelled one, or one of another size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct L2 {
    /// Lines that it holds.
    pub lines: u64,
    /// Which of [`crate::cache::Sizes::others`] it is; `None`: the modelled one.
    pub other: Option<usize>,
}

impl Usage {
    /// What there is of it in this L2, as if it were the modelled one.
    pub fn in_l2(&self, l2: L2) -> Usage {
        let (traced, texels, reach) = match l2.other.and_then(|n| self.others.get(n)) {
            None => (self.traced, self.texels, self.reach.clone()),
            Some(o) => (o.traced, o.texels, o.reach.clone()),
        };
        let Usage {
            ran,
            single,
            lines,
            unknown,
            sampled,
            sampled_lines,
            texture,
            rays,
            atomic_lines,
            pages,
            ..
        } = *self;
        Usage {
            ran,
            halves: self.halves.clone(),
            single,
            lines,
            unknown,
            sampled,
            sampled_lines,
            texture,
            rays,
            traced,
            texels,
            atomic_lines,
            reach,
            others: vec![],
            pages,
        }
    }

    /// The same, but all of it leaves if it is the modelled L2.
    pub fn take_in_l2(&mut self, l2: L2) -> Usage {
        if l2.other.is_none() { std::mem::take(self) } else { self.in_l2(l2) }
    }

    /// Accesses, by [`Asks`]: those that were followed, and all.
    fn followed(&self) -> ByAsks<[u64; 2]> {
        let lines = self.all_lines();
        let reads = lines[Access::ReadFull] + lines[Access::ReadPartial];
        let writes = lines[Access::WriteFull] + lines[Access::WritePartial];
        let mut of = [[0; 2]; Asks::COUNT];
        for ((of, all), t) in of.iter_mut().zip([reads, writes, lines[Access::Atomic]]).zip(&self.traced) {
            *of = [t[Traced::Lookups], all];
        }
        of[Asks::Texel.at()] = [self.texels.messages, self.texture[Tex::Messages]];
        of
    }

    fn traces(&mut self) -> ByAsks<&mut Trace> {
        let [a, b, c] = &mut self.traced;
        [a, b, c, &mut self.texels.lines]
    }

    /// What all accesses would ask memory for, by what those that were followed did.
    fn asked(&mut self) -> ByAsks<u128> {
        let of = self.followed();
        let traces = self.traces();
        std::array::from_fn(|i| {
            let [followed, whole] = of[i].map(u128::from);
            traces[i][ASKED[i]] as u128 * whole / followed.max(1)
        })
    }

    /// Of what they ask for, so many of so many.
    fn ask_less(&mut self, part: ByAsks<[u128; 2]>) {
        for ((t, asked), [n, of]) in self.traces().into_iter().zip(ASKED).zip(part) {
            if n < of {
                let less = |v: u64| (v as u128 * n).div_ceil(of) as u64;
                t[Traced::Far] = less(t[Traced::Far]);
                if asked != Traced::Far {
                    t[asked] = less(t[asked]);
                }
            }
        }
    }

    /// In parts small enough to tell a line of many.
    fn in_parts(&mut self) {
        for t in self.traces() {
            t.0.iter_mut().for_each(|n| *n = n.saturating_mul(PARTS));
        }
        self.texels.messages = self.texels.messages.saturating_mul(PARTS);
    }

    /// As if all stretches of it had one L2 of so many lines, empty at first. What it asks memory for.
    fn share(&mut self, l2: u64) -> Asked {
        let mut reach = std::mem::take(&mut self.reach);
        self.pages += reach.pages(self.followed());
        let asked = reach.lines(self.followed(), l2);
        self.atomic_lines =
            asked.given[Asks::LoadStore(AccessKind::Atomic).at()].once.min(u64::MAX as u128) as u64;
        self.in_parts();
        self.keep_l1(&asked);
        let alone = self.asked();
        let part = std::array::from_fn(|i| {
            // What a stretch asks for again itself, it asks for in any case.
            let again = alone[i].saturating_sub(asked.given[i].alone);
            [asked.given[i].once + again, alone[i]]
        });
        self.ask_less(part);
        asked
    }

    /// A core's L1 outlives stretches: what all of them ask for, if it has room for that, each core reads once. Each stretch that was followed
    /// began with an empty one.
    fn keep_l1(&mut self, asked: &Asked) {
        let m = counters::model::current();
        let followed = self.followed();
        for (of, kib) in
            [(Asks::LoadStore(AccessKind::Read), m.core.l1_kib), (Asks::Texel, m.core.texture_l1_kib)]
        {
            let once = asked.given[of.at()].once;
            if once == 0 || once > (kib << 4) as u128 {
                continue;
            }
            let [part, whole] = followed[of.at()].map(u128::from);
            let trace = &mut self.traces()[of.at()][Traced::Missed];
            // In parts of a line, as what was followed is.
            let missed = *trace as u128 * whole / part.max(1);
            let wanted = once * m.cores as u128 * PARTS as u128;
            if wanted < missed {
                *trace = (*trace as u128 * wanted).div_ceil(missed) as u64;
            }
        }
    }

    /// As if all stretches of it had one L2 of so many lines, which holds what it has of workloads before.
    pub fn share_l2(&mut self, l2: u64, held: &mut Held) {
        let asked = self.share(l2);
        self.have(&asked, l2, held);
    }

    /// The same for what asks again for what a workload has just asked for: an L2 that holds as much has it.
    pub fn find_in_l2(&mut self, l2: u64) {
        let asked = self.share(l2);
        if asked.lines <= l2 {
            self.ask_less([[0, 1]; Asks::COUNT]);
        }
    }

    /// What the L2 has, memory need not give.
    fn have(&mut self, asked: &Asked, l2: u64, held: &mut Held) {
        if asked.lines == 0 {
            return;
        }
        let hits = held.ask(asked, l2);
        let all = self.asked();
        let part = std::array::from_fn(|i| [all[i].saturating_sub(hits[i] as u128), all[i]]);
        self.ask_less(part);
    }

    /// As if all stretches of all of them, which ran side by side, had one L2 of so many lines. Of kinds of accesses of which nothing
    /// was followed in one: as those of the others were.
    pub fn share_l2_between(all: &mut [&mut Usage], l2: u64, held: &mut Held) {
        let mut whole = Usage::default();
        all.iter().for_each(|u| whole.add(u));
        let asked = whole.share(l2);
        whole.have(&asked, l2, held);
        let (together, of, pages) = (whole.asked(), whole.followed(), whole.pages);
        let mut each = [0; Asks::COUNT];
        for u in all.iter_mut() {
            u.share(l2);
            let (own, asked) = (u.followed(), u.asked());
            for i in 0..Asks::COUNT {
                each[i] += match own[i] {
                    [0, all] => together[i] * all as u128 / of[i][1].max(1) as u128,
                    _ => asked[i],
                };
            }
        }
        let part = std::array::from_fn(|i| [together[i], each[i]]);
        for u in all.iter_mut().map(|u| &mut **u).chain([&mut whole]) {
            u.ask_less(part);
        }
        all.iter_mut().for_each(|u| u.fare_as(&whole));
        // A page that several have is read for the first.
        let mut left = pages;
        for u in all.iter_mut() {
            u.pages.pages = u.pages.pages.min(left.pages);
            u.pages.sections = u.pages.sections.min(left.sections).min(u.pages.pages);
            left.pages -= u.pages.pages;
            left.sections -= u.pages.sections;
        }
    }
}
