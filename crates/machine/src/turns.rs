//! In which order the queues of a device work: that in which they were given their work, over all queues, on every run.
//!
//! Work gets a ticket when it is submitted, and is done in the order of tickets, one at a time: its shading has all threads anyway. Work
//! that waits for a signal which nobody has submitted yet (a later value of a timeline, the host's, an event's) is set aside, with all
//! that its queue has behind it, and holds up nobody. It gets its ticket when that signal is submitted: right behind who signals. So
//! whoever has the lowest ticket has what it waits for, and goes on.
//!
//! A submission that waits for an event in its middle, which was not to be set by then, ends its turn there: what follows is a part with
//! a ticket of its own.
//!
//! Whoever has to wait nevertheless (for what programs may not do: an event that was reset too early) holds up nobody
//! either: as long as it waits, all work as they come.

use crate::sync::{Event, Hub, Semaphore};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

/// What a submission does that others may wait for, or that waits for others. First come its waits for semaphores.
pub enum Step {
    Wait(Arc<Semaphore>, u64),
    /// It begins: what it waits for as a whole is there.
    Begin,
    WaitEvents(Vec<Arc<Event>>),
    Set(Arc<Event>),
    Reset(Arc<Event>),
    Signal(Arc<Semaphore>, u64),
}

/// A submission's place among all.
#[derive(Default)]
pub struct Slot {
    /// Submissions are numbered as they come.
    number: u64,
    /// Waits for events so far.
    part: u32,
    /// 0: none yet.
    ticket: u64,
}

#[derive(Default)]
pub struct Turns {
    /// The lowest ticket of work that is not finished, less one.
    finished: AtomicU64,
    /// Who waits, in its turn, for what should have been there: as long as there is one, nobody waits for its turn.
    blocked: AtomicU32,
    /// Tickets of finished work before which some is not finished. Locked within the hub's lock, or alone.
    early: Mutex<BTreeSet<u64>>,
    /// As above.
    order: Mutex<Order>,
}

/// Who comes when, by what has been submitted; what has been done of it does not matter.
#[derive(Default)]
struct Order {
    numbers: u64,
    tickets: u64,
    /// Submissions, by queue, of which the first waits for what nobody has submitted yet.
    aside: Vec<VecDeque<Aside>>,
    /// Parts of submissions that were set aside, by number and part, with their tickets once they have them.
    parts: BTreeMap<(u64, u32), Option<u64>>,
}

/// What is left of a submission that is set aside.
struct Aside {
    walk: Walk,
    next: Step,
    rest: Box<dyn Iterator<Item = Step> + Send>,
}

struct Walk {
    number: u64,
    part: u32,
    /// The part is set aside.
    stopped: bool,
    /// The first part's ticket, if it never was.
    first: u64,
}

impl Order {
    fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }

    /// A part may go on.
    fn go(&mut self, walk: &mut Walk) {
        if std::mem::take(&mut walk.stopped) {
            let ticket = self.ticket();
            self.parts.insert((walk.number, walk.part), Some(ticket));
        } else if walk.part == 0 {
            walk.first = self.ticket();
        }
    }

    /// Takes a step; false if nobody has submitted yet what it waits for.
    fn take(&mut self, step: &Step, walk: &mut Walk) -> bool {
        match step {
            Step::Wait(s, value) => return s.is_promised(*value),
            Step::Begin => self.go(walk),
            Step::WaitEvents(events) => {
                if !walk.stopped {
                    walk.part += 1;
                }
                if !events.iter().all(|e| e.promised.load(Relaxed)) {
                    return false;
                }
                self.go(walk);
            }
            Step::Set(e) => e.promised.store(true, Relaxed),
            Step::Reset(e) => e.promised.store(false, Relaxed),
            Step::Signal(s, value) => s.promise(*value),
        }
        true
    }

    /// Takes steps until one has to wait: that one.
    fn walk(&mut self, steps: &mut impl Iterator<Item = Step>, walk: &mut Walk) -> Option<Step> {
        let stop = steps.find(|step| !self.take(step, walk))?;
        self.stop(walk);
        Some(stop)
    }

    fn stop(&mut self, walk: &mut Walk) {
        walk.stopped = true;
        self.parts.insert((walk.number, walk.part), None);
    }

    /// Lets those go on that were set aside and now can, the earliest first; whether there was one.
    fn settle(&mut self) -> bool {
        let mut moved = false;
        loop {
            let mut heads: Vec<(u64, usize)> = (self.aside.iter().enumerate())
                .filter_map(|(queue, all)| Some((all.front()?.walk.number, queue)))
                .collect();
            heads.sort_unstable();
            if !heads.iter().any(|&(_, queue)| self.resume(queue)) {
                return moved;
            }
            moved = true;
        }
    }

    /// Lets a queue's first submission that was set aside go on as far as it can; false if that is nowhere.
    fn resume(&mut self, queue: usize) -> bool {
        let Some(mut a) = self.aside[queue].pop_front() else { return false };
        let moves = self.take(&a.next, &mut a.walk);
        let stop = if moves { self.walk(&mut a.rest, &mut a.walk) } else { Some(a.next) };
        if let Some(next) = stop {
            self.aside[queue].push_front(Aside { next, ..a });
        }
        moves
    }
}

