//! Two pieces of work with something between them, or nothing: how many cycles of the second go on beside the first.

use super::Rig;
use crate::check::text;
use ash::vk;
use client::graphics::{Attachment, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo};
use std::cell::Cell;
use vk::PipelineStageFlags2 as Stages;

/// Rounds of the dispatches.
pub const LONG: u32 = 4096;
pub const FULL: u32 = 512;
/// Bytes that are filled.
pub const FILL: u64 = 256 << 10;
const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// A dispatch of one workgroup, for longer than any other here takes.
    Long,
    /// A dispatch that fills so many cores.
    Full(u32),
    /// A pass that clears a target of 256 × 256 pixels; a clear of such an image.
    Clear,
    ClearImage,
    /// A fill of a buffer.
    Fill,
    /// A pass that draws one triangle over a region, for long or not.
    Triangle,
    LongTriangle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    Nothing,
    /// The second is another queue's.
    Queues,
    Barrier(Stages, Stages),
    /// An event that is set after the first and waited for.
    Event(Stages, Stages),
    /// What the second's render pass says of what lies before it.
    Subpass(Stages, Stages),
    /// The second is another queue's, which waits for the first's signal.
    Binary,
    Timeline,
    /// The host waits.
    Host,
}

/// All pairs.
pub fn pairs(cores: u32) -> Vec<(Job, Job, Between)> {
    use Between::*;
    use Job::*;
    let [compute, colour, fragment, vertex, all] = [
        Stages::COMPUTE_SHADER,
        Stages::COLOR_ATTACHMENT_OUTPUT,
        Stages::FRAGMENT_SHADER,
        Stages::VERTEX_SHADER,
        Stages::ALL_COMMANDS,
    ];
    let (copy, clear, transfer) = (Stages::COPY, Stages::CLEAR, Stages::ALL_TRANSFER);
    let mut pairs = vec![];
    let mut add = |first, second, between: &[Between]| {
        pairs.extend(between.iter().map(|b| (first, second, *b)));
    };
    let signals = [Binary, Timeline, Host];
    let unordered = [Nothing, Queues];
    add(Long, Clear, &unordered);
    add(Long, Clear, &[Barrier(compute, colour), Barrier(compute, fragment), Barrier(all, all)]);
    // Which name other work on one side.
    add(Long, Clear, &[Barrier(copy, colour), Barrier(compute, copy)]);
    add(Long, Clear, &[Event(compute, colour), Event(copy, colour)]);
    add(Long, Clear, &[Subpass(compute, colour), Subpass(copy, colour)]);
    add(Long, Clear, &signals);
    add(Long, ClearImage, &unordered);
    add(Long, ClearImage, &[Barrier(compute, clear), Barrier(compute, transfer), Barrier(compute, copy)]);
    add(Long, ClearImage, &signals);
    add(Long, Fill, &unordered);
    add(Long, Fill, &[Barrier(compute, clear)]);
    add(Long, Long, &[Nothing, Queues, Barrier(compute, compute), Event(compute, compute)]);
    add(Clear, Clear, &[Nothing, Queues, Barrier(colour, colour)]);
    add(Clear, ClearImage, &[Nothing, Barrier(colour, transfer)]);
    // The first leaves little of the cores, or of the memory.
    let full = Full(cores);
    add(full, Clear, &[Nothing, Queues, Barrier(compute, colour)]);
    add(Fill, Clear, &[Nothing, Queues, Barrier(clear, colour), Barrier(transfer, colour)]);
    let (first, second) = (LongTriangle, Triangle);
    add(first, second, &unordered);
    add(first, second, &[Barrier(colour, fragment), Barrier(fragment, fragment)]);
    add(first, second, &[Barrier(fragment, vertex), Barrier(all, all), Event(fragment, vertex)]);
    add(first, second, &signals);
    pairs
}

pub fn called(job: Job) -> &'static str {
    match job {
        Job::Long => "a long dispatch",
        Job::Full(_) => "a dispatch on all cores",
        Job::Clear => "a pass that clears",
        Job::ClearImage => "a clear of an image",
        Job::Fill => "a fill of 256 KiB",
        Job::Triangle => "a pass",
        Job::LongTriangle => "a long pass",
    }
}

pub fn between(between: Between) -> String {
    let stages = |s: Stages, d: Stages| format!("{s:?} → {d:?}");
    match between {
        Between::Nothing => "nothing".into(),
        Between::Queues => "nothing, on two queues".into(),
        Between::Barrier(s, d) => format!("a barrier {}", stages(s, d)),
        Between::Event(s, d) => format!("an event {}", stages(s, d)),
        Between::Subpass(s, d) => format!("a subpass dependency {}", stages(s, d)),
        Between::Binary => "a binary semaphore, on two queues".into(),
        Between::Timeline => "a timeline semaphore, on two queues".into(),
        Between::Host => "the host's wait".into(),
    }
}

