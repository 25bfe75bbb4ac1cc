//! Builds a scene of two million triangles (a city, and trees) and traces primary, shadow and diffuse rays through it, on one
//! thread. With `--dump DIR` the triangles and rays are also written, for other libraries to trace the same.

use bvh::*;
use simd::Level;
use std::io::Write;
use std::time::{Duration, Instant};

#[path = "../../client/src/rays/city.rs"]
mod city;

use city::V;

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

fn ray(r: &city::Ray, flags: u32) -> Ray {
    let [ox, oy, oz, t_min, dx, dy, dz, t_max] = *r;
    Ray { origin: [ox, oy, oz], t_min, direction: [dx, dy, dz], t_max, flags, cull_mask: 0xFF }
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
        None => city::triangles(),
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
            all: header(bottom).unwrap().all,
        };
        let top = memory(4096);
        build(levels[0], top, &Input::Instances(&[instance]), flags, &Alone).unwrap();
        if rays[0].is_empty() {
            let b = bounds(bottom).unwrap();
            let eye: V = if args.iter().any(|a| a == "--triangles") {
                std::array::from_fn(|i| b[i] + (b[i + 3] - b[i]) * [0.3, 0.6, 0.35][i])
            } else {
                city::EYE
            };
            let primary = city::primary(eye);
            rays[0] = primary.iter().map(|r| ray(r, 0)).collect();
            let mut hits = vec![Hit::default(); rays[0].len()];
            trace_all(levels[0], top, &scene, &waves(&rays[0]), &mut hits);
            let hit = |i: usize| {
                (hits[i].kind == HitKind::Triangle).then(|| (hits[i].t, hits[i].primitive as usize))
            };
            let (shadow, diffuse) = city::secondary(&positions, &primary, hit);
            rays[1] = shadow.iter().map(|r| ray(r, ray_flags::TERMINATE_ON_FIRST_HIT)).collect();
            rays[2] = diffuse.iter().map(|r| ray(r, 0)).collect();
            if let Some(dir) = of("--dump") {
                dump(&dir, "triangles", &positions);
                for (name, rays) in ["primary", "shadow", "diffuse"].iter().zip(&rays) {
                    let flat: Vec<city::Ray> = rays
                        .iter()
                        .map(|r| {
                            let ([ox, oy, oz], [dx, dy, dz]) = (r.origin, r.direction);
                            [ox, oy, oz, r.t_min, dx, dy, dz, r.t_max]
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
