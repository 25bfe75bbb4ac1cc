//! Each kernel on every level of this CPU, compared with its portable form: the same bytes of trees, the same bits of hits.

use crate::*;
use random::Random;
use simd::Level;

/// A number from -1 to 1.
/// From -1 to 1.
fn unit(r: &mut Random) -> f32 {
    r.unit() * 2.0 - 1.0
}

fn soup(triangles: usize) -> Vec<[f32; 3]> {
    let mut r = Random::new(7);
    let mut out = Vec::new();
    for k in 0..triangles {
        let at: [f32; 3] = std::array::from_fn(|_| unit(&mut r) * 20.0);
        for _ in 0..3 {
            out.push(std::array::from_fn(|axis| at[axis] + unit(&mut r)));
        }
        match k {
            11 => out[k * 3] = [f32::NAN; 3],
            12 => out[k * 3 + 1][1] = f32::NAN,
            13 => out[k * 3 + 1][2] = f32::INFINITY,
            14 => out[k * 3] = [-0.0; 3],
            _ => {}
        }
    }
    out
}

#[repr(align(256))]
#[derive(Clone, Copy)]
struct Line([u8; 256]);

fn built(level: Level, input: &Input, counts: &Counts, flags: Flags) -> Vec<Line> {
    let size = sizes(counts, flags).unwrap().structure as usize;
    let mut memory = vec![Line([0; 256]); size.div_ceil(256)];
    // SAFETY: the vector's memory, used before it moves or is dropped.
    let bytes = unsafe { Bytes::new(memory.as_mut_ptr().cast(), size) };
    build(level, bytes, input, flags, &Alone).unwrap();
    memory
}

fn bytes_of(memory: &mut [Line]) -> Bytes {
    // SAFETY: the caller's slice lives as long as the test uses this.
    unsafe { Bytes::new(memory.as_mut_ptr().cast(), memory.len() * 256) }
}

fn builders(level: Level) {
    let positions = soup(2500);
    let geometries = [Geometry::Triangles { positions: &positions, flags: 1 }];
    for flags in [Flags(0), Flags::PREFER_FAST_BUILD] {
        let of = |level| built(level, &Input::Geometries(&geometries), &Counts::Triangles(&[2500]), flags);
        let (a, b) = (of(level), of(Level::PORTABLE));
        assert!(a.iter().zip(&b).all(|(a, b)| a.0 == b.0), "{flags:?} at {level:?}");
    }
}

struct One(Bytes);

impl Scene for One {
    fn bottom(&self, _: u64) -> Option<Bytes> {
        Some(self.0)
    }
}

fn rays(level: Level) {
    let positions = soup(2500);
    let geometries = [Geometry::Triangles { positions: &positions, flags: 1 }];
    let mut bottom =
        built(Level::PORTABLE, &Input::Geometries(&geometries), &Counts::Triangles(&[2500]), Flags(0));
    let scene = One(bytes_of(&mut bottom));
    let instance = Instance {
        transform: [0.9, 0.1, 0.0, 3.0, 0.0, 1.1, 0.2, -2.0, 0.3, 0.0, 1.0, 0.5],
        custom_index: 5,
        mask: 1,
        sbt_offset: 6,
        flags: 0,
        structure: 256,
        bounds: bounds(scene.0).unwrap(),
        all: header(scene.0).unwrap().all,
    };
    let mut top = built(Level::PORTABLE, &Input::Instances(&[instance]), &Counts::Instances(1), Flags(0));
    let top = bytes_of(&mut top);
    let mut r = Random::new(3);
    let mut hits = 0;
    for k in 0..500 {
        let mut ray = Ray {
            origin: std::array::from_fn(|_| unit(&mut r) * 25.0),
            t_min: 0.0,
            direction: std::array::from_fn(|_| unit(&mut r)),
            t_max: 100.0,
            flags: 0,
            cull_mask: 1,
        };
        match k % 20 {
            0 => ray.direction[0] = 0.0,
            1 => ray.direction = [0.0, -0.0, -1.0],
            2 => ray.direction[1] = 1e-40,
            3 => ray.origin[2] = f32::NAN,
            4 => ray.flags = ray_flags::TERMINATE_ON_FIRST_HIT,
            _ => {}
        }
        let of = |level| {
            let mut visits = Log::default();
            let mut t = Traversal::at_level(level, top, &ray);
            assert_eq!(t.next_counted(&scene, &mut visits), Step::Done);
            (*t.committed(), visits.0)
        };
        let (a, b) = (of(level), of(Level::PORTABLE));
        assert_eq!(a, b, "ray {k} at {level:?}");
        assert_eq!(a.0.t.to_bits(), b.0.t.to_bits());
        hits += (a.0.kind != HitKind::None) as u32;
    }
    assert!(hits > 50, "{hits} hits");
}

