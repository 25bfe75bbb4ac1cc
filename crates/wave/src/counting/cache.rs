//! The modelled caches that a stretch of work goes through: an L1 for load/store, one for texels, and behind both an L2.
//! Lines of 64 bytes, sets of four, the one not used for longest replaced; all empty at the stretch's begin. What is written
//! stays until its line is replaced: a line that becomes dirty is one that will be written to the next memory. Atomics are
//! done in the L2.

use crate::counting::reach::{Asks, Reach, Stretch};
use crate::counting::tally::AccessKind;
use counters::{By, names};
use parking_lot::Mutex;
use std::ops::Range;

/// Sets of four lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sizes {
    pub l1: u32,
    pub texel_l1: u32,
    pub l2: u32,
    /// L2s of other sizes that the stretch goes through too, each behind the same L1s: for a capture, which tells what a program would take
    /// with them.
    pub others: &'static [u32],
    /// All goes through, and the L2 stays what it is from stretch to stretch.
    pub whole: Option<Whole>,
}

/// What became of an L2 that stays: it has been cleaned so often, and lost so many ranges of lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Whole {
    device: u64,
    cleaned: u64,
    lost: usize,
}

/// Ranges of lines that are of memory which was allocated, with their devices, in that order: the L2s that stay have nothing of them. Where memory lies
/// depends on what else the process maps; what is counted must not.
static LOST: Mutex<Vec<(u64, Range<u64>)>> = Mutex::new(Vec::new());

/// An L2 of this device that stays has nothing of these lines.
pub fn lose(device: u64, lines: Range<u64>) {
    LOST.lock().push((device, lines));
}

impl Whole {
    /// As a device's is now, cleaned so often.
    pub fn now(device: u64, cleaned: u64) -> Whole {
        Whole { device, cleaned, lost: LOST.lock().len() }
    }
}

impl Sizes {
    /// Of caches of so many KiB.
    pub const fn of_kib(l1: u32, texel_l1: u32, l2: u32) -> Sizes {
        const SETS: u32 = 1024 / (WAYS as u32 * 64);
        Sizes { l1: l1 * SETS, texel_l1: texel_l1 * SETS, l2: l2 * SETS, others: &[], whole: None }
    }
}

names! {
    /// What lines did in the caches.
    pub Traced {
        /// Looked up in an L1; of atomics: threads that did one.
        Lookups,
        /// Reads: missed there. Writes: became dirty there. Atomics: became dirty in the L2.
        Missed,
        /// Reads: missed in the L2. Writes: became dirty in the L2. Atomics: missed in the L2.
        Far,
    }
}

/// What lines of one kind did.
pub type Trace = By<Traced, { Traced::COUNT }>;

/// A line was looked up.
#[inline(always)]
fn looked_up(trace: &mut Trace, missed: bool, far: bool) {
    trace[Traced::Lookups] += 1;
    trace[Traced::Missed] += missed as u64;
    trace[Traced::Far] += far as u64;
}

/// What the messages of the texture unit that were traced did in the caches.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct TexelTrace {
    pub messages: u64,
    pub lines: Trace,
}

impl TexelTrace {
    pub fn add(&mut self, o: &TexelTrace) {
        self.messages += o.messages;
        self.lines += &o.lines;
    }
}

const WAYS: usize = 4;
/// Tags of a set's lines, the one used last first: twice what comes after a line's number, and one more if it is dirty. Zero is none,
/// so that an L2 that nobody used is no memory yet: most stretches reach little of it.
type Set = [u64; WAYS];
const EMPTY: Set = [0; WAYS];

/// A stretch follows so many messages of the texture unit, which speak for all: those of a task's pixels once.
const MESSAGES: u32 = 512;

#[derive(Default)]
pub struct Cache {
    tags: Vec<Set>,
    texel_tags: Vec<Set>,
    second: Second,
    /// By [`AccessKind`].
    pub lines: [Trace; AccessKind::COUNT],
    pub texels: TexelTrace,
    /// By [`Sizes::others`].
    others: Vec<Other>,
    /// What became of the L2, where it stays.
    whole: Option<Whole>,
    /// Messages of the texture unit that this stretch still follows.
    pub(crate) left: u32,
}

/// An L2.
#[derive(Default)]
struct Second {
    sets: Vec<Set>,
    /// Sets that hold something.
    held: Vec<u32>,
    /// Lines that the stretch asked memory for, and those of stretches before it.
    stretch: Stretch,
    reach: Reach,
}

