//! Builds a scene of a million and a half triangles (a city, and trees) and traces primary, shadow and diffuse rays through it, on one
//! thread. With `--dump DIR` the triangles and rays are also written, for other libraries to trace the same.

use bvh::*;
use random::Random;
use simd::Level;
use std::io::Write;
use std::time::{Duration, Instant};

type V = [f32; 3];

fn range(r: &mut Random, a: f32, b: f32) -> f32 {
    a + (b - a) * r.unit()
}

fn quad(out: &mut Vec<V>, a: V, b: V, c: V, d: V) {
    out.extend([a, b, c, a, c, d]);
}

fn cuboid(out: &mut Vec<V>, lo: V, hi: V) {
    let p = |k: usize| -> V { std::array::from_fn(|i| if k >> i & 1 != 0 { hi[i] } else { lo[i] }) };
    for [a, b, c, d] in [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]] {
        quad(out, p(a), p(b), p(c), p(d));
    }
}

/// Streets with houses of storeys and window frames, wires between poles, hills, and trees of many small leaves.
fn scene() -> Vec<V> {
    let (mut out, mut r) = (Vec::new(), Random::new(0x1234_5678_9ABC_DEF1));
    quad(&mut out, [-600.0, 0.0, -600.0], [600.0, 0.0, -600.0], [600.0, 0.0, 600.0], [-600.0, 0.0, 600.0]);
    for i in 0..24 {
        for j in 0..24 {
            let (x, z) = (i as f32 * 40.0 - 480.0, j as f32 * 40.0 - 480.0);
            if (i * 7 + j * 3) % 5 == 0 {
                continue;
            }
            let (w, d, h) = (range(&mut r, 8.0, 14.0), range(&mut r, 8.0, 14.0), range(&mut r, 8.0, 90.0));
            cuboid(&mut out, [x - w, 0.0, z - d], [x + w, h, z + d]);
            let mut y = 2.0;
            while y < h - 2.0 {
                for k in 0..6 {
                    let at = x - w + 1.5 + k as f32 * (2.0 * w - 3.0) / 5.0;
                    cuboid(&mut out, [at - 0.6, y, z - d - 0.1], [at + 0.6, y + 1.6, z - d]);
                    cuboid(&mut out, [at - 0.6, y, z + d], [at + 0.6, y + 1.6, z + d + 0.1]);
                }
                // Cornices: long and thin.
                cuboid(&mut out, [x - w - 0.3, y + 2.4, z - d - 0.3], [x + w + 0.3, y + 2.5, z + d + 0.3]);
                y += 3.5;
            }
            // Wires across the street.
            for k in 0..3 {
                let y = 7.0 + k as f32 * 0.5;
                quad(
                    &mut out,
                    [x, y, z + 20.0],
                    [x + 40.0, y + 0.3, z + 19.0],
                    [x + 40.0, y + 0.33, z + 19.0],
                    [x, y + 0.03, z + 20.0],
                );
            }
        }
    }
    // Hills around.
    let height = |x: f32, z: f32| {
        let d = (x * x + z * z).sqrt();
        (d - 520.0).max(0.0) * 0.2 * (1.0 + 0.3 * (x * 0.02).sin() + 0.3 * (z * 0.03).cos()) - 0.5
    };
    let n = 280;
    for i in 0..n {
        for j in 0..n {
            let at = |i: i32, j: i32| -> V {
                let (x, z) = (i as f32 * 8.0 - n as f32 * 4.0, j as f32 * 8.0 - n as f32 * 4.0);
                [x, height(x, z), z]
            };
            quad(&mut out, at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j));
        }
    }
    // Trees in the empty blocks.
    for i in 0..24 {
        for j in 0..24 {
            if (i * 7 + j * 3) % 5 != 0 {
                continue;
            }
            for _ in 0..4 {
                let (x, z) = (
                    i as f32 * 40.0 - 480.0 + range(&mut r, -12.0, 12.0),
                    j as f32 * 40.0 - 480.0 + range(&mut r, -12.0, 12.0),
                );
                let h = range(&mut r, 5.0, 12.0);
                cuboid(&mut out, [x - 0.3, 0.0, z - 0.3], [x + 0.3, h, z + 0.3]);
                for _ in 0..2000 {
                    let (a, b, c) =
                        (range(&mut r, -1.0, 1.0), range(&mut r, -1.0, 1.0), range(&mut r, -1.0, 1.0));
                    let by = h * 0.45 / (a * a + b * b + c * c).sqrt().max(0.7);
                    let p = [x + a * by, h + b * by, z + c * by];
                    let leaf =
                        |r: &mut Random| -> V { std::array::from_fn(|k| p[k] + range(r, -0.25, 0.25)) };
                    let (u, v, w) = (leaf(&mut r), leaf(&mut r), leaf(&mut r));
                    out.extend([u, v, w]);
                }
            }
        }
    }
    out
}

