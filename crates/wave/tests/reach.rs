//! How many lines memory gives stretches of which some were followed: figures worked out by hand.

use random::Random;
use wave::reach::pages::Pages;
use wave::reach::{Asks, Reach, Stretch};
use wave::tally::AccessKind;

const READ: Asks = Asks::LoadStore(AccessKind::Read);

fn of(followed: u64, whole: u64) -> [[u64; 2]; Asks::COUNT] {
    [[followed, whole]; Asks::COUNT]
}

fn reach(stretches: impl IntoIterator<Item = Vec<u64>>) -> Reach {
    let mut r = Reach::default();
    for lines in stretches {
        let mut s = Stretch::default();
        lines.into_iter().for_each(|l| s.asks(l, READ));
        r.end(&mut s);
    }
    r
}

#[test]
fn a_table_is_read_once() {
    let mut r = reach((0..2).map(|_| (0..16).collect()));
    assert_eq!(r.lines(of(2, 1000), 32_768).given[READ.at()].once, 16);
}

#[test]
fn what_each_has_alone_counts_for_all() {
    // Two of a thousand, of 256 lines each; and a table of 16 besides.
    let mut r = reach((0..2).map(|s| (0..256).map(|l| 100_000 + s * 256_000 + l).chain(0..16).collect()));
    assert_eq!(r.lines(of(2, 1000), 32_768).given[READ.at()].once, 256_000 + 16);
}

#[test]
fn what_was_followed_whole_is_counted() {
    let mut r = reach([vec![1, 2, 3], vec![3, 4, 5], vec![5, 5, 5_000_000]]);
    assert_eq!(r.lines(of(3, 3), 32_768).given[READ.at()].once, 6);
}

/// 32 of 512 stretches ask for 256 of a texture's 4096 lines each, anywhere.
#[test]
fn a_texture_is_estimated() {
    let mut r = Random::new(1);
    let mut random = || u64::from(r.below(4096));
    let mut r = reach((0..32).map(|_| (0..256).map(|_| random()).collect()));
    let lines = r.lines(of(32, 512), 32_768).given[READ.at()].once;
    assert!((3_900..=4_096).contains(&lines), "{lines}");
}

/// A long list is thinned: the same for any distribution of lines, and about as many.
#[test]
fn order_does_not_matter() {
    let stretch = |s: u64| (s * 3_000..s * 3_000 + 6_000).collect::<Vec<u64>>();
    let mut one = reach((0..20).map(stretch));
    let mut halves =
        [reach((0..10).map(|s| stretch(2 * s))), reach((0..10).rev().map(|s| stretch(2 * s + 1)))];
    let [a, b] = &mut halves;
    b.add(a);
    let (x, y) = (
        one.lines(of(20, 20), u64::MAX).given[READ.at()].once,
        b.lines(of(20, 20), u64::MAX).given[READ.at()].once,
    );
    assert_eq!((x, &one), (y, &*b));
    assert!((60_000..66_000).contains(&x), "{x} of 63 000");
}

/// A table of 64 lines that every stretch reads beside 256 lines of its own stays in an L2 of 1024 lines; one of 4096, of which each
/// reads 256 anywhere, does not.
#[test]
fn what_is_asked_for_often_stays() {
    let mut r = reach((0..8).map(|s| (0..64).chain((0..256).map(|l| 1_000_000 * (s + 1) + l)).collect()));
    let given = r.lines(of(8, 800), 1024).given[READ.at()];
    assert_eq!((given.once, given.alone), (25_600 * 8 + 64, 25_600 * 8 + 6_400 * 8));
    let mut r = Random::new(1);
    let mut random = || u64::from(r.below(4096));
    let mut r = reach((0..32).map(|_| (0..256).map(|_| random()).collect()));
    let given = r.lines(of(32, 512), 1024).given[READ.at()];
    assert_eq!(given.once, given.alone);
}

/// Four of 510 tiles, of which each samples another quarter of an image of 1024 lines: no two met the same line, but there are no more.
#[test]
fn an_image_has_no_more_lines_than_it_has() {
    let mut r = Reach::default();
    for t in 0..4 {
        let mut s = Stretch::default();
        s.samples_of(5_000, 1024);
        (0..256).for_each(|l| s.asks(5_000 + t * 256 + l, Asks::Texel));
        r.end(&mut s);
    }
    assert_eq!(r.lines(of(4, 510), 32_768).given[Asks::Texel.at()].once, 1024);
}

/// What a stretch sampled without asking memory for anything is not the next one's.
#[test]
fn images_are_of_their_own_stretch() {
    let (mut earlier, mut s) = (Reach::default(), Stretch::default());
    s.samples_of(5_000, 16);
    earlier.end(&mut s);
    let mut r = Reach::default();
    (0..16).for_each(|l| s.asks(5_000 + l, Asks::Texel));
    r.end(&mut s);
    // Its lines are no image's: as many as there are stretches like it.
    assert_eq!(r.lines(of(1, 10), 32_768).given[Asks::Texel.at()].once, 160);
}

/// Pages of 64 lines, as the memory management unit is asked for them.
#[test]
fn pages_of_a_table_and_a_page_each() {
    // Eight of sixteen stretches: two pages of a table, and one of its own each. Three lookups a stretch; two pages, and sixteen; all in
    // the first 2 MiB.
    let mut r = reach((0..8).map(|s| (0..128).chain((100 + s) * 64..(101 + s) * 64).collect()));
    assert_eq!(r.pages(of(8, 16)), Pages { lookups: 48, pages: 18, sections: 1 });
    // A line of each of three sections of 512 pages.
    let mut r = reach([vec![0, 512 * 64, 1024 * 64]]);
    assert_eq!(r.pages(of(1, 1)), Pages { lookups: 3, pages: 3, sections: 3 });
    // More lines than are kept, of 4096 pages: as many, as far as one line of many tells.
    let mut r = reach([(0..4096 * 64).collect()]);
    let pages = r.pages(of(1, 1));
    assert!((3800..4400).contains(&pages.pages) && pages.lookups == pages.pages, "{pages:?}");
    assert_eq!(pages.sections, 8.max(pages.pages.div_ceil(512)));
    assert_eq!(Reach::default().pages(of(0, 0)), Pages::default());
}
