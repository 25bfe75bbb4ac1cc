//! Which lines the stretches that were followed asked memory for.
//!
//! A stretch is followed with caches of its own, one of many, and speaks for the others. What all of them read, say a table, memory
//! gives once, as long as the L2 holds it; what each has for itself, as often as there are stretches. How many lines there are in all
//! is estimated from how many one stretch has had and how many two had, as ecologists count species from two catches:
//! A. Chao, "Nonparametric estimation of the number of classes in a population", 1984, in the form without bias, f₁ (f₁ − 1) / (2 (f₂ + 1))
//! that nobody saw. It is taken by images, which have no more lines than they have memory for, and otherwise by stretches of 64 KiB of
//! memory. What no two stretches have met is nothing shared: there are as many of its lines as a stretch has, times stretches.

pub mod pages;

use crate::counting::tally::AccessKind;
use std::ops::Range;

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
    /// Images, and buffers: first line, and lines.
    images: Vec<(u64, u64)>,
    buffers: Vec<(u64, u64)>,
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

    /// Accesses are to a buffer of so many lines.
    pub fn accesses_of(&mut self, first: u64, lines: u64) {
        if lines > 0 && self.buffers.len() <= IMAGES && !self.buffers.contains(&(first, lines)) {
            self.buffers.push((first, lines));
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
    buffers: Vec<(u64, u64)>,
}

/// Alike whatever the order in which lines came.
impl PartialEq for Reach {
    fn eq(&self, o: &Reach) -> bool {
        let sorted = |r: &Reach| {
            let mut r = r.clone();
            r.shorten();
            (r.thin, r.lines, r.images, r.buffers)
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
        let [images, buffers] = [&mut stretch.images, &mut stretch.buffers].map(std::mem::take);
        if stretch.keys.is_empty() {
            return;
        }
        stretch.shorten();
        has(&mut self.images, &images);
        has(&mut self.buffers, &buffers);
        self.extend(stretch.thin, stretch.keys.drain(..).map(|k| (k, 1)));
        stretch.thin = 0;
    }

    pub fn add(&mut self, o: &Reach) {
        if !o.lines.is_empty() {
            has(&mut self.images, &o.images);
            has(&mut self.buffers, &o.buffers);
            self.extend(o.thin, o.lines.iter().copied());
        }
    }

    /// What a key is looked at with: an image of which it is, by its place, or a stretch of memory, and how many lines that has.
    fn part(&self, key: u64) -> (u64, Option<u64>, u64) {
        let (asks, region) = (key >> 10 & 3, key >> 12);
        if asks as usize == Asks::Texel.at() && self.images.len() <= IMAGES {
            let line = region * REGION + key % REGION;
            if let Some((first, lines)) = of(&self.images, line) {
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

    /// Lines that are looked at as one, by how many there are in all. `of`: of what was followed, and of all.
    fn groups(&self, of: [[u64; 2]; Asks::COUNT]) -> Vec<Group> {
        // Texels apart, so that the lines of an image stand together.
        let (texels, others): (Vec<_>, Vec<_>) =
            self.lines.iter().copied().partition(|l| (l.0 >> 10 & 3) as usize == Asks::Texel.at());
        let alike = |a: &(u64, u32), b: &(u64, u32)| self.part(a.0) == self.part(b.0);
        let group = |met: &[(u64, u32)]| {
            let (_, image, lines) = self.part(met[0].0);
            let asks = (met[0].0 >> 10 & 3) as usize;
            let most = (lines as u128 >> self.thin.min(40)).max(1);
            let seen = met.len() as u128;
            let times = |n: u32| met.iter().filter(|l| l.1 == n).count() as u128;
            let here: u128 = met.iter().map(|l| l.1 as u128).sum();
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
            let within = match image {
                Some(first) => Some((first, lines)),
                None => {
                    crate::counting::reach::of(&self.buffers, ((met[0].0 >> 12) << 10) | (met[0].0 % REGION))
                }
            };
            Group { asks, met: met.to_vec(), within, unseen, alone: by_whole(here) }
        };
        let mut groups: Vec<Group> =
            texels.chunk_by(alike).chain(others.chunk_by(alike)).map(group).collect();
        groups.sort_by_key(|g| (g.asks, g.within));
        // A buffer has no more lines than it has memory for.
        for of in groups.chunk_by_mut(|a, b| a.within.is_some() && (a.asks, a.within) == (b.asks, b.within)) {
            let Some((_, lines)) = of[0].within else { continue };
            let most = (lines as u128 >> self.thin.min(40)).max(1);
            let seen: u128 = of.iter().map(|g| g.met.len() as u128).sum();
            let unseen: u128 = of.iter().map(|g| g.unseen).sum();
            let room = most.saturating_sub(seen);
            if unseen > room {
                of.iter_mut().for_each(|g| g.unseen = g.unseen * room / unseen);
            }
        }
        groups
    }

    /// How many lines memory gives, by [`Asks`], where what was followed is the part `of[0]` of `of[1]`: each once as long as the L2
    /// of `l2` lines has it, and if each stretch had an L2 of its own.
    ///
    /// A line is there still when the next stretch asks for it if what lies between has not filled the L2: all of the image or buffer of
    /// which it is, and of what no two share as much as is asked for meanwhile.
    pub fn lines(&mut self, of: [[u64; 2]; Asks::COUNT], l2: u64) -> Asked {
        self.shorten();
        let scale = 1u128 << self.thin.min(40);
        let l2 = l2 as u128;
        let groups = self.groups(of);
        let all: u128 = groups.iter().map(|g| g.lines() * scale).sum();
        let streamed: u128 = groups.iter().filter(|g| !g.is_shared()).map(|g| g.lines() * scale).sum();
        let mut asked = Asked { lines: all.min(u64::MAX as u128) as u64, ..Asked::default() };
        for part in groups.chunk_by(|a, b| (a.asks, a.within) == (b.asks, b.within)) {
            let shared = part.iter().filter(|g| g.is_shared());
            let lines: u128 = shared.map(|g| g.lines() * scale).sum();
            for g in part {
                let [once, alone] = [g.lines(), g.alone.max(g.lines())].map(|n| n * scale);
                let given = &mut asked.given[g.asks];
                let between = lines + streamed * once / alone.max(1);
                let lost = all > l2 && between > l2 && g.is_shared();
                given.once += if lost { alone } else { once };
                given.alone += alone;
                let often = g.is_shared() && !lost;
                locate(&mut asked.located, g, once, often, (between - lines) * g.is_shared() as u128);
            }
        }
        asked.located.sort_by_key(|l: &Located| (l.often, l.asks, l.within, l.region));
        asked
    }
}

/// Lines that are looked at as one.
struct Group {
    asks: usize,
    /// Those that were met, and by how many stretches.
    met: Vec<(u64, u32)>,
    /// The image or buffer of which they are: first line, and lines.
    within: Option<(u64, u64)>,
    unseen: u128,
    /// How many they are if no two stretches share one.
    alone: u128,
}

impl Group {
    fn lines(&self) -> u128 {
        self.met.len() as u128 + self.unseen
    }
    fn is_shared(&self) -> bool {
        self.alone > self.lines()
    }
}

fn has(all: &mut Vec<(u64, u64)>, more: &[(u64, u64)]) {
    for i in more {
        if let Err(at) = all.binary_search(i)
            && all.len() <= IMAGES
        {
            all.insert(at, *i);
        }
    }
}

/// Which of them, in order of their first lines, has this line.
fn of(all: &[(u64, u64)], line: u64) -> Option<(u64, u64)> {
    let at = all.partition_point(|i| i.0 <= line);
    all[..at].last().copied().filter(|(first, lines)| line - first < *lines)
}

/// Adds where lines lie: in the stretches of 64 KiB in which some of them were met, by how many those were.
fn locate(all: &mut Vec<Located>, g: &Group, lines: u128, often: bool, beside: u128) {
    let beside = beside.min(u64::MAX as u128) as u64;
    let within = g.within.map_or((0, u64::MAX), |(first, n)| (first / REGION, (first + n).div_ceil(REGION)));
    for of in g.met.chunk_by(|a, b| a.0 >> 12 == b.0 >> 12) {
        let lines = (lines * of.len() as u128 / g.met.len() as u128).min(u64::MAX as u128) as u64;
        let lines = lines.max(of.len() as u64);
        let mut known = [0; WORDS];
        of.iter().map(|l| l.0 % REGION).for_each(|l| known[l as usize / 64] |= 1 << (l % 64));
        all.push(Located {
            region: of[0].0 >> 12,
            asks: g.asks,
            lines,
            often,
            beside,
            within,
            known: Some(known),
        });
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
    /// Several stretches asked for them, and the L2 had them for all.
    pub often: bool,
    /// Lines that come and go between two times that they are asked for.
    pub beside: u64,
    /// Neighbours are these, up to the second.
    pub within: (u64, u64),
    /// Those that were met; all, where none was.
    known: Option<[u64; WORDS]>,
}

/// A bit for each line of a stretch of 64 KiB.
pub type Bits = [u64; WORDS];

/// Each bit's neighbours too, as far as `by` to both sides.
fn spread(bits: &Bits, by: usize) -> Bits {
    let (words, rest) = (by / 64, by % 64);
    let mut more = *bits;
    // A shift by 64 is one of none: twice by halves.
    let beyond = |word: u64, up: bool| if up { word << 1 << (63 - rest) } else { word >> 1 >> (63 - rest) };
    for i in 0..WORDS.saturating_sub(words) {
        more[i + words] |= bits[i] << rest;
        more[i] |= bits[i + words] >> rest;
    }
    for i in 0..WORDS.saturating_sub(words + 1) {
        more[i + words + 1] |= beyond(bits[i], false);
        more[i] |= beyond(bits[i + words + 1], true);
    }
    more
}

impl Located {
    /// Where its lines are taken to lie: around those that were met.
    pub fn bits(&self) -> Bits {
        let Some(mut bits) = self.known else { return [u64::MAX; WORDS] };
        let count = |bits: &Bits| bits.iter().map(|w| w.count_ones() as u64).sum::<u64>();
        if self.lines >= REGION {
            return [u64::MAX; WORDS];
        }
        // The furthest that does not make too many, by halves.
        let mut by = REGION as usize / 2;
        // Around one alone as many more lie on one side at least.
        while by as u64 >= self.lines.max(1) {
            by /= 2;
        }
        while by > 0 && count(&bits) < self.lines {
            let mut more = bits;
            let mut covered = 0;
            while covered < by {
                let step = (covered + 1).min(by - covered);
                more = spread(&more, step);
                covered += step;
            }
            if count(&more) <= self.lines {
                bits = more;
            }
            by /= 2;
        }
        bits
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
    /// Of ranges of lines that are known, each once.
    pub fn of(ranges: impl IntoIterator<Item = (Asks, Range<u64>)>) -> Asked {
        let mut asked = Asked::default();
        for (asks, lines) in ranges {
            asked.lines += lines.end - lines.start;
            for region in lines.start / REGION..lines.end.div_ceil(REGION) {
                let within = |line: u64| line.clamp(region * REGION, (region + 1) * REGION) - region * REGION;
                let [first, last] = [lines.start, lines.end].map(within);
                let mut known = [0; WORDS];
                (first..last).for_each(|l| known[l as usize / 64] |= 1 << (l % 64));
                asked.located.push(Located {
                    region,
                    asks: asks.at(),
                    lines: last - first,
                    often: false,
                    beside: 0,
                    within: (0, u64::MAX),
                    known: Some(known),
                });
            }
        }
        asked.located.sort_by_key(|l| (l.asks, l.region));
        asked
    }

    /// Where they are, those last that several ask for: what more there is of a stretch than it can have lies beside it, half of it before and
    /// the rest after. Of more lines than `most` of one sort nobody will find any.
    pub fn located(&self, most: u64) -> Vec<Located> {
        let mut all = Vec::with_capacity(self.located.len());
        let full = |region, of: &Located| Located { region, lines: REGION, known: None, ..of.clone() };
        for of in self.located.chunk_by(|a, b| (a.often, a.asks, a.within) == (b.often, b.asks, b.within)) {
            if of.iter().fold(0, |sum: u64, l| sum.saturating_add(l.lines)) > most {
                continue;
            }
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
            // What an image has no room for after lies in what is left before.
            let mut taken =
                all[first..].iter().map(|l: &Located| l.region).collect::<Vec<_>>().into_iter().peekable();
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
