//! What the L2 holds from workload to workload: figures worked out by hand.

use std::ops::Range;
use wave::held::Held;
use wave::reach::{Asks, BEYOND, Reach, Stretch};
use wave::tally::AccessKind;

const READ: Asks = Asks::LoadStore(AccessKind::Read);
const WRITE: Asks = Asks::LoadStore(AccessKind::Write);
/// Lines of 2 MiB.
const L2: u64 = 32_768;

/// A workload of `whole` stretches that ask for as many lines each, of which these were followed: how many lines it asks for in all, and how many of
/// them the L2 has.
fn workload(held: &mut Held, asks: Asks, whole: u64, followed: &[Vec<u64>]) -> (u64, u64) {
    let mut reach = Reach::default();
    for lines in followed {
        let mut s = Stretch::default();
        lines.iter().for_each(|l| s.asks(*l, asks));
        reach.end(&mut s);
    }
    let asked = reach.lines([[followed.len() as u64, whole]; Asks::COUNT], L2);
    let hits = held.ask(&asked, L2);
    assert_eq!(hits.iter().sum::<u64>(), hits[asks.at()]);
    (asked.lines, hits[asks.at()])
}

/// One that was followed whole.
fn all(held: &mut Held, asks: Asks, lines: impl IntoIterator<Item = u64>) -> (u64, u64) {
    workload(held, asks, 1, &[lines.into_iter().collect()])
}

#[test]
fn what_was_read_is_there() {
    let mut h = Held::default();
    assert_eq!(all(&mut h, READ, 0..4096), (4096, 0));
    assert_eq!(all(&mut h, READ, 0..4096), (4096, 4096));
    // Half of it, and as much again beside it; every other line of that, which now is there.
    assert_eq!(all(&mut h, READ, 2048..6144), (4096, 2048));
    assert_eq!(all(&mut h, READ, (4096..6144).step_by(2)), (1024, 1024));
    assert_eq!(all(&mut h, READ, 10_000..10_016), (16, 0));
}

/// Lines of one stretch of 64 KiB that are not the same ones.
#[test]
fn lines_are_told_apart() {
    let mut h = Held::default();
    assert_eq!(all(&mut h, READ, (0..1024).step_by(2)), (512, 0));
    assert_eq!(all(&mut h, READ, (1..1024).step_by(2)), (512, 0));
    assert_eq!(all(&mut h, READ, 0..1024), (1024, 1024));
}

#[test]
fn what_is_written_is_there_and_dirty_until_it_is_cleaned() {
    let mut h = Held::default();
    assert_eq!(all(&mut h, WRITE, 0..1000), (1000, 0));
    assert_eq!(all(&mut h, READ, 0..1000), (1000, 1000));
    // It is dirty still: written once.
    assert_eq!(all(&mut h, WRITE, 0..1000), (1000, 1000));
    assert_eq!(h.clean(), 1000);
    assert_eq!(h.clean(), 0);
    assert_eq!(all(&mut h, WRITE, 0..600), (600, 0));
    assert_eq!(all(&mut h, READ, 0..1000), (1000, 1000));
    // What was only read is not dirty.
    assert_eq!(all(&mut h, READ, 5000..5100), (100, 0));
    assert_eq!(all(&mut h, WRITE, 5000..5100), (100, 0));
    assert_eq!(h.clean(), 700);
}

/// It holds 32 768 lines: of 4096 and others, as long as half of both workloads and what lies between are no more.
#[test]
fn what_others_pushed_out_is_gone() {
    let mut h = Held::default();
    let others = |n: Range<u64>| n.start * 1024 + 1_024_000..n.end * 1024 + 1_024_000;
    all(&mut h, READ, 0..4096);
    // 28 × 1024 + 4096 are 32 768.
    (0..28).for_each(|n| assert_eq!(all(&mut h, READ, others(n..n + 1)).1, 0));
    assert_eq!(all(&mut h, READ, 0..4096), (4096, 4096));
    (0..29).for_each(|n| _ = all(&mut h, READ, others(n..n + 1)));
    assert_eq!(all(&mut h, READ, 0..4096), (4096, 0));
    // What does not fit is never there again.
    for _ in 0..3 {
        assert_eq!(workload(&mut h, READ, 1, &[(500_000..533_792).collect()]).1, 0);
    }
}

/// Two of 64 stretches were followed, of 256 lines each. The other lines are around those that are known.
#[test]
fn what_was_not_followed_is_estimated() {
    let stretches = |at: [u64; 2]| at.map(|s| (s * 256..s * 256 + 256).collect::<Vec<_>>());
    let mut h = Held::default();
    assert_eq!(workload(&mut h, WRITE, 64, &stretches([17, 48])), (16_384, 0));
    // The same again, and others of the same memory.
    assert_eq!(workload(&mut h, WRITE, 64, &stretches([17, 48])), (16_384, 16_384));
    let (lines, hits) = workload(&mut h, READ, 64, &stretches([15, 50]));
    assert!(lines == 16_384 && hits >= 14_000, "{hits} of {lines}");
    // Far away, nothing.
    assert_eq!(workload(&mut h, READ, 64, &stretches([1017, 1048])), (16_384, 0));
}

/// An image of 4096 lines, of which two workloads meet each a part.
#[test]
fn an_image_is_where_it_is() {
    let mut h = Held::default();
    let mut sample = |parts: [Range<u64>; 2]| {
        let mut reach = Reach::default();
        for lines in parts {
            let mut s = Stretch::default();
            s.samples_of(2048, 4096);
            lines.for_each(|l| s.asks(l, Asks::Texel));
            reach.end(&mut s);
        }
        let asked = reach.lines([[2, 1000]; Asks::COUNT], L2);
        (asked.lines, h.ask(&asked, L2)[Asks::Texel.at()])
    };
    assert_eq!(sample([2048..2148, 3000..3100]), (4096, 0));
    assert_eq!(sample([5000..5100, 6000..6100]), (4096, 4096));
}

/// Positions and varyings lie elsewhere each time, and push out what was there.
#[test]
fn what_lies_elsewhere_each_time_is_not_found_again() {
    let mut h = Held::default();
    all(&mut h, READ, 0..1024);
    for _ in 0..3 {
        assert_eq!(all(&mut h, WRITE, BEYOND..BEYOND + 8_000).1, 0);
    }
    assert_eq!(h.clean(), 0);
    assert_eq!(all(&mut h, READ, 0..1024), (1024, 1024));
    (0..4).for_each(|_| _ = all(&mut h, WRITE, BEYOND..BEYOND + 8_000));
    assert_eq!(all(&mut h, READ, 0..1024), (1024, 0));
}

/// However many workloads there are, and wherever their lines lie, little is kept.
#[test]
fn little_is_kept() {
    let mut h = Held::default();
    for n in 0..3000 {
        all(&mut h, WRITE, (0..64).map(|l| (n * 64 + l) * 4096));
    }
    assert_eq!(all(&mut h, READ, (0..64).map(|l| (2999 * 64 + l) * 4096)), (64, 64));
    assert!(h.clean() <= 4096);
}
