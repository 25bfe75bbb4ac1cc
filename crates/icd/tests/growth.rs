//! A shader that is beyond all bounds when its calls are inlined ends its pipeline's creation with one line that says
//! why, and the next one is made.

#[allow(dead_code, reason = "others use the rest")]
#[path = "../../shader/tests/shapes/asm.rs"]
mod asm;
#[allow(dead_code, reason = "others use the rest")]
mod common;
#[path = "common/listen.rs"]
mod listen;

use ash::vk;
use asm::Asm;
use common::physical_device;
use listen::{Heard, listening};
use spirv::Op;

/// Calls that double so many times.
fn doubling(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let x = a.variable(spirv::StorageClass::Private, a.ids.uint);
    let mut f = a.id();
    a.begin(f);
    let old = a.load(x);
    let new = a.bin(Op::IAdd, old, old);
    a.store(x, new);
    a.end();
    for _ in 0..n {
        let g = a.id();
        a.begin(g);
        a.op(Op::FunctionCall, a.ids.void, &[f]);
        a.op(Op::FunctionCall, a.ids.void, &[f]);
        a.end();
        f = g;
    }
    a.begin(a.ids.main);
    let first = a.input();
    a.store(x, first);
    a.op(Op::FunctionCall, a.ids.void, &[f]);
    let last = a.load(x);
    a.output(last);
    a.end();
    a.finish()
}

fn pipeline(d: &ash::Device, layout: vk::PipelineLayout, words: &[u32]) -> Result<vk::Pipeline, vk::Result> {
    let info = vk::ShaderModuleCreateInfo::default().code(words);
    // SAFETY: what the calls name is alive and destroyed once.
    unsafe {
        let module = d.create_shader_module(&info, None)?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
        let made = d.create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
        d.destroy_shader_module(module, None);
        made.map(|all| all[0]).map_err(|e| e.1)
    }
}

#[test]
fn calls_that_double_thirty_times_are_refused_with_a_reason() {
    let heard = Heard::default();
    let (i, debug, m) = listening(&heard);
    let queue = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queue);
    let binding = [vk::DescriptorSetLayoutBinding::default()
        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
        .descriptor_count(1)
        .stage_flags(vk::ShaderStageFlags::COMPUTE)];
    // SAFETY: what the calls name is alive and destroyed once, children first.
    unsafe {
        let d = i.create_device(physical_device(&i), &info, None).expect("a device");
        let set = vk::DescriptorSetLayoutCreateInfo::default().bindings(&binding);
        let set = [d.create_descriptor_set_layout(&set, None).expect("a set layout")];
        let layout = vk::PipelineLayoutCreateInfo::default().set_layouts(&set);
        let layout = d.create_pipeline_layout(&layout, None).expect("a layout");
        assert_eq!(pipeline(&d, layout, &doubling(30)).err(), Some(vk::Result::ERROR_INVALID_SHADER_NV));
        let small = pipeline(&d, layout, &doubling(8)).expect("a small one is made");
        d.destroy_pipeline(small, None);
        d.destroy_pipeline_layout(layout, None);
        d.destroy_descriptor_set_layout(set[0], None);
        d.destroy_device(None);
        debug.destroy_debug_utils_messenger(m, None);
        i.destroy_instance(None);
    }
    let heard = heard.into_inner().expect("no panic");
    let why = "it grows beyond 1048576 instructions when its calls are inlined";
    assert_eq!(heard.iter().filter(|t| t.contains(why)).count(), 1, "{heard:?}");
}
