//! Tensors in descriptor heaps (VK_EXT_descriptor_heap): writing their descriptors, and running a shader with them.

use crate::context::Context;
use crate::tensor::{Shift, Tensor, functions};
use crate::{Buffer, Error, Result};
use std::rc::Rc;
use vk::DescriptorMappingSourceEXT as Source;

functions! {
    HeapFunctions:
    write = c"vkWriteResourceDescriptorsEXT": fn(vk::Device, u32, *const vk::ResourceDescriptorInfoEXT<'_>, *const vk::HostAddressRangeEXT<'_>) -> vk::Result,
    bind = c"vkCmdBindResourceHeapEXT": fn(vk::CommandBuffer, *const vk::BindHeapInfoEXT<'_>),
    push = c"vkCmdPushDataEXT": fn(vk::CommandBuffer, *const vk::PushDataInfoEXT<'_>),
}

/// Bytes of a tensor's descriptor in a heap.
pub fn descriptor_size(context: &Context) -> usize {
    let mut of_tensors = vk::PhysicalDeviceDescriptorHeapTensorPropertiesARM::default();
    let mut all =
        vk::PhysicalDeviceProperties2 { p_next: (&raw mut of_tensors).cast(), ..Default::default() };
    // SAFETY: the instance is alive, the structures outlive the call.
    unsafe { context.instance.get_physical_device_properties2(context.physical, &mut all) };
    of_tensors.tensor_descriptor_size as usize
}

/// A mapping of one binding of set 0.
fn mapping<'a>(
    binding: u32,
    source: Source,
    source_data: vk::DescriptorMappingSourceDataEXT<'a>,
) -> vk::DescriptorSetAndBindingMappingEXT<'a> {
    let resource_mask = vk::SpirvResourceTypeFlagsEXT::from_raw(0x7FFF_FFFF);
    vk::DescriptorSetAndBindingMappingEXT {
        descriptor_set: 0,
        first_binding: binding,
        binding_count: 1,
        resource_mask,
        source,
        source_data,
        s_type: <vk::DescriptorSetAndBindingMappingEXT as vk::TaggedStructure>::STRUCTURE_TYPE,
        p_next: std::ptr::null(),
        _marker: Default::default(),
    }
}

/// A compute pipeline of the module: binding 0 begins with the heap, binding 1 is the descriptor that push data count, binding 2 is at an
/// address of push data.
fn pipeline(context: &Context, code: &[u32], size: u32) -> Result<vk::Pipeline> {
    let mappings = [
        mapping(
            0,
            Source::HEAP_WITH_CONSTANT_OFFSET,
            vk::DescriptorMappingSourceDataEXT {
                constant_offset: vk::DescriptorMappingSourceConstantOffsetEXT {
                    heap_array_stride: size,
                    ..Default::default()
                },
            },
        ),
        mapping(
            1,
            Source::HEAP_WITH_PUSH_INDEX,
            vk::DescriptorMappingSourceDataEXT {
                push_index: vk::DescriptorMappingSourcePushIndexEXT {
                    push_offset: 8,
                    heap_index_stride: size,
                    heap_array_stride: size,
                    ..Default::default()
                },
            },
        ),
        mapping(2, Source::PUSH_ADDRESS, vk::DescriptorMappingSourceDataEXT { push_address_offset: 0 }),
    ];
    let mapped = vk::ShaderDescriptorSetAndBindingMappingInfoEXT {
        mapping_count: mappings.len() as u32,
        p_mappings: mappings.as_ptr(),
        ..Default::default()
    };
    let flags = vk::PipelineCreateFlags2CreateInfoKHR {
        // VK_PIPELINE_CREATE_2_DESCRIPTOR_HEAP_BIT_EXT
        flags: vk::PipelineCreateFlags2::from_raw(1 << 36),
        ..Default::default()
    };
    let device = &context.device;
    // SAFETY: structures outlive the calls.
    unsafe {
        let module = device
            .create_shader_module(&vk::ShaderModuleCreateInfo::default().code(code), None)
            .map_err(Error::vk("vkCreateShaderModule"))?;
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        stage.p_next = (&raw const mapped).cast();
        let mut info = vk::ComputePipelineCreateInfo::default().stage(stage);
        info.p_next = (&raw const flags).cast();
        let made = device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
        device.destroy_shader_module(module, None);
        Ok(made.map_err(|(_, r)| Error(format!("vkCreateComputePipelines: {r:?}")))?[0])
    }
}

