//! A program of frames whose work is known, for what `tuff run --counters` says of each: frames that the application
//! numbers (VK_EXT_frame_boundary), and frames that end where it presents.

use crate::check::text;
use client::compute::KernelInfo;
use client::graphics::{Attachment, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo};
use client::{Buffer, Context, Kernel, Library};
use std::rc::Rc;

/// Frames by what counts in them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Work {
    /// Workgroups of `static/straight.comp`, of 16 invocations each: a warp, which does eight multiply–adds.
    pub groups: u32,
    /// Passes of 64 × 64 pixels that one triangle covers, and those that a pair of triangles covers.
    pub triangles: u32,
    pub pairs: u32,
}

/// A batch: its frame and whether it is that frame's last, and its work.
pub type Batch = (Option<(u64, bool)>, Work);

/// Calls of vkQueueSubmit2 (or of vkQueueSubmit, where it says `Old`).
pub enum Submit<'a> {
    New(&'a [Batch]),
    Old(&'a [Batch]),
}

const TRIANGLE: Work = Work { groups: 0, triangles: 1, pairs: 0 };
const PAIR: Work = Work { groups: 0, triangles: 0, pairs: 1 };

const fn compute(groups: u32) -> Work {
    Work { groups, triangles: 0, pairs: 0 }
}

/// What [`told`] submits. Frames 7 and 9 overlap.
pub const TOLD: &[Submit] = &[
    Submit::New(&[(None, compute(1))]),
    Submit::New(&[(Some((100, true)), compute(3))]),
    Submit::New(&[(Some((7, false)), compute(5))]),
    Submit::New(&[(Some((9, false)), TRIANGLE)]),
    Submit::Old(&[(Some((7, true)), compute(6))]),
    Submit::New(&[(Some((9, false)), compute(2)), (Some((9, true)), PAIR)]),
    Submit::New(&[(None, compute(1))]),
];

/// Workgroups before each present of [`presented`], and after the last one.
pub const PRESENTED: [u32; 4] = [2, 4, 7, 1];
/// The number of the first frame that [`presented`] numbers.
pub const FIRST: u64 = 40;

struct Client {
    context: Rc<Context>,
    kernel: Kernel,
    _buffers: [Buffer; 2],
    pipeline: Pipeline,
    target: Image,
}

impl Client {
    fn new(instance: &[&std::ffi::CStr], device: &[&std::ffi::CStr]) -> Result<Client, String> {
        let mut boundary = vk::PhysicalDeviceFrameBoundaryFeaturesEXT::default().frame_boundary(true);
        let names: Vec<_> = device.iter().copied().chain([ash::ext::frame_boundary::NAME]).collect();
        let library = Library::any().map_err(text)?;
        let context =
            Context::of_instance(library, instance, &names, (&raw mut boundary).cast()).map_err(text)?;
        let spirv = include_bytes!("../shaders/static/straight.comp.spv");
        let kernel = Kernel::new(&context, &KernelInfo { spirv, bindings: 2, push_size: 4 }).map_err(text)?;
        let buffers = [Buffer::new(&context, 64).map_err(text)?, Buffer::new(&context, 64).map_err(text)?];
        kernel.set(&[&buffers[0], &buffers[1]]);
        let colour = vk::Format::R8G8B8A8_UNORM;
        let mut info = PipelineInfo::new(
            include_bytes!("../shaders/instrumentation/fill.vert.spv"),
            include_bytes!("../shaders/instrumentation/plain.frag.spv"),
            colour,
        );
        info.push_size = 8;
        let pipeline = Pipeline::new(&context, &info, None).map_err(text)?;
        let target = Image::new(&context, ImageInfo::colour(colour, [64; 2])).map_err(text)?;
        Ok(Client { context, kernel, _buffers: buffers, pipeline, target })
    }

    fn commands(&self, work: &Work) -> Result<vk::CommandBuffer, String> {
        let record = |d: &ash::Device, c: vk::CommandBuffer| {
            if work.groups > 0 {
                self.kernel.bind(c, &0.5f32.to_le_bytes());
                // SAFETY: recording with everything bound.
                unsafe { d.cmd_dispatch(c, work.groups, 1, 1) }
            }
            let push: Vec<u8> = [0.5f32, 1.0].iter().flat_map(|f| f.to_le_bytes()).collect();
            let (one, pair) = ((3, 0), (6, 3));
            let draws = [(one, work.triangles), (pair, work.pairs)];
            for (vertices, first) in draws.iter().flat_map(|(what, n)| (0..*n).map(|_| *what)) {
                let colours = vec![Attachment::new(&self.target, Load::colour([0.0; 4]))];
                let pass = Pass { colours, size: [64; 2], ..Default::default() };
                pass.record(d, c, |d, c| {
                    self.pipeline.bind(c, None, &push);
                    // SAFETY: recording with everything bound.
                    unsafe { d.cmd_draw(c, vertices, 1, first, 0) }
                });
                client::graphics::barrier(d, c);
            }
        };
        self.context.record(record).map_err(text)
    }

    fn submit(&self, how: &Submit) -> Result<(), String> {
        let (Submit::New(batches) | Submit::Old(batches)) = how;
        let (device, queue, none) = (&self.context.device, self.context.queue, vk::Fence::null());
        let lists =
            batches.iter().map(|(_, w)| Ok([self.commands(w)?])).collect::<Result<Vec<_>, String>>()?;
        let frames: Vec<_> = batches.iter().map(|(f, _)| f.map(boundary)).collect();
        let chain = |i: usize| frames[i].as_ref().map_or(std::ptr::null(), |f| std::ptr::from_ref(f).cast());
        // SAFETY: live handles; structures, and what they point to, outlive the calls.
        let result = unsafe {
            if let Submit::Old(_) = how {
                let mut infos = vec![];
                for (i, list) in lists.iter().enumerate() {
                    let info = vk::SubmitInfo::default().command_buffers(list);
                    infos.push(vk::SubmitInfo { p_next: chain(i), ..info });
                }
                device.queue_submit(queue, &infos, none)
            } else {
                let list = |l: &[_; 1]| [vk::CommandBufferSubmitInfo::default().command_buffer(l[0])];
                let lists: Vec<_> = lists.iter().map(list).collect();
                let mut infos = vec![];
                for (i, list) in lists.iter().enumerate() {
                    let info = vk::SubmitInfo2::default().command_buffer_infos(list);
                    infos.push(vk::SubmitInfo2 { p_next: chain(i), ..info });
                }
                device.queue_submit2(queue, &infos, none)
            }
        };
        result.map_err(text)
    }

    /// Without a wait, batches would still be in the queue when the objects that they use are destroyed.
    fn finish(&self) -> Result<(), String> {
        // SAFETY: a live device that this thread alone uses.
        unsafe { self.context.device.device_wait_idle() }.map_err(text)
    }
}

fn boundary((id, ends): (u64, bool)) -> vk::FrameBoundaryEXT<'static> {
    let flags = if ends { vk::FrameBoundaryFlagsEXT::FRAME_END } else { Default::default() };
    vk::FrameBoundaryEXT::default().flags(flags).frame_id(id)
}

