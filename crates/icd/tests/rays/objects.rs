//! Hit objects: what runs is what OpTraceRayKHR runs.

use super::pipelines::{DEEPER, Launch, MISSING, RECORDS, ray};
use super::scene::*;

const DOWN: [f32; 3] = [0.0, 0.0, -1.0];

/// SPV_EXT_shader_invocation_reorder's module of one of SPV_NV_shader_invocation_reorder: the instructions that the shader has are the same
/// under other numbers.
fn ext(nv: &[u8]) -> Vec<u8> {
    let words = shader::words(nv);
    let mut out = words[..5].to_vec();
    let mut at = 5;
    while at < words.len() {
        let (op, n) = (words[at] & 0xFFFF, (words[at] >> 16) as usize);
        let mut own = words[at..at + n].to_vec();
        let number = match op {
            // OpCapability
            17 if own[1] == 5383 => {
                own[1] = 5388;
                op
            }
            // OpExtension: names of the same number of words.
            10 => {
                let mut name: Vec<u8> = own[1..].iter().flat_map(|w| w.to_le_bytes()).collect();
                if name.starts_with(b"SPV_NV_shader_invocation_reorder") {
                    name = b"SPV_EXT_shader_invocation_reorder".to_vec();
                    name.resize(4 * (n - 1), 0);
                }
                let name = name.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w));
                own.splice(1.., name);
                op
            }
            // OpTypePointer, OpVariable: HitObjectAttribute
            32 | 59 => {
                let k = if op == 32 { 2 } else { 3 };
                if own[k] == 5385 {
                    own[k] = 5411;
                }
                op
            }
            5281 => 5313, // OpTypeHitObject
            5279 => 5315, // OpReorderThreadWithHitObject
            5260 => 5316, // OpHitObjectTraceRay
            5259 => 5318, // RecordEmpty
            5264 => 5319, // ExecuteShader
            5266 => 5321, // GetAttributes
            5267 => 5322, // GetHitKind
            5268 => 5323, // GetPrimitiveIndex
            5269 => 5324, // GetGeometryIndex
            5270 => 5325, // GetInstanceId
            5255 => 5327, // GetObjectRayOrigin
            5274 => 5333, // GetRayTMax
            5258 => 5348, // GetShaderBindingTableRecordIndex
            5276 => 5350, // IsEmpty
            5277 => 5351, // IsHit
            5278 => 5352, // IsMiss
            other => {
                assert!(!(5249..5283).contains(&other), "instruction {other} has no row");
                other
            }
        };
        own[0] = number | (n as u32) << 16;
        out.extend(own);
        at += n;
    }
    out.iter().flat_map(|w| w.to_le_bytes()).collect()
}

#[test]
fn hit_objects_run_what_a_trace_runs() {
    let rig = Rig::new();
    let scene = rig.address(&rig.scene());
    let plain = rig.tracer(2, &RECORDS);
    let objects = rig.tracer_from(&ext(include_bytes!("../shaders/rays_object.rgen.spv")), 2, &RECORDS);
    let above = [0.25, 0.25, 5.0];
    let far = [10.5, 1.0, 20.0];
    let bits = f32::to_bits;
    // Index of the record, t, primitive | geometry << 8 | instance << 16 | kind << 24, attributes and z of the origin in the instance's
    // space added; `None`: a miss.
    let rows: [(Ray, u32, f32, Option<(u32, f32)>); 7] = [
        (ray(above, DOWN, 0, 0, 0), 1, 3.0, Some((1 << 8 | 0xFE << 24, 5.5))),
        (ray(above, DOWN, OPAQUE, 0, 0), 1, 2.0, Some((1 | 1 << 8 | 0xFE << 24, 5.5))),
        (ray([0.25, 0.25, -1.0], [0.0, 0.0, 1.0], 0, 0, 0), 0, 1.0, Some((0xFF << 24, -0.5))),
        (MISSING, 0, 100.0, None),
        (ray(far, [0.0, 0.0, -2.0], OPAQUE, 0, 0), 3, 7.0, Some((1 | 1 << 8 | 1 << 16 | 0xFE << 24, 10.75))),
        (DEEPER, 2, 0.5, Some((1 | 1 << 16 | 0xFE << 24, 2.25))),
        (ray([0.0, 20.0, 10.0], DOWN, 0, 1, 0), 4, 9.5, Some((2 << 16 | 0x2A << 24, 11.25))),
    ];
    // Many waves, so that hints order lanes of several warps.
    let rays: Vec<Ray> = rows.iter().map(|r| r.0).cycle().take(7 * 96).collect();
    let want = rig.trace(&plain, Launch::Direct, scene, &rays, 32).expect("they run");
    let got = rig.trace(&objects, Launch::Direct, scene, &rays, 32).expect("they run");
    for (i, (want, got)) in want.iter().zip(&got).enumerate() {
        let (_, record, t, hit) = rows[i % 7];
        assert_eq!(got[..12], want[..12], "row {}: the payload", i % 7);
        // Empty before, then a hit (4) or a miss (8).
        assert_eq!(got[12], (if hit.is_some() { 1 | 4 } else { 1 | 8 }) | record << 8, "row {}", i % 7);
        let (what, sum) = hit.unwrap_or_default();
        assert_eq!(got[13..], [bits(t), what, bits(sum)], "row {}", i % 7);
    }
    // An object that has forgotten its hit runs nothing.
    let mut forgetful = rays[1];
    forgetful.own[0] |= 1 << 31;
    let got = &rig.trace(&objects, Launch::Direct, scene, &[forgetful], 1).expect("it runs")[0];
    assert_eq!((&got[..12], got[12]), (&[0; 12][..], 1 | 4 | 1 << 8));
    // Deeper than the pipeline allows: a trace within an executed shader counts as any.
    let shallow = rig.tracer_from(&ext(include_bytes!("../shaders/rays_object.rgen.spv")), 1, &RECORDS);
    let got = &rig.trace(&shallow, Launch::Direct, scene, &[DEEPER], 1).expect("executing is no trace")[0];
    assert_eq!(got[..2], [1, 102]);
}
