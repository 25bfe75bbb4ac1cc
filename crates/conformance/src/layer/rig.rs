//! A device with something to dispatch and something to draw.

use crate::check::text;
use ash::vk;
use client::compute::KernelInfo;
use client::graphics::{Attachment, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo};
use client::{Buffer, Context, Kernel, Library};
use std::ffi::CString;
use std::rc::Rc;

/// Pixels of a side of the target.
pub const SIDE: u32 = 256;
pub const COLOUR: vk::Format = vk::Format::R8G8B8A8_UNORM;

pub struct Rig {
    pub context: Rc<Context>,
    pub labels: ash::ext::debug_utils::Device,
    pub kernel: Kernel,
    pub buffers: [Buffer; 2],
    pub pipeline: Pipeline,
    pub target: Image,
}

/// One submission's command buffers.
pub fn submit(c: &Context, lists: &[vk::CommandBuffer]) -> Result<(), String> {
    let info = [vk::SubmitInfo::default().command_buffers(lists)];
    // SAFETY: live handles.
    unsafe { c.device.queue_submit(c.queue, &info, vk::Fence::null()) }.map_err(text)
}

pub fn idle(c: &Context) -> Result<(), String> {
    // SAFETY: a live device that this thread alone uses.
    unsafe { c.device.device_wait_idle() }.map_err(text)
}

impl Rig {
    pub fn open() -> Result<Rig, String> {
        let context = Context::of_instance(
            Library::any().map_err(text)?,
            &[ash::ext::debug_utils::NAME],
            &[],
            std::ptr::null_mut(),
        )
        .map_err(text)?;
        let labels = ash::ext::debug_utils::Device::new(&context.instance, &context.device);
        let spirv = include_bytes!("../../shaders/static/straight.comp.spv");
        let kernel = Kernel::new(&context, &KernelInfo { spirv, bindings: 2, push_size: 4 }).map_err(text)?;
        let size = 1 << 20;
        let buffers =
            [Buffer::new(&context, size).map_err(text)?, Buffer::new(&context, size).map_err(text)?];
        kernel.set(&[&buffers[0], &buffers[1]]);
        let pipeline = Pipeline::new(&context, &Rig::drawn(), None).map_err(text)?;
        let target = Image::new(&context, ImageInfo::colour(COLOUR, [SIDE; 2])).map_err(text)?;
        Ok(Rig { labels, kernel, buffers, pipeline, target, context })
    }

    /// A triangle over all of the target.
    pub fn drawn() -> PipelineInfo<'static> {
        let mut info = PipelineInfo::new(
            include_bytes!("../../shaders/instrumentation/fill.vert.spv"),
            include_bytes!("../../shaders/instrumentation/plain.frag.spv"),
            COLOUR,
        );
        info.push_size = 8;
        info
    }

    /// Records a dispatch of so many workgroups.
    pub fn dispatch(&self, d: &ash::Device, c: vk::CommandBuffer, groups: u32) {
        self.kernel.bind(c, &0.5f32.to_le_bytes());
        // SAFETY: recording with everything bound.
        unsafe { d.cmd_dispatch(c, groups, 1, 1) }
    }

    /// Records a draw.
    pub fn draw(&self, d: &ash::Device, c: vk::CommandBuffer, pipeline: &Pipeline) {
        let push: Vec<u8> = [0.5f32, 1.0].iter().flat_map(|f| f.to_le_bytes()).collect();
        pipeline.bind(c, None, &push);
        // SAFETY: recording with everything bound.
        unsafe { d.cmd_draw(c, 3, 1, 0, 0) }
    }

    /// A pass over `image` that clears it.
    pub fn pass<'a>(image: &'a Image) -> Pass<'a> {
        let colours = vec![Attachment::new(image, Load::colour([0.0; 4]))];
        Pass { colours, size: image.info.size, ..Default::default() }
    }

    /// Does `f` with a label around it.
    pub fn labelled(&self, c: vk::CommandBuffer, name: &str, f: impl FnOnce()) {
        let name = CString::new(name).expect("no zeros");
        // SAFETY: recording; the name outlives the call.
        unsafe {
            self.labels.cmd_begin_debug_utils_label(c, &vk::DebugUtilsLabelEXT::default().label_name(&name));
            f();
            self.labels.cmd_end_debug_utils_label(c);
        }
    }

    /// Command buffers of a pool of their own.
    pub fn pool(&self, flags: vk::CommandPoolCreateFlags) -> Result<vk::CommandPool, String> {
        // SAFETY: a plain Vulkan call; the context's queue is of family 0 on all drivers that are tested.
        unsafe {
            self.context.device.create_command_pool(&vk::CommandPoolCreateInfo::default().flags(flags), None)
        }
        .map_err(text)
    }

    pub fn allocate(
        &self,
        pool: vk::CommandPool,
        level: vk::CommandBufferLevel,
        count: u32,
    ) -> Result<Vec<vk::CommandBuffer>, String> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(level)
            .command_buffer_count(count);
        // SAFETY: a live pool.
        unsafe { self.context.device.allocate_command_buffers(&info) }.map_err(text)
    }

    /// Records into `c` what `f` says.
    pub fn record(
        &self,
        c: vk::CommandBuffer,
        info: &vk::CommandBufferBeginInfo,
        f: impl FnOnce(&ash::Device),
    ) -> Result<(), String> {
        let d = &self.context.device;
        // SAFETY: a live command buffer.
        unsafe {
            d.begin_command_buffer(c, info).map_err(text)?;
            f(d);
            d.end_command_buffer(c).map_err(text)
        }
    }
}
