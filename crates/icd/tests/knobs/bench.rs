//! What each key of a model is measured with: a device, and workloads by their names.

use crate::gpu::{Mapped, Viewed};
use crate::model::{Counted, FORMAT, SIDE};
use ash::vk;
use std::cell::Cell;
use vk::ShaderStageFlags as Stage;

/// What the shader `knobs` does.
const FMA: u32 = 0;
const SFU: u32 = 1;
const SAMPLE: u32 = 2;
const LINES: u32 = 3;
const FETCH: u32 = 4;
const BARRIER: u32 = 5;
const ATOMIC: u32 = 6;
const MEDIUM: u32 = 7;
/// Beside one of them: by the program that needs more than 32 registers.
const WIDE: u32 = 0x100;

const COMPUTE: [&str; 1] = ["Compute queue active cycles"];
const BINNING: [&str; 1] = ["Binning phase queue active cycles"];
const MAIN: [&str; 1] = ["Main phase queue active cycles"];
/// Bytes that are filled.
const FILL: u64 = 1 << 20;

pub struct Bench {
    m: Counted,
    words: Mapped,
    filled: Mapped,
    image: Viewed,
    sampler: vk::Sampler,
    modules: Vec<vk::ShaderModule>,
    set: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    /// Of few registers, and of many.
    dispatches: [vk::Pipeline; 2],
    /// With a loop, and with something to interpolate.
    draws: [vk::Pipeline; 2],
    stamps: vk::QueryPool,
    /// Passes so far: each clears to another colour, for what memory holds already is not written.
    passes: Cell<u32>,
}

