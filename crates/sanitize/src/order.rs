//! Which accesses atomics order: those before a release are ordered before what follows an acquire that read the release's value, or what
//! atomics that read and write made of it (Vulkan memory model, "Synchronizes-With": release sequences, fences, scopes).
//!
//! Storage classes of semantics, and availability and visibility, are not compared: an order of one class counts for all.

use crate::cells::Stamp;
use crate::hash::Map;
use crate::races::Own;
use std::cell::Cell;

/// What an atomic, or a fence, orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Order {
    pub acquires: bool,
    pub releases: bool,
    /// For other workgroups too.
    pub wide: bool,
    /// Of an atomic.
    pub reads: bool,
    pub writes: bool,
}

impl Order {
    /// A barrier's: whatever its semantics are, a workgroup that meets there counts as one that orders all.
    pub const BARRIER: Order =
        Order { acquires: true, releases: true, wide: true, reads: false, writes: false };
}

/// An invocation, and what it has passed so far.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct At {
    pub group: u32,
    pub subgroup: u8,
    pub local: u16,
    /// Barriers that it has passed.
    pub epoch: u16,
    /// When its subgroup last executed a fence.
    pub fence: u32,
    pub time: u32,
}

impl At {
    /// Of the first invocation of a subgroup.
    pub fn of(group: u32, subgroup: u32, own: &Own, time: u32) -> At {
        At { group, subgroup: subgroup as u8, local: 0, epoch: own.epoch, fence: own.fence, time }
    }
}

/// What is ordered before a value that an atomic wrote.
#[derive(Clone, Copy)]
struct Release {
    by: At,
    /// When it was written.
    written: u32,
    wide: bool,
}

/// What an invocation has read of releases.
#[derive(Clone, Copy)]
struct Acquired {
    /// When it counts from.
    by: At,
    wide: bool,
    place: u32,
    /// Releases of the place.
    from: u32,
    to: u32,
}

#[derive(Default)]
struct Place {
    releases: Vec<Release>,
    /// The first one whose value, or what atomics made of it, may lie there.
    head: u32,
}

/// The last fence of a subgroup that releases, and what it has read without acquiring.
#[derive(Default)]
struct Pending {
    release: Option<(At, Order)>,
    /// Where it has been released, and the number of that release.
    placed: Map<u32, u32>,
    read: Vec<Acquired>,
}

/// Releases and reads of them that are kept of a dispatch; beyond, an order that might exist is taken to exist.
const MOST: usize = 1 << 20;
/// Releases, and reads of them, that are looked at to find out whether an access is ordered.
const LOOKS: u32 = 20_000;

/// The atomics of a dispatch.
#[derive(Default)]
pub(crate) struct Orders {
    /// By workgroup whose memory it is, plus one, or 0, and address.
    index: Map<(u32, u64), u32>,
    places: Vec<Place>,
    /// By workgroup.
    acquired: Map<u32, Vec<Acquired>>,
    pending: Map<(u32, u8), Pending>,
    kept: usize,
    /// The last question, and the answer.
    last: Cell<Option<(Question, bool)>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Question {
    earlier: [u32; 5],
    now: [u32; 5],
    kept: usize,
}

impl Orders {
    /// Too much was done to remember it.
    pub fn is_full(&self) -> bool {
        self.kept > MOST
    }

    /// A subgroup executes a fence.
    pub fn fence(&mut self, at: At, order: Order) {
        if !(order.acquires || order.releases) || self.is_full() {
            return;
        }
        let pending = self.pending.entry((at.group, at.subgroup)).or_default();
        if order.releases {
            pending.release = Some((at, order));
            pending.placed.clear();
        }
        if order.acquires && !pending.read.is_empty() {
            let all = self.acquired.entry(at.group).or_default();
            let read = pending.read.drain(..);
            all.extend(read.map(|a| Acquired {
                by: At { time: at.time, ..a.by },
                wide: a.wide && order.wide,
                ..a
            }));
        }
    }

