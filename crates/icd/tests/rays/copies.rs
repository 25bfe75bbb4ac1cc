//! Copies and updates of structures.

use super::scene::*;
use ash::vk;

fn rays() -> Vec<Ray> {
    let mut out = vec![];
    for x in -2..26 {
        for y in -2..44 {
            let [x, y] = [x, y].map(|v| v as f32 * 0.5 + 0.125);
            let r = Ray::new([x, y, 5.0], [0.03125, 0.0, -1.0]);
            out.push(Ray { own: [1, 4.5f32.to_bits()], ..r });
        }
    }
    out
}

/// A property of a structure, by a query of the device.
fn property(rig: &Rig, s: &Structure, of: vk::QueryType) -> u64 {
    let d = &rig.gpu.device;
    let info = vk::QueryPoolCreateInfo::default().query_type(of).query_count(1);
    // SAFETY (here and below): handles are alive, structures outlive the calls.
    unsafe {
        let pool = d.create_query_pool(&info, None).expect("a pool");
        rig.run(|d, c| {
            d.cmd_reset_query_pool(c, pool, 0, 1);
            rig.structures.cmd_write_acceleration_structures_properties(c, &[s.handle], of, pool, 0);
        })
        .expect("it runs");
        let mut value = [0u64];
        d.get_query_pool_results(pool, 0, &mut value, vk::QueryResultFlags::TYPE_64).expect("a value");
        d.destroy_query_pool(pool, None);
        value[0]
    }
}

pub fn copied(
    rig: &Rig,
    from: &Structure,
    size: u64,
    mode: vk::CopyAccelerationStructureModeKHR,
) -> Structure {
    let to = rig.structure(Type::BOTTOM_LEVEL, size);
    let info = vk::CopyAccelerationStructureInfoKHR::default().src(from.handle).dst(to.handle).mode(mode);
    rig.run(|_, c| unsafe { rig.structures.cmd_copy_acceleration_structure(c, &info) }).expect("a copy");
    to
}

pub fn serialized(rig: &Rig, from: &Structure) -> Memory {
    let size = property(rig, from, vk::QueryType::ACCELERATION_STRUCTURE_SERIALIZATION_SIZE_KHR);
    let to = rig.memory(size as usize / 4);
    let info = vk::CopyAccelerationStructureToMemoryInfoKHR::default()
        .src(from.handle)
        .dst(vk::DeviceOrHostAddressKHR { device_address: to.address })
        .mode(vk::CopyAccelerationStructureModeKHR::SERIALIZE);
    rig.run(|_, c| unsafe { rig.structures.cmd_copy_acceleration_structure_to_memory(c, &info) })
        .expect("a copy");
    to
}

pub fn deserialize(rig: &Rig, from: u64, to: &Structure) -> Result<(), vk::Result> {
    let info = vk::CopyMemoryToAccelerationStructureInfoKHR::default()
        .src(vk::DeviceOrHostAddressConstKHR { device_address: from })
        .dst(to.handle)
        .mode(vk::CopyAccelerationStructureModeKHR::DESERIALIZE);
    rig.run(|_, c| unsafe { rig.structures.cmd_copy_memory_to_acceleration_structure(c, &info) })
}

#[test]
fn copies_have_the_same_hits() {
    let rig = Rig::new();
    let layers = rig.layers(Flags::ALLOW_COMPACTION);
    let cube = rig.cube([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0]);
    let cube_at = rig.address(&cube);
    let hits = |bottom: &Structure| {
        let top = rig.top(Flags::empty(), &rig.instances(rig.address(bottom), cube_at));
        rig.query(rig.address(&top), &rays()).expect("they run")
    };
    let first = hits(&layers);
    let kinds = [0, 1, 2].map(|k| first.iter().filter(|h| h[0] == k).count());
    assert!(kinds.iter().all(|n| *n > 5), "misses, triangles and boxes: {kinds:?}");

    let compacted = property(&rig, &layers, vk::QueryType::ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR);
    assert!((1..=layers.size).contains(&compacted), "{compacted} of {}", layers.size);
    let small = copied(&rig, &layers, compacted, vk::CopyAccelerationStructureModeKHR::COMPACT);
    assert!(hits(&small) == first, "a compacted copy");
    let clone = copied(&rig, &layers, layers.size, vk::CopyAccelerationStructureModeKHR::CLONE);
    assert!(hits(&clone) == first, "a clone");

    let plain = serialized(&rig, &layers);
    let head = plain.read();
    let u64_at = |k: usize| head[k] as u64 | (head[k + 1] as u64) << 32;
    assert_eq!([u64_at(8), u64_at(12)], [head.len() as u64 * 4, 0], "its size; no handles");
    let again = rig.structure(Type::BOTTOM_LEVEL, u64_at(10));
    deserialize(&rig, plain.address, &again).expect("it is a structure");
    assert!(hits(&again) == first, "a deserialised one");
}

