//! What the modelled GPU counts, by VK_KHR_performance_query through the loader: figures worked out by hand.

use crate::gpu::{Gpu, Mapped, Viewed};
use crate::graphics::{Flat, Make};
use ash::vk;
use std::ffi::CStr;

pub const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
pub const SIDE: u32 = 128;
/// Of the target.
const BYTES: f64 = (SIDE * SIDE * 4) as f64;

/// A device, and counters by their names.
pub struct Counted {
    pub g: Gpu,
    pub names: Vec<String>,
    /// Which of them other work can change.
    pub impacted: Vec<bool>,
    storage: Vec<vk::PerformanceCounterStorageKHR>,
    streamed: Mapped,
    target: Viewed,
}

// SAFETY (all blocks): handles are alive, structures outlive the calls.
impl Counted {
    pub fn new() -> Counted {
        let mut features =
            vk::PhysicalDevicePerformanceQueryFeaturesKHR::default().performance_counter_query_pools(true);
        let extensions = [vk::KHR_PERFORMANCE_QUERY_NAME, vk::KHR_PUSH_DESCRIPTOR_NAME];
        Counted::of(Gpu::with(&extensions, &mut features))
    }

    /// On a device with performance queries.
    pub fn of(g: Gpu) -> Counted {
        let instance = ash::khr::performance_query::Instance::new(crate::common::entry(), &g.instance);
        let physical = crate::common::physical_device(&g.instance);
        let enumerate = instance.fp().enumerate_physical_device_queue_family_performance_query_counters_khr;
        unsafe {
            let mut n = 0;
            let none = std::ptr::null_mut();
            assert_eq!(enumerate(physical, 0, &mut n, none, std::ptr::null_mut()), vk::Result::SUCCESS);
            let mut counters = vec![vk::PerformanceCounterKHR::default(); n as usize];
            let mut texts = vec![vk::PerformanceCounterDescriptionKHR::default(); n as usize];
            let r = enumerate(physical, 0, &mut n, counters.as_mut_ptr(), texts.as_mut_ptr());
            assert_eq!(r, vk::Result::SUCCESS);
            let name = |t: &vk::PerformanceCounterDescriptionKHR| {
                CStr::from_ptr(t.name.as_ptr()).to_str().unwrap().to_string()
            };
            // What shaders may store to is not compressed.
            let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT
                | vk::ImageUsageFlags::STORAGE
                | vk::ImageUsageFlags::TRANSFER_SRC;
            let target = g.image([SIDE; 2], usage);
            let storage = counters.iter().map(|c| c.storage).collect();
            // More than twice of what an L2 holds.
            let streamed = g.buffer(2 << 20);
            let flag = vk::PerformanceCounterDescriptionFlagsKHR::CONCURRENTLY_IMPACTED;
            let impacted = texts.iter().map(|t| t.flags.contains(flag)).collect();
            Counted { g, streamed, names: texts.iter().map(name).collect(), impacted, storage, target }
        }
    }

    /// Leaves nothing in the L2 that any of the workloads to come asks for.
    pub fn empty_l2(&self) {
        self.g.run(|d, c| unsafe { d.cmd_fill_buffer(c, self.streamed.buffer, 0, vk::WHOLE_SIZE, 5) });
    }

    /// The counters of these names, of what is recorded, with nothing in the L2.
    pub fn count<const N: usize>(
        &self,
        names: [&str; N],
        record: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) -> [f64; N] {
        self.empty_l2();
        self.inside(names, |d, c, begin, end| {
            begin();
            record(d, c);
            end();
        })
    }

