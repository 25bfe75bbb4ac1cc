//! The curve of micromaps: the parts of small levels by the specification's figures, and the properties of its recursive rule.

use super::*;

/// The middles of a level's parts: column, row and half of their cells, and barycentrics.
fn middles(level: u32) -> Vec<([u32; 3], [f32; 2])> {
    let side = 1 << level;
    let cells = (0..side).flat_map(|c| (0..side - c).map(move |r| (c, r)));
    let halves = cells.flat_map(|(c, r)| (0..if c + r < side - 1 { 2 } else { 1 }).map(move |h| (c, r, h)));
    let at = |c: u32, h: u32| (c as f32 + [1.0 / 3.0, 2.0 / 3.0][h as usize]) / side as f32;
    halves.map(|(c, r, h)| ([c, r, h], [at(c, h), at(r, h)])).collect()
}

#[test]
fn small_levels_have_the_specifications_order() {
    let of = |level| middles(level).into_iter().map(|(_, [u, v])| index(u, v, level)).collect::<Vec<_>>();
    assert_eq!(of(0), [0]);
    assert_eq!(of(1), [0, 1, 3, 2], "nearest vertex 0, the middle, nearest vertex 2, nearest vertex 1");
    // Columns from vertex 0 to vertex 1, rows from vertex 0 to vertex 2; the specification's reference code.
    assert_eq!(of(2), [0, 1, 3, 4, 14, 13, 15, 2, 7, 5, 6, 12, 8, 9, 11, 10]);
}

#[test]
fn the_curve_is_hierarchical_and_leaves_nothing_out() {
    for level in 1..=6 {
        let n = 1usize << (2 * level);
        let mut seen = vec![None; n];
        for (cell, [u, v]) in middles(level) {
            let at = index(u, v, level);
            assert_eq!(seen[at as usize].replace((cell, [u, v])), None, "level {level}: {cell:?}");
            assert_eq!(index(u, v, level - 1), at / 4, "level {level}: {cell:?} is in its parent");
        }
        // Neighbours on the curve have a corner in common.
        for pair in seen.windows(2) {
            let [Some((_, a)), Some((_, b))] = [pair[0], pair[1]] else { panic!("level {level}") };
            let far = [0, 1].map(|k| (a[k] - b[k]).abs() * (1 << level) as f32);
            assert!(far[0] < 1.1 && far[1] < 1.1, "level {level}: {pair:?}");
        }
    }
}

#[test]
fn barycentrics_outside_the_triangle_are_some_part() {
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, -1e-9, 0.0, 0.5, 1.0, 1.0 + 1e-6, 2.0];
    for level in 0..=MAX_LEVEL {
        for u in odd {
            for v in odd {
                assert!((index(u, v, level) as u64) < 1 << (2 * level), "level {level}: {u} {v}");
            }
        }
    }
}
