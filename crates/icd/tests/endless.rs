//! Work without end, and numbers without bounds: the device is lost with a line that says why, or goes on; the process does.

mod common;
#[path = "common/gpu.rs"]
mod gpu;
#[path = "common/listen.rs"]
mod listen;

use ash::vk;
use gpu::Gpu;
use listen::{Heard, listening};
use std::sync::Once;
use std::time::{Duration, Instant};

/// What a wave may take in these tests, in ms; a submission may take 30 times as much.
const LIMIT: u64 = 200;
/// The end of the line where a submission took too long.
const SUBMISSION: &str = "the submission did not end within 6s; the device is lost";

struct Device {
    g: Gpu,
    debug: ash::ext::debug_utils::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    layout: vk::PipelineLayout,
}

// SAFETY (all blocks): handles are alive, structures outlive the calls.
impl Device {
    fn new(heard: &Heard) -> Device {
        Device::within(heard, LIMIT)
    }

    /// Where a wave may take so many ms: the first device of the process says.
    fn within(heard: &Heard, limit: u64) -> Device {
        static LIMITED: Once = Once::new();
        // SAFETY: before the first instance, and nobody reads the environment meanwhile.
        LIMITED.call_once(|| unsafe { std::env::set_var("TUFF_WATCHDOG_MS", limit.to_string()) });
        let (instance, debug, messenger) = listening(heard);
        let extensions = [ash::ext::nested_command_buffer::NAME, ash::ext::index_type_uint8::NAME];
        let g = Gpu::of(instance, &extensions, &mut vk::PhysicalDeviceVulkan11Features::default());
        let layout = unsafe { g.device.create_pipeline_layout(&Default::default(), None) }.unwrap();
        Device { g, debug, messenger, layout }
    }