#[test]
fn a_top_structures_handles_can_be_replaced() {
    let rig = Rig::new();
    let (layers, other) = (rig.layers(Flags::empty()), rig.layers(Flags::empty()));
    let [at, other_at] = [&layers, &other].map(|s| rig.address(s));
    let top = rig.top(Flags::empty(), &[of(IDENTITY, 1, 0xFF, 0, at)]);
    let first = rig.query(rig.address(&top), &rays()).expect("they run");
    let plain = serialized(&rig, &top);
    let head = plain.read();
    assert_eq!(head[12..16], [1, 0, at as u32, (at >> 32) as u32], "one handle, the address");
    plain.write(14, &[other_at as u32, (other_at >> 32) as u32]);
    // The new one's content alone is there now.
    layers.memory.write(0, &vec![0; layers.size as usize / 4]);
    let again = rig.structure(Type::TOP_LEVEL, head[10] as u64);
    deserialize(&rig, plain.address, &again).expect("it is a structure");
    assert!(rig.query(rig.address(&again), &rays()).expect("they run") == first);
}

/// An update has the hits of a build of the same.
#[test]
fn updates_have_the_hits_of_builds() {
    let rig = Rig::new();
    let flags = Flags::ALLOW_UPDATE;
    let before = rig.layers(flags);
    let moved = rig.layer_geometries(0.25);
    let hits = |bottom: &Structure| {
        let top = rig.top(Flags::empty(), &[of(IDENTITY, 1, 0xFF, 0, rig.address(bottom))]);
        rig.query(rig.address(&top), &rays()).expect("they run")
    };
    let built = rig.build(Type::BOTTOM_LEVEL, flags, &moved, &[2, 2]);
    let want = hits(&built);
    assert!(want != hits(&before), "they are elsewhere");
    let beside = rig.structure(Type::BOTTOM_LEVEL, before.size);
    let update = |to: &Structure| {
        rig.build_into(Type::BOTTOM_LEVEL, flags, &moved, &[2, 2], Some(&before), to).expect("an update");
        hits(to)
    };
    assert!(update(&beside) == want, "beside");
    assert!(update(&before) == want, "in place");
}

/// The host's commands do the same.
#[test]
fn the_hosts_builds_have_the_same_bytes() {
    let rig = Rig::new();
    let geometries = rig.layer_geometries(0.0);
    let device = rig.build(Type::BOTTOM_LEVEL, Flags::empty(), &geometries, &[2, 2]);
    let host = rig.structure(Type::BOTTOM_LEVEL, device.size);
    // Vertices where they are mapped.
    let mut vertices = vec![];
    for z in 0..4 {
        for [a, b] in [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]] {
            vertices.extend([a, b, z as f32]);
        }
    }
    let mut own = geometries;
    for (g, first) in own.iter_mut().zip([0, 18]) {
        let at: &[f32] = &vertices[first..];
        g.geometry.triangles.vertex_data.host_address = at.as_ptr().cast();
    }
    let mut scratch = [0u8; 64];
    let info = vk::AccelerationStructureBuildGeometryInfoKHR::default()
        .ty(Type::BOTTOM_LEVEL)
        .geometries(&own)
        .dst_acceleration_structure(host.handle)
        .scratch_data(vk::DeviceOrHostAddressKHR { host_address: scratch.as_mut_ptr().cast() });
    let two = vk::AccelerationStructureBuildRangeInfoKHR::default().primitive_count(2);
    unsafe {
        let none = vk::DeferredOperationKHR::null();
        rig.structures.build_acceleration_structures(none, &[info], &[&[two, two]]).expect("a build");
    }
    let [a, b] = [&device, &host].map(|s| serialized(&rig, s).read());
    assert!(a == b);
}