impl Turns {
    /// A queue is given a submission of these steps, the queue's calls in order. Whether others that were set aside may go on by it:
    /// then those who wait are to look again.
    pub fn submit(
        &self,
        queue: usize,
        mut steps: impl Iterator<Item = Step> + Send + 'static,
    ) -> (Slot, bool) {
        let order = &mut *self.order.lock();
        order.numbers += 1;
        let mut walk = Walk { number: order.numbers, part: 0, stopped: false, first: 0 };
        let behind = order.aside.get(queue).is_some_and(|a| !a.is_empty());
        let stop = match behind {
            false => order.walk(&mut steps, &mut walk),
            true => {
                order.stop(&mut walk);
                steps.next()
            }
        };
        let slot = Slot { number: walk.number, part: 0, ticket: walk.first };
        if let Some(next) = stop {
            if order.aside.len() <= queue {
                order.aside.resize_with(queue + 1, Default::default);
            }
            order.aside[queue].push_back(Aside { walk, next, rest: Box::new(steps) });
        }
        (slot, !behind && order.settle())
    }

    /// The host takes a step. Within a change of the hub.
    pub fn host(&self, step: Step) {
        let order = &mut *self.order.lock();
        let mut nobody = Walk { number: 0, part: 0, stopped: false, first: 0 };
        order.take(&step, &mut nobody);
        order.settle();
    }

    /// Whether all work is done but that which waits for a signal that nobody has submitted.
    pub fn is_quiet(&self) -> bool {
        self.finished.load(SeqCst) == self.order.lock().tickets
    }

    /// Something was signalled elsewhere: who was set aside looks again. Within a change of the hub.
    pub fn look(&self) {
        self.order.lock().settle();
    }

    /// Waits until it is a submission's turn.
    pub fn begin(&self, hub: &Hub, slot: &mut Slot) {
        if slot.ticket != 0 && self.is(slot.ticket) {
            return;
        }
        hub.wait(u64::MAX, || {
            let part = (slot.number, slot.part);
            if slot.ticket == 0
                && let Some(ticket) = self.order.lock().parts.get(&part).copied().flatten()
            {
                slot.ticket = ticket;
            }
            slot.ticket != 0 && self.is(slot.ticket)
        });
        self.order.lock().parts.remove(&(slot.number, slot.part));
    }

    fn is(&self, ticket: u64) -> bool {
        self.finished.load(SeqCst) + 1 == ticket || self.blocked.load(SeqCst) > 0
    }

    /// A submission comes to the next of its waits for events: it waits there if it was set aside there.
    pub fn part(&self, hub: &Hub, slot: &mut Slot) {
        slot.part += 1;
        if !self.order.lock().parts.contains_key(&(slot.number, slot.part)) {
            return;
        }
        hub.change(|| self.end(slot));
        self.begin(hub, slot);
    }

    /// Waits, in a turn, for what is there unless the program did what it may not.
    pub fn wait(&self, hub: &Hub, mut ready: impl FnMut() -> bool + Send) {
        if hub.wait(0, &mut ready) {
            return;
        }
        hub.change(|| self.blocked.fetch_add(1, SeqCst));
        hub.wait(u64::MAX, ready);
        self.blocked.fetch_sub(1, SeqCst);
    }