    fn module(&self, spirv: &[u8]) -> vk::ShaderModule {
        let words = shader::words(spirv);
        unsafe {
            self.g.device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None)
        }
        .unwrap()
    }

    fn short(&self) -> vk::Pipeline {
        let module = self.module(include_bytes!("shaders/short.comp.spv"));
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(self.layout)];
        unsafe {
            let made =
                self.g.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None).unwrap()[0];
            self.g.device.destroy_shader_module(module, None);
            made
        }
    }

    /// Points, drawn to nothing.
    fn points(&self) -> vk::Pipeline {
        let vertex = (vk::ShaderStageFlags::VERTEX, &include_bytes!("shaders/lost.vert.spv")[..]);
        self.drawing(&[vertex], self.layout, &[])
    }

    /// A triangle over everything, each of whose fragments goes round as often as the push constant says; it is added to what
    /// an RGBA8 image has.
    fn turns(&self, layout: vk::PipelineLayout) -> vk::Pipeline {
        let vertex = (vk::ShaderStageFlags::VERTEX, &include_bytes!("shaders/heavy.vert.spv")[..]);
        let fragment = (vk::ShaderStageFlags::FRAGMENT, &include_bytes!("shaders/heavy.frag.spv")[..]);
        self.drawing(&[vertex, fragment], layout, &[vk::Format::R8G8B8A8_UNORM])
    }

    /// Line strips that restart, drawn to nothing.
    fn strips(&self, stages: &[(vk::ShaderStageFlags, &[u8])]) -> vk::Pipeline {
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(vk::PrimitiveTopology::LINE_STRIP)
            .primitive_restart_enable(true);
        self.drawing_of(assembly, stages, self.layout, &[])
    }

    fn drawing(
        &self,
        stages: &[(vk::ShaderStageFlags, &[u8])],
        layout: vk::PipelineLayout,
        formats: &[vk::Format],
    ) -> vk::Pipeline {
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        self.drawing_of(assembly, stages, layout, formats)
    }

    fn drawing_of(
        &self,
        assembly: vk::PipelineInputAssemblyStateCreateInfo,
        stages: &[(vk::ShaderStageFlags, &[u8])],
        layout: vk::PipelineLayout,
        formats: &[vk::Format],
    ) -> vk::Pipeline {
        let modules: Vec<_> = stages.iter().map(|(_, spirv)| self.module(spirv)).collect();
        let stages: Vec<_> = stages
            .iter()
            .zip(&modules)
            .map(|((stage, _), &m)| {
                vk::PipelineShaderStageCreateInfo::default().stage(*stage).module(m).name(c"main")
            })
            .collect();
        let add = vk::PipelineColorBlendAttachmentState::default()
            .blend_enable(true)
            .src_color_blend_factor(vk::BlendFactor::ONE)
            .dst_color_blend_factor(vk::BlendFactor::ONE)
            .color_write_mask(vk::ColorComponentFlags::RGBA);
        let blends = vec![add; formats.len()];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
        let viewport = [vk::Viewport { width: 64.0, height: 64.0, max_depth: 1.0, ..Default::default() }];
        let scissor = [vk::Rect2D { extent: vk::Extent2D { width: 64, height: 64 }, ..Default::default() }];
        let viewports =
            vk::PipelineViewportStateCreateInfo::default().viewports(&viewport).scissors(&scissor);
        let input = vk::PipelineVertexInputStateCreateInfo::default();
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(formats);
        let info = [vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewports)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .color_blend_state(&blend)
            .layout(layout)
            .push_next(&mut rendering)];
        unsafe {
            let made =
                self.g.device.create_graphics_pipelines(vk::PipelineCache::null(), &info, None).unwrap()[0];
            modules.iter().for_each(|m| self.g.device.destroy_shader_module(*m, None));
            made
        }
    }

    fn secondary(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> vk::CommandBuffer {
        let d = &self.g.device;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.g.pool)
            .level(vk::CommandBufferLevel::SECONDARY)
            .command_buffer_count(1);
        unsafe {
            let c = d.allocate_command_buffers(&info).unwrap()[0];
            let within = vk::CommandBufferInheritanceInfo::default();
            let info = vk::CommandBufferBeginInfo::default()
                .inheritance_info(&within)
                .flags(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE);
            d.begin_command_buffer(c, &info).unwrap();
            record(d, c);
            d.end_command_buffer(c).unwrap();
            c
        }
    }

    /// Runs what is recorded: whether the device survived.
    fn run(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> bool {
        let c = self.g.record(record);
        let began = Instant::now();
        self.g.submit(c, vk::Fence::null());
        let ended = unsafe { self.g.device.queue_wait_idle(self.g.queue) };
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
        ended.is_ok()
    }

    fn free(self, pipelines: &[vk::Pipeline]) {
        unsafe {
            pipelines.iter().for_each(|p| self.g.device.destroy_pipeline(*p, None));
            self.g.device.destroy_pipeline_layout(self.layout, None);
            self.debug.destroy_debug_utils_messenger(self.messenger, None);
        }
    }
}

/// The one line that says that the device is lost.
fn the_line(heard: &Heard) -> String {
    let heard = heard.lock().expect("no panic");
    let lines: Vec<_> = heard.iter().filter(|t| t.contains("lost")).collect();
    assert_eq!(lines.len(), 1, "{heard:?}");
    lines[0].clone()
}

const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;
const GRAPHICS: vk::PipelineBindPoint = vk::PipelineBindPoint::GRAPHICS;

fn begin(d: &ash::Device, c: vk::CommandBuffer, area: vk::Rect2D, layers: u32) {
    unsafe { d.cmd_begin_rendering(c, &vk::RenderingInfo::default().render_area(area).layer_count(layers)) };
}

const SMALL: vk::Rect2D =
    vk::Rect2D { offset: vk::Offset2D { x: 0, y: 0 }, extent: vk::Extent2D { width: 64, height: 64 } };

#[test]
fn short_groups_without_end() {
    let heard = Heard::default();
    let d = Device::new(&heard);
    let p = d.short();
    assert!(!d.run(|d, c| unsafe {
        d.cmd_bind_pipeline(c, COMPUTE, p);
        d.cmd_dispatch(c, 65535, 65535, 65535);
    }));
    let line = the_line(&heard);
    assert!(line.contains("vkCmdDispatch") && line.contains(SUBMISSION), "{line}");
    d.free(&[p]);
}

