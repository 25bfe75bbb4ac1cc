//! A device with the extension, a pipeline whose sets lie in descriptor buffers, and the resources they name.

use ash::vk;
use client::graphics::{Image, ImageInfo, barrier};
use client::{Buffer, Context, Error, Library, Result};
use std::ffi::CStr;
use std::rc::Rc;
use vk::DescriptorType as T;

/// Words of the output that each of the 64 invocations writes.
pub const WORDS: usize = 16;
const INVOCATIONS: usize = 64;

/// A binding of set 0 of `descriptor_buffer.comp`.
pub struct Binding {
    pub ty: T,
    pub count: u32,
}

const fn kind(ty: T, count: u32) -> Binding {
    Binding { ty, count }
}

pub const KINDS: [Binding; 9] = [
    kind(T::UNIFORM_BUFFER, 4),
    kind(T::SAMPLED_IMAGE, 2),
    kind(T::SAMPLER, 1),
    kind(T::COMBINED_IMAGE_SAMPLER, 1),
    kind(T::STORAGE_IMAGE, 1),
    kind(T::UNIFORM_TEXEL_BUFFER, 1),
    kind(T::STORAGE_TEXEL_BUFFER, 1),
    // Bytes, of which one is one of its descriptors.
    kind(T::INLINE_UNIFORM_BLOCK, 1),
    kind(T::STORAGE_BUFFER, 3),
];

/// Places in the one buffer of data, in bytes.
const UNIFORMS: usize = 0;
const TEXELS: usize = 0x1000;
const STORED: usize = 0x2000;
const STORAGE: usize = 0x3000;
const STORAGE_STEP: usize = 0x1000;
const STORAGE_BYTES: usize = 768;
const DATA: usize = 0x6000;

/// Where the set of outputs lies in its descriptor buffer.
const OUT_AT: usize = 64;
const USAGES: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::RESOURCE_DESCRIPTOR_BUFFER_EXT.as_raw()
        | vk::BufferUsageFlags::SAMPLER_DESCRIPTOR_BUFFER_EXT.as_raw()
        | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER.as_raw(),
);

// Views, then samplers and pipelines, are left to the device's end, which comes with the child's.
pub struct Rig {
    pub api: ash::ext::descriptor_buffer::Device,
    properties: vk::PhysicalDeviceDescriptorBufferPropertiesEXT<'static>,
    pub sampler: vk::Sampler,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    /// Byte offset of each binding of set 0.
    pub offsets: Vec<u64>,
    pub heap_bytes: u64,
    /// The descriptors of set 0.
    pub heap: Buffer,
    out_heap: Buffer,
    pub data: Buffer,
    pub out: Buffer,
    pub textures: [Image; 2],
    storage: Image,
    /// A cube and an array, which nothing here is meant for.
    others: [Image; 2],
    context: Rc<Context>,
}

fn texture(context: &Rc<Context>, t: usize) -> Result<Image> {
    let texels = (0..64).flat_map(|i| [texel(t, i, 0), texel(t, i, 1)]);
    let bytes: Vec<u8> = texels.flat_map(f32::to_le_bytes).collect();
    Image::with_texels(context, ImageInfo::texture(vk::Format::R32G32_SFLOAT, [8, 8]), &bytes)
}

/// Several layers that are sampled and stored to.
fn several(format: vk::Format, layers: u32) -> ImageInfo {
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::STORAGE;
    ImageInfo { layers, usage, ..ImageInfo::texture(format, [5, 5]) }
}

/// Channel `c` of texel `i` of texture `t`.
pub fn texel(t: usize, i: usize, c: usize) -> f32 {
    (t * 1000 + i) as f32 + c as f32 * 0.5
}

/// What the cases need of a device.
pub const EXTENSIONS: [&CStr; 4] =
    [c"VK_EXT_descriptor_buffer", c"VK_EXT_robustness2", c"VK_KHR_maintenance6", c"VK_KHR_push_descriptor"];

