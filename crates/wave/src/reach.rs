//! Which lines the stretches that were followed asked memory for.
//!
//! A stretch is followed with caches of its own, one of many, and speaks for the others. What all of them read, say a table, memory
//! gives once, as long as the L2 holds it; what each has for itself, as often as there are stretches. How many lines there are in all
//! is estimated from how many one stretch has had and how many two had, as ecologists count species from two catches:
//! A. Chao, "Nonparametric estimation of the number of classes in a population", 1984, in the form without bias, f₁ (f₁ − 1) / (2 (f₂ + 1))
//! that nobody saw. It is taken by images, which have no more lines than they have memory for, and otherwise by stretches of 64 KiB of
//! memory. What no two stretches have met is nothing shared: there are as many of its lines as a stretch has, times stretches.

#[path = "pages.rs"]
pub mod pages;

use crate::tally::AccessKind;

/// A list that has grown to this is made short: what is there twice first, then by halves.
const MOST: usize = 8192;
/// Lines of what is looked at as one.
const REGION: u64 = 1024;
/// Of more images than this none is told from others.
const IMAGES: usize = 1024;

/// What asks for lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asks {
    LoadStore(AccessKind),
    Texel,
}

impl Asks {
    pub const COUNT: usize = AccessKind::COUNT + 1;

    pub const fn at(self) -> usize {
        match self {
            Asks::LoadStore(kind) => kind as usize,
            Asks::Texel => AccessKind::COUNT,
        }
    }
}

/// A line's number, and what asked for it. Those of one region stand together when they are sorted.
fn key(line: u64, asks: Asks) -> u64 {
    ((line / REGION) << 12) | ((asks.at() as u64) << 10) | (line % REGION)
}

/// Whether a key is one of those that are kept: of each two, of which a hash says so, one is not.
fn kept(key: u64, thin: u32) -> bool {
    thin == 0 || key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - thin.min(63)) == 0
}

/// The lines of the stretch that is being followed.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Stretch {
    thin: u32,
    keys: Vec<u64>,
    /// Images: first line, and lines.
    images: Vec<(u64, u64)>,
}

impl Stretch {
    #[inline]
    pub fn asks(&mut self, line: u64, asks: Asks) {
        let key = key(line, asks);
        if kept(key, self.thin) {
            self.keys.push(key);
            if self.keys.len() >= MOST {
                self.shorten();
            }
        }
    }

    /// Texels are of an image of so many lines.
    pub fn samples_of(&mut self, first: u64, lines: u64) {
        if lines > 0 && self.images.len() <= IMAGES && !self.images.contains(&(first, lines)) {
            self.images.push((first, lines));
        }
    }

    fn shorten(&mut self) {
        self.keys.sort_unstable();
        self.keys.dedup();
        while self.keys.len() > MOST / 2 {
            self.thin += 1;
            self.keys.retain(|k| kept(*k, self.thin));
        }
    }
}

/// Lines by how many stretches asked for them.
#[derive(Clone, Default)]
pub struct Reach {
    /// Of so many lines, two to the power of this, one is kept. It follows from all lines, whatever the order in which they came:
    /// parts are halved no earlier than the whole would be.
    thin: u32,
    lines: Vec<(u64, u32)>,
    images: Vec<(u64, u64)>,
}

/// Alike whatever the order in which lines came.
impl PartialEq for Reach {
    fn eq(&self, o: &Reach) -> bool {
        let sorted = |r: &Reach| {
            let mut r = r.clone();
            r.shorten();
            (r.thin, r.lines, r.images)
        };
        sorted(self) == sorted(o)
    }
}
impl Eq for Reach {}

impl std::fmt::Debug for Reach {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Reach of {} lines, one of 2^{}", self.lines.len(), self.thin)
    }
}

impl Reach {
    /// A stretch has ended.
    pub fn end(&mut self, stretch: &mut Stretch) {
        let images = std::mem::take(&mut stretch.images);
        if stretch.keys.is_empty() {
            return;
        }
        stretch.shorten();
        self.has(&images);
        self.extend(stretch.thin, stretch.keys.drain(..).map(|k| (k, 1)));
        stretch.thin = 0;
    }

    pub fn add(&mut self, o: &Reach) {
        if !o.lines.is_empty() {
            self.has(&o.images);
            self.extend(o.thin, o.lines.iter().copied());
        }
    }

    fn has(&mut self, images: &[(u64, u64)]) {
        for i in images {
            if let Err(at) = self.images.binary_search(i)
                && self.images.len() <= IMAGES
            {
                self.images.insert(at, *i);
            }
        }
    }

