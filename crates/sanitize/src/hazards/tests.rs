//! Situations of the specification's chapter on synchronisation, by address.

use super::*;
use std::ops::Range;
use std::sync::Arc;

const Q: Line = Line::Queue(0);
const OTHER: Line = Line::Queue(1);

/// A device's memory with a few words for what happens to it.
#[derive(Default)]
struct World {
    memory: Memory,
    tag: u64,
    seen: Seen,
}

const COPY_WRITE: (u64, u64, What) = (stage::COPY, access::TRANSFER_WRITE, What::Write);
const COPY_READ: (u64, u64, What) = (stage::COPY, access::TRANSFER_READ, What::Read);
const SHADER_READ: (u64, u64, What) = (stage::COMPUTE, access::UNIFORM | access::STORAGE_READ, What::Read);
const SHADER_WRITE: (u64, u64, What) = (stage::COMPUTE, access::STORAGE_WRITE, What::Write);
const FRAGMENT_READ: (u64, u64, What) = (stage::FRAGMENT, access::SAMPLED, What::Read);

impl World {
    fn by(&mut self, line: Line, (stage, access, what): (u64, u64, What)) -> Access {
        self.tag += 1;
        let who = Arc::new(Who { tag: self.tag, ..Who::default() });
        Access {
            who,
            line,
            stage,
            access,
            what,
            attachment: false,
            contents: Contents::Values,
            fences: Fences::default(),
        }
    }

    /// Conflicts of an access: which, what is missing, and the bytes.
    fn on(
        &mut self,
        line: Line,
        of: (u64, u64, What),
        range: Range<u64>,
    ) -> Vec<(Hazard, Lacks, Range<u64>)> {
        let new = self.by(line, of);
        let mut all = vec![];
        self.memory.access(&new, range, &self.seen.clone(), |r, c| all.push((c.hazard, c.lacks, r)));
        all
    }

    fn access(&mut self, of: (u64, u64, What)) -> Option<(Hazard, Lacks)> {
        self.on(Q, of, 0..64).first().map(|(h, l, _)| (*h, *l))
    }

    fn barrier(&mut self, from: Line, to: Line, src: (u64, u64), dst: (u64, u64)) {
        let (first, second) = (Scope::first(src.0, src.1), Scope::second(dst.0, dst.1));
        self.memory.barrier(Barrier { from, to, first, second, memory: None });
    }
}

use Hazard::{ReadAfterWrite as Raw, WriteAfterRead as War, WriteAfterWrite as Waw};

/// First and second access, the barrier between them, and what is found.
type Row = ((u64, u64, What), Option<[(u64, u64); 2]>, (u64, u64, What), Option<(Hazard, Lacks)>);