impl Second {
    /// A stretch begins, with an L2 of so many sets, empty unless it `stays`.
    fn begin(&mut self, sets: u32, stays: bool) {
        self.reach.end(&mut self.stretch);
        if self.sets.len() != sets as usize {
            self.held.clear();
            empty(&mut self.sets, sets);
        }
        if !stays {
            for i in self.held.drain(..) {
                self.sets[i as usize] = EMPTY;
            }
        }
    }

    /// An L1 asks for a line, and memory is asked for it in turn if need be; `notes`: which lines those are is noted. [`Traced::Missed`] of
    /// atomics, [`Traced::Far`].
    #[inline]
    fn ask(&mut self, asks: Asks, line: u64, notes: bool) -> [bool; 2] {
        let writes = !matches!(asks, Asks::Texel | Asks::LoadStore(AccessKind::Read));
        let had = match set_of(&mut self.sets, line) {
            None => Had::Nothing,
            Some((i, set)) => {
                if *set == EMPTY {
                    self.held.push(i);
                }
                look_up(set, line, writes)
            }
        };
        let dirtied = had != Had::Dirty;
        let far = if asks == Asks::LoadStore(AccessKind::Write) { dirtied } else { had == Had::Nothing };
        // What goes through one L2 needs no estimate.
        if notes && (far || (asks == Asks::LoadStore(AccessKind::Atomic) && dirtied)) {
            self.stretch.asks(line, asks);
        }
        [dirtied, far]
    }

    fn take_reach(&mut self) -> Reach {
        self.reach.end(&mut self.stretch);
        std::mem::take(&mut self.reach)
    }
}

/// An L2 of another size, and how often it lacked a line.
#[derive(Default)]
struct Other {
    second: Second,
    /// [`Traced::Far`], by [`Asks`].
    far: [u64; Asks::COUNT],
    /// [`Traced::Missed`] of atomics.
    dirtied: u64,
}

/// What stretches did in an L2 of another size: as [`crate::Usage`] has it of the modelled one.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    pub traced: [Trace; AccessKind::COUNT],
    pub texels: TexelTrace,
    pub reach: Reach,
}

impl Elsewhere {
    pub fn add(&mut self, o: &Elsewhere) {
        self.traced.iter_mut().zip(&o.traced).for_each(|(a, b)| *a += b);
        self.texels.add(&o.texels);
        self.reach.add(&o.reach);
    }
}

/// What a set had of a line before it was looked up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Had {
    Nothing,
    Clean,
    Dirty,
}

#[inline(always)]
fn look_up(set: &mut Set, line: u64, writes: bool) -> Had {
    let line = line + 1;
    let mut moves = line << 1 | writes as u64;
    for i in 0..WAYS {
        std::mem::swap(&mut set[i], &mut moves);
        if moves >> 1 == line {
            set[0] |= moves & 1;
            return if moves & 1 == 1 { Had::Dirty } else { Had::Clean };
        }
    }
    Had::Nothing
}

/// As [`look_up`], in the line's set; a cache without sets never has it.
#[inline(always)]
fn look_up_in(sets: &mut [Set], line: u64, writes: bool) -> Had {
    set_of(sets, line).map_or(Had::Nothing, |(_, set)| look_up(set, line, writes))
}

/// The set that a line belongs to, by its number; none in a cache without sets.
#[inline(always)]
fn set_of(sets: &mut [Set], line: u64) -> Option<(u32, &mut Set)> {
    let (line, n) = (line as u32, sets.len() as u32);
    // Most caches' sets are a power of two: no division for those.
    let i = if n.is_power_of_two() { line & (n - 1) } else { line.checked_rem(n)? };
    Some((i, sets.get_mut(i as usize)?))
}

fn empty(tags: &mut Vec<Set>, sets: u32) {
    if tags.is_empty() {
        *tags = vec![EMPTY; sets as usize];
        return;
    }
    tags.clear();
    tags.resize(sets as usize, EMPTY);
}

impl Cache {
    /// A stretch begins.
    pub fn begin(&mut self, sizes: Sizes) {
        self.left = if sizes.whole.is_some() { u32::MAX } else { MESSAGES };
        empty(&mut self.tags, sizes.l1);
        empty(&mut self.texel_tags, sizes.texel_l1);
        self.second.begin(sizes.l2, sizes.whole.is_some());
        if let Some(now) = sizes.whole {
            self.keep(now);
        }
        self.others.resize_with(sizes.others.len(), Other::default);
        for (other, sets) in self.others.iter_mut().zip(sizes.others) {
            other.second.begin(*sets, false);
        }
    }

