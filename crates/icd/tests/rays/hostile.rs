//! Programs that break the rules: each gets an error, a miss or a lost device with one line.

use super::copies::{deserialize, serialized};
use super::pipelines::{DEEPER, Launch, MISSING, RECORD, RECORDS, Tracer};
use super::scene::*;
use crate::listen::{Heard, listening};
use ash::vk;

const DOWN: [f32; 3] = [0.0, 0.0, -1.0];
const ABOVE: Ray = Ray { flags: OPAQUE, ..Ray::new([0.25, 0.25, 5.0], DOWN) };

/// The work of `f` loses its device, and one line with this in it says so.
pub fn lost(what: &str, says: &str, f: impl FnOnce(&Rig) -> Result<(), vk::Result>) {
    let heard = Heard::default();
    let (instance, debug, messenger) = listening(&heard);
    let rig = Rig::of(instance);
    assert_eq!(f(&rig), Err(vk::Result::ERROR_DEVICE_LOST), "{what}");
    // Messages of calls that have no device, which another test may make meanwhile, go to all instances.
    let mut lines = heard.lock().expect("no panic").clone();
    lines.retain(|l| l.contains("the device is lost"));
    assert!(lines.len() == 1 && lines[0].contains(says), "{what}: {lines:?}");
    assert_eq!(lines[0].lines().count(), 1, "{what}");
    // SAFETY: it is of the rig's instance, which is alive.
    unsafe { debug.destroy_debug_utils_messenger(messenger, None) };
}

/// Rays of both kinds of shaders miss in whatever is at this address.
fn misses(rig: &Rig, tracer: &Tracer, scene: u64, what: &str) {
    let got = rig.query(scene, &[ABOVE]).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(got[0][..3], [0; 3], "{what}");
    let ray = Ray { own: [1 << 4, 0], ..ABOVE };
    let got = rig.trace(tracer, Launch::Direct, scene, &[ray], 1).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(got[0][..2], [2, 200], "{what}");
}

#[test]
fn where_no_structure_is_rays_miss() {
    let rig = Rig::new();
    let tracer = rig.tracer(2, &RECORDS);
    let (plain, ones) = (rig.memory(1024), rig.with(&[u32::MAX; 1024]));
    let scene = rig.address(&rig.scene());
    for at in [0, 1, 256, 0xdead_0000, u64::MAX, !255, plain.address, ones.address, scene + 1, scene + 256] {
        misses(&rig, &tracer, at, &format!("{at:#x}"));
        // And as an instance's.
        let top = rig.top(Flags::empty(), &[of(IDENTITY, 1, 0xFF, 0, at)]);
        misses(&rig, &tracer, rig.address(&top), &format!("an instance of {at:#x}"));
    }
    assert_eq!(rig.query(scene, &[ABOVE]).expect("it runs")[0][0], 1, "the device works");
}

#[test]
fn in_freed_memory_rays_miss() {
    let rig = Rig::new();
    let tracer = rig.tracer(2, &RECORDS);
    let layers = rig.layers(Flags::empty());
    let top = rig.top(Flags::empty(), &[of(IDENTITY, 1, 0xFF, 0, rig.address(&layers))]);
    let at = rig.address(&top);
    assert_eq!(rig.query(at, &[ABOVE]).expect("it runs")[0][0], 1);
    rig.free(layers.memory);
    misses(&rig, &tracer, at, "the bottom structure is gone");
    rig.free(top.memory);
    misses(&rig, &tracer, at, "the top structure is gone");
}

/// Structures of another device are no structures: as a scene, and as an instance's.
#[test]
fn in_another_devices_structures_rays_miss() {
    let (other, rig) = (Rig::new(), Rig::new());
    let tracer = rig.tracer(2, &RECORDS);
    let scene = other.address(&other.scene());
    assert_eq!(other.query(scene, &[ABOVE]).expect("it runs")[0][0], 1, "there it is one");
    misses(&rig, &tracer, scene, "another device's scene");
    let layers = other.address(&other.layers(Flags::empty()));
    let top = rig.top(Flags::empty(), &[of(IDENTITY, 1, 0xFF, 0, layers)]);
    misses(&rig, &tracer, rig.address(&top), "another device's bottom structure");
}

