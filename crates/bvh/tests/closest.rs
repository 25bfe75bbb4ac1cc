//! Closest hits against a reference in f64 that tries every triangle.

mod support;

use bvh::*;
use random::Random;
use simd::Level;
use support::*;

fn soup(rng: &mut Random, n: usize) -> Vec<[f32; 3]> {
    let mut out = Vec::new();
    for k in 0..n {
        let at = rng.v(10.0);
        let size = if k % 50 == 0 { 8.0 } else { 0.4 };
        let thin = if k % 7 == 0 { 0.01 } else { 1.0 };
        let mut p: [[f32; 3]; 3] = std::array::from_fn(|_| {
            let d = rng.v(size);
            [at[0] + d[0], at[1] + d[1] * thin, at[2] + d[2]]
        });
        match k % 40 {
            // Degenerate ones.
            3 => p[1] = p[0],
            5 => p = [p[0]; 3],
            _ => {}
        }
        out.extend(p);
    }
    out
}

fn check(flags: Flags, n: usize, seed: u64) {
    let mut rng = Random::new(seed);
    let all = soup(&mut rng, n);
    let mut world = World::default();
    let half = n / 2 * 3;
    let geometries = [
        Geometry::Triangles { positions: &all[..half], flags: geometry_flags::OPAQUE },
        Geometry::Triangles { positions: &all[half..], flags: geometry_flags::OPAQUE },
    ];
    let address = world.add(&geometries, flags);
    let top = structure(&Input::Instances(&[world.instance(address, IDENTITY)]), flags);
    let mut hits = 0;
    for k in 0..400 {
        let mut r = ray(rng.v(14.0), rng.v(1.0));
        if k % 2 == 1 {
            let to = all[rng.index(all.len())];
            r.direction = std::array::from_fn(|a| to[a] + rng.f() * 0.1 - r.origin[a]);
        }
        match k % 10 {
            0 => r.direction = [0.0, 0.0, 1.0],
            1 => r.direction[1] = 0.0,
            2 => r.t_max = 6.0,
            3 => r.t_min = 3.0,
            _ => {}
        }
        // What is beyond doubt.
        let mut best: Option<(f64, usize)> = None;
        for (i, p) in all.chunks(3).enumerate() {
            let Some((t, inside, _)) = exact(&r, [p[0], p[1], p[2]]) else { continue };
            if inside > 1e-4
                && t > r.t_min as f64 + 1e-4
                && t < r.t_max as f64 - 1e-4
                && best.is_none_or(|b| t < b.0)
            {
                best = Some((t, i));
            }
        }
        for level in Level::tested() {
            let mut t = Traversal::at_level(level, top.bytes(), &r);
            assert_eq!(t.next(&world), Step::Done);
            let hit = *t.committed();
            if hit.kind == HitKind::None {
                assert_eq!(best, None, "ray {k} {r:?} at {level:?}: missed");
                continue;
            }
            let i = hit.primitive as usize + hit.geometry as usize * (n / 2);
            let p = &all[i * 3..i * 3 + 3];
            let (at, inside, [u, v]) = exact(&r, [p[0], p[1], p[2]]).expect("a triangle");
            // A sliver's t is sensitive to everything.
            let near = 1e-3 * (1.0 + at.abs());
            assert!((hit.t as f64 - at).abs() < near, "ray {k}: t {} of {at}", hit.t);
            assert!(inside > -1e-3, "ray {k}: outside by {inside}");
            assert!(
                (hit.barycentrics[0] as f64 - u).abs() < 1e-2
                    && (hit.barycentrics[1] as f64 - v).abs() < 1e-2,
                "ray {k}"
            );
            assert_eq!(positions(world.bottoms[0].bytes(), &hit), Some([p[0], p[1], p[2]]));
            if let Some((t, best)) = best {
                assert!((hit.t as f64) <= t + 1e-3 * (1.0 + t), "ray {k}: {} {i}, but {t} {best}", hit.t);
            }
            hits += 1;
        }
    }
    assert!(hits > 20 * Level::tested().len(), "{hits} hits at {} levels", Level::tested().len());
}

#[test]
fn of_random_triangles() {
    for flags in [Flags(0), Flags::PREFER_FAST_TRACE, Flags::PREFER_FAST_BUILD] {
        for (n, seed) in [(1, 1), (3, 2), (5, 3), (9, 4), (100, 5), (3000, 6)] {
            if n >= 100 {
                check(flags, n, seed + 77);
            } else {
                // (Too few to be hit often.)
                let mut rng = Random::new(seed);
                let all = soup(&mut rng, n);
                let mut world = World::default();
                let address = world
                    .add(&[Geometry::Triangles { positions: &all, flags: geometry_flags::OPAQUE }], flags);
                let top = structure(&Input::Instances(&[world.instance(address, IDENTITY)]), flags);
                for (i, p) in all.chunks(3).enumerate() {
                    let middle: [f32; 3] = std::array::from_fn(|a| (p[0][a] + p[1][a] + p[2][a]) / 3.0);
                    let from = [middle[0] + 0.3, middle[1] + 0.2, middle[2] + 0.25];
                    let r = ray(from, std::array::from_fn(|a| middle[a] - from[a]));
                    let expected = exact(&r, [p[0], p[1], p[2]]).is_some_and(|(_, inside, _)| inside > 0.01);
                    let mut t = Traversal::new(top.bytes(), &r);
                    t.next(&world);
                    assert_eq!(
                        t.committed().kind != HitKind::None,
                        expected || t.committed().primitive as usize != i && t.committed().t < 1.0
                    );
                }
            }
        }
    }
}
