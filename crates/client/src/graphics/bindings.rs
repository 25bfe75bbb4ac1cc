//! Descriptor set 0 of a pipeline, and samplers.

use super::Image;
use crate::{Buffer, Context, Error, Result};
use ash::vk;
use std::rc::Rc;

/// A sampler with its life.
pub struct Sampler {
    context: Rc<Context>,
    pub handle: vk::Sampler,
}

impl Sampler {
    pub fn new(context: &Rc<Context>, info: &vk::SamplerCreateInfo) -> Result<Self> {
        // SAFETY: a plain Vulkan call.
        let handle =
            unsafe { context.device.create_sampler(info, None) }.map_err(Error::vk("vkCreateSampler"))?;
        Ok(Self { context: context.clone(), handle })
    }

    /// Bilinear, nearest mip, repeating.
    pub fn linear(context: &Rc<Context>) -> Result<Self> {
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(vk::Filter::LINEAR)
            .min_filter(vk::Filter::LINEAR)
            .max_lod(vk::LOD_CLAMP_NONE);
        Self::new(context, &info)
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        // SAFETY: nothing that uses the sampler is pending.
        unsafe { self.context.device.destroy_sampler(self.handle, None) }
    }
}

/// What a binding holds; its number is its place in the list.
#[derive(Clone, Copy)]
pub enum Resource<'a> {
    Uniform(&'a Buffer),
    Storage(&'a Buffer),
    Texture(&'a Image, &'a Sampler),
    /// A texture that is an attachment of the same pass (VK_EXT_attachment_feedback_loop_layout).
    Loop(&'a Image, &'a Sampler),
    /// An input attachment, for fragment shaders alone.
    Input(&'a Image),
    /// A storage image.
    Stored(&'a Image),
}

impl Resource<'_> {
    fn kind(&self) -> vk::DescriptorType {
        match self {
            Resource::Uniform(_) => vk::DescriptorType::UNIFORM_BUFFER,
            Resource::Storage(_) => vk::DescriptorType::STORAGE_BUFFER,
            Resource::Texture(..) | Resource::Loop(..) => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
            Resource::Stored(_) => vk::DescriptorType::STORAGE_IMAGE,
            Resource::Input(_) => vk::DescriptorType::INPUT_ATTACHMENT,
        }
    }

    fn stages(&self) -> vk::ShaderStageFlags {
        match self {
            Resource::Input(_) => vk::ShaderStageFlags::FRAGMENT,
            // ALL_GRAPHICS is without task and mesh shaders.
            _ => vk::ShaderStageFlags::ALL,
        }
    }
}

/// A descriptor set and its layout, visible to all graphics stages that can read it.
pub struct Bindings {
    context: Rc<Context>,
    pub layout: vk::DescriptorSetLayout,
    pool: vk::DescriptorPool,
    pub set: vk::DescriptorSet,
}

impl Bindings {
    pub fn new(context: &Rc<Context>, resources: &[Resource]) -> Result<Self> {
        let device = &context.device;
        let bindings: Vec<_> = (0..)
            .zip(resources)
            .map(|(b, r)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(b)
                    .descriptor_type(r.kind())
                    .descriptor_count(1)
                    .stage_flags(r.stages())
            })
            .collect();
        let mut sizes: Vec<_> =
            resources.iter().map(|r| vk::DescriptorPoolSize { ty: r.kind(), descriptor_count: 1 }).collect();
        if sizes.is_empty() {
            sizes
                .push(vk::DescriptorPoolSize { ty: vk::DescriptorType::UNIFORM_BUFFER, descriptor_count: 1 });
        }
        // SAFETY: plain Vulkan calls with structs that outlive them; the set is not in use while it is written.
        unsafe {
            let layout = device
                .create_descriptor_set_layout(
                    &vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings),
                    None,
                )
                .map_err(Error::vk("vkCreateDescriptorSetLayout"))?;
            let pool = device
                .create_descriptor_pool(
                    &vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes),
                    None,
                )
                .map_err(Error::vk("vkCreateDescriptorPool"))?;
            let layouts = [layout];
            let set = device
                .allocate_descriptor_sets(
                    &vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts),
                )
                .map_err(Error::vk("vkAllocateDescriptorSets"))?[0];
            for (binding, resource) in (0..).zip(resources) {
                let mut write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(binding)
                    .descriptor_type(resource.kind());
                let (buffer, image);
                match resource {
                    Resource::Uniform(b) | Resource::Storage(b) => {
                        buffer =
                            [vk::DescriptorBufferInfo { buffer: b.handle, offset: 0, range: vk::WHOLE_SIZE }];
                        write = write.buffer_info(&buffer);
                    }
                    Resource::Texture(i, s) | Resource::Loop(i, s) => {
                        let image_layout = match resource {
                            Resource::Loop(..) => vk::ImageLayout::ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT,
                            _ => vk::ImageLayout::GENERAL,
                        };
                        image =
                            [vk::DescriptorImageInfo { sampler: s.handle, image_view: i.view, image_layout }];
                        write = write.image_info(&image);
                    }
                    Resource::Input(i) | Resource::Stored(i) => {
                        image = [vk::DescriptorImageInfo {
                            sampler: vk::Sampler::null(),
                            image_view: i.view,
                            image_layout: vk::ImageLayout::GENERAL,
                        }];
                        write = write.image_info(&image);
                    }
                }
                device.update_descriptor_sets(&[write], &[]);
            }
            Ok(Self { context: context.clone(), layout, pool, set })
        }
    }
}

impl Drop for Bindings {
    fn drop(&mut self) {
        // SAFETY: nothing that uses them is pending.
        unsafe {
            self.context.device.destroy_descriptor_pool(self.pool, None);
            self.context.device.destroy_descriptor_set_layout(self.layout, None);
        }
    }
}
