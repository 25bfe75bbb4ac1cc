//! VK_ARM_shader_instrumentation of all six stages.

use super::pipelines::{DEEPER, Launch, MISSING, RECORDS, ray};
use super::scene::*;
use crate::generated::command;
use crate::shader_objects::{Begin, End, Make, Unmake, Values};
use ash::vk;
use vk::ShaderStageFlags as Stages;

/// Words of a row: result, sub-index, stages, block, then 64-bit metrics, of which the first are warps and threads.
const ROW: usize = 4 + 2 * 11;
const DOWN: [f32; 3] = [0.0, 0.0, -1.0];

#[test]
fn all_stages_are_measured_by_their_groups() {
    let rig = Rig::new();
    let scene = rig.address(&rig.scene());
    let tracer = rig.tracer_with(INSTRUMENT, super::pipelines::FIRST, 2, &RECORDS);
    // Two candidates for an any-hit shader, a miss, a box, and a ray whose closest-hit shader traces another.
    let rays =
        [ray([0.25, 0.25, 5.0], DOWN, 0, 0, 0), MISSING, ray([0.0, 20.0, 10.0], DOWN, 0, 0, 1), DEEPER];
    let g = &rig.gpu;
    let d = g.device.handle();
    // SAFETY (the block): handles are alive, structures outlive the calls.
    unsafe {
        let make: Make = command(g, c"vkCreateShaderInstrumentationARM");
        let unmake: Unmake = command(g, c"vkDestroyShaderInstrumentationARM");
        let begin: Begin = command(g, c"vkCmdBeginShaderInstrumentationARM");
        let end: End = command(g, c"vkCmdEndShaderInstrumentationARM");
        let values: Values = command(g, c"vkGetShaderInstrumentationValuesARM");
        let mut object = ::vk::ShaderInstrumentationARM::default();
        assert_eq!(make(d, &Default::default(), std::ptr::null(), &mut object), vk::Result::SUCCESS);
        rig.trace_within(&tracer, Launch::Direct, scene, &rays, 2, |c, on| {
            if on { begin(c, object) } else { end(c) }
        })
        .expect("it runs");
        let mut rows = 256;
        let mut data = vec![0u32; rows as usize * ROW];
        let to = data.as_mut_ptr().cast();
        assert_eq!(values(d, object, &mut rows, to, Default::default()), vk::Result::SUCCESS);
        let told: Vec<&[u32]> = data.chunks(ROW).take(rows as usize).collect();
        // The sub-index is that of the first group that has the shader; block 0 is where a shader begins.
        for (stage, group, threads) in [
            (Stages::RAYGEN_KHR, 0, 4),
            (Stages::MISS_KHR, 1, 1),
            (Stages::CLOSEST_HIT_KHR, 2, 4),
            (Stages::ANY_HIT_KHR, 3, 2),
            (Stages::INTERSECTION_KHR, 4, 1),
            (Stages::CALLABLE_KHR, 5, 4),
        ] {
            let of_stage: Vec<_> = told.iter().filter(|r| r[2] == stage.as_raw()).collect();
            assert!(of_stage.iter().all(|r| r[0] == 0 && r[1] == group), "{stage:?}: {of_stage:?}");
            let first: Vec<_> = of_stage.iter().filter(|r| r[3] == 0).map(|r| r[6]).collect();
            assert_eq!(first, [threads], "{stage:?}: {of_stage:?}");
        }
        unmake(d, object, std::ptr::null());
    }
}

/// VK_PIPELINE_CREATE_2_INSTRUMENT_SHADERS_BIT_ARM
const INSTRUMENT: u64 = 1 << 39;
