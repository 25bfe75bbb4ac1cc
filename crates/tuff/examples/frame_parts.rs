//! Passes of the tests of `tuff frame` that are not one framebuffer of one command buffer:
//! - "layers": more than 65 535 tiles, of 2048 layers; 4 × 4 pixels of the last layer are cleared to 1;
//! - "views": two views, each with a rectangle of 16 × 8 pixels from (8, 4) on;
//! - "parts": dynamic rendering that is suspended and resumed; the first part, in a secondary command buffer, draws that rectangle, and the
//!   second half of white over 4 × 2 pixels of it.

use ash::vk;
use client::context::Context;
use client::graphics::{
    Attachment, Bindings, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo, Resource, Sampler, barrier,
    over,
};
use client::{Buffer, Error, Library, Result};
use std::ffi::CString;

const SIZE: [u32; 2] = [72, 40];
const COLOUR: vk::Format = vk::Format::R8G8B8A8_UNORM;
/// 9 × 4 tiles of each of 2048 layers.
const WIDE: [u32; 2] = [576, 256];
const LAYERS: u32 = 2048;

const WHOLE: &[u8] = include_bytes!("../tests/frame/whole.vert.spv");
const PLAIN: &[u8] = include_bytes!("../tests/frame/plain.frag.spv");

fn rect([x, y, width, height]: [u32; 4]) -> vk::Rect2D {
    vk::Rect2D { offset: vk::Offset2D { x: x as i32, y: y as i32 }, extent: vk::Extent2D { width, height } }
}

