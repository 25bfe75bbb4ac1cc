//! A device that traces rays, and what the tests trace them through.
//!
//! The *layers* are a bottom structure of four triangles (0, 0), (1, 0), (0, 1) at z = 0, 1, 2 and 3: the first two are an opaque
//! geometry, the others one that is not. The *box* is a bottom structure of one box from -1 to 1. The top structure has three instances:
//!
//! | instance | what | transform | custom index | mask | offset of records |
//! |---|---|---|---|---|---|
//! | 0 | layers | none | 0x123456 | 1 | 0 |
//! | 1 | layers | twice as large, moved by (10, 0, 0) | 7 | 2 | 2 |
//! | 2 | box | moved by (0, 20, 0) | 9 | 4 | 4 |

use crate::common::instance;
use crate::gpu::Gpu;
use ash::vk;
use std::cell::RefCell;

pub type Type = vk::AccelerationStructureTypeKHR;
pub type Flags = vk::BuildAccelerationStructureFlagsKHR;
pub type Geometry = vk::AccelerationStructureGeometryKHR<'static>;

/// Mapped memory that shaders can address.
#[derive(Clone, Copy)]
pub struct Memory {
    pub buffer: vk::Buffer,
    pub memory: vk::DeviceMemory,
    pub address: u64,
    at: *mut u32,
    words: usize,
}

impl Memory {
    pub fn write(&self, first: usize, words: &[u32]) {
        assert!(first + words.len() <= self.words);
        // SAFETY: as compared; it is mapped, and the device is idle.
        unsafe { std::ptr::copy_nonoverlapping(words.as_ptr(), self.at.add(first), words.len()) };
    }
    pub fn read(&self) -> Vec<u32> {
        // SAFETY: it is mapped, and the device is idle.
        unsafe { std::slice::from_raw_parts(self.at, self.words) }.to_vec()
    }
}

#[derive(Clone, Copy)]
pub struct Structure {
    pub handle: vk::AccelerationStructureKHR,
    pub memory: Memory,
    pub size: u64,
}

/// As both kinds of shaders read it. The last two words are those of each.
#[derive(Clone, Copy)]
pub struct Ray {
    pub origin: [f32; 3],
    pub t_min: f32,
    pub direction: [f32; 3],
    pub t_max: f32,
    pub flags: u32,
    pub mask: u32,
    pub own: [u32; 2],
}

impl Ray {
    pub const fn new(origin: [f32; 3], direction: [f32; 3]) -> Ray {
        Ray { origin, t_min: 0.0, direction, t_max: 100.0, flags: 0, mask: 0xFF, own: [0; 2] }
    }
    pub fn words(&self) -> [u32; 12] {
        let [a, b, c] = self.origin.map(f32::to_bits);
        let [d, e, f] = self.direction.map(f32::to_bits);
        let [t, u] = [self.t_min, self.t_max].map(f32::to_bits);
        let [v, w] = self.own;
        [a, b, c, t, d, e, f, u, self.flags, self.mask, v, w]
    }
}

pub const OPAQUE: u32 = 1;
pub const SKIP_CLOSEST_HIT: u32 = 8;
pub const CULL_BACK: u32 = 0x10;
pub const CULL_FRONT: u32 = 0x20;
pub const CULL_OPAQUE: u32 = 0x40;
pub const SKIP_BOXES: u32 = 0x200;

/// Words that a query writes.
pub const QUERIED: usize = 48;
/// Words that a ray generation shader writes.
pub const TRACED: usize = 16;

const QUERY: &[u8] = include_bytes!("../shaders/rays_query.comp.spv");

pub struct Rig {
    pub gpu: Gpu,
    pub structures: ash::khr::acceleration_structure::Device,
    pub pipelines: ash::khr::ray_tracing_pipeline::Device,
    pub maintenance: ash::khr::ray_tracing_maintenance1::Device,
    memories: RefCell<Vec<Memory>>,
    made: RefCell<Vec<vk::AccelerationStructureKHR>>,
    pub(super) ends: RefCell<Vec<vk::Pipeline>>,
    pub query_layout: vk::PipelineLayout,
    query: vk::Pipeline,
    pub trace_layout: vk::PipelineLayout,
}

