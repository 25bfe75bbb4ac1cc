//! A device whose channel is read: something to dispatch, something to draw, queries.

use super::text;
use channel::{Channel, Read, Reader, Record, Span, Value, WorkloadKind};
use client::compute::KernelInfo;
use client::graphics::{Attachment, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo};
use client::{Buffer, Context, Kernel, Library};
use std::ffi::{CStr, CString, c_void};
use std::rc::Rc;
use vk::Handle;

/// Pixels of a side of the target.
pub const SIDE: u32 = 64;
/// Vertices of a draw, and the first: one triangle over all of the target, or a pair over its left half.
pub const TRIANGLE: (u32, u32) = (3, 0);
pub const PAIR: (u32, u32) = (6, 3);

/// A record, kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Got {
    pub order: u64,
    pub queue_order: u64,
    pub submission: u64,
    pub device: u32,
    pub queue: u32,
    pub kind: WorkloadKind,
    pub views: u32,
    pub frame: Option<u64>,
    pub span: Span,
    pub binning: Span,
    pub main: Span,
    pub label: String,
    pub name: String,
    pub events: Vec<u64>,
}

impl From<Record<'_>> for Got {
    fn from(r: Record) -> Got {
        Got {
            order: r.order,
            queue_order: r.queue_order,
            submission: r.submission,
            device: r.device,
            queue: r.queue,
            kind: r.kind,
            views: r.views,
            frame: r.frame,
            span: r.span,
            binning: r.binning,
            main: r.main,
            label: r.label.into(),
            name: r.name.into(),
            events: r.events.into(),
        }
    }
}

impl Got {
    /// Its numbers, but for the order among all queues.
    pub fn digest(&self) -> Vec<u64> {
        let spans = [self.span, self.binning, self.main].map(|s| [s.begin, s.end]);
        let head = [self.queue_order, self.submission, u64::from(self.views)];
        head.into_iter().chain(spans.into_iter().flatten()).chain(self.events.iter().copied()).collect()
    }
}

pub struct Rig {
    pub context: Rc<Context>,
    pub channel: Channel,
    pub labels: ash::ext::debug_utils::Device,
    pub performance: ash::khr::performance_query::Instance,
    pub kernel: Kernel,
    pub buffers: [Buffer; 2],
    pub pipeline: Pipeline,
    pub target: Image,
    pub pool: vk::CommandPool,
}

impl Rig {
    /// On the first device that the environment shows.
    pub fn open() -> Result<Rig, String> {
        let mut queries = vk::PhysicalDevicePerformanceQueryFeaturesKHR::default()
            .performance_counter_query_pools(true)
            .performance_counter_multiple_query_pools(true);
        let mut boundary = vk::PhysicalDeviceFrameBoundaryFeaturesEXT::default().frame_boundary(true);
        boundary.p_next = (&raw mut queries).cast();
        let names = [ash::khr::performance_query::NAME, ash::ext::frame_boundary::NAME];
        let context = Context::of_instance(
            Library::any().map_err(text)?,
            &[ash::ext::debug_utils::NAME],
            &names,
            (&raw mut boundary).cast(),
        )
        .map_err(text)?;
        let channel = Channel::find().ok_or("no channel is found")?;
        let (instance, device) = (&context.instance, &context.device);
        let labels = ash::ext::debug_utils::Device::new(instance, device);
        let performance = ash::khr::performance_query::Instance::new(context.entry(), instance);
        let lock = ash::khr::performance_query::Device::new(instance, device);
        let pool_info = vk::CommandPoolCreateInfo::default();
        // SAFETY: plain Vulkan calls.
        let pool = unsafe {
            lock.acquire_profiling_lock(&Default::default()).map_err(text)?;
            device.create_command_pool(&pool_info, None).map_err(text)?
        };
        let spirv = include_bytes!("../../shaders/static/straight.comp.spv");
        let kernel = Kernel::new(&context, &KernelInfo { spirv, bindings: 2, push_size: 4 }).map_err(text)?;
        let buffers =
            [Buffer::new(&context, 1 << 20).map_err(text)?, Buffer::new(&context, 1 << 20).map_err(text)?];
        kernel.set(&[&buffers[0], &buffers[1]]);
        let colour = vk::Format::R8G8B8A8_UNORM;
        let mut info = PipelineInfo::new(
            include_bytes!("../../shaders/instrumentation/fill.vert.spv"),
            include_bytes!("../../shaders/instrumentation/plain.frag.spv"),
            colour,
        );
        info.push_size = 8;
        let pipeline = Pipeline::new(&context, &info, None).map_err(text)?;
        let target = Image::new(&context, ImageInfo::colour(colour, [SIDE; 2])).map_err(text)?;
        Ok(Rig { channel, labels, performance, kernel, buffers, pipeline, target, pool, context })
    }