/// Frames by their numbers: [`TOLD`].
pub fn told() -> Result<(), String> {
    let client = Client::new(&[], &[])?;
    TOLD.iter().try_for_each(|s| client.submit(s))?;
    client.finish()
}

/// Frames by what is presented, on no screen: [`PRESENTED`]. `numbered`: batches and presents have numbers from
/// [`FIRST`] on, and it is the present that ends a frame.
pub fn presented(numbered: bool) -> Result<(), String> {
    let extensions = [ash::khr::surface::NAME, ash::ext::headless_surface::NAME];
    let client = Client::new(&extensions, &[ash::khr::swapchain::NAME])?;
    let context = &client.context;
    let (device, instance) = (&context.device, &context.instance);
    let entry = context.entry();
    let surfaces = ash::khr::surface::Instance::new(entry, instance);
    let headless = ash::ext::headless_surface::Instance::new(entry, instance);
    let swapchains = ash::khr::swapchain::Device::new(instance, device);
    // SAFETY: plain Vulkan calls with structs that outlive them.
    unsafe {
        let surface = headless.create_headless_surface(&Default::default(), None).map_err(text)?;
        let formats =
            surfaces.get_physical_device_surface_formats(context.physical, surface).map_err(text)?;
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface)
            .min_image_count(3)
            .image_format(formats[0].format)
            .image_color_space(formats[0].color_space)
            .image_extent(vk::Extent2D { width: 64, height: 64 })
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT)
            .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
            .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
            .present_mode(vk::PresentModeKHR::FIFO);
        let swapchain = swapchains.create_swapchain(&info, None).map_err(text)?;
        let images = swapchains.get_swapchain_images(swapchain).map_err(text)?;
        let fence = device.create_fence(&Default::default(), None).map_err(text)?;
        let [frames @ .., after] = PRESENTED;
        for (number, groups) in (FIRST..).zip(frames) {
            let (image, _) = swapchains
                .acquire_next_image(swapchain, u64::MAX, vk::Semaphore::null(), fence)
                .map_err(text)?;
            device.wait_for_fences(&[fence], true, u64::MAX).map_err(text)?;
            device.reset_fences(&[fence]).map_err(text)?;
            context.run(|d, c| ready(d, c, images[image as usize])).map_err(text)?;
            let mut frame = boundary((number, false));
            let commands = [client.commands(&compute(groups))?];
            let mut submit = vk::SubmitInfo::default().command_buffers(&commands);
            if numbered {
                submit = submit.push_next(&mut frame);
            }
            device.queue_submit(context.queue, &[submit], vk::Fence::null()).map_err(text)?;
            let (chains, indices) = ([swapchain], [image]);
            let mut last = boundary((number, true));
            let mut present = vk::PresentInfoKHR::default().swapchains(&chains).image_indices(&indices);
            if numbered {
                present = present.push_next(&mut last);
            }
            swapchains.queue_present(context.queue, &present).map_err(text)?;
        }
        client.submit(&Submit::New(&[(None, compute(after))]))?;
        client.finish()?;
        device.destroy_fence(fence, None);
        swapchains.destroy_swapchain(swapchain, None);
        surfaces.destroy_surface(surface, None);
    }
    Ok(())
}

/// Records that an image is to be presented.
fn ready(d: &ash::Device, c: vk::CommandBuffer, image: vk::Image) {
    let range = vk::ImageSubresourceRange::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .level_count(1)
        .layer_count(1);
    let barrier = vk::ImageMemoryBarrier::default()
        .new_layout(vk::ImageLayout::PRESENT_SRC_KHR)
        .image(image)
        .subresource_range(range);
    let stages = vk::PipelineStageFlags::ALL_COMMANDS;
    // SAFETY: recording into a command buffer that has begun, with live handles.
    unsafe { d.cmd_pipeline_barrier(c, stages, stages, Default::default(), &[], &[], &[barrier]) }
}
