//! Every allocation of the driver fails once, and all from each one on: calls return errors or go on, nothing ends the
//! process, and what follows works. A C library between (common/failing_malloc.c, made by `cc`) does the failing.
//!
//! `TUFF_TEST_EVERY=1` fails each of them; without it one in a few, to be quick.

#[allow(dead_code)]
mod common;

use ash::vk;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_long};
use std::process::Command;

const INNER: &str = "TUFF_TEST_SHORT_MEMORY";
/// Of mappings, files and threads, in a process that has made none yet: one, and all from there on.
const COLD: &str = "cold";
const COLD_ON: &str = "cold, from there on";
/// The first allocation to fail.
const FROM: &str = "TUFF_TEST_FROM";
const SAXPY: &[u8] = include_bytes!("../../../benches/kernels/saxpy.spv");
const VERT: &[u8] = include_bytes!("shaders/lost.vert.spv");
const FRAG: &[u8] = include_bytes!("shaders/flat.frag.spv");
const N: u64 = 256;

#[test]
fn no_failing_allocation_ends_the_process() {
    if cfg!(sanitized) {
        return not_run::say(
            "no_failing_allocation_ends_the_process",
            "the reserve, whose place a sanitizer has",
        );
    }
    match std::env::var(INNER).as_deref() {
        Ok(COLD) => return first(false),
        Ok(COLD_ON) => return first(true),
        Ok(kind) => return sweep(kind != "once"),
        Err(_) => {}
    }
    let folder = temporary::folder("tuff-").expect("a temporary folder");
    let preload = folder.path().join("failing_malloc.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/failing_malloc.c");
    let made = Command::new("cc").args(["-O2", "-shared", "-fPIC", "-o"]).arg(&preload).arg(source).status();
    assert!(made.expect("cc, with which Rust links, is installed").success());
    let run = |kind: &str, from: Option<u32>| {
        let me = std::env::current_exe().expect("the test has a path");
        let mut command = Command::new(me);
        command
            .args(["--exact", "no_failing_allocation_ends_the_process", "--nocapture"])
            .env(INNER, kind)
            .env("LD_PRELOAD", &preload)
            .env("TUFF_THREADS", "2");
        if let Some(n) = from {
            command.env(FROM, n.to_string());
        }
        let out = command.output().expect("it runs");
        let text = String::from_utf8_lossy(&out.stdout);
        let errors = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{kind}, {from:?}: {}\n{text}\n{errors}", out.status);
        text.lines().find(|l| l.starts_with("swept")).map(|l| format!("{kind}: {l}"))
    };
    for kind in ["once", "from there on"] {
        println!("{}", run(kind, None).expect("it says what it did"));
    }
    // What a process does once is done first here; each in a process of its own, until nothing fails.
    for kind in [COLD, COLD_ON] {
        let ends: Vec<_> = (1..1000).map_while(|n| run(kind, Some(n))).collect();
        assert!(ends.len() > 5, "{ends:?}");
        ends.iter().for_each(|l| println!("{l}"));
    }
}

/// A process's first scenario, without one of its mappings, files and threads (`and_on`: nor any later); then another.
fn first(and_on: bool) {
    let n: c_long = std::env::var(FROM).ok().and_then(|n| n.parse().ok()).expect("which one");
    let failing = Failing::find();
    let entry = common::entry();
    load();
    failing.arm(n, and_on, true);
    let end = scenario(entry);
    let failed = failing.failed();
    failing.arm(0, false, true);
    if failed > 0 {
        println!("swept {n}: {end:?}");
    } else {
        end.expect("with memory all works");
    }
    scenario(entry).expect("with memory all works");
}

/// Loads the driver; it stays from scenario to scenario.
fn load() {
    let path = CString::new(common::library().into_os_string().into_encoded_bytes()).unwrap();
    // SAFETY: the driver, as the loader opens it.
    assert!(!unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) }.is_null());
}

/// The library between.
struct Failing {
    arm: unsafe extern "C" fn(*const c_char, c_long, c_int, c_int),
    failed: unsafe extern "C" fn() -> c_long,
}