    /// The L2 stays, and becomes what has become of it.
    fn keep(&mut self, now: Whole) {
        let before = self.whole.replace(now).unwrap_or_default();
        if before == now {
            return;
        }
        let lost = LOST.lock();
        let lost = lost.get(before.lost..now.lost).unwrap_or_default();
        for tag in self.second.sets.iter_mut().flatten().filter(|tag| **tag != 0) {
            if lost.iter().any(|(of, lines)| *of == now.device && lines.contains(&((*tag >> 1) - 1))) {
                *tag = 0;
            } else if before.cleaned != now.cleaned {
                *tag &= !1;
            }
        }
    }

    /// What stretches asked memory for since the last call.
    pub fn take_reach(&mut self) -> Reach {
        self.second.take_reach()
    }

    /// What became of the lines since the last call in L2s of other sizes, where it was `traced` in the modelled one.
    pub fn take_others(
        &mut self,
        traced: &[Trace; AccessKind::COUNT],
        texels: &TexelTrace,
    ) -> Vec<Elsewhere> {
        let take = |o: &mut Other| {
            let (far, dirtied) = (std::mem::take(&mut o.far), std::mem::take(&mut o.dirtied));
            let (mut traced, mut texels) = (*traced, *texels);
            for (kind, trace) in traced.iter_mut().enumerate() {
                trace[Traced::Far] = far[kind];
            }
            traced[AccessKind::Atomic as usize][Traced::Missed] = dirtied;
            texels.lines[Traced::Far] = far[Asks::Texel.at()];
            Elsewhere { traced, texels, reach: o.second.take_reach() }
        };
        self.others.iter_mut().map(take).collect()
    }

    /// A line that an L1 lacks: as [`Second::ask`]. Out of line, for accesses are inlined into every kernel.
    #[inline(never)]
    fn beyond(&mut self, asks: Asks, line: u64) -> [bool; 2] {
        let found = self.second.ask(asks, line, self.whole.is_none());
        for o in &mut self.others {
            let [dirtied, far] = o.second.ask(asks, line, true);
            o.far[asks.at()] += far as u64;
            o.dirtied += (dirtied && asks == Asks::LoadStore(AccessKind::Atomic)) as u64;
        }
        found
    }

    /// A line of device memory, by its number there, and one that is as near as the L1.
    #[inline(always)]
    pub fn access(&mut self, kind: AccessKind, line: u64) {
        let near = match kind {
            AccessKind::Read => look_up_in(&mut self.tags, line, false) != Had::Nothing,
            AccessKind::Write => look_up_in(&mut self.tags, line, true) == Had::Dirty,
            AccessKind::Atomic => false,
        };
        let [dirtied, far] = if near { [false; 2] } else { self.beyond(Asks::LoadStore(kind), line) };
        let missed = if kind == AccessKind::Atomic { dirtied } else { !near };
        looked_up(&mut self.lines[kind as usize], missed, far);
    }
    pub fn near(&mut self, kind: AccessKind) {
        self.lines[kind as usize][Traced::Lookups] += 1;
    }
    /// So many threads did atomics on `lines` lines that were told.
    pub fn atomics(&mut self, threads: u64, lines: u64) {
        self.lines[AccessKind::Atomic as usize][Traced::Lookups] += threads.saturating_sub(lines);
    }

    /// Messages to come are of an image of so many lines.
    pub fn samples_of(&mut self, first: u64, lines: u64) {
        self.second.stretch.samples_of(first, lines);
        self.others.iter_mut().for_each(|o| o.second.stretch.samples_of(first, lines));
    }

    /// Accesses to come are to a buffer of so many lines.
    pub fn accesses_of(&mut self, first: u64, lines: u64) {
        self.second.stretch.accesses_of(first, lines);
        self.others.iter_mut().for_each(|o| o.second.stretch.accesses_of(first, lines));
    }

    /// A message of the texture unit, the lines of device memory that it touches, and how many are as near as the L1.
    pub fn sample(&mut self, lines: &[u64], near: u64) {
        self.texels.messages += 1;
        self.texels.lines[Traced::Lookups] += near;
        self.left = self.left.saturating_sub(1);
        for &line in lines {
            let missed = look_up_in(&mut self.texel_tags, line, false) == Had::Nothing;
            let far = missed && self.beyond(Asks::Texel, line)[1];
            looked_up(&mut self.texels.lines, missed, far);
        }
    }
}
