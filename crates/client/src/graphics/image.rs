//! Images in device memory with a view of the whole, filled from and read back to the host.

use super::barrier;
use crate::{Buffer, Context, Error, Result};
use ash::vk;
use std::rc::Rc;

/// What an image is.
#[derive(Clone, Copy, Debug)]
pub struct ImageInfo {
    pub format: vk::Format,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Slices of a three-dimensional image; 0 if it is a flat one.
    pub depth: u32,
    pub layers: u32,
    pub mips: u32,
    /// Samples a pixel: 1, 2, 4, 8 or 16.
    pub samples: u32,
    pub usage: vk::ImageUsageFlags,
    /// Six layers seen as a cube.
    pub cube: bool,
    /// Further flags of the image.
    pub flags: vk::ImageCreateFlags,
    /// Aspects that the view has; none: all.
    pub view: vk::ImageAspectFlags,
}

impl ImageInfo {
    fn with(format: vk::Format, size: [u32; 2], usage: vk::ImageUsageFlags) -> Self {
        let (flags, view) = Default::default();
        Self { format, size, depth: 0, layers: 1, mips: 1, samples: 1, usage, cube: false, flags, view }
    }

    /// A colour attachment that can be copied out and sampled.
    pub fn colour(format: vk::Format, size: [u32; 2]) -> Self {
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT
            | vk::ImageUsageFlags::TRANSFER_SRC
            | vk::ImageUsageFlags::SAMPLED;
        Self::with(format, size, usage)
    }

    /// That shaders may store to, which keeps a tile-based GPU from compressing it.
    pub fn stored(self) -> Self {
        Self { usage: self.usage | vk::ImageUsageFlags::STORAGE, ..self }
    }

    /// A depth (and stencil) attachment that can be copied out and sampled.
    pub fn depth(format: vk::Format, size: [u32; 2]) -> Self {
        let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
            | vk::ImageUsageFlags::TRANSFER_SRC
            | vk::ImageUsageFlags::SAMPLED;
        Self::with(format, size, usage)
    }

    /// A texture filled by [`Image::upload`].
    pub fn texture(format: vk::Format, size: [u32; 2]) -> Self {
        Self::with(format, size, vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::SAMPLED)
    }

    /// A three-dimensional texture of one level.
    pub fn volume(format: vk::Format, [width, height, depth]: [u32; 3]) -> Self {
        Self { depth, ..Self::texture(format, [width, height]) }
    }

    /// An attachment whose contents need never leave the tile: lazily allocated where the driver has such memory.
    pub fn transient(mut self) -> Self {
        let attachment =
            vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        self.usage = (self.usage & attachment) | vk::ImageUsageFlags::TRANSIENT_ATTACHMENT;
        self
    }

    fn is_transient(&self) -> bool {
        self.usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT)
    }

    /// The extent of a mip level.
    pub fn level(&self, mip: u32) -> [u32; 2] {
        self.size.map(|s| (s >> mip).max(1))
    }

    fn aspects(&self) -> vk::ImageAspectFlags {
        match self.format {
            vk::Format::D16_UNORM | vk::Format::D32_SFLOAT | vk::Format::X8_D24_UNORM_PACK32 => {
                vk::ImageAspectFlags::DEPTH
            }
            vk::Format::S8_UINT => vk::ImageAspectFlags::STENCIL,
            vk::Format::D16_UNORM_S8_UINT
            | vk::Format::D24_UNORM_S8_UINT
            | vk::Format::D32_SFLOAT_S8_UINT => vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL,
            _ => vk::ImageAspectFlags::COLOR,
        }
    }
}

/// An image, its memory and a view of all of it.
pub struct Image {
    context: Rc<Context>,
    pub info: ImageInfo,
    pub handle: vk::Image,
    pub view: vk::ImageView,
    memory: vk::DeviceMemory,
}

impl Image {
    pub fn new(context: &Rc<Context>, info: ImageInfo) -> Result<Self> {
        let device = &context.device;
        let flags =
            if info.cube { vk::ImageCreateFlags::CUBE_COMPATIBLE } else { vk::ImageCreateFlags::empty() }
                | info.flags;
        let create = vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(if info.depth > 0 { vk::ImageType::TYPE_3D } else { vk::ImageType::TYPE_2D })
            .format(info.format)
            .extent(vk::Extent3D { width: info.size[0], height: info.size[1], depth: info.depth.max(1) })
            .mip_levels(info.mips)
            .array_layers(info.layers)
            .samples(vk::SampleCountFlags::from_raw(info.samples))
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(info.usage)
            .initial_layout(vk::ImageLayout::UNDEFINED);
        let kind = match (info.cube, info.layers) {
            _ if info.depth > 0 => vk::ImageViewType::TYPE_3D,
            (true, _) => vk::ImageViewType::CUBE,
            (false, 1) => vk::ImageViewType::TYPE_2D,
            _ => vk::ImageViewType::TYPE_2D_ARRAY,
        };
        // SAFETY: plain Vulkan calls with structs that outlive them. What an error leaves behind ends with the device.
        unsafe {
            let handle = device.create_image(&create, None).map_err(Error::vk("vkCreateImage"))?;
            let needs = device.get_image_memory_requirements(handle);
            let lazy = match info.is_transient() {
                true => context
                    .memory_type(needs.memory_type_bits, vk::MemoryPropertyFlags::LAZILY_ALLOCATED)
                    .ok(),
                false => None,
            };
            let kind_of_memory = match lazy {
                Some(t) => t,
                None => context.memory_type(needs.memory_type_bits, vk::MemoryPropertyFlags::DEVICE_LOCAL)?,
            };
            let memory = device
                .allocate_memory(
                    &vk::MemoryAllocateInfo::default()
                        .allocation_size(needs.size)
                        .memory_type_index(kind_of_memory),
                    None,
                )
                .map_err(Error::vk("vkAllocateMemory"))?;
            device.bind_image_memory(handle, memory, 0).map_err(Error::vk("vkBindImageMemory"))?;
            let view = device
                .create_image_view(
                    &vk::ImageViewCreateInfo::default()
                        .image(handle)
                        .view_type(kind)
                        .format(info.format)
                        .subresource_range(whole(if info.view.is_empty() {
                            info.aspects()
                        } else {
                            info.view
                        })),
                    None,
                )
                .map_err(Error::vk("vkCreateImageView"))?;
            let image = Self { context: context.clone(), info, handle, view, memory };
            context.run(|device, commands| image.to_general(device, commands))?;
            Ok(image)
        }
    }