    /// The same, of what is recorded between the calls of `begin` and `end`.
    pub fn inside<const N: usize>(
        &self,
        names: [&str; N],
        record: impl FnOnce(&ash::Device, vk::CommandBuffer, &dyn Fn(), &dyn Fn()),
    ) -> [f64; N] {
        let d = &self.g.device;
        let index = |n: &str| self.names.iter().position(|m| m == n).unwrap_or_else(|| panic!("{n}")) as u32;
        let indices = names.map(index);
        let mut counters = vk::QueryPoolPerformanceCreateInfoKHR::default().counter_indices(&indices);
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::PERFORMANCE_QUERY_KHR)
            .query_count(1)
            .push_next(&mut counters);
        let device = ash::khr::performance_query::Device::new(&self.g.instance, d);
        unsafe {
            let pool = d.create_query_pool(&info, None).unwrap();
            let lock = vk::AcquireProfilingLockInfoKHR::default().timeout(1_000_000_000);
            device.acquire_profiling_lock(&lock).unwrap();
            self.g.run(|d, c| {
                d.cmd_reset_query_pool(c, pool, 0, 1);
                let begin = || d.cmd_begin_query(c, pool, 0, Default::default());
                record(d, c, &begin, &|| d.cmd_end_query(c, pool, 0));
            });
            device.release_profiling_lock();
            let mut values = [[0u64; N]];
            d.get_query_pool_results(pool, 0, &mut values, vk::QueryResultFlags::WAIT).unwrap();
            d.destroy_query_pool(pool, None);
            std::array::from_fn(|i| match self.storage[indices[i] as usize] {
                vk::PerformanceCounterStorageKHR::FLOAT64 => f64::from_bits(values[0][i]),
                _ => values[0][i] as f64,
            })
        }
    }

    /// A pass over the target, cleared to this red; or a part of one.
    pub fn pass(
        &self,
        d: &ash::Device,
        c: vk::CommandBuffer,
        flags: vk::RenderingFlags,
        red: f32,
        draw: impl FnOnce(),
    ) {
        Counted::pass_over(self.target.view, d, c, flags, red, draw);
    }

    /// The same over another target.
    pub fn pass_over(
        view: vk::ImageView,
        d: &ash::Device,
        c: vk::CommandBuffer,
        flags: vk::RenderingFlags,
        red: f32,
        draw: impl FnOnce(),
    ) {
        let clear = vk::ClearValue { color: vk::ClearColorValue { float32: [red, 0.0, 0.0, 1.0] } };
        let colour = [vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(clear)];
        let area = vk::Rect2D { extent: vk::Extent2D { width: SIDE, height: SIDE }, ..Default::default() };
        let info = vk::RenderingInfo::default()
            .flags(flags)
            .render_area(area)
            .layer_count(1)
            .color_attachments(&colour);
        unsafe {
            d.cmd_begin_rendering(c, &info);
            draw();
            d.cmd_end_rendering(c);
        }
    }

    /// Records a copy of the target to a buffer of as many words.
    pub fn copy(&self, d: &ash::Device, c: vk::CommandBuffer, to: &Mapped) {
        let region = vk::BufferImageCopy::default()
            .image_subresource(vk::ImageSubresourceLayers {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                layer_count: 1,
                ..Default::default()
            })
            .image_extent(vk::Extent3D { width: SIDE, height: SIDE, depth: 1 });
        let layout = vk::ImageLayout::GENERAL;
        unsafe { d.cmd_copy_image_to_buffer(c, self.target.image, layout, to.buffer, &[region]) };
    }

    /// The target's pixels.
    pub fn picture(&self) -> Vec<u32> {
        let to = self.g.buffer((SIDE * SIDE) as usize);
        self.g.run(|d, c| self.copy(d, c, &to));
        let words = to.words.to_vec();
        self.g.free(to);
        words
    }

    pub fn free(self) {
        self.g.free_image(self.target);
        self.g.free(self.streamed);
    }
}

/// A clear of a square within a pass, 40 pixels from the edges.
fn square(d: &ash::Device, c: vk::CommandBuffer, green: f32) {
    let value = vk::ClearValue { color: vk::ClearColorValue { float32: [0.0, green, 0.0, 1.0] } };
    let attachment = [vk::ClearAttachment {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        color_attachment: 0,
        clear_value: value,
    }];
    let rect = [vk::ClearRect {
        rect: vk::Rect2D {
            offset: vk::Offset2D { x: 40, y: 40 },
            extent: vk::Extent2D { width: 48, height: 48 },
        },
        base_array_layer: 0,
        layer_count: 1,
    }];
    unsafe { d.cmd_clear_attachments(c, &attachment, &rect) };
}

const PASS: [&str; 5] = [
    "Main phase jobs",
    "Main phase tasks",
    "Tiles",
    "Output external read bytes",
    "Output external write bytes",
];
/// One pass: 4 regions of 64 × 64, 16 tiles of 32 × 32, nothing read, everything written.
const ONE: [f64; 5] = [1.0, 4.0, 16.0, 0.0, BYTES];

