//! Sets of virtual registers that share a register, and what coalescing ([`super::live`]) asks of them. Sets grow to
//! the whole length of a shader, so that none of it may be looked at for each copy: what is kept is kept in order, and
//! of two sets the smaller goes into the larger.

use super::lir::{COPIES, Lir, NONE, V, flag::*};
use crate::bytecode::Code;
use crate::options::Result;
use crate::ordered::Ordered;
use crate::work::Work;
use smallvec::{SmallVec, smallvec};
use std::cell::Cell;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LiveRange {
    pub lo: u32,
    pub hi: u32,
}

/// Sorted, disjoint. Most sets have one.
pub type LiveRanges = SmallVec<[LiveRange; 2]>;

/// One place where a register is read or written.
#[derive(Clone, Copy)]
pub struct Occurrence {
    /// What it holds the register for.
    pub extent: LiveRange,
    pub at: u32,
    pub v: V,
    pub def: bool,
    /// Of a copy that writes it: where its masked flag is.
    pub flag: u32,
}

/// By register of a set: the next one, all the way round.
pub type Ring = [Cell<V>];

/// Occurrences by register.
pub struct Occurrences<'a> {
    lir: &'a Lir,
    ring: &'a Ring,
    all: Vec<Occurrence>,
    /// Numbers of occurrences, register by register, and where each register's end.
    order: Vec<u32>,
    ends: Vec<u32>,
}

impl<'a> Occurrences<'a> {
    pub fn new(lir: &'a Lir, ring: &'a Ring, all: Vec<Occurrence>) -> Occurrences<'a> {
        // As many places for each as it has occurrences, filled from the last.
        let mut ends = vec![0; lir.vregs.len() + 1];
        all.iter().for_each(|o| ends[o.v as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let mut order = vec![0; all.len()];
        for (i, o) in all.iter().enumerate().rev() {
            let at = &mut ends[o.v as usize];
            *at -= 1;
            order[*at as usize] = i as u32;
        }
        // Now they are where each register's begin, which is where those of the one before it end.
        Occurrences { lir, ring, all, order, ends }
    }

    fn count(&self, v: V) -> usize {
        (self.ends[v as usize + 1] - self.ends[v as usize]) as usize
    }

    fn of(&self, v: V) -> impl Iterator<Item = &Occurrence> {
        let range = self.ends[v as usize] as usize..self.ends[v as usize + 1] as usize;
        self.order[range].iter().map(|i| &self.all[*i as usize])
    }
}

/// Occurrences of a set that are looked through; of more than that there are [`Places`].
const FEW: usize = 48;

/// What coalescing knows of a set: where it is live, and where it is written (copies within the set not counted).
#[derive(Default)]
pub struct Set {
    pub ranges: LiveRanges,
    /// By instruction: how many.
    pub defs: Ordered<u32, 1>,
    /// One of its registers, and how many they are.
    first: V,
    count: u32,
    /// For the second round, once it has many occurrences.
    places: Option<Box<Places>>,
}

/// Where a register is written in a loop: flags of copies, and ops.
#[derive(Default)]
pub struct Writes {
    pub flags: Vec<u32>,
    pub ops: Vec<(u32, V)>,
}

/// What a set's definitions are.
#[derive(Default)]
struct Definitions {
    /// By other ops than copies: how many, and one of them.
    plain: (u32, (u32, V)),
    /// One of them cannot write under a mask.
    fixed: bool,
    /// Loop of all definitions; `Err` when they are in several.
    home: Option<std::result::Result<u32, ()>>,
}

/// Occurrences of a set's registers.
#[derive(Default)]
struct Places {
    /// By instruction: occurrences, and how many of them write.
    at: Ordered<u32, 2>,
    /// Extents of more than one instruction, and of how many occurrences they are.
    long: Ordered<LiveRange, 1>,
    defs: Definitions,
    /// Flags of copies that are not known to be masked.
    flags: Vec<u32>,
}

impl Set {
    pub fn of(v: V, range: LiveRange) -> Set {
        Set { ranges: smallvec![range], first: v, count: 1, ..Set::default() }
    }