// SAFETY (all blocks): handles are alive, structures outlive the calls.
impl Bench {
    pub fn new() -> Bench {
        let m = Counted::new();
        let d = &m.g.device;
        let (words, filled) = (m.g.buffer(96 * 64), m.g.buffer(FILL as usize / 4));
        let module = |bytes| {
            let code = shader::words(bytes);
            unsafe { d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None) }
                .unwrap()
        };
        let modules = vec![
            module(&include_bytes!("../shaders/knobs.comp.spv")[..]),
            module(include_bytes!("../shaders/heavy.vert.spv")),
            module(include_bytes!("../shaders/heavy.frag.spv")),
            module(include_bytes!("../shaders/knobs.vert.spv")),
            module(include_bytes!("../shaders/knobs.frag.spv")),
            module(include_bytes!("../shaders/knobs.wide.spv")),
        ];
        unsafe {
            // One row of texels, so that 16 of them are a line.
            let image = m.g.image([24 * 64, 1], vk::ImageUsageFlags::SAMPLED);
            let linear = vk::Filter::LINEAR;
            let info = vk::SamplerCreateInfo::default().mag_filter(linear).min_filter(linear);
            let sampler = d.create_sampler(&info, None).unwrap();
            let binding = |n, ty| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(n)
                    .descriptor_type(ty)
                    .descriptor_count(1)
                    .stage_flags(Stage::COMPUTE)
            };
            let bindings = [
                binding(0, vk::DescriptorType::STORAGE_BUFFER),
                binding(1, vk::DescriptorType::COMBINED_IMAGE_SAMPLER),
            ];
            let info = vk::DescriptorSetLayoutCreateInfo::default()
                .flags(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR)
                .bindings(&bindings);
            let set = d.create_descriptor_set_layout(&info, None).unwrap();
            let sets = [set];
            let stages = Stage::COMPUTE | Stage::FRAGMENT;
            let push = [vk::PushConstantRange { stage_flags: stages, offset: 0, size: 8 }];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&push);
            let layout = d.create_pipeline_layout(&info, None).unwrap();
            let dispatches = [modules[0], modules[5]].map(|module| {
                let stage = vk::PipelineShaderStageCreateInfo::default()
                    .stage(Stage::COMPUTE)
                    .module(module)
                    .name(c"main");
                let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
                d.create_compute_pipelines(vk::PipelineCache::null(), &[info], None).unwrap()[0]
            });
            let draws = [1, 3].map(|i| graphics(d, layout, [modules[i], modules[i + 1]], [SIDE; 2], 0));
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
            let stamps = d.create_query_pool(&info, None).unwrap();
            let passes = Cell::new(0);
            Bench {
                m,
                words,
                filled,
                image,
                sampler,
                modules,
                set,
                layout,
                dispatches,
                draws,
                stamps,
                passes,
            }
        }
    }

    /// The figure that a workload of this name has.
    pub fn measure(&self, workload: &str) -> f64 {
        let count = |names, what, n| self.compute(names, what, n, 1)[0];
        match workload {
            "fill" => self.m.count(COMPUTE, |d, c| self.fill(d, c))[0],
            "fill, beats" => self.m.count(["Output external write beats"], |d, c| self.fill(d, c))[0],
            "microcontroller" => self.m.count(["MCU active cycles"], |d, c| self.fill(d, c))[0],
            "commands" => self.m.count(["Command execution unit active cycles"], |d, c| self.fill(d, c))[0],
            "command loads" => {
                self.m.count(["Command load/store unit active cycles"], |d, c| self.fill(d, c))[0]
            }
            "late beats" => {
                self.m.count(["Output external read latency 384+ cycles"], |d, c| self.copy_half(d, c))[0]
            }
            "pages" => self.compute(["MMU L3 table read requests"], LINES, 288, 12)[0],
            "requests" => {
                let names = ["Tiler position shading stall cycles"];
                self.pass(names, |d, c| self.draw(d, c, 0, 0, 60, 1))[0]
            }
            "fill, nanoseconds" => self.fill_time(),
            "multiplications" => self.loops(FMA, 40, 800),
            "square roots" => self.loops(SFU, 40, 800),
            "samples" => self.loops(SAMPLE, 40, 160),
            "lines of a core" => self.loops(LINES, 16, 288),
            "lines of a core, many registers" => self.loops(LINES | WIDE, 16, 288),
            "look-ups" => self.more("L1 texture cache lookup cycles"),
            "filtering" => self.more("Texture filtering cycles"),
            "answers" => self.answers(SAMPLE),
            "answers of medium precision" => self.answers(MEDIUM),
            "lines" => self.lines(),
            "lines from the L2" => count(["Load/store unit read bytes from L2 cache"], LINES, 288),
            "lines from memory" => count(["Output external read bytes"], LINES, 288),
            "texels' lines" => count(["Texture L1 misses"], FETCH, 48),
            "barriers" => self.loops(BARRIER, 1, 800),
            "atomics" => self.loops(ATOMIC, 40, 160),
            "tiles" => self.pass(["Tiles"], |_, _| ())[0],
            "clear" => self.pass(MAIN, |_, _| ())[0],
            "compressed clear, bytes" => {
                let target = self.m.g.image([SIDE; 2], vk::ImageUsageFlags::COLOR_ATTACHMENT);
                let none = vk::RenderingFlags::empty();
                let names = ["Output external write bytes"];
                let pass = |d: &ash::Device, c| Counted::pass_over(target.view, d, c, none, 0.5, || ());
                let written = self.m.count(names, pass)[0];
                self.m.g.free_image(target);
                written
            }
            "quads" => self.drawn(MAIN, |d, c, k| {
                (0..16 * k).for_each(|_| self.draw(d, c, 0, 0, 1, SIDE));
            }),
            "interpolated quads" => self.drawn(MAIN, |d, c, k| {
                (0..16 * k).for_each(|_| self.draw(d, c, 1, 0, 1, SIDE));
            }),
            "multiplied quads" => self.drawn(MAIN, |d, c, k| self.draw(d, c, 0, 100 * k, 1, SIDE)),
            // Of a pixel, and of a square that lies in all four regions.
            "primitives" => self.drawn(BINNING, |d, c, k| self.draw(d, c, 0, 0, 4096 * k, 1)),
            "references" => self.drawn(BINNING, |d, c, k| self.draw(d, c, 0, 0, 4096 * k, 8)),
            "primitives, bytes written" => {
                self.drawn(["Output external write bytes"], |d, c, k| self.draw(d, c, 0, 0, 4096 * k, 1))
            }
            "binning" => self.pass(BINNING, |d, c| self.draw(d, c, 0, 0, 1, SIDE))[0],
            "passes of 16 counters" => self.query_passes(),
            "length of the name" => self.name().len() as f64,
            "extensions of rays" => self.extensions_of_rays() as f64,
            _ => panic!("{workload}"),
        }
    }

    fn extensions_of_rays(&self) -> usize {
        let physical = crate::common::physical_device(&self.m.g.instance);
        let all = unsafe { self.m.g.instance.enumerate_device_extension_properties(physical) }.unwrap();
        let names = all.iter().filter_map(|e| e.extension_name_as_c_str().ok()?.to_str().ok());
        let rays = ["acceleration_structure", "_ray_", "library_group_handles"];
        names.filter(|n| rays.iter().any(|r| n.contains(r))).count()
    }

    fn fill(&self, d: &ash::Device, c: vk::CommandBuffer) {
        unsafe { d.cmd_fill_buffer(c, self.filled.buffer, 0, vk::WHOLE_SIZE, 9) }
    }

    fn copy_half(&self, d: &ash::Device, c: vk::CommandBuffer) {
        let half = FILL / 2;
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: half, size: half }];
        unsafe { d.cmd_copy_buffer(c, self.filled.buffer, self.filled.buffer, &region) }
    }

    fn fill_time(&self) -> f64 {
        let d = &self.m.g.device;
        unsafe {
            self.m.g.run(|d, c| {
                d.cmd_reset_query_pool(c, self.stamps, 0, 2);
                d.cmd_write_timestamp(c, vk::PipelineStageFlags::ALL_COMMANDS, self.stamps, 0);
                self.fill(d, c);
                d.cmd_write_timestamp(c, vk::PipelineStageFlags::TRANSFER, self.stamps, 1);
            });
            let mut got = [0u64; 2];
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
            d.get_query_pool_results(self.stamps, 0, &mut got, flags).unwrap();
            (got[1] - got[0]) as f64
        }
    }

    /// A counter of so many workgroups of four warps.
    fn compute<const N: usize>(&self, names: [&str; N], what: u32, n: u32, groups: u32) -> [f64; N] {
        let pushed = ash::khr::push_descriptor::Device::new(&self.m.g.instance, &self.m.g.device);
        let infos =
            [vk::DescriptorBufferInfo { buffer: self.words.buffer, offset: 0, range: vk::WHOLE_SIZE }];
        let images = [vk::DescriptorImageInfo {
            sampler: self.sampler,
            image_view: self.image.view,
            image_layout: vk::ImageLayout::GENERAL,
        }];
        let write = |n, ty| vk::WriteDescriptorSet::default().dst_binding(n).descriptor_type(ty);
        let writes = [
            write(0, vk::DescriptorType::STORAGE_BUFFER).buffer_info(&infos),
            write(1, vk::DescriptorType::COMBINED_IMAGE_SAMPLER).image_info(&images),
        ];
        let point = vk::PipelineBindPoint::COMPUTE;
        self.m.count(names, |d, c| unsafe {
            d.cmd_bind_pipeline(c, point, self.dispatches[usize::from(what & WIDE != 0)]);
            pushed.cmd_push_descriptor_set(c, point, self.layout, 0, &writes);
            self.push(d, c, [what & !WIDE, n]);
            d.cmd_dispatch(c, groups, 1, 1);
        })
    }

    /// Cycles of `n` more rounds of the shader's loop.
    fn loops(&self, what: u32, groups: u32, n: u32) -> f64 {
        let [a, b] = [n, 2 * n].map(|n| self.compute(COMPUTE, what, n, groups)[0]);
        b - a
    }

    /// A counter of 160 rounds more of samples.
    fn more(&self, name: &str) -> f64 {
        let [a, b] = [160, 320].map(|n| self.compute([name], SAMPLE, n, 40)[0]);
        b - a
    }

    /// Beats with which the texture unit answers 160 rounds more.
    fn answers(&self, what: u32) -> f64 {
        let [a, b] = [160, 320].map(|n| self.compute(["Texture message write beats"], what, n, 40)[0]);
        b - a
    }

    /// The same of lines, but for what the workgroup's four warps wait for arithmetic: four cycles for each instruction.
    fn lines(&self) -> f64 {
        let names = [COMPUTE[0], "FMA warp-instructions", "CVT warp-instructions", "SFU warp-instructions"];
        let [a, b] = [288, 576].map(|n| {
            let [cycles, fma, cvt, sfu] = self.compute(names, LINES, n, 1);
            cycles - (fma + cvt + sfu)
        });
        b - a
    }

    fn push(&self, d: &ash::Device, c: vk::CommandBuffer, words: [u32; 2]) {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        unsafe { d.cmd_push_constants(c, self.layout, Stage::COMPUTE | Stage::FRAGMENT, 0, &bytes) };
    }

    /// A counter of a pass.
    fn pass<const N: usize>(
        &self,
        names: [&str; N],
        draw: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) -> [f64; N] {
        let n = self.passes.get() + 1;
        self.passes.set(n);
        let none = vk::RenderingFlags::empty();
        self.m.count(names, |d, c| self.m.pass(d, c, none, n as f32 / 16.0, || draw(d, c)))
    }

    /// How much more a pass takes of twice as much as of once as much.
    fn drawn(&self, names: [&str; 1], draw: impl Fn(&ash::Device, vk::CommandBuffer, u32)) -> f64 {
        let [a, b] = [1, 2].map(|k| self.pass(names, |d, c| draw(d, c, k))[0]);
        b - a
    }

    /// Triangles over a square of so many pixels to a side, where the regions meet.
    fn draw(&self, d: &ash::Device, c: vk::CommandBuffer, which: usize, n: u32, triangles: u32, side: u32) {
        self.push(d, c, [n, 0]);
        // All of the target begins at its corner.
        let at = if side < SIDE { 64 - side / 2 } else { 0 };
        let offset = vk::Offset2D { x: at as i32, y: at as i32 };
        let scissor = [vk::Rect2D { offset, extent: vk::Extent2D { width: side, height: side } }];
        unsafe {
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::GRAPHICS, self.draws[which]);
            d.cmd_set_scissor(c, 0, &scissor);
            d.cmd_draw(c, 3, triangles, 0, 0);
        }
    }

    fn query_passes(&self) -> f64 {
        let indices: Vec<u32> = (0..16).collect();
        let info = vk::QueryPoolPerformanceCreateInfoKHR::default().counter_indices(&indices);
        let g = &self.m.g;
        let instance = ash::khr::performance_query::Instance::new(crate::common::entry(), &g.instance);
        let physical = crate::common::physical_device(&g.instance);
        unsafe { instance.get_physical_device_queue_family_performance_query_passes(physical, &info) }.into()
    }

    fn name(&self) -> String {
        let physical = crate::common::physical_device(&self.m.g.instance);
        let p = unsafe { self.m.g.instance.get_physical_device_properties(physical) };
        p.device_name_as_c_str().unwrap().to_str().unwrap().to_string()
    }

    pub fn free(self) {
        let d = &self.m.g.device;
        unsafe {
            d.destroy_query_pool(self.stamps, None);
            self.draws.into_iter().chain(self.dispatches).for_each(|p| d.destroy_pipeline(p, None));
            self.modules.into_iter().for_each(|m| d.destroy_shader_module(m, None));
            d.destroy_pipeline_layout(self.layout, None);
            d.destroy_descriptor_set_layout(self.set, None);
            d.destroy_sampler(self.sampler, None);
        }
        self.m.g.free_image(self.image);
        self.m.g.free(self.words);
        self.m.g.free(self.filled);
        self.m.free();
    }
}

