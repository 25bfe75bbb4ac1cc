//! Each row: what the invocations of a dispatch do in order, and the race that the memory model finds in it.

use super::*;

/// `(workgroup, invocation)`.
type Who = (u32, u32);

enum Does {
    /// Byte offset and bytes.
    Read(Who, u64, u32),
    Write(Who, u64, u32),
    /// A relaxed one that reads and writes.
    Atomic(Who, u64),
    Release(Who, u64),
    Acquire(Who, u64),
    Both(Who, u64),
    /// A relaxed load, and a relaxed store.
    Load(Who, u64),
    Store(Who, u64),
    /// A release and an acquire for the workgroup alone.
    Near(Who, u64),
    /// A write of one word of these bits.
    Put(Who, u64, u32),
    /// The invocations of a workgroup.
    Barrier(u32, u32),
    Fence(Who),
}
use Does::*;

/// What orders nothing.
const RELAXED: Order = Order { acquires: false, releases: false, wide: true, reads: true, writes: true };
/// What orders all that it may.
const ALL: Order = Order { acquires: true, releases: true, ..RELAXED };

fn run(shared: bool, steps: &[Does]) -> Vec<(What, Who)> {
    let mut races = Races::default();
    let mut found = vec![];
    for (site, step) in steps.iter().enumerate() {
        races.step();
        let order = match step {
            Release(..) => Order { reads: false, ..ALL },
            Acquire(..) => Order { writes: false, ..ALL },
            Both(..) => ALL,
            Near(..) => Order { wide: false, ..ALL },
            Load(..) => Order { writes: false, ..RELAXED },
            Store(..) => Order { reads: false, ..RELAXED },
            _ => RELAXED,
        };
        let (what, (group, local), address, bytes, value) = match *step {
            Read(w, at, n) => (What::Read, w, at, n, None),
            Write(w, at, n) => (What::Write, w, at, n, None),
            Put(w, at, bits) => (What::Write, w, at, 4, Some(bits)),
            Atomic(w, at)
            | Release(w, at)
            | Acquire(w, at)
            | Both(w, at)
            | Load(w, at)
            | Store(w, at)
            | Near(w, at) => (What::Atomic, w, at, 4, None),
            Barrier(group, n) => {
                (0..n.div_ceil(16)).for_each(|subgroup| races.barrier(group, subgroup));
                continue;
            }
            Fence((group, local)) => {
                races.fence(group, local / 16, ALL);
                continue;
            }
        };
        let values = value.map(|v| [v; 16]);
        let access = Access {
            what,
            group,
            subgroup: local / 16,
            shared,
            bytes,
            site: site as u32,
            lanes: 1,
            locals: &[local; 16],
            addresses: &[address; 16],
            values: values.as_ref(),
            order,
        };
        races.access(&access, |_, _, c| found.push((c.what, (c.by.group, c.by.local))));
    }
    found
}

#[test]
fn what_is_not_ordered_races() {
    let (a, b, far) = ((0, 0), (0, 1), (0, 40));
    let other = (1, 0);
    // Within a workgroup, in its own memory and in buffers.
    for shared in [true, false] {
        let races = |steps: &[Does]| run(shared, steps);
        assert_eq!(races(&[Write(a, 0, 4), Read(b, 0, 4)]), [(What::Write, a)], "read after write");
        assert_eq!(races(&[Read(a, 0, 4), Write(b, 0, 4)]), [(What::Read, a)], "write after read");
        assert_eq!(races(&[Write(a, 0, 4), Write(b, 0, 4)]), [(What::Write, a)], "two writes");
        assert_eq!(races(&[Write(a, 0, 8), Read(b, 6, 1)]), [(What::Write, a)], "one byte of two words");
        assert_eq!(races(&[Atomic(a, 0), Read(b, 0, 4)]), [(What::Atomic, a)], "plain read of an atomic");
        assert_eq!(
            races(&[Write(a, 0, 4), Barrier(0, 1), Read(far, 0, 4)]),
            [(What::Write, a)],
            "only one met"
        );
        assert_eq!(
            races(&[Write(a, 0, 4), Fence(a), Fence(far), Read(far, 0, 4)]),
            [(What::Write, a)],
            "fences of two subgroups"
        );
        assert_eq!(races(&[Put(a, 0, 1), Put(b, 0, 2)]), [(What::Write, a)], "different bits");
    }
    // Between workgroups a barrier orders nothing.
    let steps = [Write(a, 0, 4), Barrier(0, 2), Barrier(1, 2), Read(other, 0, 4)];
    assert_eq!(run(false, &steps), [(What::Write, a)]);
    assert_eq!(run(false, &[Write(a, 0, 4), Atomic(a, 64), Read(other, 0, 4)]), [(What::Write, a)]);
    // Two readers are remembered: the writer is one of them.
    assert_eq!(run(true, &[Read(a, 0, 4), Read(b, 0, 4), Write(b, 0, 4)]), [(What::Read, a)]);
}