struct One(Bytes);

impl Scene for One {
    fn bottom(&self, address: u64) -> Option<Bytes> {
        (address == 256).then_some(self.0)
    }
}

/// Memory for a structure.
fn memory(len: usize) -> Bytes {
    let layout = std::alloc::Layout::from_size_align(len.max(256), 256).unwrap();
    // SAFETY: not of size 0, and never freed.
    unsafe { Bytes::new(std::alloc::alloc_zeroed(layout), len) }
}

fn best(rounds: usize, mut f: impl FnMut()) -> Duration {
    // Of this thread: other programs may run.
    let cpu = || -> u64 {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0)
    };
    let time = |f: &mut dyn FnMut()| {
        let from = (cpu(), Instant::now());
        f();
        let spent = cpu() - from.0;
        if spent == 0 { from.1.elapsed() } else { Duration::from_nanos(spent) }
    };
    (0..rounds).map(|_| time(&mut f)).min().unwrap()
}

fn normal(p: &[V]) -> V {
    let [a, b] = [1, 2].map(|k| -> V { std::array::from_fn(|i| p[k][i] - p[0][i]) });
    let n = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let len = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]).sqrt().max(1e-20);
    n.map(|x| x / len)
}

/// Up to 256 rays, a vector a component.
struct Wave {
    origin: [Vec<f32>; 3],
    direction: [Vec<f32>; 3],
    t_min: Vec<f32>,
    t_max: Vec<f32>,
    flags: Vec<u32>,
    cull_mask: Vec<u32>,
}

fn waves(rays: &[Ray]) -> Vec<Wave> {
    let of = |rays: &[Ray]| Wave {
        origin: [0, 1, 2].map(|k| rays.iter().map(|r| r.origin[k]).collect()),
        direction: [0, 1, 2].map(|k| rays.iter().map(|r| r.direction[k]).collect()),
        t_min: rays.iter().map(|r| r.t_min).collect(),
        t_max: rays.iter().map(|r| r.t_max).collect(),
        flags: rays.iter().map(|r| r.flags).collect(),
        cull_mask: rays.iter().map(|r| r.cull_mask).collect(),
    };
    rays.chunks(256).map(of).collect()
}

fn trace_all(level: Level, top: Bytes, scene: &One, waves: &[Wave], hits: &mut [Hit]) {
    for (w, hits) in waves.iter().zip(hits.chunks_mut(256)) {
        let rays = Rays {
            origin: [&w.origin[0], &w.origin[1], &w.origin[2]],
            t_min: &w.t_min,
            direction: [&w.direction[0], &w.direction[1], &w.direction[2]],
            t_max: &w.t_max,
            flags: &w.flags,
            cull_mask: &w.cull_mask,
            mask: &[u64::MAX; 4],
        };
        trace(level, top, scene, &rays, hits, &mut |_, _, _| {});
    }
}

/// Visits of the top structure's nodes, of other nodes, and of leaves.
struct Counted([u64; 3]);

