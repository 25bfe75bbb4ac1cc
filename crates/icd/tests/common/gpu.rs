//! A device with a queue, and what the tests do with it.

use crate::common::{instance, physical_device};
use ash::vk;

pub struct Gpu {
    pub instance: ash::Instance,
    pub device: ash::Device,
    pub queue: vk::Queue,
    pub pool: vk::CommandPool,
}

/// A buffer with mapped memory of its own.
#[allow(dead_code)] // no test uses all of it
pub struct Mapped {
    pub buffer: vk::Buffer,
    pub memory: vk::DeviceMemory,
    pub words: &'static mut [u32],
}

/// An image with memory of its own, and a view of all of it.
#[allow(dead_code)] // no test uses all of it
#[derive(Clone, Copy)]
pub struct Viewed {
    pub image: vk::Image,
    pub memory: vk::DeviceMemory,
    pub view: vk::ImageView,
}

/// All of an image of one level and layer.
#[allow(dead_code)] // no test uses all of it
pub const COLOUR: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

#[allow(dead_code)] // no test uses all of it
impl Gpu {
    pub fn new() -> Gpu {
        Gpu::with(&[], &mut vk::PhysicalDeviceVulkan11Features::default())
    }

    /// With these extensions and features besides.
    pub fn with(extensions: &[&std::ffi::CStr], features: &mut impl vk::ExtendsDeviceCreateInfo) -> Gpu {
        Gpu::of(instance(&[]), extensions, features)
    }

    /// As [`Gpu::with`], of this instance, which goes with it.
    pub fn of(
        instance: ash::Instance,
        extensions: &[&std::ffi::CStr],
        features: &mut impl vk::ExtendsDeviceCreateInfo,
    ) -> Gpu {
        let names: Vec<_> = extensions.iter().map(|e| e.as_ptr()).collect();
        let physical = physical_device(&instance);
        let priorities = [1.0; 2];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
        let mut v12 = vk::PhysicalDeviceVulkan12Features::default()
            .timeline_semaphore(true)
            .host_query_reset(true)
            .buffer_device_address(true);
        let mut v13 =
            vk::PhysicalDeviceVulkan13Features::default().synchronization2(true).dynamic_rendering(true);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(features)
            .push_next(&mut v12)
            .push_next(&mut v13);
        // SAFETY (here and below): handles are alive, structures outlive the calls.
        unsafe {
            let device = instance.create_device(physical, &info, None).expect("a device is made");
            let queue = device.get_device_queue(0, 0);
            let pool = vk::CommandPoolCreateInfo::default();
            let pool = device.create_command_pool(&pool, None).expect("a command pool is made");
            Gpu { instance, device, queue, pool }
        }
    }

    pub fn buffer(&self, words: usize) -> Mapped {
        let usage = vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::VERTEX_BUFFER
            | vk::BufferUsageFlags::INDEX_BUFFER;
        let size = words as u64 * 4;
        unsafe {
            let info = vk::BufferCreateInfo::default().size(size).usage(usage);
            let buffer = self.device.create_buffer(&info, None).expect("a buffer is made");
            let need = self.device.get_buffer_memory_requirements(buffer);
            assert!(need.size >= size && need.alignment.is_power_of_two() && need.memory_type_bits & 1 != 0);
            let info = vk::MemoryAllocateInfo::default().allocation_size(need.size);
            let memory = self.device.allocate_memory(&info, None).expect("memory is allocated");
            self.device.bind_buffer_memory(buffer, memory, 0).expect("the buffer is bound");
            let at =
                self.device.map_memory(memory, 0, vk::WHOLE_SIZE, Default::default()).expect("it is mapped");
            Mapped { buffer, memory, words: std::slice::from_raw_parts_mut(at.cast(), words) }
        }
    }

    /// An RGBA8 image of one level with memory of its own, and a view of it.
    pub fn image(&self, size: [u32; 2], usage: vk::ImageUsageFlags) -> Viewed {
        self.layers(size, 1, usage)
    }

    /// The same of so many layers.
    pub fn layers(&self, size: [u32; 2], layers: u32, usage: vk::ImageUsageFlags) -> Viewed {
        self.image_of(vk::Format::R8G8B8A8_UNORM, size, layers, usage)
    }

    /// The same of another format.
    pub fn image_of(
        &self,
        format: vk::Format,
        size: [u32; 2],
        layers: u32,
        usage: vk::ImageUsageFlags,
    ) -> Viewed {
        self.multisampled(format, size, layers, usage, vk::SampleCountFlags::TYPE_1)
    }

    /// And of so many samples.
    pub fn multisampled(
        &self,
        format: vk::Format,
        [width, height]: [u32; 2],
        layers: u32,
        usage: vk::ImageUsageFlags,
        samples: vk::SampleCountFlags,
    ) -> Viewed {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D { width, height, depth: 1 })
            .mip_levels(1)
            .array_layers(layers)
            .samples(samples)
            .usage(usage);
        unsafe {
            let image = self.device.create_image(&info, None).expect("an image is made");
            let need = self.device.get_image_memory_requirements(image);
            let info = vk::MemoryAllocateInfo::default().allocation_size(need.size);
            let memory = self.device.allocate_memory(&info, None).expect("memory is allocated");
            self.device.bind_image_memory(image, memory, 0).expect("the image is bound");
            let info = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(match layers {
                    1 => vk::ImageViewType::TYPE_2D,
                    _ => vk::ImageViewType::TYPE_2D_ARRAY,
                })
                .format(format)
                .subresource_range(vk::ImageSubresourceRange { layer_count: layers, ..COLOUR });
            let view = self.device.create_image_view(&info, None).expect("a view is made");
            Viewed { image, memory, view }
        }
    }

    pub fn free_image(&self, i: Viewed) {
        unsafe {
            self.device.destroy_image_view(i.view, None);
            self.device.destroy_image(i.image, None);
            self.device.free_memory(i.memory, None);
        }
    }

    /// A command buffer that `record` filled.
    pub fn record(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> vk::CommandBuffer {
        unsafe {
            let info =
                vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
            let c = self.device.allocate_command_buffers(&info).expect("a command buffer")[0];
            self.device.begin_command_buffer(c, &Default::default()).expect("it begins");
            record(&self.device, c);
            self.device.end_command_buffer(c).expect("it ends");
            c
        }
    }

    pub fn submit(&self, c: vk::CommandBuffer, fence: vk::Fence) {
        let buffers = [c];
        let submit = [vk::SubmitInfo::default().command_buffers(&buffers)];
        unsafe { self.device.queue_submit(self.queue, &submit, fence) }.expect("work is accepted");
    }

    pub fn run(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) {
        let c = self.record(record);
        self.submit(c, vk::Fence::null());
        unsafe { self.device.queue_wait_idle(self.queue) }.expect("work ends");
    }

    pub fn free(&self, m: Mapped) {
        unsafe {
            self.device.destroy_buffer(m.buffer, None);
            self.device.free_memory(m.memory, None);
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        unsafe {
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}