#[test]
fn what_is_ordered_or_does_not_conflict_is_silent() {
    let (a, b) = ((0, 0), (0, 1));
    let other = (1, 0);
    let rows: &[(&str, &[Does])] = &[
        ("the same invocation", &[Write(a, 0, 4), Read(a, 0, 4), Write(a, 0, 4)]),
        ("readers", &[Read(a, 0, 4), Read(b, 0, 4), Read((0, 2), 0, 4)]),
        ("different words", &[Write(a, 0, 4), Write(b, 4, 4)]),
        ("different bytes of a word", &[Write(a, 0, 1), Write(b, 1, 1), Write((0, 2), 2, 2)]),
        ("atomics", &[Atomic(a, 0), Atomic(b, 0), Atomic(other, 0)]),
        ("a barrier", &[Write(a, 0, 4), Barrier(0, 2), Read(b, 0, 4)]),
        ("a barrier after a read", &[Read(a, 0, 4), Barrier(0, 2), Write(b, 0, 4)]),
        ("fences of a subgroup", &[Write(a, 0, 4), Fence(a), Read(b, 0, 4)]),
        ("the same bits", &[Put(a, 0, 7), Put(b, 0, 7)]),
    ];
    for (name, steps) in rows {
        assert_eq!(run(false, steps), [], "{name}");
    }
    // The last workgroup adds what the others have written, as a counter tells it.
    let last =
        [Write(a, 0, 4), Barrier(0, 2), Atomic(b, 64), Atomic((1, 1), 64), Barrier(1, 2), Read(other, 0, 4)];
    assert_eq!(run(false, &last), []);
    // Each workgroup has its own memory.
    assert_eq!(run(true, &[Write(a, 0, 4), Write(other, 0, 4), Read(other, 0, 4)]), []);
}

