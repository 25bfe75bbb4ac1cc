//! Vulkan's rules of ray traversal, on scenes of a few triangles and boxes.

mod support;

use bvh::*;
use random::Random;
use ray_flags as rf;
use support::*;

/// Squares of two triangles, each at a z, with normals toward -z if `front`: a ray along +z sees their fronts.
fn square(z: f32, front: bool) -> Vec<[f32; 3]> {
    let [a, b, c, d] = [[-1.0, -1.0, z], [1.0, -1.0, z], [1.0, 1.0, z], [-1.0, 1.0, z]];
    if front { vec![a, c, b, a, d, c] } else { vec![a, b, c, a, c, d] }
}

fn along_z(flags: u32) -> Ray {
    Ray { flags, ..ray([0.3, 0.1, -5.0], [0.0, 0.0, 1.0]) }
}

/// A world with one geometry in one instance.
fn one(geometries: &[Geometry], edit: impl Fn(&mut Instance)) -> (World, Memory) {
    let mut world = World::default();
    let address = world.add(geometries, Flags(0));
    let mut instance = world.instance(address, IDENTITY);
    edit(&mut instance);
    let top = structure(&Input::Instances(&[instance]), Flags(0));
    (world, top)
}

/// What the first step is: 'o' an opaque hit committed, 'n' a candidate triangle, 'b' a box that is not opaque, 'B' an opaque one, '-' a miss.
fn first(world: &World, top: &Memory, ray: &Ray) -> (char, bool) {
    let mut t = Traversal::new(top.bytes(), ray);
    match t.next(world) {
        Step::Done if t.committed().kind == HitKind::None => ('-', false),
        Step::Done => ('o', t.committed().front),
        Step::Triangle(hit) => ('n', hit.front),
        Step::Box(hit) => (if hit.opaque { 'B' } else { 'b' }, false),
    }
}

#[test]
fn opacity_by_geometry_instance_and_ray() {
    // Geometry opaque, instance flags, ray flags, result for a triangle.
    let rows = [
        (1, 0, 0, 'o'),
        (0, 0, 0, 'n'),
        (0, 4, 0, 'o'),
        (1, 8, 0, 'n'),
        (1, 0, rf::NO_OPAQUE, 'n'),
        (0, 0, rf::OPAQUE, 'o'),
        // The ray's flags override the instance's.
        (0, 8, rf::OPAQUE, 'o'),
        (1, 4, rf::NO_OPAQUE, 'n'),
        (1, 0, rf::CULL_OPAQUE, '-'),
        (0, 0, rf::CULL_OPAQUE, 'n'),
        (0, 0, rf::CULL_NO_OPAQUE, '-'),
        (1, 0, rf::CULL_NO_OPAQUE, 'o'),
        (0, 4, rf::CULL_OPAQUE, '-'),
        (1, 8, rf::CULL_NO_OPAQUE, '-'),
        (1, 0, rf::SKIP_TRIANGLES, '-'),
        (1, 0, rf::SKIP_AABBS, 'o'),
        (1, 0, rf::SKIP_CLOSEST_HIT, 'o'),
    ];
    let triangles = square(1.0, true);
    let bounds = [[-1.0, -1.0, 1.0, 1.0, 1.0, 2.0]];
    for (opaque, instance, flags, expected) in rows {
        let (world, top) =
            one(&[Geometry::Triangles { positions: &triangles, flags: opaque }], |i| i.flags = instance);
        assert_eq!(first(&world, &top, &along_z(flags)).0, expected, "{opaque} {instance} {flags:#x}");
        // Boxes are never committed without the caller.
        let expected = match (expected, flags) {
            (_, rf::SKIP_TRIANGLES) => 'B',
            (_, rf::SKIP_AABBS) => '-',
            ('o', _) => 'B',
            ('n', _) => 'b',
            (other, _) => other,
        };
        let (world, top) = one(&[Geometry::Boxes { bounds: &bounds, flags: opaque }], |i| i.flags = instance);
        assert_eq!(first(&world, &top, &along_z(flags)).0, expected, "box {opaque} {instance} {flags:#x}");
    }
}