#[test]
fn two_accesses_and_a_barrier() {
    let w = access::TRANSFER_WRITE;
    let all = stage::ALL_COMMANDS;
    let rows: &[Row] = &[
        (COPY_READ, None, COPY_READ, None),
        (COPY_WRITE, None, SHADER_READ, Some((Raw, Lacks::Order))),
        (COPY_READ, None, COPY_WRITE, Some((War, Lacks::Order))),
        (COPY_WRITE, None, COPY_WRITE, Some((Waw, Lacks::Order))),
        // Whole barriers.
        (COPY_WRITE, Some([(stage::COPY, w), (stage::COMPUTE, access::STORAGE_READ)]), SHADER_READ, None),
        (
            COPY_WRITE,
            Some([(stage::ALL_TRANSFER, w), (stage::COMPUTE, access::SHADER_READ)]),
            SHADER_READ,
            None,
        ),
        (COPY_WRITE, Some([(all, access::MEMORY_WRITE), (all, access::MEMORY_READ)]), SHADER_READ, None),
        (COPY_WRITE, Some([(all, access::MEMORY_WRITE), (all, access::MEMORY_WRITE)]), COPY_WRITE, None),
        // Execution alone is enough after a read, and not after a write.
        (COPY_READ, Some([(stage::COPY, 0), (stage::COMPUTE, 0)]), SHADER_WRITE, None),
        (
            COPY_WRITE,
            Some([(stage::COPY, 0), (stage::COMPUTE, 0)]),
            SHADER_READ,
            Some((Raw, Lacks::Available)),
        ),
        (COPY_WRITE, Some([(stage::COPY, w), (stage::COMPUTE, 0)]), SHADER_READ, Some((Raw, Lacks::Visible))),
        // Another stage or access than is named.
        (
            COPY_WRITE,
            Some([(stage::COPY, w), (stage::VERTEX, access::SHADER_READ)]),
            SHADER_READ,
            Some((Raw, Lacks::Stage)),
        ),
        (
            COPY_WRITE,
            Some([(stage::CLEAR, w), (stage::COMPUTE, access::SHADER_READ)]),
            SHADER_READ,
            Some((Raw, Lacks::Order)),
        ),
        (
            COPY_WRITE,
            Some([(stage::COPY, access::STORAGE_WRITE), (stage::COMPUTE, access::SHADER_READ)]),
            SHADER_READ,
            Some((Raw, Lacks::Available)),
        ),
        (
            COPY_WRITE,
            Some([(stage::COPY, w), (stage::COMPUTE, access::INDIRECT)]),
            SHADER_READ,
            Some((Raw, Lacks::Visible)),
        ),
        (
            COPY_WRITE,
            Some([(stage::COPY, w), (stage::COMPUTE, access::SHADER_READ)]),
            SHADER_WRITE,
            Some((Waw, Lacks::Visible)),
        ),
        // TOP_OF_PIPE waits for nothing, BOTTOM_OF_PIPE lets nothing wait.
        (COPY_READ, Some([(stage::TOP, 0), (all, 0)]), SHADER_WRITE, Some((War, Lacks::Order))),
        (COPY_READ, Some([(stage::BOTTOM, 0), (stage::TOP, 0)]), SHADER_WRITE, None),
        (COPY_READ, Some([(all, 0), (stage::BOTTOM, 0)]), SHADER_WRITE, Some((War, Lacks::Order))),
        // Stages that come after a named one wait, but their accesses see nothing.
        (
            COPY_READ,
            Some([(stage::COPY, 0), (stage::VERTEX, 0)]),
            (stage::COLOR, access::COLOR_WRITE, What::Write),
            None,
        ),
        (
            COPY_WRITE,
            Some([(stage::COPY, w), (stage::VERTEX, access::SHADER_READ)]),
            FRAGMENT_READ,
            Some((Raw, Lacks::Visible)),
        ),
        (FRAGMENT_READ, Some([(stage::COLOR, 0), (stage::COPY, 0)]), COPY_WRITE, None),
        (FRAGMENT_READ, Some([(stage::VERTEX, 0), (stage::COPY, 0)]), COPY_WRITE, Some((War, Lacks::Order))),
        // Atomics are no hazard to each other.
        (
            (stage::COMPUTE, access::STORAGE_WRITE, What::Atomic),
            None,
            (stage::COMPUTE, access::STORAGE_WRITE, What::Atomic),
            None,
        ),
        ((stage::COMPUTE, access::STORAGE_WRITE, What::Atomic), None, SHADER_READ, Some((Raw, Lacks::Order))),
    ];
    for (n, (first, barrier, second, wanted)) in rows.iter().enumerate() {
        let mut world = World::default();
        assert_eq!(world.access(*first), None);
        if let Some([src, dst]) = barrier {
            world.barrier(Q, Q, *src, *dst);
        }
        assert_eq!(world.access(*second), *wanted, "row {n}: {first:?} {barrier:?} {second:?}");
    }
}

