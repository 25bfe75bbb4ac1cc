//! Ranges of bytes with equal histories.

use super::scope::Scope;
use super::state::{Access, Between, Conflict, Contents, Line, Seen, State};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// What orders commands.
#[derive(Clone, Debug)]
pub struct Barrier {
    pub from: Line,
    pub to: Line,
    pub first: Scope,
    pub second: Scope,
    /// Bytes whose writes become available and visible, in order; `None`: all.
    pub memory: Option<Arc<[Range<u64>]>>,
}

impl Barrier {
    fn at(&self, address: u64) -> Between {
        let memory = self.memory.as_ref().is_none_or(|m| {
            let after = m.partition_point(|r| r.end <= address);
            m.get(after).is_some_and(|r| r.start <= address)
        });
        Between { from: self.from, to: self.to, first: self.first, second: self.second, memory }
    }
}

/// A change of layout, which a barrier makes between its scopes.
#[derive(Clone, Debug)]
pub struct Transition {
    pub by: Access,
    pub barrier: Barrier,
}

enum Step {
    Barrier(Barrier),
    PassEnded(u64),
}

#[derive(Clone)]
struct Node {
    end: u64,
    /// Steps that the state has had, of all that there ever were.
    had: u64,
    /// Ranges with the same history share it: a vertex buffer of which not all attributes are read has two ranges a vertex.
    state: Arc<State>,
}

/// Steps that wait for ranges that may need them.
const MOST_STEPS: usize = 4096;

/// The last changes of states and what came of them, so that what shared a state before a change shares one after it.
struct Changes<K>(VecDeque<(Arc<State>, K, Arc<State>)>);

/// Changes that are remembered: ranges that are touched in turn have few histories.
const MOST_CHANGES: usize = 8;

impl<K: PartialEq> Changes<K> {
    /// `change` depends on the state and on `key` alone.
    fn apply(&mut self, state: &mut Arc<State>, key: K, change: impl FnOnce(&mut State)) {
        let known = self.0.iter().find(|(from, k, _)| Arc::ptr_eq(from, state) && *k == key);
        if let Some((.., to)) = known {
            *state = to.clone();
            return;
        }
        let mut new = State::clone(state);
        change(&mut new);
        let from = state.clone();
        if new != *from {
            *state = Arc::new(new);
        }
        if self.0.len() == MOST_CHANGES {
            self.0.pop_front();
        }
        self.0.push_back((from, key, state.clone()));
    }
}

impl<K> Default for Changes<K> {
    fn default() -> Self {
        Changes(VecDeque::new())
    }
}

/// What a change by steps depends on: their numbers, and which of the barriers among them make the state's bytes available.
type Had = (Range<u64>, Vec<bool>);

/// All memory of a device.
#[derive(Default)]
pub struct Memory {
    /// By first byte. What is in none has not been accessed.
    nodes: BTreeMap<u64, Node>,
    steps: Vec<Step>,
    /// Steps that all ranges have had.
    first: u64,
    caught_up: Changes<Had>,
    accessed: Changes<Access>,
    /// The history of what has none.
    unused: Arc<State>,
}

impl Memory {
    fn now(&self) -> u64 {
        self.first + self.steps.len() as u64
    }

    fn catch_up(steps: &[Step], first: u64, start: u64, node: &mut Node, changes: &mut Changes<Had>) {
        let now = first + steps.len() as u64;
        if node.had == now {
            return;
        }
        let steps = &steps[(node.had - first) as usize..];
        let of_memory = steps.iter().filter_map(|s| match s {
            Step::Barrier(b) if b.memory.is_some() => Some(b.at(start).memory),
            _ => None,
        });
        changes.apply(&mut node.state, (node.had..now, of_memory.collect()), |state| {
            for step in steps {
                match step {
                    Step::Barrier(b) => state.barrier(&b.at(start)),
                    Step::PassEnded(pass) => state.pass_ended(*pass),
                }
            }
        });
        node.had = now;
    }

    fn step(&mut self, step: Step) {
        if self.steps.len() >= MOST_STEPS {
            for (start, node) in &mut self.nodes {
                Memory::catch_up(&self.steps, self.first, *start, node, &mut self.caught_up);
            }
            self.first += self.steps.len() as u64;
            self.steps.clear();
        }
        self.steps.push(step);
    }

    /// No range crosses this address afterwards.
    fn split(&mut self, at: u64) {
        let Some((start, node)) = self.nodes.range_mut(..at).next_back() else { return };
        if node.end <= at {
            return;
        }
        Memory::catch_up(&self.steps, self.first, *start, node, &mut self.caught_up);
        let rest = node.clone();
        node.end = at;
        self.nodes.insert(at, rest);
    }

