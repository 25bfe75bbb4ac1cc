//! Linear scan: registers as slots of pools, varying (one slot a B32, two a B64) and small (units of 64 bytes), of each one for
//! descriptors' addresses and one for all else.

use super::lir::{Lir, NONE, V, VReg, flag::ELEM};
use super::live::{Webs, webs};
use super::moves;
use super::web::LiveRange;
use crate::bytecode::MAX_UNITS;
use crate::ir::Ty;
use crate::options::{Error, Result};
use crate::work::Work;
use rustc_hash::FxHashMap;
use small_sort::SmallSort;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One move of a resolved group of copies, between slots.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    pub dst: RegisterSlot,
    pub src: RegisterSlot,
    pub masked: bool,
    pub ty: Ty,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterSlot {
    pub pool: Pools,
    pub uniform: bool,
    pub slot: u32,
}

/// The pools, in the order in which they lie in the register file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Pools {
    VaryingHandles,
    SmallHandles,
    Varying,
    Small,
}

impl Pools {
    const ALL: [Pools; 4] = [Pools::VaryingHandles, Pools::SmallHandles, Pools::Varying, Pools::Small];

    pub fn of(v: &VReg) -> Pools {
        match (v.handle, v.uniform || v.ty == Ty::Bool) {
            (true, false) => Pools::VaryingHandles,
            (true, true) => Pools::SmallHandles,
            (false, false) => Pools::Varying,
            (false, true) => Pools::Small,
        }
    }
    fn is_varying(self) -> bool {
        matches!(self, Pools::VaryingHandles | Pools::Varying)
    }
}

pub struct Allocation {
    /// Slot of each virtual register or [`NONE`].
    pub slot: Vec<u32>,
    /// By pool.
    pub slots: [u32; 4],
    /// Constants that have a register.
    pub consts: Vec<(V, Ty, u64)>,
    /// Slots of temporaries of ops whose result is then moved under the mask, by the register they define.
    pub temporary: Vec<u32>,
    /// Moves of each group of copies in order of groups.
    pub moves: Vec<Vec<Move>>,
}

impl Allocation {
    /// Slots of lanes' own registers.
    pub fn varying_slots(&self) -> u32 {
        Pools::ALL.iter().filter(|p| p.is_varying()).map(|p| self.slots[*p as usize]).sum()
    }

    /// The first unit of a place, with so many units a varying slot.
    pub fn unit(&self, p: RegisterSlot, each: u32) -> u32 {
        let units = |pool: Pools, slots: u32| if pool.is_varying() { slots * each } else { slots };
        let before = Pools::ALL.iter().filter(|b| **b < p.pool).map(|b| units(*b, self.slots[*b as usize]));
        before.sum::<u32>() + units(p.pool, p.slot)
    }

    /// One past the last unit of a pool.
    pub fn end(&self, pool: Pools, each: u32) -> u32 {
        self.unit(RegisterSlot { pool, uniform: false, slot: self.slots[pool as usize] }, each)
    }
}

/// Fails when there are more slots than any width of wave has registers for.
fn check_room(pools: &[Pool; 4]) -> Result<()> {
    // A wave of 64 lanes has the smallest slots.
    let each =
        Pools::ALL.iter().zip(pools).map(|(p, pool)| pool.top as usize * if p.is_varying() { 4 } else { 1 });
    let units: usize = each.sum();
    if units > MAX_UNITS {
        return Err(Error::TooLarge(format!("{units} units of registers, {MAX_UNITS} there are")));
    }
    Ok(())
}

/// One kind's registers during the scan.
#[derive(Default)]
struct Pool {
    /// One bit a slot; all words before `full` are full.
    used: Vec<u64>,
    full: usize,
    top: u32,
    /// By slot: where sets that are dead for a while live again, in any order.
    later: Vec<Vec<(LiveRange, usize)>>,
}