impl Failing {
    fn find() -> Failing {
        // SAFETY: functions of these types, or none.
        unsafe {
            let f = |name: &std::ffi::CStr| {
                let p = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
                assert!(!p.is_null(), "{name:?} is preloaded");
                p
            };
            Failing {
                arm: std::mem::transmute::<
                    *mut libc::c_void,
                    unsafe extern "C" fn(*const c_char, c_long, c_int, c_int),
                >(f(c"failing_malloc_arm")),
                failed: std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn() -> c_long>(f(
                    c"failing_malloc_failed",
                )),
            }
        }
    }
    fn arm(&self, at: c_long, and_on: bool, maps: bool) {
        // SAFETY: a name of the library's end.
        unsafe { (self.arm)(c"libvulkan_tuff.so".as_ptr(), at, and_on as c_int, maps as c_int) }
    }
    fn failed(&self) -> c_long {
        // SAFETY: it has no conditions.
        unsafe { (self.failed)() }
    }
}

/// The sweep, in a process that has the library between.
fn sweep(and_on: bool) {
    let every = std::env::var_os("TUFF_TEST_EVERY").is_some();
    let entry = common::entry();
    load();
    let failing = Failing::find();
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    scenario(entry).expect("with memory all works");
    let mut n = std::env::var(FROM).ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let (mut sites, mut last) = (0, false);
    while !last {
        // To find out where it ended.
        println!("at {n}");
        failing.arm(n, and_on, false);
        let end = scenario(entry);
        let failed = failing.failed();
        failing.arm(0, false, false);
        last = failed == 0;
        if !last {
            sites += 1;
            let end = end.map_or_else(|(call, e)| format!("{call}: {e:?}"), |()| "went on".into());
            *ends.entry(end).or_default() += 1;
            if let Err((call, e)) = scenario(entry) {
                panic!("after allocation {n} failed, {call} gives {e:?}");
            }
        }
        n += if every { 1 } else { 1 + n / 16 };
    }
    println!("swept {sites} of some {n} allocations: {ends:?}");
    assert!(sites > 10, "{sites}");
}

