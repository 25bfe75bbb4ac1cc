//! Running a shader of tensors, and the ways in which its descriptors get to it.

use crate::context::Context;
use crate::tensor::{Shift, Tensor};
use crate::{Buffer, Error, Result};
use std::rc::Rc;
use vk::DescriptorType as Type;

/// How a shader gets its descriptors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// vkUpdateDescriptorSets
    Set,
    /// vkUpdateDescriptorSetWithTemplate
    Template,
    /// vkCmdPushDescriptorSet
    Push,
    /// vkCmdPushDescriptorSetWithTemplate
    PushTemplate,
    /// A descriptor buffer (descriptorBufferTensorDescriptors)
    Memory,
    /// As the first, with descriptors that may be of several types (VK_EXT_mutable_descriptor_type)
    Mutable,
    /// The same with vkUpdateDescriptorSetWithTemplate
    MutableTemplate,
    /// The same in a descriptor buffer
    MutableMemory,
    /// A descriptor heap to which the bindings are mapped (VK_EXT_descriptor_heap)
    Mapped,
    /// A descriptor heap as the shader sees it
    Heap,
}

impl Way {
    fn is_in_memory(self) -> bool {
        matches!(self, Way::Memory | Way::MutableMemory)
    }
    fn is_mutable(self) -> bool {
        matches!(self, Way::Mutable | Way::MutableTemplate | Way::MutableMemory)
    }
    fn has_template(self) -> bool {
        matches!(self, Way::Template | Way::PushTemplate | Way::MutableTemplate)
    }
    fn is_pushed(self) -> bool {
        matches!(self, Way::Push | Way::PushTemplate)
    }
    fn is_in_heap(self) -> bool {
        matches!(self, Way::Mapped | Way::Heap)
    }
}

pub const WAYS: [Way; 10] = [
    Way::Set,
    Way::Template,
    Way::Push,
    Way::PushTemplate,
    Way::Memory,
    Way::Mutable,
    Way::MutableTemplate,
    Way::MutableMemory,
    Way::Mapped,
    Way::Heap,
];

const TENSOR: Type = vk::DESCRIPTOR_TYPE_TENSOR_ARM;
const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;

/// What a template reads.
#[repr(C)]
struct Data {
    views: [vk::TensorViewARM; 3],
    buffer: vk::DescriptorBufferInfo,
}

/// What is bound, and the objects that it needs.
struct Bound<'a> {
    context: &'a Context,
    way: Way,
    layout: vk::DescriptorSetLayout,
    pipeline_layout: vk::PipelineLayout,
    /// Tensors of binding 0; the one after them is that of binding 1.
    count: u32,
    data: Data,
    pool: vk::DescriptorPool,
    template: vk::DescriptorUpdateTemplate,
    heap: Option<Buffer>,
}