impl Pool {
    fn is_free(&self, i: u32) -> bool {
        self.used.get(i as usize / 64).is_none_or(|w| w >> (i % 64) & 1 == 0)
    }
    /// The first free slot from `i` on.
    fn free_from(&self, i: u32) -> u32 {
        let free = |w: usize| !self.used.get(w).copied().unwrap_or(0);
        let mut w = i as usize / 64;
        let mut bits = free(w) & u64::MAX << (i % 64);
        while bits == 0 {
            w += 1;
            bits = free(w);
        }
        w as u32 * 64 + bits.trailing_zeros()
    }
    fn set(&mut self, i: u32, on: bool) {
        let w = i as usize / 64;
        if w >= self.used.len() {
            self.used.resize(w + 1, 0);
        }
        if on {
            self.used[w] |= 1 << (i % 64);
        } else {
            self.used[w] &= !(1 << (i % 64));
            self.full = self.full.min(w);
        }
    }
    fn set_all(&mut self, i: u32, wide: bool, on: bool) {
        self.set(i, on);
        if wide {
            self.set(i + 1, on);
        }
    }
    /// The first free slot where `ranges` meet nothing that comes back; those after the first are put down there.
    fn take(&mut self, lir: &Lir, ranges: &[LiveRange], class: usize, work: &Work) -> Result<u32> {
        let wide = is_wide(class);
        while self.used.get(self.full) == Some(&u64::MAX) {
            self.full += 1;
        }
        let mut i = self.free_from(self.full as u32 * 64);
        while !(self.fits(lir, i, ranges, class) && (!wide || self.fits(lir, i + 1, ranges, class))) {
            work.spend(1 + self.later.get(i as usize).map_or(0, |l| l.len() * ranges.len()))?;
            i = self.free_from(i + 1);
        }
        self.set_all(i, wide, true);
        self.top = self.top.max(i + 1 + wide as u32);
        if ranges.len() > 1 {
            for i in i..=i + wide as u32 {
                if self.later.len() <= i as usize {
                    self.later.resize(i as usize + 1, vec![]);
                }
                let list = &mut self.later[i as usize];
                list.retain(|l| l.0.hi >= ranges[0].lo);
                list.extend(ranges[1..].iter().map(|s| (*s, class)));
            }
        }
        Ok(i)
    }
    #[inline(always)]
    fn fits(&self, lir: &Lir, i: u32, ranges: &[LiveRange], class: usize) -> bool {
        if !self.is_free(i) {
            return false;
        }
        let Some(later) = self.later.get(i as usize) else { return true };
        later.iter().all(|(l, k)| {
            ranges.iter().all(|s| {
                let may = |p| *k == class && hands_over(lir, p);
                s.hi < l.lo || l.hi < s.lo || (s.hi == l.lo && may(l.lo)) || (l.hi == s.lo && may(s.lo))
            })
        })
    }
}

fn is_wide(class: usize) -> bool {
    matches!(class, 1 | 2 | 5 | 6)
}
fn pool_of(class: usize) -> usize {
    let pool = match class {
        6 => Pools::VaryingHandles,
        5 => Pools::SmallHandles,
        2 | 4 => Pools::Varying,
        _ => Pools::Small,
    };
    pool as usize
}

/// At `p` a register may end and another of its class begin in the same place. Inputs are there before the first op:
/// one that dies in it cannot.
fn hands_over(lir: &Lir, p: u32) -> bool {
    p > 0 && lir.insts.get(p as usize).is_some_and(|op| op.flags & ELEM != 0)
}

/// Registers in use during the scan, and those that will be again: (start, end, slot, class).
struct Active {
    /// Where the scan is: what ended before is free.
    at: u32,
    /// The last register to end at each later op, and which other ends with each. Few ends lie together, so that this is
    /// quicker than a heap.
    last: Vec<u32>,
    ends: Vec<End>,
    /// Slots of those that end where the scan is, by class, and a bit for each class that has some.
    now: [Vec<u32>; 7],
    held: u8,
    starts: BinaryHeap<Reverse<(u32, u32, u32, usize)>>,
    pools: [Pool; 4],
}

/// A register's end.
struct End {
    slot: u32,
    class: u8,
    next: u32,
}

impl Active {
    /// `count`: registers to expect.
    fn new(lir: &Lir, count: usize) -> Active {
        Active {
            at: 0,
            last: vec![NONE; lir.insts.len() + 1],
            ends: Vec::with_capacity(count),
            now: Default::default(),
            held: 0,
            starts: Default::default(),
            pools: Default::default(),
        }
    }

    /// A register in use ends at `p`, which is not before where the scan is.
    fn end(&mut self, p: u32, slot: u32, class: usize) {
        if p == self.at {
            self.hold(slot, class);
        } else if let Some(last) = self.last.get_mut(p as usize) {
            let next = std::mem::replace(last, self.ends.len() as u32);
            self.ends.push(End { slot, class: class as u8, next });
        }
    }

    /// Gives back what has ended before `p`, or hands over to an op of class `own` there.
    fn release(&mut self, lir: &Lir, p: u32, own: usize) {
        while self.at < p {
            while self.held != 0 {
                self.free(self.held.trailing_zeros() as usize);
            }
            self.at += 1;
            let mut end = self.last.get(self.at as usize).copied().unwrap_or(NONE);
            while let Some(&End { slot, class, next }) = self.ends.get(end as usize) {
                self.hold(slot, class as usize);
                end = next;
            }
        }
        if hands_over(lir, p) {
            self.free(own);
        }
    }

    fn hold(&mut self, slot: u32, class: usize) {
        self.now[class].push(slot);
        self.held |= 1 << class;
    }