fn main() -> Result<()> {
    let context =
        Context::of_instance(Library::any()?, &[ash::ext::debug_utils::NAME], &[], std::ptr::null_mut())?;
    let debug = ash::ext::debug_utils::Device::new(&context.instance, &context.device);
    let image =
        |format, size, layers| Image::new(&context, ImageInfo { layers, ..ImageInfo::colour(format, size) });
    let layers = image(vk::Format::R8_UNORM, WIDE, LAYERS)?;
    let (views, parts) = (image(COLOUR, SIZE, 2)?, image(COLOUR, SIZE, 1)?);
    let grain = Image::with_texels(&context, ImageInfo::texture(COLOUR, [1, 1]), &[255; 4])?;
    let uniform = Buffer::of(&context, 112, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
    let sampler = Sampler::linear(&context)?;
    let bindings =
        Bindings::new(&context, &[Resource::Uniform(&uniform), Resource::Texture(&grain, &sampler)])?;
    let places: Vec<u8> = [[-1f32, -1.0], [3.0, -1.0], [-1.0, 3.0]]
        .iter()
        .flat_map(|[x, y]| [*x, *y, 0.0, 1.0])
        .flat_map(f32::to_le_bytes)
        .collect();
    let places = Buffer::with(&context, &places)?;
    let info = PipelineInfo::new(WHOLE, PLAIN, COLOUR).interleaved(&[(vk::Format::R32G32B32A32_SFLOAT, 16)]);
    let info = PipelineInfo { push_size: 20, ..info };
    let opaque = Pipeline::new(&context, &info, Some(&bindings))?;
    let blended = PipelineInfo { blend: over(), ..info };
    let both = Pipeline::new(&context, &PipelineInfo { view_mask: 0b11, ..blended }, Some(&bindings))?;
    let info = PipelineInfo::new(WHOLE, PLAIN, COLOUR).interleaved(&[(vk::Format::R32G32B32A32_SFLOAT, 16)]);
    let blended =
        Pipeline::new(&context, &PipelineInfo { push_size: 20, blend: over(), ..info }, Some(&bindings))?;
    let draw = |commands, pipeline: &Pipeline, scissor, colour: [f32; 4]| {
        let push: Vec<u8> = colour.iter().chain([&0.5]).flat_map(|f| f.to_le_bytes()).collect();
        pipeline.bind(commands, Some(&bindings), &push);
        // SAFETY: recording into a command buffer that has begun, in a pass, with live handles.
        unsafe {
            context.device.cmd_set_scissor(commands, 0, &[rect(scissor)]);
            context.device.cmd_bind_vertex_buffers(commands, 0, &[places.handle], &[0]);
            context.device.cmd_draw(commands, 3, 1, 0, 0);
        }
    };
    let label = |commands, name: &str| {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: as above.
        unsafe {
            let label = vk::DebugUtilsLabelEXT::default().label_name(&name);
            debug.cmd_begin_debug_utils_label(commands, &label);
        }
    };
    // SAFETY: as above.
    let ends = |commands| unsafe { debug.cmd_end_debug_utils_label(commands) };
    let black = Load::colour([0.0, 0.0, 0.0, 1.0]);
    context.run(|device, commands| {
        label(commands, "layers");
        let colours = vec![Attachment::new(&layers, Load::colour([0.0; 4]))];
        let pass = Pass { colours, size: WIDE, layers: LAYERS, ..Pass::default() };
        pass.record(device, commands, |device, commands| {
            let clear = vk::ClearAttachment {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                color_attachment: 0,
                clear_value: vk::ClearValue { color: vk::ClearColorValue { float32: [1.0; 4] } },
            };
            let rect =
                vk::ClearRect { rect: rect([572, 252, 4, 4]), base_array_layer: LAYERS - 1, layer_count: 1 };
            // SAFETY: as above.
            unsafe { device.cmd_clear_attachments(commands, &[clear], &[rect]) };
        });
        ends(commands);
        barrier(device, commands);
        label(commands, "views");
        let colours = vec![Attachment::new(&views, black)];
        let pass = Pass { colours, size: SIZE, view_mask: 0b11, ..Pass::default() };
        pass.record(device, commands, |_, commands| {
            draw(commands, &both, [8, 4, 16, 8], [0.2, 0.6, 0.6, 1.0]);
        });
        ends(commands);
        barrier(device, commands);
    })?;
    let part = |flags, load| Pass {
        colours: vec![Attachment::new(&parts, load)],
        size: SIZE,
        flags,
        ..Pass::default()
    };
    let secondary =
        secondary(&context, |commands| draw(commands, &opaque, [8, 4, 16, 8], [0.2, 0.6, 0.6, 1.0]))?;
    let first = context.record(|device, commands| {
        label(commands, "parts");
        let flags = vk::RenderingFlags::SUSPENDING | vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS;
        part(flags, black).record(device, commands, |device, commands| {
            // SAFETY: as above.
            unsafe { device.cmd_execute_commands(commands, &[secondary]) }
        });
        ends(commands);
    })?;
    let second = context.record(|device, commands| {
        label(commands, "rest");
        part(vk::RenderingFlags::RESUMING, black).record(device, commands, |_, commands| {
            draw(commands, &blended, [8, 4, 4, 2], [1.0, 1.0, 1.0, 0.5]);
        });
        ends(commands);
        barrier(device, commands);
    })?;
    let buffers = [first, second];
    let submit = [vk::SubmitInfo::default().command_buffers(&buffers)];
    // SAFETY: the context's queue, used by this thread alone.
    unsafe {
        context
            .device
            .queue_submit(context.queue, &submit, vk::Fence::null())
            .map_err(Error::vk("vkQueueSubmit"))?;
        context.device.queue_wait_idle(context.queue).map_err(Error::vk("vkQueueWaitIdle"))
    }
}

/// A secondary command buffer for dynamic rendering; it lives as long as its pool, which the process ends with.
fn secondary(context: &Context, record: impl FnOnce(vk::CommandBuffer)) -> Result<vk::CommandBuffer> {
    let device = &context.device;
    let formats = [COLOUR];
    let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
        .color_attachment_formats(&formats)
        .rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let inheritance = vk::CommandBufferInheritanceInfo::default().push_next(&mut rendering);
    let begin = vk::CommandBufferBeginInfo::default()
        .flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
        .inheritance_info(&inheritance);
    let [width, height] = SIZE.map(|n| n as f32);
    let viewport = vk::Viewport { x: 0.0, y: 0.0, width, height, min_depth: 0.0, max_depth: 1.0 };
    // SAFETY: live handles; the pool is used by this thread alone.
    unsafe {
        let pool = device
            .create_command_pool(&vk::CommandPoolCreateInfo::default(), None)
            .map_err(Error::vk("vkCreateCommandPool"))?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(vk::CommandBufferLevel::SECONDARY)
            .command_buffer_count(1);
        let commands =
            device.allocate_command_buffers(&info).map_err(Error::vk("vkAllocateCommandBuffers"))?[0];
        device.begin_command_buffer(commands, &begin).map_err(Error::vk("vkBeginCommandBuffer"))?;
        device.cmd_set_viewport(commands, 0, &[viewport]);
        record(commands);
        device.end_command_buffer(commands).map_err(Error::vk("vkEndCommandBuffer"))?;
        Ok(commands)
    }
}
