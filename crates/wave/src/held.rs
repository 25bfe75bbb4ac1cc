//! What the L2 holds from one workload to the next.
//!
//! A workload's lines are known where it was followed, and elsewhere by how many there are ([`crate::reach`]). So the L2 is kept by
//! stretches of 64 KiB of device memory: lines that are known, and how many more lie there besides. What a workload asks memory for and
//! the L2 has still, memory need not give. It has it still if what was asked for since is no more than it holds: of the workload that had
//! it last and of the one that asks now, half of each lies between.
//!
//! Lines that became dirty are written once, and are their writer's. The driver cleans the L2 before a command buffer's first workload: what
//! is dirty is clean from then on, and stays.

use crate::reach::{Asks, Located, REGION};
use crate::tally::AccessKind;
use std::collections::{HashMap, VecDeque};

/// Of more stretches than this the oldest are forgotten.
const MOST: usize = 4096;
/// Of more workloads than this the oldest are.
const AGES: usize = 256;

const WORDS: usize = REGION as usize / 64;

/// Lines of a stretch: those that are known, and how many others there are.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Lines {
    known: [u64; WORDS],
    others: u64,
}

impl Lines {
    fn of(l: &Located) -> Lines {
        let known = l.known();
        Lines { known, others: l.lines.min(REGION).saturating_sub(count(&known)) }
    }

    fn count(&self) -> u64 {
        (count(&self.known) + self.others).min(REGION)
    }

    fn is_empty(&self) -> bool {
        self.others == 0 && self.known == [0; WORDS]
    }

    fn add(&mut self, o: &Lines) {
        self.known.iter_mut().zip(o.known).for_each(|(a, b)| *a |= b);
        // Others of both are taken to be the same, as far as can be.
        self.others = self.others.max(o.others).min(REGION - count(&self.known));
    }

    /// How many of them are among those that are `held`.
    fn among(&self, held: &Lines) -> u64 {
        let both = count(&std::array::from_fn(|i| self.known[i] & held.known[i]));
        let [mine, theirs] = [count(&self.known), count(&held.known)];
        let part = |n: u64, of: u64, all: u64| if all == 0 { 0 } else { (n * of / all).min(n) };
        // A line that only one of them knows is one of the other's others, by their share of what the other does not know.
        let known = both + part(mine - both, held.others, REGION - theirs);
        let anywhere = part(self.others, theirs - both + held.others, REGION - mine);
        // Where what is known is the same, so is the rest.
        let alike = part(self.others.min(held.others), both, mine);
        known + anywhere.max(alike).min(self.others)
    }
}

fn count(known: &[u64; WORDS]) -> u64 {
    known.iter().map(|w| w.count_ones() as u64).sum()
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
    /// A workload that asks memory for `lines` lines, of which these were located, in an L2 of so many: how many of them the L2 has, by
    /// [`Asks`]. It has them all from now on.
    pub fn ask(&mut self, located: &[Located], lines: u64, l2: u64) -> [u64; Asks::COUNT] {
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
        let is_there = |age: u64| age.checked_sub(oldest + 1).is_some_and(|i| reach.get(i as usize).is_some_and(|r| *r <= l2));
        self.ages.push_back(lines);
        self.latest += 1;
        for l in located {
            let mine = Lines::of(l);
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
            let mine = Lines::of(l);
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
        self.stretches.values_mut().map(|s| std::mem::take(&mut s.dirty)).filter(|d| !d.is_empty()).map(|d| d.count()).sum()
    }
}
