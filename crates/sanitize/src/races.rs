//! Data races among the invocations of a dispatch (Vulkan memory model, "Data Race").
//!
//! Two accesses to the same byte by different invocations conflict if one of them writes and not both are atomic. They are a race unless
//! something orders them:
//! - a barrier of their workgroup between them;
//! - a fence or an operation of their subgroup, executed by both invocations after the earlier access;
//! - atomics: an acquire that read what a release wrote ([`crate::order`]).
//!
//! A fence of one invocation of a subgroup counts for all of it, which is wider than the memory model.
//!
//! A word remembers its last write and two of its readers, so a race with an earlier reader may stay unseen.

use crate::cells::{Cell, Cells, Few, Line, Stamp};
use crate::kept::Kept;
use crate::order::{At, Order, Orders};
use std::collections::VecDeque;

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum What {
    Read,
    Write,
    Atomic,
}

/// An invocation of a dispatch: the number of its workgroup, and its own number in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Invocation {
    pub group: u32,
    pub local: u32,
}

/// The same access by invocations of one subgroup.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    pub what: What,
    pub group: u32,
    pub subgroup: u32,
    /// The workgroup's memory: addresses count from its beginning.
    pub shared: bool,
    /// Of each invocation.
    pub bytes: u32,
    pub site: u32,
    /// Which of the following are there.
    pub lanes: u16,
    /// Numbers of the invocations in their workgroup.
    pub locals: &'a [u32; 16],
    pub addresses: &'a [u64; 16],
    /// The bits that a write stores, or a hash of them.
    pub values: Option<&'a [u32; 16]>,
    /// Of an atomic.
    pub order: Order,
}

/// A read or a write by all invocations of a subgroup, with successive numbers: of a row of sixteen words, or of one word.
#[derive(Clone, Copy, Debug)]
pub struct Plain<'a> {
    pub writes: bool,
    pub group: u32,
    pub subgroup: u32,
    pub shared: bool,
    pub site: u32,
    /// The first invocation's number.
    pub local: u32,
    pub address: u64,
    /// The words that a row's write stores, or hashes of them.
    pub values: Option<&'a [u32; 16]>,
    /// Lane after lane accesses word after word; else all read one.
    pub row: bool,
}

/// The earlier one of two accesses that race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conflict {
    pub what: What,
    pub by: Invocation,
    pub site: u32,
    /// The first byte that both access.
    pub address: u64,
}

/// What there is to say of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    Race,
    /// It replaces what the same invocation wrote and nothing has read.
    Dead,
}

/// What a subgroup has done; its invocations count as one.
#[derive(Clone, Copy, Default)]
pub(crate) struct Own {
    /// Barriers that it has passed.
    pub epoch: u16,
    /// When it last executed a fence or an operation of its subgroup, and an atomic.
    pub fence: u32,
    atomic: u32,
}

#[derive(Default)]
struct Group {
    subgroups: Vec<Own>,
    /// When any of its invocations last executed an atomic.
    atomic: u32,
}

/// Workgroups whose own memory is remembered: more than share a wave.
const LIVE_GROUPS: usize = 64;
/// Memory that a dispatch may have cells of, in bytes; a cell has a dozen bytes for each.
const MAX_BYTES: u64 = 256 << 20;

/// The accesses of a dispatch.
#[derive(Default)]
pub struct Races {
    /// Steps of the dispatch so far.
    time: u32,
    memory: Cells,
    shared: Kept<Cells>,
    /// Groups of `shared`, oldest first.
    live: VecDeque<u32>,
    groups: Kept<Group>,
    orders: Orders,
    /// Accesses of different groups are not compared.
    apart: bool,
    full: bool,
    /// All accesses are noted word by word.
    #[cfg(test)]
    by_words: bool,
}

impl Races {
    /// Of draws: a group is a draw, whose fragments are compared with each other.
    pub fn of_draws() -> Races {
        Races { apart: true, ..Races::default() }
    }

    /// The lanes of a wave are about to do something together.
    pub fn step(&mut self) {
        match self.time.checked_add(1) {
            Some(next) => self.time = next,
            None => self.full = true,
        }
    }

    /// The dispatch was too large: its later accesses were not followed.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// A subgroup passes a barrier of its workgroup.
    pub fn barrier(&mut self, group: u32, subgroup: u32) {
        let own = own(&mut self.groups, group, subgroup);
        own.epoch = own.epoch.saturating_add(1);
        let at = At::of(group, subgroup, own, self.time);
        self.orders.fence(at, Order::BARRIER);
    }

