//! Hits of triangles with micromaps.

mod support;

use bvh::micromap::{self, Attached, Format, Source};
use bvh::*;
use random::Random;
use support::*;

/// Half of a square each, at z = 0; rays come from above.
const TRIANGLES: [[f32; 3]; 6] =
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2.0, 0.0, 0.0], [3.0, 0.0, 0.0], [2.0, 1.0, 0.0]];

/// A world of the two triangles with a micromap: its address.
fn world(flags: u32, map: Option<Memory>, indices: &[u32]) -> (World, u64, u64) {
    let mut world = World::default();
    let at = world.add(&[Geometry::Triangles { positions: &TRIANGLES, flags }], Flags::ALLOW_UPDATE);
    let map_at = map.map_or(0, |m| {
        world.bottoms.push(m);
        World::address(world.bottoms.len() - 1)
    });
    micromap::attach(world.bottom(at).unwrap(), &[Some(Attached { map: map_at, indices })], &Alone).unwrap();
    (world, at, map_at)
}

fn map(sources: &[(Format, u32, &[u8])]) -> Memory {
    let all: Vec<Source> = sources
        .iter()
        .map(|&(format, level, values)| {
            assert_eq!(format.bytes(level), Some(values.len() as u64));
            Source { format, level, values: values.as_ptr() }
        })
        .collect();
    let values = sources.iter().map(|s| s.2.len() as u64).sum();
    let memory = Memory::new(micromap::size(all.len() as u64, values).unwrap() as usize);
    // SAFETY: as just compared.
    unsafe { micromap::build(memory.bytes(), &all) }.unwrap();
    memory
}

/// What a ray at barycentrics (u, v) of a triangle meets: nothing, an opaque triangle, or one for a shader to judge.
fn meets(world: &World, at: u64, triangle: usize, [u, v]: [f32; 2], ray: u32, instance: u8) -> char {
    let instance = Instance { flags: instance, ..world.instance(at, IDENTITY) };
    let top = structure(&Input::Instances(&[instance]), Flags(0));
    let origin = [u + 2.0 * triangle as f32, v, 1.0];
    let ray =
        Ray { origin, t_min: 0.0, direction: [0.0, 0.0, -1.0], t_max: 9.0, flags: ray, cull_mask: 0xFF };
    let mut traversal = Traversal::new(top.bytes(), &ray);
    match traversal.next(world) {
        Step::Done if traversal.committed().kind == HitKind::None => '-',
        Step::Done => 'o',
        Step::Triangle(_) => '?',
        Step::Box(_) => 'b',
    }
}

/// Middles of the parts of level 1, in the order of the curve.
const MIDDLES: [[f32; 2]; 4] =
    [[1.0 / 6.0, 1.0 / 6.0], [1.0 / 3.0, 1.0 / 3.0], [2.0 / 3.0, 1.0 / 6.0], [1.0 / 6.0, 2.0 / 3.0]];

#[test]
fn values_decide_before_flags_do() {
    // The four values in turn; two states, first and last opaque.
    let sources: [(Format, u32, &[u8]); 2] = [(Format::Four, 1, &[0b1110_0100]), (Format::Two, 1, &[0b1001])];
    let four = |ray, instance| -> String {
        let (world, at, _) = world(0, Some(map(&sources)), &[0, 1]);
        let parts = (0..2).flat_map(|t| MIDDLES.map(|m| (t, m)));
        parts.map(|(t, m)| meets(&world, at, t, m, ray, instance)).collect()
    };
    // By the specification's tables of results; flags override opacity, and bring back nothing that is ignored.
    let rows = [
        (0, 0, "-o??o--o"),
        (ray_flags::FORCE_MICROMAP_2_STATE, 0, "-o-oo--o"),
        (0, instance_flags::FORCE_MICROMAP_2_STATE, "-o-oo--o"),
        (0, instance_flags::DISABLE_MICROMAPS, "????????"),
        (0, instance_flags::FORCE_OPAQUE, "-oooo--o"),
        (0, instance_flags::FORCE_NO_OPAQUE, "-????--?"),
        (ray_flags::OPAQUE, 0, "-oooo--o"),
        (ray_flags::NO_OPAQUE, instance_flags::FORCE_OPAQUE, "-????--?"),
        (ray_flags::CULL_OPAQUE, 0, "--??----"),
        (ray_flags::CULL_NO_OPAQUE, 0, "-o--o--o"),
        (ray_flags::OPAQUE, instance_flags::DISABLE_MICROMAPS, "oooooooo"),
    ];
    for (ray, instance, want) in rows {
        assert_eq!(four(ray, instance), want, "ray flags {ray:#x}, instance flags {instance:#x}");
    }
}

