//! Buffers for everything, and compute pipelines.

use crate::{Context, Error, Result};
use ash::vk;
use std::rc::Rc;

/// A buffer of every core usage in host-visible coherent memory, mapped for its whole life.
pub struct Buffer {
    context: Rc<Context>,
    pub handle: vk::Buffer,
    memory: vk::DeviceMemory,
    pointer: *mut u8,
    size: usize,
}

impl Buffer {
    /// `size` in bytes, more than zero.
    pub fn new(context: &Rc<Context>, size: usize) -> Result<Self> {
        Self::of(context, size, vk::BufferUsageFlags::empty())
    }

    /// As [`Buffer::new`], with an address and `more` usages, for devices with bufferDeviceAddress.
    pub fn addressed(context: &Rc<Context>, size: usize, more: vk::BufferUsageFlags) -> Result<Self> {
        Self::of(context, size, more | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS)
    }

    /// As [`Buffer::new`], for `more` usages.
    pub fn of(context: &Rc<Context>, size: usize, more: vk::BufferUsageFlags) -> Result<Self> {
        let device = &context.device;
        // SAFETY: plain Vulkan calls; the memory is mapped whole and stays mapped.
        unsafe {
            let handle = device
                .create_buffer(
                    &vk::BufferCreateInfo::default().size(size as u64).usage(
                        vk::BufferUsageFlags::STORAGE_BUFFER
                            | vk::BufferUsageFlags::UNIFORM_BUFFER
                            | vk::BufferUsageFlags::VERTEX_BUFFER
                            | vk::BufferUsageFlags::INDEX_BUFFER
                            | vk::BufferUsageFlags::INDIRECT_BUFFER
                            | vk::BufferUsageFlags::TRANSFER_SRC
                            | vk::BufferUsageFlags::TRANSFER_DST
                            | more,
                    ),
                    None,
                )
                .map_err(Error::vk("vkCreateBuffer"))?;
            let needs = device.get_buffer_memory_requirements(handle);
            let flags = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let mut addressed =
                vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
            let mut allocate = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(context.memory_type(needs.memory_type_bits, flags)?);
            if more.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS) {
                allocate = allocate.push_next(&mut addressed);
            }
            let memory = device.allocate_memory(&allocate, None).map_err(Error::vk("vkAllocateMemory"))?;
            device.bind_buffer_memory(handle, memory, 0).map_err(Error::vk("vkBindBufferMemory"))?;
            let pointer = device
                .map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
                .map_err(Error::vk("vkMapMemory"))?
                .cast::<u8>();
            Ok(Self { context: context.clone(), handle, memory, pointer, size })
        }
    }

    /// A buffer with these contents.
    pub fn with(context: &Rc<Context>, contents: &[u8]) -> Result<Self> {
        let mut buffer = Self::new(context, contents.len())?;
        buffer.bytes_mut().copy_from_slice(contents);
        Ok(buffer)
    }

    /// Its device address, if it was made by [`Buffer::addressed`].
    pub fn address(&self) -> vk::DeviceAddress {
        let info = vk::BufferDeviceAddressInfo::default().buffer(self.handle);
        // SAFETY: a live buffer.
        unsafe { self.context.device.get_buffer_device_address(&info) }
    }

    /// The contents. Every submission is waited for before this crate returns, so the device is not writing.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: mapped for the buffer's life, `size` bytes.
        unsafe { std::slice::from_raw_parts(self.pointer, self.size) }
    }

    /// The contents, to be filled.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.size) }
    }

    /// The contents as 32-bit words (mapped memory is aligned to at least 64 bytes).
    pub fn words(&self) -> &[u32] {
        // SAFETY: minMemoryMapAlignment is at least 64; the length is rounded down to whole words.
        unsafe { std::slice::from_raw_parts(self.pointer.cast(), self.size / 4) }
    }

    pub fn words_mut(&mut self) -> &mut [u32] {
        // SAFETY: as in `words`, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.cast(), self.size / 4) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: nothing that uses the buffer is pending; freeing memory unmaps it.
        unsafe {
            self.context.device.destroy_buffer(self.handle, None);
            self.context.device.free_memory(self.memory, None);
        }
    }
}

/// A compute pipeline whose storage buffers are set 0, bindings 0 to `bindings` − 1, with a push-constant block.
pub struct Kernel {
    context: Rc<Context>,
    module: vk::ShaderModule,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    pub pipeline: vk::Pipeline,
    push_size: u32,
}

/// What a kernel is made of.
#[derive(Clone, Copy)]
pub struct KernelInfo<'a> {
    /// SPIR-V, little-endian words; the entry point is `main`.
    pub spirv: &'a [u8],
    pub bindings: u32,
    /// Bytes of push constants, a multiple of 4.
    pub push_size: u32,
}

impl Kernel {
    pub fn new(context: &Rc<Context>, info: &KernelInfo) -> Result<Self> {
        Self::with_flags(context, info, vk::PipelineCreateFlags2KHR::empty())
    }