#[test]
fn commands_without_end() {
    let heard = Heard::default();
    let d = Device::new(&heard);
    let p = d.short();
    let mut list = d.secondary(|d, c| unsafe {
        d.cmd_bind_pipeline(c, COMPUTE, p);
        (0..8).for_each(|_| d.cmd_dispatch(c, 1, 1, 1));
    });
    for _ in 0..14 {
        list = d.secondary(|d, c| unsafe { d.cmd_execute_commands(c, &[list; 8]) });
    }
    assert!(!d.run(|d, c| unsafe { d.cmd_execute_commands(c, &[list]) }));
    let line = the_line(&heard);
    assert!(line.contains(SUBMISSION), "{line}");
    d.free(&[p]);
}

#[test]
fn three_thousand_levels_of_lists() {
    let heard = Heard::default();
    let d = Device::new(&heard);
    let mut list = d.secondary(|_, _| ());
    for _ in 0..3000 {
        list = d.secondary(|d, c| unsafe { d.cmd_execute_commands(c, &[list]) });
    }
    assert!(d.run(|d, c| unsafe { d.cmd_execute_commands(c, &[list]) }), "what is too deep is left out");
    assert!(heard.lock().unwrap().iter().any(|l| l.contains("more than 16 levels of command buffers")));
    d.free(&[]);
}

#[test]
fn vertices_and_instances_without_end() {
    let heard = Heard::default();
    let d = Device::new(&heard);
    let p = d.points();
    assert!(!d.run(|d, c| unsafe {
        begin(d, c, SMALL, 1);
        d.cmd_bind_pipeline(c, GRAPHICS, p);
        d.cmd_draw(c, u32::MAX, u32::MAX, 0, 0);
        d.cmd_end_rendering(c);
    }));
    let line = the_line(&heard);
    assert!(line.contains("vkCmdDraw") && line.contains(SUBMISSION), "{line}");
    d.free(&[p]);
}

/// A draw may take as long as it likes, as long as its waves end; one that does not is named, with its block. Both are one
/// draw: of as many triangles above each other as take several times a wave's time, and of one.
#[test]
fn waves_that_end_and_one_that_does_not() {
    let heard = Heard::default();
    let d = Device::new(&heard);
    let stage = vk::ShaderStageFlags::FRAGMENT;
    let push = [vk::PushConstantRange { stage_flags: stage, offset: 0, size: 4 }];
    let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
    let layout = unsafe { d.g.device.create_pipeline_layout(&info, None) }.unwrap();
    let p = d.turns(layout);
    let image = d.g.image([64; 2], vk::ImageUsageFlags::COLOR_ATTACHMENT);
    let draw = |turns: u32, instances: u32| {
        let began = Instant::now();
        let survived = d.run(|device, c| unsafe {
            let colour = [vk::RenderingAttachmentInfo::default()
                .image_view(image.view)
                .image_layout(vk::ImageLayout::GENERAL)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(vk::AttachmentStoreOp::STORE)];
            let info = vk::RenderingInfo::default().render_area(SMALL).layer_count(1);
            device.cmd_begin_rendering(c, &info.color_attachments(&colour));
            device.cmd_bind_pipeline(c, GRAPHICS, p);
            device.cmd_push_constants(c, layout, stage, 0, &turns.to_le_bytes());
            device.cmd_draw(c, 3, instances, 0, 0);
            device.cmd_end_rendering(c);
        });
        (survived, began.elapsed())
    };
    // A wave of so many turns asks several times whether it is to go on, and has ended long before its time is over.
    const TURNS: u32 = 20_000;
    let mut triangles = 16;
    loop {
        let (survived, took) = draw(TURNS, triangles);
        assert!(survived, "{triangles}: {took:?}, {heard:?}");
        if took > Duration::from_millis(4 * LIMIT) {
            break;
        }
        triangles *= 2;
    }
    assert!(!draw(u32::MAX, 1).0);
    let line = the_line(&heard);
    let parts = ["vkCmdDraw (command ", "fragment shader of pipeline ", "block %"];
    let missing: Vec<_> = parts.iter().filter(|p| !line.contains(**p)).collect();
    assert!(missing.is_empty(), "{missing:?} in {line}");
    assert!(line.ends_with(&format!(" did not end within {LIMIT}ms; the device is lost")), "{line}");
    d.g.free_image(image);
    unsafe { d.g.device.destroy_pipeline_layout(layout, None) };
    d.free(&[p]);
}