/// A GPU merges a suspended pass with those that resume it: what it does, it does once.
#[test]
fn a_suspended_pass_counts_once() {
    let m = Counted::new();
    let none = vk::RenderingFlags::empty();
    assert_eq!(m.count(PASS, |d, c| m.pass(d, c, none, 0.25, || square(d, c, 0.5))), ONE);
    let (out, back) = (vk::RenderingFlags::SUSPENDING, vk::RenderingFlags::RESUMING);
    let parts = m.count(PASS, |d, c| {
        m.pass(d, c, out, 0.75, || square(d, c, 0.25));
        m.pass(d, c, back | out, 0.75, || square(d, c, 0.75));
        m.pass(d, c, back, 0.75, || square(d, c, 1.0));
    });
    assert_eq!(parts, ONE);
    m.free();
}

/// Transaction elimination: a tile that holds what memory holds is not written.
#[test]
fn what_memory_holds_already_is_not_written() {
    let m = Counted::new();
    let names = ["Killed unchanged tiles", "Output external write bytes", "Output external read bytes"];
    let pass =
        |red, green| m.count(names, |d, c| m.pass(d, c, Default::default(), red, || square(d, c, green)));
    assert_eq!(pass(0.25, 0.5), [0.0, BYTES, 0.0]);
    // All 16 tiles, in units of 16 × 16 pixels.
    assert_eq!(pass(0.25, 0.5), [64.0, 0.0, 0.0]);
    // The square lies in the four tiles of each of the four regions' inner corners: from 40 to 88.
    assert_eq!(pass(0.25, 1.0), [48.0, 4.0 * 32.0 * 32.0 * 4.0, 0.0]);
    m.free();
}

/// More primitives than the driver gathers before it draws tiles: how it goes about it is none of the GPU's affair.
#[test]
fn a_pass_of_many_primitives_counts_once() {
    let m = Counted::new();
    let d = &m.g.device;
    let words = shader::words(include_bytes!("shaders/lost.vert.spv"));
    unsafe {
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        let module = d.create_shader_module(&info, None).unwrap();
        let layout = d.create_pipeline_layout(&Default::default(), None).unwrap();
        let stages = [vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::VERTEX)
            .module(module)
            .name(c"main")];
        let input = vk::PipelineVertexInputStateCreateInfo::default();
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        // One pixel of it.
        let views = [vk::Viewport { width: 128.0, height: 128.0, max_depth: 1.0, ..Default::default() }];
        let scissors = [vk::Rect2D { extent: vk::Extent2D { width: 1, height: 1 }, ..Default::default() }];
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&views).scissors(&scissors);
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let write = [vk::PipelineColorBlendAttachmentState::default()];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&write);
        let formats = [FORMAT];
        let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
        let info = [vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .color_blend_state(&blend)
            .layout(layout)
            .push_next(&mut rendering)];
        let pipeline = d.create_graphics_pipelines(vk::PipelineCache::null(), &info, None).unwrap()[0];
        let instances = (1 << 20) + (1 << 18);
        let got = m.count(PASS, |d, c| {
            m.pass(d, c, Default::default(), 0.5, || {
                d.cmd_bind_pipeline(c, vk::PipelineBindPoint::GRAPHICS, pipeline);
                d.cmd_draw(c, 3, instances, 0, 0);
            });
        });
        // Of each triangle a reference is written, and read again: they are more than the L2 holds. Where it is drawn, which is one
        // region, its vertices are shaded.
        let between = instances as f64 * 8.0;
        let [jobs, tasks, tiles, read, written] = ONE;
        assert_eq!(got, [jobs, tasks, tiles, read + between, written + between]);
        d.destroy_pipeline(pipeline, None);
        d.destroy_pipeline_layout(layout, None);
        d.destroy_shader_module(module, None);
    }
    m.free();
}

