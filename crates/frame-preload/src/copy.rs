//! Reading an image that is about to be presented.

use ash::vk;
use preload::Next;

pub struct Copy {
    pub device: vk::Device,
    pub physical: vk::PhysicalDevice,
    pub queue: vk::Queue,
    pub family: u32,
}

type Text<T> = Result<T, String>;

fn said(what: &'static str) -> impl Fn(vk::Result) -> String {
    move |e| format!("{what}: {e:?}")
}

impl Copy {
    /// The image as a PPM file.
    ///
    /// # Safety
    /// Living objects; the image is acquired, in the layout that presentation asks for, and all that draws to it has been
    /// submitted.
    pub unsafe fn picture(
        &self,
        swapchain: vk::SwapchainKHR,
        index: u32,
        format: vk::Format,
        extent: vk::Extent2D,
    ) -> Text<Vec<u8>> {
        let red = match format {
            vk::Format::B8G8R8A8_UNORM | vk::Format::B8G8R8A8_SRGB => 2,
            vk::Format::R8G8B8A8_UNORM | vk::Format::R8G8B8A8_SRGB => 0,
            other => return Err(format!("no picture of {other:?}")),
        };
        static PROC: Next<vk::PFN_vkGetDeviceProcAddr> = Next::new(c"vkGetDeviceProcAddr");
        static IMAGES: Next<vk::PFN_vkGetSwapchainImagesKHR> = Next::new(c"vkGetSwapchainImagesKHR");
        // SAFETY: what the caller keeps; names end in 0.
        let texels = unsafe {
            let load = |name: &std::ffi::CStr| match PROC.get()(self.device, name.as_ptr()) {
                Some(f) => f as *const _,
                None => std::ptr::null(),
            };
            let device = ash::Device::load_with(load, self.device);
            let mut count = index + 1;
            let mut images = vec![vk::Image::null(); count as usize];
            let result = IMAGES.get()(self.device, swapchain, &mut count, images.as_mut_ptr());
            if !matches!(result, vk::Result::SUCCESS | vk::Result::INCOMPLETE) {
                return Err(said("images")(result));
            }
            self.texels(&device, images[index as usize], extent).map_err(said("copy"))?
        };
        let mut file = format!("P6\n{} {}\n255\n", extent.width, extent.height).into_bytes();
        file.extend(texels.chunks(4).flat_map(|t| [t[red], t[1], t[2 - red]]));
        Ok(file)
    }

    /// Bytes of its texels, by rows.
    unsafe fn texels(
        &self,
        device: &ash::Device,
        image: vk::Image,
        extent: vk::Extent2D,
    ) -> ash::prelude::VkResult<Vec<u8>> {
        let bytes = u64::from(extent.width) * u64::from(extent.height) * 4;
        // SAFETY: what the caller keeps; everything that is made here is destroyed when the device is idle, unless a call
        // fails, and then the program's end is near.
        unsafe {
            device.device_wait_idle()?;
            let info = vk::BufferCreateInfo::default().size(bytes).usage(vk::BufferUsageFlags::TRANSFER_DST);
            let buffer = device.create_buffer(&info, None)?;
            let needs = device.get_buffer_memory_requirements(buffer);
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(self.host(needs));
            let memory = device.allocate_memory(&info, None)?;
            device.bind_buffer_memory(buffer, memory, 0)?;
            let pool = device.create_command_pool(
                &vk::CommandPoolCreateInfo::default().queue_family_index(self.family),
                None,
            )?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let command = device.allocate_command_buffers(&info)?[0];
            device.begin_command_buffer(command, &vk::CommandBufferBeginInfo::default())?;
            let (shown, read) = (vk::ImageLayout::PRESENT_SRC_KHR, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
            turn(device, command, image, [shown, read], vk::AccessFlags::TRANSFER_READ);
            let layers =
                vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
            let region = vk::BufferImageCopy::default().image_subresource(layers).image_extent(extent.into());
            device.cmd_copy_image_to_buffer(command, image, read, buffer, &[region]);
            turn(device, command, image, [read, shown], vk::AccessFlags::empty());
            device.end_command_buffer(command)?;
            let info = vk::SubmitInfo::default().command_buffers(std::slice::from_ref(&command));
            device.queue_submit(self.queue, &[info], vk::Fence::null())?;
            device.device_wait_idle()?;
            let at = device.map_memory(memory, 0, bytes, vk::MemoryMapFlags::empty())?;
            let texels = std::slice::from_raw_parts(at.cast::<u8>(), bytes as usize).to_vec();
            device.destroy_command_pool(pool, None);
            device.destroy_buffer(buffer, None);
            device.free_memory(memory, None);
            Ok(texels)
        }
    }

    /// A type of memory that the host sees.
    unsafe fn host(&self, needs: vk::MemoryRequirements) -> u32 {
        static NEXT: Next<vk::PFN_vkGetPhysicalDeviceMemoryProperties> =
            Next::new(c"vkGetPhysicalDeviceMemoryProperties");
        let mut memory = vk::PhysicalDeviceMemoryProperties::default();
        // SAFETY: a living physical device.
        unsafe { NEXT.get()(self.physical, &mut memory) };
        let seen = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let good = |(i, t): (usize, &vk::MemoryType)| {
            needs.memory_type_bits >> i & 1 != 0 && t.property_flags.contains(seen)
        };
        // Every device has one for every buffer.
        memory.memory_types_as_slice().iter().enumerate().position(good).unwrap_or(0) as u32
    }
}

/// From one layout to another, after all that came before.
unsafe fn turn(
    device: &ash::Device,
    command: vk::CommandBuffer,
    image: vk::Image,
    [old, new]: [vk::ImageLayout; 2],
    access: vk::AccessFlags,
) {
    let whole = vk::ImageSubresourceRange::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .level_count(1)
        .layer_count(1);
    let barrier = vk::ImageMemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(access)
        .old_layout(old)
        .new_layout(new)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image)
        .subresource_range(whole);
    let stages = vk::PipelineStageFlags::ALL_COMMANDS;
    // SAFETY: a command buffer that is being recorded, and an image of its device.
    unsafe {
        device.cmd_pipeline_barrier(
            command,
            stages,
            stages,
            vk::DependencyFlags::empty(),
            &[],
            &[],
            &[barrier],
        )
    };
}