// SAFETY (all blocks): structures outlive the calls; nothing is destroyed before the device is idle. On an error what was made before is left to
// the device's end.
impl Bound<'_> {
    fn device(&self) -> &ash::Device {
        &self.context.device
    }

    /// Hands the writes of all descriptors of a set to `f`.
    fn writes<T>(&self, set: vk::DescriptorSet, f: impl FnOnce(&[vk::WriteDescriptorSet]) -> T) -> T {
        let tensors = |first: u32, count: u32| vk::WriteDescriptorSetTensorARM {
            tensor_view_count: count,
            p_tensor_views: &self.data.views[first as usize],
            ..Default::default()
        };
        let both = [tensors(0, self.count), tensors(self.count, 1)];
        let write = |binding: u32, tensors: &vk::WriteDescriptorSetTensorARM| {
            let mut w =
                vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).descriptor_type(TENSOR);
            w.descriptor_count = tensors.tensor_view_count;
            w.p_next = std::ptr::from_ref(tensors).cast();
            w
        };
        let buffer = [self.data.buffer];
        let buffer = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(2)
            .descriptor_type(Type::STORAGE_BUFFER)
            .buffer_info(&buffer);
        f(&[write(0, &both[0]), write(1, &both[1]), buffer])
    }

    fn make_template(&mut self) -> Result<()> {
        let of_tensors = |binding: u32, first: u32, count: u32| vk::DescriptorUpdateTemplateEntry {
            dst_binding: binding,
            dst_array_element: 0,
            descriptor_count: count,
            descriptor_type: TENSOR,
            offset: first as usize * size_of::<vk::TensorViewARM>(),
            stride: size_of::<vk::TensorViewARM>(),
        };
        let entries = [
            of_tensors(0, 0, self.count),
            of_tensors(1, self.count, 1),
            vk::DescriptorUpdateTemplateEntry {
                dst_binding: 2,
                dst_array_element: 0,
                descriptor_count: 1,
                descriptor_type: Type::STORAGE_BUFFER,
                offset: std::mem::offset_of!(Data, buffer),
                stride: 0,
            },
        ];
        let ty = match self.way.is_pushed() {
            false => vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET,
            true => vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR,
        };
        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(&entries)
            .template_type(ty)
            .descriptor_set_layout(self.layout)
            .pipeline_bind_point(COMPUTE)
            .pipeline_layout(self.pipeline_layout);
        let made = unsafe { self.device().create_descriptor_update_template(&info, None) };
        self.template = made.map_err(Error::vk("vkCreateDescriptorUpdateTemplate"))?;
        Ok(())
    }

    /// A set with the descriptors.
    fn set(&mut self) -> Result<vk::DescriptorSet> {
        let sizes = [
            vk::DescriptorPoolSize { ty: TENSOR, descriptor_count: 3 },
            vk::DescriptorPoolSize { ty: Type::STORAGE_BUFFER, descriptor_count: 1 },
            vk::DescriptorPoolSize { ty: Type::MUTABLE_EXT, descriptor_count: 4 },
        ];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let made = unsafe { self.device().create_descriptor_pool(&info, None) };
        self.pool = made.map_err(Error::vk("vkCreateDescriptorPool"))?;
        let layouts = [self.layout];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.pool).set_layouts(&layouts);
        let device = self.device();
        unsafe {
            let set =
                device.allocate_descriptor_sets(&info).map_err(Error::vk("vkAllocateDescriptorSets"))?[0];
            match self.way.has_template() {
                true => {
                    let data = (&raw const self.data).cast();
                    device.update_descriptor_set_with_template(set, self.template, data);
                }
                false => self.writes(set, |w| device.update_descriptor_sets(w, &[])),
            }
            Ok(set)
        }
    }

    /// A buffer with the descriptors, and its address.
    fn memory(&mut self, sizes: &Buffer) -> Result<u64> {
        let context = self.context;
        let api = ash::ext::descriptor_buffer::Device::new(&context.instance, &context.device);
        let mut plain = vk::PhysicalDeviceDescriptorBufferPropertiesEXT::default();
        let mut tensors = vk::PhysicalDeviceDescriptorBufferTensorPropertiesARM::default();
        plain.p_next = (&raw mut tensors).cast();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut plain);
        let Some(heap) = &mut self.heap else { return Err(Error("no memory for descriptors".into())) };
        unsafe {
            context.instance.get_physical_device_properties2(context.physical, &mut all);
            let device = &context.device;
            let address = |b: vk::Buffer| {
                device.get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(b))
            };
            let at = |binding| api.get_descriptor_set_layout_binding_offset(self.layout, binding) as usize;
            let mut put = |at: usize, info: &vk::DescriptorGetInfoEXT, size: usize| {
                let mut bytes = vec![0; size];
                api.get_descriptor(info, &mut bytes);
                heap.bytes_mut()[at..at + size].copy_from_slice(&bytes);
            };
            for (i, view) in self.data.views.iter().enumerate().take(self.count as usize + 1) {
                let tensor = vk::DescriptorGetTensorInfoARM { tensor_view: *view, ..Default::default() };
                let mut info = vk::DescriptorGetInfoEXT::default().ty(TENSOR);
                info.p_next = (&raw const tensor).cast();
                let size = tensors.tensor_descriptor_size;
                let place = if i < self.count as usize { at(0) + i * size } else { at(1) };
                put(place, &info, size);
            }
            let buffer = vk::DescriptorAddressInfoEXT::default().address(address(sizes.handle)).range(64);
            let info = vk::DescriptorGetInfoEXT::default()
                .ty(Type::STORAGE_BUFFER)
                .data(vk::DescriptorDataEXT { p_storage_buffer: &buffer });
            put(at(2), &info, plain.storage_buffer_descriptor_size);
            Ok(address(heap.handle))
        }
    }

    fn destroy(self) {
        let device = self.device();
        unsafe {
            device.destroy_descriptor_update_template(self.template, None);
            device.destroy_descriptor_pool(self.pool, None);
            device.destroy_pipeline_layout(self.pipeline_layout, None);
            device.destroy_descriptor_set_layout(self.layout, None);
        }
    }
}

impl Shift {
    /// Runs it with a set and waits. `elements`: of the second tensor.
    pub fn run(
        &self,
        context: &Rc<Context>,
        from: &Tensor,
        to: &Tensor,
        sizes: &Buffer,
        elements: u32,
    ) -> Result<()> {
        self.run_by(Way::Set, context, [from, from], to, sizes, elements)
    }

