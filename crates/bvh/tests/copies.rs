//! Sizes, copies and updates; a tree has the same bytes on every thread count and SIMD level.

mod support;

use bvh::*;
use random::Random;
use simd::Level;
use support::*;

fn soup(rng: &mut Random, n: usize) -> Vec<[f32; 3]> {
    let mut out = vec![];
    for _ in 0..n {
        let at = rng.v(20.0);
        for _ in 0..3 {
            let d = rng.v(1.5);
            out.push(std::array::from_fn(|i| at[i] + d[i]));
        }
    }
    out
}

const ALL: [Flags; 3] = [Flags(0), Flags::PREFER_FAST_TRACE, Flags::PREFER_FAST_BUILD];

#[test]
fn the_same_bytes_for_any_threads_and_level() {
    let mut rng = Random::new(3);
    // Several tasks, and ranges that many tasks split.
    let triangles = soup(&mut rng, 150_000);
    let boxes: Vec<[f32; 6]> = triangles
        .chunks(3)
        .take(5000)
        .map(|p| std::array::from_fn(|i| p[0][i % 3] + (i / 3) as f32))
        .collect();
    let (a, b) = triangles.split_at(3 * 70_000);
    let triangles = [a, &[], b].map(|positions| Geometry::Triangles { positions, flags: 1 });
    let boxes = [Geometry::Boxes { bounds: &boxes, flags: 0 }];
    for (input, n) in [(Input::Geometries(&triangles), 150_000), (Input::Geometries(&boxes), 5000)] {
        for flags in ALL {
            let first = structure_with(Level::PORTABLE, &input, flags, &Alone);
            let s = statistics(first.bytes()).unwrap();
            assert_eq!(s.primitives, n);
            assert!(s.depth <= layout::DEPTH as u32);
            for threads in [1, 2, 7] {
                for level in Level::tested() {
                    let other = structure_with(level, &input, flags, &Threads(threads));
                    assert!(first.slice() == other.slice(), "{flags:?}, {threads} threads, {level:?}");
                }
            }
        }
    }
}

#[test]
fn trees_of_all_flags_give_the_same_hits() {
    let mut rng = Random::new(31);
    let triangles = soup(&mut rng, 110_000);
    let boxes: Vec<[f32; 6]> =
        triangles.chunks(3).map(|p| std::array::from_fn(|i| p[0][i % 3] + (i / 3) as f32)).collect();
    let (a, b) = triangles.split_at(3 * 70_000);
    let triangles = [a, &[], b].map(|positions| Geometry::Triangles { positions, flags: 1 });
    let (a, b) = boxes.split_at(40_000);
    let boxes = [a, b].map(|bounds| Geometry::Boxes { bounds, flags: 0 });
    let rays: Vec<Ray> = (0..200)
        .map(|k| {
            let r = ray(rng.v(20.0), rng.v(1.0));
            // Half of them meet only boxes, and are short.
            if k % 2 == 0 { Ray { t_max: 2.0, flags: ray_flags::SKIP_TRIANGLES, ..r } } else { r }
        })
        .collect();
    let of = |flags: Flags| {
        let mut world = World::default();
        let all = [&triangles[..], &boxes[..]].map(|g| world.add(g, flags));
        let all = all.map(|address| world.instance(address, IDENTITY));
        let top = structure(&Input::Instances(&all), flags);
        let mut found = vec![];
        for r in &rays {
            let mut t = Traversal::new(top.bytes(), r);
            let mut met = vec![];
            while let Step::Box(hit) = t.next(&world) {
                met.push((hit.geometry, hit.primitive));
            }
            let hit = t.committed();
            // Which boxes are met after a hit depends on the order.
            if hit.kind != HitKind::None {
                met.clear();
            }
            met.sort();
            found.push((hit.t.to_bits(), hit.geometry, hit.primitive, met));
        }
        found
    };
    let [good, other, quick] = [Flags::PREFER_FAST_TRACE, Flags(0), Flags::PREFER_FAST_BUILD].map(of);
    assert!(good.iter().filter(|f| f.1 == 2).count() > 20);
    assert!(good.iter().filter(|f| f.3.iter().any(|met| met.0 == 1)).count() > 20);
    assert!(good == quick && good == other);
}

