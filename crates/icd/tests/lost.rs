//! What loses a device is named: command, pipeline, shader, block.

mod common;
#[path = "common/gpu.rs"]
mod gpu;
#[path = "common/listen.rs"]
mod listen;

use ash::vk;
use gpu::Gpu;
use listen::{Heard, listening};

/// No device memory.
const WILD: u64 = 0xdead_0000;

/// A device that is to be lost, and what is said of it.
struct Victim {
    gpu: Gpu,
    names: ash::ext::debug_utils::Device,
    labels: ash::ext::debug_utils::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    layout: vk::PipelineLayout,
}

impl Victim {
    fn new(heard: &Heard, stage: vk::ShaderStageFlags) -> Victim {
        let (instance, labels, messenger) = listening(heard);
        let mut faults = vk::PhysicalDeviceFaultFeaturesEXT::default().device_fault(true);
        let gpu = Gpu::of(instance, &[ash::ext::device_fault::NAME, c"VK_KHR_device_fault"], &mut faults);
        let names = ash::ext::debug_utils::Device::new(&gpu.instance, &gpu.device);
        let push = [vk::PushConstantRange { stage_flags: stage, offset: 0, size: 12 }];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
        // SAFETY (here and below): handles are alive, structures outlive the calls.
        let layout = unsafe { gpu.device.create_pipeline_layout(&info, None) }.expect("a layout");
        Victim { gpu, names, labels, messenger, layout }
    }

    fn module(&self, spirv: &[u8]) -> vk::ShaderModule {
        let words = shader::words(spirv);
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        unsafe { self.gpu.device.create_shader_module(&info, None) }.expect("a module")
    }

    fn name(&self, object: impl vk::Handle, name: &std::ffi::CStr) {
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(object).object_name(name);
        unsafe { self.names.set_debug_utils_object_name(&info) }.expect("it is named");
    }

    /// Runs what `record` records, in a command buffer called `walls`, under a label; the device is lost.
    fn run(
        &self,
        pipeline: vk::Pipeline,
        stage: vk::ShaderStageFlags,
        record: impl FnOnce(vk::CommandBuffer),
    ) {
        let g = &self.gpu;
        let bind = match stage {
            vk::ShaderStageFlags::COMPUTE => vk::PipelineBindPoint::COMPUTE,
            _ => vk::PipelineBindPoint::GRAPHICS,
        };
        let c = g.record(|d, c| unsafe {
            self.name(c, c"walls");
            let label = vk::DebugUtilsLabelEXT::default().label_name(c"frame");
            self.names.cmd_begin_debug_utils_label(c, &label);
            d.cmd_bind_pipeline(c, bind, pipeline);
            let mut push = WILD.to_le_bytes().to_vec();
            push.extend(7u32.to_le_bytes());
            d.cmd_push_constants(c, self.layout, stage, 0, &push);
            record(c);
            self.names.cmd_end_debug_utils_label(c);
        });
        unsafe {
            let fence = g.device.create_fence(&Default::default(), None).expect("a fence");
            g.submit(c, fence);
            let waited = g.device.wait_for_fences(&[fence], true, 10_000_000_000);
            assert_eq!(waited, Err(vk::Result::ERROR_DEVICE_LOST));
            g.device.destroy_fence(fence, None);
        }
    }

    fn free(self, pipeline: vk::Pipeline) {
        unsafe {
            self.gpu.device.destroy_pipeline(pipeline, None);
            self.gpu.device.destroy_pipeline_layout(self.layout, None);
            self.labels.destroy_debug_utils_messenger(self.messenger, None);
        }
    }
}