    fn members<'a>(&self, all: &'a Occurrences) -> impl Iterator<Item = V> + use<'a> {
        let next = |v: &V| Some(all.ring[*v as usize].get());
        std::iter::successors(Some(self.first), next).take(self.count as usize)
    }

    fn occurrences<'a>(&self, all: &'a Occurrences) -> impl Iterator<Item = &'a Occurrence> + use<'a> {
        self.members(all).flat_map(|v| all.of(v))
    }

    /// From now on occurrences matter.
    pub fn expect_places(&mut self, all: &Occurrences, work: &Work) -> Result<()> {
        if self.places.is_some() {
            return Ok(());
        }
        let members = self.count as usize;
        if members > FEW || self.members(all).map(|v| all.count(v)).sum::<usize>() > FEW {
            work.spend(members)?;
            let mut places = Box::<Places>::default();
            self.occurrences(all).for_each(|o| places.add(all.lir, o));
            self.places = Some(places);
        }
        Ok(())
    }

    /// Takes in the other set; the copy at `p` between them is gone. `all`: once occurrences matter.
    pub fn unite(
        &mut self,
        mut other: Set,
        p: u32,
        ranges: LiveRanges,
        ring: &Ring,
        all: Option<&Occurrences>,
        work: &Work,
    ) -> Result<()> {
        self.defs.remove_one(p);
        if other.defs.len() > self.defs.len() {
            std::mem::swap(&mut self.defs, &mut other.defs);
        }
        work.spend(other.defs.len())?;
        self.defs.take(std::mem::take(&mut other.defs));
        let few = |set: &Set, places: &mut Places, all: &Occurrences| {
            set.occurrences(all).for_each(|o| places.add(all.lir, o));
        };
        self.places = match (self.places.take(), other.places.take(), all) {
            (Some(mut a), Some(mut b), _) => {
                if b.at.len() > a.at.len() {
                    std::mem::swap(&mut a, &mut b);
                }
                a.take(*b, work)?;
                Some(a)
            }
            (Some(mut a), None, Some(all)) => {
                few(&other, &mut a, all);
                Some(a)
            }
            (None, Some(mut b), Some(all)) => {
                few(self, &mut b, all);
                Some(b)
            }
            _ => None,
        };
        // Two rings that exchange what comes next are one.
        ring[self.first as usize].swap(&ring[other.first as usize]);
        self.count += other.count;
        self.ranges = ranges;
        Ok(())
    }

    /// The first definition after `p`.
    pub fn next_def(&self, p: u32) -> Option<u32> {
        self.defs.from(p + 1)
    }

    /// Whether something of the set is needed from `lo` up to the copy at `p`, but for that copy's own definition, which
    /// holds the register for `own`.
    pub fn busy(&self, all: &Occurrences, lo: u32, p: u32, own: LiveRange, work: &Work) -> Result<bool> {
        let Some(places) = &self.places else {
            let (mut at_copy, mut defs, mut owns) = (0, 0, 0);
            for o in self.occurrences(all) {
                let (at, s) = (o.at, o.extent);
                let reaches = s.lo != s.hi && s.lo < p && s.hi > lo;
                if lo < at && at < p || reaches && s != own {
                    return Ok(true);
                }
                at_copy += (at == p) as u32;
                defs += (at == lo && o.def) as u32;
                owns += reaches as u32;
            }
            return Ok(at_copy > 1 || defs > (lo == p) as u32 || owns > 1);
        };
        let within = lo < p && places.at.from(lo + 1).is_some_and(|i| i < p);
        if within || places.at.get(p)[0] > 1 || places.at.get(lo)[1] > (lo == p) as u32 {
            return Ok(true);
        }
        for (s, n) in places.long.before(LiveRange { lo: p, hi: 0 }) {
            work.spend(1)?;
            if s.hi > lo && (s != own || n > 1) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What must be masked for all definitions to be: ops, of which there may be one at most, and flags of copies. None
    /// when that cannot be, or a definition lies outside loop `home`.
    pub fn masks(&self, all: &Occurrences, home: u32) -> Option<Option<(u32, V)>> {
        let mut sum = Definitions::default();
        let defs = match &self.places {
            Some(places) => &places.defs,
            None => {
                self.occurrences(all).filter(|o| o.def).for_each(|o| sum.add(all.lir, o));
                &sum
            }
        };
        let outside = defs.home.is_some_and(|h| h != Ok(home));
        if outside || defs.fixed || defs.plain.0 > 1 {
            return None;
        }
        Some((defs.plain.0 == 1).then_some(defs.plain.1))
    }

    /// Writes in loop `range` of who leaves it with a value in this set's register: nobody asks there, so all may be masked. None else.
    pub fn exits(&self, all: &Occurrences, range: LiveRange, work: &Work) -> Result<Option<Writes>> {
        self.writes(all, range, true, work)
    }
    /// Writes in loop `range`, if all of them may be masked.
    pub fn within(&self, all: &Occurrences, range: LiveRange, work: &Work) -> Result<Option<Writes>> {
        self.writes(all, range, false, work)
    }
    fn writes(
        &self,
        all: &Occurrences,
        range: LiveRange,
        alone: bool,
        work: &Work,
    ) -> Result<Option<Writes>> {
        let mut n = 0;
        for v in self.members(all) {
            n += all.count(v);
            if n > 2 * FEW {
                return Ok(None);
            }
        }
        work.spend(n)?;
        let mut writes = Writes::default();
        for o in self.occurrences(all).filter(|o| (range.lo..=range.hi).contains(&o.at)) {
            if !o.def {
                if alone {
                    return Ok(None);
                }
                continue;
            }
            let op = &all.lir.insts[o.at as usize];
            if op.code == COPIES {
                writes.flags.push(o.flag);
            } else if alone || op.code == Code::IMAGE || op.flags & DEF == 0 {
                return Ok(None);
            } else {
                writes.ops.push((o.at, o.v));
            }
        }
        Ok(Some(writes))
    }

    /// Flags of copies that are to be masked now; they may have been before.
    pub fn take_flags(&mut self, all: &Occurrences) -> Vec<u32> {
        match &mut self.places {
            Some(places) => std::mem::take(&mut places.flags),
            None => self.occurrences(all).filter(|o| o.def && o.flag != NONE).map(|o| o.flag).collect(),
        }
    }
}

impl Definitions {
    fn add(&mut self, lir: &Lir, o: &Occurrence) {
        let op = &lir.insts[o.at as usize];
        let home = lir.loop_at[o.at as usize];
        self.home = Some(match self.home {
            Some(h) if h != Ok(home) => Err(()),
            _ => Ok(home),
        });
        if op.code != COPIES {
            self.fixed |= op.code == Code::IMAGE || op.flags & DEF == 0;
            self.plain = (self.plain.0 + 1, (o.at, o.v));
        }
    }

    fn take(&mut self, other: Definitions) {
        self.fixed |= other.fixed;
        let last = if other.plain.0 > 0 { other.plain.1 } else { self.plain.1 };
        self.plain = (self.plain.0 + other.plain.0, last);
        self.home = match (self.home, other.home) {
            (Some(a), Some(b)) if a != b => Some(Err(())),
            (a, b) => a.or(b),
        };
    }
}

impl Places {
    fn add(&mut self, lir: &Lir, o: &Occurrence) {
        self.at.add(o.at, [1, o.def as u32]);
        if o.extent.lo != o.extent.hi {
            self.long.add(o.extent, [1]);
        }
        if o.def {
            self.defs.add(lir, o);
            self.flags.extend((o.flag != NONE).then_some(o.flag));
        }
    }

    fn take(&mut self, other: Places, work: &Work) -> Result<()> {
        work.spend(other.at.len() + other.long.len())?;
        self.at.take(other.at);
        self.long.take(other.long);
        self.defs.take(other.defs);
        if other.flags.len() > self.flags.len() {
            let few = std::mem::replace(&mut self.flags, other.flags);
            self.flags.extend(few);
        } else {
            self.flags.extend(other.flags);
        }
        Ok(())
    }
}

/// Whether the op reads all its operands (of a lane) before it writes.
pub fn reads_first(lir: &Lir, p: u32) -> bool {
    lir.insts.get(p as usize).is_some_and(|op| op.code == COPIES || op.flags & ELEM != 0)
}