    /// An invocation executes an atomic at an address, of its workgroup's memory if that is `shared`.
    pub fn atomic(&mut self, at: At, shared: bool, address: u64, order: Order) {
        if self.is_full() {
            return;
        }
        let key = (if shared { at.group + 1 } else { 0 }, address);
        let known = self.index.get(&key).copied();
        if let Some(n) = known.filter(|_| order.reads) {
            self.read(at, n, order);
        }
        if !order.writes {
            return;
        }
        if let Some(n) = known.filter(|_| !order.reads) {
            let place = &mut self.places[n as usize];
            place.head = place.releases.len() as u32;
        }
        if order.releases {
            let n = self.place(key, known);
            self.places[n as usize].releases.push(Release { by: at, written: at.time, wide: order.wide });
            self.kept += 1;
            return;
        }
        let Some(fenced) = self.pending.get(&(at.group, at.subgroup)).and_then(|p| p.release) else { return };
        let (by, fence) = fenced;
        // What a barrier orders in its workgroup needs no atomic.
        if shared && fence == Order::BARRIER {
            return;
        }
        let n = self.place(key, known);
        let Some(pending) = self.pending.get_mut(&(at.group, at.subgroup)) else { return };
        let place = &mut self.places[n as usize];
        // A fence orders no more with every atomic after it.
        if pending.placed.get(&n).is_some_and(|k| *k >= place.head) {
            return;
        }
        pending.placed.insert(n, place.releases.len() as u32);
        place.releases.push(Release { by, written: at.time, wide: fence.wide && order.wide });
        self.kept += 1;
    }

    fn place(&mut self, key: (u32, u64), known: Option<u32>) -> u32 {
        known.unwrap_or_else(|| {
            self.index.insert(key, self.places.len() as u32);
            self.places.push(Place::default());
            self.places.len() as u32 - 1
        })
    }

    fn read(&mut self, at: At, n: u32, order: Order) {
        let place = &self.places[n as usize];
        let (from, to) = (place.head, place.releases.len() as u32);
        if from == to {
            return;
        }
        let acquired = Acquired { by: at, wide: order.wide, place: n, from, to };
        let all = match order.acquires {
            true => self.acquired.entry(at.group).or_default(),
            false => &mut self.pending.entry((at.group, at.subgroup)).or_default().read,
        };
        // Who waits for a value reads it again and again.
        let again = |a: &Acquired| {
            (a.place, a.from, a.to, a.by.local, a.by.epoch) == (n, from, to, at.local, at.epoch)
        };
        if !all.last().is_some_and(again) {
            all.push(acquired);
            self.kept += 1;
        }
    }

    /// Whether atomics order an earlier access before what an invocation does now; also if that cannot be said.
    pub fn ordered(&self, earlier: &Stamp, now: At) -> bool {
        if self.is_full() {
            return true;
        }
        let question = Question {
            earlier: [
                earlier.group,
                earlier.local as u32,
                earlier.epoch as u32,
                earlier.time,
                earlier.subgroup as u32,
            ],
            now: [now.group, now.local as u32, now.epoch as u32, now.fence, now.subgroup as u32],
            kept: self.kept,
        };
        if let Some((_, answer)) = self.last.get().filter(|(q, _)| *q == question) {
            return answer;
        }
        let answer = self.search(earlier, now);
        self.last.set(Some((question, answer)));
        answer
    }

    fn search(&self, earlier: &Stamp, now: At) -> bool {
        // Of each place and first release, up to which one all were looked at.
        let mut seen: Map<(u32, u32), u32> = Map::default();
        let mut looks = LOOKS;
        let mut views = vec![now];
        while let Some(view) = views.pop() {
            let Some(all) = self.acquired.get(&view.group) else { continue };
            for a in all.iter().rev() {
                looks -= 1;
                if looks == 0 {
                    return true;
                }
                if !counts_for(&a.by, &view) {
                    continue;
                }
                let place = &self.places[a.place as usize];
                let to = seen.get(&(a.place, a.from)).copied().unwrap_or(a.from);
                if a.to <= to {
                    continue;
                }
                let mut in_scope = true;
                for r in place.releases[to as usize..a.to as usize].iter().rev() {
                    if r.written <= earlier.time {
                        break;
                    }
                    looks -= 1;
                    if looks == 0 {
                        return true;
                    }
                    if r.by.group != view.group && !(r.wide && a.wide) {
                        in_scope = false;
                        continue;
                    }
                    if is_before(earlier, &r.by) {
                        return true;
                    }
                    views.push(r.by);
                }
                // Those of another scope may count for another view.
                if in_scope {
                    seen.insert((a.place, a.from), a.to);
                }
            }
        }
        false
    }
}

/// Whether what one invocation acquired counts for another, or for it later.
fn counts_for(by: &At, view: &At) -> bool {
    (by.local == view.local && by.time <= view.time)
        || by.epoch < view.epoch
        || by.subgroup == view.subgroup && by.time <= view.fence
}

/// Whether an access is ordered before what an invocation of its workgroup does, without atomics.
fn is_before(earlier: &Stamp, by: &At) -> bool {
    earlier.group == by.group
        && (earlier.local == by.local && earlier.time <= by.time
            || earlier.epoch < by.epoch
            || earlier.subgroup == by.subgroup && earlier.time <= by.fence)
}
