//! Sets of virtual registers that share a register, and what coalescing ([`super::live`]) asks of them. Sets grow to
//! the whole length of a shader, so that none of it may be looked at for each copy: what is kept is kept in order, and
//! of two sets the smaller goes into the larger.

use super::lir::{COPIES, Lir, V, flag::*};
use crate::bytecode::Code;
use crate::options::Result;
use crate::ordered::Ordered;
use crate::work::Work;
use smallvec::{SmallVec, smallvec};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Segment {
    pub lo: u32,
    pub hi: u32,
}

/// Sorted, disjoint. Most sets have one.
pub type Segments = SmallVec<[Segment; 2]>;

/// One place where a register is read or written.
#[derive(Clone, Copy)]
pub struct Occurrence {
    /// What it holds the register for.
    pub extent: Segment,
    pub at: u32,
    pub v: V,
    pub def: bool,
    /// Of a copy that writes it: where its masked flag is.
    pub flag: u32,
}

/// What coalescing knows of a set: where it is live, and where it is written (copies within the set not counted).
#[derive(Default)]
pub struct Set {
    pub segments: Segments,
    /// By instruction: how many.
    pub defs: Ordered<u32>,
    /// For the second round.
    places: Option<Box<Places>>,
}

/// Occurrences of a set's registers.
#[derive(Default)]
struct Places {
    /// By instruction: occurrences, and how many of them write.
    at: Ordered<u32>,
    /// Extents of more than one instruction, and of how many occurrences they are.
    long: Ordered<Segment>,
    /// Definitions by other ops than copies: how many, and one of them.
    plain: (u32, (u32, V)),
    /// One of them cannot write under a mask.
    fixed: bool,
    /// Loop of all definitions; `Err` when they are in several.
    home: Option<std::result::Result<u32, ()>>,
    /// Flags of copies that are not known to be masked.
    flags: Vec<u32>,
}

impl Set {
    pub fn of(segment: Segment) -> Set {
        Set { segments: smallvec![segment], ..Set::default() }
    }

    /// From now on occurrences matter: they are to be added, all of them.
    pub fn expect_places(&mut self) {
        self.places.get_or_insert_default();
    }

    pub fn add(&mut self, lir: &Lir, o: &Occurrence) {
        let Some(places) = &mut self.places else { return };
        places.at.add(o.at, [1, o.def as u32]);
        if o.extent.lo != o.extent.hi {
            places.long.add(o.extent, [1, 0]);
        }
        if !o.def {
            return;
        }
        let op = &lir.insts[o.at as usize];
        let home = lir.loop_at[o.at as usize];
        places.home = Some(match places.home {
            Some(h) if h != Ok(home) => Err(()),
            _ => Ok(home),
        });
        if op.code == COPIES {
            places.flags.push(o.flag);
        } else {
            places.fixed |= op.code == Code::IMAGE || op.flags & (D_DEF | EXT_DEF) == 0;
            places.plain = (places.plain.0 + 1, (o.at, o.v));
        }
    }

    /// Takes in the other set; the copy at `p` between them is gone.
    pub fn unite(&mut self, mut other: Set, p: u32, segments: Segments, work: &Work) -> Result<()> {
        self.defs.remove_one(p);
        if other.defs.len() > self.defs.len() {
            std::mem::swap(&mut self.defs, &mut other.defs);
        }
        work.spend(other.defs.len())?;
        self.defs.take(other.defs);
        if let (Some(places), Some(mut more)) = (&mut self.places, other.places) {
            if more.at.len() > places.at.len() {
                std::mem::swap(places, &mut more);
            }
            places.take(*more, work)?;
        }
        self.segments = segments;
        Ok(())
    }

    /// The first definition after `p`.
    pub fn next_def(&self, p: u32) -> Option<u32> {
        self.defs.from(p + 1)
    }

    /// Whether something of the set is needed from `lo` up to the copy at `p`, but for that copy's own definition, which
    /// holds the register for `own`.
    pub fn busy(&self, lo: u32, p: u32, own: Segment, work: &Work) -> Result<bool> {
        let Some(places) = &self.places else { return Ok(true) };
        let within = lo < p && places.at.from(lo + 1).is_some_and(|i| i < p);
        if within || places.at.get(p)[0] > 1 || places.at.get(lo)[1] > (lo == p) as u32 {
            return Ok(true);
        }
        for (s, n) in places.long.before(Segment { lo: p, hi: 0 }) {
            work.spend(1)?;
            if s.hi > lo && (s != own || n > 1) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What must be masked for all definitions to be: ops, of which there may be one at most, and flags of copies. None
    /// when that cannot be, or a definition lies outside loop `home`.
    pub fn masks(&self, home: u32) -> Option<Option<(u32, V)>> {
        let places = self.places.as_ref()?;
        let outside = places.home.is_some_and(|h| h != Ok(home));
        if outside || places.fixed || places.plain.0 > 1 {
            return None;
        }
        Some((places.plain.0 == 1).then_some(places.plain.1))
    }

    /// Flags of copies that are to be masked now and have not been.
    pub fn take_flags(&mut self) -> Vec<u32> {
        self.places.as_mut().map(|p| std::mem::take(&mut p.flags)).unwrap_or_default()
    }
}

impl Places {
    fn take(&mut self, other: Places, work: &Work) -> Result<()> {
        work.spend(other.at.len() + other.long.len())?;
        self.at.take(other.at);
        self.long.take(other.long);
        self.fixed |= other.fixed;
        let last = if other.plain.0 > 0 { other.plain.1 } else { self.plain.1 };
        self.plain = (self.plain.0 + other.plain.0, last);
        self.home = match (self.home, other.home) {
            (Some(a), Some(b)) if a != b => Some(Err(())),
            (a, b) => a.or(b),
        };
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