    /// Gives back those of a class that end where the scan is.
    fn free(&mut self, class: usize) {
        self.held &= !(1 << class);
        for slot in self.now[class].drain(..) {
            self.pools[pool_of(class)].set_all(slot, is_wide(class), false);
        }
    }

    /// Moves on to `p`, where a register of class `own` begins.
    fn advance(&mut self, lir: &Lir, p: u32, own: usize) {
        while let Some(&Reverse((lo, hi, slot, k))) = self.starts.peek() {
            if lo > p {
                break;
            }
            self.starts.pop();
            self.release(lir, lo, k);
            self.pools[pool_of(k)].set_all(slot, is_wide(k), true);
            self.end(hi, slot, k);
        }
        self.release(lir, p, own);
    }
}

/// Kinds of registers that may be handed over in place: equal shape.
fn class(v: &VReg) -> usize {
    match (v.ty, v.uniform) {
        (_, true) if v.handle => 5,
        (_, false) if v.handle => 6,
        (Ty::Bool, _) => 0,
        (Ty::B64, true) => 1,
        (Ty::B64, false) => 2,
        (_, true) => 3,
        (_, false) => 4,
    }
}

/// Registers to place, as they begin: where each is live first, and whether it is a temporary for what is then moved under the mask.
fn in_order(lir: &Lir, webs: &Webs, is_const: &[bool]) -> Vec<(LiveRange, V, bool)> {
    let each = |f: &mut dyn FnMut(LiveRange, V, bool)| {
        for v in (0..lir.vregs.len() as V).filter(|&v| webs.is_root(v) && !is_const[v as usize]) {
            f(webs.ranges(v)[0], v, false);
        }
        webs.masked_defs.iter().for_each(|&(p, v)| f(LiveRange { lo: p, hi: p }, v, true));
    };
    // By where they begin: as many places for each op as registers begin there, filled from the first. Few begin together.
    let mut next = vec![0u32; lir.insts.len() + 2];
    each(&mut |s, _, _| next[s.lo as usize + 1] += 1);
    for p in 1..next.len() {
        next[p] += next[p - 1];
    }
    let mut order = vec![(LiveRange { lo: 0, hi: 0 }, 0, false); next[lir.insts.len() + 1] as usize];
    each(&mut |s, v, temporary| {
        let at = &mut next[s.lo as usize];
        order[*at as usize] = (s, v, temporary);
        *at += 1;
    });
    order.chunk_by_mut(|a, b| a.0.lo == b.0.lo).for_each(|together| together.small_sort());
    order
}

pub fn allocate(lir: &mut Lir, work: &Work) -> Result<Allocation> {
    let mut webs = webs(lir, work)?;
    for flag in std::mem::take(&mut webs.masked_copies) {
        lir.ext[flag as usize] = 1;
    }
    let lir: &Lir = lir;
    let n = lir.vregs.len();
    let mut is_const = vec![false; n];
    lir.consts.iter().for_each(|c| is_const[c.0 as usize] = true);
    let order = in_order(lir, &webs, &is_const);
    let mut temporary = vec![NONE; if webs.masked_defs.is_empty() { 0 } else { n }];
    let mut active = Active::new(lir, order.len());
    let mut root_slot = vec![NONE; n];
    for (first, v, temp) in order {
        let own = class(&lir.vregs[v as usize]);
        active.advance(lir, first.lo, own);
        let ranges = if temp { std::slice::from_ref(&first) } else { webs.ranges(v) };
        let slot = active.pools[pool_of(own)].take(lir, ranges, own, work)?;
        // A register held through a loop may begin where a temporary does, by an op that could hand over.
        active.end(first.hi.saturating_add(temp as u32), slot, own);
        check_room(&active.pools)?;
        active.starts.extend(ranges[1..].iter().map(|s| Reverse((s.lo, s.hi, slot, own))));
        if temp {
            temporary[v as usize] = slot;
        } else {
            root_slot[v as usize] = slot;
        }
    }
    let pools = active.pools;
    let mut slot: Vec<u32> = (0..n as V).map(|v| root_slot[webs.find(v) as usize]).collect();
    let mut slots = pools.map(|p| p.top);
    let smalls = &mut slots[Pools::Small as usize];
    let mut consts = vec![];
    let mut by_bits: FxHashMap<(Ty, u64), u32> = FxHashMap::default();
    for &(v, ty, bits) in &lir.consts {
        if !webs.occurs(v) {
            continue;
        }
        slot[v as usize] = *by_bits.entry((ty, bits)).or_insert_with(|| {
            let at = *smalls;
            *smalls += 1 + (ty == Ty::B64) as u32;
            consts.push((v, ty, bits));
            at
        });
    }
    let mut allocation = Allocation { slot, slots, consts, temporary, moves: vec![] };
    moves::resolve(lir, &mut allocation, work)?;
    Ok(allocation)
}