    pub fn barrier(&mut self, barrier: Barrier) {
        for range in barrier.memory.iter().flat_map(|m| m.iter()) {
            self.split(range.start);
            self.split(range.end);
        }
        self.step(Step::Barrier(barrier));
    }

    /// Nothing more comes in the subpasses of this pass.
    pub fn pass_ended(&mut self, pass: u64) {
        self.step(Step::PassEnded(pass));
    }

    /// The memory is another's from now on.
    pub fn forget(&mut self, range: Range<u64>) {
        self.split(range.start);
        self.split(range.end);
        let all: Vec<u64> = self.nodes.range(range).map(|(s, _)| *s).collect();
        all.iter().for_each(|s| drop(self.nodes.remove(s)));
    }

    /// Calls `each` for all ranges of bytes within this one, also for those that have not been accessed; what it leaves is kept.
    fn each(&mut self, range: &Range<u64>, mut each: impl FnMut(Range<u64>, &mut Arc<State>)) {
        if range.is_empty() {
            return;
        }
        self.split(range.start);
        self.split(range.end);
        let now = self.now();
        let (steps, first) = (&self.steps, self.first);
        let mut holes = vec![];
        let mut at = range.start;
        for (start, node) in self.nodes.range_mut(range.clone()) {
            if at < *start {
                holes.push(at..*start);
            }
            Memory::catch_up(steps, first, *start, node, &mut self.caught_up);
            each(*start..node.end, &mut node.state);
            at = node.end;
        }
        if at < range.end {
            holes.push(at..range.end);
        }
        for hole in holes {
            let mut state = self.unused.clone();
            each(hole.clone(), &mut state);
            self.nodes.insert(hole.start, Node { end: hole.end, had: now, state });
        }
        self.join(range);
    }

    /// Makes neighbours with equal histories one range.
    fn join(&mut self, range: &Range<u64>) {
        let before = self.nodes.range(..range.start).next_back().map_or(range.start, |(s, _)| *s);
        let mut at = before;
        while at < range.end {
            let Some(node) = self.nodes.get(&at) else { break };
            let end = node.end;
            let next = self.nodes.get(&end);
            let alike = next.is_some_and(|n| n.had == node.had && n.state == node.state);
            if alike {
                let further = self.nodes.remove(&end).map_or(end, |n| n.end);
                if let Some(node) = self.nodes.get_mut(&at) {
                    node.end = further;
                }
                continue;
            }
            match self.nodes.range(at + 1..).next() {
                Some((next, _)) => at = *next,
                None => break,
            }
        }
    }

    /// An access is made to these bytes. `found` is told of each conflict.
    pub fn access(
        &mut self,
        new: &Access,
        range: Range<u64>,
        host: &Seen,
        mut found: impl FnMut(Range<u64>, Conflict),
    ) {
        let mut accessed = std::mem::take(&mut self.accessed);
        self.each(&range, |bytes, state| {
            state.conflicts(new, host, |c| found(bytes.clone(), c));
            accessed.apply(state, new.clone(), |state| state.accessed(new));
        });
        self.accessed = accessed;
    }

    /// A layout transition of these bytes; its barrier is applied to the rest of memory by [`Memory::barrier`].
    pub fn transition(
        &mut self,
        t: &Transition,
        range: Range<u64>,
        host: &Seen,
        mut found: impl FnMut(Range<u64>, Conflict),
    ) {
        let between = Between { memory: true, ..t.barrier.at(range.start) };
        self.each(&range, |bytes, state| {
            state.conflicts_with_transition(&t.by, &between, host, |c| found(bytes.clone(), c));
            Arc::make_mut(state).transitioned(&t.by, &between);
        });
    }

    /// Who wrote bytes last, and whether anything read them since; `None`: nothing has written them.
    pub fn last(&mut self, range: Range<u64>, mut each: impl FnMut(Range<u64>, Option<&Access>, bool)) {
        self.split(range.start);
        self.split(range.end);
        let mut at = range.start;
        for (start, node) in self.nodes.range(range.clone()) {
            if at < *start {
                each(at..*start, None, false);
            }
            let read = !node.state.reads.is_empty();
            each(*start..node.end, node.state.write.as_ref().map(|w| &w.by), read);
            at = node.end;
        }
        if at < range.end {
            each(at..range.end, None, false);
        }
    }

    /// From now on, these bytes have this state. What wrote them before does not matter.
    pub fn holds(&mut self, range: Range<u64>, contents: Contents) {
        self.each(&range, |_, state| {
            if state.write.is_some() {
                Arc::make_mut(state).write.iter_mut().for_each(|w| w.by.contents = contents);
            }
        });
    }

    /// Ranges that are remembered.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    #[cfg(test)]
    pub fn histories(&self) -> usize {
        self.nodes.values().map(|n| Arc::as_ptr(&n.state)).collect::<std::collections::BTreeSet<_>>().len()
    }
}