/// Vertices of 24 bytes, which become a position each, and triangles without area, so that their four varyings are not shaded.
#[test]
fn geometry_moves_memory() {
    const NAMES: [&str; 5] = [
        "Output external read bytes",
        "Output external write bytes",
        "Load/store unit partial read issues",
        "Load/store unit full write issues",
        "Output internal read beats",
    ];
    // So many triangles are shaded and binned as one.
    const TRIANGLES: u32 = 768;
    const CHUNKS: u32 = 64;
    const VERTICES: u32 = CHUNKS * TRIANGLES * 3;
    let m = Counted::new();
    let d = &m.g.device;
    let flat = Flat::new(&m.g);
    let topology = vk::PrimitiveTopology::TRIANGLE_LIST;
    let (pipeline, _) = flat.pipeline(&m.g, Make { topology, ..Default::default() }).unwrap();
    let vertices = m.g.buffer(VERTICES as usize * 6);
    let indices = m.g.buffer(VERTICES as usize);
    let bind = |d: &ash::Device, c| unsafe {
        let area = vk::Rect2D { extent: vk::Extent2D { width: SIDE, height: SIDE }, ..Default::default() };
        let side = SIDE as f32;
        let view = vk::Viewport { width: side, height: side, max_depth: 1.0, ..Default::default() };
        d.cmd_bind_pipeline(c, vk::PipelineBindPoint::GRAPHICS, pipeline);
        d.cmd_set_viewport(c, 0, &[view]);
        d.cmd_set_scissor(c, 0, &[area]);
        d.cmd_bind_vertex_buffers(c, 0, &[vertices.buffer], &[0]);
        d.cmd_bind_index_buffer(c, indices.buffer, 0, vk::IndexType::UINT32);
    };
    let none = vk::RenderingFlags::empty();
    let straight = m.count(NAMES, |d, c| {
        m.pass(d, c, none, 0.5, || {
            bind(d, c);
            unsafe { d.cmd_draw(c, VERTICES, 1, 0, 0) };
        });
    });
    // Sixteen vertices are six lines, each of which has a position's attribute. All lie at one place, so that every triangle is culled and
    // no position goes to memory. The tiler reads a position a beat.
    let (n, line) = (VERTICES as f64, 64.0);
    let want = [n * 24.0, BYTES, n / 16.0 * 6.0, 0.0, n];
    assert_eq!(straight, want);
    // All indices are 0: one vertex a chunk, and four bytes of index a reference, which the tiler reads. The pass writes its target,
    // which holds another colour; a chunk of indexed triangles is 1280: all read the one line of that vertex.
    let indexed = m.count(NAMES, |d, c| {
        m.pass(d, c, none, 0.75, || {
            bind(d, c);
            unsafe { d.cmd_draw_indexed(c, VERTICES, 1, 0, 0, 0) };
        });
    });
    let chunks = (VERTICES as f64 / 3.0 / 1280.0).ceil();
    let want = [n * 4.0 + line, BYTES, chunks, 0.0, n * 4.0 / 16.0 + chunks];
    assert_eq!(indexed, want);
    unsafe { d.destroy_pipeline(pipeline, None) };
    m.g.free(vertices);
    m.g.free(indices);
    flat.free(&m.g);
    m.free();
}

/// The shader `traffic`, on a table and a buffer of so many words.
pub struct Traffic {
    pub m: Counted,
    table: Mapped,
    pub out: Mapped,
    module: vk::ShaderModule,
    set: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

impl Traffic {
    pub fn new(words: usize) -> Traffic {
        let m = Counted::new();
        let d = &m.g.device;
        let (table, out) = (m.g.buffer(256), m.g.buffer(words));
        let code = shader::words(include_bytes!("shaders/traffic.comp.spv"));
        let bindings = [0, 1].map(|n| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(n)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        });
        unsafe {
            let info = vk::ShaderModuleCreateInfo::default().code(&code);
            let module = d.create_shader_module(&info, None).unwrap();
            let info = vk::DescriptorSetLayoutCreateInfo::default()
                .flags(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR)
                .bindings(&bindings);
            let set = d.create_descriptor_set_layout(&info, None).unwrap();
            let sets = [set];
            let stages = vk::ShaderStageFlags::COMPUTE;
            let push = [vk::PushConstantRange { stage_flags: stages, offset: 0, size: 4 }];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&push);
            let layout = d.create_pipeline_layout(&info, None).unwrap();
            let stage =
                vk::PipelineShaderStageCreateInfo::default().stage(stages).module(module).name(c"main");
            let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
            let pipeline = d.create_compute_pipelines(vk::PipelineCache::null(), &info, None).unwrap()[0];
            Traffic { m, table, out, module, set, layout, pipeline }
        }
    }

    /// The counters, of so many workgroups that do `what`.
    fn count<const N: usize>(&self, names: [&str; N], what: u32, groups: u32) -> [f64; N] {
        self.m.count(names, |d, c| self.record(d, c, what, groups))
    }

    /// Records so many workgroups that do `what`.
    pub fn record(&self, d: &ash::Device, c: vk::CommandBuffer, what: u32, groups: u32) {
        let pushed = ash::khr::push_descriptor::Device::new(&self.m.g.instance, &self.m.g.device);
        let infos = [self.table.buffer, self.out.buffer]
            .map(|buffer| [vk::DescriptorBufferInfo { buffer, offset: 0, range: vk::WHOLE_SIZE }]);
        let writes = [0, 1].map(|n| {
            vk::WriteDescriptorSet::default()
                .dst_binding(n)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .buffer_info(&infos[n as usize])
        });
        let point = vk::PipelineBindPoint::COMPUTE;
        unsafe {
            d.cmd_bind_pipeline(c, point, self.pipeline);
            pushed.cmd_push_descriptor_set(c, point, self.layout, 0, &writes);
            d.cmd_push_constants(c, self.layout, vk::ShaderStageFlags::COMPUTE, 0, &what.to_le_bytes());
            d.cmd_dispatch(c, groups, 1, 1);
        }
    }

    pub fn free(self) {
        let d = &self.m.g.device;
        unsafe {
            d.destroy_pipeline(self.pipeline, None);
            d.destroy_pipeline_layout(self.layout, None);
            d.destroy_descriptor_set_layout(self.set, None);
            d.destroy_shader_module(self.module, None);
        }
        self.m.g.free(self.table);
        self.m.g.free(self.out);
        self.m.free();
    }
}