    /// What it is bound to, from its first byte on.
    pub(crate) fn memory(&self) -> vk::DeviceMemory {
        self.memory
    }

    fn to_general(&self, device: &ash::Device, commands: vk::CommandBuffer) {
        let change = [vk::ImageMemoryBarrier::default()
            .old_layout(vk::ImageLayout::UNDEFINED)
            .new_layout(vk::ImageLayout::GENERAL)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(self.handle)
            .subresource_range(whole(self.info.aspects()))
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
        // SAFETY: recording into a command buffer that has begun, with live handles.
        unsafe {
            device.cmd_pipeline_barrier(
                commands,
                vk::PipelineStageFlags::TOP_OF_PIPE,
                vk::PipelineStageFlags::ALL_COMMANDS,
                vk::DependencyFlags::empty(),
                &[],
                &[],
                &change,
            );
        }
    }

    /// A texture made of `bytes`: the mip levels one after the other, each with all its layers or slices, tightly packed.
    pub fn with_texels(context: &Rc<Context>, info: ImageInfo, bytes: &[u8]) -> Result<Self> {
        let image = Self::new(context, info)?;
        let mut staging = Buffer::new(context, bytes.len())?;
        staging.bytes_mut().copy_from_slice(bytes);
        let texels: u64 =
            (0..info.mips).map(|m| info.level(m).iter().map(|s| u64::from(*s)).product::<u64>()).sum();
        let slices = u64::from(info.layers.max(info.depth));
        let texel = bytes.len() as u64 / (texels * slices);
        let mut offset = 0;
        let mut regions = Vec::new();
        for mip in 0..info.mips {
            let [width, height] = info.level(mip);
            regions.push(image.region(info.aspects(), mip, 0, info.layers).buffer_offset(offset));
            offset += u64::from(width) * u64::from(height) * slices * texel;
        }
        assert_eq!(offset, bytes.len() as u64, "texels for every level and layer");
        context.run(|device, commands| {
            // SAFETY: recording into a command buffer that has begun; the buffer holds every region.
            unsafe {
                device.cmd_copy_buffer_to_image(
                    commands,
                    staging.handle,
                    image.handle,
                    vk::ImageLayout::GENERAL,
                    &regions,
                );
            }
            barrier(device, commands);
        })?;
        Ok(image)
    }

    fn region(&self, aspect: vk::ImageAspectFlags, mip: u32, layer: u32, layers: u32) -> vk::BufferImageCopy {
        let [width, height] = self.info.level(mip);
        vk::BufferImageCopy::default()
            .image_subresource(vk::ImageSubresourceLayers {
                aspect_mask: aspect,
                mip_level: mip,
                base_array_layer: layer,
                layer_count: layers,
            })
            .image_extent(vk::Extent3D { width, height, depth: self.info.depth.max(1) })
    }

    /// Mip level 0 of all layers, tightly packed: `texel` is the size of a texel of `aspect` in bytes.
    pub fn read(&self, aspect: vk::ImageAspectFlags, texel: usize) -> Result<Vec<u8>> {
        let [width, height] = self.info.size;
        let region = self.region(aspect, 0, 0, self.info.layers);
        self.copy_out(region, width as usize * height as usize * self.info.layers as usize * texel)
    }

    /// The rectangle of layer 0 at `at`, `size` pixels large, tightly packed; four bytes a texel.
    pub fn read_part(&self, at: [i32; 2], size: [u32; 2]) -> Result<Vec<u8>> {
        let region = self
            .region(vk::ImageAspectFlags::COLOR, 0, 0, 1)
            .image_offset(vk::Offset3D { x: at[0], y: at[1], z: 0 })
            .image_extent(vk::Extent3D { width: size[0], height: size[1], depth: 1 });
        self.copy_out(region, size[0] as usize * size[1] as usize * 4)
    }

    fn copy_out(&self, region: vk::BufferImageCopy, bytes: usize) -> Result<Vec<u8>> {
        let out = Buffer::new(&self.context, bytes)?;
        self.context.run(|device, commands| {
            barrier(device, commands);
            // SAFETY: recording into a command buffer that has begun; the buffer holds the region.
            unsafe {
                device.cmd_copy_image_to_buffer(
                    commands,
                    self.handle,
                    vk::ImageLayout::GENERAL,
                    out.handle,
                    &[region],
                );
            }
            barrier(device, commands);
        })?;
        Ok(out.bytes().to_vec())
    }
}

fn whole(aspect_mask: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask,
        base_mip_level: 0,
        level_count: vk::REMAINING_MIP_LEVELS,
        base_array_layer: 0,
        layer_count: vk::REMAINING_ARRAY_LAYERS,
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: nothing that uses the image is pending.
        unsafe {
            self.context.device.destroy_image_view(self.view, None);
            self.context.device.destroy_image(self.handle, None);
            self.context.device.free_memory(self.memory, None);
        }
    }
}