impl Rig {
    pub fn new() -> Result<Rig> {
        let mut buffers = vk::PhysicalDeviceDescriptorBufferFeaturesEXT::default()
            .descriptor_buffer(true)
            .descriptor_buffer_push_descriptors(true);
        let mut robust = vk::PhysicalDeviceRobustness2FeaturesEXT::default()
            .null_descriptor(true)
            .robust_buffer_access2(true)
            .robust_image_access2(true);
        robust.p_next = std::ptr::from_mut(&mut buffers).cast();
        let mut more = vk::PhysicalDeviceMaintenance6FeaturesKHR::default().maintenance6(true);
        more.p_next = std::ptr::from_mut(&mut robust).cast();
        let context = Context::extended(Library::any()?, &EXTENSIONS, std::ptr::from_mut(&mut more).cast())?;
        let mut properties = vk::PhysicalDeviceDescriptorBufferPropertiesEXT::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut properties);
        // SAFETY: a live physical device.
        unsafe { context.instance.get_physical_device_properties2(context.physical, &mut all) };
        let api = ash::ext::descriptor_buffer::Device::new(&context.instance, &context.device);
        let device = &context.device;
        let bindings: Vec<_> = KINDS
            .iter()
            .zip(0..)
            .map(|(k, b)| {
                // The last one is of variable size: more may be declared than there are.
                let count = match k.ty {
                    T::INLINE_UNIFORM_BLOCK => 32,
                    T::STORAGE_BUFFER => 1000,
                    _ => k.count,
                };
                binding(b, k.ty, count)
            })
            .collect();
        let mut flags = [vk::DescriptorBindingFlags::empty(); KINDS.len()];
        flags[KINDS.len() - 1] = vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT;
        let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
        let in_buffer = vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT;
        let outputs = [binding(0, T::STORAGE_BUFFER, 1)];
        // SAFETY: plain Vulkan calls with structs that outlive them.
        let (sets, sampler) = unsafe {
            let made = |info: &vk::DescriptorSetLayoutCreateInfo| {
                device
                    .create_descriptor_set_layout(info, None)
                    .map_err(Error::vk("vkCreateDescriptorSetLayout"))
            };
            let info = vk::DescriptorSetLayoutCreateInfo::default().flags(in_buffer);
            let sets =
                [made(&info.bindings(&bindings).push_next(&mut flags))?, made(&info.bindings(&outputs))?];
            let nearest = vk::SamplerCreateInfo::default().max_lod(vk::LOD_CLAMP_NONE);
            (sets, device.create_sampler(&nearest, None).map_err(Error::vk("vkCreateSampler"))?)
        };
        // SAFETY: live layouts.
        let offsets: Vec<u64> = (0..KINDS.len() as u32)
            .map(|b| unsafe { api.get_descriptor_set_layout_binding_offset(sets[0], b) })
            .collect();
        // SAFETY: as above.
        let sizes = sets.map(|s| unsafe { api.get_descriptor_set_layout_size(s) });
        let module = include_bytes!("../../shaders/descriptor_buffer.spv");
        let (layout, pipeline) = pipeline(&context, module, &sets, 4)?;
        let image = ImageInfo {
            usage: vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_DST,
            ..ImageInfo::texture(vk::Format::R32_UINT, [8, 8])
        };
        let addressed = |n: usize| Buffer::addressed(&context, n, USAGES);
        Ok(Rig {
            offsets,
            heap_bytes: sizes[0],
            heap: addressed(sizes[0] as usize)?,
            out_heap: addressed(OUT_AT + sizes[1] as usize)?,
            data: addressed(DATA)?,
            out: addressed(INVOCATIONS * WORDS * 4)?,
            textures: [texture(&context, 0)?, texture(&context, 1)?],
            storage: Image::new(&context, image)?,
            others: [
                Image::new(&context, ImageInfo { cube: true, ..several(vk::Format::R8G8B8A8_UNORM, 6) })?,
                Image::new(&context, several(vk::Format::R16_SFLOAT, 3))?,
            ],
            api,
            properties: vk::PhysicalDeviceDescriptorBufferPropertiesEXT {
                p_next: std::ptr::null_mut(),
                _marker: Default::default(),
                ..properties
            },
            sampler,
            layout,
            pipeline,
            context,
        })
    }

    pub fn context(&self) -> &Rc<Context> {
        &self.context
    }

    /// Bytes of a descriptor (of an inline uniform block: of the whole).
    pub fn size_of(&self, ty: T) -> u64 {
        let p = &self.properties;
        let size = match ty {
            T::UNIFORM_BUFFER => p.uniform_buffer_descriptor_size,
            T::SAMPLED_IMAGE => p.sampled_image_descriptor_size,
            T::SAMPLER => p.sampler_descriptor_size,
            T::COMBINED_IMAGE_SAMPLER => p.combined_image_sampler_descriptor_size,
            T::STORAGE_IMAGE => p.storage_image_descriptor_size,
            T::UNIFORM_TEXEL_BUFFER => p.uniform_texel_buffer_descriptor_size,
            T::STORAGE_TEXEL_BUFFER => p.storage_texel_buffer_descriptor_size,
            T::STORAGE_BUFFER => p.storage_buffer_descriptor_size,
            _ => 32,
        };
        size as u64
    }

    fn descriptor(&self, ty: T, data: vk::DescriptorDataEXT) -> Vec<u8> {
        let mut info = vk::DescriptorGetInfoEXT::default().ty(ty);
        info.data = data;
        let mut bytes = vec![0; self.size_of(ty) as usize];
        // SAFETY: the data is of the type's kind, of live handles.
        unsafe { self.api.get_descriptor(&info, &mut bytes) };
        bytes
    }

    /// The null descriptor of a kind that has one.
    pub fn null(&self, ty: T) -> Vec<u8> {
        let image = vk::DescriptorImageInfo::default().sampler(self.sampler);
        self.descriptor(
            ty,
            match ty {
                T::COMBINED_IMAGE_SAMPLER => vk::DescriptorDataEXT { p_combined_image_sampler: &image },
                _ => vk::DescriptorDataEXT { p_storage_buffer: std::ptr::null() },
            },
        )
    }

    pub fn sampled(&self, texture: usize) -> Vec<u8> {
        let image = vk::DescriptorImageInfo::default()
            .image_view(self.textures[texture].view)
            .image_layout(vk::ImageLayout::GENERAL);
        self.descriptor(T::SAMPLED_IMAGE, vk::DescriptorDataEXT { p_sampled_image: &image })
    }

    /// Images where others are wanted: cubes and arrays, sampled and as storage.
    pub fn odd(&self) -> Vec<Vec<u8>> {
        let images = self.others.iter().map(|i| i.view);
        let info = |v| vk::DescriptorImageInfo::default().image_view(v).sampler(self.sampler);
        images
            .flat_map(|v| {
                let i = info(v).image_layout(vk::ImageLayout::GENERAL);
                let both = vk::DescriptorDataEXT { p_combined_image_sampler: &i };
                let stored = vk::DescriptorDataEXT { p_storage_image: &i };
                [self.descriptor(T::COMBINED_IMAGE_SAMPLER, both), self.descriptor(T::STORAGE_IMAGE, stored)]
            })
            .collect()
    }

    /// A buffer's, of `bytes` bytes from `offset` on.
    fn buffer(&self, ty: T, offset: usize, bytes: usize) -> Vec<u8> {
        let at = vk::DescriptorAddressInfoEXT::default()
            .address(self.data.address() + offset as u64)
            .range(bytes as u64)
            .format(vk::Format::R32_UINT);
        self.descriptor(ty, vk::DescriptorDataEXT { p_storage_buffer: &at })
    }

    /// The right descriptor for element `e` of a binding.
    pub fn get(&self, binding: usize, e: u32) -> Vec<u8> {
        let e = e as usize;
        let info = vk::DescriptorImageInfo::default().image_layout(vk::ImageLayout::GENERAL);
        match KINDS[binding].ty {
            ty @ T::UNIFORM_BUFFER => self.buffer(ty, UNIFORMS + e * 256, 16),
            T::SAMPLED_IMAGE => self.sampled(e),
            ty @ T::SAMPLER => self.descriptor(ty, vk::DescriptorDataEXT { p_sampler: &self.sampler }),
            ty @ T::COMBINED_IMAGE_SAMPLER => {
                let info = info.image_view(self.textures[1].view).sampler(self.sampler);
                self.descriptor(ty, vk::DescriptorDataEXT { p_combined_image_sampler: &info })
            }
            ty @ T::STORAGE_IMAGE => {
                let info = info.image_view(self.storage.view);
                self.descriptor(ty, vk::DescriptorDataEXT { p_storage_image: &info })
            }
            ty @ T::UNIFORM_TEXEL_BUFFER => self.buffer(ty, TEXELS, INVOCATIONS * 4),
            ty @ T::STORAGE_TEXEL_BUFFER => self.buffer(ty, STORED, INVOCATIONS * 4),
            ty @ T::STORAGE_BUFFER => self.buffer(ty, STORAGE + e * STORAGE_STEP, STORAGE_BYTES),
            _ => (1..=8u32).flat_map(u32::to_le_bytes).collect(),
        }
    }

    pub fn put(&mut self, binding: usize, e: u32, bytes: &[u8]) {
        let at = (self.offsets[binding] + u64::from(e) * self.size_of(KINDS[binding].ty)) as usize;
        let n = bytes.len().min(self.size_of(KINDS[binding].ty) as usize);
        self.heap.bytes_mut()[at..at + n].copy_from_slice(&bytes[..n]);
    }

    /// All descriptors as they should be.
    pub fn write_all(&mut self) {
        self.heap.bytes_mut().fill(0);
        for (b, kind) in KINDS.iter().enumerate() {
            for e in 0..kind.count {
                let bytes = self.get(b, e);
                self.put(b, e, &bytes);
            }
        }
        let at = vk::DescriptorAddressInfoEXT::default()
            .address(self.out.address())
            .range((INVOCATIONS * WORDS * 4) as u64);
        let bytes = self.descriptor(T::STORAGE_BUFFER, vk::DescriptorDataEXT { p_storage_buffer: &at });
        self.out_heap.bytes_mut()[OUT_AT..OUT_AT + bytes.len()].copy_from_slice(&bytes);
    }

    /// The uniform buffers in the opposite order.
    pub fn swap_uniforms(&mut self) {
        for e in 0..4 {
            let bytes = self.get(0, 3 - e);
            self.put(0, e, &bytes);
        }
    }

    /// All data as it is before a dispatch, but the storage image's, which the commands clear.
    pub fn fill(&mut self) {
        self.out.words_mut().fill(0xDEAD_BEEF);
        let data = self.data.words_mut();
        data.fill(0);
        for k in 0..4u32 {
            let at = UNIFORMS / 4 + k as usize * 64;
            data[at..at + 4].copy_from_slice(&[100 + k, 200 + k, 300 + k, 400 + k]);
        }
        for i in 0..INVOCATIONS {
            data[TEXELS / 4 + i] = 3 * i as u32 + 1;
            data[STORED / 4 + i] = (i as u32) << 8;
            for s in 0..3 {
                data[(STORAGE + s * STORAGE_STEP) / 4 + i] = (s * 10_000 + i) as u32;
            }
        }
    }

    pub fn record(&self, f: impl FnOnce(&Rig, vk::CommandBuffer)) -> Result<vk::CommandBuffer> {
        self.context.record(|_, c| f(self, c))
    }

    pub fn submit(&self, commands: vk::CommandBuffer) -> Result<()> {
        self.context.submit_and_wait(commands)
    }

    pub fn dispatch(&self, pick: u32) -> Result<()> {
        self.dispatch_with(pick, self.heap.address())
    }

    /// A dispatch whose set 0 lies at any address.
    pub fn dispatch_with(&self, pick: u32, heap: u64) -> Result<()> {
        let commands = self.record(|rig, c| rig.commands_with(c, pick, heap))?;
        let result = self.submit(commands);
        self.context.free(commands);
        result
    }

    pub fn commands(&self, c: vk::CommandBuffer, pick: u32) {
        self.commands_with(c, pick, self.heap.address());
    }

    fn commands_with(&self, c: vk::CommandBuffer, pick: u32, heap: u64) {
        let device = &self.context.device;
        let point = vk::PipelineBindPoint::COMPUTE;
        let usage = USAGES;
        let bound = [heap, self.out_heap.address()]
            .map(|a| vk::DescriptorBufferBindingInfoEXT::default().address(a).usage(usage));
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        };
        let seven = vk::ClearColorValue { uint32: [7; 4] };
        // SAFETY: recording into a command buffer that has begun, with live handles.
        unsafe {
            let general = vk::ImageLayout::GENERAL;
            device.cmd_clear_color_image(c, self.storage.handle, general, &seven, &[range]);
            barrier(device, c);
            device.cmd_bind_pipeline(c, point, self.pipeline);
            self.api.cmd_bind_descriptor_buffers(c, &bound);
            let offsets = [0, OUT_AT as u64];
            self.api.cmd_set_descriptor_buffer_offsets(c, point, self.layout, 0, &[0, 1], &offsets);
            let stage = vk::ShaderStageFlags::COMPUTE;
            device.cmd_push_constants(c, self.layout, stage, 0, &pick.to_le_bytes());
            device.cmd_dispatch(c, 1, 1, 1);
        }
        barrier(device, c);
    }

    /// Copies other descriptors over those of set 0.
    pub fn copy_heap(&self, c: vk::CommandBuffer, from: &Buffer) {
        let region = [vk::BufferCopy::default().size(self.heap_bytes)];
        // SAFETY: recording into a command buffer that has begun; both buffers have the bytes.
        unsafe { self.context.device.cmd_copy_buffer(c, from.handle, self.heap.handle, &region) };
        barrier(&self.context.device, c);
    }

    /// What an invocation's results are. Textures and images come from their descriptors' data alone.
    fn expected(&self, i: usize, pick: u32, swapped: bool) -> [u32; WORDS] {
        let uniform = |k: u32| if swapped { 3 - k } else { k };
        let n = i as u32;
        [
            100 + uniform(pick),
            200 + uniform(n & 3),
            7,
            (n % 3) * 10_000 + n,
            texel(pick as usize & 1, i, 0).to_bits(),
            texel(i & 1, i, 1).to_bits(),
            texel(1, i, 0).to_bits(),
            7,
            3 * n + 1,
            n << 8,
            STORAGE_BYTES as u32 / 4,
            8,
            64,
            64,
            8,
            0x5A,
        ]
    }

    fn compare(&self, pick: u32, swapped: bool, ignored: Option<usize>) -> std::result::Result<(), String> {
        for (i, got) in self.out.words().as_chunks::<WORDS>().0.iter().enumerate() {
            let mut want = self.expected(i, pick, swapped);
            if let Some(k) = ignored {
                want[k] = got[k];
            }
            if *got != want {
                return Err(format!("invocation {i}, pick {pick}:\n{got:x?}, not\n{want:x?}"));
            }
        }
        Ok(())
    }

    fn written(&self) -> std::result::Result<(), String> {
        let data = self.data.words();
        for i in 0..INVOCATIONS {
            let n = i as u32;
            let (stored, own) = (data[STORED / 4 + i], data[(STORAGE + STORAGE_STEP) / 4 + 100 + i]);
            if (stored, own) != ((n << 8) + 5, n ^ 0x55) {
                return Err(format!("invocation {i} wrote {stored:#x} and {own:#x}"));
            }
        }
        Ok(())
    }

    /// The last dispatch's results, and what else it wrote.
    pub fn check(&self, pick: u32) -> std::result::Result<(), String> {
        self.compare(pick, false, None).and_then(|()| self.written())
    }

    pub fn check_swapped(&self, pick: u32) -> std::result::Result<(), String> {
        self.compare(pick, true, None).and_then(|()| self.written())
    }

    /// The last of several dispatches: without the atomic's result.
    pub fn check_uniforms(&self, pick: u32, swapped: bool) -> std::result::Result<(), String> {
        self.compare(pick, swapped, Some(9))
    }

    /// The data is as [`Rig::fill`] left it.
    pub fn untouched(&self) -> std::result::Result<(), String> {
        let data = self.data.words();
        for i in 0..INVOCATIONS {
            let stored = data[STORED / 4 + i];
            let own = data[(STORAGE + STORAGE_STEP) / 4 + 100 + i];
            if (stored, own) != ((i as u32) << 8, 0) {
                return Err(format!("{stored:#x} and {own:#x} were written through nothing"));
            }
        }
        Ok(())
    }
}

