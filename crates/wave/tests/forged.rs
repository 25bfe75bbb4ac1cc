//! Programs that were changed after they were made: those that the check lets through stay within their memory. Many more by
//! `examples/forged` (fuzz/README.md).

use crate::{changed, engine};

/// Of buffers, control flow, workgroup and private memory, subgroups, images, vertices and fragments.
const MODULES: [(&str, &[u8]); 9] = [
    ("saxpy", include_bytes!("../../../benches/kernels/saxpy.spv")),
    ("sgemmt", include_bytes!("../../../benches/kernels/sgemmt.spv")),
    ("lut", include_bytes!("../../../benches/kernels/lut.spv")),
    ("nbody", include_bytes!("../../../benches/kernels/nbody.spv")),
    ("march", include_bytes!("../../../benches/kernels/march.spv")),
    ("subgroups", include_bytes!("../../conformance/shaders/subgroups.spv")),
    ("texture", include_bytes!("../../conformance/shaders/scenes/texture.frag.spv")),
    ("quad", include_bytes!("../../../benches/pictures/quad.vert.spv")),
    ("small", include_bytes!("../../../benches/pictures/small.frag.spv")),
];

/// Changes that are tried, about a third of which the check lets through.
const CHANGES: u64 = 1500;

#[test]
fn what_the_check_lets_through_stays_within_its_memory() {
    let programs = changed::programs(MODULES.map(|(name, bytes)| (name, shader::words(bytes))));
    assert_eq!(programs.len(), 3 * MODULES.len());
    let mut memory = engine::Memory::new();
    let mut counts = changed::Counts::default();
    for n in 0..CHANGES {
        let mut r = random::Random::new(n.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let (name, p) = &programs[n as usize % programs.len()];
        counts.one(p, &mut memory, &mut r).unwrap_or_else(|e| panic!("change {n}: {name}: {e}"));
    }
    assert!(counts.accepted > CHANGES / 20, "{counts:?}");
}