    /// A part's turn is over. Within a change of the hub.
    pub fn end(&self, slot: &mut Slot) {
        let ticket = std::mem::take(&mut slot.ticket);
        if ticket == 0 {
            return;
        }
        let early = &mut *self.early.lock();
        let mut finished = self.finished.load(SeqCst);
        if ticket != finished + 1 {
            early.insert(ticket);
            return;
        }
        finished = ticket;
        while early.remove(&(finished + 1)) {
            finished += 1;
        }
        self.finished.store(finished, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which tickets submissions have, 0 for none; by part.
    fn tickets(t: &Turns, slots: &[Slot], part: u32) -> Vec<u64> {
        let parts = &t.order.lock().parts;
        let of = |s: &Slot| match part {
            0 if s.ticket != 0 => s.ticket,
            _ => parts.get(&(s.number, part)).copied().flatten().unwrap_or(0),
        };
        slots.iter().map(of).collect()
    }

    fn submit(t: &Turns, queue: usize, waits: &[(&Arc<Semaphore>, u64)], then: Vec<Step>) -> Slot {
        let waits: Vec<Step> = waits.iter().map(|(s, v)| Step::Wait((*s).clone(), *v)).collect();
        t.submit(queue, waits.into_iter().chain([Step::Begin]).chain(then)).0
    }
    fn signal(s: &Arc<Semaphore>, value: u64) -> Step {
        Step::Signal(s.clone(), value)
    }

    #[test]
    fn a_chain_over_three_queues_in_the_wrong_order() {
        let (t, s) = (Turns::default(), Semaphore::timeline(0));
        let slots = [
            submit(&t, 0, &[(&s, 3)], vec![]),
            submit(&t, 1, &[(&s, 2)], vec![signal(&s, 3)]),
            // Behind what is set aside.
            submit(&t, 1, &[], vec![]),
            submit(&t, 2, &[], vec![]),
            submit(&t, 2, &[(&s, 1)], vec![signal(&s, 2)]),
            // Before a signal of a lower value, which changes nothing then.
            submit(&t, 0, &[], vec![]),
        ];
        assert_eq!(tickets(&t, &slots, 0), [0, 0, 0, 1, 0, 0]);
        t.host(signal(&s, 1));
        // The fifth signals 2, the second 3; then the earliest that can go on, each time.
        assert_eq!(tickets(&t, &slots, 0), [4, 3, 5, 1, 2, 6]);
        assert!(t.order.lock().aside.iter().all(|a| a.is_empty()));
    }

    #[test]
    fn a_binary_signal_is_for_one_wait() {
        let (t, s) = (Turns::default(), Semaphore::binary());
        let slots = [
            submit(&t, 0, &[], vec![signal(&s, 0)]),
            submit(&t, 1, &[(&s, 0)], vec![]),
            submit(&t, 1, &[(&s, 0)], vec![]),
        ];
        assert_eq!(tickets(&t, &slots, 0), [1, 2, 0]);
        t.host(signal(&s, 0));
        assert_eq!(tickets(&t, &slots, 0), [1, 2, 3]);
        assert!(!s.is_promised(0));
    }

    #[test]
    fn parts_by_events() {
        let (t, e) = (Turns::default(), [(); 2].map(|_| Arc::<Event>::default()));
        let wait = |i: usize| Step::WaitEvents(vec![e[i].clone()]);
        let slots = [
            // Its own event, then the host's two.
            submit(
                &t,
                0,
                &[],
                vec![Step::Set(e[0].clone()), wait(0), Step::Reset(e[0].clone()), wait(0), wait(1)],
            ),
            submit(&t, 1, &[], vec![]),
        ];
        assert_eq!(tickets(&t, &slots, 0), [1, 2]);
        t.host(Step::Set(e[0].clone()));
        // The first wait was foreseen, so it is no part.
        assert_eq!([1, 2, 3].map(|part| tickets(&t, &slots[..1], part)[0]), [0, 3, 0]);
        t.host(Step::Set(e[1].clone()));
        assert_eq!([1, 2, 3].map(|part| tickets(&t, &slots[..1], part)[0]), [0, 3, 4]);
    }

    /// Whoever waits in its turn holds up nobody, and what ends early is not forgotten.
    #[test]
    fn a_wait_that_was_not_foreseen_holds_up_nobody() {
        let (t, hub) = (Turns::default(), Hub::default());
        let [mut a, mut b, mut c] = [0, 1, 0].map(|queue| submit(&t, queue, &[], vec![]));
        let there = AtomicU32::new(0);
        t.begin(&hub, &mut a);
        assert!(!t.is(b.ticket));
        std::thread::scope(|s| {
            s.spawn(|| t.wait(&hub, || there.load(SeqCst) == 1));
            t.begin(&hub, &mut b);
            hub.change(|| t.end(&mut b));
            hub.change(|| there.store(1, SeqCst));
        });
        assert!(!t.is(c.ticket));
        hub.change(|| t.end(&mut a));
        t.begin(&hub, &mut c);
        assert!(t.is(c.ticket) && t.early.lock().is_empty());
    }
}
