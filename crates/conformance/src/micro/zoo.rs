//! A scene of everything that is counted and that no microbenchmark does, so that each counter counts something.

use super::Rig;
use super::draw::SIDE;
use crate::check::text;
use ash::vk;
use client::compute::KernelInfo;
use client::graphics::{Attachment, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo, over};
use client::{Buffer, Kernel};

const COLOUR: vk::Format = vk::Format::R8G8B8A8_UNORM;
/// Of a target whose writing takes all of the memory's time.
const LARGE: u32 = 1024;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT;

/// Vertices of a triangle, or of two points, or of a line: `z` of all.
fn triangle(corners: [[f32; 2]; 3], z: f32) -> Vec<u8> {
    let vertices = corners.map(|[x, y]| [x, y, z, 1.0]);
    vertices.iter().flatten().flat_map(|v| v.to_le_bytes()).collect()
}

const WHOLE: [[f32; 2]; 3] = [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]];
/// The same, its back to whoever looks.
const BACK: [[f32; 2]; 3] = [[-1.0, -1.0], [-1.0, 3.0], [3.0, -1.0]];
/// Beside the target.
const BESIDE: [[f32; 2]; 3] = [[1.5, 0.0], [2.0, 0.0], [1.5, 0.5]];
/// Within a pixel, and off its centre.
const SMALL: [[f32; 2]; 3] = [[0.0001, 0.0001], [0.0008, 0.0001], [0.0001, 0.0008]];
/// In two regions of the right half.
const TWO: [[f32; 2]; 3] = [[0.49, 0.1], [0.51, 0.1], [0.5, 0.12]];
/// In the right half.
const RIGHT: [[f32; 2]; 3] = [[0.6, 0.0], [0.9, 0.0], [0.6, 0.3]];

