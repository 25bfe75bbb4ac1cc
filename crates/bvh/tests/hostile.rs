//! Damaged structures, and input that is no number: nothing panics, everything ends, nothing outside is read.

mod support;

use bvh::*;
use random::Random;
use support::*;

fn triangles(rng: &mut Random, n: usize) -> Vec<[f32; 3]> {
    (0..n * 3).map(|_| rng.v(10.0)).collect()
}

/// A few rays with all that can be done on the way; how many steps they took.
fn use_it(world: &World, top: &Memory, rng: &mut Random) -> usize {
    let mut steps = 0;
    for k in 0..2 {
        let mut t = Traversal::new(top.bytes(), &ray(rng.v(12.0), rng.v(1.0)));
        loop {
            steps += 1;
            match t.next(world) {
                Step::Done => break,
                Step::Triangle(hit) => {
                    transforms(top.bytes(), &hit);
                    if let Some(bottom) = world.bottom(hit.structure) {
                        positions(bottom, &hit);
                    }
                    if k == 0 {
                        t.commit_triangle();
                    }
                }
                Step::Box(hit) => {
                    t.commit_box(hit.t);
                }
            }
            assert!(steps < 1_000_000);
        }
    }
    steps
}

#[test]
fn random_flips() {
    let mut rng = Random::new(21);
    let all = triangles(&mut rng, 400);
    let boxes: Vec<[f32; 6]> = (0..300)
        .map(|_| {
            let p = rng.v(10.0);
            [p[0], p[1], p[2], p[0] + 1.0, p[1] + 1.0, p[2] + 1.0]
        })
        .collect();
    let mut world = World::default();
    let a = world.add(&[Geometry::Triangles { positions: &all[..600], flags: 1 }], Flags::ALLOW_UPDATE);
    let b = world.add(&[Geometry::Triangles { positions: &all[600..], flags: 0 }], Flags::PREFER_FAST_BUILD);
    let c = world.add(&[Geometry::Boxes { bounds: &boxes, flags: 0 }], Flags(0));
    let instances: Vec<Instance> = (0..30)
        .map(|k| {
            let [x, y, z] = rng.v(8.0);
            world.instance([a, b, c][k % 3], [1.0, 0.0, 0.0, x, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, z])
        })
        .collect();
    let mut top = structure(&Input::Instances(&instances), Flags::ALLOW_UPDATE);
    // As small as they may be: what is read behind them is found by a sanitizer.
    let small = |m: &Memory| {
        let out = Memory::new(compacted_size(m.bytes()).unwrap() as usize);
        compact(m.bytes(), out.bytes()).unwrap();
        out
    };
    (top, world.bottoms) = (small(&top), world.bottoms.iter().map(small).collect());
    let whole: Vec<Vec<u8>> = world.bottoms.iter().chain([&top]).map(|m| m.slice().to_vec()).collect();
    let input = [Geometry::Triangles { positions: &all[..600], flags: 1 }];
    let scratch = Memory::new(1 << 20);
    let rounds = if cfg!(debug_assertions) { 100_000 } else { 400_000 };
    let mut steps = 0;
    for round in 0..rounds {
        // Several flips one after the other, then anew.
        if round % 8 == 0 {
            for (m, bytes) in world.bottoms.iter_mut().chain([&mut top]).zip(&whole) {
                m.slice_mut().copy_from_slice(bytes);
            }
        }
        let which = rng.index(4);
        let memory = if which == 3 { &mut top } else { &mut world.bottoms[which] };
        // The header and the first nodes more often.
        let at =
            if rng.index(2) == 0 { rng.index(1024) } else { rng.index(memory.len()) }.min(memory.len() - 1);
        memory.slice_mut()[at] ^= 1 << rng.index(8);
        if rng.index(4) == 0 {
            // A whole word, as an index would be.
            let at = at & !3;
            let word =
                [0x4000_0000u32, 0x8000_0000, u32::MAX, 0x4000_0001, 0xBFFF_FFFF, 0x7FC0_0000][rng.index(6)];
            memory.slice_mut()[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        if round % 4 == 0 {
            steps += use_it(&world, &top, &mut rng);
        }
        if round % 64 == 0 {
            let damaged = world.bottoms[0].bytes();
            statistics(damaged);
            if compacted_size(damaged).is_some() {
                let _ = update(
                    simd::Level::widest(None),
                    damaged,
                    scratch.bytes(),
                    &Input::Geometries(&input),
                    &Alone,
                );
                let _ = serialize(top.bytes(), &[0; 16], &[0; 16], scratch.bytes());
            }
        }
    }
    assert!(steps > rounds / 4);
}

#[test]
fn cycles_end() {
    let mut rng = Random::new(22);
    let all = triangles(&mut rng, 200);
    for target in [0u32, 1, 2] {
        let mut world = World::default();
        let address = world.add(&[Geometry::Triangles { positions: &all, flags: 0 }], Flags(0));
        let mut top = structure(&Input::Instances(&[world.instance(address, IDENTITY)]), Flags(0));
        // Nodes begin after the header and a geometry's entry; their children are at byte 16.
        for at in (384 + 16)..(384 + 16 + 32) {
            let word = (0x4000_0000 | target).to_le_bytes();
            world.bottoms[0].slice_mut()[at] = word[at % 4];
        }
        let steps = use_it(&world, &top, &mut rng);
        assert!(steps < 1000);
        // The top structure as its own bottom, and as a node of itself.
        for at in (256 + 16)..(256 + 16 + 32) {
            let word = (0x4000_0000 | target).to_le_bytes();
            top.slice_mut()[at] = word[at % 4];
        }
        use_it(&world, &top, &mut rng);
    }
    let mut world = World::default();
    let address = world.add(&[Geometry::Triangles { positions: &all, flags: 0 }], Flags(0));
    let instance = world.instance(address, IDENTITY);
    let top = structure(&Input::Instances(&[instance]), Flags(0));
    world.bottoms[0] = structure(&Input::Instances(&[instance]), Flags(0));
    assert_eq!(Traversal::new(top.bytes(), &ray([0.0; 3], [1.0, 0.0, 0.0])).next(&world), Step::Done);
    // A bottom structure, or nothing, as the top.
    for bytes in [world.bottoms[0].bytes(), Memory::new(4096).bytes(), Memory::new(10).bytes()] {
        let bytes = if bytes.len() > 4000 { bytes } else { Memory::new(10).bytes() };
        Traversal::new(bytes, &ray([0.0; 3], [1.0, 0.0, 0.0])).next(&world);
    }
}

#[test]
fn numbers_that_are_none() {
    let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -f32::MAX, 1e-45, -0.0, 1e38];
    let mut rng = Random::new(23);
    for flags in [Flags(0), Flags::PREFER_FAST_BUILD] {
        for round in 0..200 {
            let mut all = triangles(&mut rng, 60);
            let good = all.clone();
            let mut boxes: Vec<[f32; 6]> =
                good.chunks(2).map(|p| std::array::from_fn(|i| p[i / 3][i % 3])).collect();
            for _ in 0..round {
                let at = rng.index(all.len());
                all[at][rng.index(3)] = bad[rng.index(bad.len())];
                let at = rng.index(boxes.len());
                boxes[at][rng.index(6)] = bad[rng.index(bad.len())];
            }
            // A triangle and a box that are good among them are found.
            all[..3].copy_from_slice(&[[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]]);
            let mut world = World::default();
            let a = world.add(&[Geometry::Triangles { positions: &all, flags: 0 }], flags);
            let b = world.add(&[Geometry::Boxes { bounds: &boxes, flags: 0 }], flags);
            let mut instances = vec![world.instance(a, IDENTITY), world.instance(b, IDENTITY)];
            for _ in 0..10 {
                let mut i = instances[rng.index(2)];
                i.transform[rng.index(12)] = bad[rng.index(bad.len())];
                i.bounds[rng.index(6)] = bad[rng.index(bad.len())];
                instances.push(i);
            }
            let top = structure(&Input::Instances(&instances), flags);
            use_it(&world, &top, &mut rng);
            let mut t =
                Traversal::new(top.bytes(), &Ray { t_max: 2.0, ..ray([0.0, -0.1, -1.0], [0.01, 0.0, 1.0]) });
            let mut found = false;
            loop {
                match t.next(&world) {
                    Step::Done => break,
                    Step::Triangle(hit) => found |= hit.instance == 0 && hit.primitive == 0,
                    Step::Box(_) => {}
                }
            }
            assert!(found, "round {round}");
            for k in 0..6 {
                let mut r = ray([0.0, 0.0, -1.0], [0.0, 0.0, 1.0]);
                let value = bad[rng.index(3)];
                if k < 3 {
                    r.origin[k] = value
                } else {
                    r.direction[k - 3] = value
                }
                assert_eq!(Traversal::new(top.bytes(), &r).next(&world), Step::Done);
            }
            let r = ray([0.0, 0.0, -1.0], [0.0; 3]);
            assert_eq!(Traversal::new(top.bytes(), &r).next(&world), Step::Done);
            for (t_min, t_max) in [(f32::NAN, 1.0), (0.0, f32::NAN), (f32::INFINITY, f32::INFINITY)] {
                assert_eq!(Traversal::new(top.bytes(), &Ray { t_min, t_max, ..r }).next(&world), Step::Done);
            }
        }
    }
}

#[test]
fn inactive_ones_are_not_there() {
    let mut rng = Random::new(24);
    let all = triangles(&mut rng, 300);
    let mut some = all.clone();
    for k in (0..300).step_by(3) {
        some[k * 3 + k % 3][0] = f32::NAN;
    }
    let mut world = World::default();
    let a = world.add(&[Geometry::Triangles { positions: &some, flags: 0 }], Flags(0));
    assert_eq!(statistics(world.bottoms[0].bytes()).unwrap().primitives, 200);
    let none = vec![[f32::NAN, 0.0, 0.0]; 30];
    let b = world.add(&[Geometry::Triangles { positions: &none, flags: 0 }], Flags(0));
    let empty = bounds(world.bottoms[1].bytes()).unwrap();
    assert!(empty[0] > empty[3]);
    let top =
        structure(&Input::Instances(&[world.instance(b, IDENTITY), world.instance(a, IDENTITY)]), Flags(0));
    let mut seen = 0;
    for _ in 0..100 {
        let mut t = Traversal::new(top.bytes(), &ray(rng.v(5.0), rng.v(1.0)));
        while let Step::Triangle(hit) = t.next(&world) {
            assert!(hit.primitive % 3 != 0 && hit.instance == 1);
            seen += 1;
        }
    }
    assert!(seen > 100);
}