pub fn binding(number: u32, ty: T, count: u32) -> vk::DescriptorSetLayoutBinding<'static> {
    vk::DescriptorSetLayoutBinding::default()
        .binding(number)
        .descriptor_type(ty)
        .descriptor_count(count)
        .stage_flags(vk::ShaderStageFlags::COMPUTE)
}

/// A compute pipeline for descriptor buffers.
pub fn pipeline(
    context: &Context,
    spirv: &[u8],
    sets: &[vk::DescriptorSetLayout],
    push: u32,
) -> Result<(vk::PipelineLayout, vk::Pipeline)> {
    let device = &context.device;
    let ranges =
        [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(push.max(4))];
    // SAFETY: plain Vulkan calls with structs that outlive them.
    unsafe {
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(sets).push_constant_ranges(&ranges);
        let layout =
            device.create_pipeline_layout(&info, None).map_err(Error::vk("vkCreatePipelineLayout"))?;
        let module = device
            .create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&client::words(spirv)), None)
            .map_err(Error::vk("vkCreateShaderModule"))?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let create = [vk::ComputePipelineCreateInfo::default()
            .flags(vk::PipelineCreateFlags::DESCRIPTOR_BUFFER_EXT)
            .stage(stage)
            .layout(layout)];
        let made = device
            .create_compute_pipelines(vk::PipelineCache::null(), &create, None)
            .map_err(|(_, r)| Error(format!("vkCreateComputePipelines: {r:?}")))?;
        device.destroy_shader_module(module, None);
        Ok((layout, made[0]))
    }
}