/// Rows of the memory model's synchronizes-with relation: a writer `w`, the invocation that reads what it wrote, and whether the two are ordered.
#[test]
fn a_release_is_ordered_before_who_reads_it() {
    let (w, x, r, z) = ((0, 0), (1, 3), (2, 40), (2, 0));
    const G: u64 = 64;
    let rows: &[(&str, bool, &[Does])] = &[
        ("release, acquire", true, &[Write(w, 0, 4), Release(w, G), Acquire(r, G), Read(r, 0, 4)]),
        ("the acquire came first", false, &[Write(w, 0, 4), Acquire(r, G), Release(w, G), Read(r, 0, 4)]),
        ("relaxed store", false, &[Write(w, 0, 4), Store(w, G), Acquire(r, G), Read(r, 0, 4)]),
        ("relaxed load", false, &[Write(w, 0, 4), Release(w, G), Load(r, G), Read(r, 0, 4)]),
        ("another guard", false, &[Write(w, 0, 4), Release(w, G), Acquire(r, G + 4), Read(r, 0, 4)]),
        ("a write after the release", false, &[Release(w, G), Write(w, 0, 4), Acquire(r, G), Read(r, 0, 4)]),
        ("fences", true, &[Write(w, 0, 4), Fence(w), Store(w, G), Load(r, G), Fence(r), Read(r, 0, 4)]),
        ("no fence to acquire", false, &[Write(w, 0, 4), Fence(w), Store(w, G), Load(r, G), Read(r, 0, 4)]),
        ("no fence to release", false, &[Write(w, 0, 4), Store(w, G), Load(r, G), Fence(r), Read(r, 0, 4)]),
        (
            "a write after the fence",
            false,
            &[Fence(w), Write(w, 0, 4), Store(w, G), Load(r, G), Fence(r), Read(r, 0, 4)],
        ),
        (
            "the fence came first",
            false,
            &[Write(w, 0, 4), Fence(w), Store(w, G), Fence(r), Load(r, G), Read(r, 0, 4)],
        ),
        ("release, fence", true, &[Write(w, 0, 4), Release(w, G), Load(r, G), Fence(r), Read(r, 0, 4)]),
        (
            "a release sequence",
            true,
            &[Write(w, 0, 4), Release(w, G), Atomic(x, G), Atomic(x, G), Acquire(r, G), Read(r, 0, 4)],
        ),
        (
            "a store ends it",
            false,
            &[Write(w, 0, 4), Release(w, G), Store(x, G), Acquire(r, G), Read(r, 0, 4)],
        ),
        (
            "read before the store",
            true,
            &[Write(w, 0, 4), Release(w, G), Acquire(r, G), Store(x, G), Read(r, 0, 4)],
        ),
        (
            "a chain",
            true,
            &[Write(w, 0, 4), Release(w, G), Acquire(x, G), Release(x, 128), Acquire(r, 128), Read(r, 0, 4)],
        ),
        (
            "a broken chain",
            false,
            &[Write(w, 0, 4), Release(w, G), Release(x, 128), Acquire(x, G), Acquire(r, 128), Read(r, 0, 4)],
        ),
        ("scopes", false, &[Write(w, 0, 4), Near(w, G), Near(r, G), Read(r, 0, 4)]),
        ("a scope of one side", false, &[Write(w, 0, 4), Both(w, G), Near(r, G), Read(r, 0, 4)]),
        ("the workgroup's scope", true, &[Write(z, 0, 4), Near(z, G), Near(r, G), Read(r, 0, 4)]),
        ("of another invocation", false, &[Write(w, 0, 4), Release((0, 1), G), Acquire(r, G), Read(r, 0, 4)]),
        (
            "by another invocation",
            false,
            &[Write(w, 0, 4), Release(w, G), Acquire((2, 41), G), Atomic(r, G), Read(r, 0, 4)],
        ),
        (
            "barriers before and after",
            true,
            &[Write(w, 0, 4), Barrier(0, 32), Both((0, 20), G), Both(z, G), Barrier(2, 48), Read(r, 0, 4)],
        ),
        (
            "a barrier is a fence",
            true,
            &[
                Write(w, 0, 4),
                Barrier(0, 32),
                Atomic((0, 20), G),
                Atomic(z, G),
                Barrier(2, 48),
                Read(r, 0, 4),
            ],
        ),
        ("a read, then a write", true, &[Read(w, 0, 4), Release(w, G), Acquire(r, G), Write(r, 0, 4)]),
        (
            "a read, then a write too early",
            false,
            &[Read(w, 0, 4), Acquire(r, G), Release(w, G), Write(r, 0, 4)],
        ),
    ];
    for (name, ordered, steps) in rows {
        let found = run(false, steps);
        assert_eq!(found.is_empty(), *ordered, "{name}: {found:?}");
        let what = if matches!(steps[0], Read(..)) { What::Read } else { What::Write };
        assert!(found.iter().all(|f| f.0 == what), "{name}: {found:?}");
    }
}

/// A counter that tells which workgroup is the last: that one's reads are ordered after all others' writes, however many there are.
#[test]
fn the_last_workgroup_reads_what_all_wrote() {
    for (groups, atomic) in [(300, Both as fn(Who, u64) -> Does), (300, Atomic)] {
        let mut steps = vec![];
        for g in 0..groups {
            steps.push(Write((g, 0), 1024 + 4 * g as u64, 4));
            steps.push(atomic((g, 0), 0));
        }
        steps.extend((0..groups).map(|g| Read((groups - 1, 0), 1024 + 4 * g as u64, 4)));
        let races = run(false, &steps).len();
        let relaxed = matches!(steps[1], Atomic(..));
        assert_eq!(races, if relaxed { groups as usize - 1 } else { 0 });
    }
}

