//! The same bits on every SIMD level and thread count, with shaders compiled and not.

use super::copies::serialized;
use super::pipelines::{Launch, RECORDS};
use super::scene::*;
use random::Random;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::Command;

const INNER: &str = "TUFF_TEST_RAYS";
const NAME: &str = "rays::everywhere::rays_have_the_same_bits_on_every_level_and_thread_count";

fn levels() -> Vec<&'static str> {
    let mut list = vec!["portable"];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            list.push("avx2");
        }
        if is_x86_feature_detected!("avx512f") {
            list.push("avx512");
        }
    }
    #[cfg(target_arch = "aarch64")]
    list.push("neon");
    list
}

fn point(r: &mut Random, scale: f32) -> [f32; 3] {
    [(); 3].map(|_| (r.unit() - 0.5) * scale)
}

/// Bits of a structure, of queries and of a pipeline's traces.
fn bits() -> [u64; 3] {
    let rig = Rig::new();
    let mut random = Random::new(1);
    let mut vertices = vec![];
    for _ in 0..3000 {
        let at = point(&mut random, 10.0);
        for _ in 0..3 {
            let by = point(&mut random, 1.0);
            vertices.extend([0, 1, 2].map(|k| at[k] + by[k]).map(f32::to_bits));
        }
    }
    let data = rig.with(&vertices);
    // The second half is not opaque.
    let half = vertices.len() as u32 / 6;
    let geometries = [
        triangles(data.address, half, ash::vk::GeometryFlagsKHR::OPAQUE),
        triangles(data.address + half as u64 * 12, half, Default::default()),
    ];
    let bottom = rig.build(Type::BOTTOM_LEVEL, Flags::empty(), &geometries, &[half / 3, half / 3]);
    let cube = rig.cube([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0]);
    let (at, cube_at) = (rig.address(&bottom), rig.address(&cube));
    let turned = [0.8, -0.6, 0.0, 3.0, 0.6, 0.8, 0.0, 1.0, 0.0, 0.0, 1.0, -2.0];
    let moved = [1.0, 0.0, 0.0, -3.0, 0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 1.0, 0.0];
    let all = [of(IDENTITY, 1, 1, 0, at), of(turned, 2, 2, 2, at), of(moved, 3, 4, 4, cube_at)];
    let top = rig.address(&rig.top(Flags::empty(), &all));
    let mut rays: Vec<Ray> = (0..4096)
        .map(|_| {
            let (from, to) = (point(&mut random, 20.0), point(&mut random, 10.0));
            Ray { own: [0x5A5A_5A5A, 9.5f32.to_bits()], ..Ray::new(from, [0, 1, 2].map(|k| to[k] - from[k])) }
        })
        .collect();
    let hash = |of: &[u32]| {
        let mut h = DefaultHasher::new();
        of.hash(&mut h);
        h.finish()
    };
    let queried = rig.query(top, &rays).expect("they run");
    for kind in 0..3 {
        assert!(queried.iter().any(|q| q[0] == kind), "some are of kind {kind}");
    }
    rays.iter_mut().for_each(|r| r.own = [1 << 4, 0]);
    let traced = rig.trace(&rig.tracer(2, &RECORDS), Launch::Direct, top, &rays, 64).expect("they run");
    [hash(&serialized(&rig, &bottom).read()), hash(&queried.concat()), hash(&traced.concat())]
}

#[test]
fn rays_have_the_same_bits_on_every_level_and_thread_count() {
    if std::env::var_os(INNER).is_some() {
        println!("bits {:?}", bits());
        return;
    }
    let mut all = vec![];
    let mut jit = ["1", "0", "always"].into_iter().cycle();
    for level in levels() {
        for threads in ["1", "2"] {
            let jit = jit.next().expect("endless");
            let me = std::env::current_exe().expect("the test has a path");
            let mut child = Command::new(me);
            child.args(["--exact", NAME, "--nocapture"]).env(INNER, "1");
            child.env("TUFF_SIMD", level).env("TUFF_THREADS", threads).env("TUFF_JIT", jit);
            let out = child.output().expect("it runs");
            let text = String::from_utf8_lossy(&out.stdout);
            let way = format!("{level}, {threads} threads, TUFF_JIT={jit}");
            assert!(out.status.success(), "{way}: {text}\n{}", String::from_utf8_lossy(&out.stderr));
            let bits = text.lines().find_map(|l| Some(l.split_once("bits ")?.1.to_string()));
            all.push((way, bits.expect("it says its bits")));
        }
    }
    assert!(all.len() >= 2);
    let other: Vec<_> = all.iter().filter(|(_, bits)| *bits != all[0].1).collect();
    assert!(other.is_empty(), "{:?}, but {other:?}", all[0]);
}