/// A shader of [`Shift`]'s with a heap, whose descriptors are the tensors of binding 0 and then that of binding 1.
pub struct InHeap {
    context: Rc<Context>,
    functions: HeapFunctions,
    shift: Shift,
    pipeline: vk::Pipeline,
    /// The heap's bytes.
    pub heap: Buffer,
    /// Bytes of a descriptor.
    pub size: usize,
}

impl InHeap {
    /// `seen`: the shader takes the tensors from the heap's variable, not from bindings.
    pub fn new(context: &Rc<Context>, shift: Shift, seen: bool) -> Result<InHeap> {
        let functions = HeapFunctions::load(context)?;
        let size = descriptor_size(context);
        // VK_BUFFER_USAGE_DESCRIPTOR_HEAP_BIT_EXT is this bit.
        let usage = vk::BufferUsageFlags::from_raw(1 << 28);
        let heap = Buffer::addressed(context, 4 * size, usage)?;
        let code = if seen { shift.of_heap() } else { shift.spirv() };
        let pipeline = pipeline(context, &code, size as u32)?;
        Ok(InHeap { context: context.clone(), functions, shift, pipeline, heap, size })
    }

    /// Writes descriptor `k`: a view of this format.
    pub fn write(&mut self, k: usize, tensor: vk::TensorARM, format: vk::Format) -> vk::Result {
        let to = &mut self.heap.bytes_mut()[k * self.size..][..self.size];
        let view = vk::TensorViewCreateInfoARM { tensor, format, ..Default::default() };
        let data = vk::ResourceDescriptorDataEXT { p_tensor_arm: &view };
        let ty = vk::DESCRIPTOR_TYPE_TENSOR_ARM;
        let info = vk::ResourceDescriptorInfoEXT { ty, data, ..Default::default() };
        let range =
            vk::HostAddressRangeEXT { address: to.as_mut_ptr().cast(), size: to.len(), ..Default::default() };
        // SAFETY: structures outlive the call; the range is the slice.
        unsafe { (self.functions.write)(self.context.device.handle(), 1, &info, &range) }
    }

    /// Runs it for as many elements and waits, with the heap's first `bytes` bound. `last`: the descriptor of binding 1. `sizes` has an
    /// address.
    pub fn run(&self, sizes: &Buffer, last: u64, bytes: u64, elements: u32) -> Result<()> {
        let address = |b: vk::Buffer| {
            let of = vk::BufferDeviceAddressInfo::default().buffer(b);
            // SAFETY: the buffer is alive.
            unsafe { self.context.device.get_buffer_device_address(&of) }
        };
        let push = [address(sizes.handle), last];
        let heap_range = vk::DeviceAddressRangeEXT { address: address(self.heap.handle), size: bytes };
        let groups = elements.div_ceil(self.shift.at_once).div_ceil(64);
        // SAFETY: recording; structures outlive the calls, and the objects the commands.
        self.context.run(|d, c| unsafe {
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, self.pipeline);
            (self.functions.bind)(c, &vk::BindHeapInfoEXT { heap_range, ..Default::default() });
            let data = vk::HostAddressRangeConstEXT {
                address: push.as_ptr().cast(),
                size: size_of_val(&push),
                ..Default::default()
            };
            (self.functions.push)(c, &vk::PushDataInfoEXT { data, ..Default::default() });
            d.cmd_dispatch(c, groups, 1, 1);
        })
    }
}

impl Drop for InHeap {
    fn drop(&mut self) {
        // SAFETY: the device is idle.
        unsafe { self.context.device.destroy_pipeline(self.pipeline, None) }
    }
}

impl Shift {
    /// As [`Shift::run_by`] with a heap.
    pub(crate) fn run_by_heap(
        &self,
        seen: bool,
        context: &Rc<Context>,
        from: [&Tensor; 2],
        to: &Tensor,
        sizes: &Buffer,
        elements: u32,
    ) -> Result<()> {
        let mut heap = InHeap::new(context, *self, seen)?;
        let last = 1 + self.in_turn as usize;
        for (k, t) in [(0, from[0]), (1, from[1]), (last, to)] {
            let written = heap.write(k, t.handle, self.element.format());
            written.result().map_err(Error::vk("vkWriteResourceDescriptorsEXT"))?;
        }
        heap.run(sizes, last as u64, heap.heap.bytes().len() as u64, elements)
    }
}