impl Rig {
    /// Draws and dispatches it all.
    pub(super) fn zoo(&self) -> Result<(), String> {
        let c = &self.context;
        let size = [SIDE; 2];
        let target = Image::new(c, ImageInfo::colour(COLOUR, size)).map_err(text)?;
        let depth = Image::new(c, ImageInfo::depth(DEPTH, size)).map_err(text)?;
        let vertex: &[u8] = include_bytes!("../../shaders/micro/zoo.vert.spv");
        let early: &[u8] = include_bytes!("../../shaders/micro/zoo.frag.spv");
        let late: &[u8] = include_bytes!("../../shaders/micro/zoo_late.frag.spv");
        let make = |fragment, topology, cull| {
            let info = PipelineInfo {
                topology,
                cull,
                depth_format: DEPTH,
                depth: Some((vk::CompareOp::LESS, true)),
                push_size: 4,
                ..PipelineInfo::new(vertex, fragment, COLOUR)
            };
            let info = info.interleaved(&[(vk::Format::R32G32B32A32_SFLOAT, 16)]);
            Pipeline::new(c, &info, None).map_err(text)
        };
        let none = vk::CullModeFlags::NONE;
        let triangles = vk::PrimitiveTopology::TRIANGLE_LIST;
        let all = make(early, triangles, none)?;
        let front = make(early, triangles, vk::CullModeFlags::FRONT)?;
        let after = make(late, triangles, none)?;
        let lines = make(early, vk::PrimitiveTopology::LINE_LIST, none)?;
        let points = make(early, vk::PrimitiveTopology::POINT_LIST, none)?;
        let shapes =
            [(WHOLE, 0.5), (WHOLE, 0.8), (BACK, 0.4), (BESIDE, 0.1), (SMALL, 0.1), (RIGHT, 0.1), (TWO, 0.1)];
        let bytes: Vec<u8> = shapes.iter().flat_map(|(corners, z)| triangle(*corners, *z)).collect();
        let mut vertices =
            Buffer::addressed(c, bytes.len(), vk::BufferUsageFlags::VERTEX_BUFFER).map_err(text)?;
        let mut indices = Buffer::addressed(c, 24, vk::BufferUsageFlags::INDEX_BUFFER).map_err(text)?;
        vertices.bytes_mut().copy_from_slice(&bytes);
        indices.words_mut().copy_from_slice(&[0, 1, 2, 2, 1, 0]);
        let pass = |load| Pass {
            colours: vec![Attachment::new(&target, load)],
            depth: Some(Attachment::new(&depth, Load::depth(1.0, 0))),
            size,
            ..Pass::default()
        };
        // SAFETY (all blocks): recording into a command buffer that has begun, with live handles.
        let draw = |d: &ash::Device, commands, pipeline: &Pipeline, shape: u32, count: u32, rounds: u32| unsafe {
            pipeline.bind(commands, None, &rounds.to_le_bytes());
            d.cmd_bind_vertex_buffers(commands, 0, &[vertices.handle], &[0]);
            d.cmd_draw(commands, count, 1, 3 * shape, 0);
        };
        c.run(|device, commands| {
            pass(Load::colour([0.25; 4])).record(device, commands, |d, commands| {
                for shape in [0, 1, 2, 3, 4] {
                    draw(d, commands, &all, shape, 3, 1);
                }
                draw(d, commands, &front, 0, 3, 1);
                draw(d, commands, &front, 2, 3, 1);
                draw(d, commands, &after, 1, 3, 1);
                draw(d, commands, &after, 5, 3, 1);
                draw(d, commands, &lines, 5, 2, 1);
                draw(d, commands, &points, 5, 3, 1);
                unsafe {
                    all.bind(commands, None, &1u32.to_le_bytes());
                    d.cmd_bind_index_buffer(commands, indices.handle, 0, vk::IndexType::UINT32);
                    d.cmd_draw_indexed(commands, 6, 1, 0, 0, 0);
                    let left = vk::Extent2D { width: SIDE / 2, height: SIDE };
                    d.cmd_set_scissor(commands, 0, &[vk::Rect2D { extent: left, ..Default::default() }]);
                }
                draw(d, commands, &all, 5, 3, 1);
            });
        })
        .map_err(text)?;
        // What the target holds is read, and written as it is: nothing is.
        c.run(|device, commands| pass(Load::Load).record(device, commands, |_, _| ())).map_err(text)?;
        let spirv: &[u8] = include_bytes!("../../shaders/micro/zoo.comp.spv");
        let many = Kernel::new(c, &KernelInfo { spirv, bindings: 1, push_size: 0 }).map_err(text)?;
        many.run(&[&self.buffers[0]], &[], [4, 1, 1]).map_err(text)?;
        // Much that nothing orders: who comes later waits for the memory, or the cores, that the first has.
        let wide =
            Image::new(c, ImageInfo::colour(vk::Format::R32G32B32A32_SFLOAT, [LARGE; 2])).map_err(text)?;
        let fill = |d: &ash::Device, commands, value: f32| {
            let colours = vec![Attachment::new(&wide, Load::colour([value; 4]))];
            Pass { colours, size: [LARGE; 2], ..Pass::default() }.record(d, commands, |_, _| ());
        };
        let copy = |d: &ash::Device, commands| self.copy(d, commands, 4096);
        let drawn = |device: &ash::Device, commands| {
            pass(Load::colour([0.75; 4])).record(device, commands, |d, commands| {
                draw(d, commands, &all, 0, 3, 64);
                unsafe { d.cmd_draw(commands, 3, 10_000, 9, 0) };
            });
        };
        let run = |record: &dyn Fn(&ash::Device, vk::CommandBuffer)| c.run(record).map_err(text);
        run(&|d, commands| {
            fill(d, commands, 0.5);
            copy(d, commands);
        })?;
        run(&|d, commands| {
            copy(d, commands);
            drawn(d, commands);
        })?;
        run(&|d, commands| {
            copy(d, commands);
            fill(d, commands, 0.75);
        })?;
        // The same the other way round, of binning that leaves no core for long, or has none.
        self.alu.set(&[&self.buffers[0]]);
        let binned = |d: &ash::Device, commands| {
            pass(Load::colour([0.5; 4])).record(d, commands, |d, commands| {
                draw(d, commands, &all, 0, 0, 1);
                // A hundred chunks: as many on each core.
                unsafe { d.cmd_draw(commands, 3, 76_800, 9, 0) };
            });
        };
        let computed = |d: &ash::Device, commands| {
            self.alu.bind(commands, &[0u32.to_le_bytes(), 4096u32.to_le_bytes()].concat());
            unsafe { d.cmd_dispatch(commands, 400, 1, 1) };
        };
        // What an event tells of has been told when what follows is placed, which has what that leaves.
        // SAFETY: a device that lives on; the event outlives the work, which `run` waits for.
        let event = unsafe { c.device.create_event(&vk::EventCreateInfo::default(), None) }.map_err(text)?;
        let tell = |d: &ash::Device, commands| unsafe {
            d.cmd_set_event(commands, event, vk::PipelineStageFlags::ALL_COMMANDS);
        };
        run(&|d, commands| {
            binned(d, commands);
            tell(d, commands);
            computed(d, commands);
        })?;
        run(&|d, commands| {
            computed(d, commands);
            tell(d, commands);
            binned(d, commands);
        })?;
        // With nothing to bin, drawing waits.
        run(&|d, commands| {
            computed(d, commands);
            tell(d, commands);
            pass(Load::colour([0.375; 4])).record(d, commands, |_, _| ());
        })?;
        unsafe { c.device.destroy_event(event, None) };
        // Few primitives, in two regions: their shading takes longer than the tiler. Many, in all: the tiler does.
        for (shape, count, clear) in [(6, 60, 0.125), (0, 2000, 0.0625)] {
            run(&|d, commands| {
                pass(Load::colour([clear; 4])).record(d, commands, |d, commands| {
                    draw(d, commands, &all, shape, 3, 1);
                    unsafe { d.cmd_draw(commands, 3, count, 3 * shape, 0) };
                });
            })?;
        }
        // Each kind of work waits for another.
        let wait = |d: &ash::Device, commands| {
            let stages = vk::PipelineStageFlags::ALL_COMMANDS;
            unsafe { d.cmd_pipeline_barrier(commands, stages, stages, Default::default(), &[], &[], &[]) };
        };
        run(&|d, commands| {
            copy(d, commands);
            wait(d, commands);
            drawn(d, commands);
            wait(d, commands);
            copy(d, commands);
        })?;
        // Half floats are blended by a shader.
        let half = vk::Format::R16G16B16A16_SFLOAT;
        let halves = Image::new(c, ImageInfo::colour(half, size)).map_err(text)?;
        let info = PipelineInfo { push_size: 4, blend: over(), ..PipelineInfo::new(vertex, early, half) };
        let info = info.interleaved(&[(vk::Format::R32G32B32A32_SFLOAT, 16)]);
        let blends = Pipeline::new(c, &info, None).map_err(text)?;
        run(&|d, commands| {
            let colours = vec![Attachment::new(&halves, Load::colour([0.5; 4]))];
            let pass = Pass { colours, size, ..Pass::default() };
            pass.record(d, commands, |d, commands| draw(d, commands, &blends, 0, 3, 1));
        })?;
        // A message of the texture unit holds two quads: of one alone it has one.
        self.sampled("Texture messages with single quad", COLOUR, super::draw::Filter::Nearest, 2)?;
        Ok(())
    }

    /// Counters that have counted nothing in this process.
    pub(super) fn silent(&self) -> Result<Vec<&'static str>, String> {
        self.meter.silent()
    }
}