#[test]
fn facing() {
    // Front, instance flags, ray flags, result, front as seen.
    let rows = [
        (true, 0, 0, 'o', true),
        (false, 0, 0, 'o', false),
        (true, 2, 0, 'o', false),
        (false, 2, 0, 'o', true),
        (true, 0, rf::CULL_FRONT_FACING, '-', false),
        (true, 0, rf::CULL_BACK_FACING, 'o', true),
        (false, 0, rf::CULL_BACK_FACING, '-', false),
        (false, 0, rf::CULL_FRONT_FACING, 'o', false),
        (true, 2, rf::CULL_BACK_FACING, '-', false),
        (false, 2, rf::CULL_FRONT_FACING, '-', false),
        (true, 1, rf::CULL_FRONT_FACING, 'o', true),
        (false, 1, rf::CULL_BACK_FACING, 'o', false),
        (true, 3, rf::CULL_BACK_FACING, 'o', false),
    ];
    for (front, instance, flags, expected, seen) in rows {
        let triangles = square(1.0, front);
        let (world, top) =
            one(&[Geometry::Triangles { positions: &triangles, flags: 1 }], |i| i.flags = instance);
        assert_eq!(first(&world, &top, &along_z(flags)), (expected, seen), "{front} {instance} {flags:#x}");
        // From every side: the normal decides, whatever the axis.
        for axis in 0..3 {
            for sign in [1.0, -1.0f32] {
                let turn = |p: &[f32; 3]| -> [f32; 3] {
                    let mut out = [0.0; 3];
                    for k in 0..3 {
                        out[(k + axis) % 3] = p[k];
                    }
                    // A half turn about another axis.
                    if sign < 0.0 {
                        (out[(axis + 2) % 3], out[axis]) = (-out[(axis + 2) % 3], -out[axis]);
                    }
                    out
                };
                let turned: Vec<[f32; 3]> = triangles.iter().map(turn).collect();
                let r = along_z(flags);
                let r = Ray { origin: turn(&r.origin), direction: turn(&[0.1, 0.05, 1.0]), ..r };
                let (world, top) =
                    one(&[Geometry::Triangles { positions: &turned, flags: 1 }], |i| i.flags = instance);
                assert_eq!(
                    first(&world, &top, &r),
                    (expected, seen),
                    "{front} {instance} {flags:#x} {axis} {sign}"
                );
            }
        }
    }
}

#[test]
fn masks_intervals_and_identity() {
    let triangles = square(1.0, true);
    let geometries = [Geometry::Triangles { positions: &triangles, flags: 1 }];
    for (mask, cull, hit) in
        [(0xFF, 1, true), (2, 1, false), (2, 3, true), (0, 0xFF, false), (0xFF, 0, false)]
    {
        let (world, top) = one(&geometries, |i| i.mask = mask);
        assert_eq!(
            first(&world, &top, &Ray { cull_mask: cull, ..along_z(0) }).0 == 'o',
            hit,
            "{mask} {cull}"
        );
    }
    let (world, top) = one(&geometries, |i| (i.custom_index, i.sbt_offset) = (0xABCDEF, 0x123456));
    // The triangle is at t = 6, and its interval is open.
    for (t_min, t_max, hit) in
        [(0.0, 6.0, false), (0.0, 6.0001, true), (6.0, 9.0, false), (5.9999, 9.0, true), (7.0, 5.0, false)]
    {
        assert_eq!(first(&world, &top, &Ray { t_min, t_max, ..along_z(0) }).0 == 'o', hit, "{t_min} {t_max}");
    }
    let mut t = Traversal::new(top.bytes(), &along_z(0));
    t.next(&world);
    let hit = *t.committed();
    assert_eq!(
        (hit.custom_index, hit.sbt_offset, hit.instance, hit.geometry, hit.structure),
        (0xABCDEF, 0x123456, 0, 0, 256)
    );
    assert_eq!(hit.t, 6.0);
    // Vertices a, d, c; the point (0.3, 0.1) is in a, c, b: b + c weigh (0.3 + 1) / 2 along x, c (0.1 + 1) / 2 along y.
    assert_eq!((hit.primitive, hit.barycentrics.map(|b| (b * 1000.0).round())), (0, [550.0, 100.0]));
    // A box's interval is closed.
    let bounds = [[-1.0, -1.0, 1.0, 1.0, 1.0, 2.0]];
    let (world, top) = one(&[Geometry::Boxes { bounds: &bounds, flags: 0 }], |_| {});
    for (t_min, t_max, hit) in
        [(0.0, 6.0, true), (7.0, 9.0, true), (0.0, 5.9, false), (7.1, 9.0, false), (6.4, 6.5, true)]
    {
        assert_eq!(first(&world, &top, &Ray { t_min, t_max, ..along_z(0) }).0 == 'b', hit, "{t_min} {t_max}");
    }
}