/// 2³² − 1 draws that all lie at the same place, each of them small; and what they might be if the buffer is garbage.
#[test]
fn indirect_draws_without_end() {
    for (command, ends) in [([3, 1, 0, 0], false), ([u32::MAX; 4], false), ([0, u32::MAX, 0, 0], true)] {
        let heard = Heard::default();
        let d = Device::new(&heard);
        let p = d.points();
        let b = d.g.buffer(4);
        b.words.copy_from_slice(&command);
        let count = if ends { 1000 } else { u32::MAX };
        let survived = d.run(|d, c| unsafe {
            begin(d, c, SMALL, 1);
            d.cmd_bind_pipeline(c, GRAPHICS, p);
            d.cmd_draw_indirect(c, b.buffer, 0, count, 0);
            d.cmd_end_rendering(c);
        });
        assert_eq!(survived, ends, "{command:?}");
        if !ends {
            let line = the_line(&heard);
            assert!(line.contains(SUBMISSION), "{line}");
        }
        d.g.free(b);
        d.free(&[p]);
    }
}

#[test]
fn render_areas_and_layers_beyond_all_bounds() {
    let most = vk::Rect2D {
        offset: vk::Offset2D { x: 0, y: 0 },
        extent: vk::Extent2D { width: u32::MAX, height: u32::MAX },
    };
    let far = vk::Rect2D { offset: vk::Offset2D { x: i32::MAX, y: i32::MIN }, ..most };
    let heard = Heard::default();
    let d = Device::new(&heard);
    let p = d.points();
    for (area, layers) in [(most, 1), (far, 1), (SMALL, u32::MAX), (most, u32::MAX)] {
        // It ends or it is lost: the process goes on, and what it takes is bounded.
        d.run(|d, c| unsafe {
            begin(d, c, area, layers);
            d.cmd_bind_pipeline(c, GRAPHICS, p);
            d.cmd_draw(c, 3, 1, 0, 0);
            d.cmd_end_rendering(c);
        });
    }
    d.free(&[p]);
}

#[test]
fn queries_beyond_all_bounds() {
    let heard = Heard::default();
    let d = Device::new(&heard);
    let b = d.g.buffer(64);
    unsafe {
        let pool = |count| {
            let info =
                vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
            d.g.device.create_query_pool(&info, None)
        };
        assert_eq!(pool(u32::MAX), Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY));
        let small = pool(4).unwrap();
        b.words.fill(7);
        assert!(d.run(|d, c| {
            d.cmd_reset_query_pool(c, small, 0, 4);
            d.cmd_reset_query_pool(c, small, u32::MAX, u32::MAX);
            for (first, count, stride) in
                [(0, 4, 1 << 63), (0, 3, 1 << 63), (u32::MAX, 2, 8), (2, u32::MAX, 0)]
            {
                d.cmd_copy_query_pool_results(
                    c,
                    small,
                    first,
                    count,
                    b.buffer,
                    0,
                    stride,
                    vk::QueryResultFlags::TYPE_64,
                );
            }
        }));
        let mut data = [0u64; 4];
        let got =
            d.g.device.get_query_pool_results(small, u32::MAX, &mut data, vk::QueryResultFlags::TYPE_64);
        assert!(got.is_err());
        d.g.device.destroy_query_pool(small, None);
    }
    d.g.free(b);
    d.free(&[]);
}