impl Rig {
    pub fn new() -> Rig {
        Rig::of(instance(&[]))
    }

    pub fn of(instance: ash::Instance) -> Rig {
        let mut structures = vk::PhysicalDeviceAccelerationStructureFeaturesKHR::default()
            .acceleration_structure(true)
            .acceleration_structure_host_commands(true);
        let mut queries = vk::PhysicalDeviceRayQueryFeaturesKHR::default().ray_query(true);
        let mut maintenance = vk::PhysicalDeviceRayTracingMaintenance1FeaturesKHR::default()
            .ray_tracing_maintenance1(true)
            .ray_tracing_pipeline_trace_rays_indirect2(true);
        let mut pipelines = vk::PhysicalDeviceRayTracingPipelineFeaturesKHR::default()
            .ray_tracing_pipeline(true)
            .ray_tracing_pipeline_trace_rays_indirect(true)
            .ray_traversal_primitive_culling(true);
        let mut micromaps = vk::PhysicalDeviceOpacityMicromapFeaturesEXT::default()
            .micromap(true)
            .micromap_host_commands(true);
        let mut reorder = ::vk::PhysicalDeviceRayTracingInvocationReorderFeaturesEXT {
            ray_tracing_invocation_reorder: vk::TRUE,
            ..Default::default()
        };
        let mut heaps =
            ::vk::PhysicalDeviceDescriptorHeapFeaturesEXT { descriptor_heap: vk::TRUE, ..Default::default() };
        let mut buffers = vk::PhysicalDeviceDescriptorBufferFeaturesEXT::default().descriptor_buffer(true);
        let mut positions =
            vk::PhysicalDeviceRayTracingPositionFetchFeaturesKHR::default().ray_tracing_position_fetch(true);
        let mut measured = ::vk::PhysicalDeviceShaderInstrumentationFeaturesARM {
            shader_instrumentation: vk::TRUE,
            ..Default::default()
        };
        heaps.p_next = (&raw mut measured).cast();
        buffers.p_next = (&raw mut heaps).cast();
        positions.p_next = (&raw mut buffers).cast();
        reorder.p_next = (&raw mut positions).cast();
        micromaps.p_next = (&raw mut reorder).cast();
        structures.p_next = (&raw mut micromaps).cast();
        queries.p_next = (&raw mut structures).cast();
        maintenance.p_next = (&raw mut queries).cast();
        pipelines.p_next = (&raw mut maintenance).cast();
        let names = [
            ash::khr::acceleration_structure::NAME,
            ash::khr::deferred_host_operations::NAME,
            ash::khr::ray_query::NAME,
            ash::khr::ray_tracing_pipeline::NAME,
            ash::khr::ray_tracing_maintenance1::NAME,
            ash::ext::opacity_micromap::NAME,
            c"VK_EXT_ray_tracing_invocation_reorder",
            c"VK_KHR_pipeline_binary",
            c"VK_ARM_shader_instrumentation",
            c"VK_EXT_descriptor_heap",
            ash::ext::descriptor_buffer::NAME,
            ash::khr::ray_tracing_position_fetch::NAME,
            ash::khr::pipeline_executable_properties::NAME,
        ];
        let gpu = Gpu::of(instance, &names, &mut pipelines);
        let stages = vk::ShaderStageFlags::RAYGEN_KHR | vk::ShaderStageFlags::CLOSEST_HIT_KHR;
        let layout = |stages, size| {
            let push = [vk::PushConstantRange { stage_flags: stages, offset: 0, size }];
            let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
            // SAFETY (here and below): handles are alive, structures outlive the calls.
            unsafe { gpu.device.create_pipeline_layout(&info, None) }.expect("a layout")
        };
        let (query_layout, trace_layout) = (layout(vk::ShaderStageFlags::COMPUTE, 28), layout(stages, 24));
        let module = module(&gpu, QUERY);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(query_layout)];
        let made = unsafe { gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
        let query = made.expect("a pipeline of ray queries")[0];
        unsafe { gpu.device.destroy_shader_module(module, None) };
        Rig {
            structures: ash::khr::acceleration_structure::Device::new(&gpu.instance, &gpu.device),
            pipelines: ash::khr::ray_tracing_pipeline::Device::new(&gpu.instance, &gpu.device),
            maintenance: ash::khr::ray_tracing_maintenance1::Device::new(&gpu.instance, &gpu.device),
            memories: RefCell::default(),
            made: RefCell::default(),
            ends: RefCell::default(),
            query_layout,
            query,
            trace_layout,
            gpu,
        }
    }