#[test]
fn boxes_are_committed_inside_the_interval() {
    let bounds = [[-1.0, -1.0, 1.0, 1.0, 1.0, 2.0], [-1.0, -1.0, 3.0, 1.0, 1.0, 4.0]];
    let (world, top) = one(&[Geometry::Boxes { bounds: &bounds, flags: 0 }], |_| {});
    let mut t = Traversal::new(top.bytes(), &along_z(0));
    let mut seen = vec![];
    while let Step::Box(hit) = t.next(&world) {
        seen.push(hit.primitive);
        assert!((5.9999..=6.0).contains(&hit.t));
        assert!(!t.commit_box(1e31) && !t.commit_box(-1.0) && !t.commit_box(f32::NAN));
        assert!(t.commit_box(6.5));
        // Of two hits in one box the closer stays.
        assert!(!t.commit_box(6.75));
        assert!(t.commit_box(6.25));
    }
    assert_eq!(seen, [0], "the second box is beyond the hit in the first");
    assert_eq!((t.committed().kind, t.committed().primitive, t.committed().t), (HitKind::Box, 0, 6.25));
}

#[test]
fn ties_go_to_the_lowest() {
    // Twelve equal squares in three geometries, in two instances.
    let triangles: Vec<[f32; 3]> = (0..4).flat_map(|_| square(1.0, true)).collect();
    let geometries = [Geometry::Triangles { positions: &triangles, flags: 1 }; 3];
    for flags in [Flags(0), Flags::PREFER_FAST_BUILD] {
        let mut world = World::default();
        let address = world.add(&geometries, flags);
        let instance = world.instance(address, IDENTITY);
        for first in 0..3 {
            let mut all = [instance; 3];
            all[..first].iter_mut().for_each(|i| i.structure = 0);
            let top = structure(&Input::Instances(&all), flags);
            for opaque in [0, rf::NO_OPAQUE] {
                let mut t = Traversal::new(top.bytes(), &along_z(opaque));
                while t.next(&world) != Step::Done {
                    t.commit_triangle();
                }
                let hit = t.committed();
                assert_eq!((hit.instance as usize, hit.geometry, hit.primitive), (first, 0, 0));
            }
        }
    }
}

#[test]
fn candidates_are_all_given_once() {
    let mut rng = Random::new(5);
    let triangles: Vec<[f32; 3]> =
        (0..300).flat_map(|k| square(k as f32 * 0.01 + rng.f() * 0.001, k % 2 == 0)).collect();
    let geometries = [Geometry::Triangles { positions: &triangles, flags: 0 }];
    let (world, top) = one(&geometries, |_| {});
    let mut t = Traversal::new(top.bytes(), &along_z(0));
    let mut seen = vec![];
    loop {
        // A copy goes on as the original does.
        let mut copy = t.clone();
        let step = t.next(&world);
        assert_eq!(copy.next(&world), step);
        match step {
            Step::Done => break,
            Step::Triangle(hit) => seen.push(hit.primitive),
            Step::Box(_) => unreachable!(),
        }
    }
    assert_eq!(t.committed().kind, HitKind::None);
    seen.sort();
    assert_eq!(seen.len(), 300);
    seen.dedup();
    assert_eq!(seen.len(), 300);

    // Committed ones shorten the ray; the first hit ends it where it should.
    let mut t = Traversal::new(top.bytes(), &along_z(rf::TERMINATE_ON_FIRST_HIT));
    assert!(matches!(t.next(&world), Step::Triangle(_)));
    t.commit_triangle();
    assert_eq!(t.next(&world), Step::Done);
    assert_eq!(t.committed().kind, HitKind::Triangle);
    let mut t = Traversal::new(top.bytes(), &along_z(0));
    t.next(&world);
    t.terminate();
    assert_eq!((t.next(&world), t.committed().kind), (Step::Done, HitKind::None));
}

