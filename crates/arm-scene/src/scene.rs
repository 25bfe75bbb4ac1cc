//! The workloads.

use crate::legacy::LegacyPass;
use ash::vk;
use client::compute::KernelInfo;
use client::graphics::{
    Attachment, Bindings, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo, Resource, Sampler, barrier,
};
use client::{Buffer, Context, Error, Kernel, Library, Result};
use std::ffi::CString;
use std::rc::Rc;

pub const FRAMES: u64 = 3;
const SIDE: u32 = 256;
const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
const PICTURE_BYTES: usize = (SIDE * SIDE * 4) as usize;

/// A device with labels and frame boundaries.
pub fn context() -> Result<Rc<Context>> {
    let mut boundary = vk::PhysicalDeviceFrameBoundaryFeaturesEXT::default().frame_boundary(true);
    Context::of_instance(
        Library::any()?,
        &[ash::ext::debug_utils::NAME],
        &[ash::ext::frame_boundary::NAME],
        (&raw mut boundary).cast(),
    )
}

pub struct Scene {
    context: Rc<Context>,
    labels: ash::ext::debug_utils::Device,
    kernel: Kernel,
    buffers: [Buffer; 2],
    pipeline: Pipeline,
    target: Image,
    copy: Image,
    legacy: LegacyPass,
    textured: Pipeline,
    texture: Bindings,
    // Named by the bindings.
    _sampler: Sampler,
}

/// How a batch ends its frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Within,
    Last,
}

impl Scene {
    pub fn new(context: &Rc<Context>) -> Result<Scene> {
        let spirv = include_bytes!("../../conformance/shaders/static/straight.comp.spv");
        let kernel = Kernel::new(context, &KernelInfo { spirv, bindings: 2, push_size: 4 })?;
        let buffers = [Buffer::new(context, PICTURE_BYTES)?, Buffer::new(context, PICTURE_BYTES)?];
        kernel.set(&[&buffers[0], &buffers[1]]);
        let mut info = PipelineInfo::new(
            include_bytes!("../../conformance/shaders/instrumentation/fill.vert.spv"),
            include_bytes!("../../conformance/shaders/instrumentation/plain.frag.spv"),
            FORMAT,
        );
        info.push_size = 8;
        let mut second = ImageInfo::colour(FORMAT, [SIDE; 2]);
        second.usage |= vk::ImageUsageFlags::TRANSFER_DST;
        let copy = Image::new(context, second)?;
        let linear = vk::SamplerCreateInfo::default();
        let sampler =
            Sampler::new(context, &linear.mag_filter(vk::Filter::LINEAR).min_filter(vk::Filter::LINEAR))?;
        let texture = Bindings::new(context, &[Resource::Texture(&copy, &sampler)])?;
        let mut sampled = PipelineInfo::new(
            include_bytes!("../../conformance/shaders/static/sample.vert.spv"),
            include_bytes!("../../conformance/shaders/static/sample.frag.spv"),
            FORMAT,
        );
        sampled.push_size = 8;
        Ok(Scene {
            labels: ash::ext::debug_utils::Device::new(&context.instance, &context.device),
            kernel,
            buffers,
            pipeline: Pipeline::new(context, &info, None)?,
            target: Image::new(context, ImageInfo::colour(FORMAT, [SIDE; 2]))?,
            legacy: LegacyPass::new(context, &copy)?,
            textured: Pipeline::new(context, &sampled, Some(&texture))?,
            texture,
            _sampler: sampler,
            copy,
            context: context.clone(),
        })
    }

    /// Submits frame `n`: a batch of labelled work, one of a dispatch without label, and an empty one that ends it.
    pub fn frame(&self, n: u64) -> Result<()> {
        let all = self.context.record(|d, c| {
            self.labelled(c, &format!("frame {n}"), || {
                self.labelled(c, "upload", || self.upload(d, c, n));
                self.labelled(c, "march", || self.dispatch(d, c, 40 * (n as u32 + 1)));
                self.labelled(c, "scene", || {
                    self.labelled(c, "triangle", || self.pass(c, 3, 0, 1));
                    // One pass of many draws.
                    self.labelled(c, "pairs", || self.pass(c, 6, 3, n as u32 + 2));
                });
                self.labelled(c, "copies", || self.copies(d, c));
                self.labelled(c, "textured", || self.textured(c));
                self.labelled(c, "legacy", || self.legacy.record(d, c));
                barrier(d, c);
            });
        })?;
        self.submit(&[all], n, Place::Within)?;
        let bare = self.context.record(|d, c| self.dispatch(d, c, 1))?;
        self.submit(&[bare], n, Place::Within)?;
        self.submit(&[], n, Place::Last)?;
        [all, bare].into_iter().for_each(|c| self.context.free(c));
        Ok(())
    }

