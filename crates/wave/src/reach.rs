//! Which lines the stretches that were followed asked memory for.
//!
//! A stretch is followed with caches of its own, one of many, and speaks for the others. What all of them read, say a table, memory
//! gives once, as long as the L2 holds it; what each has for itself, as often as there are stretches. How many lines there are in all
//! is estimated from how many one stretch has had and how many two had, as ecologists count species from two catches:
//! A. Chao, "Nonparametric estimation of the number of classes in a population", 1984, in the form without bias, f₁ (f₁ − 1) / (2 (f₂ + 1))
//! that nobody saw. It is taken by images, which have no more lines than they have memory for, and otherwise by stretches of 64 KiB of
//! memory. What no two stretches have met is nothing shared: there are as many of its lines as a stretch has, times stretches.

use crate::tally::AccessKind;

/// A list that has grown to this is made short: what is there twice first, then by halves.
const MOST: usize = 8192;
/// Lines of what is looked at as one.
pub const REGION: u64 = 1024;
const WORDS: usize = REGION as usize / 64;
/// Lines from here on are no device memory's, and lie elsewhere each time.
pub const BEYOND: u64 = 1 << 50;
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
    pub fn lines(&mut self, of: [[u64; 2]; Asks::COUNT], l2: u64) -> Asked {
        self.shorten();
        let mut given = [Given::default(); Asks::COUNT];
        let mut located = vec![];
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
            let (_, image, most_lines) = self.part(region[0].0);
            let asks = (region[0].0 >> 10 & 3) as usize;
            let most = (most_lines as u128 >> self.thin.min(40)).max(1);
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
            let within = image.map(|first| (first / REGION, (first + most_lines).div_ceil(REGION)));
            locate(&mut located, asks, region, lines * scale, within.unwrap_or((0, u64::MAX)));
        }
        if all > l2 {
            given.iter_mut().zip(lost).for_each(|(g, lost)| g.once += lost);
        }
        located.sort_by_key(|l: &Located| (l.asks, l.within, l.region));
        Asked { given, lines: all.min(u64::MAX as u128) as u64, located }
    }
}

/// Adds where lines of one part lie: in the stretches of 64 KiB in which some were met, by how many those were. `within`: of an
/// image.
fn locate(all: &mut Vec<Located>, asks: usize, met: &[(u64, u32)], lines: u128, within: (u64, u64)) {
    for of in met.chunk_by(|a, b| a.0 >> 12 == b.0 >> 12) {
        let lines = (lines * of.len() as u128 / met.len() as u128).min(u64::MAX as u128) as u64;
        let lines = lines.max(of.len() as u64);
        let mut known = [0; WORDS];
        of.iter().map(|l| l.0 % REGION).for_each(|l| known[l as usize / 64] |= 1 << (l % 64));
        all.push(Located { region: of[0].0 >> 12, asks, lines, within, known: Some(known) });
    }
}

/// Lines of a stretch of 64 KiB of memory that something asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    pub region: u64,
    /// [`Asks::at`].
    pub asks: usize,
    /// More than there can be are neighbours'.
    pub lines: u64,
    /// Neighbours are these, up to the second.
    within: (u64, u64),
    known: Option<[u64; WORDS]>,
}

impl Located {
    /// Those that were met.
    pub fn known(&self) -> [u64; WORDS] {
        self.known.unwrap_or_default()
    }
}

/// What a workload asks memory for.
#[derive(Clone, Default, Debug)]
pub struct Asked {
    pub given: [Given; Asks::COUNT],
    /// How many lines these are.
    pub lines: u64,
    /// Where, by [`Asks`], image and address.
    located: Vec<Located>,
}

impl Asked {
    /// Where they are: what more there is of a stretch than it can have lies beside it, half of it before and the rest behind.
    pub fn located(&self) -> Vec<Located> {
        let mut all = Vec::with_capacity(self.located.len());
        let full = |region, of: &Located| Located { region, lines: REGION, known: None, ..of.clone() };
        for of in self.located.chunk_by(|a, b| a.asks == b.asks && a.within == b.within) {
            let (begin, until) = of[0].within;
            let (mut free, first) = (begin, all.len());
            let mut behind = 0u64;
            for (i, l) in of.iter().enumerate() {
                let here = l.lines.saturating_add(behind);
                let mut more = here.saturating_sub(REGION);
                let before = l.region.saturating_sub(free).min(more.div_ceil(2 * REGION));
                all.extend((l.region - before..l.region).map(|r| full(r, l)));
                more = more.saturating_sub(before * REGION);
                all.push(Located { lines: here.min(REGION), ..l.clone() });
                free = l.region + 1;
                let end = of.get(i + 1).map_or(until, |next| next.region);
                let after = end.saturating_sub(free).min(more.div_ceil(REGION));
                all.extend((free..free + after).map(|r| full(r, l)));
                free += after;
                behind = more.saturating_sub(after * REGION);
            }
            // What an image has no room for behind lies in what is left before.
            let mut taken = all[first..].iter().map(|l: &Located| l.region).collect::<Vec<_>>().into_iter().peekable();
            for r in begin..if behind > 0 { free.min(until) } else { begin } {
                if taken.next_if_eq(&r).is_none() && behind > 0 {
                    all.push(full(r, &of[0]));
                    behind = behind.saturating_sub(REGION);
                }
            }
        }
        // What lies elsewhere each time is nowhere.
        all.retain(|l: &Located| l.region < BEYOND / REGION);
        all
    }
}

/// Lines that memory gives.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Given {
    pub once: u128,
    /// To stretches that share nothing.
    pub alone: u128,
}