type Failed = (&'static str, vk::Result);

/// What has been made, and how it ends: the last first.
#[derive(Default)]
struct Made(Vec<Box<dyn FnOnce()>>);

impl Drop for Made {
    fn drop(&mut self) {
        while let Some(end) = self.0.pop() {
            end();
        }
    }
}

/// A program: compute, drawing and transfers from instance to result, all of it given back, whatever happens.
// SAFETY (all of it): handles are alive, structures outlive the calls.
fn scenario(entry: &'static ash::Entry) -> Result<(), Failed> {
    let mut made = Made::default();
    unsafe {
        let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&app);
        let instance = entry.create_instance(&info, None).map_err(|e| ("vkCreateInstance", e))?;
        let i = instance.clone();
        made.0.push(Box::new(move || i.destroy_instance(None)));
        let all = instance.enumerate_physical_devices().map_err(|e| ("vkEnumeratePhysicalDevices", e))?;
        let physical = *all.first().ok_or(("vkEnumeratePhysicalDevices", vk::Result::INCOMPLETE))?;
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let mut v13 =
            vk::PhysicalDeviceVulkan13Features::default().synchronization2(true).dynamic_rendering(true);
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut v13);
        let d = instance.create_device(physical, &info, None).map_err(|e| ("vkCreateDevice", e))?;
        let ended = d.clone();
        made.0.push(Box::new(move || ended.destroy_device(None)));
        macro_rules! make {
            ($create:ident, $destroy:ident, $info:expr) => {{
                let object = d.$create(&$info, None).map_err(|e| (stringify!($create), e))?;
                let device = d.clone();
                made.0.push(Box::new(move || device.$destroy(object, None)));
                object
            }};
        }
        // Memory: two buffers and an image.
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
        let buffers = [(); 2].map(|()| vk::BufferCreateInfo::default().size(N * 4).usage(usage));
        let buffers = [
            make!(create_buffer, destroy_buffer, buffers[0]),
            make!(create_buffer, destroy_buffer, buffers[1]),
        ];
        let info = vk::MemoryAllocateInfo::default().allocation_size(2 * N * 4);
        let memory = make!(allocate_memory, free_memory, info);
        for (k, b) in buffers.iter().enumerate() {
            d.bind_buffer_memory(*b, memory, k as u64 * N * 4).map_err(|e| ("vkBindBufferMemory", e))?;
        }
        let format = vk::Format::R8G8B8A8_UNORM;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D { width: 64, height: 64, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC);
        let image = make!(create_image, destroy_image, info);
        let need = d.get_image_memory_requirements(image);
        let kind = need.memory_type_bits.trailing_zeros();
        let info = vk::MemoryAllocateInfo::default().allocation_size(need.size).memory_type_index(kind);
        let image_memory = make!(allocate_memory, free_memory, info);
        d.bind_image_memory(image, image_memory, 0).map_err(|e| ("vkBindImageMemory", e))?;
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        };
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(range);
        let view = make!(create_image_view, destroy_image_view, info);
        let _sampler = make!(create_sampler, destroy_sampler, vk::SamplerCreateInfo::default());
        // Compute.
        let ty = vk::DescriptorType::STORAGE_BUFFER;
        let bindings = [0, 1].map(|n| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(n)
                .descriptor_type(ty)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        });
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let sets = [make!(create_descriptor_set_layout, destroy_descriptor_set_layout, info)];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
        let layout = make!(create_pipeline_layout, destroy_pipeline_layout, info);
        let code = shader::words(SAXPY);
        let info = vk::ShaderModuleCreateInfo::default().code(&code);
        let module = make!(create_shader_module, destroy_shader_module, info);
        let cache =
            make!(create_pipeline_cache, destroy_pipeline_cache, vk::PipelineCacheCreateInfo::default());
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
        let made_pipelines = d.create_compute_pipelines(cache, &info, None);
        let compute = made_pipelines.map_err(|(_, e)| ("vkCreateComputePipelines", e))?[0];
        let device = d.clone();
        made.0.push(Box::new(move || device.destroy_pipeline(compute, None)));
        let blob = d.get_pipeline_cache_data(cache).map_err(|e| ("vkGetPipelineCacheData", e))?;
        let info = vk::PipelineCacheCreateInfo::default().initial_data(&blob);
        let _again = make!(create_pipeline_cache, destroy_pipeline_cache, info);
        let sizes = [vk::DescriptorPoolSize { ty, descriptor_count: 2 }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let pool = make!(create_descriptor_pool, destroy_descriptor_pool, info);
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&sets);
        let set = d.allocate_descriptor_sets(&info).map_err(|e| ("vkAllocateDescriptorSets", e))?[0];
        let infos =
            buffers.map(|buffer| vk::DescriptorBufferInfo { buffer, offset: 0, range: vk::WHOLE_SIZE });
        let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(ty).buffer_info(&infos);
        d.update_descriptor_sets(&[write], &[]);
        // Drawing.
        let code = [VERT, FRAG].map(shader::words);
        let modules = [
            make!(
                create_shader_module,
                destroy_shader_module,
                vk::ShaderModuleCreateInfo::default().code(&code[0])
            ),
            make!(
                create_shader_module,
                destroy_shader_module,
                vk::ShaderModuleCreateInfo::default().code(&code[1])
            ),
        ];
        let uniform = [vk::DescriptorSetLayoutBinding::default()
            .binding(1)
            .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::FRAGMENT)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&uniform);
        let flat_sets = [make!(create_descriptor_set_layout, destroy_descriptor_set_layout, info)];
        let push =
            [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::FRAGMENT, offset: 0, size: 16 }];
        let info =
            vk::PipelineLayoutCreateInfo::default().set_layouts(&flat_sets).push_constant_ranges(&push);
        let flat_layout = make!(create_pipeline_layout, destroy_pipeline_layout, info);
        let stages =
            [(vk::ShaderStageFlags::VERTEX, modules[0]), (vk::ShaderStageFlags::FRAGMENT, modules[1])]
                .map(|(s, m)| vk::PipelineShaderStageCreateInfo::default().stage(s).module(m).name(c"main"));
        let area = vk::Rect2D { extent: vk::Extent2D { width: 64, height: 64 }, ..Default::default() };
        let (viewport, scissor) =
            ([vk::Viewport { width: 64.0, height: 64.0, max_depth: 1.0, ..Default::default() }], [area]);
        let viewports =
            vk::PipelineViewportStateCreateInfo::default().viewports(&viewport).scissors(&scissor);
        let input = vk::PipelineVertexInputStateCreateInfo::default();
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let write =
            [vk::PipelineColorBlendAttachmentState::default()
                .color_write_mask(vk::ColorComponentFlags::RGBA)];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&write);
        let formats = [format];
        let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
        let info = [vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewports)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .color_blend_state(&blend)
            .layout(flat_layout)
            .push_next(&mut rendering)];
        let made_pipelines = d.create_graphics_pipelines(cache, &info, None);
        let graphics = made_pipelines.map_err(|(_, e)| ("vkCreateGraphicsPipelines", e))?[0];
        let device = d.clone();
        made.0.push(Box::new(move || device.destroy_pipeline(graphics, None)));
        // Commands.
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(4);
        let queries = make!(create_query_pool, destroy_query_pool, info);
        let commands = make!(create_command_pool, destroy_command_pool, vk::CommandPoolCreateInfo::default());
        let info = vk::CommandBufferAllocateInfo::default().command_pool(commands).command_buffer_count(1);
        let c = d.allocate_command_buffers(&info).map_err(|e| ("vkAllocateCommandBuffers", e))?[0];
        d.begin_command_buffer(c, &Default::default()).map_err(|e| ("vkBeginCommandBuffer", e))?;
        d.cmd_fill_buffer(c, buffers[0], 0, N * 4, 1f32.to_bits());
        d.cmd_fill_buffer(c, buffers[1], 0, N * 4, 2f32.to_bits());
        d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, compute);
        d.cmd_bind_descriptor_sets(c, vk::PipelineBindPoint::COMPUTE, layout, 0, &[set], &[]);
        d.cmd_dispatch(c, 1, 1, 1);
        d.cmd_reset_query_pool(c, queries, 0, 4);
        let colors = [vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let info = vk::RenderingInfo::default().render_area(area).layer_count(1).color_attachments(&colors);
        d.cmd_begin_rendering(c, &info);
        d.cmd_bind_pipeline(c, vk::PipelineBindPoint::GRAPHICS, graphics);
        d.cmd_begin_query(c, queries, 0, vk::QueryControlFlags::PRECISE);
        (0..200).for_each(|_| d.cmd_draw(c, 3, 1, 0, 0));
        d.cmd_end_query(c, queries, 0);
        d.cmd_end_rendering(c);
        d.end_command_buffer(c).map_err(|e| ("vkEndCommandBuffer", e))?;
        let fence = make!(create_fence, destroy_fence, vk::FenceCreateInfo::default());
        let queue = d.get_device_queue(0, 0);
        let buffers = [c];
        let submit = [vk::SubmitInfo::default().command_buffers(&buffers)];
        d.queue_submit(queue, &submit, fence).map_err(|e| ("vkQueueSubmit", e))?;
        d.wait_for_fences(&[fence], true, 20_000_000_000).map_err(|e| ("vkWaitForFences", e))?;
        let at =
            d.map_memory(memory, 0, vk::WHOLE_SIZE, Default::default()).map_err(|e| ("vkMapMemory", e))?;
        let words = std::slice::from_raw_parts(at.cast::<f32>(), N as usize);
        // 0.5 x + 0.25 y.
        assert!(words.iter().all(|w| *w == 0.5 * 2.0 + 0.25), "{:?}", &words[..4]);
    }
    Ok(())
}