/// A top structure that refers to itself, and two that refer to each other.
#[test]
fn rays_in_a_cycle_miss() {
    let rig = Rig::new();
    let tracer = rig.tracer(2, &RECORDS);
    let scene = rig.scene();
    let first = rig.top(Flags::empty(), &[of(IDENTITY, 1, 0xFF, 0, rig.address(&scene))]);
    misses(&rig, &tracer, rig.address(&first), "a top structure in another");
    let data = rig.with(&of(IDENTITY, 1, 0xFF, 0, rig.address(&first)));
    let again = |to: &Structure| {
        let all = [instances(data.address)];
        rig.build_into(Type::TOP_LEVEL, Flags::empty(), &all, &[1], None, to).expect("a build");
        misses(&rig, &tracer, rig.address(to), "a cycle");
    };
    again(&first);
    again(&scene);
    // A bottom structure is no scene.
    misses(&rig, &tracer, rig.address(&rig.layers(Flags::empty())), "a bottom structure");
}

#[test]
fn damaged_copies_are_refused_or_harmless() {
    let rig = Rig::new();
    let layers = rig.layers(Flags::empty());
    let plain = serialized(&rig, &layers);
    let good = plain.read();
    let to = rig.structure(Type::BOTTOM_LEVEL, layers.size);
    let top = rig.address(&rig.top(Flags::empty(), &[of(IDENTITY, 1, 0xFF, 0, rig.address(&layers))]));
    let host = |words: &[u32]| {
        let info = vk::CopyMemoryToAccelerationStructureInfoKHR::default()
            .src(vk::DeviceOrHostAddressConstKHR { host_address: words.as_ptr().cast() })
            .dst(layers.handle)
            .mode(vk::CopyAccelerationStructureModeKHR::DESERIALIZE);
        // SAFETY: handles are alive; the words stay until the call has ended.
        unsafe {
            rig.structures.copy_memory_to_acceleration_structure(vk::DeferredOperationKHR::null(), &info)
        }
    };
    let (mut refused, mut taken) = (0, 0);
    for at in 0..good.len() {
        for bits in [1, 0x8000_0000, u32::MAX] {
            // More sizes than there is memory would make the host read what is not there: that is the application's to know.
            if (8..14).contains(&at) && good[at] ^ bits > good[at] {
                continue;
            }
            let mut bad = good.clone();
            bad[at] ^= bits;
            match host(&bad) {
                Ok(()) => taken += 1,
                Err(_) => refused += 1,
            }
            rig.query(top, &[ABOVE]).expect("whatever it is, it runs");
        }
    }
    assert!(refused > 10 && taken > 10, "{refused} refused, {taken} taken");
    host(&good).expect("it is whole");
    assert_eq!(rig.query(top, &[ABOVE]).expect("it runs")[0][0], 1);
    // What the device copies is within its memory.
    for (at, bits) in [(0, 1), (10, 0x8000_0000), (12, 1), (13, 0x8000_0000)] {
        lost("a damaged copy", "vkCmdCopyMemoryToAccelerationStructureKHR", |rig| {
            let mut bad = good.clone();
            bad[at] ^= bits;
            deserialize(rig, rig.with(&bad).address, &rig.structure(Type::BOTTOM_LEVEL, to.size))
        });
    }
    // An address may have any alignment.
    let rig = Rig::new();
    for by in 1..8 {
        let mut bytes = vec![0; by];
        bytes.extend(good.iter().flat_map(|w| w.to_le_bytes()));
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
        let from = rig.with(&words).address + by as u64;
        deserialize(&rig, from, &rig.structure(Type::BOTTOM_LEVEL, to.size)).expect("it is whole");
    }
    lost("a copy from nowhere", "vkCmdCopyMemoryToAccelerationStructureKHR", |rig| {
        deserialize(rig, 0xdead_0000, &rig.structure(Type::BOTTOM_LEVEL, to.size))
    });
}

