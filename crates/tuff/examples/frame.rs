//! The scene of the tests of `tuff frame`: `frame FILE` draws what the comments say, and writes what the attachments hold to the file: colour
//! (four bytes a pixel), depth (f32), stencil, and the resolved colour of a second pass. `frame FILE N`: sixteen times as large in both directions,
//! with N draws in the first pass, the same ones again and again in other places. `frame FILE again`: the same frame for some seconds, each with
//! the label at its end that RenderDoc takes for a frame's end where nothing is presented.

use ash::vk;
use client::compute::{Kernel, KernelInfo};
use client::context::Context;
use client::graphics::{
    Attachment, Bindings, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo, Resource, Sampler, barrier,
    over,
};
use client::{Buffer, Error, Library, Result};
use std::ffi::CString;
use std::rc::Rc;

const SIZE: [u32; 2] = [72, 40];
/// Of many draws.
const LARGE: u32 = 16;
const COLOUR: vk::Format = vk::Format::R8G8B8A8_UNORM;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT_S8_UINT;

const WHOLE: &[u8] = include_bytes!("../tests/frame/whole.vert.spv");
const PLAIN: &[u8] = include_bytes!("../tests/frame/plain.frag.spv");
const HOLES: &[u8] = include_bytes!("../tests/frame/holes.frag.spv");
const COUNT: &[u8] = include_bytes!("../tests/frame/count.comp.spv");

/// A draw: its pipeline, what is drawn of it (x, y, width, height), depth and colour.
struct Draw<'a> {
    label: &'a str,
    pipeline: &'a Pipeline,
    scissor: [u32; 4],
    depth: f32,
    colour: [f32; 4],
    instances: u32,
}

struct Scene {
    context: Rc<Context>,
    debug: ash::ext::debug_utils::Device,
    bindings: Bindings,
    places: Buffer,
}

