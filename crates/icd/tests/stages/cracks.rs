//! Patches that share an edge: whatever their levels, each pixel is theirs once (§ Tessellation, Vulkan Invariance).

use super::{Make, Rig, S, SIDE, T, spirv};

#[test]
fn a_shared_edge_covers_each_pixel_once() {
    let rig = Rig::new();
    for (name, evaluation) in [
        ("equal", spirv!("edge_equal.tese")),
        ("odd", spirv!("edge_fractional_odd.tese")),
        ("even", spirv!("edge_fractional_even.tese")),
    ] {
        let stages = [
            (S::VERTEX, spirv!("edge.vert")),
            (S::TESSELLATION_CONTROL, spirv!("edge.tesc")),
            (S::TESSELLATION_EVALUATION, evaluation),
            (S::FRAGMENT, spirv!("unit.frag")),
        ];
        let p = rig.pipeline(Make { stages: &stages, topology: T::PATCH_LIST, discard: false, stream: 0 });
        for levels in
            [[1.0f32, 0.0, 2.0, 5.0], [5.3, 0.0, 7.6, 3.2], [12.9, 0.0, 1.0, 15.5], [63.7, 0.0, 40.1, 2.9]]
        {
            rig.g.run(|_, c| {
                rig.pass(c, p, |d| {
                    rig.push(c, &levels.map(f32::to_bits));
                    unsafe { d.cmd_draw(c, 6, 1, 0, 0) };
                });
            });
            let pixels = rig.pixels();
            let wrong = pixels.iter().filter(|p| **p != 0x0101_0101).count();
            assert_eq!(wrong, 0, "{name}, levels {levels:?}: of {} pixels", SIDE * SIDE);
        }
        rig.destroy(&[p]);
    }
}