#[test]
fn special_indices_need_no_micromap() {
    let at = [0.25, 0.25];
    for (index, want) in [(-1, "--"), (-2, "oo"), (-3, "?-"), (-4, "?o")] {
        let (world, structure, _) = world(geometry_flags::OPAQUE, None, &[index as u32; 2]);
        let got: String = [0, ray_flags::FORCE_MICROMAP_2_STATE]
            .map(|ray| meets(&world, structure, 1, at, ray, 0))
            .iter()
            .collect();
        assert_eq!(got, want, "{index}");
    }
}

#[test]
fn copies_and_updates_keep_micromaps() {
    let sources: [(Format, u32, &[u8]); 1] = [(Format::Two, 0, &[0])];
    let (mut world, at, map_at) = world(geometry_flags::OPAQUE, Some(map(&sources)), &[0, -2i32 as u32]);
    let now = |world: &World, at| [0, 1].map(|t| meets(world, at, t, [0.25, 0.25], 0, 0));
    assert_eq!(now(&world, at), ['-', 'o']);
    // A copy of the structure refers to the same micromap.
    let size = compacted_size(world.bottom(at).unwrap()).unwrap();
    let copy = Memory::new(size as usize);
    compact(world.bottom(at).unwrap(), copy.bytes()).unwrap();
    world.bottoms.push(copy);
    assert_eq!(now(&world, World::address(2)), ['-', 'o'], "a copy");
    // An update may refer to other values.
    let input = [Geometry::Triangles { positions: &TRIANGLES, flags: 0 }];
    let to = world.bottom(at).unwrap();
    update(simd::Level::widest(None), to, to, &Input::Geometries(&input), &Alone).unwrap();
    assert_eq!(now(&world, at), ['-', 'o'], "an update alone");
    let swapped = [Some(Attached { map: map_at, indices: &[-4i32 as u32, 0] })];
    micromap::attach(to, &swapped, &Alone).unwrap();
    assert_eq!(now(&world, at), ['?', '-'], "an update with other indices");
    // Micromaps are copied and serialised as structures are.
    let of = world.bottom(map_at).unwrap();
    let (small, plain) = (
        Memory::new(compacted_size(of).unwrap() as usize),
        Memory::new(serialized_size(of).unwrap() as usize),
    );
    compact(of, small.bytes()).unwrap();
    serialize(of, &[1; 16], &[2; 16], plain.bytes()).unwrap();
    let again = Memory::new(serialized_header(plain.bytes()).unwrap().deserialized_size as usize);
    deserialize(plain.bytes(), &[1; 16], &[2; 16], again.bytes()).unwrap();
    assert!(small.slice() == again.slice() && small.len() as u64 == compacted_size(of).unwrap());
}

/// Whatever the micromap's bytes are: a shader judges, or the value is one of the four.
#[test]
fn damaged_micromaps_hurt_nothing() {
    let sources: [(Format, u32, &[u8]); 1] = [(Format::Two, 1, &[0])];
    let (mut world, at, map_at) = world(geometry_flags::OPAQUE, Some(map(&sources)), &[0, 1]);
    let place = (map_at / 256 - 1) as usize;
    assert_eq!(meets(&world, at, 0, [0.25, 0.25], 0, 0), '-');
    assert_eq!(meets(&world, at, 1, [0.25, 0.25], 0, 0), '?', "an index beyond the micromap");
    let mut rng = Random::new(7);
    let good = world.bottoms[place].slice().to_vec();
    let mut judged = 0;
    for k in 0..2000 {
        let bytes = world.bottoms[place].slice_mut();
        bytes.copy_from_slice(&good);
        for _ in 0..1 + k % 3 {
            // The header's words and the triangle's record.
            let at = [rng.index(24), 256 + rng.index(8)][rng.index(2)];
            bytes[at] = rng.index(256) as u8;
        }
        judged += (meets(&world, at, 0, [0.25, 0.25], 0, 0) == '?') as u32;
    }
    assert!(judged > 1000, "{judged}");
    world.bottoms[place].slice_mut().fill(0);
    assert_eq!(meets(&world, at, 0, [0.25, 0.25], 0, 0), '?', "no micromap");
}