    pub fn memory(&self, words: usize) -> Memory {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::INDIRECT_BUFFER
            | vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR
            | vk::BufferUsageFlags::RESOURCE_DESCRIPTOR_BUFFER_EXT
            | vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR
            | vk::BufferUsageFlags::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR;
        let d = &self.gpu.device;
        unsafe {
            let info = vk::BufferCreateInfo::default().size(words as u64 * 4).usage(usage);
            let buffer = d.create_buffer(&info, None).expect("a buffer");
            let need = d.get_buffer_memory_requirements(buffer);
            let mut flags =
                vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
            let info = vk::MemoryAllocateInfo::default().allocation_size(need.size).push_next(&mut flags);
            let memory = d.allocate_memory(&info, None).expect("memory");
            d.bind_buffer_memory(buffer, memory, 0).expect("the buffer is bound");
            let at = d.map_memory(memory, 0, vk::WHOLE_SIZE, Default::default()).expect("it is mapped");
            let address = d.get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(buffer));
            let made = Memory { buffer, memory, address, at: at.cast(), words };
            self.memories.borrow_mut().push(made);
            made
        }
    }

    pub fn with(&self, words: &[u32]) -> Memory {
        let made = self.memory(words.len().max(4));
        made.write(0, words);
        made
    }

    /// Frees a memory now.
    pub fn free(&self, m: Memory) {
        self.memories.borrow_mut().retain(|o| o.buffer != m.buffer);
        unsafe {
            self.gpu.device.destroy_buffer(m.buffer, None);
            self.gpu.device.free_memory(m.memory, None);
        }
    }

    /// A structure without content.
    pub fn structure(&self, kind: Type, size: u64) -> Structure {
        let memory = self.memory(size.div_ceil(4) as usize);
        let info =
            vk::AccelerationStructureCreateInfoKHR::default().buffer(memory.buffer).size(size).ty(kind);
        let handle = unsafe { self.structures.create_acceleration_structure(&info, None) };
        let handle = handle.expect("a structure");
        self.made.borrow_mut().push(handle);
        Structure { handle, memory, size }
    }

    pub fn address(&self, s: &Structure) -> u64 {
        let info = vk::AccelerationStructureDeviceAddressInfoKHR::default().acceleration_structure(s.handle);
        unsafe { self.structures.get_acceleration_structure_device_address(&info) }
    }

    /// Runs commands.
    pub fn run(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<(), vk::Result> {
        let c = self.gpu.record(record);
        let buffers = [c];
        let submit = [vk::SubmitInfo::default().command_buffers(&buffers)];
        unsafe {
            self.gpu.device.queue_submit(self.gpu.queue, &submit, vk::Fence::null())?;
            self.gpu.device.queue_wait_idle(self.gpu.queue)
        }
    }

    pub fn sizes(
        &self,
        kind: Type,
        flags: Flags,
        of: &[Geometry],
        counts: &[u32],
    ) -> vk::AccelerationStructureBuildSizesInfoKHR<'static> {
        let info =
            vk::AccelerationStructureBuildGeometryInfoKHR::default().ty(kind).flags(flags).geometries(of);
        let mut sizes = vk::AccelerationStructureBuildSizesInfoKHR::default();
        let by = vk::AccelerationStructureBuildTypeKHR::DEVICE;
        unsafe { self.structures.get_acceleration_structure_build_sizes(by, &info, counts, &mut sizes) };
        sizes
    }

    /// Builds `to`, or updates it from another.
    pub fn build_into(
        &self,
        kind: Type,
        flags: Flags,
        of: &[Geometry],
        counts: &[u32],
        from: Option<&Structure>,
        to: &Structure,
    ) -> Result<(), vk::Result> {
        let scratch = self.memory(1 << 14);
        let mut info = vk::AccelerationStructureBuildGeometryInfoKHR::default()
            .ty(kind)
            .flags(flags)
            .geometries(of)
            .dst_acceleration_structure(to.handle)
            .scratch_data(vk::DeviceOrHostAddressKHR { device_address: scratch.address });
        if let Some(from) = from {
            info = info
                .mode(vk::BuildAccelerationStructureModeKHR::UPDATE)
                .src_acceleration_structure(from.handle);
        }
        let ranges: Vec<_> = counts
            .iter()
            .map(|n| vk::AccelerationStructureBuildRangeInfoKHR::default().primitive_count(*n))
            .collect();
        self.run(|_, c| unsafe {
            self.structures.cmd_build_acceleration_structures(c, &[info], &[&ranges]);
        })
    }

    pub fn build(&self, kind: Type, flags: Flags, of: &[Geometry], counts: &[u32]) -> Structure {
        let sizes = self.sizes(kind, flags, of, counts);
        let to = self.structure(kind, sizes.acceleration_structure_size);
        self.build_into(kind, flags, of, counts, None, &to).expect("a build");
        to
    }

    pub fn top(&self, flags: Flags, all: &[[u32; 16]]) -> Structure {
        let data = self.with(all.as_flattened());
        self.build(Type::TOP_LEVEL, flags, &[instances(data.address)], &[all.len() as u32])
    }

    /// The layers as the module says.
    pub fn layers(&self, flags: Flags) -> Structure {
        self.build(Type::BOTTOM_LEVEL, flags, &self.layer_geometries(0.0), &[2, 2])
    }

    /// The same, moved along x.
    pub fn layer_geometries(&self, x: f32) -> [Geometry; 2] {
        let mut vertices = vec![];
        for z in 0..4 {
            for [a, b] in [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]] {
                vertices.extend([a + x, b, z as f32].map(f32::to_bits));
            }
        }
        let data = self.with(&vertices);
        let twice = vk::GeometryFlagsKHR::NO_DUPLICATE_ANY_HIT_INVOCATION;
        [triangles(data.address, 6, vk::GeometryFlagsKHR::OPAQUE), triangles(data.address + 6 * 12, 6, twice)]
    }

    pub fn cube(&self, bounds: [f32; 6]) -> Structure {
        let data = self.with(&bounds.map(f32::to_bits));
        self.build(Type::BOTTOM_LEVEL, Flags::ALLOW_COMPACTION, &[boxes(data.address)], &[1])
    }

    /// Instances of the module's scene.
    pub fn instances(&self, layers: u64, cube: u64) -> [[u32; 16]; 3] {
        let moved = |s: f32, [x, y]: [f32; 2]| [s, 0.0, 0.0, x, 0.0, s, 0.0, y, 0.0, 0.0, s, 0.0];
        [
            of(moved(1.0, [0.0; 2]), 0x12_3456, 1, 0, layers),
            of(moved(2.0, [10.0, 0.0]), 7, 2, 2, layers),
            of(moved(1.0, [0.0, 20.0]), 9, 4, 4, cube),
        ]
    }

    /// The module's scene; its top structure.
    pub fn scene(&self) -> Structure {
        let (layers, cube) = (self.layers(Flags::empty()), self.cube([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0]));
        self.top(Flags::empty(), &self.instances(self.address(&layers), self.address(&cube)))
    }

    /// What queries say of rays.
    pub fn query(&self, scene: u64, rays: &[Ray]) -> Result<Vec<Vec<u32>>, vk::Result> {
        let list: Vec<[u32; 12]> = rays.iter().map(Ray::words).collect();
        let (from, to) = (self.with(list.as_flattened()), self.memory(rays.len() * QUERIED));
        let mut push: Vec<u8> =
            [scene, from.address, to.address].iter().flat_map(|a| a.to_le_bytes()).collect();
        push.extend((rays.len() as u32).to_le_bytes());
        self.run(|d, c| unsafe {
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, self.query);
            d.cmd_push_constants(c, self.query_layout, vk::ShaderStageFlags::COMPUTE, 0, &push);
            d.cmd_dispatch(c, rays.len().div_ceil(16) as u32, 1, 1);
        })?;
        Ok(to.read().chunks(QUERIED).map(<[u32]>::to_vec).collect())
    }
}