    /// A subgroup executes a fence, or an operation of its own.
    pub fn fence(&mut self, group: u32, subgroup: u32, order: Order) {
        let own = own(&mut self.groups, group, subgroup);
        own.fence = self.time;
        let at = At::of(group, subgroup, own, self.time);
        self.orders.fence(at, order);
    }

    /// An access; `found` is told of each lane whose access races, and with what, or replaces which store.
    pub fn access(&mut self, a: &Access, mut found: impl FnMut(usize, Told, Conflict)) {
        let fits = a.site <= u16::MAX as u32 && a.subgroup <= u8::MAX as u32;
        if self.full || !fits || self.memory.bytes() > MAX_BYTES {
            self.full = true;
            return;
        }
        let time = self.time;
        let mine = own(&mut self.groups, a.group, a.subgroup);
        if a.what == What::Atomic {
            mine.atomic = time;
        }
        let mine = *mine;
        if a.what == What::Atomic {
            self.groups.of(a.group).atomic = time;
            let at = At::of(a.group, a.subgroup, &mine, time);
            for l in (0..16).filter(|l| a.lanes >> l & 1 == 1) {
                let at = At { local: a.locals[l] as u16, ..at };
                self.orders.atomic(at, a.shared, a.addresses[l], a.order);
            }
        }
        let atomic = if a.what == What::Atomic { Stamp::ATOMIC } else { 0 };
        let stamp = Stamp {
            group: a.group,
            time,
            local: 0,
            epoch: mine.epoch,
            site: a.site as u16,
            subgroup: a.subgroup as u8,
            bytes: atomic,
        };
        if a.shared {
            self.keep(a.group);
        }
        let cells = match a.shared {
            true => self.shared.of(a.group),
            false => &mut self.memory,
        };
        #[cfg(test)]
        let by_words = self.by_words;
        #[cfg(not(test))]
        let by_words = false;
        if !by_words && in_order(cells, a, &stamp, &mine, &mut found) {
            return;
        }
        let past = Past { groups: &self.groups, orders: &self.orders, mine, apart: self.apart };
        let mut one = |l: usize| {
            let (address, value) = (a.addresses[l], a.values.map(|v| v[l]));
            let end = address.saturating_add(a.bytes as u64);
            let mut at = address & !3;
            let (mut first, mut dead) = (None, None);
            while at < end {
                let from = address.saturating_sub(at).min(4);
                let to = (end - at).min(4);
                let bytes = (0xFu8 << from & !(0xFu8 << to)) & Stamp::BYTES;
                let stamp = Stamp { local: a.locals[l] as u16, bytes: bytes | atomic, ..stamp };
                let cell = cells.at(at);
                first = first.or_else(|| past.conflict(a.what, value, cell, &stamp, at));
                if a.what == What::Write && is_dead(cell, &stamp) {
                    dead = Some(conflict_with(&cell.write, What::Write, &stamp, at));
                }
                record(cell, a.what, value, stamp);
                at += 4;
            }
            dead.into_iter().for_each(|d| found(l, Told::Dead, d));
            first.map(|conflict| found(l, Told::Race, conflict)).is_some()
        };
        let lanes = |of: u16| (0..16).filter(move |l| of >> l & 1 == 1);
        // If all read the same, two of them speak for the others: what orders one orders all, and only one can be the writer itself.
        let leader = a.lanes.trailing_zeros() as usize & 15;
        let same = a.what == What::Read && lanes(a.lanes).all(|l| a.addresses[l] == a.addresses[leader]);
        let others = a.lanes & a.lanes.wrapping_sub(1);
        let two = a.lanes & !(others & others.wrapping_sub(1));
        if !same {
            lanes(a.lanes).for_each(|l| {
                one(l);
            });
        } else if lanes(two).filter(|l| one(*l)).count() != 0 {
            lanes(a.lanes & !two).for_each(|l| {
                one(l);
            });
        }
    }

    /// Notes an access if it is certainly no race and replaces no store that nothing has read; else nothing is done, and
    /// [`Self::access`] is to know of it.
    #[inline]
    pub fn plain(&mut self, p: &Plain) -> bool {
        let fits = p.site <= u16::MAX as u32 && p.subgroup <= u8::MAX as u32;
        if self.full
            || !fits
            || self.memory.bytes() > MAX_BYTES
            || !p.address.is_multiple_of(if p.row { 64 } else { 4 })
        {
            return false;
        }
        let mine = *own(&mut self.groups, p.group, p.subgroup);
        if p.shared {
            self.keep(p.group);
        }
        let cells = match p.shared {
            true => self.shared.of(p.group),
            false => &mut self.memory,
        };
        let stamp = Stamp {
            group: p.group,
            time: self.time,
            local: p.local as u16,
            epoch: mine.epoch,
            site: p.site as u16,
            subgroup: p.subgroup as u8,
            bytes: Stamp::BYTES,
        };
        let Some((line, word)) = cells.line(p.address) else { return false };
        match p.row {
            true => row(line, p.writes, p.values, stamp, None),
            false => one_word(line, word, stamp, p.local + 1, &mine),
        }
    }