impl Visits for Counted {
    fn node(&mut self, place: u32, _: u32) {
        self.0[(place > 0) as usize] += 1;
    }
    fn leaf(&mut self, _: u32, _: u32, _: bool) {
        self.0[2] += 1;
    }
}

fn dump<T>(dir: &str, name: &str, all: &[T]) {
    // SAFETY: plain numbers.
    let bytes = unsafe { std::slice::from_raw_parts(all.as_ptr().cast::<u8>(), std::mem::size_of_val(all)) };
    std::fs::File::create(format!("{dir}/{name}")).unwrap().write_all(bytes).unwrap();
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let of = |name: &str| args.iter().position(|a| a == name).and_then(|k| args.get(k + 1)).cloned();
    let rounds: usize = of("--rounds").map_or(3, |n| n.parse().unwrap());
    let positions = match of("--triangles") {
        // Three floats a position.
        Some(file) => {
            let bytes = std::fs::read(file).unwrap();
            bytes
                .chunks_exact(12)
                .map(|p| [0, 1, 2].map(|k| f32::from_le_bytes(p[k * 4..k * 4 + 4].try_into().unwrap())))
                .collect()
        }
        None => scene(),
    };
    let n = positions.len() / 3;
    println!("{n} triangles");
    let geometries = [Geometry::Triangles { positions: &positions, flags: geometry_flags::OPAQUE }];
    let input = Input::Geometries(&geometries);
    let size = sizes(&Counts::Triangles(&[n as u64]), Flags(0)).unwrap().structure as usize;
    let levels: Vec<Level> = match of("--level") {
        Some(name) => vec![Level::named(&name).expect("a level of this CPU")],
        None => Level::all().into_iter().filter(|l| *l != Level::PORTABLE).collect(),
    };
    let bottom = memory(size);
    let scene = One(bottom);
    let mut rays: [Vec<Ray>; 3] = [vec![], vec![], vec![]];
    let modes = if args.iter().any(|a| a == "--fast") {
        vec![Flags::PREFER_FAST_BUILD]
    } else if args.iter().any(|a| a == "--sah") {
        vec![Flags::PREFER_FAST_TRACE]
    } else {
        vec![Flags::PREFER_FAST_BUILD, Flags::PREFER_FAST_TRACE]
    };
    for flags in modes {
        for level in &levels {
            let mut built = None;
            let time = best(rounds, || built = Some(build(*level, bottom, &input, flags, &Alone).unwrap()));
            let s = statistics(bottom).unwrap();
            println!(
                "{level:?} {flags:?}: {:.1} ms, {:.2} Mtri/s, {:.1} bytes a triangle, cost {:.2} nodes + {:.2} leaves, depth {}, {:.2} children, {:.2} triangles a leaf",
                time.as_secs_f64() * 1e3,
                n as f64 / time.as_secs_f64() / 1e6,
                built.unwrap().size as f64 / n as f64,
                s.node_cost,
                s.leaf_cost,
                s.depth,
                s.children,
                s.primitives as f64 / s.leaves as f64
            );
        }
        let instance = Instance {
            transform: [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
            custom_index: 0,
            mask: 0xFF,
            sbt_offset: 0,
            flags: 0,
            structure: 256,
            bounds: bounds(bottom).unwrap(),
        };
        let top = memory(4096);
        build(levels[0], top, &Input::Instances(&[instance]), flags, &Alone).unwrap();
        if rays[0].is_empty() {
            let (w, h) = (1024, 768);
            let eye = [-390.0, 32.0, -382.0];
            let b = bounds(bottom).unwrap();
            let eye: V = if args.iter().any(|a| a == "--triangles") {
                std::array::from_fn(|i| b[i] + (b[i + 3] - b[i]) * [0.3, 0.6, 0.35][i])
            } else {
                eye
            };
            for y in 0..h {
                for x in 0..w {
                    let (u, v) =
                        ((x as f32 + 0.5) / w as f32 * 2.0 - 1.0, 1.0 - (y as f32 + 0.5) / h as f32 * 2.0);
                    let d = [0.75 + u * 0.7, v * 0.72 - 0.12, 0.7 - u * 0.75];
                    rays[0].push(Ray {
                        origin: eye,
                        t_min: 0.0,
                        direction: d,
                        t_max: 1e30,
                        flags: 0,
                        cull_mask: 0xFF,
                    });
                }
            }
            let mut hits = vec![Hit::default(); rays[0].len()];
            trace_all(levels[0], top, &scene, &waves(&rays[0]), &mut hits);
            let mut r = Random::new(99);
            for (ray, hit) in rays[0].clone().iter().zip(&hits).filter(|(_, h)| h.kind == HitKind::Triangle) {
                let mut n = normal(&positions[hit.primitive as usize * 3..][..3]);
                if n[0] * ray.direction[0] + n[1] * ray.direction[1] + n[2] * ray.direction[2] > 0.0 {
                    n = n.map(|x| -x);
                }
                let p: V = std::array::from_fn(|i| ray.origin[i] + ray.direction[i] * hit.t + n[i] * 1e-3);
                let sun = [0.4 + range(&mut r, -0.02, 0.02), 0.8, 0.3 + range(&mut r, -0.02, 0.02)];
                rays[1].push(Ray {
                    origin: p,
                    t_min: 1e-3,
                    direction: sun,
                    t_max: 1e30,
                    flags: ray_flags::TERMINATE_ON_FIRST_HIT,
                    cull_mask: 0xFF,
                });
                let d = loop {
                    let d: V = std::array::from_fn(|_| range(&mut r, -1.0, 1.0));
                    if d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < 1.0 {
                        break d;
                    }
                };
                let d: V = std::array::from_fn(|i| n[i] * 1.001 + d[i]);
                rays[2].push(Ray {
                    origin: p,
                    t_min: 1e-3,
                    direction: d,
                    t_max: 1e30,
                    flags: 0,
                    cull_mask: 0xFF,
                });
            }
            if let Some(dir) = of("--dump") {
                dump(&dir, "triangles", &positions);
                for (name, rays) in ["primary", "shadow", "diffuse"].iter().zip(&rays) {
                    let flat: Vec<f32> = rays
                        .iter()
                        .flat_map(|r| {
                            r.origin.into_iter().chain([r.t_min]).chain(r.direction).chain([r.t_max])
                        })
                        .collect();
                    dump(&dir, name, &flat);
                }
            }
        }
        for (name, rays) in ["primary", "shadow", "diffuse"].iter().zip(&rays) {
            let mut counted = Counted([0; 3]);
            for ray in rays.iter().step_by(16) {
                Traversal::new(top, ray).next_counted(&scene, &mut counted);
            }
            let each = counted.0.map(|n| n as f64 / rays.len().div_ceil(16) as f64);
            println!(
                "{flags:?} {name}: a ray visits {:.1} nodes and {:.1} leaves, and {:.1} nodes of the top",
                each[1], each[2], each[0]
            );
        }
        for level in &levels {
            for (name, rays) in ["primary", "shadow", "diffuse"].iter().zip(&rays) {
                let mut hits = vec![Hit::default(); rays.len()];
                let all = waves(rays);
                let time = best(rounds, || trace_all(*level, top, &scene, &all, &mut hits));
                let hit = hits.iter().filter(|h| h.kind != HitKind::None).count();
                let sum: f64 = hits.iter().filter(|h| h.kind != HitKind::None).map(|h| h.t as f64).sum();
                println!(
                    "{level:?} {flags:?} {name}: {:.2} Mrays/s ({} rays, {hit} hit, sum of t {sum:.1})",
                    rays.len() as f64 / time.as_secs_f64() / 1e6,
                    rays.len()
                );
            }
        }
    }
}