    fn upload(&self, d: &ash::Device, c: vk::CommandBuffer, n: u64) {
        let [a, b] = &self.buffers;
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: 4096 * (n + 1) }];
        // SAFETY: recording with live buffers, within their sizes.
        unsafe { d.cmd_fill_buffer(c, a.handle, 0, vk::WHOLE_SIZE, 0x3F00_0000) };
        barrier(d, c);
        // SAFETY: as above.
        unsafe { d.cmd_copy_buffer(c, a.handle, b.handle, &region) };
        barrier(d, c);
    }

    fn dispatch(&self, d: &ash::Device, c: vk::CommandBuffer, groups: u32) {
        self.kernel.bind(c, &0.5f32.to_le_bytes());
        // SAFETY: recording with everything bound.
        unsafe { d.cmd_dispatch(c, groups, 1, 1) };
        barrier(d, c);
    }

    /// A pass over the target of `draws` draws.
    fn pass(&self, c: vk::CommandBuffer, vertices: u32, first: u32, draws: u32) {
        self.over_target(c, |d, c| {
            for i in 0..draws {
                let right = if first == 0 { 1.0 } else { 1.0 / (i + 1) as f32 };
                let push: Vec<u8> = [0.5f32, right].iter().flat_map(|f| f.to_le_bytes()).collect();
                self.pipeline.bind(c, None, &push);
                // SAFETY: recording with everything bound.
                unsafe { d.cmd_draw(c, vertices, 1, first, 0) }
            }
        });
    }

    /// A pass that samples what was copied.
    fn textured(&self, c: vk::CommandBuffer) {
        let push: Vec<u8> = [0.25f32, 0.5].iter().flat_map(|f| f.to_le_bytes()).collect();
        self.over_target(c, |d, c| {
            self.textured.bind(c, Some(&self.texture), &push);
            // SAFETY: recording with everything bound.
            unsafe { d.cmd_draw(c, 3, 1, 0, 0) }
        });
    }

    fn over_target(&self, c: vk::CommandBuffer, draws: impl FnOnce(&ash::Device, vk::CommandBuffer)) {
        let colours = vec![Attachment::new(&self.target, Load::colour([0.1, 0.2, 0.3, 1.0]))];
        Pass { colours, size: [SIDE; 2], ..Default::default() }.record(&self.context.device, c, draws);
        barrier(&self.context.device, c);
    }

    fn copies(&self, d: &ash::Device, c: vk::CommandBuffer) {
        let layers = vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: 0,
            base_array_layer: 0,
            layer_count: 1,
        };
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            base_mip_level: 0,
            level_count: 1,
            base_array_layer: 0,
            layer_count: 1,
        };
        let extent = vk::Extent3D { width: SIDE, height: SIDE, depth: 1 };
        let whole =
            vk::ImageCopy { src_subresource: layers, dst_subresource: layers, extent, ..Default::default() };
        let out =
            vk::BufferImageCopy { image_subresource: layers, image_extent: extent, ..Default::default() };
        let layout = vk::ImageLayout::GENERAL;
        let colour = vk::ClearColorValue { float32: [0.0, 1.0, 0.0, 1.0] };
        let (from, to, buffer) = (self.target.handle, self.copy.handle, self.buffers[1].handle);
        let steps: [&dyn Fn(); 4] = [
            // SAFETY (all): recording with live images and a buffer that holds a picture.
            &|| unsafe { d.cmd_clear_color_image(c, to, layout, &colour, &[range]) },
            &|| unsafe { d.cmd_copy_image(c, from, layout, to, layout, &[whole]) },
            &|| unsafe { d.cmd_copy_image_to_buffer(c, to, layout, buffer, &[out]) },
            &|| unsafe { d.cmd_copy_buffer_to_image(c, buffer, to, layout, &[out]) },
        ];
        for step in steps {
            step();
            barrier(d, c);
        }
    }

    fn labelled(&self, c: vk::CommandBuffer, name: &str, record: impl FnOnce()) {
        let name = CString::new(name).unwrap_or_default();
        let label = vk::DebugUtilsLabelEXT::default().label_name(&name);
        // SAFETY: recording into a command buffer that has begun; the name outlives the call.
        unsafe { self.labels.cmd_begin_debug_utils_label(c, &label) };
        record();
        // SAFETY: as above.
        unsafe { self.labels.cmd_end_debug_utils_label(c) };
    }

    fn submit(&self, commands: &[vk::CommandBuffer], frame: u64, place: Place) -> Result<()> {
        let flags = match place {
            Place::Within => vk::FrameBoundaryFlagsEXT::empty(),
            Place::Last => vk::FrameBoundaryFlagsEXT::FRAME_END,
        };
        let mut boundary = vk::FrameBoundaryEXT::default().flags(flags).frame_id(frame);
        let (device, queue) = (&self.context.device, self.context.queue);
        // Layers see two forms of the call: here work comes by the old one, a frame's end by the new one.
        // SAFETY: live handles; structures outlive the calls; the queue is waited for before anything is freed.
        unsafe {
            if commands.is_empty() {
                let info = vk::SubmitInfo2::default().push_next(&mut boundary);
                device
                    .queue_submit2(queue, &[info], vk::Fence::null())
                    .map_err(Error::vk("vkQueueSubmit2"))?;
            } else {
                let info = vk::SubmitInfo::default().command_buffers(commands).push_next(&mut boundary);
                device.queue_submit(queue, &[info], vk::Fence::null()).map_err(Error::vk("vkQueueSubmit"))?;
            }
            device.queue_wait_idle(queue).map_err(Error::vk("vkQueueWaitIdle"))
        }
    }

    /// What the last frame drew and what it copied.
    pub fn picture(&self) -> Result<Vec<u8>> {
        let mut bytes = self.target.read(vk::ImageAspectFlags::COLOR, 4)?;
        bytes.extend(self.copy.read(vk::ImageAspectFlags::COLOR, 4)?);
        bytes.extend(self.buffers[0].bytes());
        Ok(bytes)
    }
}