/// What is read, written and changed by atomics misses caches at rates of its own.
#[test]
fn traffic_by_kind() {
    const WORDS: usize = 4 << 20;
    const WRITTEN: f64 = (WORDS * 4) as f64;
    /// A dispatch's two descriptors, 32 bytes each: one line.
    const NAMED: f64 = 64.0;
    let t = Traffic::new(WORDS);
    let names = ["Output external read bytes", "Output external write bytes"];
    let run = |what| t.count(names, what, (WORDS / 256) as u32);
    // A table of 1 KiB, that all workgroups share.
    assert_eq!(run(0), [NAMED + 1024.0, WRITTEN]);
    // Every line is read, and then written in the L1 that has it.
    assert_eq!(run(1), [NAMED + WRITTEN, WRITTEN]);
    // A word that all change.
    assert_eq!(run(2), [NAMED + 64.0, 64.0]);
    t.free();
}

const CHILD: &str = "TUFF_TEST_CACHES";
const L1_AND_L2: [&str; 2] = ["Load/store unit read bytes from L2 cache", "Output external read bytes"];

/// Run by the test below, on its model.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let t = Traffic::new(24 * 256);
    let [from_l2, from_memory] = t.count(L1_AND_L2, 3, 1);
    t.free();
    println!("{from_l2} {from_memory}");
}

/// One workgroup reads 24 KiB three times, line by line: where a cache of four-way sets is smaller, its set has lost each line
/// before it comes again.
#[test]
fn caches_are_of_the_models_sizes() {
    const ONCE: f64 = 24.0 * 1024.0;
    // Two descriptors are a line.
    const NAMED: f64 = 64.0;
    let model = include_str!("../../counters/models/g720.toml");
    for (l1, l2, want) in [
        (16, 2048, [3.0 * ONCE, ONCE + NAMED]),
        (32, 2048, [ONCE, ONCE + NAMED]),
        (16, 16, [3.0 * ONCE, 3.0 * ONCE + NAMED]),
        (1, 32, [3.0 * ONCE, ONCE + NAMED]),
    ] {
        let folder = temporary::folder("tuff-").expect("a temporary folder");
        let file = folder.path().join("model.toml");
        let text = model.replace("\nl1_kib = 16", &format!("\nl1_kib = {l1}"));
        std::fs::write(&file, text.replace("\nl2_kib = 2048", &format!("\nl2_kib = {l2}"))).unwrap();
        let mut me = std::process::Command::new(std::env::current_exe().expect("this program"));
        me.args(["--exact", "model::child", "--nocapture"]).env(CHILD, "1").env("TUFF_GPU", &file);
        let out = me.output().expect("it runs");
        let text = String::from_utf8_lossy(&out.stdout);
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{text}{said}");
        let numbers = |l: &str| l.split(' ').map(|n| n.parse::<f64>().ok()).collect::<Option<Vec<_>>>();
        let got = text.lines().find_map(numbers);
        assert_eq!(got.as_deref(), Some(&want[..]), "L1 of {l1} KiB, L2 of {l2}: {text}{said}");
    }
}