    /// Makes room for a workgroup's memory.
    fn keep(&mut self, group: u32) {
        if self.shared.has(group) {
            return;
        }
        if self.live.len() == LIVE_GROUPS
            && let Some(oldest) = self.live.pop_front()
        {
            self.shared.remove(oldest);
        }
        self.live.push_back(group);
    }
}

#[inline]
fn own(groups: &mut Kept<Group>, group: u32, subgroup: u32) -> &mut Own {
    let group = groups.of(group);
    let i = subgroup as usize;
    if group.subgroups.len() <= i {
        group.subgroups.resize(i + 1, Own::default());
    }
    &mut group.subgroups[i]
}

/// Notes an access to a line that nothing but such accesses was made to, if it is certainly no race; else nothing is done.
#[inline]
fn in_order(
    cells: &mut Cells,
    a: &Access,
    stamp: &Stamp,
    mine: &Own,
    found: &mut impl FnMut(usize, Told, Conflict),
) -> bool {
    let leader = a.lanes.trailing_zeros() as usize & 15;
    let (at, first) = (a.addresses[leader], a.locals[leader]);
    if a.bytes != 4 || a.what == What::Atomic || at % 4 != 0 {
        return false;
    }
    let mut here = *stamp;
    (here.local, here.bytes) = (first as u16, Stamp::BYTES);
    if a.lanes == 0xFFFF && at % 64 == 0 && is_row(a) {
        let Some((line, _)) = cells.line(at) else { return false };
        let mut dead = |w: Stamp| {
            for l in 0..16 {
                let by = Invocation { group: w.group, local: w.local as u32 + l as u32 };
                let address = a.addresses[l];
                found(l, Told::Dead, Conflict { what: What::Write, by, site: w.site as u32, address });
            }
        };
        return row(line, a.what == What::Write, a.values, here, Some(&mut dead));
    }
    let mut others = 0;
    for l in 0..16 {
        others |= if a.lanes >> l & 1 == 1 { a.addresses[l] ^ at } else { 0 };
    }
    if a.what != What::Read || others != 0 {
        return false;
    }
    let Some((line, word)) = cells.line(at) else { return false };
    let others = a.lanes & a.lanes.wrapping_sub(1);
    let second = if others == 0 { first } else { a.locals[others.trailing_zeros() as usize & 15] };
    one_word(line, word, here, second, mine)
}

/// Invocations of a subgroup, the second of which is `second`, read one word of a line.
#[inline]
fn one_word(line: &mut Line, word: usize, now: Stamp, second: u32, mine: &Own) -> bool {
    let before = line.write;
    if before.time != 0 && !is_before(&before, &now) {
        return false;
    }
    let few = &mut line.few;
    // What its readers did in between may order what they read before.
    let goes_on = few.words != 0
        && (few.stamp.group, few.stamp.local, few.second) == (now.group, now.local, second as u16)
        && few.stamp.epoch == now.epoch
        && mine.fence < few.stamp.time
        && mine.atomic < few.stamp.time;
    if few.words != 0 && !goes_on {
        return false;
    }
    *few = Few { words: few.words | 1 << word, stamp: now, second: second as u16 };
    true
}

/// Lane after lane accesses word after word.
#[inline]
fn is_row(a: &Access) -> bool {
    let (at, first) = (a.addresses[0], a.locals[0]);
    let mut differs = 0;
    for l in 0..16 {
        differs |= a.addresses[l] ^ (at + 4 * l as u64);
        differs |= (a.locals[l] ^ (first + l as u32)) as u64;
    }
    differs == 0
}

/// A barrier of the workgroup lies between.
#[inline]
fn is_before(earlier: &Stamp, now: &Stamp) -> bool {
    earlier.group == now.group && earlier.epoch < now.epoch
}