const WILD: [f32; 7] =
    [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, f32::MIN_POSITIVE, -0.0];

#[test]
fn wild_vertices_and_boxes_leave_the_others_as_they_are() {
    let rig = Rig::new();
    for (wild, at) in WILD.into_iter().flat_map(|w| (0..9).map(move |at| (w, at))) {
        let one = |z: f32| [0.0, 0.0, z, 1.0, 0.0, z, 0.0, 1.0, z];
        let mut odd = one(7.0);
        odd[at] = wild;
        let all = [odd, one(0.0), one(1.0), odd, one(3.0), odd];
        let data = rig.with(&all.as_flattened().iter().map(|f| f.to_bits()).collect::<Vec<_>>());
        let geometry = [triangles(data.address, 18, vk::GeometryFlagsKHR::OPAQUE)];
        let bottom = rig.build(Type::BOTTOM_LEVEL, Flags::empty(), &geometry, &[6]);
        let top = rig.top(Flags::empty(), &[of(IDENTITY, 1, 0xFF, 0, rig.address(&bottom))]);
        let ray = |z: f32| Ray { t_max: 0.75, ..Ray { flags: OPAQUE, ..Ray::new([0.25, 0.25, z], DOWN) } };
        let got = rig.query(rig.address(&top), &[ray(0.5), ray(1.5), ray(3.5)]).expect("they run");
        for (got, primitive) in got.iter().zip([1, 2, 4]) {
            assert_eq!(got[0], 1, "{wild} at {at}: primitive {primitive}");
            // With NaN as x the triangle is inactive, so that nothing is in the way.
            if wild.is_nan() && at % 3 == 0 {
                assert_eq!((f32::from_bits(got[3]), got[4]), (0.5, primitive), "{wild} at {at}");
            }
        }
    }
    for (wild, at) in WILD.into_iter().flat_map(|w| (0..6).map(move |at| (w, at))) {
        let mut bounds = [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0];
        bounds[at] = wild;
        let cube = rig.cube(bounds);
        let top = rig.top(Flags::empty(), &[of(IDENTITY, 1, 0xFF, 0, rig.address(&cube))]);
        let ray = Ray { own: [0, 4.5f32.to_bits()], ..Ray::new([0.0, 0.0, 5.0], DOWN) };
        let got = rig.query(rig.address(&top), &[ray]).expect("it runs");
        if wild.is_nan() && at == 0 {
            assert_eq!(got[0][..3], [0; 3], "an inactive box");
        }
    }
    for (wild, at) in WILD.into_iter().flat_map(|w| (0..12).map(move |at| (w, at))) {
        let mut transform = IDENTITY;
        transform[at] = wild;
        let layers = rig.address(&rig.layers(Flags::empty()));
        let all = [of(transform, 1, 0xFF, 0, layers), of(IDENTITY, 2, 0xFF, 0, layers)];
        let got = rig.query(rig.address(&rig.top(Flags::empty(), &all)), &[ABOVE]).expect("it runs");
        assert_eq!(got[0][0], 1, "the other instance is there: {wild} at {at}");
    }
}

#[test]
fn wild_rays_end() {
    let rig = Rig::new();
    let tracer = rig.tracer(2, &RECORDS);
    let scene = rig.address(&rig.scene());
    let mut rays = vec![];
    for wild in WILD {
        for at in 0..8 {
            let mut words = [0.25, 0.25, 5.0, 0.0, 0.0, 0.0, -1.0, 100.0];
            words[at] = wild;
            let [a, b, c, t_min, d, e, f, t_max] = words;
            rays.push(Ray { t_min, t_max, own: [1 << 4, 0], ..Ray::new([a, b, c], [d, e, f]) });
        }
    }
    rays.push(Ray { own: [1 << 4, 0], ..Ray::new([0.25, 0.25, 5.0], [0.0; 3]) });
    rays.push(Ray { flags: u32::MAX, mask: u32::MAX, own: [u32::MAX, u32::MAX], ..ABOVE });
    let queried = rig.query(scene, &rays).expect("they run");
    let traced = rig.trace(&tracer, Launch::Direct, scene, &rays, 1).expect("they run");
    // What is no number hits nothing.
    for (k, (q, t)) in queried.iter().zip(&traced).take(8).enumerate() {
        assert_eq!((q[0], t[0]), (0, 2), "NaN as word {k} of a ray");
    }
}