#[test]
fn sizes_suffice_and_compaction_is_exact() {
    let mut rng = Random::new(4);
    for n in (0..40).chain([100, 1000, 5000]) {
        let mut triangles = soup(&mut rng, n);
        if n % 3 == 1 {
            // All in one place.
            triangles.fill([1.0, 2.0, 3.0]);
        }
        if n % 3 == 2 {
            // Each twice as far as the one before: the deepest tree.
            for (i, p) in triangles.chunks_mut(3).enumerate() {
                let far = 2f32.powi(i as i32 % 120);
                p.copy_from_slice(&[[far, 0.0, 0.0], [far * 1.1, 0.0, 1.0], [far, 1.0, 0.0]]);
            }
        }
        let geometries = [Geometry::Triangles { positions: &triangles, flags: 1 }];
        for flags in ALL {
            let input = Input::Geometries(&geometries);
            let memory = structure(&input, flags);
            let size = compacted_size(memory.bytes()).unwrap() as usize;
            assert!(size <= memory.len());
            let s = statistics(memory.bytes()).unwrap();
            assert!(s.primitives == n as u64 && s.depth <= layout::DEPTH as u32, "{n} {flags:?}: {s:?}");
            let small = Memory::new(size);
            assert_eq!(compact(memory.bytes(), small.bytes()), Ok(size as u64));
            assert!(small.slice() == &memory.slice()[..size]);
            assert_eq!(compact(memory.bytes(), Memory::new(size - 1).bytes()), Err(Error::TooSmall));
            assert_eq!(
                header(small.bytes()).map(|h| (h.kind, h.primitives)),
                Some((layout::Kind::Triangles, n as u64))
            );
            let too_small = Memory::new(memory.len() / 2);
            if too_small.len() < size {
                assert_eq!(
                    build(Level::widest(None), too_small.bytes(), &input, flags, &Alone),
                    Err(Error::TooSmall)
                );
            }
        }
    }
    // Memory for any structure that the limits allow can be asked for.
    assert_eq!(sizes(&Counts::Triangles(&[1 << 29, 1]), Flags(0)), Err(Error::TooMany));
    assert_eq!(sizes(&Counts::Triangles(&[u64::MAX, 2]), Flags(0)), Err(Error::TooMany));
    assert_eq!(sizes(&Counts::Instances((1 << 24) + 1), Flags(0)), Err(Error::TooMany));
    assert!(sizes(&Counts::Triangles(&[1 << 29]), Flags(0)).unwrap().structure > 1 << 35);
    let mixed = [Geometry::Triangles { positions: &[], flags: 0 }, Geometry::Boxes { bounds: &[], flags: 0 }];
    assert_eq!(
        build(Level::widest(None), Memory::new(4096).bytes(), &Input::Geometries(&mixed), Flags(0), &Alone),
        Err(Error::Mixed)
    );
}

fn hits(world: &World, top: Bytes, seed: u64) -> Vec<Hit> {
    let mut rng = Random::new(seed);
    (0..500)
        .map(|_| {
            let mut t = Traversal::new(top, &ray(rng.v(25.0), rng.v(1.0)));
            t.next(world);
            *t.committed()
        })
        .collect()
}

