//! Images of any type and tiling with their memory, in `GENERAL` layout, and copies to and from images by the device.

use super::rig::Rig;
use super::text;
use client::Buffer;
use client::graphics::barrier;

const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

/// An image and its memory, whose layout is its maker's business.
pub struct Owned<'r> {
    pub rig: &'r Rig,
    pub handle: vk::Image,
    pub memory: vk::DeviceMemory,
}

impl<'r> Owned<'r> {
    pub fn new(
        rig: &'r Rig,
        info: &vk::ImageCreateInfo,
        properties: vk::MemoryPropertyFlags,
    ) -> Result<Owned<'r>, String> {
        let d = &rig.context.device;
        // SAFETY: plain Vulkan calls with structs that outlive them.
        unsafe {
            let handle = d.create_image(info, None).map_err(text)?;
            let needs = d.get_image_memory_requirements(handle);
            let kind = rig.context.memory_type(needs.memory_type_bits, properties).map_err(text)?;
            let allocate =
                vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
            let memory = d.allocate_memory(&allocate, None).map_err(text)?;
            d.bind_image_memory(handle, memory, 0).map_err(text)?;
            Ok(Owned { rig, handle, memory })
        }
    }

    pub fn upload(&self, region: vk::BufferImageCopy, bytes: &[u8]) -> Result<(), String> {
        upload(self.rig, self.handle, region, bytes)
    }

    pub fn download(&self, region: vk::BufferImageCopy, bytes: usize) -> Result<Vec<u8>, String> {
        let out = Buffer::new(&self.rig.context, bytes).map_err(text)?;
        self.rig.run(|d, c| {
            barrier(d, c);
            // SAFETY: recording; the buffer has room for the region.
            unsafe { d.cmd_copy_image_to_buffer(c, self.handle, GENERAL, out.handle, &[region]) }
            barrier(d, c);
        })?;
        Ok(out.bytes()[..bytes].to_vec())
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        // SAFETY: every submission has been waited for.
        unsafe {
            self.rig.context.device.destroy_image(self.handle, None);
            self.rig.context.device.free_memory(self.memory, None);
        }
    }
}

/// Copies bytes into a region of an image in `GENERAL` layout, which takes as many.
pub fn upload(rig: &Rig, image: vk::Image, region: vk::BufferImageCopy, bytes: &[u8]) -> Result<(), String> {
    let from = Buffer::with(&rig.context, bytes).map_err(text)?;
    rig.run(|d, c| {
        // SAFETY: recording; the buffer holds the region.
        unsafe { d.cmd_copy_buffer_to_image(c, from.handle, image, GENERAL, &[region]) }
        barrier(d, c);
    })
}
