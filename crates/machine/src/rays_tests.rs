//! What the ray tracing unit counts, by hand: rays of a warp against squares of two triangles.

use super::{RayRows, add_visits, trace};
use crate::count;
use bvh::{
    Alone, Bytes, Counts as Amount, Flags, Geometry, Hit, Input, Instance, Ray, Scene, Step, Traversal,
    Visits, WarpVisits, build, ray_flags, sizes,
};
use counters::{Counts, Model, Phase, Value, catalogue};
use wave::Usage;
use wave::tally::RayCounts;

/// Memory of a structure, at a multiple of 256 bytes.
struct Memory(Vec<[u8; 256]>, usize);

impl Memory {
    fn new(len: u64) -> Memory {
        let mut all = vec![[0; 256]; len as usize / 256 + 2];
        let skip = all.as_mut_ptr().cast::<u8>().align_offset(256);
        Memory(all, skip)
    }
    fn bytes(&mut self) -> Bytes {
        let len = self.0.len() * 256 - self.1;
        // SAFETY: the vector's own memory, which is not touched otherwise.
        unsafe { Bytes::new(self.0.as_mut_ptr().cast::<u8>().add(self.1), len) }
    }
}

fn built(input: &Input, amount: Amount) -> Memory {
    let mut to = Memory::new(sizes(&amount, Flags(0)).unwrap().structure);
    build(simd::Level::widest(None), to.bytes(), input, Flags(0), &Alone).unwrap();
    to
}

/// The one bottom structure of a scene.
struct One(Bytes);

impl Scene for One {
    fn bottom(&self, _: u64) -> Option<Bytes> {
        Some(self.0)
    }
}

/// Where each instance of the bottom structure is moved to.
struct World<'a> {
    triangles: &'a [[f32; 3]],
    opaque: bool,
    at: &'a [[f32; 3]],
}

/// Two triangles from (-1, -1, 0) to (1, 1, 0).
const SQUARE: [[f32; 3]; 6] = [
    [-1.0, -1.0, 0.0],
    [1.0, 1.0, 0.0],
    [1.0, -1.0, 0.0],
    [-1.0, -1.0, 0.0],
    [-1.0, 1.0, 0.0],
    [1.0, 1.0, 0.0],
];

/// Traces rays along +z from these places, each in its lane, accepts all candidates, and returns the counters.
fn counted(world: &World, rays: &[(usize, [f32; 2])], flags: u32) -> Counts {
    let geometry = [Geometry::Triangles { positions: world.triangles, flags: world.opaque as u32 }];
    let primitives = [world.triangles.len() as u64 / 3];
    let mut bottom = built(&Input::Geometries(&geometry), Amount::Triangles(&primitives));
    let scene = One(bottom.bytes());
    let instances: Vec<Instance> = world
        .at
        .iter()
        .map(|[x, y, z]| Instance {
            transform: [1.0, 0.0, 0.0, *x, 0.0, 1.0, 0.0, *y, 0.0, 0.0, 1.0, *z],
            custom_index: 0,
            mask: 0xFF,
            sbt_offset: 0,
            flags: 0,
            structure: 256,
            bounds: bvh::bounds(scene.0).unwrap(),
            all: bvh::header(scene.0).unwrap().all,
        })
        .collect();
    let mut top = built(&Input::Instances(&instances), Amount::Instances(instances.len() as u64));
    let top = top.bytes();
    let mut lanes = RayRows::default();
    for (lane, [x, y]) in rays {
        let origin = [*x, *y, -5.0];
        let direction = [0.0, 0.0, 1.0];
        lanes.set(*lane, &Ray { origin, t_min: 0.0, direction, t_max: 100.0, flags, cull_mask: 0xFF });
    }
    let mut hits = vec![Hit::default(); super::LANES];
    let mut visits = WarpVisits::default();
    let mut waiting: Vec<(usize, Traversal)> = vec![];
    let mut left = |lane: usize, t: &Traversal, _: Step| waiting.push((lane, t.clone()));
    let level = simd::Level::widest(None);
    trace(level, top, &scene, &lanes.rays(), &mut hits, &mut left, Some(&mut visits));
    visits.end_warp();
    while !waiting.is_empty() {
        waiting.retain_mut(|(lane, t)| {
            t.commit_triangle();
            visits.ray(*lane);
            t.next_counted(&scene, &mut visits) != Step::Done
        });
        visits.end_warp();
    }
    let mut sum = RayCounts::default();
    add_visits(&mut sum, &visits.take(), rays.len() as u64);
    let mut counts = Counts::default();
    counts.add_units(Phase::Compute, &count::units(&Usage { rays: sum, ..Usage::default() }));
    counts
}

/// All counters of the unit that are not 0.
fn told(counts: &Counts) -> Vec<(&'static str, u64)> {
    let value = |machine| {
        let Value::Uint64(v) = catalogue::by_machine(machine).unwrap().value(counts, &Model::default())
        else {
            panic!("{machine} is a fraction")
        };
        (machine, v)
    };
    let names = catalogue::all().iter().map(|c| c.machine);
    let all = names.filter(|n| n.starts_with("MaliRTU") && *n != "MaliRTUUtil").map(value);
    all.filter(|(_, v)| *v > 0).collect()
}

/// So many rays at one place.
fn at(n: usize, place: [f32; 2]) -> Vec<(usize, [f32; 2])> {
    (0..n).map(|lane| (lane, place)).collect()
}