/// A pipeline over a target of this size, its scissor dynamic, for these views. What is blended hides nothing.
pub unsafe fn graphics(
    d: &ash::Device,
    layout: vk::PipelineLayout,
    [vertex, fragment]: [vk::ShaderModule; 2],
    [width, height]: [u32; 2],
    view_mask: u32,
) -> vk::Pipeline {
    let stage = |stage, module| {
        vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main")
    };
    let stages = [stage(Stage::VERTEX, vertex), stage(Stage::FRAGMENT, fragment)];
    let input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly =
        vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let [width, height] = [width as f32, height as f32];
    let views = [vk::Viewport { width, height, max_depth: 1.0, ..Default::default() }];
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&views).scissor_count(1);
    let dynamic = [vk::DynamicState::SCISSOR];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples =
        vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let one = vk::BlendFactor::ONE;
    let write = [vk::PipelineColorBlendAttachmentState::default()
        .blend_enable(true)
        .src_color_blend_factor(one)
        .dst_color_blend_factor(one)
        .src_alpha_blend_factor(one)
        .dst_alpha_blend_factor(one)
        .color_write_mask(vk::ColorComponentFlags::RGBA)];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&write);
    let formats = [FORMAT];
    let mut rendering =
        vk::PipelineRenderingCreateInfo::default().view_mask(view_mask).color_attachment_formats(&formats);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .dynamic_state(&dynamic)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .color_blend_state(&blend)
        .layout(layout)
        .push_next(&mut rendering);
    unsafe { d.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None).unwrap()[0] }
}