#[test]
fn barriers_form_chains() {
    let mut w = World::default();
    w.access(COPY_WRITE);
    w.barrier(Q, Q, (stage::COPY, access::TRANSFER_WRITE), (stage::FRAGMENT, 0));
    // It goes on from the stage that the first one ends with.
    w.barrier(Q, Q, (stage::VERTEX, 0), (stage::COPY, access::TRANSFER_READ));
    assert_eq!(w.access(COPY_READ), Some((Raw, Lacks::Stage)));
    let mut w = World::default();
    w.access(COPY_WRITE);
    w.barrier(Q, Q, (stage::COPY, access::TRANSFER_WRITE), (stage::FRAGMENT, 0));
    w.barrier(Q, Q, (stage::FRAGMENT, 0), (stage::COMPUTE, access::SHADER_READ));
    assert_eq!(w.access(SHADER_READ), None);
    // A second barrier cannot make available what the first one has left.
    let mut w = World::default();
    w.access(COPY_WRITE);
    w.barrier(Q, Q, (stage::COPY, 0), (stage::FRAGMENT, 0));
    w.barrier(Q, Q, (stage::FRAGMENT, access::TRANSFER_WRITE), (stage::COMPUTE, access::SHADER_READ));
    assert_eq!(w.access(SHADER_READ), Some((Raw, Lacks::Available)));
}

#[test]
fn a_write_after_reads_needs_all_of_them_ordered() {
    let mut w = World::default();
    w.access(SHADER_READ);
    w.access(FRAGMENT_READ);
    w.barrier(Q, Q, (stage::COMPUTE, 0), (stage::COPY, 0));
    assert_eq!(w.access(COPY_WRITE), Some((War, Lacks::Order)));
    let mut w = World::default();
    w.access(SHADER_READ);
    w.access(FRAGMENT_READ);
    w.barrier(Q, Q, (stage::COMPUTE | stage::FRAGMENT, 0), (stage::COPY, 0));
    assert_eq!(w.access(COPY_WRITE), None);
}

#[test]
fn bytes_are_told_apart() {
    let mut w = World::default();
    w.on(Q, COPY_WRITE, 10..20);
    w.on(Q, COPY_WRITE, 30..40);
    assert_eq!(w.on(Q, COPY_READ, 20..30), []);
    let both = [(Raw, Lacks::Order, 19..20), (Raw, Lacks::Order, 30..31)];
    assert_eq!(w.on(Q, COPY_READ, 19..31), both);
    assert_eq!(w.on(Q, COPY_WRITE, 0..10), []);
    assert_eq!(w.on(Q, COPY_READ, 0..1), [(Raw, Lacks::Order, 0..1)]);
}

/// Ranges share histories; a byte that has a memory of its own shares nothing.
#[test]
fn bytes_of_ranges_are_as_if_each_were_alone() {
    const BYTES: u64 = 48;
    let mut random = random::Random::new(5);
    for _ in 0..40 {
        let mut w = World::default();
        let mut alone: Vec<Memory> = (0..BYTES).map(|_| Memory::default()).collect();
        for _ in 0..60 {
            let line = [Q, OTHER][random.below(2) as usize];
            let first = random.below(BYTES as u32) as u64;
            let (length, stride) = (1 + random.below(4) as u64, 5 + random.below(4) as u64);
            let strided: Vec<Range<u64>> = (0..random.below(6) as u64)
                .map(|i| first + i * stride..(first + i * stride + length).min(BYTES))
                .filter(|r| r.start < r.end)
                .collect();
            if random.below(3) == 0 {
                let stages = [stage::COPY, stage::COMPUTE, stage::FRAGMENT, stage::ALL_COMMANDS];
                let any = |k: u32| stages[k as usize];
                let first = Scope::first(any(random.below(4)), access::TRANSFER_WRITE | access::SHADER_WRITE);
                let second = Scope::second(any(random.below(4)), access::SHADER_READ | access::TRANSFER_READ);
                let memory = (random.below(2) == 0).then(|| Arc::from(strided));
                let barrier =
                    Barrier { from: line, to: [Q, OTHER][random.below(2) as usize], first, second, memory };
                alone.iter_mut().for_each(|m| m.barrier(barrier.clone()));
                w.memory.barrier(barrier);
                continue;
            }
            let kinds = [COPY_WRITE, COPY_READ, SHADER_READ, SHADER_WRITE, FRAGMENT_READ];
            let new = w.by(line, kinds[random.below(5) as usize]);
            for range in strided {
                let mut found = vec![];
                w.memory.access(&new, range.clone(), &w.seen.clone(), |r, c| {
                    found.extend(r.map(|b| (b, c.clone())))
                });
                let mut expected = vec![];
                for byte in range {
                    let told = |_, c: Conflict| expected.push((byte, c));
                    alone[byte as usize].access(&new, byte..byte + 1, &w.seen, told);
                }
                found.sort_by_key(|(b, _)| *b);
                assert_eq!(found, expected);
            }
        }
    }
}

