//! How far what is told of external memory is from what it is if every access goes through the caches: the sampled traffic of kernels, copies and pictures against
//! all of it (`TUFF_TRACE=all`).

use client::drivers::Threads;
use std::fmt::Write;
use std::process::Command;

const BEGIN: &str = "<!-- written by conformance's traces -->\n";
const END: &str = "<!-- end of the traces -->";

/// Bytes that may be told too many or too few: so much of what there is, and a stretch of 64 KiB, by which the L2 is kept.
const SHARE: f64 = 0.02;
const MORE: f64 = 65_536.0;

/// What `tri` writes, by hand: 200 000 equilateral triangles of 10 pixels, turned and placed at random in 1920 × 1080 pixels of RGBA8, of vertices with a
/// position and a colour of 16 bytes each.
///
/// Binning. A side is √(4 · 10 / √3) = 4.81 pixels, so a triangle is 3 · 4.81 / π = 4.59 pixels wide on average, and the centres of its outermost pixels lie
/// 3.59 apart. It lies in two columns of tiles of 32 pixels with the probability 3.59 / 32, and in two rows as well: 1 + 2 · 3.59 / 32 = 1.224 tiles, each
/// with a reference of 8 bytes: 200 000 · 1.224 · 8 = 1.96 MB. It lies in one region of 64 × 64 with the probability (1 − 3.59 / 64)² = 0.891; the vertices of
/// such triangles are shaded again by their region, and nothing of them is written. The others leave three positions and three colours:
/// 200 000 · 0.109 · 3 · 32 = 2.09 MB. Together 4.05 MB.
///
/// Tiles. The image has 480 × 270 blocks of 4 × 4 pixels, 64 bytes each, and 120 × 68 superblocks with headers of 16 bytes. A triangle has a pixel's centre in a
/// block if it lies in an area of 10 + 2 · 3 · 4.59 + 9 = 46.5 pixels around it: λ = 46.5 · 200 000 / 2 073 600 = 4.49 triangles a block. With the colour below
/// them there are n = N + 1 colours, N by Poisson's law. n random bytes lie in a range of less than 2⁻ʲ of all with the probability
/// ((2ʲ − 1) n + 1) / 2ʲⁿ, and then take j bits fewer: with q = 2⁻ʲ, the mean over N is q · e^(−λ (1 − q)) · ((2ʲ − 1)(λ q + 1) + 1), which is 0.225, 0.064,
/// 0.029, 0.019, 0.015, 0.013, 0.012, 0.012 for j = 1 to 8: together 0.39 bits. So fifteen pixels of four bytes take 15 · 4 · 0.39 / 8 = 2.9 bytes fewer:
/// 129 600 · (64 − 2.9) + 8160 · 16 = 8.05 MB.
///
/// The second time, no block of the image changes, and none is written: only what binning leaves is.
const TRI_BINNING: f64 = 4.05e6;
const TRI_TILES: f64 = 8.05e6;

/// Name, read and written.
fn traffic(all: bool) -> Vec<(String, [f64; 2])> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_traces-child"));
    crate::common::driver().prepare(&mut child, Threads::Count(2));
    child.env("TUFF_TRACE", if all { "all" } else { "" });
    let out = child.output().expect("it runs");
    let (said, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{said}{errors}");
    let row = |l: &str| {
        let mut parts = l.split(';');
        let name = parts.next()?.to_string();
        let mut number = || parts.next()?.parse().ok();
        Some((name, [number()?, number()?]))
    };
    said.lines().filter_map(row).collect()
}

#[test]
fn samples_tell_what_all_accesses_do() {
    let [samples, all] = [false, true].map(traffic);
    assert!(samples.len() > 30 && samples.len() == all.len());
    let mut wrong = vec![];
    let mut table = String::from(
        "| workload | read, samples | read, all | written, samples | written, all |\n|---|---|---|---|---|\n",
    );
    for ((name, told), (_, is)) in samples.iter().zip(&all) {
        let _ = writeln!(table, "| {name} | {} | {} | {} | {} |", told[0], is[0], told[1], is[1]);
        if told.iter().zip(is).any(|(told, is)| (told - is).abs() > SHARE * is + MORE) {
            wrong.push(format!("{name}: {told:?}, all: {is:?}"));
        }
    }
    for (name, by_hand) in [("tri", TRI_BINNING + TRI_TILES), ("tri, again", TRI_BINNING)] {
        for rows in [&samples, &all] {
            let (_, [_, written]) = rows.iter().find(|r| r.0 == name).expect("it is there");
            if (written / by_hand - 1.0).abs() > SHARE {
                wrong.push(format!("{name}: {written} bytes written, by hand {by_hand}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/model.md");
    let text = std::fs::read_to_string(path).expect("the page");
    let (before, rest) = text.split_once(BEGIN).expect("where the table begins");
    let (old, after) = rest.split_once(END).expect("where it ends");
    if std::env::var_os("TUFF_BLESS").is_some() {
        std::fs::write(path, format!("{before}{BEGIN}{table}{END}{after}")).expect("the page");
    } else {
        assert!(old == table, "docs/model.md has another table: TUFF_BLESS=1 writes it");
    }
}