/// What jobs need.
struct Jobs<'a> {
    rig: &'a Rig,
    target: Image,
    region: Image,
    triangle: Pipeline,
    /// Of the last clear: what holds its value already is not written.
    value: Cell<f32>,
}

// SAFETY (all blocks): recording into a command buffer that has begun, with live handles; objects are destroyed when the device is idle.
impl Jobs<'_> {
    fn load(&self) -> Load {
        self.value.set(1.0 - self.value.get());
        Load::colour([self.value.get(); 4])
    }

    fn dispatch(&self, c: vk::CommandBuffer, groups: u32, rounds: u32) {
        let push = [0u32.to_le_bytes(), rounds.to_le_bytes()].concat();
        self.rig.alu.bind(c, &push);
        unsafe { self.rig.context.device.cmd_dispatch(c, groups, 1, 1) };
    }

    fn triangle(&self, c: vk::CommandBuffer, rounds: u32) {
        let colours = vec![Attachment::new(&self.region, self.load())];
        let pass = Pass { colours, size: [64; 2], ..Pass::default() };
        pass.record(&self.rig.context.device, c, |d, c| {
            self.triangle.bind(c, None, &rounds.to_le_bytes());
            unsafe { d.cmd_draw(c, 3, 1, 0, 0) };
        });
    }

    fn record(&self, d: &ash::Device, c: vk::CommandBuffer, job: Job) {
        match job {
            Job::Long => self.dispatch(c, 1, LONG),
            Job::Full(cores) => self.dispatch(c, 16 * cores, FULL),
            Job::Clear => {
                let colours = vec![Attachment::new(&self.target, self.load())];
                Pass { colours, size: [super::draw::SIDE; 2], ..Pass::default() }.record(d, c, |_, _| ());
            }
            Job::ClearImage => {
                let value = vk::ClearColorValue { float32: [0.25; 4] };
                let range = vk::ImageSubresourceRange {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    level_count: 1,
                    layer_count: 1,
                    ..Default::default()
                };
                let general = vk::ImageLayout::GENERAL;
                unsafe { d.cmd_clear_color_image(c, self.target.handle, general, &value, &[range]) };
            }
            Job::Fill => unsafe { d.cmd_fill_buffer(c, self.rig.buffers[1].handle, 0, FILL, 7) },
            Job::Triangle => self.triangle(c, 0),
            Job::LongTriangle => self.triangle(c, 2000),
        }
    }

    /// Clears the target by a render pass object with a dependency.
    fn subpass(&self, [src, dst]: [Stages; 2], between: impl FnOnce(vk::RenderPass, vk::Framebuffer)) {
        let d = &self.rig.context.device;
        let stage = |s: Stages| vk::PipelineStageFlags::from_raw(s.as_raw() as u32);
        // Copies have no stage of their own in the older form.
        let stage = |s: Stages| if s == Stages::COPY { vk::PipelineStageFlags::TRANSFER } else { stage(s) };
        let attachment = [vk::AttachmentDescription::default()
            .format(FORMAT)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .final_layout(vk::ImageLayout::GENERAL)];
        let colour = [vk::AttachmentReference::default().layout(vk::ImageLayout::GENERAL)];
        let subpass = [vk::SubpassDescription::default().color_attachments(&colour)];
        let dependency = [vk::SubpassDependency::default()
            .src_subpass(vk::SUBPASS_EXTERNAL)
            .src_stage_mask(stage(src))
            .dst_stage_mask(stage(dst))];
        let info = vk::RenderPassCreateInfo::default()
            .attachments(&attachment)
            .subpasses(&subpass)
            .dependencies(&dependency);
        unsafe {
            let pass = d.create_render_pass(&info, None).expect("a render pass");
            let views = [self.target.view];
            let side = super::draw::SIDE;
            let info = vk::FramebufferCreateInfo::default()
                .render_pass(pass)
                .attachments(&views)
                .width(side)
                .height(side)
                .layers(1);
            let framebuffer = d.create_framebuffer(&info, None).expect("a framebuffer");
            between(pass, framebuffer);
            d.destroy_framebuffer(framebuffer, None);
            d.destroy_render_pass(pass, None);
        }
    }

    fn alone(&self, counter: &str, job: Job) -> Result<f64, String> {
        self.rig.counted(counter, || self.rig.context.run(|d, c| self.record(d, c, job)))
    }

    fn both(&self, first: Job, second: Job, between: Between) -> client::Result<()> {
        let context = &self.rig.context;
        let d = &context.device;
        let one = |between: &dyn Fn(&ash::Device, vk::CommandBuffer)| {
            context.run(|d, c| {
                self.record(d, c, first);
                between(d, c);
                self.record(d, c, second);
            })
        };
        match between {
            Between::Nothing => one(&|_, _| ()),
            Between::Barrier(src, dst) => one(&|d, c| {
                let barrier = [vk::MemoryBarrier2::default().src_stage_mask(src).dst_stage_mask(dst)];
                unsafe {
                    d.cmd_pipeline_barrier2(c, &vk::DependencyInfo::default().memory_barriers(&barrier))
                };
            }),
            Between::Event(src, dst) => {
                let info = vk::EventCreateInfo::default().flags(vk::EventCreateFlags::DEVICE_ONLY);
                let event =
                    unsafe { d.create_event(&info, None) }.map_err(|e| client::Error(e.to_string()))?;
                let done = one(&|d, c| {
                    let barrier = [vk::MemoryBarrier2::default().src_stage_mask(src).dst_stage_mask(dst)];
                    let info = vk::DependencyInfo::default().memory_barriers(&barrier);
                    unsafe {
                        d.cmd_set_event2(c, event, &info);
                        d.cmd_wait_events2(c, &[event], &[info]);
                    }
                });
                unsafe { d.destroy_event(event, None) };
                done
            }
            Between::Subpass(src, dst) => {
                let mut done = Ok(());
                let colour = vk::ClearColorValue { float32: [1.0 - self.value.get(); 4] };
                self.value.set(1.0 - self.value.get());
                let values = [vk::ClearValue { color: colour }];
                let side = super::draw::SIDE;
                let area =
                    vk::Rect2D { extent: vk::Extent2D { width: side, height: side }, ..Default::default() };
                self.subpass([src, dst], |pass, framebuffer| {
                    let info = vk::RenderPassBeginInfo::default()
                        .render_pass(pass)
                        .framebuffer(framebuffer)
                        .render_area(area)
                        .clear_values(&values);
                    done = context.run(|d, c| {
                        self.record(d, c, first);
                        unsafe {
                            d.cmd_begin_render_pass(c, &info, vk::SubpassContents::INLINE);
                            d.cmd_end_render_pass(c);
                        }
                    });
                });
                done
            }
            Between::Host => {
                context.run(|d, c| self.record(d, c, first))?;
                context.run(|d, c| self.record(d, c, second))
            }
            Between::Queues | Between::Binary | Between::Timeline => self.queues(first, second, between),
        }
    }

    /// The second on another queue.
    fn queues(&self, first: Job, second: Job, between: Between) -> client::Result<()> {
        let context = &self.rig.context;
        let d = &context.device;
        let error = |e: vk::Result| client::Error(e.to_string());
        let other = context.second.ok_or(client::Error("needs two queues".into()))?;
        let lists = [
            context.record(|d, c| self.record(d, c, first))?,
            context.record(|d, c| self.record(d, c, second))?,
        ];
        let ty = match between {
            Between::Timeline => vk::SemaphoreType::TIMELINE,
            _ => vk::SemaphoreType::BINARY,
        };
        let mut ty = vk::SemaphoreTypeCreateInfo::default().semaphore_type(ty);
        unsafe {
            let semaphore = d
                .create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut ty), None)
                .map_err(error)?;
            let mut op = vec![
                vk::SemaphoreSubmitInfo::default()
                    .semaphore(semaphore)
                    .value(1)
                    .stage_mask(Stages::ALL_COMMANDS),
            ];
            if between == Between::Queues {
                op.clear();
            }
            let infos = lists.map(|c| [vk::CommandBufferSubmitInfo::default().command_buffer(c)]);
            let [a, b] = [0, 1].map(|i: usize| vk::SubmitInfo2::default().command_buffer_infos(&infos[i]));
            let none = vk::Fence::null();
            d.queue_submit2(context.queue, &[a.signal_semaphore_infos(&op)], none).map_err(error)?;
            d.queue_submit2(other, &[b.wait_semaphore_infos(&op)], none).map_err(error)?;
            d.device_wait_idle().map_err(error)?;
            d.destroy_semaphore(semaphore, None);
        }
        lists.into_iter().for_each(|c| context.free(c));
        Ok(())
    }
}

impl Rig {
    /// How much less of a counter two jobs take together than each alone.
    pub(super) fn overlap(
        &self,
        counter: &str,
        first: Job,
        second: Job,
        between: Between,
    ) -> Result<f64, String> {
        let c = &self.context;
        let side = super::draw::SIDE;
        let vertex = include_bytes!("../../../icd/tests/shaders/heavy.vert.spv");
        let fragment = include_bytes!("../../../icd/tests/shaders/heavy.frag.spv");
        let info = PipelineInfo { push_size: 4, ..PipelineInfo::new(vertex, fragment, FORMAT) };
        let image = |side| Image::new(c, ImageInfo::colour(FORMAT, [side; 2]).stored()).map_err(text);
        let jobs = Jobs {
            rig: self,
            target: image(side)?,
            region: image(64)?,
            triangle: Pipeline::new(c, &info, None).map_err(text)?,
            value: Cell::new(0.0),
        };
        self.alu.set(&[&self.buffers[0]]);
        let alone = jobs.alone(counter, first)? + jobs.alone(counter, second)?;
        Ok(alone - self.counted(counter, || jobs.both(first, second, between))?)
    }
}