#[test]
fn instances_transform_rays() {
    let triangles = square(0.0, true);
    let mut world = World::default();
    let address = world.add(&[Geometry::Triangles { positions: &triangles, flags: 1 }], Flags(0));
    let mut all = vec![];
    for k in 0..40 {
        // Twice as large, ten apart along x, turned: object z is world y.
        let x = k as f32 * 10.0;
        let mut i = world.instance(address, [2.0, 0.0, 0.0, x, 0.0, 0.0, 2.0, 7.0, 0.0, 2.0, 0.0, 0.0]);
        (i.custom_index, i.mask) = (k + 100, if k == 7 { 0 } else { 0xFF });
        all.push(i);
    }
    let top = structure(&Input::Instances(&all), Flags(0));
    for k in 0..40 {
        let x = k as f32 * 10.0;
        let mut t = Traversal::new(top.bytes(), &ray([x + 0.5, 3.0, 0.25], [0.0, 1.0, 0.0]));
        t.next(&world);
        let hit = *t.committed();
        if k == 7 {
            assert_eq!(hit.kind, HitKind::None);
            continue;
        }
        assert_eq!((hit.t, hit.instance, hit.custom_index), (4.0, k, k + 100));
        let (to_world, to_object) = transforms(top.bytes(), &hit).unwrap();
        assert_eq!(to_world, all[k as usize].transform);
        assert_eq!(to_object, [0.5, 0.0, 0.0, -x * 0.5, 0.0, 0.0, 0.5, 0.0, 0.0, 0.5, 0.0, -3.5]);
    }
}

#[test]
fn visits_of_a_warp_by_hand() {
    // One block in one node below one node of the top.
    let triangles = square(1.0, true);
    let (world, top) = one(&[Geometry::Triangles { positions: &triangles, flags: 1 }], |_| {});
    for (hitting, row) in [(1, 0), (4, 0), (5, 1), (8, 1), (9, 2), (12, 2), (13, 3), (16, 3)] {
        let mut visits = WarpVisits::default();
        for lane in 0..16 {
            visits.ray(lane);
            // The others go by, but meet the top's root.
            let mut r = along_z(0);
            if lane >= hitting {
                r.origin[0] = 50.0;
            }
            Traversal::new(top.bytes(), &r).next_counted(&world, &mut visits);
        }
        let mut expected = Histogram::default();
        expected.nodes[3] += 1;
        expected.nodes[row] += 1;
        expected.triangles[row] += 1;
        expected.opaque_hits = hitting as u64;
        assert_eq!(visits.take(), expected, "{hitting}");
        assert_eq!(visits.take(), Histogram::default());
    }
}

#[test]
fn waves_are_their_rays() {
    let mut rng = Random::new(9);
    let triangles: Vec<[f32; 3]> = (0..600).map(|_| rng.v(3.0)).collect();
    let geometries = [
        Geometry::Triangles { positions: &triangles[..300], flags: 1 },
        Geometry::Triangles { positions: &triangles[300..], flags: 0 },
    ];
    let (world, top) = one(&geometries, |_| {});
    let n = 256;
    let o: [Vec<f32>; 3] = std::array::from_fn(|_| (0..n).map(|_| rng.f() * 5.0).collect());
    let d: [Vec<f32>; 3] = std::array::from_fn(|_| (0..n).map(|_| rng.f()).collect());
    let (t_min, t_max, flags, cull_mask) = (vec![0.0; n], vec![100.0; n], vec![0; n], vec![0xFF; n]);
    let mask = [u64::MAX, 0, 0x5555_5555_5555_5555, 1];
    let rays = Rays {
        origin: [&o[0], &o[1], &o[2]],
        t_min: &t_min,
        direction: [&d[0], &d[1], &d[2]],
        t_max: &t_max,
        flags: &flags,
        cull_mask: &cull_mask,
        mask: &mask,
    };
    for level in simd::Level::tested() {
        let untouched = Hit { primitive: 77, ..Hit::default() };
        let mut hits = vec![untouched; n];
        let mut left = vec![];
        trace(level, top.bytes(), &world, &rays, &mut hits, &mut |lane, t, step| {
            left.push((lane, t.clone(), step))
        });
        assert!(left.len() > 10);
        for lane in 0..n {
            let r = Ray {
                t_max: 100.0,
                ..ray([o[0][lane], o[1][lane], o[2][lane]], [d[0][lane], d[1][lane], d[2][lane]])
            };
            let mut t = Traversal::at_level(level, top.bytes(), &r);
            let step = t.next(&world);
            let found = left.iter_mut().find(|l| l.0 == lane);
            if mask[lane / 64] >> (lane % 64) & 1 == 0 {
                assert!(found.is_none() && hits[lane] == untouched);
            } else if step == Step::Done {
                assert!(found.is_none() && hits[lane] == *t.committed());
            } else {
                let (_, resumed, first) = found.expect("left");
                assert_eq!(*first, step);
                while t.next(&world) != Step::Done {
                    t.commit_triangle();
                }
                while resumed.next(&world) != Step::Done {
                    resumed.commit_triangle();
                }
                assert_eq!(t.committed(), resumed.committed());
            }
        }
    }
}