/// What the device tells of its end (VK_KHR_device_fault): once; and the older way (VK_EXT_device_fault), ever again.
fn reported(g: &Gpu, flags: u32, kind: i32, address: u64) {
    type Reports =
        unsafe extern "system" fn(vk::Device, u64, *mut u32, *mut ::vk::DeviceFaultInfoKHR<'_>) -> vk::Result;
    unsafe {
        let f = g.instance.get_device_proc_addr(g.device.handle(), c"vkGetDeviceFaultReportsKHR".as_ptr());
        let reports: Reports = std::mem::transmute(f.expect("it is there"));
        let (mut n, mut info) = (1, ::vk::DeviceFaultInfoKHR::default());
        let of = g.device.handle();
        assert_eq!(reports(of, 0, &mut n, std::ptr::null_mut()), vk::Result::SUCCESS);
        assert_eq!(reports(of, 1_000_000_000, &mut n, &mut info), vk::Result::SUCCESS);
        assert_eq!((n, info.flags.as_raw(), info.group_id), (1, flags, 0));
        let at = info.fault_address_info;
        assert_eq!((at.address_type.as_raw(), at.reported_address), (kind, address));
        assert!(std::ffi::CStr::from_ptr(info.description.as_ptr()).to_string_lossy().contains("walls"));
        n = 1;
        assert_eq!(reports(of, 0, &mut n, &mut info), vk::Result::TIMEOUT, "each once");
        let older = ash::ext::device_fault::Device::new(&g.instance, &g.device);
        let ask = older.fp().get_device_fault_info_ext;
        let mut counts = vk::DeviceFaultCountsEXT::default();
        assert_eq!(ask(of, &mut counts, std::ptr::null_mut()), vk::Result::SUCCESS);
        assert_eq!((counts.address_info_count, counts.vendor_info_count), ((kind != 0) as u32, 1));
        let mut at = vk::DeviceFaultAddressInfoEXT::default();
        let mut told = vk::DeviceFaultInfoEXT { p_address_infos: &mut at, ..Default::default() };
        assert_eq!(ask(of, &mut counts, &mut told), vk::Result::INCOMPLETE, "no room for the vendor's");
        assert_eq!((at.address_type.as_raw(), at.reported_address), (kind, address));
    }
}

/// The one line that says so has all of `parts`.
fn said(heard: Heard, parts: &[&str]) {
    let heard = heard.into_inner().expect("no panic");
    let lines: Vec<_> = heard.iter().filter(|t| t.contains("the device is lost")).collect();
    assert_eq!(lines.len(), 1, "{heard:?}");
    let missing: Vec<_> = parts.iter().filter(|p| !lines[0].contains(**p)).collect();
    assert!(missing.is_empty(), "{missing:?} in {lines:?}");
}

#[test]
fn a_dispatch_with_a_wild_address_is_named_to_its_line() {
    let heard = Heard::default();
    let v = Victim::new(&heard, vk::ShaderStageFlags::COMPUTE);
    let module = v.module(include_bytes!("shaders/lost.comp.spv"));
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module)
        .name(c"main");
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(v.layout)];
    let pipeline = unsafe { v.gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
    let pipeline = pipeline.expect("a pipeline")[0];
    v.name(pipeline, c"smash");
    v.run(pipeline, vk::ShaderStageFlags::COMPUTE, |c| unsafe { v.gpu.device.cmd_dispatch(c, 3, 1, 1) });
    unsafe { v.gpu.device.destroy_shader_module(module, None) };
    // Lost, by an address, the vendor says more; it was to be written.
    reported(&v.gpu, 0b1011, 2, WILD);
    v.free(pipeline);
    // The store is line 8 of the file; the label is command 0.
    let place =
        ["vkCmdDispatch (command 1 of 'walls') in 'frame'", "compute shader of pipeline 'smash' (main)"];
    said(heard, &[place[0], place[1], "block %", "(lost.comp:8)", "accessed 0xdead0000"]);
}

/// The line is that of the access, not the block's first, and the block the caller's after a call; in each form of lines.
#[test]
fn a_wild_address_after_a_call_is_named_to_its_line() {
    let forms: [(&str, &[u8]); 3] = [
        ("-g", include_bytes!("shaders/lost_call.g.spv")),
        ("-gV", include_bytes!("shaders/lost_call.gV.spv")),
        ("-gVS", include_bytes!("shaders/lost_call.gVS.spv")),
    ];
    for (form, spirv) in forms {
        let heard = Heard::default();
        let v = Victim::new(&heard, vk::ShaderStageFlags::COMPUTE);
        let module = v.module(spirv);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(v.layout)];
        let pipeline =
            unsafe { v.gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
        let pipeline = pipeline.expect("a pipeline")[0];
        v.name(pipeline, c"smash");
        v.run(pipeline, vk::ShaderStageFlags::COMPUTE, |c| unsafe { v.gpu.device.cmd_dispatch(c, 3, 1, 1) });
        unsafe { v.gpu.device.destroy_shader_module(module, None) };
        v.free(pipeline);
        let words = shader::words(spirv);
        let table = shader::instrument::blocks(
            &shader::Module::parse(&words).expect("parses"),
            shader::instrument::Entry::All,
        );
        let main = table.expect("blocks").into_iter().find(|b| b.function_name == "main").expect("main's");
        let block = format!("block %{} of function %{} (lost_call.comp:14)", main.label, main.function);
        eprintln!("{form}");
        said(heard, &["'smash'", &block]);
    }
}

