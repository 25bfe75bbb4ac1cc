//! What the L2 holds from one workload to the next.
//!
//! A workload's lines are known where it was followed, and elsewhere by how many there are ([`crate::counting::reach`]): those are taken to lie around the
//! ones that are known. What a workload asks memory for and the L2 has still, memory need not give. It has it still if what was asked for
//! since is no more than it holds: of the workload that had it last and of the one that asks now, half of each lies between. What many
//! parts of a workload ask for, it asks for first and last.
//!
//! Lines that became dirty are written once, and are their writer's. The driver cleans the L2 before a command buffer's first workload: what
//! is dirty is clean from then on, and stays.

use crate::counting::reach::{Asked, Asks, Bits, Located, REGION};
use crate::counting::tally::AccessKind;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// Of more stretches than this the oldest are forgotten.
const MOST: usize = 4096;
/// Of more workloads than this the oldest are.
const AGES: usize = 256;

/// Lines of a stretch.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Lines(Bits);

impl Lines {
    fn count(&self) -> u64 {
        self.0.iter().map(|w| w.count_ones() as u64).sum()
    }
    fn add(&mut self, o: &Lines) {
        self.0.iter_mut().zip(o.0).for_each(|(a, b)| *a |= b);
    }
    /// How many of them are among those that are `held`.
    fn among(&self, held: &Lines) -> u64 {
        Lines(std::array::from_fn(|i| self.0[i] & held.0[i])).count()
    }
}

/// Of what many ask for, the parts that all fit together, the smallest first.
fn kept(often: &[Located], l2: u64) -> Vec<Located> {
    let alike = |a: &Located, b: &Located| (a.asks, a.within) == (b.asks, b.within);
    let lines = |part: &[Located]| part.iter().map(|l| l.lines).sum::<u64>();
    let mut parts: Vec<&[Located]> = often.chunk_by(alike).collect();
    parts.sort_by_key(|part| lines(part));
    let mut room = l2;
    let mut fits = |part: &[Located]| {
        let beside = part.iter().map(|l| l.beside).max().unwrap_or(0);
        let left = room.checked_sub(lines(part)).filter(|left| *left >= beside);
        room = left.unwrap_or(room);
        left.is_some()
    };
    parts.iter().filter(|part| fits(part)).flat_map(|part| part.iter().cloned()).collect()
}

/// What is held of a stretch, since which workload.
#[derive(Default)]
struct Stretch {
    age: u64,
    /// Lines that the workload at work asks for.
    asked: u64,
    any: Lines,
    dirty: Lines,
}

/// The L2 of a device.
#[derive(Default)]
pub struct Held {
    stretches: HashMap<u64, Stretch>,
    /// Lines that workloads asked for, the latest last, and its number.
    ages: VecDeque<u64>,
    latest: u64,
    dirty: bool,
    cleanings: u64,
}

impl Held {
    /// What a workload asks for, in an L2 of so many lines: how many of them the L2 has, by [`Asks`].
    pub fn ask(&mut self, asked: &Asked, l2: u64) -> [u64; Asks::COUNT] {
        let located = asked.located(2 * l2);
        let often = located.partition_point(|l| !l.often);
        let (rest, often) = located.split_at(often);
        let lines = often.iter().map(|l| l.lines).sum::<u64>().min(asked.lines);
        let first = self.step(often, lines, l2);
        let then = self.step(rest, asked.lines - lines, l2);
        if !rest.is_empty() || asked.lines > lines {
            let kept = kept(often, l2);
            self.step(&kept, kept.iter().map(|l| l.lines).sum(), l2);
        }
        std::array::from_fn(|i| first[i] + then[i])
    }

    /// So many lines, which nobody will ask for again, come and go.
    pub fn stream(&mut self, lines: u64, l2: u64) {
        self.step(&[], lines, l2);
    }