pub fn module(gpu: &Gpu, spirv: &[u8]) -> vk::ShaderModule {
    let words = shader::words(spirv);
    let info = vk::ShaderModuleCreateInfo::default().code(&words);
    unsafe { gpu.device.create_shader_module(&info, None) }.expect("a module")
}

/// A VkAccelerationStructureInstanceKHR without flags.
pub fn of(transform: [f32; 12], custom: u32, mask: u32, records: u32, structure: u64) -> [u32; 16] {
    let mut out = [0; 16];
    out[..12].copy_from_slice(&transform.map(f32::to_bits));
    out[12..].copy_from_slice(&[custom | mask << 24, records, structure as u32, (structure >> 32) as u32]);
    out
}

pub const IDENTITY: [f32; 12] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];

fn geometry(
    ty: vk::GeometryTypeKHR,
    geometry: vk::AccelerationStructureGeometryDataKHR<'static>,
    flags: vk::GeometryFlagsKHR,
) -> Geometry {
    Geometry::default().geometry_type(ty).geometry(geometry).flags(flags)
}

fn at(device_address: u64) -> vk::DeviceOrHostAddressConstKHR {
    vk::DeviceOrHostAddressConstKHR { device_address }
}

/// Triangles of three floats a vertex.
pub fn triangles(address: u64, vertices: u32, flags: vk::GeometryFlagsKHR) -> Geometry {
    let data = vk::AccelerationStructureGeometryTrianglesDataKHR::default()
        .vertex_format(vk::Format::R32G32B32_SFLOAT)
        .vertex_data(at(address))
        .vertex_stride(12)
        .max_vertex(vertices.saturating_sub(1))
        .index_type(vk::IndexType::NONE_KHR);
    let data = vk::AccelerationStructureGeometryDataKHR { triangles: data };
    geometry(vk::GeometryTypeKHR::TRIANGLES, data, flags)
}