    /// As [`Shift::run`], with descriptors that come so; `from`: the second one is for a shader that reads both in turn. (`sizes` has an
    /// address if the descriptors lie in memory.)
    pub fn run_by(
        &self,
        way: Way,
        context: &Rc<Context>,
        from: [&Tensor; 2],
        to: &Tensor,
        sizes: &Buffer,
        elements: u32,
    ) -> Result<()> {
        if way.is_in_heap() {
            return self.run_by_heap(way == Way::Heap, context, from, to, sizes, elements);
        }
        let count = 1 + self.in_turn as u32;
        let mut bound = bound(way, context, count)?;
        let mut views = [from[0].view, to.view, vk::TensorViewARM::null()];
        if self.in_turn {
            views = [from[0].view, from[1].view, to.view];
        }
        bound.data.views = views;
        bound.data.buffer =
            vk::DescriptorBufferInfo { buffer: sizes.handle, offset: 0, range: vk::WHOLE_SIZE };
        if way.has_template() {
            bound.make_template()?;
        }
        let has_set = !way.is_pushed() && !way.is_in_memory();
        let set = has_set.then(|| bound.set()).transpose()?;
        let address = if way.is_in_memory() { bound.memory(sizes)? } else { 0 };
        let (module, pipeline) = self.pipeline(context, &bound)?;
        context.run(|d, c| unsafe {
            let layout = bound.pipeline_layout;
            d.cmd_bind_pipeline(c, COMPUTE, pipeline);
            let push = ash::khr::push_descriptor::Device::new(&context.instance, d);
            match way {
                Way::Set | Way::Template | Way::Mutable | Way::MutableTemplate => {
                    d.cmd_bind_descriptor_sets(c, COMPUTE, layout, 0, &set.map_or(vec![], |s| vec![s]), &[]);
                }
                Way::Push => bound.writes(vk::DescriptorSet::null(), |w| {
                    push.cmd_push_descriptor_set(c, COMPUTE, layout, 0, w);
                }),
                Way::PushTemplate => {
                    let data = (&raw const bound.data).cast();
                    let with = push.fp().cmd_push_descriptor_set_with_template_khr;
                    with(c, bound.template, layout, 0, data);
                }
                Way::Memory | Way::MutableMemory => {
                    let api = ash::ext::descriptor_buffer::Device::new(&context.instance, d);
                    let info = vk::DescriptorBufferBindingInfoEXT::default()
                        .address(address)
                        .usage(vk::BufferUsageFlags::RESOURCE_DESCRIPTOR_BUFFER_EXT);
                    api.cmd_bind_descriptor_buffers(c, &[info]);
                    api.cmd_set_descriptor_buffer_offsets(c, COMPUTE, layout, 0, &[0], &[0]);
                }
                // Without sets ([`Shift::run_by_heap`]).
                Way::Mapped | Way::Heap => {}
            }
            d.cmd_dispatch(c, elements.div_ceil(self.at_once).div_ceil(64), 1, 1);
        })?;
        unsafe {
            context.device.destroy_pipeline(pipeline, None);
            context.device.destroy_shader_module(module, None);
        }
        bound.destroy();
        Ok(())
    }

    fn pipeline(&self, context: &Context, bound: &Bound) -> Result<(vk::ShaderModule, vk::Pipeline)> {
        let (device, code) = (&context.device, self.spirv());
        let flags = match bound.way.is_in_memory() {
            true => vk::PipelineCreateFlags::DESCRIPTOR_BUFFER_EXT,
            false => Default::default(),
        };
        unsafe {
            let module = device
                .create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None)
                .map_err(Error::vk("vkCreateShaderModule"))?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = [vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .layout(bound.pipeline_layout)
                .flags(flags)];
            let made = device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            let made = made.map_err(|(_, r)| Error(format!("vkCreateComputePipelines: {r:?}")))?;
            Ok((module, made[0]))
        }
    }
}

/// Layouts for tensors, `count` of binding 0, and a buffer.
fn bound(way: Way, context: &Rc<Context>, count: u32) -> Result<Bound<'_>> {
    let binding = |b, ty, count| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(b)
            .descriptor_type(ty)
            .descriptor_count(count)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    };
    let (tensor, buffer) = match way.is_mutable() {
        true => (Type::MUTABLE_EXT, Type::MUTABLE_EXT),
        false => (TENSOR, Type::STORAGE_BUFFER),
    };
    let bindings = [binding(0, tensor, count), binding(1, tensor, 1), binding(2, buffer, 1)];
    let flags = match way {
        w if w.is_pushed() => vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR,
        w if w.is_in_memory() => vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT,
        _ => Default::default(),
    };
    let usage = vk::BufferUsageFlags::RESOURCE_DESCRIPTOR_BUFFER_EXT;
    let heap = way.is_in_memory().then(|| Buffer::addressed(context, 1024, usage)).transpose()?;
    let types = [TENSOR, Type::STORAGE_BUFFER];
    let lists = [vk::MutableDescriptorTypeListEXT::default().descriptor_types(&types); 3];
    let lists = vk::MutableDescriptorTypeCreateInfoEXT::default().mutable_descriptor_type_lists(&lists);
    let mut info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings).flags(flags);
    if way.is_mutable() {
        info.p_next = (&raw const lists).cast();
    }
    let (layout, pipeline_layout) = context.layouts_of(&info)?;
    let data = Data { views: Default::default(), buffer: Default::default() };
    let (pool, template) = Default::default();
    Ok(Bound { context, way, layout, pipeline_layout, count, data, pool, template, heap })
}