/// A wave of rays, some of which end with their first hit.
fn waves(level: Level) {
    let mut seed = Random::new(5);
    let all: Vec<Ray> = (0..200)
        .map(|k| {
            let from: [f32; 3] = std::array::from_fn(|_| unit(&mut seed) * 12.0);
            Ray {
                origin: if k % 31 == 0 { [f32::NAN; 3] } else { from },
                t_min: 0.0,
                direction: from.map(|x| unit(&mut seed) * 0.3 - x / 12.0),
                t_max: if k % 17 == 0 { -1.0 } else { 100.0 },
                flags: [
                    0,
                    ray_flags::TERMINATE_ON_FIRST_HIT,
                    ray_flags::TERMINATE_ON_FIRST_HIT | ray_flags::OPAQUE,
                ][k % 3],
                cull_mask: 1,
            }
        })
        .collect();
    let seen = one_by_one(level, &all, false);
    assert!(seen.iter().all(|n| *n > 10), "misses, hits, candidates: {seen:?}");
}

/// Warps of rays that go the same way, more or less.
fn packets(level: Level) {
    const FLAGS: [u32; 6] = [
        0,
        ray_flags::OPAQUE,
        ray_flags::TERMINATE_ON_FIRST_HIT,
        ray_flags::TERMINATE_ON_FIRST_HIT | ray_flags::OPAQUE,
        ray_flags::CULL_NO_OPAQUE,
        ray_flags::OPAQUE | ray_flags::CULL_BACK_FACING,
    ];
    let mut seed = Random::new(6);
    let mut seen = [0; 3];
    for round in 0..20 {
        let mut all = vec![];
        for warp in 0..12 {
            let from: [f32; 3] = std::array::from_fn(|_| unit(&mut seed) * 30.0);
            let spread = [0.0, 0.002, 0.05, 0.3][(warp + round) % 4];
            let to: [f32; 3] = std::array::from_fn(|_| unit(&mut seed) * 8.0);
            let t_max = if warp % 3 == 0 { 1.0 } else { 100.0 };
            for lane in 0..16 {
                let mut ray = Ray {
                    origin: from.map(|x| x + unit(&mut seed) * spread),
                    t_min: 0.0,
                    direction: [0, 1, 2].map(|i| to[i] - from[i] + unit(&mut seed) * spread * 20.0),
                    t_max,
                    flags: FLAGS[(warp + round) % 6],
                    cull_mask: 1 + (warp as u32 & 2),
                };
                match (warp, lane) {
                    (1, 3) => ray.origin[1] = f32::INFINITY,
                    (2, 4) => ray.t_max = -1.0,
                    (3, 5) => ray.direction = [0.0; 3],
                    (4, _) => ray.direction[1] = 0.0,
                    (5, 6) => ray.flags ^= ray_flags::TERMINATE_ON_FIRST_HIT,
                    (6, _) if lane % 3 == 0 => ray.t_max *= 0.01,
                    _ => {}
                }
                all.push(ray);
            }
        }
        // (The last warp has some lanes less.)
        for (all, n) in seen.iter_mut().zip(one_by_one(level, &all[..189], round % 2 == 0)) {
            *all += n;
        }
    }
    assert!(seen.iter().all(|n| *n > 50), "misses, hits, candidates: {seen:?}");
}