/// An access to all words of a line. `dead` hears of a store that is replaced and that nothing has read; without it nothing is done then.
#[inline]
fn row(
    line: &mut Line,
    writes: bool,
    values: Option<&[u32; 16]>,
    now: Stamp,
    dead: Option<&mut dyn FnMut(Stamp)>,
) -> bool {
    let same = |s: &Stamp| (s.group, s.local) == (now.group, now.local);
    let settled = |s: &Stamp| s.time == 0 || same(s) || is_before(s, &now);
    if !settled(&line.write) {
        return false;
    }
    if !writes {
        if !same(&line.reads[0]) {
            line.reads[1] = line.reads[0];
        }
        line.reads[0] = now;
        return true;
    }
    let few = line.few.words == 0 || is_before(&line.few.stamp, &now);
    if !few || !settled(&line.reads[0]) || !settled(&line.reads[1]) {
        return false;
    }
    let read = line.reads[0].time.max(if line.few.words == 0 { 0 } else { line.few.stamp.time });
    let w = line.write;
    if w.time != 0 && same(&w) && read < w.time {
        let Some(dead) = dead else { return false };
        dead(w);
    }
    // Reads before it that few made are ordered before it, and so before all that is.
    (line.write, line.few) = (now, Few::default());
    line.values = values.copied();
    true
}

/// What orders accesses: what all have done, and what the subgroup has that accesses now.
struct Past<'a> {
    groups: &'a Kept<Group>,
    orders: &'a Orders,
    mine: Own,
    apart: bool,
}

impl Past<'_> {
    /// The access of the cell's that races with this one.
    #[inline]
    fn conflict(
        &self,
        what: What,
        value: Option<u32>,
        cell: &Cell,
        now: &Stamp,
        at: u64,
    ) -> Option<Conflict> {
        let told = |s: &Stamp, plain| conflict_with(s, plain, now, at);
        // Two writes of the same bits leave the same memory in every order.
        let same =
            || what == What::Write && !cell.write.is_atomic() && value.is_some() && value == cell.value;
        if self.races(&cell.write, now) && !same() {
            return Some(told(&cell.write, What::Write));
        }
        if what == What::Read {
            return None;
        }
        cell.reads.iter().find(|r| self.races(r, now)).map(|r| told(r, What::Read))
    }

    #[inline]
    fn races(&self, earlier: &Stamp, now: &Stamp) -> bool {
        earlier.time != 0
            && earlier.bytes & now.bytes & Stamp::BYTES != 0
            && (earlier.group, earlier.local) != (now.group, now.local)
            && !(earlier.is_atomic() && now.is_atomic())
            && !(self.apart && earlier.group != now.group)
            && !self.ordered(earlier, now)
    }

    /// Whether something orders an earlier access before what this invocation does now.
    fn ordered(&self, earlier: &Stamp, now: &Stamp) -> bool {
        if earlier.group == now.group && earlier.epoch < now.epoch {
            return true;
        }
        let then = self.groups.get(earlier.group);
        let both = |mine: u32, others: u32| mine > earlier.time && others > earlier.time;
        let might = if earlier.group != now.group {
            let mine = self.groups.get(now.group).map_or(0, |g| g.atomic);
            both(mine, then.map_or(0, |g| g.atomic))
        } else {
            let other = then.and_then(|g| g.subgroups.get(earlier.subgroup as usize));
            let Some(other) = other else { return false };
            if earlier.subgroup == now.subgroup && both(self.mine.fence, other.fence) {
                return true;
            }
            both(self.mine.atomic, other.atomic)
        };
        let at = At::of(now.group, now.subgroup as u32, &self.mine, now.time);
        might && self.orders.ordered(earlier, At { local: now.local, ..at })
    }
}

/// An earlier access, as the one that an access conflicts with in the word at `at`.
fn conflict_with(s: &Stamp, plain: What, now: &Stamp, at: u64) -> Conflict {
    Conflict {
        what: if s.is_atomic() { What::Atomic } else { plain },
        by: Invocation { group: s.group, local: s.local as u32 },
        site: s.site as u32,
        address: at + (s.bytes & now.bytes & Stamp::BYTES).trailing_zeros() as u64,
    }
}

/// Whether a write replaces all that the same invocation wrote to a word, before anything has read that.
#[inline]
fn is_dead(cell: &Cell, now: &Stamp) -> bool {
    let w = &cell.write;
    (w.group, w.local) == (now.group, now.local)
        && w.time != 0
        && w.time < now.time
        && !w.is_atomic()
        && w.bytes & !now.bytes & Stamp::BYTES == 0
        && cell.reads[0].time < w.time
}

#[inline]
fn record(cell: &mut Cell, what: What, value: Option<u32>, stamp: Stamp) {
    if what != What::Read {
        cell.write = stamp;
        cell.value = value.filter(|_| what == What::Write);
        return;
    }
    let latest = cell.reads[0];
    if (latest.group, latest.local) != (stamp.group, stamp.local) {
        cell.reads[1] = latest;
    }
    cell.reads[0] = stamp;
}

#[cfg(test)]
mod tests;
