//! Acceleration structures.

use crate::{Buffer, Context, Error, Result};
use ash::vk;
use std::rc::Rc;

pub struct Structure {
    context: Rc<Context>,
    commands: ash::khr::acceleration_structure::Device,
    pub handle: vk::AccelerationStructureKHR,
    pub address: u64,
    _memory: Buffer,
}

impl Drop for Structure {
    fn drop(&mut self) {
        let _ = &self.context;
        // SAFETY: nothing that uses it is pending.
        unsafe { self.commands.destroy_acceleration_structure(self.handle, None) };
    }
}

/// What a structure is built from.
pub struct Input {
    kind: vk::AccelerationStructureTypeKHR,
    geometry: vk::AccelerationStructureGeometryKHR<'static>,
}

/// A build that can be recorded.
pub struct Job {
    flags: vk::BuildAccelerationStructureFlagsKHR,
    input: Input,
    count: u32,
    pub to: Structure,
    pub scratch: Buffer,
}

/// Three floats a vertex, three vertices a triangle, opaque.
pub fn triangles(vertices: &Buffer) -> Input {
    of_triangles(vertices, 12)
}

/// Opaque triangles of words as indices and of vertices that begin with three floats, `stride` bytes each.
pub fn indexed(vertices: &Buffer, stride: u64, indices: &Buffer) -> Input {
    let mut input = of_triangles(vertices, stride);
    let at = vk::DeviceOrHostAddressConstKHR { device_address: indices.address() };
    // SAFETY: the member that `of_triangles` has set.
    let data = unsafe { input.geometry.geometry.triangles };
    input.geometry.geometry.triangles = data.index_type(vk::IndexType::UINT32).index_data(at);
    input
}

fn of_triangles(vertices: &Buffer, stride: u64) -> Input {
    let at = vk::DeviceOrHostAddressConstKHR { device_address: vertices.address() };
    let data = vk::AccelerationStructureGeometryTrianglesDataKHR::default()
        .vertex_format(vk::Format::R32G32B32_SFLOAT)
        .vertex_data(at)
        .vertex_stride(stride)
        .max_vertex((vertices.bytes().len() as u64 / stride) as u32 - 1)
        .index_type(vk::IndexType::NONE_KHR);
    Input {
        kind: vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL,
        geometry: vk::AccelerationStructureGeometryKHR::default()
            .geometry_type(vk::GeometryTypeKHR::TRIANGLES)
            .geometry(vk::AccelerationStructureGeometryDataKHR { triangles: data })
            .flags(vk::GeometryFlagsKHR::OPAQUE),
    }
}

pub fn instances(data: &Buffer) -> Input {
    let at = vk::DeviceOrHostAddressConstKHR { device_address: data.address() };
    let data = vk::AccelerationStructureGeometryInstancesDataKHR::default().data(at);
    Input {
        kind: vk::AccelerationStructureTypeKHR::TOP_LEVEL,
        geometry: vk::AccelerationStructureGeometryKHR::default()
            .geometry_type(vk::GeometryTypeKHR::INSTANCES)
            .geometry(vk::AccelerationStructureGeometryDataKHR { instances: data }),
    }
}

/// The words of a VkAccelerationStructureInstanceKHR that is moved.
pub fn instance(structure: u64, [x, y, z]: [f32; 3]) -> [u32; 16] {
    let mut out = [0; 16];
    let m = [1.0, 0.0, 0.0, x, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, z];
    out[..12].copy_from_slice(&m.map(f32::to_bits));
    out[12..].copy_from_slice(&[0xFF << 24, 0, structure as u32, (structure >> 32) as u32]);
    out
}

pub struct Structures {
    context: Rc<Context>,
    commands: ash::khr::acceleration_structure::Device,
}

impl Structures {
    pub fn new(context: &Rc<Context>) -> Result<Structures> {
        context.needs(ash::khr::acceleration_structure::NAME)?;
        let commands = ash::khr::acceleration_structure::Device::new(&context.instance, &context.device);
        Ok(Structures { context: context.clone(), commands })
    }