#[test]
fn recursion_beyond_the_pipelines_loses_the_device() {
    let launch = |rig: &Rig, recursion: u32, records: &[(usize, [u32; 6])]| {
        let scene = rig.address(&rig.scene());
        let t = rig.tracer(recursion, records);
        rig.trace(&t, Launch::Direct, scene, &[DEEPER], 1).map(drop)
    };
    let heard = |recursion| move |rig: &Rig| launch(rig, recursion, &RECORDS);
    assert_eq!(launch(&Rig::new(), 2, &RECORDS), Ok(()));
    lost("two rays of one", "closest-hit", heard(1));
    lost("one ray of none", "ray generation", heard(0));
    // A closest-hit shader that hits itself, and callable and miss shaders that are the ray generation shader.
    let mut itself = RECORDS;
    itself[5].1[1] = 1;
    for recursion in [2, 31] {
        lost("a callable shader that calls on", "", |rig| {
            let mut records = RECORDS;
            records[11].0 = 0;
            launch(rig, recursion, &records)
        });
        lost("a miss shader that traces on", "", |rig| {
            let mut records = RECORDS;
            records[1].0 = 0;
            let scene = rig.address(&rig.scene());
            let t = rig.tracer(recursion, &records);
            rig.trace(&t, Launch::Direct, scene, &[MISSING], 1).map(drop)
        });
    }
    // Its last ray begins below the layers, and misses: three rays within one another.
    lost("a closest-hit shader that hits itself", "closest-hit", |rig| launch(rig, 2, &itself));
    assert_eq!(launch(&Rig::new(), 3, &itself), Ok(()));
}