/// What is read of a vertex buffer with gaps in its stride.
#[test]
fn ranges_in_turn_share_their_histories() {
    let mut w = World::default();
    w.on(Q, COPY_WRITE, 0..44_000);
    let barrier = (stage::COPY, access::TRANSFER_WRITE);
    w.barrier(Q, Q, barrier, (stage::ATTRIBUTE_INPUT, access::ATTRIBUTE));
    for _ in 0..3 {
        let read = w.by(Q, (stage::ATTRIBUTE_INPUT, access::ATTRIBUTE, What::Read));
        for vertex in 0..1000 {
            for attribute in [0..12, 24..36] {
                let bytes = vertex * 44 + attribute.start..vertex * 44 + attribute.end;
                w.memory.access(&read, bytes, &w.seen.clone(), |_, c| panic!("{c:?}"));
            }
        }
        w.barrier(Q, Q, barrier, barrier);
    }
    assert_eq!((w.memory.len(), w.memory.histories()), (4000, 2));
}

#[test]
fn a_barrier_of_some_bytes_makes_only_these_visible() {
    let mut w = World::default();
    w.on(Q, COPY_WRITE, 0..100);
    let scopes = |s| (Scope::first(stage::COPY, access::TRANSFER_WRITE), s);
    let (first, second) = scopes(Scope::second(stage::COMPUTE, access::SHADER_READ));
    let some = 25..75;
    let memory = Some(Arc::from([some]));
    w.memory.barrier(Barrier { from: Q, to: Q, first, second, memory });
    let outside = [(Raw, Lacks::Available, 0..25), (Raw, Lacks::Available, 75..100)];
    assert_eq!(w.on(Q, SHADER_READ, 0..100), outside);
}

#[test]
fn queues_are_ordered_by_semaphores() {
    let w = access::TRANSFER_WRITE;
    let mut world = World::default();
    world.access(COPY_WRITE);
    assert_eq!(world.on(OTHER, COPY_READ, 0..1), [(Raw, Lacks::Order, 0..1)]);
    // A barrier of one queue does nothing for another.
    let mut world = World::default();
    world.access(COPY_WRITE);
    world.barrier(Q, Q, (stage::ALL_COMMANDS, w), (stage::ALL_COMMANDS, access::MEMORY_READ));
    assert_eq!(world.on(OTHER, COPY_READ, 0..1), [(Raw, Lacks::Order, 0..1)]);
    let mut world = World::default();
    world.access(COPY_WRITE);
    let signal = Line::Signal(7);
    world.barrier(Q, signal, (stage::ALL_COMMANDS, access::ALL), (stage::ALL_COMMANDS, access::ALL));
    // What comes after the signal is not in it.
    assert_eq!(world.on(Q, COPY_WRITE, 50..64), [(Waw, Lacks::Order, 50..64)]);
    world.barrier(signal, OTHER, (stage::ALL_COMMANDS, access::ALL), (stage::COPY, access::ALL));
    assert_eq!(world.on(OTHER, COPY_READ, 0..1), []);
    assert_eq!(world.on(OTHER, SHADER_READ, 1..2), [(Raw, Lacks::Stage, 1..2)]);
    assert_eq!(world.on(OTHER, COPY_READ, 60..61), [(Raw, Lacks::Order, 60..61)]);
}

#[test]
fn what_the_host_has_waited_for_is_over() {
    let mut w = World::default();
    w.access(COPY_WRITE);
    w.seen.add(1, 100);
    assert!(!w.on(OTHER, COPY_READ, 0..1).is_empty());
    w.seen.add(0, 1);
    assert_eq!(w.on(OTHER, COPY_READ, 1..2), []);
    w.on(Q, COPY_WRITE, 2..3);
    assert!(!w.on(Q, COPY_READ, 2..3).is_empty(), "it came after what the host saw");
}

