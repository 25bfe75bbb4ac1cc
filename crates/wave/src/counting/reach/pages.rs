//! Pages that stretches which were followed asked memory for, as the memory management unit sees them: each stretch asks once for
//! a page, for what its core keeps of translations is more than a stretch has; the unit keeps all.

use super::Reach;
use crate::counting::reach::Asks;
use std::ops::AddAssign;

/// Lines of a page of 4 KiB.
const PAGE: u64 = 64;
/// Pages of a section of 2 MiB.
const SECTION: u64 = 512;

/// What a workload asks the unit for.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Pages {
    /// Stretches' first needs of a page.
    pub lookups: u64,
    /// Different pages, and different sections.
    pub pages: u64,
    pub sections: u64,
}

impl AddAssign for Pages {
    fn add_assign(&mut self, o: Pages) {
        self.lookups += o.lookups;
        self.pages += o.pages;
        self.sections += o.sections;
    }
}

impl Reach {
    /// Of all stretches, where what was followed is the part `of[0]` of `of[1]`, by [`Asks`].
    ///
    /// As many stretches have had a page as have had that of its lines that most have. Pages of which all that were met were one
    /// stretch's are that stretch's, and others have as many; pages that several met are all that there are. Where not all lines were
    /// kept, there are no fewer pages than all lines fill.
    pub fn pages(&mut self, of: [[u64; 2]; Asks::COUNT]) -> Pages {
        self.shorten();
        let mut all = Pages::default();
        let mut last = None;
        let place =
            |key: u64| ((key >> 12) * (super::REGION / PAGE) + key % super::REGION / PAGE, key >> 10 & 3);
        let mut met = [[Met::default(); 2]; Asks::COUNT];
        for page in self.lines.chunk_by(|a, b| place(a.0) == place(b.0)) {
            let (number, asks) = place(page[0].0);
            let stretches = page.iter().map(|l| l.1 as u64).max().unwrap_or(0);
            let m = &mut met[asks as usize][(stretches > 1) as usize];
            m.stretches += stretches;
            m.pages += 1;
            m.lines += page.len() as u64;
            m.asked += page.iter().map(|l| l.1 as u64).sum::<u64>();
            let section = number / SECTION;
            all.sections += (last.replace(section) != Some(section)) as u64;
        }
        let filled =
            |lines: u64| if self.thin == 0 { 0 } else { (lines << self.thin.min(20)).div_ceil(PAGE) };
        for (met, [followed, whole]) in met.into_iter().zip(of) {
            let whole = |n: u64| {
                (n as u128 * whole.max(followed) as u128 / followed.max(1) as u128).min(u64::MAX as u128)
                    as u64
            };
            let [own, shared] = met.map(|m| m.pages.max(filled(m.lines)));
            let stretches: u64 = met.iter().map(|m| m.stretches.max(filled(m.asked))).sum();
            let pages = whole(own) + shared;
            all.lookups += whole(stretches).max(pages);
            all.pages += pages;
        }
        all.sections = all.sections.max(all.pages.div_ceil(SECTION)).min(all.pages);
        all
    }
}

/// Pages that one stretch had alone, or that several had.
#[derive(Clone, Copy, Default)]
struct Met {
    /// Stretches that had each, summed.
    stretches: u64,
    pages: u64,
    /// Lines of them that were met, and how often.
    lines: u64,
    asked: u64,
}