/// All lanes of a subgroup read one word: as many races are told as lanes take part in one.
#[test]
fn readers_of_one_word_race_each_for_itself() {
    let locals: [u32; 16] = std::array::from_fn(|l| l as u32);
    let access = |what, lanes: u16, site| Access {
        what,
        group: 0,
        subgroup: 0,
        shared: true,
        bytes: 4,
        site,
        lanes,
        locals: &locals,
        addresses: &[8; 16],
        values: None,
        order: Order::default(),
    };
    // The lane that writes, the mask of lanes that read, and how many of the readers race.
    for (writer, readers, count) in
        [(0, 0xFFFF, 15), (1, 0xFFFF, 15), (9, 0xFFFF, 15), (9, 0x00F0, 4), (9, 0x0200, 0), (2, 0x0014, 1)]
    {
        let mut races = Races::default();
        let mut found = vec![];
        races.step();
        races.access(&access(What::Write, 1 << writer, 0), |l, _, _| found.push(l));
        races.step();
        races.access(&access(What::Read, readers, 1), |l, _, _| found.push(l));
        assert_eq!(found.len(), count, "{writer} {readers:#x}");
        assert!(!found.contains(&writer));
    }
}

/// Accesses of two workgroups of three subgroups to few lines, as kernels make them: rows, words that all read, and others. What is found with lines
/// is a race by the whole history, and all that is found word by word is found.
#[test]
fn lines_find_what_words_find_and_nothing_else() {
    let mut random = random::Random::new(1);
    let mut random = |n: u32| random.below(n) as u64;
    let mut seen = [0u32; 2];
    for round in 0..3000 {
        let (mut lines, mut words) = (Races::default(), Races { by_words: true, ..Races::default() });
        // Group, local, epoch, address, whether it writes.
        let mut history: Vec<(u32, u32, u32, u64, bool)> = vec![];
        let mut epochs = [[0u32; 3]; 2];
        for step in 0..12 {
            lines.step();
            words.step();
            let group = random(1 + round % 2) as u32;
            if random(4) == 0 {
                for s in 0..3 {
                    lines.barrier(group, s);
                    words.barrier(group, s);
                    epochs[group as usize][s as usize] += 1;
                }
                continue;
            }
            let subgroup = random(3) as u32;
            let locals: [u32; 16] = std::array::from_fn(|l| 16 * subgroup + l as u32);
            let line = 64 * random(2);
            let (what, lanes, addresses): (What, u16, [u64; 16]) = match random(4) {
                0 => (What::Write, 0xFFFF, std::array::from_fn(|l| line + 4 * l as u64)),
                1 => (What::Read, 0xFFFF, std::array::from_fn(|l| line + 4 * l as u64)),
                2 => (What::Read, if random(2) == 0 { 0xFFFF } else { 0x00F0 }, [line + 4 * random(16); 16]),
                _ => {
                    let what = if random(2) == 0 { What::Write } else { What::Read };
                    (what, 1 << random(16), [line + 4 * random(16); 16])
                }
            };
            let values = [step as u32 + 1; 16];
            let access = Access {
                what,
                group,
                subgroup,
                shared: false,
                bytes: 4,
                site: step as u32,
                lanes,
                locals: &locals,
                addresses: &addresses,
                values: (what == What::Write).then_some(&values),
                order: Order::default(),
            };
            let mut found = [false; 2];
            let row = addresses[0] != addresses[1];
            let plain = Plain {
                writes: what == What::Write,
                group,
                subgroup,
                shared: false,
                site: step as u32,
                local: locals[0],
                address: addresses[0],
                values: access.values,
                row,
            };
            let whole = lanes == 0xFFFF && (row || what == What::Read);
            for (k, (races, found)) in [&mut lines, &mut words].into_iter().zip(&mut found).enumerate() {
                if k == 1 || !whole || random(2) == 0 || !races.plain(&plain) {
                    races.access(&access, |_, told, _| *found |= told == Told::Race);
                }
            }
            let epoch = epochs[group as usize][subgroup as usize];
            let mine = (0..16).filter(|l| lanes >> l & 1 == 1).map(|l| (locals[l], addresses[l]));
            let mine: Vec<(u32, u64)> = mine.collect();
            let races = mine.iter().any(|&(local, at)| {
                history.iter().any(|&(g, l, e, a, w)| {
                    a == at
                        && (w || what == What::Write)
                        && (g, l) != (group, local)
                        && (g != group || e == epoch)
                })
            });
            assert!(!found[0] || races, "round {round}, step {step}: {what:?} {lanes:#x} {addresses:?}");
            assert!(found[0] || !found[1], "round {round}, step {step}: only words find it");
            seen[found[0] as usize] += 1;
            history.extend(mine.iter().map(|&(l, a)| (group, l, epoch, a, what == What::Write)));
        }
    }
    assert!(seen.iter().all(|n| *n > 1000), "{seen:?}");
}
