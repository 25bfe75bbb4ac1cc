//! Data races among the invocations of a dispatch (Vulkan memory model, "Data Race").
//!
//! Two accesses to the same byte by different invocations conflict if one of them writes and not both are atomic. They are a race unless
//! something orders them:
//! - a barrier of their workgroup between them;
//! - a fence or an operation of their subgroup, executed by both invocations after the earlier access;
//! - atomics that both invocations (or, in different workgroups, any invocation of both) executed after the earlier access.
//!
//! The last two are wider than the memory model, which asks which value an atomic read and with which semantics: an order that might exist
//! is taken to exist. So a missing fence next to atomics is not found, but nothing is reported that is ordered.
//!
//! A word remembers its last write and two of its readers, so a race with an earlier reader may stay unseen.

use crate::cells::{Cell, Cells, Stamp};
use crate::hash::Map;
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

/// An access of one invocation.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub what: What,
    pub by: Invocation,
    /// The workgroup's memory: addresses count from its beginning.
    pub shared: bool,
    pub address: u64,
    pub bytes: u32,
    pub site: u32,
    /// The bits that a write stores, or a hash of them.
    pub value: Option<u32>,
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

#[derive(Clone, Copy, Default)]
struct Own {
    /// Barriers that it has passed.
    epoch: u16,
    /// When it last executed a fence or an operation of its subgroup, and an atomic.
    fence: u32,
    atomic: u32,
}

#[derive(Default)]
struct Group {
    invocations: Vec<Own>,
    /// When any of its invocations last executed an atomic.
    atomic: u32,
}

/// Workgroups whose own memory is remembered: more than share a wave.
const LIVE_GROUPS: usize = 64;
/// Lanes of a subgroup.
const SUBGROUP: u32 = 16;
/// Memory that a dispatch may have cells of, in bytes; a cell has a dozen bytes for each.
const MAX_BYTES: u64 = 256 << 20;

/// The accesses of a dispatch.
#[derive(Default)]
pub struct Races {
    /// Steps of the dispatch so far.
    time: u32,
    memory: Cells,
    shared: Map<u32, Cells>,
    /// Groups of `shared`, oldest first.
    live: VecDeque<u32>,
    groups: Map<u32, Group>,
    full: bool,
}

impl Races {
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

    fn own(&mut self, who: Invocation) -> &mut Own {
        let group = self.groups.entry(who.group).or_default();
        let i = who.local as usize;
        if group.invocations.len() <= i {
            group.invocations.resize(i + 1, Own::default());
        }
        &mut group.invocations[i]
    }

    /// The invocation passes a barrier of its workgroup.
    pub fn barrier(&mut self, who: Invocation) {
        let own = self.own(who);
        own.epoch = own.epoch.saturating_add(1);
    }

    /// The invocation executes a fence, or an operation of its subgroup.
    pub fn fence(&mut self, who: Invocation) {
        let time = self.time;
        self.own(who).fence = time;
    }

    /// An access; the race that it takes part in, if it does.
    pub fn access(&mut self, a: &Access) -> Option<Conflict> {
        let fits = a.site <= u16::MAX as u32 && a.by.local <= u16::MAX as u32;
        if self.full || !fits || self.memory.bytes() > MAX_BYTES {
            self.full = true;
            return None;
        }
        let time = self.time;
        let own = self.own(a.by);
        if a.what == What::Atomic {
            own.atomic = time;
        }
        let own = *own;
        if a.what == What::Atomic {
            self.groups.entry(a.by.group).or_default().atomic = time;
        }
        let stamp = Stamp {
            group: a.by.group,
            time,
            local: a.by.local as u16,
            epoch: own.epoch,
            site: a.site as u16,
            bytes: 0,
            atomic: a.what == What::Atomic,
        };
        let mut found = None;
        let end = a.address.saturating_add(a.bytes as u64);
        let mut at = a.address & !3;
        while at < end {
            let from = a.address.saturating_sub(at).min(4);
            let to = (end - at).min(4);
            let stamp = Stamp { bytes: (0xF << from & !(0xF << to)) as u8 & 0xF, ..stamp };
            let cell = self.cell(a, at);
            let before = *cell;
            record(cell, a, stamp);
            found = found.or_else(|| self.conflict(a, &before, stamp, own, at));
            at += 4;
        }
        found
    }

    fn cell(&mut self, a: &Access, at: u64) -> &mut Cell {
        if !a.shared {
            return self.memory.at(at);
        }
        // (Asked first: most accesses are of a group that is there.)
        if !self.shared.contains_key(&a.by.group) {
            if self.live.len() == LIVE_GROUPS
                && let Some(oldest) = self.live.pop_front()
            {
                self.shared.remove(&oldest);
            }
            self.live.push_back(a.by.group);
        }
        self.shared.entry(a.by.group).or_default().at(at)
    }

    /// The access of the cell's that races with this one.
    fn conflict(&self, a: &Access, cell: &Cell, now: Stamp, own: Own, at: u64) -> Option<Conflict> {
        let what = |s: &Stamp, plain| if s.atomic { What::Atomic } else { plain };
        let races = |s: &Stamp| {
            s.time != 0
                && s.bytes & now.bytes != 0
                && (s.group, s.local) != (now.group, now.local)
                && !(s.atomic && now.atomic)
                && !self.ordered(s, now, own)
        };
        let told = |s: &Stamp, plain| Conflict {
            what: what(s, plain),
            by: Invocation { group: s.group, local: s.local as u32 },
            site: s.site as u32,
            address: at + (s.bytes & now.bytes).trailing_zeros() as u64,
        };
        // Two writes of the same bits leave the same memory in every order.
        let same = a.what == What::Write && !cell.write.atomic && a.value.is_some() && a.value == cell.value;
        if races(&cell.write) && !same {
            return Some(told(&cell.write, What::Write));
        }
        if a.what == What::Read {
            return None;
        }
        cell.reads.iter().find(|r| races(r)).map(|r| told(r, What::Read))
    }

    /// Whether something orders an earlier access before what this invocation does now.
    fn ordered(&self, earlier: &Stamp, now: Stamp, own: Own) -> bool {
        let then = self.groups.get(&earlier.group);
        if earlier.group != now.group {
            let mine = self.groups.get(&now.group).map_or(0, |g| g.atomic);
            return mine > earlier.time && then.is_some_and(|g| g.atomic > earlier.time);
        }
        if earlier.epoch < now.epoch {
            return true;
        }
        let Some(other) = then.and_then(|g| g.invocations.get(earlier.local as usize)) else { return false };
        let subgroup = |local: u16| local as u32 / SUBGROUP;
        let both = |mine: u32, others: u32| mine > earlier.time && others > earlier.time;
        both(own.atomic, other.atomic)
            || subgroup(earlier.local) == subgroup(now.local) && both(own.fence, other.fence)
    }
}

fn record(cell: &mut Cell, a: &Access, stamp: Stamp) {
    if a.what != What::Read {
        cell.write = stamp;
        cell.value = a.value.filter(|_| a.what == What::Write);
        return;
    }
    let [latest, _] = cell.reads;
    if (latest.group, latest.local) != (stamp.group, stamp.local) {
        cell.reads[1] = latest;
    }
    cell.reads[0] = stamp;
}

#[cfg(test)]
mod tests;