    /// As [`Kernel::new`], with flags that only VK_KHR_maintenance5 can say.
    pub fn with_flags(
        context: &Rc<Context>,
        info: &KernelInfo,
        flags: vk::PipelineCreateFlags2KHR,
    ) -> Result<Self> {
        let device = &context.device;
        let code = crate::words(info.spirv);
        // SAFETY: plain Vulkan calls with structs that outlive them. On an error what was made before is left to
        // the device's end: a client that cannot make its pipeline is about to stop.
        unsafe {
            let module = device
                .create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None)
                .map_err(Error::vk("vkCreateShaderModule"))?;
            let bindings: Vec<_> = (0..info.bindings)
                .map(|b| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(b)
                        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                        .descriptor_count(1)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect();
            let set_layout = device
                .create_descriptor_set_layout(
                    &vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings),
                    None,
                )
                .map_err(Error::vk("vkCreateDescriptorSetLayout"))?;
            let ranges = [vk::PushConstantRange::default()
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
                .size(info.push_size)];
            let layouts = [set_layout];
            let mut layout_info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
            if info.push_size > 0 {
                layout_info = layout_info.push_constant_ranges(&ranges);
            }
            let layout = device
                .create_pipeline_layout(&layout_info, None)
                .map_err(Error::vk("vkCreatePipelineLayout"))?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let dispatch_base = vk::PipelineCreateFlags::DISPATCH_BASE;
            let wide = vk::PipelineCreateFlags2KHR::from_raw(dispatch_base.as_raw().into()) | flags;
            let mut wide = vk::PipelineCreateFlags2CreateInfoKHR::default().flags(wide);
            let mut create =
                vk::ComputePipelineCreateInfo::default().flags(dispatch_base).stage(stage).layout(layout);
            if !flags.is_empty() {
                create = create.push_next(&mut wide);
            }
            let create = [create];
            let pipeline = device
                .create_compute_pipelines(vk::PipelineCache::null(), &create, None)
                .map_err(|(_, r)| Error(format!("vkCreateComputePipelines: {r:?}")))?[0];
            let sizes = [vk::DescriptorPoolSize {
                ty: vk::DescriptorType::STORAGE_BUFFER,
                descriptor_count: info.bindings.max(1),
            }];
            let pool = device
                .create_descriptor_pool(
                    &vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes),
                    None,
                )
                .map_err(Error::vk("vkCreateDescriptorPool"))?;
            let set = device
                .allocate_descriptor_sets(
                    &vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts),
                )
                .map_err(Error::vk("vkAllocateDescriptorSets"))?[0];
            Ok(Self {
                context: context.clone(),
                module,
                set_layout,
                layout,
                pool,
                set,
                pipeline,
                push_size: info.push_size,
            })
        }
    }

    /// Records the dispatches of `groups` (each a base and a size in workgroups) over `buffers`, with a barrier
    /// between them and one that makes the result visible to the host.
    pub fn record(
        &self,
        buffers: &[&Buffer],
        push: &[u8],
        groups: &[([u32; 3], [u32; 3])],
    ) -> Result<vk::CommandBuffer> {
        assert_eq!(push.len(), self.push_size as usize, "push constants of the kernel's size");
        self.set(buffers);
        self.context.record(|device, commands| {
            self.bind(commands, push);
            // SAFETY: recording into a command buffer that has begun, with live handles.
            unsafe {
                for (base, size) in groups {
                    if *base == [0; 3] {
                        device.cmd_dispatch(commands, size[0], size[1], size[2]);
                    } else {
                        device.cmd_dispatch_base(
                            commands, base[0], base[1], base[2], size[0], size[1], size[2],
                        );
                    }
                }
                let barrier = [vk::MemoryBarrier::default()
                    .src_access_mask(vk::AccessFlags::SHADER_WRITE)
                    .dst_access_mask(vk::AccessFlags::HOST_READ)];
                device.cmd_pipeline_barrier(
                    commands,
                    vk::PipelineStageFlags::COMPUTE_SHADER,
                    vk::PipelineStageFlags::HOST,
                    vk::DependencyFlags::empty(),
                    &barrier,
                    &[],
                    &[],
                );
            }
        })
    }

    /// Records, runs and waits for one dispatch of `groups` workgroups.
    pub fn run(&self, buffers: &[&Buffer], push: &[u8], groups: [u32; 3]) -> Result<()> {
        let commands = self.record(buffers, push, &[([0; 3], groups)])?;
        let result = self.context.submit_and_wait(commands);
        self.context.free(commands);
        result
    }

    /// Records the binding of pipeline, buffers (as [`Kernel::set`] says) and push constants.
    pub fn bind(&self, commands: vk::CommandBuffer, push: &[u8]) {
        let device = &self.context.device;
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: recording into a command buffer that has begun, with live handles.
        unsafe {
            device.cmd_bind_pipeline(commands, point, self.pipeline);
            device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[self.set], &[]);
            if !push.is_empty() {
                device.cmd_push_constants(commands, self.layout, vk::ShaderStageFlags::COMPUTE, 0, push);
            }
        }
    }

    /// Makes these the buffers at bindings 0, 1, ….
    pub fn set(&self, buffers: &[&Buffer]) {
        for (binding, buffer) in buffers.iter().enumerate() {
            let info = [vk::DescriptorBufferInfo { buffer: buffer.handle, offset: 0, range: vk::WHOLE_SIZE }];
            let write = [vk::WriteDescriptorSet::default()
                .dst_set(self.set)
                .dst_binding(binding as u32)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .buffer_info(&info)];
            // SAFETY: live handles; the set is not in use, for every submission is waited for.
            unsafe { self.context.device.update_descriptor_sets(&write, &[]) }
        }
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        let device = &self.context.device;
        // SAFETY: nothing that uses them is pending.
        unsafe {
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_descriptor_pool(self.pool, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_set_layout(self.set_layout, None);
            device.destroy_shader_module(self.module, None);
        }
    }
}