    /// Records, submits and waits.
    pub fn run(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<(), String> {
        self.context.run(record).map_err(text)
    }

    /// What a started reader gets of what is done meanwhile, none of which is lost.
    pub fn read(&self, work: impl FnOnce() -> Result<(), String>) -> Result<Vec<Got>, String> {
        let mut reader = self.channel.reader(1000).ok_or("no reader")?;
        reader.start();
        work()?;
        reader.stop();
        let found = rest(&mut reader);
        super::same("lost records", reader.lost(), 0)?;
        Ok(found)
    }

    /// As [`Rig::read`], of one command buffer.
    pub fn read_run(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<Vec<Got>, String> {
        self.read(|| self.run(record))
    }

    pub fn dispatch(&self, c: vk::CommandBuffer, groups: u32) {
        self.kernel.bind(c, &0.5f32.to_le_bytes());
        // SAFETY: recording with everything bound.
        unsafe { self.context.device.cmd_dispatch(c, groups, 1, 1) }
    }

    pub fn fill(&self, c: vk::CommandBuffer, value: u32) {
        // SAFETY: recording with a live buffer.
        unsafe { self.context.device.cmd_fill_buffer(c, self.buffers[1].handle, 0, vk::WHOLE_SIZE, value) }
    }

    /// A draw of [`TRIANGLE`] or [`PAIR`].
    pub fn draw(&self, c: vk::CommandBuffer, (vertices, first): (u32, u32)) {
        let push: Vec<u8> = [0.5f32, 0.0].iter().flat_map(|f| f.to_le_bytes()).collect();
        let whole: Vec<u8> = [0.5f32, 1.0].iter().flat_map(|f| f.to_le_bytes()).collect();
        self.pipeline.bind(c, None, if first == 0 { &whole } else { &push });
        // SAFETY: recording with everything bound.
        unsafe { self.context.device.cmd_draw(c, vertices, 1, first, 0) }
    }

    pub fn pass(&self) -> Pass<'_> {
        let colours = vec![Attachment::new(&self.target, Load::colour([0.0; 4]))];
        Pass { colours, size: [SIDE; 2], ..Default::default() }
    }

    pub fn begin_label(&self, c: vk::CommandBuffer, name: &CStr) {
        // SAFETY (here and below): recording into a command buffer that has begun; the name outlives the call.
        unsafe {
            let label = vk::DebugUtilsLabelEXT::default().label_name(name);
            self.labels.cmd_begin_debug_utils_label(c, &label)
        }
    }

    pub fn end_label(&self, c: vk::CommandBuffer) {
        unsafe { self.labels.cmd_end_debug_utils_label(c) }
    }

    pub fn insert(&self, c: vk::CommandBuffer, name: &str) {
        let name = CString::new(name).unwrap_or_default();
        let label = vk::DebugUtilsLabelEXT::default().label_name(&name);
        unsafe { self.labels.cmd_insert_debug_utils_label(c, &label) }
    }

    pub fn queries(&self, info: &vk::QueryPoolCreateInfo) -> Result<Queries<'_>, String> {
        // SAFETY: a plain Vulkan call with structures that outlive it.
        let pool = unsafe { self.context.device.create_query_pool(info, None) }.map_err(text)?;
        Ok(Queries { rig: self, pool, count: info.query_count })
    }