fn subpass(index: u32) -> Line {
    Line::Subpass { queue: 0, pass: 1, index }
}

#[test]
fn attachments_of_a_subpass_are_in_order_and_others_need_dependencies() {
    const DRAW: (u64, u64, What) = (stage::COLOR, access::COLOR_WRITE, What::Write);
    let mut w = World::default();
    let draw = |w: &mut World, line| {
        let new = Access { attachment: true, ..w.by(line, DRAW) };
        let mut all = vec![];
        w.memory.access(&new, 0..8, &Seen::default(), |_, c| all.push(c.hazard));
        all
    };
    assert_eq!(draw(&mut w, subpass(0)), []);
    assert_eq!(draw(&mut w, subpass(0)), []);
    assert_eq!(draw(&mut w, subpass(1)), [Waw]);
    let mut w = World::default();
    draw(&mut w, subpass(0));
    w.barrier(
        subpass(0),
        subpass(1),
        (stage::COLOR, access::COLOR_WRITE),
        (stage::FRAGMENT, access::INPUT_ATTACHMENT),
    );
    let input = (stage::FRAGMENT, access::INPUT_ATTACHMENT, What::Read);
    assert_eq!(w.on(subpass(1), input, 0..8), []);
    // The dependency is of these two subpasses.
    assert_eq!(w.on(subpass(2), input, 0..8), [(Raw, Lacks::Order, 0..8)]);
    // What the queue orders after the pass.
    w.barrier(Q, Q, (stage::FRAGMENT, 0), (stage::COLOR, access::COLOR_WRITE));
    w.memory.pass_ended(1);
    assert_eq!(w.on(Q, COPY_WRITE, 0..8).len(), 2);
}

#[test]
fn a_transition_is_a_write_between_the_scopes_of_its_barrier() {
    let transition = |w: &mut World, src: (u64, u64), dst: (u64, u64)| {
        let by = w.by(Q, (stage::TRANSITION, access::TRANSITION, What::Write));
        let (first, second) = (Scope::first(src.0, src.1), Scope::second(dst.0, dst.1));
        let barrier = Barrier { from: Q, to: Q, first, second, memory: None };
        let mut all = vec![];
        let t = Transition { by, barrier: barrier.clone() };
        w.memory.transition(&t, 0..64, &Seen::default(), |_, c| all.push((c.hazard, c.lacks)));
        w.memory.barrier(barrier);
        all
    };
    let write = access::TRANSFER_WRITE;
    let read = (stage::COMPUTE, access::SHADER_READ);
    let mut w = World::default();
    w.access(COPY_WRITE);
    assert_eq!(transition(&mut w, (stage::COPY, write), read), []);
    assert_eq!(w.access(SHADER_READ), None);
    let mut w = World::default();
    w.access(COPY_WRITE);
    assert_eq!(transition(&mut w, (stage::TOP, 0), read), [(Waw, Lacks::Transition)]);
    let mut w = World::default();
    w.access(COPY_WRITE);
    assert_eq!(transition(&mut w, (stage::COPY, 0), read), [(Waw, Lacks::Available)]);
    let mut w = World::default();
    w.access(FRAGMENT_READ);
    assert_eq!(transition(&mut w, (stage::COPY, write), read), [(War, Lacks::Transition)]);
    assert_eq!(w.access(FRAGMENT_READ), Some((Raw, Lacks::Stage)));
}

#[test]
fn transitions_of_one_queue_are_in_order() {
    let mut w = World::default();
    let mut transition = |line| {
        let by = w.by(line, (stage::TRANSITION, access::TRANSITION, What::Write));
        let (first, second) = (Scope::first(stage::TOP, 0), Scope::second(stage::BOTTOM, 0));
        let barrier = Barrier { from: line, to: line, first, second, memory: None };
        let mut all = vec![];
        w.memory.transition(&Transition { by, barrier }, 0..64, &Seen::default(), |_, c| all.push(c.hazard));
        all
    };
    assert_eq!(transition(Q), []);
    assert_eq!(transition(Q), []);
    assert_eq!(transition(OTHER), [Waw]);
}