#[test]
fn wild_shader_tables_run_nothing() {
    let rig = Rig::new();
    let scene = rig.address(&rig.scene());
    let hit = Ray { own: [1 << 4, 0], ..ABOVE };
    let far_miss = Ray { own: [255 << 8 | 255 << 16, 0], ..MISSING };
    let far_hit = Ray { own: [15 | 15 << 4 | 255 << 16, 0], ..ABOVE };
    let good = rig.tracer(2, &RECORDS);
    let got = rig.trace(&good, Launch::Direct, scene, &[far_miss, far_hit], 1).expect("they run");
    for got in &got {
        assert_eq!(got[..14], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 500], "records beyond the tables");
    }
    // Tables elsewhere; the ray generation shader's is good.
    let garbage = rig.with(&[u32::MAX; 256]);
    let regions = [
        (0, 0, 0),
        (0, RECORD, u64::MAX),
        (0xdead_0000, RECORD, 1 << 20),
        (u64::MAX - 31, RECORD, u64::MAX),
        (garbage.address, RECORD, 1024),
        (garbage.address, 0, 1024),
        (garbage.address + 1023, 1, u64::MAX),
        (good.table.address + RECORD, u64::MAX, u64::MAX),
    ];
    for (device_address, stride, size) in regions {
        let wild = vk::StridedDeviceAddressRegionKHR { device_address, stride, size };
        let mut t = rig.tracer(2, &RECORDS);
        t.regions[1..].fill(wild);
        let rays = [MISSING, hit, Ray { own: [1 << 4 | 1 << 16, 0], ..MISSING }];
        let got = rig.trace(&t, Launch::Direct, scene, &rays, 1);
        let got = got.unwrap_or_else(|e| panic!("{wild:?}: {e}"));
        assert!(got.iter().all(|g| g[13] == 500), "{wild:?}");
        t.regions[0] = wild;
        rig.trace(&t, Launch::Direct, scene, &rays, 1).unwrap_or_else(|e| panic!("{wild:?}: {e}"));
    }
    // Damaged handles, and groups of another kind where they are not expected.
    for group in 1..6 {
        let records = RECORDS.map(|(_, words)| (group, words));
        let mut t = rig.tracer(2, &records);
        // A callable shader that calls nothing, or a miss or hit shader as a ray generation shader.
        t.regions[3] = Default::default();
        rig.trace(&t, Launch::Direct, scene, &[MISSING, hit], 1).unwrap_or_else(|e| panic!("{group}: {e}"));
    }
    for at in 0..8 {
        let mut words = good.table.read();
        words[at] ^= 1;
        let t = rig.tracer(2, &RECORDS);
        t.table.write(at, &[t.table.read()[at] ^ 0x0100_0000]);
        rig.trace(&t, Launch::Direct, scene, &[hit], 1).expect("it runs, or nothing does");
    }
    lost("more rays than there may be", "vkCmdTraceRaysKHR", |rig| {
        let mut t = rig.tracer(2, &RECORDS);
        t.regions[1..].fill(Default::default());
        let [g, m, h, k] = t.regions;
        rig.run(|d, c| unsafe {
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::RAY_TRACING_KHR, t.pipeline);
            rig.pipelines.cmd_trace_rays(c, &g, &m, &h, &k, u32::MAX, u32::MAX, u32::MAX);
        })
    });
    lost("a size from nowhere", "vkCmdTraceRaysIndirect2KHR", |rig| {
        let t = rig.tracer(2, &RECORDS);
        rig.run(|d, c| unsafe {
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::RAY_TRACING_KHR, t.pipeline);
            rig.maintenance.cmd_trace_rays_indirect2(c, 0xdead_0000);
        })
    });
}

#[test]
fn counts_that_fit_no_memory_lose_the_device() {
    let build = |rig: &Rig, kind: Type, mut g: Geometry, count: u32, stride: Option<u64>| {
        if let (Some(stride), vk::GeometryTypeKHR::TRIANGLES) = (stride, g.geometry_type) {
            g.geometry.triangles.vertex_stride = stride;
        } else if let Some(stride) = stride {
            g.geometry.aabbs.stride = stride;
        }
        let to = rig.structure(kind, 4096);
        rig.build_into(kind, Flags::empty(), &[g], &[count], None, &to)
    };
    let call = "vkCmdBuildAccelerationStructuresKHR";
    let plain = vk::GeometryFlagsKHR::empty();
    for count in [100, 1 << 24, 1 << 29, u32::MAX] {
        for stride in [None, Some(0), Some(u64::MAX)] {
            lost("triangles", call, |rig| {
                let data = rig.with(&[0; 9]);
                build(rig, Type::BOTTOM_LEVEL, triangles(data.address, 3, plain), count, stride)
            });
            lost("boxes", call, |rig| {
                build(rig, Type::BOTTOM_LEVEL, boxes(rig.with(&[0; 6]).address), count, stride)
            });
        }
        lost("instances", call, |rig| {
            build(rig, Type::TOP_LEVEL, instances(rig.with(&[0; 16]).address), count, None)
        });
    }
    // Memory that is none, of few.
    for g in [
        triangles(0xdead_0000, 3, plain),
        boxes(0xdead_0000),
        triangles(0, 3, plain),
        triangles(u64::MAX - 3, 3, plain),
    ] {
        lost("vertices from nowhere", call, |rig| build(rig, Type::BOTTOM_LEVEL, g, 1, None));
    }
    let rig = Rig::new();
    let g = [triangles(rig.with(&[0; 9]).address, 3, plain)];
    let sizes = rig.sizes(Type::BOTTOM_LEVEL, Flags::empty(), &g, &[u32::MAX]);
    assert!(sizes.acceleration_structure_size > 1 << 40, "no buffer is as large");
}