    /// What a key is looked at with: an image of which it is, by its place, or a stretch of memory, and how many lines that has.
    fn part(&self, key: u64) -> (u64, Option<u64>, u64) {
        let (asks, region) = (key >> 10 & 3, key >> 12);
        if asks as usize == Asks::Texel.at() && self.images.len() <= IMAGES {
            let line = region * REGION + key % REGION;
            let at = self.images.partition_point(|i| i.0 <= line);
            if let Some((first, lines)) = at.checked_sub(1).map(|i| self.images[i])
                && line - first < lines
            {
                return (asks, Some(first), lines);
            }
        }
        (key >> 10, None, REGION)
    }

    fn extend(&mut self, thin: u32, more: impl Iterator<Item = (u64, u32)>) {
        if thin > self.thin {
            self.thin = thin;
            self.lines.retain(|l| kept(l.0, thin));
        }
        let thin = self.thin;
        self.lines.extend(more.filter(|l| kept(l.0, thin)));
        if self.lines.len() >= MOST {
            self.shorten();
        }
    }

    fn shorten(&mut self) {
        self.lines.sort_unstable_by_key(|l| l.0);
        self.lines.dedup_by(|next, into| {
            let same = next.0 == into.0;
            if same {
                into.1 = into.1.saturating_add(next.1);
            }
            same
        });
        while self.lines.len() > MOST / 2 {
            self.thin += 1;
            let thin = self.thin;
            self.lines.retain(|l| kept(l.0, thin));
        }
    }

    /// How many lines memory gives, by [`Asks`], where what was followed is the part `of[0]` of `of[1]`: each once as long as the L2
    /// of `l2` lines has it, and if each stretch had an L2 of its own.
    ///
    /// A line is there still when the next stretch asks for it if those between have not filled the L2: of a region, as many
    /// stretches lie between as it takes to ask for all of it.
    pub fn lines(&mut self, of: [[u64; 2]; Asks::COUNT], l2: u64) -> [Given; Asks::COUNT] {
        self.shorten();
        let mut given = [Given::default(); Asks::COUNT];
        let scale = 1u128 << self.thin.min(40);
        let l2 = l2 as u128;
        let asked: u128 = self.lines.iter().map(|l| l.1 as u128).sum();
        let mut all = 0;
        // What is not there any more if there are more lines in all than the L2 has.
        let mut lost = [0u128; Asks::COUNT];
        // Texels apart, so that the lines of an image stand together.
        let (texels, others): (Vec<_>, Vec<_>) =
            self.lines.iter().copied().partition(|l| (l.0 >> 10 & 3) as usize == Asks::Texel.at());
        let alike = |a: &(u64, u32), b: &(u64, u32)| self.part(a.0) == self.part(b.0);
        for region in texels.chunk_by(alike).chain(others.chunk_by(alike)) {
            let (_, image, most) = self.part(region[0].0);
            let asks = (region[0].0 >> 10 & 3) as usize;
            let most = (most as u128 >> self.thin.min(40)).max(1);
            let seen = region.len() as u128;
            let times = |n: u32| region.iter().filter(|l| l.1 == n).count() as u128;
            let here: u128 = region.iter().map(|l| l.1 as u128).sum();
            let (once, twice) = (times(1), times(2));
            let [followed, whole] = of[asks].map(u128::from);
            let by_whole = |n: u128| n * whole.max(followed) / followed.max(1);
            let own = by_whole(once) - once;
            let shared = once * once.saturating_sub(1) / (2 * (twice + 1));
            let unseen = match (twice, image) {
                (0, None) => own,
                (0, Some(_)) => own.min(most.saturating_sub(seen)),
                _ => own.min(shared).min(most.saturating_sub(seen)),
            };
            let lines = seen + unseen;
            let alone = by_whole(here).max(lines);
            // A stretch asks for `asked / stretches` lines, of which `here / stretches` are of this region.
            let between = asked * lines / here.max(1) * scale;
            if between > l2 {
                lost[asks] += (alone - lines) * scale;
            }
            all += lines * scale;
            given[asks].once += lines * scale;
            given[asks].alone += alone * scale;
        }
        if all > l2 {
            given.iter_mut().zip(lost).for_each(|(g, lost)| g.once += lost);
        }
        given
    }
}

/// Lines that memory gives.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Given {
    pub once: u128,
    /// To stretches that share nothing.
    pub alone: u128,
}