fn info(fragment: &'static [u8]) -> PipelineInfo<'static> {
    let mut info =
        PipelineInfo::new(WHOLE, fragment, COLOUR).interleaved(&[(vk::Format::R32G32B32A32_SFLOAT, 16)]);
    info.push_size = 20;
    info.depth_format = DEPTH;
    info.stencil_format = DEPTH;
    info
}

/// Compares with 1; what fails becomes one more.
fn stencil() -> Option<[vk::StencilOpState; 2]> {
    let face = vk::StencilOpState {
        fail_op: vk::StencilOp::INCREMENT_AND_CLAMP,
        pass_op: vk::StencilOp::KEEP,
        depth_fail_op: vk::StencilOp::KEEP,
        compare_op: vk::CompareOp::EQUAL,
        compare_mask: 0xFF,
        write_mask: 0xFF,
        reference: 1,
    };
    Some([face, face])
}

impl Scene {
    fn draw(&self, device: &ash::Device, commands: vk::CommandBuffer, d: &Draw) {
        let name = CString::new(d.label).unwrap_or_default();
        let label = vk::DebugUtilsLabelEXT::default().label_name(&name);
        let [x, y, width, height] = d.scissor;
        let scissor = vk::Rect2D {
            offset: vk::Offset2D { x: x as i32, y: y as i32 },
            extent: vk::Extent2D { width, height },
        };
        let push: Vec<u8> = d.colour.iter().chain([&d.depth]).flat_map(|f| f.to_le_bytes()).collect();
        // SAFETY: recording into a command buffer that has begun, in a pass, with live handles.
        unsafe {
            self.debug.cmd_begin_debug_utils_label(commands, &label);
            d.pipeline.bind(commands, Some(&self.bindings), &push);
            device.cmd_set_scissor(commands, 0, &[scissor]);
            device.cmd_bind_vertex_buffers(commands, 0, &[self.places.handle], &[0]);
            device.cmd_draw(commands, 3, d.instances, 0, 0);
            self.debug.cmd_end_debug_utils_label(commands);
        }
    }
}

fn main() -> Result<()> {
    let to = std::env::args().nth(1).ok_or_else(|| Error("frame FILE".into()))?;
    let many: Option<usize> = std::env::args().nth(2).and_then(|n| n.parse().ok());
    let again = std::env::args().nth(2).is_some_and(|n| n == "again");
    let scale = if many.is_some() { LARGE } else { 1 };
    let size = SIZE.map(|n| n * scale);
    let context =
        Context::of_instance(Library::any()?, &[ash::ext::debug_utils::NAME], &[], std::ptr::null_mut())?;
    let debug = ash::ext::debug_utils::Device::new(&context.instance, &context.device);
    let named = |image: Image, name: &str| {
        let name = CString::new(name).unwrap_or_default();
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(image.handle).object_name(&name);
        // SAFETY: a live image.
        let _ = unsafe { debug.set_debug_utils_object_name(&info) };
        image
    };
    let colour = named(Image::new(&context, ImageInfo::colour(COLOUR, size))?, "picture");
    let depth = Image::new(&context, ImageInfo::depth(DEPTH, size))?;
    let samples = Image::new(&context, ImageInfo { samples: 4, ..ImageInfo::colour(COLOUR, size) })?;
    let resolved = named(Image::new(&context, ImageInfo::colour(COLOUR, size))?, "resolved");
    // One white texel; a tint and a matrix that the shader adds no times.
    let grain = named(Image::with_texels(&context, ImageInfo::texture(COLOUR, [1, 1]), &[255; 4])?, "grain");
    let uniforms: Vec<f32> = (0..20).map(|i| i as f32 * 0.5).collect();
    let mut bytes: Vec<u8> = uniforms.iter().flat_map(|f| f.to_le_bytes()).collect();
    bytes.extend([0; 32]);
    let uniform = Buffer::of(&context, bytes.len(), vk::BufferUsageFlags::UNIFORM_BUFFER)?;
    let mut uniform = uniform;
    uniform.bytes_mut().copy_from_slice(&bytes);
    let sampler = Sampler::linear(&context)?;
    let bindings =
        Bindings::new(&context, &[Resource::Uniform(&uniform), Resource::Texture(&grain, &sampler)])?;
    // A triangle that covers everything, and one whose left edge is at x = 10.5 of the picture.
    let places = [
        [-1.0, -1.0],
        [3.0, -1.0],
        [-1.0, 3.0],
        [10.5 / 36.0 - 1.0, -5.0],
        [9.0, 0.0],
        [10.5 / 36.0 - 1.0, 5.0],
    ];
    let places: Vec<u8> =
        places.iter().flat_map(|[x, y]: &[f32; 2]| [*x, *y, 0.0, 1.0]).flat_map(f32::to_le_bytes).collect();
    let places = Buffer::with(&context, &places)?;
    let numbers = Buffer::new(&context, 32)?;
    let scene = Scene { context: context.clone(), debug, bindings, places };
    let make = |info: &PipelineInfo| Pipeline::new(&context, info, Some(&scene.bindings));
    let opaque = make(&PipelineInfo { depth: Some((vk::CompareOp::LESS, true)), ..info(PLAIN) })?;
    let blended =
        make(&PipelineInfo { depth: Some((vk::CompareOp::LESS, false)), blend: over(), ..info(PLAIN) })?;
    let holes = make(&PipelineInfo { depth: Some((vk::CompareOp::LESS, true)), ..info(HOLES) })?;
    let marked = make(&PipelineInfo { stencil: stencil(), ..info(PLAIN) })?;
    let four = make(&PipelineInfo {
        samples: 4,
        depth_format: vk::Format::UNDEFINED,
        stencil_format: vk::Format::UNDEFINED,
        ..info(PLAIN)
    })?;
    let count = Kernel::new(&context, &KernelInfo { spirv: COUNT, bindings: 1, push_size: 0 })?;
    count.set(&[&numbers]);
    let grey = |v: f32, alpha: f32| [v, v, v, alpha];
    let draws = [
        // 16 × 8 pixels.
        Draw {
            label: "a",
            pipeline: &opaque,
            scissor: [8, 4, 16, 8],
            depth: 0.5,
            colour: [0.2, 0.6, 0.6, 1.0],
            instances: 1,
        },
        // Behind it but for four pixels: one column of four quads' halves.
        Draw {
            label: "b",
            pipeline: &opaque,
            scissor: [15, 6, 10, 4],
            depth: 0.75,
            colour: [1.0, 0.0, 0.0, 1.0],
            instances: 1,
        },
        // Half of white over eight of them.
        Draw {
            label: "c",
            pipeline: &blended,
            scissor: [8, 4, 4, 2],
            depth: 0.25,
            colour: [1.0, 1.0, 1.0, 0.5],
            instances: 1,
        },
        // Every other column of 8 × 4 is discarded.
        Draw {
            label: "d",
            pipeline: &holes,
            scissor: [40, 20, 8, 4],
            depth: 0.5,
            colour: [0.0, 0.0, 1.0, 1.0],
            instances: 1,
        },
        // All fail, and are marked; then all pass.
        Draw {
            label: "e",
            pipeline: &marked,
            scissor: [0, 30, 8, 2],
            depth: 0.5,
            colour: [1.0, 1.0, 0.0, 1.0],
            instances: 1,
        },
        Draw {
            label: "f",
            pipeline: &marked,
            scissor: [0, 30, 8, 2],
            depth: 0.5,
            colour: [0.0, 1.0, 0.0, 1.0],
            instances: 1,
        },
        // Twice over the same pixels, on both sides of where tiles meet.
        Draw {
            label: "g",
            pipeline: &blended,
            scissor: [60, 0, 8, 8],
            depth: 0.5,
            colour: grey(0.8, 0.5),
            instances: 2,
        },
    ];
    let last = Draw {
        label: "h",
        pipeline: &four,
        scissor: [0, 0, 72, 40],
        depth: 0.5,
        colour: grey(0.8, 1.0),
        instances: 1,
    };
    for _ in 0..if again { 200 } else { 1 } {
        scene.context.run(|device, commands| {
            count.bind(commands, &[]);
            // SAFETY: recording into a command buffer that has begun.
            unsafe { device.cmd_dispatch(commands, 2, 1, 1) };
            barrier(device, commands);
            // What a clear of depth does not read is other on each run: it may be in no record.
            let mut far = vk::ClearValue { color: vk::ClearColorValue { uint32: [std::process::id(); 4] } };
            far.depth_stencil = vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 };
            let pass = Pass {
                colours: vec![Attachment::new(&colour, Load::colour([0.0, 0.0, 0.0, 1.0]))],
                depth: Some(Attachment::new(&depth, Load::Clear(far))),
                stencil: Some(Attachment::new(&depth, Load::Clear(far))),
                size,
                ..Pass::default()
            };
            pass.record(device, commands, |device, commands| {
                for (i, d) in draws.iter().cycle().take(many.unwrap_or(draws.len())).enumerate() {
                    let [x, y, w, h] = d.scissor.map(|n| n * scale);
                    let away = |at: u32, by: usize, most: u32| match many {
                        Some(_) => (at + (i * by) as u32) % most,
                        None => at,
                    };
                    let scissor = [away(x, 37, size[0] - w), away(y, 23, size[1] - h), w, h];
                    scene.draw(device, commands, &Draw { scissor, ..*d });
                }
                // Cleared to green: 4 × 4 pixels.
                let value = vk::ClearValue { color: vk::ClearColorValue { float32: [0.0, 1.0, 0.0, 1.0] } };
                let clear = vk::ClearAttachment {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    color_attachment: 0,
                    clear_value: value,
                };
                let rect = vk::Rect2D {
                    offset: vk::Offset2D { x: 64, y: 32 },
                    extent: vk::Extent2D { width: 4, height: 4 },
                };
                let rect = vk::ClearRect { rect, base_array_layer: 0, layer_count: 1 };
                // SAFETY: recording into a command buffer that has begun, in a pass.
                unsafe { device.cmd_clear_attachments(commands, &[clear], &[rect]) };
            });
            barrier(device, commands);
            let many = Attachment {
                resolve: Some(&resolved),
                store: false,
                ..Attachment::new(&samples, Load::colour([0.0, 0.0, 0.0, 1.0]))
            };
            let pass = Pass { colours: vec![many], size, ..Pass::default() };
            pass.record(device, commands, |device, commands| {
                // The second triangle.
                let push: Vec<u8> =
                    last.colour.iter().chain([&last.depth]).flat_map(|f| f.to_le_bytes()).collect();
                last.pipeline.bind(commands, Some(&scene.bindings), &push);
                // SAFETY: as above.
                unsafe {
                    device.cmd_bind_vertex_buffers(commands, 0, &[scene.places.handle], &[0]);
                    device.cmd_draw(commands, 3, 1, 3, 0);
                }
            });
            barrier(device, commands);
            if again {
                let label =
                    vk::DebugUtilsLabelEXT::default().label_name(c"vr-marker,frame_end,type,application");
                // SAFETY: as above.
                unsafe { scene.debug.cmd_insert_debug_utils_label(commands, &label) };
            }
        })?;
        if again {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
    let mut out = colour.read(vk::ImageAspectFlags::COLOR, 4)?;
    out.extend(depth.read(vk::ImageAspectFlags::DEPTH, 4)?);
    out.extend(depth.read(vk::ImageAspectFlags::STENCIL, 1)?);
    out.extend(resolved.read(vk::ImageAspectFlags::COLOR, 4)?);
    std::fs::write(&to, out).map_err(|e| Error(format!("{to}: {e}")))
}