#[test]
fn an_update_hits_what_a_build_hits() {
    let mut rng = Random::new(6);
    let mut triangles = soup(&mut rng, 3000);
    triangles[30] = [f32::NAN; 3];
    for flags in ALL {
        let flags = flags | Flags::ALLOW_UPDATE;
        let old =
            structure(&Input::Geometries(&[Geometry::Triangles { positions: &triangles, flags: 1 }]), flags);
        let moved: Vec<[f32; 3]> =
            triangles.iter().map(|p| [p[1] * 1.1, p[0] - 3.0, p[2] + p[0] * 0.3]).collect();
        let geometries = [Geometry::Triangles { positions: &moved, flags: 1 }];
        let input = Input::Geometries(&geometries);
        // To another place, and to the same.
        let other = Memory::new(old.len());
        let done = update(Level::widest(None), old.bytes(), other.bytes(), &input, &Threads(3)).unwrap();
        update(Level::widest(None), old.bytes(), old.bytes(), &input, &Alone).unwrap();
        let used = done.size as usize;
        assert!(old.slice()[..used] == other.slice()[..used]);
        let fresh = structure(&input, flags);
        assert_eq!(bounds(old.bytes()), bounds(fresh.bytes()));
        let of = |bottom: Memory| {
            let mut world = World::default();
            world.bottoms.push(bottom);
            let instance = world.instance(256, IDENTITY);
            let top = structure(&Input::Instances(&[instance]), Flags::ALLOW_UPDATE);
            // And of the top structure.
            let shifted = Instance {
                transform: [1.0, 0.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
                ..instance
            };
            let before = hits(&world, top.bytes(), 8);
            update(Level::widest(None), top.bytes(), top.bytes(), &Input::Instances(&[shifted]), &Alone)
                .unwrap();
            (
                before,
                hits(&world, top.bytes(), 8),
                hits(&world, structure(&Input::Instances(&[shifted]), Flags(0)).bytes(), 8),
            )
        };
        let (a, b) = (of(old), of(fresh));
        let plain = |hits: &[Hit]| {
            hits.iter().map(|h| (h.kind, h.t.to_bits(), h.primitive, h.barycentrics)).collect::<Vec<_>>()
        };
        assert!(plain(&a.0) == plain(&b.0) && plain(&a.1) == plain(&b.1) && plain(&a.1) == plain(&a.2));
        assert!(
            plain(&a.0) != plain(&a.1) && a.0.iter().filter(|h| h.kind == HitKind::Triangle).count() > 50
        );
    }
    let fixed =
        structure(&Input::Geometries(&[Geometry::Triangles { positions: &triangles, flags: 1 }]), Flags(0));
    let input = [Geometry::Triangles { positions: &triangles, flags: 1 }];
    assert_eq!(
        update(Level::widest(None), fixed.bytes(), fixed.bytes(), &Input::Geometries(&input), &Alone),
        Err(Error::Different)
    );
}

#[test]
fn serialised_and_back() {
    let mut rng = Random::new(7);
    let triangles = soup(&mut rng, 500);
    let mut world = World::default();
    let address = world.add(&[Geometry::Triangles { positions: &triangles, flags: 1 }], Flags(0));
    let mut all = vec![world.instance(address, IDENTITY); 9];
    all[3].structure = 0;
    let top = structure(&Input::Instances(&all), Flags(0));
    let (driver, compatible) = ([1u8; 16], [2u8; 16]);
    assert_eq!((handles(top.bytes()), handles(world.bottoms[0].bytes())), (Some(8), Some(0)));
    let size = serialized_size(top.bytes()).unwrap();
    let mut out = Memory::new(size as usize);
    assert_eq!(
        serialize(top.bytes(), &driver, &compatible, Memory::new(size as usize - 1).bytes()),
        Err(Error::TooSmall)
    );
    assert_eq!(serialize(top.bytes(), &driver, &compatible, out.bytes()), Ok(size));
    // Vulkan's layout: UUIDs, size serialised, size of the structure, number of handles, handles.
    let word = |m: &Memory, at: usize| u64::from_le_bytes(m.slice()[at..at + 8].try_into().unwrap());
    assert!(out.slice()[..16] == driver && out.slice()[16..32] == compatible);
    assert_eq!(
        (word(&out, 32), word(&out, 40), word(&out, 48)),
        (size, compacted_size(top.bytes()).unwrap(), 8)
    );
    assert!((0..8).all(|k| word(&out, 56 + k * 8) == 256));
    // The application replaces a handle.
    for k in 0..8u64 {
        out.slice_mut()[56 + k as usize * 8..][..8].copy_from_slice(&(4096 + k).to_le_bytes());
    }
    let back = Memory::new(compacted_size(top.bytes()).unwrap() as usize);
    assert_eq!(deserialize(out.bytes(), &driver, &[9; 16], back.bytes()), Err(Error::NotAStructure));
    assert_eq!(
        deserialize(out.bytes(), &driver, &compatible, Memory::new(back.len() - 1).bytes()),
        Err(Error::TooSmall)
    );
    assert_eq!(deserialize(out.bytes(), &driver, &compatible, back.bytes()), Ok(back.len() as u64));
    let again = Memory::new(size as usize);
    serialize(back.bytes(), &driver, &compatible, again.bytes()).unwrap();
    assert!((0..8).all(|k| word(&again, 56 + k * 8) == 4096 + k as u64));
    // Bottom structures come back as they were.
    let bottom = world.bottoms[0].bytes();
    let out = Memory::new(serialized_size(bottom).unwrap() as usize);
    serialize(bottom, &driver, &compatible, out.bytes()).unwrap();
    let back = Memory::new(compacted_size(bottom).unwrap() as usize);
    deserialize(out.bytes(), &driver, &compatible, back.bytes()).unwrap();
    assert!(back.slice() == &world.bottoms[0].slice()[..back.len()]);
    // Sizes that lie.
    for (at, value) in [(32, u64::MAX), (40, u64::MAX), (48, u64::MAX), (48, 1), (40, 300), (32, 10)] {
        let mut bad = Memory::new(out.len());
        bad.slice_mut().copy_from_slice(out.slice());
        bad.slice_mut()[at..at + 8].copy_from_slice(&value.to_le_bytes());
        assert!(deserialize(bad.bytes(), &driver, &compatible, back.bytes()).is_err(), "{at} {value}");
    }
}