/// What a program names is text in what is said of it.
#[test]
fn a_hostile_name_is_no_line_and_no_command() {
    let heard = Heard::default();
    let v = Victim::new(&heard, vk::ShaderStageFlags::COMPUTE);
    let module = v.module(include_bytes!("shaders/lost.comp.spv"));
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module)
        .name(c"main");
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(v.layout)];
    let pipeline = unsafe { v.gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
    let pipeline = pipeline.expect("a pipeline")[0];
    v.name(pipeline, c"a\ntuff: \x1b[2Jfine\xE2\x80\xAE");
    v.run(pipeline, vk::ShaderStageFlags::COMPUTE, |c| unsafe { v.gpu.device.cmd_dispatch(c, 3, 1, 1) });
    unsafe { v.gpu.device.destroy_shader_module(module, None) };
    v.free(pipeline);
    assert!(!heard.lock().expect("no panic").iter().any(|l| l.contains(char::is_control)), "{heard:?}");
    said(heard, &["pipeline 'a\\ntuff: \\x1b[2Jfine\\u{202e}' (main)"]);
}

#[test]
fn a_draw_that_is_shaded_at_its_passs_end_is_named_itself() {
    let heard = Heard::default();
    let v = Victim::new(&heard, vk::ShaderStageFlags::FRAGMENT);
    let modules = [
        v.module(include_bytes!("shaders/lost.vert.spv")),
        v.module(include_bytes!("shaders/lost.frag.spv")),
    ];
    let stages = [(vk::ShaderStageFlags::VERTEX, modules[0]), (vk::ShaderStageFlags::FRAGMENT, modules[1])]
        .map(|(stage, m)| vk::PipelineShaderStageCreateInfo::default().stage(stage).module(m).name(c"main"));
    let area = vk::Rect2D { offset: Default::default(), extent: vk::Extent2D { width: 100, height: 70 } };
    let viewport = [vk::Viewport { width: 100.0, height: 70.0, max_depth: 1.0, ..Default::default() }];
    let scissor = [area];
    let viewports = vk::PipelineViewportStateCreateInfo::default().viewports(&viewport).scissors(&scissor);
    let input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly =
        vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples =
        vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let mut rendering = vk::PipelineRenderingCreateInfo::default();
    let info = [vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewports)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .layout(v.layout)
        .push_next(&mut rendering)];
    let pipeline = unsafe { v.gpu.device.create_graphics_pipelines(vk::PipelineCache::null(), &info, None) };
    let pipeline = pipeline.expect("a pipeline")[0];
    v.name(pipeline, c"paint");
    v.run(pipeline, vk::ShaderStageFlags::FRAGMENT, |c| unsafe {
        let d = &v.gpu.device;
        let info = vk::RenderingInfo::default().render_area(area).layer_count(1);
        d.cmd_begin_rendering(c, &info);
        d.cmd_draw(c, 0, 1, 0, 0);
        d.cmd_draw(c, 3, 1, 0, 0);
        d.cmd_end_rendering(c);
    });
    modules.iter().for_each(|m| unsafe { v.gpu.device.destroy_shader_module(*m, None) });
    v.free(pipeline);
    // Commands: label, begin, an empty draw, the draw.
    let place =
        ["vkCmdDraw (command 3 of 'walls') in 'frame'", "fragment shader of pipeline 'paint' (main/main)"];
    said(heard, &[place[0], place[1], "(lost.frag:7)", "accessed 0xdead0000"]);
}