    /// The structure and the memory of a build.
    pub fn prepare(
        &self,
        flags: vk::BuildAccelerationStructureFlagsKHR,
        input: &Input,
        count: u32,
    ) -> Result<Job> {
        let input = Input { kind: input.kind, geometry: input.geometry };
        let geometries = [input.geometry];
        let info = vk::AccelerationStructureBuildGeometryInfoKHR::default()
            .ty(input.kind)
            .flags(flags)
            .geometries(&geometries);
        let mut sizes = vk::AccelerationStructureBuildSizesInfoKHR::default();
        let by = vk::AccelerationStructureBuildTypeKHR::DEVICE;
        // SAFETY: plain Vulkan calls with structs that outlive them.
        unsafe {
            self.commands.get_acceleration_structure_build_sizes(by, &info, &[count], &mut sizes);
            let memory = Buffer::addressed(
                &self.context,
                sizes.acceleration_structure_size as usize,
                vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR,
            )?;
            let create = vk::AccelerationStructureCreateInfoKHR::default()
                .buffer(memory.handle)
                .size(sizes.acceleration_structure_size)
                .ty(input.kind);
            let handle = self
                .commands
                .create_acceleration_structure(&create, None)
                .map_err(Error::vk("vkCreateAccelerationStructureKHR"))?;
            let address = self.commands.get_acceleration_structure_device_address(
                &vk::AccelerationStructureDeviceAddressInfoKHR::default().acceleration_structure(handle),
            );
            let (context, commands) = (self.context.clone(), self.commands.clone());
            let to = Structure { context, commands, handle, address, _memory: memory };
            let scratch = sizes.build_scratch_size.max(sizes.update_scratch_size).max(4) as usize;
            let scratch = Buffer::addressed(&self.context, scratch, vk::BufferUsageFlags::empty())?;
            Ok(Job { flags, input, count, to, scratch })
        }
    }

    /// Records a build, or an update in place.
    pub fn record_alone(&self, commands: vk::CommandBuffer, job: &Job, update: bool) {
        let geometries = [job.input.geometry];
        let mut info = vk::AccelerationStructureBuildGeometryInfoKHR::default()
            .ty(job.input.kind)
            .flags(job.flags)
            .geometries(&geometries)
            .dst_acceleration_structure(job.to.handle)
            .scratch_data(vk::DeviceOrHostAddressKHR { device_address: job.scratch.address() });
        if update {
            info = info
                .mode(vk::BuildAccelerationStructureModeKHR::UPDATE)
                .src_acceleration_structure(job.to.handle);
        }
        let range = [vk::AccelerationStructureBuildRangeInfoKHR::default().primitive_count(job.count)];
        // SAFETY: recording into a command buffer that has begun, with live handles.
        unsafe { self.commands.cmd_build_acceleration_structures(commands, &[info], &[&range]) };
    }

    /// Records a build, or an update in place, and a barrier after it.
    pub fn record(&self, commands: vk::CommandBuffer, job: &Job, update: bool) {
        self.record_alone(commands, job, update);
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::ACCELERATION_STRUCTURE_WRITE_KHR)
            .dst_access_mask(vk::AccessFlags::ACCELERATION_STRUCTURE_READ_KHR)];
        // SAFETY: recording into a command buffer that has begun, with live handles.
        unsafe {
            self.context.device.cmd_pipeline_barrier(
                commands,
                vk::PipelineStageFlags::ACCELERATION_STRUCTURE_BUILD_KHR,
                vk::PipelineStageFlags::ALL_COMMANDS,
                vk::DependencyFlags::empty(),
                &barrier,
                &[],
                &[],
            );
        }
    }

    pub fn build(
        &self,
        flags: vk::BuildAccelerationStructureFlagsKHR,
        input: &Input,
        count: u32,
    ) -> Result<Structure> {
        let job = self.prepare(flags, input, count)?;
        self.context.run(|_, c| self.record(c, &job, false))?;
        Ok(job.to)
    }

    pub fn top(&self, all: &[[u32; 16]]) -> Result<Structure> {
        let data = super::filled(&self.context, all)?;
        let flags = vk::BuildAccelerationStructureFlagsKHR::PREFER_FAST_TRACE;
        self.build(flags, &instances(&data), all.len() as u32)
    }
}