/// A wait is no work, and is not ended: but by the device's end.
#[test]
fn what_nobody_signals_does_not_hold_the_devices_end() {
    for semaphore in [false, true] {
        let heard = Heard::default();
        let d = Device::new(&heard);
        unsafe {
            let device = &d.g.device;
            if semaphore {
                let mut kind =
                    vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
                let s =
                    device.create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut kind), None);
                let waits = [vk::SemaphoreSubmitInfo::default()
                    .semaphore(s.unwrap())
                    .value(1)
                    .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)];
                let submit = [vk::SubmitInfo2::default().wait_semaphore_infos(&waits)];
                device.queue_submit2(d.g.queue, &submit, vk::Fence::null()).unwrap();
            } else {
                let event = device.create_event(&Default::default(), None).unwrap();
                let c = d.g.record(|d, c| {
                    let stage = vk::PipelineStageFlags::HOST;
                    d.cmd_wait_events(c, &[event], stage, vk::PipelineStageFlags::TRANSFER, &[], &[], &[]);
                });
                d.g.submit(c, vk::Fence::null());
            }
            // More than a submission may take.
            std::thread::sleep(Duration::from_millis(35 * LIMIT));
            assert!(heard.lock().unwrap().is_empty(), "{heard:?}");
        }
        let began = Instant::now();
        let Device { g, debug, messenger, layout } = d;
        unsafe {
            g.device.destroy_pipeline_layout(layout, None);
            g.device.destroy_command_pool(g.pool, None);
            g.device.destroy_device(None);
            assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
            debug.destroy_debug_utils_messenger(messenger, None);
            g.instance.destroy_instance(None);
        }
        std::mem::forget(g);
        assert!(the_line(&heard).contains("while a queue waits"), "{heard:?}");
    }
}

/// Commands in orders that mean nothing: what they do is nobody's promise, but nothing fails inside the driver.
#[test]
fn passes_and_queries_out_of_order() {
    let heard = Heard::default();
    let d = Device::new(&heard);
    let p = d.points();
    let info =
        vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::PIPELINE_STATISTICS).query_count(4);
    let info = info.pipeline_statistics(vk::QueryPipelineStatisticFlags::INPUT_ASSEMBLY_VERTICES);
    let stamps = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(4);
    let (pool, stamps) = unsafe {
        (
            d.g.device.create_query_pool(&info, None).unwrap(),
            d.g.device.create_query_pool(&stamps, None).unwrap(),
        )
    };
    // Every order of so many of these.
    type Step<'a> = &'a dyn Fn(&ash::Device, vk::CommandBuffer);
    let steps: [Step; 7] = [
        &|d, c| begin(d, c, SMALL, 1),
        &|d, c| unsafe { d.cmd_end_rendering(c) },
        &|d, c| unsafe { d.cmd_begin_query(c, pool, 0, Default::default()) },
        &|d, c| unsafe { d.cmd_end_query(c, pool, 0) },
        &|d, c| unsafe { d.cmd_draw(c, 3, 1, 0, 0) },
        &|d, c| unsafe { d.cmd_reset_query_pool(c, pool, 0, 4) },
        &|d, c| unsafe { d.cmd_write_timestamp(c, vk::PipelineStageFlags::BOTTOM_OF_PIPE, stamps, 1) },
    ];
    for order in 0..7usize.pow(4) {
        assert!(d.run(|d, c| {
            unsafe { d.cmd_bind_pipeline(c, GRAPHICS, p) };
            (0..4).for_each(|i| steps[order / 7usize.pow(i) % 7](d, c));
        }));
    }
    unsafe {
        d.g.device.destroy_query_pool(pool, None);
        d.g.device.destroy_query_pool(stamps, None);
    }
    let internal: Vec<_> = heard.lock().unwrap().iter().filter(|l| l.contains("internal")).cloned().collect();
    assert!(internal.is_empty(), "{internal:?}");
    d.free(&[p]);
}

const RESTARTS: &str = "TUFF_TEST_RESTARTS";