    /// Lines that are asked for next to each other, of which these were located: how many of them the L2 has, by [`Asks`]. It has them all from
    /// now on.
    fn step(&mut self, located: &[Located], lines: u64, l2: u64) -> [u64; Asks::COUNT] {
        let mut hits = [0; Asks::COUNT];
        if lines == 0 {
            return hits;
        }
        // Lines of workloads later than each.
        let mut later = 0;
        let oldest = self.latest - self.ages.len() as u64;
        let reach: Vec<u64> = {
            let mut reach = vec![0; self.ages.len()];
            for (i, age) in self.ages.iter().enumerate().rev() {
                reach[i] = later + (age + lines) / 2;
                later += age;
            }
            reach
        };
        let is_there = |age: u64| {
            age.checked_sub(oldest + 1).is_some_and(|i| reach.get(i as usize).is_some_and(|r| *r <= l2))
        };
        self.ages.push_back(lines);
        self.latest += 1;
        for l in located {
            let mine = Lines(l.bits());
            let s = self.stretches.entry(l.region).or_default();
            if s.age != self.latest {
                let there = is_there(s.age);
                match self.ages.get_mut((s.age.wrapping_sub(oldest + 1)) as usize) {
                    Some(age) if s.age > oldest => *age = age.saturating_sub(s.any.count()),
                    _ => {}
                }
                if !there {
                    *s = Stretch::default();
                }
                s.age = self.latest;
            }
            let dirties = l.asks != Asks::Texel.at() && l.asks != AccessKind::Read as usize;
            hits[l.asks] += mine.among(if dirties { &s.dirty } else { &s.any });
        }
        // Only now, for what is asked for in two ways is new to both.
        for l in located {
            let mine = Lines(l.bits());
            let Some(s) = self.stretches.get_mut(&l.region) else { continue };
            s.asked = (s.asked + mine.count()).min(REGION);
            s.any.add(&mine);
            if l.asks != Asks::Texel.at() && l.asks != AccessKind::Read as usize {
                s.dirty.add(&mine);
                self.dirty = true;
            }
        }
        // What else there is of a stretch has become as new as what was asked for.
        if let Some(age) = self.ages.back_mut() {
            for l in located {
                if let Some(s) = self.stretches.get_mut(&l.region)
                    && let asked @ 1.. = std::mem::take(&mut s.asked)
                {
                    *age += s.any.count().saturating_sub(asked);
                }
            }
        }
        self.forget(l2);
        hits
    }

    /// Nothing that can be there no more is kept.
    fn forget(&mut self, l2: u64) {
        let all: u64 = self.ages.iter().sum();
        let (mut all, mut gone) = (all, false);
        // Half of a workload's own lines lie after a line of it.
        while let Some(first) = self.ages.front()
            && (all - first > l2 || self.ages.len() > AGES || (gone && *first == 0))
        {
            all -= first;
            self.ages.pop_front();
            gone = true;
        }
        if gone || self.stretches.len() > MOST {
            let mut oldest = self.latest - self.ages.len() as u64;
            loop {
                self.stretches.retain(|_, s| s.age > oldest);
                if self.stretches.len() <= MOST || self.ages.len() <= 1 {
                    break;
                }
                self.ages.pop_front();
                oldest += 1;
            }
            if self.stretches.len() > MOST {
                self.stretches.clear();
            }
        }
    }

    /// Has nothing of the stretches of 64 KiB in which these lines lie.
    pub fn forget_memory(&mut self, lines: Range<u64>) {
        let of = lines.start / REGION..lines.end.div_ceil(REGION);
        if !self.stretches.is_empty() {
            self.stretches.retain(|region, _| !of.contains(region));
        }
    }

    /// How often it was cleaned.
    pub fn cleanings(&self) -> u64 {
        self.cleanings
    }

    /// Writes what is dirty: how many lines.
    pub fn clean(&mut self) -> u64 {
        self.cleanings += 1;
        if !std::mem::take(&mut self.dirty) {
            return 0;
        }
        self.stretches.values_mut().map(|s| std::mem::take(&mut s.dirty)).map(|d| d.count()).sum()
    }
}
