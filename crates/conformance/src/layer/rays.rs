//! Traces, and builds and copies of acceleration structures.

use super::Done;
use crate::check::text;
use ash::vk;
use client::Library;

/// Bytes of the one buffer, in which all lies.
const BYTES: u64 = 1 << 16;
const SCRATCH: u64 = 0x8000;
const TABLE: u64 = 0xC000;

/// A build of a triangle, a copy of it, and a trace of 3 × 2 rays, in one command buffer.
pub fn rays() -> Done {
    let library = Library::any().map_err(text)?;
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    // SAFETY (the block): plain Vulkan calls with structures that outlive them, and live handles.
    unsafe {
        let i = library.entry.create_instance(&info, None).map_err(text)?;
        let physical = *i.enumerate_physical_devices().map_err(text)?.first().ok_or("no device")?;
        let wanted = [
            ash::khr::acceleration_structure::NAME,
            ash::khr::deferred_host_operations::NAME,
            ash::khr::ray_tracing_pipeline::NAME,
        ];
        let there = i.enumerate_device_extension_properties(physical).map_err(text)?;
        let is_there = |name| there.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
        if let Some(lacks) = wanted.into_iter().find(|name| !is_there(*name)) {
            return Err(format!("needs: {lacks:?}"));
        }
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
        let names = wanted.map(|n| n.as_ptr());
        let mut addresses = vk::PhysicalDeviceVulkan12Features::default().buffer_device_address(true);
        let mut structures =
            vk::PhysicalDeviceAccelerationStructureFeaturesKHR::default().acceleration_structure(true);
        let mut pipelines =
            vk::PhysicalDeviceRayTracingPipelineFeaturesKHR::default().ray_tracing_pipeline(true);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut addresses)
            .push_next(&mut structures)
            .push_next(&mut pipelines);
        let d = i.create_device(physical, &info, None).map_err(text)?;
        let structures = ash::khr::acceleration_structure::Device::new(&i, &d);
        let pipelines = ash::khr::ray_tracing_pipeline::Device::new(&i, &d);
        let usage = vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR
            | vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR
            | vk::BufferUsageFlags::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR;
        let buffer =
            d.create_buffer(&vk::BufferCreateInfo::default().size(BYTES).usage(usage), None).map_err(text)?;
        let needs = d.get_buffer_memory_requirements(buffer);
        let types = i.get_physical_device_memory_properties(physical);
        let mapped = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let ty = (0..types.memory_type_count)
            .find(|t| {
                needs.memory_type_bits >> t & 1 != 0
                    && types.memory_types[*t as usize].property_flags.contains(mapped)
            })
            .ok_or("no memory")?;
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(ty)
            .push_next(&mut flags);
        let memory = d.allocate_memory(&info, None).map_err(text)?;
        d.bind_buffer_memory(buffer, memory, 0).map_err(text)?;
        let address = d.get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(buffer));
        let at = d.map_memory(memory, 0, vk::WHOLE_SIZE, Default::default()).map_err(text)?.cast::<u8>();
        at.cast::<[f32; 9]>().write([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);

        let bottom = vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL;
        let made = [0x1000, 0x3000].map(|offset| {
            let info = vk::AccelerationStructureCreateInfoKHR::default()
                .buffer(buffer)
                .offset(offset)
                .size(0x2000)
                .ty(bottom);
            structures.create_acceleration_structure(&info, None)
        });
        let made = [made[0].map_err(text)?, made[1].map_err(text)?];
        let data = vk::AccelerationStructureGeometryTrianglesDataKHR::default()
            .vertex_format(vk::Format::R32G32B32_SFLOAT)
            .vertex_data(vk::DeviceOrHostAddressConstKHR { device_address: address })
            .vertex_stride(12)
            .max_vertex(2)
            .index_type(vk::IndexType::NONE_KHR);
        let geometry = [vk::AccelerationStructureGeometryKHR::default()
            .geometry_type(vk::GeometryTypeKHR::TRIANGLES)
            .geometry(vk::AccelerationStructureGeometryDataKHR { triangles: data })];
        let build = vk::AccelerationStructureBuildGeometryInfoKHR::default()
            .ty(bottom)
            .geometries(&geometry)
            .dst_acceleration_structure(made[0])
            .scratch_data(vk::DeviceOrHostAddressKHR { device_address: address + SCRATCH });
        let range = [vk::AccelerationStructureBuildRangeInfoKHR::default().primitive_count(1)];

        let code = shader::words(include_bytes!("../../shaders/nothing.rgen.spv"));
        let module =
            d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None).map_err(text)?;
        let layout = d.create_pipeline_layout(&Default::default(), None).map_err(text)?;
        let stages = [vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::RAYGEN_KHR)
            .module(module)
            .name(c"main")];
        let unused = vk::SHADER_UNUSED_KHR;
        let groups = [vk::RayTracingShaderGroupCreateInfoKHR::default()
            .ty(vk::RayTracingShaderGroupTypeKHR::GENERAL)
            .general_shader(0)
            .closest_hit_shader(unused)
            .any_hit_shader(unused)
            .intersection_shader(unused)];
        let info =
            vk::RayTracingPipelineCreateInfoKHR::default().stages(&stages).groups(&groups).layout(layout);
        let (now, none) = (vk::DeferredOperationKHR::null(), vk::PipelineCache::null());
        let pipeline =
            pipelines.create_ray_tracing_pipelines(now, none, &[info], None).map_err(|e| text(e.1))?[0];
        let handle = pipelines.get_ray_tracing_shader_group_handles(pipeline, 0, 1, 32).map_err(text)?;
        std::ptr::copy_nonoverlapping(handle.as_ptr(), at.add(TABLE as usize), 32);
        let first =
            vk::StridedDeviceAddressRegionKHR { device_address: address + TABLE, stride: 32, size: 32 };
        let empty = vk::StridedDeviceAddressRegionKHR::default();

        let pool = d.create_command_pool(&Default::default(), None).map_err(text)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let lists = d.allocate_command_buffers(&info).map_err(text)?;
        let c = lists[0];
        d.begin_command_buffer(c, &Default::default()).map_err(text)?;
        structures.cmd_build_acceleration_structures(c, &[build], &[&range]);
        client::graphics::barrier(&d, c);
        let copy = vk::CopyAccelerationStructureInfoKHR::default()
            .src(made[0])
            .dst(made[1])
            .mode(vk::CopyAccelerationStructureModeKHR::CLONE);
        structures.cmd_copy_acceleration_structure(c, &copy);
        client::graphics::barrier(&d, c);
        d.cmd_bind_pipeline(c, vk::PipelineBindPoint::RAY_TRACING_KHR, pipeline);
        pipelines.cmd_trace_rays(c, &first, &empty, &empty, &empty, 3, 2, 1);
        d.end_command_buffer(c).map_err(text)?;
        let submit = [vk::SubmitInfo::default().command_buffers(&lists)];
        d.queue_submit(d.get_device_queue(0, 0), &submit, vk::Fence::null()).map_err(text)?;
        d.device_wait_idle().map_err(text)?;

        d.destroy_command_pool(pool, None);
        d.destroy_pipeline(pipeline, None);
        d.destroy_pipeline_layout(layout, None);
        d.destroy_shader_module(module, None);
        made.into_iter().for_each(|s| structures.destroy_acceleration_structure(s, None));
        d.destroy_buffer(buffer, None);
        d.free_memory(memory, None);
        d.destroy_device(None);
        i.destroy_instance(None);
    }
    Ok(())
}
