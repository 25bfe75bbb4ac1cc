//! A device by plain calls, as little of it as there can be: of an old version, with no features, with several queues.

use crate::check::text;
use ash::vk;
use client::Library;
use std::ffi::CStr;

pub struct Bare {
    pub device: ash::Device,
    /// Two, where the driver's first family has them.
    pub queues: Vec<vk::Queue>,
    /// 64 KiB.
    pub buffer: vk::Buffer,
    pub pool: vk::CommandPool,
    memory: vk::DeviceMemory,
    instance: ash::Instance,
    _library: Library,
}

impl Bare {
    /// `settings`: a structure for VkInstanceCreateInfo's chain, and the extension that it is of.
    pub fn open(
        version: u32,
        timeline: bool,
        settings: Option<(&mut vk::LayerSettingsCreateInfoEXT, &CStr)>,
    ) -> Result<Bare, String> {
        let library = Library::any().map_err(text)?;
        let application = vk::ApplicationInfo::default().api_version(version);
        let mut info = vk::InstanceCreateInfo::default().application_info(&application);
        let mut names = vec![];
        if let Some((settings, name)) = settings {
            info = info.push_next(settings);
            names.push(name.as_ptr());
        }
        let info = info.enabled_extension_names(&names);
        // SAFETY: plain Vulkan calls with structs that outlive them.
        unsafe {
            let instance = library.entry.create_instance(&info, None).map_err(text)?;
            let physical =
                *instance.enumerate_physical_devices().map_err(text)?.first().ok_or("no device")?;
            let families = instance.get_physical_device_queue_family_properties(physical);
            let count = families[0].queue_count.min(2);
            let priorities = vec![1.0; count as usize];
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&priorities)];
            let mut feature =
                vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(timeline);
            let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
            if version >= vk::API_VERSION_1_2 {
                info = info.push_next(&mut feature);
            }
            let device = instance.create_device(physical, &info, None).map_err(text)?;
            // What the program passed is as it was.
            if version >= vk::API_VERSION_1_2 && (feature.timeline_semaphore == vk::TRUE) != timeline {
                return Err("the program's structure was changed".into());
            }
            let queues = (0..count).map(|i| device.get_device_queue(0, i)).collect();
            let info = vk::BufferCreateInfo::default().size(65536).usage(vk::BufferUsageFlags::TRANSFER_DST);
            let buffer = device.create_buffer(&info, None).map_err(text)?;
            let needs = device.get_buffer_memory_requirements(buffer);
            let ty = needs.memory_type_bits.trailing_zeros();
            let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(ty);
            let memory = device.allocate_memory(&info, None).map_err(text)?;
            device.bind_buffer_memory(buffer, memory, 0).map_err(text)?;
            let pool = device.create_command_pool(&Default::default(), None).map_err(text)?;
            Ok(Bare { device, queues, buffer, pool, memory, instance, _library: library })
        }
    }

    /// Records fills of these sizes, a barrier after each.
    pub fn fills(
        &self,
        flags: vk::CommandBufferUsageFlags,
        sizes: &[u64],
    ) -> Result<vk::CommandBuffer, String> {
        let d = &self.device;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        // SAFETY: plain Vulkan calls.
        unsafe {
            let c = d.allocate_command_buffers(&info).map_err(text)?[0];
            d.begin_command_buffer(c, &vk::CommandBufferBeginInfo::default().flags(flags)).map_err(text)?;
            for size in sizes {
                d.cmd_fill_buffer(c, self.buffer, 0, *size, 5);
                client::graphics::barrier(d, c);
            }
            d.end_command_buffer(c).map_err(text)?;
            Ok(c)
        }
    }

    /// A timeline semaphore at 0, or a binary one.
    pub fn semaphore(&self, timeline: bool) -> Result<vk::Semaphore, String> {
        let ty = if timeline { vk::SemaphoreType::TIMELINE } else { vk::SemaphoreType::BINARY };
        let mut ty = vk::SemaphoreTypeCreateInfo::default().semaphore_type(ty);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut ty);
        // SAFETY: a plain Vulkan call.
        unsafe { self.device.create_semaphore(&info, None) }.map_err(text)
    }

    /// One batch by vkQueueSubmit; values are given where any is not 0.
    pub fn submit(
        &self,
        queue: usize,
        lists: &[vk::CommandBuffer],
        waits: &[(vk::Semaphore, u64)],
        signals: &[(vk::Semaphore, u64)],
    ) -> Result<(), String> {
        let halves = |o: &[(vk::Semaphore, u64)]| -> (Vec<_>, Vec<_>) { o.iter().copied().unzip() };
        let ((w, w_values), (s, s_values)) = (halves(waits), halves(signals));
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; w.len()];
        let mut values = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&w_values)
            .signal_semaphore_values(&s_values);
        let mut info = vk::SubmitInfo::default()
            .wait_semaphores(&w)
            .wait_dst_stage_mask(&stages)
            .command_buffers(lists)
            .signal_semaphores(&s);
        if w_values.iter().chain(&s_values).any(|v| *v != 0) {
            info = info.push_next(&mut values);
        }
        // SAFETY: live handles.
        unsafe { self.device.queue_submit(self.queues[queue], &[info], vk::Fence::null()) }.map_err(text)
    }

    /// The host signals a timeline semaphore.
    pub fn signal(&self, semaphore: vk::Semaphore, value: u64) -> Result<(), String> {
        let info = vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(value);
        // SAFETY: a live timeline semaphore.
        unsafe { self.device.signal_semaphore(&info) }.map_err(text)
    }

    pub fn idle(&self) -> Result<(), String> {
        // SAFETY: a live device.
        unsafe { self.device.device_wait_idle() }.map_err(text)
    }

    pub fn close(self, semaphores: &[vk::Semaphore]) -> Result<(), String> {
        self.idle()?;
        // SAFETY: nothing is pending.
        unsafe {
            semaphores.iter().for_each(|s| self.device.destroy_semaphore(*s, None));
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_buffer(self.buffer, None);
            self.device.free_memory(self.memory, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
        Ok(())
    }
}
