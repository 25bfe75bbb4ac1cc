//! Rays through edges and vertices of closed meshes meet exactly one triangle.

mod support;

use bvh::*;
use random::Random;
use support::*;

/// A sphere of triangles: an octahedron, divided.
fn sphere(levels: usize, by: f32, at: [f32; 3]) -> Vec<[f32; 3]> {
    let v = [
        [1.0, 0.0, 0.0],
        [-1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, -1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.0, 0.0, -1.0f32],
    ];
    let mut all = vec![];
    for [a, b, c] in [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]]
    {
        all.push([v[a], v[b], v[c]]);
    }
    for _ in 0..levels {
        let middle = |p: [f32; 3], q: [f32; 3]| -> [f32; 3] {
            // The same for both orders: shared vertices are equal.
            let m: [f32; 3] = std::array::from_fn(|i| p[i] + q[i]);
            let len = (m[0] * m[0] + m[1] * m[1] + m[2] * m[2]).sqrt();
            m.map(|x| x / len)
        };
        all = all
            .iter()
            .flat_map(|[a, b, c]| {
                let (ab, bc, ca) = (middle(*a, *b), middle(*b, *c), middle(*c, *a));
                [[*a, ab, ca], [ab, *b, bc], [ca, bc, *c], [ab, bc, ca]]
            })
            .collect();
    }
    all.iter().flatten().map(|p| std::array::from_fn(|i| p[i] * by + at[i])).collect()
}

#[test]
fn no_ray_leaves_a_closed_mesh_or_hits_twice() {
    let mut rng = Random::new(11);
    for (by, at) in [(1.0, [0.0; 3]), (3.7, [0.1, -0.2, 0.3]), (1000.0, [1.0, 2.0, 3.0]), (1e-3, [0.0; 3])] {
        let mesh = sphere(4, by, at);
        let geometries = [Geometry::Triangles { positions: &mesh, flags: 0 }];
        for flags in [Flags(0), Flags::PREFER_FAST_BUILD] {
            let mut world = World::default();
            let address = world.add(&geometries, flags);
            let top = structure(&Input::Instances(&[world.instance(address, IDENTITY)]), flags);
            for k in 0..6000 {
                let p = &mesh[rng.index(mesh.len() / 3) * 3..][..3];
                // A vertex, a point of an edge, or anywhere.
                let to: [f32; 3] = match k % 4 {
                    0 => p[0],
                    1 => std::array::from_fn(|i| (p[0][i] + p[1][i]) * 0.5),
                    2 => {
                        let w = rng.f() * 0.5 + 0.5;
                        std::array::from_fn(|i| p[0][i] * w + p[1][i] * (1.0 - w))
                    }
                    _ => std::array::from_fn(|i| p[0][i] * 0.3 + p[1][i] * 0.3 + p[2][i] * 0.4),
                };
                let from: [f32; 3] = match k % 3 {
                    0 => at,
                    _ => std::array::from_fn(|i| at[i] + rng.f() * 0.3 * by),
                };
                let r = ray(from, std::array::from_fn(|i| to[i] - from[i]));
                let mut t = Traversal::new(top.bytes(), &r);
                let mut met = 0;
                while let Step::Triangle(hit) = t.next(&world) {
                    met += 1;
                    assert!(hit.barycentrics.iter().all(|b| (-1e-5..=1.00001).contains(b)));
                }
                assert_eq!(met, 1, "ray {k} of a sphere of {by}: {r:?}");
            }
        }
    }
}

#[test]
fn a_grid_seen_along_its_normal() {
    // Rays exactly through the vertices and edges of a plane of squares, along an axis: every product is exact or 0.
    let mut mesh: Vec<[f32; 3]> = vec![];
    for i in 0..32 {
        for j in 0..32 {
            let p = |a: i32, b: i32| [(i + a) as f32, (j + b) as f32, 5.0];
            mesh.extend([p(0, 0), p(1, 0), p(1, 1), p(0, 0), p(1, 1), p(0, 1)]);
        }
    }
    let mut world = World::default();
    let address = world.add(&[Geometry::Triangles { positions: &mesh, flags: 0 }], Flags(0));
    let top = structure(&Input::Instances(&[world.instance(address, IDENTITY)]), Flags(0));
    for x in 2..62 {
        for y in 2..62 {
            for direction in [[0.0, 0.0, 1.0], [0.0, 0.0, 2.5], [1.0, 0.0, 1.0], [0.5, 0.5, 1.0]] {
                let at = [x as f32 * 0.5, y as f32 * 0.5, 5.0];
                let from = std::array::from_fn(|i| at[i] - direction[i]);
                let mut t = Traversal::new(top.bytes(), &ray(from, direction));
                let mut met = 0;
                while let Step::Triangle(_) = t.next(&world) {
                    met += 1;
                }
                assert_eq!(met, 1, "{at:?} along {direction:?}");
            }
        }
    }
}