pub fn boxes(address: u64) -> Geometry {
    let data = vk::AccelerationStructureGeometryAabbsDataKHR::default().data(at(address)).stride(24);
    let data = vk::AccelerationStructureGeometryDataKHR { aabbs: data };
    geometry(vk::GeometryTypeKHR::AABBS, data, vk::GeometryFlagsKHR::empty())
}

pub fn instances(address: u64) -> Geometry {
    let data = vk::AccelerationStructureGeometryInstancesDataKHR::default().data(at(address));
    let data = vk::AccelerationStructureGeometryDataKHR { instances: data };
    geometry(vk::GeometryTypeKHR::INSTANCES, data, vk::GeometryFlagsKHR::empty())
}

impl Drop for Rig {
    fn drop(&mut self) {
        let d = &self.gpu.device;
        unsafe {
            self.made
                .take()
                .into_iter()
                .for_each(|s| self.structures.destroy_acceleration_structure(s, None));
            for m in self.memories.take() {
                d.destroy_buffer(m.buffer, None);
                d.free_memory(m.memory, None);
            }
            self.ends.take().into_iter().chain([self.query]).for_each(|p| d.destroy_pipeline(p, None));
            d.destroy_pipeline_layout(self.query_layout, None);
            d.destroy_pipeline_layout(self.trace_layout, None);
        }
    }
}