/// Rays of a wave, against the same rays one by one. How many miss, hit, and are left to a shader.
fn one_by_one(level: Level, all: &[Ray], opaque: bool) -> [u32; 3] {
    let positions = soup(2500);
    // Half of them are left to a shader, or none.
    let (a, b) = positions.split_at(3750);
    let geometries = [
        Geometry::Triangles { positions: a, flags: geometry_flags::OPAQUE },
        Geometry::Triangles { positions: b, flags: opaque as u32 },
    ];
    let mut bottom =
        built(Level::PORTABLE, &Input::Geometries(&geometries), &Counts::Triangles(&[1250; 2]), Flags(0));
    let scene = One(bytes_of(&mut bottom));
    let instance = |transform, mask| Instance {
        transform,
        custom_index: 5,
        mask,
        sbt_offset: 6,
        flags: 0,
        structure: 256,
        bounds: bounds(scene.0).unwrap(),
        all: header(scene.0).unwrap().all,
    };
    let instances = [
        instance([1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0], 1),
        instance([0.8, 0.0, 0.6, 9.0, 0.0, 1.0, 0.0, 40.0, -0.6, 0.0, 0.8, 1.0], 3),
        instance([1.0, 0.0, 0.0, 2.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, -35.0], 2),
    ];
    let mut top = built(Level::PORTABLE, &Input::Instances(&instances), &Counts::Instances(3), Flags(0));
    let top = bytes_of(&mut top);
    let of = |f: &dyn Fn(&Ray) -> f32| all.iter().map(f).collect::<Vec<f32>>();
    let (origin, direction) =
        ([0, 1, 2].map(|i| of(&|r| r.origin[i])), [0, 1, 2].map(|i| of(&|r| r.direction[i])));
    let (t_min, t_max) = (of(&|r| r.t_min), of(&|r| r.t_max));
    let (flags, cull_mask): (Vec<u32>, Vec<u32>) = all.iter().map(|r| (r.flags, r.cull_mask)).unzip();
    let rays = Rays {
        origin: [&origin[0], &origin[1], &origin[2]],
        t_min: &t_min,
        direction: [&direction[0], &direction[1], &direction[2]],
        t_max: &t_max,
        flags: &flags,
        cull_mask: &cull_mask,
        mask: &[u64::MAX, !2, u64::MAX, u64::MAX],
    };
    let mut hits = vec![Hit::default(); all.len()];
    let mut left = vec![None; all.len()];
    trace(level, top, &scene, &rays, &mut hits, &mut |lane, t, step| {
        left[lane] = Some((step, *t.committed()))
    });
    let mut seen = [0; 3];
    for (k, ray) in all.iter().enumerate().filter(|(k, _)| *k != 65) {
        let mut t = Traversal::at_level(Level::PORTABLE, top, ray);
        let step = t.next(&scene);
        if step == Step::Done {
            assert_eq!((hits[k], left[k]), (*t.committed(), None), "ray {k} at {level:?}");
            seen[(t.committed().kind != HitKind::None) as usize] += 1;
        } else {
            assert_eq!(left[k], Some((step, *t.committed())), "ray {k} at {level:?}");
            seen[2] += 1;
        }
    }
    assert_eq!((hits[65], left[65]), (Hit::default(), None), "a lane without a ray");
    seen
}

#[derive(Default)]
struct Log(Vec<(u32, u32, u32)>);

impl Visits for Log {
    fn node(&mut self, place: u32, node: u32) {
        self.0.push((place, 0, node));
    }
    fn leaf(&mut self, place: u32, leaf: u32, triangles: bool) {
        self.0.push((place, 1 + triangles as u32, leaf));
    }
}

simd::walk! {
    "build::gather::prims", "build::sah::centres", "build::sah::fill", "build::sah::choose", "build::sah::part",
        "build::quick::keys::centres", "build::quick::keys::keys", "build::quick::fill::fill" => builders;
    "trace::walk::of" => rays;
    "trace::walk::many_of" => waves;
    "trace::packet::of" => packets;
}