/// All 16 rays meet the top's root, the square's root and its block: two box nodes of eight boxes, and one triangle node, of 16 rays. Each
/// ray hits one of the two triangles.
#[test]
fn coherent_rays() {
    let world = World { triangles: &SQUARE, opaque: true, at: &[[0.0; 3]] };
    let expected = [
        ("MaliRTUIssueCy", 2),
        ("MaliRTUTri", 1),
        ("MaliRTUBox", 16),
        ("MaliRTUTriBin13", 1),
        ("MaliRTUBoxBin13", 2),
        ("MaliRTUOpaqueHit", 16),
        ("MaliRTURay", 16),
        ("MaliRTUBoxIssueCy", 2),
        ("MaliRTUTriIssueCy", 1),
    ];
    assert_eq!(told(&counted(&world, &at(16, [0.3, 0.1]), 0)), expected);
}

/// Eight squares beside each other, children of the top's root, two rays each: all rays meet the top's root, two meet each square's root
/// and block. 9 box nodes, 72 boxes, 8 triangle nodes.
#[test]
fn incoherent_rays() {
    let places: Vec<[f32; 3]> = (0..8).map(|k| [10.0 * k as f32, 0.0, 0.0]).collect();
    let world = World { triangles: &SQUARE, opaque: true, at: &places };
    let rays: Vec<_> = (0..16).map(|l| (l, [10.0 * (l % 8) as f32 + 0.3, 0.1])).collect();
    let expected = [
        ("MaliRTUIssueCy", 9),
        ("MaliRTUTri", 8),
        ("MaliRTUBox", 72),
        ("MaliRTUTriBin1", 8),
        ("MaliRTUBoxBin1", 8),
        ("MaliRTUBoxBin13", 1),
        ("MaliRTUOpaqueHit", 16),
        ("MaliRTURay", 16),
        ("MaliRTUBoxIssueCy", 9),
        ("MaliRTUTriIssueCy", 8),
    ];
    assert_eq!(told(&counted(&world, &rays, 0)), expected);
}

/// As the coherent rays, but each hit is a candidate. What goes on after it finds nothing left to visit. If the ray ends with its first
/// hit, that is counted when it goes on.
#[test]
fn any_hit() {
    let world = World { triangles: &SQUARE, opaque: false, at: &[[0.0; 3]] };
    let expected = [
        ("MaliRTUIssueCy", 2),
        ("MaliRTUTri", 1),
        ("MaliRTUBox", 16),
        ("MaliRTUTriBin13", 1),
        ("MaliRTUBoxBin13", 2),
        ("MaliRTUNonOpaqueHit", 16),
        ("MaliRTURay", 16),
        ("MaliRTUBoxIssueCy", 2),
        ("MaliRTUTriIssueCy", 1),
    ];
    assert_eq!(told(&counted(&world, &at(16, [0.3, 0.1]), 0)), expected);
    let first = told(&counted(&world, &at(16, [0.3, 0.1]), ray_flags::TERMINATE_ON_FIRST_HIT));
    let (ends, others): (Vec<_>, Vec<_>) = first.into_iter().partition(|(n, _)| *n == "MaliRTUFirstHitTerm");
    assert_eq!((ends, others), (vec![("MaliRTUFirstHitTerm", 16)], expected.to_vec()));
}

/// A ray that ends with its first hit visits only the nearer one of two parallel squares.
#[test]
fn first_hit() {
    let world = World { triangles: &SQUARE, opaque: true, at: &[[0.0; 3], [0.0, 0.0, 3.0]] };
    let expected = [
        ("MaliRTUIssueCy", 2),
        ("MaliRTUTri", 1),
        ("MaliRTUBox", 16),
        ("MaliRTUTriBin13", 1),
        ("MaliRTUBoxBin13", 2),
        ("MaliRTUOpaqueHit", 16),
        ("MaliRTUFirstHitTerm", 16),
        ("MaliRTURay", 16),
        ("MaliRTUBoxIssueCy", 2),
        ("MaliRTUTriIssueCy", 1),
    ];
    let flags = ray_flags::TERMINATE_ON_FIRST_HIT;
    assert_eq!(told(&counted(&world, &at(16, [0.3, 0.1]), flags)), expected);
}

/// Half of a square: rays in the other half visit its block and miss. RayRows 0 to 4 and 16 to 26 are of two warps, of 5 and of 11 rays; 8
/// rays hit.
#[test]
fn misses_and_two_warps() {
    let world = World { triangles: &SQUARE[..3], opaque: true, at: &[[0.0; 3]] };
    // x > y lies in the triangle.
    let place = |k: usize| if k.is_multiple_of(2) { [0.5, -0.5] } else { [-0.5, 0.5] };
    let rays: Vec<_> = (0..5).chain(16..27).enumerate().map(|(k, lane)| (lane, place(k))).collect();
    let expected = [
        ("MaliRTUIssueCy", 4),
        ("MaliRTUTri", 2),
        ("MaliRTUBox", 32),
        ("MaliRTUTriBin5", 1),
        ("MaliRTUTriBin9", 1),
        ("MaliRTUBoxBin5", 2),
        ("MaliRTUBoxBin9", 2),
        ("MaliRTUOpaqueHit", 8),
        ("MaliRTUMiss", 8),
        ("MaliRTURay", 16),
        ("MaliRTUBoxIssueCy", 4),
        ("MaliRTUTriIssueCy", 2),
    ];
    assert_eq!(told(&counted(&world, &rays, 0)), expected);
}