/// Draws strips of the bytes' indices, 64 MiB of them or as many as there are, with restarts; how long it took, if the device survived.
fn strips(d: &Device, pattern: &[u8], bytes: usize, count: u32) -> (bool, Duration) {
    let vertex = (vk::ShaderStageFlags::VERTEX, &include_bytes!("shaders/lost.vert.spv")[..]);
    let p = d.strips(&[vertex]);
    let b = d.g.buffer(bytes / 4);
    // SAFETY: all of the mapped words.
    let indices = unsafe { std::slice::from_raw_parts_mut(b.words.as_mut_ptr().cast::<u8>(), bytes) };
    indices.chunks_mut(pattern.len()).for_each(|c| c.copy_from_slice(&pattern[..c.len()]));
    let began = Instant::now();
    let survived = d.run(|device, c| unsafe {
        begin(device, c, SMALL, 1);
        device.cmd_bind_pipeline(c, GRAPHICS, p);
        device.cmd_bind_index_buffer(c, b.buffer, 0, vk::IndexType::UINT8_EXT);
        device.cmd_draw_indexed(c, count, 1, 0, 0, 0);
        device.cmd_end_rendering(c);
    });
    let took = began.elapsed();
    unsafe { d.g.device.destroy_pipeline(p, None) };
    d.g.free(b);
    (survived, took)
}

/// What `kind` of child of this test says with these settings.
fn child(test: &str, kind: &str, settings: &[(&str, &str)]) -> String {
    let mut command = std::process::Command::new(std::env::current_exe().expect("the test has a path"));
    command.args(["--exact", test, "--nocapture"]).env(RESTARTS, kind).envs(settings.iter().copied());
    let out = command.output().expect("it runs");
    let text = [out.stdout, out.stderr].map(|t| String::from_utf8_lossy(&t).into_owned()).concat();
    assert!(out.status.success(), "{kind}: {}\n{text}", out.status);
    text
}

/// The stream of indices is looked through, 2³² of them if a draw says so (those after the buffer are zeros), and the watchdog is asked
/// meanwhile.
#[test]
fn restarts_without_end() {
    const TEST: &str = "restarts_without_end";
    if std::env::var_os(RESTARTS).is_none() {
        child(TEST, "endless", &[]);
        return;
    }
    // A submission may take 30 times as much: 150 ms. Before the device, which would set another.
    let heard = Heard::default();
    let d = Device::within(&heard, 5);
    let (survived, took) = strips(&d, &[0xFF], 64 << 20, u32::MAX);
    assert!(!survived && took < Duration::from_millis(1500), "{survived} {took:?}");
    let line = the_line(&heard);
    assert!(
        line.contains("vkCmdDrawIndexed") && line.ends_with("within 150ms; the device is lost"),
        "{line}"
    );
    d.free(&[]);
}

/// Four million strips, where there is little memory: a list of them would be larger than that. So would their primitives, where they
/// are seen: that is a line, and the device's end, not the process's.
#[test]
fn restarts_with_little_memory() {
    const TEST: &str = "restarts_with_little_memory";
    if cfg!(sanitized) {
        return not_run::say(TEST, "a limit of address space, which a sanitizer needs");
    }
    if std::env::var_os(RESTARTS).is_none() {
        child(TEST, "memory", &[("TUFF_THREADS", "1")]);
        return;
    }
    let heard = Heard::default();
    let d = Device::within(&heard, 60_000);
    // What is made once is there.
    assert!(strips(&d, &[0, 1, 0xFF], 3 << 10, 3 << 10).0);
    // Outside the picture.
    let unseen = [10, 11, 0xFF];
    let limit = |bytes: u64| {
        let statm = std::fs::read_to_string("/proc/self/statm").expect("procfs");
        let pages: u64 = statm.split(' ').next().and_then(|n| n.parse().ok()).expect("pages");
        let most = libc::rlimit { rlim_cur: pages * 4096 + bytes, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: a limit of this process.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &most) }, 0);
    };
    limit(40 << 20);
    let (survived, took) = strips(&d, &unseen, 12 << 20, 12 << 20);
    assert!(survived, "{took:?} {heard:?}");
    let (survived, took) = strips(&d, &[0, 1, 0xFF], 12 << 20, 12 << 20);
    assert!(!survived, "{took:?}");
    let line = the_line(&heard);
    assert!(line.contains("the primitives of a draw found no memory"), "{line}");
    d.free(&[]);
}