#[test]
fn memory_may_belong_to_others_later() {
    let mut w = World::default();
    w.on(Q, COPY_WRITE, 0..100);
    w.memory.forget(40..60);
    assert_eq!(w.on(Q, COPY_READ, 40..60), []);
    assert_eq!(w.on(Q, COPY_READ, 39..61).len(), 2);
}

#[test]
fn many_barriers_do_not_pile_up() {
    let mut w = World::default();
    w.on(Q, COPY_WRITE, 0..64);
    for _ in 0..10_000 {
        w.barrier(Q, Q, (stage::COPY, access::TRANSFER_WRITE), (stage::COMPUTE, access::SHADER_READ));
    }
    assert_eq!(w.on(Q, SHADER_READ, 0..64), []);
    assert_eq!(w.memory.len(), 1);
    for at in 0..64 {
        w.on(Q, SHADER_READ, at..at + 1);
    }
    // Neighbours differ by the command that read them last.
    assert_eq!(w.memory.len(), 64);
    w.on(Q, SHADER_READ, 0..64);
    assert_eq!(w.memory.len(), 1);
}

/// What shaders do themselves: both have to, and execution is the barrier's matter.
#[test]
fn fences_of_shaders_stand_for_a_barriers_accesses() {
    let [none, makes, sees] = [(false, false), (true, false), (false, true)]
        .map(|(available, visible)| Fences { available, visible });
    let (write, read) = (access::STORAGE_WRITE, access::SHADER_READ);
    let stages = (stage::COMPUTE, stage::COMPUTE);
    let rows = [
        (makes, Some([0, 0]), sees, None),
        (none, Some([0, 0]), sees, Some(Lacks::Available)),
        (makes, Some([0, 0]), none, Some(Lacks::Visible)),
        (makes, None, sees, Some(Lacks::Order)),
        // One half is the barrier's.
        (makes, Some([0, read]), none, None),
        (none, Some([write, 0]), sees, None),
    ];
    for (by, barrier, to, lacks) in rows {
        let mut w = World::default();
        let new = Access { fences: by, ..w.by(Q, SHADER_WRITE) };
        w.memory.access(&new, 0..4, &Seen::default(), |_, _| ());
        if let Some([from, to]) = barrier {
            w.barrier(Q, Q, (stages.0, from), (stages.1, to));
        }
        let new = Access { fences: to, ..w.by(Q, SHADER_READ) };
        let mut found = None;
        w.memory.access(&new, 0..4, &Seen::default(), |_, c| found = Some(c.lacks));
        assert_eq!(found, lacks, "{by:?} {barrier:?} {to:?}");
    }
}

/// An image that has been shown is acquired again: its layout changes in a stage that waits for it, or too early.
#[test]
fn what_is_shown_is_waited_for() {
    const ENGINE: Line = Line::Queue(15);
    let rows = [
        (stage::CLEAR, stage::CLEAR, None),
        (stage::CLEAR, stage::TOP, Some(Lacks::Transition)),
        (stage::COLOR, stage::CLEAR, Some(Lacks::Transition)),
        // A wait in all stages is one of the transition, too.
        (stage::ALL_COMMANDS, stage::TOP, None),
    ];
    for (waits, first, lacks) in rows {
        let mut w = World::default();
        w.on(ENGINE, (stage::PRESENTATION, access::PRESENTATION, What::Read), 0..64);
        let all = (stage::ALL_COMMANDS, access::MEMORY_READ | access::MEMORY_WRITE);
        w.barrier(ENGINE, Line::Signal(7), all, all);
        w.barrier(Line::Signal(7), Q, all, (waits, all.1));
        let by = w.by(Q, (stage::TRANSITION, access::TRANSITION, What::Write));
        let second = Scope::second(stage::CLEAR, access::TRANSFER_WRITE);
        let barrier = Barrier { from: Q, to: Q, first: Scope::first(first, 0), second, memory: None };
        let mut found = None;
        let t = Transition { by, barrier };
        w.memory.transition(&t, 0..64, &Seen::default(), |_, c| found = Some(c.lacks));
        assert_eq!(found, lacks, "{waits:#x} {first:#x}");
    }
}