    pub fn stamps(&self, count: u32) -> Result<Queries<'_>, String> {
        let info = vk::QueryPoolCreateInfo::default();
        self.queries(&info.query_type(vk::QueryType::TIMESTAMP).query_count(count))
    }

    /// One performance query of all counters, which the host has reset: the command buffer that begins it must not.
    pub fn counters(&self) -> Result<Queries<'_>, String> {
        let all: Vec<u32> = (0..self.channel.counters().len() as u32).collect();
        let mut counters = vk::QueryPoolPerformanceCreateInfoKHR::default().counter_indices(&all);
        let info = vk::QueryPoolCreateInfo::default();
        let info = info.query_type(vk::QueryType::PERFORMANCE_QUERY_KHR).query_count(1);
        let query = self.queries(&info.push_next(&mut counters))?;
        // SAFETY: a new pool, which no command buffer knows yet.
        unsafe { self.context.device.reset_query_pool(query.pool, 0, 1) }
        Ok(query)
    }

    /// The place of an event in records.
    pub fn event(&self, name: &str) -> Result<usize, String> {
        let names = self.channel.event_names();
        names.iter().position(|n| *n == name).ok_or_else(|| format!("no event {name}"))
    }

    /// The counters of the difference of two marks, as the words that a query's results have.
    pub fn between(&self, a: &Got, b: &Got) -> Result<Vec<u64>, String> {
        let events: Vec<u64> = b.events.iter().zip(&a.events).map(|(b, a)| b.wrapping_sub(*a)).collect();
        let values = self.channel.evaluate(&events).ok_or("events of the wrong number")?;
        let word = |v: &Value| match v {
            Value::Uint64(u) => *u,
            Value::Float64(f) => f.to_bits(),
        };
        Ok(values.iter().map(word).collect())
    }

    pub fn device(&self) -> *const c_void {
        self.context.device.handle().as_raw() as *const c_void
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        // SAFETY: every submission has been waited for.
        unsafe { self.context.device.destroy_command_pool(self.pool, None) }
    }
}

/// What is left for a reader, without a wait.
pub fn rest(reader: &mut Reader) -> Vec<Got> {
    let mut found = vec![];
    while let Read::Record(r) = reader.read(Some(Default::default())) {
        found.push(r.into());
    }
    found
}

pub struct Queries<'a> {
    rig: &'a Rig,
    pub pool: vk::QueryPool,
    count: u32,
}

impl Queries<'_> {
    pub fn reset(&self, c: vk::CommandBuffer) {
        // SAFETY (here and below): recording into a command buffer that has begun.
        unsafe { self.rig.context.device.cmd_reset_query_pool(c, self.pool, 0, self.count) }
    }
    pub fn begin(&self, c: vk::CommandBuffer) {
        unsafe { self.rig.context.device.cmd_begin_query(c, self.pool, 0, Default::default()) }
    }
    pub fn end(&self, c: vk::CommandBuffer) {
        unsafe { self.rig.context.device.cmd_end_query(c, self.pool, 0) }
    }
    pub fn stamp(&self, c: vk::CommandBuffer, stage: vk::PipelineStageFlags, query: u32) {
        unsafe { self.rig.context.device.cmd_write_timestamp(c, stage, self.pool, query) }
    }
    /// A word of each query (timestamps).
    pub fn times(&self) -> Result<Vec<u64>, String> {
        let mut values = vec![0u64; self.count as usize];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: the submission has been waited for.
        unsafe { self.rig.context.device.get_query_pool_results(self.pool, 0, &mut values, flags) }
            .map_err(text)?;
        Ok(values)
    }
    /// All words of the one query (counters).
    pub fn words(&self) -> Result<Vec<u64>, String> {
        let mut words = vec![0u64; self.rig.channel.counters().len()];
        let f = self.rig.context.device.fp_v1_0().get_query_pool_results;
        let (device, bytes) = (self.rig.context.device.handle(), words.len() * 8);
        let flags = vk::QueryResultFlags::empty();
        // SAFETY: room for a query's results; the submission has been waited for.
        let r = unsafe { f(device, self.pool, 0, 1, bytes, words.as_mut_ptr().cast(), bytes as u64, flags) };
        super::same("vkGetQueryPoolResults", r, vk::Result::SUCCESS)?;
        Ok(words)
    }
}

impl Drop for Queries<'_> {
    fn drop(&mut self) {
        // SAFETY: every submission has been waited for.
        unsafe { self.rig.context.device.destroy_query_pool(self.pool, None) }
    }
}
